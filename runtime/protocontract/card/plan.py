"""Which fields a card speaks of and how each is counted: read from the contract's descriptor and its options."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from google.protobuf.descriptor import FieldDescriptor as F

from protocontract._options import Options, entry_fields, is_map, is_repeated
from protocontract.card.tallies import Labels, Moments, Numbers, Tally, Tensors, Texts
from protocontract.relations import tensor_elements

Kind: TypeAlias = Literal[
    "text", "label", "bool", "integer", "number", "moment", "duration", "bytes", "tensor", "message", "sensitive"
]

_FLOATS: Final = frozenset({F.TYPE_FLOAT, F.TYPE_DOUBLE})
_WRAPPERS: Final = frozenset(
    f"google.protobuf.{name}Value"
    for name in ("Double", "Float", "Int64", "UInt64", "Int32", "UInt32", "Bool", "String", "Bytes")
)
_SECOND: Final = 1_000_000_000
# The types of `scalar.type` that are integers, by their names in contract.proto.
_WHOLE: Final = frozenset({"INT32", "INT64", "UINT32", "UINT64"})


class How(NamedTuple):
    """How the values of a field are counted: what makes the tally, and what turns a value into what it takes.

    Without ``make`` values are not looked at; without ``read`` they are taken as they are.
    """

    kind: Kind
    make: Callable[[], Tally] | None = None
    read: Callable[[Any], Any] | None = None


class Field:
    """One field of one message of the contract, at one path."""

    __slots__ = ("descriptor", "has_presence", "how", "keys", "map", "name", "nested", "path", "repeated")

    def __init__(self, planner: Planner, descriptor: Any, parent: str, around: frozenset[str]) -> None:
        self.descriptor = descriptor
        self.name: str = descriptor.name
        self.map = is_map(descriptor)
        self.repeated = is_repeated(descriptor)
        self.has_presence: bool = descriptor.has_presence and not self.repeated
        self.path = f"{parent}{self.name}"
        value = entry_fields(descriptor)[1] if self.map else descriptor
        words = planner.options.words(descriptor)
        #: The fields of the message in it, or None: no message, one that is counted as a whole, one that holds itself.
        self.nested: Callable[[], Sequence[Field]] | None = None
        self.keys = None if not self.map else planner.how(entry_fields(descriptor)[0], None, None)
        if words is not None and words.sensitive:
            self.how = How("sensitive")
            return
        if words is not None and words.HasField("tensor") and not self.map:
            self.how = _tensor(words.tensor)
            return
        rules = planner.options.rules(descriptor)
        self.how = planner.how(value, rules, words, repeated=self.repeated, is_map=self.map)
        inner = value.message_type
        if self.how.kind == "message" and inner.full_name not in around and not _opaque(inner.full_name):
            prefix = f"{self.path}[]." if self.repeated else f"{self.path}."
            self.nested = lambda: planner.fields(inner, prefix, around)


class Planner:
    """Plans the messages of one contract; each path once."""

    def __init__(self, descriptor: Any) -> None:
        self.options = Options(descriptor.file.pool)
        self._descriptor = descriptor
        self._fields: dict[str, Sequence[Field]] = {}

    def root(self) -> Sequence[Field]:
        """The fields of the contract's own message."""
        return self.fields(self._descriptor, "", frozenset())

    def fields(self, descriptor: Any, prefix: str, around: frozenset[str]) -> Sequence[Field]:
        """The fields of a message at a path. ``around``: full names of the messages that it stands in."""
        found = self._fields.get(prefix)
        if found is None:
            inside = around | {descriptor.full_name}
            ordered = sorted(descriptor.fields, key=lambda field: field.number)
            found = [Field(self, field, prefix, inside) for field in ordered]
            for field in ordered:
                self._label_currency(self.options.words(field), found)
            self._fields[prefix] = found
        return found

    @staticmethod
    def _label_currency(words: Any, fields: Sequence[Field]) -> None:
        """The sibling text that a money normalizer writes the currency into has the labels that it allows."""
        if words is None or not words.HasField("money") or not words.money.allowed:
            return
        names = {str(name): str(name) for name in words.money.allowed}
        for field in fields:
            if field.name == words.money.currency_field and field.how.kind == "text":
                field.how = How("label", lambda: Labels(names))

    def how(self, field: Any, rules: Any, words: Any, *, repeated: bool = False, is_map: bool = False) -> How:
        """How the values of a field are counted."""
        if rules is not None and is_map:
            rules = rules.map.values
        elif rules is not None and repeated:
            rules = rules.repeated.items
        match field.type:
            case F.TYPE_ENUM:
                names = {value.number: value.name for value in reversed(field.enum_type.values)}
                return How("label", lambda: Labels(dict(sorted(names.items()))))
            case F.TYPE_BOOL:
                return How("bool", lambda: Labels({False: "false", True: "true"}))
            case F.TYPE_STRING:
                return _text(rules, words)
            case F.TYPE_BYTES:
                return How("bytes", lambda: Numbers(whole=True), len)
            case F.TYPE_MESSAGE | F.TYPE_GROUP:
                return self._message(field.message_type)
        declared = _declared(rules, words)
        if declared:
            return How("label", lambda: Labels(declared))
        if field.type in _FLOATS:
            return How("number", lambda: Numbers(whole=False))
        return How("integer", lambda: Numbers(whole=True))

    def _message(self, descriptor: Any) -> How:
        name: str = descriptor.full_name
        if name == "google.protobuf.Timestamp":
            return How("moment", Moments, lambda value: value.seconds * _SECOND + value.nanos)
        if name == "google.protobuf.Duration":
            seconds = lambda value: (value.seconds * _SECOND + value.nanos) / _SECOND  # noqa: E731
            return How("duration", lambda: Numbers(whole=False), seconds)
        if name in _WRAPPERS:
            kind, make, read = self.how(descriptor.fields_by_name["value"], None, None)
            return How(kind, make, lambda value: value.value if read is None else read(value.value))
        return How("message")


