"""Evidence that a service records: stages with the digests of a request's own rows, and what happens without it."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from protocontract.chain import EvidenceLog, ValueStore, digest, verify, verify_record
from protocontract.chain.verify import records
from protocontract.serving import ModelSpec
from tests.serving.serve.lab import (
    CALLS,
    Engines,
    contracts,
    message,
    moods,
    refusal,
    rows,
    scaled,
    serving,
    steps,
    trailers,
)


@pytest.fixture
def model(tmp_path: Path) -> list[ModelSpec]:
    return [ModelSpec("moods", "4", str(moods(tmp_path / "moods.onnx")))]


def stages(path: Path, request: str = "") -> list[Any]:
    """The stages of the only record, or that of a request."""
    (found,) = records(path, request or None)
    return [entry.step for entry in found if entry.step.kind == "stage"]


def saying(text: str, **fields: Any) -> Any:
    return message("Saying", text=text, **fields)


def test_all_stages_of_a_request(tmp_path: Path, model: list[ModelSpec]) -> None:
    path, store = tmp_path / "evidence.jsonl", ValueStore(tmp_path / "values")

    async def main() -> None:
        with EvidenceLog(path) as log:
            async with serving("Moods", model, steps=steps(), evidence=log, inputs=store.folder) as (_, call):
                started = call(saying("  well... ", request_id="r-7"))
                response = await started
                assert response.feeling == 1
                told = await trailers(started)
                assert told["protocontract-request"] == "r-7"
                assert told["protocontract-evidence"] == response.evidence[-1].digest
                # In the response the record: linked, the last one closes it.
                assert [each.name for each in response.evidence] == [
                    "normalize", "validate", "preprocess", "infer", "postprocess", "close",
                ]  # fmt: skip
                for before, after in zip(response.evidence, response.evidence[1:], strict=False):
                    assert list(after.previous) == [before.digest]
                assert response.evidence[3].provider == "cpu"

    asyncio.run(main())
    normalize, validate, preprocess, infer, postprocess = stages(path, "r-7")
    came = saying("  well... ", request_id="r-7")
    normal = saying("well...", request_id="r-7")
    assert (normalize.digest_in, normalize.digest_out) == (digest(came), digest(normal))
    assert (validate.digest_in, validate.digest_out) == (digest(normal), digest(True))
    assert normalize.facts["version"] == "2.0.0"
    counts = {"counts": np.array([[3, 0, 0, 7]], "float32")}
    features = message("Features", counts=counts["counts"].tobytes())
    assert (preprocess.module, preprocess.version) == ("lab:count", "3")
    assert (preprocess.digest_in, preprocess.digest_out) == (digest(normal), digest(features))
    assert (infer.module, infer.digest_in) == ("protocontract.chain.infer:infer", digest(counts))
    assert infer.digest_out == digest({"scores": np.array([[3, 0, 0]], "float32")})
    assert infer.facts["provider"] == "cpu"
    assert infer.facts["model_version"] == "moods@4"
    assert (infer.facts["batch_rows"], infer.facts["batch_padding"]) == ("1", "0")
    assert infer.nanoseconds > 0
    assert postprocess.digest_in == digest(message("Scores", scores=np.array([[3, 0, 0]], "<f4").tobytes()))
    assert store.get(infer.digest_out)["scores"].tolist() == [[3, 0, 0]]
    assert verify(path).ok


def test_a_request_is_normalised_and_held_to_its_rules_once(
    tmp_path: Path, model: list[ModelSpec], monkeypatch: pytest.MonkeyPatch
) -> None:
    contract: Any = contracts()["Saying"]
    done: list[str] = []
    for name in ("_normalize", "_validate"):
        held = getattr(contract, name)
        monkeypatch.setattr(contract, name, lambda *given, name=name, held=held: (done.append(name), held(*given))[1])
    path = tmp_path / "evidence.jsonl"

    async def main() -> None:
        with EvidenceLog(path) as log:
            async with serving("Moods", model, steps=steps(), evidence=log) as (_, call):
                await call(saying("  well... ", request_id="r-7"))

    asyncio.run(main())
    assert done == ["_normalize", "_validate"]
    normalize, validate, *_ = stages(path, "r-7")
    assert normalize.nanoseconds > 0
    assert validate.nanoseconds > 0


def test_requests_of_one_batch_are_one_chain(tmp_path: Path, model: list[ModelSpec]) -> None:
    """S32: 50 requests in batches write at the same time; each has the digests of its own rows."""
    path = tmp_path / "evidence.jsonl"
    engines = Engines()

    async def main() -> None:
        with EvidenceLog(path) as log:
            async with serving("Moods", model, steps=steps(), evidence=log, open_model=engines) as (server, call):
                engines.only.go.clear()
                sent = [call(saying("!" * (number + 2), request_id=f"r-{number}")) for number in range(50)]
                while server.versions.waiting < 40:  # a batch of them may run
                    await asyncio.sleep(0.001)
                engines.only.go.set()
                await asyncio.gather(*sent)

    asyncio.run(main())
    found = verify(path)
    assert (found.ok, found.closed, found.gaps) == (True, 50, 0)
    for number in range(50):
        (record,) = records(path, f"r-{number}")
        assert verify_record([entry.line.decode() for entry in record]).kind == "close"
        infer = record[3].step
        own = np.array([[0, number + 2, 0, number + 2]], "float32")
        assert infer.digest_in == digest({"counts": own})
    assert max(int(record[3].step.facts["batch_requests"]) for record in records(path)) > 1


def test_padding_is_a_fact_and_in_no_digest(tmp_path: Path, model: list[ModelSpec]) -> None:
    from protocontract.serving import EngineOptions

    path = tmp_path / "evidence.jsonl"

    async def main() -> None:
        with EvidenceLog(path) as log:
            options = EngineOptions(threads=1, sizes=(4,))
            async with serving("Moods", model, steps=steps(), evidence=log, options=options) as (_, call):
                await call(saying("hm..", request_id="a"))

    asyncio.run(main())
    infer = stages(path)[3]
    assert (infer.facts["batch_rows"], infer.facts["batch_padding"]) == ("1", "3")
    assert infer.digest_in == digest({"counts": np.array([[2, 0, 0, 4]], "float32")})


def test_required_evidence_that_cannot_be_written_fails_the_request(
    tmp_path: Path, model: list[ModelSpec], monkeypatch: pytest.MonkeyPatch
) -> None:
    """S33: the disk is full between the model's run and the step."""
    path = tmp_path / "evidence.jsonl"
    write = os.write
    full = False

    def limited(descriptor: int, data: bytes) -> int:
        if full and b'"name":"s:infer"' in bytes(data):
            raise OSError(28, "No space left on device")
        return write(descriptor, data)

    monkeypatch.setattr("protocontract.chain.log.os.write", limited)

    async def main() -> None:
        nonlocal full
        with EvidenceLog(path) as log:
            async with serving("Moods", model, steps=steps(), evidence=log) as (_, call):
                full = True
                code, reason, _, text = await refusal(call(saying("hm...")))
                assert (code, reason) == ("INTERNAL", "EVIDENCE")
                assert "hm" not in text
                full = False
                assert (await call(saying("hm..."))).feeling == 1

    asyncio.run(main())
    found = verify(path)
    assert (found.ok, found.closed, found.lost) == (True, 1, 1)


