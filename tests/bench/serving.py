"""``python -m tests.bench.serving``: what `protocontract serve` holds under load, on the loopback interface.

Three parts, on servers of their own (`protocontract serve` in a process, one thread for the model):

    batching    a model that is bound by its weights (three products with 2048 x 2048 numbers), as fast as 64 callers
                take answers, with batches and without, in alternating rounds. Exits with 1 where batches give less
                than 2x.
    load        the same model, eight rows a request, so that the model is what there is too little of. Requests come at
                random times at 80 % of what 64 callers got, one in fifty breaks its contract; then at twice of that.
                Exits with 1 where less than 99 % of the valid ones are answered within their deadline at 80 %, or less
                than 80 % of capacity at twice capacity.
    contract    a model that gives back what it gets: 1,000 callers with numbers of their own, in rows of random number.
                Exits with 1 for a row that is not its caller's. Tells how much of the server's processor time the
                contracts of request and response take.

The callers run in this process, so server and callers share the cores.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import grpc
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from protocontract.contract import Contract
from protocontract_compiler.dynamic import load_protos

WIDTH: Final = 2048
CALLERS: Final = 64
DEADLINE: Final = 0.5

PROTO: Final = """
syntax = "proto3";
package load.v1;
import "buf/validate/validate.proto";
import "protocontract/v1/contract.proto";

service Weights {
  rpc Run(Numbers) returns (Sums) {
    option (protocontract.v1.service_level) = {
      deadline: {nanos: 500000000} max_deadline: {seconds: 5} queue: 64 batch: {max_size: 32 max_wait: {nanos: 2000000}}
    };
  }
}
message Numbers {
  bytes x = 1 [(buf.validate.field).required = true, (protocontract.v1.field).tensor = {
    name: "x" dtype: FLOAT32 dims: ["rows", "2048"] batched: true finite: true
    bounds: {key: "rows" value: {min: 1 max: 32}}
  }];
}
message Sums {
  bytes y = 1 [(protocontract.v1.field).tensor = {
    name: "y" dtype: FLOAT32 dims: ["rows", "8"] batched: true finite: true
  }];
}
service Echo {
  rpc Run(Rows) returns (Same) {
    option (protocontract.v1.service_level) = {
      max_deadline: {seconds: 30} queue: 2000 batch: {max_size: 64 max_wait: {nanos: 2000000}}
    };
  }
}
message Rows {
  string id = 1 [(buf.validate.field).string.uuid = true];
  bytes x = 2 [(protocontract.v1.field).tensor = {
    name: "x" dtype: INT64 dims: ["rows", "4"] bounds: {key: "rows" value: {min: 1 max: 8}} batched: true min: 0
  }];
}
message Same {
  string id = 1 [(buf.validate.field).string.uuid = true];
  bytes y = 2 [(protocontract.v1.field).tensor = {name: "y" dtype: INT64 dims: ["rows", "4"] batched: true}];
}
"""


def main() -> int:
    """Measure and print. Returns 0, or 1 where one of the promises above is missed."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.serving", description=__doc__)
    parser.add_argument("--seconds", type=float, default=8.0, help="how long each measurement takes")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        return asyncio.run(_all(Path(name), options.seconds, options.rounds))


