"""Numbers and names that are kept free, and ranges that are lent to extensions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, TypeAlias

from protocontract_ci.diff import types
from protocontract_ci.diff.collector import BREAKS_ALL, SAME, Collector
from protocontract_ci.diff.fields import FieldPairs
from protocontract_ci.facts import Reserved
from protocontract_ci.model import Element
from protocontract_compiler import ir

Range: TypeAlias = tuple[int, int]

_NOTHING: Final = Reserved()


def compare_message(collector: Collector, element: Element, fields: FieldPairs) -> None:
    """The reserved numbers and names of a message, and its extension ranges."""
    gone = {of_field.number for of_field in fields.removed()} | {old.number for old, _ in fields.both()}
    names = {of_field.name for of_field in fields.removed()} | {old.name for old, _ in fields.both()}
    now = {of_field.number: (of_field.name, of_field.place) for of_field in fields.new.fields}
    now_named = {of_field.name: of_field.place for of_field in fields.new.fields}
    shown = {of_field.number: types.declaration(of_field) for of_field in fields.new.fields}
    _compare(collector, element, gone, names, now, now_named, shown)
    _extension_ranges(collector, element)


def compare_enum(collector: Collector, element: Element, old: ir.Enum, new: ir.Enum) -> None:
    """The reserved numbers and names of an enum."""
    _compare(
        collector, element, {value.number for value in old.values}, {value.name for value in old.values},
        {
            value.number: (value.name, collector.new_place(f"{new.full_name}.{value.name}") or new.place)
            for value in new.values
        },
        {value.name: collector.new_place(f"{new.full_name}.{value.name}") or new.place for value in new.values},
        {value.number: f"{value.name} = {value.number}" for value in new.values},
    )  # fmt: skip


def _compare(
    collector: Collector, element: Element, former: set[int], former_names: set[str],
    now: Mapping[int, tuple[str, ir.Place]], now_named: Mapping[str, ir.Place], shown: Mapping[int, str],
) -> None:  # fmt: skip
    old = collector.before.facts.reserved.get(element.name, _NOTHING)
    new = collector.after.facts.reserved.get(element.new_name, _NOTHING)
    for span in _without(old.numbers, new.numbers):
        place = next((place for key, place in old.places.items() if isinstance(key, tuple) and _in(span[0], key)), None)
        used = [number for number in now if _in(number, span)]
        for number in used:
            collector.add(
                "number_reused", f"{element.name}#{number}", "breaking", element, before="reserved",
                after=shown[number], old=place, new=now[number][1], compatibility=BREAKS_ALL,
                notes=["old records may still carry what the number meant before it was reserved"],
            )  # fmt: skip
        if not used:
            collector.add(
                "reserved_removed", f"{element.name}#{_text(span)}", "neutral", element, before=_text(span), old=place,
                notes=["a later field could take the number"],
            )  # fmt: skip
    for name in old.names:
        if name not in new.names:
            used_at = now_named.get(name)
            collector.add(
                "reserved_removed", f"{element.name}#{name}", "breaking" if used_at else "neutral", element,
                before=name, old=old.places.get(name), new=used_at,
                compatibility=BREAKS_ALL if used_at else SAME,
                notes=[] if used_at else ["a later field could take the name"],
            )  # fmt: skip
    # Reserving what was removed just now is part of the removal.
    added = [_text(span) for span in _without(new.numbers, [*old.numbers, *((n, n) for n in former)])]
    added_names = [name for name in new.names if name not in old.names and name not in former_names]
    if added or added_names:
        places = [new.places[key] for key in new.places if key not in old.places]
        collector.add(
            "reserved_added", element.name, "neutral", element, after=(*added, *added_names),
            new=places[0] if places else None,
        )  # fmt: skip


def _extension_ranges(collector: Collector, element: Element) -> None:
    old = collector.before.facts.extension_ranges.get(element.name, _NOTHING)
    new = collector.after.facts.extension_ranges.get(element.new_name, _NOTHING)
    gone, added = ([_text(span) for span in spans] for spans in (
        _without(old.numbers, new.numbers), _without(new.numbers, old.numbers),
    ))  # fmt: skip
    if gone or added:
        collector.add(
            "extensions_changed", element.name, "breaking" if gone else "added", element,
            before=tuple(gone) or None, after=tuple(added) or None,
            old=next(iter(old.places.values()), None), new=next(iter(new.places.values()), None),
            compatibility=BREAKS_ALL if gone else SAME,
        )  # fmt: skip


def _without(spans: Iterable[Range], other: Iterable[Range]) -> Iterator[Range]:
    """What of ``spans`` lies in none of ``other``."""
    cuts = sorted(other)
    for first, last in spans:
        at = first
        for low, high in cuts:
            if high < at or low > last:
                continue
            if low > at:
                yield at, low - 1
            at = high + 1
        if at <= last:
            yield at, last


def _in(number: int, span: Range) -> bool:
    return span[0] <= number <= span[1]


def _text(span: Range) -> str:
    return str(span[0]) if span[0] == span[1] else f"{span[0]}-{span[1]}"
