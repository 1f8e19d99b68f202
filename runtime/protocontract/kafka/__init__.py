"""Kafka: records that keep their contract, and dead letters for the rest.

Needs ``kafka-python``, which the commands use too. ``Guard`` also takes a consumer of confluent-kafka, ``AsyncGuard``
takes one of aiokafka.
"""

from protocontract.kafka.async_guard import AsyncGuard
from protocontract.kafka.errors import DeadLetterError, GuardError, RegistryError, SinkError, SourceError
from protocontract.kafka.guard import Guard
from protocontract.kafka.halting import Breach, Breaker
from protocontract.kafka.letters.form import DeadLetterForm
from protocontract.kafka.record import Record, RecordId
from protocontract.kafka.shadow import Shadow
from protocontract.kafka.stats import GuardStats, PartitionStats

__all__ = [
    "AsyncGuard",
    "Breach",
    "Breaker",
    "DeadLetterError",
    "DeadLetterForm",
    "Guard",
    "GuardError",
    "GuardStats",
    "PartitionStats",
    "Record",
    "RecordId",
    "RegistryError",
    "Shadow",
    "SinkError",
    "SourceError",
]
