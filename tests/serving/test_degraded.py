"""What a service does where a device is gone (S26, S28), an answer too large (S23), a queue full (S21); company (S08).

``Breaking`` engines are real models behind failures of a device; where CUDA is asked for, it is not there for real.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

import grpc.aio
import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper, save

from protocontract.card import Stamp, write_stamp
from protocontract.chain import EvidenceLog
from protocontract.chain.verify import records
from protocontract.contract import Contract
from protocontract.evidence import data_versions
from protocontract.models import Degrading, Fallback, Model, Probes, Provider, Ran, with_fallback
from protocontract.models.agreement import compare_runs
from protocontract.serving import EngineOptions, InferenceServer, ModelSpec
from protocontract.serving.counts import ServingMetrics
from protocontract.serving.versions import facts_of
from protocontract.violations import ContractError
from protocontract_compiler.dynamic import load_protos
from tests.models.breaking import Breaking, Factory
from tests.serving.serve.lab import contracts as lab_contracts
from tests.serving.serve.lab import message, moods, refusal, steps
from tests.serving.serve.lab import serving as lab_serving
from tests.serving.test_metrics import scrape

PROTOS = Path(__file__).parent / "protos_worn"


@cache
def contracts() -> dict[str, Contract[Any]]:
    return dict(load_protos([PROTOS], proto_path=PROTOS))


def classifier(path: Path, classes: int = 3) -> Path:
    """x [N, 4] times a matrix gives scores [N, classes]; its probes are beside it."""
    weights = np.random.default_rng(1).normal(size=(4, classes)).astype("float32")
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", width])
        for name, width in (("x", 4), ("scores", classes))
    ]
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "weights"], ["scores"])], "worn", ends[:1], ends[1:],
        [numpy_helper.from_array(weights, "weights")],
    )  # fmt: skip
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8), str(path))
    probes = np.random.default_rng(2).normal(size=(4, 4)).astype("float32")
    Probes.make(Model(path, threads=1), [{"x": probes}], {}).write(Probes.path_of(path))
    return path


def rows(count: int, seed: int = 3) -> Any:
    return np.random.default_rng(seed).normal(size=(count, 4)).astype("<f4")


def _serialize(message: Any) -> bytes:
    found: bytes = message.SerializeToString()
    return found


class Caller:
    """Calls a service, and keeps what it says besides."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._method = channel.unary_unary(
            "/worn.v1.Worn/Run",
            request_serializer=_serialize,
            response_deserializer=contracts()["worn.v1.Scores"].message_type.FromString,
        )

    def start(self, x: bytes | Any) -> Any:
        raw = x if isinstance(x, bytes) else x.tobytes()
        return self._method(contracts()["worn.v1.Rows"].message_type(x=raw), timeout=120)

    async def __call__(self, x: Any) -> tuple[Any, dict[str, str]]:
        """The scores, and our trailing metadata."""
        call = self.start(x)
        response = await call
        trailing = {name: value for name, value in await call.trailing_metadata() if name.startswith("protocontract-")}
        return np.frombuffer(response.scores, "<f4").reshape(len(x), -1), trailing


@asynccontextmanager
async def serving(path: Path, **options: Any) -> AsyncIterator[tuple[InferenceServer, Caller]]:
    pool: Any = contracts()["worn.v1.Rows"].message_type.DESCRIPTOR.file.pool
    server = InferenceServer(
        "worn.v1.Worn",
        [ModelSpec("worn", "1", str(path))],
        service_descriptor=pool.FindServiceByName("worn.v1.Worn"),
        contracts=contracts(),
        **{"options": EngineOptions(threads=1), **options},
    )
    await server.start()
    try:
        async with grpc.aio.insecure_channel(server.address) as channel:
            yield server, Caller(channel)
    finally:
        await server.stop(0)


def on_device(factory: Factory, **more: Any) -> Callable[..., Any]:
    """Opens the model on the factory's device, with its declared fallback."""

    def opened(spec: ModelSpec, way: Any, options: EngineOptions, on_event: Any = None) -> Any:
        fallback = Fallback.of(way[0].method.level.fallback)
        assert fallback is not None
        return with_fallback(Path(spec.path), fallback, factory, background=False, on_event=on_event, **more)

    return opened


