"""``make demo``: a dirty stream of payments goes through the Kafka middleware, and a report says what became of it.

The example contracts are compiled with the real plugin into a temporary folder. The stream runs through an in-memory
log, or through a real broker where KAFKA_BOOTSTRAP_SERVERS names one.
"""

from __future__ import annotations

import argparse
import importlib
import os
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from dirty_data import BAD_KINDS, DirtyRecord, dirty_stream

from protocontract.contract import Contract
from protocontract.kafka import Guard
from protocontract.kafka.memory import MemoryLog
from protocontract.levels import RestLevels, event_seconds, outcome_seconds
from protocontract.report import StreamReport, render
from protocontract.terminal import BROKEN, KEPT, NEUTRAL, Paint, Progress, count
from protocontract.verify.report import level_text, shown

ROOT: Final = Path(__file__).resolve().parents[2]
PARTITIONS: Final = 4


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demo; 0 when every record is accounted for."""
    parser = argparse.ArgumentParser(description="Guard a dirty stream of payments and report what became of it.")
    parser.add_argument("--records", type=int, default=20_000, help="length of the stream (default 20,000)")
    parser.add_argument("--report", type=Path, default=ROOT / "build" / "demo.html", metavar="FILE")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="protocontract-demo-") as folder:
        compile_contracts(Path(folder))
        sys.path.insert(0, folder)
        contract: Contract[Any] = importlib.import_module("acme.finance.v1.transaction_contract").TRANSACTION
        stream = list(dirty_stream(contract.message_type, options.records))
        report = run(contract, stream, os.environ.get("KAFKA_BOOTSTRAP_SERVERS"))
        bad = sum(record.kind is not None for record in stream)
        sys.stdout.write(summary(report, bad, Paint.on(sys.stdout)))
    options.report.parent.mkdir(parents=True, exist_ok=True)
    made = f"Made by make demo on {time.strftime('%Y-%m-%d %H:%M')} from {options.records:,} generated records."
    options.report.write_text(render(report, made=made), encoding="utf-8")
    print(f"report: {options.report}")
    return 0 if report.records == options.records and report.rejected == bad else 1


def compile_contracts(out: Path) -> None:
    """protoc with our plugin: what a build does."""
    binaries = Path(sys.executable).parent
    includes = subprocess.run(
        [binaries / "protocontract", "includes"], check=True, capture_output=True, text=True
    ).stdout.strip()
    sources = sorted(path.relative_to(ROOT / "contracts") for path in (ROOT / "contracts" / "acme").rglob("*.proto"))
    environment = {**os.environ, "PATH": f"{binaries}{os.pathsep}{os.environ.get('PATH', '')}"}
    command = [
        sys.executable, "-m", "grpc_tools.protoc", "-I", str(ROOT / "contracts"), "-I", includes,
        f"--python_out={out}", f"--pyi_out={out}", f"--contract_out={out}",
        *map(str, sources), "buf/validate/validate.proto",
    ]  # fmt: skip
    started = time.perf_counter()
    subprocess.run(command, check=True, env=environment)
    modules = sorted(path.relative_to(out) for path in out.rglob("*_contract.py"))
    print(f"compiled {len(sources)} .proto files into {len(modules)} contract modules"
          f" in {time.perf_counter() - started:.1f} s")  # fmt: skip


# ----------------------------------------------------------------------------------------------------------------------
# The stream


@dataclass(frozen=True, slots=True)
class Broker:
    """Where the stream runs: a consumer that is subscribed to it, a way to send, and the dead letters' topic."""

    name: str
    consumer: Any
    producers: Any
    topic: str
    dead_topic: str
    dead_letters: Any


def run(contract: Contract[Any], stream: Sequence[DirtyRecord], servers: str | None) -> StreamReport:
    """Send the stream, guard it, and read the dead letters back."""
    with real_broker(contract, servers) if servers else memory(contract) as broker:
        producer = broker.producers()
        for record in stream:
            producer.send(broker.topic, value=record.value, key=record.key)
        producer.flush()
        report = StreamReport(contract, f"{broker.topic} on {broker.name}")
        levels = None if contract.level is None else RestLevels(contract.level)
        progress = Progress(len(stream))
        started = time.perf_counter()
        guard: Guard[Any] = Guard(
            broker.consumer, contract, dead_letters=broker.producers, dead_letter_topic=broker.dead_topic,
            stop_at_end=True,
        )  # fmt: skip
        with guard:
            for delivered in guard:
                report.accept(delivered.changes)
                if levels is not None:
                    levels.record(True, event_seconds(delivered.message, contract.event_time))
                progress.update(guard.stats.judged, guard.stats.judged)
        progress.clear()
        report.seconds = time.perf_counter() - started
        for letter in broker.dead_letters():
            headers = dict(letter.headers)
            position = ":".join(headers[f"protocontract.{part}"].decode() for part in ("partition", "offset"))
            # The dead letter holds the record byte for byte: judged again, it shows the values that headers never hold.
            outcome = contract.process(letter.value)
            report.reject(position, outcome.violations)
            if levels is not None:
                levels.record(False, outcome_seconds(outcome))
        report.levels = () if levels is None else levels.verdicts()
        return report


