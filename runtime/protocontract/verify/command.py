"""The command ``protocontract verify``."""

from __future__ import annotations

import argparse
import errno
import os
import stat
import sys
from pathlib import Path
from typing import Any, BinaryIO

from protocontract.arguments import Parser, add_sources
from protocontract.cli import BROKEN, KEPT, UsageError
from protocontract.contract import Contract
from protocontract.records.reading import FileEncoding, encoding_of, is_arrow, read_lines, read_messages, refused
from protocontract.terminal import Paint, Progress
from protocontract.verify.counting import Counter
from protocontract.verify.report import json_report, text_report
from protocontract.violations import Refusal

_DESCRIPTION = """\
Check a file of records against every promise of a contract: one line a promise, with counts, the first
records that break it, and their values (never those of sensitive fields). Records are normalised before they
are checked, as a guard does. Service levels are judged over event time; latency is not judged on data at rest.
"""
_EPILOG = """\
JSON files hold one record a line; blank lines are skipped. Protobuf files hold length-delimited messages. Parquet
and Arrow files (.parquet .pq .arrow .arrows .ipc .feather) hold a column of records, or a column for each field.
exit codes: 0 kept; 1 a declared level is missed, or a record is broken where no level allows for any (none is
declared, there are too few records to judge it, or --strict); 2 could not check

example: protocontract verify --contract acme.finance.v1.Transaction payments.jsonl
"""


def verify_command(argv: list[str]) -> int:
    """Check a file of records against a contract."""
    options = _parser().parse_args(argv)
    if is_arrow(options.file):
        return _verify_table(options)
    if options.column or options.ignore_column or options.assume_utc:
        raise UsageError("--column, --ignore-column and --assume-utc are for Parquet and Arrow files")
    encoding: FileEncoding | None = options.encoding or encoding_of(options.file)
    if encoding is None:
        if Path(options.file).is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), options.file)
        what = "standard input" if options.file == "-" else options.file
        raise UsageError(
            f"cannot tell how the records of {what} are written; add --encoding json or --encoding protobuf"
        )
    from protocontract.loading import resolve

    if options.file == "-":
        contract = resolve(options.contract, proto_path=options.proto_path, descriptors=options.descriptors)
        counter = count_stream(contract, sys.stdin.buffer, encoding, None)
        source = "standard input"
    else:
        # Opened before the contract is compiled: a wrong file name should not wait for that.
        with open(options.file, "rb") as stream:
            contract = resolve(options.contract, proto_path=options.proto_path, descriptors=options.descriptors)
            counter = count_stream(contract, stream, encoding, _size(stream))
        source = Path(options.file).name
    return _report(options, counter, source, encoding, "line" if encoding == "json" else "record")


def _verify_table(options: argparse.Namespace) -> int:
    """The same for a Parquet or Arrow file."""
    from protocontract.loading import resolve
    from protocontract.records.sources import open_source

    with open(options.file, "rb"):
        contract = resolve(options.contract, proto_path=options.proto_path, descriptors=options.descriptors)
    source = open_source(
        options.file,
        options.encoding,
        contract,
        column=options.column,
        ignore=options.ignore_column,
        assume_utc=options.assume_utc,
    )
    counter = Counter(contract)
    progress = Progress(None)
    try:
        for record in source.records():
            if isinstance(record.raw, Refusal):
                counter.refuse(record.place.number, refused(contract.full_name, record.raw))
            else:
                counter.add(record.place.number, contract.process(record.raw, encoding=record.encoding))
            progress.update(0, counter.records)
    finally:
        progress.clear()
    encoding = "columns" if options.column is None else source.encoding
    return _report(options, counter, Path(options.file).name, encoding, source.unit)


def _report(options: argparse.Namespace, counter: Counter, source: str, encoding: str, unit: str) -> int:
    result = counter.result(strict=options.strict)
    code = BROKEN if result.broken else KEPT
    if options.format == "json":
        sys.stdout.write(json_report(result, source, encoding, exit_code=code))
    else:
        sys.stdout.write(text_report(result, source, unit=unit, paint=Paint.on(sys.stdout)))
    return code


def count_stream(contract: Contract[Any], stream: BinaryIO, encoding: FileEncoding, size: int | None) -> Counter:
    """Count all records of a stream; ``size`` in bytes is for the progress bar."""
    counter = Counter(contract)
    progress = Progress(size)
    done = 0
    try:
        for number, raw in read_lines(stream) if encoding == "json" else read_messages(stream):
            if isinstance(raw, Refusal):
                counter.refuse(number, refused(contract.full_name, raw))
                continue
            counter.add(number, contract.process(raw, encoding=encoding))
            if progress.enabled:
                done += len(raw) + 1
                progress.update(done, counter.records)
    finally:
        progress.clear()
    return counter


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="protocontract verify",
        description=_DESCRIPTION,
        epilog=_EPILOG,
    )
    parser.add_argument("file", metavar="FILE", help="the records; - reads standard input")
    parser.add_argument("--contract", required=True, metavar="NAME", help="full name of the message: pkg.v1.Message")
    parser.add_argument(
        "--encoding",
        choices=("json", "protobuf"),
        help="how records are written; by default the suffix says (.jsonl .json .ndjson, .binpb .pb .bin)",
    )
    parser.add_argument("--column", metavar="NAME", help="of a Parquet or Arrow file: the column of serialised records")
    parser.add_argument(
        "--ignore-column",
        action="append",
        default=[],
        metavar="NAME",
        help="of a file whose columns are fields: a column that is none; may be given again",
    )
    parser.add_argument("--assume-utc", action="store_true", help="timestamp columns without a zone are in UTC")
    add_sources(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how the report is written")
    parser.add_argument("--strict", action="store_true", help="one bad record is enough to fail, whatever the level")
    return parser


def _size(stream: BinaryIO) -> int | None:
    status = os.fstat(stream.fileno())
    return status.st_size if stat.S_ISREG(status.st_mode) else None
