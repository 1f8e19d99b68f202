"""Batches of many callers: nobody gets a neighbour's row, and nobody waits for anything but the batch and the model.

S02 to S37 are scenarios of tests/cases/serving; those of time alone are in test_batcher_times.py.
"""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
import threading
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from protocontract.models import (
    Batcher,
    BatchError,
    BatchFailed,
    BatchSizes,
    Draining,
    Model,
    OutOfTime,
    QueueFull,
    Ran,
    RunFailed,
    TooManyRows,
    WrongInput,
    WrongRows,
)
from protocontract.violations import ContractError
from tests.models.echo import Bench, Echo, rows
from tests.models.support import model
from tests.models.virtual import VirtualLoop, VirtualRunner, virtually


def identity(path: Path) -> Path:
    """x int64[N, 2] -> y, in ONNX."""
    shapes = [helper.make_tensor_value_info(name, TensorProto.INT64, ["N", 2]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "echo", shapes[:1], shapes[1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8), str(path))
    return path


def means(path: Path) -> Path:
    """x float[N, T] -> y[N], the mean over T."""
    shapes = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", "T"]),
        helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N"]),
    ]
    graph = helper.make_graph(
        [helper.make_node("ReduceMean", ["x"], ["y"], axes=[1], keepdims=0)], "means", shapes[:1], shapes[1:]
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8), str(path))
    return path


# -- whose rows are whose (S02, S03, S07, S08, S24)


@pytest.mark.parametrize("sizes", [None, BatchSizes(32)], ids=["as they come", "filled up"])
def test_a_thousand_callers_get_their_own_rows(tmp_path: Path, sizes: BatchSizes | None) -> None:
    echo = Model(identity(tmp_path / "echo.onnx"), threads=1)
    chance = random.Random(7)
    counts = [chance.randint(1, 12) for _ in range(1000)]
    gone: set[int] = set()

    async def call(batcher: Batcher, number: int) -> None:
        for _ in range(chance.randint(0, 5)):
            await asyncio.sleep(0)
        future = batcher.submit({"x": rows(number, counts[number])})
        if number % 7 == 3:
            for _ in range(number % 5):
                await asyncio.sleep(0)
            if future.cancel():
                gone.add(number)
                return
        answer = await future
        assert np.array_equal(answer.outputs["y"], rows(number, counts[number]))
        assert answer.facts.rows <= 32
        assert answer.facts.padding == (sizes.fit(answer.facts.rows) - answer.facts.rows if sizes else 0)
        answer.outputs["y"][:] = -1  # whoever changes its own changes nobody's

    async def everybody() -> None:
        batcher = Batcher(echo.run, max_size=32, max_wait=0.001, queue=1000, sizes=sizes)
        await asyncio.gather(*(call(batcher, number) for number in range(1000)))
        assert await batcher.drain(60) == 0
        assert (batcher.waiting, batcher.running) == (0, 0)

    asyncio.run(everybody())
    assert len(gone) > 50


def test_who_cancels_takes_its_rows_out() -> None:
    async def test(loop: VirtualLoop) -> None:
        bench = Bench(loop)
        callers = [bench.submit(number, 2) for number in range(3)]
        await asyncio.sleep(0.01)
        callers[0].cancel()  # the first: the next one's wait counts now
        await asyncio.sleep(0)
        assert bench.batcher.waiting == 2
        late = bench.submit(9)
        await asyncio.wait([*callers[1:], late])
        assert bench.seen() == [[1, 1, 2, 2, 9]]
        callers = [bench.submit(number) for number in (6, 7)]
        callers[1].cancel()
        await asyncio.sleep(0)
        assert bench.batcher.waiting == 1
        await callers[0]
        running = [bench.submit(number, 4) for number in (4, 5)]
        running[0].cancel()
        assert np.array_equal((await running[1]).outputs["y"], rows(5, 4))

    virtually(test)


