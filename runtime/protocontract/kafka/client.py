"""The one place that knows kafka-python: its types, its errors, and what it gets wrong.

The guard is written against the protocols of ``protocontract.kafka.ports``, which ``protocontract.kafka.memory`` keeps
as well; a consumer of kafka-python fits them as it is.
"""

from __future__ import annotations

import contextlib
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from protocontract.kafka import ports
from protocontract.kafka.client_checks import check_producer_config
from protocontract.kafka.ports import (
    UNBOUNDED,
    Consumer,
    ErrorKind,
    Fetched,
    Future,
    Membership,
    Producer,
    ProducerFactory,
    register_errors,
)
from protocontract.kafka.quiet import keep_payloads_out_of_logs
from protocontract.violations import MissingExtra

try:
    with warnings.catch_warnings():
        # kafka-python 3.0.12 reads its schemas in a way that Python 3.11 and 3.12 call deprecated.
        warnings.simplefilter("ignore", DeprecationWarning)
        import kafka  # kafka-python ships no types
        import kafka.errors as _errors
        import kafka.structs as _structs
        from kafka.codec import has_lz4, has_snappy, has_zstd
        from kafka.structs import OffsetAndMetadata as _OffsetAndMetadata
except ImportError as error:
    raise MissingExtra("protocontract.kafka", "kafka-python", "kafka") from error

if TYPE_CHECKING:
    from protocontract.kafka.ports import TopicPartition
else:  # The client refuses tuples of any other class than its own.
    from kafka.structs import TopicPartition

__all__ = [
    "UNBOUNDED",
    "Consumer",
    "Fetched",
    "Future",
    "Membership",
    "Producer",
    "ProducerFactory",
    "RebalanceListener",
    "TopicPartition",
    "errors",
    "keep_payloads_out_of_logs",
    "offset_to_commit",
]

errors: Final[Any] = _errors
_MemberState: Final[Any] = cast(Any, _structs).MemberState
RebalanceListener: Final[Any] = kafka.ConsumerRebalanceListener
# The client takes no listener of another class; an abstract base class takes others in.
RebalanceListener.register(ports.RebalanceListener)


def of(consumer: Any) -> ports.Client:
    """A ``KafkaConsumer``, or what has its shape, as the guard uses it."""

    def producers(given: Mapping[str, Any] | ProducerFactory | None) -> ProducerFactory:
        if callable(given):
            return given
        return producer_factory(consumer_connection(consumer.config) if given is None else given)

    return ports.Client(
        name="kafka-python",
        consumer=cast(Consumer, consumer),
        membership=_membership(consumer),
        rebalancing=_rebalancing(consumer),
        partition=TopicPartition,
        offset=offset_to_commit,
        producers=producers,
        answer_within=answer_within,
        missing_codecs=missing_codecs,
        sleep=time.sleep,
        spelled=lambda name: name,
        # Only its inside tells whether there is one.
        listener=getattr(getattr(consumer, "_subscription", None), "rebalance_listener", None),
    )


def offset_to_commit(offset: int, leader_epoch: int = -1, metadata: str = "") -> Any:
    """An offset as the client commits it. The leader epoch lets the next owner notice a truncated log.

    metadata: text that every later owner of the partition can read, 4,096 bytes at most.
    """
    return _OffsetAndMetadata(offset, metadata, leader_epoch)


def missing_codecs() -> list[str]:
    """Compressions that this installation cannot read. A batch written with one of them stops the guard."""
    present = {"lz4": has_lz4, "snappy": has_snappy, "zstd": has_zstd}
    return sorted(name for name, has in present.items() if not has())


def _is_the_clients(consumer: Any) -> bool:
    """Whether this is kafka-python's own consumer, by the names of its classes: whoever tests with another one may have
    put a function in ``KafkaConsumer``'s place.
    """
    return any(each.__module__.startswith("kafka.consumer.") for each in type(consumer).__mro__)


def _membership(consumer: Any) -> Callable[[], object]:
    """Generation and member id at a thirtieth of what ``group_metadata()`` takes, which locks and makes an object."""
    coordinator: Any = getattr(consumer, "_coordinator", None)
    if _is_the_clients(consumer) and hasattr(coordinator, "_generation"):
        # Replaced as a whole whenever one of the two changes.
        return lambda: coordinator._generation
    return cast("Callable[[], object]", consumer.group_metadata)


def _rebalancing(consumer: Any) -> Callable[[], bool]:
    """What a heartbeat or a commit was told. Only the client's inside says so."""
    coordinator: Any = getattr(consumer, "_coordinator", None)
    if _is_the_clients(consumer) and hasattr(coordinator, "rejoin_needed"):
        return lambda: bool(coordinator.rejoin_needed)
    return lambda: False


# ----------------------------------------------------------------------------------------------------------------------
# Producers of the guard's own

