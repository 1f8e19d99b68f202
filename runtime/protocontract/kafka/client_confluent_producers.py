"""Producers of confluent-kafka behind the guard's ports. Acknowledgements come when somebody asks: a thread does."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any, Final, cast

from protocontract.kafka.ports import (
    Answer,
    KafkaTimeoutError,
    Producer,
    ProducerFactory,
    UnknownTopicOrPartitionError,
)
from protocontract.violations import MissingExtra

try:
    import confluent_kafka as ck
except ImportError as error:
    raise MissingExtra("protocontract.kafka.client_confluent", "confluent-kafka", "confluent") from error

#: How long a broker is asked for what only it knows, in seconds.
ASK_WITHIN: Final = 5.0

PRODUCER_DEFAULTS: Final[Mapping[str, Any]] = {
    "acks": "all",
    "enable.idempotence": True,
    "delivery.timeout.ms": 30_000,
    "allow.auto.create.topics": False,
    # The broker's limit counts, not the client's default of 1 MB: what the source topic carried must pass.
    "message.max.bytes": 1_000_000_000,
}

_SHARED_CONFIG: Final = (
    "bootstrap.servers",
    "metadata.broker.list",
    "security.protocol",
    "ssl.",
    "sasl.",
    "client.dns.lookup",
    "broker.address",
    "socket.",
)


def connection(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a consumer's configuration with which a producer reaches the same cluster."""
    return {name: value for name, value in settings.items() if name.startswith(_SHARED_CONFIG)}


def producer_factory(config: Mapping[str, Any]) -> ProducerFactory:
    """Producers from a configuration, with the guard's defaults for what it leaves open.

    Raises ValueError for a configuration that would lose records.
    """
    acks = config.get("acks", config.get("request.required.acks", "all"))
    if str(acks) not in ("all", "-1"):
        raise ValueError('a producer with `acks` below "all" can lose records; leave `acks` out')
    if config.get("transactional.id"):
        raise ValueError("the guard opens no transaction; leave `transactional.id` out")
    merged = {**PRODUCER_DEFAULTS, **config}
    return lambda: cast(Producer, ck.Producer(merged))


def answer_within(config: Mapping[str, Any] | ProducerFactory | None) -> float:
    """Seconds after which a producer must have answered a send: its delivery timeout, and a margin."""
    if callable(config):
        # librdkafka's own default is 300 s.
        return 315.0
    merged = {**PRODUCER_DEFAULTS, **(config or {})}
    return float(merged.get("message.timeout.ms", merged["delivery.timeout.ms"])) / 1000 + 15.0


class ConfluentProducer:
    """A ``confluent_kafka.Producer`` as the guard uses it, with the thread that asks for its acknowledgements."""

    def __init__(self, producer: Any) -> None:
        self._producer = producer
        self._ended = threading.Event()
        threading.Thread(target=self._serve, daemon=True, name="protocontract-acknowledgements").start()

    def _serve(self) -> None:
        while not self._ended.is_set():
            self._producer.poll(0.1)

    def send(
        self,
        topic: str,
        value: bytes | None = None,
        key: bytes | None = None,
        headers: list[tuple[str, bytes]] | None = None,
        partition: int | None = None,
        timestamp_ms: int | None = None,
    ) -> Answer:
        """Queue a record. Raises KafkaException or BufferError."""
        answer = Answer()

        def delivered(error: Any, message: Any) -> None:
            if error is not None:
                answer.failure(ck.KafkaException(error))
            else:
                answer.success(message)

        more: dict[str, Any] = {} if timestamp_ms is None else {"timestamp": timestamp_ms}
        if partition is not None:
            more["partition"] = partition
        self._producer.produce(topic, value=value, key=key, headers=headers, on_delivery=delivered, **more)
        return answer

    def partitions_for(self, topic: str) -> set[int]:
        """The partitions of a topic. Raises UnknownTopicOrPartitionError."""
        found = partitions_of(self._producer, topic)
        if not found:
            raise UnknownTopicOrPartitionError(topic)
        return found

    def flush(self, timeout: float | None = None) -> None:
        """Wait for what is on its way."""
        self._producer.flush(-1 if timeout is None else timeout)

    def close(self, timeout: float | None = None) -> None:
        """As ``shut``."""
        self.shut(ASK_WITHIN if timeout is None else timeout)

    def shut(self, timeout: float) -> str | None:
        """Close it within so many seconds; the name of an error where something was left."""
        left = self._producer.flush(timeout)
        if left:
            self._producer.purge()
            self._producer.flush(1.0)
        self._ended.set()
        return KafkaTimeoutError.__name__ if left else None

    def retire(self, timeout: float) -> None:
        """End it when what it holds is answered, on a thread."""
        threading.Thread(target=self.shut, args=(timeout,), daemon=True, name="protocontract-retired-producer").start()


def partitions_of(client: Any, topic: str) -> set[int]:
    """The partitions of a topic, as a consumer or a producer knows them; none if it is missing."""
    found = client.list_topics(topic, timeout=ASK_WITHIN).topics.get(topic)
    if found is None or found.error is not None:
        return set()
    return set(found.partitions)
