"""JSON Schemas of contracts: what a contract accepts passes; what passes and is refused breaks a rule that is named."""

from __future__ import annotations

import json
import math
import re
import struct
from functools import cache
from typing import Any

import pytest
from google.protobuf import json_format
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from protocontract import Contract, testing
from tests.examples import examples
from tests.exports.support import MORE, Compiled, Exported, example, kind
from tests.support.messages import messages
from tests.testing.support import HEAD, KINDS, example_contracts

EXAMPLES = example_contracts()

# How JSON printers write a message.
SPELLINGS: list[dict[str, Any]] = [
    {},
    {"preserving_proto_field_name": True},
    {"use_integers_for_enums": True},
    {"always_print_fields_with_no_presence": True},
]


# A number in quotes that is not in plain digits: no pattern can tell how large it is, so all of them pass.
_ODD_NUMERAL = re.compile(r'"-?[0-9]+[.eE][^"]*"|"-0"')


def agree(exported: Exported, text: str) -> None:
    """What the contract says of a record, and what its schemas say."""
    value = json.loads(text)
    outcome = exported.contract.process(text.encode(), encoding="json")
    passes = exported.sent.is_valid(value)
    if outcome.ok:
        assert passes, f"refused by the schema: {text}"
        written = json_format.MessageToJson(outcome.message)
        errors = [error.message for error in exported.normalized.iter_errors(json.loads(written))]
        assert errors == [], f"refused by the schema of what is normalised: {written}"
    elif not _ODD_NUMERAL.search(text):
        broken = {v.rule_id or v.rule.expected for v in outcome.violations if v.rule.severity == "ERROR"}
        read = all(not name.startswith(("wire.", "scalar.")) for name in broken)
        for which, passed, untold in (
            ("sent", passes, exported.untold),
            ("normalised", exported.normalized.is_valid(value), exported.untold_normalized),
        ):
            assert not (passed and read) or broken & untold, (
                f"passed by the schema of records as {which}, though {broken} is not named in it: {text}"
            )


def find_valid(contract: Contract[Any]) -> Any:
    """A valid message, the same in every run."""
    return find(
        testing.valid(contract), lambda message: True, settings=settings(max_examples=1, phases=[Phase.generate])
    )


@st.composite
def records(draw: st.DrawFn, contract: Contract[Any]) -> str:
    """A record in JSON: a message around the edges of rules, in the printer's spelling or another one."""
    message = draw(st.one_of(testing.boundary(contract), testing.valid(contract), messages(contract.message_type)))
    try:
        text = json_format.MessageToJson(message, **draw(st.sampled_from(SPELLINGS)))
    except (TypeError, ValueError, json_format.Error):
        return "{}"  # a moment, path or type that JSON cannot write
    value = json.loads(text)
    return json.dumps(_respelled(draw, value) if draw(st.booleans()) else value)


def _respelled(draw: st.DrawFn, value: Any) -> Any:
    """The same value as others write it, or something near it."""
    match value:
        case dict():
            found = {key: _respelled(draw, item) for key, item in value.items()}
            unset = draw(st.sampled_from([None, "f", "a", "b", "kind", "refundOf"]))
            return found if unset is None else {**found, unset: None}
        case list():
            return [_respelled(draw, item) for item in value]
        case bool() | None:
            return draw(st.sampled_from([value, None, "true"]))
        case int() | float():
            return draw(st.sampled_from([value, str(value), f"{value}.0", float(value), f"{value}e0", None]))
        case str():
            others = [value, value.rstrip("="), value.replace("+", "-").replace("/", "_"), None]
            if value.lstrip("-").isdigit():
                others += [int(value), f"{value}.0", f"{value}e0", f"0{value}", f"-{value}"]
            return draw(st.sampled_from(others))
    return value


@pytest.mark.parametrize("name", [*KINDS, *MORE])
def test_every_kind_of_rule(name: str) -> None:
    exported = kind(name)

    @settings(max_examples=examples(5))
    @given(records(exported.contract))
    def check(text: str) -> None:
        agree(exported, text)

    check()


@pytest.mark.parametrize("name", [name for name, contract in EXAMPLES.items() if contract.version])
def test_the_example_contracts(name: str) -> None:
    exported = example(name)
    contract: Contract[Any] = exported.contract

    @settings(max_examples=examples(5))
    @given(records(contract), messages(contract.message_type, valid=find_valid(contract)))
    def check(text: str, near: Any) -> None:
        agree(exported, text)
        agree(exported, json_format.MessageToJson(near))

    check()


UUID = "123e4567-e89b-12d3-a456-426614174000"
OTHER = UUID.replace("1", "2")
PAID = {"id": UUID, "amount": "1.00", "booked_at": "2026-03-09T08:00:00Z", "account": "6222021234567890123", "kind": 1}
MARKED = {"id": UUID.upper(), "rawText": "Ann met Bob", "createdAt": "2026-03-09T08:00:00+08:00", "entities": []}


