"""Anchors: how long a log was and what its last hash was, told to somebody outside of it.

A log whose last steps were cut off holds together as before. It does not fit an anchor that was made later.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from protocontract.chain.canonical import CanonicalError, parse, text
from protocontract.chain.steps import EvidenceError, Key, is_count, is_hash


@dataclass(frozen=True, slots=True)
class Anchor:
    """``length`` entries of the chain that begins with the entry ``chain`` end with the entry ``head`` (hashes)."""

    chain: str
    length: int
    head: str
    #: Nanoseconds since 1970.
    at: int
    #: HMAC of the rest; None in a log without a key.
    mac: str | None = None

    def signed(self, key: Key | None) -> Anchor:
        """The same with the HMAC of a key."""
        mac = None if key is None else key.mac("anchor", self._told().encode())
        return Anchor(self.chain, self.length, self.head, self.at, mac)

    def line(self) -> str:
        """The anchor in canonical form, without a line end."""
        return text({**self._held(), "mac": self.mac})

    @classmethod
    def parse(cls, line: str) -> Anchor:
        """The anchor in a line. Raises EvidenceError."""
        try:
            held = parse(line)
        except CanonicalError:
            held = None
        if not isinstance(held, dict) or held.keys() != set(cls.__slots__):
            raise EvidenceError("no anchor; expected chain, length, head, at and mac in canonical form")
        chain, head, mac, length, at = (held[name] for name in ("chain", "head", "mac", "length", "at"))
        if not (
            isinstance(chain, str) and isinstance(head, str) and (mac is None or isinstance(mac, str))
            and is_hash(chain) and is_hash(head) and is_hash(mac) and is_count(at)
            and isinstance(length, int) and isinstance(at, int) and is_count(length) and length > 0
        ):  # fmt: skip
            raise EvidenceError("no anchor; expected hashes, a length and a time")
        return cls(chain, length, head, at, mac)

    def _held(self) -> dict[str, str | int]:
        return {"chain": self.chain, "length": self.length, "head": self.head, "at": self.at}

    def _told(self) -> str:
        return text(self._held())


def anchor_file(path: str | Path) -> Callable[[Anchor], None]:
    """Appends anchors to a file, a line each, forced to the disk. Keep it where who writes the log cannot write."""
    target: Final = Path(path)

    def append(anchor: Anchor) -> None:
        line = f"{anchor.line()}\n".encode()
        with target.open("ab+", buffering=0) as file:
            if file.tell():
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":
                    # Half a line of a process that was killed must not spoil this one.
                    line = b"\n" + line
            while line:
                line = line[file.write(line) or 0 :]
            os.fsync(file.fileno())

    return append


def read_anchors(path: str | Path) -> Iterator[Anchor]:
    """The anchors of a file. Half a line is passed over: its process was killed. Raises OSError, EvidenceError."""
    lines = Path(path).read_bytes().split(b"\n")
    found = 0
    for line in lines:
        try:
            anchor = Anchor.parse(line.decode())
        except (EvidenceError, UnicodeDecodeError):
            continue
        found += 1
        yield anchor
    if not found:
        raise EvidenceError(f"{Path(path).name} holds no anchor; expected the file that the log's anchors go to")