#: Short enough that a dead broker is noticed, and that the polling thread (where ``send`` waits for metadata) does not
#: hang: kafka-python would wait 60 s for metadata and 120 s for an acknowledgement.
PRODUCER_DEFAULTS: Final[Mapping[str, Any]] = {
    "acks": "all",
    "max_block_ms": 5_000,
    "request_timeout_ms": 10_000,
    "delivery_timeout_ms": 30_000,
    "bootstrap_timeout_ms": 5_000,
    "allow_auto_create_topics": False,
    # The broker's limit counts, not the client's default of 1 MiB: what the source topic carried must pass.
    "max_request_size": 2**31 - 1,
}

#: What a producer needs of a consumer's configuration to reach the same cluster in the same way.
_SHARED_CONFIG: Final = (
    "bootstrap_servers",
    "security_protocol",
    "ssl_",
    "sasl_",
    "proxy_url",
    "client_dns_lookup",
    "api_version",
    "socket_options",
)


def producer_factory(config: Mapping[str, Any]) -> ProducerFactory:
    """Producers from a kafka-python configuration, with the guard's defaults for what it leaves open.

    Raises ValueError for a configuration that would lose records.
    """
    check_producer_config(config)
    merged = {**PRODUCER_DEFAULTS, **config}
    keep_payloads_out_of_logs()

    def build() -> Producer:
        return cast(Producer, kafka.KafkaProducer(**merged))

    return build


#: What a producer of transactions does not leave to its configuration: a send must fail before its transaction does.
_TRANSACTIONAL: Final[Mapping[str, Any]] = {
    "acks": "all",
    "enable_idempotence": True,
    "request_timeout_ms": 5_000,
    "delivery_timeout_ms": 7_500,
}


def transactional_factory(
    config: Mapping[str, Any], transactional_id: str, transaction_timeout_ms: int
) -> Callable[[], Any]:
    """Producers of one transactional id. Raises ValueError for a configuration that would lose records."""
    producer_factory(config)
    merged = {
        **PRODUCER_DEFAULTS,
        # A transaction that begins before the broker is done with the one before is told to wait. kafka-python 3.0.12
        # then sleeps for this long, 100 ms by default: more than a small transaction takes.
        "retry_backoff_ms": 20,
        **config,
        **_TRANSACTIONAL,
        "transactional_id": transactional_id,
        "transaction_timeout_ms": transaction_timeout_ms,
    }

    def build() -> Any:
        producer = kafka.KafkaProducer(**merged)
        # A producer of kafka-python 3.0.12 that was fenced gets itself a new epoch, and so fences the process that took
        # over its id. There is no option against it. A producer that met an error is thrown away here in any case.
        manager: Any = getattr(producer, "_transaction_manager", None)
        if hasattr(manager, "_supports_epoch_bump"):
            manager._supports_epoch_bump = lambda: False
        return producer

    return build


def new_consumer(topic: str, config: Mapping[str, Any]) -> Any:
    """A ``KafkaConsumer`` of one topic."""
    return kafka.KafkaConsumer(topic, **config)


def new_admin(config: Mapping[str, Any]) -> Any:
    """A ``KafkaAdminClient`` for the same cluster as a producer of this configuration. Raises KafkaError."""
    from kafka.admin import KafkaAdminClient

    settings: dict[str, Any] = {"bootstrap_timeout_ms": 10_000, **consumer_connection(config)}
    return KafkaAdminClient(**settings)


def topic_settings(admin: Any, topics: Iterable[str]) -> dict[str, dict[str, str]]:
    """All settings of topics, defaults included. A topic whose settings may not be read has none."""
    from kafka.admin import ConfigResource, ConfigResourceType

    wanted = [ConfigResource(ConfigResourceType.TOPIC, topic) for topic in topics]
    found = admin.describe_configs(wanted, config_filter="all").get("topic", {})
    return {topic: {name: str(entry["value"]) for name, entry in settings.items()} for topic, settings in found.items()}


def error_name(code: int) -> str:
    """The name of Kafka's error with this number."""
    return str(_errors.for_code(code).__name__)


