"""A service with its model: what callers get, in which company, and what they are told where there is nothing."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from protocontract.contract import Contract
from protocontract.serving import EngineOptions, InferenceServer, ModelSpec
from protocontract.violations import ContractError
from tests.serving.serve.lab import (
    OPTIONS,
    Caller,
    Engines,
    Held,
    message,
    moods,
    numbers,
    refusal,
    rows,
    scaled,
    service,
    serving,
    trailers,
)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> list[ModelSpec]:
    """The model that gives back what it gets."""
    return [ModelSpec("same", "1.0.0", str(scaled(tmp_path_factory.mktemp("models") / "same.onnx")))]


async def until(done: Callable[[], bool]) -> None:
    """Let the loop run until something is so."""
    async with asyncio.timeout(120):
        while not done():
            await asyncio.sleep(0.001)


async def held(engine: Held) -> None:
    """Wait until an engine is in a run."""
    await until(engine.begun.is_set)


def test_a_request_comes_back_with_what_ran_it(model: list[ModelSpec]) -> None:
    async def main() -> None:
        async with serving("Echo", model) as (_, call):
            response = await call(rows(1, 2, 3, request_id="r-1"))
            assert numbers(response) == [1, 2, 3]
            assert (response.request_id, response.model_version) == ("r-1", "1.0.0")
            assert await trailers(call(rows(1))) == {
                "protocontract-model": "same@1.0.0",
                "protocontract-provider": "cpu",
            }

    asyncio.run(main())


def test_what_contracts_load_late_is_loaded_before_it_is_ready(
    model: list[ModelSpec], monkeypatch: pytest.MonkeyPatch
) -> None:
    warm: list[str] = []
    monkeypatch.setattr(Contract, "warm_up", lambda contract: warm.append(contract.full_name))

    async def main() -> None:
        async with serving("Echo", model) as (server, _):
            assert warm == ["lab.v1.Rows", "lab.v1.Same"]
            warm.clear()
            await server.check()
            assert warm == ["lab.v1.Rows", "lab.v1.Same"]

    asyncio.run(main())


def test_every_caller_gets_its_own_rows_also_where_others_give_up(model: list[ModelSpec]) -> None:
    """S02."""
    chosen = random.Random(7)

    async def main() -> None:
        async with serving("Patient", model) as (server, call):
            echo: Any = server.plan.methods[0]
            assert echo.method.level.batch == (8, 50.0)

        async with serving("Echo", model) as (_, call):
            place = asyncio.Semaphore(30)  # the queue takes 40

            async def one(number: int) -> None:
                wanted = [float(number)] * chosen.randint(1, 8)
                async with place:
                    started = call(rows(*wanted))
                    if number % 10 == 3:
                        await asyncio.sleep(chosen.random() / 100)
                        started.cancel()
                        return
                    assert numbers(await started) == wanted

            await asyncio.gather(*(one(number) for number in range(300)))

    asyncio.run(main())


def test_a_model_that_answers_with_another_number_of_rows_answers_nobody(model: list[ModelSpec]) -> None:
    """S03."""
    engines = Engines()

    async def main() -> None:
        # A batch that waits for 50 seconds: the eighth row starts it, however long the calls take to come.
        async with serving("Patient", model, open_model=engines) as (_, call):
            path = "/lab.v1.Patient/Run"
            engines.only.change = lambda outputs: {name: each[:-1] for name, each in outputs.items()}
            found = await asyncio.gather(*(refusal(call(rows(number), path=path)) for number in range(8)))
            assert {(code, reason) for code, reason, _, _ in found} == {("INTERNAL", "WRONG_ROWS")}
            assert all("expected 8 rows, got 7" in text for *_, text in found)
            engines.only.change = dict
            assert numbers(await call(rows(*range(8)), path=path)) == list(range(8))

    asyncio.run(main())


def test_a_full_batch_does_not_wait(model: list[ModelSpec]) -> None:
    """S05: of a batch that waits for 50 seconds the eighth row starts it."""
    engines = Engines()

    async def main() -> None:
        async with serving("Patient", model, open_model=engines) as (_, call):
            engines.only.batches.clear()  # of the warm-up
            found = await asyncio.gather(*(call(rows(number), path="/lab.v1.Patient/Run") for number in range(8)))
            assert sorted(numbers(each)[0] for each in found) == list(range(8))
            assert [len(batch["x"]) for batch in engines.only.batches] == [8]

    asyncio.run(main())


def test_without_batching_nobody_is_joined(model: list[ModelSpec]) -> None:
    engines = Engines()

    async def main() -> None:
        async with serving("Patient", model, open_model=engines, joins=False) as (_, call):
            engines.only.batches.clear()
            await asyncio.gather(*(call(rows(number), path="/lab.v1.Patient/Run") for number in range(4)))
            assert [len(batch["x"]) for batch in engines.only.batches] == [1] * 4

    asyncio.run(main())


def test_a_deadline_in_the_queue_keeps_the_row_from_the_model(model: list[ModelSpec]) -> None:
    """S10."""
    engines = Engines()

    async def main() -> None:
        async with serving("Echo", model, open_model=engines) as (server, call):
            engine = engines.only
            engine.batches.clear()
            engine.begun.clear()
            engine.go.clear()
            first = asyncio.ensure_future(_answer(call(rows(1))))
            await held(engine)
            late = await refusal(call(rows(2), timeout=0.05))
            assert late[0] == "DEADLINE_EXCEEDED"
            await until(lambda: server.versions.waiting == 0)
            engine.go.set()
            assert numbers(await first) == [1]
            assert [batch["x"][:, 0].tolist() for batch in engine.batches] == [[1.0]]

    asyncio.run(main())


async def _answer(call: Awaitable[Any]) -> Any:
    return await call


def test_a_model_that_hangs_keeps_nobody(model: list[ModelSpec], tmp_path: Path) -> None:
    """S14: the caller sets no deadline, and the contract's longest one ends the call."""
    engines = Engines()

    async def main() -> None:
        async with serving("Two", _two(tmp_path), open_model=engines, max_deadline=0.2) as (_, call):
            engine = engines.by_spec["small@1"]
            engine.go.clear()
            request = message("Choice", small=message("Small", x=np.zeros(4, "<f4").tobytes()))
            code, reason, _, text = await refusal(call(request, timeout=None))
            assert (code, reason) == ("DEADLINE_EXCEEDED", "DEADLINE")
            assert "while its batch ran" in text
            engine.go.set()

    asyncio.run(main())


