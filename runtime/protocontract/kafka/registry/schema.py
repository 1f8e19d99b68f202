"""From a registered schema, with what it refers to, to descriptors in a pool of their own."""

from __future__ import annotations

import base64
import binascii
import importlib
import re
from collections.abc import Mapping
from typing import Final

from google.protobuf.descriptor import Descriptor, FileDescriptor
from google.protobuf.descriptor_pb2 import DescriptorProto, FileDescriptorProto, FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError

from protocontract.kafka.registry.client import PROTOBUF, Registered, RegistryClient, builtin
from protocontract.loading import compiler
from protocontract.violations import ContractError

#: What every installation brings: never fetched, whatever a registry has under these names.
BROUGHT: Final = frozenset({"buf/validate/validate.proto", "protocontract/v1/contract.proto"})
#: Most files of one schema: what a registry sends is bounded too.
MAX_FILES: Final = 500
_WELL_KNOWN: Final = re.compile(r"google/protobuf/(compiler/)?[a-z_]+\.proto")
# A name that an import can have, and that is no way out of a folder.
_FILE: Final = re.compile(r"(?!.*(^|/)\.\.?(/|$))[A-Za-z0-9_.\-]+(/[A-Za-z0-9_.\-]+)*")


class UnusableSchema(Exception):
    """A registered schema that cannot be read. The text says why, and holds names of files only."""


class WriterSchema:
    """A schema that records were written with."""

    def __init__(self, registered: Registered, file: FileDescriptor) -> None:
        self.registered: Final = registered
        self._file = file
        self._paths = dict(_paths(file))
        #: Message indexes of all messages of the schema's own file.
        self.paths: Final = frozenset(self._paths.values())

    def path_of(self, full_name: str) -> tuple[int, ...] | None:
        """The message indexes of a message of the schema's own file; None for any other."""
        return self._paths.get(full_name)

    def message(self, full_name: str) -> Descriptor:
        """A message of the schema's own file. Raises KeyError."""
        found: Descriptor = self._file.pool.FindMessageTypeByName(full_name)
        return found


def writer_schema(client: RegistryClient, registered: Registered) -> WriterSchema:
    """The descriptors of a registered schema.

    Raises UnusableSchema; Missing and Unreachable for what it refers to; MissingExtra where the registry gives source
    and the compiler is not installed.
    """
    name, files = file_set(registered, references_of(client, registered))
    pool = DescriptorPool()
    try:
        for file in _in_order(name, files):
            _leave_out_brought(file)
            pool.Add(file)
        return WriterSchema(registered, pool.FindFileByName(name))
    except (TypeError, ValueError, KeyError):
        raise UnusableSchema("its descriptors do not fit together") from None


def references_of(client: RegistryClient, registered: Registered, *, source: bool = False) -> dict[str, Registered]:
    """All that a schema imports, directly or not, by the names of the imports. ``source`` as of the client.

    Raises Missing and Unreachable, and UnusableSchema for names that lie.
    """
    found: dict[str, Registered] = {}
    waiting = list(registered.references)
    while waiting:
        reference = waiting.pop()
        if reference.name in found or reference.name in BROUGHT or _WELL_KNOWN.fullmatch(reference.name):
            continue
        if not _FILE.fullmatch(reference.name):
            raise UnusableSchema("a reference is not named as a file")
        if len(found) >= MAX_FILES:
            raise UnusableSchema(f"it refers to more than {MAX_FILES} files")
        found[reference.name] = client.version(reference.subject, reference.version, source=source)
        waiting += found[reference.name].references
    return found


def file_set(registered: Registered, references: Mapping[str, Registered]) -> tuple[str, FileDescriptorSet]:
    """The name that the schema's own file gets, and the descriptors of it and of all that it imports.

    Raises UnusableSchema, and MissingExtra where a text needs the compiler.
    """
    if registered.kind != PROTOBUF:
        raise UnusableSchema("it is not a protobuf schema")
    files = FileDescriptorSet()
    texts: dict[str, str] = {}
    name = ""
    for known_as, each in [("", registered), *references.items()]:
        file = _decoded(each.text)
        if not known_as:
            # Nobody imports it, and Confluent's clients call it "default".
            name = known_as = _own_name(registered, file, references)
        if file is None:
            texts[known_as] = each.text
        else:
            file.name = known_as
            files.file.append(file)
    _add_builtins(files, texts)
    if texts:
        try:
            files = compiler("describe")(texts, files)
        except ContractError as error:
            raise UnusableSchema("its source does not compile") from error
    return name, files


