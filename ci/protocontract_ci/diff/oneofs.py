"""Changes of oneofs: which became which, and what came, went or got another name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from protocontract_ci.diff.collector import ADDS, BREAKS_CODE, Collector
from protocontract_ci.model import Element
from protocontract_compiler import ir

if TYPE_CHECKING:
    from protocontract_ci.diff.fields import FieldPairs


def pair_oneofs(old: ir.Message, new: ir.Message, new_names: Mapping[str, str]) -> dict[str, str]:
    """The name after of each oneof that is there on both sides: the same name, or at least half of the same members.

    ``new_names`` has the name after of each field.
    """
    after = {oneof.name: oneof for oneof in new.oneofs}
    pairs = {oneof.name: oneof.name for oneof in old.oneofs if oneof.name in after}
    for oneof in old.oneofs:
        if oneof.name in pairs:
            continue
        members = {new_names[name] for name in oneof.fields if name in new_names}
        for other in new.oneofs:
            if other.name not in pairs.values() and 2 * len(members & set(other.fields)) >= max(len(oneof.fields), 1):
                pairs[oneof.name] = other.name
                break
    return pairs


def compare_oneofs(collector: Collector, fields: FieldPairs) -> None:
    """Oneofs that came, went or were renamed. Their members are compared as fields."""
    before, after = fields.old.full_name, fields.new.full_name

    def element(old: str, new: str) -> Element:
        return Element(
            "oneof", f"{before}.{old}" if old else "", f"{after}.{new}" if new else "", before, after,
            file=fields.old.file, new_file=fields.new.file,
        )  # fmt: skip

    fresh = {oneof.name: oneof for oneof in fields.new.oneofs}
    for oneof in fields.old.oneofs:
        name = fields.oneofs.get(oneof.name)
        path = f"{before}.{oneof.name}"
        if name is None:
            collector.add(
                "oneof_removed", path, "breaking", element(oneof.name, ""), before=oneof.name, old=oneof.place,
                compatibility=BREAKS_CODE,
            )  # fmt: skip
            continue
        place = fresh.pop(name).place
        if name != oneof.name:
            collector.add(
                "oneof_renamed", path, "breaking", element(oneof.name, name), before=oneof.name, after=name,
                old=oneof.place, new=place, compatibility=BREAKS_CODE,
            )  # fmt: skip
        collector.described(element(oneof.name, name), path, "oneof")
    for oneof in fresh.values():
        collector.add(
            "oneof_added", f"{before}.{oneof.name}", "added", element("", oneof.name), after=oneof.name,
            new=oneof.place, compatibility=ADDS,
        )  # fmt: skip
