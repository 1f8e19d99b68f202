"""Sending what must arrive: dead letters, and a sink's records. Asynchronous, and never lost on the way.

A letter is done when the broker's acknowledgement is here, not when ``send`` or ``flush`` returned. What failed is
tried again with growing pauses, one letter at a time until one is through; meanwhile the outbox is *blocked* and says
why. A kafka-python producer that failed once may fail for ever after, so it is replaced.
"""

from __future__ import annotations

import logging
import random
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Final, Literal

from protocontract.kafka import clients
from protocontract.kafka.letters.dead_letter import Letter, truncated
from protocontract.kafka.partition import Partition
from protocontract.kafka.ports import (
    KafkaTimeoutError,
    Producer,
    ProducerFactory,
    TopicPartition,
    UnknownTopicOrPartitionError,
    error_kind,
    error_name,
)

log: Final = logging.getLogger("protocontract.kafka")

TooLarge = Literal["block", "truncate"]
#: What is left of a value that the dead-letter topic refuses for its size: below Kafka's default limit of 1 MiB with
#: room for headers, then nothing but its digest.
TRUNCATED_SIZES: Final = (512 * 1024, 0)
#: Most bytes of letters on their way at once.
_MOST_BYTES: Final = 64 * 1024 * 1024


@dataclass(slots=True, eq=False)
class Sending:
    """One letter on its way, and the record that it stands for."""

    letter: Letter
    partition: Partition
    offset: int
    #: What the record counts as when the letter is through.
    outcome: Literal["delivered", "dead_lettered", "tombstones"]
    size: int = 0
    attempt: int = 0
    sent_at: float = 0.0
    cuts: int = 0
    done: bool = False


@dataclass(slots=True)
class _Answer:
    sending: Sending
    attempt: int
    error: BaseException | None = None


@dataclass(slots=True)
class _Trouble:
    """Why nothing gets through, and when to try again."""

    reason: str
    retry_at: float
    forbidden: bool = False


@dataclass(slots=True)
class OutboxCounts:
    """What happened to sends."""

    errors: int = 0
    truncated: int = 0
    cancelled: int = 0


