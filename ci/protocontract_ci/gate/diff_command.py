"""The command ``protocontract diff``."""

from __future__ import annotations

import datetime
import json
import sys
from pathlib import Path
from typing import Final

from protocontract.cli import BROKEN, KEPT
from protocontract.terminal import Paint
from protocontract_ci import sample
from protocontract_ci.arguments import add_proto_path, command_parser
from protocontract_ci.diff import history, render_json, render_markdown, render_text
from protocontract_ci.diff.compare import Diff, compare
from protocontract_ci.diff.oracle import installed_oracle
from protocontract_ci.reports.json_object import impact_object
from protocontract_ci.reports.markdown import impact_section
from protocontract_ci.reports.text import impact_lines
from protocontract_ci.sources import Contracts, read

_EPILOG: Final = """\
BEFORE and AFTER are a folder of .proto files, one .proto file, a FileDescriptorSet (buf build -o, protoc
--descriptor_set_out with --include_imports), or REF:PATH in the git repository of the current folder.
buf/validate/validate.proto and protocontract/v1/contract.proto are found without -I.

exit codes: 0 nothing that fails; 1 something that does (--fail-on); 2 could not compare

examples: protocontract diff origin/main:contracts contracts
          protocontract diff before.binpb after.binpb --format markdown
          protocontract diff origin/main:contracts contracts --record contracts/history
"""
_FAILS: Final = ("never", "demands", "breaking", "tightened", "any")


def diff_command(argv: list[str]) -> int:
    """Compare two states of contracts: what changed, in which direction, and whom it breaks."""
    parser = command_parser(
        "diff", "Compare two states of contracts: every change with its direction, place and effect.", _EPILOG
    )
    parser.add_argument("before", metavar="BEFORE")
    parser.add_argument("after", metavar="AFTER")
    add_proto_path(parser)
    parser.add_argument("--format", choices=("text", "json", "markdown"), default="text", help="how it is written")
    parser.add_argument(
        "--fail-on", choices=_FAILS, default="breaking",
        help="demands: what the contract itself has to settle (a version, a rename); breaking (default): also a "
        "breaking change; tightened: also fewer accepted records; any: every change",
    )  # fmt: skip
    parser.add_argument(
        "--rules", choices=("exact", "table"), default="exact",
        help="exact (default): rules are compared by proof where the extra `gate` is installed; table: by the table "
        "of clear cases alone, in milliseconds",
    )  # fmt: skip
    parser.add_argument(
        "--record", type=Path, metavar="DIR", help="write each new version of a contract into its history in DIR"
    )
    parser.add_argument("--date", metavar="YYYY-MM-DD", type=_day, help="with --record: the day of it; default: today")
    sample.add_option(parser)
    parser.add_argument(
        "--show-values", action="store_true", help="with --sample: show values (never those of sensitive fields)"
    )
    options = parser.parse_args(argv)
    before, after = _read(options.before, options.after, options.proto_path)
    oracle = installed_oracle() if options.rules == "exact" else None
    if oracle is None and options.rules == "exact":
        print(
            'note: rules are compared by the table alone; proofs need pip install "protocontract[gate]"',
            file=sys.stderr,
        )
    diff = compare(before, after, oracle)
    for note in diff.notes:
        print(f"note: {note}", file=sys.stderr)
    if options.record is not None:
        _record(diff, options.record, options.date or datetime.datetime.now(datetime.UTC).date().isoformat())
    impacts = sample.impacts_of(options.sample, diff, show_values=options.show_values)
    if options.format == "json":
        told = render_json.render(diff)
        if impacts:
            told["impacts"] = [impact_object(impact) for impact in impacts]
        print(json.dumps(told, indent=2, ensure_ascii=False))
    elif options.format == "markdown":
        print("\n\n".join([render_markdown.render(diff), *map(impact_section, impacts)]))
    else:
        paint = Paint.on(sys.stdout)
        print(
            "\n".join(
                [render_text.render(diff, paint), *(line for each in impacts for line in impact_lines(each, paint))]
            )
        )
    return BROKEN if fails(diff, options.fail_on) else KEPT


def _record(diff: Diff, folder: Path, day: str) -> None:
    written, notes = history.record(diff, folder, day)
    for note in notes:
        print(f"note: {note}", file=sys.stderr)
    for each in written:
        print(f"{each.contract} {each.version} recorded in {each.path}", file=sys.stderr)


def _day(text: str) -> str:
    return datetime.date.fromisoformat(text).isoformat()


def _read(before: str, after: str, proto_path: list[Path]) -> tuple[Contracts, Contracts]:
    """Both states. Two single files are two versions of one, whatever they are called."""
    old = read(before, proto_path)
    name = None
    if all(where.endswith(".proto") and Path(where).is_file() for where in (before, after)):
        name = next(iter(old.requested), None)
    return old, read(after, proto_path, name=name)


def fails(diff: Diff, on: str) -> bool:
    """Whether the comparison ends in exit code 1 under ``--fail-on``."""
    failing = {"breaking"} if on in ("breaking", "tightened") else set()
    if on == "tightened":
        failing.add("tightened")
    if on == "any":
        return bool(diff.changes)
    return on != "never" and (bool(diff.demands) or any(change.direction in failing for change in diff.changes))
