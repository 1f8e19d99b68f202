"""What emitted CEL code calls: the names in ``__all__`` are the whole set, re-exported by ``_codegen_v1``.

Values are represented as ``protocontract_compiler.ir_cel`` says: int and uint are ``int``, timestamps and durations are
``int`` nanoseconds. Every function decides as the engine of protovalidate 2.1 does; where evaluation ends in an error
there, ``CelRuntimeError`` is raised here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NoReturn, TypeVar

from protocontract._cel_error import CelAbortError, CelRuntimeError
from protocontract._cel_text import (
    cel_char_at,
    cel_double_of_string,
    cel_format_binary,
    cel_format_e,
    cel_format_f,
    cel_format_hex,
    cel_format_hex_upper,
    cel_format_octal,
    cel_format_value,
    cel_index_of,
    cel_index_of_from,
    cel_int_of_string,
    cel_join,
    cel_last_index_of,
    cel_last_index_of_from,
    cel_lower_ascii,
    cel_replace,
    cel_replace_limit,
    cel_split,
    cel_split_limit,
    cel_string_of_bool,
    cel_string_of_bytes,
    cel_string_of_double,
    cel_substring,
    cel_substring_from,
    cel_trim,
    cel_uint_of_string,
    cel_upper_ascii,
    cel_utf8_size,
)
from protocontract._cel_time import (
    cel_add_duration,
    cel_add_duration_timestamp,
    cel_add_timestamp,
    cel_duration_hours,
    cel_duration_in_range,
    cel_duration_milliseconds,
    cel_duration_minutes,
    cel_duration_seconds,
    cel_int_of_timestamp,
    cel_nanos,
    cel_string_of_duration,
    cel_string_of_timestamp,
    cel_sub_duration,
    cel_sub_timestamp,
    cel_sub_timestamps,
    cel_timestamp_of_int,
    cel_timestamp_part,
)
from protocontract.formats.email import is_email as cel_is_email
from protocontract.formats.hostname import is_host_and_port as cel_is_host_and_port
from protocontract.formats.hostname import is_hostname as cel_is_hostname
from protocontract.formats.ip import is_ip as cel_is_ip
from protocontract.formats.ip import is_ip_prefix as cel_is_ip_prefix
from protocontract.formats.uri import is_uri as cel_is_uri
from protocontract.formats.uri import is_uri_ref as cel_is_uri_ref

T = TypeVar("T")

_INT_MIN: Final = -(2**63)
_INT_MAX: Final = 2**63 - 1
_UINT_MAX: Final = 2**64 - 1
_INT_LIMIT: Final = 2.0**63
_UINT_LIMIT: Final = 2.0**64


def _overflow() -> NoReturn:
    raise CelRuntimeError("integer overflow")


# ----------------------------------------------------------------------------------------------------------------------
# Arithmetic: 64 bits, an overflow is an error, division truncates towards zero


def cel_add_int(left: int, right: int) -> int:
    """``left + right`` of ints."""
    result = left + right
    return result if _INT_MIN <= result <= _INT_MAX else _overflow()


def cel_sub_int(left: int, right: int) -> int:
    """``left - right`` of ints."""
    result = left - right
    return result if _INT_MIN <= result <= _INT_MAX else _overflow()


def cel_mul_int(left: int, right: int) -> int:
    """``left * right`` of ints."""
    result = left * right
    return result if _INT_MIN <= result <= _INT_MAX else _overflow()


def cel_neg_int(value: int) -> int:
    """``-value`` of an int."""
    return -value if value != _INT_MIN else _overflow()


def cel_div_int(left: int, right: int) -> int:
    """``left / right`` of ints."""
    if right == 0:
        raise CelRuntimeError("divide by zero")
    if right == -1 and left == _INT_MIN:
        _overflow()
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def cel_mod_int(left: int, right: int) -> int:
    """``left % right`` of ints; the sign is the dividend's."""
    if right == 0:
        raise CelRuntimeError("modulus by zero")
    if right == -1 and left == _INT_MIN:
        _overflow()
    remainder = abs(left) % abs(right)
    return -remainder if left < 0 else remainder


def cel_add_uint(left: int, right: int) -> int:
    """``left + right`` of uints."""
    result = left + right
    return result if result <= _UINT_MAX else _overflow()


def cel_sub_uint(left: int, right: int) -> int:
    """``left - right`` of uints."""
    result = left - right
    return result if result >= 0 else _overflow()


