"""What a refusal costs, who is refused first, and what a storm of requests leaves behind."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import grpc.aio
import pytest

from protocontract.serving import ModelSpec
from protocontract.serving.door import Door, TokenBucket
from protocontract.serving.methods import Methods
from protocontract.serving.rejection import Rejected
from tests.serving.red.support import asked, contracts, message, serving
from tests.serving.serve import lab
from tests.serving.serve.lab import Engines, refusal, scaled


@pytest.fixture
def model(tmp_path: Path) -> list[ModelSpec]:
    return [ModelSpec("same", "1", str(scaled(tmp_path / "same.onnx")))]


def door(clock: Any) -> Door:
    known = {each.full_name: each for each in contracts().values()}
    pool: Any = contracts()["Asked"].message_type.DESCRIPTOR.file.pool
    method = Methods(known, pool).find("/red.v1.Rated/Run")
    assert method is not None
    return Door(method, clock)


def test_a_deadline_that_has_passed_and_a_size_cost_no_token_and_a_bad_message_has_paid(model: list[ModelSpec]) -> None:
    at_door = door(lambda: 0.0)
    for size, left in ((10, 0.0), (10, -1.0), (1001, 5.0), (10**9, None)):
        with pytest.raises(Rejected) as caught:
            at_door.enter(size, left)
        assert caught.value.code == ("DEADLINE_EXCEEDED" if size == 10 else "RESOURCE_EXHAUSTED")
    for _ in range(3):
        at_door.enter(10, 1.0)
    with pytest.raises(Rejected) as caught:
        at_door.enter(10, 1.0)
    assert caught.value.reason == "RATE_LIMIT"

    async def main() -> None:
        async with serving("Rated", model) as (_, call):
            for _ in range(5):
                assert (await refusal(call("Rated/Run", asked(*[1.0] * 100))))[1] == "REQUEST_TOO_LARGE"
            assert (await call("Rated/Run", asked(1))).y == asked(1).x  # the first token
            assert (await refusal(call("Rated/Run", asked(float("nan")))))[0] == "INVALID_ARGUMENT"
            assert (await refusal(call("Rated/Run", b"\xff")))[0] == "INVALID_ARGUMENT"
            code, reason, _, _ = await refusal(call("Rated/Run", asked(1)))
            assert (code, reason) == ("RESOURCE_EXHAUSTED", "RATE_LIMIT")

    asyncio.run(main())


def test_a_clock_that_steps_back_gives_and_takes_nothing() -> None:
    now = [100.0]
    bucket = TokenBucket(1.0, 2, lambda: now[0])
    assert [bucket.take() for _ in range(3)] == [True, True, False]
    now[0] = -1e9
    assert not bucket.take()
    now[0] = 100.5
    assert not bucket.take()
    now[0] = 101.0
    assert [bucket.take() for _ in range(2)] == [True, False]
    now[0] = 1e18  # asleep for ages: no more than the burst
    assert [bucket.take() for _ in range(3)] == [True, True, False]


def test_the_servers_longest_deadline_holds_against_callers_that_have_time(model: list[ModelSpec]) -> None:
    """max_deadline is 0.3 s here: with a deadline of ages, without one, and while the model hangs."""

    async def main() -> None:
        engines = Engines()
        async with serving("Rated", model, open_model=engines) as (_, call):
            engines.only.go.clear()
            calls = [call("Rated/Run", asked(1), timeout=each) for each in (None, 3600.0, 1e8)]
            found = await asyncio.wait_for(asyncio.gather(*map(refusal, calls)), 120)
            assert {(code, reason) for code, reason, _, _ in found} == {("DEADLINE_EXCEEDED", "DEADLINE")}
            engines.only.go.set()

    asyncio.run(main())


def test_a_storm_of_retries_leaves_nothing_behind(model: list[ModelSpec]) -> None:
    """Refused callers ask again at once, with the same request: each gets one answer, the surplus is refused at once,
    and the model runs no request twice."""

    async def main() -> None:
        engines = Engines()
        async with lab.serving("Echo", model, open_model=engines) as (server, call):
            held = engines.only
            held.batches.clear()  # the warm-up's
            held.go.clear()
            told: Counter[str] = Counter()

            async def insist(number: int) -> None:
                while True:
                    try:
                        got = await call(lab.rows(number))
                    except grpc.aio.AioRpcError as error:
                        told[error.code().name] += 1
                        if told.total() > 500:
                            held.go.set()
                    else:
                        assert lab.numbers(got) == [number]
                        return

            await asyncio.gather(*(insist(number) for number in range(120)))
            assert set(told) == {"RESOURCE_EXHAUSTED"}
            ran = [float(row[0]) for batch in held.batches for row in batch["x"]]
            assert sorted(ran) == [float(number) for number in range(120)]
            assert server.versions.waiting == 0

    asyncio.run(main())


def test_one_id_for_many_requests(model: list[ModelSpec]) -> None:
    """A retry may come while its first attempt is inside: an id is no key, and each gets its own rows."""

    async def main() -> None:
        async with lab.serving("Echo", model) as (_, call):
            calls = [call(lab.rows(number, request_id="the same")) for number in range(30)]
            got = await asyncio.gather(*calls)
            assert [lab.numbers(each) for each in got] == [[number] for number in range(30)]

    asyncio.run(main())


def test_a_canary_has_its_share(tmp_path: Path) -> None:
    """Exact within what chance allows; by the request's bytes, so a retry goes the same way; none at 0, all at 1."""
    paths = [str(scaled(tmp_path / f"{factor}.onnx", factor)) for factor in (1, 2)]

    async def main(share: float) -> int:
        models = [ModelSpec("m", "1", paths[0]), ModelSpec("m", "2", paths[1], role="canary", share=share)]
        async with lab.serving("Echo", models) as (server, call):
            table = server.versions.tables[0]
            raws = [lab.rows(1, request_id=f"{each}").SerializeToString() for each in range(4000)]
            chosen = [table.choose("", raw).spec.version for raw in raws]
            assert chosen == [table.choose("", raw).spec.version for raw in raws]
            got = await asyncio.gather(*(call(lab.rows(1, request_id=f"{each}")) for each in range(20)))
            assert [str(int(lab.numbers(each)[0])) for each in got] == chosen[:20]
            return chosen.count("2")

    assert asyncio.run(main(0.0)) == 0
    assert asyncio.run(main(1.0)) == 4000
    assert 800 <= asyncio.run(main(0.2 + 0.025)) <= 1000  # 900, four standard deviations


def test_an_unknown_method_and_an_unknown_service(model: list[ModelSpec]) -> None:
    async def main() -> None:
        async with serving("Rated", model) as (_, call):
            for path in ("Rated/Walk", "Unrated/Run"):
                with pytest.raises(grpc.aio.AioRpcError) as caught:
                    await call(path, message("Asked"))
                assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED

    asyncio.run(main())