def test_values_that_cannot_be_kept_cost_no_evidence(tmp_path: Path, model: list[ModelSpec]) -> None:
    (tmp_path / "values").write_text("a file where the folder would be")
    path = tmp_path / "evidence.jsonl"

    async def main() -> None:
        with EvidenceLog(path) as log:
            async with serving("Moods", model, steps=steps(), evidence=log, inputs=tmp_path / "values") as (_, call):
                assert (await call(saying("hm...", request_id="a"))).feeling == 1

    asyncio.run(main())
    assert stages(path, "a")[3].digest_in == digest({"counts": np.array([[3, 0, 0, 5]], "float32")})


def test_best_effort_answers_and_tells_the_gap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "evidence.jsonl"
    write = os.write

    def full(descriptor: int, data: bytes) -> int:
        if b'"name":"s:infer"' in bytes(data):
            raise OSError(28, "No space left on device")
        return write(descriptor, data)

    monkeypatch.setattr("protocontract.chain.log.os.write", full)

    async def main() -> None:
        made = [ModelSpec("same", "", str(scaled(tmp_path / "same.onnx")))]
        with EvidenceLog(path) as log:
            async with serving("Echo", made, evidence=log) as (_, call):
                told = await trailers(call(rows(1)))
                assert told["protocontract-evidence-gap"] == "1"
                assert "protocontract-evidence" not in told

    asyncio.run(main())


