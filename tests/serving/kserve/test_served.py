"""A contracted service of our own whose model is at another server: ``serve --model grpc://...``."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from protocontract.serving import EngineOptions, ModelSpec
from tests.serving.kserve.support import SCALE, Behavior, ModelServer, array_of, declared, doubled, proxied, served
from tests.serving.serve.lab import numbers, refusal, rows, serving, trailers


def spec(address: str, scheme: str = "grpc") -> list[ModelSpec]:
    return [ModelSpec("scale", "1", f"{scheme}://{address}/scale")]


def only(behavior: Behavior) -> ModelServer:
    return ModelServer({"scale": (*SCALE, behavior)})


@pytest.mark.parametrize("scheme", ["grpc", "http"])
def test_a_service_makes_batches_for_a_model_elsewhere(scheme: str) -> None:
    seen: list[int] = []

    def note(request: Any) -> Any:
        seen.append(len(array_of(request)))
        return doubled(request)

    async def main(address: str) -> None:
        # Only a full batch, of eight rows, starts.
        async with serving("Patient", spec(address, scheme)) as (_, call):
            seen.clear()  # of the row that warmed it up
            calls = [call(rows(at), path="/lab.v1.Patient/Run") for at in range(8)]
            answers = await asyncio.gather(*calls)
            assert [numbers(each) for each in answers] == [[2 * at] for at in range(8)]
            assert seen == [8]
            assert await trailers(calls[0]) == {
                "protocontract-model": "scale@1",
                "protocontract-provider": f"kserve-{scheme}",
            }

    models = [declared("scale", "ScaleIn", "ScaleOut")]
    with served(only(note)) as server, proxied(server.address, models) as running:
        # The proxy speaks REST as servers do.
        asyncio.run(main(server.address if scheme == "grpc" else running.rest))


def test_a_model_elsewhere_that_hangs() -> None:
    over = threading.Event()

    def hang(request: Any) -> Any:
        if array_of(request)[0, 0] == 7:
            over.wait(120)
        return doubled(request)

    async def main(address: str) -> None:
        async with serving("Echo", spec(address), options=EngineOptions(remote_timeout=1.0)) as (_, call):
            code, *_, text = await refusal(call(rows(7)))
            assert code == "INTERNAL"
            assert "the model server did not answer in time (DEADLINE_EXCEEDED)" in text
            assert numbers(await call(rows(1))) == [2]
            over.set()

    with served(only(hang)) as server:
        asyncio.run(main(server.address))


@pytest.mark.parametrize("what", ["cut", "rows"])
def test_what_comes_back_in_another_form_is_no_answer(what: str) -> None:
    def bad(request: Any) -> Any:
        found = doubled(request)
        if array_of(request).any():
            if what == "rows":
                found.outputs[0].shape[0] += 1
                found.raw_output_contents[0] += bytes(16)
            else:
                found.raw_output_contents[0] = found.raw_output_contents[0][:-4]
        return found

    async def main(address: str) -> None:
        async with serving("Echo", spec(address)) as (_, call):
            code, *_ = await refusal(call(rows(1)))
            assert code == "INTERNAL"

    with served(only(bad)) as server:
        asyncio.run(main(server.address))