def test_a_full_queue_refuses_at_once(model: list[ModelSpec]) -> None:
    """S21: 40 may wait, 8 rows are in the model, and the rest is told so while the model is still busy."""
    engines = Engines()

    async def main() -> None:
        async with serving("Echo", model, open_model=engines) as (server, call):
            engine = engines.only
            engine.begun.clear()
            engine.go.clear()
            running = asyncio.ensure_future(_answer(call(rows(*range(8)))))  # a whole batch, at once
            await held(engine)
            inside = [asyncio.ensure_future(_answer(call(rows(number)))) for number in range(8, 48)]
            await until(lambda: server.versions.waiting == 40)
            found = await asyncio.gather(*(refusal(call(rows(number))) for number in range(100)))
            assert {(code, reason) for code, reason, _, _ in found} == {("RESOURCE_EXHAUSTED", "QUEUE_FULL")}
            assert found[0][2]["limit"] == "40"
            engine.go.set()
            assert numbers(await running) == list(range(8))
            assert [numbers(each)[0] for each in await asyncio.gather(*inside)] == list(range(8, 48))

    asyncio.run(main())


def test_what_is_too_large_is_refused_by_its_limit(model: list[ModelSpec]) -> None:
    """S23: requests of more than 100,000 bytes, and responses of more than the service may give."""

    async def main() -> None:
        async with serving("Echo", model, max_response_bytes=100) as (_, call):
            large = message("Rows", x=bytes(100_016))
            code, reason, metadata, _ = await refusal(call(large))
            assert (code, reason, metadata["limit"]) == ("RESOURCE_EXHAUSTED", "REQUEST_TOO_LARGE", "100000")
            own, other = await asyncio.gather(refusal(call(rows(*range(7)))), _answer(call(rows(9))))
            assert own[:2] == ("RESOURCE_EXHAUSTED", "RESPONSE_TOO_LARGE")
            assert own[2]["limit"] == "100"
            assert numbers(other) == [9]

    asyncio.run(main())


