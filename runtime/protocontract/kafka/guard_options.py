"""The options of ``protocontract guard``, and what its help says."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from protocontract.cli import UsageError
from protocontract.kafka.errors import GuardError
from protocontract.kafka.letter_form import KEY_POLICIES, TOPIC_NAME, DeadLetterForm
from protocontract.kafka.registry_options import add_registry
from protocontract.kafka.shadow_options import add_shadow

_DESCRIPTION: Final = """\
Read a topic, apply a contract to every record, and write what keeps it to another topic; what breaks it goes to the
dead-letter topic with the reason. At least once, in the order of each partition. Nothing is lost: an offset is
committed when the record's copy (or its dead letter) is acknowledged. With --exactly-once, good records, dead letters
and offsets are written in transactions: a consumer with isolation_level read_committed sees each exactly once.
"""
_EPILOG: Final = """\
A value that no normalizer changed is written byte for byte; key, headers and timestamp are the source's. Tombstones are
passed on. While the sink or the dead-letter topic cannot be written, the guard waits, stays in its group and says so.

The client configuration is a TOML (or .json) file of kafka-python's options, such as
    security_protocol = "SASL_SSL"

exit codes: 0 stopped, or all done with --exit-at-end (dead letters are its work); 1 stopped with something still
unacknowledged, or stopped by --from stop, by a batch that cannot be read, or by a halt under --halt exit; 2 could not
start, or gave up after --give-up-after; 130 interrupted

protocontract guard status shows halts, guard resume ends them, guard skip passes over a record; see their --help.

example: protocontract guard --contract acme.finance.v1.Transaction --source payments.raw --sink payments
"""


def guard_parser() -> argparse.ArgumentParser:
    """The parser of ``protocontract guard``."""
    parser = argparse.ArgumentParser(
        prog="protocontract guard",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--contract", metavar="NAME", help="full name of the message: pkg.v1.Message")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--proto-path", metavar="DIR", help="compile the contract from the .proto files below DIR")
    where.add_argument("--descriptors", metavar="FILE", help="compile the contract from a FileDescriptorSet")
    parser.add_argument("--source", required=True, metavar="TOPIC", help="where records are read")
    parser.add_argument("--sink", required=True, metavar="TOPIC", help="where good records are written")
    add_letter_form(parser)
    parser.add_argument("--bootstrap-servers", metavar="HOST:PORT[,...]", help="default $KAFKA_BOOTSTRAP_SERVERS")
    parser.add_argument("--client-config", metavar="FILE", help="further options of the Kafka client: TLS, SASL")
    parser.add_argument("--group", metavar="NAME", help="consumer group; default protocontract.SOURCE.SINK")
    parser.add_argument(
        "--instance",
        type=_instance,
        metavar="NAME",
        help="a name that this process keeps over restarts and no other has: it gets its partitions "
        "back without a rebalance (group.instance.id)",
    )
    parser.add_argument(
        "--exactly-once",
        action="store_true",
        help="write good records, dead letters and offsets in transactions of one cluster",
    )
    parser.add_argument(
        "--transactional-id-prefix",
        metavar="TEXT",
        help="transactional ids are TEXT.GROUP.INSTANCE, with a random instance where none is named; "
        "default protocontract",
    )
    parser.add_argument(
        "--from",
        choices=("earliest", "stop"),
        default="earliest",
        help="where to begin without a committed offset; stop refuses, and so reports a gap",
    )
    parser.add_argument(
        "--encoding",
        choices=("protobuf", "confluent", "json", "headers"),
        help="how records are written: protobuf (default), confluent (framed; default with --registry), json, or "
        "headers: decided by __value_schema_id and content-type",
    )
    parser.add_argument("--sink-encoding", choices=("protobuf", "json", "confluent"), help="default as the source")
    parser.add_argument(
        "--on-reject",
        choices=("dead_letter", "block_key"),
        default="dead_letter",
        help="block_key: later records of a rejected one's key wait until it is replayed to the source, or skipped",
    )
    parser.add_argument(
        "--too-large",
        choices=("block", "truncate"),
        default="block",
        help="a dead letter that its topic refuses for its size: wait, or cut it and say so",
    )
    parser.add_argument(
        "--allow-retention",
        action="store_true",
        help="start although the dead-letter topic deletes records by their age or number",
    )
    parser.add_argument(
        "--skip-checks", action="store_true", help="start without a look at the topics' rights and settings"
    )
    parser.add_argument(
        "--exit-at-end", action="store_true", help="stop when everything is done that was in the source at the start"
    )
    parser.add_argument(
        "--give-up-after",
        type=_seconds,
        metavar="SECONDS",
        help="end when a topic could not be written, or a registry not be asked, for so long; default never",
    )
    parser.add_argument(
        "--grace",
        type=_seconds,
        default=10.0,
        metavar="SECONDS",
        help="time to wait for acknowledgements when stopped; default 10",
    )
    parser.add_argument(
        "--halt",
        choices=("pause", "exit"),
        default="pause",
        help="what a missed level of a contract that halts, or an open breaker, does: stay in the "
        "group and deliver nothing (default), or end with exit code 1",
    )
    parser.add_argument(
        "--breaker-ratio",
        type=_ratio,
        metavar="SHARE",
        help="halt a partition when so many of its last 100 records are bad: 0.5 is half of them",
    )
    parser.add_argument(
        "--breaker-consecutive", type=_count, metavar="N", help="halt a partition after N bad records in a row"
    )
    parser.add_argument(
        "--http",
        type=_address,
        metavar="[HOST:]PORT",
        help="answer /livez, /readyz and /metrics here: 9464 is on the loopback interface, 0.0.0.0:9464 on all",
    )
    parser.add_argument(
        "--watch-dead-letters",
        type=_seconds,
        metavar="SECONDS",
        help="look so often for the oldest dead letter that nobody has resolved, for /metrics",
    )
    parser.add_argument(
        "--format",
        choices=("text", "json"),
        default="text",
        help="json prints the counts at the end to standard output",
    )
    add_registry(parser)
    add_shadow(parser)
    return parser


def add_letter_form(parser: argparse.ArgumentParser) -> None:
    """The options that say where dead letters go and what they look like; ``letter_form`` reads the latter."""
    parser.add_argument(
        "--dead-letter",
        metavar="TOPIC",
        help="where bad records are written; default the contract's. {group} in it stands for the group",
    )
    parser.add_argument(
        "--dead-letter-key",
        choices=KEY_POLICIES,
        default="keep",
        help="the key of dead letters: the record's (default), its SHA-256, none, or as the contract says: "
        "a hash where its key_field is sensitive",
    )
    parser.add_argument(
        "--dead-letter-key-secret",
        metavar="FILE",
        help="make the hash an HMAC with what is in this file: without, a key that can be guessed can be found",
    )
    parser.add_argument(
        "--connect-headers",
        action="store_true",
        help="write Kafka Connect's headers (__connect.errors.*) into dead letters too",
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


def _address(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not (port.isascii() and port.isdigit() and 0 < len(port) < 6 and 0 < int(port) < 65_536) or (colon and not host):
        raise argparse.ArgumentTypeError("expected a port, 1 to 65535, or HOST:PORT")
    return host.removeprefix("[").removesuffix("]") or "127.0.0.1", int(port)


def _instance(text: str) -> str:
    if not TOPIC_NAME.fullmatch(text):
        raise argparse.ArgumentTypeError("expected letters, digits, `.`, `_` and `-`")
    return text
