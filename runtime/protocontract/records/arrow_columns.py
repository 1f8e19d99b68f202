"""Messages from columns: each column is a field. What does not map exactly is refused, never rounded, cut or guessed.

Which type goes into which field is decided once for a schema; a column that fits no field, or not its field, is an
error of the file (ContractError, with the column and both types). A value that does not fit refuses its row. The
mapping is the table in docs/arrow.md.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeAlias, TypeVar, cast

import pyarrow as pa
import pyarrow.compute as pc
from google.protobuf import message_factory
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.message import Message

from protocontract.arrow import kinds
from protocontract.normalize.label import folded
from protocontract.normalize.scalar import INTEGERS
from protocontract.violations import ContractError, Refusal
from protocontract.wire_json import enum_words, options_by_field, repeated

M = TypeVar("M", bound=Message)

_Type = FieldDescriptor
_NAMES: Final = {
    _Type.TYPE_DOUBLE: "double", _Type.TYPE_FLOAT: "float", _Type.TYPE_BOOL: "bool", _Type.TYPE_STRING: "string",
    _Type.TYPE_BYTES: "bytes", _Type.TYPE_INT32: "int32", _Type.TYPE_INT64: "int64", _Type.TYPE_UINT32: "uint32",
    _Type.TYPE_UINT64: "uint64", _Type.TYPE_SINT32: "sint32", _Type.TYPE_SINT64: "sint64",
    _Type.TYPE_FIXED32: "fixed32", _Type.TYPE_FIXED64: "fixed64", _Type.TYPE_SFIXED32: "sfixed32",
    _Type.TYPE_SFIXED64: "sfixed64",
}  # fmt: skip
_WRAPPERS: Final = frozenset(
    f"google.protobuf.{kind}Value"
    for kind in ("Double", "Float", "Int64", "UInt64", "Int32", "UInt32", "Bool", "String", "Bytes")
)
_PER_SECOND: Final = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
_FIRST_SECOND: Final = -62_135_596_800  # 0001-01-01T00:00:00Z
_LAST_SECOND: Final = 253_402_300_799  # 9999-12-31T23:59:59Z
_LONGEST_DURATION: Final = 315_576_000_000
# Up to here every integer is a double (a float) of its own; beyond, a float may stand for its neighbours too.
_EXACT_DOUBLE: Final = 1 << 53
_EXACT_FLOAT: Final = 1 << 24

_Read: TypeAlias = "Callable[[pa.Array], list[Any]]"
"""The values of an array's rows, ready to be set: None for null, a _Wrong where a value does not fit."""
_Convert: TypeAlias = Callable[[Any], Any]
_Set: TypeAlias = Callable[[Any, Any], None]


class _Wrong:
    """A value that does not fit; each level adds its part of the path."""

    __slots__ = ("message", "path", "rule_id")

    def __init__(self, rule_id: str, message: str) -> None:
        self.rule_id = rule_id
        self.message = message
        self.path: list[str] = []

    def at(self, part: str) -> _Wrong:
        """The same, seen from one level further out."""
        self.path.append(part)
        return self

    def refusal(self) -> Refusal:
        path = ""
        for part in reversed(self.path):
            path += part if part[0] == "[" or not path else f".{part}"
        return Refusal(self.rule_id, f"column {path}: {self.message}")


@dataclass(frozen=True, slots=True)
class _Column:
    """A column with the field that it fills. ``place``: which column of the input it is."""

    place: int
    name: str
    oneof: str | None
    read: _Read
    set: _Set


