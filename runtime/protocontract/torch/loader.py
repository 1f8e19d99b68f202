"""``ContractLoader``: batches of valid records, the same ones with any number of workers, and counts of the others."""

# pyright: reportMissingImports=false

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from torchdata.stateful_dataloader import StatefulDataLoader

from protocontract.evidence import data_versions
from protocontract.records.counts import Counts, Report
from protocontract.records.policy import RecordViolation
from protocontract.records.quarantine import QuarantineFile
from protocontract.torch.dataset import Checked, ContractDataset, ContractStream
from protocontract.torch.order import Buffered, InOrder, Order, Permuted, Plan, Uneven, UnevenError
from protocontract.torch.ranks import ranks
from protocontract.torch.state import check_state, identity, position
from protocontract.torch.streaming import StreamStep, StreamTask
from protocontract.torch.worker import Collate, Delivery, FileTask, Task, Work
from protocontract.violations import ContractError

if TYPE_CHECKING:
    from protocontract.card import Card, CardBuilder

# What PyTorch's loader takes and this one decides itself.
_OURS: Final = ("sampler", "batch_sampler", "in_order", "snapshot_every_n_steps")


class ContractLoader(StatefulDataLoader):  # type: ignore[misc]  # torch is absent where types are checked
    """Batches of a ``ContractDataset`` or a ``ContractStream``, for one rank.

    Batches are formed before they are shared out: the number of workers changes neither the samples nor their order,
    and every rank makes the same number of steps. ``report()`` counts what was delivered; ``state_dict()`` is a place
    in the epoch from which another loader goes on, with any number of workers and ranks.
    """

    _iterator: Any
    _epoch = 0
    # The first global batch that is not delivered yet, and the one that the next iteration begins with.
    _batch = 0
    _start = 0
    # Whether this loader's run has begun: here, or in the loader whose state was loaded.
    _begun = False
    _counted_epoch = 0

    def __init__(
        self,
        dataset: ContractDataset[Any] | ContractStream[Any],
        batch_size: int = 1,
        *,
        shuffle: bool = False,
        seed: int = 0,
        drop_last: bool = False,
        uneven: Uneven | None = None,
        collate_fn: Collate | None = None,
        rank: int | None = None,
        world_size: int | None = None,
        card: bool = False,
        **options: Any,
    ) -> None:
        """``shuffle`` permutes all samples of a ``ContractDataset``, by ``seed`` and epoch; a stream has its
        ``shuffle_buffer``. ``uneven`` is said by a stream (``ContractStream``), or here. ``collate_fn`` makes a batch
        of items; by default ``dataset.collate``. ``rank`` and ``world_size`` are those of ``torch.distributed`` where
        it is initialised. ``card`` counts for ``card()``. ``options`` are those of ``StatefulDataLoader``:
        ``num_workers``, ``persistent_workers``, ``multiprocessing_context``, ``prefetch_factor``, ``pin_memory`` and
        the rest.

        Raises ValueError for options that do not go together.
        """
        _demand(dataset, batch_size, shuffle, options)
        stream = dataset if isinstance(dataset, ContractStream) else None
        self._checked: Final[Checked[Any]] = dataset
        self._rank, self._world_size = ranks(rank, world_size)
        self._uneven: Final[Uneven] = uneven or ("error" if stream is None else stream.uneven)
        self._seed: Final = seed
        #: What decides the order of samples, beside the seed.
        self._shuffle: Final = int(shuffle) if stream is None else stream.shuffle_buffer
        self._steps: Final = _Steps()
        common: dict[str, Any] = {
            "collate": collate_fn,
            "batch_size": batch_size,
            "drop_last": drop_last,
            "rank": self._rank,
            "world_size": self._world_size,
            "uneven": self._uneven,
            "seed": seed,
            "card": card,
        }
        if stream is not None and stream.corpus is None:
            task: Task = StreamTask(stream, **common)
        else:
            task = FileTask(dataset, self._order(len(dataset.corpus or ()), shuffle), **common)
        own: dict[str, Any] = {"sampler": self._steps, "collate_fn": _as_it_is, "snapshot_every_n_steps": None}
        with warnings.catch_warnings():
            # torchdata 0.11 calls what later versions of PyTorch have given up: nothing that a user could change.
            warnings.filterwarnings("ignore", message="'set_vital' is deprecated")
            super().__init__(Work(task), batch_size=None, **own, **options)
        # Batches are formed by our workers, so PyTorch is told of none; whoever asks for these two means ours.
        self.__dict__.update(batch_size=batch_size, drop_last=drop_last)
        self._quarantine: Final = (
            None if dataset.quarantine is None else QuarantineFile(dataset.quarantine, self._rank, self._world_size)
        )
        self._counts = Counts()
        self._card: Any = None
        if card:
            from protocontract.card import CardBuilder

            self._card = CardBuilder(dataset.contract)

    # -- an epoch

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch the next iteration is. Without it, each iteration that came to its end begins the next one.

        The epoch that a loaded state is in goes on where that state says; any other begins at its start.
        """
        if epoch != self._epoch:
            self._epoch, self._batch, self._start = epoch, 0, 0

    @property
    def epoch(self) -> int:
        """The epoch that is being delivered, or comes next. From 0."""
        return self._epoch

    def __len__(self) -> int:
        """Steps of this rank in a whole epoch. Raises TypeError for a stream that is not of files."""
        return self._plan(0).rounds

    def __iter__(self) -> Iterator[Any]:
        """The batches of this rank, from the start of the epoch, or from where a loaded state says.

        Raises RecordViolation for a bad record under the policy ``raise``, UnevenError where the batches cannot be
        shared out evenly and nothing was said about it; both on every rank in the same step.
        """
        start, self._start = self._start, 0
        epoch = self._epoch
        plan: Plan | None = None
        if self._checked.corpus is not None:
            plan = self._plan(start)
        self._steps.begin(plan, epoch, start)
        if start == 0:
            self._counts = Counts()
            if self._card is not None:
                self._card.take()
        self._counted_epoch = epoch
        if self._quarantine is not None:
            if self._begun:
                self._quarantine.cut_back(epoch, start)
            else:
                self._quarantine.begin_anew()
        self._begun = True
        self._batch = start
        return self._deliveries(super().__iter__(), plan, epoch, start)

    def _deliveries(self, deliveries: Iterator[Delivery], plan: Plan | None, epoch: int, start: int) -> Iterator[Any]:
        iterator: Any = self._iterator
        try:
            for round_, delivery in enumerate(deliveries, start=1):
                self._raise_for(delivery)
                if not delivery.end:
                    self._batch = start + round_ * self._world_size if plan is None else plan.position(round_)
                self._count(delivery)
                if delivery.end:
                    break
                yield delivery.batch
            if self._epoch == epoch:
                self._epoch, self._batch = epoch + 1, 0
        finally:
            # The steps of a stream have no end of their own: its workers would wait for more. And an error holds the
            # iterator: left to the garbage collector, it would wait 5 seconds for each worker, and kill it.
            if not self.persistent_workers:
                if hasattr(iterator, "_shutdown_workers"):
                    iterator._shutdown_workers()
                if self._iterator is iterator:
                    self._iterator = None

    def _raise_for(self, delivery: Delivery) -> None:
        if delivery.error is not None:
            raise ContractError(delivery.error)
        if delivery.uneven is not None:
            raise UnevenError(delivery.uneven)
        if delivery.violation is not None:
            raise RecordViolation(*delivery.violation)

    def _count(self, delivery: Delivery) -> None:
        """Take note of what was delivered: from here on it has happened."""
        self._counts.add(delivery.counts)
        if self._quarantine is not None:
            self._quarantine.append(delivery.lines)
        if delivery.card is not None:
            self._card.merge(delivery.card)

    def _plan(self, start: int) -> Plan:
        return Plan(
            len(self.dataset),
            batch_size=self.batch_size,
            drop_last=self.drop_last,
            world_size=self._world_size,
            rank=self._rank,
            uneven=self._uneven,
            start=start,
        )

    def _order(self, samples: int, shuffle: bool) -> Order:
        if self._shuffle > 1:
            return Buffered(samples, self._shuffle, self._seed)
        return Permuted(samples, self._seed) if shuffle else InOrder()

    # -- what became of the records

    def report(self) -> Report:
        """What this rank delivered in the epoch that is being delivered, or was delivered last."""
        contract, corpus = self._checked.contract, self._checked.corpus
        sources: list[tuple[str, str | None, int | None]] = [(each.name, None, None) for each in self._checked.sources]
        if corpus is not None:
            sources = [(index.source.name, index.sha256, len(index)) for index in corpus.indexes]
        return Report(
            contract=contract.full_name,
            version=contract.version,
            fingerprint=contract.fingerprint,
            data_versions=data_versions(),
            sources=tuple(sources),
            epoch=self._counted_epoch,
            rank=self._rank,
            world_size=self._world_size,
            counts=self._counts,
        )

    def card(self) -> Card:
        """The data card of what this rank has delivered. Raises ValueError without ``card=True``."""
        return self.card_builder().card()

    def card_builder(self) -> CardBuilder[Any]:
        """The counts of ``card``, which pickle: those of all ranks, merged, make the card of the epoch.

        Raises ValueError without ``card=True``.
        """
        if self._card is None:
            raise ValueError("nothing was counted for a data card; expected ContractLoader(..., card=True)")
        from protocontract.card import CardBuilder

        builder: CardBuilder[Any] = CardBuilder(self._checked.contract)
        builder.merge(self._card)
        for name, digest, records in self.report().sources:
            builder.source(name, digest, records)
        return builder

    # -- states

    def state_dict(self) -> dict[str, Any]:
        """The place after the last batch that was delivered: plain values, for a checkpoint.

        What is in the quarantine file is on the disk when this returns.
        """
        quarantine = None
        if self._quarantine is not None:
            quarantine = {"file": str(self._quarantine.path), "bytes": self._quarantine.position()}
        return {
            **identity(self._checked, self._seed, self._shuffle, self.batch_size, self.drop_last),
            "epoch": self._epoch,
            "samples": self._batch * self.batch_size,
            "rank": self._rank,
            "world_size": self._world_size,
            "quarantine": quarantine,
            "counts": self._counts.as_dict(),
        }

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Go on from a state: the next iteration delivers what comes after it, and nothing that came before.

        Every rank loads a state of the same step; that of rank 0 will do for all. The number of workers and of ranks
        may be another one. Counts go on in the rank that saved the state, where there are as many ranks as then.

        Raises ContractError for a state of other files, another contract, batch size, seed or order, naming both, and
        for a quarantine file that has lost lines which the state counts.
        """
        check_state(state_dict, identity(self._checked, self._seed, self._shuffle, self.batch_size, self.drop_last))
        self._iterator = None
        self._epoch, self._batch = position(state_dict, self._quarantine)
        self._start = self._batch
        self._begun = True
        same = (state_dict["rank"], state_dict["world_size"]) == (self._rank, self._world_size)
        self._counts = Counts.of_dict(state_dict["counts"]) if same else Counts()
        self._counted_epoch = self._epoch
        if self._card is not None:
            self._card.take()


