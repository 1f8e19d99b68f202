"""The same for every Kafka client: a registry that is away for a while, on a real broker."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from protocontract import wire
from protocontract.kafka.registry import Registry
from tests.kafka.clients_kit import CLIENTS, Kit
from tests.kafka.conftest import Broker
from tests.registry.support import Server, contract, real_broker, register


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    """The real broker."""
    yield from real_broker()


@pytest.mark.kafka
@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("hangs", [False, True], ids=["fails", "hangs"])
def test_a_registry_that_is_away_for_a_while(client: str, hangs: bool, broker: Broker, server: Server) -> None:
    schema_id = register(server)
    source, dead = broker.topic("pay"), broker.topic("pay.dead")
    producer = broker.producer()
    for number in range(20):
        payment = contract().message_type(id=f"p{number}")
        named = 999_999 if number == 7 else schema_id
        producer.send(source, wire.frame_of(named, (1,)) + payment.SerializeToString())
    producer.flush()
    producer.close()
    registry = Registry({"url": server.url, "timeout": 30}, backoff=(0.01, 0.02), retries=2)

    async def heal(member: Any) -> None:
        """Once the guard says that it waits; or while it waits for an answer, and the event loop goes on."""
        while not (member.guard.blocked or (hangs and registry.stats.lookups)):
            await asyncio.sleep(0.005)
        if hangs:
            server.resume()
        else:
            server.fail(0)

    async def main() -> list[Any]:
        member = Kit(client, broker).member(
            source, uuid.uuid4().hex, dead, contract=contract(), encoding=registry, stop_at_end=True
        )
        if hangs:
            server.pause()
        else:
            server.fail(503)
        async with member:
            healing = asyncio.create_task(heal(member))
            found = await member.rest()
            await healing
        assert member.guard.stats.open == 0
        return found

    found = asyncio.run(main())
    assert [record.message.id for record in found] == [f"p{number}" for number in range(20) if number != 7]
    assert [dict(letter.headers)["protocontract.rule_ids"] for letter in broker.read(dead)] == [b"schema.unknown"]
    assert (registry.stats.errors == 0) is hangs
