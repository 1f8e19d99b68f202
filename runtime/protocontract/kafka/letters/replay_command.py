"""The command ``protocontract replay``: send dead letters again."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from contextlib import ExitStack
from typing import Any, Final

from protocontract.arguments import Parser
from protocontract.cli import BROKEN, COULD_NOT_CHECK, INTERRUPTED, KEPT, UsageError
from protocontract.kafka.connection import (
    Cluster,
    add_connection,
    add_selection,
    add_state,
    check_topic,
    cluster,
    selection,
)
from protocontract.kafka.errors import GuardError
from protocontract.kafka.letters.oldest import replay_group
from protocontract.kafka.letters.reading import Selection, extent, key_at_source
from protocontract.kafka.letters.replay import PARKED, Replay, Report
from protocontract.kafka.letters.replay_log import Plan, ReplayLog, default_state, new_plan_id
from protocontract.kafka.stopping import stopped_by_signals
from protocontract.terminal import Paint, count, tell_error

#: The options that --help shows.
_USUAL: Final = (
    "--to", "--to-source", "--rule", "--code", "--contract", "--group",
    "--since", "--dry-run", "--rate", "--plan", "--bootstrap-servers", "--format",
)  # fmt: skip
_DESCRIPTION: Final = """\
Send dead letters again: key, value and headers as they were. The record keeps its original position in headers, so
record.id stays the same; a guard that rejects it again writes a dead letter of the next attempt. Nothing is removed
from the dead-letter topic.
"""
_EPILOG: Final = """\
Where to is never guessed. --to names a topic that a guard reads, such as payments.retry. --to-source sends records
back to the topics they came from; other groups may read these too, so each record says in a header which group it is
for, and guards of other groups skip it. Other consumers do not: they see the record again.

A letter that a newer one of the same record stands for is passed over. What any plan replayed is not replayed again
without --again. The log of what is done lies in --state, one file a plan; --plan ID resumes one that was stopped. At
least once: a replay that is killed sends its last records again when it is resumed, with the same record.id.
The offsets of the group protocontract.replay.TOPIC show how far everything is resolved.

exit codes: 0 all that was asked for is replayed; 1 something stays parked, failed or was left; 2 could not begin, or
could not read on

