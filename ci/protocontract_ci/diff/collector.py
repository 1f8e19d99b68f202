"""What all parts of the comparison share: both states, who is who, and the changes found so far."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from protocontract_ci.diff.pairing import Pairs
from protocontract_ci.facts import Described, Option
from protocontract_ci.model import (
    Change,
    Compatibility,
    Direction,
    Element,
    ElementKind,
    Kind,
    RuleComparison,
    Value,
)
from protocontract_ci.sources import Contracts
from protocontract_compiler.ir import Place

SAME: Final = Compatibility()
BREAKS_CODE: Final = Compatibility("compatible", "compatible", "breaking", "breaking")
BREAKS_NAMES: Final = Compatibility("same", "breaking", "breaking", "breaking")
BREAKS_ALL: Final = Compatibility("breaking", "breaking", "breaking", "breaking")
ADDS: Final = Compatibility("compatible", "compatible", "compatible", "compatible")

# Options that are told by what they do (an alias, a presence), so not by themselves.
_TOLD_ELSEWHERE: Final = frozenset({"deprecated", "allow_alias", "packed"})


@dataclass
class Collector:
    """Collects changes; places become those that the user can open."""

    before: Contracts
    after: Contracts
    pairs: Pairs
    changes: list[Change] = field(default_factory=list)

    def add(
        self, kind: Kind, path: str, direction: Direction, element: Element, *,
        before: Value = None, after: Value = None, old: Place | None = None, new: Place | None = None,
        compatibility: Compatibility = SAME, comparison: RuleComparison | None = None, acknowledge: bool = False,
        demand: str = "", notes: Iterable[str] = (),
    ) -> None:  # fmt: skip
        """Notes one change. ``old`` and ``new`` are its places in the two states."""
        witness = None
        if comparison is not None:
            witness = comparison.lost if direction == "tightened" else comparison.gained
            witness = witness or comparison.lost or comparison.gained
        self.changes.append(
            Change(
                path, kind, direction, element, before, after,
                where_before=self.before.place(old) if old is not None else None,
                where_after=self.after.place(new) if new is not None else None,
                compatibility=compatibility,
                relation=comparison.relation if comparison is not None else None,
                proof=comparison.proof if comparison is not None else "none",
                witness=witness, acknowledge=acknowledge, demand=demand, notes=tuple(notes),
            )
        )  # fmt: skip

    def old_place(self, name: str) -> Place | None:
        """Where an element is declared before."""
        return _place(self.before.facts.elements, name)

    def new_place(self, name: str) -> Place | None:
        """Where an element is declared after."""
        return _place(self.after.facts.elements, name)

    def described(self, element: Element, path: str, kind: ElementKind) -> None:
        """Comments and options of an element that is there on both sides. ``path`` is its path before."""
        old = self.before.facts.elements.get(path)
        new = self.after.facts.elements.get(_new_path(element, path))
        if old is None or new is None:
            return
        if old.comment != new.comment:
            self.add(
                "comment_changed", path, "neutral", element, before=old.comment or None, after=new.comment or None,
                old=old.place, new=new.place,
            )  # fmt: skip
        self._deprecated(element, path, old, new)
        self._options(element, path, kind, old, new)

    def _deprecated(self, element: Element, path: str, old: Described, new: Described) -> None:
        was, now = (_is_true(described.options.get("deprecated")) for described in (old, new))
        if was != now:
            at_old, at_new = old.options.get("deprecated"), new.options.get("deprecated")
            self.add(
                "deprecated_added" if now else "deprecated_removed", path, "neutral", element,
                before=was or None, after=now or None,
                old=at_old.place if at_old is not None else old.place,
                new=at_new.place if at_new is not None else new.place,
            )  # fmt: skip

    def _options(self, element: Element, path: str, kind: ElementKind, old: Described, new: Described) -> None:
        for name in [*old.options, *(name for name in new.options if name not in old.options)]:
            was, now = old.options.get(name), new.options.get(name)
            before, after = (option.value if option is not None else None for option in (was, now))
            if name in _TOLD_ELSEWHERE or before == after:
                continue
            compatibility = _option_effect(kind, name, before, after)
            self.add(
                "file_option_changed" if kind == "file" else "option_changed", path,
                "breaking" if compatibility.breaking else "neutral", element,
                before=f"{name} = {before}" if was is not None else None,
                after=f"{name} = {after}" if now is not None else None,
                old=was.place if was is not None else old.place, new=now.place if now is not None else new.place,
                compatibility=compatibility,
            )  # fmt: skip
        for name, feature in new.features.items():
            earlier = old.features.get(name, feature)
            if earlier != feature:
                compatibility = _feature_effect(name, feature)
                self.add(
                    "encoding_changed", path, "breaking" if compatibility.breaking else "neutral", element,
                    before=f"{name} = {earlier}", after=f"{name} = {feature}", old=old.place, new=new.place,
                    compatibility=compatibility,
                )  # fmt: skip


def _new_path(element: Element, path: str) -> str:
    return path if element.kind == "file" and not element.new_file else element.new_name or element.new_file or path


def _place(elements: Mapping[str, Described], name: str) -> Place | None:
    described = elements.get(name)
    return described.place if described is not None else None


def _is_true(option: Option | None) -> bool:
    return option is not None and option.value is True


def _option_effect(kind: ElementKind, name: str, before: Value, after: Value) -> Compatibility:
    """What protobuf's own options do; those of other languages and of other people do nothing that can be told (D8)."""
    if kind == "field" and name == "jstype" and "JS_STRING" in (before, after):
        # protobuf-es types a 64-bit integer as string under JS_STRING and as bigint otherwise.
        return Compatibility(typescript="breaking")
    if kind == "message" and name == "message_set_wire_format":
        return BREAKS_ALL
    if kind == "method" and name == "idempotency_level" and before == "NO_SIDE_EFFECTS":
        # Such a method may be called by HTTP GET (Connect, gRPC-Web gateways); another one may not.
        return Compatibility(wire="breaking")
    return SAME


def _feature_effect(name: str, after: str) -> Compatibility:
    if name == "utf8_validation":
        # Text that is no UTF-8 is refused by parsers now, or comes through now.
        return Compatibility("breaking" if after == "VERIFY" else "compatible", "same", "compatible", "compatible")
    return Compatibility(json="breaking" if after == "LEGACY_BEST_EFFORT" else "compatible")
