"""What one contract would do otherwise than another, record by record."""

from __future__ import annotations

from typing import Any

import pytest

from protocontract.comparison import KINDS, Difference, Finding, difference
from protocontract.contract import Contract
from protocontract.violations import Rule, Violation
from tests.comparison.support import candidate, now, order


def compare(raw: bytes) -> Difference | None:
    return difference(now().process(raw), candidate().process(raw))


@pytest.mark.parametrize(
    ("fields", "kind", "findings"),
    [
        ({}, None, ()),
        ({"note": " trimmed "}, None, ()),
        ({"channel": "web", "note": " x "}, None, ()),
        ({"note": "x" * 30}, None, ()),
        ({"id": "x"}, "newly_rejected", [("string.min_len", "id")]),
        (
            {"id": "x", "lines": [{"label": "a"}, {"label": "a"}]},
            "newly_rejected",
            [("string.min_len", "id"), ("int32.gte", "lines[].count")],
        ),
        ({"tags": {'se"cr]et': ""}}, "newly_rejected", [("string.min_len", "tags[]")]),
        ({"note": "twelve chars"}, "newly_accepted", [("string.max_len", "note")]),
        (
            {"note": "twelve chars", "lines": [{"label": "c", "count": 1}]},
            "newly_accepted",
            [("string.max_len", "note"), ("string.in", "lines[].label")],
        ),
        ({"note": "a  b"}, "normalized_differently", [("text", "note")]),
        ({"note": " a  b ", "channel": "web"}, "normalized_differently", [("text", "note")]),
        ({"card": " 1  2 "}, "normalized_differently", [("text", "card")]),
        ({"card": "1  2"}, "normalized_differently", [("text", "card")]),
        ({"note": " a", "card": " 1  2 "}, "normalized_differently", [("text", "card")]),
    ],
)
def test_differences(fields: dict[str, Any], kind: str | None, findings: list[tuple[str, str]]) -> None:
    found = compare(order(**fields))
    if kind is None:
        assert found is None
        return
    assert found is not None
    assert (found.kind, found.findings) == (kind, tuple(Finding(*each) for each in findings))
    assert found.kind in KINDS


def test_bytes_that_are_no_message_are_rejected_by_both() -> None:
    assert compare(b"\x0a\xff") is None


def test_the_other_way_round() -> None:
    raw = order(id="x")
    assert difference(candidate().process(raw), now().process(raw)) == Difference(
        "newly_accepted", (Finding("string.min_len", "id"),)
    )


def test_what_is_found_beside_the_contract_counts() -> None:
    raw = order()
    own = Violation(Rule("shop.v1.Order", (), "key.mismatch", "must equal the record's key"))
    before, after = now().process(raw), candidate().process(raw)
    assert difference(before, after, own_after=own) == Difference("newly_rejected", (Finding("key.mismatch", ""),))
    assert difference(before, after, own_before=own) == Difference("newly_accepted", (Finding("key.mismatch", ""),))
    assert difference(before, after, own_before=own, own_after=own) is None


def test_warnings_reject_nothing() -> None:
    message_type = now().message_type
    rule = Rule("shop.v1.Order", (), "mild", "so so", severity="WARNING")
    warns: Contract[Any] = Contract(
        message_type, full_name="shop.v1.Order", fingerprint="00" * 32, validate=lambda message: [Violation(rule)]
    )
    assert difference(now().process(order()), warns.process(order())) is None


def test_no_value_is_told() -> None:
    for raw in (order(note="secret x  secret x y"), order(tags={"secret": ""}), order(card=" secret  secret ")):
        assert "secret" not in repr(compare(raw))
