"""Changes of normalizers, relations and governance: protocontract's words on fields and enum values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from protocontract_ci.diff import word_table
from protocontract_ci.diff.collector import Collector
from protocontract_ci.diff.enums import pair_values
from protocontract_ci.diff.fields import FieldPairs
from protocontract_ci.model import Compatibility, Direction, Element, Kind, Value
from protocontract_compiler import ir
from protocontract_compiler.passes.pass_annotations import RELATIONS, TARGETS

# Normalizers that leave a value as it is unless an option says otherwise; the others rewrite what they accept.
_TRANSPARENT: Final = ("text", "scalar")
_KINDS: Final[Mapping[str, Kind]] = {"unit": "unit_changed", "currency": "currency_changed"}


def compare_annotations(collector: Collector, pairs: Sequence[FieldPairs]) -> None:
    """The changes of the words on all fields that are on both sides, and on the values of enums."""
    for fields in pairs:
        for old, new in fields.both():
            _Field(collector, fields, old, new).compare()
    for before, after in collector.pairs.enums:
        if before is not None and after is not None:
            _compare_values(collector, before, after)


class _Field:
    """Compares the words of one field."""

    def __init__(self, collector: Collector, fields: FieldPairs, old: ir.Field, new: ir.Field) -> None:
        self._collector = collector
        self._old, self._new = old, new
        self._element = fields.element(old, new)

    def compare(self) -> None:
        self._normalizer()
        for kind in RELATIONS:
            was, now = (
                next((each for each in of_field.relations if each.kind == kind), None)
                for of_field in (self._old, self._new)
            )
            self._relation(kind, was, now)
        self._governance()

    def _add(
        self, kind: Kind, word: str, direction: Direction, before: Any, after: Any, *,
        acknowledge: bool = False, notes: Sequence[str] = (), place: str | None = None,
    ) -> None:  # fmt: skip
        old, new = self._collector.before.facts, self._collector.after.facts
        step = place if place is not None else word
        self._collector.add(
            kind, f"{self._element.name}@{word}", direction, self._element, before=shown(before), after=shown(after),
            old=(old.word(self._element.name, step) if before is not None else None) or self._old.place,
            new=(new.word(self._element.new_name, step) if after is not None else None) or self._new.place,
            acknowledge=acknowledge, notes=notes,
            # A unit changes what a number means, everywhere: in bytes, in JSON and in code.
            compatibility=Compatibility("same", "same", "breaking", "breaking")
            if direction == "breaking" and kind in ("unit_changed", "currency_changed")
            else Compatibility(),
        )  # fmt: skip

    # -- normalizers

    def _normalizer(self) -> None:
        old, new = self._old.normalizer, self._new.normalizer
        if old is None and new is None:
            return
        if old is None or new is None or old.kind != new.kind:
            self._whole_normalizer(old, new)
            return
        before, after = _normalizer_options(old), _normalizer_options(new)
        for name in _names(before, after):
            word = f"{new.kind}.{name}"
            was, now = before.get(name), after.get(name)
            self._add("normalizer_changed", word, word_table.direction(word, was, now), was, now, notes=_notes(word))

    def _whole_normalizer(self, old: ir.Normalizer | None, new: ir.Normalizer | None) -> None:
        for normalizer, kind in ((old, "normalizer_removed"), (new, "normalizer_added")):
            if normalizer is None:
                continue
            direction: Direction = "breaking"
            if normalizer.kind in _TRANSPARENT and (old is None or new is None):
                options = _normalizer_options(normalizer)
                baseline = {"quoted_numbers": False, "finite": False} if normalizer.kind == "scalar" else {}
                pairs = [(baseline.get(name), value) for name, value in options.items()]
                direction = word_table.combined(
                    {
                        word_table.direction(f"{normalizer.kind}.{name}", *(pair if new is not None else pair[::-1]))
                        for name, pair in zip(options, pairs, strict=True)
                    }
                )
            options_text = _text(_normalizer_options(normalizer))
            change: Kind = "normalizer_added" if kind == "normalizer_added" else "normalizer_removed"
            self._add(
                change, normalizer.kind, direction,
                options_text if normalizer is old else None, options_text if normalizer is new else None,
            )  # fmt: skip

    # -- relations

    def _relation(self, kind: str, old: ir.Relation | None, new: ir.Relation | None) -> None:
        if old is None and new is None:
            return
        if old is None:
            self._add("relation_added", kind, "tightened", None, _text(ir.keywords(new.options)) if new else None)
            return
        if new is None:
            self._add("relation_removed", kind, "loosened", _text(ir.keywords(old.options)), None)
            return
        before, after = ir.keywords(old.options), ir.keywords(new.options)
        for name in _names(before, after):
            word = f"{kind}.{name}"
            was, now = before.get(name), after.get(name)
            direction = word_table.direction(word, was, now)
            if word == "sequence.strictly_increasing" and _steps_up(after if was else before):
                direction = "neutral"  # a positive step says it already
            self._add("relation_changed", word, direction, was, now)

    # -- governance

    def _governance(self) -> None:
        old, new = self._old.governance, self._new.governance
        for word in ("sensitive", "error_class", "since", "sunset", "renamed_from", "unit", "currency"):
            was, now = getattr(old, word), getattr(new, word)
            if was != now:
                direction = word_table.direction(word, was, now)
                self._add(_KINDS.get(word, "governance_changed"), word, direction, was or None, now or None)
        if old.minor_digits != new.minor_digits:
            digits = [_digits(governance) for governance in (old, new)]
            direction = "neutral" if digits[0] == digits[1] else "breaking"
            self._add("currency_changed", "minor_digits", direction, old.minor_digits, new.minor_digits)
        if old.acknowledge != new.acknowledge:
            self._add(
                "governance_changed", "acknowledge", "added" if new.acknowledge else "neutral",
                old.acknowledge or None, new.acknowledge or None, acknowledge=new.acknowledge,
            )  # fmt: skip
        for word, before, after, default in (
            ("severities", dict(old.severities), dict(new.severities), "ERROR"),
            ("error_codes", dict(old.error_codes), dict(new.error_codes), None),
        ):
            for rule in _names(before, after):
                was, now = before.get(rule, default), after.get(rule, default)
                if was == now:
                    continue  # spelled out, or no more
                direction = word_table.direction(word, was, now)
                self._add("governance_changed", f"{word}[{rule}]", direction, was, now, place=word)
        for rule, direction, was, now in compare_contexts(dict(old.contexts), dict(new.contexts)):
            self._add("governance_changed", f"contexts[{rule}]", direction, was, now, place="contexts")


def compare_contexts(
    before: Mapping[str, tuple[str, ...]], after: Mapping[str, tuple[str, ...]]
) -> Iterator[tuple[str, Direction, Any, Any]]:
    """Contexts in which rules apply: a rule that is not named applies in all, so that fewer contexts are looser."""
    for rule in _names(before, after):
        was, now = before.get(rule), after.get(rule)
        if was is None or now is None:
            yield rule, "loosened" if was is None else "tightened", was, now
        elif set(was) != set(now):
            direction: Direction = (
                "tightened" if set(was) < set(now) else "loosened" if set(now) < set(was) else "breaking"
            )
            yield rule, direction, was, now


def _compare_values(collector: Collector, old: ir.Enum, new: ir.Enum) -> None:
    """Codes, aliases and places in a model's output."""
    for was, now in pair_values(old, new):
        if was is None or now is None:
            continue
        name, new_name = f"{old.full_name}.{was.name}", f"{new.full_name}.{now.name}"
        element = Element(
            "enum_value", name, new_name, old.full_name, new.full_name, was.number, now.number,
            file=old.file, new_file=new.file,
        )  # fmt: skip
        for word in ("code", "aliases", "class_index"):
            before, after = getattr(was, word), getattr(now, word)
            if before == after or (word == "aliases" and set(before) == set(after)):
                continue
            # More aliases accept more: the other way round than a list of what is refused.
            pair = (after, before) if word == "aliases" else (before, after)
            collector.add(
                "governance_changed", f"{name}@{word}", word_table.direction(word, *pair), element,
                before=shown(before or None if word != "class_index" else before),
                after=shown(after or None if word != "class_index" else after),
                old=collector.before.facts.word(name, word) or collector.old_place(name),
                new=collector.after.facts.word(new_name, word) or collector.new_place(new_name),
            )  # fmt: skip


