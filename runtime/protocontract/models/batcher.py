"""Requests of many callers as batches of one model: who waits for how long, and whose rows are whose.

A batch starts when it has ``max_size`` rows or when its first request has waited for ``max_wait``, whichever comes
first, and for nothing else but the model being busy. All of the bookkeeping happens on the event loop, without locks;
one thread puts a batch together, runs it, and takes it apart. No gRPC, no ONNX Runtime: anything that takes arrays by
name and gives a ``Ran`` can be run.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

import numpy as np

from protocontract.models.batching import (
    Answer,
    BatchError,
    BatchFacts,
    BatchFailed,
    Draining,
    OutOfTime,
    QueueFull,
    TooManyRows,
    WrongRows,
)
from protocontract.models.errors import ModelError, WrongInput
from protocontract.models.padding import Lengths, Padding
from protocontract.models.tensorrt import BatchSizes
from protocontract.violations import ContractError

if TYPE_CHECKING:
    from protocontract.models.session import Ran

#: What may be put together: names, dtypes, and all axes but the first.
_Kind: TypeAlias = tuple[tuple[str, str, tuple[int, ...]], ...]


class Runner(Protocol):
    """Where batches run, one after another."""

    def start(self, work: Callable[[], None]) -> None:
        """Call ``work`` soon, and not on the event loop if it takes long."""

    def stop(self) -> None:
        """No more work comes."""


class Batcher:
    """Batches for one model on one event loop: ``answer = await batcher.submit(inputs, deadline)``.

    Requests are taken in the order in which they came. Only those with the same names, dtypes and sizes of all axes but
    the first are put together, and those whose other sizes ``padding`` makes the same.
    """

    def __init__(
        self,
        run: Callable[[Mapping[str, Any]], Ran],
        *,
        max_size: int,
        max_wait: float,
        queue: int,
        sizes: BatchSizes | None = None,
        max_deadline: float | None = None,
        joins: bool = True,
        padding: Padding | None = None,
        loop: asyncio.AbstractEventLoop | None = None,
        runner: Runner | None = None,
        clock: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        """``run`` is ``Model.run``, called from one thread. ``max_size`` counts rows, ``max_wait`` seconds.

        ``queue`` is how many requests may wait, those in the model aside. ``sizes``: fill batches up to one of these.
        ``max_deadline`` (seconds): when to answer callers that set no deadline, or a later one. Where nobody ``joins``,
        each request is a batch of its own. ``padding`` puts requests of several lengths together. ``loop`` defaults to
        the running one, ``runner`` to a thread; ``clock`` gives the nanoseconds of the facts. Raises ContractError for
        numbers that make no sense.
        """
        if max_size < 1 or queue < 1:
            raise ContractError(f"max_size {max_size:,}, queue {queue:,}; expected 1 at least")
        if not 0 <= max_wait < float("inf"):
            raise ContractError(f"max_wait is {max_wait} s; expected 0 or more, and an end")
        if max_deadline is not None and not max_deadline > 0:
            raise ContractError(f"max_deadline is {max_deadline} s; expected more than 0, or None")
        if sizes is not None and sizes.sizes[-1] != max_size:
            raise ContractError(f"the largest batch size is {sizes.sizes[-1]:,}; expected max_size {max_size:,}")
        self._run: Final = run
        self._max_size: Final = max_size
        self._max_wait: Final = max_wait
        self._limit: Final = queue
        self._sizes: Final = sizes
        self._max_deadline: Final = max_deadline
        self._joins: Final = joins
        self._padding: Final = padding
        self._came = 0
        self._loop: Final = loop or asyncio.get_running_loop()
        self._runner: Final[Runner] = runner or _Thread()
        self._clock: Final = clock
        # All requests that wait, in the order in which they came, and the same by what can be put together.
        self._queue: Final[OrderedDict[_Request, None]] = OrderedDict()
        self._groups: Final[dict[_Kind, _Group]] = {}
        self._full: Final[dict[_Group, None]] = {}
        self._running: _Batch | None = None
        self._timer: tuple[_Request, asyncio.TimerHandle] | None = None
        self._draining = False
        self._closed = False
        self._idle: Final = asyncio.Event()
        self._idle.set()

    @property
    def waiting(self) -> int:
        """How many requests wait; never more than ``queue``."""
        return len(self._queue)

    @property
    def running(self) -> int:
        """How many requests are in the model."""
        return 0 if self._running is None else len(self._running.requests)

    def submit(self, inputs: Mapping[str, Any], deadline: float | None = None) -> asyncio.Future[Answer]:
        """The request's own rows, later. ``deadline`` is a time of the event loop (``loop.time() + seconds``).

        Arrays are not copied, so they have to stay as they are until there is an answer. Who cancels the future takes
        its rows out, if they are not in the model yet. Raises at once, and keeps nothing: WrongInput, TooManyRows,
        OutOfTime, Draining, QueueFull. The future's errors are OutOfTime, at the deadline wherever the request is then;
        WrongRows; BatchFailed; Draining.
        """
        if self._draining:
            raise Draining("takes no more requests: the service stops")
        kind, rows = _kind(inputs, self._padding)
        if not self._joins:
            self._came += 1
            kind = (*kind, ("", "alone", (self._came,)))
        if rows > self._max_size:
            raise TooManyRows(f"a request of {rows:,} rows; expected {self._max_size:,} at most, the batch's max_size")
        now = self._loop.time()
        if self._max_deadline is not None:
            latest = now + self._max_deadline
            deadline = latest if deadline is None else min(deadline, latest)
        if deadline is not None and deadline <= now:
            raise OutOfTime("the deadline had passed before the request was queued", started=False)
        if len(self._queue) >= self._limit:
            raise QueueFull(f"{self._limit:,} requests wait, and no more may; expected calls to be retried later")
        group = self._groups.get(kind)
        if group is None:
            group = self._groups[kind] = _Group(kind)
        request = _Request(inputs, rows, group, now, self._clock(), deadline, self._loop.create_future())
        request.answer.add_done_callback(lambda _: self._answered(request))
        if deadline is not None:
            request.timer = self._loop.call_at(deadline, self._out_of_time, request)
        self._queue[request] = None
        group.requests[request] = None
        group.rows += rows
        if group.rows >= self._max_size:
            self._full[group] = None
        self._idle.clear()
        self._next()
        return request.answer

    async def drain(self, grace: float) -> int:
        """Take no more requests, and give those that are here ``grace`` seconds; then end the rest with Draining.

        Nobody can join those that wait, so they run at once. Returns how many requests were ended. A model that runs
        for nobody any more is not waited for, and one that hangs is left behind: its thread ends with the process.
        """
        self._draining = True
        self._next()
        self._rest()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._idle.wait(), grace)
        return self.close()

    def close(self) -> int:
        """End now: all that wait or run get Draining. Returns how many these were."""
        self._draining = self._closed = True
        self._no_timer()
        ended = 0
        for request in [*self._queue, *(self._running.requests if self._running else ())]:
            if not request.answer.done():
                where = "its batch was done" if request not in self._queue else "its turn came"
                request.answer.set_exception(Draining(f"the service stopped before {where}"))
                ended += 1
            self._remove(request)
        # What the model still does is nobody's.
        self._running = None
        self._idle.set()
        self._runner.stop()
        return ended

    # -- who runs next

    def _next(self) -> None:
        """Start a batch if the model is free and one is due; else see to it that somebody looks when one is."""
        if self._running is not None or self._closed:
            return
        while self._queue:
            oldest = next(iter(self._queue))
            if self._gone(oldest):
                continue
            # All wait equally long, so where the oldest is not due, only a full batch may start.
            due = oldest.since + self._max_wait
            if self._draining or due <= self._loop.time():
                self._start(oldest.group)
                return
            if not self._full:
                self._wake(oldest, due)
                return
            group = next(iter(self._full))
            for request in list(group.requests):
                self._gone(request)
            if group in self._full:
                self._start(group)
                return
        self._no_timer()
        self._idle.set()

    def _wake(self, oldest: _Request, due: float) -> None:
        if self._timer is None or self._timer[0] is not oldest:
            self._no_timer()
            self._timer = (oldest, self._loop.call_at(due, self._due, oldest))

    def _due(self, oldest: _Request) -> None:
        # Not asked again whether it is time: the loop's timers may be early by the clock's resolution.
        self._timer = None
        if self._gone(oldest):
            self._next()
        else:
            self._start(oldest.group)

    def _no_timer(self) -> None:
        if self._timer is not None:
            self._timer[1].cancel()
            self._timer = None

    def _start(self, group: _Group) -> None:
        """Hand the group's oldest requests to the runner, as many as fit. One of them at least wants an answer."""
        chosen: list[_Request] = []
        rows = 0
        for request in list(group.requests):
            if rows + request.rows > self._max_size:
                break
            if not self._gone(request):
                self._remove(request)
                chosen.append(request)
                rows += request.rows
        self._no_timer()
        batch = self._running = _Batch(chosen, rows, self._clock())
        try:
            self._runner.start(lambda: self._work(batch))
        except RuntimeError as error:  # no thread can be had
            self._loop.call_soon(self._finished, batch, _failure(error))

    def _gone(self, request: _Request) -> bool:
        """Whether a request that waits was given up, or is too late: then it is taken out."""
        if request.answer.done():  # cancelled in this turn of the loop
            self._remove(request)
            return True
        if request.deadline is not None and request.deadline <= self._loop.time():
            self._out_of_time(request)
            return True
        return False

    def _remove(self, request: _Request) -> None:
        """Take a request out of the queue, if it is there."""
        if request not in self._queue:
            return
        del self._queue[request]
        group = request.group
        del group.requests[request]
        group.rows -= request.rows
        if group.rows < self._max_size:
            self._full.pop(group, None)
        if not group.requests:
            del self._groups[group.kind]

    # -- what ends a request

    def _out_of_time(self, request: _Request) -> None:
        started = request not in self._queue
        self._remove(request)
        if not request.answer.done():
            where = "while its batch ran" if started else "in the queue, before anything was run"
            request.answer.set_exception(OutOfTime(f"the deadline passed {where}", started=started))

    def _answered(self, request: _Request) -> None:
        if request.timer is not None:
            request.timer.cancel()
        self._remove(request)
        self._next()
        self._rest()

    def _rest(self) -> None:
        """While it drains: whether there is still somebody who waits for an answer."""
        running = () if self._running is None else self._running.requests
        if self._draining and not self._queue and all(request.answer.done() for request in running):
            self._idle.set()

    def _finished(self, batch: _Batch, outcome: list[Answer] | Callable[[], BatchError]) -> None:
        for at, request in enumerate(batch.requests):
            if request.answer.done():
                continue
            if isinstance(outcome, list):
                request.answer.set_result(outcome[at])
            else:
                # Each its own: a raised exception keeps the frames of whoever raised it.
                request.answer.set_exception(outcome())
        self._running = None
        self._next()

    # -- on the runner's thread

    def _work(self, batch: _Batch) -> None:
        outcome: list[Answer] | Callable[[], BatchError]
        try:
            outcome = self._infer(batch)
        except BaseException as error:  # whatever it is, callers wait for it, and the thread must go on
            outcome = _failure(error)
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(self._finished, batch, outcome)

    def _infer(self, batch: _Batch) -> list[Answer] | Callable[[], BatchError]:
        padding = self._padding
        inputs, longest = _together([request.inputs for request in batch.requests], padding)
        given = batch.rows
        if self._sizes is not None:
            given = self._sizes.fit(batch.rows)
            inputs = self._sizes.fill(inputs, batch.rows)
        began = self._clock()
        ran = self._run(inputs)
        ended = self._clock()

        def facts(request: _Request) -> BatchFacts:
            return BatchFacts(
                rows=batch.rows,
                padding=given - batch.rows,
                requests=len(batch.requests),
                provider=ran.provider,
                queue_ns=batch.started_ns - request.since_ns,
                batch_ns=began - batch.started_ns,
                infer_ns=ended - began,
                model=ran.facts,
                padded_to=longest,
            )

        for name, output in ran.outputs.items():
            shape = getattr(output, "shape", ())
            returned = shape[0] if shape else None
            if returned != given:
                said = facts(batch.requests[0])
                return lambda: WrongRows(name, given, returned, said)
        answers: list[Answer] = []
        at = 0
        alone = len(batch.requests) == 1 and given == batch.rows
        for request in batch.requests:
            own = slice(at, at + request.rows)
            at += request.rows
            outputs = {name: output if alone else output[own] for name, output in ran.outputs.items()}
            if padding is not None and not alone:
                lengths = padding.lengths(request.inputs)
                outputs = {name: padding.cut(name, output, lengths, longest) for name, output in outputs.items()}
            if not alone:
                # Memory of its own: nobody is to see, or keep, the rows of others.
                outputs = {name: output.copy() for name, output in outputs.items()}
            answers.append(Answer(outputs, facts(request)))
        return answers


