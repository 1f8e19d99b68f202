"""Versions of models side by side: which one answers a request, and how they come and go while the service runs.

A version serves when it has been compared with its contracts and has run a row; until then, and where that fails, those
that are there go on as they are. One that is replaced or taken away finishes what it has.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from protocontract._files import file_sha256
from protocontract.models import Batcher, Engine, ModelError
from protocontract.models.errors import RefusedToStart, told
from protocontract.models.fallback import Degrading, Event
from protocontract.models.onnx_file import files
from protocontract.models.padding import Padding
from protocontract.serving.engines import (
    FIRST_VERSION,
    EngineOptions,
    ModelSpec,
    OpenEngine,
    batch_sizes,
    compared,
    open_engine,
)
from protocontract.serving.engines import warm_up as warm
from protocontract.serving.plan import DoesNotFit, MethodPlan, Plan, Route
from protocontract.serving.rejection import refused
from protocontract.violations import ContractError

log: Final = logging.getLogger("protocontract.serving")

#: Requests that wait for a model where the contract does not say how many may.
DEFAULT_QUEUE: Final = 1000
#: More rows than any request has: a model without declared batches takes each request alone.
_ANY_ROWS: Final = 1 << 31

Way = tuple[MethodPlan, Route]


@dataclass(frozen=True, slots=True)
class NotLoaded:
    """Why a version does not serve. ``differs``: it is not what the contracts say."""

    lines: tuple[str, ...]
    differs: bool

    def __str__(self) -> str:
        return "; ".join(self.lines)


def way_key(way: Way) -> tuple[str, str]:
    """What tells one way of an RPC from all others."""
    return way[0].method.name, way[1].field


@dataclass(frozen=True, slots=True)
class Running:
    """A version that serves: its engine, and a batcher for each way that runs it."""

    spec: ModelSpec
    engine: Engine
    #: SHA-256 of the files that were loaded: those of the same names may be others later.
    sha256: str
    batchers: Mapping[tuple[str, str], Batcher]
    notes: tuple[str, ...] = ()

    @property
    def waiting(self) -> int:
        """Requests that wait for it."""
        return sum(batcher.waiting for batcher in self.batchers.values())

    @property
    def inside(self) -> int:
        """Requests that wait for it or are in it."""
        return sum(batcher.waiting + batcher.running for batcher in self.batchers.values())

    async def drain(self, grace: float) -> int:
        """Finish what is here within ``grace`` seconds. Returns how many requests were ended."""
        ended = await asyncio.gather(*(batcher.drain(grace) for batcher in self.batchers.values()))
        self.engine.close()
        return sum(ended)


@dataclass(slots=True)
class Table:
    """The versions of one model: those that serve by version, and those that were declared and could not be loaded."""

    name: str
    running: dict[str, Running] = field(default_factory=dict[str, Running])
    failed: dict[str, str] = field(default_factory=dict[str, str])

    def role(self, role: str) -> Running | None:
        """The version that has a role."""
        return next((each for each in self.running.values() if each.spec.role == role), None)

    def choose(self, asked: str, raw: bytes) -> Running:
        """The version that answers a request of these bytes, which asks for a version or for none. Raises Rejected."""
        active = self.role("active")
        if not asked:
            canary = self.role("canary")
            if canary is not None and _part(raw) < canary.spec.share:
                return canary
            if active is None:
                raise refused("UNAVAILABLE", f"no version of {self.name} is loaded", reason="NOT_READY")
            return active
        found = self.running.get(asked)
        if found is not None and found.spec.role != "shadow":
            return found
        if asked in self.failed:
            raise refused(
                "UNAVAILABLE",
                f"version {asked} of {self.name} is declared, but could not be loaded",
                reason="DEPLOYMENT_FAILED",
                model=self.name,
                asked=asked,
            )
        served = ", ".join(sorted(each for each, found in self.running.items() if found.spec.role != "shadow"))
        # What was asked for is the caller's own text: it stays out of the message, and in its own place.
        raise refused(
            "FAILED_PRECONDITION",
            f"no such version of {self.name}; expected one of {served or 'none'}",
            reason="VERSION_MISMATCH",
            model=self.name,
            asked=asked[:64],
            served=served,
        )


def _part(raw: bytes) -> float:
    """A number from 0 to 1 that is always the same for the same bytes."""
    return int.from_bytes(hashlib.sha256(raw).digest()[:8]) / 2**64


class Versions:
    """All models of a service. Its methods are for the event loop; what takes long runs on threads."""

    def __init__(
        self,
        plan: Plan,
        options: EngineOptions,
        *,
        joins: bool = True,
        max_deadline: float | None = None,
        on_event: Callable[[ModelSpec, Event], None] | None = None,
        open_model: OpenEngine = open_engine,
    ) -> None:
        """``joins``: requests of several callers make batches. ``max_deadline`` (seconds) where an RPC has none.

        ``on_event`` is told, on a thread, when a model degrades and comes back.
        """
        self._plan: Final = plan
        self._options: Final = options
        self._joins: Final = joins
        self._max_deadline: Final = max_deadline
        self._on_event: Final = on_event
        self._open_model: Final = open_model
        self._tables: dict[str, Table] = {}
        self._leaving: dict[asyncio.Task[int], Running] = {}

    @property
    def plan(self) -> Plan:
        """What the service does."""
        return self._plan

    @property
    def tables(self) -> tuple[Table, ...]:
        """The models, in the order in which they were declared."""
        return tuple(self._tables.values())

    @property
    def running(self) -> tuple[Running, ...]:
        """All versions that are loaded."""
        return tuple(each for table in self._tables.values() for each in table.running.values())

    @property
    def waiting(self) -> int:
        """Requests that wait for any model."""
        return sum(each.waiting for each in self.running)

    def table(self, route: Route) -> Table:
        """The versions of a way's model. Raises Rejected while nothing is loaded."""
        found = self._known(route)
        if found is None:
            raise refused("UNAVAILABLE", "no model is loaded yet", reason="NOT_READY")
        return found

    def shadow(self, route: Route) -> Running | None:
        """The version that runs beside the one that answers, where there is one."""
        found = self._known(route)
        return None if found is None else found.role("shadow")

    def _known(self, route: Route) -> Table | None:
        return self._tables.get(route.field) if route.field else next(iter(self._tables.values()), None)

    async def start(self, specs: Sequence[ModelSpec]) -> None:
        """Load all versions. Raises ContractError with everything that keeps the service from starting."""
        specs = named(specs, self._plan)
        # A request that waits for the units of its first quantity would miss its deadline.
        for method in self._plan.methods:
            await asyncio.to_thread(method.request.warm_up)
            await asyncio.to_thread(method.response.warm_up)
        loaded = await asyncio.gather(*(self._load(spec) for spec in specs))
        problems = [each for each in loaded if isinstance(each, NotLoaded)]
        running = [each for each in loaded if isinstance(each, Running)]
        if problems:
            for each in running:
                await each.drain(0)
            kind = DoesNotFit if all(each.differs for each in problems) else RefusedToStart
            raise kind(line for each in problems for line in each.lines)
        for each in running:
            self._table(each.spec.name).running[each.spec.version] = each

    async def change(self, specs: Sequence[ModelSpec], grace: float) -> list[str]:
        """Serve these versions from now on: new ones are loaded first, old ones finish what they have.

        Returns what could not be loaded; of such a model those that serve stay as they are. Raises ContractError where
        the declaration makes no sense: nothing is changed then.
        """
        specs = named(specs, self._plan)
        problems: list[str] = []
        names = list(dict.fromkeys(spec.name for spec in specs))
        for name in names:
            problems += await self._change(self._table(name), [spec for spec in specs if spec.name == name], grace)
        # A model that is called otherwise now is there before the old one goes, or the old one stays.
        if all(self._tables[name].role("active") is not None for name in names):
            for name in [each for each in self._tables if each not in names]:
                for running in self._tables.pop(name).running.values():
                    self._leave(running, grace)
        else:
            self._tables = {name: table for name, table in self._tables.items() if table.running}
        return problems

    async def drain(self, grace: float) -> int:
        """End all batchers: what waits runs within ``grace`` seconds. Returns how many requests were ended."""
        # Those that are leaving may have been given longer.
        ended = await asyncio.gather(
            *(each.drain(grace) for each in (*self.running, *self._leaving.values())), *self._leaving
        )
        return sum(ended)

    # -- one model

    def _table(self, name: str) -> Table:
        return self._tables.setdefault(name, Table(name))

    async def _change(self, table: Table, specs: list[ModelSpec], grace: float) -> list[str]:
        kept: dict[str, Running] = {}
        wanted: list[ModelSpec] = []
        for spec in specs:
            there = table.running.get(spec.version)
            if there is not None and there.spec.path == spec.path and there.spec.labels == spec.labels:
                sha256 = await asyncio.to_thread(_sha256, spec)
                if sha256 in ("", there.sha256):
                    kept[spec.version] = replace(there, spec=spec)
                    continue
            wanted.append(spec)
        loaded = await asyncio.gather(*(self._load(spec) for spec in wanted))
        failed = {spec.version: each for spec, each in zip(wanted, loaded, strict=True) if isinstance(each, NotLoaded)}
        new = {each.spec.version: each for each in loaded if isinstance(each, Running)}
        if any(spec.version in failed and spec.role == "active" for spec in specs):
            # Nobody would answer, or with a version that nobody declared to: all stays, and what was loaded goes.
            for each in new.values():
                self._leave(each, grace)
            new, kept = {}, dict(table.running)
        for spec in specs:
            if spec.version in failed and spec.version in table.running and spec.version not in kept:
                # Its file was changed for one that cannot be loaded: what was loaded goes on, in its new role.
                there = table.running[spec.version]
                kept[spec.version] = replace(there, spec=replace(spec, path=there.spec.path))
        before = {id(each.engine): each for each in table.running.values()}
        # Assigned in one step, so that no request sees half of it.
        table.running = {**kept, **new}
        table.failed = {version: str(why) for version, why in failed.items() if version not in table.running}
        after = {id(each.engine) for each in table.running.values()}
        for known, each in before.items():
            if known not in after:
                self._leave(each, grace)
        return [str(why) for why in failed.values()]

    def _leave(self, running: Running, grace: float) -> None:
        log.info("%s is not served any more", running.spec)
        task = asyncio.get_running_loop().create_task(running.drain(grace))
        self._leaving[task] = running
        task.add_done_callback(self._leaving.pop)

    async def _load(self, spec: ModelSpec) -> Running | NotLoaded:
        """A version that is ready to serve, or why there is none."""
        ways = [
            (method, route)
            for method in self._plan.methods
            for route in method.routes
            if not route.field or route.field == spec.name
        ]
        made = await asyncio.to_thread(self._open, spec, ways)
        if isinstance(made, NotLoaded):
            return made
        engine, sha256, notes = made
        batchers = {way_key(way): self._batcher(engine, way) for way in ways}
        log.info("%s is loaded (sha256 %s) on %s", spec, engine.identity.sha256[:12], engine.provider)
        for note in notes:
            log.info("%s", note)
        return Running(spec, engine, sha256, batchers, notes)

    def _open(self, spec: ModelSpec, ways: list[Way]) -> tuple[Engine, str, tuple[str, ...]] | NotLoaded:
        """On a thread: load, compare, warm up."""
        engine: Engine | None = None
        told = self._on_event
        try:
            sha256 = _sha256(spec)
            engine = self._open_model(
                spec, ways[0], self._options, None if told is None else lambda event: told(spec, event)
            )
            differences: list[str] = []
            notes: list[str] = []
            for way in ways:
                found = compared(spec, engine, way)
                differences += [str(each) for each in found.differences]
                notes += found.notes
            if differences:
                engine.close()
                return NotLoaded(tuple(dict.fromkeys(differences)), differs=True)
            for way in ways:
                note = warm(engine, way, self._options)
                notes += [f"{spec}: {note}"] if note else []
            return engine, sha256, tuple(dict.fromkeys(notes))
        except (ContractError, ModelError, OSError) as error:
            if engine is not None:
                engine.close()
            return _reason(spec, error)

    def _batcher(self, engine: Engine, way: Way) -> Batcher:
        level = way[0].method.level
        # Nothing is joined undeclared, and one request may have any number of rows.
        most, wait = level.batch or (_ANY_ROWS, 0.0)
        on_tensorrt = engine.provider == "tensorrt" and level.batch is not None
        joins = self._joins and level.batch is not None
        return Batcher(
            engine.run,
            max_size=most,
            max_wait=wait if joins else 0.0,
            queue=level.queue or DEFAULT_QUEUE,
            sizes=batch_sizes(way[0], self._options, tensorrt=on_tensorrt),
            max_deadline=level.max_deadline or self._max_deadline,
            joins=joins,
            padding=Padding.of(way[1].inputs, way[1].outputs),
        )


