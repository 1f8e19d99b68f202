"""Work on sources that cannot be indexed: every worker of every rank reads and validates all of it.

So each of them knows by itself where a round has a bad record, and whether the last round has a batch for every rank.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, NamedTuple

from protocontract.contract import Outcome
from protocontract.records.policy import travelling
from protocontract.records.sources import Place, Record
from protocontract.torch.dataset import ContractStream
from protocontract.torch.order import shuffled, uneven_text
from protocontract.torch.worker import Delivery, Task
from protocontract.violations import ContractError, Violation


class StreamStep(NamedTuple):
    """A step over what nobody has counted beforehand: the n-th round from a global batch on."""

    epoch: int
    start: int
    round: int


class _Sample(NamedTuple):
    """A good record, and the bad ones between the good one before and it."""

    place: Place
    outcome: Outcome[Any]
    riders: tuple[tuple[Record, Outcome[Any]], ...]


@dataclass(frozen=True, slots=True)
class _Round:
    """What one rank does in one round."""

    #: The global batch; at the end of an epoch, the number of batches that it had.
    batch: int
    samples: tuple[_Sample, ...] = ()
    repeated: bool = False
    #: Samples that nobody gets, as far as this rank counts them.
    dropped: tuple[_Sample, ...] = ()
    #: Bad records after the last sample.
    tail: tuple[tuple[Record, Outcome[Any]], ...] = ()
    end: bool = False
    violation: tuple[Place, tuple[Violation, ...]] | None = None
    uneven: str | None = None


class _Bad(Exception):
    """A bad record under the policy ``raise``."""

    def __init__(self, place: Place, violations: tuple[Violation, ...]) -> None:
        super().__init__()
        self.violation: Final = (place, travelling(violations))


class StreamTask(Task):
    """The work of one rank on a stream."""

    def __init__(self, dataset: ContractStream[Any], **options: Any) -> None:
        super().__init__(dataset, **options)
        self._stream: Final = dataset
        self._rounds: Iterator[_Round] = iter(())
        self._next: StreamStep | None = None
        # Bad records since the last good one.
        self._pending: list[tuple[Record, Outcome[Any]]] = []

    def deliver(self, step: StreamStep) -> Delivery:
        """The delivery of a step. What comes before it is read, and left to the other workers."""
        following = self._next
        if following is None or following[:2] != step[:2] or following.round > step.round:
            self._rounds = self._epoch(step.epoch, step.start)
            following = StreamStep(step.epoch, step.start, 0)
        found: _Round | None = None
        for _ in range(following.round, step.round + 1):
            found = next(self._rounds, None)
        self._next = step._replace(round=step.round + 1)
        return Delivery(end=True) if found is None else self._delivery(found, step.epoch)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_rounds": iter(()), "_next": None, "_pending": []}

    def _delivery(self, found: _Round, epoch: int) -> Delivery:
        if found.violation is not None or found.uneven is not None:
            return Delivery(violation=found.violation, uneven=found.uneven)
        delivery = self._new_delivery()
        delivery.end = found.end
        if not found.repeated:
            for sample in (*found.samples, *found.dropped):
                for record, outcome in sample.riders:
                    self._reject(delivery, record, outcome, (epoch, found.batch))
        for record, outcome in found.tail:
            self._reject(delivery, record, outcome, (epoch, found.batch))
        self._drop(delivery, len(found.dropped))
        if found.samples:
            outcomes = [(sample.place, sample.outcome) for sample in found.samples]
            self._use(delivery, outcomes, repeated=found.repeated)
        return delivery

    # -- rounds

    def _epoch(self, epoch: int, start: int) -> Iterator[_Round]:
        """This rank's rounds from a global batch on; the last one is the end."""
        size, world_size = self.batch_size, self.world_size
        samples = self._samples()
        if self._stream.shuffle_buffer > 1:
            samples = shuffled(samples, self._stream.shuffle_buffer, self.seed, epoch)
        # The epoch's first batches, as many as may have to be delivered again.
        first: list[_Sample] = []
        if self.uneven == "repeat":
            samples = _keeping(samples, first, size * (world_size - 1))
        batch = start
        try:
            skipped = sum(1 for _ in islice(samples, start * size))
            block = tuple(islice(samples, size * world_size))
            while len(block) == size * world_size:
                yield _Round(batch, self._own(block))
                batch += world_size
                block = tuple(islice(samples, size * world_size))
        except _Bad as bad:
            yield _Round(batch, violation=bad.violation)
            return
        if not (skipped or block or batch > start):
            raise ContractError(self._nothing())
        yield from self._last_round(batch, block, first)

    def _last_round(self, batch: int, block: tuple[_Sample, ...], first: list[_Sample]) -> Iterator[_Round]:
        """What is left when the samples have come to an end, less than a whole round; and the end."""
        size, world_size, rank = self.batch_size, self.world_size, self.rank
        whole = len(block) - len(block) % size if self.drop_last else len(block)
        batches = -(-whole // size)
        dropped = block[whole:]
        if batches and (batches == world_size or self.uneven == "repeat"):
            number = rank if rank < batches else (rank - batches) % (batch + batches)
            own = self._own(block[:whole]) if rank < batches else tuple(first[number * size : (number + 1) * size])
            yield _Round(batch + rank if rank < batches else number, own, repeated=rank >= batches)
        elif batches and self.uneven == "error":
            yield _Round(batch, uneven=uneven_text(batches, world_size))
        else:
            dropped = block
        tail = tuple(self._pending) if rank == 0 else ()
        yield _Round(batch + batches, dropped=dropped[rank::world_size], tail=tail, end=True)

    def _own(self, block: tuple[_Sample, ...]) -> tuple[_Sample, ...]:
        return block[self.rank * self.batch_size : (self.rank + 1) * self.batch_size]

    def _samples(self) -> Iterator[_Sample]:
        """The good records, in order. Raises _Bad for a bad one that is to be raised."""
        self._pending = []
        for record in (record for source in self._stream.sources for record in source.records()):
            outcome = self.dataset.judge.outcome(record)
            if outcome.message is not None:
                yield _Sample(record.place, outcome, tuple(self._pending))
                self._pending = []
            elif self.dataset.on_violation == "raise":
                raise _Bad(record.place, outcome.violations)
            else:
                self._pending.append((record, outcome))

    def _nothing(self) -> str:
        names = ", ".join(source.name for source in self._stream.sources)
        return f"none of {len(self._pending):,} records keeps {self.dataset.contract.full_name} (in {names})"


def _keeping(samples: Iterator[_Sample], first: list[_Sample], count: int) -> Iterator[_Sample]:
    for sample in samples:
        if len(first) < count:
            first.append(sample)
        yield sample
