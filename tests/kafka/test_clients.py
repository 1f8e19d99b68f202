"""One table for all clients, on the real broker: what a guard promises does not depend on the client below it."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from protocontract.kafka import DeadLetterError, GuardError
from protocontract.kafka.errors import UnreachableError
from protocontract.kafka.ports import TopicPartition
from tests.kafka.clients_kit import CLIENTS, Kit
from tests.kafka.conftest import Broker
from tests.kafka.support import GARBAGE, contract, dead_headers, good

pytestmark = pytest.mark.kafka

Scenario = Callable[["Place"], Coroutine[Any, Any, None]]
SCENARIOS: dict[str, Scenario] = {}


def scenario(function: Scenario) -> Scenario:
    """Enter a scenario into the table."""
    SCENARIOS[function.__name__] = function
    return function


class Place:
    """Topics and a group of a scenario's own."""

    def __init__(self, kit: Kit, broker: Broker, group: str) -> None:
        self.kit, self.broker, self.group = kit, broker, group
        self.source = ""
        self.dead = broker.topic("pay.dead")

    def fill(self, values: list[bytes | None], partitions: int = 1, **config: str) -> None:
        """A source topic with these records, one partition after the other."""
        self.source = self.broker.topic("pay", partitions, **config)
        self.add(values, partitions)

    def add(self, values: list[bytes | None], partitions: int = 1) -> None:
        """More records."""
        producer = self.broker.producer()
        for number, value in enumerate(values):
            producer.send(self.source, value, key=b"k%d" % number, partition=number % partitions)
        producer.flush()
        producer.close()

    def member(self, **options: Any) -> Any:
        """A guard of this client for the source, which ends at the source's end unless told otherwise."""
        return self.kit.member(self.source, self.group, self.dead, **{"stop_at_end": True, **options})

    def committed(self) -> dict[int, int | None]:
        """The group's committed offsets."""
        return self.broker.committed(self.source, self.group)

    def dead_offsets(self) -> list[int]:
        """Positions of the dead letters."""
        return sorted(int(dead_headers(record)["protocontract.offset"]) for record in self.broker.read(self.dead))

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait for what happens elsewhere."""
        async with asyncio.timeout(60):
            while not condition():
                await asyncio.sleep(0.05)


# -- what becomes of records


@scenario
async def bad_records_anywhere(place: Place) -> None:
    for bad in ([], [0], [9], [3, 4], list(range(10))):
        place.group += "x"
        place.dead = place.broker.topic("pay.dead")
        place.fill([GARBAGE if number in bad else good(number) for number in range(10)])
        async with place.member() as member:
            offsets = [record.offset for record in await member.rest()]
        assert offsets == [number for number in range(10) if number not in bad]
        assert place.dead_offsets() == bad
        assert place.committed() == {0: 10}
        stats = member.guard.stats
        assert (stats.consumed, stats.delivered, stats.dead_lettered, stats.open) == (10, 10 - len(bad), len(bad), 0)


@scenario
async def bytes_survive(place: Place) -> None:
    place.fill([])
    producer = place.broker.producer()
    cases: list[tuple[bytes | None, bytes]] = [(None, b"\x00"), (b"", b"\xff\xfe"), (b"\x00k", GARBAGE), (b"k", b"")]
    for key, value in cases:
        producer.send(place.source, value, key=key, headers=[("h", b"\xff"), ("h", b""), ("", b"x")], timestamp_ms=77)
    producer.send(place.source, None, key=b"gone")
    producer.flush()
    producer.close()
    async with place.member() as member:
        assert await member.rest() == []
    dead = sorted(place.broker.read(place.dead), key=lambda record: int(dead_headers(record)["protocontract.offset"]))
    assert [(record.key, record.value) for record in dead] == cases
    for record in dead:
        assert list(record.headers[:3]) == [("h", b"\xff"), ("h", b""), ("", b"x")]
        headers = dead_headers(record)
        assert headers["protocontract.timestamp"] == b"77"
        assert headers["protocontract.timestamp_type"] == b"CreateTime"
        assert headers["protocontract.group"] == place.group.encode()
    assert member.guard.stats.tombstones == 1
    assert place.committed() == {0: 5}


@scenario
async def what_is_in_hand_comes_again(place: Place) -> None:
    place.fill([good(number) for number in range(20)])
    async with place.member() as member:
        assert [record.offset for record in await member.take(8)] == list(range(8))
    # Seven are finished, the eighth was in hand.
    assert place.committed() == {0: 7}
    async with place.member() as member:
        assert [record.offset for record in await member.rest()] == list(range(7, 20))
    assert place.committed() == {0: 20}


@scenario
async def finished_and_rejected_by_hand(place: Place) -> None:
    place.fill([good(number) for number in range(3)])
    async with place.member() as member:
        first, second = await member.take(2)
        assert first.message.id == "p0"
        second.reject("no such account")
        (third,) = await member.take(1)
        third.done()
    assert place.committed() == {0: 3}
    (letter,) = place.broker.read(place.dead)
    assert dead_headers(letter)["protocontract.reason"] == b"no such account"


@scenario
async def a_handler_that_fails(place: Place) -> None:
    place.fill([good(number) for number in range(4)])
    calls: list[str] = []

    def handler(message: Any) -> None:
        calls.append(message.id)
        if message.id == "p2":
            raise KeyError("secret")

    with pytest.raises(KeyError):
        async with place.member() as member:
            await member.run(handler, retries=1, backoff=(0.01, 0.02))
    assert calls == ["p0", "p1", "p2", "p2"]
    assert place.committed() == {0: 2}
    async with place.member() as member:
        await member.run(handler, on_failure="dead_letter")
    assert place.committed() == {0: 4}
    (letter,) = place.broker.read(place.dead)
    headers = dead_headers(letter)
    assert (headers["protocontract.rule_ids"], headers["protocontract.reason"]) == (b"handler.failed", b"KeyError")


@scenario
async def markers_leave_no_lag(place: Place) -> None:
    place.fill([])
    producer = place.broker.producer(transactional_id=f"t-{place.group}")
    producer.init_transactions()
    for values, commit in (([good(1), good(2)], False), ([good(3), good(4), good(5)], True)):
        producer.begin_transaction()
        for value in values:
            producer.send(place.source, value)
        producer.flush()
        if commit:
            producer.commit_transaction()
        else:
            producer.abort_transaction()
    producer.close()
    async with place.member(config={"isolation_level": "read_committed"}) as member:
        assert [record.message.id for record in await member.rest()] == ["p3", "p4", "p5"]
    assert place.committed() == place.broker.ends(place.source) == {0: 7}


@scenario
async def compressed_batches(place: Place) -> None:
    place.fill([])
    kinds = ("gzip", "lz4", "snappy", "zstd")
    for kind in kinds:
        producer = place.broker.producer(compression_type=kind)
        for value in (good(1), GARBAGE):
            producer.send(place.source, value)
        producer.flush()
        producer.close()
    async with place.member() as member:
        assert len(await member.rest()) == len(kinds)
    assert member.guard.stats.dead_lettered == len(kinds)


# -- groups


@scenario
async def a_second_member_in_the_middle(place: Place) -> None:
    place.fill([GARBAGE if number % 10 == 0 else good(number) for number in range(2_000)], 4)
    seen: Counter[Any] = Counter()
    orders: dict[str, list[tuple[int, int]]] = {"first": [], "second": []}

    async def work(member: Any, name: str) -> None:
        while (record := await member.next()) is not None:
            seen[record.partition, record.offset] += 1
            orders[name].append((record.partition, record.offset))
            # Slowly until both share: with a full buffer, a member looks for a rebalance only now and then.
            await asyncio.sleep(0.001 if members[1].guard.assignment else 0.02)

    async def watch() -> None:
        try:
            await place.until(lambda: sum(each.guard.stats.delivered for each in members) >= 1_800)
        finally:
            for each in members:
                each.guard.stop()

    # So that it looks every two seconds.
    config = {"max_poll_interval_ms": 6_000}
    members = [place.member(stop_at_end=False, config=config) for _ in range(2)]
    async with members[0]:
        for record in await members[0].take(100):
            seen[record.partition, record.offset] += 1
            orders["first"].append((record.partition, record.offset))
        # The second gets its part when the first looks: it may have to wait for that as it starts.
        working = asyncio.create_task(work(members[0], "first"))
        async with members[1]:
            await asyncio.gather(working, work(members[1], "second"), watch())
    assert orders["second"], "the second member got nothing"
    async with place.member() as last:
        for record in await last.rest():
            seen[record.partition, record.offset] += 1
    assert len(seen) == 1_800
    for member, order in zip(members, orders.values(), strict=True):
        for partition in range(4):
            offsets = [offset for number, offset in order if number == partition]
            # In order; a rebalance may have it begin again where the group says.
            falls = sum(later <= earlier for earlier, later in itertools.pairwise(offsets))
            assert falls <= member.guard.stats.revocations + member.guard.stats.losses
    assert sum(seen.values()) - len(seen) <= 500
    places = {
        (headers["protocontract.partition"], headers["protocontract.offset"])
        for headers in map(dead_headers, place.broker.read(place.dead))
    }
    assert len(places) == 200
    assert place.committed() == place.broker.ends(place.source)


@scenario
async def a_handler_that_takes_too_long(place: Place) -> None:
    place.fill([good(number) for number in range(20)])
    config = {"max_poll_interval_ms": 6_000}
    async with place.member(stop_at_end=False, config=config) as slow:
        (record,) = await slow.take(1)
        async with place.member(stop_at_end=False, config=config) as other:
            # Nobody asks the first for more, so the group gives its partition away.
            offsets = [found.offset for found in await other.take(20)]
            assert offsets == list(range(20))
            other.guard.stop()
            assert await other.rest() == []
        assert place.committed() == {0: 20}
        asyncio.get_running_loop().call_later(2.0, slow.guard.stop)
        assert await slow.rest() == [], "what it had fetched was somebody else's by then"
        assert not record.owned
    # confluent-kafka tells it as revoked where the rebalance had begun before.
    assert slow.guard.stats.losses + slow.guard.stats.revocations >= 1
    assert place.committed() == {0: 20}


@scenario
async def a_halt_is_found_by_the_next_owner(place: Place) -> None:
    place.fill([GARBAGE] * 10 + [good(1)])
    breaker = {"consecutive": 5}
    async with place.member(stop_at_end=False, breaker=breaker) as member:
        task = asyncio.create_task(member.rest())
        await place.until(lambda: member.guard.halted is not None)
        member.guard.stop()
        assert await task == []
    assert place.committed() == {0: 4}
    async with place.member(stop_at_end=False, breaker=breaker) as member:
        task = asyncio.create_task(member.rest())
        await place.until(lambda: member.guard.halted is not None)
        assert "5 bad records in a row" in str(member.guard.halted)
        member.guard.stop()
        assert await task == []
    assert place.committed() == {0: 4}
    async with place.member() as member:
        assert [record.offset for record in await member.rest()] == [10]


# -- dead letters


@scenario
async def a_dead_letter_topic_that_is_missing(place: Place) -> None:
    place.fill([GARBAGE])
    member = place.kit.member(place.source, place.group, f"{place.source}.nowhere")
    with pytest.raises(GuardError, match="nowhere cannot be used"):
        await member.start()
    await member.close()
    assert place.committed() == {0: None}


@scenario
async def a_dead_letter_topic_that_vanishes(place: Place) -> None:
    place.fill([good(0), GARBAGE, good(2)])
    async with place.member(stop_at_end=False, dead_letters=FAST[place.kit.name](place.broker.servers)) as member:
        await member.take(1)
        place.broker.admin.delete_topics([place.dead])
        await asyncio.sleep(1.0)
        task = asyncio.create_task(member.rest())
        await place.until(lambda: member.guard.blocked is not None)
        assert place.dead in str(member.guard.blocked)
        assert place.committed() == {0: 1}
        place.broker.create(place.dead)
        await place.until(lambda: place.committed() == {0: 3})
        member.guard.stop()
        await task
    assert place.dead_offsets() == [1]


@scenario
async def a_source_that_vanishes(place: Place) -> None:
    place.fill([good(0)])
    async with place.member(stop_at_end=False, give_up_after=2.0, grace=2.0) as member:
        (record,) = await member.take(1)
        record.done()
        # As long as it answers, an idle topic is none that is gone.
        task = asyncio.create_task(member.rest())
        await asyncio.sleep(3.0)
        assert not task.done()
        place.broker.admin.delete_topics([place.source])
        with pytest.raises(UnreachableError, match=f"topic {place.source} does not answer .*gave up after 2 s"):
            await task


@scenario
async def a_dead_letter_that_is_too_large(place: Place) -> None:
    huge = GARBAGE + bytes(2_000_000)
    place.dead = place.broker.topic("pay.dead", max_message_bytes=str(1024 * 1024))
    place.fill([GARBAGE, huge, good(2)], max_message_bytes=str(4 * 1024 * 1024))
    with pytest.raises(DeadLetterError, match="is larger than"):
        async with place.member(give_up_after=4.0, grace=2.0) as member:
            await member.rest()  # time enough for the small record to come through alone, on a busy machine, too
    assert place.committed() == {0: 1}
    async with place.member(too_large="truncate") as member:
        assert [record.offset for record in await member.rest()] == [2]
    cut = [record for record in place.broker.read(place.dead) if "protocontract.truncated" in dead_headers(record)]
    assert [record.value for record in cut] == [huge[: 512 * 1024]]


def _quick(servers: str) -> dict[str, Any]:
    return {
        "bootstrap_servers": servers,
        "max_block_ms": 1_000,
        "request_timeout_ms": 2_000,
        "delivery_timeout_ms": 3_000,
    }


#: Producers that give up soon.
FAST: dict[str, Callable[[str], dict[str, Any]]] = {
    "kafka-python": _quick,
    "confluent-kafka": lambda servers: {"bootstrap.servers": servers, "delivery.timeout.ms": 3_000},
    "aiokafka": lambda servers: {"bootstrap_servers": servers, "request_timeout_ms": 2_000},
}


# -- control


@scenario
async def stopped_while_idle(place: Place) -> None:
    place.fill([good(0)])
    loop = asyncio.get_running_loop()
    async with place.member(stop_at_end=False) as member:
        assert len(await member.take(1)) == 1
        loop.call_later(0.3, member.guard.stop)
        async with asyncio.timeout(120):
            assert await member.rest() == []
    assert place.committed() == {0: 1}


@scenario
async def paused_and_resumed(place: Place) -> None:
    place.fill([good(number) for number in range(40)], 2)
    tp = TopicPartition(place.source, 0)
    async with place.member() as member:
        before = await member.take(5)
        member.guard.pause(tp)
        count = sum(record.partition == 1 for record in before)
        others = await member.take(20 - count)
        assert {record.partition for record in others} <= {1}
        member.guard.resume(tp)
        after = await member.rest()
    offsets = [record.offset for record in (*before, *after) if record.partition == 0]
    assert offsets == list(range(20))
    assert place.committed() == {0: 20, 1: 20}


@scenario
async def sought_back(place: Place) -> None:
    place.fill([GARBAGE if number == 12 else good(number) for number in range(20)])
    async with place.member() as member:
        await member.take(15)
        member.guard.seek(TopicPartition(place.source, 0), 10)
        again = [record.offset for record in await member.rest()]
    assert again == [10, 11, *range(13, 20)]
    assert place.committed() == {0: 20}
    assert place.dead_offsets() == [12, 12]


@scenario
async def a_topic_that_is_empty(place: Place) -> None:
    place.fill([], 3)
    async with place.member() as member:
        assert await member.rest() == []
        assert member.guard.stats.consumed == 0


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("name", SCENARIOS)
def test_clients(client: str, name: str, broker: Broker, group: str) -> None:
    asyncio.run(SCENARIOS[name](Place(Kit(client, broker), broker, group)))


# -- what only one client can do


def test_a_cancelled_task_loses_nothing(broker: Broker, group: str) -> None:
    place = Place(Kit("aiokafka", broker), broker, group)

    async def main() -> None:
        place.fill([good(number) for number in range(3)])
        async with place.member(stop_at_end=False) as member:
            assert [record.offset for record in await member.take(3)] == [0, 1, 2]
            for _ in range(2):
                with pytest.raises(TimeoutError):
                    await asyncio.wait_for(member.next(), 0.3)
            place.add([good(3), good(4)])
            assert [record.offset for record in await member.take(2)] == [3, 4]
            waiting = asyncio.create_task(member.rest())
            await asyncio.sleep(0.3)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
        assert place.committed() == {0: 5}

    asyncio.run(main())


def test_a_rebalance_waits_for_the_record_in_hand(broker: Broker, group: str) -> None:
    """aiokafka's own would go on in the background, and both members would handle the record."""
    place = Place(Kit("aiokafka", broker), broker, group)

    async def main() -> None:
        place.fill([good(number) for number in range(40)], 2)
        async with place.member(stop_at_end=False) as first, place.member(stop_at_end=False) as second:
            (record,) = await first.take(1)
            other = asyncio.create_task(second.next())
            await asyncio.sleep(1.5)
            assert record.owned
            assert first.guard.assignment
            assert not other.done()
            assert len(await first.take(1)) == 1
            found = await other
            assert (found.partition, found.offset) != (record.partition, record.offset)

    asyncio.run(main())


@pytest.mark.parametrize("client", CLIENTS)
def test_a_halting_contract_needs_no_other_client(client: str, broker: Broker, group: str) -> None:
    place = Place(Kit(client, broker), broker, group)

    async def main() -> None:
        place.fill([good(1, note=" a ")])
        async with place.member(contract=contract(on_breach="HALT")) as member:
            (record,) = await member.rest()
            assert record.changes[0].before == " a "

    asyncio.run(main())
