"""Parquet and Arrow files as sources: every row in order or refused at its place, in bounded memory, at any place."""

from __future__ import annotations

import json
import pickle
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from google.protobuf import json_format
from hypothesis import given, settings
from hypothesis import strategies as st

from acme.finance.v1.transaction_contract import TRANSACTION
from acme.finance.v1.transaction_pb2 import Transaction
from protocontract import ContractError
from protocontract.cli import main
from protocontract.records import arrow_files, arrow_source
from protocontract.records.arrow_source import ArrowSource
from protocontract.records.index import open_index
from protocontract.records.judge import Judge
from protocontract.records.reading import is_arrow
from protocontract.records.sources import FileLike, open_source
from protocontract.violations import Refusal
from tests.arrow.support import payment
from tests.arrow.tables import OLD, SHAPE, table_of, write
from tests.examples import examples

FORMS = ["parquet", "file", "stream"]
RAWS = [f"record {number}".encode() for number in range(50)]


def given_by(source: ArrowSource) -> list[Any]:
    return [found.raw.rule_id if isinstance(found.raw, Refusal) else found.raw for found in source.records()]


# -- what is read


@pytest.mark.parametrize("form", FORMS)
def test_a_column_of_records_in_every_form(tmp_path: Path, form: str) -> None:
    table = pa.table({"key": range(51), "value": pa.array([*RAWS, None], pa.binary())})
    source = ArrowSource(write(table, tmp_path / "a", form, 7), TRANSACTION, column="value")
    assert isinstance(source, FileLike)
    records = list(source.records())
    assert [found.raw for found in records[:-1]] == RAWS
    assert records[-1].raw == Refusal("wire.null", "no value; expected a message")
    assert [(found.place.number, found.place.offset, found.place.unit) for found in records] == [
        (number + 1, number, "row") for number in range(51)
    ]
    assert [found.size for found in records] == [len(raw) for raw in RAWS] + [0]
    assert source.encoding == "protobuf"
    assert given_by(source) == given_by(source)
    assert source.rows == (51 if form == "parquet" else None)


@pytest.mark.parametrize("form", FORMS)
def test_columns_as_fields_in_every_form(tmp_path: Path, form: str) -> None:
    messages = [SHAPE.message_type(i64=number, words=["a", str(number)]) for number in range(20)]
    table = table_of(messages, SHAPE.message_type.DESCRIPTOR).append_column("partition", pa.array(["x"] * 20))
    path = write(table, tmp_path / "a", form, 6)
    source = ArrowSource(path, SHAPE, ignore=["partition"])
    assert given_by(source) == [message.SerializeToString(deterministic=True) for message in messages]
    with pytest.raises(ContractError, match="no field for the columns partition; ignore them"):
        ArrowSource(path, SHAPE)


def test_a_text_column_holds_json_and_bad_text_is_one_record(tmp_path: Path) -> None:
    raws = pa.array([b'{"i64": 1}', b"\xff", None], pa.binary())
    column = pa.Array.from_buffers(pa.string(), 3, raws.buffers())
    source = ArrowSource(write(pa.table({"value": column}), tmp_path / "a", "parquet"), SHAPE, column="value")
    assert source.encoding == "json"
    assert given_by(source) == [b'{"i64": 1}', b"\xff", "wire.null"]
    outcomes = [SHAPE.process(raw, encoding="json") for raw in (b'{"i64": 1}', b"\xff")]
    assert [outcome.ok for outcome in outcomes] == [True, False]


def test_a_required_field_without_a_column_is_the_contracts_matter(tmp_path: Path) -> None:
    path = write(pa.table({"level": ["LOW"]}), tmp_path / "a", "parquet")
    ((raw,),) = [given_by(ArrowSource(path, OLD))]
    assert [violation.rule_id for violation in OLD.process(raw).violations] == ["wire.malformed"]


