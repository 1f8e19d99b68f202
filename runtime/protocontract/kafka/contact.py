"""Whether the source is still there: a client that is polled in vain takes a dead cluster for an idle topic."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from protocontract.kafka.errors import UnreachableError
from protocontract.kafka.patience import give_up_if_due
from protocontract.kafka.ports import Client, error_kind, error_name, known_errors

#: How long an answer may take, in milliseconds.
_ANSWER_MS: Final = 1_000


class Contact:
    """Asks for the end of a partition now and then while nothing arrives, if somebody wants to give up at all."""

    def __init__(self, kafka: Client, give_up_after: float | None, clock: Callable[[], float] = time.monotonic) -> None:
        """``give_up_after``: seconds without any answer after which ``check`` raises; None for never."""
        self._kafka = kafka
        self._give_up_after = give_up_after
        self._clock = clock
        self._heard = self._asked = clock()
        self._every = 5.0 if give_up_after is None else min(5.0, max(0.2, give_up_after / 4))

    def heard(self) -> None:
        """Something arrived."""
        self._heard = self._clock()

    def check(self) -> None:
        """Nothing arrived. Raises UnreachableError where that has been so for too long, whoever was asked."""
        if self._give_up_after is None:
            return
        now = self._clock()
        if now - max(self._heard, self._asked) < self._every:
            return
        topic, reason = self._ask()
        self._asked = now = self._clock()
        if not reason:
            self._heard = now
        else:
            silent = f"source: topic {topic} does not answer ({reason})"
            give_up_if_due(silent, UnreachableError, now - self._heard, self._give_up_after)

    def _ask(self) -> tuple[str, str]:
        """The topic asked about, and why there is no answer; "" if there is one."""
        consumer = self._kafka.consumer
        topics = consumer.subscription() or {tp.topic for tp in consumer.assignment()}
        if not topics:
            # A pattern that matches nothing yet.
            return "", ""
        topic = min(topics)
        try:
            consumer.end_offsets([self._kafka.partition(topic, 0)], timeout_ms=_ANSWER_MS)
        except known_errors() as error:
            # Any other kind of error is an answer.
            return topic, error_name(error) if error_kind(error) == "temporary" else ""
        return topic, ""
