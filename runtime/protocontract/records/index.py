"""The verdict index of a file: where each record stands and which rules it breaks, found in one pass and kept.

An index is a file of its own in a cache folder. Its name and its first line say what it is of: the SHA-256 of the data
file's content, the contract's fingerprint, how records were read, and the versions of all that verdicts depend on. It
ends in the SHA-256 of all that stands before. One that is torn, or of something else, is made again; it is written
aside and renamed, so that processes which make it at the same time do not disturb each other; on one machine only one
does, and the others wait. It is read by mapping it into memory, so workers share it and none gets a copy.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import logging
import mmap
import os
import sys
import tempfile
import time
from array import array
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Final, Literal

import google.protobuf

from protocontract.evidence import data_versions
from protocontract.records.counts import broken_rules
from protocontract.records.judge import Judge
from protocontract.records.sources import FileLike, Place, Record
from protocontract.violations import ContractError, Refusal

_LOG: Final = logging.getLogger("protocontract.records")

#: The form of index files. It counts on, too, where verdicts change under the same versions: 2 reads an enum's codes
#: and aliases in columns of texts.
FORMAT: Final = 2
# Type codes of the columns, in the order in which they stand: 8-byte integers, and the place of a verdict's rules in
# the header's table.
_COLUMNS: Final[dict[str, Literal["Q", "I"]]] = {
    "offset": "Q",
    "size": "Q",
    "number": "Q",
    "verdict": "I",
    "valid": "Q",
}
_DIGEST: Final = hashlib.sha256().digest_size


class VerdictIndex:
    """The records of one file. Records are counted from 0 in the order of the file, valid ones among themselves too."""

    def __init__(self, path: Path, source: FileLike, state: tuple[int, ...]) -> None:
        """Map an index file that ``open_index`` made. Raises ContractError where it is torn or gone."""
        self.path: Final = path
        self.source: Final = source
        self._state: Final = state
        try:
            with open(path, "rb") as stream:
                self._map = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:  # ValueError: an empty file cannot be mapped
            raise ContractError(f"cannot read the index {path} ({type(error).__name__})") from error
        header = self._map.readline()
        try:
            described = json.loads(header)
            counts = {"valid": int(described["valid"])}
            records = int(described["records"])
            #: What the index is of; see ``_key``.
            self.key: Final[dict[str, Any]] = described["key"]
            #: The rules of each verdict; the first, of a valid record, has none.
            self.rules: Final = tuple(tuple(map(str, rules)) for rules in described["rules"])
            #: Records that the source refused to give: what it said of each.
            self._refusals: Final = {
                int(record): Refusal(str(rule_id), str(message))
                for record, (rule_id, message) in described["refusals"].items()
            }
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ContractError(f"{path} is no index of verdicts") from error
        columns: dict[str, Sequence[int]] = {}
        view, place = memoryview(self._map), len(header)
        for name, code in _COLUMNS.items():
            end = place + array(code).itemsize * counts.get(name, records)
            if end + _DIGEST > len(view):
                raise ContractError(f"{path} is shorter than an index of {records} records")
            # A view of nothing cannot be cast.
            columns[name] = view[place:end].cast(code) if end > place else array(code)
            place = end
        if place + _DIGEST != len(view):
            raise ContractError(f"{path} is longer than an index of {records} records")
        self._offset, self._size, self._number, self._verdict, self._valid = columns.values()

    def __len__(self) -> int:
        """How many records the file has, good and bad."""
        return len(self._offset)

    @property
    def valid(self) -> Sequence[int]:
        """The records that keep the contract, in order."""
        return self._valid

    @property
    def sha256(self) -> str:
        """The SHA-256 of the file's content, in hex."""
        return str(self.key["sha256"])

    def broken(self, start: int, stop: int) -> Iterator[int]:
        """The records of a range that break the contract, in order."""
        verdicts = self._verdict
        return (record for record in range(start, stop) if verdicts[record])

    def rules_of(self, record: int) -> tuple[str, ...]:
        """The rules that a record breaks (``rule_label``); none where it keeps the contract."""
        return self.rules[self._verdict[record]]

    def place(self, record: int) -> Place:
        """Where a record stands."""
        return Place(self.source.name, self._number[record], self._offset[record], self.source.unit)

    def record(self, record: int) -> Record:
        """A record as the source gave it. Raises OSError; ``check`` says whether the file is still the same."""
        return Record(self.place(record), self.raw(record), self.source.encoding, self._size[record])

    def raw(self, record: int) -> bytes | Refusal:
        """A record's bytes, or the source's refusal to give them. Raises OSError."""
        if record in self._refusals:
            return self._refusals[record]
        return self.source.read(self._offset[record], self._size[record])

    def check(self) -> None:
        """Raise ContractError where the file is not the one that was indexed: by size and time, which costs little."""
        if self._state != self.source.state():
            raise ContractError(f"{self.source.name} has changed since it was indexed; start again to index it anew")

    def intact(self) -> bool:
        """Whether the file is what was written: all of it is read for that."""
        view = memoryview(self._map)
        return hashlib.sha256(view[:-_DIGEST]).digest() == view[-_DIGEST:]

    def __reduce__(self) -> tuple[Any, ...]:
        return VerdictIndex, (self.path, self.source, self._state)