async def _all(folder: Path, seconds: float, rounds: int) -> int:
    (folder / "load.proto").write_text(PROTO)
    contracts = load_protos([folder], proto_path=folder)
    numbers = contracts["load.v1.Numbers"].message_type
    weights, identity = _weights(folder / "weights.onnx"), _identity(folder / "identity.onnx")
    values = np.random.default_rng(1).normal(size=(8, WIDTH)).astype("<f4")
    one, eight = (numbers(x=values[:rows].tobytes()).SerializeToString() for rows in (1, 8))
    values[3, 7] = np.nan
    broken = numbers(x=values.tobytes()).SerializeToString()

    joined: list[float] = []
    alone: list[float] = []
    async with (
        _served(folder, "Weights", weights) as with_batches,
        _served(folder, "Weights", weights, "--no-batching") as without,
    ):
        for _ in range(rounds):
            joined.append(await _throughput(with_batches, one, seconds))
            alone.append(await _throughput(without, one, seconds))
        ratio = statistics.median(ours / theirs for ours, theirs in zip(joined, alone, strict=True))
        print(
            f"batching: {statistics.median(joined):,.0f} requests/s with batches, {statistics.median(alone):,.0f} "
            f"without: {ratio:.2f}x"
        )
        failed = ratio < 2
        capacity = statistics.median([await _throughput(with_batches, eight, seconds) for _ in range(rounds)])
        for share in (0.8, 2.0):
            told = await _open_loop(with_batches, eight, broken, capacity * share, seconds)
            print(f"load: at {share:.0%} of {capacity:,.0f} requests/s of 8 rows: {told}")
            failed |= told.answered < 0.99 if share < 1 else told.goodput < 0.8 * capacity
            failed |= told.broken_accepted > 0
    async with _served(folder, "Echo", identity) as echo:
        failed |= await _echo(echo, contracts["load.v1.Rows"], contracts["load.v1.Same"])
    print("missed" if failed else "kept")
    return int(failed)


# -- the server


