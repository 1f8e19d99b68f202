"""The version that a contract's changes demand, and the one that it has.

A version names one contract for good: where the fingerprint of a message differs from that of the same version before,
the version is refused. Otherwise the bump must fit what changed in the message and in all that it reaches:

==============================  =================================
breaking, tightened             major (minor while the major is 0)
loosened, added                 minor
anything else that is visible   patch
==============================  =================================
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from protocontract_ci.diff.collector import Collector
from protocontract_ci.diff.fields import FieldPairs
from protocontract_ci.model import Change, Element
from protocontract_compiler import ir
from protocontract_compiler.passes.reach import reached

Bump: TypeAlias = Literal["none", "patch", "minor", "major"]

_ORDER: Final[tuple[Bump, ...]] = ("none", "patch", "minor", "major")
_SEMVER: Final = re.compile(r"(\d+)\.(\d+)\.(\d+)(-[0-9A-Za-z.-]+)?(\+.*)?")


@dataclass(frozen=True, slots=True)
class VersionNeed:
    """The version of a message before and after (empty where it has none), and the bump that its changes demand.

    ``changes`` are those of the message and of all that it reaches.
    """

    message: str
    before: str
    after: str
    demanded: Bump
    changes: tuple[Change, ...] = ()

    @property
    def text(self) -> str:
        """What a heading says behind the name: the version, or both."""
        if self.before == self.after:
            return f" {self.after}"
        return f" {self.before or 'without a version'} -> {self.after or 'without a version'}"


def compare_versions(collector: Collector, pairs: Sequence[FieldPairs]) -> list[VersionNeed]:
    """Looks at the version of every message that has one; run after all other comparisons.

    Returns the versions of all messages that changed, or whose version did.
    """
    changes = tuple(collector.changes)
    needs: list[VersionNeed] = []
    for fields in pairs:
        old, new = fields.old.contract, fields.new.contract
        was, now = (contract.version if contract is not None else "" for contract in (old, new))
        if not was and not now:
            continue
        element = Element(
            "message", fields.old.full_name, fields.new.full_name, fields.old.full_name, fields.new.full_name,
            file=fields.old.file, new_file=fields.new.file,
        )  # fmt: skip
        places = (
            collector.before.facts.word(fields.old.full_name, "version") or fields.old.place,
            collector.after.facts.word(fields.new.full_name, "version") or fields.new.place,
        )
        own = _of_message(collector, fields, changes)
        needed = demanded(own)
        path = f"{fields.old.full_name}@version"
        if needed != "none" or was != now:
            needs.append(VersionNeed(fields.old.full_name, was, now, needed, tuple(own)))
        if was == now:
            if _fingerprints_differ(collector, fields):
                collector.add(
                    "version_reused", path, "neutral", element, before=was, after=now, old=places[0], new=places[1],
                    demand=f"version {now} names another contract already; expected {_expected(was, needed)}",
                )  # fmt: skip
            continue
        got = bump(was, now)
        if was and now and (got is None or _ORDER.index(got) < _ORDER.index(_lenient(was, needed))):
            collector.add(
                "version_bump_missing", path, "neutral", element, before=was, after=now, old=places[0], new=places[1],
                demand=f"the changes ask for a {needed} version; expected {_expected(was, needed)}, got {now}",
            )  # fmt: skip
        else:
            collector.add(
                "version_changed", path, "neutral", element, before=was or None, after=now or None,
                old=places[0] if was else None, new=places[1] if now else None,
            )  # fmt: skip
    return needs


def demanded(changes: Iterable[Change]) -> Bump:
    """The smallest bump that fits the changes."""
    directions = {change.direction for change in changes if not change.kind.startswith("comment")}
    if directions & {"breaking", "tightened"}:
        return "major"
    if directions & {"loosened", "added"}:
        return "minor"
    return "patch" if directions else "none"


def bump(before: str, after: str) -> Bump | None:
    """The part of a semantic version that was raised; None where it went down, or is no semantic version."""
    old, new = _SEMVER.fullmatch(before), _SEMVER.fullmatch(after)
    if old is None or new is None:
        return None
    numbers = [tuple(map(int, match.groups()[:3])) for match in (old, new)]
    for name, one, other in zip(("major", "minor", "patch"), *numbers, strict=True):
        if other != one:
            return name if other > one else None
    # Only a pre-release differs: 2.0.0-rc.1 becomes 2.0.0, which has the bump that the first one had.
    return "major" if old.group(4) else "none"


def _lenient(before: str, needed: Bump) -> Bump:
    """Before 1.0.0 anything may change with a minor version (semver.org, 4)."""
    return "minor" if needed == "major" and before.startswith("0.") else needed


def _expected(before: str, needed: Bump) -> str:
    match = _SEMVER.fullmatch(before)
    if match is None:
        return "a semantic version"
    major, minor, patch = map(int, match.groups()[:3])
    match _lenient(before, needed):
        case "major":
            return f"{major + 1}.0.0"
        case "minor":
            return f"{major}.{minor + 1}.0"
        case _:
            return f"{major}.{minor}.{patch + 1}"


def _of_message(collector: Collector, fields: FieldPairs, changes: Sequence[Change]) -> list[Change]:
    """The changes of a message and of all messages and enums that it reaches, on either side."""
    names: set[str] = set()
    for contracts, message in ((collector.before, fields.old), (collector.after, fields.new)):
        for each in reached(contracts.schema, message):
            names.add(each.full_name)
            names.update(enum for of_field in each.fields for enum in _enums(of_field))
    return [
        change
        for change in changes
        if change.element.kind in ("message", "field", "oneof", "enum", "enum_value")
        and (change.element.message in names or change.element.new_message in names)
    ]


def _enums(field: ir.Field) -> list[str]:
    return [part.enum for part in (field, field.value) if part is not None and part.enum is not None]


def _fingerprints_differ(collector: Collector, fields: FieldPairs) -> bool:
    before = collector.before.fingerprint(fields.old.full_name)
    return before != collector.after.fingerprint(fields.new.full_name)