class Held(Breaking):
    """A model that waits before it runs, so that what comes in the meantime is one batch."""

    def __init__(self, path: Path, threads: int = 1) -> None:
        super().__init__(path, threads=threads)
        self.go = threading.Event()
        self.go.set()
        self.begun = threading.Event()

    def run(self, inputs: Any, outputs: Any = None) -> Ran:
        """Run it, when it may go."""
        self.begun.set()
        assert self.go.wait(180)
        return super().run(inputs, outputs)

    async def together(self, server: InferenceServer, first: Any, calls: Callable[[], list[Any]]) -> list[Any]:
        """Make calls while the model is busy with ``first``, and let them go when all of them wait."""
        self.begun.clear()
        self.go.clear()
        busy = asyncio.ensure_future(first)
        await until(self.begun.is_set)
        started = [asyncio.ensure_future(each) for each in calls()]
        await until(lambda: server.versions.waiting == len(started))
        self.go.set()
        await busy
        return await asyncio.gather(*started)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.005)


def infer_facts(path: Path) -> list[dict[str, Any]]:
    """The facts of the runs of all requests, in their order."""
    return [
        dict(entry.step.facts)
        for found in records(path, None)
        for entry in found
        if entry.step.kind == "stage" and entry.step.name == "infer"
    ]


def test_s26_cuda_is_asked_for_and_missing(tmp_path: Path) -> None:
    """Declared: it serves on the CPU, and every answer and every piece of evidence says so. Undeclared: it does not."""
    path, metrics = classifier(tmp_path / "m.onnx"), ServingMetrics()
    cuda = EngineOptions(providers=(Provider("cuda"),), threads=1)

    async def main() -> None:
        with EvidenceLog(tmp_path / "evidence.jsonl") as log:
            async with serving(path, options=cuda, evidence=log, watch=metrics) as (server, call):
                told_at_start = facts_of(server.versions.running[0])
                assert (told_at_start["provider"], told_at_start["fallback"]) == ("cpu", "provider:cpu")
                for count in (1, 2, 3):
                    scores, told = await call(rows(count))
                    assert scores.shape == (count, 3)
                    assert (told["protocontract-provider"], told["protocontract-fallback"]) == ("cpu", "provider:cpu")
        found = scrape(metrics)
        assert found["model_service_degraded", "worn", "1", "provider:cpu"] == 1
        assert found["model_service_fallback_requests_total", "worn", "1", "provider:cpu"] == 3
        assert found["model_service_fallback_events_total", "worn", "1", "degraded"] == 1
        undeclared = EngineOptions(providers=(Provider("cuda"),), threads=1, fallback=False)
        with pytest.raises(ContractError, match=r"^refused to start: m.onnx cannot run on cuda: "):
            async with serving(path, options=undeclared):
                pass

    asyncio.run(main())
    facts = infer_facts(tmp_path / "evidence.jsonl")
    assert [(each["provider"], each["fallback"], each["attempts"]) for each in facts] == [
        ("cpu", "provider:cpu", "cpu")
    ] * 3


def test_s26_tensorrt_is_asked_for_and_there_is_no_device(tmp_path: Path) -> None:
    """Its shapes and caches depend on a version and a device that cannot be read: they are missing too."""
    path = classifier(tmp_path / "m.onnx")
    tensorrt = EngineOptions(providers=(Provider("tensorrt"),), threads=1)

    async def main() -> None:
        async with serving(path, options=tensorrt) as (_, call):
            assert (await call(rows(1)))[1]["protocontract-fallback"] == "provider:cpu"
        undeclared = EngineOptions(providers=(Provider("tensorrt"),), fallback=False)
        with pytest.raises(ContractError, match=r"^refused to start: m.onnx cannot run on tensorrt: no tensorrt"):
            async with serving(path, options=undeclared):
                pass
        both = EngineOptions(providers=(Provider("tensorrt"), Provider("cpu")), threads=1)
        async with serving(path, options=both) as (_, call):
            assert (await call(rows(1)))[1].get("protocontract-fallback") is None

    asyncio.run(main())


