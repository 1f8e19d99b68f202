"""The verdict index: what it says, and when it is made again."""

from __future__ import annotations

import logging
import multiprocessing
import os
import pickle
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from protocontract.loading import compiler
from protocontract.records import index as module
from protocontract.records.corpus import Corpus, demand_samples
from protocontract.records.index import open_index
from protocontract.records.judge import Judge
from protocontract.records.sources import FileSource
from protocontract.violations import ContractError, Refusal
from tests.records.support import JUDGE, corpus, indexed
from tests.support.samples import TEXT_SAMPLE, is_bad, text_sample, text_samples, write_jsonl, write_samples


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The sources that were indexed, and not found in the cache."""
    found: list[str] = []
    build = module._build

    def building(source: Any, *rest: Any) -> list[bytes]:
        found.append(Path(source.name).name)
        return build(source, *rest)

    monkeypatch.setattr(module, "_build", building)
    return found


def test_one_of_a_former_format_is_made_again(
    tmp_path: Path, built: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Format 1 was written where an enum's codes in columns were no names yet: its verdicts are not ours.
    assert module.FORMAT > 1
    path = write_samples(tmp_path / "a.binpb", text_samples(20))
    with monkeypatch.context() as former:
        former.setattr(module, "FORMAT", 1)
        indexed(path, tmp_path / "cache")
    indexed(path, tmp_path / "cache")
    indexed(path, tmp_path / "cache")
    assert built == ["a.binpb", "a.binpb"]


@pytest.mark.parametrize("write", [write_samples, write_jsonl])
def test_each_record_has_its_verdict(write: Callable[..., Path], tmp_path: Path) -> None:
    path = write(tmp_path / ("a.binpb" if write is write_samples else "a.jsonl"), text_samples(200))
    index = indexed(path, tmp_path / "cache")
    assert list(index.valid) == [number for number in range(200) if not is_bad(number)]
    assert list(index.broken(0, 200)) == [number for number in range(200) if is_bad(number)]
    assert index.rules_of(19) == ("spans.bounds",)
    assert index.rules_of(39) == ("string.in",)
    assert index.rules_of(0) == ()
    raw = [record.raw for record in FileSource(path).records()]
    assert [index.record(number).raw for number in range(200)] == raw
    again = pickle.loads(pickle.dumps(index))
    assert list(again.valid) == list(index.valid)
    assert again.record(7) == index.record(7)


def test_an_empty_file_has_an_index_too(tmp_path: Path) -> None:
    index = indexed(write_samples(tmp_path / "a.binpb", []), tmp_path / "cache")
    assert (len(index), len(index.valid)) == (0, 0)


def test_what_the_source_refuses_is_kept_as_a_refusal(tmp_path: Path) -> None:
    path = write_samples(tmp_path / "a.binpb", [text_sample(1)])
    path.write_bytes(path.read_bytes() + b"\x7fcut")
    index = indexed(path, tmp_path / "cache")
    assert index.rules_of(1) == ("wire.truncated",)
    record = index.record(1)
    assert isinstance(record.raw, Refusal)
    assert JUDGE.outcome(record).violations[0].rule_id == "wire.truncated"


def test_it_is_found_again_by_content(tmp_path: Path, built: list[str]) -> None:
    path = write_samples(tmp_path / "a.binpb", text_samples(40))
    indexed(path, tmp_path / "cache")
    copy = tmp_path / "copy.binpb"
    copy.write_bytes(path.read_bytes())
    assert indexed(copy, tmp_path / "cache").place(3).source == str(copy)
    assert built == ["a.binpb"]
    write_samples(path, text_samples(41))
    assert len(indexed(path, tmp_path / "cache")) == 41
    assert built == ["a.binpb", "a.binpb"]


def test_another_contract_context_or_moment_makes_its_own(tmp_path: Path, built: list[str]) -> None:
    path = write_samples(tmp_path / "a.binpb", text_samples(40))
    text = (Path(__file__).parents[2] / "contracts" / "acme" / "text" / "v1" / "text.proto").read_text()
    describe, compile_ = compiler("describe"), compiler("compile")
    other = compile_(describe({"text.proto": text.replace('"PERSON", "LOCATION"', '"PERSON"')}))[
        "acme.text.v1.TextSample"
    ]
    assert len(open_index(FileSource(path), JUDGE, tmp_path).valid) == 38
    assert len(open_index(FileSource(path), Judge(other), tmp_path).valid) == 0
    open_index(FileSource(path), Judge(TEXT_SAMPLE, now=1_900_000_000_000_000_000), tmp_path)
    assert len(built) == 3
    open_index(FileSource(path), Judge(other), tmp_path)
    assert len(built) == 3


def _cut(content: bytes) -> bytes:
    return content[:-40]


def _flipped(content: bytes) -> bytes:
    middle = len(content) - 60
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


@pytest.mark.parametrize(
    "damage",
    [
        _cut, _flipped, lambda content: b"", lambda content: b"{}\n" + content, lambda content: content + b"x",
        lambda content: b"nothing of ours\n", lambda content: content.replace(b'"format": 2', b'"format": 1'),
        lambda content: content[:10],
    ],
    ids=["cut", "flipped", "empty", "foreign header", "longer", "foreign", "another format", "torn header"],
)  # fmt: skip
def test_a_torn_or_foreign_one_is_made_again(
    damage: Callable[[bytes], bytes], tmp_path: Path, built: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    path = write_samples(tmp_path / "a.binpb", text_samples(40))
    kept = indexed(path, tmp_path / "cache").path
    content = kept.read_bytes()
    kept.write_bytes(damage(content))
    with caplog.at_level(logging.WARNING, "protocontract.records"):
        assert len(indexed(path, tmp_path / "cache").valid) == 38
    assert len(built) == 2
    assert "is made again" in caplog.text
    assert kept.read_bytes() == content


def test_one_of_another_file_is_not_taken_for_ours(tmp_path: Path, built: list[str]) -> None:
    first = indexed(write_samples(tmp_path / "a.binpb", text_samples(40)), tmp_path / "cache").path
    other = indexed(write_samples(tmp_path / "b.binpb", text_samples(60)), tmp_path / "cache").path
    first.write_bytes(other.read_bytes())
    assert len(indexed(tmp_path / "a.binpb", tmp_path / "cache")) == 40
    assert built == ["a.binpb", "b.binpb", "a.binpb"]


def _build_in_process(path: str, cache: str, barrier: Any, results: Any) -> None:
    barrier.wait()
    results.put(list(open_index(FileSource(path), JUDGE, cache).valid))


@pytest.mark.parametrize("locks", [True, False])
def test_processes_that_make_it_at_once_do_not_disturb_each_other(
    locks: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = module._build

    def building(*arguments: Any) -> list[bytes]:
        (tmp_path / f"built-{os.getpid()}").touch()
        return build(*arguments)

    monkeypatch.setattr(module, "_build", building)
    if not locks:

        def refuse(*_: Any) -> None:
            raise OSError

        monkeypatch.setattr(module.fcntl, "flock", refuse)
    path = write_samples(tmp_path / "a.binpb", text_samples(2_000))
    context = multiprocessing.get_context("fork")
    barrier, results = context.Barrier(4), context.Queue()
    arguments = (str(path), str(tmp_path / "cache"), barrier, results)
    processes = [context.Process(target=_build_in_process, args=arguments) for _ in range(4)]
    for process in processes:
        process.start()
    found = [results.get(timeout=120) for _ in processes]
    for process in processes:
        process.join()
    assert all(valid == [number for number in range(2_000) if not is_bad(number)] for valid in found)
    assert sorted(file.suffix for file in (tmp_path / "cache").iterdir()) == [".lock", ".verdicts"]
    # One does the work, and the others wait for it.
    assert not locks or len([*tmp_path.glob("built-*")]) == 1


def test_a_file_that_changes_later_is_noticed(tmp_path: Path) -> None:
    path = write_samples(tmp_path / "a.binpb", text_samples(40))
    index = indexed(path, tmp_path / "cache")
    write_samples(path, text_samples(41))
    with pytest.raises(ContractError, match=r"a\.binpb has changed since it was indexed"):
        index.check()


def test_a_file_that_changes_meanwhile_is_noticed(tmp_path: Path) -> None:
    path = write_samples(tmp_path / "a.binpb", text_samples(40))

    class Growing(FileSource):
        def records(self) -> Any:
            yield from super().records()
            with open(self.path, "ab") as stream:
                stream.write(b"\x00")

    with pytest.raises(ContractError, match=r"a\.binpb changed while it was indexed"):
        open_index(Growing(path), JUDGE, tmp_path / "cache")


def test_a_cache_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    path = write_samples(tmp_path / "a.binpb", text_samples(3))
    (tmp_path / "cache").touch()
    with pytest.raises(
        ContractError, match=r"cannot write an index of verdicts into .*; give another folder with cache="
    ):
        indexed(path, tmp_path / "cache")


# -- several files


def _riders(found: Corpus) -> list[tuple[int, str, int]]:
    return [
        (sample, Path(entry.place.source).name, entry.place.number)
        for sample in range(len(found))
        for entry in found.sample_with_riders(sample)[1]
    ]


def test_each_bad_record_rides_with_one_sample(tmp_path: Path) -> None:
    good, bad = text_sample(0), b"\xff"
    files = {"a": [bad], "b": [bad, good, bad, bad, good, bad], "c": [bad, bad], "d": [], "e": [good], "f": [bad]}
    paths = [write_samples(tmp_path / f"{name}.binpb", records) for name, records in files.items()]
    found = corpus(tmp_path / "cache", *paths)
    assert (len(found), found.records) == (3, 11)
    assert _riders(found) == [
        (0, "a.binpb", 1), (0, "b.binpb", 1), (1, "b.binpb", 3), (1, "b.binpb", 4), (1, "b.binpb", 6),
        (2, "c.binpb", 1), (2, "c.binpb", 2), (2, "f.binpb", 1),
    ]  # fmt: skip
    assert [found.sample(number).place.number for number in range(3)] == [2, 5, 1]
    assert found.by_rule() == Counter({"wire.malformed": 8})
    with pytest.raises(IndexError):
        found.sample(3)


def test_nothing_good_is_told(tmp_path: Path) -> None:
    found = corpus(tmp_path / "cache", write_samples(tmp_path / "a.binpb", [b"\xff", b"\xff"]))
    with pytest.raises(ContractError, match=r"none of 2 records keeps acme.*: 2 wire\.malformed \(in .*a\.binpb\)"):
        demand_samples(found, "acme.text.v1.TextSample")


def test_an_index_that_is_gone_is_told(tmp_path: Path) -> None:
    index = indexed(write_samples(tmp_path / "a.binpb", text_samples(3)), tmp_path / "cache")
    pickled = pickle.dumps(index)
    index.path.unlink()
    with pytest.raises(ContractError, match="cannot read the index"):
        pickle.loads(pickled)
