"""``protocontract guard status`` and ``protocontract guard resume``: which partitions are halted, and going on."""

from __future__ import annotations

import argparse
import json
import urllib.error
import urllib.request
from dataclasses import asdict, dataclass
from typing import Any, Final
from urllib.parse import quote

from protocontract.arguments import Parser
from protocontract.cli import BROKEN, COULD_NOT_CHECK, KEPT
from protocontract.kafka import client
from protocontract.kafka.connection import Cluster, add_connection, check_topic, cluster
from protocontract.kafka.errors import GuardError
from protocontract.kafka.halting import halted_by
from protocontract.kafka.http import REASON_HEADER
from protocontract.kafka.skip import has_members, members_of, skipped_by
from protocontract.terminal import plural, tell_error

_STATUS: Final = """\
Show what a guard's group has committed, and which partitions are halted and why. It reads only.

exit codes: 0 nothing is halted; 1 something is; 2 could not ask

example: protocontract guard status --source payments.raw --sink payments
"""
#: What a header of HTTP carries as it is; all else is percent-encoded.
_SAFE: Final = " !\"#$&'()*+,-./:;<=>?@[]^_`{|}~"
_RESUME: Final = """\
Let a halted line go on, with the record before which it stopped. A guard that runs is told by --http; the halts of a
group without running members are removed by --source (and --group): the broker lets nobody else write while it has any.

exit codes: 0 resumed; 1 nothing was halted; 2 could not resume

example: protocontract guard resume --http 9464 --reason "producer rolled back to 1.3"
"""


@dataclass(frozen=True, slots=True)
class PartitionState:
    """What a group committed for one partition. ``lag`` in records; ``halted`` is the reason, "" if it runs."""

    partition: int
    committed: int | None
    end: int
    lag: int | None
    halted: str
    #: The record that an operator skipped last, who and why, until the guard commits further.
    skipped: str = ""


