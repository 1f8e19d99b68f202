"""Several processes for one service: they share its port (SO_REUSEPORT), and one more looks after them.

Reading protobuf holds Python's global lock, so one process uses little more than one core. Each worker has its own
models, batches and evidence log. The first one is started alone: what keeps it from serving would keep all of them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import signal
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final

from protocontract.cli import COULD_NOT_CHECK, INTERRUPTED, KEPT, UsageError
from protocontract.serving.address import demand_address

log: Final = logging.getLogger("protocontract.serving")

#: A worker that lived shorter than this (seconds) died of something that the next one will die of too: it waits.
_SOON: Final = 10.0
_LONGEST_WAIT: Final = 30.0
#: How the line begins by which a worker says that it serves, and what.
READY: Final = b"protocontract ready "
_LONGEST_LINE: Final = 1 << 24
#: What a worker has beyond the grace period, to close its log.
_MARGIN: Final = 5.0


def supervise(argv: Sequence[str], options: argparse.Namespace) -> int:
    """Run ``options.workers`` processes of the same command line, until one is asked to stop. Returns the exit code."""
    with _held(options.listen) as address:
        return asyncio.run(_Supervisor(argv, options, address).run())


@contextmanager
def _held(listen: str) -> Iterator[str]:
    """Keep the port for the workers, who may be told of one that was free. Raises OSError where it is taken."""
    host, _, port = demand_address(listen).rpartition(":")
    if not port.isdigit():
        raise UsageError(f"--listen {listen}; expected HOST:PORT, as workers share a port")
    plain = host.strip("[]")
    family = socket.AF_INET6 if ":" in plain else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as alone:
        alone.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Without sharing: another service of ours would share its port with us, and each get some calls.
        alone.bind((plain, int(port)))
        taken = alone.getsockname()[1]
    with socket.socket(family, socket.SOCK_STREAM) as shared:
        shared.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        shared.bind((plain, taken))
        yield f"{host}:{taken}"


class _Supervisor:
    def __init__(self, argv: Sequence[str], options: argparse.Namespace, address: str) -> None:
        self._argv: Final = argv
        self._options: Final = options
        self._address: Final = address
        self._workers: Final[dict[int, asyncio.subprocess.Process]] = {}
        self._stopped: Final = asyncio.Event()
        self._received: Final[list[int]] = []
        self._relays: Final[set[asyncio.Task[None]]] = set()
        # Workers that serve, and those that were starting when models were to be read again.
        self._ready: Final[set[int]] = set()
        self._behind: Final[set[int]] = set()

    async def run(self) -> int:
        """Start, supervise, stop."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop, number)
        loop.add_signal_handler(signal.SIGHUP, self._reread)
        try:
            first = await self._started(0)
            if not isinstance(first, dict):
                return first
            others = await asyncio.gather(*(self._started(number) for number in range(1, self._options.workers)))
            failed = [each for each in others if not isinstance(each, dict)]
            if failed:
                return failed[0]
            self._tell(first)
            watching = [loop.create_task(self._watch(number)) for number in range(self._options.workers)]
            await self._stopped.wait()
            for task in watching:
                task.cancel()
            return INTERRUPTED if signal.SIGINT in self._received else KEPT
        finally:
            await self._end()

    def _tell(self, report: dict[str, Any]) -> None:
        from protocontract.serving.command import serving_line

        if self._options.format == "json":
            print(json.dumps({**report, "workers": self._options.workers}), flush=True)
        else:
            line = serving_line(report["service"], self._address, report["models"], self._options.workers)
            print(line, flush=True)

    # -- workers

    async def _started(self, number: int, *, late: bool = False) -> dict[str, Any] | int:
        """Start a worker and wait until it serves. Returns what it serves, or the exit code where it does not."""
        # -P: the folder that we were started in is not a part of PYTHONPATH for them either.
        command = [sys.executable, "-P", "-m", "protocontract.cli", "serve", *self._argv]
        worker = await asyncio.create_subprocess_exec(
            *command,
            "--listen",
            self._address,
            "--worker",
            str(number),
            *(["--late"] if late else []),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=_LONGEST_LINE,
            # A Ctrl-C reaches all processes of a terminal: workers are told by us.
            start_new_session=True,
        )
        self._workers[number] = worker
        ready: asyncio.Future[dict[str, Any] | None] = asyncio.get_running_loop().create_future()
        relay = asyncio.create_task(self._relay(worker, ready))
        self._relays.add(relay)
        relay.add_done_callback(self._relays.discard)
        self._ready.discard(number)
        stopping = asyncio.ensure_future(self._stopped.wait())
        await asyncio.wait((stopping, ready), return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        if self._stopped.is_set():
            return KEPT
        report = ready.result()
        if report is None:
            code = await worker.wait()
            return code if code > 0 else COULD_NOT_CHECK
        self._ready.add(number)
        if number in self._behind:
            self._behind.discard(number)
            worker.send_signal(signal.SIGHUP)
        return report

    async def _relay(self, worker: asyncio.subprocess.Process, ready: asyncio.Future[dict[str, Any] | None]) -> None:
        """Read what a worker prints until it ends: what it serves, and what steps print, which is printed again."""
        assert worker.stdout is not None
        while line := await worker.stdout.readline():
            if not ready.done() and line.startswith(READY):
                ready.set_result(json.loads(line.removeprefix(READY)))
            else:
                sys.stdout.write(line.decode(errors="replace"))
                sys.stdout.flush()
        if not ready.done():
            ready.set_result(None)

    async def _watch(self, number: int) -> None:
        """Start a worker again when it ends by itself. It listens when it is ready, as the others serve meanwhile."""
        loop = asyncio.get_running_loop()
        soon = 0
        while True:
            since = loop.time()
            code = await self._workers[number].wait()
            soon = soon + 1 if loop.time() - since < _SOON else 0
            wait = min(2.0**soon - 1.0, _LONGEST_WAIT)
            log.error("worker %d ended with %d; it is started again in %g s", number, code, wait)
            await asyncio.sleep(wait)
            await self._started(number, late=True)

    def _stop(self, number: int) -> None:
        self._received.append(number)
        self._stopped.set()
        if len(self._received) > 1:
            for worker in self._workers.values():
                with suppress(ProcessLookupError):
                    worker.kill()

    def _reread(self) -> None:
        """SIGHUP: a worker that is starting would be ended by it, and is told when it is ready."""
        for number, worker in self._workers.items():
            if number in self._ready:
                with suppress(ProcessLookupError):
                    worker.send_signal(signal.SIGHUP)
            else:
                self._behind.add(number)

    def _forward(self, number: int) -> None:
        for worker in self._workers.values():
            with suppress(ProcessLookupError):
                worker.send_signal(number)

    async def _end(self) -> None:
        """Stop all workers: they drain, each for itself, and are killed where they do not end."""
        self._forward(signal.SIGTERM)
        ends = [worker.wait() for worker in self._workers.values()]
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.gather(*ends), self._options.grace + _MARGIN)
        for number, worker in self._workers.items():
            if worker.returncode is None:
                log.error("worker %d did not end; it is killed", number)
                worker.kill()
                await worker.wait()
