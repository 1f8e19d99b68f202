"""proto3 JSON into messages, strictly: every name once, every number exact or refused, nothing unknown dropped.

Readers are built from descriptors, once for each message type, and fill a message in one pass. A refusal names the
field by its path (field names, list positions, ``[*]`` for map keys) and never a value or a name of the sender's own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, Generic, TypeAlias, TypeVar, cast

from google.protobuf import message_factory
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.message import Message

from protocontract.normalize import instant, label, scalar
from protocontract.normalize.scalar_json import Json, NotJson, Number, Object, got, is_text, parse
from protocontract.violations import OptionError, Refusal, describe

M = TypeVar("M", bound=Message)

RULE_IDS: Final = (
    "wire.malformed",
    "wire.null",
    "wire.duplicate",
    "wire.unknown_field",
    "wire.oneof",
    "scalar.syntax",
    "scalar.type",
    "scalar.range",
    "scalar.inexact",
    "scalar.finite",
    "scalar.enum",
)

MAX_DEPTH: Final = 100
"""Messages, lists and objects inside each other: the bound that protobuf's own parsers have."""

_PATH_PARTS: Final = 20

Options: TypeAlias = Mapping[str, Mapping[str, Any]]

_SCALARS: Final = {
    FieldDescriptor.TYPE_DOUBLE: "double",
    FieldDescriptor.TYPE_FLOAT: "float",
    FieldDescriptor.TYPE_BOOL: "bool",
    FieldDescriptor.TYPE_INT64: "int64",
    FieldDescriptor.TYPE_UINT64: "uint64",
    FieldDescriptor.TYPE_INT32: "int32",
    FieldDescriptor.TYPE_FIXED64: "fixed64",
    FieldDescriptor.TYPE_FIXED32: "fixed32",
    FieldDescriptor.TYPE_UINT32: "uint32",
    FieldDescriptor.TYPE_SFIXED32: "sfixed32",
    FieldDescriptor.TYPE_SFIXED64: "sfixed64",
    FieldDescriptor.TYPE_SINT32: "sint32",
    FieldDescriptor.TYPE_SINT64: "sint64",
    FieldDescriptor.TYPE_STRING: "string",
    FieldDescriptor.TYPE_BYTES: "bytes",
}
_SCALAR_OPTIONS: Final = frozenset({"quoted_numbers", "bool_words", "fold_width", "exact", "finite", "enum_aliases"})
_NULL_VALUE: Final = "google.protobuf.NullValue"
_VALUE: Final = "google.protobuf.Value"

_TIMESTAMP: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?(?:Z|[+-][0-9]{2}:[0-9]{2})"
)
_DURATION: Final = re.compile(r"(-?)([0-9]{1,12})(?:\.([0-9]{1,9}))?s")
_LONGEST_DURATION: Final = 315_576_000_000
_MASK_PATH: Final = re.compile(r"[a-z][A-Za-z0-9]*(?:\.[a-z][A-Za-z0-9]*)*")
_UPPER: Final = re.compile("[A-Z]")

_Read: TypeAlias = Callable[[Any, Any, int], None]
"""(message, JSON value, depth): fill the message, or raise _Stop."""

_Entry: TypeAlias = tuple[str, "str | None", bool, _Read]
"""A field as its message sees it: name, oneof, whether null is one of its values, reader."""


class _Stop(Exception):
    """A refusal on its way up; each level adds its part of the path. Never leaves this module."""

    def __init__(self, rule_id: str, message: str) -> None:
        super().__init__(rule_id)
        self.rule_id = rule_id
        self.message = message
        self.path: list[str] = []

    def refusal(self) -> Refusal:
        path = ""
        # A path can be as deep as the record is; what is printed is bounded.
        for part in self.path[: -_PATH_PARTS - 1 : -1]:
            path += part if part[0] == "[" or not path else f".{part}"
        if len(self.path) > _PATH_PARTS:
            path += "..."
        return Refusal(self.rule_id, f"{path}: {self.message}" if path else self.message)


