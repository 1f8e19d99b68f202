"""Where the rules of a contract turn over: for each field the values at and beside its bounds, and what breaks it.

An edge says where in a message it applies and what it puts there. Whether the message is valid afterwards is not its
business: ``boundary`` wants both sides, ``invalid`` asks the contract.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from google.protobuf import message_factory
from google.protobuf.descriptor import FieldDescriptor as F

from protocontract._options import constants, entry_fields, is_map, is_repeated, set_in
from protocontract.testing import _scalars, _texts
from protocontract.testing._messages import DEPTH, Maker, bounds_of_size, now
from protocontract.testing._patterns import matches

_SIZES: Final = ("len", "min_len", "max_len", "len_bytes", "min_bytes", "max_bytes")
_BOUNDS: Final = ("const", "lt", "lte", "gt", "gte")
#: Texts and lists are not made larger than this, whatever bound there is.
_LARGEST: Final = 70_000
#: So many elements are drawn for a list; where it is to be longer, they come again.
_FRESH: Final = 4


class _Unset:
    def __repr__(self) -> str:
        return "UNSET"


#: In place of a value: the field is not set.
UNSET: Final = _Unset()


@dataclass(frozen=True)
class Size:
    """In place of a value: so many elements."""

    count: int


@dataclass(frozen=True)
class Changed:
    """In place of a value: what a function makes of the value there, or of it and the message that holds it."""

    change: Callable[[Any, Any], Any]


@dataclass(frozen=True)
class Edge:
    """A value at a place. ``path`` leads there through messages; ``part`` is the field itself, or its first item, key
    or value.
    """

    path: tuple[Any, ...]
    value: Any
    part: str = ""

    @property
    def name(self) -> str:
        """The path as promises write it: ``entities[].label``."""
        steps = [field.name + ("[]" if is_repeated(field) else "") for field in self.path[:-1]]
        last = self.path[-1]
        return ".".join([*steps, last.name + ("[]" if self.part and is_repeated(last) else "")])


def edges(maker: Maker, descriptor: Any) -> list[Edge]:
    """All edges of a message and of those in it."""
    return list(_walk(maker, descriptor, (), DEPTH))


def _walk(maker: Maker, descriptor: Any, path: tuple[Any, ...], depth: int) -> Iterator[Edge]:
    for field in descriptor.fields:
        here = (*path, field)
        rules = maker.options.rules(field)
        inner: Any = field.message_type
        if is_map(field):
            key, value = entry_fields(field)
            own = set_in(rules, "map")
            yield from (Edge(here, Size(each)) for each in _sizes(bounds_of_size(rules, "pairs")))
            yield from (Edge(here, each, "key") for each in _scalar(maker, key, set_in(own, "keys"), None))
            yield from (
                Edge(here, each, "value")
                for each in _values(maker, value, set_in(own, "values"), maker.options.words(field))
            )
            inner = value.message_type
        elif is_repeated(field):
            own = set_in(rules, "repeated")
            yield from (Edge(here, Size(each)) for each in _sizes(bounds_of_size(rules, "items")))
            yield from (Edge(here, Changed(each)) for each in _of_lists(field))
            words = maker.options.words(field)
            yield from (Edge(here, each, "item") for each in _values(maker, field, set_in(own, "items"), words))
        else:
            if field.has_presence:
                yield Edge(here, UNSET)
            yield from (Edge(here, each) for each in _values(maker, field, rules, maker.options.words(field)))
            yield from (Edge(here, each) for each in _siblings(maker, field))
        seen = sum(1 for step in path if step.containing_type is descriptor)
        if inner is not None and depth > 0 and not seen and not inner.full_name.startswith("google.protobuf."):
            yield from _walk(maker, inner, here, depth - 1)


def _sizes(bounds: tuple[int, int | None]) -> list[int]:
    low, high = bounds
    wanted = {0, 1, 2, low - 1, low, low + 1}
    if high is not None and high <= _LARGEST:
        wanted |= {high - 1, high, high + 1}
    return sorted(each for each in wanted if each >= 0)


# ----------------------------------------------------------------------------------------------------------------------
# Values


def _values(maker: Maker, field: Any, rules: Any, words: Any) -> Iterator[Any]:
    if field.message_type is None:
        yield from _scalar(maker, field, rules, words)
        return
    name = field.message_type.full_name.removeprefix("google.protobuf.")
    own = _own(rules)
    if name in ("Timestamp", "Duration"):
        yield from _of_time(name, own)
    elif name == "Any":
        urls = [*getattr(own, "in"), *own.not_in] if own is not None else []
        yield from (_class(field)(type_url=each) for each in ("", "example.com/x.Y", *urls))
    elif name == "FieldMask":
        paths = [*getattr(own, "in"), *own.not_in, *own.const.paths] if own is not None else []
        yield from (_class(field)(paths=[each]) for each in ("no.such", *paths))
    elif name.endswith("Value") and "value" in field.message_type.fields_by_name:
        kind = _class(field)
        inner = field.message_type.fields_by_name["value"]
        yield from (kind(value=each) for each in _scalar(maker, inner, rules, None) if not isinstance(each, Changed))


def _class(field: Any) -> Any:
    return message_factory.GetMessageClass(field.message_type)


def _own(rules: Any) -> Any:
    member = rules.WhichOneof("type") if rules is not None else None
    return getattr(rules, member) if member is not None else None


def _scalar(maker: Maker, field: Any, rules: Any, words: Any) -> Iterator[Any]:
    own = _own(rules)
    named = [*constants(rules), *constants(maker.options.message_rules(field.containing_type))]
    match field.type:
        case F.TYPE_STRING:
            yield from _of_texts(own, [each for each in named if isinstance(each, str)])
            if words is not None and words.HasField("instant") and words.instant.zone:
                yield from _texts.clock_changes(words.instant.zone)
        case F.TYPE_BYTES:
            yield from _of_bytes(own, words)
        case F.TYPE_BOOL:
            yield from (False, True)
        case F.TYPE_ENUM:
            yield from _of_enums(field, own)
        case F.TYPE_FLOAT | F.TYPE_DOUBLE:
            yield from _of_floats(field, own, [each for each in named if not isinstance(each, str)])
        case _:
            yield from _of_integers(field, own, words, [each for each in named if isinstance(each, int)])


def _constants(own: Any) -> list[Any]:
    if own is None:
        return []
    found = [value for name in _BOUNDS if (value := set_in(own, name)) is not None]
    return [*found, *getattr(own, "in"), *own.not_in]


def _of_integers(field: Any, own: Any, words: Any, named: list[int]) -> Iterator[Any]:
    least, most = _scalars.integer_range(field.type)
    known = [*_constants(own), *named]
    if words is not None and words.HasField("label"):
        known += [words.label.num_classes, words.label.ignore_index]
    if words is not None and words.HasField("tensor"):
        known += [int(each) for name in ("min", "max") if (each := set_in(words.tensor, name)) is not None]
    beside = {each + step for each in [0, *known] for step in (-1, 0, 1)} | {least, most}
    yield from sorted(each for each in beside if least <= each <= most)
    yield Changed(lambda value, _: min(most, value + 1))
    yield Changed(lambda value, _: max(least, value - 1))
    yield Changed(lambda value, _: min(most, value + 1000))


def _of_floats(field: Any, own: Any, named: list[float]) -> Iterator[Any]:
    single = field.type == F.TYPE_FLOAT
    yield from (0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan)
    for each in dict.fromkeys([*_constants(own), *(float(each) for each in named)]):
        yield from (_beside(each, -math.inf, single=single), each, _beside(each, math.inf, single=single))


def _beside(value: float, towards: float, *, single: bool) -> float:
    """The next number that the field's type holds."""
    if not single or not math.isfinite(value):
        return math.nextafter(value, towards)
    held = struct.unpack("<f", struct.pack("<f", value))[0]
    if held == 0:
        return math.copysign(2.0**-149, towards)
    bits = struct.unpack("<i", struct.pack("<f", held))[0]
    grows = (towards > held) == (held > 0)
    found: float = struct.unpack("<f", struct.pack("<i", bits + (1 if grows else -1)))[0]
    return found


