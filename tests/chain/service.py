"""The stages of a made-up service, as modules of users have them: `evidence replay` finds them by name."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from protocontract.chain import EvidenceLog, Level, ValueStore
from protocontract.steps import StepCall

NAME = "tests.chain.service"


def normalize(value: Any) -> Any:
    return {"text": value["text"].strip()}


def preprocess(value: Any) -> Any:
    return {"codes": np.array([[ord(letter) for letter in value["text"]]], dtype="float32")}


preprocess.version = "2"  # type: ignore[attr-defined]


class Scaled:
    """Runs a "model": a JSON file with a factor. ``drift`` stands for another provider or batch size."""

    version = "5"

    def __init__(self) -> None:
        self.drift = 0.0

    def bind(self, model: Path, facts: Mapping[str, Any], /) -> Any:
        assert facts["provider"] == "CPUExecutionProvider"
        factor = json.loads(model.read_text())["factor"]

        def run(arrays: Any) -> Any:
            return {"scores": arrays["codes"] * np.float32(factor) + np.float32(self.drift)}

        return run


infer = Scaled()


def postprocess(arrays: Any) -> Any:
    return {"total": float(arrays["scores"].sum()), "label": "größer" if arrays["scores"].sum() > 100 else "kleiner"}


def answer(arrays: Any, call: StepCall) -> Any:
    """A step that is told what it is called for."""
    told = [call.request["text"], call.model, call.version, call.provider, call.facts.get("batch_rows", "")]
    return {"told": told, "total": float(arrays["scores"].sum())}


def serve(log: EvidenceLog, name: str, text: str, model: Path, keep: ValueStore | None, **facts: Any) -> Any:
    """One request through all stages."""
    held = {"model": hashlib.sha256(model.read_bytes()).hexdigest(), "provider": "CPUExecutionProvider", **facts}

    def run(arrays: Any) -> Any:
        return infer.bind(model, held)(arrays)

    run.version = infer.version  # type: ignore[attr-defined]
    with log.record(name, Level.REQUIRED) as recorder:
        value = recorder.run(normalize, "normalize", {"text": text}, module=f"{NAME}:normalize", keep=keep)
        arrays = recorder.run(preprocess, "preprocess", value, module=f"{NAME}:preprocess", keep=keep)
        scores = recorder.run(run, "infer", arrays, module=f"{NAME}:infer", facts=held, keep=keep)
        return recorder.run(postprocess, "postprocess", scores, module=f"{NAME}:postprocess", keep=keep)
