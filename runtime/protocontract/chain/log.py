"""The log: one append-only file of JSON lines, one chain of hashes, for all requests of a process.

Nothing that is in the file is ever written again or cut off. What a crash or a full disk left of a line stays, and a
``torn`` step behind it says how many bytes these are and what their hash is. Steps that could not be written are told
by a ``gap`` step as soon as one can be. One process has the file at a time: workers have a log each.
"""

from __future__ import annotations

import hashlib
import logging
import os
import stat
import threading
import time
from collections.abc import Callable
from enum import IntEnum
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from protocontract.chain.anchors import Anchor
from protocontract.chain.canonical import Value
from protocontract.chain.steps import MAX_LINE, BrokenEntry, Entry, EvidenceError, Key, Step, entries, is_whole, mac_of
from protocontract.violations import ContractError

if TYPE_CHECKING:
    from protocontract.chain.recorder import Recorder

try:
    import fcntl
except ImportError:  # Windows: nothing keeps two processes apart there but the size of the file.
    fcntl = None  # type: ignore[assignment]

log: Final = logging.getLogger("protocontract.evidence")

#: How many entries there are from one anchor to the next, where nothing else is said.
ANCHOR_EVERY: Final = 256
_FLAGS: Final = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
#: How many requests a gap names.
_NAMED: Final = 16


class Level(IntEnum):
    """``ServiceLevel.evidence``, with its numbers."""

    OFF = 1
    BEST_EFFORT = 2
    REQUIRED = 3

    @classmethod
    def of(cls, declared: int) -> Level:
        """The level that a contract declares; unspecified (0) is OFF."""
        return cls(declared) if declared else cls.OFF


class NotWritten(EvidenceError):
    """A step that could not be written. ``entry`` is there where only forcing it to the disk failed."""

    def __init__(self, message: str, entry: Entry | None) -> None:
        super().__init__(message)
        self.entry: Final = entry


