"""Where things stand in the source: descriptors, and paths inside their options."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from google.protobuf.descriptor import (
    Descriptor,
    EnumDescriptor,
    EnumValueDescriptor,
    FieldDescriptor,
    MethodDescriptor,
    OneofDescriptor,
    ServiceDescriptor,
)
from google.protobuf.descriptor_pb2 import DescriptorProto, EnumDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool

from protocontract_compiler.descriptors.source import Source
from protocontract_compiler.ir import Place

AnyDescriptor: TypeAlias = (
    Descriptor | FieldDescriptor | OneofDescriptor | EnumDescriptor | EnumValueDescriptor | ServiceDescriptor
    | MethodDescriptor
)  # fmt: skip

# Number of the field `options` in each descriptor's own message (google/protobuf/descriptor.proto).
_OPTIONS = {
    "Descriptor": 7, "FieldDescriptor": 8, "OneofDescriptor": 2, "EnumDescriptor": 3, "EnumValueDescriptor": 3,
    "ServiceDescriptor": 3, "MethodDescriptor": 4,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Location:
    line: int
    column: int
    comment: str


class Places:
    """Places by descriptor. ``source_roots`` are where .proto files are looked for."""

    def __init__(
        self, files: Sequence[FileDescriptorProto], pool: DescriptorPool, source_roots: Sequence[Path] = ()
    ) -> None:
        self._pool = pool
        self._paths: dict[str, tuple[str, tuple[int, ...]]] = {}
        self._locations: dict[str, dict[tuple[int, ...], _Location]] = {}
        self._files = {file.name: file for file in files}
        self._roots = list(source_roots)
        self._sources: dict[str, Source | None] = {}
        for file in files:
            for name, path in _declared(file):
                self._paths[name] = (file.name, path)

    def of(self, descriptor: AnyDescriptor) -> Place:
        """The place where the descriptor is declared; only the file where the request has no source information."""
        file, path = self._path(descriptor)
        location = self._of_file(file).get(path)
        return Place(file, location.line, location.column) if location else Place(file)

    def comment(self, descriptor: AnyDescriptor) -> str:
        """The comment before the declaration, or behind it, without markers; empty where there is none."""
        file, path = self._path(descriptor)
        location = self._of_file(file).get(path)
        return location.comment if location else ""

    def option(self, descriptor: AnyDescriptor, extension: str, *steps: str | int) -> Place:
        """The innermost known place of a path inside the option ``(extension)`` of a descriptor.

        Steps are names of fields, ``[full.name]`` of extensions, and indexes into lists. What the front end did not
        report is looked up in the source where that is found; otherwise ``inside`` of the place holds the path.
        """
        file, base = self._path(descriptor)
        numbers = self._numbers(extension, steps)
        base = (*base, _OPTIONS[_kind(descriptor)])
        locations = self._of_file(file)
        for length in range(len(numbers), 0, -1):
            found = locations.get((*base, *numbers[:length]))
            if found is not None:
                place = Place(file, found.line, found.column)
                return place if length == len(numbers) else self._refined(place, steps)
        return self._elsewhere(descriptor, locations, (*base, *numbers), steps)

    def is_written(self, descriptor: AnyDescriptor, extension: str, *steps: str | int) -> bool:
        """Whether the source has a statement at this path of an option, or inside it, as the front end reports."""
        file, base = self._path(descriptor)
        path = (*base, _OPTIONS[_kind(descriptor)], *self._numbers(extension, steps))
        return any(key[: len(path)] == path for key in self._of_file(file))

    def _elsewhere(
        self, descriptor: AnyDescriptor, locations: Mapping[tuple[int, ...], _Location], path: tuple[int, ...],
        steps: Sequence[str | int],
    ) -> Place:  # fmt: skip
        """Where a whole message option was set member by member, its first member stands for it."""
        below = [place for key, place in locations.items() if key[: len(path)] == path]
        place = self.of(descriptor)
        if below:
            return Place(place.file, below[0].line, below[0].column)
        return replace(place, inside=_text(steps)) if steps else place

    def _refined(self, place: Place, steps: Sequence[str | int]) -> Place:
        source = self._source(place.file)
        found = source.find(place.line, place.column, steps) if source is not None else None
        if found is not None:
            return Place(place.file, *found)
        return replace(place, inside=_text(steps))

    def _source(self, file: str) -> Source | None:
        if file not in self._sources:
            self._sources[file] = None
            for path in self._candidates(file):
                try:
                    self._sources[file] = Source(path.read_bytes())
                except OSError:
                    continue
                break
        return self._sources[file]

    def _candidates(self, file: str) -> Iterator[Path]:
        """The file below each root, then below each folder of a root: contracts/acme/... for acme/... ."""
        for root in self._roots:
            yield root / file
        for root in self._roots:
            try:
                folders = sorted(folder for folder in root.iterdir() if folder.is_dir())
            except OSError:
                continue
            for folder in folders:
                if not folder.name.startswith("."):
                    yield folder / file

    def _path(self, descriptor: AnyDescriptor) -> tuple[str, tuple[int, ...]]:
        name = descriptor.full_name if not isinstance(descriptor, EnumValueDescriptor) else _value_name(descriptor)
        if name in self._paths:
            return self._paths[name]
        file = getattr(descriptor, "file", None)
        return (file.name if file is not None else "", (-1,))

    def _of_file(self, file: str) -> dict[tuple[int, ...], _Location]:
        found = self._locations.get(file)
        if found is None:
            found = self._locations[file] = {}
            for location in self._files[file].source_code_info.location if file in self._files else ():
                path = tuple(location.path)
                if path not in found and len(location.span) >= 3:
                    comment = location.leading_comments or location.trailing_comments
                    found[path] = _Location(location.span[0] + 1, location.span[1] + 1, _comment(comment))
        return found

    def _numbers(self, extension: str, steps: Sequence[str | int]) -> tuple[int, ...]:
        field = self._pool.FindExtensionByName(extension)
        numbers = [field.number]
        for step in steps:
            if isinstance(step, int):
                numbers.append(step)
                continue
            if step.startswith("["):
                field = self._pool.FindExtensionByName(step[1:-1])
            elif field.message_type is not None:
                field = field.message_type.fields_by_name[step]
            numbers.append(field.number)
        return tuple(numbers)


def _text(steps: Sequence[str | int]) -> str:
    text = ""
    for step in steps:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def _comment(text: str) -> str:
    return "\n".join(line.removeprefix(" ").rstrip() for line in text.strip("\n").split("\n")).strip()


def _kind(descriptor: AnyDescriptor) -> str:
    for kind in (
        Descriptor,
        FieldDescriptor,
        OneofDescriptor,
        EnumDescriptor,
        EnumValueDescriptor,
        ServiceDescriptor,
    ):
        if isinstance(descriptor, kind):
            return kind.__name__
    return "MethodDescriptor"


def _value_name(value: EnumValueDescriptor) -> str:
    return f"{value.type.full_name}.{value.name}"


def _declared(file: FileDescriptorProto) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Full name and source path of all that a file declares. Enum values are named within their enum."""
    scope = f"{file.package}." if file.package else ""
    for index, message in enumerate(file.message_type):
        yield from _in_message(message, scope, (4, index))
    for index, enum in enumerate(file.enum_type):
        yield from _in_enum(enum, scope, (5, index))
    for index, service in enumerate(file.service):
        yield scope + service.name, (6, index)
        for at, method in enumerate(service.method):
            yield f"{scope}{service.name}.{method.name}", (6, index, 2, at)
    for index, extension in enumerate(file.extension):
        yield scope + extension.name, (7, index)


def _in_message(message: DescriptorProto, scope: str, path: tuple[int, ...]) -> Iterator[tuple[str, tuple[int, ...]]]:
    name = scope + message.name
    yield name, path
    for index, field in enumerate(message.field):
        yield f"{name}.{field.name}", (*path, 2, index)
    for index, oneof in enumerate(message.oneof_decl):
        yield f"{name}.{oneof.name}", (*path, 8, index)
    for index, extension in enumerate(message.extension):
        yield f"{name}.{extension.name}", (*path, 6, index)
    for index, nested in enumerate(message.nested_type):
        yield from _in_message(nested, f"{name}.", (*path, 3, index))
    for index, enum in enumerate(message.enum_type):
        yield from _in_enum(enum, f"{name}.", (*path, 4, index))


def _in_enum(enum: EnumDescriptorProto, scope: str, path: tuple[int, ...]) -> Iterator[tuple[str, tuple[int, ...]]]:
    name = scope + enum.name
    yield name, path
    for index, value in enumerate(enum.value):
        yield f"{name}.{value.name}", (*path, 2, index)