@pytest.mark.parametrize("more", [-1, 1])
def test_another_number_of_rows_is_everybodys_error(more: int) -> None:
    async def test(loop: VirtualLoop) -> None:
        bench = Bench(loop, sizes=BatchSizes(8))
        bench.echo.more = [more]
        callers = [bench.submit(number, number) for number in (1, 2)]
        found = await asyncio.gather(*callers, return_exceptions=True)
        assert len({id(each) for each in found}) == 2
        for error in found:
            assert isinstance(error, WrongRows)
            assert str(error) == f"output `y` of a batch of 4 rows; expected 4 rows, got {4 + more}"
            assert (error.code, error.given, error.returned) == ("INTERNAL", 4, 4 + more)
            assert error.texts() == {
                "model": "abc", "provider": "cpu", "batch_rows": "3", "batch_padding": "1", "batch_requests": "2",
                "output": "y", "rows_given": "4", "rows_returned": str(4 + more),
            }  # fmt: skip
        assert np.array_equal((await bench.submit(3, 3)).outputs["y"], rows(3, 3))

    virtually(test)


def test_answers_share_no_memory() -> None:
    async def test(loop: VirtualLoop) -> None:
        bench = Bench(loop)
        answers = await asyncio.gather(*(bench.submit(number, 2) for number in range(3)))
        # What is a part of the batch's array would keep all of it, and lead to the neighbours.
        assert [answer.outputs["y"].base for answer in answers] == [None] * 3

    virtually(test)


def test_an_output_without_rows() -> None:
    async def test(loop: VirtualLoop) -> None:
        batcher = Batcher(
            lambda inputs: Ran({"y": np.float32(1)}, "cpu", {}), max_size=1, max_wait=0, queue=1,
            runner=VirtualRunner(loop, 0),
        )  # fmt: skip
        with pytest.raises(WrongRows, match="expected 1 rows, got no array of rows"):
            await batcher.submit({"x": rows(1, 1)})

    virtually(test)


def test_shapes_and_dtypes_are_not_mixed(tmp_path: Path) -> None:
    mean = Model(means(tmp_path / "means.onnx"), threads=1)
    numbers = np.random.default_rng(5)
    inputs = [numbers.normal(size=(1, width)).astype("float32") for width in (5, 9, 5, 9, 9)]

    async def test(loop: VirtualLoop) -> None:
        batcher = Batcher(mean.run, max_size=8, max_wait=0.02, queue=9, runner=VirtualRunner(loop, 0.001))
        answers = await asyncio.gather(*(batcher.submit({"x": each}) for each in inputs))
        assert [answer.facts.rows for answer in answers] == [2, 3, 2, 3, 3]
        for given, answer in zip(inputs, answers, strict=True):
            assert np.allclose(answer.outputs["y"], mean.run({"x": given}).outputs["y"], atol=1e-6)
        wrong = batcher.submit({"x": inputs[0].astype("float64")})
        right = batcher.submit({"x": inputs[0]})
        with pytest.raises(BatchFailed, match="input `x` is float64") as failed:
            await wrong
        assert isinstance(failed.value.__cause__, WrongInput)
        assert (await right).facts.rows == 1

    virtually(test)


def test_a_row_is_the_same_in_any_batch_and_beside_nan(tmp_path: Path) -> None:
    scores = Model(model(tmp_path / "m.onnx"), threads=1)
    numbers = np.random.default_rng(6).normal(size=(8, 8)).astype("float32")
    alone = scores.run({"x": numbers[:1]}).outputs["scores"]

    async def test(loop: VirtualLoop) -> None:
        batcher = Batcher(scores.run, max_size=8, max_wait=0.02, queue=9, runner=VirtualRunner(loop, 0.001))
        for others in (0, 1, 7):
            given = numbers.copy()
            given[1] = np.nan
            mine, *_ = await asyncio.gather(*(batcher.submit({"x": row[None]}) for row in given[: others + 1]))
            assert (mine.facts.rows, mine.facts.provider) == (others + 1, "cpu")
            assert np.allclose(mine.outputs["scores"], alone, atol=1e-6)
            assert mine.outputs["scores"].argmax() == alone.argmax()

    virtually(test)


# -- what is refused (SD6, S21)


def test_more_than_the_queue_is_refused_at_once_and_not_kept() -> None:
    async def test(loop: VirtualLoop) -> None:
        bench = Bench(loop)
        kept: list[asyncio.Future[Any]] = []
        refused: list[weakref.ref[Any]] = []
        given: Any = None
        for number in range(500):
            given = rows(number, 1)
            try:
                kept.append(bench.batcher.submit({"x": given}))
            except QueueFull:
                refused.append(weakref.ref(given))
        given = None
        assert (len(kept), len(refused), loop.now) == (108, 392, 0)  # 8 are in the model
        assert bench.batcher.waiting == 100
        assert [each for each in refused if each() is not None] == []
        answers = await asyncio.gather(*kept)
        assert [answer.outputs["y"][0, 0] for answer in answers] == list(range(108))
        assert (bench.batcher.waiting, bench.batcher.running) == (0, 0)

    virtually(test)


