"""Counts, for each promise of a contract, the records that keep it, break it or were normalised for it.

Memory does not grow with the number of records: a promise remembers counts, the first few record numbers of each rule
and one value.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from protocontract.contract import Contract, Outcome, Promise
from protocontract.levels import RestLevels, Verdict, outcome_seconds
from protocontract.violations import Violation

#: How many record numbers a report names for each rule.
EXAMPLES: Final = 3

#: The promise that stands for records that are no message of the contract at all.
RECORD: Final = Promise("record", "can be decoded")


@dataclass(slots=True)
class RuleTally:
    """One rule of one promise: how many records broke it and which were the first.

    ``value`` is the first offending value; None, and ``redacted``, where the contract hides it.
    """

    rule_id: str
    code: int
    severity: str
    message: str
    value: Any
    redacted: bool
    records: int = 0
    first: list[int] = field(default_factory=list[int])


@dataclass(slots=True)
class PromiseTally:
    """One promise: records that broke it (by an ERROR), that keep it after a normaliser changed a value, and rules."""

    promise: Promise
    broken: int = 0
    normalised: int = 0
    rules: dict[tuple[str, str], RuleTally] = field(default_factory=dict[tuple[str, str], RuleTally])


@dataclass(frozen=True, slots=True)
class Verification:
    """The result: what a report shows."""

    contract: Contract[Any]
    records: int
    broken_records: int
    normalised_records: int
    undecodable: int
    promises: tuple[PromiseTally, ...]
    levels: tuple[Verdict, ...]
    strict: bool

    def kept_by(self, tally: PromiseTally) -> int:
        """Records that keep a promise. One that could not be decoded neither keeps nor breaks those of its fields."""
        whole = self.records if tally.promise is RECORD else self.records - self.undecodable
        return whole - tally.broken

    @property
    def broken_promises(self) -> int:
        """Promises that some record broke."""
        return sum(tally.broken > 0 for tally in self.promises)

    @property
    def missed_levels(self) -> int:
        """Declared levels that the data miss."""
        return sum(verdict.state == "missed" for verdict in self.levels)

    @property
    def shares_judged(self) -> bool:
        """Whether the contract says how many broken records are too many, and there were enough to judge."""
        return any(
            verdict.level in {"compliance", "error_rate"} and verdict.state != "unjudged" for verdict in self.levels
        )

    @property
    def broken(self) -> bool:
        """The verdict: a level is missed; or a record is broken and no level allows for any (or ``strict``)."""
        if self.missed_levels:
            return True
        return self.broken_records > 0 and (self.strict or not self.shares_judged)


class Counter:
    """Takes the outcomes of records one by one."""

    def __init__(self, contract: Contract[Any]) -> None:
        self.contract: Final = contract
        self.records = 0
        self._broken = 0
        self._normalised = 0
        self._undecodable = 0
        self._tallies: dict[int, PromiseTally] = {
            place: PromiseTally(promise) for place, promise in enumerate(contract.promises)
        }
        self._by_path: dict[str, int] = {}
        self._by_rule: dict[tuple[str, str], int] = {}
        for place, promise in enumerate(contract.promises):
            self._by_path.setdefault(promise.path, place)
            for rule_id in promise.rule_ids:
                self._by_rule.setdefault((promise.path, rule_id), place)
        self._unplaced: dict[str, int] = {}
        self._levels = None if contract.level is None else RestLevels(contract.level)

    def add(self, number: int, outcome: Outcome[Any]) -> None:
        """Count one record. ``number`` is what the report calls it by."""
        self.records += 1
        ok = outcome.ok
        if self._levels is not None:
            self._levels.record(ok, outcome_seconds(outcome))
        if ok and not outcome.violations and not outcome.changes:
            return
        self._broken += not ok
        self._normalised += bool(outcome.changes)
        if not ok and outcome.decoded is None:
            self._undecodable += 1
        broken = self._count_violations(number, outcome.violations, decoded=outcome.decoded is not None)
        for place in {self._place(change.declared_path, "") for change in outcome.changes} - broken:
            self._tallies[place].normalised += 1

    def refuse(self, number: int, violation: Violation) -> None:
        """Count a record that the file does not even delimit."""
        self.records += 1
        self._broken += 1
        self._undecodable += 1
        if self._levels is not None:
            self._levels.record(False, None)
        self._count_violations(number, (violation,), decoded=False)

    def result(self, *, strict: bool = False) -> Verification:
        """What was counted so far."""
        contract_lines = [self._tallies[place] for place in range(len(self.contract.promises))]
        others = [tally for place, tally in self._tallies.items() if place >= len(self.contract.promises)]
        # A line that is no promise of the contract appears only where something broke it.
        others = [tally for tally in others if tally.broken or tally.rules]
        others.sort(key=lambda tally: tally.promise is not RECORD)
        return Verification(
            self.contract,
            self.records,
            self._broken,
            self._normalised,
            self._undecodable,
            (*others, *contract_lines),
            () if self._levels is None else self._levels.verdicts(),
            strict,
        )

    def _count_violations(self, number: int, violations: Iterable[Violation], *, decoded: bool) -> set[int]:
        """Count violations of one record; returns the promises that it broke."""
        broken: set[int] = set()
        seen: set[tuple[int, str, str]] = set()
        for violation in violations:
            rule_id = violation.rule_id or f"cel:{violation.code:08x}"
            place = self._place(promise_path(violation), rule_id) if decoded else self._own_line(RECORD)
            severity = violation.severity
            if severity == "ERROR" and place not in broken:
                broken.add(place)
                self._tallies[place].broken += 1
            if (place, rule_id, severity) in seen:
                continue
            seen.add((place, rule_id, severity))
            rules = self._tallies[place].rules
            tally = rules.get((rule_id, severity))
            if tally is None:
                tally = rules[rule_id, severity] = RuleTally(
                    rule_id, violation.code, severity, violation.message, violation.value, violation.sensitive
                )
            tally.records += 1
            if len(tally.first) < EXAMPLES:
                tally.first.append(number)
        return broken

    def _place(self, path: str, rule_id: str) -> int:
        """The promise that a rule at ``path`` belongs to: of the same path, else of the nearest field around it."""
        while True:
            for candidate in (path, path.removesuffix("[]")):
                found = self._by_rule.get((candidate, rule_id), self._by_path.get(candidate))
                if found is not None:
                    return found
            if not path:
                return self._own_line(Promise("message", "the rules of the whole message"))
            if "." not in path:
                # No promise speaks of this field: a normaliser that writes a sibling, or a contract without promises.
                return self._own_line(Promise(path.removesuffix("[]"), ""))
            path = path.rpartition(".")[0]

    def _own_line(self, promise: Promise) -> int:
        place = self._unplaced.get(promise.path)
        if place is None:
            place = self._unplaced[promise.path] = len(self._tallies)
            self._tallies[place] = PromiseTally(promise)
        return place


def promise_path(violation: Violation) -> str:
    """The path that a promise has for this violation: ``entities[2].label`` -> ``entities[].label``."""
    return ".".join(
        element.name if subscript is None else f"{element.name}[]" for element, subscript in violation.elements()
    )