example: protocontract replay payments.dead --rule money.ambiguous --to payments.retry --dry-run
"""


def replay_command(argv: list[str]) -> int:
    """Send dead letters again."""
    options = _parser().parse_args(argv)
    check_topic(options.topic)
    if options.to is not None:
        check_topic(options.to)
    if options.to == options.topic:
        raise UsageError("a dead-letter topic cannot be replayed to itself; name another with --to")
    history = ReplayLog(options.state or default_state(), options.topic)
    known = history.find(options.plan) if options.plan is not None else None
    if options.to is None and not options.to_source and not options.dry_run and known is None:
        raise UsageError(
            "say where to: --to TOPIC, or --to-source for the topics that the records came from, which "
            "other groups may read too; --dry-run only counts"
        )
    there = cluster(options)
    try:
        if options.dry_run:
            return _run(options, there, history, known)
        with history.locked():
            return _run(options, there, history, known)
    except GuardError as error:
        tell_error(error)
        return COULD_NOT_CHECK


def _run(options: argparse.Namespace, there: Cluster, history: ReplayLog, known: Plan | None) -> int:
    with ExitStack() as stack:
        consumer = stack.enter_context(there.reader(replay_group(options.topic)))
        # Keys are looked up while the letters are read: that takes a consumer of its own.
        keys = stack.enter_context(there.reader()) if options.keys_from_source else None
        received = stack.enter_context(stopped_by_signals())
        plan = _plan(options, consumer, known)

        def tell() -> None:
            verb = "resuming" if known is not None else "beginning"
            print(f"{verb} plan {plan.id}; resume it with --plan {plan.id}", file=sys.stderr)

        replay = Replay(
            consumer,
            there.producers(),
            history,
            plan,
            dry_run=options.dry_run,
            again=options.again,
            rate=options.rate,
            stopping=lambda: bool(received),
            key_of=lambda letter: None if keys is None else key_at_source(keys, letter),
            on_begin=tell,
        )
        report = replay.run()
    if options.format == "json":
        print(json.dumps(report.as_dict()))
    else:
        sys.stdout.write(text_report(report, Paint.on(sys.stdout)))
    if signal.SIGINT in received:
        return INTERRUPTED
    return KEPT if report.complete else BROKEN


def _plan(options: argparse.Namespace, consumer: Any, known: Plan | None) -> Plan:
    """The plan that the options make, or the known one if they do not contradict it."""
    asked = selection(options)
    if (
        known is not None
        and asked == Selection()
        and not (options.to or options.to_source or options.max_replays is not None or options.target_group)
    ):
        return known
    ends = extent(consumer, options.topic).ends if known is None else known.ends
    plan = Plan(
        options.plan or new_plan_id(),
        options.topic,
        options.to,
        asked,
        3 if options.max_replays is None else options.max_replays,
        options.target_group,
        ends,
    )
    if known is not None and not plan.same_order(known):
        raise UsageError(
            f"plan {known.id} asked for something else; leave the other options out to resume it, or "
            "choose another --plan"
        )
    return plan


def text_report(report: Report, paint: Paint | None = None) -> str:
    """The outcome for people: one line a fact."""
    paint = paint or Paint(False)
    plan = report.plan
    target = plan.target or ("" if report.dry_run else "where the records came from")
    title = f"{plan.topic} -> {target}" if target else plan.topic
    lines = [f"{paint(title, 'strong')} · {'dry run' if report.dry_run else f'plan {plan.id}'}"]
    rows: list[tuple[str, int, str]] = [
        (
            "would be replayed" if report.dry_run else "replayed",
            report.replayed,
            "   ".join(f"{rule_id} {count(number)}" for rule_id, number in report.by_rule.most_common()),
        ),
    ]
    rows += [("stays parked", number, PARKED[reason]) for reason, number in sorted(report.parked.items())]
    rows += [("failed", number, reason) for reason, number in sorted(report.failed.items())]
    # A rule that is misspelt selects nothing, either.
    nothing = f"no letter is as asked for; protocontract dead-letter inspect {plan.topic} shows what there is"
    rows += [
        ("left", report.left, "not sent; resume the plan"),
        ("replayed before", report.done, "by this plan or another; --again repeats other plans"),
        ("superseded", report.superseded, "a newer letter of the same record stands for it"),
        ("not selected", report.unselected, nothing if report.unselected == report.read else ""),
    ]
    shown = [row for place, row in enumerate(rows) if place == 0 or row[1]]
    first = max(len(row[0]) for row in shown)
    second = max(len(count(row[1])) for row in shown)
    lines += [f"  {label:<{first}}  {count(number):>{second}}   {detail}".rstrip() for label, number, detail in shown]
    if report.trouble is not None:
        lines.append(f"stopped: {report.trouble}; resume with --plan {plan.id}")
    return "\n".join(lines) + "\n"


def _above_zero(text: str) -> float:
    value = float(text)
    if not 0 < value < 1e9:
        raise argparse.ArgumentTypeError("expected a number above 0")
    return value


def _replays(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 8:
        raise argparse.ArgumentTypeError("expected a number")
    return int(text)


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="protocontract replay",
        usual=_USUAL,
        usage="protocontract replay TOPIC (--to TARGET | --to-source | --dry-run) [options]",
        description=_DESCRIPTION,
        epilog=_EPILOG,
    )
    parser.add_argument("topic", metavar="TOPIC", help="the dead-letter topic")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--to", metavar="TARGET", help="the topic to which records are sent")
    where.add_argument("--to-source", action="store_true", help="send each record to the topic that it came from")
    add_selection(parser)
    parser.add_argument(
        "--target-group",
        metavar="NAME",
        help="the consumer group that the records are for; with --to-source it is the one in which each failed first",
    )
    parser.add_argument(
        "--keys-from-source",
        action="store_true",
        help="look up the keys that letters have not got (--dead-letter-key) where the records came from",
    )
    parser.add_argument("--dry-run", action="store_true", help="count only; nothing is sent or noted")
    parser.add_argument(
        "--max-replays", type=_replays, metavar="N", help="a record replayed so often stays parked; default 3"
    )
    parser.add_argument("--rate", type=_above_zero, metavar="N", help="records per second at most; default no limit")
    parser.add_argument("--plan", metavar="ID", help="resume this plan, or begin one by this name")
    parser.add_argument("--again", action="store_true", help="replay also what another plan has replayed")
    add_state(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how the report is written")
    add_connection(parser)
    return parser
