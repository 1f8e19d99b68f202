"""``python -m tests.bench.endurance --seconds 600``: a guard at full speed for so long, and how much memory it takes.

One process feeds a topic of 8 partitions (valid medium records, one in a hundred broken) as fast as the guard in this
process empties it, never more than 200,000 records ahead. The guard's resident memory is looked at every few seconds;
the first tenth of the time is warming up. Exits with 1 where the median of the last third of the looks after it is more
than a tenth above that of the first third.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import statistics
import sys
import tempfile
import time
import uuid
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from protocontract.kafka import Guard, client
from tests.bench import shapes

PARTITIONS = 8
_AHEAD = 200_000
#: Old records go, so that the disk is no limit.
_SOURCE = {"retention.bytes": str(128 * 1024 * 1024), "segment.bytes": str(16 * 1024 * 1024)}


def main() -> int:
    """Runs it. Returns 0, 1 where memory grew, or 2 without a broker."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.endurance", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--looks", type=int, default=60, help="how often memory is looked at")
    options = parser.parse_args()
    servers = os.environ.get("KAFKA_BOOTSTRAP_SERVERS")
    if not servers:
        print("KAFKA_BOOTSTRAP_SERVERS is not set", file=sys.stderr)
        return 2
    warnings.simplefilter("ignore", DeprecationWarning)
    with tempfile.TemporaryDirectory() as folder:
        data = shapes.serialise(shapes.SHAPES[1], *shapes.compile_protos(Path(folder)))
    source = f"endurance-{uuid.uuid4().hex[:8]}"
    make_topics(servers, {source: (PARTITIONS, _SOURCE), f"{source}.dead": (1, {})})
    # A fresh process: a forked one would take this one's client threads along.
    context = multiprocessing.get_context("spawn")
    lag, over = context.Value("q", 0), context.Event()
    feeder = context.Process(target=feed, args=(servers, source, data.protobuf, lag, over))
    feeder.start()
    try:
        return _watch(servers, source, data.contract, options, lag)
    finally:
        over.set()
        feeder.join(30)


def make_topics(servers: str, topics: dict[str, tuple[int, dict[str, str]]]) -> None:
    """Topics by name, with their number of partitions and their settings."""
    from kafka.admin import KafkaAdminClient, NewTopic

    admin = KafkaAdminClient(bootstrap_servers=servers)
    admin.create_topics([NewTopic(name, count, 1, topic_configs=some) for name, (count, some) in topics.items()])
    admin.close()


def feed(servers: str, topic: str, values: Sequence[bytes], lag: Any, over: Any) -> None:
    """Write records until ``over`` is set, while less than ``_AHEAD`` wait to be read."""
    import confluent_kafka

    producer = confluent_kafka.Producer({"bootstrap.servers": servers, "linger.ms": 20, "batch.num.messages": 10_000})
    written = 0
    while not over.is_set():
        if written - lag.value >= _AHEAD:
            time.sleep(0.01)
            continue
        for _ in range(1_000):
            # Never parsed: field number 0.
            value = b"\x00broken" if written % 100 == 99 else values[written % len(values)]
            try:
                producer.produce(topic, value=value, partition=written % PARTITIONS)
            except BufferError:
                break
            written += 1
        producer.poll(0)
    producer.flush(10)


def resident() -> int:
    """This process's resident memory in bytes."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def _watch(servers: str, source: str, contract: Any, options: argparse.Namespace, lag: Any) -> int:
    consumer = client.new_consumer(
        source,
        {
            "bootstrap_servers": servers,
            "group_id": f"group-{source}",
            "enable_auto_commit": False,
            "auto_offset_reset": "earliest",
        },
    )
    every = options.seconds / options.looks
    looks: list[tuple[float, int, int]] = []
    with Guard(consumer, contract, dead_letter_topic=f"{source}.dead") as guard:
        began = time.monotonic()
        due = began + every
        for number, _ in enumerate(guard):
            if number % 256:
                continue
            now = time.monotonic()
            if now < due:
                lag.value = guard.stats.consumed
                continue
            due += every
            looks.append((now - began, guard.stats.consumed, resident()))
            if now - began >= options.seconds:
                break
        stats = guard.stats
        open_now = guard.unacknowledged
    return _report(looks, stats, open_now)


def _report(looks: list[tuple[float, int, int]], stats: Any, open_now: int) -> int:
    print(f"{'seconds':>8}{'records':>14}{'records/s':>12}{'resident MB':>13}")
    before = (0.0, 0, 0)
    for look in looks[:: max(1, len(looks) // 10)]:
        rate = (look[1] - before[1]) / (look[0] - before[0])
        print(f"{look[0]:>8.0f}{look[1]:>14,}{rate:>12,.0f}{look[2] / 1e6:>13.1f}")
        before = look
    warm = [size for _, _, size in looks[len(looks) // 10 :]]
    third = max(1, len(warm) // 3)
    early, late = statistics.median(warm[:third]), statistics.median(warm[-third:])
    seconds, records, _ = looks[-1]
    print(
        f"{records:,} records in {seconds:.0f} s ({records / seconds:,.0f}/s), {stats.dead_lettered:,} dead-lettered, "
        f"{open_now} letters on their way at the end; resident memory {early / 1e6:.1f} MB in the first third, "
        f"{late / 1e6:.1f} MB in the last, {max(warm) / 1e6:.1f} MB at most"
    )
    if late > early * 1.1:
        print(f"MISSED: memory grew by {late / early - 1:.0%}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
