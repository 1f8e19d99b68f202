"""CEL's text functions, ``format()`` and conversions of text, for emitted code."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NoReturn

from protocontract._cel_error import CelRuntimeError
from protocontract._cel_time import cel_display_timestamp, cel_string_of_duration

_INT_MIN: Final = -(2**63)
_INT_MAX: Final = 2**63 - 1
_UINT_MAX: Final = 2**64 - 1
_ASCII_SPACE: Final = " \t\n\v\f\r"
_SPACE: Final = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
_UPPER: Final = {code: code - 32 for code in range(ord("a"), ord("z") + 1)}
_LOWER: Final = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}

_SIGNED: Final = re.compile(r"([+-]?)([0-9]+)")
_UNSIGNED: Final = re.compile(r"(\+?)([0-9]+)")
_DECIMAL: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_HEX: Final = re.compile(r"[+-]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP][+-]?[0-9]+)?")
_SPECIAL: Final = re.compile(r"([+-]?)(inf(?:inity)?|nan(?:\([0-9a-zA-Z_]*\))?)", re.IGNORECASE)


def _out_of_range() -> NoReturn:
    raise CelRuntimeError("index out of range")


# ----------------------------------------------------------------------------------------------------------------------
# Conversions


def cel_int_of_string(text: str) -> int:
    """``int(string)``: decimal, a sign and surrounding ASCII white space allowed."""
    value = _integer(_SIGNED, text)
    if value is None or not _INT_MIN <= value <= _INT_MAX:
        raise CelRuntimeError("cannot convert string to int")
    return value


def cel_uint_of_string(text: str) -> int:
    """``uint(string)``: decimal, no minus sign."""
    value = _integer(_UNSIGNED, text)
    if value is None or value > _UINT_MAX:
        raise CelRuntimeError("cannot convert string to uint")
    return value


def _integer(pattern: re.Pattern[str], text: str) -> int | None:
    match = pattern.fullmatch(text.strip(_ASCII_SPACE))
    if match is None:
        return None
    digits = match[2].lstrip("0") or "0"
    if len(digits) > 20:  # more than 64 bits, and int() of very long texts is slow
        return None
    return -int(digits) if match[1] == "-" else int(digits)


def cel_double_of_string(text: str) -> float:
    """``double(string)``: decimal or hexadecimal, infinity and NaN in any case."""
    text = text.strip(_ASCII_SPACE)
    if _DECIMAL.fullmatch(text):
        return float(text)
    if _HEX.fullmatch(text):
        try:
            return float.fromhex(text)
        except OverflowError:
            return -math.inf if text.startswith("-") else math.inf
    special = _SPECIAL.fullmatch(text)
    if special is None:
        raise CelRuntimeError("cannot convert string to double")
    value = math.inf if special[2][0] in "iI" else math.nan
    return -value if special[1] == "-" else value


def cel_string_of_bool(value: bool) -> str:
    """``string(bool)``."""
    return "true" if value else "false"


def cel_string_of_double(value: float) -> str:
    """``string(double)``: seventeen significant digits."""
    if value != value:
        return "-nan" if math.copysign(1.0, value) < 0 else "nan"
    return f"{value:.17g}"


def cel_string_of_bytes(value: bytes) -> str:
    """``string(bytes)``: must be UTF-8."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise CelRuntimeError("malformed UTF-8 bytes") from None


def cel_utf8_size(text: str) -> int:
    """``size(bytes(text))``."""
    return len(text) if text.isascii() else len(text.encode())


# ----------------------------------------------------------------------------------------------------------------------
# The text functions: positions count code points


def cel_char_at(text: str, position: int) -> str:
    """``charAt``: empty at the end."""
    if not 0 <= position <= len(text):
        _out_of_range()
    return text[position : position + 1]


def cel_index_of(text: str, part: str) -> int:
    """``indexOf``: -1 where there is none."""
    return text.find(part)


def cel_index_of_from(text: str, part: str, position: int) -> int:
    """``indexOf`` from a position on."""
    if not 0 <= position <= len(text):
        _out_of_range()
    return text.find(part, position)


def cel_last_index_of(text: str, part: str) -> int:
    """``lastIndexOf``: -1 where there is none."""
    return text.rfind(part)


def cel_last_index_of_from(text: str, part: str, position: int) -> int:
    """``lastIndexOf`` starting at a position or before."""
    if not 0 <= position <= len(text):
        _out_of_range()
    return text.rfind(part, 0, position + len(part))


def cel_join(texts: Iterable[str], separator: str) -> str:
    """``join``."""
    return separator.join(texts)


