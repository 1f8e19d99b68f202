"""The forms in which a value of each protobuf type stands in JSON, limited to a set of its values.

They are those that a guard reads: the proto3 JSON mapping with numbers and enum values in all of its spellings. Where
only the usual spelling can be limited (``"300"`` but not ``"3e2"`` for an int64), the others are let pass.
"""

from __future__ import annotations

import math
import struct
from typing import Any, Final

from protocontract_compiler import ir
from protocontract_compiler.emit.jsonschema.combine import Json, all_of, any_of
from protocontract_compiler.emit.jsonschema.patterns import integers
from protocontract_compiler.emit.jsonschema.sets import ABOVE, BELOW, Cut, Numbers

LIMITS: Final = {
    **dict.fromkeys((ir.TYPE_INT32, ir.TYPE_SINT32, ir.TYPE_SFIXED32, ir.TYPE_ENUM), (-(1 << 31), (1 << 31) - 1)),
    **dict.fromkeys((ir.TYPE_INT64, ir.TYPE_SINT64, ir.TYPE_SFIXED64), (-(1 << 63), (1 << 63) - 1)),
    **dict.fromkeys((ir.TYPE_UINT32, ir.TYPE_FIXED32), (0, (1 << 32) - 1)),
    **dict.fromkeys((ir.TYPE_UINT64, ir.TYPE_FIXED64), (0, (1 << 64) - 1)),
}
"""Smallest and largest value of each integer type."""

NULL: Final[Json] = {"type": "null"}
TEXT: Final = {"type": "string"}

# Spellings of whole numbers other than plain digits: "3e2", "3.0", "-0".
_ODD: Final = "-0|-?[0-9]+[.eE][-+.0-9eE]*"
_NUMERAL: Final = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?"
_TIMESTAMP: Final = (
    r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?(?:Z|[-+][0-9]{2}:[0-9]{2})$"
)
_BASE64: Final = "[-A-Za-z0-9+/_]"
_MANY: Final = 1 << 62


def integer(type_: int, numbers: Numbers, *, quoted: bool = True) -> Json:
    """An integer of a type. ``quoted``: in quotes too, as the mapping writes 64-bit numbers."""
    low, high = LIMITS[type_]
    ranges = list(numbers.integers(low, high))
    if not ranges:
        return False
    found: dict[str, Any] = {"type": ["integer", "string"] if quoted else "integer"}
    if len(ranges) == 1:
        found |= {"minimum": ranges[0][0], "maximum": ranges[0][1]}
    else:
        singles = [first for first, last in ranges if first == last]
        found["anyOf"] = [{"minimum": first, "maximum": last} for first, last in ranges if first != last]
        if singles:
            # Of another type, and so none of these numbers, is a text: its pattern says what it may be.
            found["anyOf"] += [
                {"enum": singles},
                *([{"type": "string"}] if quoted and len(singles) == len(ranges) else []),
            ]
    if quoted:
        # At a type's own end a pattern lets pass what has no more digits: what is beyond is no value of the type.
        wide = [(_widened(first, low), _widened(last, high)) for first, last in ranges]
        found["pattern"] = f"^(?:{(integers(wide) or '')[4:-2]}|{_ODD})$"
    return found


def _widened(number: int, limit: int) -> int:
    if number != limit or not number:
        return number
    digits: int = 10 ** len(str(abs(number))) - 1
    return digits if number > 0 else -digits


def floating(numbers: Numbers, *, single: bool, quoted: bool = True, finite: bool = False) -> Json:
    """A float (``single``) or double. A number in quotes is not judged, but for NaN and the infinities."""
    spans: list[Json] = []
    for low, high in numbers.spans:
        bounds: dict[str, Any] = {}
        for (number, side), lower in ((low, True), (high, False)):
            if number in (-math.inf, math.inf):
                if (number == math.inf) == lower:
                    bounds = {"const": None}  # infinity alone, which no number of JSON is
                continue
            number, open_end = _rounded(number, side, lower) if single else (number, (side == ABOVE) == lower)
            name = "minimum" if lower else "maximum"
            bounds[f"exclusive{name.capitalize()}" if open_end else name] = number
        if bounds != {"const": None}:
            spans.append(all_of([_point(bounds)]) if bounds else True)
    words = [word for word, value in (("NaN", math.nan), ("Infinity", math.inf), ("-Infinity", -math.inf))
             if value in numbers and not finite]  # fmt: skip
    texts = [*words, *([_NUMERAL] if quoted and numbers.spans else [])]
    found: list[Json] = []
    bounded = any_of(spans)
    if texts and bounded is not False:
        return all_of([{"type": ["number", "string"], "pattern": f"^(?:{'|'.join(texts)})$"}, _for_numbers(bounded)])
    if bounded is not False:
        found.append(all_of([{"type": "number"}, bounded]))
    if texts:
        found.append({"type": "string", "pattern": f"^(?:{'|'.join(texts)})$"})
    return any_of(found)