class EvidenceLog:
    """An open log. Threads may append at the same time; each entry has its place in one chain."""

    def __init__(
        self,
        path: str | Path,
        *,
        key: Key | None = None,
        anchor: Callable[[Anchor], None] | None = None,
        anchor_every: int = ANCHOR_EVERY,
        sync: bool = False,
        required: bool = True,
    ) -> None:
        """Open a log, or go on with one. The first entry says that it was opened.

        ``anchor`` is told of each ``anchor_every``-th entry, the first and the last. With ``sync`` each entry is forced
        to the disk, so that it outlives a power failure. Raises EvidenceError where the file is no log, has another
        key, or is open elsewhere; OSError where it cannot be opened. Where the first entry cannot be written, that
        raises too if evidence is ``required``; else it is tried again with each step.
        """
        self.path: Final = Path(path)
        self._key: Final = key
        self._anchor: Final = anchor
        self._every: Final = anchor_every
        self._sync: Final = sync
        self._lock: Final = threading.Lock()
        self._process: Final = os.getpid()
        #: The hash of the first entry, that of the last, and how many there are.
        self.chain: str | None = None
        self.head: str | None = None
        self.length = 0
        #: Bytes at the end of the file that are no entry, and whether the last entry lacks its line end.
        self._torn = b""
        self._unfinished = False
        self._restarted = False
        self._begun = False
        self._ended = False
        # What was lost since the last entry: steps, anchors, and the first requests.
        self._lost = self._lost_anchors = 0
        self._lost_requests: dict[str, None] = {}
        self._descriptor = os.open(self.path, _FLAGS, 0o640)
        try:
            self._regular = stat.S_ISREG(os.fstat(self._descriptor).st_mode)
            self._size = 0
            self._own()
            if self._regular:
                self._resume()
            try:
                self._append([])
            except EvidenceError as error:
                if required:
                    raise
                log.error("%s", error)
        except BaseException:
            os.close(self._descriptor)
            raise

    # ------------------------------------------------------------------------------------------------------------------
    # Appending

    def record(self, request: str, level: Level = Level.REQUIRED) -> Recorder:
        """The steps of one request."""
        from protocontract.chain.recorder import Recorder

        return Recorder(self, request, level)

    def append(self, kind: str, request: str, **held: Any) -> Entry:
        """Append one step and return its entry. Raises EvidenceError where it cannot be written: it is lost then, and
        the next entry is a gap that says so.
        """
        self._check_process()
        try:
            return self._append([{"kind": kind, "request": request, **held}])[-1]
        except Exception as error:
            # Whatever went wrong (disk, a fact without canonical form): the step is not there, and the log must tell.
            self._lose(request, error)
            raise

    def _lose(self, request: str, error: Exception) -> None:
        with self._lock:
            first = not self._lost
            self._lost += 1
            if len(self._lost_requests) < _NAMED:
                self._lost_requests[request] = None
        if first:
            # Once a gap: with a full disk each step of each request would say the same.
            reason = str(error) if isinstance(error, ContractError) else type(error).__name__
            log.error("evidence is lost: %s", reason)

    def close(self) -> None:
        """Append the end step and close the file. Raises EvidenceError where it cannot be written; it is closed then
        too. A log that is closed already stays as it is.
        """
        self._check_process()
        with self._lock:
            if self._ended:
                return
        try:
            self._append([{"kind": "end"}])
        finally:
            with self._lock:
                if not self._ended:
                    self._ended = True
                    os.close(self._descriptor)

    def __enter__(self) -> EvidenceLog:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _append(self, steps: list[dict[str, Any]]) -> list[Entry]:
        anchors: list[Anchor] = []
        with self._lock:
            self._check()
            entries: list[Entry] = []
            head, length = self.head, self.length
            for held in [*self._pending(), *steps]:
                entry = Entry.of(Step(at=time.time_ns(), sequence=length, previous=head, **held), self._key)
                entries.append(entry)
                head, length = entry.hash, length + 1
            anchored = [entry for entry in entries if self._is_anchored(entry.step)]
            # An anchor must not outlive what it stands for.
            self._write(entries, sync=self._sync or bool(anchored))
            for entry in anchored:
                found = Anchor(self.chain or entry.hash, entry.step.sequence + 1, entry.hash, time.time_ns())
                anchors.append(found.signed(self._key))
        # Outside of the lock: an anchor may go over a network, and each says itself where it belongs.
        for anchor in anchors:
            self._tell(anchor)
        return entries

    def _is_anchored(self, step: Step) -> bool:
        return self._anchor is not None and (step.sequence % self._every == 0 or step.kind in ("begin", "end"))

    def _pending(self) -> list[dict[str, Any]]:
        """What has to be said before the next step."""
        found: list[dict[str, Any]] = []
        if self._torn:
            facts: dict[str, Value] = {"bytes": len(self._torn), "sha256": hashlib.sha256(self._torn).hexdigest()}
            found.append({"kind": "torn", "facts": facts})
        if not self._begun:
            # With the nonce no two logs begin alike.
            facts = {"runtime": _version(), "restart": self._restarted, "nonce": os.urandom(16)}
            if self._key is not None:
                facts["key"] = self._key.id
            found.append({"kind": "begin", "facts": facts})
        if self._lost or self._lost_anchors:
            facts = {"steps": self._lost, "anchors": self._lost_anchors, "requests": list(self._lost_requests)}
            found.append({"kind": "gap", "facts": facts})
        return found

    def _write(self, entries: list[Entry], *, sync: bool) -> None:
        """Write entries behind what is there, and note how far that went. Raises EvidenceError."""
        if not entries:
            return
        lead = b"\n" if self._torn or self._unfinished else b""
        data = lead + b"".join(entry.line + b"\n" for entry in entries)
        written = 0
        failure: OSError | None = None
        try:
            while written < len(data):
                written += os.write(self._descriptor, data[written:])
            if sync and self._regular:
                os.fsync(self._descriptor)
        except OSError as error:
            failure = error
        self._size += written
        there = self._settle(entries, data, written, len(lead))
        if failure is None or (there == len(entries) and written < len(data) and not sync):
            # All there; only the line end is missing, which the next one begins with.
            return
        reason = (failure.strerror or type(failure).__name__).lower()
        raise NotWritten(
            f"evidence cannot be written to {self.path.name}: {reason}", entries[-1] if there == len(entries) else None
        ) from failure

    def _settle(self, entries: list[Entry], data: bytes, written: int, start: int) -> int:
        """Take over the entries that are whole in the file, and return how many; what is behind them is torn."""
        if not written:
            return 0
        place = int(self._unfinished)
        there = 0
        self._unfinished = False
        for entry in entries:
            end = start + len(entry.line)
            if written < end:
                break
            there += 1
            self.head, self.length = entry.hash, entry.step.sequence + 1
            self.chain = self.chain or entry.hash
            match entry.step.kind:
                case "torn":
                    self._torn = b""
                case "begin":
                    self._begun = True
                case "gap":
                    self._lost = self._lost_anchors = 0
                    self._lost_requests.clear()
            self._unfinished = written == end
            start = place = end + 1
        self._torn = data[place:written] if place else self._torn + data[:written]
        return there

    def _tell(self, anchor: Anchor) -> None:
        assert self._anchor is not None
        try:
            self._anchor(anchor)
        except Exception as error:  # the user's callback: evidence is written, and the next entry tells of this
            log.error("an anchor of %s could not be set (%s)", self.path.name, type(error).__name__)
            with self._lock:
                self._lost_anchors += 1

    # ------------------------------------------------------------------------------------------------------------------
    # The file

    def _own(self) -> None:
        if fcntl is None or not self._regular:
            return
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise EvidenceError(
                f"{self.path.name} is open already; expected a log of its own for each process"
            ) from None

    def _check_process(self) -> None:
        # Before the lock is asked for: in a fork it may be held for ever, by a thread that is not there.
        if os.getpid() != self._process:
            raise EvidenceError(f"{self.path.name} was opened before a fork; expected a log opened by this process")

    def _check(self) -> None:
        """Raises EvidenceError where what would be written is no part of the chain, or would be nowhere."""
        if self._ended:
            raise EvidenceError(f"{self.path.name} is closed")
        if self._regular:
            now = os.fstat(self._descriptor)
            if now.st_nlink == 0:
                raise EvidenceError(f"{self.path.name} was deleted while it is open; expected it to stay")
            if now.st_size != self._size:
                raise EvidenceError(
                    f"{self.path.name} has {now.st_size:,} bytes; expected {self._size:,}: somebody else wrote to it"
                )

    def _resume(self) -> None:
        """Find the last entry of a file that is there. Raises EvidenceError."""
        self._size = os.fstat(self._descriptor).st_size
        if not self._size:
            return
        self._restarted = True
        begun = b'{"hash":"'
        if not begun.startswith(self._read(len(begun), 0)):
            raise EvidenceError(f"{self.path.name} is no evidence log; expected a new or another file")
        first = next(entries(self.path), None)
        if first is not None:
            self.chain = first.hash
            self._find_last()
        elif self._size <= MAX_LINE:
            # Not even the first entry was finished.
            self._torn = self._read(self._size, 0)
        else:
            raise EvidenceError(f"{self.path.name} is no evidence log; expected a new or another file")
        if self._torn:
            log.warning("%s ends with %d bytes that are no entry: a crash", self.path.name, len(self._torn))

    def _read(self, size: int, offset: int) -> bytes:
        with self.path.open("rb") as file:
            file.seek(offset)
            return file.read(size)

    def _find_last(self) -> None:
        end = self._size
        tail = b""
        start = end
        while start:
            # As far back as is needed: a line is at most MAX_LINE long.
            start = max(0, start - (1 << 16))
            tail = self._read(end - start, start)
            stop = len(tail)
            while stop > 0:
                begin = tail.rfind(b"\n", 0, stop - 1 if tail[stop - 1 : stop] == b"\n" else stop) + 1
                if begin == 0 and start:
                    break
                try:
                    entry = Entry.parse(tail[begin:stop].removesuffix(b"\n"))
                except BrokenEntry:
                    stop = begin
                    continue
                self._continue(entry, tail[stop:], whole=tail[stop - 1 : stop] == b"\n")
                return
        raise EvidenceError(f"{self.path.name} is no evidence log; expected a new or another file")

    def _continue(self, entry: Entry, behind: bytes, *, whole: bool) -> None:
        key = self._key
        if (entry.mac is None) != (key is None):
            state = "has no key" if entry.mac is None else "has a key"
            raise EvidenceError(f"the chain of {self.path.name} {state}; expected it to go on as it began")
        if key is not None and mac_of(key, entry.hash) != entry.mac:
            raise EvidenceError(f"the chain of {self.path.name} has another key than {key.id}")
        if any(is_whole(piece) for piece in behind.split(b"\n")):
            # No crash leaves that.
            raise EvidenceError(f"the last entry of {self.path.name} was changed; verify it, and begin another file")
        self.head, self.length = entry.hash, entry.step.sequence + 1
        self._torn = behind
        self._unfinished = not whole


def _version() -> str:
    try:
        return version("protocontract")
    except PackageNotFoundError:
        return ""
