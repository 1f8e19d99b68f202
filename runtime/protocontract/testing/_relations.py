"""Makes the fields of a drawn message agree: tensors, sequences, spans, graphs.

Everything here happens after the fields themselves were drawn, apart from those that a relation gives their values
(``driven``), which are drawn here.
"""

from __future__ import annotations

import math
import struct
from typing import TYPE_CHECKING, Any, Final

from google.protobuf.descriptor import FieldDescriptor as F
from hypothesis import strategies as st

from protocontract._options import Options, is_repeated, set_in
from protocontract.testing import _scalars, _texts

if TYPE_CHECKING:
    from protocontract.testing._messages import Maker

#: How much longer than it must be an axis is drawn.
_SLACK: Final = 3
#: So many elements of a tensor are drawn; a larger one repeats them.
_DRAWN: Final = 6
#: The option that names the sibling which a normalizer writes.
_WRITTEN: Final = {"money": "currency_field", "instant": "instant_field", "quantity": "value_field"}
_PACKED: Final = {
    "BOOL": "?", "INT8": "b", "INT16": "h", "INT32": "i", "INT64": "q", "UINT8": "B", "UINT16": "H", "UINT32": "I",
    "UINT64": "Q", "FLOAT16": "e", "FLOAT32": "f", "FLOAT64": "d", "BFLOAT16": "f",
}  # fmt: skip
_WHOLE: Final = {
    "BOOL": (0, 1), "INT8": (-128, 127), "INT16": (-(2**15), 2**15 - 1), "INT32": (-(2**31), 2**31 - 1),
    "INT64": (-(2**63), 2**63 - 1), "UINT8": (0, 255), "UINT16": (0, 2**16 - 1), "UINT32": (0, 2**32 - 1),
    "UINT64": (0, 2**64 - 1),
}  # fmt: skip


def driven(options: Options, descriptor: Any) -> frozenset[str]:
    """The fields whose values relations or other fields' normalizers give."""
    found: set[str] = set()
    for field in descriptor.fields:
        words = options.words(field)
        if words is None:
            continue
        kind = words.WhichOneof("normalizer")
        written = _WRITTEN.get(kind or "")
        if kind is not None and written is not None and getattr(getattr(words, kind), written):
            found.add(getattr(getattr(words, kind), written))
        if words.HasField("tensor"):
            found.add(field.name)
            if words.tensor.shape_field:
                found.add(words.tensor.shape_field)
        if words.HasField("sequence"):
            found.add(field.name)
    return frozenset(found)


def relate(maker: Maker, draw: Any, message: Any, depth: int) -> None:
    """Make the fields of one message agree with each other."""
    options = maker.options
    related = [(field, words) for field in message.DESCRIPTOR.fields if (words := options.words(field)) is not None]
    sizes: dict[str, int] = {}
    for field, words in related:
        if words.HasField("tensor"):
            _put_tensor(maker, draw, message, field, words, sizes)
    for field, words in related:
        if words.HasField("sequence") and (not words.HasField("tensor") or _has_law(words.sequence)):
            _put_sequence(maker, draw, message, field, words, depth)
    for field, words in related:
        if words.HasField("graph"):
            _tie(maker, draw, getattr(message, field.name), words.graph)
        if words.HasField("spans"):
            _place(maker, draw, message, field, words.spans)


# ----------------------------------------------------------------------------------------------------------------------
# Tensors and sequences


def _put_tensor(maker: Maker, draw: Any, message: Any, field: Any, words: Any, sizes: dict[str, int]) -> None:
    tensor, rules = words.tensor, maker.options.rules(field)
    shape = [_axis(draw, tensor, dim, sizes, rules, alone=len(tensor.dims) == 1) for dim in tensor.dims]
    count = math.prod(shape) if shape else draw(st.integers(1, 1 + _SLACK))
    dtype = tensor.DESCRIPTOR.fields_by_name["dtype"].enum_type.values_by_number[tensor.dtype].name
    numbers = _elements(draw, _element(maker, field, rules, words, dtype), count, tensor, shape)
    message.ClearField(field.name)
    if is_repeated(field):
        getattr(message, field.name).extend(numbers)
    else:
        setattr(message, field.name, _packed(dtype, numbers))
    if tensor.shape_field:
        message.ClearField(tensor.shape_field)
        getattr(message, tensor.shape_field).extend(shape)


