"""A Confluent Schema Registry beside a guard: which schema a record was written with, and whether it fits the contract.

    from protocontract.kafka.registry import Registry

    registry = Registry({"url": "https://registry.acme.example", "basic.auth.user.info": "guard:..."})
    Guard(consumer, TRANSACTION, encoding=registry)

Records are framed (or carry ``__value_schema_id``). A record whose schema the registry does not have, or that is of
another message, or that contradicts the contract (``wire_compatible``), breaks the contract: rules ``schema.*``.

A registry can be behind: an id that it does not know is asked for again, a few times, with growing pauses, and is then
taken for unknown for a minute. A registry that does not answer says nothing about a record: the guard waits, nothing is
lost. What an id means never changes, so answers are kept for good, up to a bound.

One guard at a time. Needs ``pip install "protocontract[kafka,registry]"``, and the extra ``compiler`` where a registry
gives schemas as source only.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn

from protocontract.kafka.errors import GuardError, Later, RegistryError
from protocontract.kafka.patience import give_up_if_due
from protocontract.kafka.registry.client import Missing, Registered, RegistryClient, Unreachable
from protocontract.kafka.registry.frames import Frames
from protocontract.kafka.registry.schema import UnusableSchema, WriterSchema, writer_schema
from protocontract.violations import Refusal

if TYPE_CHECKING:
    from protocontract.contract import Contract
    from protocontract.kafka.registry.frames import SinkFrame

__all__ = ["Registry", "RegistryStats"]

log: Final = logging.getLogger("protocontract.kafka")

#: Ids that may be waited for within the time that an unknown one is remembered. A registry is behind by few ids;
#: bytes that only look like frames have a new one each, and must not stop the line for seconds each.
WAITED_FOR: Final = 8
_MAX_UNKNOWN: Final = 10_000
#: Seconds after which a failure that nobody tried to mend is forgotten.
STALE_AFTER: Final = 60.0


@dataclass(slots=True)
class RegistryStats:
    """What was asked of a registry."""

    #: Requests for schemas (with what they refer to), answers of all kinds.
    lookups: int = 0
    #: Requests that had no answer.
    errors: int = 0
    #: Ids that were given up as unknown.
    unknown: int = 0


class _Unknown(NamedTuple):
    tries: int
    #: When it may be asked for again, on the registry's clock; after that it is as if it had never been asked for.
    until: float
    given_up: bool


class Registry:
    """Resolves the schema ids of records. Give it to a guard as its ``encoding``."""

    def __init__(
        self,
        config: str | Mapping[str, Any],
        *,
        retries: int = 5,
        backoff: tuple[float, float] = (0.1, 10.0),
        unknown_for: float = 60.0,
        max_schemas: int = 1_000,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Nothing is asked yet.

        config: the registry's URL, or options of confluent-kafka's ``SchemaRegistryClient``: ``url``,
            ``basic.auth.user.info``, ``bearer.auth.*``, ``ssl.*``, ``timeout`` (default 5 s).
        retries: how often an id that the registry does not know is asked for again.
        backoff: first and longest pause between tries, in seconds; it doubles.
        unknown_for: seconds after which an unknown id is asked for again.
        max_schemas: most schemas kept.

        Raises GuardError for a configuration that is refused.
        """
        self._client = RegistryClient({"url": config} if isinstance(config, str) else config)
        #: How a request is made: by a call, or (for a guard of asyncio) on a thread while the event loop goes on.
        self.through: Callable[[Callable[[], WriterSchema | Refusal]], WriterSchema | Refusal] = lambda ask: ask()
        #: Where the registry is, without credentials.
        self.place: Final = self._client.place
        self.stats: Final = RegistryStats()
        self._retries = retries
        self._backoff = backoff
        self._unknown_for = unknown_for
        self._max_schemas = max_schemas
        self._clock = clock
        self._schemas: OrderedDict[int | bytes, WriterSchema | Refusal] = OrderedDict()
        self._unknown: OrderedDict[int | bytes, _Unknown] = OrderedDict()
        self._waited: list[float] = []
        self._wait_until = float("-inf")
        self._blocked: str | None = None
        self._blocked_since = 0.0
        self._pause = backoff[0]
        self._retry_at = float("-inf")

    # -- state

    @property
    def blocked(self) -> str | None:
        """Why no unknown schema can be resolved at present: the registry does not answer. Else None."""
        # Whoever waits asks again as soon as it may. Where nobody does, because the record is another member's by now,
        # an old failure is no state.
        return None if self._clock() > self._retry_at + STALE_AFTER else self._blocked

    @property
    def blocked_for(self) -> float:
        """Seconds since the registry answered last, while it does not."""
        return 0.0 if self.blocked is None else self._clock() - self._blocked_since

    @property
    def waiting(self) -> bool:
        """Whether a record waits for an answer that is not to be asked for yet."""
        return self._clock() < self._wait_until

    @property
    def wait_seconds(self) -> float:
        """How long ``waiting`` goes on; 0 or less where nothing is waited for."""
        return self._wait_until - self._clock()

    def give_up(self, after: float | None) -> None:
        """Raise RegistryError where the registry has been silent for ``after`` seconds; None is never."""
        blocked = self.blocked
        if blocked is not None:
            give_up_if_due(blocked, RegistryError, self.blocked_for, after)

    # -- asking

    @property
    def client(self) -> RegistryClient:
        """The way to the registry, for what is done once at the start."""
        return self._client

    def check(self) -> None:
        """Ask the registry for a schema that no registry has. Raises GuardError where that is not the answer."""
        try:
            self._client.by_id(0)
        except Missing:
            return
        except Unreachable as error:
            raise GuardError(self.no_answer(error)) from None

    def schema(self, key: int | bytes) -> WriterSchema | Refusal:
        """The schema of an id, or of a GUID of 16 bytes; a Refusal (schema.*) where there is none that can be used.

        Raises Later while that is not known, MissingExtra where the schema is source and the compiler is missing.
        """
        found = self._schemas.get(key)
        if found is not None:
            self._schemas.move_to_end(key)
            return found
        now = self._clock()
        before = self._unknown.get(key)
        if before is not None and now < before.until:
            if before.given_up:
                return _unknown(key)
            self._wait(before.until)
        if now < self._retry_at:
            self._wait(self._retry_at)
        self.stats.lookups += 1
        try:
            answer = self.through(lambda: self._load(key))
        except Missing:
            self._answered()
            return self._miss(key, 0 if before is None or before.given_up else before.tries)
        except Unreachable as error:
            self._fail(error)
        self._answered()
        self._unknown.pop(key, None)
        self._schemas[key] = answer
        if len(self._schemas) > self._max_schemas:
            self._schemas.popitem(last=False)
        return answer

    def frames(self, contract: Contract[Any]) -> Frames:
        """The reader of a contract's framed records."""
        return Frames(self, contract)

    def contract(self, subject: str, message: str | None = None) -> Contract[Any]:
        """The contract of a message in ``NAME`` or ``NAME@VERSION``, compiled now: see ``registry_contract``."""
        from protocontract.kafka.registry.contract import Subject, contract_from

        return contract_from(self, Subject.of(subject), message).contract

    def frame(
        self, contract: Contract[Any], subject: str, *, in_header: bool = False, register: bool = False
    ) -> SinkFrame:
        """The frame of a contract's records under a subject: see ``registry_contract.sink_frame``."""
        from protocontract.kafka.registry.contract import sink_frame

        return sink_frame(self, contract, subject, in_header=in_header, register=register)[0]

    def close(self) -> None:
        """Close the connections to the registry."""
        self._client.close()

    def _load(self, key: int | bytes) -> WriterSchema | Refusal:
        client = self._client
        registered = client.by_id(key) if isinstance(key, int) else client.by_guid(key)
        if registered.kind != "PROTOBUF":
            return Refusal("schema.type", f"{named(key)} is not of a protobuf schema; expected one")
        try:
            return writer_schema(client, registered)
        except UnusableSchema as error:
            log.warning("%s of %s cannot be used: %s", named(key), self.place, error)
            return Refusal("schema.unusable", f"{named(key)} cannot be used: {error}")

    def _miss(self, key: int | bytes, tries: int) -> Refusal:
        now = self._clock()
        self._waited = [since for since in self._waited if now - since < self._unknown_for]
        if tries < self._retries and (tries or len(self._waited) < WAITED_FOR):
            if not tries:
                self._waited.append(now)
            until = now + min(self._backoff[0] * 2**tries, self._backoff[1])
            self._remember(key, _Unknown(tries + 1, until, given_up=False))
            self._wait(until)
        self.stats.unknown += 1
        # A flood of them is counted, not told one by one.
        level = logging.WARNING if tries or not self._retries else logging.DEBUG
        log.log(level, "%s is unknown to %s; its records break the contract", named(key), self.place)
        self._remember(key, _Unknown(tries, now + self._unknown_for, given_up=True))
        return _unknown(key)

    def _remember(self, key: int | bytes, what: _Unknown) -> None:
        self._unknown[key] = what
        self._unknown.move_to_end(key)
        if len(self._unknown) > _MAX_UNKNOWN:
            self._unknown.popitem(last=False)

    def _fail(self, error: Unreachable) -> NoReturn:
        now = self._clock()
        self.stats.errors += 1
        reason = self.no_answer(error)
        if self.blocked is None:
            self._blocked_since = now
            log.warning("%s; trying again until it does, nothing is skipped", reason)
        self._blocked = reason
        self._retry_at = now + self._pause
        self._pause = min(self._pause * 2, self._backoff[1])
        self._wait(self._retry_at)

    def _answered(self) -> None:
        if self._blocked is not None:
            log.warning("the registry answers again")
        self._blocked = None
        self._pause = self._backoff[0]
        self._retry_at = float("-inf")

    def _wait(self, until: float) -> NoReturn:
        self._wait_until = until
        raise Later

    def no_answer(self, error: Unreachable) -> str:
        """What to say of a request that failed."""
        if error.forbidden:
            return f"the schema registry at {self.place} refuses these credentials ({error})"
        return f"the schema registry at {self.place} does not answer ({error})"


def named(key: int | bytes) -> str:
    """``schema id 12``, or ``schema GUID 89791762-...``."""
    return f"schema id {key}" if isinstance(key, int) else f"schema GUID {uuid.UUID(bytes=key)}"


def described(registered: Registered) -> str:
    """``payments-value version 3 (schema id 12)``."""
    return f"{registered.subject} version {registered.version} (schema id {registered.schema_id})"


def _unknown(key: int | bytes) -> Refusal:
    return Refusal("schema.unknown", f"{named(key)} is unknown to the registry; expected a registered one")
