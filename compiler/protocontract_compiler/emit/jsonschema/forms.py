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
from protocontract_compiler.emit.jsonschema.sets import ABOVE, Numbers

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
    bits = struct.unpack("<i", struct.pack("<f", number))[0]
    # The neighbour that the cut parts the number from: above it, or below.
    other = _next(number, bits, side)
    middle = (number + other) / 2
    # A double in the middle becomes the neighbour with the even last bit.
    to_number = bits % 2 == 0
    inside = (side == ABOVE) != lower  # whether the number itself is in the set
    return middle, to_number != inside


def _next(number: float, bits: int, side: int) -> float:
    if number == 0:
        return math.copysign(2.0**-149, side)
    step = 1 if (number > 0) == (side == ABOVE) else -1
    following: float = struct.unpack("<f", struct.pack("<i", bits + step))[0]
    # Beyond the largest float comes what would be the next one, were there no end.
    return following if math.isfinite(following) else math.copysign(2.0**128, number)


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
    """A duration, and whether the schema says all of the set: only its sign can be told by a pattern."""
    everything = not any(True for _ in (~nanoseconds).spans)
    negative = any(low[0] < 0 for low, _ in nanoseconds.spans)
    positive = any(high[0] > 0 for _, high in nanoseconds.spans)
    zero = r"-?0{1,12}(?:\.0{1,9})?s"
    branches = [zero] + ([_DURATION] if positive else []) + ([f"-{_DURATION}"] if negative else [])
    exact = everything or nanoseconds in (
        Numbers((((0, -1), (math.inf, 1)),)),
        Numbers((((0, -1), (math.inf, 1)),), True),
    )
    if positive and negative:
        return _WELL_KNOWN["google.protobuf.Duration"], exact
    return {"type": "string", "pattern": f"^(?:{'|'.join(branches)})$"}, exact
