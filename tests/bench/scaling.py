"""``python -m tests.bench.scaling``: 1, 2 and 4 guards in processes of their own share one topic of 8 partitions.

Each number of processes is a consumer group of its own that reads the same valid medium records from the start. Time is
taken from the first record that any of them is given to the last one. Processor time is that of the guards' processes:
where all cores are busy, wall time says more about the machine. Exits with 1 where a record is lost, or a process gets
no share.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import tempfile
import time
import uuid
import warnings
from pathlib import Path
from typing import Any

from protocontract.kafka import Guard, client
from tests.bench import shapes
from tests.bench.endurance import PARTITIONS, make_topics

_PROCESSES: tuple[int, ...] = (1, 2, 4)


def main() -> int:
    """Runs it. Returns 0, 1 where something is lost or idle, or 2 without a broker."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.scaling", description=__doc__)
    parser.add_argument("--records", type=int, default=400_000)
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    servers = os.environ.get("KAFKA_BOOTSTRAP_SERVERS")
    if not servers:
        print("KAFKA_BOOTSTRAP_SERVERS is not set", file=sys.stderr)
        return 2
    warnings.simplefilter("ignore", DeprecationWarning)
    with tempfile.TemporaryDirectory() as folder:
        data = shapes.serialise(shapes.SHAPES[1], *shapes.compile_protos(Path(folder)))
        source = f"scaling-{uuid.uuid4().hex[:8]}"
        make_topics(servers, {source: (PARTITIONS, {}), f"{source}.dead": (1, {})})
        producer = client.producer_factory({"bootstrap_servers": servers, "linger_ms": 20})()
        for number in range(options.records):
            producer.send(source, value=data.protobuf[number % len(data.protobuf)], partition=number % PARTITIONS)
        producer.flush()
        producer.close()
        print(f"{options.records:,} valid medium records, {PARTITIONS} partitions, {os.cpu_count()} cores")
        print(f"{'processes':>9}{'seconds':>9}{'records/s':>11}{'us of processor':>17}  shares")
        bad = [
            count
            for _ in range(options.rounds)
            for count in _PROCESSES
            if not _run(servers, source, folder, count, options.records)
        ]
    return 1 if bad else 0


def _run(servers: str, source: str, folder: str, count: int, records: int) -> bool:
    context = multiprocessing.get_context("spawn")
    ready, told = context.Barrier(count), context.SimpleQueue()
    group = f"group-{uuid.uuid4().hex[:8]}"
    workers = [context.Process(target=work, args=(servers, source, group, folder, ready, told)) for _ in range(count)]
    for each in workers:
        each.start()
    found = [told.get() for _ in workers]
    for each in workers:
        each.join()
    seconds = max(last for _, _, last, _ in found) - min(first for _, first, _, _ in found if first)
    processor = sum(used for *_, used in found)
    shares = sorted((taken for taken, *_ in found), reverse=True)
    total = sum(shares)
    print(
        f"{count:>9}{seconds:>9.1f}{total / seconds:>11,.0f}{processor / total * 1e6:>17.1f}  "
        f"{', '.join(f'{share:,}' for share in shares)}" + (f" ({total - records:,} twice)" if total > records else "")
    )
    if total < records:
        print(f"MISSED: {records - total:,} records were lost")
    if not all(shares):
        print("MISSED: a process got nothing")
    return total >= records and all(shares)


def work(servers: str, source: str, group: str, folder: str, ready: Any, told: Any) -> None:
    """One guard until the end of the topic: how many records it was given, when first and last, and what it used."""
    sys.path.insert(0, folder)
    warnings.simplefilter("ignore", DeprecationWarning)
    from speed.v1.shapes_contract import MEDIUM

    consumer = client.new_consumer(
        source,
        {
            "bootstrap_servers": servers,
            "group_id": group,
            "enable_auto_commit": False,
            "auto_offset_reset": "earliest",
            # A member that comes late is let in soon.
            "max_poll_interval_ms": 10_000,
        },
    )
    taken, first, last = 0, 0.0, 0.0
    with Guard(consumer, MEDIUM, dead_letter_topic=f"{source}.dead", stop_at_end=True) as guard:
        ready.wait()
        began = time.process_time()
        for _ in guard:
            last = time.time()
            first = first or last
            taken += 1
        used = time.process_time() - began
    told.put((taken, first, last, used))


if __name__ == "__main__":
    sys.exit(main())
