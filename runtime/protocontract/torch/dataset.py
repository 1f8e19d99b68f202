"""Datasets whose items keep a contract: ``ContractDataset`` (map style) and ``ContractStream`` (iterable)."""

# pyright: reportMissingImports=false

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, Final, Generic, TypeVar

from google.protobuf.message import Message
from torch.utils.data import Dataset, IterableDataset, default_collate, get_worker_info

from protocontract.contract import Contract, Encoding
from protocontract.loading import load
from protocontract.records.corpus import Corpus, demand_samples
from protocontract.records.index import open_index
from protocontract.records.judge import Judge
from protocontract.records.policy import POLICIES, OnViolation, RecordViolation
from protocontract.records.reading import FileEncoding
from protocontract.records.sources import FileLike, Item, IterableSource, Record, Source, find_files, open_source
from protocontract.torch.collate import Collate
from protocontract.torch.order import UNEVEN, Uneven
from protocontract.torch.ranks import ranks

M = TypeVar("M", bound=Message)

Pattern = str | os.PathLike[str]
Transform = Callable[[Any], Any]


class Checked(Generic[M]):
    """What both kinds of datasets are: records of a contract, and what is done with bad ones."""

    def __init__(
        self,
        sources: Iterable[Source],
        contract: Contract[M],
        on_violation: OnViolation,
        quarantine: Pattern | None,
        transform: Transform | None,
        cache: Pattern | None,
        context: str | None,
        now: datetime | int | None,
    ) -> None:
        if on_violation not in POLICIES:
            raise ValueError(f"unknown on_violation {on_violation!r}; expected raise, skip or quarantine")
        if on_violation == "quarantine" and quarantine is None:
            raise ValueError("on_violation='quarantine' needs a file for bad records: quarantine='rejects.jsonl'")
        if on_violation != "quarantine" and quarantine is not None:
            raise ValueError(f"quarantine= is for on_violation='quarantine', got on_violation={on_violation!r}")
        from protocontract._partial import nanoseconds

        self.contract: Final = contract
        self.on_violation: Final[OnViolation] = on_violation
        self.quarantine: Final = None if quarantine is None else os.fspath(quarantine)
        self.transform: Final = transform
        self.judge: Final = Judge(contract, context, None if now is None else nanoseconds(now))
        # By the type of items, made with the first batch; a worker makes its own.
        self._collates: dict[type[Message], Collate] = {}
        self.sources: Final = tuple(sources)
        files = [source for source in self.sources if isinstance(source, FileLike)]
        if files and len(files) < len(self.sources):
            raise TypeError("expected either files or other sources, got both")
        #: The samples of the files; None where the sources are no files.
        self.corpus: Final = self._indexed(files, cache) if files else None

    def item(self, message: M) -> Any:
        """What the dataset gives for a message: the message, or what ``transform`` makes of it."""
        return message if self.transform is None else self.transform(message)

    def given(self, record: Record) -> Any:
        """The item of a record. Raises RecordViolation where it breaks the contract."""
        outcome = self.judge.outcome(record)
        if outcome.message is None:
            raise RecordViolation(record.place, outcome.violations)
        return self.item(outcome.message)

    def collate(self, items: Sequence[Any], places: Sequence[object] | None = None) -> Any:
        """A batch of items: messages by their contract, all others by PyTorch's ``default_collate``.

        They may be messages of another contract, as a service's step makes them, or tuples with messages in them. It
        can be given to any ``DataLoader`` as ``collate_fn``. ``places`` are those of the items, for errors. Raises
        ContractError for messages without a contract.
        """
        first = items[0] if items else None
        if isinstance(first, Message):
            return self._collate_of(type(first))(items, places)
        if isinstance(first, tuple) and any(isinstance(each, Message) for each in first):
            return tuple(self.collate(column, places) for column in zip(*items, strict=True))
        return default_collate(list(items))

    def _collate_of(self, kind: type[Message]) -> Collate:
        found = self._collates.get(kind)
        if found is None:
            contract: Contract[Any] = self.contract
            if kind is not contract.message_type:
                contract = load(kind.DESCRIPTOR.full_name)
            found = self._collates[kind] = Collate(contract)
        return found

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_collates": {}}

    def _indexed(self, files: Sequence[FileLike], cache: Pattern | None) -> Corpus:
        """The indexed files. Raises what the policy demands for bad records."""
        corpus = Corpus([open_index(source, self.judge, cache) for source in files])
        if self.on_violation == "raise":
            for entry in corpus.broken():
                raise RecordViolation(entry.place, self.judge.outcome(entry.read()).violations)
        demand_samples(corpus, self.contract.full_name)
        return corpus