def _axis(draw: Any, tensor: Any, dim: str, sizes: dict[str, int], rules: Any, *, alone: bool) -> int:
    if dim.isdigit():
        return int(dim)
    if dim not in sizes:
        bounds = tensor.bounds[dim] if dim in tensor.bounds else None  # noqa: SIM401  (a protobuf map's get makes no default)
        low = set_in(bounds, "min") if bounds is not None else None
        high = set_in(bounds, "max") if bounds is not None else None
        own = set_in(rules, "repeated") if alone else None
        low = max(1 if low is None else low, set_in(own, "min_items") or 0)
        limits = [each for each in (high, set_in(own, "max_items"), low + _SLACK) if each is not None]
        sizes[dim] = draw(st.integers(low, max(low, min(limits))))
    return sizes[dim]


def _element(maker: Maker, field: Any, rules: Any, words: Any, dtype: str) -> st.SearchStrategy[Any]:
    low, high = set_in(words.tensor, "min"), set_in(words.tensor, "max")
    if words.HasField("label"):
        last = words.label.num_classes - 1
        low, high = max(0, low or 0), last if high is None else min(last, high)
    own = set_in(set_in(set_in(rules, "repeated"), "items"), _member(field))
    whole = _WHOLE.get(dtype)
    if field.type in _scalars.INTEGERS or (field.type == F.TYPE_BYTES and whole is not None):
        kind = field.type if field.type in _scalars.INTEGERS else F.TYPE_INT64
        least, most = whole if whole is not None else _scalars.integer_range(kind)
        least = least if low is None else max(least, math.ceil(low))
        most = most if high is None else min(most, math.floor(high))
        if field.type == F.TYPE_BYTES:
            return st.integers(least, most)
        return _scalars.integers(kind, own, least, most)
    if whole is not None:
        least, most = whole
        return st.integers(least if low is None else math.ceil(low), most if high is None else math.floor(high))
    # Few digits, which every float type holds.
    eighths = st.integers(
        math.ceil((-100 if low is None else low) * 8), math.floor((100 if high is None else high) * 8)
    ).map(lambda each: each / 8)
    if own is None:
        return eighths
    return _scalars.floats(field.type, own, low, high)


def _member(field: Any) -> str:
    kinds = {F.TYPE_INT32: "int32", F.TYPE_INT64: "int64", F.TYPE_UINT32: "uint32", F.TYPE_UINT64: "uint64",
             F.TYPE_SINT32: "sint32", F.TYPE_SINT64: "sint64", F.TYPE_FIXED32: "fixed32", F.TYPE_FIXED64: "fixed64",
             F.TYPE_SFIXED32: "sfixed32", F.TYPE_SFIXED64: "sfixed64", F.TYPE_FLOAT: "float",
             F.TYPE_DOUBLE: "double"}  # fmt: skip
    return kinds.get(field.type, "string")


