"""The command ``protocontract lint``."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

from protocontract.cli import BROKEN, KEPT
from protocontract.terminal import Paint, plural
from protocontract_ci.arguments import add_proto_path, command_parser
from protocontract_ci.lint.checks import Omission, omissions
from protocontract_ci.modules import load_modules
from protocontract_ci.reports.github import in_message, in_property
from protocontract_ci.sources import Contracts, read
from protocontract_compiler import pipeline
from protocontract_compiler.diagnostics import Diagnostic, Diagnostics, Stopped

_EPILOG: Final = """\
CONTRACTS is a folder of .proto files, one file, a FileDescriptorSet or REF:PATH; by default the folder that
contracts/modules.toml names, or contracts.

exit codes: 0 no mistake; 1 a mistake (with --strict, a warning too); 2 the sources cannot be read

example: protocontract lint contracts --strict
"""


def lint_command(argv: list[str]) -> int:
    """Check contracts: every mistake that compiling reports, and what they leave out, with places."""
    parser = command_parser(
        "lint", "Check contracts: every mistake that `protocontract compile` reports, and what they leave out.", _EPILOG
    )
    parser.add_argument("contracts", nargs="*", metavar="CONTRACTS")
    add_proto_path(parser)
    parser.add_argument("--strict", action="store_true", help="a warning fails too")
    parser.add_argument("--format", choices=("text", "json", "github"), default="text", help="how it is written")
    options = parser.parse_args(argv)
    modules = load_modules(Path())
    where = options.contracts or [modules.contracts]
    proto_path = options.proto_path or [Path(each) for each in modules.proto_path]
    mistakes: list[Diagnostic] = []
    left_out: list[Omission] = []
    for each in where:
        wrong, missing = lint(read(each, proto_path))
        mistakes += wrong
        left_out += missing
    print(_TELL[options.format](mistakes, left_out))
    return BROKEN if mistakes or (options.strict and left_out) else KEPT


def lint(contracts: Contracts) -> tuple[list[Diagnostic], list[Omission]]:
    """The mistakes of a state of the contracts, and what it leaves out, with places as the user names files."""
    diagnostics = Diagnostics()
    schema = contracts.schema
    # With mistakes, what it leaves out can be told all the same, but for what only compiling knows.
    with contextlib.suppress(Stopped):
        schema = pipeline.compile_schema(contracts.loaded, diagnostics, pipeline.CompileOptions())
    mistakes = [replace(found, place=contracts.place(found.place)) for found in diagnostics.sorted()]
    left_out = omissions(schema, contracts.requested)
    return mistakes, [replace(found, place=contracts.place(found.place)) for found in left_out]


def _text(mistakes: Sequence[Diagnostic], left_out: Sequence[Omission]) -> str:
    paint = Paint.on(sys.stdout)
    lines = [str(found) for found in mistakes]
    lines += [
        f"{found.place.file}:{found.place.line}:{found.place.column}: warning[{found.id}]: {found.message}"
        for found in left_out
    ]
    total = f"{plural(len(mistakes), 'error')}, {plural(len(left_out), 'warning')}"
    return "\n".join([*lines, paint(total, "bad" if mistakes else "good")])


def _json(mistakes: Sequence[Diagnostic], left_out: Sequence[Omission]) -> str:
    def object_of(found: Diagnostic | Omission) -> dict[str, Any]:
        known = asdict(found)
        place = known.pop("place")
        return {**known, "file": place["file"], "line": place["line"], "column": place["column"]}

    told = {"errors": [object_of(each) for each in mistakes], "warnings": [object_of(each) for each in left_out]}
    return json.dumps(told, indent=2, ensure_ascii=False)


def _github(mistakes: Sequence[Diagnostic], left_out: Sequence[Omission]) -> str:
    lines = []
    both: list[tuple[str, Diagnostic | Omission]] = [("error", each) for each in mistakes]
    both += [("warning", each) for each in left_out]
    for word, found in both:
        place = found.place
        properties = (
            f"file={in_property(place.file)},line={place.line},col={place.column},title={in_property(found.id)}"
        )
        lines.append(f"::{word} {properties}::{in_message(found.message)}")
    return "\n".join([*lines, f"{plural(len(mistakes), 'error')}, {plural(len(left_out), 'warning')}"])


_TELL: Final = {"text": _text, "json": _json, "github": _github}