class ContractDataset(Checked[M], Dataset[Any]):  # type: ignore[misc]  # torch is absent where types are checked
    """The records of files that keep a contract, in any order: ``len`` counts them, and an index finds each at once.

    Which records those are is found out once, in one pass over each file, and kept beside the SHA-256 of its content
    and the contract's fingerprint (``protocontract.records.index``).
    """

    def __init__(
        self,
        sources: Iterable[FileLike],
        contract: Contract[M],
        *,
        on_violation: OnViolation = "raise",
        quarantine: Pattern | None = None,
        transform: Transform | None = None,
        cache: Pattern | None = None,
        context: str | None = None,
        now: datetime | int | None = None,
    ) -> None:
        """Index the sources, or find their indexes in the ``cache`` folder (default ``$XDG_CACHE_HOME/protocontract``).

        ``on_violation``: ``raise`` raises here, for the first bad record; ``skip`` leaves bad records out;
        ``quarantine`` does too, and a ``ContractLoader`` writes them to ``quarantine``, one file for each rank.
        ``transform`` makes an item of a message, in the worker. ``context`` and ``now`` are those of
        ``Contract.process``; give ``now`` where a rule reads the clock, since verdicts are kept.

        Raises RecordViolation; ContractError where no record keeps the contract; OSError.
        """
        super().__init__(sources, contract, on_violation, quarantine, transform, cache, context, now)
        if self.corpus is None:
            raise TypeError("a ContractDataset is of files; expected a ContractStream for anything else")
        self._samples: Final = self.corpus

    @classmethod
    def from_files(
        cls,
        patterns: Pattern | Iterable[Pattern],
        contract: Contract[M],
        *,
        encoding: FileEncoding | None = None,
        column: str | None = None,
        on_violation: OnViolation = "raise",
        quarantine: Pattern | None = None,
        transform: Transform | None = None,
        cache: Pattern | None = None,
        context: str | None = None,
        now: datetime | int | None = None,
    ) -> ContractDataset[M]:
        """The records of all files that match, sorted by name. The ending says how a file is written, or ``encoding``.

        ``column``: of Parquet and Arrow files, the column of serialised records; without it each column is a field
        (``ArrowSource``). The other arguments are those of the class. Raises ContractError for a pattern that matches
        nothing, ValueError for a ``column`` of any other file.
        """
        return cls(
            [open_source(path, encoding, contract, column=column) for path in find_files(patterns)],
            contract,
            on_violation=on_violation,
            quarantine=quarantine,
            transform=transform,
            cache=cache,
            context=context,
            now=now,
        )

    def __len__(self) -> int:
        return len(self._samples)

    def __getitem__(self, number: int) -> Any:
        """The item of a sample. Raises IndexError; ContractError where the file has changed since it was indexed."""
        count = len(self._samples)
        entry = self._samples.sample(number + count if -count <= number < 0 else number)
        entry.file.check()
        return self.given(entry.read())


