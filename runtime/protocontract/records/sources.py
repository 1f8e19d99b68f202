"""Sources: files that can be read at any place, and whatever else a user iterates over."""

from __future__ import annotations

import glob
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol, TypeAlias, runtime_checkable

from google.protobuf.message import Message

from protocontract._files import file_sha256
from protocontract.contract import Contract, Encoding
from protocontract.extras import missing_extra
from protocontract.records.reading import FileEncoding, encoding_of, is_arrow, locate_lines, locate_messages
from protocontract.violations import ContractError, Refusal

#: What an iterable of a user's may yield: bytes in the source's encoding, a message, or JSON as text or as a mapping.
Item: TypeAlias = "bytes | Message | str | Mapping[str, Any]"

_CHUNK: Final = 1 << 20


class Place(NamedTuple):
    """Where a record stands: what a person needs to find it."""

    source: str
    #: From 1. In a file of JSON lines it is the line's.
    number: int
    #: In bytes from the start of a file, in rows from that of a table; None where the source is no file.
    offset: int | None = None
    unit: str = "record"

    def __str__(self) -> str:
        where = "" if self.offset is None or self.unit == "row" else f" (byte {self.offset})"
        return f"{self.source} {self.unit} {self.number}{where}"


class Record(NamedTuple):
    """A record as a source gives it. ``raw`` is a Refusal where the source cannot even tell it from its neighbours."""

    place: Place
    raw: bytes | Refusal
    encoding: Encoding
    #: Bytes that it takes in its file; what ``FileLike.read`` needs beside the offset.
    size: int = 0


class Source(Protocol):
    """Something that gives the same records in the same order, however often it is iterated over."""

    @property
    def name(self) -> str:
        """What places and reports call it."""
        ...

    def records(self) -> Iterator[Record]:
        """All records, in order. Raises OSError."""
        ...


@runtime_checkable
class FileLike(Source, Protocol):
    """A source that knows its content and finds a record again by its place. It pickles by path."""

    @property
    def encoding(self) -> Encoding:
        """How its records are written."""
        ...

    @property
    def unit(self) -> str:
        """What a record's number counts: ``record``, ``line`` or ``row``."""
        ...

    def identity(self) -> str:
        """SHA-256 (hex) of the content. Raises OSError."""
        ...

    def state(self) -> tuple[int, ...]:
        """What changes when the content does, and costs nothing to ask: size and time of modification in ns."""
        ...

    def read(self, offset: int, size: int) -> bytes:
        """The record at a place that ``records`` gave. Raises OSError."""
        ...