def test_s26_a_declared_fallback_that_nobody_can_check_is_none(tmp_path: Path) -> None:
    path = classifier(tmp_path / "m.onnx")
    Probes.path_of(path).unlink()

    async def main() -> None:
        with pytest.raises(ContractError, match=r"^refused to start: .*there is no m.onnx.probes.npz"):
            async with serving(path, options=EngineOptions(providers=(Provider("cuda"),))):
                pass

    asyncio.run(main())


def test_s28_memory_runs_out_for_one_batch(tmp_path: Path) -> None:
    """Its callers have answers, within what is declared of the device's; evidence has both attempts; it comes back."""
    path, metrics = classifier(tmp_path / "m.onnx"), ServingMetrics()
    factory = Factory(path)

    async def main() -> None:
        with EvidenceLog(tmp_path / "evidence.jsonl") as log:
            async with serving(path, evidence=log, watch=metrics, open_model=on_device(factory)) as (server, call):
                before, told = await call(rows(3))
                assert (told["protocontract-provider"], told.get("protocontract-fallback")) == ("npu", None)
                assert scrape(metrics)["model_service_degraded", "worn", "1", "provider:cpu"] == 0
                factory.made[0].kind = "memory"
                answers = await asyncio.gather(*(call(rows(3)) for _ in range(2)))
                for after, told in answers:
                    assert np.abs(after - before).max() <= 1e-4
                    assert told["protocontract-fallback"] == "provider:cpu"
                    assert told["protocontract-provider"] == "cpu"
                # It stays, as declared, and the device is left alone.
                runs = factory.made[0].runs
                assert (await call(rows(3)))[1]["protocontract-provider"] == "cpu"
                assert factory.made[0].runs == runs
                engine = server.versions.running[0].engine
                assert isinstance(engine, Degrading)
                factory.made[0].kind = None
                assert await asyncio.to_thread(engine.probe)
                assert (await call(rows(3)))[1].get("protocontract-fallback") is None
                found = scrape(metrics)
                assert found["model_service_degraded", "worn", "1", "provider:cpu"] == 0
                assert found["model_service_fallback_events_total", "worn", "1", "recovered"] == 1

    asyncio.run(main())
    facts = infer_facts(tmp_path / "evidence.jsonl")
    attempts = [each.get("attempts") for each in facts]
    both = "npu failed (memory); cpu"
    assert [*attempts[:2], *attempts[3:]] == [None, both, "cpu", None]
    assert attempts[2] in (both, "cpu")  # whether it was in the same batch as the one before it
    assert [each["provider"] for each in facts] == ["npu", "cpu", "cpu", "cpu", "npu"]


def test_s28_undeclared_it_fails_clearly(tmp_path: Path) -> None:
    path = classifier(tmp_path / "m.onnx")
    device = Breaking(path)

    async def main() -> None:
        async with serving(path, open_model=lambda *_: device) as (_, call):
            device.kind = "memory"
            code, reason, metadata, _ = await refusal(call.start(rows(1)))
            assert (code, reason, metadata["kind"]) == ("INTERNAL", "MODEL_FAILED", "memory")
            device.kind = None
            assert (await call(rows(1)))[1]["protocontract-provider"] == "npu"

    asyncio.run(main())


def test_s23_five_mebibytes(tmp_path: Path) -> None:
    """A request of 5 MiB and a response of 5 MiB, where 4 are allowed. Those in the same batch have their answers."""
    path, limit = classifier(tmp_path / "m.onnx", classes=327_680), 4 * 1024 * 1024

    async def main() -> None:
        with EvidenceLog(tmp_path / "evidence.jsonl") as log:
            engine = Held(path)
            async with serving(path, evidence=log, open_model=lambda *_: engine) as (server, call):
                code, reason, metadata, text = await refusal(call.start(bytes(5 * 1024 * 1024)))
                assert (code, reason, metadata["limit"]) == ("RESOURCE_EXHAUSTED", "REQUEST_TOO_LARGE", str(limit))
                assert str(limit) in text
                # Four rows of 1.25 MiB, and four requests of one row: a full batch.
                (code, reason, metadata, text), *others = await engine.together(
                    server,
                    call(rows(1)),
                    lambda: [refusal(call.start(rows(4))), *(call(rows(1, seed)) for seed in range(4))],
                )
                assert (code, reason, metadata["limit"]) == ("RESOURCE_EXHAUSTED", "RESPONSE_TOO_LARGE", str(limit))
                assert f"expected at most {limit}" in text
                alone = Model(path, threads=1)
                for seed, (scores, _) in enumerate(others):
                    expected = alone.run({"x": rows(1, seed)}).outputs["scores"]
                    assert np.allclose(scores, expected, atol=1e-4)

    asyncio.run(main())
    facts = [each for each in infer_facts(tmp_path / "evidence.jsonl") if each["batch_rows"] == "8"]
    assert [each["batch_requests"] for each in facts] == ["5"] * 5


