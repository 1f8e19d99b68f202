"""What the sources say beyond the schema: rules as they are written, options, reserved numbers, comments, order.

The IR holds what a contract means; a comparison also tells what was written (a flag that is false, a json_name that is
spelled out, a comment) and where. Names are full names; an enum value's is within its enum.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from google.protobuf import message_factory
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    Edition,
    EnumDescriptorProto,
    FeatureSet,
    FieldDescriptorProto,
    FileDescriptorProto,
)
from google.protobuf.message import Message

from protocontract_ci.model import Value
from protocontract_compiler import ir
from protocontract_compiler.descriptors import Loaded
from protocontract_compiler.descriptors.canonical import canonical

_OURS: Final = ("buf.validate.", "protocontract.v1.")
_RULES_MESSAGE: Final = "buf.validate.FieldRules"

# Effective features that neither presence, closedness nor the field's type shows; proto2 and proto3 have theirs.
_FEATURES: Final = ("utf8_validation", "json_format")
_FEATURES_OF_SYNTAX: Final = {
    "proto2": {"utf8_validation": FeatureSet.NONE, "json_format": FeatureSet.LEGACY_BEST_EFFORT},
    "proto3": {"utf8_validation": FeatureSet.VERIFY, "json_format": FeatureSet.ALLOW},
}


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of buf.validate as it is written. ``path`` is that below ``@``: ``string.min_len``, ``cel[id]``.

    ``value`` is the constant; for CEL it is the expression, and ``id`` and ``message`` are its other members.
    """

    path: str
    value: Value
    place: ir.Place
    id: str = ""
    message: str = ""
    cel: bool = False


@dataclass(frozen=True, slots=True)
class Option:
    """One option of protobuf's own, or of somebody else's, that is set."""

    value: Value
    place: ir.Place


@dataclass(frozen=True, slots=True)
class Reserved:
    """Numbers (first and last, both included) and names that a message or enum keeps free, with their places."""

    numbers: tuple[tuple[int, int], ...] = ()
    names: tuple[str, ...] = ()
    places: Mapping[tuple[int, int] | str, ir.Place] = field(default_factory=dict)

    def holds(self, number: int) -> bool:
        """Whether the number is kept free."""
        return any(first <= number <= last for first, last in self.numbers)


@dataclass(frozen=True, slots=True)
class Described:
    """What is said of any element: where, with which comment and options; ``index`` counts those of its kind before."""

    place: ir.Place
    comment: str = ""
    options: Mapping[str, Option] = field(default_factory=dict)
    features: Mapping[str, str] = field(default_factory=dict)
    index: int = 0


@dataclass(frozen=True, slots=True)
class FileFacts:
    """A file: its syntax ("proto3", "editions 2023") and imports in order, with the places of both."""

    syntax: str
    imports: tuple[str, ...]
    syntax_place: ir.Place
    import_place: ir.Place


@dataclass(frozen=True, slots=True)
class Extension:
    """A field that one message lends another (``extend``)."""

    name: str
    extendee: str
    number: int
    type: str
    label: str

    @property
    def declaration(self) -> str:
        """The extension on one line, without options: ``optional int32 x = 100``."""
        return f"{self.label} {self.type} {self.name.rpartition('.')[2]} = {self.number}"


@dataclass(slots=True)
class Facts:
    """All facts of one state, by full name. ``rules`` has fields, messages and oneofs."""

    elements: dict[str, Described] = field(default_factory=dict)
    files: dict[str, FileFacts] = field(default_factory=dict)
    reserved: dict[str, Reserved] = field(default_factory=dict)
    extension_ranges: dict[str, Reserved] = field(default_factory=dict)
    extensions: dict[str, Extension] = field(default_factory=dict)
    rules: dict[str, Mapping[str, Rule]] = field(default_factory=dict)
    # Explicit json_name, whose value may be the derived one.
    json_names: dict[str, ir.Place] = field(default_factory=dict)
    # Places of the words of protocontract's vocabulary by their paths: "" is the option, "money.scale" a word in it.
    words: dict[str, Mapping[str, ir.Place]] = field(default_factory=dict)

    def rules_of(self, name: str) -> Mapping[str, Rule]:
        """The rules of a field, message or oneof; none where it has none."""
        return self.rules.get(name, {})

    def word(self, name: str, path: str) -> ir.Place | None:
        """Where a word stands on an element: the place of the innermost step of ``path`` that is known."""
        known = self.words.get(name, {})
        while path and path not in known:
            path = path.rpartition(".")[0]
        return known.get(path)


