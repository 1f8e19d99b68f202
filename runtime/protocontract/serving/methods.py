"""What is known of an RPC by its name: the contracts of its messages, and the service level that it declares."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from google.protobuf import descriptor_pool

from protocontract._options import Options
from protocontract.contract import Contract
from protocontract.loading import load
from protocontract.violations import ContractError

log: Final = logging.getLogger("protocontract.serving")


@dataclass(frozen=True, slots=True)
class Level:
    """What an RPC declares (``ServiceLevel`` in contract.proto). Times in seconds; None: not declared."""

    deadline: float | None = None
    max_deadline: float | None = None
    max_request_bytes: int | None = None
    #: Tokens a second, and how many may be saved up.
    rate: tuple[float, int] | None = None
    #: How often a call is made in all, and at which gRPC status names it is made again.
    retry: tuple[int, tuple[str, ...]] | None = None
    #: Requests that may wait.
    queue: int | None = None
    #: Most rows of a batch, and how long its first request waits for more.
    batch: tuple[int, float] | None = None
    #: The field of the request that names the model's version; empty without one.
    model_version_field: str = ""
    #: The number of ``ServiceLevel.Evidence``; 0 is as OFF.
    evidence: int = 0
    #: ``ServiceLevel.Fallback`` as the option has it.
    fallback: Any = None

    def timeout(self, asked: float | None) -> float | None:
        """The seconds that a call has: what the caller asks for, else the deadline; never above the longest."""
        found = self.deadline if asked is None else asked
        if self.max_deadline is None:
            return found
        return self.max_deadline if found is None else min(found, self.max_deadline)


@dataclass(frozen=True, slots=True)
class Method:
    """An RPC with a contract. ``request`` or ``response`` is None where that message has none: it passes unchecked."""

    #: As gRPC has it: ``/acme.inference.v1.ModelService/Predict``.
    name: str
    request: Contract[Any] | None
    response: Contract[Any] | None
    level: Level


class Methods:
    """The RPCs of contracted services, by name."""

    def __init__(self, contracts: Mapping[str, Contract[Any]] | None = None, pool: Any = None) -> None:
        """``contracts``: by full message name, looked at before generated modules. ``pool``: the descriptor pool that
        knows the services; the default one, where generated modules register themselves."""
        self._contracts = dict(contracts or {})
        self._pool: Any = descriptor_pool.Default() if pool is None else pool
        self._options = Options(self._pool)
        self._found: dict[str, Method | None] = {}

    def find(self, name: str) -> Method | None:
        """The RPC of a name as gRPC has it, or None where neither of its messages has a contract.

        Health checks, reflection, and services that the pool does not know are of that kind. It is said once of each.
        """
        if name not in self._found:
            found = self._find(name)
            if found is None:
                log.info("%s has no contract: its messages pass unchecked", name)
            self._found[name] = found
        return self._found[name]

    def _find(self, name: str) -> Method | None:
        service, _, method = name.strip("/").rpartition("/")
        try:
            descriptor = self._pool.FindServiceByName(service).methods_by_name[method]
        except KeyError:
            return None
        request, response = (self._contract(kind.full_name) for kind in (descriptor.input_type, descriptor.output_type))
        if request is None and response is None:
            return None
        return Method(name, request, response, level_of(self._options.service_level(descriptor)))

    def _contract(self, full_name: str) -> Contract[Any] | None:
        if full_name in self._contracts:
            return self._contracts[full_name]
        try:
            return load(full_name)
        except ContractError:
            return None


def level_of(option: Any) -> Level:
    """A level from the option ``(protocontract.v1.service_level)``, None where the RPC has none."""
    if option is None:
        return Level()

    def seconds(name: str) -> float | None:
        if not option.HasField(name):
            return None
        found = getattr(option, name)
        return float(found.seconds + found.nanos / 1e9)

    rate = (option.rate.per_second, option.rate.burst) if option.HasField("rate") else None
    retry = (option.retry.attempts, tuple(option.retry.codes) or ("UNAVAILABLE",)) if option.HasField("retry") else None
    wait = option.batch.max_wait
    return Level(
        seconds("deadline"),
        seconds("max_deadline"),
        option.max_request_bytes or None,
        rate,
        retry,
        queue=option.queue or None,
        batch=(option.batch.max_size or 1, wait.seconds + wait.nanos / 1e9) if option.HasField("batch") else None,
        model_version_field=option.model_version_field,
        evidence=option.evidence,
        fallback=option.fallback if option.HasField("fallback") else None,
    )
