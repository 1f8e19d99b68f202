"""The real broker: named by KAFKA_BOOTSTRAP_SERVERS, else the tests marked `kafka` are skipped."""

from __future__ import annotations

import os
import uuid
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from protocontract.kafka import client

# Its assertions are tests', though its name is not.
pytest.register_assert_rewrite("tests.kafka.scenarios_running")


@pytest.fixture(scope="session")
def servers() -> str:
    """The bootstrap address."""
    found = os.environ.get("KAFKA_BOOTSTRAP_SERVERS")
    if not found:
        pytest.skip("KAFKA_BOOTSTRAP_SERVERS is not set")
    return found


class Broker:
    """What the tests need of a real broker."""

    def __init__(self, servers: str) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            import kafka
            from kafka.admin import KafkaAdminClient, NewTopic
        self.kafka: Any = kafka
        self.servers = servers
        self._new_topic: Any = NewTopic
        self.admin = KafkaAdminClient(bootstrap_servers=servers)

    def topic(self, kind: str, partitions: int = 1, **config: str) -> str:
        """A new topic with a name of its own."""
        name = f"{kind}-{uuid.uuid4().hex[:8]}"
        self.create(name, partitions, **config)
        return name

    def create(self, name: str, partitions: int = 1, **config: str) -> None:
        """A topic by name; ``max_message_bytes`` becomes ``max.message.bytes``."""
        self.admin.create_topics(
            [
                self._new_topic(
                    name, partitions, 1, topic_configs={key.replace("_", "."): value for key, value in config.items()}
                )
            ]
        )

    def consumer(self, topic: str, group: str, **config: Any) -> Any:
        """A consumer as the guard demands it."""
        return self.kafka.KafkaConsumer(
            topic,
            **{
                "group_id": group,
                "bootstrap_servers": self.servers,
                "enable_auto_commit": False,
                "auto_offset_reset": "earliest",
                **config,
            },
        )

    def producer(self, **config: Any) -> Any:
        """A producer without size limit."""
        return self.kafka.KafkaProducer(**{"bootstrap_servers": self.servers, "max_request_size": 2**31 - 1, **config})

    def read(self, topic: str, **config: Any) -> list[Any]:
        """Everything in a topic."""
        consumer = self.kafka.KafkaConsumer(
            bootstrap_servers=self.servers,
            group_id=None,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            **config,
        )
        try:
            tps = [client.TopicPartition(topic, number) for number in consumer.partitions_for_topic(topic)]
            consumer.assign(tps)
            ends = consumer.end_offsets(tps)
            records: list[Any] = []
            while any(consumer.position(tp) < end for tp, end in ends.items()):
                for batch in consumer.poll(500).values():
                    records += batch
            return records
        finally:
            consumer.close()

    def committed(self, topic: str, group: str) -> dict[int, int | None]:
        """The committed offsets of a group."""
        consumer = self.kafka.KafkaConsumer(bootstrap_servers=self.servers, group_id=group, enable_auto_commit=False)
        try:
            return {
                number: consumer.committed(client.TopicPartition(topic, number))
                for number in sorted(consumer.partitions_for_topic(topic))
            }
        finally:
            consumer.close()

    def ends(self, topic: str, level: str = "read_uncommitted") -> dict[int, int]:
        """The ends of a topic, for a reader with this isolation level."""
        consumer = self.kafka.KafkaConsumer(
            bootstrap_servers=self.servers, group_id=None, enable_auto_commit=False, isolation_level=level
        )
        try:
            tps = [client.TopicPartition(topic, number) for number in sorted(consumer.partitions_for_topic(topic))]
            return {tp.partition: end for tp, end in consumer.end_offsets(tps).items()}
        finally:
            consumer.close()


@pytest.fixture(scope="session")
def broker(servers: str) -> Iterator[Broker]:
    """The real broker."""
    found = Broker(servers)
    yield found
    found.admin.close()


@pytest.fixture
def group() -> str:
    """A consumer group of its own."""
    return f"group-{uuid.uuid4().hex[:8]}"


@pytest.fixture(scope="session")
def make_group() -> Callable[[], str]:
    """Makes consumer groups."""
    return lambda: f"group-{uuid.uuid4().hex[:8]}"
