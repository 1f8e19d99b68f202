"""What breaks the rules of one field, or of related ones; and what a normalizer has to clean up.

As in ``values``, nothing here has to be right: the contract says which rule a changed message breaks, if any.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from typing import Any, Final

from google.protobuf.descriptor import FieldDescriptor as F

from protocontract._options import is_repeated, set_in
from protocontract_compiler.examples.building import assign, dtype_of, packed
from protocontract_compiler.examples.values import SECOND, class_of, limits, nanos_of, own_rules, put_nanos, sized

#: Texts longer than this are not made to break a rule.
_LONGEST: Final = 40_000
_SYMBOLS: Final = {"CNY": "¥", "JPY": "¥", "USD": "$", "EUR": "€", "GBP": "£", "INR": "₹", "KRW": "₩"}
_SIZES: Final = ("len", "min_len", "max_len", "len_bytes", "min_bytes", "max_bytes")

# What each normalizer refuses somewhere. The first one that breaks a rule is its example.
_REFUSED: Final[dict[str, tuple[str, ...]]] = {
    "money": ("about ten", "1.234", "1,234", "CHF 12.50", "€12.50", "12.50 XAU", "12.505", "¥", "12.50 ABC"),
    "instant": ("soon", "03/04/2026 08:00", "2026-03-29 02:30:00", "2026-03-08 02:30:00", "2026-10-25 02:30:00",
                "2026-11-01 01:30:00", "2026-03-09 08:00:00", "1900-01-01T00:00:00Z", "9999-01-01T00:00:00Z",
                "1986-05-04 00:30:00", "1986-09-14 01:30:00", "2026-03-09 08:00 Nowhere/Zone"),
    "quantity": ("heavy", "12.5 furlongs", "12.5 kg", "12.5 m", "12.5 s", "1.234 kg", "12.5 parrots", "1e400 m"),
    "label": ("no such label",),
    "scalar": ("twelve", "1e3", "99999999999999999999999", "NaN", "0.1", "maybe", "1.5"),
    "text": ("\x00zero", "bell\x07", "broken \ufffd text", "\ufdd0", "abc\u202egnp", "\ue000", "\U000e0041",
             "CafÃ© MÃ¼nchen", "<p", "<!-- open", " ", "1.234 CNY"),
}  # fmt: skip


def values(field: Any, rules: Any, words: Any, usual: Any) -> Iterator[Any]:
    """Values of a field or item that break one of its rules, maybe. None stands for unset; ``usual`` is a good one."""
    own = own_rules(rules)
    kind = words.WhichOneof("normalizer") if words is not None else None
    if kind is not None and field.type == F.TYPE_STRING:
        yield from _REFUSED[kind]
    if field.message_type is not None:
        yield from _of_message(field, own)
    elif field.type == F.TYPE_STRING:
        yield from _texts(own, usual)
    elif field.type == F.TYPE_BYTES:
        yield from _of_bytes(own, usual)
    elif field.type == F.TYPE_ENUM:
        numbers = [value.number for value in field.enum_type.values]
        yield from (0, max(numbers) + 1, *(_listed(own, "not_in")), *numbers)
    elif field.type == F.TYPE_BOOL:
        yield from (False, True)
    else:
        yield from _numbers(field, own, words)
    yield None


def lists(field: Any, rules: Any, usual: list[Any]) -> Iterator[list[Any]]:
    """Lists that break a rule of a repeated field, maybe: too few, too many, the same twice, another order."""
    own = set_in(rules, "repeated")
    yield []
    if not usual:
        return
    low, high = set_in(own, "min_items"), set_in(own, "max_items")
    if low is not None and low > 1:
        yield usual[: low - 1]
    if high is not None and high < _LONGEST:
        yield [usual[at % len(usual)] for at in range(high + 1)]
    yield [*usual, usual[0]]
    yield usual[:-1]
    yield usual[::-1]
    yield usual[1:]
    if field.type in (F.TYPE_FLOAT, F.TYPE_DOUBLE):
        yield [math.nan, *usual[1:]]
        yield [2 * number for number in usual]


def related(message: Any, field: Any, words: Any) -> Iterator[Any]:
    """Copies of a message in which a relation of the field does not hold, maybe."""
    if words.HasField("spans"):
        yield from _spans(message, field, words.spans)
    if words.HasField("graph"):
        yield from _graph(message, field, words.graph)
    if words.HasField("tensor"):
        yield from _tensor(message, field, words.tensor)


def dirty(field: Any, words: Any, usual: Any) -> Iterator[Any]:
    """Values that a normalizer makes uniform, maybe."""
    kind = words.WhichOneof("normalizer")
    options = getattr(words, kind)
    match kind:
        case "money":
            yield from _amounts(options)
        case "instant":
            yield from ("2026-03-09 08:00", "2026-03-09T08:00:00+08:00", "2026年3月9日 8:00", "9 March 2026 08:00",
                        "2026-03-09", "1773043200", 1773043200, 1773043200000)  # fmt: skip
        case "quantity":
            units = [*options.allowed, options.unit, "km", "kg", "min", "°C"]
            yield from (f"1,5 {unit}" if options.decimal == "," else f"1.5{unit}" for unit in dict.fromkeys(units))
            yield "1.5"
        case "label":
            for aliases in options.aliases.values():
                yield from aliases.alias
        case "scalar":
            yield from (" 025 ", "+25", "025", *options.bool_words, "TRUE", "２５", " 25 ")
        case _:
            if isinstance(usual, str):
                yield from _texts_to_clean(usual)


def _amounts(options: Any) -> Iterator[str]:
    currencies = list(dict.fromkeys([options.default_currency, *options.allowed, "USD", "EUR"]))
    for currency in filter(None, currencies):
        if currency in _SYMBOLS:
            yield f"{_SYMBOLS[currency]}1,000.00"
        yield f"{currency} 12.5"
    yield from ("1,234.50", "1.234,50", "12.5", "１２.50", "12")


def _texts_to_clean(usual: str) -> Iterator[str]:
    head, space, tail = usual.partition(" ")
    yield f"  {usual} "
    yield f"{head}{space}{space}{tail}" if space else f"{usual}  "
    yield f"<p>{usual}</p>"
    yield f"{usual}\u0007"
    yield f"\ufeff{usual}"
    yield f"{usual} cafe\u0301"


# ----------------------------------------------------------------------------------------------------------------------
# By type


def _texts(own: Any, usual: Any) -> Iterator[str]:
    usual = usual if isinstance(usual, str) else ""
    if own is not None:
        for name in _SIZES:
            size = set_in(own, name)
            if size is not None and 0 < size < _LONGEST:
                yield from (sized(own, usual, size - 1), sized(own, usual, size + 1), "a" * (size + 1), "é" * size)
        for text in _listed(own, "not_in"):
            yield text
        for text in (*_listed(own, "in"), set_in(own, "const")):
            if text:
                yield from (text.lower() if text != text.lower() else text.upper(), f"{text}s")
        for name in ("prefix", "suffix", "contains", "not_contains"):
            text = set_in(own, name)
            if text:
                yield from (text, f"x{text}x")
    if usual:
        yield from (usual[:-1], f"{usual} ", f"{usual}!", usual.swapcase(), "not what was promised")
    yield from ("", "?")


def _of_bytes(own: Any, usual: Any) -> Iterator[bytes]:
    yield b""
    for name in ("len", "min_len", "max_len"):
        size = set_in(own, name)
        if size is not None and 0 < size < _LONGEST:
            yield from ((b"Example content. " * (size // 17 + 1))[: size - 1], b"\x01" * (size + 1))
    yield from _listed(own, "not_in")
    yield from (b"?", b"\xff\xfe")
    if isinstance(usual, bytes):
        yield from (usual[:-1], b"?" + usual[1:])


def _numbers(field: Any, own: Any, words: Any) -> Iterator[Any]:
    floating = field.type in (F.TYPE_FLOAT, F.TYPE_DOUBLE)
    low, high = limits(own)
    if words is not None and words.HasField("label") and words.label.num_classes:
        yield words.label.num_classes
    step = 0.5 if floating else 1
    for bound, away in ((low, -step), (high, step)):
        if bound is not None:
            yield from (bound + away, bound)
    yield from _listed(own, "not_in")
    yield from (0, -1, 7, 1000)
    if floating:
        yield from (math.nan, math.inf)


def _of_message(field: Any, own: Any) -> Iterator[Any]:
    name = field.message_type.full_name
    if name in ("google.protobuf.Timestamp", "google.protobuf.Duration"):
        low, high = limits(own)
        for bound, away in ((low, -1), (high, 1)):
            if bound is not None:
                yield from (put_nanos(class_of(field)(), nanos_of(bound) + away * SECOND), bound)
        # The years 1 and 9999: before and after whatever now is.
        yield from (put_nanos(class_of(field)(), seconds * SECOND) for seconds in (0, 253_402_300_799, -1))
    elif name == "google.protobuf.Any":
        yield class_of(field)(type_url="type.googleapis.com/unknown.Type")
        yield from (class_of(field)(type_url=url) for url in _listed(own, "not_in"))
    elif name == "google.protobuf.FieldMask":
        yield class_of(field)(paths=["no_such_field"])
        yield from (class_of(field)(paths=[path]) for path in _listed(own, "not_in"))


def _listed(own: Any, name: str) -> list[Any]:
    return list(getattr(own, name)) if own is not None and name in own.DESCRIPTOR.fields_by_name else []


# ----------------------------------------------------------------------------------------------------------------------
# Relations


def _copy(message: Any) -> Any:
    copied = type(message)()
    copied.CopyFrom(message)
    return copied


def _spans(message: Any, field: Any, spans: Any) -> Iterator[Any]:
    if not len(getattr(message, field.name)):
        return
    text = getattr(message, spans.text)
    first = getattr(message, field.name)[0]
    start, end = getattr(first, spans.start), getattr(first, spans.end)

    def moved(begin: int, stop: int, at: int = 0) -> Any:
        copied = _copy(message)
        item = getattr(copied, field.name)[at]
        setattr(item, spans.start, begin)
        setattr(item, spans.end, stop)
        if spans.surface and 0 <= begin < stop <= len(text):
            setattr(item, spans.surface, text[begin:stop])
        return copied

    yield moved(start, len(text.encode()) + 10)
    yield moved(end, start)
    yield moved(start, start)
    yield moved(start, end + 1)
    if spans.surface:
        copied = _copy(message)
        setattr(getattr(copied, field.name)[0], spans.surface, "something else")
        yield copied
    if len(getattr(message, field.name)) > 1:
        yield moved(start + 2, end + 2, 1)
        yield moved(start, end, 1)
        copied = _copy(message)
        items = list(getattr(copied, field.name))
        copied.ClearField(field.name)
        getattr(copied, field.name).extend(items[::-1])
        yield copied


def _graph(message: Any, field: Any, graph: Any) -> Iterator[Any]:
    items = getattr(message, field.name)
    if not len(items):
        return
    parents = items[0].DESCRIPTOR.fields_by_name[graph.parents]
    own = getattr(items[0], graph.id)
    missing = "no-such-parent" if isinstance(own, str) else 999_999
    # A digest, a UUID: what has its form and is nobody's.
    other = f"{own[:-1]}{'1' if own[-1:] != '1' else '2'}" if isinstance(own, str) and own else missing
    for parent in (missing, other, own, getattr(items[-1], graph.id)):
        copied = _copy(message)
        assign(getattr(copied, field.name)[0], parents, [parent] if is_repeated(parents) else parent)
        yield copied
    copied = _copy(message)
    getattr(copied, field.name).append(items[0])
    yield copied


def _tensor(message: Any, field: Any, tensor: Any) -> Iterator[Any]:
    if is_repeated(field) or field.type != F.TYPE_BYTES:
        numbers = list(getattr(message, field.name)) if is_repeated(field) else []
        for changed in _numbers_of(numbers, tensor):
            copied = _copy(message)
            try:
                assign(copied, field, changed)
            except (TypeError, ValueError):
                continue  # not a number that the field can hold
            yield copied
        return
    data: bytes = getattr(message, field.name)
    dtype = dtype_of(tensor)
    one = len(packed(dtype, [0]))
    replaced = [data[:-1], data[:-one], data + data[:one]]
    for number in _odd_numbers(tensor, floating="FLOAT" in dtype):
        try:
            replaced.append(packed(dtype, [number]) + data[one:])
        except (OverflowError, ValueError, TypeError, struct.error):
            continue  # the type cannot hold it
    replaced.append(data[: len(data) // 2])
    for other in replaced:
        copied = _copy(message)
        setattr(copied, field.name, other)
        yield copied
    if tensor.shape_field:
        copied = _copy(message)
        shape = getattr(copied, tensor.shape_field)
        if len(shape):
            shape[0] += 1
            yield copied


def _numbers_of(numbers: list[Any], tensor: Any) -> Iterator[list[Any]]:
    if not numbers:
        return
    yield numbers[:-1]
    for number in _odd_numbers(tensor, floating=isinstance(numbers[0], float)):
        yield [number, *numbers[1:]]
    yield [2 * number for number in numbers]


def _odd_numbers(tensor: Any, *, floating: bool) -> Iterator[Any]:
    low, high = set_in(tensor, "min"), set_in(tensor, "max")
    if floating:
        yield from (math.nan, math.inf, 5.0)
    if low is not None:
        yield (low - 0.5) if floating else math.ceil(low) - 1
    if high is not None:
        yield (high + 0.5) if floating else math.floor(high) + 1
