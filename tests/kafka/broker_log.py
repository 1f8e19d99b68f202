"""A real broker with the face of the in-memory log, so that one scenario runs on both.

What only the in-memory log can do (fail a send on demand, hold an answer, evict a member) is not here.
"""

from __future__ import annotations

import contextlib
import time
import uuid
import zlib
from collections import Counter
from collections.abc import Sequence
from typing import Any

import confluent_kafka

from protocontract.kafka import client
from protocontract.kafka.client import TopicPartition
from tests.kafka.conftest import Broker


class BrokerLog:
    """Topics of the names that a scenario uses; they are made anew for each."""

    #: What a guard needs to be told here and not in memory.
    guard_options: dict[str, Any]

    def __init__(self, broker: Broker, topics: Sequence[str], partitions: int) -> None:
        """``topics``: the source, which gets so many partitions, and the dead letters."""
        self._broker = broker
        self._group = f"scenario-{uuid.uuid4().hex[:8]}"
        self._partitions: dict[str, int] = {}
        self._sent: Counter[str] = Counter()
        self._consumers: list[Any] = []
        # It can write what kafka-python cannot: null header values, and records with neither key nor value.
        self._writer = confluent_kafka.Producer(
            {"bootstrap.servers": broker.servers, "message.max.bytes": 100_000_000, "linger.ms": 1}
        )
        self.guard_options = {"backoff": (0.05, 0.2), "grace": 5.0}
        for topic, count in zip(topics, (partitions, 1), strict=True):
            self.create_topic(topic, count)

    def create_topic(self, name: str, partitions: int = 1, *, max_message_bytes: int = 80 * 1024 * 1024) -> None:
        """A new topic, in the place of one that has the name."""
        self.delete_topic(name)
        deadline = time.monotonic() + 120
        while True:
            try:
                self._broker.create(name, partitions, max_message_bytes=str(max_message_bytes))
                break
            except client.errors.TopicAlreadyExistsError:
                # The old one is on its way out.
                assert time.monotonic() < deadline
                time.sleep(0.05)
        self._partitions[name] = partitions

    def delete_topic(self, name: str) -> None:
        """Remove a topic and its records."""
        with contextlib.suppress(client.errors.UnknownTopicOrPartitionError):
            self._broker.admin.delete_topics([name])

    def append(
        self,
        topic: str,
        value: bytes | None,
        key: bytes | None = None,
        headers: Sequence[tuple[str, bytes | None]] = (),
        partition: int | None = None,
        timestamp_ms: int | None = None,
    ) -> None:
        """Write a record, into the partition that the in-memory log would choose."""
        number = self._partitions[topic]
        if partition is None:
            partition = zlib.crc32(key) % number if key is not None else self._sent[topic] % number
        self._sent[topic] += 1
        more: dict[str, Any] = {} if timestamp_ms is None else {"timestamp": timestamp_ms}
        self._writer.produce(topic, value, key, headers=list(headers), partition=partition, **more)

    def records(self, topic: str) -> list[Any]:
        """All records of a topic, partition by partition."""
        self._write()
        found = self._broker.read(topic)
        return sorted(found, key=lambda record: (record.partition, record.offset))

    def consumer(self, *topics: str, **config: Any) -> Any:
        """A consumer as the guard demands it."""
        self._write()
        consumer = self._broker.kafka.KafkaConsumer(
            *topics,
            **{
                "group_id": self._group,
                "bootstrap_servers": self._broker.servers,
                "enable_auto_commit": False,
                "auto_offset_reset": "earliest",
                **config,
            },
        )
        self._consumers.append(consumer)
        return consumer

    def producer(self) -> Any:
        """A producer of dead letters."""
        return client.producer_factory({"bootstrap_servers": self._broker.servers})()

    def committed(self, group_id: str, tp: TopicPartition) -> int | None:
        """The committed offset of the scenario's group, whatever it calls it."""
        del group_id
        return self._broker.committed(tp.topic, self._group)[tp.partition]

    def close(self) -> None:
        """Close what a scenario left open."""
        for consumer in self._consumers:
            consumer.close(autocommit=False)

    def _write(self) -> None:
        assert self._writer.flush(30) == 0
