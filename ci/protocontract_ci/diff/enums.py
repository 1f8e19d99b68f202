"""Changes of enums and their values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from protocontract_ci.diff import reserved
from protocontract_ci.diff.collector import ADDS, BREAKS_NAMES, Collector
from protocontract_ci.diff.elements import inside, named
from protocontract_ci.model import Compatibility, Element, Kind
from protocontract_compiler import ir

ValuePair: TypeAlias = tuple[ir.EnumValue | None, ir.EnumValue | None]


def compare_enums(collector: Collector) -> None:
    """All changes of enums but those of protocontract's words on their values."""
    for old, new in collector.pairs.enums:
        if old is None and new is not None:
            if not inside(collector, new.full_name, 1):
                element = Element("enum", new_name=new.full_name, new_message=new.full_name, new_file=new.file)
                collector.add(
                    "enum_added", new.full_name, "added", element, after=new.full_name, new=new.place,
                    compatibility=ADDS,
                )  # fmt: skip
        elif new is None and old is not None:
            if not inside(collector, old.full_name, 0):
                element = Element("enum", name=old.full_name, message=old.full_name, file=old.file)
                collector.add(
                    "enum_removed", old.full_name, "breaking", element, before=old.full_name, old=old.place,
                    compatibility=BREAKS_NAMES,
                )  # fmt: skip
        elif old is not None and new is not None:
            _compare(collector, old, new)


def _compare(collector: Collector, old: ir.Enum, new: ir.Enum) -> None:
    element = Element(
        "enum", old.full_name, new.full_name, old.full_name, new.full_name, file=old.file, new_file=new.file
    )
    named(collector, "enum", element, old.full_name, new.full_name, (old.place, new.place))
    collector.described(element, old.full_name, "enum")
    if old.closed != new.closed:
        texts = ["closed" if enum.closed else "open" for enum in (old, new)]
        collector.add(
            "enum_openness_changed", old.full_name, "breaking", element, before=texts[0], after=texts[1],
            old=old.place, new=new.place,
            # A closed enum keeps numbers that it does not know out of the field; fields of an open one hold them.
            compatibility=Compatibility("compatible", "compatible", "breaking", "breaking"),
        )  # fmt: skip
    if old.closed and new.closed and old.values[0].number != new.values[0].number:
        collector.add(
            "enum_zero_changed", old.full_name, "breaking", element, before=old.values[0].name,
            after=new.values[0].name, old=old.place, new=new.place,
            compatibility=Compatibility("compatible", "compatible", "breaking", "breaking"),
            notes=["the first value of a closed enum is the default of its fields"],
        )  # fmt: skip
    pairs = pair_values(old, new)
    for was, now in pairs:
        _compare_value(collector, old, new, was, now)
    both = [now for was, now in pairs if was is not None and now is not None]
    if both != [value for value in new.values if value in both] and not _renumbered(pairs):
        collector.add("values_reordered", old.full_name, "neutral", element, old=old.place, new=new.place)
    reserved.compare_enum(collector, element, old, new)


def pair_values(old: ir.Enum, new: ir.Enum) -> list[ValuePair]:
    """The values before, each with what it became by name, else by number; then what is new."""
    names = {value.name: value for value in new.values}
    before = {value.name for value in old.values}
    taken: set[str] = set()
    pairs: list[ValuePair] = []
    for value in old.values:
        found = names.get(value.name)
        if found is None:
            # The same number under a name that is new, and not an alias of one that stayed.
            stayed = any(other.number == value.number and other.name in names for other in old.values)
            found = next(
                (
                    other
                    for other in new.values
                    if other.number == value.number and other.name not in before and other.name not in taken
                ),
                None,
            )
            found = None if stayed else found
        if found is not None:
            taken.add(found.name)
        pairs.append((value, found))
    pairs.extend((None, value) for value in new.values if value.name not in taken)
    return pairs


def _renumbered(pairs: list[ValuePair]) -> bool:
    return any(was and now and was.number != now.number for was, now in pairs)


def _compare_value(
    collector: Collector, old: ir.Enum, new: ir.Enum, was: ir.EnumValue | None, now: ir.EnumValue | None
) -> None:
    before = f"{old.full_name}.{was.name}" if was is not None else ""
    after = f"{new.full_name}.{now.name}" if now is not None else ""
    element = Element(
        "enum_value", before, after, old.full_name, new.full_name,
        was.number if was is not None else None, now.number if now is not None else None,
        file=old.file, new_file=new.file,
    )  # fmt: skip
    places = collector.old_place(before) if before else None, collector.new_place(after) if after else None
    if was is None and now is not None:
        alias = any(value.number == now.number for value in _kept(old, new))
        collector.add(
            "enum_alias_added" if alias else "enum_value_added", f"{old.full_name}.{now.name}", "added", element,
            after=now.number, new=places[1], compatibility=ADDS,
        )  # fmt: skip
    elif now is None and was is not None:
        alias = any(value.number == was.number for value in new.values if value.name != was.name) and any(
            value.number == was.number and value.name != was.name for value in old.values
        )
        collector.add(
            "enum_alias_removed" if alias else "enum_value_removed", before, "breaking", element,
            before=was.number, old=places[0],
            compatibility=BREAKS_NAMES if alias else Compatibility("breaking", "breaking", "breaking", "breaking"),
            notes=_unreserved(collector, new, was) if not alias else (),
        )  # fmt: skip
    elif was is not None and now is not None:
        if was.number != now.number:
            collector.add(
                "enum_value_renumbered", before, "breaking", element, before=was.number, after=now.number,
                old=places[0], new=places[1],
                compatibility=Compatibility("breaking", "compatible", "breaking", "breaking"),
            )  # fmt: skip
        if was.name != now.name:
            kind: Kind = "enum_value_renamed"
            collector.add(
                kind, before, "breaking", element, before=was.name, after=now.name, old=places[0], new=places[1],
                compatibility=BREAKS_NAMES,
            )  # fmt: skip
        collector.described(element, before, "enum_value")


def _kept(old: ir.Enum, new: ir.Enum) -> Iterator[ir.EnumValue]:
    names = {value.name for value in old.values}
    return (value for value in new.values if value.name in names)


def _unreserved(collector: Collector, new: ir.Enum, value: ir.EnumValue) -> list[str]:
    kept = collector.after.facts.reserved[new.full_name]
    missing = [] if kept.holds(value.number) else [f"`reserved {value.number};`"]
    if value.name not in kept.names:
        missing.append(f'`reserved "{value.name}";`')
    return [f"a later value could take its place; expected {' and '.join(missing)}"] if missing else []
