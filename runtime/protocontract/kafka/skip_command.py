"""``protocontract guard skip``: move a guard's group past the one record that stops it."""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import Any, Final

from protocontract.arguments import add_sources
from protocontract.cli import BROKEN, COULD_NOT_CHECK, KEPT, UsageError
from protocontract.contract import Contract
from protocontract.kafka.connection import Cluster, add_connection, check_topic, cluster, login
from protocontract.kafka.courier import Courier
from protocontract.kafka.errors import GuardError
from protocontract.kafka.guard_options import add_letter_form, letter_form
from protocontract.kafka.halt_command import add_group, group_of, halt_parser, one_line, post
from protocontract.kafka.http import BY_HEADER, DRY_RUN_HEADER, REASON_HEADER, RECORD_HEADER, STANDING_HEADER
from protocontract.kafka.letters.dead_letter import Provenance
from protocontract.kafka.letters.form import topic_for
from protocontract.kafka.record import RecordId
from protocontract.kafka.skip import Idle, Refused, Standing, Way, look, skip, skipped_letter, write_letter
from protocontract.terminal import tell_error

_DESCRIPTION: Final = """\
Move a group past the one record before which a partition stands: a batch that cannot be read, a record that no topic
takes, the record of a halt. Only that one: a guard's messages and `guard status` say where it stands. What can be read
of it becomes a dead letter first (rule operator.skipped, with the reason and who gave it), so it can be replayed or
edited; a batch that cannot be read is skipped as a whole, and its letter says which offsets it held.
"""
_EPILOG: Final = """\
While the group has members only they may commit: stop them all, or name with --http the port of the one that has the
partition, on this host. A halt stays until it is resumed. The options about dead letters are those of the guard.

exit codes: 0 skipped (or could be); 1 it is not where the partition stands; 2 could not

example: protocontract guard skip payments.raw:0:17 --contract acme.finance.v1.Transaction --sink payments \\
             --reason "broken batch, INC-4711"
"""


class Running:
    """The way past the record that a running guard stands before: it is asked."""

    def __init__(self, port: int) -> None:
        self._port = port

    def check(self, standing: Standing) -> None:
        """Ask whether it would. Raises Refused, GuardError."""
        if standing.raw is None:
            raise GuardError("a guard that runs cannot pass over a batch that cannot be read; stop it first")
        self._ask(standing, {DRY_RUN_HEADER: "true", REASON_HEADER: "asked whether it can be", BY_HEADER: ""})

    def move(self, standing: Standing, by: str, reason: str) -> None:
        """Let it. Raises Refused, GuardError."""
        self._ask(standing, {REASON_HEADER: reason, BY_HEADER: by})

    def _ask(self, standing: Standing, headers: dict[str, str]) -> None:
        where = {RECORD_HEADER: str(standing.record), STANDING_HEADER: str(standing.start)}
        done, said = post(self._port, "/skip", {**where, **headers}, timeout=40.0)
        if not done:
            raise Refused(said)


def skip_command(argv: list[str]) -> int:
    """Move a group past one record."""
    parser = _parser()
    options = parser.parse_args(argv)
    record = _record(options.record)
    by = one_line(parser, "--by", options.by or login())
    reason = one_line(parser, "--reason", options.reason)
    group = group_of(parser, options, record.topic)
    from protocontract.loading import resolve

    contract = resolve(options.contract, proto_path=options.proto_path, descriptors=options.descriptors)
    there = cluster(options)
    try:
        dead = None if options.without_letter else _dead_letter_topic(options, contract, group)
        standing = look(there, record, group)
        way: Way = Idle(there, group) if options.http is None else Running(options.http)
        if options.dry_run:
            way.check(standing)
            lies = None
        else:
            lies = _skip(options, there, standing, way, contract, group, dead, by, reason)
    except Refused as refused:
        print(f"not skipped: {refused}", file=sys.stderr)
        return BROKEN
    except GuardError as error:
        tell_error(error)
        return COULD_NOT_CHECK
    if options.format == "json":
        print(json.dumps(_as_dict(standing, group, lies, by, reason, dry_run=options.dry_run)))
    else:
        sys.stdout.write(text_report(standing, group, lies, dry_run=options.dry_run))
    return KEPT


