"""aiokafka behind the guard's ports: what waits here is awaited by the task that iterates over an ``AsyncGuard``.

What shapes it (seen with 0.14.0):

- A rebalance goes on in a task of the client's, whatever the guard is doing. Its callbacks are coroutines, and the
  group waits for them, with heartbeats; so they wait here until the guard polls, as it happens with other clients.
- Nothing is called for partitions that are lost: the generation says so.
- Partitions start at the committed offset after every rebalance; ``seek`` works inside the callback.
- A commit takes no leader epoch, so a log that was cut off is not noticed. The committed offset's metadata can be read
  only from the inside, as can the configuration.
- A producer acknowledges after one replica, and takes 1 MiB, unless told otherwise.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import Any, Final, TypeVar, cast

from protocontract.kafka.awaiting import wait_for
from protocontract.kafka.client_checks import check_producer_config
from protocontract.kafka.errors import GuardError
from protocontract.kafka.ports import (
    Answer,
    Client,
    ErrorKind,
    FetchedRecord,
    KafkaTimeoutError,
    MemberOf,
    Producer,
    ProducerFactory,
    RebalanceListener,
    TopicPartition,
    UnknownTopicOrPartitionError,
    register_errors,
)
from protocontract.kafka.quiet import keep_payloads_out_of_logs
from protocontract.violations import MissingExtra

try:
    import aiokafka
    import aiokafka.codec
    import aiokafka.errors as _errors
    from aiokafka.abc import ConsumerRebalanceListener
except ImportError as error:
    raise MissingExtra("protocontract.kafka.AsyncGuard", "aiokafka", "aiokafka") from error

__all__ = ["AioProducer", "of"]

#: How long a broker is asked for what only it knows, in seconds.
ASK_WITHIN: Final = 5.0

T = TypeVar("T")

#: Its methods may be coroutines, which its types do not say.
_ListenerBase: Any = ConsumerRebalanceListener


def of(consumer: Any) -> Client:
    """An ``AIOKafkaConsumer`` as the guard uses it. Raises GuardError where its inside is not as it was."""
    port = AioConsumer(consumer)

    def producers(given: Mapping[str, Any] | ProducerFactory | None) -> ProducerFactory:
        return given if callable(given) else producer_factory(_connection(consumer) if given is None else given)

    return Client(
        name="aiokafka",
        consumer=cast(Any, port),
        membership=port.group_metadata,
        rebalancing=lambda: bool(consumer._subscription.reassignment_in_progress),
        partition=cast(Any, aiokafka.TopicPartition),
        offset=lambda offset, _epoch, metadata: (offset, metadata),
        producers=producers,
        answer_within=_answer_within,
        missing_codecs=missing_codecs,
        sleep=lambda seconds: wait_for(asyncio.sleep(seconds)),
        spelled=lambda name: name,
        listener=getattr(consumer._subscription, "listener", None),
    )


def missing_codecs() -> list[str]:
    """Compressions that this installation cannot read."""
    codec = aiokafka.codec
    present = {"lz4": codec.has_lz4, "snappy": codec.has_snappy, "zstd": codec.has_zstd}
    return sorted(name for name, has in present.items() if not has())


async def _within(seconds: float | None, awaitable: Coroutine[Any, Any, T]) -> T:
    try:
        return await asyncio.wait_for(awaitable, seconds)
    except TimeoutError:
        raise KafkaTimeoutError("no answer") from None


# ----------------------------------------------------------------------------------------------------------------------
# Errors

_TOO_LARGE: Final = (_errors.MessageSizeTooLargeError, _errors.RecordListTooLargeError)
_FORBIDDEN: Final = (
    _errors.TopicAuthorizationFailedError,
    _errors.GroupAuthorizationFailedError,
    _errors.ClusterAuthorizationFailedError,
    _errors.AuthenticationFailedError,
    _errors.SaslAuthenticationFailed,
)
_GAP: Final = (_errors.OffsetOutOfRangeError, _errors.NoOffsetForPartitionError)
#: What goes away by itself although the client does not call it so.
_TEMPORARY: Final = (_errors.KafkaTimeoutError, _errors.KafkaConnectionError, _errors.KafkaUnavailableError)


def _kind(error: Any) -> ErrorKind:
    if isinstance(error, _TOO_LARGE):
        return "too_large"
    if isinstance(error, _FORBIDDEN):
        return "forbidden"
    if isinstance(error, _GAP):
        return "gap"
    return "temporary" if isinstance(error, _TEMPORARY) or error.retriable else "other"


register_errors(_errors.KafkaError, _kind)


# ----------------------------------------------------------------------------------------------------------------------
# The consumer


class AioConsumer:
    """An ``AIOKafkaConsumer`` with calls that wait. All on the event loop's thread."""

    def __init__(self, consumer: Any) -> None:
        self._consumer = consumer
        try:
            self.config: Mapping[str, Any] = {
                "group_id": consumer._group_id,
                "client_id": consumer._client._client_id,
                "enable_auto_commit": consumer._enable_auto_commit,
                "auto_offset_reset": consumer._auto_offset_reset,
                "max_poll_interval_ms": consumer._max_poll_interval_ms,
                "session_timeout_ms": consumer._session_timeout_ms,
                "isolation_level": consumer._isolation_level,
                "key_deserializer": consumer._key_deserializer,
                "value_deserializer": consumer._value_deserializer,
                "bootstrap_servers": consumer._client._bootstrap_servers,
            }
        except AttributeError as error:
            raise GuardError(
                f"consumer: the configuration of this version of aiokafka cannot be read ({error.name}); "
                "expected aiokafka 0.14"
            ) from None
        self._inside = asyncio.Event()
        self._settled = asyncio.Event()
        self._closing = False
        self._commits: asyncio.Task[None] | None = None
        keep_payloads_out_of_logs("aiokafka")

    async def begin(self) -> None:
        """Start a consumer with partitions by hand, if its owner has not. One with topics starts as it subscribes."""
        if self._consumer._fetcher is None and not self._subscription.partitions_auto_assigned():
            await self._consumer.start()

    # -- subscription

    def subscribe(self, topics: Iterable[str] = (), pattern: str | None = None, listener: Any = None) -> None:
        """Take over the subscription, with the guard's listener."""
        chained = _Listener(self, listener)
        if pattern is not None:
            self._consumer.subscribe(pattern=pattern, listener=chained)
        else:
            self._consumer.subscribe(list(topics), listener=chained)
        if self._consumer._fetcher is None:
            wait_for(self._join())

    async def _join(self) -> None:
        # It waits for its first assignment, and so for the listener.
        self._inside.set()
        try:
            await self._consumer.start()
        finally:
            self._inside.clear()

    @property
    def _subscription(self) -> Any:
        """As kafka-python's: asked for the pattern of a subscription."""
        return self._consumer._subscription

    def subscription(self) -> set[str]:
        """The topics subscribed to; none for partitions that were assigned by hand."""
        return set(self._consumer.subscription() or ()) if self._subscription.partitions_auto_assigned() else set()

    def assignment(self) -> set[TopicPartition]:
        """The partitions of this member."""
        return cast("set[TopicPartition]", set(self._consumer.assignment()))

    def group_metadata(self) -> MemberOf:
        """Generation and member id as they are now."""
        coordinator = self._consumer._coordinator
        return MemberOf(getattr(coordinator, "generation", -1), getattr(coordinator, "member_id", ""))

    # -- rebalances

    async def until_polling(self) -> bool:
        """Wait until the guard stands in a poll and its commits are answered: those of one generation belong to it.

        False where it is closing instead.
        """
        while not self._closing:
            await self._until_committed()
            if self._inside.is_set():
                return True
            await self._inside.wait()
        return False

    async def _until_committed(self) -> None:
        if self._commits is not None and not self._commits.done():
            await asyncio.wait({self._commits}, timeout=ASK_WITHIN)

    def settled(self) -> None:
        """A rebalance has ended."""
        self._settled.set()

    # -- reading

    def poll(self, timeout_ms: int = 0, max_records: int | None = None) -> Mapping[TopicPartition, list[FetchedRecord]]:
        """What is there, or arrives within the time."""
        return wait_for(self._poll(timeout_ms))

    async def _poll(self, timeout_ms: int) -> Mapping[TopicPartition, list[FetchedRecord]]:
        self._inside.set()
        try:
            if self._subscription.reassignment_in_progress:
                # The client would wait for its end, however long that takes. It joins only while it is fetched from.
                self._settled.clear()
                with self._subscription.fetch_context(), contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._settled.wait(), timeout_ms / 1000)
                return {}
            found = await self._consumer.getmany(timeout_ms=timeout_ms)
            return {tp: [_record(each) for each in records] for tp, records in found.items()}
        finally:
            self._inside.clear()

    def position(self, partition: TopicPartition, timeout_ms: int | None = None) -> int | None:
        """The offset of the next record to be polled; None while it is not known."""
        subscription = self._subscription.subscription
        assignment = getattr(subscription, "assignment", None)
        state = None if assignment is None else assignment.state_value(partition)
        return cast(int, state.position) if state is not None and state.has_valid_position else None

    def seek(self, partition: TopicPartition, offset: int) -> None:
        """Read on at another offset."""
        self._consumer.seek(aiokafka.TopicPartition(*partition), offset)

    def seek_to_beginning(self, *partitions: TopicPartition) -> None:
        """Read on at the first record there is."""
        for tp, offset in self.beginning_offsets(partitions).items():
            self.seek(tp, offset)

    def pause(self, *partitions: TopicPartition) -> None:
        """Deliver nothing of these."""
        self._consumer.pause(*self._held(partitions))

    def resume(self, *partitions: TopicPartition) -> None:
        """Deliver again."""
        self._consumer.resume(*self._held(partitions))

    def _held(self, partitions: Iterable[TopicPartition]) -> list[Any]:
        # A rebalance may have begun since the guard looked; what comes back of it is told by the callback.
        assigned = self._consumer.assignment()
        return [aiokafka.TopicPartition(*tp) for tp in partitions if tp in assigned]

    def paused(self) -> set[TopicPartition]:
        """The partitions paused."""
        return cast("set[TopicPartition]", set(self._consumer.paused()))

    # -- offsets of the log

    def highwater(self, partition: TopicPartition) -> int | None:
        """The end of a partition as of the last fetch."""
        if partition not in self._consumer.assignment():
            return None
        return cast("int | None", self._consumer.highwater(partition))

    def end_offsets(
        self, partitions: Iterable[TopicPartition], timeout_ms: int | None = None
    ) -> dict[TopicPartition, int]:
        """The ends of partitions."""
        return self._ends(self._consumer.end_offsets, partitions, timeout_ms)

    def beginning_offsets(
        self, partitions: Iterable[TopicPartition], timeout_ms: int | None = None
    ) -> dict[TopicPartition, int]:
        """The first offsets of partitions."""
        return self._ends(self._consumer.beginning_offsets, partitions, timeout_ms)

    def _ends(
        self, ask: Callable[[list[Any]], Any], partitions: Iterable[TopicPartition], timeout_ms: int | None
    ) -> dict[TopicPartition, int]:
        within = ASK_WITHIN if timeout_ms is None else timeout_ms / 1000
        found = wait_for(_within(within, ask([aiokafka.TopicPartition(*tp) for tp in partitions])))
        return cast("dict[TopicPartition, int]", found)

    def partitions_for_topic(self, topic: str) -> set[int]:
        """The partitions of a topic; none if it is missing."""
        return set(self._consumer.partitions_for_topic(topic) or ())

    # -- commits

    def committed(self, partition: TopicPartition, metadata: bool = False, timeout_ms: int | None = None) -> Any:
        """The group's committed offset, with its metadata if asked for; or None."""
        tp = aiokafka.TopicPartition(*partition)
        # The public method leaves the metadata out.
        ask = self._consumer._coordinator.fetch_committed_offsets([tp])
        found = wait_for(_within(ASK_WITHIN if timeout_ms is None else timeout_ms / 1000, ask)).get(tp)
        if found is None or found.offset < 0:
            return None
        return found if metadata else found.offset

    def commit_async(self, offsets: Mapping[TopicPartition, Any] | None = None, callback: Any = None) -> Answer:
        """Commit in a task, after those before it; the answer tells."""
        answer = Answer()
        self._commits = asyncio.get_running_loop().create_task(self._commit(self._commits, offsets or {}, answer))
        return answer

    async def _commit(
        self, before: asyncio.Task[None] | None, offsets: Mapping[TopicPartition, Any], answer: Answer
    ) -> None:
        if before is not None:
            await asyncio.wait({before})
        try:
            await _within(2 * ASK_WITHIN, self._consumer.commit(dict(offsets)))
        except Exception as error:
            # Whatever it is, it is the answer.
            answer.failure(error)
        else:
            answer.success()

    def commit(self, offsets: Mapping[TopicPartition, Any] | None = None, timeout_ms: int | None = None) -> None:
        """Commit and wait for the answer. Raises KafkaTimeoutError where none comes within the time."""
        told: asyncio.Queue[BaseException | None] = asyncio.Queue()
        answer = self.commit_async(offsets)
        answer.add_callback(lambda _: told.put_nowait(None))
        answer.add_errback(told.put_nowait)
        error = wait_for(_within(None if timeout_ms is None else timeout_ms / 1000, told.get()))
        if error is not None:
            raise error

    def close(self, autocommit: bool = True, timeout_ms: int | None = None) -> None:
        """Leave the group."""
        self._closing = True
        self._inside.set()
        wait_for(self._close(ASK_WITHIN if timeout_ms is None else timeout_ms / 1000))

    async def _close(self, timeout: float) -> None:
        await self._until_committed()
        await _within(timeout, self._consumer.stop())


