"""Contracts at run time: descriptors or .proto files in, the contracts that the generated modules would hold out."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from google.protobuf.descriptor_pb2 import FileDescriptorSet

from protocontract.contract import Contract
from protocontract.violations import ContractError
from protocontract_compiler import ir, pipeline, protoc
from protocontract_compiler.descriptors import Loaded, load
from protocontract_compiler.diagnostics import Diagnostics, Stopped
from protocontract_compiler.execution import execute, has_contracts


def compile(file_descriptor_set: FileDescriptorSet, *, strict: bool = False) -> Mapping[str, Contract[Any]]:  # noqa: A001
    """The contracts of all messages of a FileDescriptorSet, by full name.

    Well-known files, validate.proto and contract.proto may be missing from the set. Raises ContractError with all
    mistakes of the contract, each with its place.
    """
    diagnostics = Diagnostics()
    try:
        return _contracts(file_descriptor_set, diagnostics, pipeline.CompileOptions(strict=strict))
    except Stopped:
        raise ContractError(diagnostics.render()) from None


def load_protos(
    paths: Iterable[str | Path], proto_path: str | Path | Sequence[str | Path] = (), *, strict: bool = False
) -> Mapping[str, Contract[Any]]:
    """The contracts of .proto files, by full name.

    ``paths`` are files and folders; ``proto_path`` is where imports are looked for. Raises ContractError with all
    mistakes of the sources or the contract, FileNotFoundError for a path that is not there.
    """
    include = [proto_path] if isinstance(proto_path, str | Path) else list(proto_path)
    sources = protoc.find_sources([Path(path) for path in paths], [Path(path) for path in include])
    diagnostics = Diagnostics()
    options = pipeline.CompileOptions(strict=strict, source_roots=tuple(sources.roots))
    try:
        if not sources.names:
            return {}
        return _contracts(protoc.describe(sources, diagnostics), diagnostics, options)
    except Stopped:
        raise ContractError(diagnostics.render()) from None


def describe(sources: Mapping[str, str], known: FileDescriptorSet | None = None) -> FileDescriptorSet:
    """The descriptors of .proto sources, given by the names of their imports, and of all that they import.

    ``known`` are descriptors that the sources may import too. Raises ContractError with all mistakes of the sources,
    ValueError for a name that is no relative path.
    """
    diagnostics = Diagnostics()
    with tempfile.TemporaryDirectory(prefix="protocontract-") as folder:
        root = Path(folder).resolve()
        for name, text in sources.items():
            file = (root / name).resolve()
            if not file.is_relative_to(root) or file == root:
                raise ValueError(f"{name!r} is no name of a file to import")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        found = protoc.Sources(names=list(sources), roots=[root])
        try:
            return protoc.describe(found, diagnostics, known=known)
        except Stopped:
            raise ContractError(diagnostics.render()) from None


def _contracts(
    files: FileDescriptorSet, diagnostics: Diagnostics, options: pipeline.CompileOptions
) -> Mapping[str, Contract[Any]]:
    # Imported files too: contracts refer to those of the messages that they hold.
    requested = [file.name for file in files.file if has_contracts(file.name)]
    loaded = load(files, requested, diagnostics, source_roots=options.source_roots)
    return contracts_of(loaded, pipeline.compile_schema(loaded, diagnostics, options), options)


def contracts_of(loaded: Loaded, schema: ir.Schema, options: pipeline.CompileOptions) -> Mapping[str, Contract[Any]]:
    """The contracts of a compiled schema, by full name, on message classes of the pool that it was read into."""
    return execute(loaded, schema, pipeline.emit(schema, options))
