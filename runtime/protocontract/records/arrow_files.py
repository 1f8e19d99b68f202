"""Parquet and Arrow IPC files, opened by what they start with and read batch by batch from any group of rows."""

from __future__ import annotations

import errno
import os
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any, Final, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

# Rows that are decoded at once: bounded by number, and by bytes as far as a file tells before it is decoded.
_ROWS: Final = 1024
_BYTES: Final = 32 << 20
_BUFFER: Final = 1 << 20


class TableFile(Protocol):
    """An open file. Rows count from 0; a group is what can be decoded without what stands before it."""

    schema: pa.Schema

    @property
    def rows(self) -> int | None:
        """How many rows there are; None where only reading would tell."""
        ...

    def group_of(self, row: int) -> int:
        """The first row of the group that holds a row."""
        ...

    def batches(self, row: int, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Batches of these columns, in this order, from the first row of a group to the end of the file."""
        ...


def open_file(path: str) -> TableFile:
    """The file of a path: Parquet, or Arrow IPC in its file or stream form.

    Raises OSError, and Arrow's own exceptions where the content is not what its first bytes say.
    """
    with open(path, "rb") as stream:
        start = stream.read(6)
    if start[:4] == b"PAR1":
        return _Parquet(path)
    if start == b"ARROW1":
        return _IpcFile(path)
    if start[:4] in (b"FEA1", b"PARE"):
        what = "Feather of version 1" if start[:4] == b"FEA1" else "Parquet whose footer is encrypted"
        raise OSError(errno.EINVAL, f"is {what}, which is not read", path)
    return _IpcStream(path)


class _Parquet:
    def __init__(self, path: str) -> None:
        # Column chunks are read through a buffer, not whole. Arrow reads at positions: processes may share the file.
        self._file: Final[Any] = pq.ParquetFile(
            path, pre_buffer=False, buffer_size=_BUFFER, page_checksum_verification=True
        )
        metadata = self._file.metadata
        groups = [metadata.row_group(place) for place in range(metadata.num_row_groups)]
        self._starts: Final[list[int]] = list(accumulate((group.num_rows for group in groups), initial=0))
        if self._starts[-1] != metadata.num_rows:
            raise pa.ArrowInvalid("the footer counts other rows than its row groups")
        self.schema = self._file.schema_arrow
        largest = max((group.total_byte_size // max(group.num_rows, 1) for group in groups), default=0)
        self._batch: Final = max(1, min(_ROWS, _BYTES // max(largest, 1)))

    @property
    def rows(self) -> int | None:
        return self._starts[-1]

    def group_of(self, row: int) -> int:
        return self._starts[max(0, min(bisect_right(self._starts, row) - 1, len(self._starts) - 2))]

    def batches(self, row: int, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        first = bisect_right(self._starts, row) - 1
        groups = range(first, len(self._starts) - 1)
        missing = self._starts[-1] - self._starts[first]
        for batch in self._file.iter_batches(self._batch, row_groups=groups, columns=columns, use_threads=False):
            missing -= batch.num_rows
            yield batch.select(columns)
        if missing:
            raise pa.ArrowInvalid("other rows than the footer counts")


class _IpcFile:
    def __init__(self, path: str) -> None:
        self._reader: Final[Any] = pa.ipc.open_file(
            pa.memory_map(path), options=pa.ipc.IpcReadOptions(use_threads=False)
        )
        self.schema = self._reader.schema
        self._starts: list[int] | None = None

    @property
    def rows(self) -> int | None:
        return None

    def group_of(self, row: int) -> int:
        starts = self._all_starts()
        return starts[max(0, min(bisect_right(starts, row) - 1, len(starts) - 2))]

    def batches(self, row: int, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        first = bisect_right(self._all_starts(), row) - 1 if row else 0
        for place in range(first, self._reader.num_record_batches):
            yield from _cut(self._reader.get_batch(place).select(columns))

    def _all_starts(self) -> list[int]:
        """Where batches start: the footer does not say, so each is looked at, once."""
        if self._starts is None:
            batches = range(self._reader.num_record_batches)
            self._starts = list(accumulate((self._reader.get_batch(place).num_rows for place in batches), initial=0))
        return self._starts


class _IpcStream:
    def __init__(self, path: str) -> None:
        self._path: Final = path
        self.schema = self._open().schema

    @property
    def rows(self) -> int | None:
        return None

    def group_of(self, row: int) -> int:
        del row  # it can only be read from its start
        return 0

    def batches(self, row: int, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        del row
        for batch in self._open():
            yield from _cut(batch.select(columns))

    def _open(self) -> Any:
        return pa.ipc.open_stream(pa.OSFile(os.fspath(self._path)), options=pa.ipc.IpcReadOptions(use_threads=False))


def _cut(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """A batch in slices, which share its memory."""
    # Offsets of a file are anybody's: without this, Arrow would follow them out of its buffers.
    batch.validate(full=True)
    rows = max(1, min(_ROWS, _BYTES * batch.num_rows // max(batch.nbytes, 1)))
    for start in range(0, batch.num_rows, rows):
        yield batch.slice(start, rows)
