"""A candidate contract beside the active one: on the same records, with no effect but a report.

    with Guard(consumer, TRANSACTION, shadow=CANDIDATE) as guard:
        ...
    print(guard.shadow.text())

It says what the candidate would newly reject, newly accept or normalise differently, by rule, with positions and
without values. Whatever the candidate raises is counted and disturbs nothing. Its cost is one more parsing, normalising
and validating of each record that is compared (``share`` of them), and of a table with a bounded number of rows.
"""

from __future__ import annotations

import logging
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from protocontract.comparison import KINDS, Kind, difference
from protocontract.kafka.errors import GuardError, Later
from protocontract.kafka.judge import EncodingChoice, Judge
from protocontract.kafka.ports import Fetched

if TYPE_CHECKING:
    from protocontract.contract import Contract, Outcome
    from protocontract.violations import Violation

log: Final = logging.getLogger("protocontract.kafka")

#: Bounds of the report: rules with rows of their own, and for each of them the last positions and the first fields.
MAX_ROWS: Final = 200
MAX_POSITIONS: Final = 10
MAX_FIELDS: Final = 10
#: The rule under which everything is counted that came when there were too many rules.
OTHER: Final = "other"

#: How many of the positions the text shows.
_SHOWN: Final = 5

_TITLES: Final[dict[Kind, str]] = {
    "newly_rejected": "newly rejected",
    "newly_accepted": "newly accepted",
    "normalized_differently": "normalised differently",
}


@dataclass(slots=True)
class Row:
    """What one rule makes different in one way."""

    records: int = 0
    fields: dict[str, None] = field(default_factory=dict)
    #: ``topic:partition:offset`` of the last records.
    positions: deque[str] = field(default_factory=lambda: deque(maxlen=MAX_POSITIONS))

    def add(self, more: Row) -> None:
        """Count another's records too, as the later ones."""
        self.records += more.records
        for name in more.fields:
            if len(self.fields) < MAX_FIELDS:
                self.fields[name] = None
        self.positions += more.positions


@dataclass(slots=True)
class Tally:
    """What a shadow counted. A record counts once for its kind of difference, and once for each rule."""

    compared: int = 0
    kinds: Counter[Kind] = field(default_factory=Counter)
    rows: dict[tuple[Kind, str], Row] = field(default_factory=dict)
    #: Classes of what the candidate raised.
    failures: Counter[str] = field(default_factory=Counter)
    #: Time spent, in all.
    seconds: float = 0.0

    @property
    def agreed(self) -> int:
        """Records with which both contracts do the same."""
        return self.compared - sum(list(self.kinds.values())) - self.failed

    @property
    def failed(self) -> int:
        """Records that the candidate could not judge, for a mistake in it."""
        # A copy, as below: other threads ask while the guard counts.
        return sum(list(self.failures.values()))

    def row(self, kind: Kind, rule: str) -> Row:
        """The row of a rule; of ``other`` where there are too many."""
        found = self.rows.get((kind, rule))
        if found is None:
            if len(self.rows) >= MAX_ROWS:
                rule = OTHER
            found = self.rows.setdefault((kind, rule), Row())
        return found

    def add(self, more: Tally) -> None:
        """Count what another tally counted."""
        self.compared += more.compared
        self.kinds.update(more.kinds)
        self.failures.update(more.failures)
        self.seconds += more.seconds
        for (kind, rule), row in more.rows.items():
            self.row(kind, rule).add(row)


