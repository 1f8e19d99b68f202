"""What a contract says of a record that a source gave."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from protocontract.contract import Contract, Encoding, Outcome
from protocontract.records.reading import refused
from protocontract.records.sources import Record
from protocontract.violations import Refusal


@dataclass(frozen=True, slots=True)
class Judge:
    """A contract, in a context and at a moment: ``context`` and ``now`` are those of ``Contract.process``."""

    contract: Contract[Any]
    context: str | None = None
    #: Nanoseconds since 1970; None: the clock's time, whenever a rule asks.
    now: int | None = None

    def outcome(self, record: Record) -> Outcome[Any]:
        """The record parsed, normalised and validated. Never raises for bad data."""
        return self.of(record.raw, record.encoding)

    def of(self, raw: bytes | Refusal, encoding: Encoding) -> Outcome[Any]:
        """The same of a record's bytes."""
        if isinstance(raw, Refusal):
            return Outcome(self.contract, None, None, (refused(self.contract.full_name, raw),), (), None)
        return self.contract.process(raw, encoding=encoding, context=self.context, now=self.now)