def test_more_rows_than_a_batch_has_are_refused_not_split(model: list[ModelSpec]) -> None:
    """SD6."""

    async def main() -> None:
        async with serving("Echo", model) as (_, call):
            code, reason, _, text = await refusal(call(rows(*range(9))))
            assert (code, reason) == ("RESOURCE_EXHAUSTED", "BATCH_TOO_LARGE")
            assert "a request of 9 rows; expected 8 at most" in text

    asyncio.run(main())


def test_a_nan_is_passed_on_where_it_may_and_marked(model: list[ModelSpec]) -> None:
    """S24: the contract does not say finite. The rows of others stay what they are."""

    async def main() -> None:
        async with serving("Echo", model) as (_, call):
            odd = call(rows(1, float("nan")))
            plain = call(rows(2))
            mixed = await trailers(odd)
            assert mixed["protocontract-nonfinite"] == "x=4"
            assert numbers(await plain) == [2]
            assert "protocontract-nonfinite" not in await trailers(plain)
            assert np.isnan(numbers(await odd)[1])

    asyncio.run(main())


def test_a_refused_request_names_the_contract_that_it_broke(model: list[ModelSpec]) -> None:
    """S25."""

    async def main() -> None:
        async with serving("Echo", model) as (_, call):
            started = call(message("Rows", x=bytes(15)))
            code, reason, metadata, text = await refusal(started)
            assert (code, reason, metadata["version"]) == ("INVALID_ARGUMENT", "TENSOR_SIZE", "1.4.0")
            assert metadata["field"] == "x"
            assert dict(await started.trailing_metadata())["protocontract-version"] == "1.4.0"
            assert "x: " in text

    asyncio.run(main())


def test_a_models_failure_is_nobodys_fault_but_its_own(model: list[ModelSpec]) -> None:
    engines = Engines()

    async def main() -> None:
        async with serving("Echo", model, open_model=engines) as (_, call):

            def fail(outputs: dict[str, Any]) -> dict[str, Any]:
                raise ValueError(f"quotes {outputs}")

            engines.only.change = fail
            code, reason, metadata, text = await refusal(call(rows(77)))
            assert (code, reason, metadata["model"]) == ("INTERNAL", "MODEL_FAILED", "same@1.0.0")
            assert "77" not in text
            engines.only.change = lambda outputs: {"y": outputs["y"].astype("float64")}
            assert (await refusal(call(rows(1))))[:2] == ("INTERNAL", "BAD_OUTPUT")

    asyncio.run(main())


def _two(folder: Path) -> list[ModelSpec]:
    small, sample = scaled(folder / "small.onnx", 2, width=2), scaled(folder / "sample.onnx", 3, width=3)
    return [ModelSpec("small", "", str(small)), ModelSpec("sample", "", str(sample))]