def read_facts(loaded: Loaded, schema: ir.Schema, files: Mapping[str, FileDescriptorProto]) -> Facts:
    """The facts of the named files; rules and places of words for every message of them."""
    facts = Facts()
    for file in files.values():
        _File(file, loaded, facts).read()
    for name in files:
        for message in schema.files[name].messages:
            descriptor = loaded.pool.FindMessageTypeByName(message)
            _read_rules(loaded, descriptor, facts)
            _read_words(loaded, descriptor, facts)
        for service in schema.files[name].services:
            for method in loaded.pool.FindServiceByName(service).methods:
                _words_of(loaded, method, loaded.options.service_level(method), "service_level", facts)
        for enum in schema.files[name].enums:
            for value in loaded.pool.FindEnumTypeByName(enum).values:
                _words_of(loaded, value, loaded.options.enum_value(value), "value", facts, f"{enum}.{value.name}")
    return facts


def _read_words(loaded: Loaded, message: Descriptor, facts: Facts) -> None:
    _words_of(loaded, message, loaded.options.contract(message), "contract", facts)
    for of_field in message.fields:
        _words_of(loaded, of_field, loaded.options.field(of_field), "field", facts)


def _words_of(
    loaded: Loaded, descriptor: Any, options: Message | None, word: str, facts: Facts, name: str = ""
) -> None:
    if options is None:
        return
    extension = f"protocontract.v1.{word}"
    found = {"": loaded.places.option(descriptor, extension)}
    for steps in _set_paths(options):
        found[".".join(steps)] = loaded.places.option(descriptor, extension, *steps)
    facts.words[name or descriptor.full_name] = found


