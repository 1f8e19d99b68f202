"""The word ``sunset``: until that day a field must stay, and after it nobody may use it."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from protocontract_ci.model import Change, Finding
from protocontract_ci.verdicts.own import finding
from protocontract_compiler import ir


def sunset_of(path: str, schema: ir.Schema) -> datetime.date | None:
    """The day after which a field may go; None where it has none, or the path is of something else."""
    owner, _, name = path.rpartition(".")
    message = schema.messages.get(owner)
    for field in message.fields if message is not None else ():
        if field.name == name and field.governance.sunset:
            try:
                return datetime.date.fromisoformat(field.governance.sunset)
            except ValueError:
                # The compiler refuses it; nothing follows from it here.
                return None
    return None


def demand_sunsets(changes: Iterable[Change], before: ir.Schema, today: datetime.date) -> tuple[Change, ...]:
    """The changes, where a field that goes before its day is one that the contract has to settle."""
    found = []
    for change in changes:
        day = sunset_of(change.element.name, before) if change.kind == "field_removed" else None
        if day is not None and day >= today and not change.demand:
            demand = f"{change.element.short_name} may go after its sunset {day}; expected it to stay until then"
            change = replace(change, demand=demand)
        found.append(change)
    return tuple(found)


def used_after(
    module: str, lines: Mapping[str, tuple[str, Sequence[int]]], schema: ir.Schema, today: datetime.date
) -> list[Finding]:
    """Findings of fields that are used after their day. ``lines`` are a file and lines by path."""
    found = []
    for path, (file, where) in lines.items():
        day = sunset_of(path, schema)
        if day is not None and day < today:
            because = f"uses {path}, whose sunset was {day}"
            found.append(finding(module, "used_after_sunset", path, because, file, where))
    return found
