"""The grace period: what is tried until when, and what is left of it."""

from __future__ import annotations

from protocontract.kafka.client import TopicPartition
from protocontract.kafka.letters.dead_letter import Letter
from protocontract.kafka.memory import SendFault
from protocontract.kafka.outbox import Outbox, Sending
from protocontract.kafka.partition import Partition
from protocontract.kafka.stats import PartitionStats
from tests.kafka.support import DEAD, TOPIC, good, new_guard, new_log, stopped


def test_nothing_is_tried_again_when_the_time_is_over() -> None:
    log = new_log()
    log.on_send = lambda topic, value: SendFault("fail")
    times = [0.0]
    outbox = Outbox(log.producer, "dead letters", backoff=(1.0, 1.0), clock=lambda: times[-1])
    letter = Letter(DEAD, b"k", b"v", [], None)
    outbox.send(Sending(letter, Partition(TopicPartition(TOPIC, 0), PartitionStats()), 0, "dead_lettered"))
    for time in (0.5, 2.0, 4.0):
        times.append(time)
        outbox.settle()
    tries = outbox.counts.errors
    assert tries > 1
    outbox.last_try = 5.0
    for time in (6.0, 8.0, 10.0):
        times.append(time)
        assert outbox.settle() == []
    assert (outbox.counts.errors, outbox.pending) == (tries, 1)


def test_the_grace_period_begins_when_the_guard_is_stopped() -> None:
    log = new_log()
    log.append(TOPIC, good(1))
    guard = new_guard(log, grace=100.0)
    with stopped(guard) as records:
        next(records)
        guard.stop()
        guard._stopped_at = (guard._stopped_at or 0.0) - 60.0
    assert guard.grace_left < 41.0
    guard = new_guard(log, grace=100.0)
    with stopped(guard):
        guard.stop()
        guard._stopped_at = (guard._stopped_at or 0.0) - 1_000.0
    # What the handler in hand used up is not the guard's: there is time for the last commit.
    assert 1.0 <= guard.grace_left <= 2.0
