"""``protocontract verify``: its reports word for word, its exit codes, and that anything can be a file."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocontract.records.reading import FileEncoding
from protocontract.verify.command import count_stream
from protocontract.verify.report import json_report, text_report
from protocontract.wire_stream import write_delimited
from tests.compiler.goldens import matches
from tests.verify.support import HERE, LEDGER, PROTOS, TRANSACTION, contract, transaction, verify

GOLDENS = HERE / "goldens"


def write_jsonl(path: Path, records: list[Any]) -> Path:
    lines = [record if isinstance(record, str) else json.dumps(record, ensure_ascii=False) for record in records]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def golden(name: str, text: str) -> None:
    """Compare with a golden; ``REFRESH_GOLDENS=1`` writes it first."""
    assert matches(GOLDENS / name, text), text


def test_the_report_of_experience(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The page that says what users see, made true: counts, first lines, values, the level, the verdict."""
    ambiguous = {17, 90, 231, *range(1000, 1093)}
    currency = {402, 977, *range(2000, 2014)}
    records = []
    for line in range(1, 20_001):
        fields: dict[str, Any] = {"booked_at": f"2026-03-09 08:{line // 340:02d}:{line % 60:02d}"}
        if line in ambiguous:
            fields |= {"amount": "1.234", "currency": 0}
        elif line in currency:
            fields |= {"amount": "€12,00", "currency": 0}
        elif line > 20_000 - 3_120:
            fields |= {"amount": "¥1,000.00", "currency": 0}
        records.append(transaction(line, **fields))
    code, out, err = verify(capsys, TRANSACTION, write_jsonl(tmp_path / "payments.jsonl", records))
    assert (code, err) == (1, "")
    golden("experience.txt", out)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    return write_jsonl(
        tmp_path / "small.jsonl",
        [
            transaction(1),
            "",
            transaction(2, amount="1.234", currency=0, account="42"),
            "{ not json",
            transaction(3, id="x\u001b[31m\u202e"),
            transaction(4, amount="¥1000", currency=0),
        ],
    )


def test_a_small_report(capsys: pytest.CaptureFixture[str], small: Path) -> None:
    code, out, _ = verify(capsys, TRANSACTION, small)
    assert code == 1
    golden("small.txt", out)


def test_the_report_for_programs(capsys: pytest.CaptureFixture[str], small: Path) -> None:
    code, out, _ = verify(capsys, TRANSACTION, small, "--format", "json")
    report = json.loads(out)
    assert code == report["exit_code"] == 1
    # The fingerprint changes with the data packages; the golden is about the rest.
    assert report.pop("fingerprint") == contract(TRANSACTION).fingerprint
    golden("small.json", json.dumps(report, ensure_ascii=False, indent=2) + "\n")


