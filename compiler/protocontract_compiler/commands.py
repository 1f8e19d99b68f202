"""The commands ``protocontract compile`` and ``protocontract includes``."""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from google.protobuf.descriptor_pb2 import FileDescriptorSet

from protocontract.arguments import Parser
from protocontract.cli import COULD_NOT_CHECK, KEPT, UsageError
from protocontract.terminal import plural
from protocontract_compiler import pipeline, protoc
from protocontract_compiler.descriptors import load
from protocontract_compiler.descriptors.validate_proto import VALIDATE_PROTO, VOCABULARY_PROTO, write_includes
from protocontract_compiler.diagnostics import Diagnostics, Stopped

_DESCRIPTION = """\
Compile contracts. No protoc is needed. Where there are mistakes, all are shown and nothing is written.

targets:
  python      *_pb2.py, *_pb2.pyi, *_contract.py and buf/validate/validate_pb2.py (the default)
  typescript  *_contract.ts and the helpers that they import, for browsers and Node
  docs        pages about each contract, and an index
  prometheus  recording and alerting rules for each contract that promises a level
  jsonschema  JSON Schemas, draft 2020-12
  odcs        contracts of the Open Data Contract Standard 3.1
  manifest    all contracts with their rules and error codes, in one JSON file
"""
_EPILOG = """\
The .proto files import "buf/validate/validate.proto" and "protocontract/v1/contract.proto"; both are found without -I.

exit codes: 0 written; 2 mistakes, or sources that cannot be read

example: protocontract compile contracts --out gen
"""


def compile_command(argv: Sequence[str]) -> int:
    """Compile .proto files to *_pb2.py, *_pb2.pyi and *_contract.py

    Returns 0, or 2 where the sources or the contract have mistakes; then nothing is written.
    """
    arguments = _compile_parser().parse_args(argv)

    diagnostics = Diagnostics()
    try:
        for path in arguments.sources:
            if path.is_file() and path.suffix != ".proto":
                raise UsageError(f"{path}: not a .proto file")
        sources = protoc.find_sources(arguments.sources, arguments.proto_path)
        if not sources.names:
            raise UsageError(f"no .proto file in {', '.join(map(str, arguments.sources))}")
        if arguments.grpc and "python" not in (arguments.target or ("python",)):
            raise UsageError("--grpc writes stubs for Python; expected --target python too")
        options = pipeline.CompileOptions(
            arguments.strict, tuple(arguments.target or ("python",)), tuple(sources.roots),
            tuple(arguments.records), arguments.types, tuple(arguments.message),
        )  # fmt: skip
        written = _compile(sources, arguments.out, options, diagnostics, grpc=arguments.grpc)
    except Stopped:
        if arguments.format == "json":
            print(diagnostics.to_json())
        else:
            print(diagnostics.render(), file=sys.stderr)
            for note in _missing_imports(diagnostics):
                print(note, file=sys.stderr)
        return COULD_NOT_CHECK
    if arguments.format == "json":
        print(json.dumps({"errors": [], "written": written}, indent=2))
    else:
        print(f"{plural(len(sources.names), '.proto file')}, {plural(len(written), 'file')} written to {arguments.out}")
    return KEPT