def _elements(draw: Any, element: st.SearchStrategy[Any], count: int, tensor: Any, shape: list[int]) -> list[Any]:
    if tensor.HasField("l2_norm"):
        length = shape[-1] if shape else count
        return [number for _ in range(count // max(1, length)) for number in _row(draw, length, tensor.l2_norm.value)]
    drawn = draw(st.lists(element, min_size=min(count, _DRAWN), max_size=min(count, _DRAWN)))
    return [drawn[at % len(drawn)] for at in range(count)] if drawn else []


def _row(draw: Any, length: int, norm: float) -> list[float]:
    """A row of a given L2 norm."""
    head = draw(st.lists(st.integers(-4, 4), min_size=min(length, _DRAWN), max_size=min(length, _DRAWN)))
    size = math.sqrt(sum(each * each for each in head))
    if not size:
        head, size = [1, *head[1:]], 1.0
    return [each * norm / size for each in head] + [0.0] * (length - len(head))


def _packed(dtype: str, numbers: list[Any]) -> bytes:
    packed = struct.pack(f"<{len(numbers)}{_PACKED.get(dtype, 'B')}", *numbers)
    if dtype != "BFLOAT16":
        return packed
    # The upper half of a float32.
    return b"".join(packed[at + 2 : at + 4] for at in range(0, len(packed), 4))


def _has_law(sequence: Any) -> bool:
    return bool(sequence.HasField("step") or sequence.HasField("first") or sequence.strictly_increasing)


def _put_sequence(maker: Maker, draw: Any, message: Any, field: Any, words: Any, depth: int) -> None:
    sequence, rules = words.sequence, maker.options.rules(field)
    own = set_in(rules, "repeated")
    if words.HasField("tensor"):
        size = len(getattr(message, field.name))
    elif sequence.same_length_as:
        size = len(getattr(message, sequence.same_length_as))
    else:
        low = set_in(own, "min_items") or 0
        high = set_in(own, "max_items")
        size = draw(st.integers(low, low + _SLACK if high is None else max(low, min(high, low + _SLACK))))
    if sequence.HasField("step"):
        values = [sequence.first + at * sequence.step for at in range(size)]
    elif sequence.strictly_increasing or sequence.HasField("first"):
        value = maker.value(field, set_in(own, "items"), depth, item=True)
        values = sorted(draw(st.lists(value, min_size=size, max_size=size, unique=True)))
        if sequence.HasField("first") and values:
            steps = draw(st.lists(st.integers(1, 5), min_size=size - 1, max_size=size - 1))
            values = [sequence.first]
            for step in steps:
                values.append(values[-1] + step)
    else:
        values = maker.items(draw, field, rules, size, depth)
    message.ClearField(field.name)
    getattr(message, field.name).extend(values)


# ----------------------------------------------------------------------------------------------------------------------
# Graphs and spans


def _tie(maker: Maker, draw: Any, items: Any, graph: Any) -> None:
    """Give each item parents among the items before it, and identities of their own."""
    known: list[Any] = []
    for at, item in enumerate(items):
        name = getattr(item, graph.id)
        field = item.DESCRIPTOR.fields_by_name[graph.id]
        tries = 0
        while name in known and tries < 10:
            tries += 1
            name = draw(maker.value(field, maker.options.rules(field), 0))
        setattr(item, graph.id, name)
        parents = item.DESCRIPTOR.fields_by_name[graph.parents]
        most = set_in(set_in(maker.options.rules(parents), "repeated"), "max_items")
        chosen = (
            draw(st.lists(st.sampled_from(known), unique=True, max_size=min(at, 2 if most is None else most)))
            if known
            else []
        )
        item.ClearField(graph.parents)
        if is_repeated(parents):
            getattr(item, graph.parents).extend(chosen)
        elif chosen:
            setattr(item, graph.parents, chosen[0])
        known.append(name)


def _place(maker: Maker, draw: Any, message: Any, field: Any, spans: Any) -> None:
    """Lay the spans one after the other into the text; those for which there is no room go."""
    text = getattr(message, spans.text)
    items = getattr(message, field.name)
    surface = field.message_type.fields_by_name.get(spans.surface) if spans.surface else None
    low, high = (0, None) if surface is None else _texts.sizes(_own_rules(maker, surface))
    low = max(low, 0 if spans.allow_empty else 1)
    at, kept = 0, 0
    for item in items:
        while at < len(text) and text[at].isspace():
            at += 1
        room = len(text) - at
        if room < low:
            break
        longest = min(room, low + 5 if high is None else high)
        start, end = at, at + draw(st.integers(low, max(low, longest)))
        while end - start > low and text[end - 1].isspace():
            end -= 1
        for name, place in ((spans.start, start), (spans.end, end)):
            setattr(item, name, _units(text[:place], spans.unit))
        if spans.surface:
            setattr(item, spans.surface, text[start:end])
        at, kept = end, kept + 1
    del items[kept:]


def _own_rules(maker: Maker, field: Any) -> Any:
    rules = maker.options.rules(field)
    return set_in(rules, "string")


def _units(text: str, unit: int) -> int:
    if unit == 2:  # UTF8_BYTE
        return len(text.encode())
    if unit == 3:  # UTF16
        return len(text.encode("utf-16-le")) // 2
    return len(text)
