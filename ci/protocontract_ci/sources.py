"""Reads one state of the contracts: a folder of .proto files, one file, a FileDescriptorSet, or a folder of a git ref.

What the sources import is found by itself: buf/validate/validate.proto and protocontract/v1/contract.proto are always
those of the installed packages, whatever the sources bring, for a rule means what the installed protovalidate says.
Mistakes that make a contract impossible to keep (``protocontract compile`` reports them) do not hinder a comparison:
they are collected, and what a rule with a mistake means is unknown.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import re
import subprocess
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from google.protobuf.empty_pb2 import Empty
from google.protobuf.message import DecodeError, Message
from google.protobuf.unknown_fields import UnknownFieldSet

from protocontract.violations import ContractError
from protocontract_ci.facts import Facts, read_facts
from protocontract_compiler import ir, protoc
from protocontract_compiler.descriptors import Loaded, load
from protocontract_compiler.descriptors.validate_proto import VALIDATE_PROTO, VOCABULARY_PROTO, installed, same_meaning
from protocontract_compiler.diagnostics import Diagnostics, Stopped
from protocontract_compiler.ir_dump import fingerprint
from protocontract_compiler.passes.pass_annotations import annotate

if TYPE_CHECKING:
    from protocontract_compiler.passes.pass_rules import Lowering

_PACKAGE = re.compile(rb"^\s*package\s+([\w.]+)\s*;", re.MULTILINE)
# buf marks the imports of an image in an extension of its own (ImageFile.buf_extension.is_import).
_BUF_EXTENSION, _BUF_IS_IMPORT = 8042, 1


class Contracts:
    """One state of the contracts. ``schema`` has annotations; rules are lowered message by message, on demand.

    ``requested`` are the files that the user named; the others are imports. ``facts`` is what the sources say beyond
    the schema. ``notes`` are for the user: what was read otherwise than it was written.
    """

    def __init__(
        self,
        files: FileDescriptorSet,
        requested: Sequence[str],
        *,
        shown: Mapping[str, str],
        roots: Sequence[Path] = (),
    ) -> None:
        """Reads descriptors. ``shown`` is how each file is called to the user. Raises ContractError."""
        self.notes: list[str] = []
        self._shown = dict(shown)
        diagnostics = Diagnostics()
        try:
            self.loaded: Loaded = load(
                self._installed(files), [name for name in requested if not _brought(name)], diagnostics,
                source_roots=roots, search_here=False,
            )  # fmt: skip
        except Stopped:
            raise _refused(diagnostics, self._shown) from None
        self.schema: ir.Schema = annotate(self.loaded, self.loaded.schema)
        self.requested = frozenset(name for name, file in self.schema.files.items() if file.requested)
        protos = {file.name: file for file in files.file if file.name in self.requested}
        self.facts: Facts = read_facts(self.loaded, self.schema, protos)
        self._diagnostics = Diagnostics()
        self._messages: dict[str, ir.Message] = {}
        self._fingerprints: dict[str, str] = {}

    def _installed(self, files: FileDescriptorSet) -> FileDescriptorSet:
        """The set with the vocabularies of the installed packages in the place of those that it brings."""
        result = FileDescriptorSet()
        for file in files.file:
            ours = installed(file.name) if file.name in (VALIDATE_PROTO, VOCABULARY_PROTO) else None
            if ours is not None and not same_meaning(_known(file), ours):
                self.notes.append(f"{file.name} was read as the installed one, which differs")
            result.file.append(ours if ours is not None else file)
        return result

    def lowered(self, full_name: str) -> ir.Message:
        """A message with its rules compiled. Raises KeyError for an unknown name."""
        if full_name not in self._messages:
            self._messages[full_name] = self._lowering.message(self.schema.messages[full_name])
        return self._messages[full_name]

    @cached_property
    def _lowering(self) -> Lowering:
        # The CEL compiler takes long to import, and is not asked where nothing has changed.
        from protocontract_compiler.passes.pass_rules import Lowering

        return Lowering(self.loaded, self.schema, self._diagnostics, strict=False)

    @property
    def mistakes(self) -> tuple[str, ...]:
        """The mistakes in the rules that were lowered until now, one line each."""
        return tuple(str(replace(found, place=self.place(found.place))) for found in self._diagnostics.sorted())

    def fingerprint(self, full_name: str) -> str:
        """The fingerprint of a message (vocabulary.md): 64 hex digits. Raises KeyError for an unknown name."""
        if full_name not in self._fingerprints:
            self._fingerprints[full_name] = fingerprint(self.schema, full_name)
        return self._fingerprints[full_name]

    def place(self, place: ir.Place) -> ir.Place:
        """A place with the file as the user would open it."""
        return replace(place, file=self.shown(place.file))

    def shown(self, file: str) -> str:
        """How a file is called to the user: below the folder that was named, or as imports call it."""
        return self._shown.get(file, file)


def read(where: str, proto_path: Sequence[Path] = (), *, name: str | None = None) -> Contracts:
    """The contracts in ``where``: DIR, FILE.proto, a FileDescriptorSet, or REF:PATH of the git repository around here.

    ``proto_path`` are folders in which imports are looked for. ``name`` is the import name that a single .proto file
    goes by, where it is compared with another one. Raises ContractError where the sources do not compile,
    FileNotFoundError where there is nothing.
    """
    path = Path(where)
    if path.is_dir() or (path.is_file() and path.suffix == ".proto"):
        return _read_protos(path, proto_path, name)
    if path.is_file():
        return _read_set(path)
    ref, colon, inside = where.partition(":")
    if colon and ref:
        return _read_git(ref, inside, proto_path)
    raise FileNotFoundError(2, "no such file or folder", where)


def _read_protos(path: Path, proto_path: Sequence[Path], name: str | None, prefix: Path | None = None) -> Contracts:
    """``prefix`` stands for ``path`` where files are shown (a checkout of a git ref lies somewhere temporary)."""
    # A file of its own is known by the name below its folder: two versions of it lie in two folders. Imports of a
    # folder start at the folder; what -I names comes after it.
    include = [path, *proto_path] if path.is_dir() else [*proto_path, path.parent]
    sources = protoc.find_sources([path], include)
    if not sources.names:
        raise ContractError(f"{prefix or path}: no .proto file; expected at least one")
    diagnostics = Diagnostics()
    try:
        files = _described(sources, diagnostics)
    except Stopped:
        shown = {file: _below(path, file, sources.roots, prefix) for file in sources.names}
        inner = _package_roots(path) if path.is_dir() else []
        if not inner:
            raise _refused(diagnostics, shown) from None
        try:
            # A repository whose imports start at a folder inside: the packages of its files say where.
            others = [path / file for file in sources.names if not any((path / file).is_relative_to(r) for r in inner)]
            sources = protoc.find_sources([*inner, *others], [*inner, *include])
            files = _described(sources, Diagnostics())
        except Stopped:
            raise _refused(diagnostics, shown) from None
    shown = {file: _below(path, file, sources.roots, prefix) for file in sources.names}
    if name is not None and len(sources.names) == 1:
        own = sources.names[0]
        shown = {name: shown[own]}
        for file in files.file:
            if file.name == own:
                file.name = name
            file.dependency[:] = [name if imported == own else imported for imported in file.dependency]
        return Contracts(files, [name], shown=shown, roots=[])
    return Contracts(files, sources.names, shown=shown, roots=sources.roots)


def _described(sources: protoc.Sources, diagnostics: Diagnostics) -> FileDescriptorSet:
    with contextlib.redirect_stderr(io.StringIO()):
        # Warnings of protoc (an import that is not used) are for those who compile.
        return protoc.describe(sources, diagnostics)


def _package_roots(folder: Path) -> list[Path]:
    """The folders below ``folder`` that packages start from: ``proto`` for proto/shop/v1/order.proto of shop.v1."""
    found: dict[Path, None] = {}
    for file in sorted(folder.rglob("*.proto")):
        package = _PACKAGE.search(file.read_bytes())
        parts = tuple(package[1].decode().split(".")) if package is not None else ()
        inside = file.parent.relative_to(folder).parts
        if parts and len(inside) > len(parts) and inside[-len(parts) :] == parts:
            found[folder.joinpath(*inside[: -len(parts)])] = None
    return list(found)


def _below(path: Path, file: str, roots: Sequence[Path], prefix: Path | None) -> str:
    for root in roots:
        found = root / file
        if found.is_file():
            if prefix is not None and found.is_relative_to(path):
                return (prefix / found.relative_to(path)).as_posix()
            # As an editor that was started here calls it.
            here = found.is_absolute() and found.is_relative_to(Path.cwd())
            return (found.relative_to(Path.cwd()) if here else found).as_posix()
    return file


def _read_set(path: Path) -> Contracts:
    data = path.read_bytes()
    try:
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
        files = FileDescriptorSet.FromString(data)
    except (DecodeError, OSError, EOFError) as error:
        raise ContractError(
            f"{path}: not a FileDescriptorSet; expected the output of `buf build -o {path.stem}.binpb` "
            "or `protoc --include_imports --include_source_info --descriptor_set_out`"
        ) from error
    if not files.file:
        raise ContractError(f"{path}: the FileDescriptorSet is empty; expected at least one file")
    return Contracts(files, [file.name for file in files.file if not _is_import(file)], shown={})


def _is_import(file: FileDescriptorProto) -> bool:
    for extension in _unknown(file):
        if extension.field_number == _BUF_EXTENSION and isinstance(extension.data, bytes):
            return any(
                inner.field_number == _BUF_IS_IMPORT and bool(inner.data)
                for inner in _unknown(Empty.FromString(extension.data))
            )
    return False


def _known(file: FileDescriptorProto) -> FileDescriptorProto:
    """A file without what a tool has added to it; its options keep the extensions that Python does not know."""
    plain = FileDescriptorProto()
    for field, value in file.ListFields():
        part = FileDescriptorProto(**{field.name: value})
        plain.MergeFrom(part)
    return plain


def _unknown(message: Message) -> Any:
    """The fields of a message that its class does not know (the stubs of the set have no __iter__)."""
    return UnknownFieldSet(message)


def _brought(name: str) -> bool:
    return name in (VALIDATE_PROTO, VOCABULARY_PROTO) or name.startswith("google/protobuf/")


def _read_git(ref: str, inside: str, proto_path: Sequence[Path]) -> Contracts:
    """A folder or file as it is in a commit. The repository is the one around the working directory."""
    inside = inside.removeprefix("./").rstrip("/") or "."
    result = subprocess.run(
        ["git", "archive", "--format=tar", ref, "--", inside], capture_output=True, check=False
    )  # fmt: skip
    if result.returncode:
        reason = result.stderr.decode("utf-8", "replace").strip().splitlines()
        raise ContractError(f"{ref}:{inside}: {reason[-1] if reason else 'git cannot read it'}")
    with tempfile.TemporaryDirectory(prefix="protocontract-") as folder:
        with tarfile.open(fileobj=io.BytesIO(result.stdout)) as archive:
            archive.extractall(folder, filter="data")
        # Everything is read, places in the source too, before the folder goes.
        return _read_protos(Path(folder) / inside, proto_path, None, Path(inside))


def _refused(diagnostics: Diagnostics, shown: Mapping[str, str]) -> ContractError:
    found = diagnostics.sorted()
    lines = [
        str(replace(mistake, place=replace(mistake.place, file=shown.get(mistake.place.file, mistake.place.file))))
        for mistake in found
    ]
    return ContractError("\n".join(["the contract cannot be read", *(f"  {line}" for line in lines)]))
