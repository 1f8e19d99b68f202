"""From a guarded topic to a sink topic: what ``protocontract guard`` does. At least once, in order.

A record counts as delivered when the sink has acknowledged it. Its value is the source's byte for byte if no normalizer
changed anything; key, headers and timestamp are the source's. The header ``protocontract.normalized`` says which
contract was applied.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

from google.protobuf.message import Message

from protocontract import wire
from protocontract.kafka.client import Fetched, ProducerFactory
from protocontract.kafka.errors import GuardError
from protocontract.kafka.guard import Guard
from protocontract.kafka.judge import Judge
from protocontract.kafka.letters.dead_letter import NORMALIZED, Letter, own_violation, sendable_headers
from protocontract.kafka.outbox import Outbox, Sending
from protocontract.kafka.record import Record
from protocontract.kafka.registry.frames import VALUE_SCHEMA_ID, Framed, SinkFrame
from protocontract.violations import Refusal

if TYPE_CHECKING:
    from protocontract.contract import Contract

SinkEncoding = Literal["protobuf", "json", "confluent"]

SinkTooLarge = Literal["block", "dead_letter"]

#: Records on their way to the sink at once.
MAX_PENDING: Final = 10_000


class Forward:
    """Sends the good records of a guard to a topic."""

    def __init__(
        self,
        guard: Guard[Any],
        topic: str,
        producers: ProducerFactory,
        *,
        encoding: SinkEncoding | None = None,
        frame: SinkFrame | None = None,
        backoff: tuple[float, float] = (0.1, 10.0),
        max_pending: int = MAX_PENDING,
        acknowledge_within: float = 150.0,
        too_large: SinkTooLarge = "block",
    ) -> None:
        """``encoding``: how values are written to the sink; default as they came. ``frame``: what they all get then,
        where they are framed. ``too_large``: a good record that the sink refuses for its size is tried for ever
        ("block"), which says which one it is, or dead-lettered under the rule ``sink.too_large`` ("dead_letter").

        The guard must deliver tombstones, so that they reach the sink.
        """
        self._guard = guard
        self._topic = topic
        self._encoding: SinkEncoding | None = encoding
        self._frame = frame
        self._sink = Outbox(
            producers,
            "the sink",
            backoff=backoff,
            max_pending=max_pending,
            acknowledge_within=acknowledge_within,
            ordered=True,
        )
        self._too_large = too_large
        guard._sink = self._sink

    def start(self) -> None:
        """Check the sink and start the guard. Raises GuardError."""
        error = self._sink.check(self._topic)
        if error is not None:
            raise GuardError(
                f"sink: topic {self._topic} cannot be used ({type(error).__name__}); create it, or grant access"
            )
        self._guard.start()

    def run(self) -> None:
        """Forward until the guard is stopped (or at its end, if it stops there). Raises GuardError."""
        self.start()
        guard, sink = self._guard, self._sink
        for record in guard._deliverable():
            record._open = False
            raw = record.raw
            if raw.value is None and raw.key is None:
                violation = own_violation(record.contract, "wire.null", "neither key nor value; expected a message")
                guard._dead_letter(record._partition, raw, record.contract, (violation,))
                continue
            if sink.refused is not None and self._is_given_up(record):
                continue
            letter = sink_letter(
                self._topic,
                guard._judge,
                raw,
                record.contract,
                record.message,
                changed=bool(record.changes),
                encoding=self._encoding,
                frame=self._frame,
            )
            outcome: Literal["delivered", "tombstones"] = "delivered" if raw.value is not None else "tombstones"
            sink.send(Sending(letter, record._partition, raw.offset, outcome))

    def _is_given_up(self, record: Record[Any]) -> bool:
        """Whether a record is dead-lettered because the sink does not take one of its size."""
        if self._too_large == "block" or self._sink.refused != (record._partition.tp, record.offset):
            return False
        self._sink.refused = None
        violation = own_violation(record.contract, "sink.too_large", "the sink takes no record of this size")
        self._guard._dead_letter(record._partition, record.raw, record.contract, (violation,))
        return True

    def close(self, timeout: float) -> None:
        """Close the sink's producer, after the guard was closed."""
        self._sink.close(timeout)


def sink_letter(
    topic: str,
    judge: Judge,
    raw: Fetched,
    contract: Contract[Any],
    message: Message | None,
    *,
    changed: bool,
    encoding: SinkEncoding | None = None,
    frame: SinkFrame | None = None,
) -> Letter:
    """A good record as the sink gets it. ``message`` is None for a tombstone; ``encoding`` None is the source's.

    ``frame`` is the one that records get whose encoding is confluent; without it they keep their own.
    Raises GuardError.
    """
    headers = [pair for pair in sendable_headers(raw.headers) if pair[0] != NORMALIZED]
    if message is not None:
        headers.append((NORMALIZED, contract.fingerprint.encode()))
        if frame is not None or encoding == "json":
            # What the source's header says of the value is not true of the new one.
            headers = [pair for pair in headers if pair[0] != VALUE_SCHEMA_ID]
        if frame is not None:
            if frame.in_header:
                headers.append((VALUE_SCHEMA_ID, frame.frame))
            value = _payload(judge, raw, message, changed)
            return Letter(topic, raw.key, value if frame.in_header else frame.frame + value, headers, _moment(raw))
    return Letter(topic, raw.key, _value(judge, raw, message, changed, encoding), headers, _moment(raw))


def _moment(raw: Fetched) -> int | None:
    return raw.timestamp if raw.timestamp is not None and raw.timestamp >= 0 else None


def _payload(judge: Judge, record: Fetched, message: Message, changed: bool) -> bytes:
    """The message without a frame, byte for byte where nothing changed."""
    source = judge.encoding_of(record)
    if not changed and source != "json" and record.value is not None:
        if source == "protobuf":
            return record.value
        found = judge.for_topic(record.topic).split(record)
        if isinstance(found, Framed):
            return found.payload
    return wire.encode(message, "protobuf")


def _value(
    judge: Judge, record: Fetched, message: Message | None, changed: bool, encoding: SinkEncoding | None
) -> bytes | None:
    raw = record.value
    if raw is None or message is None:
        return None
    source = judge.encoding_of(record)
    target = encoding or source
    if target == source and not changed:
        return raw
    if target == "confluent":
        # The frame stays as it came: the schema is the same.
        found = judge.for_topic(record.topic).split(record)
        if isinstance(found, Refusal):
            raise GuardError(f"sink: a framed record that was read cannot be framed again ({found.rule_id})")
        return found.frame + wire.encode(message, "protobuf")
    return wire.encode(message, target)
