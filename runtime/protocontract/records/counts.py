"""What became of records: counts that can be added up, and the report that is made of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final

from protocontract.terminal import count
from protocontract.violations import Violation, rule_label


@dataclass(slots=True)
class Counts:
    """Records by what became of them: ``read`` is the sum of used, refused, skipped, quarantined and dropped."""

    read: int = 0
    #: Those that were delivered.
    used: int = 0
    #: Of the used ones, those of which a normalizer changed something.
    normalized: int = 0
    #: Bad records, by policy: one that was raised, those passed over, those written to a quarantine file.
    refused: int = 0
    skipped: int = 0
    quarantined: int = 0
    #: Good records that were left out so that every rank makes the same number of steps, or for ``drop_last``.
    dropped: int = 0
    #: Deliveries beyond the first one of a record, so that every rank makes the same number of steps.
    repeated: int = 0
    #: Bad records by the rules that they broke. One record counts once for each of its rules.
    by_rule: Counter[str] = field(default_factory=Counter[str])
    #: Used records by the rules that only warn.
    warnings: Counter[str] = field(default_factory=Counter[str])

    def add(self, other: Counts) -> None:
        """Add what somebody else counted."""
        for name in _NUMBERS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.by_rule.update(other.by_rule)
        self.warnings.update(other.warnings)

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain values, for JSON and checkpoints."""
        found: dict[str, Any] = {name: getattr(self, name) for name in _NUMBERS}
        found["by_rule"] = dict(_by_count(self.by_rule))
        found["warnings"] = dict(_by_count(self.warnings))
        return found

    @classmethod
    def of_dict(cls, values: Mapping[str, Any]) -> Counts:
        """Counts from what ``as_dict`` gave."""
        found = cls()
        for name in _NUMBERS:
            setattr(found, name, int(values[name]))
        found.by_rule.update(values["by_rule"])
        found.warnings.update(values["warnings"])
        return found

    def __str__(self) -> str:
        parts = [f"{count(self.read)} read", f"{count(self.used)} used"]
        parts += [
            f"{count(number)} {name}"
            for name in ("dropped", "repeated", "refused", "skipped", "quarantined")
            if (number := getattr(self, name))
        ]
        rules = ", ".join(f"{count(number)} {rule}" for rule, number in _by_count(self.by_rule))
        return ", ".join(parts) + (f": {rules}" if rules else "")


_NUMBERS: Final = tuple(each.name for each in fields(Counts) if each.type == "int")


@dataclass(frozen=True, slots=True)
class Report:
    """What a loader delivered in one epoch, and by which contract. ``str()`` is the line for people."""

    contract: str
    version: str
    fingerprint: str
    #: Name and version of each package whose data normalizers read.
    data_versions: tuple[tuple[str, str], ...]
    #: Name, SHA-256 (None where it is no file) and number of records (None where nobody knows) of each source.
    sources: tuple[tuple[str, str | None, int | None], ...]
    epoch: int
    rank: int
    world_size: int
    counts: Counts

    def __str__(self) -> str:
        return str(self.counts)

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {
            "contract": self.contract,
            "version": self.version,
            "fingerprint": self.fingerprint,
            "data_versions": dict(self.data_versions),
            "sources": [{"name": name, "sha256": digest, "records": records} for name, digest, records in self.sources],
            "epoch": self.epoch,
            "rank": self.rank,
            "world_size": self.world_size,
            **self.counts.as_dict(),
        }

    def to_json(self) -> str:
        """The report for programs: one JSON object, its keys in a fixed order."""
        return json.dumps(self.as_dict(), ensure_ascii=False, indent=2) + "\n"


def broken_rules(violations: tuple[Violation, ...]) -> tuple[str, ...]:
    """The rules that reject a record, each once, in order."""
    return tuple(dict.fromkeys(rule_label(each) for each in violations if each.severity == "ERROR"))


def warned_rules(violations: tuple[Violation, ...]) -> tuple[str, ...]:
    """The rules that only warn of a record, each once, in order."""
    return tuple(dict.fromkeys(rule_label(each) for each in violations if each.severity == "WARNING"))


def _by_count(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(((rule, number) for rule, number in counts.items() if number), key=lambda row: (-row[1], row[0]))
