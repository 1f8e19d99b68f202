"""``.venv-engines/bin/python -m tests.bench.training``: what a contract costs in a training loader; whether it leaks.

100,000 records of each kind in one file, one in twenty broken, read in batches of 256 messages by five loops in one
process, in alternating order in each round; processor time, ratios within a round, medians. ``parse`` is a loop that
reads and parses, and checks nothing: it takes only the good records, which somebody else has found for it.

Then a ``ContractLoader`` with two persistent workers goes through the file again and again; the memory of all three
processes is looked at after each epoch. Exits with 1 where the median of the last third of the epochs is more than a
twentieth above that of the first third.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from torch.utils.data import DataLoader, Dataset

from protocontract import Contract
from protocontract.records.index import open_index
from protocontract.records.judge import Judge
from protocontract.records.sources import FileSource, Record
from protocontract.torch import ContractDataset, ContractLoader
from protocontract.wire_stream import write_delimited
from tests.bench import shapes
from tests.support.samples import TEXT_SAMPLE, text_sample

BATCH = 256
BROKEN = 20

Loop = Callable[[], int]


def main() -> int:
    """Measure and print. Returns 0, or 1 where memory grew."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.training", description=__doc__)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=12, help="for the look at memory")
    options = parser.parse_args()
    # Two workers on a machine with two cores: what PyTorch says of that is known here.
    warnings.simplefilter("ignore", UserWarning)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        medium = shapes.serialise(shapes.SHAPES[1], *shapes.compile_protos(folder))
        texts = [text_sample(number).SerializeToString() for number in range(1_000)]
        grew = False
        for kind, contract, records in (
            ("medium", medium.contract, medium.protobuf),
            ("TextSample", TEXT_SAMPLE, texts),
        ):
            path = folder / f"{kind}.binpb"
            with open(path, "wb") as stream:
                for number in range(options.records):
                    # Never parsed: field number 0.
                    bad = number % BROKEN == BROKEN - 1
                    write_delimited(stream, b"\x00broken" if bad else records[number % len(records)])
            _speed(kind, path, contract, options.rounds, folder / "cache")
            grew |= _memory(kind, path, contract, options.epochs, folder / "cache")
    return int(grew)


def _speed(kind: str, path: Path, contract: Contract[Any], rounds: int, cache: Path) -> None:
    source, judge = FileSource(path), Judge(contract)
    began = time.process_time()
    index = open_index(source, judge, cache)
    built = time.process_time() - began
    began = time.process_time()
    open_index(source, judge, cache)
    found = time.process_time() - began
    print(f"\n{kind}: {len(index):,} records, {len(index.valid):,} of them good, {path.stat().st_size / 1e6:.0f} MB")
    print(f"index: {built / len(index) * 1e6:.1f} us a record; found again: {found * 1e3:.0f} ms")
    loops = _loops(source, contract, [_place(index.record(at)) for at in index.valid], cache)
    taken: dict[str, list[float]] = {name: [] for name in loops}
    for round_ in range(rounds):
        for name, loop in list(loops.items())[:: 1 if round_ % 2 == 0 else -1]:
            start = time.process_time()
            used = loop()
            taken[name].append((time.process_time() - start) / used * 1e6)
            if used != len(index.valid):
                raise AssertionError(f"{name} used {used} records")
    bases = ("parse", "DataLoader, parsed", "DataLoader, processed")
    print(f"{'':<28}{'us a record':>12}" + "".join(f"{f'to {base}':>26}" for base in bases))
    for name, times in taken.items():
        ratios = [statistics.median(a / b for a, b in zip(times, taken[base], strict=True)) for base in bases]
        print(f"{name:<28}{statistics.median(times):>12.2f}" + "".join(f"{ratio:>26.2f}" for ratio in ratios))


def _place(record: Record) -> tuple[int, int]:
    return record.place.offset or 0, record.size


def _loops(source: FileSource, contract: Contract[Any], places: list[tuple[int, int]], cache: Path) -> dict[str, Loop]:
    def parse() -> int:
        used = 0
        for at in range(0, len(places), BATCH):
            used += len([contract.message_type.FromString(source.read(*place)) for place in places[at : at + BATCH]])
        return used

    def plain(make: Callable[[bytes], Any]) -> Loop:
        loader: Any = DataLoader(_Plain(source, places, make), batch_size=BATCH, collate_fn=_batch)
        return lambda: sum(len(batch) for batch in loader)

    train = ContractDataset([source], contract, on_violation="skip", cache=cache)

    def ours(*, shuffle: bool) -> Loop:
        loader = ContractLoader(train, BATCH, shuffle=shuffle, collate_fn=_batch)
        return lambda: sum(len(batch) for batch in _iterated(loader))

    return {
        "parse": parse,
        "DataLoader, parsed": plain(contract.message_type.FromString),
        "DataLoader, processed": plain(contract.parse),
        "ContractLoader": ours(shuffle=False),
        "ContractLoader, shuffled": ours(shuffle=True),
    }


class _Plain(Dataset[Any]):  # type: ignore[misc]  # torch is absent where types are checked
    """What one writes without us: places in a file, and what is made of the bytes there."""

    def __init__(self, source: FileSource, places: list[tuple[int, int]], make: Callable[[bytes], Any]) -> None:
        self._source, self._places, self._make = source, places, make

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, at: int) -> Any:
        return self._make(self._source.read(*self._places[at]))


def _batch(items: Sequence[Any]) -> list[Any]:
    return list(items)


def _size(items: Sequence[Any]) -> int:
    return len(items)


def _iterated(loader: ContractLoader) -> Iterator[Any]:
    yield from loader


def _memory(kind: str, path: Path, contract: Contract[Any], epochs: int, cache: Path) -> bool:
    train = ContractDataset.from_files(path, contract, on_violation="skip", cache=cache)
    loader = ContractLoader(train, BATCH, shuffle=True, num_workers=2, persistent_workers=True, collate_fn=_size)
    looks = []
    for _ in range(epochs):
        used = sum(_iterated(loader))
        if used != len(train):
            raise AssertionError(f"{used} records used")
        workers = [worker.pid for worker in loader._iterator._workers]
        looks.append(sum(_resident(process) for process in ("self", *workers)) / 1e6)
    third = max(1, epochs // 3)
    early, late = statistics.median(looks[:third]), statistics.median(looks[-third:])
    records = epochs * len(train)
    print(f"{kind}: {records:,} samples in {epochs} epochs, MB in three processes: {early:.1f}, then {late:.1f}")
    return late > early * 1.05


def _resident(process: int | str) -> int:
    """Memory of a process's own in bytes: what it shares with forks counts by its share, files that it maps do not."""
    lines = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii").splitlines()
    (kilobytes,) = [int(line.split()[1]) for line in lines if line.startswith("Pss_Anon:")]
    return kilobytes * 1024


if __name__ == "__main__":
    sys.exit(main())