def _text(rules: Any, words: Any) -> How:
    """A string by what its normalizer makes of it: a number, a moment, a label, or a text."""
    declared = _declared(rules, words)
    if declared:
        return How("label", lambda: Labels(declared))
    if words is None:
        return How("text", Texts)
    normalizer = words.WhichOneof("normalizer")
    if normalizer == "instant" and not words.instant.instant_field:
        return How("moment", Moments, nanoseconds)
    if normalizer == "money" or (normalizer == "quantity" and not words.quantity.value_field):
        return How("number", lambda: Numbers(whole=False), _number)
    if normalizer == "scalar":
        name = words.scalar.DESCRIPTOR.enum_types_by_name["Type"].values_by_number[words.scalar.type].name
        if name == "BOOL":
            return How("bool", lambda: Labels({"false": "false", "true": "true"}))
        whole = name in _WHOLE
        return How("integer" if whole else "number", lambda: Numbers(whole=whole), _integer if whole else _number)
    return How("text", Texts)


def _declared(rules: Any, words: Any) -> Mapping[Any, str]:
    """The labels that the contract names, by value; empty where it names none."""
    if words is not None and words.HasField("label"):
        label = words.label
        if label.aliases:
            return {name: name for name in sorted(label.aliases)}
        found = {number: str(number) for number in range(label.num_classes)}
        if label.HasField("ignore_index"):
            found[label.ignore_index] = str(label.ignore_index)
        if found:
            return found
    kind = None if rules is None else rules.WhichOneof("type")
    if kind in ("string", "int32", "int64", "uint32", "uint64", "sint32", "sint64", "fixed32", "fixed64", "sfixed32",
                "sfixed64"):  # fmt: skip
        own = getattr(rules, kind)
        if own.HasField("const"):
            return {own.const: str(own.const)}
        return {value: str(value) for value in getattr(own, "in")}
    return {}


def _tensor(options: Any) -> How:
    dims = tuple(options.dims)
    kind = options.DESCRIPTOR.enum_types_by_name["DType"].values_by_number[options.dtype].name.lower()

    def read(value: Any) -> tuple[tensor_elements.Elements, Sequence[int] | None]:
        content, shape = value
        elements: tensor_elements.Elements
        if isinstance(content, bytes):
            # Bytes that end inside an element are there where that is only a warning.
            whole = len(content) - len(content) % tensor_elements.SIZES[kind]
            elements = tensor_elements.of_bytes(memoryview(content)[:whole], kind)
        else:
            elements = tensor_elements.Numbers(list(content))
        return elements, shape or _sizes(dims, len(elements))

    return How("tensor", lambda: Tensors(dims), read)


def _sizes(dims: Sequence[str], count: int) -> Sequence[int] | None:
    """The sizes of the axes where the number of elements tells them: at most one is free."""
    fixed = 1
    for dim in dims:
        fixed *= int(dim) if dim.isdigit() else 1
    free = [dim for dim in dims if not dim.isdigit()]
    if len(free) > 1 or (free and not fixed):
        return None
    return [int(dim) if dim.isdigit() else count // fixed for dim in dims]


def shape_field(field: Any, options: Options) -> str:
    """The sibling that holds a tensor's sizes, or an empty name."""
    words = options.words(field)
    return str(words.tensor.shape_field) if words is not None and words.HasField("tensor") else ""


def _opaque(name: str) -> bool:
    """Whether a message is counted by its presence alone: Struct, Value, Any and the like hold what nobody declared."""
    return name.startswith("google.protobuf.")


def nanoseconds(text: str) -> int | None:
    """A moment as `instant` writes it (RFC 3339, UTC), in nanoseconds since the epoch; None for another text."""
    head, _, fraction = text.removesuffix("Z").partition(".")
    try:
        seconds = int(datetime.fromisoformat(head).replace(tzinfo=UTC).timestamp())
        return seconds * _SECOND + int(f"{fraction:0<9}"[:9])
    except ValueError:
        return None


def _number(text: str) -> float | None:
    """A decimal as `money`, `quantity` and `scalar` write it; None for another text."""
    try:
        return float(Decimal(text))
    except (InvalidOperation, OverflowError):
        return None


def _integer(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None