def test_nothing_is_kept_of_what_is_done() -> None:
    async def test(loop: VirtualLoop) -> None:
        bench = Bench(loop)
        bench.echo.batches = _Nothing()
        for wave in range(50):
            given = [rows(number, 1 + wave % 3, 2 + wave) for number in range(20)]
            remembered = [weakref.ref(each) for each in given]
            futures = [bench.batcher.submit({"x": each}, loop.now + 100) for each in given]
            futures[3].cancel()
            await asyncio.wait(futures)
            del given, futures
            await asyncio.sleep(0)
            assert [each for each in remembered if each() is not None] == []
        assert not bench.batcher._groups
        assert not bench.batcher._full

    virtually(test)


def test_the_thread_keeps_no_batch() -> None:
    def run(inputs: Mapping[str, Any]) -> Ran:
        return Ran({"y": inputs["x"].copy()}, "cpu", {})

    async def test() -> None:
        batcher = Batcher(run, max_size=1, max_wait=0, queue=1)
        given = rows(1, 1)
        kept = weakref.ref(given)
        await batcher.submit({"x": given})
        del given
        for _ in range(6000):  # the thread may still be on its way back
            if kept() is None:
                break
            await asyncio.sleep(0.01)
        assert kept() is None
        batcher.close()

    asyncio.run(test())


class _Nothing(list[Any]):
    def append(self, item: Any) -> None:
        """Forgotten."""


@pytest.mark.parametrize(
    ("inputs", "error", "message"),
    [
        ({"x": rows(1, 9)}, TooManyRows, "a request of 9 rows; expected 8 at most, the batch's max_size"),
        ({}, WrongInput, "no rows; expected one at least"),
        ({"x": rows(1, 0)}, WrongInput, "no rows; expected one at least"),
        ({"x": [[1]]}, WrongInput, "input `x` is list; expected an array with rows on axis 0"),
        ({"x": np.array(1)}, WrongInput, "input `x` is ndarray; expected an array with rows on axis 0"),
        ({"a": rows(1, 2), "x": rows(1, 3)}, WrongInput, "input `x` has 3 rows; expected 2, as the inputs before it"),
    ],
)
def test_requests_that_are_refused(inputs: Any, error: type[Exception], message: str) -> None:
    async def test(loop: VirtualLoop) -> None:
        bench = Bench(loop)
        with pytest.raises(error) as found:
            bench.batcher.submit(inputs)
        assert str(found.value) == message
        assert bench.batcher.waiting == 0

    virtually(test)


def test_a_deadline_that_has_passed() -> None:
    async def test(loop: VirtualLoop) -> None:
        bench = Bench(loop)
        with pytest.raises(OutOfTime, match="had passed before"):
            bench.submit(1, within=0)

    virtually(test)


@pytest.mark.parametrize(
    "options",
    [
        {"max_size": 0}, {"queue": 0}, {"max_wait": -1}, {"max_wait": float("nan")}, {"max_wait": float("inf")},
        {"sizes": BatchSizes(4)}, {"max_deadline": 0},
    ],
)  # fmt: skip
def test_options_that_make_no_sense(options: dict[str, Any]) -> None:
    async def test(loop: VirtualLoop) -> None:
        with pytest.raises(ContractError, match="expected"):
            Bench(loop, **options)

    virtually(test)


# -- what fails


@pytest.mark.parametrize(
    ("raised", "text"),
    [
        (RunFailed("m.onnx: out of memory", "memory"), "m.onnx: out of memory"),
        (ValueError("4711 is a secret"), "running the batch raised ValueError"),
        (SystemExit(1), "running the batch raised SystemExit"),
    ],
)
def test_a_batch_that_fails_is_one_batch(raised: BaseException, text: str) -> None:
    failures = [raised]
    echo = Echo()

    def run(inputs: Mapping[str, Any]) -> Ran:
        if failures:
            raise failures.pop()
        return echo(inputs)

    async def test() -> None:
        batcher = Batcher(run, max_size=4, max_wait=60, queue=9)
        found = await asyncio.gather(*(batcher.submit({"x": rows(1, 2)}) for _ in range(2)), return_exceptions=True)
        assert found[0] is not found[1]
        for error in found:
            assert isinstance(error, BatchFailed)
            assert (str(error), error.code, error.__cause__) == (text, "INTERNAL", raised)
        assert np.array_equal((await batcher.submit({"x": rows(2, 4)})).outputs["y"], rows(2, 4))
        batcher.close()

    asyncio.run(test())


