"""The command ``protocontract migrate``."""

from __future__ import annotations

import difflib
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from protocontract.arguments import Parser
from protocontract.cli import BROKEN, COULD_NOT_CHECK, KEPT, UsageError
from protocontract.terminal import Paint, plural
from protocontract_compiler import protoc
from protocontract_compiler.migrate.pgv import INEXACT
from protocontract_compiler.migrate.whole import Outcome, Wishes, migrate

_NAMES: Final = ("all", *sorted(INEXACT))

_DESCRIPTION = """\
Turn annotations of others into buf.validate and protocontract: (validate.rules) of protoc-gen-validate, inline rules
and tags of Confluent (confluent.field_meta, confluent.message_meta), conditions of a schema registry's rule set. What
means the same is turned; the rest stays, and is listed with its place and the reason. Comments and layout are kept. The
result is shown to the compiler.
"""
_EPILOG = """\
Without --output nothing is written.

exit codes: 0 all is turned; 1 something stays for you; 2 sources that cannot be read, or a result that does not compile

examples: protocontract migrate protos --output migrated
          protocontract migrate protos --patch | git apply
"""


def migrate_command(argv: Sequence[str]) -> int:
    """Turn annotations of protoc-gen-validate and Confluent into buf.validate and protocontract

    Returns 0, 1 where something stays, 2 where a source cannot be read or the result does not compile.
    """
    parser = Parser(
        prog="protocontract migrate",
        description=_DESCRIPTION,
        epilog=_EPILOG,
    )
    parser.add_argument("sources", nargs="+", type=Path, metavar="DIR|FILE", help="folders with .proto files, or files")
    parser.add_argument(
        "-I", "--proto-path", action="append", default=[], type=Path, metavar="DIR",
        help="where imports are looked for; validate/validate.proto and confluent/meta.proto are not needed",
    )  # fmt: skip
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--output", type=Path, metavar="DIR", help="write the files that change below DIR")
    where.add_argument("--patch", action="store_true", help="print a unified diff; the report goes to standard error")
    parser.add_argument(
        "--accept", action="append", default=[], choices=_NAMES, metavar="RULE",
        help=f"turn a rule although buf.validate's accepts other values: {', '.join(_NAMES)}; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--sensitive-tag", action="append", default=[], metavar="TAG",
        help="a tag of Confluent's that stands for `sensitive` (PII); may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--rules", type=Path, metavar="FILE",
        help="JSON with the `ruleSet` that a schema registry has for the one source: rules of its first message",
    )  # fmt: skip
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how the report is written")
    arguments = parser.parse_args(argv)
    accepted = frozenset(INEXACT) if "all" in arguments.accept else frozenset(arguments.accept)
    wishes = Wishes(accepted, frozenset(arguments.sensitive_tag), arguments.rules)
    try:
        sources = protoc.find_sources(arguments.sources, arguments.proto_path)
        if not sources.names:
            raise UsageError(f"no .proto file in {', '.join(map(str, arguments.sources))}")
        if arguments.rules is not None and len(sources.names) > 1:
            raise UsageError("--rules is about one schema; expected one .proto file")
        outcome = migrate(sources, wishes)
        if not outcome.mistakes and arguments.output is not None:
            _write(outcome, arguments.output)
    except UnicodeDecodeError:
        raise UsageError("a source is not UTF-8") from None
    except ValueError as error:
        raise UsageError(f"{arguments.rules}: not the rules of a schema; {error}") from None
    if arguments.patch and not outcome.mistakes:
        sys.stdout.write("".join(_patch(outcome)))
    report = sys.stderr if arguments.patch else sys.stdout
    if arguments.format == "json":
        report.write(json.dumps(_as_json(outcome), indent=2, ensure_ascii=False) + "\n")
    else:
        _tell(outcome, report, arguments.output)
    if outcome.mistakes:
        return COULD_NOT_CHECK
    return BROKEN if any(finding.kind == "left" for each in outcome.files for finding in each.findings) else KEPT


def _write(outcome: Outcome, out: Path) -> None:
    for each in outcome.files:
        if each.after != each.before:
            path = out / each.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(each.after.encode())


def _patch(outcome: Outcome) -> list[str]:
    lines: list[str] = []
    for each in outcome.files:
        difference = difflib.unified_diff(_lines(each.before), _lines(each.after), f"a/{each.file}", f"b/{each.file}")
        lines += (line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in difference)
    return lines


def _lines(text: str) -> list[str]:
    """Lines as git counts them: only a line feed ends one."""
    return [f"{line}\n" for line in text.split("\n")[:-1]] + [line for line in text.split("\n")[-1:] if line]


def _tell(outcome: Outcome, report: Any, out: Path | None) -> None:
    paint = Paint.on(report)
    for each in outcome.files:
        for finding in each.findings:
            mark = paint("stays", "bad") if finding.kind == "left" else "note "
            print(f"{finding.file}:{finding.line}  {mark}  {finding.what}  {finding.why}", file=report)
    for mistake in outcome.mistakes:
        print(mistake, file=sys.stderr)
    if outcome.unchecked:
        print(f"note: the result is {outcome.unchecked}", file=sys.stderr)
    turned = sum(each.turned for each in outcome.files)
    left = sum(finding.kind == "left" for each in outcome.files for finding in each.findings)
    changed = sum(each.after != each.before for each in outcome.files)
    what = f"{plural(turned, 'annotation')} turned in {plural(changed, 'file')}, {left} left"
    if outcome.mistakes:
        print(f"{what}; the result does not compile, nothing was written", file=report)
    else:
        print(what if out is None else f"{what}; written to {out}", file=report)


def _as_json(outcome: Outcome) -> dict[str, Any]:
    return {
        "files": [
            {"file": each.file, "turned": each.turned, "changed": each.after != each.before} for each in outcome.files
        ],
        "findings": [
            {"kind": each.kind, "file": each.file, "line": each.line, "what": each.what, "why": each.why}
            for migrated in outcome.files
            for each in migrated.findings
        ],
        "errors": [str(mistake) for mistake in outcome.mistakes],
        "unchecked": outcome.unchecked,
    }
