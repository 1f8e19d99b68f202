"""Sensitive values are nowhere: nested ones, what is made from them, rules that would quote them."""

from __future__ import annotations

from typing import Any

import pytest

from protocontract import Contract, ContractViolation, Outcome
from tests.compiler.odd_protos import contracts

_SECRET = "SECRETQZ"
_CARD = {
    "number": f" {_SECRET}",
    "pin": _SECRET,
    "note": f"N{_SECRET}",
    "more": [{"pin": _SECRET, "number": f"{_SECRET}  "}],
    "named": {"k": {"pin": _SECRET}},
}


def _contract(name: str) -> Contract[Any]:
    return contracts()[f"private.{name}"]


def _outcome(name: str, **fields: Any) -> Outcome[Any]:
    contract = _contract(name)
    return contract.process(contract.message_type(**fields).SerializeToString())


def _ids(outcome: Outcome[Any]) -> list[tuple[str, str]]:
    return [(violation.redacted_path, violation.rule_id) for violation in outcome.violations]


def _assert_hidden(outcome: Outcome[Any]) -> None:
    for violation in outcome.violations:
        shown = (str(violation), repr(violation), violation.message, str(violation.value), violation.redacted_path)
        assert not any(_SECRET in text for text in shown), shown
        assert violation.sensitive or violation.value is None or _SECRET not in str(violation.value)
    assert not any(_SECRET in repr(change) for change in outcome.changes)
    assert _SECRET not in repr(outcome)
    assert _SECRET not in repr(outcome.evidence())


def test_all_that_is_in_a_sensitive_message_is_sensitive() -> None:
    outcome = _outcome("Holder", card=_CARD)
    _assert_hidden(outcome)
    assert _ids(outcome)[:4] == [("card", "card"), ("card", "card.note"), ("card", "card.pin"),
                                 ("card.number", "string.max_len")]  # fmt: skip
    assert all(violation.value is None for violation in outcome.violations)
    # What a rule says without reading anything may be said; what its expression returns may not.
    texts = {violation.rule_id: violation.message for violation in outcome.violations}
    assert (texts["string.max_len"], texts["note"]) == ("must be at most 4 characters", "note")
    assert [(change.path, change.before, change.after) for change in outcome.changes] == [
        ("card.number", None, None), ("card.more[0].number", None, None),
    ]  # fmt: skip


def test_a_message_that_holds_something_sensitive_shows_the_rest() -> None:
    outcome = _outcome("Holder", plain={"note": "open", "number": " 123", "inner": {"pin": _SECRET}})
    _assert_hidden(outcome)
    texts = {(violation.field_path, violation.rule_id): violation.message for violation in outcome.violations}
    assert texts == {
        ("plain", "card.note"): "note open",
        ("plain.note", "note"): "note open",
        ("plain.inner", "card.pin"): "card.pin",
        ("plain.inner.pin", "pin"): "pin",
    }
    assert [(change.before, change.after) for change in outcome.changes] == [(" 123", "123")]


def test_governance_holds_wherever_the_message_is() -> None:
    outcome = _outcome("Holder", plain={"inner": {"pin": "1"}, "more": [{"pin": "1"}], "named": {"k": {"pin": "1"}}})
    pins = [violation for violation in outcome.violations if violation.rule_id == "pin"]
    assert [violation.redacted_path for violation in pins] == [
        "plain.inner.pin",
        "plain.more[0].pin",
        "plain.named[*].pin",
    ]
    assert {(v.severity, v.code, v.error_class.source, v.error_class.remedy) for v in pins} == {
        ("WARNING", 7, "DATA", "CODE")
    }


def test_rules_that_read_through_messages_quote_nothing() -> None:
    outcome = _outcome("Holder", secret={"secret": _SECRET}, secrets=[{"secret": _SECRET}, {"open": "o"}])
    _assert_hidden(outcome)
    assert [violation.message for violation in outcome.violations] == [
        "all", "one", "secret", "secrets", "must contain no more than 1 item(s)",
    ]  # fmt: skip


def test_entries_of_a_sensitive_map() -> None:
    outcome = _outcome("Holder", entries={_SECRET: f" {_SECRET}", "b": f"{_SECRET}\0"})
    _assert_hidden(outcome)
    assert _ids(outcome) == [("entries[*]", "text.nul"), ("entries[*]", "key")]
    assert [change.path for change in outcome.changes] == ["entries[*]"]


def test_what_is_made_from_a_sensitive_value() -> None:
    outcome = _outcome(
        "Holder", born="1980-02-03", text=f"  {_SECRET} ", spans=[{"start": 2, "end": 10, "surface": _SECRET}]
    )
    assert outcome.ok
    assert [(change.path, change.before, change.after) for change in outcome.changes] == [
        (path, None, None) for path in ("moment", "text", "spans[0].start", "spans[0].end")
    ]
    wrong = _outcome("Holder", text=_SECRET, spans=[{"end": 1, "surface": _SECRET}])
    _assert_hidden(wrong)
    assert _ids(wrong) == [("spans[0]", "spans.surface")]
    assert wrong.violations[0].value is None


def test_what_is_left_to_protovalidate_is_governed_alike() -> None:
    outcome = _outcome(
        "Left", pin=_SECRET, open="xx", secret={"secret": _SECRET}, cards=[{"pin": _SECRET}], left={"open": "yy"}
    )
    _assert_hidden(outcome)
    found = {(v.field_path, v.rule_id): (v.message, v.severity, v.value) for v in outcome.violations}
    assert found == {
        ("", "left"): ("left", "ERROR", None),
        ("pin", "pin"): ("pin", "ERROR", None),
        ("pin", "string.max_len"): ("must be at most 1 characters", "ERROR", None),
        ("open", "string.max_len"): ("must be at most 1 characters", "WARNING", "xx"),
        ("secret", "secret"): ("secret", "ERROR", None),
        ("cards[0]", "card.pin"): ("card.pin", "ERROR", None),
        ("cards[0].pin", "pin"): ("pin", "WARNING", None),
        ("left.open", "string.max_len"): ("must be at most 1 characters", "WARNING", "yy"),
    }
    (own,) = [violation for violation in outcome.violations if violation.field_path == "open"]
    assert (own.code, own.error_class.source, own.error_class.remedy) == (99, "MODEL", "RETRAINING")


def test_what_is_left_to_protovalidate_below_a_sensitive_field() -> None:
    outcome = _outcome("Outer", hidden=[{"pin": _SECRET, "open": _SECRET}], left={"left": {"pin": _SECRET}})
    _assert_hidden(outcome)
    assert all(violation.value is None for violation in outcome.violations)
    assert ("hidden[0].open", "string.max_len") in _ids(outcome)


def test_exceptions_hold_no_value() -> None:
    contract = _contract("Holder")
    with pytest.raises(ContractViolation) as raised:
        contract.parse(contract.message_type(card=_CARD).SerializeToString())
    assert _SECRET not in str(raised.value)
    assert _SECRET not in repr(raised.value)


def test_a_contract_says_what_is_sensitive() -> None:
    assert _contract("Holder").sensitive == {
        "card", "plain.pin", "secret.secret", "secrets.secret", "entries", "born", "text",
    }  # fmt: skip
