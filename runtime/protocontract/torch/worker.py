"""What workers do: they make one delivery for each step, and everything that is to be known of it rides along.

An exception that leaves a worker is rebuilt from its text, and what a worker counts stays in its process. So a delivery
holds violations as data, for the loader's side to raise, and counts and quarantine lines, which count once the batch is
delivered: what was only prefetched has not happened.
"""

# pyright: reportMissingImports=false

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from torch.utils.data import Dataset
from torch.utils.data._utils.pin_memory import pin_memory

from protocontract.contract import Outcome
from protocontract.records.corpus import Corpus, Entry
from protocontract.records.counts import Counts, broken_rules, warned_rules
from protocontract.records.policy import line_bytes, quarantine_line, travelling
from protocontract.records.sources import Place, Record
from protocontract.torch.dataset import Checked
from protocontract.torch.order import Order, Step, Uneven
from protocontract.violations import ContractError, MissingExtra, Violation

Collate = Callable[[Sequence[Any]], Any]


@dataclass(slots=True)
class Delivery:
    """What a worker returns for one step."""

    batch: Any = None
    counts: Counts = field(default_factory=Counts)
    #: Lines of the quarantine file.
    lines: list[bytes] = field(default_factory=list[bytes])
    #: A bad record that is to be raised: where it stands, and what was wrong.
    violation: tuple[Place, tuple[Violation, ...]] | None = None
    #: What is wrong with the set-up: the text of a ContractError.
    error: str | None = None
    #: Ranks that the last round has no batch for: the text of an UnevenError.
    uneven: str | None = None
    #: Whether the epoch was over before this step.
    end: bool = False
    #: What was counted for the data card.
    card: Any = None

    def pin_memory(self, device: str | None = None) -> Delivery:
        """The batch in pinned memory: ``DataLoader`` calls this in its thread."""
        self.batch = pin_memory(self.batch, device)
        return self


class Work(Dataset[Delivery]):  # type: ignore[misc]  # torch is absent where types are checked
    """What the loader hands to its workers as the data set: its items are deliveries, its keys are steps.

    What it works on is pickled once and read again with the first step: a contract that is another one in the worker
    is an error that the loader can name, and not a worker that dies while it starts.
    """

    def __init__(self, task: Task) -> None:
        self._task: Task | None = task
        self._pickled: bytes | None = None
        self._samples: Final = None if task.dataset.corpus is None else len(task.dataset.corpus)

    def __len__(self) -> int:
        if self._samples is None:
            raise TypeError("the number of samples is not known; only files have one")
        return self._samples

    def __getitem__(self, step: Any) -> Delivery:
        try:
            task = self._task
            if task is None:
                # Made by __getstate__ in the process that started this one.
                task = self._task = pickle.loads(self._pickled or b"")
            delivery = task.deliver(step)
        except (ContractError, MissingExtra) as error:
            return Delivery(error=str(error))
        if delivery.card is not None:
            delivery.card = delivery.card.take()
        return delivery

    def __getstate__(self) -> dict[str, Any]:
        pickled = self._pickled if self._task is None else pickle.dumps(self._task)
        return {"_task": None, "_pickled": pickled, "_samples": self._samples}