class ContractStream(Checked[M], IterableDataset[Any]):  # type: ignore[misc]  # as above
    """Records that are read from front to back: of files, or of anything that can be iterated over.

    Files are indexed as for a ``ContractDataset``, so a worker validates only what it delivers. Of anything else nobody
    knows beforehand what is valid: there every worker of every rank reads and validates all of it.
    """

    def __init__(
        self,
        sources: Iterable[Source],
        contract: Contract[M],
        *,
        uneven: Uneven = "error",
        shuffle_buffer: int = 0,
        on_violation: OnViolation = "raise",
        quarantine: Pattern | None = None,
        transform: Transform | None = None,
        cache: Pattern | None = None,
        context: str | None = None,
        now: datetime | int | None = None,
    ) -> None:
        """``sources`` are either all files or all not. ``shuffle_buffer``: samples to draw the next one from; 0 keeps
        the order. ``uneven`` says what happens where the last round has no batch for every rank: ``error`` raises on
        all of them, ``drop`` leaves it out, ``repeat`` delivers some of the first batches again.

        The other arguments are those of ``ContractDataset``; where the sources are no files, ``raise`` raises while
        iterating, on every rank in the same step.
        """
        super().__init__(sources, contract, on_violation, quarantine, transform, cache, context, now)
        if uneven not in UNEVEN:
            raise ValueError(f"unknown uneven {uneven!r}; expected error, drop or repeat")
        if shuffle_buffer < 0:
            raise ValueError(f"shuffle_buffer is {shuffle_buffer}; expected 0 or more samples")
        self.uneven: Final[Uneven] = uneven
        self.shuffle_buffer: Final = shuffle_buffer

    @classmethod
    def from_files(
        cls,
        patterns: Pattern | Iterable[Pattern],
        contract: Contract[M],
        *,
        encoding: FileEncoding | None = None,
        column: str | None = None,
        uneven: Uneven = "error",
        shuffle_buffer: int = 0,
        on_violation: OnViolation = "raise",
        quarantine: Pattern | None = None,
        transform: Transform | None = None,
        cache: Pattern | None = None,
        context: str | None = None,
        now: datetime | int | None = None,
    ) -> ContractStream[M]:
        """The records of all files that match, sorted by name; see ``ContractDataset.from_files`` and the class."""
        return cls(
            [open_source(path, encoding, contract, column=column) for path in find_files(patterns)],
            contract,
            uneven=uneven,
            shuffle_buffer=shuffle_buffer,
            on_violation=on_violation,
            quarantine=quarantine,
            transform=transform,
            cache=cache,
            context=context,
            now=now,
        )

    @classmethod
    def from_iterable(
        cls,
        items: Iterable[Item] | Callable[[], Iterable[Item]],
        contract: Contract[M],
        *,
        encoding: Encoding = "protobuf",
        name: str = "iterable",
        uneven: Uneven = "error",
        shuffle_buffer: int = 0,
        on_violation: OnViolation = "raise",
        quarantine: Pattern | None = None,
        transform: Transform | None = None,
        context: str | None = None,
        now: datetime | int | None = None,
    ) -> ContractStream[M]:
        """The items of a collection, or of iterators that a function makes: bytes in ``encoding``, messages, JSON texts
        or mappings. They must come in the same order each time. ``name`` is what errors and reports call it.
        """
        return cls(
            [IterableSource(items, encoding=encoding, name=name)],
            contract,
            uneven=uneven,
            shuffle_buffer=shuffle_buffer,
            on_violation=on_violation,
            quarantine=quarantine,
            transform=transform,
            context=context,
            now=now,
        )

    def __iter__(self) -> Iterator[Any]:
        """Items for a plain ``DataLoader``: each rank and worker takes every n-th sample. Bad records are left out, or
        raise. Order, equal steps and counts are the ``ContractLoader``'s.
        """
        rank, world_size = ranks()
        worker = get_worker_info()
        number, of = (0, 1) if worker is None else (worker.id, worker.num_workers)
        place, step = rank * of + number, world_size * of
        if self.corpus is not None:
            for sample in range(place, len(self.corpus), step):
                entry = self.corpus.sample(sample)
                entry.file.check()
                yield self.given(entry.read())
            return
        taken = 0
        for record in (record for source in self.sources for record in source.records()):
            outcome = self.judge.outcome(record)
            if outcome.message is None:
                if self.on_violation == "raise":
                    raise RecordViolation(record.place, outcome.violations)
                continue
            if taken % step == place:
                yield self.item(outcome.message)
            taken += 1
