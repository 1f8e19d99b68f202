"""Versions side by side: who answers, what a caller is told of one that does not, and change without a stop."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from protocontract.chain import EvidenceLog
from protocontract.serving import ModelSpec
from protocontract.steps import Step
from tests.serving.serve.lab import (
    Engines,
    message,
    moods,
    numbers,
    refusal,
    rows,
    scaled,
    serving,
    steps,
    trailers,
)


def specs(folder: Path, *versions: tuple[str, float, str, float]) -> list[ModelSpec]:
    """Versions that multiply by a factor: version, factor, role, share."""
    return [
        ModelSpec("m", version, str(scaled(folder / f"times-{factor:g}.onnx", factor)), role, share)  # type: ignore[arg-type]
        for version, factor, role, share in versions
    ]


def test_a_caller_gets_the_version_that_it_asks_for(tmp_path: Path) -> None:
    async def main() -> None:
        async with serving("Echo", specs(tmp_path, ("1.0.0", 1, "active", 0), ("2.0.0", 2, "", 0))) as (_, call):
            assert numbers(await call(rows(1))) == [1]
            response = await call(rows(1, model_version="2.0.0"))
            assert (numbers(response), response.model_version) == ([2], "2.0.0")
            code, reason, metadata, text = await refusal(call(rows(1, model_version="9.9.9")))
            assert (code, reason) == ("FAILED_PRECONDITION", "VERSION_MISMATCH")
            assert (metadata["asked"], metadata["served"]) == ("9.9.9", "1.0.0, 2.0.0")
            assert "9.9.9" not in text

    asyncio.run(main())


def test_a_canary_answers_its_share_and_the_same_request_always_the_same_way(tmp_path: Path) -> None:
    made = specs(tmp_path, ("1", 1, "active", 0), ("2", 2, "canary", 0.25))

    async def main() -> None:
        async with serving("Echo", made) as (_, call):
            place = asyncio.Semaphore(20)

            async def ask(number: int) -> float:
                async with place:
                    return numbers(await call(rows(number)))[0] / number

            first = await asyncio.gather(*(ask(number) for number in range(1, 201)))
            assert 30 <= sum(found == 2 for found in first) <= 70
            assert await asyncio.gather(*(ask(number) for number in range(1, 201))) == first
            assert numbers(await call(rows(1, model_version="2"))) == [2]

    asyncio.run(main())


def test_a_shadow_answers_nobody_and_is_compared(tmp_path: Path) -> None:
    engines = Engines()
    made = specs(tmp_path, ("1", 1, "active", 0), ("2", 3, "shadow", 0))

    async def main() -> None:
        async with serving("Echo", made, open_model=engines) as (server, call):
            shadow = engines.by_spec["m@2"]
            shadow.go.clear()
            for number in range(1, 6):  # answered while the shadow hangs
                assert numbers(await call(rows(number))) == [number]
            shadow.go.set()
            await server.shadows.settle()
            found = server.shadows.counts["m@2"]
            assert (found.requests, found.rows, found.max_abs, found.failed) == (5, 5, 10.0, {})
            assert (await refusal(call(rows(1, model_version="2"))))[1] == "VERSION_MISMATCH"

            def fail(outputs: dict[str, Any]) -> dict[str, Any]:
                raise ValueError

            shadow.change = fail
            assert numbers(await call(rows(7))) == [7]
            await server.shadows.settle()
            assert found.failed == {"BatchFailed": 1}

    asyncio.run(main())


def test_versions_come_and_go_while_requests_run(tmp_path: Path) -> None:
    engines = Engines()
    old = specs(tmp_path, ("1", 1, "active", 0))
    new = specs(tmp_path, ("2", 2, "active", 0))

    async def main() -> None:
        async with serving("Echo", old, open_model=engines) as (server, call):
            before = engines.by_spec["m@1"]
            before.begun.clear()
            before.go.clear()
            inside = asyncio.ensure_future(_answer(call(rows(5))))
            while not before.begun.is_set():
                await asyncio.sleep(0.001)
            assert await server.change(new, 20) == []
            assert numbers(await call(rows(5))) == [10]
            assert not before.closed
            before.go.set()  # what was in the old version is answered by it
            assert numbers(await inside) == [5]
            while not before.closed:
                await asyncio.sleep(0.001)
            assert (await refusal(call(rows(1, model_version="1"))))[1] == "VERSION_MISMATCH"

    asyncio.run(main())


def test_a_request_that_is_being_read_when_its_version_goes_is_answered_by_the_next(tmp_path: Path) -> None:
    path = moods(tmp_path / "moods.onnx")
    reading, go = threading.Event(), threading.Event()
    engines = Engines()
    count, tell = steps()

    def slow(saying: Any) -> Any:
        reading.set()
        assert go.wait(120)
        return count.run(saying)

    slow.__annotations__ = count.run.__annotations__
    both = [Step("lab:slow", "1", slow), tell]

    async def main() -> None:
        made = [ModelSpec("m", "1", str(path))]
        with EvidenceLog(tmp_path / "evidence.jsonl") as log:
            async with serving("Moods", made, steps=both, evidence=log, open_model=engines) as (server, call):
                started = asyncio.ensure_future(trailers(call(message("Saying", text="well..."))))
                while not reading.is_set():
                    await asyncio.sleep(0.001)
                assert await server.change([ModelSpec("m", "2", str(path))], 20) == []
                while not engines.by_spec["m@1"].closed:
                    await asyncio.sleep(0.001)
                go.set()
                assert (await started)["protocontract-model"] == "m@2"

    asyncio.run(main())


async def _answer(call: Any) -> Any:
    return await call


def test_a_version_that_cannot_be_loaded_leaves_the_rest_as_it_is(tmp_path: Path) -> None:
    good = specs(tmp_path, ("1", 1, "active", 0))
    narrow = str(scaled(tmp_path / "narrow.onnx", width=3))

    async def main() -> None:
        async with serving("Echo", good) as (server, call):
            (problem,) = await server.change([*good, ModelSpec("m", "2", narrow)])
            assert "narrow.onnx input `x` is float32[N, 3]" in problem
            assert numbers(await call(rows(1))) == [1]
            code, reason, metadata, _ = await refusal(call(rows(1, model_version="2")))
            assert (code, reason, metadata["asked"]) == ("UNAVAILABLE", "DEPLOYMENT_FAILED", "2")
            # As the active one it would leave nobody: the old one goes on, though nobody declares it any more.
            assert len(await server.change([ModelSpec("m", "2", narrow, "active")])) == 1
            assert (await trailers(call(rows(1))))["protocontract-model"] == "m@1"
            # And when it is mended, it serves.
            scaled(tmp_path / "narrow.onnx", 5)
            assert await server.change([ModelSpec("m", "2", narrow, "active")]) == []
            assert numbers(await call(rows(1, model_version="2"))) == [5]

    asyncio.run(main())


def test_another_file_of_the_same_name_is_loaded(tmp_path: Path) -> None:
    engines = Engines()
    path = scaled(tmp_path / "m.onnx", 1)
    spec = [ModelSpec("m", "1", str(path))]

    async def main() -> None:
        async with serving("Echo", spec, open_model=engines) as (server, call):
            first = engines.only
            assert await server.change(spec) == []
            assert engines.only is first
            scaled(path, 4)
            assert await server.change(spec) == []
            assert engines.only is not first
            assert numbers(await call(rows(1))) == [4]
            path.write_bytes(b"broken")
            assert len(await server.change(spec)) == 1
            assert numbers(await call(rows(1))) == [4]
            # What was loaded of it goes on, in the role that it has now.
            other = [ModelSpec("m", "1", str(path)), ModelSpec("m", "2", str(scaled(tmp_path / "n.onnx", 8)), "active")]
            assert len(await server.change(other)) == 1
            assert numbers(await call(rows(1))) == [8]
            assert numbers(await call(rows(1, model_version="1"))) == [4]

    asyncio.run(main())


def test_roles_change_without_loading_anything(tmp_path: Path) -> None:
    engines = Engines()
    made = specs(tmp_path, ("1", 1, "active", 0), ("2", 2, "", 0))

    async def main() -> None:
        async with serving("Echo", made, open_model=engines) as (server, call):
            opened: list[ModelSpec] = []
            engines.opening = opened.append
            await server.change(specs(tmp_path, ("1", 1, "", 0), ("2", 2, "active", 0)))
            assert opened == []
            assert numbers(await call(rows(1))) == [2]
            assert numbers(await call(rows(1, model_version="1"))) == [1]

    asyncio.run(main())


def test_a_model_may_be_called_otherwise_when_the_new_one_is_there(tmp_path: Path) -> None:
    engines = Engines()
    old = specs(tmp_path, ("1", 1, "active", 0))
    path = scaled(tmp_path / "new.onnx", 6)

    async def main() -> None:
        async with serving("Echo", old, open_model=engines) as (server, call):
            assert len(await server.change([ModelSpec("n", "1", str(tmp_path / "absent.onnx"))])) == 1
            assert numbers(await call(rows(1))) == [1]
            assert await server.change([ModelSpec("n", "1", str(path))]) == []
            assert (await trailers(call(rows(1))))["protocontract-model"] == "n@1"
            assert [table.name for table in server.versions.tables] == ["n"]
            while not engines.by_spec["m@1"].closed:
                await asyncio.sleep(0.001)

    asyncio.run(main())


def test_a_declaration_without_sense_changes_nothing(tmp_path: Path) -> None:
    from protocontract.violations import ContractError

    async def main() -> None:
        async with serving("Echo", specs(tmp_path, ("1", 1, "active", 0))) as (server, call):
            with pytest.raises(ContractError, match="has no active version"):
                await server.change(specs(tmp_path, ("2", 2, "shadow", 0)))
            assert numbers(await call(rows(1))) == [1]

    asyncio.run(main())
