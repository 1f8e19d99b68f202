"""``--conformance``: the changed contracts against the base, on messages that the gate makes up.

Each message is judged four times: by protovalidate and by the compiled contract, under both states. Under one state
both must find the same rules broken at the same fields; where the states differ, a change must tell of the rule by
which they do. The messages are those that runs of modules are fed with: ordinary ones, and values at and beside every
constant.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, Protocol, TypeAlias

import protovalidate
from google.protobuf.message import DecodeError, Message

from protocontract import ContractError, RuleEvaluationError
from protocontract_ci.compiled import compiled
from protocontract_ci.diff.compare import Diff
from protocontract_ci.diff.wording import group_of
from protocontract_ci.execution.samples import SampleMaker
from protocontract_ci.meaning.judges import Judges, of_buf_validate
from protocontract_ci.model import Change, Direction
from protocontract_ci.reports.conformance import Conformance
from protocontract_compiler import ir

#: Most records of one message, and most rules that are named.
_RECORDS: Final = 2_000
_NAMED: Final = 10

Broken: TypeAlias = frozenset[tuple[str, tuple[str, ...]]]
"""The rules that a record breaks: their ids and the names of the fields on the way, without keys and indexes."""


class Side(Protocol):
    """One state of the contracts."""

    def theirs(self, name: str, data: bytes) -> Broken | None:
        """What protovalidate finds; None where it has no result."""
        ...

    def ours(self, name: str, data: bytes) -> Broken | None:
        """What the compiled contract finds; None where it has no result."""
        ...


def conformances_of(diff: Diff) -> list[Conformance]:
    """What becomes of every message with a change that is there on both sides. Raises ContractError for a mistake."""
    # That nothing differs is what a neutral change says.
    names = changed_messages(diff, neutral=True)
    if not names:
        return []
    sides = _State(diff, 0), _State(diff, 1)
    maker = SampleMaker(diff.before, diff.after, (Judges(diff.before), Judges(diff.after)))
    found = []
    for old, new in names:
        fields = dict.fromkeys(
            field.name
            for side, name in ((diff.before, old), (diff.after, new))
            for field in side.schema.messages[name].fields
        )
        records = dict.fromkeys(islice(maker.candidates(old, new, list(fields)), _RECORDS))
        found.append(conform(diff, (old, new), list(records), sides))
    return found


def changed_messages(diff: Diff, *, neutral: bool = False) -> list[tuple[str, str]]:
    """The names, before and after, of the messages that a change touches and that are there on both sides.

    ``neutral``: also a change that nobody can tell.
    """
    changed = sorted({group_of(change) for change in diff.changes if neutral or change.direction != "neutral"})
    return [
        (old, new)
        for old in changed
        if old in diff.before.schema.messages
        and (new := diff.pairs.new_names.get(old, old)) in diff.after.schema.messages
    ]


def conform(diff: Diff, names: tuple[str, str], records: Sequence[bytes], sides: tuple[Side, Side]) -> Conformance:
    """Judge records of one message on both sides."""
    rejected = accepted = judged = 0
    unexplained: dict[str, None] = {}
    disagreements: dict[str, None] = {}
    for data in records:
        found: list[Broken] = []
        for side, name, state in zip(sides, names, ("before", "after"), strict=True):
            theirs, ours = side.theirs(name, data), side.ours(name, data)
            if theirs is None or ours is None:
                break
            disagreements.update((f"{_told(each)} ({state})", None) for each in sorted(theirs ^ ours))
            found.append(theirs)
        if len(found) < 2:
            continue
        judged += 1
        before, after = found
        if bool(before) == bool(after):
            continue
        rejected += bool(after)
        accepted += bool(before)
        direction: Direction = "tightened" if after else "loosened"
        schema, name = (diff.after.schema, names[1]) if after else (diff.before.schema, names[0])
        for each in sorted(after or before):
            if not _explained(diff.changes, _reached(schema, name, each[1]), direction):
                unexplained[_told(each)] = None
    return Conformance(
        names[1], judged, rejected, accepted, tuple(islice(unexplained, _NAMED)), tuple(islice(disagreements, _NAMED))
    )


@dataclass
class _State:
    diff: Diff
    number: int

    def __post_init__(self) -> None:
        contracts = (self.diff.before, self.diff.after)[self.number]
        self._judges = Judges(contracts)
        self._contracts = compiled(contracts)
        self._validator = protovalidate.Validator()

    def _parsed(self, name: str, data: bytes) -> Message | None:
        message = self._judges.new(name)
        try:
            message.ParseFromString(data)
        except DecodeError:
            return None
        return message

    def theirs(self, name: str, data: bytes) -> Broken | None:
        """See Side."""
        message = self._parsed(name, data)
        if message is None:
            return None
        try:
            return _broken(found.proto for found in self._validator.collect_violations(message))
        except (protovalidate.CompilationError, protovalidate.EvaluationError):
            return None

    def ours(self, name: str, data: bytes) -> Broken | None:
        """See Side."""
        message, contract = self._parsed(name, data), self._contracts.get(name)
        if message is None or contract is None:
            return None
        try:
            found = [each for each in contract.validate(message) if of_buf_validate(each.rule_id)]
        except (RuleEvaluationError, ContractError):
            return None
        return _broken(each.to_proto() for each in found)


def _broken(violations: Iterable[Any]) -> Broken:
    """Of violations in protovalidate's own form; one of a whole message has no field."""
    return frozenset(
        (each.rule_id, tuple(element.field_name for element in each.field.elements) if each.field is not None else ())
        for each in violations
    )


def _told(broken: tuple[str, tuple[str, ...]]) -> str:
    rule, path = broken
    return f"{rule} at {'.'.join(path)}" if path else rule


def _reached(schema: ir.Schema, message: str, path: Iterable[str]) -> set[str]:
    """The messages, fields and oneofs on the way to a broken rule, by full name."""
    found = {message}
    for name in path:
        declared = schema.messages.get(message)
        field = next((each for each in declared.fields if each.name == name), None) if declared else None
        found.add(f"{message}.{name}")
        if field is None or (message := field.element_message or "") == "":
            break
        found.add(message)
    return found


def _explained(changes: Iterable[Change], reached: set[str], direction: Direction) -> bool:
    """Whether a change of something on the way may make the difference."""
    return any(
        change.direction in (direction, "breaking", "added")
        and not reached.isdisjoint({change.path.partition("@")[0], change.element.new_name, group_of(change)} - {""})
        for change in changes
    )