def test_a_thread_that_cannot_be_had() -> None:
    class NoThread(VirtualRunner):
        def start(self, work: Any) -> None:
            raise RuntimeError("can't start new thread")

    async def test(loop: VirtualLoop) -> None:
        batcher = Batcher(Echo(), max_size=1, max_wait=0, queue=9, runner=NoThread(loop, 0))
        for _ in range(2):
            with pytest.raises(BatchFailed, match="raised RuntimeError"):
                await batcher.submit({"x": rows(1, 1)})

    virtually(test)


# -- the end (S37)


def test_draining_ends_what_waits_well() -> None:
    async def test(loop: VirtualLoop) -> None:
        bench = Bench(loop, 1.0, max_wait=60.0)
        callers = [bench.submit(0, 8), *(bench.submit(number) for number in range(1, 11))]
        end = asyncio.ensure_future(bench.batcher.drain(30))
        await asyncio.sleep(0)
        with pytest.raises(Draining, match="takes no more requests") as error:
            bench.submit(99)
        assert error.value.code == "UNAVAILABLE"
        await asyncio.gather(*callers)
        # Two batches more, without the minute that nobody can use any more.
        assert (await end, loop.now, bench.runner.stopped) == (0, 3.0, True)

    virtually(test)


def test_draining_ends_the_rest_clearly() -> None:
    async def test(loop: VirtualLoop) -> None:
        bench = Bench(loop, 1.0)
        callers = [bench.submit(number, 8) for number in range(4)]
        assert await bench.batcher.drain(1.5) == 3
        assert loop.now == 1.5
        found = await asyncio.gather(*callers, return_exceptions=True)
        assert np.array_equal(found[0].outputs["y"], rows(0, 8))  # type: ignore[union-attr]
        assert [str(each) for each in found[1:]] == [
            "the service stopped before its batch was done",
            "the service stopped before its turn came",
            "the service stopped before its turn came",
        ]
        await asyncio.sleep(5)
        assert bench.seen() == [[0] * 8, [1] * 8]
        assert await bench.batcher.drain(1) == 0

    virtually(test)


def test_a_model_that_hangs_keeps_no_process() -> None:
    script = """
import asyncio, threading
import numpy as np
from protocontract.models import Batcher

async def main():
    batcher = Batcher(lambda inputs: threading.Event().wait(), max_size=1, max_wait=0, queue=1)
    future = batcher.submit({"x": np.zeros((1, 1))})
    print(await batcher.drain(0), future.exception())

asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=180, check=True)
    assert done.stdout == "1 the service stopped before its batch was done\n"


def test_an_answer_after_the_loops_end_is_nobodys() -> None:
    go, over = threading.Event(), threading.Event()

    def run(inputs: Mapping[str, Any]) -> Ran:
        go.wait()
        over.set()
        return Ran({}, "cpu", {})

    async def test() -> None:
        Batcher(run, max_size=1, max_wait=0, queue=1).submit({"x": rows(1, 1)}).cancel()

    asyncio.run(test())
    threads = [each for each in threading.enumerate() if each.name == "protocontract-batches" and each.is_alive()]
    go.set()
    assert over.wait(180)
    assert threads


def test_needs_no_grpc() -> None:
    script = "import sys, protocontract.models.batcher; print('grpc' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_every_error_says_its_status() -> None:
    codes = {error.__name__: error.code for error in BatchError.__subclasses__()}
    assert codes == {
        "TooManyRows": "RESOURCE_EXHAUSTED", "QueueFull": "RESOURCE_EXHAUSTED", "OutOfTime": "DEADLINE_EXCEEDED",
        "Draining": "UNAVAILABLE", "BatchFailed": "INTERNAL", "WrongRows": "INTERNAL",
    }  # fmt: skip
