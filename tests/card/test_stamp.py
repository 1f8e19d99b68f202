"""Stamps: in an ONNX file's metadata_props, beside any other model, and never half written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from protocontract.card import Card, Stamp, read_stamp, write_stamp
from protocontract.violations import ContractError
from protocontract.wire_confluent import varint
from tests.card.support import card_of, contract, message

STAMP = Stamp("pkg.v1.M", "1.2.0", "ab" * 32, {"tzdata": "2026.1"}, "cd" * 32, {"records": 100, "type": "int8"})


def field(number: int, content: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(content)) + content


def entry(key: str, value: str) -> bytes:
    return field(14, field(1, key.encode()) + field(2, value.encode()))


#: An ONNX model as far as a stamp is concerned: ir_version, a producer, a graph, somebody's metadata, an opset.
GRAPH = field(7, bytes(range(256)) * 5000)
MODEL = varint(1 << 3) + varint(300) + field(2, b"tests") + GRAPH + entry("author", "somebody") + field(8, b"\x10\x0d")


@pytest.fixture
def card() -> Card:
    return card_of(message())


def test_a_card_is_stamped_into_a_model(tmp_path: Path, card: Card) -> None:
    model = tmp_path / "m.onnx"
    model.write_bytes(MODEL)
    assert read_stamp(model) is None
    stamp = card.stamp(model, tmp_path / "stamped.onnx")
    assert model.read_bytes() == MODEL
    found = read_stamp(tmp_path / "stamped.onnx")
    assert found == stamp
    assert found is not None
    assert (found.contract, found.version, found.fingerprint) == ("cards.v1.Sample", "3.1.0", contract().fingerprint)
    assert found.card_sha256 == card.sha256
    assert found.data_versions == card.data["data_versions"]
    # All other fields are where they were, byte for byte.
    assert (tmp_path / "stamped.onnx").read_bytes().startswith(MODEL)
    card.stamp(model)
    assert model.read_bytes() == (tmp_path / "stamped.onnx").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.onnx", "stamped.onnx"]


def test_a_second_stamp_replaces_the_first(tmp_path: Path, card: Card) -> None:
    model = tmp_path / "m.onnx"
    model.write_bytes(MODEL)
    write_stamp(STAMP, model)
    assert read_stamp(model) == STAMP
    card.stamp(model)
    once = model.read_bytes()
    card.stamp(model)
    assert model.read_bytes() == once
    assert read_stamp(model) == Stamp.of(card)
    assert once.count(b"protocontract.fingerprint") == 1
    assert b"author" in once


def test_other_models_have_a_sidecar(tmp_path: Path, card: Card) -> None:
    model = tmp_path / "m.pt"
    model.write_bytes(b"weights")
    assert read_stamp(model) is None
    assert write_stamp(STAMP, model) == tmp_path / "m.pt.protocontract.json"
    assert read_stamp(model) == STAMP
    assert model.read_bytes() == b"weights"
    with pytest.raises(ContractError, match="stamped by a sidecar"):
        card.stamp(model, tmp_path / "other.pt")
    model.write_bytes(b"other weights")
    with pytest.raises(ContractError, match="stamp of another model; expected SHA-256"):
        read_stamp(model)


def test_an_onnx_file_may_have_a_sidecar(tmp_path: Path) -> None:
    model = tmp_path / "m.onnx"
    (tmp_path / "m.bin").write_bytes(MODEL)
    sidecar = write_stamp(STAMP, tmp_path / "m.bin")
    model.write_bytes(MODEL)
    sidecar.rename(tmp_path / "m.onnx.protocontract.json")
    assert read_stamp(model) == STAMP


@pytest.mark.parametrize("content", [
    b"", b"not a model", MODEL[:-1], b"\xff" * 20, b"\x00\x01", b"\x0b", field(14, b"\x08\x01"), field(14, b"\x0a"),
])  # fmt: skip
def test_what_is_no_model_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    model = tmp_path / "m.onnx"
    model.write_bytes(content)
    with pytest.raises(ContractError, match=r"m\.onnx is (empty|no ONNX model)"):
        write_stamp(STAMP, model)
    with pytest.raises(ContractError):
        read_stamp(model)
    assert model.read_bytes() == content
    assert [path.name for path in tmp_path.iterdir()] == ["m.onnx"]


@pytest.mark.parametrize("content", [
    "{", "[]", "{}", json.dumps({"schema": "protocontract.stamp/1", "model_sha256": "", "stamp": {}}),
    json.dumps({"schema": "protocontract.stamp/2", "model_sha256": "", "stamp": {}}),
])  # fmt: skip
def test_a_sidecar_that_cannot_be_read_is_no_stamp(tmp_path: Path, content: str) -> None:
    (tmp_path / "m.pt").write_bytes(b"weights")
    (tmp_path / "m.pt.protocontract.json").write_text(content)
    with pytest.raises(ContractError, match=r"m\.pt\.protocontract\.json is"):
        read_stamp(tmp_path / "m.pt")


def test_a_stamp_in_part_is_none(tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_bytes(MODEL + entry("protocontract.contract", "pkg.v1.M"))
    with pytest.raises(ContractError, match="expected contract, fingerprint and data versions"):
        read_stamp(tmp_path / "m.onnx")


def test_a_model_that_is_not_there(tmp_path: Path) -> None:
    for name in ("m.pt", "m.onnx"):
        with pytest.raises(FileNotFoundError):
            read_stamp(tmp_path / name)
        with pytest.raises(FileNotFoundError):
            write_stamp(STAMP, tmp_path / name)
