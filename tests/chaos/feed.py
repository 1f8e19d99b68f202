"""What flows: a dirty stream, written in portions past the proxies."""

from __future__ import annotations

import threading
from collections import Counter
from typing import Any, Final

import confluent_kafka

from tests.kafka.transactions import Made, stream
from tests.support.brokers import Stuck

#: Every so many records, one without a value.
_TOMBSTONE_EVERY: Final = 97


def records(count: int, seed: int) -> list[tuple[Made, bool]]:
    """Records, and whether each keeps its contract. A tombstone does, and is passed on."""
    made = stream(count, seed)
    return [
        (each, each.rule is None)
        if number % _TOMBSTONE_EVERY or each.rule is not None
        else (each._replace(value=None), True)  # type: ignore[arg-type]
        for number, each in enumerate(made)
    ]


class Feeder:
    """Writes the records in the background, up to the number that it may.

    With confluent-kafka: it writes faster than the guards read, so that there is always something left to do.
    """

    def __init__(self, address: str, topic: str, made: list[tuple[Made, bool]]) -> None:
        # Through a broker that dies and comes back: it waits, and sends again without writing anything twice.
        self._producer = confluent_kafka.Producer(
            {
                "bootstrap.servers": address,
                "enable.idempotence": True,
                "linger.ms": 5,
                "message.timeout.ms": 300_000,
                "reconnect.backoff.max.ms": 1_000,
                "partitioner": "murmur2_random",
                "log_level": 0,
            }
        )
        self._topic = topic
        self._made = made
        self._limit = 0
        self._sent = 0
        self._changed = threading.Condition()
        self._error: str | None = None
        self._over = False
        #: Acknowledged records by partition.
        self.ends: Counter[int] = Counter()
        self._thread = threading.Thread(target=self._feed, daemon=True, name="feeder")
        self._thread.start()

    @property
    def fed(self) -> int:
        """How many records the broker has acknowledged."""
        self.check()
        return self.ends.total()

    def allow(self, count: int) -> None:
        """Let the first ``count`` records be written."""
        with self._changed:
            self._limit = max(self._limit, min(count, len(self._made)))
            self._changed.notify()

    @property
    def done(self) -> bool:
        """Whether all that may be written is acknowledged."""
        return self.fed == self._limit

    def check(self) -> None:
        """Raises Stuck where a record could not be written."""
        if self._error is not None:
            raise Stuck(f"the feeder cannot write: {self._error}")

    def close(self) -> None:
        """End it."""
        with self._changed:
            self._over = True
            self._changed.notify()
        self._thread.join(10)

    def _feed(self) -> None:
        while not self._over:
            with self._changed:
                if self._sent == self._limit:
                    self._changed.wait(0.05)
                upto = min(self._limit, self._sent + 1_000)
            for number in range(self._sent, upto):
                made, _ = self._made[number]
                self._producer.produce(
                    self._topic,
                    made.value,
                    made.key,
                    headers=[("n", b"%d" % number)],
                    on_delivery=self._delivered,
                )
            self._sent = upto
            self._producer.poll(0)

    def _delivered(self, error: Any, message: Any) -> None:
        if error is not None:
            self._error = str(error)
        else:
            self.ends[message.partition()] += 1