def _point(bounds: dict[str, Any]) -> Json:
    if bounds.get("minimum") is not None and bounds.get("minimum") == bounds.get("maximum"):
        return {"const": bounds["minimum"]}
    return bounds


def _for_numbers(bounds: Json) -> Json:
    """Bounds beside a pattern: ``const`` and ``enum`` would refuse the texts that the pattern is for."""
    if isinstance(bounds, dict) and "const" in bounds:
        return {"minimum": bounds["const"], "maximum": bounds["const"]}
    if isinstance(bounds, dict) and "anyOf" in bounds:
        return {"anyOf": [_for_numbers(part) for part in bounds["anyOf"]]}
    return bounds


def _rounded(number: float, side: int, lower: bool) -> tuple[float, bool]:
    """Where the doubles end that a float rounds to the right side of a cut, and whether that end is open."""
    if abs(number) > _LARGEST_FLOAT:
        return math.copysign(_BEYOND_FLOAT, number), False
    near = _order(number)
    value = _float_at(near)
    # The floats around the cut: it parts them.
    is_below = side == ABOVE if value == number else value < number
    below = near if is_below else near - 1
    middle = (_float_at(below) + _float_at(below + 1)) / 2
    # A double in the middle becomes the float with the even last bit.
    inner = below + 1 if lower else below
    return middle, inner % 2 != 0


_LARGEST_FLOAT: Final = struct.unpack("<f", b"\xff\xff\x7f\x7f")[0]
#: What would come after the largest float, were there no end.
_BEYOND_FLOAT: Final = 2.0**128


def _order(number: float) -> int:
    """The place of the float nearest to a number among all floats; zero is at 0."""
    bits: int = struct.unpack("<i", struct.pack("<f", number))[0]
    return bits if bits >= 0 else -(bits & 0x7FFF_FFFF)


def _float_at(place: int) -> float:
    if abs(place) > _order(_LARGEST_FLOAT):
        return math.copysign(_BEYOND_FLOAT, place)
    found: float = struct.unpack("<f", struct.pack("<I", abs(place)))[0]
    return math.copysign(found, place)


def boolean(numbers: Numbers, *, words: bool = False) -> Json:
    """A bool, as the set of 0 and 1. ``words``: texts stand for it, too."""
    found: dict[str, Any] = {"type": "boolean"}
    if (0 in numbers) != (1 in numbers):
        found["const"] = 1 in numbers
    elif 0 not in numbers:
        return TEXT if words else False
    return any_of([found, TEXT]) if words else found


def enumeration(enum: ir.Enum, numbers: Numbers, *, spelled: bool) -> Json:
    """An enum's value by name or number. ``spelled``: codes and aliases stand for it, in any case and width."""
    names = [value.name for value in enum.values if value.number in numbers]
    if enum.full_name == "google.protobuf.NullValue":
        return any_of([NULL, {"enum": names}, integer(ir.TYPE_ENUM, numbers)])
    known = Numbers(())
    if enum.closed:
        for value in enum.values:
            known |= Numbers((((value.number, -1), (value.number, 1)),))
        numbers &= known
    others = [value.name for value in enum.values if value.name not in names]
    return any_of([
        {"enum": names} if names else False,
        ({**TEXT, "not": {"enum": others}} if others else TEXT) if spelled and is_spelled(enum) else False,
        integer(ir.TYPE_ENUM, numbers),
    ])  # fmt: skip


def is_spelled(enum: ir.Enum) -> bool:
    """Whether values of an enum have codes or aliases, which JSON may have in their place."""
    return any(value.code or value.aliases for value in enum.values)


