"""Builds a message of a contract from values that its rules accept, with related fields that agree."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Mapping
from typing import Any, Final

from google.protobuf.descriptor import FieldDescriptor as F

from protocontract._options import Options, constants, entry_fields, is_map, is_repeated, is_required, set_in
from protocontract_compiler.examples.values import class_of, fits, good

#: Items of a list, entries of a map, sizes of a free axis, where the rules do not want another number.
_USUAL: Final = 2
_MOST: Final = 4096
_PACKED: Final = {
    "BOOL": "?", "INT8": "b", "INT16": "h", "INT32": "i", "INT64": "q", "UINT8": "B", "UINT16": "H", "UINT32": "I",
    "UINT64": "Q", "FLOAT16": "e", "FLOAT32": "f", "FLOAT64": "d", "BFLOAT16": "f",
}  # fmt: skip
#: The option that names the field which a normalizer writes.
_WRITES: Final = {"money": "currency_field", "instant": "instant_field", "quantity": "value_field"}
_NAMES: Final = re.compile(r"[A-Z]\w+(?: [A-Z]\w+)*")
_WORDS: Final = re.compile(r"\w{2,}")


class Builder:
    """Builds messages of one type. ``choices`` say which of its possible values a field takes, by path.

    A path names fields without subscripts (``entities.label``). ``put`` are values that stand at a path instead, in the
    first message that is there; None leaves the field unset.
    """

    def __init__(self, message_type: Any) -> None:
        self.message_type = message_type
        self.options = Options(message_type.DESCRIPTOR.file.pool)

    def message(self, choices: Mapping[str, int], put: Mapping[str, Any] | None = None) -> Any:
        """A new message."""
        made = self.message_type()
        self._fill(made, "", 0, (made.DESCRIPTOR,), _Wanted(choices, put or {}))
        return made

    def values(self, field: Any, nth: int = 0) -> list[Any]:
        """The possible values of a field, or of its items."""
        rules = self.options.rules(field)
        # What CEL compares with is worth a try, after all that the standard rules suggest.
        named = [*constants(rules), *constants(self.options.message_rules(field.containing_type))]
        if is_repeated(field) and not is_map(field):
            rules = set_in(set_in(rules, "repeated"), "items")
        found = good(field, rules, self.options.words(field), nth)
        return [*found[:-1], *(value for value in named if fits(field, value)), *found[-1:]] if found else found

    def _fill(self, message: Any, prefix: str, nth: int, outer: tuple[Any, ...], wanted: _Wanted) -> None:
        written = self._written(message.DESCRIPTOR)
        for field in message.DESCRIPTOR.fields:
            path = prefix + field.name
            # What a normalizer writes is its own business.
            if not self._is_chosen(field, prefix, wanted) or (field.name in written and path not in wanted.put):
                continue
            if nth == 0 and path in wanted.put:
                assign(message, field, wanted.put[path])
            elif is_map(field):
                self._fill_map(message, field, path, outer, wanted)
            elif is_repeated(field):
                self._fill_list(message, field, path, outer, wanted)
            else:
                value = self._chosen(field, path, nth, wanted)
                if value is not None:
                    assign(message, field, value)
                elif self._is_entered(field, outer):
                    inner = getattr(message, field.name)
                    inner.SetInParent()
                    self._fill(inner, f"{path}.", nth, (*outer, field.message_type), wanted)
        self._relate(message, prefix if nth == 0 else None, wanted)

    def _written(self, descriptor: Any) -> frozenset[str]:
        """The fields that normalizers of other ones write."""
        found: set[str] = set()
        for field in descriptor.fields:
            words = self.options.words(field)
            kind = words.WhichOneof("normalizer") if words is not None else None
            if kind in _WRITES:
                found.add(getattr(getattr(words, kind), _WRITES[kind]))
        return frozenset(found)

    def _is_chosen(self, field: Any, prefix: str, wanted: _Wanted) -> bool:
        oneof = field.containing_oneof
        if oneof is None or len(oneof.fields) == 1:
            return True
        choice = wanted.choices.get(prefix + oneof.name, 0) % (len(oneof.fields) + 1)
        return choice < len(oneof.fields) and oneof.fields[choice] is field

    def _is_entered(self, field: Any, outer: tuple[Any, ...]) -> bool:
        """Whether a message in a field is made: not one of protobuf's own, and none in itself but where it must be."""
        if field.message_type is None or field.message_type.full_name.startswith("google.protobuf."):
            return False
        rules = self.options.rules(field)
        must = is_required(field) or (rules is not None and rules.required)
        return outer.count(field.message_type) < (2 if must else 1)

    def _chosen(self, field: Any, path: str, nth: int, wanted: _Wanted) -> Any:
        values = self.values(field, nth)
        return values[wanted.choices.get(path, 0) % len(values)] if values else None

    def _fill_list(self, message: Any, field: Any, path: str, outer: tuple[Any, ...], wanted: _Wanted) -> None:
        own = set_in(self.options.rules(field), "repeated")
        items = getattr(message, field.name)
        for nth in range(_size(set_in(own, "min_items"), set_in(own, "max_items"))):
            value = self._chosen(field, path, nth, wanted)
            if value is not None:
                items.append(value)
            elif self._is_entered(field, outer):
                self._fill(items.add(), f"{path}.", nth, (*outer, field.message_type), wanted)

    def _fill_map(self, message: Any, field: Any, path: str, outer: tuple[Any, ...], wanted: _Wanted) -> None:
        own = set_in(self.options.rules(field), "map")
        key, value = entry_fields(field)
        items = getattr(message, field.name)
        for nth in range(_size(set_in(own, "min_pairs"), set_in(own, "max_pairs"))):
            keys = good(key, set_in(own, "keys"), None, nth)
            values = good(value, set_in(own, "values"), self.options.words(field), nth)
            chosen = keys[wanted.choices.get(f"{path}.key", 0) % len(keys)]
            if chosen is None:
                continue
            if value.message_type is None:
                held = values[wanted.choices.get(f"{path}.value", 0) % len(values)]
                items[chosen] = held if held is not None else value.default_value
            elif values:
                items[chosen].CopyFrom(values[0])
            elif self._is_entered(value, outer):
                self._fill(items[chosen], f"{path}.value.", nth, (*outer, value.message_type), wanted)

    # -- relations: what other fields of the message decide

    def _relate(self, message: Any, prefix: str | None, wanted: _Wanted) -> None:
        related = [
            (field, words)
            for field in message.DESCRIPTOR.fields
            if (words := self.options.words(field)) is not None
            # What was put there stays.
            and (prefix is None or prefix + field.name not in wanted.put)
        ]
        sizes: dict[str, int] = {}
        for field, words in related:
            if words.HasField("tensor"):
                self._put_tensor(message, field, words.tensor, sizes)
        for field, words in related:
            if words.HasField("sequence"):
                self._put_sequence(message, field, words.sequence)
            if words.HasField("graph"):
                tie(getattr(message, field.name), words.graph)
            if words.HasField("spans"):
                place_spans(message, field, words.spans)

    def _put_tensor(self, message: Any, field: Any, tensor: Any, sizes: dict[str, int]) -> None:
        own = set_in(self.options.rules(field), "repeated") if len(tensor.dims) == 1 else None
        shape = [_axis(tensor, dim, sizes, own) for dim in tensor.dims]
        count = math.prod(shape)
        low, high = set_in(tensor, "min"), set_in(tensor, "max")
        if count > _MOST * 256:
            return
        if tensor.HasField("l2_norm") and shape:
            numbers = _row(shape[-1], tensor.l2_norm.value) * (count // shape[-1])
        elif is_repeated(field):
            numbers = [_within(self.values(field, nth % 7)[0], low, high) for nth in range(count)]
        else:
            numbers = [_within((nth % 4) / 4 if _is_float(tensor) else nth % 4 + 1, low, high) for nth in range(count)]
        message.ClearField(field.name)
        if is_repeated(field):
            getattr(message, field.name).extend(number for number in numbers if fits(field, number))
        elif field.type == F.TYPE_BYTES:
            setattr(message, field.name, packed(dtype_of(tensor), numbers))
        if tensor.shape_field:
            message.ClearField(tensor.shape_field)
            getattr(message, tensor.shape_field).extend(shape)

    def _put_sequence(self, message: Any, field: Any, sequence: Any) -> None:
        items = getattr(message, field.name)
        length = len(getattr(message, sequence.same_length_as)) if sequence.same_length_as else max(3, len(items))
        kept = list(items)
        if sequence.HasField("step") or sequence.HasField("first") or sequence.strictly_increasing:
            step = sequence.step if sequence.HasField("step") else 1
            kept = [sequence.first + nth * step for nth in range(length)]
        elif len(kept) != length:
            kept = [self.values(field, nth % 7)[0] for nth in range(length)]
        message.ClearField(field.name)
        getattr(message, field.name).extend(kept)


class _Wanted:
    def __init__(self, choices: Mapping[str, int], put: Mapping[str, Any]) -> None:
        self.choices = choices
        self.put = put


def assign(message: Any, field: Any, value: Any) -> None:
    """Puts a value into a field, all items of a list, or nothing (None). Raises ValueError, TypeError."""
    message.ClearField(field.name)
    if value is None:
        return
    if is_repeated(field):
        items = getattr(message, field.name)
        if isinstance(value, Mapping):
            items.update(value)
        else:
            items.extend(value)
    elif field.message_type is not None:
        getattr(message, field.name).CopyFrom(value)
        getattr(message, field.name).SetInParent()
    else:
        setattr(message, field.name, value)


def dtype_of(tensor: Any) -> str:
    """The name of a tensor's declared type: ``INT64``."""
    return str(tensor.DESCRIPTOR.fields_by_name["dtype"].enum_type.values_by_number[tensor.dtype].name)


def packed(dtype: str, numbers: list[Any]) -> bytes:
    """Numbers as the bytes of a tensor, little endian."""
    data = struct.pack(f"<{len(numbers)}{_PACKED[dtype]}", *numbers)
    # The upper half of a float32 is a bfloat16.
    return b"".join(data[at + 2 : at + 4] for at in range(0, len(data), 4)) if dtype == "BFLOAT16" else data


def tie(items: Any, graph: Any) -> None:
    """Makes each item of a graph the child of the one before."""
    before: Any = None
    for item in items:
        parents = item.DESCRIPTOR.fields_by_name[graph.parents]
        item.ClearField(graph.parents)
        if before is not None:
            assign(item, parents, [before] if is_repeated(parents) else before)
        before = getattr(item, graph.id)


def place_spans(message: Any, field: Any, spans: Any) -> None:
    """Lays the spans on words of the text, names before others, and removes those that there is no word for."""
    text = getattr(message, spans.text)
    items = getattr(message, field.name)
    found = [match.span() for match in _NAMES.finditer(text)] or [match.span() for match in _WORDS.finditer(text)]
    del items[len(found) :]
    for item, (start, end) in zip(items, found, strict=False):
        setattr(item, spans.start, _offset(text, start, spans))
        setattr(item, spans.end, _offset(text, end, spans))
        if spans.surface:
            setattr(item, spans.surface, text[start:end])


def _offset(text: str, at: int, spans: Any) -> int:
    unit = spans.DESCRIPTOR.fields_by_name["unit"].enum_type.values_by_number[spans.unit].name
    if unit == "UTF8_BYTE":
        return len(text[:at].encode())
    return len(text[:at].encode("utf-16-le")) // 2 if unit == "UTF16" else at


def _size(low: int | None, high: int | None) -> int:
    least = low or 0
    return min(max(least, min(_USUAL, _USUAL if high is None else high)), _MOST)


def _axis(tensor: Any, dim: str, sizes: dict[str, int], own: Any) -> int:
    if dim.isdigit():
        return int(dim)
    if dim not in sizes:
        bounds = tensor.bounds[dim] if dim in tensor.bounds else None  # noqa: SIM401  (a protobuf map's get makes no default)
        low = max(set_in(bounds, "min") or 1, set_in(own, "min_items") or 1)
        high = [limit for limit in (set_in(bounds, "max"), set_in(own, "max_items")) if limit is not None]
        sizes[dim] = max(low, min([4 if own is not None else 1, *high]))
    return sizes[dim]


def _is_float(tensor: Any) -> bool:
    return "FLOAT" in dtype_of(tensor)


def _within(number: Any, low: Any, high: Any) -> Any:
    """A number brought between the bounds of a tensor, of the same type."""
    if number is None:
        return 0
    if low is not None and number < low:
        number = type(number)(math.ceil(low))
    if high is not None and number > high:
        number = type(number)(math.floor(high))
    return number


def _row(length: int, norm: float) -> list[float]:
    """A row of the given L2 norm."""
    return [norm] if length == 1 else [0.6 * norm, 0.8 * norm, *([0.0] * (length - 2))]


def new_message(field: Any) -> Any:
    """An empty message of a field's type."""
    return class_of(field)()