def test_the_member_of_a_oneof_chooses_the_model(tmp_path: Path) -> None:
    async def main() -> None:
        async with serving("Two", _two(tmp_path)) as (_, call):
            first = call(message("Choice", request_id="a", small=message("Small", x=np.ones(4, "<f4").tobytes())))
            response = await first
            assert (response.request_id, list(response.small.shape)) == ("a", [2, 2])
            assert np.frombuffer(response.small.y, "<f4").tolist() == [2.0] * 4
            assert (await trailers(first))["protocontract-model"] == "small@1"
            second = await call(message("Choice", sample=message("Sample", x=[1, 2, 3])))
            assert list(second.sample.y) == [3, 6, 9]
            assert (await refusal(call(message("Choice", request_id="a"))))[:2] == ("INVALID_ARGUMENT", "NO_INPUT")
            code, reason, _, text = await refusal(call(message("Choice", small=message("Small"))))
            assert (code, reason) == ("INVALID_ARGUMENT", "WRONG_INPUT")
            assert text == "no rows; expected one at least"

    asyncio.run(main())


def test_results_do_not_depend_on_the_company(model: list[ModelSpec]) -> None:
    """S08: alone, in pairs, and in a full batch, filled up to sizes besides."""

    async def main() -> None:
        options = EngineOptions(threads=1, sizes=(4, 8))
        engines = Engines()
        async with serving("Echo", model, options=options, open_model=engines) as (_, call):
            engines.only.batches.clear()
            for count in (1, 2, 8):
                found = await asyncio.gather(*(call(rows(number)) for number in range(count)))
                assert [numbers(each) for each in found] == [[number] for number in range(count)]
            assert {len(batch["x"]) for batch in engines.only.batches} <= {4, 8}

    asyncio.run(main())


# -- from loading to draining


async def _health(channel: Any, name: str = "lab.v1.Echo") -> str:
    stub = health_pb2_grpc.HealthStub(channel)
    found = await stub.Check(health_pb2.HealthCheckRequest(service=name))
    return str(health_pb2.HealthCheckResponse.ServingStatus.Name(found.status))


def test_nothing_is_served_before_a_row_has_passed(model: list[ModelSpec]) -> None:
    """S38."""
    engines = Engines()

    async def main() -> None:
        loading = asyncio.Event()
        loop = asyncio.get_running_loop()
        held_back: list[Held] = []

        def opened(spec: ModelSpec, way: Any, options: Any, on_event: Any = None) -> Any:
            engine = Engines.__call__(engines, spec, way, options, on_event)
            engine.go.clear()
            held_back.append(engine)
            loop.call_soon_threadsafe(loading.set)
            return engine

        server = InferenceServer(**service("Echo"), models=model, options=OPTIONS, open_model=opened)
        await server.bind()
        starting = asyncio.ensure_future(server.start())
        async with grpc.aio.insecure_channel(server.address) as channel:
            call = Caller(channel)
            assert [await _health(channel), await _health(channel, "")] == ["NOT_SERVING"] * 2
            await loading.wait()
            await held(held_back[0])  # its warm-up row is in the model
            assert await _health(channel) == "NOT_SERVING"
            assert (await refusal(call(rows(1))))[:2] == ("UNAVAILABLE", "NOT_READY")
            held_back[0].go.set()
            await starting
            assert [await _health(channel), await _health(channel, "")] == ["SERVING"] * 2
            assert numbers(await call(rows(1))) == [1]
        await server.stop(0)

    asyncio.run(main())


def test_draining_finishes_what_waits_and_takes_nothing_new(model: list[ModelSpec]) -> None:
    """S37: a batch runs, ten requests wait, and the service is told to stop."""
    engines = Engines()

    async def main() -> None:
        async with serving("Echo", model, open_model=engines) as (server, call):
            engine = engines.only
            engine.begun.clear()
            engine.go.clear()
            running = asyncio.ensure_future(_answer(call(rows(*range(8)))))
            await held(engine)
            waiting = [asyncio.ensure_future(_answer(call(rows(number)))) for number in range(10)]
            await until(lambda: server.versions.waiting == 10)
            stopping = asyncio.ensure_future(server.stop(20))
            await until(lambda: not server.ready)
            assert await _health(call.channel) == "NOT_SERVING"
            assert (await refusal(call(rows(1))))[:2] == ("UNAVAILABLE", "DRAINING")
            engine.go.set()
            assert numbers(await running) == list(range(8))
            assert [numbers(each)[0] for each in await asyncio.gather(*waiting)] == list(range(10))
            assert await stopping == 0
            assert engine.closed

    asyncio.run(main())


