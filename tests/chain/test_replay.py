"""Replaying: what runs again gives the same, and the first stage that does not is named."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from protocontract.chain import EvidenceError, EvidenceLog, ValueStore, digest
from protocontract.chain.replay import Replay, Replayed, Tolerance
from protocontract.cli import main
from protocontract.steps import StepCall
from tests.chain import service


@pytest.fixture
def served(tmp_path: Path) -> Path:
    """A folder with a log of two requests, the kept values, and the model."""
    (tmp_path / "model").write_text(json.dumps({"factor": 1.5}))
    store = ValueStore(tmp_path / "kept")
    with EvidenceLog(tmp_path / "log") as log:
        service.serve(log, "one", " a text ", tmp_path / "model", store, max_abs=0.01)
        service.serve(log, "zwei", "größer", tmp_path / "model", store, max_abs=0.01, max_rel=0.0)
    return tmp_path


def first(folder: Path, **options: Any) -> Replayed | None:
    replay = Replay(ValueStore(folder / "kept"), **{"model": folder / "model", **options})
    return next(record.first for record in replay.records(folder / "log"))


def test_everything_is_the_same(served: Path) -> None:
    replay = Replay(ValueStore(served / "kept"), model=served / "model")
    found = list(replay.records(served / "log"))
    assert [record.request for record in found] == ["one", "zwei"]
    for record in found:
        assert [(stage.step.name, stage.outcome) for stage in record.stages] == [
            (name, "exact") for name in ("normalize", "preprocess", "infer", "postprocess")
        ]


def test_the_first_value_is_enough(served: Path) -> None:
    first_in = digest({"text": " a text "})
    for file in (served / "kept").iterdir():
        if file.name != first_in:
            file.unlink()
    [record] = Replay(ValueStore(served / "kept"), model=served / "model").records(served / "log", "one")
    assert [stage.outcome for stage in record.stages] == ["exact"] * 4


@pytest.mark.parametrize(
    ("name", "change", "reason"),
    [
        ("normalize", lambda value: {"text": value["text"].upper()}, "another output"),
        ("preprocess", lambda value: {"codes": np.zeros((1, 2), "float32")}, "; version unknown now, 2 recorded"),
        ("postprocess", lambda value: 1 / 0, "it failed (ZeroDivisionError)"),
        ("postprocess", lambda value: object(), "a value of type object has no canonical form"),
    ],
)
def test_a_stage_that_gives_something_else_is_named(
    served: Path, monkeypatch: pytest.MonkeyPatch, name: str, change: Callable[[Any], Any], reason: str
) -> None:
    monkeypatch.setattr(service, name, change)
    found = first(served)
    assert found is not None
    assert (found.step.name, found.outcome) == (name, "differs")
    assert reason in found.reason


def test_a_model_may_be_off_as_declared(served: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service.infer, "drift", 0.005)
    [record] = Replay(ValueStore(served / "kept"), model=served / "model").records(served / "log", "one")
    # What follows is exact: it is asked with the recorded output.
    assert [stage.outcome for stage in record.stages] == ["exact", "exact", "within", "exact"]
    found = first(served, tolerance=Tolerance(max_abs=0.001))
    assert found is not None
    assert (found.step.name, found.outcome) == ("infer", "differs")
    assert found.reason.startswith("output scores is up to 0.00")
    assert first(served, tolerance=Tolerance(max_rel=0.01)) is None


def test_tolerance_needs_the_recorded_output(served: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service.infer, "drift", 0.005)
    [record] = Replay(ValueStore(served / "kept"), model=served / "model").records(served / "log", "one")
    out = record.stages[2].step.digest_out
    assert out is not None
    (served / "kept" / out).unlink()
    found = first(served)
    assert found is not None
    assert "cannot be told, since the recorded one is not kept" in found.reason


@pytest.mark.parametrize(
    ("fallback", "advice"),
    [("model:light.onnx", " of the fallback light.onnx: add --model light.onnx"), ("provider:cpu", "")],
)
def test_the_file_of_a_fallback_that_ran_is_asked_for(served: Path, fallback: str, advice: str) -> None:
    (served / "light.onnx").write_text(json.dumps({"factor": 1.25}))
    with EvidenceLog(served / "later") as log:
        service.serve(log, "three", "c", served / "light.onnx", ValueStore(served / "kept"), fallback=fallback)
    [record] = Replay(ValueStore(served / "kept"), model=served / "model").records(served / "later")
    assert record.first is not None
    assert record.first.reason.startswith("another model: ")
    assert record.first.reason.endswith("…" + advice)


def test_nan_is_nowhere_near_a_number(served: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for drift in (float("nan"), float("inf")):
        monkeypatch.setattr(service.infer, "drift", drift)
        found = first(served, tolerance=Tolerance(max_abs=1e9))
        assert found is not None
        assert found.reason == "output scores has NaN or infinity elsewhere"


def test_another_model(served: Path) -> None:
    (served / "other").write_text(json.dumps({"factor": 1.5}) + " ")
    found = first(served, model=served / "other")
    assert found is not None
    assert (found.step.name, found.outcome) == ("infer", "differs")
    assert "another model" in found.reason
    found = first(served, model=None)
    assert found is not None
    assert (found.outcome, found.reason) == ("unknown", "it ran a model; add --model FILE")


def test_a_kept_value_that_was_changed(served: Path) -> None:
    file = served / "kept" / digest({"text": " a text "})
    file.write_bytes(file.read_bytes().replace(b"text ", b"test "))
    found = first(served)
    assert found is not None
    assert found.outcome == "unknown"
    assert "was changed" in found.reason
    with pytest.raises(EvidenceError, match="was changed"):
        ValueStore(served / "kept").get(file.name)


def test_the_command(served: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = ["evidence", "replay", str(served / "log"), "--inputs", str(served / "kept")]
    assert main([*arguments, "--model", str(served / "model")]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "✓ one: 4 stages, exact",
        "✓ zwei: 4 stages, exact",
        "2 the same, 0 differ, 0 could not be judged",
    ]
    assert main(arguments) == 2
    assert "infer cannot be judged: it ran a model; add --model FILE" in capsys.readouterr().out
    monkeypatch.setattr(service, "postprocess", lambda value: {})
    assert main([*arguments, "--model", str(served / "model"), "--request", "zwei"]) == 1
    assert "✗ zwei: postprocess differs: another output" in capsys.readouterr().out
    log = served / "log"
    log.write_bytes(log.read_bytes().replace(b"infer", b"infra", 1))
    assert main(arguments) == 1
    assert "nothing was replayed" in capsys.readouterr().out


def test_a_step_is_told_again_what_it_was_called_for(served: Path) -> None:
    store = ValueStore(served / "kept")
    facts = {
        "model": hashlib.sha256((served / "model").read_bytes()).hexdigest(),
        "model_version": "moods@2.0.0",
        "provider": "CPUExecutionProvider",
        "batch_rows": "3",
        "queue_ns": 5,
    }

    def run(arrays: Any) -> Any:
        return service.infer.bind(served / "model", facts)(arrays)

    def answered(arrays: Any) -> Any:
        return service.answer(arrays, StepCall(value, "moods", "2.0.0", "CPUExecutionProvider", {"batch_rows": "3"}))

    with EvidenceLog(served / "called") as log, log.record("r") as recorder:
        value = {"text": "a text"}
        names = {name: f"{service.NAME}:{name}" for name in ("normalize", "preprocess", "infer", "answer")}
        recorder.run(lambda each: each, "validate", value, module=names["normalize"], keep=store)
        arrays = recorder.run(service.preprocess, "preprocess", value, module=names["preprocess"], keep=store)
        scores = recorder.run(run, "infer", arrays, module=names["infer"], keep=store, facts=facts)
        recorder.run(answered, "postprocess", scores, module=names["answer"], keep=store)
    (served / "other").write_text(json.dumps({"factor": 2}))
    replay = Replay(store, model=[served / "other", served / "model"])
    [record] = replay.records(served / "called")
    assert [(stage.step.name, stage.outcome) for stage in record.stages] == [
        (name, "exact") for name in ("validate", "preprocess", "infer", "postprocess")
    ]