def test_nested_paths_warnings_and_message_rules(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = write_jsonl(
        tmp_path / "ledger.jsonl",
        [
            {"entries": [{"label": "ok"}, {"label": "x"}]},
            {"debit": 1, "credit": 2, "note": "too long"},
            {"by_name": {"secret key": {"label": "y"}}},
            {"entries": [{"label": "aa"}] * 4},
        ],
    )
    code, out, _ = verify(capsys, LEDGER, file)
    assert code == 1
    golden("ledger.txt", out)
    assert "secret key" not in out


# -- exit codes


def test_kept(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = write_jsonl(tmp_path / "good.jsonl", [transaction(number) for number in range(1200)])
    code, out, _ = verify(capsys, TRANSACTION, file)
    assert code == 0
    assert out.endswith("  ✓ compliance 100.00 %, promised 99.90 %\nkept: 4 promises, 1 service level\n")


def test_a_level_allows_for_broken_records_and_strict_does_not(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    records = [transaction(number, account="1" if number == 7 else "6222020200112233445") for number in range(1200)]
    file = write_jsonl(tmp_path / "good.jsonl", records)
    code, out, _ = verify(capsys, TRANSACTION, file)
    assert code == 0
    assert (
        out.splitlines()[-1]
        == "kept: 1 service level; 1 of 4 promises broken by 1 record, which the service level allows"
    )
    code, out, _ = verify(capsys, TRANSACTION, file, "--strict")
    assert code == 1
    assert out.splitlines()[-1] == "broken: 1 of 4 promises"


def test_too_few_records_to_judge_are_never_called_kept(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = write_jsonl(tmp_path / "few.jsonl", [transaction(1), transaction(2, account="1")])
    code, out, _ = verify(capsys, TRANSACTION, file)
    assert code == 1
    assert out.splitlines()[-2:] == [
        "  · compliance 50.00 %, promised 99.90 %, not judged: 2 of the 1,000 records that it takes",
        "broken: 1 of 4 promises, too few records to judge a service level",
    ]


def test_without_a_level_a_warning_is_kept_and_a_broken_record_is_not(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = write_jsonl(tmp_path / "warned.jsonl", [{"note": "too long"}])
    code, out, _ = verify(capsys, LEDGER, file)
    assert code == 0
    assert "(warning)" in out
    file = write_jsonl(tmp_path / "broken.jsonl", [{"debit": 1}])
    assert verify(capsys, LEDGER, file)[0] == 1


def test_an_empty_file_keeps_everything_and_says_so(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_bytes(b"\n\n")
    code, out, _ = verify(capsys, LEDGER, tmp_path / "empty.jsonl")
    assert code == 0
    assert out.splitlines()[-1].endswith("(there was no record)")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["{tmp}/missing.jsonl"], "missing.jsonl: no such file or directory"),
        (["{tmp}", "--encoding", "json"], "is a directory"),
        (["{tmp}/x.dat"], "cannot tell how the records of"),
        (["-"], "cannot tell how the records of standard input are written"),
        (["{tmp}/x.jsonl", "--encoding", "confluent"], "invalid choice"),
        ([], "required: FILE"),
    ],
)
def test_could_not_check(capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: list[str], error: str) -> None:
    (tmp_path / "x.jsonl").write_text("{}\n")
    code, out, err = verify(capsys, TRANSACTION, *(part.format(tmp=tmp_path) for part in arguments))
    assert (code, out) == (2, "")
    assert error in err


def test_an_unknown_contract_could_not_be_checked(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = write_jsonl(tmp_path / "x.jsonl", [{}])
    code, out, err = verify(capsys, "acme.finance.v1.Nothing", file)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert "acme.finance.v1.Nothing" in err


# -- any file


def test_protobuf_and_json_give_the_same_counts(
    capsys: pytest.CaptureFixture[str], small: Path, tmp_path: Path
) -> None:
    from google.protobuf import json_format

    binary = tmp_path / "small.binpb"
    message_type = contract(TRANSACTION).message_type
    with binary.open("wb") as stream:
        for line in small.read_text(encoding="utf-8").splitlines():
            try:
                write_delimited(stream, json_format.Parse(line, message_type()))
            except json_format.ParseError:
                if line:
                    write_delimited(stream, b"\xff\xff")
    reports = []
    for file in (small, binary):
        _, out, _ = verify(capsys, TRANSACTION, file, "--format", "json")
        report = json.loads(out)
        for promise in report["promises"]:
            for rule in promise["rules"]:
                del rule["first"], rule["message"]
        del report["source"], report["encoding"]
        reports.append(report)
    assert reports[0] == reports[1]


def test_a_file_that_is_cut_off_ends_in_one_broken_record(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "cut.binpb"
    with file.open("wb") as stream:
        write_delimited(stream, contract(LEDGER).message_type(debit=1, credit=1))
        stream.write(b"\x20abc")
    code, out, _ = verify(capsys, LEDGER, file)
    assert code == 1
    assert "✗ record" in out
    assert "wire.truncated" in out
    assert "2 records" in out


def test_a_promise_that_no_record_was_held_to_is_not_called_kept(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, out, _ = verify(capsys, TRANSACTION, write_jsonl(tmp_path / "odd.jsonl", ["nothing", "of ours"]))
    assert code == 1
    # Compliance apart: it is judged by records, decoded or not.
    promises = [line for line in out.splitlines()[1:] if line.startswith("  ") and "compliance" not in line]
    assert {line[2] for line in promises if line[2] != " "} == {"✗", "·"}
    assert sum(line.startswith("  ✗ record") for line in promises) == 1


def test_a_byte_order_mark_and_carriage_returns_are_no_data(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "bom.jsonl"
    file.write_bytes(b"\xef\xbb\xbf" + json.dumps(transaction(1)).encode() + b"\r\n \t\r\n")
    code, out, _ = verify(capsys, TRANSACTION, file, "--strict")
    assert code == 0
    assert "1 record\n" in out


@settings(max_examples=200, deadline=None)
@given(data=st.binary(max_size=300), encoding=st.sampled_from(["json", "protobuf"]))
def test_garbage_is_a_verdict_and_never_a_crash(data: bytes, encoding: FileEncoding) -> None:
    result = count_stream(contract(LEDGER), io.BytesIO(data), encoding, None).result()
    assert result.broken_records <= result.records
    assert text_report(result, "garbage")
    assert json.loads(json_report(result, "garbage", encoding, exit_code=0))


def test_nesting_without_end_is_a_broken_record(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "deep.jsonl"
    file.write_text('{"entries":' * 10_000 + "\n" + "[" * 10_000 + "\n")
    code, out, _ = verify(capsys, LEDGER, file)
    assert code == 1
    assert "2 broken" in out


# -- privacy


@settings(max_examples=100, deadline=None)
@given(secret=st.text("0123456789", min_size=8, max_size=40).filter(lambda text: len(text) != 19))
def test_sensitive_values_are_in_no_report(secret: str) -> None:
    line = json.dumps(transaction(1, account=secret)).encode()
    result = count_stream(contract(TRANSACTION), io.BytesIO(line), "json", None).result()
    assert result.broken
    for report in (text_report(result, "f"), json_report(result, "f", "json", exit_code=1)):
        assert secret not in report.replace(contract(TRANSACTION).fingerprint, "")
        assert "string.len" in report


def test_values_cannot_move_the_cursor(capsys: pytest.CaptureFixture[str], small: Path) -> None:
    _, out, _ = verify(capsys, TRANSACTION, small)
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "\\u001b" in out


def test_protos_of_the_tests_are_where_they_are_said_to_be() -> None:
    assert sorted(path.name for path in PROTOS.rglob("*.proto")) == ["ledger.proto", "transaction.proto"]