def _together(requests: Sequence[Mapping[str, Any]], padding: Padding | None) -> tuple[dict[str, Any], Lengths]:
    if padding is not None:
        return padding.together(requests)
    if len(requests) == 1:
        return dict(requests[0]), {}
    return {name: np.concatenate([inputs[name] for inputs in requests]) for name in requests[0]}, {}


def _kind(inputs: Mapping[str, Any], padding: Padding | None) -> tuple[_Kind, int]:
    """What can be put together with these inputs, and how many rows they have. Raises WrongInput."""
    rows: int | None = None
    kind: list[tuple[str, str, tuple[int, ...]]] = []
    for name, array in sorted(inputs.items()):
        if not isinstance(array, np.ndarray) or not array.ndim:
            raise WrongInput(f"input `{name}` is {type(array).__name__}; expected an array with rows on axis 0")
        count, *others = array.shape
        if rows is not None and count != rows:
            raise WrongInput(f"input `{name}` has {count:,} rows; expected {rows:,}, as the inputs before it")
        rows = count
        sizes = tuple(others) if padding is None else padding.kind(name, others)
        kind.append((name, array.dtype.str, sizes))
    if not rows:
        raise WrongInput("no rows; expected one at least")
    return tuple(kind), rows


def _failure(error: BaseException) -> Callable[[], BatchError]:
    # The text of other errors is not ours, and may hold values.
    text = str(error) if isinstance(error, ModelError) else f"running the batch raised {type(error).__name__}"

    def made() -> BatchError:
        failed = BatchFailed(text)
        failed.__cause__ = error
        return failed

    return made


