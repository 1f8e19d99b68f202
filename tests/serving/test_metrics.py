"""What a service counts, as Prometheus reads it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from protocontract.chain import EvidenceLog
from protocontract.metrics import exposition
from protocontract.serving import ModelSpec
from protocontract.serving.counts import ServingMetrics
from protocontract.serving.metrics import ServingCollector
from tests.serving.serve.lab import Caller, Engines, message, moods, refusal, rows, scaled, serving, steps

DOCS = Path(__file__).parents[2] / "docs"


def scrape(metrics: ServingMetrics) -> dict[tuple[str, ...], float]:
    """Samples by name and values of labels, in the order of the labels' declaration."""
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in ServingCollector(metrics).collect()
        for sample in family.samples
    }


def watched(
    name: str, models: list[ModelSpec], body: Callable[[Any, Caller], Coroutine[Any, Any, None]], **options: Any
) -> tuple[dict[tuple[str, ...], float], ServingMetrics]:
    """What is counted while ``body`` calls a service."""
    metrics = ServingMetrics(window=options.pop("window", 1000))
    found: dict[tuple[str, ...], float] = {}

    async def main() -> None:
        async with serving(name, models, watch=metrics, **options) as (server, call):
            await body(server, call)
            found.update(scrape(metrics))

    asyncio.run(main())
    return found, metrics


def test_requests_stages_and_batches_by_model(tmp_path: Path) -> None:
    models = [ModelSpec("m", "1", str(scaled(tmp_path / "m.onnx")), "active")]

    async def body(server: Any, call: Caller) -> None:
        for _ in range(3):
            await call(rows(1, 2, 3))
        await refusal(call(message("Rows")))
        await refusal(call(rows(1, model_version="9")))
        await refusal(call(message("Rows", x=bytes(100_001))))

    found, _ = watched("Echo", models, body)
    method = "/lab.v1.Echo/Run"
    total = {key[2:]: value for key, value in found.items() if key[0] == "model_service_requests_total"}
    assert total == {
        ("OK", "", ""): 3,
        ("INVALID_ARGUMENT", "REQUIRED", "INPUT/IMMEDIATE"): 1,
        ("FAILED_PRECONDITION", "VERSION_MISMATCH", ""): 1,
        ("RESOURCE_EXHAUSTED", "REQUEST_TOO_LARGE", ""): 1,
    }
    assert found["model_service_request_seconds_count", method] == 6
    for stage in ("preprocess", "queue", "batch", "inference", "postprocess"):
        assert found["model_service_stage_seconds_count", method, "m", "1", "cpu", "64", stage] == 3
        assert found["model_service_stage_seconds_sum", method, "m", "1", "cpu", "64", stage] > 0
    assert found["model_service_batch_rows_sum", "m", "1"] == 9
    assert found["model_service_batch_rows_bucket", "m", "1", "4.0"] == 3
    assert found["model_service_waiting", "m", "1"] == 0
    info = next(key for key in found if key[0] == "model_service_model_info")
    assert info[1:5] == ("m", "1", "active", "cpu")
    assert all(len(each) == 64 for each in info[5:])


def test_labels_and_what_the_texts_look_like(tmp_path: Path) -> None:
    models = [ModelSpec("", "1", str(moods(tmp_path / "m.onnx")))]

    async def body(server: Any, call: Caller) -> None:
        for text in ("calm.", "glad!", "glad!!"):
            await call(message("Saying", text=text))
        await refusal(call(message("Saying", text="")))
        for text in ("тихо.", "тихо.", "тихо."):
            await call(message("Saying", text=text))

    with EvidenceLog(tmp_path / "evidence.jsonl") as log:
        found, metrics = watched("Moods", models, body, steps=steps(), evidence=log, window=3)
    method, model = "/lab.v1.Moods/Tell", next(key[1] for key in found if key[0] == "model_service_model_info")
    labels = {key[4]: value for key, value in found.items() if key[0] == "model_service_labels_total"}
    assert labels == {"FEELING_CALM": 4, "FEELING_GLAD": 2}
    assert ("model_service_labels_total", method, model, "1", "FEELING_CALM") in found
    assert found["model_service_input_characters_total", method, "cyrillic"] == 12
    assert found["model_service_input_characters_total", method, "punctuation"] == 7
    assert found["model_service_input_lengths_total", method, "64"] == 6
    assert found["model_service_shift", method, "length"] == 0
    assert found["model_service_shift", method, "characters"] > 0.5
    assert found["model_service_change", method, "upstream"] == 1
    assert found["model_service_change", method, "environment"] == 0
    assert metrics.as_dict()[method]["change"] == "upstream"
    text = exposition(ServingCollector(metrics)).decode()
    assert "тихо" not in text
    assert any(family.name == "model_service_labels" for family in text_string_to_metric_families(text))


def test_a_model_that_answers_otherwise_on_the_same_inputs(tmp_path: Path) -> None:
    engines = Engines()
    models = [ModelSpec("", "1", str(moods(tmp_path / "m.onnx")))]

    async def body(server: Any, call: Caller) -> None:
        for _ in range(3):
            await call(message("Saying", text="calm."))
        engines.only.change = lambda outputs: {"scores": outputs["scores"][:, ::-1].copy()}
        for _ in range(3):
            await call(message("Saying", text="calm."))

    with EvidenceLog(tmp_path / "evidence.jsonl") as log:
        options: dict[str, Any] = {"steps": steps(), "evidence": log, "window": 3, "open_model": engines}
        found, metrics = watched("Moods", models, body, **options)
    assert metrics.as_dict()["/lab.v1.Moods/Tell"]["shifts"]["labels"] == 1
    assert found["model_service_change", "/lab.v1.Moods/Tell", "environment"] == 1


def test_shadows_canaries_and_what_could_not_be_loaded(tmp_path: Path) -> None:
    made = [
        ModelSpec("m", "1", str(scaled(tmp_path / "1.onnx")), "active"),
        ModelSpec("m", "2", str(scaled(tmp_path / "2.onnx", 3)), "shadow"),
        ModelSpec("m", "3", str(scaled(tmp_path / "3.onnx")), "canary", 0.25),
    ]
    (tmp_path / "4.onnx").write_bytes(b"no model")

    async def body(server: Any, call: Caller) -> None:
        await call(rows(1, float("nan"), model_version="1"))
        await server.shadows.settle()
        await server.change([*made, ModelSpec("m", "4", str(tmp_path / "4.onnx"))])

    found, _ = watched("Echo", made, body)
    assert found["model_service_canary_share", "m", "3"] == 0.25
    assert found["model_service_failed_versions", "m", "4"] == 1
    assert found["model_service_nonfinite_requests_total", "m", "1"] == 1
    results = {key[3]: value for key, value in found.items() if key[0] == "model_service_shadow_requests_total"}
    assert sum(results.values()) == 1
    assert found["model_service_shadow_max_abs", "m", "2"] == pytest.approx(2)


def test_before_anything_is_served() -> None:
    assert list(scrape(ServingMetrics())) == []


def test_every_metric_is_in_the_documents(tmp_path: Path) -> None:
    table = (DOCS / "serving.md").read_text().partition("## Metrics")[2].partition("\n## ")[0]
    told = dict(re.findall(r"^\| `(model_service_\w+)` \| ([^|]*) \|", table, re.MULTILINE))
    exported = {}
    for family in ServingCollector(ServingMetrics()).collect():
        suffix = "_total" if family.type == "counter" else ""
        exported[f"{family.name}{suffix}"] = ", ".join(getattr(family, "_labelnames", ()))
    assert {name: labels.strip() for name, labels in told.items()} == exported
