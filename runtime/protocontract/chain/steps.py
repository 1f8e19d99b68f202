"""One entry of an evidence log: a step, its hash, and where there is a key its HMAC."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final

from protocontract.chain.canonical import CanonicalError, Value, text, untagged
from protocontract.violations import ContractError

#: The version of the form of a step.
FORM: Final = 1
#: The stages of a request, in their order. Others may be recorded too ("fallback").
STAGES: Final = ("normalize", "validate", "preprocess", "infer", "postprocess")
#: Kinds of steps: those of a request, and the log's own.
OF_REQUESTS: Final = frozenset({"stage", "close", "fail"})
OF_THE_LOG: Final = frozenset({"begin", "torn", "gap", "end"})

#: The fewest bytes of a key: what is shorter can be guessed.
MIN_KEY: Final = 16
#: The most bytes of a line.
MAX_LINE: Final = 1 << 20
#: The environment variable that a key is read from.
KEY_VARIABLE: Final = "PROTOCONTRACT_EVIDENCE_KEY"

_HASH: Final = re.compile(r"[0-9a-f]{64}")


class EvidenceError(ContractError):
    """Evidence that cannot be written or read. The text holds nothing of a request, and nothing of a key."""


class BrokenEntry(EvidenceError):
    """A line that is no entry, or one that was changed."""


class Key:
    """A secret for HMAC-SHA256. It shows itself nowhere; ``id`` tells which one it is."""

    __slots__ = ("_secret", "id")

    def __init__(self, secret: bytes) -> None:
        """Raises EvidenceError for a key of less than 16 bytes."""
        if len(secret) < MIN_KEY:
            raise EvidenceError(f"a key of {len(secret)} bytes; expected at least {MIN_KEY}")
        self._secret: Final = secret
        self.id: Final = self.mac("key id", b"")[:16]

    def mac(self, what: str, data: bytes) -> str:
        """The HMAC-SHA256 (hex) of ``data``, for one purpose."""
        return hmac.new(self._secret, f"protocontract evidence {what} {FORM}\n".encode() + data, "sha256").hexdigest()

    def __repr__(self) -> str:
        return f"Key({self.id})"

    @classmethod
    def read(cls, path: str | Path) -> Key:
        """The key in a file: its bytes, without a line end behind them. Raises OSError, EvidenceError."""
        return cls(Path(path).read_bytes().rstrip(b"\r\n"))

    @classmethod
    def from_environment(cls, variable: str = KEY_VARIABLE) -> Key | None:
        """The key in an environment variable; None where it is not set. Raises EvidenceError."""
        secret = os.environ.get(variable)
        return cls(os.fsencode(secret)) if secret else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What was done. Hashes are SHA-256 in lower-case hex, times nanoseconds (``at`` since 1970)."""

    #: Its place in the log, from 0, and the hash of the step before it there (None for the first).
    sequence: int
    previous: str | None
    kind: str
    at: int
    #: The request, the place among its steps, and the hash of its step before. The log's own steps have none.
    request: str = ""
    index: int = 0
    parent: str | None = None
    #: A stage: its name, ``module:function``, the version of that, how long it took.
    name: str = ""
    module: str = ""
    version: str = ""
    nanoseconds: int = 0
    #: What went in and what came out: the request's own rows, before padding and after splitting.
    digest_in: str | None = None
    digest_out: str | None = None
    #: What else is known: batch size, padding, provider, model hash.
    facts: Mapping[str, Value] = field(default_factory=dict[str, Value])

    def canonical(self) -> str:
        """The canonical text that is hashed. Raises CanonicalError."""
        return text({"form": FORM, **{name: getattr(self, name) for name in self.__slots__}})