def _set_paths(options: Message, prefix: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for known, value in options.ListFields():
        yield (*prefix, known.name)
        if isinstance(value, Message) and not value.DESCRIPTOR.full_name.startswith("google.protobuf."):
            yield from _set_paths(value, (*prefix, known.name))


# ----------------------------------------------------------------------------------------------------------------------
# Declarations


class _File:
    """Walks one file's declarations along their paths in SourceCodeInfo."""

    def __init__(self, file: FileDescriptorProto, loaded: Loaded, facts: Facts) -> None:
        self._file = file
        self._loaded = loaded
        self._facts = facts
        self._locations: dict[tuple[int, ...], tuple[int, int, str]] = {}
        for location in file.source_code_info.location:
            path = tuple(location.path)
            if path not in self._locations and len(location.span) >= 3:
                comment = location.leading_comments or location.trailing_comments
                self._locations[path] = (location.span[0] + 1, location.span[1] + 1, _words(comment))

    def read(self) -> None:
        file = self._file
        edition = file.syntax == "editions"
        syntax = f"editions {_edition(file)}" if edition else file.syntax or "proto2"
        self._facts.files[file.name] = FileFacts(
            syntax, tuple(file.dependency), self._place((12,)) if self._place((12,)).line else self._place((14,)),
            self._place((3, 0)),
        )  # fmt: skip
        features = dict(_FEATURES_OF_SYNTAX["proto3" if edition else syntax])
        features = _features(file.options, features)
        self._describe(file.name, (), file.options, "FileOptions", 8, {}, 0)
        scope = f"{file.package}." if file.package else ""
        for index, message in enumerate(file.message_type):
            self._message(message, scope, (4, index), index, features)
        for index, enum in enumerate(file.enum_type):
            self._enum(enum, scope, (5, index), index, features)
        for index, service in enumerate(file.service):
            name = scope + service.name
            self._describe(name, (6, index), service.options, "ServiceOptions", 3, {}, index)
            for at, method in enumerate(service.method):
                self._describe(
                    f"{name}.{method.name}", (6, index, 2, at), method.options, "MethodOptions", 4, {}, at
                )  # fmt: skip
        for index, extension in enumerate(file.extension):
            self._extension(extension, scope, (7, index), index)

    def _message(
        self, message: DescriptorProto, scope: str, path: tuple[int, ...], index: int, features: dict[str, int]
    ) -> None:
        if message.options.map_entry:
            return
        name = scope + message.name
        features = _features(message.options, features)
        shown = {"json_format": _feature("json_format", features)}
        self._describe(name, path, message.options, "MessageOptions", 7, shown, index)
        for at, of_field in enumerate(message.field):
            own = _features(of_field.options, features)
            effective = {}
            if of_field.type == ir.TYPE_STRING:
                effective["utf8_validation"] = _feature("utf8_validation", own)
            place = (*path, 2, at)
            self._describe(f"{name}.{of_field.name}", place, of_field.options, "FieldOptions", 8, effective, at)
            if (*place, 10) in self._locations:
                self._facts.json_names[f"{name}.{of_field.name}"] = self._place((*place, 10))
        for at, oneof in enumerate(message.oneof_decl):
            self._describe(f"{name}.{oneof.name}", (*path, 8, at), oneof.options, "OneofOptions", 2, {}, at)
        for at, nested in enumerate(message.nested_type):
            self._message(nested, f"{name}.", (*path, 3, at), at, features)
        for at, enum in enumerate(message.enum_type):
            self._enum(enum, f"{name}.", (*path, 4, at), at, features)
        for at, extension in enumerate(message.extension):
            self._extension(extension, f"{name}.", (*path, 6, at), at)
        # The end of a message's range is not part of it; that of an enum's is.
        ranges = [(item.start, item.end - 1) for item in message.reserved_range]
        self._facts.reserved[name] = self._reserved(ranges, message.reserved_name, path, 9, 10)
        lent = [(item.start, item.end - 1) for item in message.extension_range]
        self._facts.extension_ranges[name] = self._reserved(lent, (), path, 5, 5)

    def _enum(
        self, enum: EnumDescriptorProto, scope: str, path: tuple[int, ...], index: int, features: dict[str, int]
    ) -> None:
        name = scope + enum.name
        shown = {"json_format": _feature("json_format", _features(enum.options, features))}
        self._describe(name, path, enum.options, "EnumOptions", 3, shown, index)
        for at, value in enumerate(enum.value):
            self._describe(f"{name}.{value.name}", (*path, 2, at), value.options, "EnumValueOptions", 3, {}, at)
        ranges = [(item.start, item.end) for item in enum.reserved_range]
        self._facts.reserved[name] = self._reserved(ranges, enum.reserved_name, path, 4, 5)

    def _extension(self, extension: FieldDescriptorProto, scope: str, path: tuple[int, ...], index: int) -> None:
        name = scope + extension.name
        self._describe(name, path, extension.options, "FieldOptions", 8, {}, index)
        kind = extension.type_name.lstrip(".") or FieldDescriptorProto.Type.Name(extension.type)[5:].lower()
        label = FieldDescriptorProto.Label.Name(extension.label)[6:].lower()
        self._facts.extensions[name] = Extension(
            name, extension.extendee.lstrip("."), extension.number, kind, label
        )  # fmt: skip

    def _reserved(
        self,
        ranges: Sequence[tuple[int, int]],
        names: Sequence[str],
        path: tuple[int, ...],
        of_range: int,
        of_name: int,
    ) -> Reserved:
        places: dict[tuple[int, int] | str, ir.Place] = {}
        for at, span in enumerate(ranges):
            places[span] = self._place((*path, of_range, at), path)
        for at, name in enumerate(names):
            places[name] = self._place((*path, of_name, at), path)
        return Reserved(tuple(ranges), tuple(names), places)

    def _describe(
        self, name: str, path: tuple[int, ...], options: Message, kind: str, number: int, features: Mapping[str, str],
        index: int,
    ) -> None:  # fmt: skip
        located = self._locations.get(path)
        self._facts.elements[name] = Described(
            place=self._place(path) if path else ir.Place(self._file.name, 1, 1),
            comment=located[2] if located is not None and path else "",
            options=dict(self._options(options, kind, (*path, number))) if options.ByteSize() else {},
            features=features,
            index=index,
        )

    def _options(self, options: Message, kind: str, path: tuple[int, ...]) -> Iterator[tuple[str, Option]]:
        """The options that are set, but ours, buf.validate's and features, which are read for what they mean."""
        read = options
        try:
            descriptor = self._loaded.pool.FindMessageTypeByName(f"google.protobuf.{kind}")
        except KeyError:
            pass  # no file of the request has options of its own, so Python's own class knows all there are
        else:
            read = message_factory.GetMessageClass(descriptor).FromString(options.SerializeToString())
        for of_field, value in read.ListFields():
            if of_field.full_name.startswith(_OURS) or of_field.name in ("features", "map_entry"):
                continue
            name = f"({of_field.full_name})" if of_field.is_extension else of_field.name
            place = self._place((*path, of_field.number), path[:-1])
            yield name, Option(plain(of_field, value), place)

    def _place(self, path: tuple[int, ...], otherwise: tuple[int, ...] | None = None) -> ir.Place:
        located = self._locations.get(path)
        if located is None and otherwise is not None:
            located = self._locations.get(otherwise)
        return ir.Place(self._file.name, located[0], located[1]) if located else ir.Place(self._file.name)


def _features(options: Any, inherited: Mapping[str, int]) -> dict[str, int]:
    """The features of an element: its own, else those around it."""
    result = dict(inherited)
    for name in _FEATURES:
        if options.HasField("features") and options.features.HasField(name):
            result[name] = getattr(options.features, name)
    return result


def _feature(name: str, features: Mapping[str, int]) -> str:
    enum = FeatureSet.DESCRIPTOR.fields_by_name[name].enum_type
    known = enum.values_by_number.get(features[name]) if enum is not None else None
    return known.name if known is not None else str(features[name])


def _edition(file: FileDescriptorProto) -> str:
    return Edition.Name(file.edition).removeprefix("EDITION_")  # load() refuses those that it does not know


def _words(text: str) -> str:
    return "\n".join(line.strip() for line in text.strip().splitlines())


# ----------------------------------------------------------------------------------------------------------------------
# Rules


def _read_rules(loaded: Loaded, message: Descriptor, facts: Facts) -> None:
    options, places = loaded.options, loaded.places
    rules = options.message_rules(message)
    if rules is not None:
        found = _MessageRules(lambda *steps: places.option(message, "buf.validate.message", *steps)).read(rules)
        facts.rules[message.full_name] = {rule.path: rule for rule in found}
    for of_field in message.fields:
        rules = options.field_rules(of_field)
        if rules is not None:
            facts.rules[of_field.full_name] = {rule.path: rule for rule in _of_field(loaded, of_field, rules)}
    for oneof in message.oneofs:
        rules = options.oneof_rules(oneof)
        if rules is not None:
            place = places.option(oneof, "buf.validate.oneof", "required")
            name = f"{message.full_name}.{oneof.name}"
            facts.rules[name] = {"required": Rule("required", bool(getattr(rules, "required")), place)}  # noqa: B009


def _of_field(loaded: Loaded, descriptor: FieldDescriptor, rules: Message) -> Iterator[Rule]:
    return _MessageRules(lambda *steps: loaded.places.option(descriptor, "buf.validate.field", *steps)).read(rules)


class _MessageRules:
    """Flattens FieldRules or MessageRules. ``place`` finds the place of a path inside the option."""

    def __init__(self, place: Any) -> None:
        self._place = place
        self._seen: set[str] = set()

    def read(self, rules: Any, prefix: str = "", steps: tuple[str | int, ...] = ()) -> Iterator[Rule]:
        """The rules that are set, in the order of validate.proto."""
        for known, value in sorted(rules.ListFields(), key=lambda pair: pair[0].number):
            name = f"[{known.full_name}]" if known.is_extension else known.name
            inner = (*steps, name)
            if name == "cel":
                for index, cel in enumerate(value):
                    path = self._named(f"{prefix}cel[{cel.id}]")
                    yield Rule(path, cel.expression, self._place(*inner, index), cel.id, cel.message, cel=True)
            elif name == "cel_expression":
                for index, expression in enumerate(value):
                    yield Rule(f"{prefix}{name}[{index}]", expression, self._place(*inner, index), cel=True)
            elif known.message_type is not None and known.message_type.full_name == "buf.validate.MessageOneofRule":
                for index, oneof in enumerate(value):
                    path = self._named(f"{prefix}oneof[{','.join(oneof.fields)}]")
                    yield Rule(path, "required" if oneof.required else "optional", self._place(*inner, index))
            elif isinstance(value, Message) and _is_rules(value):
                yield from self.read(value, f"{prefix}{name}.", inner)
            else:
                yield Rule(prefix + name, plain(known, value), self._place(*inner))

    def _named(self, path: str) -> str:
        """The path, told apart from an equal one (two rules of one id are a mistake, but may be there)."""
        unique, count = path, 1
        while unique in self._seen:
            count += 1
            unique = f"{path}#{count}"
        self._seen.add(unique)
        return unique


def _is_rules(message: Message) -> bool:
    name = message.DESCRIPTOR.full_name
    return name.startswith("buf.validate.") and name.endswith("Rules")


def plain(known: FieldDescriptor, value: Any) -> Value:
    """The value of an option as a report shows it: names of enum values, moments and durations as JSON writes them."""
    if isinstance(value, str | bytes | Message) or not hasattr(value, "__len__"):
        return _plain_scalar(known, value)
    return tuple(_plain_scalar(known, item) for item in value)


def _plain_scalar(known: FieldDescriptor, value: Any) -> Value:
    if isinstance(value, Message):
        if value.DESCRIPTOR.full_name in ("google.protobuf.Duration", "google.protobuf.Timestamp"):
            moment: Any = value
            return str(moment.ToJsonString())
        return canonical(value)
    if known.enum_type is not None:
        named = known.enum_type.values_by_number.get(value)
        return named.name if named is not None else str(value)
    if isinstance(value, bytes):
        return f"0x{value.hex()}"
    result: bool | int | float | str = value
    return result
