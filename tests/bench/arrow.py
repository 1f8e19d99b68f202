"""``python -m tests.bench.arrow``: what verdict columns and files of columns cost, beside loops over the same records.

Each turn goes over one batch of records, one in twenty of which is bad. What ends in bytes must end in the same bytes.
"""

from __future__ import annotations

import argparse
import platform
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import google.protobuf
import pyarrow as pa
from google.protobuf import json_format
from google.protobuf.internal import api_implementation
from google.protobuf.message import DecodeError

from acme.finance.v1.transaction_contract import TRANSACTION
from protocontract.arrow import ArrowValidator
from protocontract.contract import Contract
from protocontract.records.arrow_source import ArrowSource
from tests.arrow.support import payment
from tests.arrow.tables import write
from tests.bench import shapes
from tests.bench.measure import Entry, paired

_ROWS, _TURN = 2_000, 0.01
_BASE = "parse (FromString)"


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.arrow")
    parser.add_argument("--rounds", type=int, default=21, help="paired rounds")
    rounds = parser.parse_args().rounds
    print(
        f"{platform.python_implementation()} {platform.python_version()}, protobuf {google.protobuf.__version__} "
        f"({api_implementation.Type()}), pyarrow {pa.__version__}, {rounds} paired rounds of {_ROWS} rows\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        modules = shapes.compile_protos(Path(folder))
        medium = next(shape for shape in shapes.SHAPES if shape.name == "medium")
        data = shapes.serialise(medium, *modules, count=_ROWS)
        _report("medium, rules only", data.contract, _with_bad(data.protobuf), Path(folder), rounds)
        payments = [payment(memo=f"  invoice {number} ") for number in range(_ROWS)]
        raws = [message.SerializeToString() for message in payments]
        _report("a payment, three normalizers", TRANSACTION, _with_bad(raws), Path(folder), rounds)


def _with_bad(raws: list[bytes]) -> list[bytes]:
    return [b"\xff" if number % 20 == 7 else raw for number, raw in enumerate(raws)]


def _report(title: str, contract: Contract[Any], raws: list[bytes], folder: Path, rounds: int) -> None:
    table = pa.table({"value": pa.array(raws, pa.binary())})
    validator = ArrowValidator(contract)
    records = write(table, folder / f"{contract.full_name}.records.parquet", "parquet")
    fields = _columns(contract, raws, folder / f"{contract.full_name}.columns.parquet")
    expected = _processed(contract)(raws)
    if validator(table)["normalized"].to_pylist() != expected:
        raise SystemExit(f"{title}: the validator and the loop do not agree")
    if list(filter(None, expected)) != list(filter(None, _source(contract)(ArrowSource(fields, contract)))):
        raise SystemExit(f"{title}: columns and records do not agree")
    entries = [
        Entry(_BASE, _parsed(contract), [raws]),
        Entry("Contract.process", _judged(contract), [raws]),
        Entry("Contract.process, good ones serialised", _processed(contract), [raws]),
        Entry("ArrowValidator, a table", validator, [table]),
        Entry(
            "Parquet, a column of records, the same",
            _source(contract),
            [ArrowSource(records, contract, column="value")],
        ),
        Entry("Parquet, columns as fields, the same", _source(contract), [ArrowSource(fields, contract)]),
    ]
    timings = paired(entries, _BASE, rounds=rounds, turn=_TURN)
    whole = timings["Contract.process"].microseconds
    print(f"{title:<44}{'rows/s':>12}{'µs a row':>12}{'to process':>12}{'to parse':>12}")
    for name, timing in timings.items():
        each = timing.microseconds / _ROWS
        print(
            f"  {name:<42}{1e6 / each:>12,.0f}{each:>12.2f}{timing.microseconds / whole:>11.2f}x{timing.ratio:>11.1f}x"
        )
    print()


def _columns(contract: Contract[Any], raws: list[bytes], path: Path) -> Path:
    """The good records as a file with a column for each field."""
    good = [raw for raw in raws if raw != b"\xff"]
    rows = [json_format.MessageToDict(contract.message_type.FromString(raw)) for raw in good]
    return write(pa.Table.from_pylist(rows), path, "parquet")


def _parsed(contract: Contract[Any]) -> Callable[[list[bytes]], None]:
    parse = contract.message_type.FromString

    def run(batch: list[bytes]) -> None:
        for raw in batch:
            try:
                parse(raw)
            except DecodeError:
                continue

    return run


def _judged(contract: Contract[Any]) -> Callable[[list[bytes]], None]:
    def run(batch: list[bytes]) -> None:
        for raw in batch:
            contract.process(raw)

    return run


def _processed(contract: Contract[Any]) -> Callable[[list[bytes]], list[bytes | None]]:
    def run(batch: list[bytes]) -> list[bytes | None]:
        messages = (contract.process(raw).message for raw in batch)
        return [None if message is None else message.SerializeToString(deterministic=True) for message in messages]

    return run


def _source(contract: Contract[Any]) -> Callable[[ArrowSource], list[bytes | None]]:
    process = _processed(contract)
    return lambda source: process([record.raw for record in source.records() if isinstance(record.raw, bytes)])


if __name__ == "__main__":
    main()