def _normalizer_options(normalizer: ir.Normalizer) -> dict[str, Any]:
    options = ir.keywords(normalizer.options)
    if normalizer.target is not None:
        options[TARGETS[normalizer.kind]] = normalizer.target
    return options


def _names(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """The names whose values differ, in order."""
    names = [*before, *(name for name in after if name not in before)]
    return [name for name in names if before.get(name) != after.get(name)]


def _steps_up(options: Mapping[str, Any]) -> bool:
    step = options.get("step")
    return isinstance(step, int) and step > 0


def _digits(governance: ir.Governance) -> int | None:
    """The digits after the point that are meant: those declared, else ISO 4217's own (None without a currency)."""
    if governance.minor_digits is not None or not governance.currency:
        return governance.minor_digits
    from babel.numbers import get_currency_precision

    return int(get_currency_precision(governance.currency))


def _notes(word: str) -> Sequence[str]:
    if word == "money.allowed":
        return ("a mark that several currencies share (¥, $) is decided by the currencies that are allowed",)
    return ()


def shown(value: Any) -> Value:
    """An option's value for a report: maps as text, everything else as it is."""
    return _text(value) if isinstance(value, dict) else value


def _text(options: Mapping[str, Any]) -> str:
    """Options on one line: ``scale: any, allowed: CNY USD``."""

    def plain(value: Any) -> str:
        if isinstance(value, dict):
            return "{" + _text(value) + "}"
        if isinstance(value, tuple):
            return " ".join(map(plain, value))
        return str(value).lower() if isinstance(value, bool) else str(value)

    return ", ".join(f"{name}: {plain(value)}" for name, value in options.items())
