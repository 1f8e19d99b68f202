"""Which sample comes when, and for whom.

Batches are formed before they are shared out: the samples of an epoch stand in one order, every ``batch_size`` of them
are a global batch, and batch ``i`` goes to rank ``i % world_size``, whose workers take turns. So neither the number of
workers nor that of ranks changes which samples there are, their order, or what is a batch; and each rank knows by
itself when the last round has no batch for everybody. All of this follows from seed and epoch, by arithmetic that no
library's version changes.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Final, Literal, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np

T = TypeVar("T")

#: What is done where the last round of batches is not complete: raise on every rank, leave it out, or deliver some of
#: the epoch's first batches again.
Uneven: TypeAlias = Literal["error", "drop", "repeat"]
UNEVEN: Final[tuple[Uneven, ...]] = ("error", "drop", "repeat")

_ROUNDS: Final = 6


class Order(Protocol):
    """The order of an epoch's samples, which are counted from 0 in the order of the files."""

    def samples(self, epoch: int, start: int, stop: int) -> list[int]:
        """The samples at the places ``start`` to ``stop`` of the order."""
        ...


class InOrder:
    """As they stand in the files."""

    def samples(self, epoch: int, start: int, stop: int) -> list[int]:
        """The samples at these places."""
        del epoch
        return list(range(start, stop))


class Permuted:
    """A random permutation of all samples. It takes no memory, and each place is found without those before it."""

    def __init__(self, count: int, seed: int) -> None:
        self._count: Final = count
        self._seed: Final = seed
        self._epoch: int | None = None
        self._permutation: Permutation | None = None

    def samples(self, epoch: int, start: int, stop: int) -> list[int]:
        """The samples at these places."""
        if self._permutation is None or self._epoch != epoch:
            self._permutation, self._epoch = Permutation(self._count, self._seed, epoch), epoch
        return self._permutation.numbers(start, stop)


class Buffered:
    """Files are read from front to back into a buffer, and each sample is drawn from that buffer by chance."""

    def __init__(self, count: int, size: int, seed: int) -> None:
        self._count: Final = count
        self._size: Final = size
        self._seed: Final = seed
        self._epoch: int | None = None
        self._drawn: Iterator[int] = iter(())
        self._place = 0

    def samples(self, epoch: int, start: int, stop: int) -> list[int]:
        """The samples at these places. Cheap where places come in ascending order."""
        if self._epoch != epoch or start < self._place:
            self._drawn = shuffled(range(self._count), self._size, self._seed, epoch)
            self._epoch, self._place = epoch, 0
        found = list(islice(self._drawn, start - self._place, stop - self._place))
        self._place = stop
        return found


class Permutation:
    """A permutation of the numbers below ``count`` that seed and epoch decide: a Feistel network over as many bits.

    A number that falls outside is sent through again until it is inside, twice on average at most.
    """

    def __init__(self, count: int, seed: int, epoch: int) -> None:
        bits = max((count - 1).bit_length(), 2)
        self._count: Final = count
        self._low: Final = bits // 2
        self._high: Final = bits - self._low
        digest = hashlib.blake2b(f"{seed}:{epoch}".encode(), digest_size=8 * _ROUNDS).digest()
        self._keys: Final = np.frombuffer(digest, dtype=">u8").astype(np.uint64)

    def numbers(self, start: int, stop: int) -> list[int]:
        """The numbers at the places ``start`` to ``stop``."""
        numbers = self._mixed(np.arange(start, stop, dtype=np.uint64))
        while (outside := numbers >= self._count).any():
            numbers[outside] = self._mixed(numbers[outside])
        found: list[int] = numbers.tolist()
        return found

    def _mixed(self, numbers: Any) -> Any:
        # The halves differ by a bit where the number of bits is odd, so they change places with every round. Products
        # are meant to overflow.
        left_bits, right_bits = self._high, self._low
        left, right = numbers >> np.uint64(right_bits), numbers & np.uint64((1 << right_bits) - 1)
        for key in self._keys:
            mixed = (right + key) * np.uint64(0x9E3779B97F4A7C15)
            mixed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
            left, right = right, left ^ (mixed >> np.uint64(64 - left_bits))
            left_bits, right_bits = right_bits, left_bits
        return (left << np.uint64(right_bits)) | right


