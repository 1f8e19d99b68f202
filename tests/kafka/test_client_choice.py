"""Which consumers a guard takes, whatever client they are of. No broker."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from protocontract.kafka import AsyncGuard, Guard, GuardError, clients
from tests.kafka.clients_kit import Kit
from tests.kafka.support import CONTRACT, TOPIC, new_log

LOSING: list[tuple[dict[str, Any], str]] = [
    ({"enable_auto_commit": True}, "enable.auto.commit: set it to False"),
    ({"auto_offset_reset": "latest"}, "auto.offset.reset: set it to"),
]


@pytest.mark.parametrize(("config", "named"), LOSING)
def test_a_confluent_consumer_that_would_lose_records_is_refused(config: dict[str, Any], named: str) -> None:
    kit = Kit("confluent-kafka", None)
    with pytest.raises(GuardError, match=named):
        Guard(kit.consumer(TOPIC, "g", **config), CONTRACT)


@pytest.mark.parametrize(("config", "named"), [*LOSING, ({"group_id": None}, "group.id: the consumer needs one")])
def test_an_aiokafka_consumer_that_would_lose_records_is_refused(config: dict[str, Any], named: str) -> None:
    async def main() -> None:
        consumer = Kit("aiokafka", None).consumer(TOPIC, "g", **config)
        try:
            with pytest.raises(GuardError, match=named):
                AsyncGuard(consumer, CONTRACT)
            with pytest.raises(GuardError, match="asynchronous; give it to AsyncGuard"):
                Guard(consumer, CONTRACT)
        finally:
            await consumer.stop()

    asyncio.run(main())


def test_a_deserializer_is_refused_by_its_name() -> None:
    async def main() -> None:
        consumer = Kit("aiokafka", None).consumer(TOPIC, "g", value_deserializer=bytes.decode)
        with pytest.raises(GuardError, match="value_deserializer: leave it out"):
            AsyncGuard(consumer, CONTRACT)
        await consumer.stop()

    asyncio.run(main())


def test_the_defaults_of_confluent_kafka_are_refused() -> None:
    from protocontract.kafka.client_confluent import Consumer

    consumer = Consumer({"bootstrap.servers": "127.0.0.1:1", "group.id": "g"})
    consumer.subscribe([TOPIC])
    with pytest.raises(GuardError, match=r"enable\.auto\.commit"):
        Guard(consumer, CONTRACT)


def test_a_consumer_that_does_not_tell_its_configuration_is_refused() -> None:
    import confluent_kafka

    consumer = confluent_kafka.Consumer({"bootstrap.servers": "127.0.0.1:1", "group.id": "g"})
    with pytest.raises(GuardError, match=r"protocontract\.kafka\.client_confluent\.Consumer"):
        Guard(consumer, CONTRACT)


def test_callbacks_of_the_users_own_are_not_silenced() -> None:
    from protocontract.kafka.client_confluent import Consumer

    consumer = Consumer(
        {
            "bootstrap.servers": "127.0.0.1:1",
            "group.id": "g",
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
        }
    )
    consumer.subscribe([TOPIC], on_assign=lambda *_: None)
    with pytest.raises(GuardError, match="has a rebalance listener already"):
        Guard(consumer, CONTRACT)


@pytest.mark.parametrize("given", [None, object(), "localhost:9092", {"bootstrap_servers": "b"}])
def test_anything_else_is_refused(given: Any) -> None:
    with pytest.raises(GuardError, match="expected a consumer of kafka-python, confluent-kafka or aiokafka, got"):
        Guard(given, CONTRACT)
    with pytest.raises(GuardError, match="expected an AIOKafkaConsumer, got"):
        AsyncGuard(given, CONTRACT)


def test_a_consumer_that_waits_is_none_for_the_event_loop() -> None:
    with pytest.raises(GuardError, match="give it to Guard"):
        AsyncGuard(new_log().consumer(TOPIC), CONTRACT)


def test_a_producer_of_no_client_is_refused() -> None:
    with pytest.raises(GuardError, match="producers: expected a producer of"):
        clients.producer(object())


def test_exactly_once_is_for_kafka_python() -> None:
    async def main() -> None:
        consumer = Kit("aiokafka", None).consumer(TOPIC, "g")
        with pytest.raises(GuardError, match="aiokafka cannot be used here: it takes only a group id"):
            clients.only_kafka_python(consumer, "it takes only a group id")
        await consumer.stop()

    asyncio.run(main())
    clients.only_kafka_python(new_log().consumer(TOPIC), "whatever")