def encoded(sizes: Numbers) -> Json:
    """Bytes in base64, by how many they are. Either alphabet, padded or not: so many bytes are so many characters."""
    branches = []
    for first, last in sizes.integers(0, _MANY):
        most = "" if last == _MANY else -(-last * 4 // 3)
        least = -(-first * 4 // 3)
        branches.append(f"{_BASE64}{{{least},{most}}}" if (least, most) != (0, "") else f"{_BASE64}*")
    if not branches:
        return False
    return {"type": "string", "pattern": f"^(?:{'|'.join(branches)})={{0,2}}$"}


def counted(sizes: Numbers, least: str, most: str) -> Json:
    """Keywords for the number of characters, items or properties."""
    found: list[Json] = []
    for first, last in sizes.integers(0, _MANY):
        bounds = ({least: first} if first else {}) | ({most: last} if last != _MANY else {})
        found.append(bounds or True)
    return any_of(found)


def keys(type_: int, numbers: Numbers, texts: Json) -> Json:
    """The keys of a map, which JSON has as names whatever their type is."""
    if type_ == ir.TYPE_STRING:
        return texts
    if type_ == ir.TYPE_BOOL:
        return {"enum": [word for word, value in (("false", 0), ("true", 1)) if value in numbers]}
    found = integer(type_, numbers)
    return {"pattern": found["pattern"]} if isinstance(found, dict) else found


def well_known(name: str) -> Json | None:
    """The form of a message that the mapping treats on its own; None for any other message."""
    return _WELL_KNOWN.get(name)


_DURATION: Final = r"[0-9]{1,12}(?:\.[0-9]{1,9})?s"
_ANY: Final[Json] = {"type": "object", "properties": {"@type": {"type": "string", "pattern": "/"}},
                     "anyOf": [{"required": ["@type"]}, {"maxProperties": 0}]}  # fmt: skip
_WELL_KNOWN: Final[dict[str, Json]] = {
    "google.protobuf.Timestamp": {"type": "string", "format": "date-time", "pattern": _TIMESTAMP},
    "google.protobuf.Duration": {"type": "string", "pattern": f"^-?{_DURATION}$"},
    "google.protobuf.FieldMask": {"type": "string"},
    "google.protobuf.Struct": {"type": "object"},
    "google.protobuf.ListValue": {"type": "array"},
    "google.protobuf.Value": True,
    "google.protobuf.Any": _ANY,
}


def duration(nanoseconds: Numbers) -> tuple[Json, bool]:
    """A duration, and whether the schema says all of the set: a pattern tells its sign and its whole seconds."""
    branches: list[str] = []
    exact = True
    for sign, numbers in (
        ("", nanoseconds),
        ("-", Numbers(tuple(_mirrored(span) for span in nanoseconds.spans[::-1]))),
    ):
        for low, high in numbers.spans:
            if high < (0, ABOVE):
                continue
            low = max(low, (0, BELOW))
            first, inner = divmod(low[0], _SECOND)
            exact = exact and not inner and (low[1] == BELOW)
            if high[0] == math.inf:
                branches.append(f"{sign}{_seconds(int(first), _MOST_SECONDS)}(?:\\.[0-9]{{1,9}})?s")
                continue
            last, beyond = divmod(high[0], _SECOND)
            exact = exact and not beyond
            if beyond or high[1] == ABOVE:
                # The last second itself: whole, or with all of its fractions where the bound is among them.
                fraction = "(?:\\.[0-9]{1,9})?" if beyond else "(?:\\.0{1,9})?"
                branches.append(f"{sign}{_seconds(int(last), int(last))}{fraction}s")
            if first < last:
                branches.append(f"{sign}{_seconds(int(first), int(last) - 1)}(?:\\.[0-9]{{1,9}})?s")
    if 0 in nanoseconds:
        branches.append("-0{1,12}(?:\\.0{1,9})?s")
    if not (~nanoseconds).spans:
        return _WELL_KNOWN["google.protobuf.Duration"], True
    return ({"type": "string", "pattern": f"^(?:{'|'.join(branches)})$"} if branches else False), exact


_SECOND: Final = 10**9
#: The mapping's own limit: 10,000 years.
_MOST_SECONDS: Final = 10**12 - 1


def _mirrored(span: tuple[Cut, Cut]) -> tuple[Cut, Cut]:
    (low, below), (high, above) = span
    return (-high, -above), (-low, -below)


def _seconds(first: int, last: int) -> str:
    """A pattern of whole seconds, which may begin with zeros."""
    found = integers([(first, min(last, _MOST_SECONDS))]) or ""
    return f"0*{found[1:-1]}"