def named(specs: Sequence[ModelSpec], plan: Plan) -> list[ModelSpec]:
    """The versions with the names of the models that a plan asks for, and with an active one of each.

    A model without a name is the only one that is asked for. Of a model without an active version the first one
    without a role is it. Raises ContractError with all that is missing, too much, or declared twice.
    """
    wanted = plan.models
    problems: list[str] = []
    found: list[ModelSpec] = []
    for spec in specs:
        if not spec.name and (len(wanted) != 1):
            problems.append(f"{spec.path} has no name; expected NAME=PATH, of {', '.join(wanted)}")
            continue
        name = spec.name or wanted[0] or _stem(spec.path)
        found.append(replace(spec, name=name, version=spec.version or FIRST_VERSION))
    names = list(dict.fromkeys(spec.name for spec in found))
    if wanted == ("",):
        if len(names) > 1 and not problems:
            problems.append(f"one model is asked for, got {', '.join(names)}; expected versions of one (NAME@VERSION)")
    else:
        problems += [f"`{name}` has no model; expected {name}=PATH" for name in wanted if name not in names]
        problems += [
            f"nothing asks for the model {name}; expected {', '.join(wanted)}" for name in names if name not in wanted
        ]
    if not found and wanted == ("",):
        problems.append("no model is given; expected the path of one")
    made: list[ModelSpec] = []
    for name in names:
        made += _with_active([spec for spec in found if spec.name == name], problems)
    if problems:
        raise RefusedToStart(problems)
    return made