def _record(raw: Any) -> FetchedRecord:
    return FetchedRecord(
        raw.topic, raw.partition, None, raw.offset, raw.timestamp, raw.timestamp_type, raw.key, raw.value, raw.headers
    )


class _Listener(_ListenerBase):  # type: ignore[misc]  # an untyped base class
    """Holds a rebalance until the guard polls, then tells its listener."""

    def __init__(self, consumer: AioConsumer, listener: RebalanceListener) -> None:
        self._consumer = consumer
        self._listener = listener

    async def on_partitions_revoked(self, revoked: Any) -> None:
        if not await self._consumer.until_polling():
            return
        if revoked and self._consumer.group_metadata().generation_id < 0:
            self._listener.on_partitions_lost(set(revoked))
        else:
            self._listener.on_partitions_revoked(set(revoked))

    async def on_partitions_assigned(self, assigned: Any) -> None:
        if not await self._consumer.until_polling():
            return
        self._listener.on_partitions_assigned(set(assigned))
        self._consumer.settled()


# ----------------------------------------------------------------------------------------------------------------------
# Producers

PRODUCER_DEFAULTS: Final[Mapping[str, Any]] = {
    "acks": "all",
    "enable_idempotence": True,
    "request_timeout_ms": 10_000,
    # The broker's limit counts, not the client's default of 1 MiB: what the source topic carried must pass.
    "max_request_size": 2**31 - 1,
}