@settings(max_examples=examples(30))
@given(
    st.lists(st.one_of(st.none(), st.binary(max_size=30)), max_size=40),
    st.sampled_from(FORMS),
    st.integers(1, 9),
    st.randoms(use_true_random=False),
)
def test_any_row_is_found_again_in_any_order(
    tmp_path_factory: pytest.TempPathFactory, raws: list[bytes | None], form: str, rows: int, order: random.Random
) -> None:
    path = write(pa.table({"value": pa.array(raws, pa.binary())}), tmp_path_factory.mktemp("a") / "a", form, rows)
    patch = pytest.MonkeyPatch()
    with patch.context() as changed:
        # Small parts, few of which are kept.
        changed.setattr(arrow_files, "_ROWS", 3)
        changed.setattr(arrow_source, "_KEPT", 60)
        source = ArrowSource(path, TRANSACTION, column="value")
        places = [(found.place.offset or 0, found.size) for found in source.records()]
        assert len(places) == len(raws)
        for _ in range(2):
            order.shuffle(places)
            for offset, size in places:
                assert source.read(offset, size) == (raws[offset] or b"")
        assert source.read(len(raws) + 1, 0) == b""


def test_it_pickles_by_its_path_and_knows_its_content(tmp_path: Path) -> None:
    path = write(pa.table({"value": pa.array(RAWS)}), tmp_path / "a.parquet", "parquet")
    source = ArrowSource(path, TRANSACTION, column="value")
    copy = pickle.loads(pickle.dumps(source))
    assert given_by(copy) == RAWS
    assert (copy.name, copy.identity(), copy.state()) == (str(path), source.identity(), source.state())
    assert copy.settings == source.settings
    assert copy.settings["column"] == "value"
    before = source.identity()
    write(pa.table({"value": pa.array(RAWS[1:])}), path, "parquet")
    assert source.identity() != before


def test_the_verdict_index_finds_rows_again_and_knows_the_column(tmp_path: Path) -> None:
    """What the training loader reads by: good rows by place, another column is another index."""
    good, bad = payment().SerializeToString(), payment(amount="1.234").SerializeToString()
    table = pa.table({"value": [good, None, bad, good], "other": [bad, bad, bad, good]})
    path = write(table, tmp_path / "a.parquet", "parquet", 2)
    indexes = {}
    for column in ("value", "other"):
        source = open_source(path, None, TRANSACTION, column=column)
        indexes[column] = open_index(source, Judge(TRANSACTION), tmp_path / "cache")
    index = indexes["value"]
    assert (len(index), list(index.valid), list(indexes["other"].valid)) == (4, [0, 3], [3])
    assert [index.record(row).raw for row in index.valid] == [good, good]
    assert index.record(1).raw == Refusal("wire.null", "no value; expected a message")
    assert (index.rules_of(2), str(index.place(2))) == (("money.ambiguous",), f"{path} row 3")


def test_columns_are_asked_of_tables_only(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("{}")
    with pytest.raises(ValueError, match=r"a.jsonl has no columns; column are of Parquet and Arrow files"):
        open_source(tmp_path / "a.jsonl", None, TRANSACTION, column="value")
    assert open_source(tmp_path / "a.jsonl", None, TRANSACTION, column=None).unit == "line"


def test_without_pyarrow_the_extra_is_named(tmp_path: Path) -> None:
    path = write(pa.table({"value": [b""]}), tmp_path / "a.parquet", "parquet")
    script = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "from protocontract.cli import main\n"
        "sys.exit(main(['verify', '--contract', 'acme.finance.v1.Transaction', sys.argv[1]]))"
    )
    done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=False)
    needed = 'reading Parquet and Arrow files needs pyarrow: pip install "protocontract[arrow]"'
    assert (done.returncode, done.stderr) == (2, f"error: {needed}\n")


# -- what is refused


def test_endings() -> None:
    assert all(
        is_arrow(name) for name in ("a.parquet", "A.PARQUET", "a.pq", "a.arrow", "a.arrows", "a.ipc", "a.feather")
    )
    assert not any(is_arrow(name) for name in ("a.jsonl", "parquet", "a.parquet.gz", "-", ""))


