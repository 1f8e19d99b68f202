"""``protocontract card``: files in, a card and a page out; the same for the same files."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow
import pytest
from google.protobuf import json_format
from pyarrow import parquet

from protocontract.card import Card, read_stamp
from protocontract.cli import main
from protocontract.wire_stream import write_delimited
from tests.card.support import PROTO, messages
from tests.card.test_stamp import MODEL


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Records in two forms, and the contract's source."""
    (tmp_path / "protos").mkdir()
    (tmp_path / "protos" / "cards.proto").write_text(PROTO)
    samples = messages(60)
    with open(tmp_path / "one.jsonl", "w", encoding="utf-8") as lines:
        for sample in samples[:40]:
            lines.write(json_format.MessageToJson(sample, indent=None) + "\n")
        lines.write("{no json\n")
    with open(tmp_path / "two.binpb", "wb") as stream:
        for sample in samples[40:]:
            write_delimited(stream, sample)
    return tmp_path


def run(folder: Path, *arguments: str) -> int:
    return main(["card", "--contract", "cards.v1.Sample", "--proto-path", str(folder / "protos"), *arguments])


def test_the_same_files_make_the_same_card(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, two = str(folder / "one.jsonl"), str(folder / "two.binpb")
    assert run(folder, one, two, "--out", str(folder / "a")) == 0
    told = capsys.readouterr().out.splitlines()
    assert run(folder, two, one, "--out", str(folder / "b")) == 0
    card = Card.read(folder / "a" / "card.json")
    assert card == Card.read(folder / "b" / "card.json")
    assert (folder / "a" / "card.html").read_bytes() == (folder / "b" / "card.html").read_bytes()
    assert told[0] == f"cards.v1.Sample 3.1.0 · {card.summary()}"
    assert told[3] == f"  sha256 {card.sha256}"
    assert card.data["records"]["read"] == 61
    assert card.data["records"]["undecodable"] == 1
    assert [(row["name"], row["records"]) for row in card.data["sources"]] == [("one.jsonl", 41), ("two.binpb", 20)]


def test_json_and_a_stamp(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = folder / "m.onnx"
    model.write_bytes(MODEL)
    arguments = (str(folder / "*.binpb"), "--out", str(folder / "a"), "--stamp", str(model), "--format", "json")
    assert run(folder, *arguments) == 0
    told = json.loads(capsys.readouterr().out)
    stamp = read_stamp(model)
    assert stamp is not None
    assert stamp.card_sha256 == told["card_sha256"] == Card.read(folder / "a" / "card.json").sha256
    assert told["records"]["read"] == 20


def test_a_table_is_read_by_its_columns(folder: Path) -> None:
    parquet.write_table(
        pyarrow.table({"label": ["cat", "cow"], "kind": ["pos", "neg"], "text": ["one", "two"]}), folder / "t.parquet"
    )
    assert run(folder, str(folder / "t.parquet"), "--out", str(folder / "a")) == 0
    card = Card.read(folder / "a" / "card.json")
    assert (card.data["records"]["read"], card.summary()) == (
        2,
        "2 read, 0 used, 2 dropped: 2 tensor.size, 1 string.in",
    )


@pytest.mark.parametrize(("arguments", "error"), [
    (("nowhere-*.jsonl",), "no file matches nowhere-*.jsonl"),
    (("README",), "add --encoding json or --encoding protobuf"),
])  # fmt: skip
def test_what_cannot_be_read_is_said(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, arguments: tuple[str], error: str
) -> None:
    monkeypatch.chdir(folder)
    (folder / "README").write_text("")
    assert run(folder, *arguments, "--out", "a") == 2
    assert error in capsys.readouterr().err
    assert not (folder / "a").exists()
