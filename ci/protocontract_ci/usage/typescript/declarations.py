"""Declarations for the TypeScript compiler: what protoc-gen-es 2 would write for one or several states of a contract.

All elements are declared in one file, a property a line, and a table says which element stands on which line: so a
symbol that the compiler resolves tells which element it is, through aliases, generics and mapped types alike. The files
that modules import only give these declarations their names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from google.protobuf.descriptor_pb2 import FileDescriptorProto

from protocontract_ci.sources import Contracts
from protocontract_ci.usage.typescript.names import member_names, method_name, property_name, type_name
from protocontract_ci.usage.vocabulary import Elements
from protocontract_compiler import ir

#: The file of all declarations.
TYPES: Final = "types"
#: Files that are imported from @bufbuild/protobuf/wkt, or hold options alone.
_NOT_OURS: Final = ("google/protobuf/", "buf/validate/", "protocontract/v1/")

Kind: TypeAlias = Literal[
    "message", "enum", "service", "field", "oneof", "case", "value", "method", "json", "field_descriptor"
]

_NUMBERS_64: Final = frozenset({ir.TYPE_INT64, ir.TYPE_UINT64, ir.TYPE_FIXED64, ir.TYPE_SFIXED64, ir.TYPE_SINT64})
_SCALARS: Final[dict[int, str]] = {
    ir.TYPE_BOOL: "boolean", ir.TYPE_STRING: "string", ir.TYPE_BYTES: "Uint8Array",
    **dict.fromkeys(_NUMBERS_64, "bigint"),
}  # fmt: skip
_JSON: Final[dict[int, str]] = {
    ir.TYPE_BOOL: "boolean", ir.TYPE_STRING: "string", ir.TYPE_BYTES: "string",
    **dict.fromkeys(_NUMBERS_64, "string"),
    **dict.fromkeys(ir.FLOAT_TYPES, 'number | "NaN" | "Infinity" | "-Infinity"'),
}  # fmt: skip
#: The messages that @bufbuild/protobuf/wkt exports; a field of a wrapper has the type of what it wraps.
_WELL_KNOWN: Final = frozenset({"Any", "Duration", "Empty", "FieldMask", "ListValue", "Struct", "Timestamp", "Value"})
_WRAPPED: Final = {
    "StringValue": "string", "BoolValue": "boolean", "BytesValue": "Uint8Array", "Int64Value": "bigint",
    "UInt64Value": "bigint",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class State:
    """One state of the contracts: its schema, and what protoc-gen-es looks at beside it.

    ``proto3``: files in which ``optional`` makes a property that may be undefined (in proto2 and editions a field that
    is not set reads as its default). ``as_text``: 64-bit fields with jstype = JS_STRING.
    """

    schema: ir.Schema
    proto3: frozenset[str]
    as_text: frozenset[str] = frozenset()

    @classmethod
    def of(cls, contracts: Contracts) -> State:
        """The state of contracts that were read."""
        proto3 = {
            name
            for name in contracts.schema.files
            if not name.startswith(_NOT_OURS) and _syntax(contracts, name) == "proto3"
        }
        as_text = {
            name
            for name, described in contracts.facts.elements.items()
            if (option := described.options.get("jstype")) is not None and option.value == "JS_STRING"
        }
        return cls(contracts.schema, frozenset(proto3), frozenset(as_text))


def _syntax(contracts: Contracts, file: str) -> str:
    facts = contracts.facts.files.get(file)
    if facts is not None:
        return facts.syntax
    proto = FileDescriptorProto()
    contracts.loaded.pool.FindFileByName(file).CopyToProto(proto)
    return proto.syntax


@dataclass(frozen=True, slots=True)
class _Member:
    """A field in one state."""

    state: State
    message: ir.Message
    field: ir.Field

    @property
    def path(self) -> str:
        return f"{self.message.full_name}.{self.field.name}"

    @property
    def oneof(self) -> str:
        """The full name of its oneof."""
        return f"{self.message.full_name}.{self.field.oneof}"

    @property
    def is_optional(self) -> bool:
        """Whether the property may be undefined."""
        if self.field.shape is not ir.Shape.SINGULAR:
            return False
        if self.field.message is not None:
            return True
        return self.field.has_presence and self.message.file in self.state.proto3


@dataclass
class Declarations:
    """The files by the import names of their .proto files, and what stands on their lines."""

    files: dict[str, str] = field(default_factory=dict)
    #: By file: line, kind and full name; for a case its field comes after its oneof.
    meanings: dict[str, list[tuple[int, Kind, str, str]]] = field(default_factory=dict)
    #: What the reader looks up by text: cases by oneof, members by enum, keys of JSON by message, packages by file.
    tables: dict[str, Any] = field(default_factory=dict)
    #: What is declared for each element, and which elements it refers to.
    blocks: dict[str, str] = field(default_factory=dict)
    references: dict[str, frozenset[str]] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """As the reader gets it."""
        return {"files": self.files, "meanings": self.meanings, "tables": self.tables}


def write_declarations(states: Sequence[State]) -> Declarations:
    """The declarations of all states in one: a property whose type changed has both types."""
    return _Writer(states).write()


def affected(before: Declarations, after: Declarations) -> list[str]:
    """The elements and files whose declarations differ, and the elements from which those can be reached.

    Code that uses none of them has the same type errors on both sides.
    """
    names = {*before.blocks, *after.blocks}
    found = {name for name in names if before.blocks.get(name) != after.blocks.get(name)}
    growing = True
    while growing:
        more = {
            name
            for name in names - found
            if not found.isdisjoint(before.references.get(name, frozenset()) | after.references.get(name, frozenset()))
        }
        found |= more
        growing = bool(more)
    files = {*before.files, *after.files} - {TYPES}
    return sorted(found | {name for name in files if before.files.get(name) != after.files.get(name)})


def exported_names(schema: ir.Schema) -> dict[str, dict[str, tuple[str, str]]]:
    """What generated code exports at run time, by file and name: the kind ("message", ...) and the full name of it."""
    elements = Elements([schema])
    found: dict[str, dict[str, tuple[str, str]]] = {}
    for file, declared in schema.files.items():
        if file.startswith(_NOT_OURS):
            continue
        held = found.setdefault(file, {f"file_{_identifier(file)}": ("file", file)})
        for name in elements.in_file(file):
            is_enum = name in elements.enums
            held[type_name(name, declared.package, "Schema")] = ("schema" if is_enum else "message", name)
            if is_enum:
                held[type_name(name, declared.package)] = ("enum", name)
        services = (each for each in schema.services.values() if each.file == file)
        held.update({type_name(each.full_name, declared.package): ("service", each.full_name) for each in services})
    return found


class _Lines:
    """Lines of one file with their meanings."""

    def __init__(self, head: Iterable[str]) -> None:
        self.lines = list(head)
        self.meanings: list[tuple[int, Kind, str, str]] = []

    def add(self, text: str, kind: Kind = "field", paths: Iterable[str] = ()) -> None:
        """Adds a line that declares elements of a kind."""
        self.lines.append(text)
        self.meanings.extend((len(self.lines), kind, path, "") for path in dict.fromkeys(paths))

    def add_case(self, text: str, cases: Iterable[tuple[str, str]]) -> None:
        """Adds a line that declares cases: of which oneof, and which field it is."""
        self.lines.append(text)
        self.meanings.extend((len(self.lines), "case", oneof, path) for oneof, path in dict.fromkeys(cases))


class _Writer:
    def __init__(self, states: Sequence[State]) -> None:
        self._states = states
        self._elements = Elements([state.schema for state in states])
        self._own: dict[str, str] = {}
        self._lines = _Lines(
            [
                'import type { GenEnum, GenMessage, GenService } from "@bufbuild/protobuf/codegenv2";',
                'import type { DescField, JsonObject, JsonValue, Message } from "@bufbuild/protobuf";',
                'import type * as wkt from "@bufbuild/protobuf/wkt";',
            ]
        )

    def write(self) -> Declarations:
        for name in (*self._elements.messages, *self._elements.enums, *self._elements.services):
            self._own[name] = f"${name.replace('.', '$')}"
        ours = {name: list(self._held(name)) for name in self._elements.files if not name.startswith(_NOT_OURS)}
        found = Declarations()
        for name in dict.fromkeys(each for held in ours.values() for each in held):
            start = len(self._lines.lines)
            if name in self._elements.messages:
                self._message(name)
            elif name in self._elements.enums:
                self._enum(name)
            else:
                self._service(name)
            found.blocks[name] = "\n".join(self._lines.lines[start:])
            found.references[name] = frozenset(self._references(name))
        found.files[TYPES] = "\n".join(self._lines.lines) + "\n"
        found.meanings[TYPES] = self._lines.meanings
        for name, held in ours.items():
            lines = self._module(name, held)
            found.files[name] = "\n".join(lines.lines) + "\n"
            found.meanings[name] = lines.meanings
        found.tables = self._tables(ours)
        return found

    def _references(self, name: str) -> Iterator[str]:
        for member in self._fields(name):
            for declared in (member.field, member.field.value):
                if declared is not None:
                    yield from (each for each in (declared.message, declared.enum) if each is not None)
        for service in self._elements.services.get(name, ()):
            for method in service.methods:
                yield from (method.request, method.response)

    def _held(self, file: str) -> Iterable[str]:
        yield from self._elements.in_file(file)
        for name, states in self._elements.services.items():
            if any(each.file == file for each in states):
                yield name

    # -- messages

    def _message(self, name: str) -> None:
        own, add = self._own[name], self._lines.add
        add(f"export type {own} = Message<{_text(name)}> & {{", "message", [name])
        outside, oneofs = self._properties(name)
        for prop, members in outside.items():
            types = dict.fromkeys(self._type(each) for each in members)
            mark, end = ("?", " | undefined") if any(each.is_optional for each in members) else ("", "")
            add(f"  {_key(prop)}{mark}: {' | '.join(types)}{end};", "field", (each.path for each in members))
        for prop, cases in oneofs.items():
            paths = dict.fromkeys(each.oneof for members in cases.values() for each in members)
            add(f"  {_key(prop)}:", "oneof", paths)
            for case, members in cases.items():
                types = dict.fromkeys(self._type(each) for each in members)
                add("    | {")
                add(f"        value: {' | '.join(types)};", "field", (each.path for each in members))
                self._lines.add_case(f"        case: {_text(case)};", ((m.oneof, m.path) for m in members))
                add("      }")
            add("    | {")
            self._lines.add_case("        case: undefined;", ((path, "") for path in paths))
            add("        value?: undefined;")
            add("      };")
        add("};")
        add(f"export type {own}Json = {{")
        for key, members in self._json_keys(name).items():
            types = dict.fromkeys(self._json_type(each.field) for each in members)
            add(f"  {_key(key)}?: {' | '.join(types)};", "json", (each.path for each in members))
        add("};")
        add(f"export type {own}Fields = {{")
        for prop, names in self._names(name).items():
            add(f"  {_key(prop)}: DescField;", "field_descriptor", names)
        add("};")
        add(f"export declare const {own}Schema: GenMessage<{own}, {own}Fields, {own}Json>;", "message", [name])

    def _fields(self, message: str) -> Iterator[_Member]:
        for state in self._states:
            declared = state.schema.messages.get(message)
            if declared is not None:
                yield from (_Member(state, declared, each) for each in declared.fields)

    def _properties(self, message: str) -> tuple[dict[str, list[_Member]], dict[str, dict[str, list[_Member]]]]:
        """Properties outside of oneofs, and oneofs with their cases, by their names in TypeScript."""
        outside: dict[str, list[_Member]] = {}
        oneofs: dict[str, dict[str, list[_Member]]] = {}
        for each in self._fields(message):
            name = property_name(each.field.name)
            if each.field.oneof is None:
                outside.setdefault(name, []).append(each)
            else:
                oneofs.setdefault(property_name(each.field.oneof), {}).setdefault(name, []).append(each)
        return outside, oneofs

    def _names(self, message: str) -> dict[str, list[str]]:
        """The full names of fields by their names in TypeScript."""
        found: dict[str, dict[str, None]] = {}
        for each in self._fields(message):
            found.setdefault(property_name(each.field.name), {})[each.path] = None
        return {name: list(paths) for name, paths in found.items()}

    def _json_keys(self, message: str) -> dict[str, list[_Member]]:
        found: dict[str, list[_Member]] = {}
        for each in self._fields(message):
            found.setdefault(each.field.json_name, []).append(each)
        return found

    def _type(self, member: _Member) -> str:
        declared = member.field
        if declared.key is not None and declared.value is not None:
            key = "number" if self._scalar(declared.key) == "number" else "string"
            return f"{{ [key: {key}]: {self._single(declared.value)} }}"
        if member.path in member.state.as_text:
            found = "string"
        else:
            found = self._single(declared, unwrap=declared.shape is ir.Shape.SINGULAR and declared.oneof is None)
        return f"{found}[]" if declared.shape is ir.Shape.REPEATED else found

    def _single(self, declared: ir.Field, *, unwrap: bool = False) -> str:
        if declared.enum is not None:
            return self._own.get(declared.enum, "number")
        if declared.message is None:
            return self._scalar(declared)
        short = declared.message.removeprefix("google.protobuf.")
        if short == declared.message:
            return self._own[declared.message]
        if short == "Struct":
            return "JsonObject"
        if declared.message in ir.WRAPPERS:
            return _WRAPPED.get(short, "number") if unwrap else f"wkt.{short}"
        return f"wkt.{short}" if short in _WELL_KNOWN else f"Message<{_text(declared.message)}>"

    def _scalar(self, declared: ir.Field) -> str:
        return _SCALARS.get(declared.type, "number")

    def _json_type(self, declared: ir.Field) -> str:
        if declared.key is not None and declared.value is not None:
            return f"{{ [key: string]: {self._json_single(declared.value)} }}"
        single = self._json_single(declared)
        return f"({single})[]" if declared.shape is ir.Shape.REPEATED else single

    def _json_single(self, declared: ir.Field) -> str:
        if declared.enum is not None:
            return f"{self._own[declared.enum]}Json" if declared.enum in self._own else "JsonValue"
        if declared.message is not None:
            ours = not declared.message.startswith("google.protobuf.")
            return f"{self._own[declared.message]}Json" if ours else "JsonValue"
        return _JSON.get(declared.type, "number")

    # -- enums and services

    def _members(self, name: str) -> dict[str, list[tuple[str, int]]]:
        """The paths and numbers of values by their names in TypeScript."""
        found: dict[str, list[tuple[str, int]]] = {}
        for enum in self._elements.enums.get(name, ()):
            names = member_names(enum)
            for value in enum.values:
                entry = (f"{name}.{value.name}", value.number)
                if entry not in found.setdefault(names[value.name], []):
                    found[names[value.name]].append(entry)
        return found

    def _enum(self, name: str) -> None:
        own, add = self._own[name], self._lines.add
        add(f"export declare enum {own} {{", "enum", [name])
        for member, entries in self._members(name).items():
            add(f"  {_key(member)} = {entries[0][1]},", "value", (path for path, _ in entries))
        add("}")
        values = dict.fromkeys(value.name for enum in self._elements.enums[name] for value in enum.values)
        json = "null" if name == "google.protobuf.NullValue" else " | ".join(_text(value) for value in values)
        add(f"export type {own}Json = {json};", "enum", [name])
        add(f"export declare const {own}Schema: GenEnum<{own}>;", "enum", [name])

    def _service(self, name: str) -> None:
        own, add = self._own[name], self._lines.add
        add(f"export declare const {own}: GenService<{{", "service", [name])
        methods: dict[str, list[ir.Method]] = {}
        for service in self._elements.services[name]:
            for method in service.methods:
                methods.setdefault(method_name(method.name), []).append(method)
        for called, declared in methods.items():
            types = dict.fromkeys(
                f"{{ methodKind: {_text(_streaming(method))}; input: typeof {self._schema(method.request)}; "
                f"output: typeof {self._schema(method.response)} }}"
                for method in declared
            )
            add(f"  {_key(called)}: {' | '.join(types)};", "method", (f"{name}.{method.name}" for method in declared))
        add("}>;")

    def _schema(self, message: str) -> str:
        short = message.removeprefix("google.protobuf.")
        return f"wkt.{short}Schema" if short != message else f"{self._own[message]}Schema"

    # -- the modules that are imported

    def _module(self, file: str, held: Sequence[str]) -> _Lines:
        lines = _Lines(
            [
                'import type { GenEnum, GenFile, GenMessage } from "@bufbuild/protobuf/codegenv2";',
                f'import * as all from "contract:{TYPES}";',
                f"export declare const file_{_identifier(file)}: GenFile;",
            ]
        )
        packages = dict.fromkeys(
            state.schema.files[file].package for state in self._states if file in state.schema.files
        )
        by_name: dict[tuple[str, str, str], list[str]] = {}
        for full_name in held:
            # In which package it was declared is its own prefix.
            package = max((each for each in packages if full_name.startswith(f"{each}.")), key=len, default="")
            exported = tuple(type_name(full_name, package, suffix) for suffix in ("", "Json", "Schema"))
            by_name.setdefault((exported[0], exported[1], exported[2]), []).append(full_name)
        for exported, names in by_name.items():
            self._exports(lines, *exported, names)
        return lines

    def _exports(self, lines: _Lines, short: str, json_name: str, schema_name: str, names: Sequence[str]) -> None:
        own = [self._own[name] for name in names]
        if names[0] in self._elements.services:
            lines.add(f"export declare const {short}: {_either('typeof all.', own)};", "service", names)
            return
        is_enum = names[0] in self._elements.enums
        kind: Kind = "enum" if is_enum else "message"
        if is_enum and len(own) == 1:
            lines.add(f'export {{ {own[0]} as {short} }} from "contract:{TYPES}";', kind, names)
        else:
            lines.add(f"export type {short} = {_either('all.', own)};", kind, names)
        if is_enum and len(own) > 1:
            lines.add(f"export declare const {short}: {_both('typeof all.', own)};", kind, names)
        lines.add(f"export type {json_name} = {_either('all.', [f'{each}Json' for each in own])};", kind, names)
        if is_enum:
            schema = f"GenEnum<{_either('all.', own)}>"
        else:
            fields = _both("all.", [f"{each}Fields" for each in own])
            json = _either("all.", [f"{each}Json" for each in own])
            schema = f"GenMessage<{_either('all.', own)}, {fields}, {json}>"
        lines.add(f"export declare const {schema_name}: {schema};", kind, names)

    def _tables(self, ours: Mapping[str, Sequence[str]]) -> dict[str, Any]:
        oneofs: dict[str, dict[str, list[str]]] = {}
        messages: dict[str, Any] = {}
        for name in self._elements.messages:
            for cases in self._properties(name)[1].values():
                for case, members_of in cases.items():
                    for member in members_of:
                        paths = oneofs.setdefault(member.oneof, {}).setdefault(case, [])
                        paths += [member.path] if member.path not in paths else []
            keys: dict[str, dict[str, str]] = {}
            for member in self._fields(name):
                each = member.field
                inner = each.element_message or each.enum or (each.value.enum if each.value is not None else None) or ""
                for key in dict.fromkeys((each.json_name, each.name)):
                    keys.setdefault(key, {})[member.path] = inner
            messages[name] = {"fields": self._names(name), "json": keys}
        enums: dict[str, Any] = {}
        for name in self._elements.enums:
            members = self._members(name)
            numbers: dict[str, list[str]] = {}
            values: dict[str, list[str]] = {}
            for entries in members.values():
                for path, number in entries:
                    numbers.setdefault(str(number), []).append(path)
                    values.setdefault(path.rpartition(".")[2], []).append(path)
            enums[name] = {
                "members": {member: [path for path, _ in entries] for member, entries in members.items()},
                "numbers": {number: list(dict.fromkeys(paths)) for number, paths in numbers.items()},
                "values": {value: list(dict.fromkeys(paths)) for value, paths in values.items()},
            }
        packages = {
            file: list(dict.fromkeys(s.schema.files[file].package for s in self._states if file in s.schema.files))
            for file in ours
        }
        return {"oneofs": oneofs, "messages": messages, "enums": enums, "packages": packages}


def _streaming(method: ir.Method) -> str:
    if method.client_streaming:
        return "bidi_streaming" if method.server_streaming else "client_streaming"
    return "server_streaming" if method.server_streaming else "unary"


def _either(prefix: str, names: Sequence[str]) -> str:
    return " | ".join(f"{prefix}{name}" for name in names)


def _both(prefix: str, names: Sequence[str]) -> str:
    return " & ".join(f"{prefix}{name}" for name in names)


def _text(text: str) -> str:
    return f'"{text}"'


def _key(name: str) -> str:
    return name if name.replace("$", "_").isidentifier() else _text(name)


def _identifier(file: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in file.removesuffix(".proto"))