class JsonDecoder(Generic[M]):
    """A decoder for one message type, with its options bound. Called with JSON text or its UTF-8 bytes."""

    def __init__(self, message_type: type[M], scalars: Options) -> None:
        """Raises OptionError where ``scalars`` names no field of the type or holds wrong options."""
        self._type = message_type
        self._messages: dict[Descriptor, _Read] = {}
        descriptor = cast("Descriptor", message_type.DESCRIPTOR)  # the stubs know of two kinds
        self._options = options_by_field(descriptor, scalars)
        self._fill = self._reader(descriptor)

    def __call__(self, raw: bytes | bytearray | memoryview | str | None) -> M | Refusal:
        """The message, or a Refusal."""
        if raw is None:
            return Refusal("wire.null", "no value; expected a message")
        if not isinstance(raw, str):
            if not isinstance(raw, bytes | bytearray | memoryview):
                return Refusal("wire.malformed", f"not bytes; expected JSON, got {describe(raw)}")
            try:
                raw = str(raw, "utf-8")
            except UnicodeDecodeError:
                return Refusal("wire.malformed", f"not UTF-8; expected JSON, got {describe(raw)}")
        message = self._type()
        try:
            self._fill(message, parse(raw), 1)
        except NotJson as error:
            return Refusal("wire.malformed", f"{_why_not(raw, error)}; expected a JSON object, got {describe(raw)}")
        except _Stop as stop:
            return stop.refusal()
        except RecursionError:
            return Refusal("wire.malformed", "nested too deeply for the stack that is left")
        if not message.IsInitialized():
            return Refusal("wire.malformed", "a required field is missing; expected all of them")
        return message

    # -- messages

    def _reader(self, descriptor: Descriptor) -> _Read:
        found = self._messages.get(descriptor)
        if found is None:
            special = _SPECIAL.get(descriptor.full_name)
            if special is not None:
                found = special
            elif descriptor.full_name == "google.protobuf.Any":
                found = self._any
            elif descriptor.full_name in _WRAPPERS:
                found = _wrapper(scalar.converter(type=_SCALARS[descriptor.fields_by_name["value"].type], finite=False))
            else:
                found = self._plain(descriptor)
            self._messages[descriptor] = found
        return found

    def _plain(self, descriptor: Descriptor) -> _Read:
        fields: dict[str, _Entry] | None = None

        def fill(message: Any, value: Json, depth: int) -> None:
            nonlocal fields
            if fields is None:  # on first use: types can contain themselves
                fields = self._fields(descriptor)
            if not isinstance(value, Object):
                raise _Stop("wire.malformed", f"not an object; expected a message, got {got(value)}")
            _limit(depth)
            seen: set[str] = set()
            for key, item in value.pairs:
                entry = fields.get(key)
                if entry is None:
                    raise _Stop("wire.unknown_field", "a field that the message does not have; expected its own fields")
                name, oneof, takes_null, read = entry
                if name in seen:
                    stop = _Stop("wire.duplicate", "a field that occurs twice; expected it once")
                    stop.path.append(name)
                    raise stop
                seen.add(name)
                try:
                    if oneof is not None and (item is not None or takes_null) and message.WhichOneof(oneof) is not None:
                        raise _Stop("wire.oneof", "a second member of its oneof; expected one")
                    read(message, item, depth + 1)
                except _Stop as stop:
                    stop.path.append(name)
                    raise

        return fill

    def _fields(self, descriptor: Descriptor) -> dict[str, _Entry]:
        fields: dict[str, _Entry] = {}
        for field in descriptor.fields:
            oneof = field.containing_oneof
            entry = (field.name, None if oneof is None else oneof.name, _takes_null(field), self._field_reader(field))
            fields[field.json_name] = fields[field.name] = entry
        return fields

    # -- fields

    def _field_reader(self, field: FieldDescriptor) -> _Read:
        entry = field.message_type
        if entry is not None and entry.GetOptions().map_entry:
            return self._map(field, entry.fields_by_name["key"], entry.fields_by_name["value"])
        takes_null = _takes_null(field)
        if field.message_type is not None:
            fill = self._reader(field.message_type)
            return (_messages if repeated(field) else _message)(field.name, fill, takes_null)
        convert = self._converter(field)
        return (_scalars if repeated(field) else _scalar)(field.name, convert, takes_null)

    def _converter(self, field: FieldDescriptor, options_of: FieldDescriptor | None = None) -> scalar.Convert:
        options = dict(self._options.get((options_of or field).full_name, {}))
        # A field without the annotation follows the mapping: NaN and infinity may come, quoted.
        finite = options.pop("finite", None) is not False if options else False
        aliases = options.pop("enum_aliases", None)
        if field.enum_type is not None:
            return _enum(field.enum_type, aliases or {}, options)
        if aliases:
            raise OptionError("enum_aliases", f"{field.full_name} is no enum")
        return scalar.converter(type=_SCALARS[field.type], finite=finite, **options)

    def _map(self, field: FieldDescriptor, key_field: FieldDescriptor, value_field: FieldDescriptor) -> _Read:
        key_of = _map_key(key_field)
        name = field.name
        takes_null = _takes_null(value_field)
        inner = value_field.message_type
        fill = None if inner is None else self._reader(inner)
        convert = self._converter(value_field, field) if fill is None else None

        def read(message: Any, value: Json, depth: int) -> None:
            if value is None:
                return
            if not isinstance(value, Object):
                raise _Stop("wire.malformed", f"not an object; expected a map, got {got(value)}")
            container = getattr(message, name)
            seen: set[Any] = set()
            for written, item in value.pairs:
                try:
                    key = _value(key_of(written))
                    if key in seen:
                        raise _Stop("wire.duplicate", "a key that occurs twice; expected it once")
                    seen.add(key)
                    if item is None and not takes_null:
                        raise _Stop("wire.malformed", "null; expected a value")
                    if fill is not None:
                        fill(container[key], item, depth)
                    elif convert is not None:
                        container[key] = 0 if item is None else _value(convert(item))
                except _Stop as stop:
                    stop.path.append("[*]")
                    raise

        return read

    # -- google.protobuf.Any

    def _any(self, message: Any, value: Json, depth: int) -> None:
        if not isinstance(value, Object):
            raise _Stop("wire.malformed", f"not an object; expected an Any, got {got(value)}")
        _limit(depth)
        if not value.pairs:
            return
        urls = [item for key, item in value.pairs if key == "@type"]
        rest = [(key, item) for key, item in value.pairs if key != "@type"]
        if len(urls) != 1:
            raise _Stop("wire.malformed", "an Any without its type, or with two; expected one @type")
        url = urls[0]
        if not isinstance(url, str) or isinstance(url, Number) or "/" not in url or not is_text(url):
            raise _Stop("wire.malformed", f"no type URL; expected a text with a slash, got {got(url)}")
        try:
            inner_type = message.DESCRIPTOR.file.pool.FindMessageTypeByName(url.rpartition("/")[2])
        except KeyError:
            raise _Stop("wire.malformed", "an Any of an unknown type; expected a type of the schema") from None
        inner = message_factory.GetMessageClass(inner_type)()
        fill = self._reader(inner_type)
        if (
            inner_type.full_name in _SPECIAL
            or inner_type.full_name in _WRAPPERS
            or inner_type.full_name == "google.protobuf.Any"
        ):
            if [key for key, _ in rest] != ["value"]:
                raise _Stop("wire.malformed", "an Any of a type with a form of its own; expected @type and value")
            fill(inner, rest[0][1], depth + 1)
        else:
            fill(inner, Object(rest), depth + 1)
        if not inner.IsInitialized():
            raise _Stop("wire.malformed", "a required field is missing; expected all of them")
        message.type_url = url
        message.value = inner.SerializeToString(deterministic=True)