def encoded(file: FileDescriptor) -> str:
    """A file as Confluent's clients register it."""
    return base64.b64encode(file.serialized_pb).decode()


def is_builtin(name: str) -> bool:
    """Whether readers of registered schemas bring a file themselves: Confluent's clients never refer to it."""
    return name.startswith(("google/protobuf/", "google/type/", "confluent/"))


def _decoded(text: str) -> FileDescriptorProto | None:
    """The descriptor in base64; None for source, which has characters that base64 does not know."""
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    try:
        return FileDescriptorProto.FromString(raw)
    except DecodeError:
        raise UnusableSchema("it is neither source nor a descriptor") from None


def _own_name(registered: Registered, file: FileDescriptorProto | None, references: Mapping[str, Registered]) -> str:
    if file is not None and file.name.endswith(".proto") and _FILE.fullmatch(file.name):
        name = file.name
    else:
        name = re.sub(r"[^A-Za-z0-9_]+", "_", registered.subject or "schema").strip("_") + ".proto"
    while name in references:
        name = f"registered_{name.rpartition('/')[2]}"
    return name


def _add_builtins(files: FileDescriptorSet, texts: Mapping[str, str]) -> None:
    """What is imported and never referred to, as far as it is installed."""
    known = {file.name for file in files.file} | set(texts)
    waiting = [name for file in files.file for name in file.dependency]
    for text in texts.values():
        waiting += re.findall(r'import\s+(?:(?:public|weak|option)\s+)?"([^"]+)"', text)
    while waiting:
        name = waiting.pop()
        if name in known or name in BROUGHT:
            continue
        known.add(name)
        raw = _installed(name) if _WELL_KNOWN.fullmatch(name) else builtin(name)
        if raw is not None:
            file = FileDescriptorProto.FromString(raw)
            file.name = name
            files.file.append(file)
            waiting += file.dependency


def _leave_out_brought(file: FileDescriptorProto) -> None:
    """Without the imports of files that only bring words for options: options are not read here."""
    public = {file.dependency[index] for index in file.public_dependency}
    kept = [name for name in file.dependency if name not in BROUGHT]
    del file.dependency[:], file.public_dependency[:], file.weak_dependency[:]
    file.dependency.extend(kept)
    file.public_dependency.extend(index for index, name in enumerate(kept) if name in public)


def _installed(name: str) -> bytes | None:
    try:
        module = importlib.import_module(name.removesuffix(".proto").replace("/", ".") + "_pb2")
    except ImportError:
        return None
    found: bytes = module.DESCRIPTOR.serialized_pb
    return found


def _in_order(name: str, files: FileDescriptorSet) -> list[FileDescriptorProto]:
    """The file and what it imports, each after its imports. Raises UnusableSchema where one is missing."""
    by_name = {file.name: file for file in files.file}
    ordered: dict[str, FileDescriptorProto] = {}
    waiting = [(name, False)]
    entered: set[str] = set()
    while waiting:
        current, finished = waiting.pop()
        if current in ordered or current in BROUGHT:
            continue
        file = by_name.get(current)
        if file is None:
            raise UnusableSchema("it imports a file that it does not refer to")
        if finished:
            ordered[current] = file
        elif current not in entered:
            entered.add(current)
            waiting.append((current, True))
            waiting += [(dependency, False) for dependency in file.dependency]
    return list(ordered.values())


def _paths(file: FileDescriptor) -> list[tuple[str, tuple[int, ...]]]:
    """Full name and message indexes of every message of a file, counted by order of declaration."""
    proto = FileDescriptorProto.FromString(file.serialized_pb)
    found: list[tuple[str, tuple[int, ...]]] = []

    def walk(messages: list[DescriptorProto], scope: str, path: tuple[int, ...]) -> None:
        for index, message in enumerate(messages):
            name = f"{scope}{message.name}"
            found.append((name, (*path, index)))
            walk(list(message.nested_type), f"{name}.", (*path, index))

    walk(list(proto.message_type), f"{proto.package}." if proto.package else "", ())
    return found
