"""Parquet and Arrow IPC files as sources of records: a column of serialised records, or columns that are fields.

Files are read in order, in parts of bounded size, in one thread: nothing of a file is in memory but the part that is in
use, and a few parts for whoever reads at random places. Errors of Arrow's own quote data, so none is passed on.
"""

from __future__ import annotations

import errno
import os
from bisect import bisect_right, insort
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, TypeAlias

import pyarrow as pa

from protocontract._files import file_sha256
from protocontract.arrow import kinds
from protocontract.contract import Contract, Encoding
from protocontract.records.arrow_columns import MessageColumns
from protocontract.records.arrow_files import open_file
from protocontract.records.sources import Place, Record
from protocontract.violations import ContractError, Refusal

# What read() keeps of parts that it decoded, in bytes of records.
_KEPT: Final = 64 << 20

_Rows: TypeAlias = "list[bytes | Refusal]"


class ArrowSource:
    """A Parquet or Arrow IPC file (file or stream form). A record is a row; places count rows from 1.

    With ``column``, that column holds serialised records. Without, each column is a field of the message, by the
    mapping of docs/arrow.md; records are the messages, serialised. A row that does not map exactly is a Refusal, and so
    is null.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        contract: Contract[Any],
        *,
        column: str | None = None,
        encoding: Encoding | None = None,
        ignore: Iterable[str] = (),
        assume_utc: bool = False,
    ) -> None:
        """``encoding`` of the records in ``column``: by default json in a column of text, else protobuf.

        Without ``column``: ``ignore`` are columns that are no fields, ``assume_utc`` takes timestamps without a zone
        for UTC. Raises OSError for a file that is none of these or cannot be read, ContractError where columns do not
        fit.
        """
        self.path: Final = os.fspath(path)
        self.unit: Final = "row"
        self._contract: Final = contract
        self._column: Final = column
        self._ignore: Final = tuple(ignore)
        self._assume_utc: Final = assume_utc
        with _readable(self.path):
            self._file: Final = open_file(self.path)
            schema = self._file.schema
            _ = schema.names  # which may be no text
        self._columns: MessageColumns[Any] | None = None
        if column is not None:
            if self._ignore or assume_utc:
                raise ContractError(
                    "ignored columns and assumed zones are of columns that are fields; one column is read"
                )
            self._names = [column]
            found = _encoding_of(schema, column)
        else:
            if encoding not in (None, "protobuf"):
                raise ContractError("columns that are fields have no encoding; name the column that holds the records")
            found = "protobuf"
            _among(schema, self._ignore)
            kept = [field for field in schema if field.name not in self._ignore]
            self._names = [field.name for field in kept]
            self._columns = MessageColumns(
                contract.message_type, pa.schema(kept), assume_utc=assume_utc, scalars=contract.scalars
            )
        self.encoding: Final[Encoding] = encoding or found
        # For read(): parts by the place of their first row, and where decoding goes on.
        self._parts: OrderedDict[int, _Rows] = OrderedDict()
        self._starts: list[int] = []
        self._kept = 0
        self._ahead: Iterator[_Rows] | None = None
        self._next = 0

    @property
    def name(self) -> str:
        """The path as it was given."""
        return self.path

    @property
    def rows(self) -> int | None:
        """How many rows there are; None where the file does not say."""
        return self._file.rows

    @property
    def settings(self) -> Mapping[str, Any]:
        """What else than the content decides what records are read."""
        return {
            "column": self._column,
            "ignore": list(self._ignore),
            "assume_utc": self._assume_utc,
            "pyarrow": pa.__version__,
        }

    def identity(self) -> str:
        """SHA-256 (hex) of the content."""
        return file_sha256(self.path)

    def state(self) -> tuple[int, ...]:
        """Size in bytes and time of modification in nanoseconds."""
        status = os.stat(self.path)
        return status.st_size, status.st_mtime_ns

    def records(self) -> Iterator[Record]:
        """All rows, in order. The offset of a place is the row's, from 0. Raises OSError."""
        row = 0
        for part in self._rows_from(0):
            for raw in part:
                size = 0 if isinstance(raw, Refusal) else len(raw)
                yield Record(Place(self.path, row + 1, row, self.unit), raw, self.encoding, size)
                row += 1

    def read(self, offset: int, size: int) -> bytes:
        """The record of row ``offset``, from 0; empty for a row that is refused or not there. Raises OSError.

        Reading forwards goes on where the last call ended; any other row is decoded from the start of its row group
        (Parquet) or batch (IPC file), unless it is among the parts that are kept.
        """
        del size  # a row knows its own
        while True:
            at = bisect_right(self._starts, offset) - 1
            if at >= 0:
                start = self._starts[at]
                rows = self._parts[start]
                if offset < start + len(rows):
                    self._parts.move_to_end(start)
                    raw = rows[offset - start]
                    return b"" if isinstance(raw, Refusal) else raw
            with _readable(self.path):
                group = self._file.group_of(offset)
            if self._ahead is None or not group <= self._next <= offset:
                self._ahead, self._next = self._rows_from(group), group
            part = next(self._ahead, None)
            if part is None:
                self._ahead = None
                return b""
            self._keep(part)

    def __reduce__(self) -> tuple[Any, ...]:
        encoding = None if self._column is None else self.encoding
        return _rebuild, (self.path, self._contract, self._column, encoding, self._ignore, self._assume_utc)

    # -- parts

    def _rows_from(self, group: int) -> Iterator[_Rows]:
        """The records from the row ``group`` on, which starts a row group or batch, part by part."""
        batches = self._file.batches(group, self._names)
        while True:
            with _readable(self.path):
                batch = next(batches, None)
            if batch is None:
                return
            yield self._decode(batch)

    def _decode(self, batch: pa.RecordBatch) -> _Rows:
        if self._columns is not None:
            return [
                found if isinstance(found, Refusal) else found.SerializePartialToString(deterministic=True)
                for found in self._columns.messages(batch)
            ]
        stored = kinds.stored_values(batch.column(0))
        # Text is taken as bytes: what is no UTF-8 is one record's fault.
        raws = (stored.cast(pa.large_binary()) if kinds.is_text(stored.type) else stored).to_pylist()
        return [Refusal("wire.null", "no value; expected a message") if raw is None else raw for raw in raws]

    def _keep(self, part: _Rows) -> None:
        start = self._next
        self._next += len(part)
        if start in self._parts or not part:
            return
        self._parts[start] = part
        insort(self._starts, start)
        self._kept += _size(part)
        # The newest stays in any case: somebody is about to read it.
        while self._kept > _KEPT and len(self._parts) > 1:
            oldest, rows = self._parts.popitem(last=False)
            self._starts.remove(oldest)
            self._kept -= _size(rows)