def _of_enums(field: Any, own: Any) -> Iterator[int]:
    declared = [value.number for value in field.enum_type.values]
    others = [] if field.enum_type.is_closed else [max(declared) + 1, -1, *_constants(own)]
    yield from dict.fromkeys([*declared, *others])


def _of_time(name: str, own: Any) -> Iterator[Any]:
    low, high = _scalars.TIMESTAMPS if name == "Timestamp" else _scalars.DURATIONS
    known = (
        [] if own is None else [_scalars.nanos(value) for each in _BOUNDS if (value := set_in(own, each)) is not None]
    )
    if own is not None and name == "Duration":
        known += [_scalars.nanos(each) for each in (*getattr(own, "in"), *own.not_in)]
    beside = {each + step for each in [0, *known] for step in (-1, 0, 1)} | {low, high}
    yield from (Nanos(each) for each in sorted(beside) if low <= each <= high)
    if name == "Timestamp" and own is not None and (own.HasField("within") or own.lt_now or own.gt_now):
        reach = _scalars.nanos(own.within) if own.HasField("within") else 0
        for apart in (-reach, 0, reach):
            yield from (Nanos(apart + step * 60 * _scalars.SECOND, from_now=True) for step in (-1, 1))


@dataclass(frozen=True)
class Nanos:
    """In place of a Timestamp or Duration: nanoseconds, from the epoch or (``from_now``) from the present."""

    value: int
    from_now: bool = False


