"""JSON, read strictly and without loss: numbers stay the text they were written as, objects keep every pair.

Python's scanner does the work; its extensions (NaN, Infinity) are refused, as is what no Unicode text can hold (lone
surrogates, where a caller asks for text).
"""

from __future__ import annotations

import json
from typing import Any, Final, TypeAlias

from protocontract.violations import describe


class Number(str):
    """A number as written. Its value is decided by the type that receives it, never by a float on the way."""

    __slots__ = ()


class Object:
    """An object with all its pairs in order, repeated names included."""

    __slots__ = ("pairs",)

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        self.pairs: Final = pairs


Json: TypeAlias = "bool | str | Number | list[Any] | Object | None"


class NotJson(ValueError):
    """The text is no JSON. Without the parser's own words: they quote the input."""


def _refuse_constant(name: str) -> Any:
    raise NotJson


_DECODER: Final = json.JSONDecoder(
    parse_int=Number, parse_float=Number, parse_constant=_refuse_constant, object_pairs_hook=Object, strict=True
)


def parse(text: str) -> Json:
    """The value of a JSON text. Raises NotJson, also where it is nested too deeply for the interpreter's stack."""
    try:
        return _DECODER.decode(text)  # type: ignore[no-any-return]
    except (ValueError, RecursionError) as error:
        raise NotJson from error


def got(value: Json) -> str:
    """The kind and size of a JSON value, never the value."""
    if isinstance(value, Number):
        return "a number"
    if value is None:
        return "null"
    if isinstance(value, Object):
        return f"an object of {len(value.pairs)}"
    return describe(value)


def is_text(value: str) -> bool:
    """Whether a string is Unicode text, which protobuf demands: no lone surrogates."""
    if value.isascii():
        return True
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