def test_what_does_not_end_within_the_grace_period_fails_clearly(model: list[ModelSpec]) -> None:
    engines = Engines()

    async def main() -> None:
        async with serving("Echo", model, open_model=engines) as (server, call):
            engine = engines.only
            engine.begun.clear()
            engine.go.clear()
            running = asyncio.ensure_future(refusal(call(rows(*range(8)))))
            await held(engine)
            waiting = [asyncio.ensure_future(refusal(call(rows(number)))) for number in range(2)]
            await until(lambda: server.versions.waiting == 2)
            assert await server.stop(0.05) == 3
            found = await asyncio.gather(running, *waiting)
            assert {(code, reason) for code, reason, _, _ in found} == {("UNAVAILABLE", "DRAINING")}
            engine.go.set()

    asyncio.run(main())


def test_reflection_says_what_is_served(model: list[ModelSpec]) -> None:
    async def main() -> None:
        async with serving("Echo", model) as (_, call):
            stub = reflection_pb2_grpc.ServerReflectionStub(call.channel)
            asked = reflection_pb2.ServerReflectionRequest
            answers = stub.ServerReflectionInfo(
                iter([asked(list_services=""), asked(file_containing_symbol="lab.v1.Rows")])
            )
            listed, file = [answer async for answer in answers]
            assert "lab.v1.Echo" in {each.name for each in listed.list_services_response.service}
            assert file.file_descriptor_response.file_descriptor_proto

    asyncio.run(main())


def test_a_model_that_does_not_fit_keeps_the_service_from_starting(tmp_path: Path) -> None:
    """All differences at once, of all models."""
    narrow = scaled(tmp_path / "narrow.onnx", width=3)

    async def main() -> None:
        server = InferenceServer(
            **service("Echo"), models=[ModelSpec("a", "1", str(narrow)), ModelSpec("a", "2", str(tmp_path / "no.onnx"))]
        )
        with pytest.raises(ContractError, match=r"^refused to start: ") as caught:
            await server.start()
        text = str(caught.value)
        assert "narrow.onnx input `x` is float32[N, 3]; the contract says float32[rows, 4]" in text
        assert "narrow.onnx output `y` is float32[N, 3]; the contract says float32[rows, 4]" in text
        assert "a@2: " in text
        assert "no such file" in text

    asyncio.run(main())


def test_yesterdays_labels_are_refused(tmp_path: Path) -> None:
    from tests.serving.serve.lab import steps

    moved = moods(tmp_path / "moods.onnx", ["sad", "calm", "glad"])

    async def main() -> None:
        server = InferenceServer(
            **service("Moods"), models=[ModelSpec("", "", str(moved))], steps=steps(), recorded=True, options=OPTIONS
        )
        with pytest.raises(ContractError, match=r"says that class 0 is `sad`.*3 of 3 classes differ"):
            await server.start()

    asyncio.run(main())


def test_a_provider_that_runs_nothing_is_no_reason_to_run_on_the_cpu(model: list[ModelSpec]) -> None:
    """S26."""
    from protocontract.models import Provider

    async def main() -> None:
        server = InferenceServer(**service("Echo"), models=model, options=EngineOptions(providers=(Provider("azure"),)))
        with pytest.raises(ContractError, match=r"^refused to start: same.onnx cannot run on azure"):
            await server.start()

    asyncio.run(main())


def test_an_address_that_is_taken_is_said(model: list[ModelSpec]) -> None:
    async def main() -> None:
        async with serving("Echo", model) as (server, _):
            other = InferenceServer(**service("Echo"), models=model, listen=server.address)
            with pytest.raises(OSError, match="cannot be listened on"):
                await other.start()

    asyncio.run(main())