def cel_lower_ascii(text: str) -> str:
    """``lowerAscii``."""
    return text.lower() if text.isascii() else text.translate(_LOWER)


def cel_upper_ascii(text: str) -> str:
    """``upperAscii``."""
    return text.upper() if text.isascii() else text.translate(_UPPER)


def cel_replace(text: str, old: str, new: str) -> str:
    """``replace`` of all occurrences."""
    return cel_replace_limit(text, old, new, -1)


def cel_replace_limit(text: str, old: str, new: str, limit: int) -> str:
    """``replace`` of the first occurrences; a negative limit means all."""
    if old == "" and text == "":
        return new if limit else text  # str.replace does not replace in an empty text once a count is given
    return text.replace(old, new, max(limit, -1))


def cel_split(text: str, separator: str) -> list[str]:
    """``split``: an empty separator splits into code points."""
    return cel_split_limit(text, separator, -1)


def cel_split_limit(text: str, separator: str, limit: int) -> list[str]:
    """``split`` into at most ``limit`` parts; negative means all, 0 none."""
    if limit == 0:
        return []
    if separator and (limit < 0 or limit > len(text)):
        parts = text.split(separator)
    elif separator:
        parts = text.split(separator, limit - 1)
    elif limit < 0 or limit >= len(text):
        return list(text) or [""]
    else:
        return [*text[: limit - 1], text[limit - 1 :]]
    return parts


def cel_substring_from(text: str, start: int) -> str:
    """``substring(start)``."""
    if not 0 <= start <= len(text):
        _out_of_range()
    return text[start:]


def cel_substring(text: str, start: int, end: int) -> str:
    """``substring(start, end)``.

    The engine of protovalidate 2.1 refuses an end at the end of the text unless the start is there too.
    """
    if not 0 <= start <= end <= len(text) or (end == len(text) and start != end):
        _out_of_range()
    return text[start:end]


def cel_trim(text: str) -> str:
    """``trim``: Unicode white space, without Python's four information separators."""
    return text.strip(_SPACE)


# ----------------------------------------------------------------------------------------------------------------------
# format()


def _special(value: float) -> str | None:
    if value != value:
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return None


def _number(value: float | str) -> float:
    if isinstance(value, str):
        if value not in ("NaN", "Infinity", "-Infinity"):
            raise CelRuntimeError("only NaN and the infinities are supported for conversion to double")
        return float(value)
    return float(value)


def cel_format_f(value: float | str, precision: int) -> str:
    """``%f``."""
    number = _number(value)
    return _special(number) or f"{number:.{precision}f}"


def cel_format_e(value: float | str, precision: int) -> str:
    """``%e``."""
    number = _number(value)
    return _special(number) or f"{number:.{precision}e}"


def cel_format_binary(value: int) -> str:
    """``%b`` of an integer or a bool."""
    return f"{int(value):b}"


def cel_format_octal(value: int) -> str:
    """``%o``."""
    return f"{value:o}"


def cel_format_hex(value: int | str | bytes) -> str:
    """``%x``."""
    if isinstance(value, int):
        return f"{value:x}"
    return (value.encode() if isinstance(value, str) else value).hex()


def cel_format_hex_upper(value: int | str | bytes) -> str:
    """``%X``."""
    return cel_format_hex(value).upper()


def cel_format_value(value: Any, type_name: str) -> str:
    """``%s`` of a value of the type that ``type_name`` writes: ``double``, ``list(string)``, ``map(int, bool)``."""
    kind, _, inner = type_name.partition("(")
    match kind:
        case "string":
            return str(value)
        case "bool":
            return cel_string_of_bool(value)
        case "double":
            return _special(value) or f"{value:g}"
        case "bytes":
            return bytes(value).decode("utf-8", "replace")
        case "timestamp":
            return cel_display_timestamp(value)
        case "duration":
            return cel_string_of_duration(value)
        case "null":
            return "null"
        case "list":
            return _format_list(value, inner[:-1])
        case "map":
            key, _, item = inner[:-1].partition(", ")
            return _format_map(value, key, item)
        case _:  # int, uint, and the name of a type
            return str(value)


def _format_list(items: Sequence[Any], type_name: str) -> str:
    shown = "".join(f"{cel_format_value(item, type_name)}, " for item in items)
    return f"[{shown[:-2]}]"


def _format_map(items: Mapping[Any, Any] | Sequence[tuple[Any, Any]], key_type: str, item_type: str) -> str:
    pairs = [(key, items[key]) for key in items] if isinstance(items, Mapping) else items
    shown = sorted((cel_format_value(key, key_type), item) for key, item in pairs)
    return "{" + ", ".join(f"{key}: {cel_format_value(item, item_type)}" for key, item in shown) + "}"
