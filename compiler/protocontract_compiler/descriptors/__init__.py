"""Reads a request: descriptors and their options, in a pool of its own, as IR."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool

from protocontract_compiler import ir
from protocontract_compiler.descriptors.options import OptionReader
from protocontract_compiler.descriptors.places import Places
from protocontract_compiler.descriptors.reader import read_schema
from protocontract_compiler.descriptors.validate_proto import (
    VALIDATE_PROTO,
    VOCABULARY_PROTO,
    installed,
    same_meaning,
    validate_descriptor,
    vocabulary_descriptor,
)
from protocontract_compiler.diagnostics import Diagnostics, Stopped

__all__ = ["Loaded", "OptionReader", "Places", "load"]

# google.protobuf.Edition: proto2 to 2024.
MINIMUM_EDITION, MAXIMUM_EDITION = 998, 1001
_EDITION_OF_SYNTAX = 0


@dataclass(frozen=True)
class Loaded:
    """A request as read. ``schema`` has no rules and no annotations yet."""

    schema: ir.Schema
    pool: DescriptorPool
    options: OptionReader
    places: Places


def load(
    file_set: FileDescriptorSet,
    requested: Sequence[str],
    diagnostics: Diagnostics,
    *,
    source_roots: Sequence[Path] = (),
    search_here: bool = True,
) -> Loaded:
    """Builds a private pool from the files of a request and reads them.

    ``requested`` names the files to generate code for; all are read. ``search_here``: the sources may lie below the
    working directory too (not those of another version of the contract). Raises Stopped, with the reason in
    ``diagnostics``, where the files do not build or bring a validate.proto or vocabulary other than the installed one.
    """
    files = _in_order(_complete(file_set))
    _check_editions(files, diagnostics)
    _check_installed(files, diagnostics)
    known = {file.name for file in files}
    for name in requested:
        if name not in known:
            diagnostics.error("descriptor", ir.Place(name), "the file is requested but not part of the request")
    if diagnostics.failed:
        raise Stopped
    pool = DescriptorPool()
    for file in files:
        try:
            pool.Add(file)
        except (TypeError, ValueError) as error:
            # The pool's own text names files and symbols, not data: it is the reason.
            diagnostics.error("descriptor", ir.Place(file.name), f"the descriptor does not build: {_reason(error)}")
            raise Stopped from error
    options = OptionReader(pool)
    places = Places(files, pool, [*source_roots, Path.cwd()] if search_here else source_roots)
    schema = read_schema([file.name for file in files], frozenset(requested), pool, options, places)
    return Loaded(schema, pool, options, places)


def _complete(file_set: FileDescriptorSet) -> FileDescriptorSet:
    """The set with the files that every installation has, where it imports them and does not bring them."""
    complete = FileDescriptorSet()
    complete.CopyFrom(file_set)
    known = {file.name for file in complete.file}
    # The list grows while it is read: what is added may import more.
    for file in complete.file:
        for name in file.dependency:
            if name not in known and (found := installed(name)) is not None:
                known.add(name)
                complete.file.append(found)
    return complete


def _in_order(file_set: FileDescriptorSet) -> list[FileDescriptorProto]:
    """The files, each after those that it imports. A set need not be sorted; a request of protoc always is."""
    by_name = {file.name: file for file in file_set.file}
    ordered: dict[str, FileDescriptorProto] = {}
    waiting = [(name, False) for name in reversed(by_name)]
    entered: set[str] = set()
    while waiting:
        name, finished = waiting.pop()
        file = by_name.get(name)
        if file is None or name in ordered:
            continue
        if finished:
            ordered[name] = file
        elif name not in entered:
            entered.add(name)
            waiting.append((name, True))
            waiting.extend((dependency, False) for dependency in reversed(file.dependency))
    return list(ordered.values())


def _check_editions(files: Sequence[FileDescriptorProto], diagnostics: Diagnostics) -> None:
    for file in files:
        if file.syntax == "editions" and not MINIMUM_EDITION <= file.edition <= MAXIMUM_EDITION:
            diagnostics.error(
                "edition", ir.Place(file.name), f"the edition is not known; expected up to 2024, got {file.edition}"
            )


def _check_installed(files: Sequence[FileDescriptorProto], diagnostics: Diagnostics) -> None:
    """A rule means what the installed packages say: another validate.proto would mean something else."""
    for file in files:
        if file.name == VALIDATE_PROTO and not same_meaning(file, validate_descriptor()):
            diagnostics.error(
                "validate-proto",
                ir.Place(file.name),
                "the file differs from the one of the installed protovalidate; expected the same rules",
                "use the folder that `protocontract includes` prints, or install the protovalidate that fits",
            )
        if file.name == VOCABULARY_PROTO and not same_meaning(file, vocabulary_descriptor()):
            diagnostics.error(
                "vocabulary",
                ir.Place(file.name),
                "the file differs from the one of the installed protocontract; expected the same words",
                "use the folder that `protocontract includes` prints",
            )


def _reason(error: Exception) -> str:
    return str(error).removeprefix("Couldn't build proto file into descriptor pool: ").rstrip(".")
