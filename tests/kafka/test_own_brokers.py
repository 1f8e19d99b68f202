"""What takes a broker of one's own, or three: brokers that die, logs that are damaged, leaders that change."""

from __future__ import annotations

import gc
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from protocontract.kafka import Guard, SourceError, client
from tests.kafka.conftest import Broker
from tests.kafka.support import CONTRACT, GARBAGE, dead_headers, good
from tests.support.brokers import LOOPBACK, OwnBroker, new_cluster, wait_for
from tests.support.ports import free_ports

# What such a broker needs is there where one is named.
pytestmark = [
    pytest.mark.kafka,
    pytest.mark.own_broker,
    pytest.mark.usefixtures("servers", "clients_are_gone"),
    # A client of kafka-python's that finds no broker leaves its sockets to the collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

#: A guard whose producer notices soon that its broker is gone.
IMPATIENT = {"max_block_ms": 1_000, "request_timeout_ms": 1_500, "delivery_timeout_ms": 3_000}


@pytest.fixture
def clients_are_gone() -> Iterator[None]:
    """What a test leaves to the collector is collected here, where it is no error."""
    yield
    for thread in threading.enumerate():
        if thread.name == "protocontract-retired-producer":
            thread.join(180)
    gc.collect()
    for each in gc.get_objects():
        if type(each) is socket.socket and each.fileno() >= 0 and not _is_connected(each):
            # One that was refused a connection: the client has forgotten it, and something of it lives on.
            each.close()


def _is_connected(found: socket.socket) -> bool:
    try:
        return bool(found.getpeername()) or found.family == socket.AF_UNIX
    except OSError:
        return False


@contextmanager
def own(folder: Path, **properties: str) -> Iterator[tuple[OwnBroker, Broker]]:
    """A broker of the test's own, and a client of it; ``log_cleaner_backoff_ms`` becomes ``log.cleaner.backoff.ms``."""
    process = OwnBroker(folder, {name.replace("_", "."): value for name, value in properties.items()})
    try:
        broker = Broker(process.address)
        yield process, broker
        broker.admin.close()
    finally:
        process.close()


def written(broker: Broker, topic: str, values: list[bytes], **more: Any) -> None:
    """Produce records, in order."""
    producer = broker.producer()
    for value in values:
        producer.send(topic, value, partition=0, **more)
    producer.flush()
    producer.close()


@contextmanager
def running(guard: Guard[Any]) -> Iterator[list[int]]:
    """A guard on a thread of its own; the offsets that it delivers."""
    seen: list[int] = []
    thread = threading.Thread(target=lambda: seen.extend(record.offset for record in guard))
    with guard:
        thread.start()
        try:
            yield seen
        finally:
            guard.stop()
            thread.join(180)


def dead_offsets(broker: Broker, topic: str) -> list[int]:
    """Positions of dead letters in the source, sorted."""
    return sorted(int(dead_headers(record)["protocontract.offset"]) for record in broker.read(topic))


def test_a_dead_letter_topic_behind_a_broken_network(broker: Broker, group: str, tmp_path: Path) -> None:
    """Two clusters: that of the dead letters goes away between a send and its answer, and comes back."""
    source = broker.topic("pay")
    with own(tmp_path / "dead") as (process, other):
        other.create("pay.dead")
        written(broker, source, [GARBAGE if number % 5 == 3 else good(number) for number in range(20)])
        settings = {"bootstrap_servers": process.address, **IMPATIENT, "reconnect_backoff_max_ms": 500}
        consumer = broker.consumer(source, group, session_timeout_ms=3_000, heartbeat_interval_ms=500)
        guard = Guard(consumer, CONTRACT, dead_letter_topic="pay.dead", dead_letters=settings, backoff=(0.1, 0.5))
        with running(guard) as seen:
            wait_for(lambda: broker.committed(source, group) == {0: 20}, "all is committed")
            joined = guard.stats.revocations
            process.kill()
            written(broker, source, [GARBAGE if number == 22 else good(number) for number in range(20, 30)])
            wait_for(lambda: guard.blocked is not None, "the guard is blocked")
            wait_for(lambda: broker.committed(source, group) == {0: 22}, "what came before is committed")
            errors = guard.stats.send_errors
            # Longer than the session: the membership is kept by polls.
            wait_for(lambda: guard.blocked is not None and guard._outbox.blocked_for > 5.0, "a while passes")
            assert broker.committed(source, group) == {0: 22}
            assert (guard.stats.losses, guard.stats.revocations) == (0, joined)
            process.start()
            wait_for(lambda: broker.committed(source, group) == {0: 30}, "all is committed again")
            assert guard.stats.send_errors >= errors > 0
        assert seen == [number for number in range(30) if number not in (3, 8, 13, 18, 22)]
        assert sorted(set(dead_offsets(other, "pay.dead"))) == [3, 8, 13, 18, 22]
        # A send whose answer was lost may be in the log all the same: at least once.
        assert guard.stats.dead_lettered == 5


def test_a_compacted_topic(group: str, tmp_path: Path) -> None:
    with own(tmp_path / "broker", log_cleaner_backoff_ms="200") as (_, broker):
        source = broker.topic(
            "pay",
            cleanup_policy="compact",
            min_cleanable_dirty_ratio="0.01",
            segment_ms="500",
            segment_bytes=str(1024 * 1024),
        )
        dead = broker.topic("dead")
        producer = broker.producer()
        for number in range(10):
            # The records at 0, 3, 6, 7 and 8 have later ones of their keys.
            key = {0: b"a", 1: b"a", 3: b"b", 4: b"b", 6: b"c", 7: b"c", 8: b"c", 9: b"c"}.get(number, b"%d" % number)
            producer.send(source, GARBAGE if number == 4 else good(number), key=key, partition=0)
        producer.flush()
        wait_for(lambda: _roll(producer, source) and _offsets(broker, source)[:5] == [1, 2, 4, 5, 9], "it is compacted")
        producer.close()
        end = broker.ends(source)[0]
        with Guard(broker.consumer(source, group), CONTRACT, dead_letter_topic=dead, stop_at_end=True) as guard:
            seen = [record.offset for record in guard]
        assert seen[:4] == [1, 2, 5, 9]
        assert dead_offsets(broker, dead) == [4]
        assert broker.committed(source, group) == {0: end}


def _roll(producer: Any, topic: str) -> bool:
    """One more record: the segment before it may be compacted once the time of a segment is over."""
    producer.send(topic, good(0), key=b"roll", partition=0).get(10)
    return True


def _offsets(broker: Broker, topic: str) -> list[int]:
    return [record.offset for record in broker.read(topic)]


def test_a_corrupt_batch(group: str, tmp_path: Path) -> None:
    """One bit of a batch turns over on the broker's disk: nothing of it is believed, and nothing passed over."""
    with own(tmp_path / "broker") as (process, broker):
        source, dead = broker.topic("pay"), broker.topic("dead")
        for values in ([good(1), good(2)], [good(3, note="turn")], [good(4)]):
            written(broker, source, values)
        (log,) = (process.data / f"{source}-0").glob("*.log")
        with log.open("r+b") as file:
            at = file.read().index(b"turn")
            file.seek(at)
            file.write(b"burn")
        with Guard(broker.consumer(source, group), CONTRACT, dead_letter_topic=dead) as guard:
            records = iter(guard)
            seen = [next(records).offset, next(records).offset]
            with pytest.raises(SourceError, match=rf"CorruptRecordError.*{source}:0 next 2") as caught:
                next(records)
            assert "burn" not in str(caught.value)
        assert seen == [0, 1]
        assert broker.committed(source, group) == {0: 2}
        assert broker.read(dead) == []


class Cluster:
    """Three brokers, of which the first is the controller and stays; the other two hold the topics."""

    def __init__(self, folder: Path) -> None:
        ports = free_ports(4)
        controller = ports.pop()
        cluster = new_cluster()
        self.nodes: list[OwnBroker] = []
        for number, port in enumerate(ports, start=1):
            own_listener = f"PLAINTEXT://{LOOPBACK}:{port}"
            first = number == 1
            self.nodes.append(
                OwnBroker(
                    folder / f"node-{number}",
                    {
                        "node.id": str(number),
                        "process.roles": "broker,controller" if first else "broker",
                        "controller.quorum.voters": f"1@{LOOPBACK}:{controller}",
                        "listeners": f"{own_listener},CONTROLLER://{LOOPBACK}:{controller}" if first else own_listener,
                        "advertised.listeners": own_listener,
                        "broker.session.timeout.ms": "2000",
                        "broker.heartbeat.interval.ms": "500",
                        "offsets.topic.replication.factor": "3",
                        "offsets.topic.num.partitions": "1",
                        "replica.lag.time.max.ms": "2000",
                    },
                    cluster=cluster,
                )
            )
        self.address = ",".join(node.address for node in self.nodes)
        self.client = Broker(self.nodes[0].address)
        wait_for(lambda: len(self.client.admin.describe_cluster()["brokers"]) == 3, "three brokers are there")

    def topic(self, name: str, **config: str) -> str:
        """A topic of one partition on brokers 2 and 3, led by 2."""
        self.client.admin.create_topics(
            [
                self.client._new_topic(
                    name,
                    replica_assignments={0: [2, 3]},
                    topic_configs={key.replace("_", "."): value for key, value in config.items()},
                )
            ]
        )
        self.wait_for(name, leader=2, in_sync={2, 3})
        return name

    def wait_for(self, topic: str, leader: int, in_sync: set[int]) -> None:
        """Wait until a topic's partition has this leader and these replicas in sync."""

        def is_so() -> bool:
            try:
                (found,) = self.client.admin.describe_topics([topic])
            except client.errors.KafkaError:
                # The client asks any broker, and one of them may have died.
                return False
            # A topic that is quite new has none.
            return any(
                partition["leader_id"] == leader and set(partition["isr_nodes"]) == in_sync
                for partition in found["partitions"]
            )

        wait_for(is_so, f"{topic} is led by {leader}, in sync {in_sync}")

    def close(self) -> None:
        """End all of it."""
        self.client.admin.close()
        for node in self.nodes:
            node.close()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """Three brokers."""
    made = Cluster(tmp_path)
    yield made
    made.close()


def test_leaders_change(cluster: Cluster, group: str) -> None:
    """The leader of source and dead letters dies while records are read and letters written."""
    source, dead = cluster.topic("pay"), cluster.topic("dead")
    count = 2_000
    values = [GARBAGE if number % 10 == 4 else good(number) for number in range(count)]
    written(cluster.client, source, values[: count // 2])
    config = {"bootstrap_servers": cluster.address, "reconnect_backoff_max_ms": 500}
    guard = Guard(
        cluster.client.consumer(source, group, **config, max_partition_fetch_bytes=2_000),
        CONTRACT,
        dead_letter_topic=dead,
        dead_letters=config,
        backoff=(0.1, 0.5),
    )
    with running(guard) as seen:
        wait_for(lambda: len(seen) > 200, "it flows")
        cluster.nodes[1].kill()
        cluster.wait_for(source, leader=3, in_sync={3})
        written(cluster.client, source, values[count // 2 :])
        wait_for(lambda: cluster.client.committed(source, group) == {0: count}, "all is committed")
    assert seen == [number for number in range(count) if number % 10 != 4]
    assert sorted(set(dead_offsets(cluster.client, dead))) == [number for number in range(count) if number % 10 == 4]
    assert guard.stats.dead_lettered == count // 10


def test_an_unclean_election(cluster: Cluster, group: str) -> None:
    """The log's end moves below what was read: what the new leader has instead is read, though the offsets were."""
    source = cluster.topic("pay", unclean_leader_election_enable="true", min_insync_replicas="1")
    dead = cluster.topic("dead", min_insync_replicas="1", unclean_leader_election_enable="true")
    written(cluster.client, source, [good(number) for number in range(50)])
    cluster.nodes[2].kill()
    cluster.wait_for(source, leader=2, in_sync={2})
    written(cluster.client, source, [good(number) for number in range(50, 100)])
    config = {"bootstrap_servers": cluster.address, "reconnect_backoff_max_ms": 500}
    guard = Guard(
        cluster.client.consumer(source, group, **config),
        CONTRACT,
        dead_letter_topic=dead,
        dead_letters=config,
    )
    with running(guard) as seen:
        wait_for(lambda: cluster.client.committed(source, group) == {0: 100}, "all is committed")
        cluster.nodes[1].kill()
        cluster.nodes[2].start()
        cluster.wait_for(source, leader=3, in_sync={3})
        written(cluster.client, source, [good(number) for number in range(60)])
        wait_for(lambda: len(seen) > 100, "it goes on")
        wait_for(lambda: cluster.client.committed(source, group) == {0: 110}, "all is committed")
    assert seen == [*range(100), *range(50, 110)]
    assert guard.stats.truncated_logs == 1