class MessageColumns(Generic[M]):
    """Reads messages from batches of one schema. Columns are found by the names of fields, or their JSON names.

    A column that is missing, and a null, leave the field unset.
    """

    def __init__(
        self,
        message_type: type[M],
        schema: pa.Schema,
        *,
        assume_utc: bool = False,
        scalars: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        """``assume_utc``: a timestamp without a zone is one in UTC. ``scalars``: those of the contract, of which the
        other texts of enum values count here (``enum_aliases``), so that a text is the same in a column as in JSON.

        Raises ContractError for a column without a field, two columns of one field, and types that do not fit.
        """
        self._type = message_type
        descriptor = cast("Descriptor", message_type.DESCRIPTOR)  # the stubs know of two kinds
        options = options_by_field(descriptor, scalars or {})
        words = {name: option["enum_aliases"] for name, option in options.items() if "enum_aliases" in option}
        self._columns = _Binder(assume_utc, words).columns(descriptor, list(schema), "")

    def messages(self, batch: pa.RecordBatch) -> list[M | Refusal]:
        """A message, or a Refusal, for each row.

        Rules: scalar.range, scalar.inexact, scalar.enum, wire.malformed, wire.oneof, wire.duplicate.
        """
        read = [(column, column.read(batch.column(column.place))) for column in self._columns]
        made = (_message(self._type, read, row) for row in range(batch.num_rows))
        return [found.refusal() if isinstance(found, _Wrong) else found for found in made]


def _message(message_type: type[M], columns: Iterable[tuple[_Column, list[Any]]], row: int) -> M | _Wrong:
    message = message_type()
    for column, values in columns:
        value = values[row]
        if value is None:
            continue
        if isinstance(value, _Wrong):
            return value.at(column.name)
        if column.oneof is not None and message.WhichOneof(column.oneof) is not None:
            return _Wrong("wire.oneof", "a second member of its oneof; expected one").at(column.name)
        column.set(message, value)
    return message


# ----------------------------------------------------------------------------------------------------------------------
# Which column fills which field


class _Binder:
    def __init__(self, assume_utc: bool, words: Mapping[str, Mapping[str, int]]) -> None:
        """``words``: what stands for an enum's values beside their names, by the full name of the field."""
        self._assume_utc = assume_utc
        self._words = words

    def columns(self, descriptor: Descriptor, columns: Sequence[pa.Field], path: str) -> list[_Column]:
        """The columns of a message: of a table, or of a struct at ``path``."""
        fields = {field.json_name: field for field in descriptor.fields}
        fields |= {field.name: field for field in descriptor.fields}
        known = [(place, column, fields[column.name]) for place, column in enumerate(columns) if column.name in fields]
        if len(known) < len(columns):
            unknown = ", ".join(path + column.name for column in columns if column.name not in fields)
            advice = "; ignore them (--ignore-column), or name the column that holds serialised records (--column)"
            raise ContractError(
                f"{descriptor.full_name} has no field for the columns {unknown}{'' if path else advice}"
            )
        bound: dict[str, _Column] = {}
        for place, column, field in known:
            if field.name in bound:
                raise ContractError(f"two columns for {field.full_name}; expected one")
            oneof = field.containing_oneof
            bound[field.name] = _Column(
                place,
                column.name,
                None if oneof is None else oneof.name,
                self._field(field, column.type, path + column.name),
                _setter(field),
            )
        return list(bound.values())

    def _field(self, field: FieldDescriptor, kind: pa.DataType, path: str) -> _Read:
        stored = kinds.stored_type(kind)
        if pa.types.is_null(stored):
            return lambda array: [None] * len(array)
        entry = field.message_type
        if entry is not None and entry.GetOptions().map_entry:
            if not pa.types.is_map(stored):
                raise _unfit(field, kind, path, "a map")
            key, value = entry.fields_by_name["key"], entry.fields_by_name["value"]
            return _maps(
                self._single(key, stored.key_type, f"{path}.key"),
                self._single(value, stored.item_type, f"{path}.value", field),
            )
        if repeated(field):
            if not kinds.is_list(stored):
                raise _unfit(field, kind, path, "a list")
            return _lists(self._single(field, stored.value_type, f"{path}[]"))
        return self._single(field, kind, path)

    def _single(
        self, field: FieldDescriptor, kind: pa.DataType, path: str, options_of: FieldDescriptor | None = None
    ) -> _Read:
        """One value of the field's type. ``options_of``: the map that it is a value of, which has the options."""
        stored = kinds.stored_type(kind)
        if pa.types.is_null(stored):
            return lambda array: [None] * len(array)
        inner = field.message_type
        if inner is None:
            if field.enum_type is None:
                found = _scalar(field.type, stored)
            else:
                found = _enum(field.enum_type, stored, self._words.get((options_of or field).full_name, {}))
            if found is None:
                raise _unfit(field, kind, path, _EXPECTED_SCALAR.get(field.type, "integers"))
            return found
        if pa.types.is_struct(stored):
            children = [stored.field(place) for place in range(stored.num_fields)]
            return _structs(message_factory.GetMessageClass(inner), self.columns(inner, children, f"{path}."))
        if inner.full_name in _WRAPPERS:
            return _wrapped(
                message_factory.GetMessageClass(inner), self._single(inner.fields_by_name["value"], kind, path)
            )
        if inner.full_name == "google.protobuf.Timestamp":
            if not pa.types.is_timestamp(stored):
                raise _unfit(field, kind, path, "a timestamp with a time zone")
            if stored.tz is None and not self._assume_utc:
                raise _unfit(field, kind, path, "a time zone (without one it is no moment), or --assume-utc")
            return _moments(message_factory.GetMessageClass(inner), _PER_SECOND[stored.unit])
        if inner.full_name == "google.protobuf.Duration":
            if not pa.types.is_duration(stored):
                raise _unfit(field, kind, path, "a duration")
            return _durations(message_factory.GetMessageClass(inner), _PER_SECOND[stored.unit])
        raise _unfit(field, kind, path, "a struct")


def _enum(enum: EnumDescriptor, stored: pa.DataType, aliases: Mapping[str, int]) -> _Read | None:
    numbers = {value.name: value.number for value in enum.values}
    words = enum_words(enum, aliases)
    known = frozenset(numbers.values()) if enum.is_closed else None

    def by_name(name: Any) -> Any:
        if isinstance(name, _Wrong):
            return name
        number = numbers.get(name)
        if number is None and words:
            number = words.get(folded(name))
        if number is None:
            return _Wrong("scalar.enum", f"no name of the enum; expected one of {len(numbers)}")
        return number

    def by_number(number: Any) -> Any:
        if known is not None and not isinstance(number, _Wrong) and number not in known:
            return _Wrong("scalar.enum", f"no number of the enum; expected one of {len(known)}")
        return number

    if kinds.is_text(stored):
        return _then(_texts, by_name)
    if pa.types.is_integer(stored):
        return _then(_integers(stored, *INTEGERS["int32"]), by_number)
    return None


_EXPECTED_SCALAR: Final = {
    _Type.TYPE_DOUBLE: "floats or integers",
    _Type.TYPE_FLOAT: "floats or integers",
    _Type.TYPE_BOOL: "bools",
    _Type.TYPE_STRING: "strings or decimals",
    _Type.TYPE_BYTES: "binary",
    _Type.TYPE_ENUM: "names (strings) or numbers (integers)",
}


def _unfit(field: FieldDescriptor, kind: pa.DataType, path: str, expected: str) -> ContractError:
    return ContractError(f"column {path} is {kind}, {field.full_name} is {_declared(field)}; expected {expected}")


def _declared(field: FieldDescriptor) -> str:
    """The field's type as a .proto file has it."""
    entry = field.message_type
    if entry is not None and entry.GetOptions().map_entry:
        return f"map<{_declared(entry.fields_by_name['key'])}, {_declared(entry.fields_by_name['value'])}>"
    named = entry if entry is not None else field.enum_type
    name = _NAMES[field.type] if named is None else named.full_name
    return f"repeated {name}" if repeated(field) else str(name)


def _setter(field: FieldDescriptor) -> _Set:
    name, inner = field.name, field.message_type
    if inner is not None and inner.GetOptions().map_entry:
        if inner.fields_by_name["value"].message_type is None:
            return lambda message, value: getattr(message, name).update(value)

        def put(message: Any, value: dict[Any, Any]) -> None:
            entries = getattr(message, name)
            for key, item in value.items():
                entries[key].CopyFrom(item)

        return put
    if repeated(field):
        return lambda message, value: getattr(message, name).extend(value)
    if inner is not None:
        return lambda message, value: getattr(message, name).CopyFrom(value)
    return lambda message, value: setattr(message, name, value)


# ----------------------------------------------------------------------------------------------------------------------
# Readers of single values


def _scalar(kind: int, stored: pa.DataType) -> _Read | None:
    """The reader of a scalar field, or None where the column's type does not fit it."""
    types = pa.types
    name = _NAMES[kind]
    if name in INTEGERS:
        low, high = INTEGERS[name]
        if types.is_integer(stored):
            return _integers(stored, low, high)
        return _whole_floats(low, high) if types.is_floating(stored) else None
    if kind in (_Type.TYPE_DOUBLE, _Type.TYPE_FLOAT):
        single = kind == _Type.TYPE_FLOAT
        if types.is_integer(stored):
            return _integers_as_floats(single)
        if types.is_floating(stored):
            return _narrow_floats if single and types.is_float64(stored) else _floats
        return None
    if kind == _Type.TYPE_BOOL:
        return _plain if types.is_boolean(stored) else None
    if kind == _Type.TYPE_BYTES:
        return _plain if kinds.is_binary(stored) else None
    if kinds.is_text(stored):
        return _texts
    return _then(_plain, lambda value: format(value, "f")) if types.is_decimal(stored) else None


def _plain(array: pa.Array) -> list[Any]:
    found: list[Any] = kinds.stored_values(array).to_pylist()
    return found


def _then(read: _Read, convert: _Convert) -> _Read:
    """``read``, and then ``convert`` for each value that is there."""
    return lambda array: [None if value is None else convert(value) for value in read(array)]


def _texts(array: pa.Array) -> list[Any]:
    stored = kinds.stored_values(array)
    try:
        found: list[Any] = stored.to_pylist()
        return found
    except UnicodeDecodeError:
        # Nobody has looked at the bytes of a file's text column before.
        raws = stored.cast(pa.large_binary()).to_pylist()
        return [None if raw is None else _text(raw) for raw in raws]


def _text(raw: bytes) -> str | _Wrong:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return _Wrong("wire.malformed", "a text that is not UTF-8; expected text")


def _integers(stored: pa.DataType, low: int, high: int) -> _Read:
    signed = pa.types.is_signed_integer(stored)
    half = 1 << (stored.bit_width - 1)
    if low <= (-half if signed else 0) and (half - 1 if signed else 2 * half - 1) <= high:
        return _plain

    def check(value: int) -> int | _Wrong:
        if low <= value <= high:
            return value
        return _Wrong("scalar.range", f"a number out of range; expected {low} to {high}")

    return _then(_plain, check)


def _whole_floats(low: int, high: int) -> _Read:
    def check(value: float) -> int | _Wrong:
        if not value.is_integer():
            return _Wrong("scalar.inexact", "no integer; expected a whole number")
        if abs(value) > _EXACT_DOUBLE:
            return _Wrong(
                "scalar.inexact", f"a float that may stand for several integers; expected at most {_EXACT_DOUBLE}"
            )
        number = int(value)
        if low <= number <= high:
            return number
        return _Wrong("scalar.range", f"a number out of range; expected {low} to {high}")

    return _then(_floats, check)


def _integers_as_floats(single: bool) -> _Read:
    exact = _EXACT_FLOAT if single else _EXACT_DOUBLE

    def check(value: int) -> float | _Wrong:
        number = float(value)
        if abs(value) <= exact or (int(number) == value and (not single or _fits_float(number))):
            return number
        return _Wrong("scalar.inexact", f"an integer that a {'float' if single else 'double'} cannot hold exactly")

    return _then(_plain, check)


def _floats(array: pa.Array) -> list[Any]:
    stored = kinds.stored_values(array)
    # Widening is exact; half floats come as objects of NumPy's otherwise.
    return _plain(stored.cast(pa.float64()) if pa.types.is_float16(stored.type) else stored)


def _narrow_floats(array: pa.Array) -> list[Any]:
    stored = kinds.stored_values(array)
    back = stored.cast(pa.float32(), safe=False).cast(pa.float64())
    changed = pc.call_function("and_kleene", [pc.call_function("not_equal", [back, stored]), _numbers(stored)])
    values = _plain(stored)
    if pc.call_function("any", [changed]).as_py():
        for row, inexact in enumerate(changed.to_pylist()):
            if inexact:
                text = "a number that a float cannot hold exactly; expected float32 in the file"
                values[row] = _Wrong("scalar.inexact", text)
    return values


def _numbers(array: pa.Array) -> pa.Array:
    """Where an array of floats is not NaN, which equals nothing."""
    return pc.call_function("invert", [pc.call_function("is_nan", [array])])


def _fits_float(value: float) -> bool:
    try:
        found: float = struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return False
    return found == value


# ----------------------------------------------------------------------------------------------------------------------
# Readers of lists, maps and messages


def _runs(array: pa.Array, items: list[Any]) -> Iterator[list[Any] | None]:
    """The items of each row of a list array; None for null."""
    at = 0
    for length in pc.call_function("list_value_length", [array]).to_pylist():
        if length is None:
            yield None
        else:
            yield items[at : at + length]
            at += length


def _lists(read: _Read) -> _Read:
    def lists(array: pa.Array) -> list[Any]:
        stored = kinds.stored_values(array)
        return [None if run is None else _checked(run) for run in _runs(stored, read(stored.flatten()))]

    return lists


def _checked(items: list[Any]) -> list[Any] | _Wrong:
    for place, item in enumerate(items):
        if item is None:
            return _Wrong("wire.malformed", "null; expected a value").at(f"[{place}]")
        if isinstance(item, _Wrong):
            return item.at(f"[{place}]")
    return items


def _maps(read_key: _Read, read_value: _Read) -> _Read:
    def maps(array: pa.Array) -> list[Any]:
        stored = kinds.stored_values(array)
        entries = pa.list_(pa.struct([("key", stored.type.key_type), ("value", stored.type.item_type)]))
        listed = stored.cast(entries)
        keys, values = listed.flatten().flatten()
        pairs = list(zip(read_key(keys), read_value(values), strict=True))
        return [None if run is None else _map(run) for run in _runs(listed, pairs)]

    return maps


def _map(pairs: list[tuple[Any, Any]]) -> dict[Any, Any] | _Wrong:
    found: dict[Any, Any] = {}
    for key, value in pairs:
        # A key is data: no path holds one.
        for part in (key, value):
            if part is None:
                return _Wrong("wire.malformed", "null; expected a value").at("[*]")
            if isinstance(part, _Wrong):
                return part.at("[*]")
        if key in found:
            return _Wrong("wire.duplicate", "a key that occurs twice; expected it once").at("[*]")
        found[key] = value
    return found


def _structs(message_type: type[Message], columns: list[_Column]) -> _Read:
    def structs(array: pa.Array) -> list[Any]:
        stored = kinds.stored_values(array)
        children = stored.flatten()
        read = [(column, column.read(children[column.place])) for column in columns]
        present = stored.is_valid().to_pylist()
        return [_message(message_type, read, row) if there else None for row, there in enumerate(present)]

    return structs


def _wrapped(message_type: type[Any], read: _Read) -> _Read:
    return _then(read, lambda value: value if isinstance(value, _Wrong) else message_type(value=value))


def _moments(message_type: type[Any], per_second: int) -> _Read:
    def moment(count: int) -> Any:
        seconds, rest = divmod(count, per_second)
        if not _FIRST_SECOND <= seconds <= _LAST_SECOND:
            return _Wrong("scalar.range", "a moment out of range; expected years 1 to 9999")
        return message_type(seconds=seconds, nanos=rest * (1_000_000_000 // per_second))

    return _then(_counts, moment)


def _durations(message_type: type[Any], per_second: int) -> _Read:
    def duration(count: int) -> Any:
        seconds, rest = divmod(abs(count), per_second)
        if seconds > _LONGEST_DURATION or (seconds == _LONGEST_DURATION and rest):
            return _Wrong("scalar.range", "a duration out of range; expected at most 10,000 years")
        sign = -1 if count < 0 else 1
        return message_type(seconds=sign * seconds, nanos=sign * rest * (1_000_000_000 // per_second))

    return _then(_counts, duration)


def _counts(array: pa.Array) -> list[Any]:
    """Moments and durations as the integers that they are stored as: Python's own types end at microseconds."""
    return _plain(kinds.stored_values(array).cast(pa.int64()))
