"""One RPC from bytes to bytes: the door, the request's contract, its model, the response's contract, and the evidence.

Reading, steps and writing run on threads, so that deadlines, health and other requests do not wait for them; batches
are put together on the event loop. What a caller sees on failure is one status, without a value of the data.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import contextmanager, suppress
from typing import Any, Final, NoReturn, TypeVar

from protocontract.chain import EvidenceLog, Level, ValueStore
from protocontract.chain.infer import infer
from protocontract.chain.replay import VERSION_FACT
from protocontract.models import Answer, BatchError, BatchFailed, Draining, OutOfTime, RunFailed, WrongInput, WrongRows
from protocontract.serving.call import Call, failed, log, out_of_time, remaining
from protocontract.serving.door import demand_response_size
from protocontract.serving.interceptor_aio import abort
from protocontract.serving.plan import MethodPlan, Route
from protocontract.serving.rejection import Rejected, header_text, refused
from protocontract.serving.trail import Trail, stage_of
from protocontract.serving.versions import Versions, way_key
from protocontract.serving.watch import Ran, Seen, Watch
from protocontract.serving.wiring import Reader, ResponseWriter
from protocontract.steps import StepCall

T = TypeVar("T")

#: Trailing metadata of every answer: which model ran where, and what was not as usual.
MODEL_KEY: Final = "protocontract-model"
PROVIDER_KEY: Final = "protocontract-provider"
FALLBACK_KEY: Final = "protocontract-fallback"
NONFINITE_KEY: Final = "protocontract-nonfinite"

#: Seconds that a call has where neither its caller nor its contract says.
DEFAULT_DEADLINE: Final = 60.0
_REASONS: Final = {
    "TooManyRows": "BATCH_TOO_LARGE",
    "QueueFull": "QUEUE_FULL",
    "OutOfTime": "DEADLINE",
    "Draining": "DRAINING",
    "WrongRows": "WRONG_ROWS",
}
_INFER: Final = "protocontract.chain.infer:infer"


class Host:
    """What the RPCs of a service share: its models, its evidence, its threads, and whether it takes requests."""

    def __init__(
        self,
        versions: Versions,
        executor: Executor,
        *,
        evidence: EvidenceLog | None = None,
        store: ValueStore | None = None,
        max_response_bytes: int | None = None,
        max_deadline: float = DEFAULT_DEADLINE,
        watch: Watch | None = None,
        after: Callable[[Seen], None] = lambda seen: None,
    ) -> None:
        """``after`` is told of each request that was answered, when its answer is on its way."""
        self.versions: Final = versions
        self.executor: Final = executor
        self.evidence: Final = evidence
        self.store: Final = store
        self.max_response_bytes: Final = max_response_bytes
        self.max_deadline: Final = max_deadline
        self.watch: Final = watch
        self.after: Final = after
        self.ready = False
        self.draining = False
        #: Requests that are being answered, and those of them that have not come to their batch yet.
        self.inside = 0
        self.preparing = 0
        self._changed: Final = asyncio.Event()

    def demand_open(self) -> None:
        """Raises Rejected while the service does not take requests."""
        if self.draining:
            raise refused("UNAVAILABLE", "takes no more requests: the service stops", reason="DRAINING")
        if not self.ready:
            raise refused("UNAVAILABLE", "not ready: the models are being loaded", reason="NOT_READY")

    @contextmanager
    def counted(self, name: str) -> Iterator[None]:
        """Count a request as ``inside`` or ``preparing``."""
        setattr(self, name, getattr(self, name) + 1)
        try:
            yield
        finally:
            setattr(self, name, getattr(self, name) - 1)
            self._changed.set()

    async def until(self, done: Callable[[], bool], seconds: float) -> bool:
        """Wait for a condition on the counts. False where it does not come about in time."""
        try:
            async with asyncio.timeout(seconds):
                while not done():
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            return done()
        return True


class MethodService:
    """The handler of one RPC: bytes in, bytes out."""

    def __init__(self, plan: MethodPlan, host: Host) -> None:
        self.plan: Final = plan
        self._host: Final = host
        self._call: Final = Call(plan.method)
        level = plan.method.level
        self._level: Final = Level.of(level.evidence)
        self._queue: Final = level.queue
        self._readers: Final = {route.field: Reader(route) for route in plan.routes}
        self._writers: Final = {route.field: ResponseWriter(plan.response, route) for route in plan.routes}
        self._stages: Final = tuple(stage_of(plan.request, each) for each in ("normalize", "is_valid"))
        self._changes: Final = plan.request._normalize is not None
        steps = any(route.preprocess or route.postprocess for route in plan.routes)
        recorded = host.evidence is not None and self._level is not Level.OFF
        self._on_threads: Final = steps or recorded
        fallback = level.fallback
        self._tolerance: Final = (
            {}
            if fallback is None
            else {name: float(value) for name in ("max_abs", "max_rel") if (value := getattr(fallback, name))}
        )

    async def answer(self, raw: bytes, context: Any) -> bytes:
        """Answer a request, or end its call with a status."""
        seen = Seen(self.plan.method.name, raw)
        trail = Trail(self._host.evidence, self._level, self._host.store)
        try:
            with self._host.counted("inside"):
                response, metadata = await self._answer(seen, trail, context)
            context.set_trailing_metadata((*metadata, *_metadata(seen)))
            self._host.after(seen)
            return response
        except Rejected as rejected:
            await self._end(seen, trail, context, rejected)
        except asyncio.CancelledError:
            seen.code = "CANCELLED"
            trail.fail("CANCELLED")
            raise
        except Exception as error:  # a mistake of ours
            await self._end(seen, trail, context, failed(error, seen.method))
        finally:
            seen.total = time.perf_counter_ns() - seen.started
            if self._host.watch is not None:
                self._host.watch.request(seen)

    async def _end(self, seen: Seen, trail: Trail, context: Any, rejected: Rejected) -> NoReturn:
        seen.code, seen.reason, seen.error = rejected.code, rejected.reason, rejected
        trail.fail(f"{rejected.code} {rejected.reason}")
        context.set_trailing_metadata(_metadata(seen))
        await abort(context, rejected)

    async def _answer(self, seen: Seen, trail: Trail, context: Any) -> tuple[bytes, tuple[tuple[str, str], ...]]:
        self._host.demand_open()
        left = remaining(context)
        self._call.door.enter(len(seen.raw), left)
        self._demand_place()
        seconds = self._call.timeout(left)
        if seconds is None:
            seconds = self._host.max_deadline
        until = asyncio.get_running_loop().time() + seconds
        try:
            with self._host.counted("preparing"):
                async with asyncio.timeout_at(until):
                    await self._run(self._prepare, seen, trail)
                waiting = self._submitted(seen, until)
            # A batcher answers at the deadline by itself. Whoever is cancelled here takes all of them along.
            answers = await asyncio.gather(*waiting)
            for ran, answer in zip(seen.ran, answers, strict=True):
                ran.answer = answer
            async with asyncio.timeout_at(until):
                return await self._run(self._finish, seen, trail)
        except BatchError as error:
            raise self._failed(seen, trail, error) from error
        except TimeoutError:
            raise out_of_time(self._call, seconds) from None

    def _submitted(self, seen: Seen, until: float) -> list[asyncio.Future[Answer]]:
        found: list[asyncio.Future[Answer]] = []
        try:
            found.extend(self._submit(seen, ran, until) for ran in seen.ran)
        except (BatchError, Rejected):
            for each in found:
                each.cancel()
            raise
        return found

    def _submit(self, seen: Seen, ran: Ran, until: float) -> asyncio.Future[Answer]:
        way = way_key((self.plan, ran.route))
        try:
            return ran.running.batchers[way].submit(ran.inputs, until)
        except WrongInput as error:
            raise self._readers[ran.route.field].wrong(str(error)) from error
        except Draining:
            if self._host.draining:
                raise
        # The version went while the request was read: it has been replaced, and what took its place takes the request.
        ran.running = self._host.versions.table(ran.route).choose(self._asked(seen.request), seen.raw)
        return ran.running.batchers[way].submit(ran.inputs, until)

    def _asked(self, request: Any) -> str:
        """The version that a request asks for; empty where it asks for none."""
        name = self.plan.method.level.model_version_field
        return str(getattr(request, name)) if name else ""

    def _demand_place(self) -> None:
        """Raises Rejected where as many requests wait as may: before the request is read."""
        waiting = self._host.preparing + self._host.versions.waiting
        if self._queue is not None and waiting >= self._queue:
            raise refused(
                "RESOURCE_EXHAUSTED",
                f"{self._queue} requests wait, and no more may; try again later",
                reason="QUEUE_FULL",
                method=self.plan.method.name,
                limit=str(self._queue),
            )

    async def _run(self, work: Callable[[Seen, Trail], T], seen: Seen, trail: Trail) -> T:
        if not self._on_threads:
            return work(seen, trail)
        return await asyncio.get_running_loop().run_in_executor(self._host.executor, work, seen, trail)

    # -- before the model

    def _prepare(self, seen: Seen, trail: Trail) -> None:
        request = seen.request = self._read(seen.raw, trail)
        asked = self._asked(request)
        began = time.perf_counter_ns()
        for route in self._chosen(request):
            running = self._host.versions.table(route).choose(asked, seen.raw)
            call = StepCall(request, running.spec.name, running.spec.version, evidence=trail.recorder)
            reader = self._readers[route.field]
            source, inputs = reader.inputs(request, call, trail)
            seen.ran.append(Ran(route, running, source, inputs, reader.nonfinite(inputs)))
        seen.preprocess = time.perf_counter_ns() - began

    def _read(self, raw: bytes, trail: Trail) -> Any:
        """The normalised and valid request. Raises Rejected."""
        contract = self.plan.request
        if not trail.on:
            return self._call.request.read(raw, None, None)
        timed: list[int] = []
        began = time.perf_counter_ns()
        outcome = contract.process(raw, timed=timed)
        took = time.perf_counter_ns() - began
        trail.begin(outcome.decoded, contract)
        message = self._call.request.demand(outcome, None)
        # Reading goes with normalising, where there is any. Normalizers work in place: what came is read once more.
        spent = took - sum(timed) if self._changes else 0
        came = contract.message_type.FromString(raw) if self._changes else message
        facts = {"contract": contract.full_name, "version": contract.version, "fingerprint": contract.fingerprint}
        normalized = trail.keep(message)
        trail.stage(
            "normalize",
            module=self._stages[0],
            nanoseconds=spent,
            before=trail.keep(came) if self._changes else normalized,
            after=normalized,
            facts={**facts, "changes": len(outcome.changes)},
        )
        trail.stage(
            "validate",
            module=self._stages[1],
            nanoseconds=took - spent,
            before=normalized,
            after=trail.keep(True),
            facts=facts,
        )
        return message

    def _chosen(self, request: Any) -> list[Route]:
        """The ways that a request asks for. Raises Rejected where it asks for none."""
        found = [route for route in self.plan.routes if not route.field or request.HasField(route.field)]
        names = ", ".join(route.field for route in self.plan.routes)
        if not found:
            raise refused("INVALID_ARGUMENT", f"none of {names} is set; expected one", reason="NO_INPUT")
        if len(found) > 1 and any(route.postprocess is not None for route in found):
            raise refused("INVALID_ARGUMENT", f"several of {names} are set; expected one", reason="SEVERAL_INPUTS")
        return found

    # -- behind it

    def _finish(self, seen: Seen, trail: Trail) -> tuple[bytes, tuple[tuple[str, str], ...]]:
        plan = self.plan
        response: Any = plan.response.message_type()
        began = time.perf_counter_ns()
        for ran in seen.ran:
            assert ran.answer is not None
            facts = self._facts(ran)
            before, after = trail.keep(ran.inputs), trail.keep(ran.answer.outputs)
            trail.stage(
                "infer",
                module=_INFER,
                version=infer.version,
                nanoseconds=ran.answer.facts.infer_ns,
                before=before,
                after=after,
                facts=facts,
            )
            call = StepCall(
                seen.request,
                ran.running.spec.name,
                ran.running.spec.version,
                ran.answer.facts.provider,
                ran.answer.facts.texts(),
                trail.recorder,
            )
            response = self._writers[ran.route.field].response(ran.answer.outputs, response, call, trail)
        if all(ran.route.postprocess is None for ran in seen.ran):
            for name in plan.copied:
                _copy(seen.request, response, name)
        if plan.version_field and not getattr(response, plan.version_field):
            setattr(response, plan.version_field, seen.ran[0].running.spec.version)
        seen.response = response
        seen.postprocess = time.perf_counter_ns() - began
        raw = self._written(response)
        record = trail.close()
        if record is not None and plan.evidence_field and not getattr(response, plan.evidence_field):
            record.fill(getattr(response, plan.evidence_field))
            raw = self._written(response)
        return raw, trail.metadata(record)

    def _written(self, response: Any) -> bytes:
        """The bytes of a response that keeps its contract and can be taken. Raises Rejected."""
        raw = self._call.response.write(response, None, None)
        demand_response_size(len(raw), self._host.max_response_bytes, self.plan.method.name)
        return raw

    def _facts(self, ran: Ran) -> dict[str, Any]:
        """The facts of a run, as evidence holds them."""
        assert ran.answer is not None
        facts: dict[str, Any] = {
            **ran.answer.facts.texts(),
            VERSION_FACT: str(ran.running.spec),
            "queue_ns": ran.answer.facts.queue_ns,
            "batch_ns": ran.answer.facts.batch_ns,
            **self._tolerance,
        }
        if ran.nonfinite:
            facts["nonfinite"] = counts_text(ran.nonfinite)
        return facts

    def _failed(self, seen: Seen, trail: Trail, error: BatchError) -> Rejected:
        """The status of a request whose batch gave nothing for it."""
        ran = next((each for each in seen.ran if each.answer is None), None)
        name = type(error).__name__
        metadata = {"reason": _REASONS.get(name, "MODEL_FAILED"), "method": self.plan.method.name}
        facts: dict[str, Any] = {"error": metadata["reason"]}
        if ran is not None:
            metadata["model"] = str(ran.running.spec)
            facts[VERSION_FACT] = str(ran.running.spec)
        if isinstance(error, WrongRows):
            facts |= error.texts()
        if isinstance(error, OutOfTime):
            facts["started"] = error.started
        if isinstance(error, BatchFailed):
            if isinstance(error.__cause__, RunFailed):
                metadata["kind"] = error.__cause__.kind
            log.error("%s", error)
        if ran is not None:
            # Where that cannot be written either, the first error is the one to tell.
            with suppress(Rejected):
                trail.stage("infer", module=_INFER, version=infer.version, before=trail.keep(ran.inputs), facts=facts)
        return refused(error.code, str(error), **metadata)


def counts_text(found: Mapping[str, int]) -> str:
    """``x=3,y=1``: as metadata and facts have it."""
    return ",".join(f"{name}={count}" for name, count in sorted(found.items()))


def _copy(request: Any, response: Any, name: str) -> None:
    value = getattr(request, name)
    if hasattr(value, "extend"):
        getattr(response, name).extend(value)
    elif value or not request.DESCRIPTOR.fields_by_name[name].has_presence or request.HasField(name):
        setattr(response, name, value)


def _metadata(seen: Seen) -> tuple[tuple[str, str], ...]:
    """What the trailing metadata say of the models that ran."""
    found: list[tuple[str, str]] = []
    for ran in seen.ran:
        found.append((MODEL_KEY, str(ran.running.spec)))
        if ran.nonfinite:
            found.append((NONFINITE_KEY, counts_text(ran.nonfinite)))
        if ran.answer is not None:
            found.append((PROVIDER_KEY, ran.answer.facts.provider))
            fallback = ran.answer.facts.model.get("fallback")
            if fallback:
                found.append((FALLBACK_KEY, fallback))
    return tuple((key, header_text(text)) for key, text in found)
