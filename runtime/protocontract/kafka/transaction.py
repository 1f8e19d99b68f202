"""One Kafka transaction after the other: its producer, its end, and what ends a process that hangs in one.

What shapes it (all of it seen with kafka-python 3.0.12):

- A transaction commits fine although a batch of it expired. So the answer of every send is looked at first.
- After an error, the producer's next transaction would also commit the offsets of the one that was aborted. So a
  producer that saw any error is thrown away. The next one has the same transactional id: its first request ends
  whatever the other left open, and fences what it may still have on the way.
- The calls that end a transaction have no timeout. So they run on a thread that is left behind after a while.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Mapping
from queue import Empty, SimpleQueue
from typing import Any, Final, Protocol, cast

from protocontract.kafka import client
from protocontract.kafka.client import Membership, TopicPartition
from protocontract.kafka.letters.dead_letter import Letter
from protocontract.terminal import tell_error

#: What the transaction coordinator is told: it aborts a transaction that is open for longer. Readers of committed
#: records, and whoever takes over the partitions, wait so long at most for a process that died.
TRANSACTION_TIMEOUT_MS: Final = 10_000
#: Seconds after which a call that ends a transaction has failed: by then the coordinator has aborted it.
CALL_TIMEOUT: Final = TRANSACTION_TIMEOUT_MS / 1000 + 2.0
#: Seconds that aborting may take. Failing is no harm: the next producer's first request aborts too.
ABORT_TIMEOUT: Final = 2.0
#: Seconds for all sends of a transaction to be acknowledged: below the transaction's own timeout.
FLUSH_TIMEOUT: Final = 8.0


class Sent(Protocol):
    """What ``send`` of a transactional producer returns."""

    def get(self, timeout: float | None = ...) -> object: ...


class TransactionalProducer(Protocol):
    """What is used of a ``kafka.KafkaProducer`` with a ``transactional_id``."""

    def init_transactions(self) -> object: ...
    def begin_transaction(self) -> object: ...
    def send(
        self,
        topic: str,
        value: bytes | None = ...,
        key: bytes | None = ...,
        headers: list[tuple[str, bytes]] | None = ...,
        partition: int | None = ...,
        timestamp_ms: int | None = ...,
    ) -> Sent: ...
    def flush(self, timeout: float | None = ...) -> object: ...
    def send_offsets_to_transaction(self, offsets: Any, group_metadata: Any) -> object: ...
    def commit_transaction(self) -> object: ...
    def abort_transaction(self) -> object: ...
    def partitions_for(self, topic: str) -> set[int] | None: ...
    def close(self, timeout: float | None = ...) -> object: ...


class TransactionFailed(Exception):
    """A transaction is not committed, as far as is known; its producer is gone. ``topic`` is what could not be written,
    None where the failure is not one topic's."""

    def __init__(self, error: BaseException, topic: str | None = None) -> None:
        super().__init__(type(error).__name__)
        self.error = error
        self.topic = topic


class Disturbed(Exception):
    """The partitions changed hands, or may have: the transaction is aborted."""


