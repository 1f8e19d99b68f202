"""What a report is made of. Values of sensitive fields do not get in: they are None before they come here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from protocontract.contract import Contract
from protocontract.levels import Verdict
from protocontract.violations import Change, Violation

#: How many different examples are kept of each rule and each change.
EXAMPLES: Final = 5
#: How many samples of rejects are kept for each rule.
REJECTS: Final = 2


@dataclass(frozen=True, slots=True)
class Reject:
    """One rejected record: where it was, and the violation that names it best."""

    position: str
    rule_id: str
    path: str
    message: str
    value: Any
    sensitive: bool
    code: int


@dataclass(slots=True)
class ChangeTally:
    """What one normalizer did to one field: how often, and some examples of before and after."""

    path: str
    rule_id: str
    count: int = 0
    hidden: bool = False
    examples: list[tuple[Any, Any]] = field(default_factory=list[tuple[Any, Any]])


@dataclass(slots=True)
class StreamReport:
    """Counts and samples of a guarded stream. ``seconds`` is the time that the guard took for all records."""

    contract: Contract[Any]
    source: str
    records: int = 0
    accepted: int = 0
    normalised: int = 0
    rejected: int = 0
    seconds: float = 0.0
    by_rule: Counter[str] = field(default_factory=Counter[str])
    rejects: list[Reject] = field(default_factory=list[Reject])
    changes: dict[tuple[str, str], ChangeTally] = field(default_factory=dict[tuple[str, str], ChangeTally])
    levels: tuple[Verdict, ...] = ()
    _sampled: Counter[str] = field(default_factory=Counter[str])

    def accept(self, changes: Iterable[Change]) -> None:
        """Count an accepted record and what was changed in it."""
        self.records += 1
        self.accepted += 1
        changed = False
        for change in changes:
            changed = True
            tally = self.changes.get((change.path, change.rule_id))
            if tally is None:
                tally = self.changes[change.path, change.rule_id] = ChangeTally(change.path, change.rule_id)
            tally.count += 1
            if change.before is None and change.after is None:
                tally.hidden = True
            elif len(tally.examples) < EXAMPLES and _new_kind(tally.examples, change.before):
                tally.examples.append((change.before, change.after))
        self.normalised += changed

    def reject(self, position: str, violations: Iterable[Violation]) -> None:
        """Count a rejected record, once for each of its rules; the first of each rule become samples."""
        self.records += 1
        self.rejected += 1
        found = [violation for violation in violations if violation.severity == "ERROR"]
        first: dict[str, Violation] = {}
        for violation in found:
            first.setdefault(rule_name(violation), violation)
        self.by_rule.update(first.keys())
        for name, violation in first.items():
            if self._sampled[name] < REJECTS:
                self._sampled[name] += 1
                self.rejects.append(
                    Reject(
                        position,
                        name,
                        violation.redacted_path,
                        violation.message,
                        violation.value,
                        violation.sensitive,
                        violation.code,
                    )
                )

    @property
    def compliance(self) -> float | None:
        """Share of records that keep the contract; None where there is no record."""
        return self.accepted / self.records if self.records else None


def rule_name(violation: Violation) -> str:
    """A rule as reports call it: its id, or ``cel:<code>`` for an expression without one."""
    return violation.rule_id or f"cel:{violation.code:08x}"


def _new_kind(examples: list[tuple[Any, Any]], before: Any) -> bool:
    """Whether a value looks unlike the examples so far: three amounts of one form would tell no more than one."""
    return _form(before) not in {_form(earlier) for earlier, _ in examples}


def _form(value: Any) -> str:
    if not isinstance(value, str):
        return type(value).__name__
    kinds = ("0" if c.isdecimal() and c.isascii() else "a" if c.isalpha() else c for c in value)
    collapsed: list[str] = []
    for kind in kinds:
        if not collapsed or collapsed[-1] != kind:
            collapsed.append(kind)
    return "".join(collapsed)