def _rebuild(
    path: str,
    contract: Contract[Any],
    column: str | None,
    encoding: Encoding | None,
    ignore: tuple[str, ...],
    assume_utc: bool,
) -> ArrowSource:
    return ArrowSource(path, contract, column=column, encoding=encoding, ignore=ignore, assume_utc=assume_utc)


def _size(part: _Rows) -> int:
    return sum(len(raw) for raw in part if not isinstance(raw, Refusal))


def _encoding_of(schema: pa.Schema, column: str) -> Encoding:
    """How the records of a column are written, by its type."""
    _among(schema, [column])
    kind = schema.field(column).type
    stored = kinds.stored_type(kind)
    if kinds.is_text(stored):
        return "json"
    if kinds.is_binary(stored) or pa.types.is_null(stored):
        return "protobuf"
    raise ContractError(f"column {column!r} is {kind}; expected binary or string, a serialised record in each row")


def _among(schema: pa.Schema, names: Iterable[str]) -> None:
    for name in names:
        found = schema.names.count(name)
        if found != 1:
            what = "no column" if not found else f"{found} columns"
            raise ContractError(f"{what} named {name!r}; the file has {', '.join(schema.names) or 'none'}")


@contextmanager
def _readable(path: str) -> Iterator[None]:
    """Turns whatever Arrow says of a file into an OSError with the file's name."""
    try:
        yield
    except OSError as error:
        if error.filename is not None:
            raise
        raise OSError(errno.EINVAL, "cannot be read as Parquet or Arrow", path) from error
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise OSError(errno.EINVAL, "cannot be read as Parquet or Arrow", path) from error
