"""Emitted normalizers and relations in odd places, against a slow reading of the same schema by reflection."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from protocontract import Contract
from protocontract.normalize import label, text
from protocontract.violations import Refusal, error_code
from tests.compiler.odd_protos import contracts
from tests.examples import examples

# What words.proto says of the fields of Tree and Leaf, once more, for the reference.
_PLAIN = text.normalizer(trim=True, reject=("nul",))
_NORMALIZERS: dict[str, tuple[str, Any]] = {
    "words.Tree.text": ("text", text.normalizer(trim=True, collapse_whitespace=True, reject=("nul", "replacement"))),
    "words.Tree.lines": ("text", _PLAIN),
    "words.Tree.notes": ("text", _PLAIN),
    "words.Tree.given": ("text", text.normalizer(trim=True, reject=("nul",), reject_empty=True)),
    "words.Tree.chosen": ("text", _PLAIN),
    "words.Leaf.label": ("label", label.normalizer(aliases={"CAT": ("kitty",)})),
    "words.Leaf.classes": ("label", label.normalizer(num_classes=3, ignore_index=-100)),
}
_WARNINGS = {("words.Tree.text", "text.replacement"), ("words.Leaf.classes", "label.unknown")}
_CODES = {("words.Tree.text", "text.nul"): 42}
_CLASSES = {"words.Leaf.label": ("DATA", "RETRAINING")}

_TEXTS = ["", " ", "a", " a  b ", "\0", "\ufffd x", "kitty", "CAT", "dog", "x" * 30, "\u3000é", '"]. k']

_Seen = tuple[str, str, str, str, int, tuple[str, str]]
_Changed = tuple[str, str, Any, Any]


def _contract(name: str) -> Contract[Any]:
    return contracts()[f"words.{name}"]


# -- a tree at random, and what becomes of it


def _grow(choose: random.Random, tree: Any, depth: int) -> None:
    tree.text = choose.choice(_TEXTS)
    tree.lines.extend(choose.choices(_TEXTS, k=choose.randint(0, 3)))
    for _ in range(choose.randint(0, 3)):
        tree.notes[choose.choice(_TEXTS)] = choose.choice(_TEXTS)
    if choose.random() < 0.5:
        tree.given = choose.choice(_TEXTS)
    if choose.random() < 0.3:
        tree.chosen = choose.choice(_TEXTS)
    if depth:
        if not tree.HasField("chosen") and choose.random() < 0.5:
            _sprout(choose, tree.leaf, depth - 1)
        for _ in range(choose.randint(0, 2)):
            _grow(choose, tree.children.add(), depth - 1)
            _grow(choose, tree.numbered[choose.choice([-1, 0, 7])], depth - 1)
            _sprout(choose, tree.leaves[choose.choice(_TEXTS)], depth - 1)
        if choose.random() < 0.5:
            _grow(choose, tree.nested, depth - 1)


def _sprout(choose: random.Random, leaf: Any, depth: int) -> None:
    leaf.label = choose.choice(_TEXTS)
    leaf.classes.extend(choose.choices([0, 2, 3, -100, -1], k=choose.randint(0, 3)))
    if depth and choose.random() < 0.6:
        _grow(choose, leaf.tree, depth - 1)


class _Reference:
    """Walks a message by reflection, normalises it in place and notes what it finds."""

    def __init__(self, message: Any) -> None:
        self.root = message.DESCRIPTOR.full_name
        self.refusals: list[_Seen] = []
        self.changes: list[_Changed] = []
        self._message(message, "", "", "")

    def _message(self, message: Any, path: str, redacted: str, coded: str) -> None:
        for field in message.DESCRIPTOR.fields:
            if field.full_name in _NORMALIZERS:
                for _, entry in self._entries(message, field, path, redacted, coded):
                    self._value(field.full_name, *entry)
        for field in message.DESCRIPTOR.fields:
            for value, (where, hidden, code, _, _) in self._entries(message, field, path, redacted, coded):
                if hasattr(value, "DESCRIPTOR"):
                    self._message(value, f"{where}.", f"{hidden}.", f"{code}.")

    def _entries(self, message: Any, field: Any, path: str, redacted: str, coded: str) -> Iterator[Any]:
        """Each value in a field: where it is (shown, redacted, as codes say it), how it is read and set."""
        at, hidden, code = path + field.name, redacted + field.name, coded + field.name
        value = getattr(message, field.name)
        if field.message_type is not None and field.message_type.GetOptions().map_entry:
            for key in sorted(value):
                shown = str(key) if isinstance(key, int) else '"' + key.replace("\\", "\\\\").replace('"', '\\"') + '"'
                yield value[key], (f"{at}[{shown}]", f"{hidden}[*]", f"{code}.value", value, key)
        elif not isinstance(value, str) and hasattr(value, "__len__"):
            for index in range(len(value)):
                yield value[index], (f"{at}[{index}]", f"{hidden}[{index}]", code, value, index)
        elif message.HasField(field.name) if field.has_presence else value:
            yield value, (at, hidden, code, message, field.name)

    def _value(self, name: str, path: str, redacted: str, coded: str, holder: Any, key: Any) -> None:
        word, normalizer = _NORMALIZERS[name]
        before = getattr(holder, key) if hasattr(holder, "DESCRIPTOR") else holder[key]
        after = normalizer(before)
        if isinstance(after, Refusal):
            severity = "WARNING" if (name, after.rule_id) in _WARNINGS else "ERROR"
            code = _CODES.get((name, after.rule_id)) or error_code(self.root, coded, after.rule_id)
            class_ = _CLASSES.get(name, ("INPUT", "IMMEDIATE"))
            self.refusals.append((path, redacted, after.rule_id, severity, code, class_))
        elif after != before:
            if hasattr(holder, "DESCRIPTOR"):
                setattr(holder, key, after)
            else:
                holder[key] = after
            self.changes.append((path, word, before, after))


def _seen(violation: Any) -> _Seen:
    class_ = (violation.error_class.source, violation.error_class.remedy)
    return (
        violation.field_path,
        violation.redacted_path,
        violation.rule_id,
        violation.severity,
        violation.code,
        class_,
    )


@pytest.mark.parametrize("name", ["Tree", "Leaf"])
def test_nested_refusals_and_changes_are_those_of_a_slow_walk(name: str) -> None:
    contract = _contract(name)
    found = changed = 0
    for seed in range(examples(150)):
        choose = random.Random(seed)
        message = contract.message_type()
        (_grow if name == "Tree" else _sprout)(choose, message, 3)
        outcome = contract.process(message.SerializeToString())
        expected = _Reference(message)  # which normalises the message
        ours = [_seen(violation) for violation in outcome.violations if violation.rule_id != "string.max_len"]
        assert ours == expected.refusals
        assert [(c.path, c.rule_id, c.before, c.after) for c in outcome.changes] == expected.changes
        assert all(violation.contract == contract.full_name for violation in outcome.violations)
        if outcome.ok:
            assert outcome.message == message
        # No rule is judged where the value was refused; everywhere else, on the normalised value.
        refused = {path for path, _, _, severity, *_ in expected.refusals if severity == "ERROR"}
        long = [violation.field_path for violation in contract.validate(message)]
        kept = [violation.field_path for violation in outcome.violations if violation.rule_id == "string.max_len"]
        assert kept == [path for path in long if path not in refused]
        found, changed = found + len(ours), changed + len(expected.changes)
    assert found > 1000
    assert changed > 500


# -- one field at a time: fields set, what they become, what is refused

_MADE: list[tuple[str, dict[str, Any], dict[str, Any], list[tuple[str, str]]]] = [
    # money: the sibling is a string, an enum, an optional enum, a member of a oneof
    ("Payment", {"text": "€5"}, {"text": "5.00", "text_currency": "EUR"}, []),
    ("Payment", {"text": "", "text_currency": "EUR"}, {}, [("text", "money.syntax")]),
    ("Payment", {"text": "5 EUR", "text_currency": "eur"}, {"text": "5.00", "text_currency": "EUR"}, []),
    ("Payment", {"kept": "5 USD"}, {"kept": "5.00", "kept_currency": 2}, []),
    ("Payment", {"kept": "5.00", "kept_currency": 2}, {}, []),
    ("Payment", {"kept": "5", "kept_currency": 9}, {}, [("kept", "money.currency")]),
    ("Payment", {"maybe": "5 EUR", "maybe_currency": 0}, {"maybe": "5.00", "maybe_currency": 1}, []),
    ("Payment", {"chosen": "5 EUR", "number": 3}, {"chosen": "5.00", "chosen_currency": "EUR", "number": 0}, []),
    ("Payment", {"yen": ["¥5", "1.5", "JPY 7"]}, {}, [("yen[1]", "money.scale")]),
    # instant: the sibling is made or changed, the field stays
    ("Moment", {}, {}, [("moment", "required")]),
    ("Moment", {"text": "x"}, {}, [("text", "instant.syntax")]),
    ("Moment", {"text": "2026-01-01 08:00", "millis": 1}, {}, [("millis", "instant.range")]),
    ("Moment", {"text": "2026-01-01 08:00", "seconds": 2**40}, {}, [("seconds", "instant.range")]),
    (
        "Moment",
        {"text": "2026-01-01 08:00", "days": {3: "2020-01-01", -1: "y"}},
        {},
        [("days[-1]", "instant.syntax")],
    ),
    # quantity: into the field's own type, or a sibling's
    ("Weight", {"text": "500 g"}, {"text": "0.5"}, []),
    ("Weight", {"to_double": "500 g"}, {"double": 0.5}, []),
    ("Weight", {"to_double": "0 g"}, {"double": 0.0}, []),
    ("Weight", {"to_int": "1.5 kg"}, {"int": 1500}, []),
    ("Weight", {"to_int": "0 g"}, {}, [("int", "int32.gte")]),
    ("Weight", {"to_int": "1.5 g", "int": 1}, {}, [("to_int", "quantity.scale")]),
    ("Weight", {"to_int": "99999999999 kg"}, {}, [("to_int", "quantity.range")]),
    ("Weight", {"to_choice": "1 kg", "other": "x"}, {"chosen": 1.0, "other": ""}, []),
    ("Weight", {"number": float("inf")}, {}, [("number", "quantity.syntax")]),
    ("Weight", {"all": ["1 g", "x", "2"]}, {}, [("all[1]", "quantity.syntax")]),
    # relations
    ("Model", {}, {}, []),
    ("Model", {"x": [1, 2, 3, 4], "positions": [0, 1, 2, 3], "y": b"abcdef", "shape": [2, 3]}, {}, []),
    ("Model", {"x": [1, 2, 3]}, {}, [("x", "tensor.size"), ("positions", "sequence.length")]),
    ("Model", {"x": [1, 2], "positions": [0, 1], "y": b"ab", "shape": [2, 1]}, {}, [("y", "tensor.shape")]),
    ("Model", {"y": b"", "shape": [0, 4]}, {}, []),
    ("Model", {"shape": [3, 3]}, {}, []),
    ("Model", {"nodes": [{"id": "a", "parent": "b"}, {"id": "b"}]}, {}, []),
    ("Model", {"nodes": [{"id": "a", "parent": "b"}, {"id": "b", "parent": "a"}]}, {}, [("nodes[1]", "graph.cycle")]),
    ("Model", {"numbered": [{"id": 0}, {"id": 1, "parent": 0}]}, {}, []),
    ("Model", {"numbered": [{"id": 0, "parent": 0}]}, {}, [("numbered[0]", "graph.cycle")]),
    ("Model", {"numbered": [{"id": 1, "parent": 0}]}, {}, [("numbered[0]", "graph.missing")]),
]


@pytest.mark.parametrize(("name", "given", "made", "refused"), _MADE)
def test_what_becomes_of_a_field(
    name: str, given: dict[str, Any], made: dict[str, Any], refused: list[tuple[str, str]]
) -> None:
    contract = _contract(name)
    outcome = contract.process(contract.message_type(**given).SerializeToString())
    assert [(violation.field_path, violation.rule_id) for violation in outcome.violations] == refused
    assert outcome.ok == (not refused)
    if outcome.message is not None:
        for field, value in {**given, **made}.items():
            stored = getattr(outcome.message, field)
            assert (stored if not isinstance(value, list | dict) else value) == value, field
        again = contract.process(outcome.message.SerializeToString())
        assert (again.ok, again.changes) == (True, ())


def test_a_moment_goes_into_its_sibling_once() -> None:
    contract = _contract("Moment")
    message = contract.message_type(text="2026-01-01 08:00", millis=1_600_000_000_000)
    outcome = contract.process(message.SerializeToString())
    assert outcome.message is not None
    assert (outcome.message.moment.seconds, outcome.message.since.seconds) == (1767225600, 1600000000)
    assert (outcome.message.text, outcome.message.millis) == (message.text, message.millis)
    assert [(change.path, change.before, change.after) for change in outcome.changes] == [
        ("moment", None, "2026-01-01T00:00:00Z"),
        ("since", None, "2020-09-13T12:26:40Z"),
    ]


# -- spans


def _document(contract: Contract[Any], **fields: Any) -> Any:
    names = [dict(zip(("start", "end", "surface"), span, strict=True)) for span in fields.pop("names", ())]
    parts = [dict(zip(("start", "end"), span, strict=True)) for span in fields.pop("parts", ())]
    return contract.message_type(names=names, parts=parts, **fields)


def test_two_lists_of_spans_move_with_one_text() -> None:
    contract = _contract("Document")
    inner = _document(contract, text=" a  b ", names=[(1, 2, "a"), (4, 5, "b")], parts=[(0, 6), (4, 5)])
    message = contract.message_type(text="x", attached={'k"': inner})
    outcome = contract.process(message.SerializeToString())
    assert outcome.message is not None
    moved = outcome.message.attached['k"']
    assert [(span.start, span.end) for span in (*moved.names, *moved.parts)] == [(0, 1), (2, 3), (0, 3), (2, 3)]
    assert [change.path for change in outcome.changes][:3] == [
        'attached["k\\""].text', 'attached["k\\""].names[0].start', 'attached["k\\""].names[0].end',
    ]  # fmt: skip


def test_one_lost_span_accuses_no_other() -> None:
    """All spans of a list stay where one cannot move; those that were right are not judged by the new text."""
    contract = _contract("Document")
    message = _document(contract, text=" a  b ", names=[(1, 2, "a"), (4, 9, "b")], parts=[(0, 6)])
    outcome = contract.process(message.SerializeToString())
    assert [(v.field_path, v.rule_id) for v in outcome.violations] == [("names[1]", "spans.bounds")]


def test_spans_of_a_refused_text_are_not_judged() -> None:
    contract = _contract("Document")
    message = _document(contract, text="\0 a", names=[(7, 9, "a")], parts=[(9, 1)])
    outcome = contract.process(message.SerializeToString())
    assert [(v.field_path, v.rule_id) for v in outcome.violations] == [("text", "text.nul")]


def test_amounts_that_cannot_be_read_are_warnings() -> None:
    contract = _contract("Document")
    message = contract.message_type(
        text=" €1,000.00 or €1.234 ", names=[{"start": 1, "end": 10, "surface": "€1,000.00"}]
    )
    outcome = contract.process(message.SerializeToString())
    assert [(v.field_path, v.rule_id, v.severity) for v in outcome.violations] == [("text", "text.amount", "WARNING")]
    assert outcome.message is not None
    assert outcome.message.text == "EUR 1000.00 or €1.234"
    assert [(span.start, span.end, span.surface) for span in outcome.message.names] == [(0, 11, "EUR 1000.00")]


# -- JSON


def test_scalars_are_lenient_at_every_depth() -> None:
    contract = _contract("Lenient")
    raw = b'{"paid": "yes", "inner": {"paid": "yes", "inner": {"paid": "yes", "currency": "buck"}}}'
    outcome = contract.process(raw, encoding="json")
    assert outcome.message is not None
    assert outcome.message.inner.inner.paid
    assert outcome.message.inner.inner.currency == 2