# ----------------------------------------------------------------------------------------------------------------------
# Options


def _field(root: Descriptor, name: str) -> FieldDescriptor:
    """The field of a full name, or of a path from the root message."""
    try:
        found: FieldDescriptor = root.file.pool.FindFieldByName(name)
    except KeyError:
        pass
    else:
        return found
    current: Descriptor | None = root
    field: FieldDescriptor | None = None
    for part in name.replace("[]", "").split("."):
        if current is not None and current.GetOptions().map_entry:
            current = current.fields_by_name["value"].message_type
        field = None if current is None else current.fields_by_name.get(part)
        if field is None:
            raise OptionError("scalars", f"{root.full_name} has no field {name!r}")
        current = field.message_type
    if field is None:
        raise OptionError("scalars", "an empty field name")
    return field


def _checked(name: str, options: Mapping[str, Any]) -> Mapping[str, Any]:
    unknown = sorted(set(options) - _SCALAR_OPTIONS)
    if unknown:
        raise OptionError("scalars", f"{name} has unknown options: {', '.join(unknown)}")
    return {option: value for option, value in options.items() if value is not None}


# ----------------------------------------------------------------------------------------------------------------------
# Readers of fields


def _value(result: Any) -> Any:
    if isinstance(result, Refusal):
        raise _Stop(result.rule_id, result.message)
    return result


