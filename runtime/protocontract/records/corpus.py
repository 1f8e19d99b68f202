"""Several indexed files as one sequence of samples: the records that keep the contract, in order of file and place."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final, NamedTuple

from protocontract.records.index import VerdictIndex
from protocontract.records.sources import Place, Record
from protocontract.violations import ContractError


class Entry(NamedTuple):
    """One record of a corpus: its file's index, and its number in there, from 0."""

    file: VerdictIndex
    record: int

    @property
    def place(self) -> Place:
        """Where it stands."""
        return self.file.place(self.record)

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules that it breaks."""
        return self.file.rules_of(self.record)

    def __str__(self) -> str:
        return str(self.place)

    def read(self) -> Record:
        """The record as its source gave it."""
        return self.file.record(self.record)


class Corpus:
    """The samples of one or more files. ``len()`` counts the records that keep the contract."""

    def __init__(self, indexes: Sequence[VerdictIndex]) -> None:
        self.indexes: Final = tuple(indexes)
        # Of each file: how many samples there are up to its end.
        self._ends: Final = list(accumulate(len(index.valid) for index in self.indexes))
        self._samples: Final = self._ends[-1] if self._ends else 0

    def __len__(self) -> int:
        return self._samples

    @property
    def records(self) -> int:
        """How many records there are, good and bad."""
        return sum(len(index) for index in self.indexes)

    def sample(self, number: int) -> Entry:
        """A sample. Raises IndexError."""
        return self.sample_with_riders(number)[0]

    def sample_with_riders(self, number: int) -> tuple[Entry, Sequence[Entry]]:
        """A sample, and the bad records that are counted with it. Raises IndexError.

        Those between the sample before and it, those at the end of a file with the file's last one, those of files
        without samples with the next file's first (or the last of all). So each bad record rides with exactly one
        sample, whatever the order in which samples are delivered.
        """
        if not 0 <= number < self._samples:
            raise IndexError(f"no sample {number}; there are {self._samples}")
        file = bisect_right(self._ends, number)
        index = self.indexes[file]
        local = number - self._ends[file - 1] if file else number
        valid = index.valid
        record = valid[local]
        inside = 0 < local < len(valid) - 1
        if inside and valid[local - 1] == record - 1:
            # The common case.
            return Entry(index, record), ()
        before = valid[local - 1] + 1 if local else 0
        riders = [Entry(index, bad) for bad in index.broken(before, record)]
        if not inside:
            riders = [*self._before(file, local), *riders, *self._after(file, local, number)]
        return Entry(index, record), riders

    def _before(self, file: int, local: int) -> Iterator[Entry]:
        """The records of the files without samples that stand before a file, if the sample is its first one."""
        first = file
        while local == 0 and first and not len(self.indexes[first - 1].valid):
            first -= 1
        return self._all_of(range(first, file))

    def _after(self, file: int, local: int, number: int) -> Iterator[Entry]:
        """The bad records behind the last sample of a file, and of the files behind the last sample of all."""
        index = self.indexes[file]
        if local == len(index.valid) - 1:
            yield from (Entry(index, bad) for bad in index.broken(index.valid[local] + 1, len(index)))
        if number == self._samples - 1:
            yield from self._all_of(range(file + 1, len(self.indexes)))

    def broken(self) -> Iterator[Entry]:
        """All bad records, in order."""
        return self._all_of(range(len(self.indexes)))

    def by_rule(self) -> Counter[str]:
        """Bad records by the rules that they break."""
        return Counter(rule for entry in self.broken() for rule in entry.rules)

    def _all_of(self, files: range) -> Iterator[Entry]:
        for file in files:
            index = self.indexes[file]
            yield from (Entry(index, bad) for bad in index.broken(0, len(index)))


def demand_samples(corpus: Corpus, contract: str) -> None:
    """Raise ContractError where no record keeps the contract: nothing can be trained on that."""
    if not len(corpus):
        rules = ", ".join(f"{number:,} {rule}" for rule, number in corpus.by_rule().most_common(5))
        names = ", ".join(index.source.name for index in corpus.indexes[:3])
        raise ContractError(
            f"none of {corpus.records:,} records keeps {contract}: {rules or 'there is none'} (in {names})"
        )
