"""Quarantine files: JSON lines of bad records, one file for each rank, that can be cut back to a saved position.

A file belongs to one training run, as its checkpoints do. Each line says the epoch and the global batch with which it
was delivered, so a run that is resumed finds by itself, in the files of however many ranks there were, which lines were
written after the state that it starts from. A run that begins anew moves what is there aside (``NAME.1``, ``NAME.2``).
"""

from __future__ import annotations

import glob
import json
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from protocontract.violations import ContractError


class QuarantineFile:
    """The quarantine file of one rank. It is opened with the first line, readable by its owner only."""

    def __init__(self, base: str | os.PathLike[str], rank: int, world_size: int) -> None:
        """``base`` is the name that the user gave; of several ranks, each has ``.rankN`` before the ending."""
        self.base: Final = Path(base)
        self.rank: Final = rank
        self.world_size: Final = world_size
        self.path: Final = self.base if world_size == 1 else ranked(self.base, rank)
        self._descriptor: int | None = None

    def append(self, lines: Iterable[bytes]) -> None:
        """Write lines. Raises OSError."""
        data = b"".join(lines)
        if not data:
            return
        if self._descriptor is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # What is quarantined is raw data.
            self._descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        while data:
            data = data[os.write(self._descriptor, data) :]

    def position(self) -> int:
        """Bytes that are written, and on the disk when this returns."""
        if self._descriptor is not None:
            os.fsync(self._descriptor)
        with suppress(FileNotFoundError):
            return self.path.stat().st_size
        return 0

    def begin_anew(self) -> None:
        """Move this rank's share of the files that are there aside."""
        self.close()
        for path in self._share():
            if path.stat().st_size:
                path.rename(_free(path))

    def cut_back(self, epoch: int, batch: int) -> None:
        """Remove, from this rank's share of the files, lines that were delivered at or after a position.

        ``batch`` is the first global batch of ``epoch`` that is to be delivered now. A line that is not complete goes.
        Raises ContractError for a file that holds something else.
        """
        self.close()
        for path in self._share():
            keep = 0
            with open(path, "rb") as stream:
                for line in stream:
                    if not line.endswith(b"\n") or _position(line, path) >= (epoch, batch):
                        break
                    keep += len(line)
            if keep < path.stat().st_size:
                os.truncate(path, keep)

    def close(self) -> None:
        """Close the file, if it is open."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _share(self) -> Iterator[Path]:
        """Files of an earlier run, however many ranks that had, each the share of exactly one rank of now."""
        found: dict[Path, int] = {self.base: 0}
        pattern = re.compile(re.escape(self.base.stem) + r"\.rank(\d+)" + re.escape(self.base.suffix))
        for name in glob.glob(f"{glob.escape(str(self.base.with_suffix('')))}.rank*{glob.escape(self.base.suffix)}"):
            matched = pattern.fullmatch(Path(name).name)
            if matched is not None:
                found[Path(name)] = int(matched.group(1))
        for path, rank in sorted(found.items()):
            if rank % self.world_size == self.rank and path.exists():
                yield path


def ranked(base: Path, rank: int) -> Path:
    """``rejects.jsonl`` of rank 2: ``rejects.rank2.jsonl``."""
    return base.with_name(f"{base.stem}.rank{rank}{base.suffix}")


def _position(line: bytes, path: Path) -> tuple[int, int]:
    try:
        found = json.loads(line)
        return int(found["epoch"]), int(found["batch"])
    except (ValueError, KeyError, TypeError):
        raise ContractError(
            f"{path} has a line that is no quarantine line; give another file with quarantine="
        ) from None


def _free(path: Path) -> Path:
    number = 1
    while (found := path.with_name(f"{path.name}.{number}")).exists():
        number += 1
    return found
