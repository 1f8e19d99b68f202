"""``Guard``: a Kafka consumer whose records keep their contract."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Generic, Self, cast

from protocontract.kafka.attempts import Attempts, OnFailure
from protocontract.kafka.engine import Engine, M
from protocontract.kafka.record import Record


class Guard(Engine[M], Generic[M]):
    """Wraps a consumer of kafka-python or confluent-kafka and takes over its polling, commits and rebalance listener.

    Use it as a context manager and iterate over it, or give ``run`` a handler. One thread. A handler call that takes
    longer than the consumer's ``max_poll_interval_ms`` loses the partition: Kafka then gives it to another member, and
    the record is handled there again.
    """

    def start(self) -> None:
        """Check that the dead-letter topics are there and take over the consumer. Entering the guard does it.

        Raises GuardError.
        """
        self._start()

    def close(self) -> None:
        """Wait for what is on its way, commit what is resolved, leave the group. A record in hand stays unresolved."""
        self._close()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __iter__(self) -> Iterator[Record[M]]:
        """Valid records in the order of each partition. A record is finished when the loop comes back for the next."""
        return self._records()

    def run(
        self,
        handler: Callable[[M], object],
        *,
        retries: int = 0,
        backoff: tuple[float, float] = (0.1, 30.0),
        on_failure: OnFailure = "stop",
    ) -> None:
        """Give each message to ``handler`` until ``stop`` is called.

        A handler that raises is called again up to ``retries`` times, after pauses that double from ``backoff[0]`` to
        ``backoff[1]`` seconds; the guard stays in the group meanwhile. Then "stop" raises the handler's exception and
        leaves the record uncommitted; "dead_letter" dead-letters the record (rule ``handler.failed``, with the
        exception's class as reason) and goes on.
        """
        attempts = Attempts(self, retries, backoff, on_failure)
        for record in self:
            attempts.begin(record)
            while True:
                try:
                    handler(cast(M, record.message))
                    break
                except Exception as error:
                    # Any exception of the handler's is a failed attempt: what it means is the caller's business.
                    if not attempts.again(error):
                        break