class Task:
    """The work of one rank, the same in each of its workers."""

    def __init__(
        self,
        dataset: Any,
        *,
        collate: Collate | None,
        batch_size: int,
        drop_last: bool,
        rank: int,
        world_size: int,
        uneven: Uneven,
        seed: int,
        card: bool,
    ) -> None:
        self.dataset: Final[Checked[Any]] = dataset
        self.collate: Final = collate
        self.batch_size: Final = batch_size
        self.drop_last: Final = drop_last
        self.rank: Final = rank
        self.world_size: Final = world_size
        self.uneven: Final[Uneven] = uneven
        self.seed: Final = seed
        # Counts for the data card; what it plans once serves all deliveries.
        self._builder: Any = None
        if card:
            from protocontract.card import CardBuilder

            self._builder = CardBuilder(dataset.contract)

    def deliver(self, step: Any) -> Delivery:
        """The delivery of a step. Raises ContractError for what is no fault of the data."""
        raise NotImplementedError

    # -- parts of a delivery

    def _use(self, delivery: Delivery, outcomes: Sequence[tuple[object, Outcome[Any]]], *, repeated: bool) -> None:
        """Put good records into a delivery, each with what shows its place."""
        # Counted before a transform gets the messages, which may change them.
        counts = delivery.counts
        if repeated:
            counts.repeated += len(outcomes)
        else:
            counts.read += len(outcomes)
            counts.used += len(outcomes)
            for _, outcome in outcomes:
                counts.normalized += bool(outcome.changes)
                if outcome.violations:
                    counts.warnings.update(warned_rules(outcome.violations))
                if delivery.card is not None:
                    delivery.card.add(outcome)
        items = [self._item(place, outcome.message) for place, outcome in outcomes]
        if self.collate is not None:
            delivery.batch = self.collate(items)
        else:
            delivery.batch = self.dataset.collate(items, [place for place, _ in outcomes])

    def _item(self, place: object, message: Any) -> Any:
        try:
            return self.dataset.item(message)
        except Exception as error:  # the user's own code: its error, with the place
            error.add_note(f"transform of {place}")
            raise

    def _reject(self, delivery: Delivery, record: Record, outcome: Outcome[Any], step: tuple[int, int]) -> None:
        """Count a bad record in a delivery, by the policy. ``step``: epoch and global batch."""
        counts = delivery.counts
        counts.read += 1
        counts.by_rule.update(broken_rules(outcome.violations))
        if delivery.card is not None:
            delivery.card.add(outcome)
        if self.dataset.on_violation == "quarantine":
            counts.quarantined += 1
            raw = record.raw if isinstance(record.raw, bytes) else None
            line = quarantine_line(
                self.dataset.contract,
                record.place,
                record.encoding,
                raw,
                outcome.violations,
                epoch=step[0],
                batch=step[1],
            )
            delivery.lines.append(line_bytes(line))
        else:
            counts.skipped += 1

    def _drop(self, delivery: Delivery, records: int) -> None:
        """Count good records that nobody gets."""
        if not records:
            return
        delivery.counts.read += records
        delivery.counts.dropped += records
        if delivery.card is not None:
            delivery.card.leave_out("uneven" if self.uneven == "drop" else "drop_last", records)

    def _new_delivery(self) -> Delivery:
        return Delivery(card=self._builder)


class FileTask(Task):
    """Work on indexed files: steps say all, and a worker reads and validates what it delivers."""

    def __init__(self, dataset: Any, order: Order, **options: Any) -> None:
        super().__init__(dataset, **options)
        self._corpus: Final[Corpus] = dataset.corpus
        self._order: Final = order

    def deliver(self, step: Step) -> Delivery:
        """The delivery of a step."""
        delivery = self._new_delivery()
        start = step.batch * self.batch_size
        places = min(start + self.batch_size, len(self._corpus))
        samples = [self._corpus.sample_with_riders(at) for at in self._order.samples(step.epoch, start, places)]
        for file in {entry.file for entry, _ in samples}:
            file.check()
        judge = self.dataset.judge
        outcomes: list[tuple[object, Outcome[Any]]] = []
        for entry, riders in samples:
            if riders and not step.repeated:
                self._ride(delivery, riders, step)
            outcome = judge.of(entry.file.raw(entry.record), entry.file.source.encoding)
            if outcome.message is None:
                # Its verdict has changed since the file was indexed: a rule reads the clock.
                return Delivery(violation=(entry.place, travelling(outcome.violations)))
            outcomes.append((entry, outcome))
        self._use(delivery, outcomes, repeated=step.repeated)
        for place in step.dropped:
            (sample,) = self._order.samples(step.epoch, place, place + 1)
            self._ride(delivery, self._corpus.sample_with_riders(sample)[1], step)
        self._drop(delivery, len(step.dropped))
        return delivery

    def _ride(self, delivery: Delivery, riders: Sequence[Entry], step: Step) -> None:
        """Count the bad records that ride with a sample."""
        for entry in riders:
            if self.dataset.on_violation == "quarantine" or delivery.card is not None:
                record = entry.read()
                self._reject(delivery, record, self.dataset.judge.outcome(record), (step.epoch, step.batch))
            else:
                # The index says all that is counted.
                delivery.counts.read += 1
                delivery.counts.skipped += 1
                delivery.counts.by_rule.update(entry.rules)