@dataclass(frozen=True, slots=True)
class Entry:
    """A step with its hash: SHA-256 of the line ``protocontract evidence step 1``, ended by LF, and its text."""

    step: Step
    hash: str
    #: HMAC of the hash; None in a log without a key.
    mac: str | None
    #: The line of the log, without its end.
    line: bytes

    @classmethod
    def of(cls, step: Step, key: Key | None = None) -> Entry:
        """The entry of a step. Raises CanonicalError, and EvidenceError where it is too long."""
        written = step.canonical()
        found = hash_of(written)
        mac = None if key is None else mac_of(key, found)
        line = _line(written, found, mac)
        if len(line) > MAX_LINE:
            raise EvidenceError(f"a step of {len(line):,} bytes; expected at most {MAX_LINE:,}")
        return cls(step, found, mac, line)

    @classmethod
    def parse(cls, line: bytes) -> Entry:
        """The entry that a line holds, byte for byte, with the right hash. Raises BrokenEntry."""
        try:
            outer = json.loads(line)
        except (ValueError, RecursionError):
            raise BrokenEntry("no entry; expected JSON") from None
        if not isinstance(outer, dict) or outer.keys() - {"mac"} != {"hash", "step"}:
            raise BrokenEntry("no entry; expected hash and step")
        try:
            held = untagged(outer["step"])
            written = text(held)
        except (CanonicalError, RecursionError):
            raise BrokenEntry("the step is not in canonical form") from None
        if _line(written, outer["hash"], outer.get("mac")) != line:
            raise BrokenEntry("the line is not in canonical form")
        if hash_of(written) != outer["hash"]:
            raise BrokenEntry("the step does not have its hash: it was changed")
        return cls(_step(held), outer["hash"], outer.get("mac"), line)


def lines_of(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """The lines of a log with their numbers from 1. One that is too long for an entry comes in parts."""
    number = 0
    while line := file.readline(2 * MAX_LINE):
        number += 1
        yield number, line


def entries(path: str | Path) -> Iterator[Entry]:
    """The entries of a log, each with the right hash of its own; what is torn is passed over. Raises OSError."""
    with open(path, "rb") as file:
        for _, line in lines_of(file):
            try:
                yield Entry.parse(line.removesuffix(b"\n"))
            except BrokenEntry:
                continue


def is_whole(line: bytes) -> bool:
    """Whether a line that is no entry is a whole object of JSON: somebody wrote it so. A crash leaves less."""
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def hash_of(written: str) -> str:
    """The hash of a step, given its canonical text."""
    return hashlib.sha256(f"protocontract evidence step {FORM}\n{written}".encode()).hexdigest()


def mac_of(key: Key, found: str) -> str:
    """The HMAC of a step, given its hash."""
    return key.mac("step", found.encode())


def _line(written: str, found: object, mac: object) -> bytes:
    if not isinstance(found, str) or not _HASH.fullmatch(found):
        raise BrokenEntry("no entry; expected a hash of 64 hex digits")
    if mac is None:
        return f'{{"hash":"{found}","step":{written}}}'.encode()
    if not isinstance(mac, str) or not _HASH.fullmatch(mac):
        raise BrokenEntry("no entry; expected an HMAC of 64 hex digits")
    return f'{{"hash":"{found}","mac":"{mac}","step":{written}}}'.encode()


def is_hash(value: object) -> bool:
    """Whether a value is a SHA-256 in lower-case hex, or None."""
    return value is None or (isinstance(value, str) and _HASH.fullmatch(value) is not None)


def is_count(value: object) -> bool:
    """Whether a value is an integer from 0."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_kind(value: object) -> bool:
    return isinstance(value, str) and (value in OF_REQUESTS or value in OF_THE_LOG)


def _is_map(value: object) -> bool:
    return isinstance(value, dict)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


_FIELDS: Final[dict[str, Callable[[object], bool]]] = {
    "sequence": is_count,
    "previous": is_hash,
    "kind": _is_kind,
    "at": is_count,
    "request": _is_text,
    "index": is_count,
    "parent": is_hash,
    "name": _is_text,
    "module": _is_text,
    "version": _is_text,
    "nanoseconds": is_count,
    "digest_in": is_hash,
    "digest_out": is_hash,
    "facts": _is_map,
}


def _step(held: Any) -> Step:
    if not isinstance(held, dict) or held.get("form") != FORM:
        raise BrokenEntry(f"the step has another form; expected form {FORM}")
    rest = {name: value for name, value in held.items() if name != "form"}
    for name, fits in _FIELDS.items():
        if name not in rest or not fits(rest[name]):
            raise BrokenEntry(f"the step has no {name} as expected")
    if rest.keys() != _FIELDS.keys():
        raise BrokenEntry("the step has fields that nobody knows")
    return Step(**rest)
