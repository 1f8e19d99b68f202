"""The command ``protocontract gate``."""

from __future__ import annotations

import argparse
import contextlib
import datetime
from pathlib import Path
from typing import Final

from protocontract.cli import KEPT
from protocontract.violations import ContractError
from protocontract_ci.arguments import add_proto_path, command_parser
from protocontract_ci.diff.compare import Diff
from protocontract_ci.discovery import is_source
from protocontract_ci.gate import publish
from protocontract_ci.gate.deployed import judge_deployed
from protocontract_ci.gate.init import initialise
from protocontract_ci.gate.repository_mode import at_the_top, judge_repository, report_of, users_outside
from protocontract_ci.generated import check_generated
from protocontract_ci.modules import MODULES_FILE, load_modules
from protocontract_ci.reports.report import Report
from protocontract_ci.sample import impacts_of
from protocontract_ci.sources import read
from protocontract_ci.usage.typescript.prepare import NotPreparedError, prepare
from protocontract_ci.usage.unread import is_unread
from protocontract_ci.verdicts.folder import Folder

_SKIPPED: Final = frozenset({"node_modules", "__pycache__", "venv"})
_EPILOG: Final = """\
In a git repository with contracts/modules.toml: the working tree against where it parted from REF (default
origin/HEAD, origin/main). Without any configuration: --before, --after and --modules, where BEFORE and AFTER are
folders of .proto files, FileDescriptorSets or REF:PATH, as `protocontract diff` takes them.

exit codes: 0 all modules have adapted or are not affected; 1 one has not, or the contract demands something;
            2 a module cannot be judged

examples:
  protocontract gate --prepare                    once, where there are TypeScript modules
  protocontract gate --init                       writes contracts/modules.toml and the first locks
  protocontract gate                              all modules
  protocontract gate trainer                      one, at one's own desk
  protocontract gate --before origin/main:contracts --after contracts --modules services
"""


#: The options that --help shows.
_USUAL = (
    "--against", "--env", "--init", "--prepare", "--before", "--after", "--modules", "--no-exec", "--format",
    "--output", "--sample",
)  # fmt: skip


def _parser() -> argparse.ArgumentParser:
    parser = command_parser(
        "gate", "Check that every downstream module has adapted to a change of the contracts.", _EPILOG,
        usage="protocontract gate [options] [MODULE ...]", usual=_USUAL,
    )  # fmt: skip
    parser.add_argument("names", nargs="*", metavar="MODULE", help=f"only these modules of {MODULES_FILE}")
    parser.add_argument("--against", default="", metavar="REF", help="what the branch came from")
    parser.add_argument("--env", default="", metavar="ENV", help="also against what runs there, with the order")
    parser.add_argument("--init", action="store_true", help=f"write {MODULES_FILE} and the first locks")
    parser.add_argument("--prepare", action="store_true", help="install what reads TypeScript modules (npm ci)")
    parser.add_argument(
        "--contracts",
        default="",
        metavar="DIR",
        help="with --init and --check-generated: the folder of the .proto files",
    )
    parser.add_argument("--before", metavar="BEFORE", help="the contracts that modules stand on")
    parser.add_argument("--after", metavar="AFTER", help="the contracts as they are to be")
    parser.add_argument("--modules", metavar="DIR", type=Path, help="each source file below it is a module")
    add_proto_path(parser)
    parser.add_argument(
        "--check-generated", action="append", default=[], type=Path, metavar="DIR",
        help="check only that the generated Python code in a folder is what the compiler makes",
    )  # fmt: skip
    parser.add_argument("--no-exec", action="store_true", help="run no function of any module")
    publish.add_options(parser)
    return parser


def gate_command(argv: list[str]) -> int:
    """Check that every module has adapted to a change of the contracts: verdict, file and line, and why."""
    parser = _parser()
    options = parser.parse_args(argv)
    given = [option is not None for option in (options.before, options.after, options.modules)]
    if any(given):
        if not all(given) or options.names or options.init:
            parser.error("--before, --after and --modules go together, and with no MODULE")
        if not options.modules.is_dir():
            parser.error(f"--modules: {options.modules} is no folder")
        return publish.publish(_of_folder(options), options)
    if options.prepare:
        return _prepare()
    if options.init:
        if options.names or options.against:
            parser.error("--init goes with neither MODULE nor --against")
        return initialise(options.contracts, options.proto_path, execute=not options.no_exec)
    if options.check_generated:
        modules = load_modules(Path())
        contracts = [Path(options.contracts or modules.contracts)]
        proto_path = [*options.proto_path, *map(Path, modules.proto_path)]
        return check_generated(contracts, proto_path, options.check_generated, annotate=options.format == "github")
    if options.contracts or options.proto_path:
        parser.error(f"--contracts and -I stand in {MODULES_FILE}; expected them with --init or --before only")
    return publish.publish(_of_repository(options), options)


def _of_repository(options: argparse.Namespace) -> Report:
    started = Path.cwd()

    def unhurt(diff: Diff) -> set[str]:
        """The messages of whose sampled records none is newly rejected (D6). Samples are named from where one began."""
        with contextlib.chdir(started):
            impacts = impacts_of(options.sample, diff, show_values=False)
        return {each.message for each in impacts if each.records and not dict(each.counts)["newly_rejected"]}

    with at_the_top() as repository:
        company, judged = judge_repository(
            repository, options.against, options.names, execute=not options.no_exec, samples=unhurt
        )
        outside = [] if options.names else users_outside(company)
        report = report_of(company, judged, outside, show_values=options.show_values)
        if options.env:
            today = datetime.datetime.now(datetime.UTC).date()
            deployed = judge_deployed(company, judged, options.env, execute=not options.no_exec, today=today)
            report = deployed.added_to(report)
    return report


def _prepare() -> int:
    try:
        print(f"TypeScript modules are read with {prepare()}")
    except NotPreparedError as error:
        raise ContractError(str(error)) from None
    return KEPT


def _of_folder(options: argparse.Namespace) -> Report:
    folder = Folder(
        options.modules,
        source_files(options.modules),
        read(options.before, options.proto_path),
        read(options.after, options.proto_path),
        execute=not options.no_exec,
        undeclared=True,
    )
    top = publish.top_of(Path.cwd())
    return Report(folder.diff, folder.verdicts(), folder.root, top, show_values=options.show_values)


def source_files(root: Path) -> list[str]:
    """The files below a folder that may use a contract, as paths below it with slashes; hidden folders and packages are
    left out, those that set up other programs are not.
    """
    found = []
    for path in sorted(root.rglob("*")):
        inside = path.relative_to(root)
        if any(part.startswith(".") or part in _SKIPPED for part in inside.parts):
            continue
        if (is_source(inside.as_posix()) or is_unread(inside.as_posix())) and path.is_file():
            found.append(inside.as_posix())
    return found
