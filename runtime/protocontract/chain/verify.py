"""Verifying: whether a log is the chain that was written, and where it first is not.

That proves linkage, and only that: no step was changed, moved, removed or added since. It does not prove that what the
steps tell is true. Without a key whoever can write the file can make another chain that holds together.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final

from protocontract.chain.anchors import Anchor
from protocontract.chain.steps import (
    OF_REQUESTS,
    BrokenEntry,
    Entry,
    EvidenceError,
    Key,
    Step,
    entries,
    is_whole,
    lines_of,
    mac_of,
)

#: How many requests that did not end, or have gaps, are named.
_NAMED: Final = 16


@dataclass(frozen=True, slots=True)
class Problem:
    """The first thing that does not hold: the place of the entry from 0, its line in the file from 1, and why."""

    position: int
    line: int
    reason: str

    def __str__(self) -> str:
        return f"position {self.position} (line {self.line}): {self.reason}"


@dataclass(slots=True)
class Verification:
    """What was found. ``problem`` is None where everything holds."""

    problem: Problem | None = None
    entries: int = 0
    chain: str | None = None
    head: str | None = None
    #: Requests with all their steps, those that were ended as failed, and those that lack steps.
    closed: int = 0
    failed: int = 0
    gaps: int = 0
    #: Steps and anchors that the log itself says were lost, stretches that a crash left, and how often it was opened.
    lost: int = 0
    lost_anchors: int = 0
    torn: int = 0
    begun: int = 0
    #: Requests without an end, in the order in which they began; at most 16 are kept of ``open_count``.
    open_requests: tuple[str, ...] = ()
    open_count: int = 0
    ended: bool = False
    #: The id of the log's key, whether HMACs were checked, how many anchors, and the length that the longest covers.
    key: str | None = None
    key_checked: bool = False
    anchors: int = 0
    anchored: int = 0

    @property
    def ok(self) -> bool:
        """Whether the chain holds."""
        return self.problem is None


@dataclass(slots=True)
class _Requests:
    """The records of requests: which step each must go on from."""

    #: Hash of the last step of each record that is open -> its step, and whether a step is missing.
    open: dict[str, tuple[Step, bool]] = field(default_factory=dict[str, tuple[Step, bool]])

    def add(self, entry: Entry, found: Verification) -> str | None:
        """Take a step; returns what is wrong with it."""
        step = entry.step
        gap = step.index > 0
        if step.parent is not None:
            before, gap = self.open.pop(step.parent, (None, False))
            if before is None or before.request != step.request:
                return "it does not go on from an open step of its request"
            if step.index <= before.index:
                return f"it is step {step.index} of its request; expected one after {before.index}"
            gap = gap or step.index > before.index + 1
        if step.kind == "stage":
            self.open[entry.hash] = (step, gap)
            return None
        gap = gap or bool(step.facts.get("lost"))
        found.gaps += gap
        if step.kind == "close":
            found.closed += 1
        else:
            found.failed += 1
        return None


def verify(
    path: str | Path, *, key: Key | None = None, anchors: Iterable[Anchor] = (), require_end: bool = True
) -> Verification:
    """Verify a log from its first entry to its last; it stops at the first problem.

    Without ``require_end`` a log whose last step is no end step holds too: it is still being written, or its tail was
    cut off. Raises OSError, and EvidenceError for an empty file.
    """
    with open(path, "rb") as file:
        return _Verifier(key, anchors, require_end).run(file)


def verify_record(lines: Iterable[str | bytes], *, key: Key | None = None) -> Step:
    """Verify the steps of one request (``Record.lines``), and return the last one. Raises BrokenEntry.

    They must be whole: each the step after the one before, from the first to the one that closes the request.
    """
    before: Entry | None = None
    for number, line in enumerate(lines):
        entry = Entry.parse(line.encode() if isinstance(line, str) else line)
        reason = _key_problem(entry, key)
        step = entry.step
        if step.kind not in OF_REQUESTS:
            reason = "it is a step of the log, not of a request"
        elif step.index != number:
            reason = f"it is step {step.index} of its request"
        elif step.parent != (before.hash if before else None):
            reason = "it does not go on from the step before"
        elif before is not None and (step.request != before.step.request or before.step.kind != "stage"):
            reason = "it is a step of another record"
        if reason:
            raise BrokenEntry(f"position {number}: {reason}")
        before = entry
    if before is None or before.step.kind != "close":
        raise BrokenEntry("the record has no close step; expected it to be whole")
    return before.step


class _Torn:
    """A stretch of lines that are no entries, from the line ``line``."""

    def __init__(self, line: int, reason: str) -> None:
        self.line = line
        self.reason = reason
        self._bytes = 0
        self._hash = hashlib.sha256()
        self._end = b""

    def add(self, line: bytes) -> None:
        held = self._end + line
        # The last line end is that of the writer who went on.
        self._end = b"\n" if held.endswith(b"\n") else b""
        held = held.removesuffix(b"\n")
        self._bytes += len(held)
        self._hash.update(held)

    def told(self, step: Step) -> bool:
        """Whether a step is the one that tells of just these bytes."""
        said = step.facts.get("bytes"), step.facts.get("sha256")
        return step.kind == "torn" and said == (self._bytes, self._hash.hexdigest())


class _Verifier:
    def __init__(self, key: Key | None, anchors: Iterable[Anchor], require_end: bool) -> None:
        self._key = key
        self._require_end = require_end
        self._found = Verification()
        self._requests = _Requests()
        self._anchors: dict[int, list[Anchor]] = {}
        for anchor in anchors:
            self._anchors.setdefault(anchor.length, []).append(anchor)
        self._keyed = False
        self._last: Step | None = None

    def run(self, file: BinaryIO) -> Verification:
        found = self._found
        number = 0
        torn: _Torn | None = None
        for number, line in lines_of(file):
            try:
                entry = Entry.parse(line.removesuffix(b"\n"))
            except BrokenEntry as error:
                # Perhaps a crash left it: then a torn step follows that says so.
                torn = torn or _Torn(number, str(error))
                torn.add(line)
                if is_whole(line):
                    break
                continue
            if torn:
                if not torn.told(entry.step):
                    break
                torn = None
                found.torn += 1
            elif entry.step.kind == "torn":
                return self._stop(number, "a torn step without anything torn before it")
            reason = self._entry(entry)
            if reason:
                return self._stop(number, reason)
        if torn:
            return self._stop(torn.line, torn.reason)
        if not found.entries:
            raise EvidenceError("the file holds no entry; expected an evidence log")
        return self._end(number)

    def _entry(self, entry: Entry) -> str | None:
        """Take an entry; returns what is wrong with it."""
        found, step = self._found, entry.step
        if step.sequence != found.entries:
            return f"it has sequence number {step.sequence}; expected {found.entries}"
        if step.previous != found.head:
            return "it does not go on from the entry before"
        if found.entries == 0:
            if step.kind not in ("begin", "torn"):
                return f"the log begins with a {step.kind} step; expected begin"
            self._keyed = entry.mac is not None
        if (entry.mac is not None) != self._keyed:
            return "it has an HMAC, and others have none" if entry.mac else "it has no HMAC, and others have one"
        reason = _key_problem(entry, self._key)
        if reason:
            return reason
        if self._last is not None and self._last.kind == "end" and step.kind not in ("begin", "torn"):
            return f"a {step.kind} step after the end; expected begin"
        if step.kind in OF_REQUESTS:
            reason = self._requests.add(entry, found)
            if reason:
                return reason
        elif step.kind == "begin":
            found.begun += 1
            stated = step.facts.get("key")
            found.key = stated if isinstance(stated, str) else None
        elif step.kind == "gap":
            found.lost += _count(step, "steps")
            found.lost_anchors += _count(step, "anchors")
        found.chain = found.chain or entry.hash
        for anchor in self._anchors.pop(found.entries + 1, ()):
            reason = self._anchor(anchor, entry)
            if reason:
                return reason
        found.head = entry.hash
        found.entries += 1
        self._last = step
        return None

    def _anchor(self, anchor: Anchor, entry: Entry) -> str | None:
        found = self._found
        reason = self._anchor_key(anchor)
        if reason:
            return reason
        if anchor.chain != found.chain:
            return "an anchor is one of another log"
        if anchor.head != entry.hash:
            return "an anchor has another hash here"
        found.anchors += 1
        found.anchored = max(found.anchored, anchor.length)
        return None

    def _anchor_key(self, anchor: Anchor) -> str | None:
        if self._key is not None and anchor.signed(self._key).mac != anchor.mac:
            return "an anchor was not made with the key"
        return None

    def _end(self, number: int) -> Verification:
        found = self._found
        if self._anchors:
            longest = max(self._anchors)
            return self._stop(
                number + 1,
                f"the log has {found.entries:,} entries, and an anchor says {longest:,}: its tail was cut off",
            )
        found.ended = self._last is not None and self._last.kind == "end"
        covered = found.anchors and found.anchored == found.entries
        if self._require_end and not found.ended and not covered:
            return self._stop(
                number + 1, "no end step: the tail was cut off, or the log is still being written (--open)"
            )
        return self._finish()

    def _stop(self, line: int, reason: str) -> Verification:
        self._found.problem = Problem(self._found.entries, line, reason)
        return self._finish()

    def _finish(self) -> Verification:
        found = self._found
        # In the order in which they began.
        names = [step.request for step, _ in self._requests.open.values()]
        found.open_requests, found.open_count = tuple(dict.fromkeys(names[:_NAMED])), len(names)
        found.key_checked = self._key is not None
        return found


def _key_problem(entry: Entry, key: Key | None) -> str | None:
    if key is None:
        return None
    if entry.mac is None:
        return "it has no HMAC; expected one of the key"
    if mac_of(key, entry.hash) != entry.mac:
        return f"its HMAC is not one of the key {key.id}"
    return None


def _count(step: Step, name: str) -> int:
    value = step.facts.get(name)
    return value if isinstance(value, int) else 0


def records(path: str | Path, request: str | None = None) -> Iterator[tuple[Entry, ...]]:
    """The steps of each record of a log, those of one request where it is named: the closed ones in the order of their
    last steps, then those that have no end. Raises OSError.
    """
    going: dict[str, tuple[Entry, ...]] = {}
    for entry in entries(path):
        step = entry.step
        if step.kind not in OF_REQUESTS or (request is not None and step.request != request):
            continue
        held = (*(going.pop(step.parent, ()) if step.parent else ()), entry)
        if step.kind == "stage":
            going[entry.hash] = held
        else:
            yield held
    yield from going.values()