def _compile_parser() -> Parser:
    parser = Parser(
        prog="protocontract compile",
        usage="protocontract compile --out DIR [options] DIR|FILE [DIR|FILE ...]",
        description=_DESCRIPTION,
        epilog=_EPILOG,
    )
    parser.add_argument("sources", nargs="+", type=Path, metavar="DIR|FILE", help="folders with .proto files, or files")
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="where the output goes")
    parser.add_argument(
        "--target", action="append", choices=pipeline.TARGETS, metavar="NAME",
        help="what to write (default: python); may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--grpc", action="store_true", help="for python: *_pb2_grpc.py too, gRPC's own stubs of each file with services"
    )
    parser.add_argument(
        "--types", choices=("protobuf-es", "plain"), default="protobuf-es",
        help="for typescript: message types of protoc-gen-es (default), or plain interfaces",
    )  # fmt: skip
    parser.add_argument(
        "--message", action="append", default=[], metavar="NAME",
        help="for typescript: full name of a message that gets a contract (default: all of them); may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--records", action="append", default=[], type=Path, metavar="DIR",
        help="for docs: where history/, modules.toml and locks/ are; default: below the folders of the sources",
    )  # fmt: skip
    parser.add_argument(
        "-I", "--proto-path", action="append", default=[], type=Path, metavar="DIR",
        help="where imports are looked for; the folders named as sources need not be repeated",
    )  # fmt: skip
    parser.add_argument("--strict", action="store_true", help="refuse rules that cannot be compiled exactly")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how the report is written")
    return parser


def includes_command(argv: Sequence[str]) -> int:
    """Print the folder with validate.proto and contract.proto for protoc -I, or export the two files

    ``--export DIR`` copies the two files into DIR instead (a buf workspace).
    """
    parser = Parser(
        prog="protocontract includes",
        description="Prints a folder for protoc -I that holds protocontract/v1/contract.proto and a "
        "buf/validate/validate.proto equal to the installed protovalidate's.",
        epilog="exit codes: 0 written\n\n"
        'example: protoc -I contracts -I "$(protocontract includes)" --contract_out=gen ...',
    )
    parser.add_argument("--export", type=Path, metavar="DIR", help="copy the two files into DIR, for a buf workspace")
    arguments = parser.parse_args(argv)
    if arguments.export is not None:
        write_includes(arguments.export)
        print(f"buf/validate/validate.proto and protocontract/v1/contract.proto written to {arguments.export}")
    else:
        print(protoc.includes_folder())
    return KEPT


def _compile(
    sources: protoc.Sources, out: Path, options: pipeline.CompileOptions, diagnostics: Diagnostics, *, grpc: bool
) -> list[str]:
    """Writes all files of a compilation, or none; returns their names below ``out``. Raises Stopped."""
    # Made beside the target, so that moving a file into its place is one step of the file system.
    beside = next(folder for folder in (out.absolute(), *out.absolute().parents) if folder.is_dir())
    with tempfile.TemporaryDirectory(prefix=".protocontract-", dir=beside) as folder:
        made = Path(folder)
        files = protoc.describe(sources, diagnostics, pb2=made if "python" in options.targets else None, grpc=grpc)
        if "python" in options.targets:
            for note in _misplaced(files, sources.names):
                print(note, file=sys.stderr)
        loaded = load(files, sources.names, diagnostics, source_roots=options.source_roots)
        schema = pipeline.compile_schema(loaded, diagnostics, options)
        output = pipeline.emit(schema, options, diagnostics)
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


def _misplaced(files: FileDescriptorSet, names: Sequence[str]) -> Iterator[str]:
    """Says where a module lands elsewhere than its package: nothing finds a contract by its name there."""
    for file in files.file:
        folder, place = PurePosixPath(file.name).parent.as_posix(), file.package.replace(".", "/")
        if file.name in names and place and folder.endswith(f"/{place}"):
            yield (
                f"note: {file.name} is of the package {file.package}, but its modules go to {folder}; "
                f"add -I {folder.removesuffix(f'/{place}')}"
            )


def _missing_imports(diagnostics: Diagnostics) -> Iterator[str]:
    """What protoc means by an unknown option of ours: the file does not import its definition."""
    told: set[tuple[str, str]] = set()
    for found in diagnostics.sorted():
        for package, proto in ((r"buf\.validate", VALIDATE_PROTO), (r"protocontract\.v1", VOCABULARY_PROTO)):
            unknown = found.id == "proto" and re.match(rf'Option "\({package}\.\w+\)" unknown', found.message)
            if unknown and (found.place.file, proto) not in told:
                told.add((found.place.file, proto))
                yield f'note: {found.place.file} needs import "{proto}";'
