"""Strategies for numbers, bools, enums, bytes, moments and spans of time that keep buf.validate's rules."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from google.protobuf.descriptor import FieldDescriptor as F
from hypothesis import strategies as st

from protocontract._options import set_in

_SIGNED: Final = {F.TYPE_INT32: 32, F.TYPE_SINT32: 32, F.TYPE_SFIXED32: 32, F.TYPE_INT64: 64, F.TYPE_SINT64: 64,
                  F.TYPE_SFIXED64: 64}  # fmt: skip
_UNSIGNED: Final = {F.TYPE_UINT32: 32, F.TYPE_FIXED32: 32, F.TYPE_UINT64: 64, F.TYPE_FIXED64: 64}
INTEGERS: Final = frozenset({*_SIGNED, *_UNSIGNED})
FLOATS: Final = frozenset({F.TYPE_FLOAT, F.TYPE_DOUBLE})

SECOND: Final = 1_000_000_000
#: What a Timestamp holds (years 1 to 9999) and a Duration (10,000 years), in nanoseconds.
TIMESTAMPS: Final = (-62_135_596_800 * SECOND, 253_402_300_800 * SECOND - 1)
DURATIONS: Final = (-315_576_000_000 * SECOND, 315_576_000_000 * SECOND)
#: Moments without any bound are drawn from here: 1990 to 2040.
_ORDINARY: Final = (631_152_000 * SECOND, 2_208_988_800 * SECOND)
#: Distance from the present that the time a test takes does not close.
_HOUR: Final = 3_600 * SECOND


def integer_range(kind: int) -> tuple[int, int]:
    """The least and the largest integer of a field type."""
    if kind in _UNSIGNED:
        return 0, 2 ** _UNSIGNED[kind] - 1
    bits = _SIGNED[kind]
    return -(2 ** (bits - 1)), 2 ** (bits - 1) - 1


def integers(kind: int, rules: Any, low: float | None = None, high: float | None = None) -> st.SearchStrategy[int]:
    """Integers of a field type. ``low`` and ``high`` narrow further (a tensor's bounds)."""
    least, most = integer_range(kind)
    if low is not None:
        least = max(least, math.ceil(low))
    if high is not None:
        most = min(most, math.floor(high))
    return _numbers(rules, least, most, 1, st.integers)


def _numbers(rules: Any, least: int, most: int, step: int, make: Any) -> st.SearchStrategy[int]:
    """Whole numbers within bounds; a lower bound above the upper one means all outside of both."""
    fixed = set_in(rules, "const")
    if fixed is not None:
        return st.just(fixed)
    if rules is not None and len(getattr(rules, "in")):
        allowed = [each for each in getattr(rules, "in") if least <= each <= most]
        return _sampled(allowed).filter(lambda each: each not in rules.not_in)
    lower, upper = set_in(rules, "gte"), set_in(rules, "lte")
    if (over := set_in(rules, "gt")) is not None:
        lower = over + step
    if (under := set_in(rules, "lt")) is not None:
        upper = under - step
    if lower is not None and upper is not None and lower > upper:
        parts = []
        if upper >= least:
            parts.append(make(least, min(upper, most)))
        if lower <= most:
            parts.append(make(max(lower, least), most))
        found = st.one_of(parts)
    else:
        lower, upper = (
            max(least, lower if lower is not None else least),
            min(most, upper if upper is not None else most),
        )
        found = make(lower, upper) if lower <= upper else st.nothing()
    banned = list(rules.not_in) if rules is not None else []
    return found.filter(lambda each: each not in banned) if banned else found


def floats(kind: int, rules: Any, low: float | None = None, high: float | None = None) -> st.SearchStrategy[float]:
    """Numbers of a float or double field."""
    width: Any = 32 if kind == F.TYPE_FLOAT else 64
    fixed = set_in(rules, "const")
    if fixed is not None:
        return st.just(fixed)
    if rules is not None and len(getattr(rules, "in")):
        return _sampled(list(getattr(rules, "in"))).filter(lambda each: each not in rules.not_in)
    finite = bool(set_in(rules, "finite"))
    lower, upper = set_in(rules, "gte"), set_in(rules, "lte")
    over, under = set_in(rules, "gt"), set_in(rules, "lt")
    bottom, top = (over if over is not None else lower), (under if under is not None else upper)
    open_low, open_high = over is not None, under is not None
    if low is not None and (bottom is None or low > bottom):
        bottom, open_low = low, False
    if high is not None and (top is None or high < top):
        top, open_high = high, False
    inverted = bottom is not None and top is not None and (bottom > top or (bottom == top and (open_low or open_high)))
    infinite = None if not finite else False
    if bottom is None and top is None:
        found = st.floats(width=width, allow_nan=not finite, allow_infinity=not finite)
    elif inverted:
        found = st.one_of(
            st.floats(max_value=top, exclude_max=open_high, width=width, allow_nan=False, allow_infinity=infinite),
            st.floats(min_value=bottom, exclude_min=open_low, width=width, allow_nan=False, allow_infinity=infinite),
        )
    else:
        found = st.floats(
            bottom, top, exclude_min=open_low, exclude_max=open_high, width=width, allow_nan=False,
            allow_infinity=infinite if bottom is None or top is None else None,
        )  # fmt: skip
    banned = list(rules.not_in) if rules is not None else []
    return found.filter(lambda each: each not in banned) if banned else found


def bools(rules: Any) -> st.SearchStrategy[bool]:
    """Values of a bool field."""
    fixed = set_in(rules, "const")
    return st.booleans() if fixed is None else st.just(fixed)


def enums(field: Any, rules: Any) -> st.SearchStrategy[int]:
    """Numbers of an enum field: declared ones, also where others would be allowed."""
    fixed = set_in(rules, "const")
    if fixed is not None:
        return st.just(fixed)
    declared = [value.number for value in field.enum_type.values]
    numbers = list(getattr(rules, "in")) if rules is not None and len(getattr(rules, "in")) else declared
    if rules is not None:
        closed = rules.defined_only or field.enum_type.is_closed
        numbers = [each for each in numbers if each not in rules.not_in and (not closed or each in declared)]
    return _sampled(list(dict.fromkeys(numbers)))


def moments(rules: Any, now: Callable[[], int]) -> st.SearchStrategy[int]:
    """Nanoseconds since the epoch of a Timestamp field. ``now`` is asked when a value is drawn."""
    fixed = set_in(rules, "const")
    if fixed is not None:
        return st.just(nanos(fixed))
    within, past, future = set_in(rules, "within"), set_in(rules, "lt_now"), set_in(rules, "gt_now")
    absolute = _absolute(rules, TIMESTAMPS, _ORDINARY)
    if within is None and not past and not future:
        return absolute
    # The distance from the present is what is drawn: its bounds must not change from one run to the next.
    reach = nanos(within) if within is not None else 365 * 24 * _HOUR
    apart = min(_HOUR, reach // 4)
    lowest = apart if future else -reach + (apart if within is not None else 0)
    highest = -apart if past else reach - (apart if within is not None else 0)
    if lowest > highest:
        return st.nothing()
    bound_low, bound_high = _bounds(rules, TIMESTAMPS)
    distances = st.integers(lowest // SECOND, highest // SECOND)
    return distances.map(lambda each: max(bound_low, min(bound_high, now() + each * SECOND)))


def spans_of_time(rules: Any) -> st.SearchStrategy[int]:
    """Nanoseconds of a Duration field."""
    fixed = set_in(rules, "const")
    if fixed is not None:
        return st.just(nanos(fixed))
    if rules is not None and len(getattr(rules, "in")):
        found: st.SearchStrategy[int] = _sampled([nanos(each) for each in getattr(rules, "in")])
    else:
        found = _absolute(rules, DURATIONS, (-_HOUR, 24 * _HOUR))
    banned = [nanos(each) for each in rules.not_in] if rules is not None else []
    return found.filter(lambda each: each not in banned) if banned else found


def _bounds(rules: Any, widest: tuple[int, int]) -> tuple[int, int]:
    lower, upper = widest
    for name, above, add in (("gte", True, 0), ("gt", True, 1), ("lte", False, 0), ("lt", False, -1)):
        value = set_in(rules, name)
        if value is not None:
            if above:
                lower = nanos(value) + add
            else:
                upper = nanos(value) + add
    return lower, upper


def _absolute(rules: Any, widest: tuple[int, int], ordinary: tuple[int, int]) -> st.SearchStrategy[int]:
    lower, upper = _bounds(rules, widest)
    if lower > upper:
        return st.one_of(st.integers(widest[0], upper), st.integers(lower, widest[1]))
    near_low, near_high = max(lower, ordinary[0]), min(upper, ordinary[1])
    if near_low >= near_high:
        return st.integers(lower, upper)
    # Whole seconds are what data mostly hold; the bounds themselves are where code goes wrong.
    whole = st.integers(-(-near_low // SECOND), near_high // SECOND).map(lambda each: each * SECOND)
    if -(-near_low // SECOND) > near_high // SECOND:
        return st.integers(near_low, near_high)
    return st.one_of(whole, st.integers(near_low, near_high))


def nanos(moment: Any) -> int:
    """A Timestamp or Duration in nanoseconds."""
    return int(moment.seconds) * SECOND + int(moment.nanos)


def put_nanos(message: Any, value: int) -> None:
    """Set a Timestamp or Duration."""
    seconds, rest = divmod(value, SECOND)
    if message.DESCRIPTOR.full_name == "google.protobuf.Duration" and seconds < 0 and rest:
        # Both parts of a duration have one sign.
        seconds, rest = seconds + 1, rest - SECOND
    message.seconds, message.nanos = seconds, rest


def _sampled(values: list[Any]) -> st.SearchStrategy[Any]:
    return st.sampled_from(values) if values else st.nothing()