def status_command(argv: list[str]) -> int:
    """Show offsets and halts of a guard's group."""
    parser = halt_parser("status", _STATUS)
    parser.add_argument("--source", required=True, metavar="TOPIC", help="what the guard reads")
    add_group(parser)
    add_connection(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how to report")
    options = parser.parse_args(argv)
    check_topic(options.source)
    group = group_of(parser, options, options.source)
    try:
        states = read_states(cluster(options), options.source, group)
    except GuardError as error:
        return _say(error)
    if options.format == "json":
        print(json.dumps({"group": group, "source": options.source, "partitions": [asdict(each) for each in states]}))
    else:
        print(f"{options.source} · {group}")
        for state in states:
            committed = "nothing" if state.committed is None else f"{state.committed:,}"
            lag = "" if state.lag is None else f"   lag {state.lag:,}"
            halted = f"   halted: {state.halted}" if state.halted else ""
            skipped = f"   skipped: {state.skipped}" if state.skipped else ""
            print(f"  {state.partition}   committed {committed}   end {state.end:,}{lag}{halted}{skipped}")
        stands = [f"{options.source}:{state.partition}:{state.committed}" for state in states if state.halted]
        if stands:
            print(f"to go on: protocontract guard resume; without the record: protocontract guard skip {stands[0]}")
    return BROKEN if any(state.halted for state in states) else KEPT


def resume_command(argv: list[str]) -> int:
    """Let a halted line go on."""
    parser = halt_parser("resume", _RESUME)
    parser.add_argument(
        "--reason", required=True, metavar="TEXT", help="why it may go on; a running guard writes it to its log"
    )
    parser.add_argument(
        "--http", type=int, metavar="PORT", help="the port that the running guard was given, on this host"
    )
    parser.add_argument("--source", metavar="TOPIC", help="what the stopped guard reads")
    add_group(parser)
    add_connection(parser)
    options = parser.parse_args(argv)
    reason = one_line(parser, "--reason", options.reason)
    if (options.http is None) == (options.source is None):
        parser.error("give either --http PORT of a guard that runs, or --source TOPIC of one that does not")
    try:
        if options.http is not None:
            return _resume_running(options.http, reason)
        check_topic(options.source)
        group = group_of(parser, options, options.source)
        resumed = clear_halts(cluster(options), options.source, group)
    except GuardError as error:
        return _say(error)
    if not resumed:
        print(f"nothing is halted in {group}")
        return BROKEN
    print(f"resumed {plural(resumed, 'partition')} of {options.source} for {group}: {reason}")
    return KEPT


def read_states(where: Cluster, topic: str, group: str) -> list[PartitionState]:
    """What the group committed for each partition of the topic. Raises GuardError."""
    with where.reader(group) as consumer:
        try:
            tps = _partitions(consumer, topic)
            ends = consumer.end_offsets(tps)
            found = []
            for tp in tps:
                committed = consumer.committed(tp, metadata=True, timeout_ms=10_000)
                offset = None if committed is None else committed.offset
                found.append(
                    PartitionState(
                        tp.partition,
                        offset,
                        ends[tp],
                        None if offset is None else max(0, ends[tp] - offset),
                        "" if committed is None else halted_by(committed.metadata or ""),
                        "" if committed is None else skipped_by(committed.metadata or ""),
                    )
                )
            return found
        except client.errors.KafkaError as error:
            raise GuardError(f"{topic} cannot be asked about ({type(error).__name__})") from None


def clear_halts(where: Cluster, topic: str, group: str) -> int:
    """Remove the halts of a group that has no members. Returns how many there were. Raises GuardError."""
    with where.reader(group) as consumer:
        try:
            tps = _partitions(consumer, topic)
            halted = {}
            for tp in tps:
                committed = consumer.committed(tp, metadata=True, timeout_ms=10_000)
                if committed is not None and halted_by(committed.metadata or ""):
                    halted[tp] = client.offset_to_commit(committed.offset, committed.leader_epoch)
            if halted:
                consumer.assign(list(halted))
                consumer.commit(halted, timeout_ms=10_000)
            return len(halted)
        except client.errors.KafkaError as error:
            if has_members(error):
                raise GuardError(members_of(group)) from None
            raise GuardError(f"{topic} cannot be resumed ({type(error).__name__})") from None


def _partitions(consumer: Any, topic: str) -> list[client.TopicPartition]:
    numbers = consumer.partitions_for_topic(topic)
    if not numbers:
        raise GuardError(f"source: topic {topic} does not exist")
    return [client.TopicPartition(topic, number) for number in sorted(numbers)]


def _resume_running(port: int, reason: str) -> int:
    done, said = post(port, "/resume", {REASON_HEADER: reason})
    print(said)
    return KEPT if done else BROKEN


def post(port: int, path: str, headers: dict[str, str], timeout: float = 10.0) -> tuple[bool, str]:
    """Ask a running guard on this host for something. Returns whether it did, and what it says. Raises GuardError."""
    sent = {name: quote(text, safe=_SAFE) for name, text in headers.items()}
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", method="POST", headers=sent)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=timeout) as answer:
            return True, answer.read().decode().rstrip()
    except urllib.error.HTTPError as error:
        with error:
            said = error.read().decode(errors="replace").rstrip()
        if error.code == 409:
            return False, said
        if error.code == 501:
            raise GuardError(f"--http: {said}") from None
        raise GuardError(f"--http: port {port} answered {error.code}; expected a guard") from None
    except (OSError, ValueError) as error:
        raise GuardError(f"--http: no guard answers on port {port} ({type(error).__name__})") from None


def halt_parser(name: str, description: str, epilog: str | None = None) -> argparse.ArgumentParser:
    """A parser for one of the commands below ``protocontract guard``."""
    return Parser(
        prog=f"protocontract guard {name}",
        description=description,
        epilog=epilog,
    )


def one_line(parser: argparse.ArgumentParser, name: str, text: str) -> str:
    """Text on one line. Ends the command where it is none."""
    text = " ".join(text.split())
    if not text.isprintable() or not text:
        parser.error(f"{name}: expected text without control characters")
    return text


def add_group(parser: argparse.ArgumentParser) -> None:
    """The options that say which group is meant; ``group_of`` reads them."""
    parser.add_argument("--sink", metavar="TOPIC", help="the guard's sink: its group is protocontract.SOURCE.SINK")
    parser.add_argument("--group", metavar="NAME", help="the guard's consumer group, where it was given one")


def group_of(parser: argparse.ArgumentParser, options: argparse.Namespace, source: str) -> str:
    """The group that is meant. Ends the command where none is named."""
    if not options.group and not options.sink:
        parser.error("name the guard's --group, or its --sink")
    return str(options.group or f"protocontract.{source}.{options.sink}")


def _say(error: GuardError) -> int:
    tell_error(error)
    return COULD_NOT_CHECK
