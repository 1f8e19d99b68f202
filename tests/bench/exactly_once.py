"""``python -m tests.bench.exactly_once``: what ``--exactly-once`` and ``--shadow`` cost a guard, on a real broker.

Needs KAFKA_BOOTSTRAP_SERVERS. In each round every kind of process moves the same records of one topic with four
partitions to a sink and to dead letters, in alternating order; a process over an empty topic is taken off. Processor
time is that of the guard process alone; the wall clock includes what the broker does, and whoever else is busy.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from protocontract.kafka import client
from protocontract.kafka.exactly_once import ExactlyOnce
from protocontract.kafka.transaction import TRANSACTION_TIMEOUT_MS, Transactions
from tests.kafka.conftest import Broker
from tests.kafka.transactions import NAME, PROTOS, stream, transaction

_KEEPS_ALL = {"retention_ms": "-1", "max_message_bytes": str(2 * 1024 * 1024)}
_PARTITIONS = 4


class Took(NamedTuple):
    """Seconds of a process: on the wall, and of processor time."""

    wall: float
    processor: float


def main() -> int:
    """Measures and prints. Returns 0, or 2 without a broker."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.exactly_once", description=__doc__)
    parser.add_argument("--records", type=int, default=60_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--transactions", type=int, default=200, help="transactions of one record each")
    arguments = parser.parse_args()
    servers = os.environ.get("KAFKA_BOOTSTRAP_SERVERS")
    if not servers:
        print("KAFKA_BOOTSTRAP_SERVERS is not set", file=sys.stderr)
        return 2
    broker = Broker(servers)
    try:
        with tempfile.TemporaryDirectory() as folder:
            _compare(broker, arguments.records, arguments.rounds, _candidate(Path(folder)))
        _one_by_one(broker, arguments.transactions)
    finally:
        broker.admin.close()
    return 0


def _candidate(folder: Path) -> Path:
    """The contracts with a longer memo: another fingerprint, the same work."""
    shutil.copytree(PROTOS, folder / "next")
    proto = folder / "next" / "acme" / "finance" / "v1" / "transaction.proto"
    proto.write_text(proto.read_text().replace("string.max_len = 140", "string.max_len = 150"))
    return folder / "next"


def _fill(broker: Broker, topic: str, count: int) -> None:
    producer = broker.producer(linger_ms=5)
    for made in stream(count):
        producer.send(topic, made.value, key=made.key)
    producer.flush()
    producer.close()


def _compare(broker: Broker, count: int, rounds: int, candidate: Path) -> None:
    source, empty = broker.topic("raw", _PARTITIONS), broker.topic("raw", _PARTITIONS)
    sink, dead = broker.topic("clean", _PARTITIONS), broker.topic("dead", 1, **_KEEPS_ALL)
    _fill(broker, source, count)
    plain: tuple[str, ...] = ()
    kinds = {
        "at least once": plain,
        "exactly once": ("--exactly-once",),
        "at least once, with a shadow": ("--shadow-proto-path", str(candidate)),
    }
    took: dict[str, list[Took]] = {name: [] for name in kinds}
    for number in range(rounds):
        for name in list(kinds) if number % 2 else list(reversed(kinds)):
            group = f"{name[:2]}{len(kinds[name])}{number}-{source}"
            start = _guard(broker, empty, sink, dead, f"start-{group}", kinds[name])
            whole = _guard(broker, source, sink, dead, group, kinds[name])
            took[name].append(Took(whole.wall - start.wall, whole.processor - start.processor))
    base = took["at least once"]
    print(f"{count:,} records, {rounds} rounds, medians")
    print("| | records/s | µs of processor time a record | wall, to at least once | processor, to at least once |")
    print("| --- | --- | --- | --- | --- |")
    for name, times in took.items():
        ratios = [
            Took(each.wall / of.wall, each.processor / of.processor) for each, of in zip(times, base, strict=True)
        ]
        print(
            f"| {name} | {count / _median(times, lambda each: each.wall):,.0f} "
            f"| {_median(times, lambda each: each.processor) / count * 1e6:.1f} "
            f"| {_median(ratios, lambda each: each.wall):.2f} | {_median(ratios, lambda each: each.processor):.2f} |"
        )


def _median(times: Sequence[Took], of: Callable[[Took], float]) -> float:
    return statistics.median(map(of, times))


def _guard(broker: Broker, source: str, sink: str, dead: str, group: str, more: tuple[str, ...]) -> Took:
    where = ["--source", source, "--sink", sink, "--dead-letter", dead, "--bootstrap-servers", broker.servers]
    what = ["--contract", NAME, "--proto-path", str(PROTOS), "--group", group, "--exit-at-end", *more]
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run([sys.executable, "-m", "protocontract.cli", "guard", *where, *what], check=True, capture_output=True)
    wall, after = time.monotonic() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    return Took(wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def _one_by_one(broker: Broker, count: int) -> None:
    """The cost of a transaction by itself: one record in each, as where records come one by one."""
    source, sink = broker.topic("raw"), broker.topic("clean")
    dead = broker.topic("dead", 1, **_KEEPS_ALL)
    _fill(broker, source, count)
    consumer = broker.consumer(source, f"one-{source}", isolation_level="read_committed")
    producers = client.transactional_factory(
        {"bootstrap_servers": broker.servers}, f"bench-{source}", TRANSACTION_TIMEOUT_MS
    )
    ends: list[float] = []
    guard = ExactlyOnce(
        consumer,
        transaction(),
        Transactions(producers),
        sink=sink,
        dead_letter_topic=dead,
        stop_at_end=True,
        max_records=1,
    )
    guard.tick = lambda: ends.append(time.monotonic()) if guard.stats.transactions > len(ends) else None
    try:
        guard.run()
    finally:
        guard.close()
    steps = [after - before for before, after in pairwise(ends)]
    print(
        f"{guard.stats.transactions:,} transactions of one record: {statistics.median(steps) * 1000:.1f} ms each "
        f"(median; 95 % below {statistics.quantiles(steps, n=20)[-1] * 1000:.1f} ms)"
    )


if __name__ == "__main__":
    sys.exit(main())