@contextmanager
def memory(contract: Contract[Any]) -> Iterator[Broker]:
    """The embedded log: the same guard, no server."""
    log = MemoryLog()
    log.create_topic(contract.topic, PARTITIONS)
    log.create_topic(contract.dead_letter_topic, PARTITIONS)
    consumer = log.consumer(contract.topic, group_id="demo")
    yield Broker(
        "an in-memory log", consumer, log.producer, contract.topic, contract.dead_letter_topic,
        lambda: log.records(contract.dead_letter_topic),
    )  # fmt: skip


@contextmanager
def real_broker(contract: Contract[Any], servers: str) -> Iterator[Broker]:
    """Topics of this run's own on a broker; they are deleted in the end."""
    from kafka import KafkaConsumer, KafkaProducer
    from kafka.admin import KafkaAdminClient, NewTopic
    from kafka.structs import TopicPartition

    run_id = uuid.uuid4().hex[:8]
    topic, dead = f"{contract.topic}.demo-{run_id}", f"{contract.dead_letter_topic}.demo-{run_id}"
    config: dict[str, Any] = {"bootstrap_servers": servers.split(",")}
    admin = KafkaAdminClient(**config)
    try:
        admin.create_topics([NewTopic(name, num_partitions=PARTITIONS, replication_factor=1) for name in (topic, dead)])
        try:
            consumer = KafkaConsumer(
                topic, group_id=f"demo-{run_id}", auto_offset_reset="earliest", enable_auto_commit=False, **config
            )

            def dead_letters() -> Iterator[Any]:
                # Up to the offsets that are the ends now: the guard is closed, so that all is acknowledged.
                reader = KafkaConsumer(enable_auto_commit=False, **config)
                try:
                    partitions = [TopicPartition(dead, number) for number in range(PARTITIONS)]
                    reader.assign(partitions)
                    reader.seek_to_beginning(*partitions)
                    ends = reader.end_offsets(partitions)
                    while any((reader.position(partition) or 0) < ends[partition] for partition in partitions):
                        for letters in reader.poll(timeout_ms=1_000).values():
                            yield from letters
                finally:
                    reader.close(autocommit=False)

            yield Broker(servers, consumer, lambda: KafkaProducer(**config), topic, dead, dead_letters)
        finally:
            admin.delete_topics([topic, dead])
    finally:
        admin.close()


# ----------------------------------------------------------------------------------------------------------------------
# What is printed


def summary(report: StreamReport, bad: int, paint: Paint) -> str:
    """The run in a few aligned lines."""
    contract = report.contract
    title = f"{contract.full_name} {contract.version}"
    lines = [
        "",
        f"{paint(title, 'strong')} · {report.source} · {count(report.records)} records,"
        f" {count(bad)} of them spoilt in {len(BAD_KINDS)} ways",
        f"  accepted       {count(report.accepted):>7}",
        f"  normalised     {count(report.normalised):>7}   {paint('of the accepted, by field', 'quiet')}",
    ]
    for tally in sorted(report.changes.values(), key=lambda tally: -tally.count):
        if tally.examples:
            before, after = tally.examples[0]
            was = "unset" if before is None else shown(before)
            lines.append(f"    {tally.path:<14} {count(tally.count):>7}   {was} → {shown(after)}")
    lines.append(f"  dead-lettered  {count(report.rejected):>7}   {paint('by rule', 'quiet')}")
    for rule_id, number in sorted(report.by_rule.items(), key=lambda row: (-row[1], row[0])):
        lines.append(f"    {rule_id:<22} {count(number):>7}")
    marks = {"kept": paint(KEPT, "good"), "missed": paint(BROKEN, "bad"), "unjudged": NEUTRAL}
    lines += [f"  {marks[verdict.state]} {verdict.level:<12} {level_text(verdict)}" for verdict in report.levels]
    rate = report.records / report.seconds if report.seconds else 0.0
    lines.append(f"  {count(round(rate))} records a second ({report.seconds:.2f} s, poll to acknowledged dead letters)")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