_SHARED: Final = (
    "bootstrap_servers",
    "security_protocol",
    "ssl_context",
    "sasl_mechanism",
    "sasl_plain_username",
    "sasl_plain_password",
    "sasl_kerberos_service_name",
    "sasl_kerberos_domain_name",
    "sasl_oauth_token_provider",
)


def _connection(consumer: Any) -> dict[str, Any]:
    try:
        return {name: getattr(consumer._client, f"_{name}") for name in _SHARED}
    except AttributeError as error:
        raise GuardError(
            f"dead_letters: the consumer's {error.name} cannot be read; give a configuration of AIOKafkaProducer"
        ) from None


def producer_factory(config: Mapping[str, Any]) -> ProducerFactory:
    """Producers from a configuration, with the guard's defaults for what it leaves open.

    Raises ValueError for a configuration that would lose records.
    """
    check_producer_config(config)
    merged = {**PRODUCER_DEFAULTS, **config}
    return lambda: cast(Producer, aiokafka.AIOKafkaProducer(**merged))


def _answer_within(config: Mapping[str, Any] | ProducerFactory | None) -> float:
    if callable(config):
        # aiokafka's own default is 40 s.
        return 100.0
    merged = {**PRODUCER_DEFAULTS, **(config or {})}
    # For the record's place in a batch, and for the batch.
    return 2 * float(merged["request_timeout_ms"]) / 1000 + 15.0


