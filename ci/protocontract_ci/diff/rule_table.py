"""The table of clear cases: whether the rules of a value demand what one more rule would.

``implied(name, value, slot)`` is True only where it is certain. It knows lengths, bounds, sets, texts' parts, presence
and the well-known formats that lie in each other; patterns and CEL are not compared here. Every rule has its line in
docs/gate.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, Literal, TypeAlias

import re2

from protocontract_ci.model import Value

Presence: TypeAlias = Literal["implicit", "explicit", "list"]
"""How unset shows: not at all, by presence, or as an empty list or map. Items of lists and maps are ``explicit``."""


@dataclass(frozen=True, slots=True)
class Slot:
    """The rules of one value: of a field, or of the items, keys or values of one.

    ``kind`` is the member of FieldRules (``string``, ``int32``, ``repeated``); ``rules`` has constants by the names in
    it. ``numbers`` are those of the field's enum; ``closed`` says that no other ever is in the field.
    """

    kind: str
    presence: Presence
    rules: Mapping[str, Value] = field(default_factory=dict)
    required: bool = False
    numbers: frozenset[int] = frozenset()
    closed: bool = False


# Rules that say nothing about what is accepted.
_SILENT: Final = frozenset({"example"})
_TEXTS: Final = frozenset({"string", "bytes"})
_FORMATS: Final = frozenset(
    {
        "email", "hostname", "ip", "ipv4", "ipv6", "uri", "uri_ref", "address", "uuid", "tuuid", "ip_with_prefixlen",
        "ipv4_with_prefixlen", "ipv6_with_prefixlen", "ip_prefix", "ipv4_prefix", "ipv6_prefix", "host_and_port",
        "ulid", "protobuf_fqn", "protobuf_dot_fqn",
    }
)  # fmt: skip
# A format that lies in others.
_INSIDE: Final[Mapping[str, tuple[str, ...]]] = {
    "ipv4": ("ip", "address"), "ipv6": ("ip", "address"), "ip": ("address",), "hostname": ("address",),
    "uri": ("uri_ref",), "ipv4_prefix": ("ip_prefix", "ipv4_with_prefixlen", "ip_with_prefixlen"),
    "ipv6_prefix": ("ip_prefix", "ipv6_with_prefixlen", "ip_with_prefixlen"), "ip_prefix": ("ip_with_prefixlen",),
    "ipv4_with_prefixlen": ("ip_with_prefixlen",), "ipv6_with_prefixlen": ("ip_with_prefixlen",),
}  # fmt: skip
# Lengths in characters of the formats that have one (all of them ASCII).
_LENGTHS: Final = {"uuid": 36, "tuuid": 32, "ulid": 26}
_BYTE_LENGTHS: Final = {"uuid": 16, "ipv4": 4, "ipv6": 16}
_RANGES: Final[Mapping[str, tuple[float, float]]] = {
    **dict.fromkeys(("int32", "sint32", "sfixed32", "enum"), (-(2**31), 2**31 - 1)),
    **dict.fromkeys(("int64", "sint64", "sfixed64"), (-(2**63), 2**63 - 1)),
    **dict.fromkeys(("uint32", "fixed32"), (0, 2**32 - 1)),
    **dict.fromkeys(("uint64", "fixed64"), (0, 2**64 - 1)),
    **dict.fromkeys(("float", "double", "duration", "timestamp"), (-math.inf, math.inf)),
}
_FLOATING: Final = ("float", "double")
_BOUNDS: Final = ("gt", "gte", "lt", "lte")
_COUNTS: Final = {"repeated": ("min_items", "max_items"), "map": ("min_pairs", "max_pairs")}


def implied(name: str, value: Value, slot: Slot) -> bool:
    """Whether every value that keeps the rules of ``slot`` keeps the rule ``name`` with the constant ``value`` too."""
    if is_silent(name, value, slot):
        return True
    if name == "required":
        return slot.required or (slot.presence != "explicit" and _refuses_empty(slot))
    if name in slot.rules and _same(name, slot.rules[name], value):
        return True
    candidates = _candidates(slot)
    if candidates is not None:
        possible = [each for each in candidates if _kept(slot, each)]
        verdicts = [holds(name, value, each, slot) for each in possible]
        if None not in verdicts:
            return all(verdicts)
    if name in _FORMATS and slot.kind == "string":
        return value is True and any(slot.rules.get(inner) is True and name in _INSIDE[inner] for inner in _INSIDE)
    if name in ("lt_now", "gt_now", "within"):
        return name == "within" and _longer(value, slot.rules.get("within"))
    if slot.kind in _RANGES:
        return _number_implied(name, value, slot)
    if slot.kind in _TEXTS:
        return _text_implied(name, value, slot)
    if slot.kind in _COUNTS:
        return _count_implied(name, value, slot)
    if slot.kind in ("any", "field_mask") and name in ("in", "not_in"):
        return _set_implied(name, value, slot)
    return False


def is_silent(name: str, value: Value, slot: Slot) -> bool:
    """Whether a rule accepts every value: a flag that is false, an empty list, a bound below all there is."""
    if name in _SILENT or (value is False and name != "const"):
        return True
    if name == "strict":
        return "well_known_regex" not in slot.rules
    if name in ("in", "not_in") and value == ():
        return True
    if name in ("min_len", "min_bytes", "min_items", "min_pairs") and value == 0:
        return True
    if name == "well_known_regex" and value == "KNOWN_REGEX_UNSPECIFIED":
        return True
    if name in ("prefix", "suffix", "contains") and value in ("", "0x"):
        return True
    return name == "defined_only" and slot.closed


def accepts_empty(name: str, value: Value, slot: Slot) -> bool | None:
    """Whether a value that nobody set keeps a rule; None where that is not certain."""
    if is_silent(name, value, slot):
        return True
    if name == "required":
        return False
    if slot.presence == "explicit":
        return True
    if slot.presence == "list":
        return holds(name, value, (), slot)
    return holds(name, value, _ZEROS.get(slot.kind, 0), slot)


_ZEROS: Final[Mapping[str, Value]] = {"string": "", "bytes": "0x", "bool": False, "float": 0.0, "double": 0.0}


def holds(name: str, value: Value, given: Value, slot: Slot) -> bool | None:
    """Whether one given value keeps a rule; None where that is not known here."""
    if is_silent(name, value, slot):
        return True
    if slot.kind in _COUNTS:
        size = len(given) if isinstance(given, tuple) else 0
        if name == "unique":
            return True if size <= 1 else None
        low, high = _COUNTS[slot.kind]
        return _compare(name, {low: "gte", high: "lte"}, size, value)
    if name in ("in", "not_in"):
        listed = isinstance(value, tuple) and any(_equal(each, given, slot) for each in value)
        return listed == (name == "in")
    if name == "const":
        return _equal(value, given, slot)
    if name == "defined_only":
        return given in slot.numbers
    if slot.kind in _TEXTS:
        return _text_holds(name, value, given, slot)
    if name in _BOUNDS and slot.kind in _RANGES and not _inverted(slot):
        return _in_bound(name, _number(slot, value), _number(slot, given))
    return None


# ----------------------------------------------------------------------------------------------------------------------
# Any kind


def _candidates(slot: Slot) -> list[Value] | None:
    """All values there are, where the rules leave a few: const, in, the numbers of an enum, true and false."""
    if "const" in slot.rules:
        return [slot.rules["const"]]
    listed = slot.rules.get("in")
    if isinstance(listed, tuple) and listed and slot.kind not in ("any", "field_mask"):
        return list(listed)
    if slot.kind == "enum" and (slot.closed or slot.rules.get("defined_only") is True):
        return [*sorted(slot.numbers)]
    if slot.kind == "bool":
        return [False, True]
    return None


def _kept(slot: Slot, given: Value) -> bool:
    """Whether a value may keep all rules (one that is not known here is taken to keep it)."""
    if slot.required and slot.presence == "implicit" and given == _ZEROS.get(slot.kind, 0):
        return False
    return all(holds(name, value, given, slot) is not False for name, value in slot.rules.items())


def _refuses_empty(slot: Slot) -> bool:
    return any(accepts_empty(name, value, slot) is False for name, value in slot.rules.items())


def _same(name: str, one: Value, other: Value) -> bool:
    if name in ("in", "not_in") and isinstance(one, tuple) and isinstance(other, tuple):
        return set(one) == set(other)
    return one == other and type(one) is type(other)


def _equal(one: Value, other: Value, slot: Slot) -> bool:
    if slot.kind in _RANGES:
        return bool(_number(slot, one) == _number(slot, other))
    return one == other


def _set_implied(name: str, value: Value, slot: Slot) -> bool:
    mine = slot.rules.get(name)
    if not isinstance(mine, tuple) or not isinstance(value, tuple) or (name == "in" and not mine):
        return False
    return set(mine) <= set(value) if name == "in" else set(value) <= set(mine)


def _count_implied(name: str, value: Value, slot: Slot) -> bool:
    low, high = _COUNTS[slot.kind]
    fewest, most = slot.rules.get(low, 0), slot.rules.get(high, math.inf)
    if not isinstance(fewest, int) or not isinstance(most, int | float):
        return False
    if name == "unique":
        return most <= 1
    if not isinstance(value, int):
        return False
    return max(fewest, int(slot.required)) >= value if name == low else name == high and most <= value


def _compare(name: str, means: Mapping[str, str], size: int, value: Value) -> bool | None:
    return _in_bound(means[name], value, size) if name in means else None


# ----------------------------------------------------------------------------------------------------------------------
# Numbers, durations, timestamps

# A stretch of numbers: low, whether it is in, high, whether it is in.
_Stretch: TypeAlias = tuple[Any, bool, Any, bool]


def _number(slot: Slot, value: Value) -> Any:
    """A constant as a number; durations and moments in nanoseconds."""
    if not isinstance(value, str):
        return value
    if value.endswith("s") and slot.kind == "duration":
        return nanoseconds(value)
    if slot.kind == "timestamp":
        return _moment(value)
    return float(value) if slot.kind in _FLOATING else value


def nanoseconds(text: str) -> int:
    """A duration in proto JSON (``-1.500s``) in nanoseconds."""
    sign = -1 if text.startswith("-") else 1
    whole, _, fraction = text.strip("-s").partition(".")
    return sign * (int(whole) * 1_000_000_000 + int(fraction.ljust(9, "0") or 0))


def _moment(text: str) -> int:
    whole, _, rest = text.rstrip("Z").partition(".")
    seconds = int(datetime.fromisoformat(whole).replace(tzinfo=UTC).timestamp())
    return seconds * 1_000_000_000 + int(rest.ljust(9, "0") or 0)


def _in_bound(name: str, bound: Any, number: Any) -> bool:
    match name:
        case "gt":
            return bool(number > bound)
        case "gte":
            return bool(number >= bound)
        case "lt":
            return bool(number < bound)
        case _:
            return bool(number <= bound)


def _bounds(rules: Mapping[str, Value], slot: Slot) -> tuple[Any, bool, Any, bool]:
    low: Any = _RANGES[slot.kind][0]
    high: Any = _RANGES[slot.kind][1]
    low_in = high_in = True
    for name in _BOUNDS:
        if name not in rules:
            continue
        number = _number(slot, rules[name])
        if slot.kind not in _FLOATING and name in ("gt", "lt"):
            number, closed = (number + 1 if name == "gt" else number - 1), True
        else:
            closed = name in ("gte", "lte")
        if name in ("gt", "gte"):
            low, low_in = number, closed
        else:
            high, high_in = number, closed
    return low, low_in, high, high_in


def _inverted(slot: Slot) -> bool:
    """Whether the lower bound lies above the upper one: then the values between them are refused."""
    bounds = [_number(slot, slot.rules[name]) for name in _BOUNDS if name in slot.rules]
    return len(bounds) == 2 and bool(bounds[0] > bounds[1])


def _stretches(slot: Slot) -> list[_Stretch]:
    """The numbers that the bounds accept."""
    least, most = _RANGES[slot.kind]
    if not any(name in slot.rules for name in _BOUNDS):
        return [(least, True, most, True)]
    low, low_in, high, high_in = _bounds(slot.rules, slot)
    if _inverted(slot):
        return [(least, True, high, high_in), (low, low_in, most, True)]
    empty = low > high or (low == high and not (low_in and high_in))
    return [] if empty else [(low, low_in, high, high_in)]


def range_implied(slot: Slot, other: Slot) -> bool:
    """Whether the bounds of ``slot``, taken together, accept only what those of ``other`` accept."""
    if slot.kind in _FLOATING and not any(name in slot.rules for name in _BOUNDS):
        return not any(name in other.rules for name in _BOUNDS)  # NaN keeps no bound
    return all(any(_within(mine, theirs) for theirs in _stretches(other)) for mine in _stretches(slot))


def inverted(slot: Slot) -> bool:
    """Whether the bounds of a value mean what lies outside of them, so that none of them means anything alone."""
    return slot.kind in _RANGES and _inverted(slot)


def _within(inner: _Stretch, outer: _Stretch) -> bool:
    low = inner[0] > outer[0] or (inner[0] == outer[0] and (outer[1] or not inner[1]))
    high = inner[2] < outer[2] or (inner[2] == outer[2] and (outer[3] or not inner[3]))
    return low and high


def _number_implied(name: str, value: Value, slot: Slot) -> bool:
    floating = slot.kind in _FLOATING
    bounded = any(bound in slot.rules for bound in _BOUNDS)
    if name in _BOUNDS:
        # NaN keeps no bound, so that a double without one is no part of any.
        return (bounded or not floating) and range_implied(slot, Slot(slot.kind, slot.presence, {name: value}))
    if name == "finite":
        ends = [end for stretch in _stretches(slot) for end in (stretch[0], stretch[2])]
        return bounded and all(math.isfinite(end) for end in ends)
    if name == "not_in" and isinstance(value, tuple):
        refused = slot.rules.get("not_in")
        listed = [_number(slot, each) for each in refused] if isinstance(refused, tuple) else []
        return all(_number(slot, each) in listed or _outside(_number(slot, each), slot) for each in value)
    return name == "defined_only" and slot.closed


def _outside(number: Any, slot: Slot) -> bool:
    point = (number, True, number, True)
    return not any(_within(point, stretch) for stretch in _stretches(slot))


def _longer(value: Value, mine: Value) -> bool:
    return isinstance(value, str) and isinstance(mine, str) and nanoseconds(mine) <= nanoseconds(value)


# ----------------------------------------------------------------------------------------------------------------------
# Text and bytes


def _size(kind: str, value: Value) -> tuple[int, int]:
    """Characters and bytes of a constant; bytes are written as hex digits and have no characters of their own."""
    text = value if isinstance(value, str) else ""
    if kind == "bytes":
        count = len(text.removeprefix("0x")) // 2
        return count, count
    return len(text), len(text.encode())


def _lengths(slot: Slot) -> tuple[float, float, float, float]:
    """Fewest and most characters, fewest and most bytes, as far as the rules tell."""
    rules = slot.rules
    characters = [0.0, math.inf]
    octets = [0.0, math.inf]
    own = (
        ("len", 0, 2), ("min_len", 0, 1), ("max_len", 1, 2), ("len_bytes", 0, 2), ("min_bytes", 0, 1),
        ("max_bytes", 1, 2),
    )  # fmt: skip
    for name, first, last in own:
        value = rules.get(name)
        if isinstance(value, int):
            target = octets if name.endswith("bytes") else characters
            if first == 0:
                target[0] = max(target[0], value)
            if last == 2:
                target[1] = min(target[1], value)
    if slot.required and slot.presence == "implicit":
        characters[0] = max(characters[0], 1)
    for name in ("prefix", "suffix", "contains"):
        if name in rules:
            count, size = _size(slot.kind, rules[name])
            characters[0], octets[0] = max(characters[0], count), max(octets[0], size)
    for name, length in (_LENGTHS if slot.kind == "string" else _BYTE_LENGTHS).items():
        if rules.get(name) is True:
            characters = octets = [float(length), float(length)]
    if any(rules.get(name) is True for name in _FORMATS - {"uri_ref"}):
        characters[0] = max(characters[0], 1)
    # A character takes one to four bytes; of a bytes field the two are the same.
    most = 4 if slot.kind == "string" else 1
    return (
        max(characters[0], math.ceil(octets[0] / most)), min(characters[1], octets[1]),
        max(octets[0], characters[0]), min(octets[1], most * characters[1]),
    )  # fmt: skip


def _text_implied(name: str, value: Value, slot: Slot) -> bool:
    fewest, most, fewest_bytes, most_bytes = _lengths(slot)
    if isinstance(value, int) and not isinstance(value, bool):
        checks: Mapping[str, Callable[[], bool]] = {
            "min_len": lambda: fewest >= value,
            "max_len": lambda: most <= value,
            "len": lambda: fewest == most == value,
            "min_bytes": lambda: fewest_bytes >= value,
            "max_bytes": lambda: most_bytes <= value,
            "len_bytes": lambda: fewest_bytes == most_bytes == value,
        }
        return name in checks and checks[name]()
    rules = slot.rules
    if name in ("prefix", "suffix", "contains") and isinstance(value, str):
        return _part_implied(name, value, slot)
    if name == "not_contains":
        return False
    if name == "not_in" and isinstance(value, tuple):
        refused = rules.get("not_in")
        return all(
            (isinstance(refused, tuple) and each in refused) or not _kept(slot, each) for each in value
        )  # fmt: skip
    return False


def _part_implied(name: str, value: str, slot: Slot) -> bool:
    mine = slot.rules.get(name)
    if slot.kind == "bytes":
        value = value.removeprefix("0x")
        mine = mine.removeprefix("0x") if isinstance(mine, str) else mine
    if name == "prefix":
        return isinstance(mine, str) and mine.startswith(value)
    if name == "suffix":
        return isinstance(mine, str) and mine.endswith(value)
    parts: Iterable[Value] = (slot.rules.get(part) for part in ("prefix", "suffix", "contains"))
    return slot.kind == "string" and any(isinstance(part, str) and value in part for part in parts)


def _text_holds(name: str, value: Value, given: Value, slot: Slot) -> bool | None:
    count, size = _size(slot.kind, given)
    sized = _compare(
        name, {"min_len": "gte", "max_len": "lte"}, count, value
    )  # fmt: skip
    if sized is None:
        sized = _compare(name, {"min_bytes": "gte", "max_bytes": "lte"}, size, value)
    if sized is not None:
        return sized
    if name in ("len", "len_bytes"):
        return (count if name == "len" else size) == value
    if not isinstance(given, str) or not isinstance(value, str | bool):
        return None
    if slot.kind == "bytes":
        given = given.removeprefix("0x")
        value = value.removeprefix("0x") if isinstance(value, str) else value
    if isinstance(value, str):
        match name:
            case "prefix":
                return given.startswith(value)
            case "suffix":
                return given.endswith(value)
            case "contains" if slot.kind == "string" or not given:
                return value in given
            case "not_contains" if slot.kind == "string" or not given:
                return value not in given
            case "pattern" if slot.kind == "string":
                return _matches(value, given)
    if name in _FORMATS and given == "":
        return name == "uri_ref"  # the one format that holds the empty text
    return None


def _matches(pattern: str, text: str) -> bool | None:
    try:
        return re2.search(pattern, text) is not None
    except re2.error:
        return None
