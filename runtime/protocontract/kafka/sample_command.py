"""The command ``protocontract sample``: records of a topic, in a file that ``gate --sample`` reads.

It is for a job that may read the topic. The gate's own job, which runs what a pull request brings, gets the file and no
credentials.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from protocontract.arguments import Parser
from protocontract.cli import COULD_NOT_CHECK, KEPT, UsageError
from protocontract.kafka.connection import add_connection, check_topic, cluster
from protocontract.kafka.errors import GuardError
from protocontract.kafka.letters.reading import DeadLetter, extent, last_letters, read
from protocontract.records.reading import encoding_of
from protocontract.terminal import plural, tell_error
from protocontract.violations import Refusal
from protocontract.wire_confluent import parse_frame
from protocontract.wire_stream import write_delimited

_DEFAULT: Final = 10_000
_RANGE: Final = re.compile(r"([0-9]{1,9}):([0-9]{1,18})-([0-9]{1,18})")
_DESCRIPTION: Final = """\
Write records of a topic to a file that `protocontract gate --sample FILE` and `protocontract diff --sample FILE` read:
values as they are (without the frame of a schema registry), in the order of partitions and offsets.
"""
_EPILOG: Final = """\
The file holds data: only its owner may read it. Nothing is committed; no consumer group is joined.
exit codes: 0 written; 2 could not read the topic

example: protocontract sample --source payments --last 20000 --out payments.binpb
"""


class Range(NamedTuple):
    """A part of a partition: offsets from ``first`` up to ``end``, which is not in it."""

    partition: int
    first: int
    end: int


def sample_command(argv: list[str]) -> int:
    """Write records of a topic to a file, for the gate to count what a change does to them."""
    options = _parser().parse_args(argv)
    check_topic(options.source)
    encoding = encoding_of(options.out.name)
    if encoding is None:
        raise UsageError(f"cannot tell how to write {options.out}; expected a name in .binpb or .jsonl")
    if (encoding == "json") != (options.encoding == "json"):
        raise UsageError(
            f"records in {options.encoding} do not go into {options.out.name}; expected .binpb, or .jsonl for json"
        )
    try:
        with cluster(options).reader() as consumer:
            values = [letter.raw.value for letter in _letters(consumer, options)]
    except GuardError as error:
        tell_error(error)
        return COULD_NOT_CHECK
    written, left = write_sample(options.out, values, options.encoding)
    told = f"; {plural(left, 'record')} left out (no value, or no frame)" if left else ""
    print(f"{options.out}: {plural(written, 'record')} of {options.source}{told}", file=sys.stderr)
    return KEPT


def write_sample(path: Path, values: Iterable[bytes | None], encoding: str) -> tuple[int, int]:
    """Write values to a new file that only its owner may read; how many were written, and how many left out."""
    beside = path.with_name(f".{path.name}.part")
    written = left = 0
    with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as stream:
        for value in values:
            record = _payload(value, encoding)
            if record is None:
                left += 1
            elif encoding == "json":
                # A line break in JSON stands between tokens: within a text it is escaped.
                stream.write(record.translate(_NO_BREAKS) + b"\n")
                written += 1
            else:
                write_delimited(stream, record)
                written += 1
    beside.replace(path)
    return written, left


_NO_BREAKS: Final = bytes.maketrans(b"\r\n", b"  ")


def _payload(value: bytes | None, encoding: str) -> bytes | None:
    """The message's own bytes; None for a tombstone, or where there is no frame although there should be."""
    if value is None or encoding != "confluent":
        return value
    frame = parse_frame(value)
    return None if isinstance(frame, Refusal) else value[frame.payload_offset :]


def _letters(consumer: Any, options: argparse.Namespace) -> Iterator[DeadLetter]:
    if not options.range:
        found = last_letters(consumer, options.source, options.last, lambda _: True)
        yield from sorted(found, key=lambda letter: (letter.raw.partition, letter.raw.offset))
        return
    whole = extent(consumer, options.source)
    for part in options.range:
        first = max(part.first, whole.starts.get(part.partition, 0))
        end = min(part.end, whole.ends.get(part.partition, 0))
        yield from read(consumer, options.source, {part.partition: first}, {part.partition: end})


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="protocontract sample", description=_DESCRIPTION, epilog=_EPILOG,
    )  # fmt: skip
    parser.add_argument("--source", required=True, metavar="TOPIC", help="the topic")
    parser.add_argument(
        "--out", required=True, type=Path, metavar="FILE", help=".binpb, or .jsonl with --encoding json"
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--last", type=_count, default=_DEFAULT, metavar="N", help=f"the last N records (default {_DEFAULT:,})"
    )
    which.add_argument(
        "--range", action="append", default=[], type=_range, metavar="PARTITION:FIRST-END",
        help="offsets of a partition, without END; may be given again",
    )  # fmt: skip
    parser.add_argument(
        "--encoding", choices=("protobuf", "confluent", "json"), default="protobuf", help="how records are written"
    )
    add_connection(parser)
    return parser


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 0 < int(text) <= 10_000_000:
        raise argparse.ArgumentTypeError("expected a number of records, 1 to 10000000")
    return int(text)


def _range(text: str) -> Range:
    found = _RANGE.fullmatch(text)
    if found is None or int(found[2]) >= int(found[3]):
        raise argparse.ArgumentTypeError("expected PARTITION:FIRST-END, 0:1000-2000")
    return Range(*(int(number) for number in found.groups()))
