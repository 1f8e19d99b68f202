"""Every case of tests/cases/values through a generated contract: the value, or a refusal by the function's own rule."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from protocontract import Contract, Outcome, Refused
from protocontract.normalize import instant, money, scalar, text
from protocontract.relations import spans
from protocontract_compiler import load_protos
from tests.normalize import value_contracts
from tests.normalize.value_contracts import Case

NUMBERS = frozenset(scalar.INTEGERS) | {"float", "double"}


def words(word: str, context: Case) -> list[str]:
    """What of the vocabulary says what a context says. A text cell is a string field with `scalar.type`; a bool in
    words is also a bool field, whose JSON may hold them.
    """
    if word == "scalar" and context["form"] == "text" and context["type"] in NUMBERS | {"bool"}:
        return ["cell", "scalar"] if "bool_words" in context else ["cell"]
    return [word]


CASES = [
    {**case, "word": word}
    for file, about in value_contracts.FILES.items()
    for case in value_contracts.cases(file)
    for word in words(about, case["context"])
]


def test_every_shared_case_goes_through_a_contract() -> None:
    assert len({case["id"] for case in CASES if not case["id"].startswith("own-")}) == 738


Contracts = Mapping[str, Contract[Any]]
NAMES: dict[str, str] = {}
TEXTS = {
    name: value_contracts.WRITERS[case["word"]](name, case["context"])
    for case in CASES
    if (name := value_contracts.message_name(case["word"], case["context"], NAMES))
}


@pytest.fixture(scope="module")
def contracts(tmp_path_factory: pytest.TempPathFactory) -> Contracts:
    file: Path = tmp_path_factory.mktemp("values") / "values.proto"
    file.write_text(value_contracts.proto(TEXTS.values()), encoding="utf-8")
    return load_protos([file], proto_path=file.parent)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['id']}-{case['word']}")
def test_case(case: Case, contracts: Contracts) -> None:
    name = value_contracts.message_name(case["word"], case["context"], NAMES)
    contract = contracts[f"{value_contracts.PACKAGE}.{name}"]
    outcome, expected, word = process(case, contract), case["expect"], case["word"]
    if not isinstance(expected, str) and "error" in expected:
        assert not outcome.ok
        if is_text(case["input"]) and word != "scalar":
            assert outcome.violations[0].rule_id == refused_by(case)
        if "span" in expected:
            assert f"[{expected['span']}]" in outcome.violations[0].field_path
        return
    assert outcome.message is not None, [str(violation) for violation in outcome.violations]
    assert equals(outcome.message, case)
    if word in ("money", "instant", "cell") or (
        word == "text" and not case["context"]["strip_html"] and not case["context"]["strip_bom"]
    ):
        again = contract.process(outcome.message.SerializeToString())
        assert (again.message, again.changes) == (outcome.message, ())


def is_text(value: Any) -> bool:
    """Whether a protobuf string can hold it: not where it has lone surrogates."""
    return not any("\ud800" <= character <= "\udfff" for character in json.dumps(value, ensure_ascii=False))


def process(case: Case, contract: Contract[Any]) -> Outcome[Any]:
    """The record of a case, as protobuf where that is possible, through the contract."""
    given, word = case["input"], case["word"]
    if word == "scalar":
        kind, form = case["context"]["type"], case["context"]["form"]
        source = json.dumps(given) if form == "text" else given
        record = source if kind == "object" else f'{{"value": {source}}}'
        return contract.process(record.encode(), encoding="json")
    if not is_text(given):
        return contract.process(json.dumps({"value": given}).encode(), encoding="json")
    message = contract.message_type(**given) if word == "spans" else contract.message_type(value=given)
    return contract.process(message.SerializeToString())


def refused_by(case: Case) -> str:
    """The rule by which the public function refuses the input of a case."""
    given, context = case["input"], dict(case["context"])
    with pytest.raises(Refused) as refused:
        call(case["word"], given, context)
    return refused.value.rule_id


def call(word: str, given: Any, context: dict[str, Any]) -> None:
    """The public function with the context of a case as its keywords."""
    if word == "spans":
        task, steps = context.pop("task"), context.pop("options", {})
        (spans.check if task == "validate" else spans.remap)(given["text"], given["spans"], **context, **steps)
    else:
        called = {"money": money, "instant": instant, "text": text, "cell": scalar}[word]
        called.normalize(given, **context)


def equals(message: Any, case: Case) -> bool:
    expected, word = case["expect"], case["word"]
    if word == "money":
        return (message.currency, Decimal(message.value)) == (expected["currency"], Decimal(expected["amount"]))
    if word in ("instant", "text"):
        return bool(message.value == expected)
    if word == "spans":
        wanted = case["input"] if expected == {"valid": True} else expected
        return bool(message == type(message)(**wanted))
    if "hex" in expected:
        return bool(message.value == bytes.fromhex(expected["hex"]))
    if "ignored" in expected:
        return bool(message.value == case["context"]["ignore_index"])
    value = expected["value"]
    if word == "cell":
        return bool(message.value == (json.dumps(value) if isinstance(value, bool) else value))
    match case["context"]["type"]:
        case "object":
            return bool(message == type(message)(**value))
        case "enum":
            number = message.value
            names = message.DESCRIPTOR.fields_by_name["value"].enum_type.values_by_number
            return bool((names[number].name if number in names else number) == value)
        case "float" | "double":
            return math.isnan(message.value) if value == "NaN" else bool(message.value == float(value))
        case "bool" | "string" | "label":
            return bool(message.value == value)
        case _:
            return bool(message.value == int(value))


def test_the_steps_without_any_option_are_no_annotation(tmp_path: Path) -> None:
    """Two cases declare no step; the compiler refuses an annotation that asks for nothing."""
    from protocontract import ContractError

    file = tmp_path / "empty.proto"
    field = "string value = 1 [(protocontract.v1.field).text = {}];"
    file.write_text(value_contracts.proto([f"message Empty {{ {field} }}"]), encoding="utf-8")
    with pytest.raises(ContractError, match="asks for nothing"):
        load_protos([file], proto_path=tmp_path)