def test_a_wrong_number_of_rows_is_recorded_with_both_counts(tmp_path: Path, model: list[ModelSpec]) -> None:
    """S03."""
    path = tmp_path / "evidence.jsonl"
    engines = Engines()

    async def main() -> None:
        with EvidenceLog(path) as log:
            async with serving("Moods", model, steps=steps(), evidence=log, open_model=engines) as (_, call):
                engines.only.change = lambda outputs: {name: each[:0] for name, each in outputs.items()}
                assert (await refusal(call(saying("hm...", request_id="a"))))[1] == "WRONG_ROWS"

    asyncio.run(main())
    (record,) = records(path, "a")
    infer, end = record[3].step, record[4].step
    assert (infer.facts["rows_given"], infer.facts["rows_returned"]) == ("1", "0")
    assert infer.digest_out is None
    assert (end.kind, end.facts["reason"]) == ("fail", "INTERNAL WRONG_ROWS")


def test_a_refused_request_is_recorded_as_failed(tmp_path: Path, model: list[ModelSpec]) -> None:
    path = tmp_path / "evidence.jsonl"

    async def main() -> None:
        with EvidenceLog(path) as log:
            async with serving("Moods", model, steps=steps(), evidence=log) as (_, call):
                assert (await refusal(call(saying("x", request_id="a"))))[1] == "STRING_MIN_LEN"

    asyncio.run(main())
    ((end,),) = records(path, "a")
    assert (end.step.kind, end.step.facts["reason"]) == ("fail", "INVALID_ARGUMENT STRING_MIN_LEN")


def test_a_nan_is_a_fact(tmp_path: Path) -> None:
    """S24."""
    path = tmp_path / "evidence.jsonl"

    async def main() -> None:
        made = [ModelSpec("same", "", str(scaled(tmp_path / "same.onnx")))]
        with EvidenceLog(path) as log:
            async with serving("Echo", made, evidence=log) as (_, call):
                await call(rows(float("nan"), request_id="a"))

    asyncio.run(main())
    assert stages(path, "a")[2].facts["nonfinite"] == "x=4"


def test_steps_are_told_what_they_are_called_for(tmp_path: Path, model: list[ModelSpec]) -> None:
    async def main() -> None:
        with EvidenceLog(tmp_path / "evidence.jsonl") as log:
            async with serving("Moods", model, steps=steps(call=True), evidence=log) as (_, call):
                assert (await call(saying("hm...", request_id="a"))).request_id == "a"

    CALLS.clear()
    asyncio.run(main())
    (told,) = CALLS
    assert (told.model, told.version, told.provider, told.request.text) == ("moods", "4", "cpu", "hm...")
    assert told.facts["batch_rows"] == "1"
    assert told.evidence is not None


@pytest.mark.parametrize(
    ("options", "text", "reason", "told"),
    [
        ({"failing": True}, "secret?", "STEP_FAILED", "lab:count failed (ValueError)"),
        ({"wrong": True}, "well...", "BAD_OUTPUT", "lab:count made a message that breaks its contract: "),
    ],
)
def test_a_step_that_fails_is_the_services_fault(
    tmp_path: Path, model: list[ModelSpec], options: dict[str, bool], text: str, reason: str, told: str
) -> None:
    async def main() -> None:
        with EvidenceLog(tmp_path / "evidence.jsonl") as log:
            async with serving("Moods", model, steps=steps(**options), evidence=log) as (_, call):
                code, found, _, says = await refusal(call(saying(text)))
                assert (code, found) == ("INTERNAL", reason)
                assert told in says
                assert "secret" not in says
                assert (await refusal(call(saying("x"))))[0] == "INVALID_ARGUMENT"

    asyncio.run(main())


def test_an_output_that_breaks_its_contract_reaches_no_step(tmp_path: Path, model: list[ModelSpec]) -> None:
    engines = Engines()

    async def main() -> None:
        with EvidenceLog(tmp_path / "evidence.jsonl") as log:
            async with serving("Moods", model, steps=steps(), evidence=log, open_model=engines) as (_, call):
                engines.only.change = lambda outputs: {name: each * np.nan for name, each in outputs.items()}
                code, reason, metadata, _ = await refusal(call(saying("hm...")))
                assert (code, reason, metadata["field"]) == ("INTERNAL", "BAD_OUTPUT", "scores[0]")

    asyncio.run(main())