def shuffled(items: Iterable[T], size: int, seed: int, epoch: int) -> Iterator[T]:
    """The items through a shuffle buffer of ``size``: each is drawn from the buffer by chance. 1 keeps the order."""
    # Of all that `random` offers, only this function is promised to give the same numbers in every version.
    chance = random.Random(f"{seed}:{epoch}").random
    buffer: list[T] = []
    for item in items:
        if len(buffer) < size:
            buffer.append(item)
            continue
        place = int(chance() * size)
        drawn, buffer[place] = buffer[place], item
        yield drawn
    while buffer:
        place = int(chance() * len(buffer))
        buffer[place], buffer[-1] = buffer[-1], buffer[place]
        yield buffer.pop()


class Step(NamedTuple):
    """What a rank does in one step of an epoch."""

    epoch: int
    #: The global batch that is delivered.
    batch: int
    #: Whether it was delivered before, to another rank.
    repeated: bool = False
    #: Samples that are counted with it although nobody gets them: places of the order.
    dropped: tuple[int, ...] = ()


class UnevenError(ValueError):
    """The batches cannot be shared out evenly, and nothing was said about what to do then."""


class Plan:
    """The steps of one rank, from a global batch on, where the number of samples is known."""

    def __init__(
        self, samples: int, *, batch_size: int, drop_last: bool, world_size: int, rank: int, uneven: Uneven, start: int
    ) -> None:
        """``start`` is the first global batch. Raises UnevenError where the last round has no batch for every rank."""
        whole, rest = divmod(samples, batch_size)
        self.batches: Final = whole + bool(rest and not drop_last)
        if not self.batches:
            raise UnevenError(f"drop_last leaves no batch of {batch_size}: there are {samples} samples")
        self.start: Final = start
        self._samples, self._batch_size = samples, batch_size
        self._world_size, self._rank = world_size, rank
        left = max(0, self.batches - start)
        rounds, over = divmod(left, world_size)
        if over and uneven == "error":
            raise UnevenError(uneven_text(over, world_size))
        if over and uneven == "drop" and not rounds:
            raise UnevenError(
                f"{left} batches for {world_size} ranks: nothing is left under uneven='drop';"
                " expected a smaller batch_size, fewer ranks, or uneven='repeat'"
            )
        self.rounds: Final = rounds + bool(over and uneven == "repeat")
        #: The global batch at which the epoch ends.
        self.end: Final = max(start, self.batches)

    def position(self, round_: int) -> int:
        """The first global batch that is not delivered yet after a number of rounds."""
        return self.end if round_ >= self.rounds else self.start + round_ * self._world_size

    def steps(self, epoch: int) -> Iterator[Step]:
        """This rank's steps."""
        for round_ in range(self.rounds):
            batch = self.start + round_ * self._world_size + self._rank
            repeated = batch >= self.batches
            dropped = self._left_out() if round_ == self.rounds - 1 else ()
            yield Step(epoch, (batch - self.batches) % self.batches if repeated else batch, repeated, dropped)

    def bounds(self, batch: int) -> tuple[int, int]:
        """The places of a global batch in the order: first, and one after the last."""
        return batch * self._batch_size, min((batch + 1) * self._batch_size, self._samples)

    def _left_out(self) -> tuple[int, ...]:
        """Places that no rank delivers: this rank's share of them."""
        delivered = min(self.start + self.rounds * self._world_size, self.batches)
        places = range(min(delivered * self._batch_size, self._samples), self._samples)
        return tuple(places[self._rank :: self._world_size])


def uneven_text(over: int, world_size: int) -> str:
    """What to say where the last round has no batch for every rank."""
    batches = "1 batch" if over == 1 else f"{over} batches"
    return (
        f"the last round has {batches} for {world_size} ranks; say what to do with it:"
        " uneven='drop' leaves it out, uneven='repeat' delivers some of the first batches again"
    )
