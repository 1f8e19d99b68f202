"""Records are found again by the places that sources give them."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from protocontract.records.sources import FileLike, FileSource, IterableSource, Place, find_files, open_source
from protocontract.violations import ContractError, Refusal
from tests.support.samples import text_sample, text_samples, write_jsonl, write_samples


@pytest.fixture(params=["binpb", "jsonl"])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> FileSource:
    write = write_samples if request.param == "binpb" else write_jsonl
    return FileSource(write(tmp_path / f"a.{request.param}", text_samples(50)))


def test_each_record_is_read_again_by_its_place(source: FileSource) -> None:
    records = list(source.records())
    assert len(records) == 50
    again = pickle.loads(pickle.dumps(source))
    for record in reversed(records):
        assert record.place.offset is not None
        assert source.read(record.place.offset, record.size) == record.raw
        assert again.read(record.place.offset, record.size) == record.raw


def test_numbers_are_those_of_lines_or_records(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"\xef\xbb\xbf \t{}\r\n\n[1] \n")
    found = [(str(record.place), record.raw) for record in FileSource(tmp_path / "a.jsonl").records()]
    assert found == [(f"{tmp_path}/a.jsonl line 1 (byte 5)", b"{}"), (f"{tmp_path}/a.jsonl line 3 (byte 10)", b"[1]")]
    path = write_samples(tmp_path / "b.binpb", [b"ab", b"c"])
    assert [str(record.place) for record in FileSource(path).records()] == [
        f"{path} record 1 (byte 1)",
        f"{path} record 2 (byte 4)",
    ]


def test_refused_bytes_have_a_place_too(tmp_path: Path) -> None:
    path = tmp_path / "a.binpb"
    path.write_bytes(b"\x02ab\x09cut")
    good, refused = FileSource(path).records()
    assert good.raw == b"ab"
    assert isinstance(refused.raw, Refusal)
    assert (refused.place, refused.size) == (Place(str(path), 2, 3), 4)


def test_the_identity_is_that_of_the_content(tmp_path: Path) -> None:
    first, second = (write_samples(tmp_path / name, [b"a"]) for name in ("a.binpb", "b.binpb"))
    assert FileSource(first).identity() == FileSource(second).identity()
    write_samples(second, [b"b"])
    assert FileSource(first).identity() != FileSource(second).identity()


def test_files_are_sorted_and_taken_once(tmp_path: Path) -> None:
    for name in ("b.binpb", "a.binpb", "c.jsonl"):
        (tmp_path / name).touch()
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "d.binpb").touch()
    wanted = [str(tmp_path / name) for name in ("a.binpb", "b.binpb", "deep/d.binpb")]
    assert find_files(f"{tmp_path}/**/*.binpb") == wanted
    assert find_files([f"{tmp_path}/*.binpb", tmp_path / "a.binpb", f"{tmp_path}/deep/*"]) == wanted
    with pytest.raises(ContractError, match=r"no file matches .*/\*\.parquet"):
        find_files(f"{tmp_path}/*.parquet")


def test_an_ending_that_says_nothing_needs_the_encoding(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"cannot tell how the records of .*data are written; expected encoding="):
        open_source(tmp_path / "data")
    assert open_source(tmp_path / "data", "json").encoding == "json"


def test_an_iterable_gives_bytes_messages_and_json() -> None:
    items = [b"raw", text_sample(1), '{"id": ""}', {"id": "é"}]
    source = IterableSource(items, name="queue")
    assert not isinstance(source, FileLike)
    for _ in range(2):
        found = [(str(record.place), record.raw, record.encoding) for record in source.records()]
        assert found == [
            ("queue record 1", b"raw", "protobuf"),
            ("queue record 2", text_sample(1).SerializeToString(deterministic=True), "protobuf"),
            ("queue record 3", b'{"id": ""}', "json"),
            ("queue record 4", '{"id":"é"}'.encode(), "json"),
        ]


def test_a_function_makes_the_iterator_anew() -> None:
    def items() -> Iterator[bytes]:
        yield from (b"a", b"b")

    source = IterableSource(items)
    assert [record.raw for record in source.records()] == [record.raw for record in source.records()] == [b"a", b"b"]
    with pytest.raises(TypeError, match="an iterator can be read once"):
        IterableSource(items())


@pytest.mark.parametrize(("item", "kind"), [(3, "int"), (None, "NoneType")])
def test_other_items_are_told_by_place_and_type(item: Any, kind: str) -> None:
    with pytest.raises(TypeError, match=f"iterable record 1: expected bytes, .*, got {kind}"):
        list(IterableSource([item]).records())


def test_a_mapping_that_json_cannot_hold_is_told_without_its_values() -> None:
    with pytest.raises(TypeError) as caught:
        list(IterableSource([{"id": {"secret"}}]).records())
    assert "secret" not in str(caught.value)
