"""A small contract and helpers for the Kafka tests: what is tested is the guard, not the rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from protocontract.contract import Contract
from protocontract.kafka import Guard
from protocontract.kafka.client import TopicPartition
from protocontract.kafka.memory import MemoryConsumer, MemoryLog
from protocontract.violations import Change, FieldElement, Rule, Violation

TOPIC = "payments"
DEAD = "payments.dead"
NAME = "protocontract.test.kafka.Payment"


def _message_type() -> Any:
    file = descriptor_pb2.FileDescriptorProto(
        name="kafka_test.proto", package="protocontract.test.kafka", syntax="proto3"
    )
    message = file.message_type.add(name="Payment")
    label = descriptor_pb2.FieldDescriptorProto.LABEL_OPTIONAL
    for number, (name, kind) in enumerate((("id", 9), ("amount", 3), ("note", 9)), start=1):
        message.field.add(name=name, number=number, type=kind, label=label, json_name=name)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(NAME))


Payment: Any = _message_type()
_ID = Rule(NAME, (FieldElement(1, "id", 9),), "required", "value is required", "required")
_AMOUNT = Rule(NAME, (FieldElement(2, "amount", 3),), "int64.gte", "must be at least 1", "int64.gte")
_NOTE = Rule(NAME, (FieldElement(3, "note", 9),), "string.max_len", "at most 5", "string.max_len", severity="WARNING")


def _validate(message: Any) -> list[Violation] | None:
    found = []
    if not message.id:
        found.append(Violation(_ID, message.id))
    if message.amount < 1:
        found.append(Violation(_AMOUNT, message.amount))
    if len(message.note) > 5:
        found.append(Violation(_NOTE, message.note))
    return found or None


def _normalize(message: Any, changes: list[Change]) -> None:
    note = message.note.strip()
    if note != message.note:
        changes.append(Change("note", "text", message.note, note))
        message.note = note


def contract(**options: Any) -> Contract[Any]:
    """The contract of Payment; options replace what it declares."""
    return Contract(
        Payment,
        **{
            "full_name": NAME,
            "fingerprint": "ab" * 32,
            "version": "1.2.0",
            "topic": TOPIC,
            "dead_letter_topic": DEAD,
            "validate": _validate,
            "normalize": _normalize,
            **options,
        },
    )


CONTRACT = contract()


def good(number: int = 1, note: str = "") -> bytes:
    """A valid record."""
    return bytes(Payment(id=f"p{number}", amount=number + 1, note=note).SerializeToString())


#: Parses, and breaks both rules.
BAD = b""
#: Does not parse.
GARBAGE = b"\x00\xff\xff\xff\xff garbage"


def _memory_log(partitions: int) -> MemoryLog:
    log = MemoryLog()
    log.create_topic(TOPIC, partitions)
    log.create_topic(DEAD)
    return log


#: What makes logs here: a scenario that can run on a real broker is run with one, too.
make_log: ContextVar[Callable[[int], Any]] = ContextVar("make_log", default=_memory_log)


def new_log(partitions: int = 1) -> MemoryLog:
    """A log with the source and the dead-letter topic."""
    log: MemoryLog = make_log.get()(partitions)
    return log


def new_guard(log: MemoryLog, consumer: MemoryConsumer | None = None, **options: Any) -> Guard[Any]:
    """A guard over the in-memory log that ends when the topic does."""
    consumer = consumer if consumer is not None else log.consumer(TOPIC)
    return Guard(
        consumer,
        options.pop("contract", CONTRACT),
        **{
            "dead_letters": log.producer,
            "stop_at_end": True,
            "backoff": (0.001, 0.01),
            "grace": 0.5,
            **getattr(log, "guard_options", {}),
            **options,
        },
    )


def drain(guard: Guard[Any]) -> list[Any]:
    """Everything that the guard delivers."""
    with guard:
        return list(guard)


def committed(log: MemoryLog, partition: int = 0) -> int | None:
    """The committed offset of the source."""
    return log.committed("group", TopicPartition(TOPIC, partition))


def dead_headers(record: Any) -> dict[str, bytes]:
    """A dead letter's own headers."""
    return {key: value for key, value in record.headers if key.startswith("protocontract.")}


@contextmanager
def stopped(guard: Guard[Any]) -> Iterator[Iterator[Any]]:
    """Iterate by hand, and close at the end."""
    with guard:
        yield iter(guard)
