"""The commands ``protocontract compile`` and ``protocontract includes``."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from protocontract_compiler import pipeline, protoc
from protocontract_compiler.descriptors import load
from protocontract_compiler.descriptors.validate_proto import write_includes
from protocontract_compiler.diagnostics import Diagnostics, Stopped

_KEPT, _COULD_NOT = 0, 2


def compile_command(argv: Sequence[str]) -> int:
    """Compile .proto files to *_pb2.py, *_pb2.pyi and *_contract.py

    Returns 0, or 2 where the sources or the contract have mistakes; then nothing is written.
    """
    parser = argparse.ArgumentParser(
        prog="protocontract compile",
        description="Compiles contracts: *_pb2.py, *_pb2.pyi, *_contract.py and buf/validate/validate_pb2.py. No "
        "protoc is needed. Where there are mistakes, all are shown and nothing is written.",
    )
    parser.add_argument("sources", nargs="+", type=Path, metavar="DIR|FILE", help="folders with .proto files, or files")
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="where the Python goes")
    parser.add_argument(
        "-I", "--proto-path", action="append", default=[], type=Path, metavar="DIR",
        help="where imports are looked for; the folders named as sources need not be repeated",
    )  # fmt: skip
    parser.add_argument("--strict", action="store_true", help="refuse rules that cannot be compiled exactly")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how the report is written")
    arguments = parser.parse_args(argv)

    diagnostics = Diagnostics()
    try:
        sources = protoc.find_sources(arguments.sources, arguments.proto_path)
        if not sources.names:
            print(f"no .proto file in {', '.join(map(str, arguments.sources))}", file=sys.stderr)
            return _COULD_NOT
        options = pipeline.CompileOptions(strict=arguments.strict, source_roots=tuple(sources.roots))
        written = _compile(sources, arguments.out, options, diagnostics)
    except FileNotFoundError as error:
        print(f"{error.filename}: {error.strerror}", file=sys.stderr)
        return _COULD_NOT
    except Stopped:
        if arguments.format == "json":
            print(diagnostics.to_json())
        else:
            print(diagnostics.render(), file=sys.stderr)
        return _COULD_NOT
    if arguments.format == "json":
        print(json.dumps({"errors": [], "written": written}, indent=2))
    else:
        print(f"{len(sources.names)} .proto files, {len(written)} files written to {arguments.out}")
    return _KEPT


def includes_command(argv: Sequence[str]) -> int:
    """Print the folder with validate.proto and contract.proto for protoc -I, or export the two files

    ``--export DIR`` copies the two files into DIR instead (a buf workspace).
    """
    parser = argparse.ArgumentParser(
        prog="protocontract includes",
        description="Prints a folder for protoc -I that holds protocontract/v1/contract.proto and a "
        "buf/validate/validate.proto equal to the installed protovalidate's.",
    )
    parser.add_argument("--export", type=Path, metavar="DIR", help="copy the two files into DIR, for a buf workspace")
    arguments = parser.parse_args(argv)
    if arguments.export is not None:
        write_includes(arguments.export)
    else:
        print(protoc.includes_folder())
    return _KEPT


def _compile(
    sources: protoc.Sources, out: Path, options: pipeline.CompileOptions, diagnostics: Diagnostics
) -> list[str]:
    """Writes all files of a compilation, or none; returns their names below ``out``. Raises Stopped."""
    # Made beside the target, so that moving a file into its place is one step of the file system.
    beside = next(folder for folder in (out.absolute(), *out.absolute().parents) if folder.is_dir())
    with tempfile.TemporaryDirectory(prefix=".protocontract-", dir=beside) as folder:
        made = Path(folder)
        files = protoc.describe(sources, diagnostics, pb2=made)
        loaded = load(files, sources.names, diagnostics, source_roots=options.source_roots)
        schema = pipeline.compile_schema(loaded, diagnostics, options)
        output = pipeline.emit(schema, options)
        for file in output:
            path = made / file.name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(file.text, "utf-8", newline="\n")
        written = sorted(path.relative_to(made) for path in made.rglob("*") if path.is_file())
        for name in written:
            target = out / name
            target.parent.mkdir(parents=True, exist_ok=True)
            os.replace(made / name, target)
    return [name.as_posix() for name in written]