def cel_mul_uint(left: int, right: int) -> int:
    """``left * right`` of uints."""
    result = left * right
    return result if result <= _UINT_MAX else _overflow()


def cel_div_uint(left: int, right: int) -> int:
    """``left / right`` of uints."""
    if right == 0:
        raise CelRuntimeError("divide by zero")
    return left // right


def cel_mod_uint(left: int, right: int) -> int:
    """``left % right`` of uints."""
    if right == 0:
        raise CelRuntimeError("modulus by zero")
    return left % right


def cel_div_double(left: float, right: float) -> float:
    """``left / right`` of doubles, which never fails."""
    if right != 0:
        return left / right
    if left == 0 or left != left:
        return math.copysign(math.nan, -1.0)
    return math.inf if (left > 0) == (math.copysign(1.0, right) > 0) else -math.inf


# ----------------------------------------------------------------------------------------------------------------------
# Conversions


def cel_int_of_uint(value: int) -> int:
    """``int(uint)``."""
    if value > _INT_MAX:
        raise CelRuntimeError("uint64 out of int64 range")
    return value


def cel_uint_of_int(value: int) -> int:
    """``uint(int)``."""
    if value < 0:
        raise CelRuntimeError("int64 out of uint64 range")
    return value


def cel_int_of_double(value: float) -> int:
    """``int(double)``: truncates; both limits of int64 are out of range, as no double is near them."""
    if not -_INT_LIMIT < value < _INT_LIMIT:
        raise CelRuntimeError("double out of int64 range")
    return int(value)


def cel_uint_of_double(value: float) -> int:
    """``uint(double)``: truncates."""
    if not 0 <= value < _UINT_LIMIT:
        raise CelRuntimeError("double out of uint64 range")
    return int(value)


_TRUE: Final = frozenset({"true", "True", "TRUE", "t", "1"})
_FALSE: Final = frozenset({"false", "False", "FALSE", "f", "0"})


def cel_bool_of_string(text: str) -> bool:
    """``bool(string)``."""
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    raise CelRuntimeError("type conversion error from 'string' to 'bool'")


# ----------------------------------------------------------------------------------------------------------------------
# Values and containers


def cel_unwrap(value: T | None) -> T:
    """A wrapper's value where an operation does not take null."""
    if value is None:
        raise CelRuntimeError("no matching overload for null")
    return value


def cel_is_inf(value: float, sign: int = 0) -> bool:
    """``isInf``: of any sign, or of that of ``sign``."""
    if not math.isinf(value):
        return False
    return sign == 0 or (value > 0) == (sign > 0)


def cel_is_set_double(value: float) -> bool:
    """Presence of a double without presence: any bit set, so -0.0 is present."""
    return value != 0 or math.copysign(1.0, value) < 0


def cel_unique(items: Sequence[Any]) -> bool:
    """``unique()`` of bools, ints, uints, strings or bytes."""
    return len(set(items)) == len(items)


def cel_unique_doubles(items: Sequence[float]) -> bool:
    """``unique()`` of doubles: NaN equals nothing, 0.0 equals -0.0."""
    numbers = [item for item in items if item == item]
    return len(set(numbers)) == len(numbers)


def cel_in_doubles(item: float | None, container: Iterable[float]) -> bool:
    """``item in container`` of doubles; Python's ``in`` would find a NaN by its identity."""
    return any(item == member for member in container)


def cel_in_map(key: object, container: Mapping[Any, Any]) -> bool:
    """``key in container`` where the key may be out of the range of the map's key type."""
    try:
        return key in container
    except ValueError:
        return False


def cel_index_list(items: Sequence[T], index: int) -> T:
    """``items[index]``."""
    if 0 <= index < len(items):
        return items[index]
    raise CelRuntimeError("index out of range")


def cel_index_map(items: Mapping[Any, T], key: object) -> T:
    """``items[key]``; a missing key is an error and is never inserted."""
    if cel_in_map(key, items):
        return items[key]
    raise CelRuntimeError("key not found in map")


def cel_map_display(*entries: tuple[Any, Any]) -> dict[Any, Any]:
    """A map display; equal keys are an error."""
    result = dict(entries)
    if len(result) != len(entries):
        raise CelRuntimeError("duplicate key in map")
    return result


# ----------------------------------------------------------------------------------------------------------------------
# Absorption: an error is forgotten where another operand decides