@dataclass(frozen=True)
class Server:
    """A server that serves, and its process."""

    call: Callable[..., Awaitable[bytes]]
    pid: int

    @property
    def cpu(self) -> float:
        """Seconds of processor time that it has taken."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@asynccontextmanager
async def _served(folder: Path, service: str, model: Path, *more: str) -> AsyncIterator[Server]:
    command = [
        sys.executable, "-m", "protocontract.cli", "serve", "--contract", f"load.v1.{service}", "--proto-path",
        str(folder), "--model", str(model), "--providers", "cpu", "--threads", "1", "--listen", "127.0.0.1:0",
        "--format", "json", *more,
    ]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = json.loads(process.stdout.readline())["address"]
        async with grpc.aio.insecure_channel(address) as channel:
            yield Server(channel.unary_unary(f"/load.v1.{service}/Run"), process.pid)
        process.send_signal(signal.SIGTERM)
        process.wait(180)


# -- the models


def _weights(path: Path) -> Path:
    """``x`` [N, 2048] through three products of 2048 x 2048, to ``y`` [N, 8]."""
    random_numbers = np.random.default_rng(2)
    shapes = [(WIDTH, WIDTH)] * 3 + [(WIDTH, 8)]
    parts = [(random_numbers.normal(size=shape) / WIDTH**0.5).astype("float32") for shape in shapes]
    names = ["x", "a", "b", "c", "y"]
    nodes = [helper.make_node("MatMul", [names[at], f"w{at}"], [names[at + 1]]) for at in range(4)]
    held = [numpy_helper.from_array(part, f"w{at}") for at, part in enumerate(parts)]
    return _model(path, nodes, held, TensorProto.FLOAT, ("x", WIDTH), ("y", 8))


def _identity(path: Path) -> Path:
    """``x`` [N, 4] as it is, as ``y``."""
    return _model(path, [helper.make_node("Identity", ["x"], ["y"])], [], TensorProto.INT64, ("x", 4), ("y", 4))


def _model(path: Path, nodes: Any, held: Any, element: int, given: tuple[str, int], out: tuple[str, int]) -> Path:
    sides = [helper.make_tensor_value_info(name, element, ["N", width]) for name, width in (given, out)]
    graph = helper.make_graph(nodes, "load", [sides[0]], [sides[1]], held)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8), str(path))
    return path


# -- the callers


async def _throughput(server: Server, request: bytes, seconds: float) -> float:
    """Requests a second, where each of the callers asks again when it has its answer."""
    done = 0
    until = time.monotonic() + seconds

    async def caller() -> None:
        nonlocal done
        while time.monotonic() < until:
            await server.call(request, timeout=30)
            done += 1

    began = time.monotonic()
    await asyncio.gather(*(caller() for _ in range(CALLERS)))
    return done / (time.monotonic() - began)


@dataclass(frozen=True)
class Told:
    """What became of requests that came at random times."""

    sent: int
    statuses: Counter[str]
    broken_accepted: int
    seconds: float
    p99: float

    @property
    def answered(self) -> float:
        """The share of the valid ones that were answered within their deadline."""
        return self.statuses["OK"] / self.sent

    @property
    def goodput(self) -> float:
        """Valid requests a second that were answered within their deadline."""
        return self.statuses["OK"] / self.seconds

    def __str__(self) -> str:
        rest = ", ".join(f"{count:,} {status}" for status, count in sorted(self.statuses.items()) if status != "OK")
        return (
            f"{self.sent:,} valid ones in {self.seconds:.1f} s, {self.answered:.2%} answered within {DEADLINE:g} s, "
            f"{self.goodput:,.0f}/s (p99 {self.p99 * 1e3:.0f} ms){'; ' + rest if rest else ''}"
        )


async def _open_loop(server: Server, valid: bytes, broken: bytes, rate: float, seconds: float) -> Told:
    """Requests that come whether or not others were answered, at random times (a Poisson process)."""
    drawn = random.Random(7)
    statuses: Counter[str] = Counter()
    times: list[float] = []
    accepted = sent = 0

    async def ask(request: bytes) -> None:
        nonlocal accepted
        began = time.monotonic()
        status = "OK"
        try:
            await server.call(request, timeout=DEADLINE)
            times.append(time.monotonic() - began)
        except grpc.aio.AioRpcError as error:
            status = error.code().name
        if request is valid:
            statuses[status] += 1
        else:
            accepted += status == "OK"

    tasks: list[asyncio.Task[None]] = []
    began = due = time.monotonic()
    while due < began + seconds:
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        request = broken if drawn.random() < 0.02 else valid
        sent += request is valid
        tasks.append(asyncio.create_task(ask(request)))
        due += drawn.expovariate(rate)
    await asyncio.gather(*tasks)
    taken = time.monotonic() - began
    times.sort()
    return Told(sent, statuses, accepted, taken, times[int(len(times) * 0.99)] if times else 0.0)


async def _echo(server: Server, request: Contract[Any], response: Contract[Any]) -> bool:
    """Whether a row was not its caller's."""
    drawn = random.Random(11)
    mixed = 0
    exchanged: list[tuple[bytes, bytes]] = []

    async def caller(number: int) -> None:
        nonlocal mixed
        for turn in range(5):
            sent = np.full((drawn.randint(1, 8), 4), number, dtype="<i8")
            sent[:, 1] = turn
            sent[:, 2] = np.arange(len(sent))
            name = f"00000000-0000-4000-8000-{number:012d}"
            raw = request.message_type(id=name, x=sent.tobytes()).SerializeToString()
            answer = await server.call(raw, timeout=180)
            exchanged.append((raw, answer))
            got = response.message_type.FromString(answer)
            mixed += got.y != sent.tobytes() or got.id != name

    before = server.cpu
    await asyncio.gather(*(caller(number) for number in range(1000)))
    asked = len(exchanged)
    taken = (server.cpu - before) / asked
    began = time.process_time()
    for raw, answer in exchanged:
        request.process(raw)
        response.process(answer)
    share = (time.process_time() - began) / asked
    print(
        f"contract: {asked:,} requests of 1,000 callers, {mixed} with a row of another; {taken * 1e6:,.0f} us of the "
        f"server's processor time a request, {share * 1e6:,.0f} us of it the contracts ({share / taken:.0%})"
    )
    return mixed > 0


if __name__ == "__main__":
    sys.exit(main())