def _why_not(raw: str, error: NotJson) -> str:
    if isinstance(error.__cause__, RecursionError):
        return "nested too deeply"
    return "a byte order mark before the JSON" if raw.startswith("\ufeff") else "not JSON"


def _limit(depth: int) -> None:
    if depth > MAX_DEPTH:
        raise _Stop("wire.malformed", f"nested too deeply; expected at most {MAX_DEPTH} levels")


def repeated(field: FieldDescriptor) -> bool:
    """Whether a field is repeated (maps are). Before 6.31 protobuf has no ``is_repeated``, later it warns of labels."""
    if hasattr(field, "is_repeated"):
        return bool(field.is_repeated)
    return bool(getattr(field, "label") == FieldDescriptor.LABEL_REPEATED)  # noqa: B009


def _takes_null(field: FieldDescriptor) -> bool:
    """Whether null is a value of the field's type, not the absence of one."""
    if field.enum_type is not None:
        return bool(field.enum_type.full_name == _NULL_VALUE)
    return field.message_type is not None and field.message_type.full_name == _VALUE


def _scalar(name: str, convert: scalar.Convert, takes_null: bool) -> _Read:
    def read(message: Any, value: Json, depth: int) -> None:
        if value is None:
            if takes_null:
                setattr(message, name, 0)
            return
        setattr(message, name, _value(convert(value)))

    return read


def _scalars(name: str, convert: scalar.Convert, takes_null: bool) -> _Read:
    def read(message: Any, value: Json, depth: int) -> None:
        if value is None:
            return
        if not isinstance(value, list):
            raise _Stop("wire.malformed", f"not a list; expected an array, got {got(value)}")
        items: list[Any] = []
        for at, item in enumerate(value):
            if item is None and takes_null:
                items.append(0)
                continue
            result = Refusal("wire.malformed", "null; expected a value") if item is None else convert(item)
            if isinstance(result, Refusal):
                stop = _Stop(result.rule_id, result.message)
                stop.path.append(f"[{at}]")
                raise stop
            items.append(result)
        getattr(message, name).extend(items)

    return read


def _message(name: str, fill: _Read, takes_null: bool) -> _Read:
    def read(message: Any, value: Json, depth: int) -> None:
        if value is None and not takes_null:
            return
        inner = getattr(message, name)
        inner.SetInParent()
        fill(inner, value, depth)

    return read