def default_cache() -> Path:
    """``$XDG_CACHE_HOME/protocontract/verdicts``."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "protocontract" / "verdicts"


def open_index(source: FileLike, judge: Judge, cache: str | os.PathLike[str] | None = None) -> VerdictIndex:
    """The index of a file, from the cache folder (by default ``default_cache()``) or made now.

    The content is hashed each time. Raises OSError for a file that cannot be read, ContractError for one that changes
    meanwhile and for a cache folder that cannot be written.
    """
    state = source.state()
    key = _key(source, judge)
    folder = default_cache() if cache is None else Path(cache)
    rest = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()
    path = folder / f"{key['sha256'][:32]}-{rest[:32]}.verdicts"
    found = _kept(path, source, state, key)
    if found is not None:
        return found
    with _alone(path):
        # Somebody else may have made it meanwhile: the other ranks of a training start at the same moment.
        found = _kept(path, source, state, key)
        if found is not None:
            return found
        started = time.monotonic()
        content = _build(source, judge, key)
        if source.state() != state:
            raise ContractError(f"{source.name} changed while it was indexed")
        _write(path, content)
    found = VerdictIndex(path, source, state)
    _LOG.info(
        "indexed %s: %d records, %d of them bad, in %.1f s",
        source.name, len(found), len(found) - len(found.valid), time.monotonic() - started,
    )  # fmt: skip
    return found


def _kept(path: Path, source: FileLike, state: tuple[int, ...], key: dict[str, Any]) -> VerdictIndex | None:
    """The index that is there, if it is whole and of this file."""
    if not path.exists():
        return None
    try:
        found = VerdictIndex(path, source, state)
        if found.key == key and found.intact():
            return found
        reason = "of something else" if found.key != key else "torn"
    except ContractError as error:
        reason = str(error)
    _LOG.warning("the index of %s is made again: %s", source.name, reason)
    return None


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Within it, no other process of this machine makes the index: it would do the same work for nothing.

    The lock goes with the process that holds it. Where there are no locks, several may work at once: that does no harm.
    """
    with ExitStack() as stack:
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            lock = stack.enter_context(open(path.with_suffix(".lock"), "ab"))
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _key(source: FileLike, judge: Judge) -> dict[str, Any]:
    """All that a verdict depends on."""
    from importlib.metadata import version

    return {
        "format": FORMAT,
        "byteorder": sys.byteorder,
        "sha256": source.identity(),
        "source": type(source).__name__,
        "encoding": source.encoding,
        # How a table's columns are read.
        "settings": dict(getattr(source, "settings", {})),
        "contract": judge.contract.full_name,
        "fingerprint": judge.contract.fingerprint,
        "context": judge.context,
        "now": judge.now,
        "versions": {
            "protocontract": version("protocontract"),
            "protobuf": google.protobuf.__version__,
            **dict(data_versions()),
        },
    }


def _build(source: FileLike, judge: Judge, key: dict[str, Any]) -> list[bytes]:
    """The parts of an index file: one pass over the data."""
    columns = {name: array(code) for name, code in _COLUMNS.items()}
    offset, size, number, verdict, valid = columns.values()
    verdicts: dict[tuple[str, ...], int] = {(): 0}
    refusals: dict[int, tuple[str, str]] = {}
    for place, record in enumerate(source.records()):
        outcome = judge.outcome(record)
        broken = () if outcome.ok else broken_rules(outcome.violations)
        offset.append(record.place.offset or 0)
        size.append(record.size)
        number.append(record.place.number)
        verdict.append(verdicts.setdefault(broken, len(verdicts)))
        if outcome.ok:
            valid.append(place)
        if isinstance(record.raw, Refusal):
            refusals[place] = (record.raw.rule_id, record.raw.message)
    header = {
        "key": key,
        "records": len(offset),
        "valid": len(valid),
        "rules": list(verdicts),
        "refusals": refusals,
    }
    parts = [json.dumps(header, sort_keys=True).encode() + b"\n", *(column.tobytes() for column in columns.values())]
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return [*parts, digest.digest()]


def _write(path: Path, parts: list[bytes]) -> None:
    """Write a file aside and rename it: whoever looks sees all of it or nothing."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, aside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
        try:
            with os.fdopen(descriptor, "wb") as stream:
                for part in parts:
                    stream.write(part)
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(aside, path)
        except BaseException:  # also an interrupt leaves nothing behind
            with suppress(OSError):
                os.unlink(aside)
            raise
    except OSError as error:
        raise ContractError(
            f"cannot write an index of verdicts into {path.parent}: {error.strerror}; give another folder with cache="
        ) from error