class _Group:
    """Requests that can be put together, oldest first, and how many rows they have."""

    __slots__ = ("kind", "requests", "rows")

    def __init__(self, kind: _Kind) -> None:
        self.kind: Final = kind
        self.requests: Final[OrderedDict[_Request, None]] = OrderedDict()
        self.rows = 0


class _Request:
    """One request. ``since`` and ``deadline`` are times of the event loop."""

    __slots__ = ("answer", "deadline", "group", "inputs", "rows", "since", "since_ns", "timer")

    def __init__(
        self,
        inputs: Mapping[str, Any],
        rows: int,
        group: _Group,
        since: float,
        since_ns: int,
        deadline: float | None,
        answer: asyncio.Future[Answer],
    ) -> None:
        self.inputs: Final = inputs
        self.rows: Final = rows
        self.group: Final = group
        self.since: Final = since
        self.since_ns: Final = since_ns
        self.deadline: Final = deadline
        self.answer: Final = answer
        self.timer: asyncio.TimerHandle | None = None


class _Batch:
    __slots__ = ("requests", "rows", "started_ns")

    def __init__(self, requests: Sequence[_Request], rows: int, started_ns: int) -> None:
        self.requests: Final = requests
        self.rows: Final = rows
        self.started_ns: Final = started_ns


class _Thread:
    """One thread, started with the first batch. A daemon: a model that hangs must not keep the process from ending."""

    def __init__(self) -> None:
        self._work: Final[SimpleQueue[Callable[[], None] | None]] = SimpleQueue()
        self._thread: threading.Thread | None = None

    def start(self, work: Callable[[], None]) -> None:
        if self._thread is None:
            thread = threading.Thread(target=self._loop, name="protocontract-batches", daemon=True)
            thread.start()
            self._thread = thread
        self._work.put(work)

    def stop(self) -> None:
        self._work.put(None)

    def _loop(self) -> None:
        while (work := self._work.get()) is not None:
            work()
            del work  # the arrays of a batch are not kept until the next one comes
