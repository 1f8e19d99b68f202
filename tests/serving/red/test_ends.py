"""How things end: who is waited for when the service stops, what a step may raise, which limit speaks."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import grpc.aio
import pytest

from protocontract.chain import EvidenceLog, verify
from protocontract.serving import ModelSpec
from protocontract.steps import Step
from tests.serving.red.support import asked
from tests.serving.red.support import serving as red
from tests.serving.serve.lab import (
    Caller,
    Engines,
    Held,
    message,
    moods,
    numbers,
    refusal,
    rows,
    scaled,
    serving,
    steps,
)

#: Longer than any test takes: who waits for it fails.
FOR_EVER = 3600.0


@pytest.fixture
def pair(tmp_path: Path) -> tuple[str, str]:
    return str(scaled(tmp_path / "a.onnx", 2)), str(scaled(tmp_path / "b.onnx", 3))


async def begun(held: Held) -> None:
    assert await asyncio.to_thread(held.begun.wait, 20)


def hold(held: Held) -> Held:
    held.go.clear()
    held.begun.clear()
    return held


def test_a_shadow_that_hangs_delays_neither_answers_nor_the_end(pair: tuple[str, str]) -> None:
    async def main() -> None:
        engines = Engines()
        models = [ModelSpec("m", "1", pair[0]), ModelSpec("m", "2", pair[1], role="shadow")]
        async with serving("Echo", models, open_model=engines) as (server, call):
            shadow = hold(engines.by_spec["m@2"])
            assert numbers(await call(rows(1))) == [2]
            await begun(shadow)
            for _ in range(3):  # the shadow's queue grows, and nobody's answer waits for it
                assert numbers(await call(rows(1))) == [2]
            assert await asyncio.wait_for(server.stop(FOR_EVER), 120) == 0
            shadow.go.set()

    asyncio.run(main())


def test_a_model_that_runs_for_nobody_is_not_waited_for(pair: tuple[str, str]) -> None:
    async def main() -> None:
        engines = Engines()
        async with serving("Echo", [ModelSpec("m", "1", pair[0])], open_model=engines) as (server, call):
            held = hold(engines.only)
            given_up = call(rows(1))
            await begun(held)
            given_up.cancel()
            with pytest.raises(asyncio.CancelledError):
                await given_up
            assert await asyncio.wait_for(server.stop(FOR_EVER), 120) == 0
            held.go.set()

    asyncio.run(main())


def test_a_version_that_leaves_has_no_more_time_than_the_end(pair: tuple[str, str]) -> None:
    async def main() -> None:
        engines = Engines()
        async with serving("Echo", [ModelSpec("m", "1", pair[0])], open_model=engines) as (server, call):
            held = hold(engines.only)
            inside = asyncio.ensure_future(refusal(call(rows(1))))
            await begun(held)
            assert await server.change([ModelSpec("m", "2", pair[1])], FOR_EVER) == []
            assert numbers(await call(rows(1))) == [3]
            assert await asyncio.wait_for(server.stop(0.1), 120) == 1
            code, reason, _, _ = await inside
            assert (code, reason) == ("UNAVAILABLE", "DRAINING")
            held.go.set()

    asyncio.run(main())


def test_the_end_comes_while_a_version_is_being_loaded(pair: tuple[str, str]) -> None:
    """Two changes and the end at the same time: the first change loads, the second waits, the end does not."""

    async def main() -> None:
        engines = Engines()
        go, loading = asyncio.Event(), asyncio.Event()
        loop = asyncio.get_running_loop()

        def opening(spec: ModelSpec) -> None:
            if spec.version == "2":
                loop.call_soon_threadsafe(loading.set)
                asyncio.run_coroutine_threadsafe(go.wait(), loop).result(20)

        engines.opening = opening
        async with serving("Echo", [ModelSpec("m", "1", pair[0])], open_model=engines) as (server, call):
            changes = [loop.create_task(server.change([ModelSpec("m", each, pair[1])])) for each in ("2", "3")]
            await asyncio.wait_for(loading.wait(), 120)
            assert numbers(await call(rows(1))) == [2]
            assert await asyncio.wait_for(server.stop(5), 120) == 0
            go.set()
            await asyncio.gather(*changes)

    asyncio.run(main())


RAISED = [SystemExit("text of the data"), KeyboardInterrupt(), asyncio.CancelledError(), StopIteration(5)]


def test_a_step_that_wants_to_end_the_process_fails_its_request_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    raising = list(RAISED)

    def count(saying: Any) -> Any:
        if raising:
            raise raising.pop(0)
        return made.run(saying)

    made, tell = steps()
    count.__annotations__ = made.run.__annotations__

    async def main() -> None:
        with EvidenceLog(tmp_path / "evidence.jsonl") as log:
            models = [ModelSpec("moods", "1", str(moods(tmp_path / "moods.onnx")))]
            async with serving("Moods", models, steps=[Step("lab:count", "3", count), tell], evidence=log) as (_, call):
                for error in RAISED:
                    code, reason, _, text = await refusal(call(message("Saying", text="hello")))
                    assert (code, reason) == ("INTERNAL", "STEP_FAILED")
                    assert text == f"lab:count failed ({type(error).__name__})"
                assert (await call(message("Saying", text="hello."))).feeling

    asyncio.run(main())
    found = verify(tmp_path / "evidence.jsonl")
    assert (found.problem, found.closed, found.failed, found.open_requests) == (None, 1, 4, ())
    assert "of the data" not in caplog.text


def test_the_limit_that_speaks_is_the_contracts_and_of_its_own_method(tmp_path: Path) -> None:
    """gRPC has one limit for all methods: the small one of a method is not another's, and is told by us."""
    model = [ModelSpec("same", "1", str(scaled(tmp_path / "same.onnx")))]

    async def main() -> None:
        async with red("Rated", model) as (_, call):
            large = asked(*[1.0] * 200_000)  # 3.2 MB
            code, reason, metadata, _ = await refusal(call("Rated/Run", large))
            assert (code, reason, metadata["limit"]) == ("RESOURCE_EXHAUSTED", "REQUEST_TOO_LARGE", "1000")
            code, reason, _, _ = await refusal(call("Rated/RunLarge", large))
            assert (code, reason) == ("RESOURCE_EXHAUSTED", "BATCH_TOO_LARGE")  # it came in
            assert (await call("Rated/RunLarge", asked(*[1.0] * 100_000))).y == asked(*[1.0] * 100_000).x

    asyncio.run(main())


def test_callers_that_go_leave_no_error_in_the_log(pair: tuple[str, str], caplog: pytest.LogCaptureFixture) -> None:
    """A storm of callers that give up and ask again: by their deadline, by cancelling, by closing their channel."""

    async def main() -> None:
        engines = Engines()
        async with serving("Echo", [ModelSpec("m", "1", pair[0])], open_model=engines) as (server, call):
            held = hold(engines.only)
            async with grpc.aio.insecure_channel(server.address) as other:
                calls = [call(rows(1), timeout=0.02) for _ in range(20)]
                mine = [Caller(other)(rows(2)) for _ in range(10)]
                ended = await asyncio.gather(*calls, return_exceptions=True)
                assert {each.code().name for each in ended} <= {"DEADLINE_EXCEEDED", "RESOURCE_EXHAUSTED"}  # type: ignore[union-attr]
                for each in mine[:5]:
                    each.cancel()
            held.go.set()
            await asyncio.gather(*mine, return_exceptions=True)
            assert numbers(await call(rows(3))) == [6]
            assert await server.stop(20) == 0

    caplog.set_level(logging.WARNING)
    asyncio.run(main())
    assert [each.getMessage() for each in caplog.records] == []