def _with_active(specs: list[ModelSpec], problems: list[str]) -> list[ModelSpec]:
    name = specs[0].name
    versions, roles = (Counter(getattr(spec, each) for spec in specs) for each in ("version", "role"))
    problems += [
        f"{name}@{version} is declared {count} times; expected each version once"
        for version, count in versions.items()
        if count > 1
    ]
    problems += [
        f"{name} has {count} {role} versions; expected one at most"
        for role, count in roles.items()
        if role and count > 1
    ]
    problems += [
        f"{spec} has the share {spec.share:g}; expected 0 to 1, of a canary"
        for spec in specs
        if not 0 <= spec.share <= 1 or (spec.share and spec.role != "canary")
    ]
    if all(spec.role != "active" for spec in specs):
        at = next((at for at, spec in enumerate(specs) if not spec.role), None)
        if at is None:
            problems.append(f"{name} has no active version; expected one")
        else:
            specs[at] = replace(specs[at], role="active")
    return specs


def _stem(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2] if "://" in path else Path(path).stem


def _sha256(spec: ModelSpec) -> str:
    """What a file is now, with those of its weights; empty for a remote model, whose own server knows."""
    if spec.remote:
        return ""
    try:
        return ",".join(file_sha256(part) for _, part in sorted(files(Path(spec.path)).items()))
    except (ContractError, OSError):  # what is wrong with it is told where it is loaded
        return "unreadable"


def _reason(spec: ModelSpec, error: Exception) -> NotLoaded:
    if isinstance(error, OSError):
        text = f"{spec}: {error.filename or spec.path}: {(error.strerror or 'cannot be read').lower()}"
        return NotLoaded((text,), differs=False)
    return NotLoaded(tuple(line.strip() for line in told(error).strip().splitlines()), differs=False)


def facts_of(running: Running) -> dict[str, Any]:
    """What a version is, for reports."""
    engine = running.engine
    identity = engine.identity
    return {
        "name": running.spec.name,
        "version": running.spec.version,
        "role": running.spec.role,
        "share": running.spec.share,
        "sha256": identity.sha256,
        "provider": engine.provider,
        "fallback": engine.fallback.name if isinstance(engine, Degrading) and engine.degraded else "",
    }
