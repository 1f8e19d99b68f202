"""`--sample`: the records of a file under both states of a contract, counted by rule, with intervals."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocontract.cli import main
from protocontract.wire_stream import write_delimited
from protocontract_ci.reports.impact import wilson

BEFORE = """
syntax = "proto3";
package shop.v1;
import "buf/validate/validate.proto";
import "protocontract/v1/contract.proto";
message Payment {
  option (protocontract.v1.contract) = {version: "1.0.0" topic: "payments" owner: "pay@acme.example"};
  string id = 1 [(buf.validate.field).string.min_len = 2];
  string booked_at = 2 [(protocontract.v1.field).instant = {zone: "Asia/Shanghai"}];
  string account = 3 [(protocontract.v1.field).sensitive = true];
  repeated Line lines = 4;
}
message Line { int32 count = 1 [(buf.validate.field).int32.lte = 10]; }
message Other { string x = 1; }
"""
AFTER = (
    BEFORE.replace("1.0.0", "2.0.0")
    .replace("min_len = 2", "min_len = 3")
    .replace("lte = 10", "lte = 20")
    .replace("sensitive = true", "sensitive = true, (buf.validate.field).string.max_len = 4")
    .replace("Asia/Shanghai", "UTC")
)
RECORDS: list[dict[str, Any]] = [
    {"id": "ab", "booked_at": "2026-03-09 08:00"},  # rejected: id
    {"id": "abc", "booked_at": "2026-03-09 08:00"},  # normalised differently
    {"id": "abc", "account": "12345"},  # rejected: account, sensitive
    {"id": "abc", "lines": [{"count": 1}, {"count": 15}]},  # accepted
    {"id": "a"},  # rejected by both
    {"id": "abcd"},  # the same
]


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    for state, text in (("before", BEFORE), ("after", AFTER)):
        (tmp_path / state).mkdir()
        (tmp_path / state / "shop.proto").write_text(text)
    (tmp_path / "services").mkdir()
    (tmp_path / "services" / "other.py").write_text("x = 1\n")
    (tmp_path / "payments.jsonl").write_text("".join(json.dumps(record) + "\n" for record in RECORDS))
    return tmp_path


def gate(shop: Path, *options: str) -> int:
    states = ["--before", str(shop / "before"), "--after", str(shop / "after")]
    return main(["gate", *states, "--modules", str(shop / "services"), *options])


def counted(shop: Path, capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    gate(shop, "--format", "json", *options)
    (impact,) = json.loads(capsys.readouterr().out)["impacts"]
    assert isinstance(impact, dict)
    return impact


def test_records_are_counted_by_rule(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    impact = counted(shop, capsys, "--sample", str(shop / "payments.jsonl"))
    assert (impact["message"], impact["source"], impact["records"]) == ("shop.v1.Payment", "payments.jsonl", 6)
    assert {kind: each["records"] for kind, each in impact["counts"].items()} == {
        "newly_rejected": 2, "newly_accepted": 1, "normalized_differently": 1,
    }  # fmt: skip
    assert [(each["kind"], each["rule"], each["path"], each["records"]) for each in impact["rules"]] == [
        ("newly_rejected", "string.max_len", "account", 1),
        ("newly_rejected", "string.min_len", "id", 1),
        ("newly_accepted", "int32.lte", "lines[].count", 1),
        ("normalized_differently", "instant", "booked_at", 1),
    ]
    assert all("example" not in each for each in impact["rules"])


def test_values_are_shown_only_on_demand_and_never_sensitive_ones(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    impact = counted(shop, capsys, "--sample", str(shop / "payments.jsonl"), "--show-values")
    assert {each["path"]: each.get("example") for each in impact["rules"]} == {
        "account": None, "id": '"ab"', "lines[].count": "15",
        "booked_at": '"2026-03-09T00:00:00Z" → "2026-03-09T08:00:00Z"',
    }  # fmt: skip


def test_delimited_protobuf_is_counted_alike(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from protocontract_compiler.dynamic import load_protos

    payment = load_protos([shop / "before"], shop / "before")["shop.v1.Payment"].message_type
    stream = io.BytesIO()
    for record in RECORDS:
        message = payment()
        for name, value in record.items():
            if name == "lines":
                for line in value:
                    message.lines.add(**line)
            else:
                setattr(message, name, value)
        write_delimited(stream, message)
    (shop / "payments.binpb").write_bytes(stream.getvalue() + b"\xff")
    impact = counted(shop, capsys, "--sample", f"shop.v1.Payment={shop / 'payments.binpb'}")
    assert [each["records"] for each in impact["counts"].values()] == [2, 1, 1]
    # The tail that is no record counts, and is refused.
    assert (impact["records"], impact["refused"]) == (7, 1)


@pytest.mark.parametrize("kind", ["jsonl.gz", "parquet", "arrow", "column"])
def test_other_files_are_counted_alike(kind: str, shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    expected = counted(shop, capsys, "--sample", str(shop / "payments.jsonl"))
    path = shop / f"payments.{kind}"
    option = str(path)
    if kind == "jsonl.gz":
        path.write_bytes(gzip.compress((shop / "payments.jsonl").read_bytes()))
    else:
        path, option = table_of(shop, kind)
    found = counted(shop, capsys, "--sample", option)
    assert found["source"] == path.name
    assert {**found, "source": ""} == {**expected, "source": ""}


def table_of(shop: Path, kind: str) -> tuple[Path, str]:
    """The records as a table: columns that are fields, or a column of JSON."""
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    if kind == "column":
        table = pa.table({"value": [json.dumps(record) for record in RECORDS]})
    else:
        lines = pa.list_(pa.struct([("count", pa.int32())]))
        columns = {"id": pa.string(), "booked_at": pa.string(), "account": pa.string(), "lines": lines}
        empty: dict[str, Any] = {"id": "", "booked_at": "", "account": "", "lines": []}
        rows = [{**empty, **record} for record in RECORDS]
        table = pa.Table.from_pylist(rows, schema=pa.schema(list(columns.items())))
    path = shop / ("payments.arrow" if kind == "arrow" else "payments.parquet")
    if kind == "arrow":
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
    else:
        parquet.write_table(table, path)
    return path, f"{path}#value" if kind == "column" else str(path)


def test_a_file_that_is_cut_off_is_said(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (shop / "cut.jsonl.gz").write_bytes(gzip.compress((shop / "payments.jsonl").read_bytes())[:-12])
    assert gate(shop, "--sample", str(shop / "cut.jsonl.gz")) == 2
    assert "cut.jsonl.gz" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["text", "github", "sarif", "gitlab", "junit", "markdown"])
def test_every_format_has_it(kind: str, shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gate(shop, "--format", kind, "--sample", str(shop / "payments.jsonl"))
    told = capsys.readouterr().out
    assert "shop.v1.Payment: 4 of 6 records of payments.jsonl would fare otherwise" in told
    assert "newly rejected" in told or "newly_rejected" in told


@pytest.mark.parametrize("kind", ["text", "markdown", "json"])
def test_diff_has_it_too(kind: str, shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sample = ["--sample", str(shop / "payments.jsonl")]
    main(["diff", str(shop / "before"), str(shop / "after"), "--format", kind, *sample])
    assert "string.min_len" in capsys.readouterr().out.partition("payments.jsonl")[2]


@pytest.mark.parametrize(
    ("sample", "said"),
    [
        ("shop.v1.Nothing=a.jsonl", "`shop.v1.Nothing` is no message of the contracts; expected shop.v1.Payment"),
        ("a.txt", "cannot tell how a.txt is written; expected a name in .jsonl, .binpb (either also in .gz), .parquet"),
        ("payments.jsonl#value", "payments.jsonl has no columns; expected a name in .parquet or .arrow"),
        ("a.jsonl", "a.jsonl"),
    ],
)
def test_what_cannot_be_counted_is_said(sample: str, said: str, shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert gate(shop, "--sample", sample) == 2
    assert said in capsys.readouterr().err


@given(n=st.integers(1, 5_000), hits=st.integers(0, 5_000))
def test_an_interval_holds_its_share(n: int, hits: int) -> None:
    hits = min(hits, n)
    low, high = wilson(hits, n)
    assert 0 <= low <= hits / n <= high <= 1
    assert low < high


def test_intervals_are_wilson_s() -> None:
    # E. B. Wilson, Probable inference (1927); figures as statsmodels' proportion_confint(method="wilson") gives them.
    assert [round(each, 4) for each in wilson(3, 1_000)] == [0.001, 0.0088]
    assert [round(each, 4) for each in wilson(0, 10)] == [0.0, 0.2775]
    assert wilson(0, 0) == (0.0, 1.0)
