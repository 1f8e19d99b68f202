"""The command ``protocontract adapt``: proves that modules have adapted and writes their locks, or acknowledges."""

from __future__ import annotations

import argparse
import datetime
import sys
from typing import Final

from protocontract.cli import BROKEN, COULD_NOT_CHECK, KEPT, UsageError
from protocontract_ci.arguments import command_parser
from protocontract_ci.gate.company import Judged
from protocontract_ci.gate.init import write_locks
from protocontract_ci.gate.modules_edit import add_acknowledgements
from protocontract_ci.gate.repository_mode import at_the_top, judge_repository
from protocontract_ci.model import Finding
from protocontract_ci.modules import MODULES_FILE, MOST_DAYS, parse_modules
from protocontract_ci.repository import Repository

_EPILOG: Final = """\
examples:
  protocontract adapt trainer
  protocontract adapt --all
  protocontract adapt trainer --acknowledge acme.text.v1.NamedEntity.label@string.in \\
      --reason "MISC comes with release 7" --until 2027-01-31

exit codes: 0 the locks are written; 1 something is open, nothing was written for that module; 2 could not check
"""


def adapt_command(argv: list[str]) -> int:
    """Prove that modules have adapted to the contracts, and write their locks; or acknowledge a change."""
    parser = command_parser(
        "adapt", "Prove that modules have adapted to the contracts as they are here, and write their locks.", _EPILOG
    )
    parser.add_argument("modules", nargs="*", metavar="MODULE", help=f"as {MODULES_FILE} names it")
    parser.add_argument("--all", action="store_true", help="every module")
    parser.add_argument(
        "--against", default="", metavar="REF", help="what the branch came from (see protocontract gate)"
    )
    parser.add_argument("--no-exec", action="store_true", help="run no function of any module")
    parser.add_argument(
        "--acknowledge", metavar="PATH", help=f"write into {MODULES_FILE} that the module knows the change"
    )
    parser.add_argument("--reason", metavar="TEXT", help="why it need not adapt now")
    parser.add_argument("--until", metavar="DATE", help=f"the last day of that, {MOST_DAYS} days ahead at most")
    options = parser.parse_args(argv)
    if bool(options.modules) == options.all:
        parser.error("expected MODULE or --all")
    if options.acknowledge is None:
        if options.reason or options.until:
            parser.error("--reason and --until belong to --acknowledge PATH")
        with at_the_top() as repository:
            return _adapt(repository, options)
    if len(options.modules) != 1 or not options.reason or not options.until:
        parser.error("--acknowledge needs one MODULE, --reason TEXT and --until DATE")
    with at_the_top() as repository:
        return _acknowledge(repository, options)


def _adapt(repository: Repository, options: argparse.Namespace) -> int:
    judged = _judged(repository, options)
    code = KEPT
    for each in judged:
        if each.by_lock:
            print(f"{each.module.name}: its locks are those of what it uses; nothing to write")
        elif each.locks is None:
            code = max(code, _refuse(each)) if code != BROKEN else BROKEN
        else:
            changed = write_locks(repository, each.module.name, each.locks)
            print(f"{each.module.name}: {', '.join(changed) if changed else 'nothing to write'}")
            for lock in each.locks:
                for finding in lock.open:
                    print(f"  still open: {finding}")
        for notice in each.notices:
            print(f"  note: {notice}")
    return code


def _refuse(judged: Judged) -> int:
    """Says what is open; the exit code."""
    verdict = judged.verdict
    print(f"{judged.module.name}: refused, for something is open")
    for finding in _open(judged):
        where = f"{finding.file}:{finding.lines[0]}" if finding.lines else finding.file
        print(f"  {where}  {finding.because}  ({finding.change.path} {finding.change.step})")
    if verdict.verdict == "unverified":
        print(f"  {verdict.because}")
        return COULD_NOT_CHECK
    return BROKEN


def _open(judged: Judged) -> list[Finding]:
    return [each for each in judged.verdict.findings if each.verdict == "not_adapted" and not each.notice]


def _acknowledge(repository: Repository, options: argparse.Namespace) -> int:
    try:
        until = datetime.date.fromisoformat(options.until)
    except ValueError:
        raise UsageError(f"--until: expected a day as 2027-01-31, got {options.until!r}") from None
    (judged,) = _judged(repository, options)
    open_ones = _open(judged)
    given = {each.key for each in judged.module.acknowledged}
    # What is acknowledged already may be so for longer.
    known = [each for each in judged.verdict.findings if f"{each.change.path} {each.change.step}" in given]
    steps = list(
        dict.fromkeys(each.change.step for each in (*open_ones, *known) if each.change.path == options.acknowledge)
    )
    if not steps:
        paths = ", ".join(dict.fromkeys(each.change.path for each in open_ones))
        raise UsageError(
            f"nothing is open at `{options.acknowledge}` for {judged.module.name}; "
            f"{f'open are {paths}' if paths else 'it has adapted, or is not affected'}"
        )
    with open(MODULES_FILE, encoding="utf-8") as file:
        text = file.read()
    edited = add_acknowledgements(text, judged.module.name, options.acknowledge, steps, options.reason, until)
    # The bounds of an acknowledgement are those of the file.
    parse_modules(edited)
    with open(MODULES_FILE, "w", encoding="utf-8") as file:
        file.write(edited)
    for step in steps:
        print(f"{MODULES_FILE}: {judged.module.name} acknowledges {options.acknowledge} {step} until {until}")
    left = [each for each in open_ones if each.change.path != options.acknowledge]
    for each in left:
        print(f"  still open: {each.change.path} {each.change.step}")
    return BROKEN if left else KEPT


def _judged(repository: Repository, options: argparse.Namespace) -> list[Judged]:
    company, judged = judge_repository(
        repository, options.against, options.modules, execute=not options.no_exec, purpose="adapt"
    )
    for note in company.diff.notes:
        print(f"note: {note}", file=sys.stderr)
    return judged
