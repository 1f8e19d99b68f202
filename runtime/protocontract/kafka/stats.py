"""What a guard counted. The books balance: every record taken is in exactly one of the outcomes, or still open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any

from protocontract.kafka.letters.dead_letter import error_class
from protocontract.kafka.ports import TopicPartition
from protocontract.violations import Violation, rule_label


@dataclass(slots=True)
class PartitionStats:
    """Counts of one partition. ``consumed == delivered + dead_lettered + tombstones + skipped + open``."""

    #: Records that the guard began with and that were not taken away from it.
    consumed: int = 0
    #: Records that kept their contract, and records that broke it. Two counts, so that a reader on another thread never
    #: sees one of them fall.
    valid: int = 0
    broken: int = 0
    #: Records whose handler is done (or whose copy in the sink is acknowledged).
    delivered: int = 0
    #: Records whose dead letter is acknowledged. Attempts are not counted here.
    dead_lettered: int = 0
    #: Records without a value that were skipped, delivered or passed on as such.
    tombstones: int = 0
    #: Records that were passed over for another declared reason.
    skipped: int = 0
    #: Records that were taken away before they were resolved: somebody else reads them again.
    abandoned: int = 0

    @property
    def judged(self) -> int:
        """Records judged by their contract."""
        return self.valid + self.broken

    @property
    def open(self) -> int:
        """Records that are neither resolved nor taken away."""
        return self.consumed - self.delivered - self.dead_lettered - self.tombstones - self.skipped


@dataclass(slots=True)
class GuardStats:
    """Counts of a guard since it started. A process sees its own partitions only."""

    partitions: dict[TopicPartition, PartitionStats] = field(default_factory=dict)
    #: Records of which a normalizer changed something.
    normalized: int = 0
    #: Records that carried fields which the contract does not know.
    #: Of good ones, every 16th is looked at, and the rest of what was fetched with it once one has some.
    unknown_fields: int = 0
    #: Records that the user's code rejected.
    rejected: int = 0
    #: Records by the rules they broke. One record counts once for each of its rules.
    by_rule: Counter[str] = field(default_factory=Counter)
    #: The same by contract, rule and class of error: (full name, rule id, "INPUT/IMMEDIATE").
    violations: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    #: Violations that are only reported.
    warnings: Counter[str] = field(default_factory=Counter)
    #: Sends to the dead-letter topic (or the sink) that failed and were tried again.
    send_errors: int = 0
    #: Dead letters of which only the beginning fitted.
    truncated: int = 0
    commit_errors: int = 0
    poll_errors: int = 0
    #: Partitions whose log was cut off below what was read: a leader was elected that had not all records.
    truncated_logs: int = 0
    revocations: int = 0
    losses: int = 0
    #: Transactions that were committed, and that were aborted: only under ``--exactly-once``.
    transactions: int = 0
    transactions_aborted: int = 0
    #: Seconds that the longest of them was open. Readers of committed records waited so long.
    longest_transaction: float = 0.0

    def of(self, partition: TopicPartition) -> PartitionStats:
        """The counts of one partition."""
        found = self.partitions.get(partition)
        if found is None:
            found = self.partitions[partition] = PartitionStats()
        return found

    def count(self, contract: str, violations: Iterable[Violation]) -> None:
        """One more record that breaks these rules. ``contract`` is its full name."""
        labels = {(contract, rule_label(each), error_class(each)) for each in violations}
        self.violations.update(labels)
        self.by_rule.update({label for _, label, _ in labels})

    def add(self, more: GuardStats) -> None:
        """The counts of one transaction, once it is committed. The longest transaction stays what it is."""
        _add(self, more)
        for tp, counts in more.partitions.items():
            _add(self.of(tp), counts)

    def _sum(self, name: str) -> int:
        # A copy: other threads read the counts while a rebalance adds partitions.
        return sum(getattr(counts, name) for counts in list(self.partitions.values()))

    @property
    def consumed(self) -> int:
        """Records that the guard began with and that were not taken away from it."""
        return self._sum("consumed")

    @property
    def judged(self) -> int:
        """Records judged by their contract."""
        return self._sum("judged")

    @property
    def valid(self) -> int:
        """Records that kept their contract."""
        return self._sum("valid")

    @property
    def delivered(self) -> int:
        """Records whose handler is done."""
        return self._sum("delivered")

    @property
    def dead_lettered(self) -> int:
        """Records whose dead letter is acknowledged."""
        return self._sum("dead_lettered")

    @property
    def tombstones(self) -> int:
        """Records without a value."""
        return self._sum("tombstones")

    @property
    def skipped(self) -> int:
        """Records that were passed over for a declared reason."""
        return self._sum("skipped")

    @property
    def abandoned(self) -> int:
        """Records that were taken away before they were resolved."""
        return self._sum("abandoned")

    @property
    def open(self) -> int:
        """Records that are neither resolved nor taken away."""
        return self._sum("open")

    @property
    def compliance(self) -> float | None:
        """Share of the judged records that keep their contract, 0 to 1. None before the first one."""
        return self.valid / self.judged if self.judged else None

    def __str__(self) -> str:
        """A line of what became of the records, then a line for each rule that was broken, the most frequent first."""
        share = "" if self.compliance is None else f" ({self.compliance:.2%})"
        told = [
            f"{self.consumed:,} read, {self.valid:,} valid{share}, {self.normalized:,} normalised,"
            f" {self.delivered:,} delivered, {self.dead_lettered:,} dead-lettered, {self.open:,} open"
        ]
        # A copy, as in _sum.
        rules = sorted(self.by_rule.copy().items(), key=lambda each: (-each[1], each[0]))
        widest = max((len(rule) for rule, _ in rules), default=0)
        return "\n".join([*told, *(f"  {rule:<{widest}}  {records:,}" for rule, records in rules)])

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain values, for JSON."""
        return {
            "consumed": self.consumed,
            "delivered": self.delivered,
            "dead_lettered": self.dead_lettered,
            "tombstones": self.tombstones,
            "skipped": self.skipped,
            "abandoned": self.abandoned,
            "open": self.open,
            "judged": self.judged,
            "valid": self.valid,
            "normalized": self.normalized,
            "unknown_fields": self.unknown_fields,
            "rejected": self.rejected,
            "compliance": self.compliance,
            "by_rule": dict(sorted(self.by_rule.items())),
            "warnings": dict(sorted(self.warnings.items())),
            "send_errors": self.send_errors,
            "truncated": self.truncated,
            "commit_errors": self.commit_errors,
            "poll_errors": self.poll_errors,
            "truncated_logs": self.truncated_logs,
            "revocations": self.revocations,
            "losses": self.losses,
            "transactions": self.transactions,
            "transactions_aborted": self.transactions_aborted,
            "longest_transaction": round(self.longest_transaction, 6),
        }


def _add(total: GuardStats | PartitionStats, more: GuardStats | PartitionStats) -> None:
    for each in fields(total):
        mine, other = getattr(total, each.name), getattr(more, each.name)
        if isinstance(mine, Counter):
            mine.update(other)
        elif isinstance(mine, int):
            setattr(total, each.name, mine + other)