def _messages(name: str, fill: _Read, takes_null: bool) -> _Read:
    def read(message: Any, value: Json, depth: int) -> None:
        if value is None:
            return
        if not isinstance(value, list):
            raise _Stop("wire.malformed", f"not a list; expected an array, got {got(value)}")
        container = getattr(message, name)
        for at, item in enumerate(value):
            try:
                if item is None and not takes_null:
                    raise _Stop("wire.malformed", "null; expected a value")
                fill(container.add(), item, depth)
            except _Stop as stop:
                stop.path.append(f"[{at}]")
                raise

    return read


def options_by_field(descriptor: Descriptor, scalars: Options) -> dict[str, Mapping[str, Any]]:
    """The same options by the full names of fields. Raises OptionError where one names no field or is wrong."""
    return {_field(descriptor, name).full_name: _checked(name, options) for name, options in scalars.items()}


def enum_words(descriptor: EnumDescriptor, aliases: Mapping[str, int]) -> dict[str, int]:
    """The number of each word that stands for a value of the enum beside its name: its ``code`` and its ``aliases``.
    They are looked up by ``label.folded``. Raises OptionError for a number that the enum has not, and for one word of
    two values."""
    known = {value.number for value in descriptor.values}
    words: dict[str, int] = {}
    for word, number in aliases.items():
        if number not in known:
            raise OptionError("enum_aliases", f"{word!r} stands for no number of {descriptor.full_name}")
        if words.setdefault(label.folded(word), number) != number:
            raise OptionError("enum_aliases", f"{word!r} belongs to two values of {descriptor.full_name}")
    return words


def _enum(descriptor: EnumDescriptor, aliases: Mapping[str, int], options: Mapping[str, Any]) -> scalar.Convert:
    numbers = {value.name: value.number for value in descriptor.values}
    known = frozenset(numbers.values())
    words = enum_words(descriptor, aliases)
    integer = scalar.converter(
        type="int32", quoted_numbers=options.get("quoted_numbers"), fold_width=bool(options.get("fold_width"))
    )
    closed = descriptor.is_closed

    def convert(value: Json) -> int | Refusal:
        if isinstance(value, str) and not isinstance(value, Number):
            number = numbers.get(value)
            if number is None and words:
                number = words.get(label.folded(value))
            if number is not None:
                return number
            result = integer(value)
            if isinstance(result, Refusal) and result.rule_id == "scalar.syntax":
                return Refusal("scalar.enum", f"no name of the enum; expected one of {len(numbers)}, got {got(value)}")
        else:
            result = integer(value)
        if not isinstance(result, Refusal) and closed and result not in known:
            return Refusal("scalar.enum", f"no number of the enum; expected one of {len(known)}, got {got(value)}")
        return result  # type: ignore[no-any-return]

    return convert


def _map_key(field: FieldDescriptor) -> Callable[[str], Any]:
    """Map keys are JSON names: texts, whatever the key's type is."""
    kind = _SCALARS[field.type]
    convert = scalar.converter(type=kind)
    if kind != "bool":
        return convert

    def boolean(written: str) -> bool | Refusal:
        if written in ("true", "false"):
            return written == "true"
        return Refusal("scalar.syntax", f"no bool; expected true or false, got {got(written)}")

    return boolean


# ----------------------------------------------------------------------------------------------------------------------
# Well-known types


def _text(value: Json, expected: str) -> str:
    if not isinstance(value, str) or isinstance(value, Number):
        raise _Stop("scalar.type", f"not a text; expected {expected}, got {got(value)}")
    return value


_canonical: Final = instant.normalizer()


def _timestamp(message: Any, value: Json, depth: int) -> None:
    written = _text(value, "an RFC 3339 timestamp")
    moment = _canonical(written) if _TIMESTAMP.fullmatch(written) else None
    if moment is None or isinstance(moment, Refusal):
        kind = "scalar.range" if moment is not None and moment.rule_id == "instant.range" else "scalar.syntax"
        raise _Stop(kind, f"not a timestamp; expected RFC 3339 with an offset, years 1 to 9999, got {got(value)}")
    message.seconds, message.nanos = instant.seconds_nanos(moment)


