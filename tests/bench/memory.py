"""Memory of validated records that are held: ``python -m tests.bench.memory WHO COUNT`` in a process of its own."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.bench import shapes

OURS, PIPELINE = "ours", "pipeline"
_SHAPE = next(shape for shape in shapes.SHAPES if shape.name == "medium")


def held(who: str, count: int) -> float:
    """Megabytes by which a fresh process grows when it holds ``count`` validated records of the medium shape."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.memory", who, str(count)], check=True, capture_output=True, text=True
    )
    return float(done.stdout)


def _resident() -> int:
    """Bytes of this process in memory."""
    pages = Path("/proc/self/statm").read_text("ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def _main(who: str, count: int) -> None:
    """Prints the growth. Both sides read their records from a file, one at a time: only results are held."""
    with tempfile.TemporaryDirectory() as folder:
        data = shapes.serialise(_SHAPE, *shapes.compile_protos(Path(folder)), count=1)
        run = _runner(who, data)
        path = Path(folder, "records")
        _write(who, data, count, path)
        run((data.protobuf if who == OURS else data.json)[0])
        gc.collect()
        before = _resident()
        with path.open("rb") as file:
            kept = [run(file.read(int.from_bytes(file.read(4), "big"))) for _ in range(count)]
        gc.collect()
        print((_resident() - before) / 1e6)
        assert len(kept) == count


def _write(who: str, data: shapes.Data, count: int, path: Path) -> None:
    import random

    randomness = random.Random(7)
    with path.open("wb") as file:
        for _ in range(count):
            record = _SHAPE.make(randomness)
            message = shapes.to_message(data.message_type, record) if who == OURS else None
            raw = shapes.to_json(record) if message is None else message.SerializeToString()
            file.write(len(raw).to_bytes(4, "big"))
            file.write(raw)


def _runner(who: str, data: shapes.Data) -> Callable[[bytes], object]:
    if who == OURS:
        return data.contract.parse
    from tests.bench.contestants import PIPELINE as NAME
    from tests.bench.contestants import contestants

    return next(contestant.run for contestant in contestants(data) if contestant.name == NAME)


if __name__ == "__main__":
    _main(sys.argv[1], int(sys.argv[2]))
