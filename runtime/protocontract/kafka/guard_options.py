"""The options of ``protocontract guard``, and what its help says."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, Final, TypeAlias

from protocontract.arguments import Parser, add_sources
from protocontract.cli import UsageError
from protocontract.kafka.connection import add_connection
from protocontract.kafka.errors import GuardError
from protocontract.kafka.letters.form import KEY_POLICIES, TOPIC_NAME, DeadLetterForm
from protocontract.kafka.registry.options import add_registry
from protocontract.kafka.shadow_options import add_shadow
from protocontract.status_http import http_address

#: What options are added to: a parser, or a group of its options.
Options: TypeAlias = Any

#: The options that --help shows.
_USUAL: Final = (
    "--contract", "--proto-path", "--source", "--sink", "--group", "--bootstrap-servers", "--client-config",
    "--encoding", "--exactly-once", "--dead-letter", "--exit-at-end", "--http",
)  # fmt: skip
_USAGE: Final = """protocontract guard --contract NAME --source TOPIC --sink TOPIC [options]
       protocontract guard status|resume|skip ...: show halts, end them, pass over a record; see their --help"""
_DESCRIPTION: Final = """\
Read a topic, apply a contract to every record, and write what keeps it to another topic; what breaks it goes to the
dead-letter topic with the reason. At least once, in the order of each partition: an offset is committed when the
record's copy or its dead letter is acknowledged. A value that no normalizer changed is written byte for byte.
While a topic cannot be written, the guard waits, stays in its group and says so. Nothing is skipped.
"""
_EPILOG: Final = """\
exit codes: 0 stopped, or all done with --exit-at-end (dead letters are its work); 1 stopped with something still
unacknowledged or waiting for a key, or stopped by --from stop, by a batch that cannot be read, or by a halt under
--halt exit; 2 could not start, or gave up after --give-up-after