def _demand(dataset: object, batch_size: int, shuffle: bool, options: Mapping[str, Any]) -> None:
    """Raises TypeError or ValueError for what a loader cannot be made of."""
    for name in _OURS:
        if name in options:
            raise TypeError(f"{name} is decided by ContractLoader; see shuffle=, seed= and uneven=")
    if not isinstance(dataset, ContractDataset | ContractStream):
        raise TypeError(f"expected a ContractDataset or a ContractStream, got {type(dataset).__name__}")
    if batch_size < 1:
        raise ValueError(f"batch_size is {batch_size}; expected 1 or more")
    if shuffle and isinstance(dataset, ContractStream):
        raise ValueError("shuffle=True is for a ContractDataset; give the ContractStream shuffle_buffer=")


class _Steps:
    """What the loader's index queue is filled with: the steps of the epoch that is being delivered."""

    def __init__(self) -> None:
        self._plan: Plan | None = None
        self._epoch = 0
        self._start = 0

    def begin(self, plan: Plan | None, epoch: int, start: int) -> None:
        """Say what comes next. Without a plan, steps have no end: the first delivery that says so is it."""
        self._plan, self._epoch, self._start = plan, epoch, start

    def __iter__(self) -> Iterator[Any]:
        if self._plan is not None:
            yield from self._plan.steps(self._epoch)
            return
        epoch, start, round_ = self._epoch, self._start, 0
        while True:
            yield StreamStep(epoch, start, round_)
            round_ += 1


def _as_it_is(delivery: Delivery) -> Delivery:
    return delivery