class Outbox:
    """A reliable way to one or more topics of one cluster. Used on one thread; the producer calls back on its own."""

    def __init__(
        self,
        factory: ProducerFactory,
        what: str,
        *,
        too_large: TooLarge = "block",
        backoff: tuple[float, float] = (0.1, 10.0),
        max_pending: int = 1_000,
        acknowledge_within: float = 150.0,
        ordered: bool = False,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] | None = None,
    ) -> None:
        """``backoff`` is the first and the longest pause in seconds. A letter without an answer after
        ``acknowledge_within`` seconds is sent again: it may be in the log twice, never not at all.

        ``ordered``: nothing is sent again from here, because it would come after its successors. What failed is
        dropped and ``must_begin_again`` says so: the caller begins again with the first letter that is not through.
        The outbox stays blocked until then, until all that is on its way is answered, and until the pause is over.
        After a letter that was too large, or in a batch with one, it takes one letter at a time until one is through:
        so ``refused`` names the record whose own size it is.

        ``sleep``: lets time pass where waiting for an answer must not hold the thread.
        """
        self._factory = factory
        self._what = what
        self._too_large = too_large
        self._backoff = backoff
        self._max_pending = max_pending
        self._acknowledge_within = acknowledge_within
        self._ordered = ordered
        self._clock = clock
        self._sleep = sleep
        self._producer: Producer | None = None
        self._answers: SimpleQueue[_Answer] = SimpleQueue()
        self._flying: dict[int, Sending] = {}
        self._waiting: deque[Sending] = deque()
        self._bytes = 0
        self._probe: Sending | None = None
        self._trouble: _Trouble | None = None
        self._check_at = 0.0
        self.counts = OutboxCounts()
        self._pause = backoff[0]
        self._failing_since: float | None = None
        self._dropped = False
        self._one_by_one = False
        #: The record whose letter an ordered outbox could not send because of its size.
        self.refused: tuple[TopicPartition, int] | None = None
        self._failed_tries = 0
        #: Nothing is tried again after this time, on the clock given: a try may block, and closing must end in time.
        self.last_try: float | None = None
        #: Whether no answer waits for ``settle``. Asked for every record, so it is the queue's own method.
        self.quiet: Callable[[], bool] = self._answers.empty

    # -- state

    @property
    def pending(self) -> int:
        """Letters that are not acknowledged."""
        return len(self._flying) + len(self._waiting)

    @property
    def blocked(self) -> str | None:
        """Why nothing gets through at present, or None."""
        return self._trouble.reason if self._trouble else None

    @property
    def blocked_for(self) -> float:
        """Seconds since the first failure after the last success."""
        return 0.0 if self._failing_since is None else self._clock() - self._failing_since

    @property
    def forbidden(self) -> bool:
        """Whether rights are missing: an answer that waiting does not change."""
        return self._trouble is not None and self._trouble.forbidden

    @property
    def attempts(self) -> int:
        """Tries that failed since the last success. Letters that fail together count once."""
        return self._failed_tries

    @property
    def full(self) -> bool:
        """Whether to wait before anything more is put in."""
        pending = self.pending
        return pending >= self._max_pending or (pending > 0 and (self._one_by_one or self._bytes >= _MOST_BYTES))

    def check(self, topic: str) -> BaseException | None:
        """Whether the topic can be found now; the error if not. May wait as long as the producer's ``max_block_ms``."""
        try:
            found = self._get_producer().partitions_for(topic)
        except Exception as error:
            # A factory of the user's may raise anything; the caller makes a start-up error of it.
            self._discard_producer()
            return error
        return None if found else UnknownTopicOrPartitionError(topic)

    # -- sending

    def send(self, sending: Sending) -> None:
        """Put a letter in. It is sent at once unless the outbox is blocked."""
        sending.size = sending.letter.size
        self._bytes += sending.size
        if (self._trouble is not None or not sending.partition.owned) and not self._ordered:
            self._waiting.append(sending)
        else:
            self._attempt(sending)

    def settle(self) -> list[Sending]:
        """Take the answers that are here, try again what is due. Returns the letters that are through."""
        through: list[Sending] = []
        while not self._answers.empty():
            self._take(self._answers.get(), through)
        now = self._clock()
        if self._flying and now >= self._check_at:
            self._check_at = now + 1.0
            self._give_up_waiting(now)
        if self._ordered:
            trouble = self._trouble
            if trouble is not None and not self._dropped and not self._flying and now >= trouble.retry_at:
                self._trouble = None
            return through
        if self._waiting:
            self._cancel_orphans()
        if self.last_try is not None and now > self.last_try:
            return through
        if self._trouble is not None and now >= self._trouble.retry_at and self._probe is None:
            self._probe = self._next_waiting()
            if self._probe is not None:
                self._attempt(self._probe)
            elif not self._flying and not self._waiting:
                # What failed belongs to others now, or is read again.
                self._trouble = None
        while self._trouble is None and (sending := self._next_waiting()) is not None:
            self._attempt(sending)
        return through

    def _next_waiting(self) -> Sending | None:
        """The first letter that may go. During a rebalance, letters wait for the fate of their partition."""
        for place, sending in enumerate(self._waiting):
            if sending.partition.owned:
                del self._waiting[place]
                return sending
        return None

    def must_begin_again(self) -> bool:
        """Whether a letter of an ordered outbox was dropped since this was asked last."""
        dropped, self._dropped = self._dropped, False
        return dropped

    def wait(self, seconds: float) -> None:
        """Wait for an answer, at most so long. It is handled by the next ``settle``."""
        if self._sleep is not None:
            until = self._clock() + seconds
            while self._answers.empty() and (left := until - self._clock()) > 0:
                self._sleep(min(left, 0.01))
            return
        try:
            answer = self._answers.get(timeout=max(0.0, seconds))
        except Empty:
            return
        self._answers.put(answer)

    def close(self, timeout: float) -> None:
        """Close the producer. Letters that are not acknowledged stay so."""
        producer, self._producer = self._producer, None
        if producer is not None:
            error = clients.close_producer(producer, timeout)
            if error is not None:
                log.warning("the producer of %s did not close cleanly (%s)", self._what, error)

    # -- inside

    def _get_producer(self) -> Producer:
        if self._producer is None:
            self._producer = clients.producer(self._factory())
        return self._producer

    def _attempt(self, sending: Sending) -> None:
        sending.attempt += 1
        sending.sent_at = self._clock()
        attempt = sending.attempt
        self._flying[id(sending)] = sending
        letter = sending.letter
        answers = self._answers
        try:
            future = self._get_producer().send(
                letter.topic,
                value=letter.value,
                key=letter.key,
                headers=letter.headers,
                timestamp_ms=letter.timestamp,
            )
            future.add_callback(lambda _: answers.put(_Answer(sending, attempt)))
            future.add_errback(lambda error: answers.put(_Answer(sending, attempt, error)))
        except Exception as error:
            # send() raises what kafka-python raises, and ValueError or TypeError where a producer of the user's is set
            # up otherwise. None of them means that the letter is written, so all are handled as a failed send.
            self._failed(sending, error, alone=True)

    def _take(self, answer: _Answer, through: list[Sending]) -> None:
        sending = answer.sending
        if sending.done:
            return
        if answer.error is None:
            # An acknowledgement counts whichever attempt it belongs to.
            self._forget(sending)
            sending.done = True
            through.append(sending)
            self._one_by_one = False
            if self._ordered and self._trouble is not None:
                return
            self._pause = self._backoff[0]
            self._failed_tries = 0
            if self._trouble is not None:
                log.warning("%s can be written again after %.1f s", self._what, self.blocked_for)
                self._trouble = None
            self._failing_since = None
            if self._probe is sending:
                self._probe = None
        elif answer.attempt == sending.attempt and id(sending) in self._flying:
            self._failed(sending, answer.error)

    def _forget(self, sending: Sending) -> None:
        if self._flying.pop(id(sending), None) is None:
            try:
                self._waiting.remove(sending)
            except ValueError:
                return
        self._bytes -= sending.size

    def _failed(self, sending: Sending, error: BaseException, *, alone: bool = False) -> None:
        """``alone`` says that the error is this letter's own. A producer that meets a permanent error fails everything
        it has in flight with it; so what failed in company is sent again by itself before it is believed.
        """
        self._flying.pop(id(sending), None)
        if self._probe is sending:
            self._probe = None
            alone = True
        alone = alone or self._one_by_one
        self.counts.errors += 1
        # Not only after permanent errors: a kafka-python producer whose batch expired (its topic was deleted, say) can
        # wait for ever with the next one.
        self._discard_producer()
        too_large = alone and error_kind(error) == "too_large"
        if too_large and self._too_large == "truncate" and sending.cuts < len(TRUNCATED_SIZES):
            sending.letter = truncated(sending.letter, TRUNCATED_SIZES[sending.cuts])
            sending.cuts += 1
            self.counts.truncated += sending.cuts == 1
            if self._trouble is not None:
                self._probe = sending
            self._attempt(sending)
            return
        now = self._clock()
        reason = self._reason(sending, error, too_large=too_large)
        if self._trouble is None:
            # What may only have been in bad company is tried by itself at once.
            pause = 0.0 if error_kind(error) == "too_large" and not too_large else self._next_pause()
            self._trouble = _Trouble(reason, now + pause)
            self._failed_tries += 1
            if self._failing_since is None:
                self._failing_since = now
            log.warning("%s; trying again until it works, nothing is skipped", reason)
        elif now >= self._trouble.retry_at:
            trouble = self._trouble
            trouble.reason = reason
            self._failed_tries += 1
            trouble.retry_at = now + self._next_pause()
        self._trouble.forbidden = error_kind(error) == "forbidden"
        if self._ordered:
            self._bytes -= sending.size
            self._dropped = True
            if error_kind(error) == "too_large":
                self._one_by_one = True
                if too_large:
                    self.refused = (sending.partition.tp, sending.offset)
        else:
            # In the order of the log: what failed first is tried first.
            self._waiting.append(sending)

    def _next_pause(self) -> float:
        pause = self._pause
        self._pause = min(pause * 2, self._backoff[1])
        return pause * random.uniform(0.5, 1.0)

    def _reason(self, sending: Sending, error: BaseException, *, too_large: bool) -> str:
        kind, topic = error_name(error), sending.letter.topic
        if error_kind(error) != "too_large":
            return f"{self._what}: topic {topic} cannot be written ({kind})"
        tp = sending.partition.tp
        which = f"the record {tp.topic}:{tp.partition}:{sending.offset}" if too_large else "a record of those in flight"
        return f"{self._what}: {which} is larger than topic {topic} takes ({kind})"

    def _cancel_orphans(self) -> None:
        """Letters of partitions that are no longer ours: their new owner writes them."""
        if any(not sending.partition.alive for sending in self._waiting):
            kept = deque(sending for sending in self._waiting if sending.partition.alive)
            self.counts.cancelled += len(self._waiting) - len(kept)
            self._waiting = kept
            self._bytes = sum(s.size for s in kept) + sum(s.size for s in self._flying.values())

    def cancel(self, partition: Partition, offset: int) -> None:
        """Send no more what stands for this record: its fate was decided elsewhere."""
        found = [
            sending
            for sending in (*self._flying.values(), *self._waiting)
            if sending.partition is partition and sending.offset == offset
        ]
        for sending in found:
            sending.done = True
            self._forget(sending)
            if self._probe is sending:
                self._probe = None
        self.counts.cancelled += len(found)
        if found and self._trouble is not None:
            # It may have been the only one in the way.
            self._trouble.retry_at = self._clock()

    def _give_up_waiting(self, now: float) -> None:
        for sending in list(self._flying.values()):
            if now - sending.sent_at > self._acknowledge_within:
                self._failed(sending, KafkaTimeoutError("no acknowledgement"))

    def _discard_producer(self) -> None:
        """Give the producer up. What it has in flight is answered through its futures, in a thread of its own."""
        producer, self._producer = self._producer, None
        if producer is None:
            return
        clients.retire_producer(producer, self._acknowledge_within)