example: protocontract guard --contract acme.finance.v1.Transaction --source payments.raw --sink payments
"""


def guard_parser() -> argparse.ArgumentParser:
    """The parser of ``protocontract guard``."""
    parser = Parser(
        prog="protocontract guard",
        usual=_USUAL,
        usage=_USAGE,
        description=_DESCRIPTION,
        epilog=_EPILOG,
    )
    parser.add_argument("--contract", metavar="NAME", help="full name of the message: pkg.v1.Message")
    add_sources(parser)
    parser.add_argument("--source", required=True, metavar="TOPIC", help="where records are read")
    parser.add_argument("--sink", required=True, metavar="TOPIC", help="where good records are written")
    parser.add_argument("--group", metavar="NAME", help="consumer group; default protocontract.SOURCE.SINK")
    add_connection(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="json prints the counts at the end")
    _add_reading(parser.add_argument_group("reading and writing"))
    letters = parser.add_argument_group("dead letters")
    add_letter_form(letters)
    _add_rejecting(letters)
    _add_ending(parser.add_argument_group("starting and ending"))
    _add_watching(parser.add_argument_group("halting and watching"))
    add_registry(parser)
    add_shadow(parser)
    return parser


def _add_reading(group: Options) -> None:
    group.add_argument(
        "--encoding",
        choices=("protobuf", "confluent", "json", "headers"),
        help="how records are written: protobuf (default), confluent (framed; default with --registry), json, or "
        "headers: as __value_schema_id and content-type say",
    )
    group.add_argument("--sink-encoding", choices=("protobuf", "json", "confluent"), help="default as the source")
    group.add_argument(
        "--exactly-once",
        action="store_true",
        help="good records, dead letters and offsets in transactions of one cluster: readers with isolation_level "
        "read_committed see each exactly once",
    )
    group.add_argument(
        "--transactional-id-prefix", metavar="TEXT", help="ids are TEXT.GROUP.INSTANCE; default protocontract"
    )
    group.add_argument(
        "--instance",
        type=_instance,
        metavar="NAME",
        help="a name that this process keeps over restarts and no other has: its partitions come back without a "
        "rebalance (group.instance.id)",
    )
    group.add_argument(
        "--from",
        choices=("earliest", "stop"),
        default="earliest",
        help="where to begin without a committed offset; stop refuses, and so reports a gap",
    )


def add_letter_form(group: Options) -> None:
    """The options that say where dead letters go and what they look like; ``letter_form`` reads the latter."""
    group.add_argument(
        "--dead-letter", metavar="TOPIC", help="default the contract's; {group} in it stands for the consumer group"
    )
    group.add_argument(
        "--dead-letter-key",
        choices=KEY_POLICIES,
        default="keep",
        help="the record's key (default), its SHA-256, none, or a hash where the contract's key_field is sensitive",
    )
    group.add_argument(
        "--dead-letter-key-secret",
        metavar="FILE",
        help="make the hash an HMAC with this: without, a key that can be guessed can be found",
    )
    group.add_argument(
        "--connect-headers", action="store_true", help="also Kafka Connect's headers, __connect.errors.*"
    )


def _add_rejecting(group: Options) -> None:
    group.add_argument(
        "--on-reject",
        choices=("dead_letter", "block_key"),
        default="dead_letter",
        help="block_key: later records of a rejected one's key wait until it is replayed to the source, or skipped",
    )
    group.add_argument(
        "--too-large",
        choices=("block", "truncate"),
        default="block",
        help="one that its topic refuses for its size: wait (default), or cut it and say so",
    )
    group.add_argument(
        "--sink-too-large",
        choices=("block", "dead_letter"),
        default="block",
        help="a good record that the sink refuses for its size: wait (default), or dead-letter it (sink.too_large)",
    )
    group.add_argument(
        "--allow-retention", action="store_true", help="start although their topic deletes them by age or number"
    )


def _add_ending(group: Options) -> None:
    group.add_argument("--skip-checks", action="store_true", help="start without a look at topics, rights and settings")
    group.add_argument(
        "--exit-at-end", action="store_true", help="stop when everything is done that was there at the start"
    )
    group.add_argument(
        "--give-up-after",
        type=_seconds,
        metavar="SECONDS",
        help="end when the source did not answer, a topic could not be written, or a registry not be asked, for so "
        "long; default never",
    )
    group.add_argument(
        "--grace",
        type=_seconds,
        default=10.0,
        metavar="SECONDS",
        help="time to wait for acknowledgements when stopped; default 10",
    )


def _add_watching(group: Options) -> None:
    group.add_argument(
        "--halt",
        choices=("pause", "exit"),
        default="pause",
        help="at a missed level of a contract that halts, or an open breaker: stay in the group and deliver nothing "
        "(default), or end with exit code 1",
    )
    group.add_argument(
        "--breaker-ratio",
        type=_ratio,
        metavar="SHARE",
        help="halt a partition when so many of its last 100 records are bad: 0.5 is half of them",
    )
    group.add_argument(
        "--breaker-consecutive", type=_count, metavar="N", help="halt a partition after N bad records in a row"
    )
    group.add_argument(
        "--http",
        type=http_address,
        metavar="[HOST:]PORT",
        help="/livez, /readyz, /metrics: 9464 is on the loopback interface, 0.0.0.0:9464 on all",
    )
    group.add_argument(
        "--watch-dead-letters",
        type=_seconds,
        metavar="SECONDS",
        help="look so often for the oldest dead letter that nobody has resolved, for /metrics",
    )


def letter_form(options: argparse.Namespace) -> DeadLetterForm:
    """What dead letters look like. Raises UsageError."""
    name = options.dead_letter_key_secret
    if name is not None and options.dead_letter_key in ("keep", "drop"):
        raise UsageError("--dead-letter-key-secret is for hashes; add --dead-letter-key hash (or contract)")
    secret = None if name is None else Path(name).read_bytes().strip()
    try:
        return DeadLetterForm(options.dead_letter_key, secret, options.connect_headers)
    except GuardError as error:
        raise UsageError(str(error)) from None


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1e9:
        raise argparse.ArgumentTypeError("expected seconds above 0")
    return value


def _ratio(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 1:
        raise argparse.ArgumentTypeError("expected a share above 0 and at most 1")
    return value


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < len(text) < 10 and int(text) > 0):
        raise argparse.ArgumentTypeError("expected a number of records, 1 at least")
    return int(text)


def _instance(text: str) -> str:
    if not TOPIC_NAME.fullmatch(text):
        raise argparse.ArgumentTypeError("expected letters, digits, `.`, `_` and `-`")
    return text