@pytest.mark.parametrize(
    "content", [b"", b"PAR1", b"PAR1" + b"\0" * 40, b"ARROW1\0\0" + b"x" * 40, b"\xff" * 20, b"{}"]
)
def test_a_file_that_is_none_is_an_os_error_with_its_name(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(content)
    with pytest.raises(OSError, match="cannot be read as Parquet or Arrow") as raised:
        ArrowSource(path, TRANSACTION, column="value")
    assert raised.value.filename == str(path)


@pytest.mark.parametrize("form", FORMS)
def test_a_file_that_is_cut_off_is_an_os_error(tmp_path: Path, form: str) -> None:
    path = write(pa.table({"value": pa.array(RAWS)}), tmp_path / "a", form, 5)
    path.write_bytes(path.read_bytes()[:-60])
    with pytest.raises(OSError, match="cannot be read as Parquet or Arrow"):
        given_by(ArrowSource(path, TRANSACTION, column="value"))


@settings(max_examples=examples(60))
@given(st.sampled_from(FORMS), st.integers(0, 5000), st.integers(0, 255))
def test_a_byte_that_changed_never_ends_the_process(
    tmp_path_factory: pytest.TempPathFactory, form: str, place: int, byte: int
) -> None:
    """Offsets that lead out of a buffer are found before anybody follows them."""
    path = write(
        pa.table({"value": pa.array(RAWS[:9]), "text": ["a"] * 9}), tmp_path_factory.mktemp("a") / "a", form, 4
    )
    content = bytearray(path.read_bytes())
    content[place % len(content)] = byte
    path.write_bytes(content)
    try:
        source = ArrowSource(path, TRANSACTION, column="value")
        found = given_by(source)
        assert len(found) == 9 or form != "parquet"
        assert all(isinstance(raw, bytes | str) for raw in found)
    except (OSError, ContractError):
        pass


def test_the_first_feather_is_named(tmp_path: Path) -> None:
    (tmp_path / "old.feather").write_bytes(b"FEA1....")
    with pytest.raises(OSError, match="Feather of version 1"):
        ArrowSource(tmp_path / "old.feather", TRANSACTION)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({}, "no field for the columns value, number; ignore them"),
        ({"column": "other"}, "no column named 'other'; the file has value, number"),
        ({"column": "number"}, "column 'number' is int64; expected binary or string"),
        ({"column": "value", "ignore": ["number"]}, "one column is read"),
        ({"ignore": ["other", "value", "number"]}, "no column named 'other'"),
        ({"encoding": "json"}, "columns that are fields have no encoding"),
    ],
)
def test_options_that_fit_no_column_are_refused_at_once(tmp_path: Path, options: Any, error: str) -> None:
    path = write(pa.table({"value": [b""], "number": [1]}), tmp_path / "a", "parquet")
    with pytest.raises(ContractError, match=error):
        ArrowSource(path, TRANSACTION, **options)


# -- memory