class Shadow:
    """Runs a candidate contract beside the active one, on the guard's thread. Any thread may ask for the report."""

    def __init__(
        self,
        contract: Contract[Any] | Mapping[str, Contract[Any]],
        *,
        encoding: EncodingChoice = "protobuf",
        share: float = 1.0,
    ) -> None:
        """
        contract: the candidate for all records, or one for each topic; topics without one are not compared.
        encoding: as the guard's.
        share: which part of the records is compared, above 0 and at most 1. Offsets decide, so that it is the same
            records whoever reads them.

        Raises GuardError naming what to change.
        """
        if not 0 < share <= 1:
            raise GuardError(f"shadow: share must be above 0 and at most 1, got {share:g}")
        self._judge = Judge(contract, encoding)
        self._topics = set(contract) if isinstance(contract, Mapping) else None
        self.share: Final = share
        self._limit = round(share * 2**32)
        #: What was counted so far.
        self.tally = Tally()

    @classmethod
    def of(
        cls,
        given: Shadow | Contract[Any] | Mapping[str, Contract[Any]] | None,
        active: Judge,
        encoding: EncodingChoice,
    ) -> Shadow | None:
        """A guard's shadow from what it was given. Raises GuardError for a candidate that is the active contract."""
        if given is None:
            return None
        shadow = given if isinstance(given, Shadow) else cls(given, encoding=encoding)
        there = {contract.fingerprint for contract in active.contracts}
        for contract in shadow._judge.contracts:
            if contract.fingerprint in there:
                raise GuardError(f"shadow: {contract.full_name} is the very contract that is applied (one fingerprint)")
        return shadow

    @property
    def contracts(self) -> list[Contract[Any]]:
        """The candidates."""
        return self._judge.contracts

    def __call__(self, raw: Fetched, outcome: Outcome[Any], own: Violation | None, tally: Tally | None = None) -> None:
        """Compare a record that the active contract has judged. Never raises.

        tally: where to count, for records that may be read again as if they had never been (``self.tally.add``).
        """
        if (self.share < 1 and not self._takes(raw)) or (self._topics is not None and raw.topic not in self._topics):
            return
        if tally is None:
            tally = self.tally
        began = perf_counter()
        try:
            would, own_would = self._judge.for_topic(raw.topic)(raw)
            found = difference(outcome, would, own_before=own, own_after=own_would)
        except Later:
            # Its schema is being asked for: this record is not compared.
            return
        except Exception as error:
            # A candidate may have any mistake, and its text may quote a value. The line must not feel it.
            kind = type(error).__name__
            if kind not in self.tally.failures and kind not in tally.failures:
                log.warning("the shadow failed (%s); the guard goes on, further failures are counted", kind)
            tally.failures[kind] += 1
        else:
            if found is not None:
                place = f"{raw.topic}:{raw.partition}:{raw.offset}"
                tally.kinds[found.kind] += 1
                fields: dict[str, list[str]] = {}
                for finding in found.findings:
                    fields.setdefault(finding.rule, []).append(finding.path)
                for rule, paths in fields.items():
                    tally.row(found.kind, rule).add(Row(1, dict.fromkeys(paths), deque((place,))))
        tally.compared += 1
        tally.seconds += perf_counter() - began

    def _takes(self, raw: Fetched) -> bool:
        # Neighbours fall far apart (Knuth's multiplicative hash), so that no rhythm of the stream is met.
        return (raw.offset * 2_654_435_761 + raw.partition * 40_503) % 2**32 < self._limit

    # -- the report

    def report(self) -> dict[str, Any]:
        """What was found so far, as plain values for JSON. No value of a record is in it."""
        tally = self.tally
        rows = [
            {
                "kind": kind,
                "rule": rule,
                "records": row.records,
                "fields": [name for name in list(row.fields) if name],
                "positions": list(row.positions),
            }
            for (kind, rule), row in self._sorted()
        ]
        return {
            "candidates": [
                {"contract": each.full_name, "version": each.version, "fingerprint": each.fingerprint}
                for each in self.contracts
            ],
            "share": self.share,
            "compared": tally.compared,
            "agreed": tally.agreed,
            **{kind: tally.kinds[kind] for kind in KINDS},
            "failed": tally.failed,
            "failures": dict(sorted(tally.failures.copy().items())),
            "seconds": round(tally.seconds, 6),
            "differences": rows,
        }

    def _sorted(self) -> list[tuple[tuple[Kind, str], Row]]:
        order = {kind: place for place, kind in enumerate(KINDS)}
        return sorted(
            self.tally.rows.copy().items(), key=lambda each: (order[each[0][0]], -each[1].records, each[0][1])
        )

    def text(self) -> str:
        """The report for people: a line for each kind and rule."""
        tally = self.tally
        names = ", ".join(f"{each.full_name} {each.version}".strip() for each in self.contracts)
        some = "" if self.share == 1 else f" ({self.share:.4g} of all)"
        each = f", {tally.seconds / tally.compared * 1e6:,.1f} µs each" if tally.compared else ""
        lines = [f"shadow · {names} · {tally.compared:,} records compared{some}, {tally.agreed:,} agree{each}"]
        rows = self._sorted()
        width = max((len(rule) for (_, rule), _ in rows), default=0)
        for kind in KINDS:
            mine = [(rule, row) for (other, rule), row in rows if other == kind]
            if mine:
                lines.append(f"  {_TITLES[kind]}  {tally.kinds[kind]:,}")
            for rule, row in mine:
                places = list(row.positions)[-_SHOWN:]
                more = " …" if row.records > len(places) else ""
                fields = ", ".join(name for name in list(row.fields) if name) or "the record"
                lines.append(f"    {rule:{width}}  {row.records:>9,}   {fields}   {' '.join(places)}{more}")
        if tally.failures:
            classes = ", ".join(f"{kind} {count:,}" for kind, count in sorted(tally.failures.copy().items()))
            lines.append(f"  not judged, for a mistake in it  {tally.failed:,}   {classes}")
        return "\n".join(lines)
