"""YAML of plain values: block style, in the order in which they come; texts that could be read otherwise are quoted."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

# Plain scalars that no version of YAML reads as anything but this text.
_PLAIN: Final = re.compile(r"[A-Za-z_](?:[A-Za-z0-9_ ./()<>+-]*[A-Za-z0-9_./()<>+-])?")
_WORDS: Final = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf"})


def document(value: Mapping[str, Any]) -> str:
    """The text of a document whose root is a mapping."""
    return "".join(f"{line}\n" for line in _mapping(value))


def _mapping(value: Mapping[str, Any]) -> Iterator[str]:
    for key, item in value.items():
        yield from _entry(f"{_text(key)}:", item)


def _entry(head: str, item: Any) -> Iterator[str]:
    match item:
        case dict() if item:
            yield head
            yield from (f"  {line}" for line in _mapping(item))
        case list() | tuple() if item:
            yield head
            yield from (f"  {line}" for line in _sequence(item))
        case _:
            yield f"{head} {_scalar(item)}"


def _sequence(value: Sequence[Any]) -> Iterator[str]:
    for item in value:
        if isinstance(item, dict) and item:
            lines = list(_mapping(item))
        elif isinstance(item, list | tuple) and item:
            lines = list(_sequence(item))
        else:
            lines = [_scalar(item)]
        yield f"- {lines[0]}"
        yield from (f"  {line}" for line in lines[1:])


def _scalar(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            text = repr(value)
            # YAML 1.1 takes an exponent for one only behind a decimal point.
            return text if "e" not in text or "." in text.partition("e")[0] else text.replace("e", ".0e")
        case str():
            return _text(value)
        case dict():
            return "{}"
    return "[]"


def _text(value: str) -> str:
    if _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    quoted = json.dumps(value, ensure_ascii=False)
    # Escapes of YAML's own: JSON has none for characters beyond the basic plane.
    return "".join(
        char if char.isprintable() else f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"
        for char in quoted
    )