def _skip(
    options: argparse.Namespace,
    there: Cluster,
    standing: Standing,
    way: Way,
    contract: Contract[Any],
    group: str,
    dead: str | None,
    by: str,
    reason: str,
) -> str | None:
    if dead is None:
        return skip(standing, way, None, by=by, reason=reason)
    topic, form = dead, letter_form(options)
    courier = Courier(there.producers())

    def letter() -> str:
        provenance = Provenance(group, "protocontract-guard-skip", form)
        made = skipped_letter(standing, topic, contract, provenance, by=by, reason=reason, now=time.time())
        return write_letter(courier, made)

    try:
        return skip(standing, way, letter, by=by, reason=reason)
    finally:
        courier.close()


def text_report(standing: Standing, group: str, lies: str | None, *, dry_run: bool) -> str:
    """What was skipped, where its letter lies, and where the group goes on: one line a fact."""
    record = standing.record
    where = f"{record.topic}:{record.partition}"
    if standing.raw is None:
        count = standing.until - standing.start
        what = f"{where} from {standing.start} to {standing.until - 1} ({count:,} offsets, {standing.trouble})"
    else:
        what = str(record)
    lines = [f"{'would skip' if dry_run else 'skipped'} {what} for {group}"]
    if lies is not None:
        lines.append(f"  its dead letter lies at {lies}")
    if not dry_run:
        lines.append(f"  {where} goes on at {standing.until}")
    if standing.halted:
        lines.append(f"  still halted: {standing.halted}; end that with protocontract guard resume")
    return "\n".join(lines) + "\n"


def _as_dict(
    standing: Standing, group: str, lies: str | None, by: str, reason: str, *, dry_run: bool
) -> dict[str, Any]:
    return {
        "record": str(standing.record),
        "group": group,
        "dry_run": dry_run,
        "readable": standing.raw is not None,
        "from": standing.record.offset if standing.raw is not None else standing.start,
        "until": standing.until,
        "letter": lies,
        "halted": standing.halted,
        "by": by,
        "reason": reason,
    }


def _record(text: str) -> RecordId:
    topic, _, rest = text.partition(":")
    partition, _, offset = rest.partition(":")
    check_topic(topic)
    if not all(each.isascii() and each.isdigit() and len(each) < 19 for each in (partition, offset)):
        raise UsageError(f"`{text}` is no record; expected TOPIC:PARTITION:OFFSET")
    return RecordId(topic, int(partition), int(offset))


def _dead_letter_topic(options: argparse.Namespace, contract: Contract[Any], group: str) -> str:
    name = options.dead_letter or contract.dead_letter_topic
    if not name:
        raise UsageError(f"{contract.full_name} names no dead-letter topic; add --dead-letter TOPIC")
    return topic_for(name, group)


def _parser() -> argparse.ArgumentParser:
    parser = halt_parser("skip", _DESCRIPTION, _EPILOG)
    parser.usage = (
        "protocontract guard skip TOPIC:PARTITION:OFFSET --contract NAME --sink TOPIC --reason TEXT [options]"
    )
    parser.add_argument("record", metavar="TOPIC:PARTITION:OFFSET", help="the record")
    parser.add_argument("--reason", required=True, metavar="TEXT", help="why; without any value of the record")
    parser.add_argument("--by", metavar="NAME", help="who decides it; default your login")
    parser.add_argument("--http", type=int, metavar="PORT", help="the port that the running guard was given")
    parser.add_argument("--dry-run", action="store_true", help="only say whether it could be")
    parser.add_argument("--without-letter", action="store_true", help="skip it although no dead letter can be written")
    parser.add_argument("--contract", required=True, metavar="NAME", help="the guard's contract: pkg.v1.Message")
    add_sources(parser)
    add_group(parser)
    add_letter_form(parser)
    add_connection(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how to report")
    return parser