@pytest.mark.parametrize(
    ("name", "record", "normal"),
    [
        ("acme.finance.v1.Transaction", PAID, True),
        ("acme.finance.v1.Transaction", PAID | {"amount": "¥1,000.00", "currency": " rmb "}, False),
        ("acme.finance.v1.Transaction", PAID | {"amount": "USD 12.5", "currency": None}, False),
        ("acme.finance.v1.Transaction", PAID | {"booked_at": "2026-03-09 08:00:00"}, False),
        ("acme.finance.v1.Transaction", PAID | {"memo": " " * 200 + "x" + "\x07" * 40}, False),
        ("acme.finance.v1.Transaction", PAID | {"kind": "2", "refund_of": OTHER}, True),
        ("acme.finance.v1.Transaction", PAID | {"kind": "KIND_REFUND", "refundOf": OTHER, "memo": None}, True),
        ("acme.text.v1.TextSample", MARKED, True),
        ("acme.text.v1.TextSample", MARKED | {"rawText": "  Ann   met Bob", "entities": [
            {"text": "Ann", "label": "PERSON", "startOffset": 2, "end_offset": "5"}]}, True),
        ("acme.text.v1.TextSample", MARKED | {"rawText": " " * 600 + "Ann"}, False),
    ],
)  # fmt: skip
def test_dirty_records_pass_as_they_are_sent(name: str, record: dict[str, Any], normal: bool) -> None:
    """And those that normalizers have to change do not pass as records that a guard lets through."""
    exported = example(name)
    outcome = exported.contract.process(json.dumps(record).encode(), encoding="json")
    assert outcome.ok
    assert exported.sent.is_valid(record)
    assert exported.normalized.is_valid(record) is normal
    assert exported.normalized.is_valid(json.loads(json_format.MessageToJson(outcome.message)))


FLOAT_RULES = [
    "this > 0.1", "this >= 0.1", "this < 0.1", "this <= 0.7", "this > 0.7", "this == 0.5", "this < 0.5 || this >= 1.5",
    "this < 1e300", "this > -1e300", "this >= 0.0",
]  # fmt: skip


@cache
def float_rules() -> Compiled:
    """A message with a float for each of these rules: A0, A1, ..."""
    field = '{{ optional float f = 1 [(buf.validate.field).cel = {{id: "r" expression: "{}"}}]; }}'
    return Compiled(HEAD + "".join(f"message A{at} {field.format(rule)}\n" for at, rule in enumerate(FLOAT_RULES)))


@pytest.mark.parametrize("rule", FLOAT_RULES)
def test_bounds_of_floats_are_where_doubles_round(rule: str) -> None:
    """A number of JSON is a double before it is a float: 0.1 becomes 0.100000001490116, which is above 0.1."""
    exported = float_rules().exported(f"kinds.A{FLOAT_RULES.index(rule)}")
    assert exported.untold == set()
    numbers = [0.0, -1.0, 5e-324, 1e-46, 2.0**-150, 3.4028234663852886e38, 3.4028235677973366e38, 1e39, -1e-50, -3.5e38]
    for near in (0.1, 0.5, 0.7, 1.5):
        single = struct.unpack("<f", struct.pack("<f", near))[0]
        numbers += [near, single, (single + near) / 2]
        for step in (2.0**-26, 2.0**-25, 2.0**-24, 2.0**-28):
            numbers += [
                single + step,
                single - step,
                math.nextafter(single + step, 9),
                math.nextafter(single - step, -9),
            ]
    verdicts = set()
    for number in numbers:
        outcome = exported.contract.process(json.dumps({"f": number}).encode(), encoding="json")
        broken = {violation.rule_id for violation in outcome.violations}
        if not broken or broken == {"r"}:
            assert exported.sent.is_valid({"f": number}) is outcome.ok, number
            verdicts.add(outcome.ok)
    assert verdicts == {True, False} or "1e300" in rule


def test_hostile_texts_stay_texts() -> None:
    """In comments and constants: the file shows no control of the writing direction, and reads back as it was."""
    source = """syntax = "proto3"; package kinds; import "buf/validate/validate.proto";
    // Turned \u202e round, "quoted" \\ and \U000e0041.
    message A { string f = 1 [(buf.validate.field).string = {in: ["\u202e", "a\\"b", "\U000e0041"]}]; }"""
    (text,) = Compiled(source).files.values()
    assert all(char.isprintable() or char == "\n" for char in text)
    read = json.loads(text)
    assert read["description"] == 'Turned \u202e round, "quoted" \\ and \U000e0041.'
    assert read["properties"]["f"]["enum"] == ["\u202e", 'a"b', "\U000e0041"]