def _duration(message: Any, value: Json, depth: int) -> None:
    found = _DURATION.fullmatch(_text(value, "a duration"))
    if found is None:
        raise _Stop("scalar.syntax", f"not a duration; expected seconds and s, at most nine digits, got {got(value)}")
    sign = -1 if found[1] else 1
    seconds, nanos = int(found[2]), int((found[3] or "").ljust(9, "0"))
    if seconds > _LONGEST_DURATION or (seconds == _LONGEST_DURATION and nanos):
        raise _Stop("scalar.range", f"a duration out of range; expected at most 10,000 years, got {got(value)}")
    message.seconds, message.nanos = sign * seconds, sign * nanos


def _field_mask(message: Any, value: Json, depth: int) -> None:
    written = _text(value, "a field mask")
    if not written:
        return
    for path in written.split(","):
        if _MASK_PATH.fullmatch(path) is None:
            raise _Stop("scalar.syntax", f"not a field mask; expected lowerCamelCase paths, got {got(value)}")
        message.paths.append(_UPPER.sub(lambda upper: f"_{upper[0].lower()}", path))


def _wrapper(convert: scalar.Convert) -> _Read:
    def fill(message: Any, value: Json, depth: int) -> None:
        if value is None:  # only inside an Any: elsewhere null leaves the field unset
            raise _Stop("wire.malformed", "null; expected a value")
        message.value = _value(convert(value))

    return fill


_double: Final = scalar.converter(type="double")
_exact_double: Final = scalar.converter(type="double", exact=True)
_any_text: Final = scalar.converter(type="string")
_INTEGER: Final = re.compile("-?[0-9]+", re.ASCII)


def _struct(message: Any, value: Json, depth: int) -> None:
    if not isinstance(value, Object):
        raise _Stop("wire.malformed", f"not an object; expected a Struct, got {got(value)}")
    _limit(depth)
    seen: set[str] = set()
    for written, item in value.pairs:
        try:
            key = _value(_any_text(written))
            if key in seen:
                raise _Stop("wire.duplicate", "a name that occurs twice; expected it once")
            seen.add(key)
            _dynamic(message.fields[key], item, depth + 1)
        except _Stop as stop:
            stop.path.append("[*]")
            raise


def _list_value(message: Any, value: Json, depth: int) -> None:
    if not isinstance(value, list):
        raise _Stop("wire.malformed", f"not a list; expected an array, got {got(value)}")
    _limit(depth)
    for at, item in enumerate(value):
        try:
            _dynamic(message.values.add(), item, depth + 1)
        except _Stop as stop:
            stop.path.append(f"[{at}]")
            raise


def _dynamic(message: Any, value: Json, depth: int) -> None:
    """google.protobuf.Value. Its numbers are doubles, so an integer that a double cannot hold is refused."""
    if value is None:
        message.null_value = 0
    elif isinstance(value, bool):
        message.bool_value = value
    elif isinstance(value, Number):
        message.number_value = _value((_exact_double if _INTEGER.fullmatch(value) else _double)(value))
    elif isinstance(value, str):
        message.string_value = _value(_any_text(value))
    elif isinstance(value, Object):
        message.struct_value.SetInParent()
        _struct(message.struct_value, value, depth)
    else:
        message.list_value.SetInParent()
        _list_value(message.list_value, value, depth)


_SPECIAL: Final[Mapping[str, _Read]] = {
    "google.protobuf.Timestamp": _timestamp,
    "google.protobuf.Duration": _duration,
    "google.protobuf.FieldMask": _field_mask,
    "google.protobuf.Struct": _struct,
    "google.protobuf.ListValue": _list_value,
    _VALUE: _dynamic,
}
_WRAPPERS: Final = frozenset(
    f"google.protobuf.{kind}Value"
    for kind in ("Double", "Float", "Int64", "UInt64", "Int32", "UInt32", "Bool", "String", "Bytes")
)