class FileSource:
    """A file of JSON lines or of length-delimited protobuf messages."""

    def __init__(self, path: str | os.PathLike[str], encoding: FileEncoding | None = None) -> None:
        """``encoding``: by default the file's ending says. Raises ValueError where it does not."""
        self._descriptor: int | None = None
        #: The path as it was given.
        self.path: Final = os.fspath(path)
        self.name: Final = self.path
        found = encoding or encoding_of(self.path)
        if found is None:
            raise ValueError(
                f"cannot tell how the records of {self.path} are written; expected encoding= json or protobuf"
            )
        self.encoding: Final[FileEncoding] = found
        self.unit: Final = "line" if found == "json" else "record"

    def identity(self) -> str:
        """SHA-256 (hex) of the content."""
        return file_sha256(self.path)

    def state(self) -> tuple[int, ...]:
        """Size in bytes and time of modification in nanoseconds."""
        status = os.stat(self.path)
        return status.st_size, status.st_mtime_ns

    def records(self) -> Iterator[Record]:
        """All records, in order."""
        with open(self.path, "rb") as stream:
            for found in locate_lines(stream) if self.encoding == "json" else locate_messages(stream):
                place = Place(self.path, found.number, found.offset, self.unit)
                yield Record(place, found.raw, self.encoding, found.size)

    def read(self, offset: int, size: int) -> bytes:
        """The bytes at a place. The file stays open; positioned reads disturb no process that shares it."""
        if self._descriptor is None:
            self._descriptor = os.open(self.path, os.O_RDONLY)
        raw = os.pread(self._descriptor, size, offset)
        while len(raw) < size and (more := os.pread(self._descriptor, size - len(raw), offset + len(raw))):
            raw += more
        return raw

    def __reduce__(self) -> tuple[Any, ...]:
        return FileSource, (self.path, self.encoding)

    def __del__(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


class IterableSource:
    """Anything that yields records: a list, an object with ``__iter__``, or a function that makes an iterator.

    It must give the same items in the same order each time: every worker of every rank iterates over it. Items are
    bytes in ``encoding``, messages, JSON texts, or mappings that JSON can hold.
    """

    def __init__(
        self,
        items: Iterable[Item] | Callable[[], Iterable[Item]],
        *,
        encoding: Encoding = "protobuf",
        name: str = "iterable",
    ) -> None:
        """Raises TypeError for an iterator or a generator: that can be read once only."""
        if isinstance(items, Iterator):
            raise TypeError(
                "an iterator can be read once; expected a list, another collection, or a function that makes iterators"
            )
        self.name: Final = name
        self._items: Final = items
        self._encoding: Final[Encoding] = encoding

    def records(self) -> Iterator[Record]:
        """All items, each as bytes. Raises TypeError for an item of another type; it says which."""
        items = self._items() if callable(self._items) else self._items
        for number, item in enumerate(items, start=1):
            place = Place(self.name, number)
            if isinstance(item, bytes):
                yield Record(place, item, self._encoding)
            elif isinstance(item, Message):
                yield Record(place, item.SerializePartialToString(deterministic=True), "protobuf")
            elif isinstance(item, str):
                yield Record(place, item.encode("utf-8", "surrogatepass"), "json")
            elif isinstance(item, Mapping):
                yield Record(place, _json(item, place), "json")
            else:
                raise TypeError(f"{place}: expected bytes, a message, a text or a mapping, got {type(item).__name__}")


def open_source(
    path: str | os.PathLike[str],
    encoding: FileEncoding | None = None,
    contract: Contract[Any] | None = None,
    **columns: Any,
) -> FileLike:
    """The source of a file, by its ending or by ``encoding``.

    Parquet and Arrow files need the contract that their columns are read for; ``columns`` are the further arguments of
    ``ArrowSource``. Raises ValueError where nothing says how to read the file or it has no columns, MissingExtra
    without pyarrow; OSError and ContractError as ``ArrowSource`` does.
    """
    if contract is None or not is_arrow(os.fspath(path)):
        if any(columns.values()):
            raise ValueError(f"{os.fspath(path)} has no columns; {', '.join(columns)} are of Parquet and Arrow files")
        return FileSource(path, encoding)
    try:
        from protocontract.records.arrow_source import ArrowSource
    except ImportError as error:
        raise missing_extra("reading Parquet and Arrow files", error) or error from error

    return ArrowSource(path, contract, encoding=encoding, **columns)


def find_files(patterns: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> list[str]:
    """The files of one or more patterns (``train/*.binpb``, ``**`` for all folders below), sorted by name, each once.

    Raises ContractError for a pattern that matches no file.
    """
    given = [patterns] if isinstance(patterns, str | os.PathLike) else list(patterns)
    found: dict[str, None] = {}
    for pattern in given:
        text = os.fspath(pattern)
        matched = (
            [text]
            if Path(text).is_file()
            else [name for name in glob.glob(text, recursive=True) if Path(name).is_file()]
        )
        if not matched:
            raise ContractError(f"no file matches {text}")
        found.update(dict.fromkeys(matched))
    if not found:
        raise ContractError("no file was given")
    return sorted(found)


def _json(item: Mapping[str, Any], place: Place) -> bytes:
    try:
        return json.dumps(item, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    except (TypeError, ValueError) as error:
        # The error's own text can quote the value.
        raise TypeError(f"{place}: expected a mapping that JSON can hold ({type(error).__name__})") from None
