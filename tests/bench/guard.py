"""``python -m tests.bench.guard``: what the guard's loop adds to kafka-python's own, on a real broker, in one run.

Valid medium records lie in one topic. In each round every contestant reads all of them in a consumer group of its own,
in alternating order, in this one process:

    poll                kafka-python's own loop: poll, and touch every record
    poll and parse      the same, and parse the message: what a consumer without a contract does
    poll and process    the same, and the contract's parse, normalise and validate
    guard               for record in guard: the loop of ``Guard``, with commits and all its promises

Time is taken from the first poll to the last record: processor time of the whole process (kafka-python reads on a
thread of its own), and wall time. Ratios are taken within a round; medians over the rounds are printed. Exits with 1
where the guard takes more than 1.25 of "poll and process", the loop that does the same work without the promises.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
import uuid
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from protocontract.kafka import Guard, client
from tests.bench import shapes

#: Seconds of processor time and of wall time.
Taken: TypeAlias = tuple[float, float]

CEILING = 1.25
_BASES = ("poll", "poll and parse", "poll and process")


def main() -> int:
    """Runs the benchmark. Returns 0, 1 where the ceiling is missed, or 2 without a broker."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.guard", description=__doc__)
    parser.add_argument("--records", type=int, default=40_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--client", choices=("kafka-python", "confluent-kafka"), default="kafka-python")
    options = parser.parse_args()
    servers = os.environ.get("KAFKA_BOOTSTRAP_SERVERS")
    if not servers:
        print("KAFKA_BOOTSTRAP_SERVERS is not set", file=sys.stderr)
        return 2
    warnings.simplefilter("ignore", DeprecationWarning)
    with tempfile.TemporaryDirectory() as folder:
        data = shapes.serialise(shapes.SHAPES[1], *shapes.compile_protos(Path(folder)))
        topics = _topics(servers)
        _fill(servers, topics[0], data.protobuf, options.records)
        return _compare(servers, topics, data, options.records, options.rounds, options.client)


def _topics(servers: str) -> tuple[str, str]:
    from kafka.admin import KafkaAdminClient, NewTopic

    name = f"bench-{uuid.uuid4().hex[:8]}"
    admin = KafkaAdminClient(bootstrap_servers=servers)
    admin.create_topics([NewTopic(name, 4, 1), NewTopic(f"{name}.dead", 1, 1)])
    admin.close()
    return name, f"{name}.dead"


def _fill(servers: str, topic: str, values: list[bytes], count: int) -> None:
    producer = client.producer_factory({"bootstrap_servers": servers, "linger_ms": 20})()
    for number in range(count):
        producer.send(topic, value=values[number % len(values)], partition=number % 4)
    producer.flush()
    producer.close()


def _consumer(servers: str, topic: str) -> Any:
    return client.new_consumer(
        topic,
        {
            "bootstrap_servers": servers,
            "group_id": f"bench-{uuid.uuid4().hex[:8]}",
            "enable_auto_commit": False,
            "auto_offset_reset": "earliest",
        },
    )


def _confluent(servers: str, topic: str) -> Any:
    from protocontract.kafka.client_confluent import Consumer

    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": f"bench-{uuid.uuid4().hex[:8]}",
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
        }
    )
    consumer.subscribe([topic])
    return consumer


def _own_loop(servers: str, topic: str, each: Callable[[bytes], object] | None, count: int) -> Taken:
    consumer = _consumer(servers, topic)
    began = _now()
    seen = 0
    while seen < count:
        for records in consumer.poll(500, max_records=2**31 - 1).values():
            seen += len(records)
            if each is None:
                for record in records:
                    record.value  # noqa: B018  # touched
            else:
                for record in records:
                    each(record.value)
    found = _since(began)
    consumer.close(autocommit=False)
    return found


def _guard(servers: str, topics: tuple[str, str], contract: Any, kind: str, count: int) -> Taken:
    consumer = (_consumer if kind == "kafka-python" else _confluent)(servers, topics[0])
    with Guard(consumer, contract, dead_letter_topic=topics[1]) as guard:
        began = _now()
        for number, _ in enumerate(guard, start=1):
            if number == count:
                break
        return _since(began)


def _now() -> Taken:
    return time.process_time(), time.perf_counter()


def _since(began: Taken) -> Taken:
    processor, wall = _now()
    return processor - began[0], wall - began[1]


def _compare(servers: str, topics: tuple[str, str], data: shapes.Data, count: int, rounds: int, kind: str) -> int:
    parse, process = data.message_type.FromString, data.contract.process
    contestants: dict[str, Callable[[], Taken]] = {
        "poll": lambda: _own_loop(servers, topics[0], None, count),
        "poll and parse": lambda: _own_loop(servers, topics[0], parse, count),
        "poll and process": lambda: _own_loop(servers, topics[0], process, count),
        "guard": lambda: _guard(servers, topics, data.contract, kind, count),
    }
    taken: dict[str, list[Taken]] = {name: [] for name in contestants}
    for number in range(rounds):
        for name in contestants if number % 2 == 0 else reversed(contestants):
            taken[name].append(contestants[name]())
    size = statistics.mean(map(len, data.protobuf))
    print(f"{count:,} valid medium records of {size:.0f} bytes, 4 partitions, {rounds} rounds, {kind}")
    print(f"{'':<20}{'us of processor':>16}{'us of wall':>12}{'records/s':>12}")
    for name, times in taken.items():
        processor, wall = (statistics.median(each[place] for each in times) / count for place in (0, 1))
        print(f"{name:<20}{processor * 1e6:>16.1f}{wall * 1e6:>12.1f}{1 / wall:>12,.0f}")
    ratios: dict[str, float] = {}
    for base in _BASES:
        processor, wall = (
            statistics.median(
                ours[place] / other[place] for ours, other in zip(taken["guard"], taken[base], strict=True)
            )
            for place in (0, 1)
        )
        ratios[base] = processor
        print(f"guard to {base:<20} {processor:>6.2f} of processor time, {wall:>6.2f} of wall time")
    if kind == "kafka-python" and ratios["poll and process"] > CEILING:
        print(f"MISSED: the guard takes {ratios['poll and process']:.2f} of the loop that processes; at most {CEILING}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