class AioProducer:
    """An ``AIOKafkaProducer`` whose ``send`` does not wait: a task sends one record after the other."""

    def __init__(self, producer: Any) -> None:
        """``producer``: not started yet, or started."""
        self._producer = producer
        self._waiting: asyncio.Queue[tuple[dict[str, Any], Answer] | None] = asyncio.Queue()
        self._started: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._task = asyncio.get_running_loop().create_task(self._serve())
        keep_payloads_out_of_logs("aiokafka")

    async def _serve(self) -> None:
        trouble: BaseException | None = None
        try:
            if self._producer._sender.sender_task is None:
                await _within(2 * ASK_WITHIN, self._producer.start())
        except Exception as error:
            # Whatever it is, every send fails with it; the guard makes a new producer.
            trouble = error
        self._started.set_result(None)
        while (item := await self._waiting.get()) is not None:
            letter, answer = item
            if trouble is not None:
                answer.failure(trouble)
                continue
            try:
                sent = await _within(ASK_WITHIN, self._producer.send(**letter))
            except Exception as error:
                # As above: the letter is not written.
                answer.failure(error)
            else:
                sent.add_done_callback(lambda done, answer=answer: _tell(done, answer))

    def send(
        self,
        topic: str,
        value: bytes | None = None,
        key: bytes | None = None,
        headers: list[tuple[str, bytes]] | None = None,
        partition: int | None = None,
        timestamp_ms: int | None = None,
    ) -> Answer:
        """Queue a record."""
        answer = Answer()
        letter = {
            "topic": topic,
            "value": value,
            "key": key,
            "headers": headers,
            "partition": partition,
            "timestamp_ms": timestamp_ms,
        }
        self._waiting.put_nowait((letter, answer))
        return answer

    def partitions_for(self, topic: str) -> set[int]:
        """The partitions of a topic. Raises UnknownTopicOrPartitionError."""
        return wait_for(self._partitions_for(topic))

    async def _partitions_for(self, topic: str) -> set[int]:
        await self._started
        found = await _within(ASK_WITHIN, self._producer.partitions_for(topic))
        if not found:
            raise UnknownTopicOrPartitionError(topic)
        return set(found)

    def flush(self, timeout: float | None = None) -> None:
        """Wait for what is on its way."""
        wait_for(_within(timeout, self._producer.flush()))

    def close(self, timeout: float | None = None) -> None:
        """As ``shut``."""
        self.shut(ASK_WITHIN if timeout is None else timeout)

    def shut(self, timeout: float) -> str | None:
        """Close it within so many seconds; the name of an error where something was left."""
        return wait_for(self._close(timeout))

    def retire(self, timeout: float) -> None:
        """End it when what it holds is answered, in a task."""
        task = asyncio.get_running_loop().create_task(self._close(timeout))
        _RETIRING.add(task)
        task.add_done_callback(_RETIRING.discard)

    async def _close(self, timeout: float) -> str | None:
        self._waiting.put_nowait(None)
        try:
            async with asyncio.timeout(timeout):
                await self._task
                await self._producer.stop()
        except Exception as error:
            # It could not flush in time.
            await self._break_off()
            return type(error).__name__
        except BaseException:
            # The loop is at its end.
            await self._break_off()
            raise
        return None

    async def _break_off(self) -> None:
        """Close from the inside what a ``stop`` that was cut short has left open."""
        self._task.cancel()
        for close in (self._producer._sender.close, self._producer.client.close):
            with contextlib.suppress(Exception):
                await _within(1.0, close())


#: Tasks that close producers: the loop itself keeps none alive.
_RETIRING: Final[set[asyncio.Task[Any]]] = set()


async def wait_for_retired(timeout: float) -> None:
    """Let producers that were given up on this loop end, for so many seconds."""
    loop = asyncio.get_running_loop()
    mine = {task for task in _RETIRING if task.get_loop() is loop}
    if mine:
        await asyncio.wait(mine, timeout=timeout)


def _tell(done: asyncio.Future[Any], answer: Answer) -> None:
    if done.cancelled():
        answer.failure(KafkaTimeoutError("the producer was closed"))
        return
    error = done.exception()
    if error is not None:
        answer.failure(error)
    else:
        answer.success(done.result())