def split_config(config: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """One configuration for both clients, as the consumer and as the producer take it.

    Raises ValueError naming the options that neither knows.
    """
    known = (kafka.KafkaConsumer.DEFAULT_CONFIG, kafka.KafkaProducer.DEFAULT_CONFIG)
    unknown = sorted(name for name in config if not any(name in options for options in known))
    if unknown:
        raise ValueError(f"not an option of kafka-python: {', '.join(unknown)}")
    consumer, producer = ({name: value for name, value in config.items() if name in options} for options in known)
    return consumer, producer


def answer_within(config: Mapping[str, Any] | ProducerFactory | None) -> float:
    """Seconds after which a producer must have answered a send: its delivery timeout, and a margin."""
    if callable(config):
        # kafka-python's own default is 120 s.
        return 150.0
    merged = {**PRODUCER_DEFAULTS, **(config or {})}
    return float(merged["delivery_timeout_ms"]) / 1000 + 15.0


def consumer_connection(config: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a consumer's configuration with which a producer reaches the same cluster."""
    return {name: value for name, value in config.items() if name.startswith(_SHARED_CONFIG) and value is not None}


def close_producer(producer: Producer, timeout: float) -> str | None:
    """Close a producer within ``timeout`` seconds, whatever it still holds. Returns the class of an error, or None."""
    try:
        producer.close(timeout=timeout)
    except Exception as error:
        # A producer of kafka-python that cannot flush in time leaves close() half way: its thread goes on, and its
        # finalizer complains at exit. There is no public way to end it.
        sender: Any = getattr(producer, "_sender", None)
        if sender is not None:
            sender.force_close()
            sender.join(1.0)
            with contextlib.suppress(Exception):
                producer.close(timeout=1.0)
        return type(error).__name__
    return None


def abandon_producer(producer: Any) -> None:
    """End a producer without waiting for what it still holds: nothing of that may be written any more."""
    sender: Any = getattr(producer, "_sender", None)
    if sender is not None:
        # close() would flush first. There is no public way to end it otherwise.
        sender.force_close()
        sender.join(1.0)
    with contextlib.suppress(Exception):
        producer.close(timeout=0.0)


def is_settled(member: Any) -> bool:
    """Whether a member knows its partitions in its generation.

    From the answer to its join request on it has the new generation, and until the next one the old partitions.
    """
    state = getattr(member, "state", _MemberState.STABLE)
    return bool(member.generation_id >= 0 and state == _MemberState.STABLE)


_ASK_MS: Final = 5_000


def ask_membership(consumer: Any) -> None:
    """Ask a group's coordinator whether a consumer is still the member that it takes itself for.

    Raises KafkaError: FencedInstanceIdError where another process has taken over the name of a static member.
    kafka-python asks by itself now and then, but keeps to itself that the name was taken over, and has no public way to
    ask. A consumer without these parts (the in-memory log, another release) tells by its polls alone.
    """
    coordinator = getattr(consumer, "_coordinator", None)
    ask, manager = getattr(coordinator, "_send_heartbeat_request", None), getattr(coordinator, "_manager", None)
    if coordinator is None or ask is None or manager is None:
        return
    coordinator.ensure_coordinator_ready(timeout_ms=_ASK_MS)
    manager.run(manager.wait_for, manager.call_soon(ask), _ASK_MS)


# ----------------------------------------------------------------------------------------------------------------------
# Errors, by what the guard does about them


def is_retriable(error: BaseException) -> bool:
    """Whether the client itself calls the error temporary."""
    return isinstance(error, _errors.KafkaError) and bool(error.retriable)


def is_too_large(error: BaseException) -> bool:
    """Whether a record was refused for its size, by the client or by the broker."""
    return isinstance(error, _errors.MessageSizeTooLargeError | _errors.RecordListTooLargeError)


def is_forbidden(error: BaseException) -> bool:
    """Whether rights are missing: waiting does not help, somebody has to grant them."""
    return isinstance(error, _errors.AuthorizationError | _errors.SaslAuthenticationFailedError)


def is_fenced(error: BaseException) -> bool:
    """Whether somebody else has taken over a transactional id or a group instance id.

    kafka-python tells a newer producer of the same id and a transaction that timed out by the same errors; and where
    its sender learns of it between two sends, the next one fails with IllegalStateError.
    """
    fenced = (
        _errors.ProducerFencedError,
        _errors.InvalidProducerEpochError,
        _errors.FencedInstanceIdError,
        _errors.IllegalStateError,
    )
    # A producer that has failed raises KafkaError with the first error among its arguments.
    return isinstance(error, fenced) or any(isinstance(each, fenced) for each in error.args)


def is_gap(error: BaseException) -> bool:
    """Whether records are gone that should have been read: the guard stops and says so."""
    # LogTruncationError is made at run time, where a type checker does not see it.
    truncated: Any = getattr(_errors, "LogTruncationError", ())
    return isinstance(error, (_errors.OffsetOutOfRangeError, _errors.NoOffsetForPartitionError, truncated))


def _kind(error: Any) -> ErrorKind:
    if is_too_large(error):
        return "too_large"
    if is_forbidden(error):
        return "forbidden"
    if is_retriable(error):
        return "temporary"
    return "gap" if is_gap(error) else "other"


register_errors(_errors.KafkaError, _kind)


def is_client_error(error: BaseException) -> bool:
    """Whether the error is one of kafka-python's own."""
    return isinstance(error, _errors.KafkaError)
