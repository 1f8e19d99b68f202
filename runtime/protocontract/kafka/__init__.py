"""Kafka: records that keep their contract, and dead letters for the rest. Needs ``kafka-python``."""

from protocontract.kafka.errors import DeadLetterError, GuardError, SinkError, SourceError
from protocontract.kafka.guard import Guard
from protocontract.kafka.halting import Breach, Breaker
from protocontract.kafka.letter_form import DeadLetterForm
from protocontract.kafka.record import Record, RecordId
from protocontract.kafka.stats import GuardStats, PartitionStats

__all__ = [
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
    "SinkError",
    "SourceError",
]
