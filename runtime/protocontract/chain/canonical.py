"""The canonical form of plain values, version 1: one text for one value, in any language (docs/evidence.md).

A value is None, a bool, an int of 64 bits, a float, a text, bytes, a list, or a map with texts as keys. It is written
as JSON without any number, since no two languages print numbers alike:

- None, True, False are ``null``, ``true``, ``false``;
- an int is ``"i:"`` and its decimal digits, a float ``"f:"`` and the 16 hex digits of its IEEE 754 double (every NaN is
  ``7ff8000000000000``), a text ``"s:"`` and the text, bytes ``"b:"`` and hex digits;
- lists are arrays; maps are objects whose keys are sorted by their UTF-16 code units.

The JSON itself is that of RFC 8785: no white space, the shortest escapes, everything else as UTF-8.
"""

from __future__ import annotations

import hashlib
import json
import re
import struct
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from protocontract.violations import ContractError

VERSION: Final = 1

#: What can be written down. A tuple counts as a list.
Value: TypeAlias = "bool | int | float | str | bytes | list[Value] | tuple[Value, ...] | Mapping[str, Value] | None"

# Made once: json.dumps would make one for each call.
_encode: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_NAN: Final = "7ff8000000000000"
_INT: Final = re.compile(r"0|-?[1-9][0-9]{0,19}")
_BITS: Final = re.compile(r"[0-9a-f]{16}")
_HEX: Final = re.compile(r"([0-9a-f]{2})*")
_LOW, _HIGH = -(1 << 63), 1 << 64


class CanonicalError(ContractError):
    """A value that has no canonical form, or a text that is none."""


def text(value: Value) -> str:
    """The canonical text of a value. Raises CanonicalError for values of other types, and lone surrogates."""
    return _encode(_tagged(value))


def digest(value: Value) -> str:
    """The SHA-256 (hex) of a value: that of the line ``protocontract value 1``, ended by LF, and its text."""
    return hashlib.sha256(encoded(value)).hexdigest()


def encoded(value: Value) -> bytes:
    """The bytes that ``digest`` hashes. Raises CanonicalError."""
    return f"protocontract value {VERSION}\n{text(value)}".encode()


def parse(written: str) -> Value:
    """The value of a canonical text. Raises CanonicalError for any other text, be it only for a space in it."""
    try:
        value = untagged(json.loads(written))
    except (ValueError, RecursionError) as error:
        raise CanonicalError("no canonical text; expected JSON") from error
    if text(value) != written:
        raise CanonicalError("no canonical text; expected sorted keys, no white space, the shortest escapes")
    return value


def untagged(found: Any) -> Value:
    """The value of what ``json.loads`` makes of a canonical text. Raises CanonicalError."""
    if found is None or isinstance(found, bool):
        return found
    if isinstance(found, list):
        return [untagged(item) for item in found]
    if isinstance(found, dict):
        return {key: untagged(item) for key, item in found.items()}
    if isinstance(found, str):
        tag, rest = found[:2], found[2:]
        if tag == "s:":
            return rest
        if tag == "i:" and _INT.fullmatch(rest) and _LOW <= int(rest) < _HIGH:
            return int(rest)
        if tag == "f:" and _BITS.fullmatch(rest):
            return float(struct.unpack(">d", bytes.fromhex(rest))[0])
        if tag == "b:" and _HEX.fullmatch(rest):
            return bytes.fromhex(rest)
    raise CanonicalError("no canonical text; expected null, true, false, arrays, objects, and texts with a type before")


def _tagged(value: Any) -> Any:
    if isinstance(value, str):
        return f"s:{_checked(value)}"
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        if not _LOW <= value < _HIGH:
            raise CanonicalError("an integer without canonical form; expected one of 64 bits")
        return f"i:{int(value)}"
    if isinstance(value, float):
        return f"f:{_NAN if value != value else struct.pack('>d', value).hex()}"
    if isinstance(value, bytes):
        return f"b:{value.hex()}"
    if isinstance(value, list | tuple):
        return [_tagged(item) for item in value]
    if isinstance(value, Mapping):
        simple = True
        for key in value:
            if not isinstance(key, str):
                raise CanonicalError(f"a map with a key of type {type(key).__name__}; expected texts")
            if not key.isascii():
                _checked(key)
                simple = False
        return {key: _tagged(value[key]) for key in (sorted(value) if simple else sorted(value, key=_utf16))}
    raise CanonicalError(f"a value of type {type(value).__name__} has no canonical form; expected a plain value")


def _utf16(key: str) -> bytes:
    return key.encode("utf-16-be")


def _checked(value: str) -> str:
    if value.isascii():
        return value
    try:
        value.encode()
    except UnicodeEncodeError:
        raise CanonicalError("a text with half a surrogate pair has no canonical form; expected Unicode") from None
    return value