_MEMORY = """
import resource, sys
from acme.finance.v1.transaction_contract import TRANSACTION
from acme.finance.v1.transaction_pb2 import Transaction
from protocontract.records.arrow_source import ArrowSource
source = ArrowSource(sys.argv[1], TRANSACTION, column="value")
next(source.records())
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(sum(len(found.raw) for found in source.records()), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.parametrize("form", ["parquet", "stream"])
def test_memory_does_not_follow_the_file(tmp_path: Path, form: str) -> None:
    """200 MB of records, in one row group or in batches of 10 MB: one process holds a fraction of that."""
    block = random.Random(1).randbytes(50_000)
    table = pa.table({"value": pa.array([block[number:] + block[:number] for number in range(4_000)], pa.binary())})
    path = tmp_path / "a"
    if form == "parquet":
        pq.write_table(table, path, use_dictionary=False, compression="none")
    else:
        write(table, path, form, 200)
    done = subprocess.run([sys.executable, "-c", _MEMORY, str(path)], check=True, capture_output=True, text=True)
    total, grown = map(int, done.stdout.split())
    assert total == 200_000_000
    assert grown < 110_000  # kB


# -- protocontract verify


def verify(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main(["verify", "--contract", "acme.finance.v1.Transaction", *map(str, arguments)])
    out, err = capsys.readouterr()
    return code, out, err


def test_verify_reads_a_column_of_records(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    good, bad = payment().SerializeToString(), payment(amount="1.234").SerializeToString()
    table = pa.table({"value": pa.array([good, bad, None, b"\xff"], pa.binary())})
    code, out, err = verify(capsys, write(table, tmp_path / "a.parquet", "parquet"), "--column", "value")
    assert (code, err) == (1, "")
    assert "a.parquet · 4 records" in out
    assert 'money.ambiguous  1   row 2   "1.234"' in out
    assert "wire.null       1   row 3" in out
    assert "wire.malformed  1   row 4" in out


def test_verify_reads_columns_as_fields(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    rows = [json_format.MessageToDict(payment(amount=amount), preserving_proto_field_name=True) for amount in "123"]
    rows[1]["kind"] = "KIND_NONE"
    path = write(pa.Table.from_pylist(rows), tmp_path / "a.arrow", "file")
    code, out, err = verify(capsys, path, "--format", "json")
    report = json.loads(out)
    assert (code, err) == (1, "")
    assert (report["records"], report["broken_records"], report["encoding"]) == (3, 1, "columns")
    (broken,) = [promise for promise in report["promises"] if promise["state"] == "broken"]
    assert broken["rules"][0]["rule_id"] == "scalar.enum"
    assert broken["rules"][0]["first"] == [2]


def test_a_text_stands_for_an_enum_value_in_a_column_as_in_json(tmp_path: Path) -> None:
    row = json_format.MessageToDict(payment(), preserving_proto_field_name=True)
    rows = [row | {"currency": text} for text in ("CURRENCY_CNY", "RMB", " cny ", "2", "EUR")]
    source = ArrowSource(str(write(pa.Table.from_pylist(rows), tmp_path / "a.parquet", "parquet")), TRANSACTION)
    found = [record.raw for record in source.records()]
    numbers = [None if isinstance(raw, Refusal) else Transaction.FromString(raw).currency for raw in found]
    assert numbers == [1, 1, 1, None, None]
    assert [TRANSACTION.process(json.dumps(each).encode(), encoding="json").ok for each in rows[:3]] == [True] * 3


def test_card_reads_tables_too(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    good, bad = payment().SerializeToString(), payment(amount="1.234").SerializeToString()
    path = write(pa.table({"value": [good, bad, None]}), tmp_path / "a.parquet", "parquet")
    arguments = ["--contract", "acme.finance.v1.Transaction", str(path), "--column", "value", "--out", str(tmp_path)]
    assert main(["card", *arguments, "--format", "json"]) == 0
    records = json.loads(capsys.readouterr().out)["records"]
    assert (records["read"], records["used"], records["dropped"]) == (3, 1, 2)


def test_verify_reads_json_in_a_column(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    table = pa.table({"value": [json_format.MessageToJson(payment()), "{"]})
    path = write(table, tmp_path / "a.parquet", "parquet")
    code, out, _ = verify(capsys, path, "--column", "value", "--format", "json")
    report = json.loads(out)
    assert (code, report["encoding"], report["broken_records"]) == (1, "json", 1)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["{file}"], "has no field for the columns value, when; ignore them (--ignore-column), or name the column"),
        (["{file}", "--column", "other"], "no column named 'other'; the file has value, when"),
        (["{file}", "--ignore-column", "value", "--ignore-column", "when", "--encoding", "json"], "no encoding"),
        (["{tmp}/missing.parquet"], "missing.parquet: no such file or directory"),
        (["{tmp}/broken.parquet"], "broken.parquet: cannot be read as parquet or arrow"),
        (
            ["{tmp}/a.jsonl", "--column", "value"],
            "--column, --ignore-column and --assume-utc are for Parquet and Arrow",
        ),
    ],
)
def test_verify_could_not_check(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: list[str], error: str
) -> None:
    file = write(
        pa.table({"value": [b""], "when": pa.array([1], pa.timestamp("s"))}), tmp_path / "a.parquet", "parquet"
    )
    (tmp_path / "broken.parquet").write_bytes(b"PAR1")
    (tmp_path / "a.jsonl").write_text("{}\n")
    code, out, err = verify(capsys, *(part.format(file=file, tmp=tmp_path) for part in arguments))
    assert (code, out) == (2, "")
    assert error in err