def cel_and(*operands: Callable[[], bool]) -> bool:
    """``&&`` of operands that may fail: false wins, then the first error."""
    error: CelRuntimeError | None = None
    for operand in operands:
        try:
            if not operand():
                return False
        except CelAbortError:
            raise
        except CelRuntimeError as raised:
            error = error or raised
    if error is not None:
        raise error
    return True


def cel_or(*operands: Callable[[], bool]) -> bool:
    """``||`` of operands that may fail: true wins, then the first error."""
    error: CelRuntimeError | None = None
    for operand in operands:
        try:
            if operand():
                return True
        except CelAbortError:
            raise
        except CelRuntimeError as raised:
            error = error or raised
    if error is not None:
        raise error
    return False


def cel_abort(operand: Callable[[], T]) -> T:
    """The subject of ``matches``: protovalidate's engine ends the rule if it fails, whatever else would decide."""
    try:
        return operand()
    except CelRuntimeError as error:
        raise CelAbortError(*error.args) from error


def cel_all(items: Iterable[T], predicate: Callable[[T], bool]) -> bool:
    """``items.all(x, predicate)`` with a predicate that may fail."""
    error: CelRuntimeError | None = None
    for item in items:
        try:
            if not predicate(item):
                return False
        except CelAbortError:
            raise
        except CelRuntimeError as raised:
            error = error or raised
    if error is not None:
        raise error
    return True


def cel_exists(items: Iterable[T], predicate: Callable[[T], bool]) -> bool:
    """``items.exists(x, predicate)`` with a predicate that may fail."""
    error: CelRuntimeError | None = None
    for item in items:
        try:
            if predicate(item):
                return True
        except CelAbortError:
            raise
        except CelRuntimeError as raised:
            error = error or raised
    if error is not None:
        raise error
    return False


__all__ = [
    "CelAbortError",
    "CelRuntimeError",
    "cel_abort",
    "cel_add_duration",
    "cel_add_duration_timestamp",
    "cel_add_int",
    "cel_add_timestamp",
    "cel_add_uint",
    "cel_all",
    "cel_and",
    "cel_bool_of_string",
    "cel_char_at",
    "cel_div_double",
    "cel_div_int",
    "cel_div_uint",
    "cel_double_of_string",
    "cel_duration_hours",
    "cel_duration_in_range",
    "cel_duration_milliseconds",
    "cel_duration_minutes",
    "cel_duration_seconds",
    "cel_exists",
    "cel_format_binary",
    "cel_format_e",
    "cel_format_f",
    "cel_format_hex",
    "cel_format_hex_upper",
    "cel_format_octal",
    "cel_format_value",
    "cel_in_doubles",
    "cel_in_map",
    "cel_index_list",
    "cel_index_map",
    "cel_index_of",
    "cel_index_of_from",
    "cel_int_of_double",
    "cel_int_of_string",
    "cel_int_of_timestamp",
    "cel_int_of_uint",
    "cel_is_email",
    "cel_is_host_and_port",
    "cel_is_hostname",
    "cel_is_inf",
    "cel_is_ip",
    "cel_is_ip_prefix",
    "cel_is_set_double",
    "cel_is_uri",
    "cel_is_uri_ref",
    "cel_join",
    "cel_last_index_of",
    "cel_last_index_of_from",
    "cel_lower_ascii",
    "cel_map_display",
    "cel_mod_int",
    "cel_mod_uint",
    "cel_mul_int",
    "cel_mul_uint",
    "cel_nanos",
    "cel_neg_int",
    "cel_or",
    "cel_replace",
    "cel_replace_limit",
    "cel_split",
    "cel_split_limit",
    "cel_string_of_bool",
    "cel_string_of_bytes",
    "cel_string_of_double",
    "cel_string_of_duration",
    "cel_string_of_timestamp",
    "cel_sub_duration",
    "cel_sub_int",
    "cel_sub_timestamp",
    "cel_sub_timestamps",
    "cel_sub_uint",
    "cel_substring",
    "cel_substring_from",
    "cel_timestamp_of_int",
    "cel_timestamp_part",
    "cel_trim",
    "cel_uint_of_double",
    "cel_uint_of_int",
    "cel_uint_of_string",
    "cel_unique",
    "cel_unique_doubles",
    "cel_unwrap",
    "cel_upper_ascii",
    "cel_utf8_size",
]