class Transactions:
    """The transactions of one transactional id, one at a time, on one thread."""

    def __init__(
        self,
        producers: Callable[[], TransactionalProducer],
        *,
        call_timeout: float = CALL_TIMEOUT,
    ) -> None:
        """``producers`` makes producers of the same transactional id."""
        self._producers = producers
        self._producer: TransactionalProducer | None = None
        self._sent: list[tuple[str, Sent]] = []
        self._open_since: float | None = None
        self._call_timeout = call_timeout
        #: Seconds from the begin to the end of the longest transaction so far, committed or not.
        self.longest = 0.0

    @property
    def ready(self) -> bool:
        """Whether there is a producer to begin a transaction with."""
        return self._producer is not None

    @property
    def age(self) -> float:
        """Seconds since the open transaction began; 0 where none is open. May be asked from any thread."""
        since = self._open_since
        return 0.0 if since is None else time.monotonic() - since

    def prepare(self) -> None:
        """Make a producer. When this returns, no earlier transaction of this id is open any more.

        Raises TransactionFailed; it may be tried again.
        """
        producer: TransactionalProducer | None = None
        try:
            producer = self._producers()
            producer.init_transactions()
        except Exception as error:
            # A factory of the user's may raise anything; nothing has begun, so it is told and tried again.
            if producer is not None:
                client.abandon_producer(producer)
            raise TransactionFailed(error) from None
        self._producer = producer

    def partitions_for(self, topic: str) -> set[int] | None:
        """The partitions of a topic. Raises KafkaError where they cannot be found."""
        return self._ready_producer().partitions_for(topic)

    def begin(self) -> None:
        """Open a transaction. Raises TransactionFailed."""
        try:
            self._ready_producer().begin_transaction()
        except client.errors.KafkaError as error:
            self._throw_away()
            raise TransactionFailed(error) from None
        self._open_since = time.monotonic()

    def send(self, letter: Letter) -> None:
        """Write a record in the open transaction. Raises TransactionFailed."""
        try:
            self._sent.append(
                (
                    letter.topic,
                    self._ready_producer().send(
                        letter.topic,
                        value=letter.value,
                        key=letter.key,
                        headers=letter.headers,
                        timestamp_ms=letter.timestamp,
                    ),
                )
            )
        except (client.errors.KafkaError, ValueError, TypeError, AssertionError) as error:
            # What send() raises: metadata that does not come, a record that is too large, one that it cannot encode.
            self._throw_away(abort=True)
            raise TransactionFailed(error, letter.topic) from None

    def commit(
        self, marks: Mapping[TopicPartition, tuple[int, int, str]], member: Membership, check: Callable[[], None]
    ) -> None:
        """Commit what was sent, and with it ``marks`` in the group of ``member``: offset, leader epoch, metadata.

        ``check`` is called before each step and raises Disturbed where the member must not commit any more.
        Raises TransactionFailed, or what ``check`` raises; the transaction is aborted then (or its end is unknown until
        ``prepare`` has returned).
        """
        topic = None
        done = False
        producer = self._ready_producer()
        try:
            if self._sent:
                deadline = time.monotonic() + FLUSH_TIMEOUT
                producer.flush(timeout=FLUSH_TIMEOUT)
                for where, sent in self._sent:
                    topic = where
                    sent.get(timeout=max(0.0, deadline - time.monotonic()))
                topic = None
            check()
            offsets = {tp: client.offset_to_commit(*mark) for tp, mark in marks.items()}
            self._call(lambda: producer.send_offsets_to_transaction(offsets, member))
            check()
            self._call(producer.commit_transaction)
            done = True
        except (client.errors.KafkaError, ValueError, TypeError) as error:
            raise TransactionFailed(error, topic) from None
        finally:
            if not done:
                self._throw_away(abort=True)
            self._ended()
            self._sent = []

    def abort(self) -> None:
        """Abort the open transaction and throw its producer away."""
        self._throw_away(abort=True)

    def close(self, timeout: float) -> None:
        """Close the producer."""
        if self._open_since is not None:
            self._throw_away(abort=True)
        producer, self._producer = self._producer, None
        if producer is not None:
            client.close_producer(cast(client.Producer, producer), timeout)

    def _ended(self) -> None:
        self.longest = max(self.longest, self.age)
        self._open_since = None

    def _ready_producer(self) -> TransactionalProducer:
        if self._producer is None:
            raise RuntimeError("prepare() comes first")
        return self._producer

    def _throw_away(self, *, abort: bool = False) -> None:
        producer, self._producer = self._producer, None
        self._ended()
        self._sent = []
        if producer is None:
            return
        if abort:
            # So that readers need not wait for the coordinator's timeout.
            with contextlib.suppress(client.errors.KafkaError):
                self._call(producer.abort_transaction, ABORT_TIMEOUT)
        client.abandon_producer(producer)

    def _call(self, call: Callable[[], object], timeout: float | None = None) -> None:
        """Wait for a call at most so long. Raises what it raises, and KafkaTimeoutError."""
        answers: SimpleQueue[BaseException | None] = SimpleQueue()

        def work() -> None:
            try:
                call()
            except BaseException as error:  # Whatever it is, it belongs to the thread that waits.
                answers.put(error)
            else:
                answers.put(None)

        threading.Thread(target=work, daemon=True, name="protocontract-transaction").start()
        try:
            error = answers.get(timeout=self._call_timeout if timeout is None else timeout)
        except Empty:
            raise client.errors.KafkaTimeoutError("the transaction's coordinator does not answer") from None
        if error is not None:
            raise error


class Watchdog:
    """Ends the process when it was told to stop and is still there after the grace period.

    It looks at a flag rather than being called: a signal handler may not start a thread or take a lock.
    """

    def __init__(
        self, stopping: Callable[[], bool], grace: float, *, end: Callable[[str], object] | None = None
    ) -> None:
        """``grace`` in seconds from the moment ``stopping`` is true. ``end`` ends the process, given the reason."""
        self._stopping = stopping
        self._grace = grace
        self._end = end_process if end is None else end
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True, name="protocontract-watchdog")

    def start(self) -> None:
        """Begin to watch."""
        self._thread.start()

    def stop(self) -> None:
        """The process came to its end by itself."""
        self._over.set()

    def _watch(self) -> None:
        deadline: float | None = None
        while not self._over.wait(0.1):
            if not self._stopping():
                continue
            now = time.monotonic()
            if deadline is None:
                deadline = now + self._grace
            elif now >= deadline:
                self._end(f"not stopped within {self._grace:g} s; what was not committed will be read again")
                return


def end_process(reason: str) -> None:
    """End the process at once, with exit code 1: a transaction that is open is aborted by its coordinator."""
    tell_error(reason)
    os._exit(1)
