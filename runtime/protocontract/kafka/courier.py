"""Sending a few records that must arrive, for commands: batches, acknowledgements, tries again.

What failed is tried by itself, because it may only have been in bad company; a kafka-python producer that met a
permanent error fails for ever after, so each try has a new one.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Sequence
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Final, NamedTuple

from protocontract.kafka import client
from protocontract.kafka.client import Producer, ProducerFactory
from protocontract.kafka.connection import partitions_of
from protocontract.kafka.errors import GuardError

log: Final = logging.getLogger("protocontract.kafka")

#: Seconds before a record whose send failed is tried again.
PAUSES: Final = (0.2, 1.0, 3.0)


class Parcel(NamedTuple):
    """One record to be sent. ``partition`` None: the producer chooses one by the key."""

    topic: str
    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes]]
    partition: int | None = None


class Courier:
    """A way to topics of one cluster."""

    def __init__(
        self,
        producers: ProducerFactory,
        *,
        stopping: Callable[[], bool] = lambda: False,
        acknowledge_within: float = 45.0,
        pauses: tuple[float, ...] = PAUSES,
    ) -> None:
        """``stopping`` ends the tries; times are in seconds."""
        self._producers = producers
        self._producer: Producer | None = None
        self._stopping = stopping
        self._within = acknowledge_within
        self._pauses = pauses
        #: The partitions of the topics that were opened.
        self.partitions: Final[dict[str, set[int]]] = {}
        #: Why nothing gets through any more: after that, nothing is tried again.
        self.trouble: str | None = None

    def open(self, topics: Collection[str]) -> None:
        """Look whether the topics are there. Raises GuardError."""
        try:
            producer = self._producer = self._producers()
        except client.errors.KafkaError as error:
            raise GuardError(f"no broker answers ({type(error).__name__})") from None
        for topic in sorted(topics):
            self.partitions[topic] = partitions_of(producer, topic)

    def close(self) -> None:
        """Close the producer."""
        if self._producer is not None:
            client.close_producer(self._producer, 10.0)
            self._producer = None

    def deliver(self, batch: Sequence[Parcel]) -> list[Any]:
        """Send, and wait. Each record's acknowledgement, or the error that is left after all tries."""
        answers = self._attempt(batch)
        for place, (parcel, answer) in enumerate(zip(batch, answers, strict=True)):
            if not isinstance(answer, BaseException):
                continue
            answer = answers[place] = self._retried(parcel, answer)
            if isinstance(answer, BaseException) and not client.is_too_large(answer) and self.trouble is None:
                self.trouble = f"topic {parcel.topic} cannot be written ({type(answer).__name__})"
        return answers

    def _retried(self, parcel: Parcel, error: BaseException) -> Any:
        if self.trouble is not None:
            return error
        for pause in self._pauses:
            if self._producer is not None:
                client.close_producer(self._producer, 1.0)
                self._producer = None
            (answer,) = self._attempt([parcel])
            if not isinstance(answer, BaseException):
                return answer
            error = answer
            if client.is_too_large(error) or client.is_forbidden(error) or self._stopping():
                return error
            log.warning("topic %s cannot be written (%s); trying again", parcel.topic, type(error).__name__)
            time.sleep(pause)
        return error

    def _attempt(self, batch: Sequence[Parcel]) -> list[Any]:
        answers: SimpleQueue[tuple[int, Any]] = SimpleQueue()
        try:
            producer = self._producer = self._producer or self._producers()
        except client.errors.KafkaError as error:
            # Its constructor asks a broker for the cluster.
            return [error] * len(batch)
        for place, parcel in enumerate(batch):
            try:
                future = producer.send(
                    parcel.topic,
                    value=parcel.value,
                    key=parcel.key,
                    headers=parcel.headers,
                    partition=parcel.partition,
                )
                future.add_callback(partial(_answer, answers, place))
                future.add_errback(partial(_answer, answers, place))
            except Exception as error:
                # kafka-python's send() raises its own errors and ValueError; none of them means that it is written.
                answers.put((place, error))
        found: list[Any] = [client.errors.KafkaTimeoutError("no acknowledgement")] * len(batch)
        deadline = time.monotonic() + self._within
        for _ in batch:
            try:
                place, answer = answers.get(timeout=max(0.0, deadline - time.monotonic()))
            except Empty:
                break
            found[place] = answer
        return found


def _answer(answers: SimpleQueue[tuple[int, Any]], place: int, answer: Any) -> None:
    answers.put((place, answer))