def test_s08_alone_in_a_pair_and_in_a_full_batch(tmp_path: Path) -> None:
    """Within the declared tolerance, labels alike but where the margin is below it; evidence has size and provider."""
    path = classifier(tmp_path / "m.onnx", classes=64)

    async def main() -> list[Any]:
        found = []
        with EvidenceLog(tmp_path / "evidence.jsonl") as log:
            engine = Held(path, threads=2)
            async with serving(path, evidence=log, open_model=lambda *_: engine) as (server, call):
                for company in (0, 1, 7):
                    calls = partial(_calls, call, company)
                    found.append((await engine.together(server, call(rows(3)), calls))[0][0])
        return found

    alone, *others = asyncio.run(main())
    declared = Fallback("cpu", max_abs=1e-4, max_rel=1e-3).tolerance
    for other in others:
        compared = compare_runs([({"scores": other}, {"scores": alone})], tolerance=declared, labelled=["scores"])
        assert (compared.reason, compared.same, compared.labels) == ("", 1, 1)
    facts = infer_facts(tmp_path / "evidence.jsonl")
    assert {(each["batch_rows"], each["provider"]) for each in facts if each["batch_rows"] != "3"} == {
        ("1", "npu"), ("2", "npu"), ("8", "npu"),
    }  # fmt: skip
    assert all((each["max_abs"], each["max_rel"]) == (0.0001, 0.001) for each in facts)


def _calls(call: Caller, company: int) -> list[Any]:
    return [call(rows(1, seed)) for seed in range(3, 4 + company)]


def test_s21_a_hundred_wait_and_the_others_do_not(tmp_path: Path) -> None:
    """500 at once, the model busy with a full batch: 100 wait, the others are refused before any of them ends."""
    path = classifier(tmp_path / "m.onnx")

    async def main() -> None:
        engine = Held(path)
        async with serving(path, open_model=lambda *_: engine) as (server, call):
            engine.begun.clear()
            engine.go.clear()
            busy = asyncio.ensure_future(call(rows(8)))
            await until(engine.begun.is_set)
            calls = [asyncio.ensure_future(refusal(call.start(rows(1)))) for _ in range(500)]
            await until(lambda: sum(each.done() for each in calls) == 400)
            assert server.versions.waiting == 100
            assert {each.result()[:2] for each in calls if each.done()} == {("RESOURCE_EXHAUSTED", "QUEUE_FULL")}
            waiting = [each for each in calls if not each.done()]
            engine.go.set()
            await busy
            answered = await asyncio.gather(*waiting, return_exceptions=True)
            assert [str(each) for each in answered] == ["the call was answered"] * 100

    asyncio.run(main())


def test_a_model_that_was_calibrated_on_requests_names_their_contract(tmp_path: Path) -> None:
    """Its stamp names the message that the steps take, which is neither the model's input nor its output."""
    path = moods(tmp_path / "m.onnx")
    model = [ModelSpec("", "1", str(path))]
    contract = lab_contracts()["Saying"]

    def stamp(fingerprint: str) -> None:
        write_stamp(Stamp(contract.full_name, contract.version, fingerprint, dict(data_versions())), path)

    async def main() -> None:
        with EvidenceLog(tmp_path / "evidence.jsonl") as log:
            stamp(contract.fingerprint)
            async with lab_serving("Moods", model, steps=steps(), evidence=log) as (_, call):
                assert (await call(message("Saying", text="hm.."))).feeling == 1
            stamp("0" * 64)
            with pytest.raises(ContractError, match=r"trained under lab.v1.Saying 2.0.0 \(fingerprint 0{12}\)"):
                async with lab_serving("Moods", model, steps=steps(), evidence=log):
                    pass

    asyncio.run(main())
