"""Two contracts on one record: what the second would newly reject, newly accept, or normalise differently.

    found = difference(ACTIVE.process(raw), CANDIDATE.process(raw))     # None: they agree

A pure function of two outcomes. It says which rules make the difference and at which fields, never a value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from google.protobuf.message import DecodeError, Message

from protocontract.contract import Outcome
from protocontract.violations import Change, Violation, rule_label

Kind: TypeAlias = Literal["newly_rejected", "newly_accepted", "normalized_differently"]

#: Every kind, in the order in which reports list them.
KINDS: Final[tuple[Kind, ...]] = ("newly_rejected", "newly_accepted", "normalized_differently")

# What stands after a repeated field or a map in a path: an index, true, false, or a map key in quotes.
_SUBSCRIPT: Final = re.compile(r'\[(?:"(?:[^"\\]|\\.)*"|[^\]"]*)\]', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule that makes a difference, and the field it is about: a path with ``[]`` for subscripts and map keys."""

    rule: str
    path: str


@dataclass(frozen=True, slots=True)
class Difference:
    """What another contract would do with a record, and the rules that make it so, each once, in order.

    They are the other contract's rules where it rejects, those of the first where it accepts, and the normalizers of
    both whose results differ.
    """

    kind: Kind
    findings: tuple[Finding, ...]


def difference(
    before: Outcome[Any],
    after: Outcome[Any],
    *,
    own_before: Violation | None = None,
    own_after: Violation | None = None,
) -> Difference | None:
    """What ``after`` would do otherwise than ``before``, two outcomes of one record; None where they agree.

    ``own_before`` and ``own_after``: what was found against the record beside its contract (a key that differs).
    Two rejections agree, whatever their rules. So do two messages that are equal in the end.
    """
    accepted = before.message is not None and own_before is None
    accepts = after.message is not None and own_after is None
    if accepted and accepts:
        # Almost every record: nothing to normalise, for either.
        if not before.changes and not after.changes:
            return None
        return _normalized(before, after)
    if accepted:
        return Difference("newly_rejected", _broken(after.violations, own_after))
    if accepts:
        return Difference("newly_accepted", _broken(before.violations, own_before))
    return None


def _broken(violations: Iterable[Violation], own: Violation | None) -> tuple[Finding, ...]:
    found = [
        Finding(rule_label(violation), place_of(violation.redacted_path))
        for violation in (*violations, *(() if own is None else (own,)))
        if violation.severity == "ERROR"
    ]
    return tuple(dict.fromkeys(found))


def _normalized(before: Outcome[Any], after: Outcome[Any]) -> Difference | None:
    if before.message is None or after.message is None or _equal(before.message, after.message):
        return None
    was, would = _results(before.changes), _results(after.changes)
    # A value that one of them leaves as it came is no result: it differs from any.
    places = [place for place in {**was, **would} if was.get(place, _UNCHANGED) != would.get(place, _UNCHANGED)]
    if not places:
        # Values of sensitive fields are not told: of what is left, only these can differ.
        places = [place for place, result in {**was, **would}.items() if result is None]
    if not places:
        # The same changes and yet two messages: the fields are read differently, and no normalizer did that.
        return None
    return Difference(
        "normalized_differently", tuple(dict.fromkeys(Finding(rule, place_of(path)) for path, rule in places))
    )


_UNCHANGED: Final = object()


def _results(changes: Iterable[Change]) -> dict[tuple[str, str], Any]:
    """What became of each changed field. Where a field changed more than once by one rule, the last counts."""
    return {(change.path, change.rule_id): change.after for change in changes}


def _equal(one: Message, other: Message) -> bool:
    """Whether two messages say the same, though each may know fields that the other does not."""
    first, second = one.SerializeToString(deterministic=True), other.SerializeToString(deterministic=True)
    return first == second or _read_as(other, first) == second or _read_as(one, second) == first


def _read_as(message: Message, raw: bytes) -> bytes | None:
    """Bytes as a message of that type writes them; None where it cannot read them."""
    try:
        return type(message).FromString(raw).SerializeToString(deterministic=True)
    except DecodeError:
        return None


def place_of(path: str) -> str:
    """A path with ``[]`` for each subscript and map key, as a Finding has it."""
    return _SUBSCRIPT.sub("[]", path)