def _of_texts(own: Any, named: list[str]) -> Iterator[Any]:
    yield from _texts.nasty()
    yield from named
    for name in ("const", "prefix", "suffix", "contains", "not_contains"):
        text = set_in(own, name)
        if text is not None:
            yield from (text, f"x{text}", f"{text}x", text[:-1])
    for text in [*getattr(own, "in"), *own.not_in] if own is not None else ():
        yield from (text, f"{text}x", text.swapcase())
    for name in _SIZES:
        size = set_in(own, name)
        if size is not None and size <= _LARGEST:
            yield from (_sized(own, each) for each in (size - 1, size, size + 1) if each >= 0)
            yield from ("é" * each for each in (size // 2, size // 2 + 1))
    yield Changed(lambda value, _: f"{value}x")
    yield Changed(lambda value, _: f"{value}\n")
    yield Changed(lambda value, _: value[:-1])
    yield Changed(lambda value, _: value.swapcase())


def _sized(own: Any, size: int) -> str:
    """A text of a size that keeps the other rules where one letter, repeated, does."""
    prefix, suffix = set_in(own, "prefix") or "", set_in(own, "suffix") or ""
    pattern = set_in(own, "pattern")
    best = "a" * size
    for letter in "a0Az_-.":
        text = f"{prefix}{letter * max(0, size - len(prefix) - len(suffix))}{suffix}"
        if pattern is None or matches(pattern, text):
            return text
    return best


def _of_bytes(own: Any, words: Any) -> Iterator[Any]:
    yield from (b"", b"\x00", b"\xff\xfe", b"abc")
    for name in ("const", "prefix", "suffix", "contains"):
        value = set_in(own, name)
        if value is not None:
            yield from (value, b"x" + value, value + b"x", value[:-1])
    for value in [*getattr(own, "in"), *own.not_in] if own is not None else ():
        yield from (value, value + b"x")
    for name in ("len", "min_len", "max_len"):
        size = set_in(own, name)
        if size is not None and size <= _LARGEST:
            yield from (b"\x00" * each for each in (size - 1, size, size + 1) if each >= 0)
    yield Changed(lambda value, _: value + b"\x00")
    yield Changed(lambda value, _: value[:-1])
    if words is not None and words.HasField("tensor"):
        # Whole elements more and fewer, and elements of all ones: NaN, or out of bounds.
        for width in (1, 2, 4, 8):
            yield Changed(partial(_resized, width))
            yield Changed(partial(_resized, -width))
            yield Changed(partial(_begun, b"\xff" * width))
            yield Changed(partial(_begun, b"\x7f" * width))
        yield Changed(lambda value, _: b"\x00" * len(value))
        yield Changed(lambda value, _: value[: len(value) // 2])


def _resized(size: int, value: bytes, _: Any) -> bytes:
    return value + b"\x00" * size if size > 0 else value[:size]


def _begun(start: bytes, value: bytes, _: Any) -> bytes:
    return start + value[len(start) :]


def _with_sibling(name: str, items: list[Any], holder: Any) -> list[Any]:
    return [*items, getattr(holder, name)]


def _sibling(name: str, _: Any, holder: Any) -> Any:
    return getattr(holder, name)


def _of_lists(field: Any) -> Iterator[Callable[[Any, Any], Any]]:
    """What is done to the elements of a list as a whole."""
    yield lambda items, _: [*items, *items[:1]]
    yield lambda items, _: items[1:]
    yield lambda items, _: items[:-1]
    yield lambda items, _: list(reversed(items))
    if field.type in _scalars.FLOATS:
        yield lambda items, _: [math.nan, *items[1:]]
        yield lambda items, _: [2 * each for each in items]
    if field.message_type is not None or field.type not in (F.TYPE_STRING, F.TYPE_BYTES, *_scalars.INTEGERS):
        return
    for other in field.containing_type.fields:
        # An identity of its own among the parents of an item, and one that nobody has.
        if other is not field and other.type == field.type and not is_repeated(other):
            yield partial(_with_sibling, other.name)
    if field.type == F.TYPE_STRING:
        yield lambda items, _: [*items, "no such item"]
    elif field.type in _scalars.INTEGERS:
        yield lambda items, _: [*items, 2**31 - 1]


def _siblings(maker: Maker, field: Any) -> Iterator[Changed]:
    """The value of another field of the same type, where the message has rules of its own."""
    if field.message_type is not None or maker.options.message_rules(field.containing_type) is None:
        return
    for other in field.containing_type.fields:
        if other is not field and other.type == field.type and not is_repeated(other) and other.type != F.TYPE_ENUM:
            yield Changed(partial(_sibling, other.name))


# ----------------------------------------------------------------------------------------------------------------------
# Putting them in


def put_edge(maker: Maker, draw: Any, message: Any, edge: Edge) -> None:
    """Put an edge into a message. Messages on the way there are drawn where they are missing.

    Raises ValueError or TypeError where the field cannot hold the value.
    """
    holder = message
    for field in edge.path[:-1]:
        holder = _into(maker, draw, holder, field)
    field, value = edge.path[-1], edge.value
    if isinstance(value, _Unset):
        holder.ClearField(field.name)
    elif isinstance(value, Size):
        _resize(maker, draw, holder, field, value.count)
    elif is_map(field):
        _put_entry(maker, draw, holder, field, edge)
    elif is_repeated(field):
        _put_item(maker, draw, holder, field, edge)
    elif field.message_type is not None:
        inner = getattr(holder, field.name)
        inner.SetInParent()
        _put_message(inner, value)
    else:
        setattr(holder, field.name, _new(value, getattr(holder, field.name), holder))


def _new(value: Any, old: Any, holder: Any) -> Any:
    return value.change(old, holder) if isinstance(value, Changed) else value


def _put_message(inner: Any, value: Any) -> None:
    if isinstance(value, Nanos):
        low, high = _scalars.TIMESTAMPS if inner.DESCRIPTOR.name == "Timestamp" else _scalars.DURATIONS
        wanted = value.value + (now() if value.from_now else 0)
        _scalars.put_nanos(inner, max(low, min(high, wanted)))
    else:
        inner.CopyFrom(value)


def _into(maker: Maker, draw: Any, holder: Any, field: Any) -> Any:
    """The message in a field: its first one, drawn where there is none."""
    if is_map(field) or is_repeated(field):
        if not len(getattr(holder, field.name)):
            _resize(maker, draw, holder, field, 1)
        items = getattr(holder, field.name)
        return items[min(items)] if is_map(field) else items[0]
    if not holder.HasField(field.name):
        maker.put(draw, holder, field, DEPTH, must=True)
    return getattr(holder, field.name)


def _resize(maker: Maker, draw: Any, holder: Any, field: Any, size: int) -> None:
    rules = maker.options.rules(field)
    items = getattr(holder, field.name)
    if is_map(field):
        for key in sorted(items)[size:]:
            del items[key]
        for _ in range(min(size - len(items), 8)):
            _add_entry(maker, draw, field, items)
        return
    if len(items) > size:
        kept = list(items)[:size]
        holder.ClearField(field.name)
        getattr(holder, field.name).extend(kept)
        return
    fresh = maker.items(draw, field, rules, min(size - len(items), _FRESH), DEPTH)
    while fresh and len(items) < size:
        items.extend(fresh[: size - len(items)])


def _add_entry(maker: Maker, draw: Any, field: Any, items: Any) -> None:
    key, value = entry_fields(field)
    own = set_in(maker.options.rules(field), "map")
    chosen = draw(maker.value(key, set_in(own, "keys"), DEPTH))
    drawn = maker.drawn(draw, value, set_in(own, "values"), DEPTH, words_of=field)
    if value.message_type is None:
        items[chosen] = drawn
    else:
        items[chosen].CopyFrom(drawn)


def _put_entry(maker: Maker, draw: Any, holder: Any, field: Any, edge: Edge) -> None:
    items = getattr(holder, field.name)
    if not len(items):
        _add_entry(maker, draw, field, items)
    first = min(items)
    _, value = entry_fields(field)
    if edge.part == "value":
        if value.message_type is None:
            items[first] = _new(edge.value, items[first], holder)
        else:
            _put_message(items[first], edge.value)
        return
    key = _new(edge.value, first, holder)
    if value.message_type is None:
        items[key] = items[first]
    else:
        items[key].CopyFrom(items[first])
    if key != first:
        del items[first]


def _put_item(maker: Maker, draw: Any, holder: Any, field: Any, edge: Edge) -> None:
    if not edge.part:
        changed = edge.value.change(list(getattr(holder, field.name)), holder)
        holder.ClearField(field.name)
        getattr(holder, field.name).extend(changed)
        return
    if not len(getattr(holder, field.name)):
        _resize(maker, draw, holder, field, 1)
    items = getattr(holder, field.name)
    if field.message_type is not None:
        _put_message(items[0], edge.value)
    else:
        items[0] = _new(edge.value, items[0], holder)
