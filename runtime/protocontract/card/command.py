"""The command ``protocontract card``."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

from protocontract.arguments import Parser, add_sources
from protocontract.card.builder import CardBuilder
from protocontract.card.card import Card
from protocontract.cli import KEPT, UsageError
from protocontract.contract import Contract
from protocontract.records.judge import Judge
from protocontract.records.reading import FileEncoding
from protocontract.records.sources import FileLike, find_files, open_source
from protocontract.terminal import Paint, Progress

_DESCRIPTION = """\
Make the data card of files of records: how many were read, used and dropped, and why; what each field of the used ones
looks like; by which contract and which data versions. It is written as DIR/card.json, whose SHA-256 is the card's hash,
and as DIR/card.html for people. Values of sensitive fields are not in it, nor texts, nor labels that nobody declared.
"""
_EPILOG = """\
The same files give the same card, byte for byte, whatever their order. A loader makes the card of an epoch by itself
(docs/data-card.md).
exit codes: 0 written, however many records were dropped; 2 could not be made

example: protocontract card --contract acme.text.v1.TextSample train/*.binpb --out cards
"""


def card_command(argv: list[str]) -> int:
    """Make the data card of files: what was used and dropped, and what the fields look like."""
    options = _parser().parse_args(argv)
    from protocontract.loading import resolve

    find_files(options.files)  # a wrong name should not wait until the contract is compiled
    contract = resolve(options.contract, proto_path=options.proto_path, descriptors=options.descriptors)
    sources = open_sources(options.files, options.encoding, contract, options.column)
    card = card_of(contract, sources)
    files = card.write(options.out)
    if options.stamp is not None:
        card.stamp(options.stamp)
    if options.format == "json":
        written = {"card_sha256": card.sha256, "files": [str(file) for file in files], "records": card.data["records"]}
        sys.stdout.write(json.dumps(written, ensure_ascii=False, indent=2) + "\n")
        return KEPT
    paint = Paint.on(sys.stdout)
    print(f"{paint(f'{contract.full_name} {contract.version}'.rstrip(), 'strong')} · {card.summary()}")
    for file in files:
        print(f"  {file}")
    print(f"  {paint(f'sha256 {card.sha256}', 'quiet')}")
    if options.stamp is not None:
        print(f"  stamped {options.stamp}")
    return KEPT


def open_sources(
    patterns: list[str], encoding: FileEncoding | None, contract: Contract[Any], column: str | None = None
) -> list[FileLike]:
    """The sources of files on a command line. ``column`` is that of serialised records in Parquet and Arrow files.

    Raises UsageError where nothing says how a file is written; ContractError, MissingExtra, OSError as ``open_source``.
    """
    try:
        return [open_source(path, encoding, contract, column=column) for path in find_files(patterns)]
    except ValueError as error:
        raise UsageError(f"{str(error).partition(';')[0]}; add --encoding json or --encoding protobuf") from error


def card_of(contract: Contract[Any], sources: list[FileLike]) -> Card:
    """The card of all records of some sources. Raises OSError."""
    builder: CardBuilder[Any] = CardBuilder(contract)
    judge = Judge(contract)
    progress = Progress(sum(os.stat(source.name).st_size for source in sources))
    done = total = 0
    try:
        for source in sources:
            records = 0
            for record in source.records():
                records += 1
                builder.add(judge.outcome(record))
                done += record.size
                if progress.enabled:
                    progress.update(done, total + records)
            total += records
            builder.source(source.name, source.identity(), records)
    finally:
        progress.clear()
    return builder.card()


def add_contract(parser: argparse.ArgumentParser) -> None:
    """The options that say which contract, and how records are written."""
    parser.add_argument("--contract", required=True, metavar="NAME", help="full name of the message: pkg.v1.Message")
    parser.add_argument(
        "--encoding", choices=("json", "protobuf"),
        help="how records are written; by default the ending says (.jsonl .json .ndjson, .binpb .pb .bin)",
    )  # fmt: skip
    parser.add_argument(
        "--column", metavar="NAME", help="of Parquet and Arrow files: the column of serialised records (docs/arrow.md)"
    )
    add_sources(parser)


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="protocontract card", description=_DESCRIPTION, epilog=_EPILOG,
    )  # fmt: skip
    parser.add_argument("files", nargs="+", metavar="FILE", help="files of records, or patterns: 'train/**/*.binpb'")
    add_contract(parser)
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="the folder for card.json and card.html")
    parser.add_argument(
        "--stamp", type=Path, metavar="MODEL",
        help="write contract, data versions and the card's hash into this model (.onnx), or beside it",
    )  # fmt: skip
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how the result is told")
    return parser
