"""Reads the canonical text of options back into plain values: what prose about rules is written from.

The text is the one of ``descriptors/canonical.py``: ``{string:{min_len:1 <string.min_len "" "…CEL…"> …}}``.
"""

from __future__ import annotations

import json
from typing import TypeAlias

Plain: TypeAlias = "bool | int | float | str | list[Plain] | dict[str, Plain] | None"

_DECODER = json.JSONDecoder()
_ENDS = frozenset(" ,]}>")


def parse(text: str) -> dict[str, Plain]:
    """The options as nested dicts, by field name; an extension's name stands in brackets. Raises ValueError."""
    if not text:
        return {}
    value, end = _value(text, 0)
    if end != len(text) or not isinstance(value, dict):
        raise ValueError("not the canonical text of options")
    return value


def _value(text: str, at: int) -> tuple[Plain, int]:
    if text[at] == "{":
        return _fields(text, at + 1)
    if text[at] == "[":
        return _items(text, at + 1)
    if text[at] == '"':
        string, end = _DECODER.raw_decode(text, at)
        return str(string), end
    end = at
    while end < len(text) and text[end] not in _ENDS:
        end += 1
    if end == at:
        raise ValueError("a value is missing in the canonical text of options")
    return _word(text[at:end]), end


def _fields(text: str, at: int) -> tuple[dict[str, Plain], int]:
    found: dict[str, Plain] = {}
    while text[at] != "}":
        if text[at] in " ,":
            at += 1
        elif text[at] == "<":
            at = _skip_definition(text, at)
        else:
            name, at = _name(text, at)
            found[name], at = _value(text, at)
    return found, at + 1


def _items(text: str, at: int) -> tuple[list[Plain], int]:
    found: list[Plain] = []
    while text[at] != "]":
        if text[at] == ",":
            at += 1
        else:
            item, at = _value(text, at)
            found.append(item)
    return found, at + 1


def _name(text: str, at: int) -> tuple[str, int]:
    """A field's name, or a map's key, up to behind its colon."""
    if text[at] == '"':
        key, end = _DECODER.raw_decode(text, at)
        return str(key), end + 1
    end = text.index(":", at)
    return text[at:end], end + 1


def _skip_definition(text: str, at: int) -> int:
    """To behind ``<id "message" "expression">``; the two strings may hold anything."""
    at = text.index(" ", at)
    for _ in range(2):
        _, at = _DECODER.raw_decode(text, at + 1)
    return at + 1


def _word(word: str) -> Plain:
    """A bare word. Numbers are printed shortest-exact: what would print differently is none, but a name or bytes."""
    if word in {"true", "false"}:
        return word == "true"
    if word == "''":
        return ""
    for kind in (int, float):
        try:
            number = kind(word)
        except ValueError:
            continue
        if repr(number) == word:
            return number
    return word
