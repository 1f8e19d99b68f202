"""A model's file is replaced while it serves: nobody gets another model under the same version."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from protocontract.models import Fallback, Model, NoProvider, Probes, with_fallback
from protocontract.models.fallback import Degrading
from protocontract.models.providers import Attempt
from protocontract.serving import ModelSpec
from tests.serving.serve.lab import Engines, numbers, rows, scaled, serving


def test_the_file_counts_when_it_was_loaded(tmp_path: Path) -> None:
    path = scaled(tmp_path / "m.onnx", 2)

    async def main() -> None:
        engines = Engines()
        async with serving("Echo", [ModelSpec("m", "1", str(path))], open_model=engines) as (server, call):
            before = server.versions.running[0].engine.identity
            os.replace(scaled(tmp_path / "other.onnx", 3), path)
            assert numbers(await call(rows(1))) == [2]
            path.write_bytes(b"")  # in place, and then not there at all
            assert numbers(await call(rows(1))) == [2]
            path.unlink()
            assert numbers(await call(rows(1))) == [2]
            assert server.versions.running[0].engine.identity == before

    asyncio.run(main())


def test_a_device_that_is_back_does_not_start_another_file(tmp_path: Path) -> None:
    """Its probes come out alike, as they may be apart by what is declared; it is another model all the same."""
    path = classifier(tmp_path / "m.onnx", 0.0)
    kept = path.read_bytes()
    Probes.make(Model(path, threads=1), [{"x": np.eye(4, dtype="<f4")}], {}).write(Probes.path_of(path))
    missing = [True]

    def start() -> Any:
        if missing[0]:
            raise NoProvider(path.name, [Attempt("npu", "it is gone", "plug it in")])
        found = Model(path, threads=1)
        found.provider = "npu"  # type: ignore[misc]  # what a device of its own would say
        return found

    fallback = Fallback(provider="cpu", max_abs=0.5, sticky=True, probe_every=3600.0)
    engine = with_fallback(path, fallback, start, threads=1, background=False)
    assert isinstance(engine, Degrading)
    assert engine.degraded
    missing[0] = False
    classifier(path, 0.01)
    assert not engine.probe()
    assert "m.onnx is another file than the one that was loaded" in engine.events[-1].reason
    assert engine.degraded
    path.write_bytes(kept)
    assert engine.probe()
    assert not engine.degraded
    engine.close()


def classifier(path: Path, more: float) -> Path:
    weights = [numpy_helper.from_array(np.eye(4, dtype="float32") + np.float32(more), "w")]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", 4]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "g", ends[:1], ends[1:], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8), str(path))
    return path
