"""When the world misbehaves: dead letters that cannot be written, rebalances, evictions, gaps, failing polls."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from protocontract.kafka import DeadLetterError, SourceError
from protocontract.kafka.client import TopicPartition, errors
from protocontract.kafka.memory import SendFault
from tests.kafka.support import (
    BAD,
    DEAD,
    GARBAGE,
    TOPIC,
    committed,
    dead_headers,
    drain,
    good,
    new_guard,
    new_log,
    stopped,
)

P0 = TopicPartition(TOPIC, 0)


def offsets(records: list[Any]) -> list[int]:
    return [record.offset for record in records]


def take_all(guard: Any, seen: list[int]) -> None:
    """Iterate, and note what came before an error."""
    with guard:
        for record in guard:
            seen.append(record.offset)  # noqa: PERF401 - what was seen counts when the loop raises


class Faults:
    """The first ``times`` sends end in ``fault``."""

    def __init__(self, times: int, kind: Any, error: BaseException | None = None) -> None:
        self.left = times
        self.fault = SendFault(kind, error)
        self.sends = 0

    def __call__(self, topic: str, value: bytes | None) -> SendFault | None:
        self.sends += 1
        if self.left <= 0:
            return None
        self.left -= 1
        return self.fault


@pytest.mark.parametrize("kind", ["raise", "fail", "lost_answer"])
@pytest.mark.parametrize("error", [errors.KafkaTimeoutError("x"), errors.TopicAuthorizationFailedError("x")])
def test_a_failed_dead_letter_is_sent_again(kind: Any, error: BaseException) -> None:
    log = new_log()
    for number in range(6):
        log.append(TOPIC, GARBAGE if number == 2 else good(number))
    log.on_send = Faults(3, kind, error)
    guard = new_guard(log)
    assert offsets(drain(guard)) == [0, 1, 3, 4, 5]
    assert committed(log) == 6
    assert guard.stats.dead_lettered == 1
    assert guard.stats.send_errors == 3
    # A send whose answer was lost is in the log already: at least once, with the same position.
    positions = {dead_headers(record)["protocontract.offset"] for record in log.records(DEAD)}
    assert positions == {b"2"}


def test_while_dead_letters_fail_nothing_is_delivered_or_committed_past_them() -> None:
    log = new_log()
    for number in range(6):
        log.append(TOPIC, GARBAGE if number == 2 else good(number))
    log.on_send = Faults(10**9, "fail")
    seen: list[int] = []
    guard = new_guard(log, give_up_after=0.2)
    with pytest.raises(DeadLetterError, match=r"payments\.dead"):
        take_all(guard, seen)
    assert seen == [0, 1]
    assert committed(log) == 2
    assert guard.unacknowledged == 1
    assert guard.blocked is not None
    assert "payments.dead" in guard.blocked
    assert guard.stats.dead_lettered == 0
    log.on_send = None
    assert offsets(drain(new_guard(log))) == [3, 4, 5]
    assert committed(log) == 6


def test_missing_rights_are_an_error_after_a_few_tries() -> None:
    log = new_log()
    log.append(TOPIC, GARBAGE)
    log.on_send = Faults(10**9, "fail", errors.TopicAuthorizationFailedError({DEAD}))
    with pytest.raises(DeadLetterError, match="grant the right"):
        drain(new_guard(log))
    assert committed(log) is None


def test_a_poisoned_producer_is_replaced() -> None:
    log = new_log()
    log.append(TOPIC, GARBAGE)
    log.append(TOPIC, BAD)
    built = []

    def factory() -> Any:
        built.append(log.producer())
        return built[-1]

    log.on_send = Faults(1, "fail", errors.InvalidTimestampError())
    drain(new_guard(log, dead_letters=factory))
    assert len(built) == 2
    assert len(log.records(DEAD)) == 2


def test_a_factory_that_fails_is_tried_again() -> None:
    log = new_log()
    log.append(TOPIC, GARBAGE)
    calls = 0

    def factory() -> Any:
        nonlocal calls
        calls += 1
        if calls in (2, 3):
            raise errors.KafkaConnectionError("no broker")
        return log.producer()

    log.on_send = Faults(1, "fail", errors.InvalidTimestampError())
    guard = new_guard(log, dead_letters=factory)
    drain(guard)
    assert calls == 4
    assert len(log.records(DEAD)) == 1


def test_acknowledgements_out_of_order_hold_the_commit() -> None:
    log = new_log()
    for number in range(10, 13):
        log.append(TOPIC, good(number) if number == 11 else GARBAGE)
    held = Faults(1, "hold")
    log.on_send = held
    with new_guard(log, stop_at_end=False) as guard:
        guard._consumer.on_idle = guard.stop  # type: ignore[attr-defined]
        assert offsets(list(guard)) == [1]
        assert committed(log) in (None, 0)
        log.release()
    assert committed(log) == 3


def test_a_dead_letter_without_answer_is_not_committed() -> None:
    log = new_log()
    log.append(TOPIC, GARBAGE)
    log.on_send = Faults(1, "hold")
    with new_guard(log, stop_at_end=False, grace=0.05) as guard:
        guard._consumer.on_idle = guard.stop  # type: ignore[attr-defined]
        assert list(guard) == []
    assert guard.unacknowledged == 1
    assert committed(log) is None


def test_too_large_blocks_or_is_cut() -> None:
    log = new_log()
    log.create_topic(DEAD, max_message_bytes=1024 * 1024)
    value = b"\x00" * (2 * 1024 * 1024)
    log.append(TOPIC, value)
    log.append(TOPIC, good(1))
    with pytest.raises(DeadLetterError, match=r"payments:0:0 is larger than topic payments\.dead"):
        drain(new_guard(log, give_up_after=0.05))
    assert committed(log) is None
    guard = new_guard(log, too_large="truncate")
    assert offsets(drain(guard)) == [1]
    assert committed(log) == 2
    (dead,) = log.records(DEAD)
    headers = dead_headers(dead)
    assert dead.value == value[: 512 * 1024]
    assert headers["protocontract.truncated"] == b"true"
    assert headers["protocontract.original_size"] == str(len(value)).encode()
    assert len(headers["protocontract.sha256"]) == 64
    assert guard.stats.truncated == 1


def test_a_64_mib_record_of_garbage() -> None:
    log = new_log()
    value = b"\x08" + b"\xff" * (64 * 1024 * 1024)
    log.append(TOPIC, value)
    drain(new_guard(log))
    assert log.records(DEAD)[0].value == value


# -- the group


def test_what_was_fetched_is_not_skipped_when_a_partition_comes_back() -> None:
    log = new_log()
    for number in range(50):
        log.append(TOPIC, good(number))
    with stopped(new_guard(log, commit_every=1e9)) as records:
        taken = [next(records) for _ in range(20)]
        guard = taken[0]._guard
        log.rebalance("group")
        for _ in range(2):
            guard._source.keep_alive()
        taken += list(records)
    assert offsets(taken) == list(range(50))
    assert committed(log) == 50
    assert guard.stats.revocations >= 1


def test_a_partition_that_was_paused_when_it_was_taken_is_read_again_when_it_comes_back() -> None:
    log = new_log()
    for number in range(50):
        log.append(TOPIC, good(number))
    consumer = log.consumer(TOPIC)
    guard = new_guard(log, consumer)
    with stopped(guard) as records:
        taken = [next(records) for _ in range(20)]
        rival = log.consumer("elsewhere")
        log._group("group").add(rival)
        guard._source.keep_alive()  # paused, revoked, and not yet given back: the rival has not joined
        assert guard.assignment == set()
        log._group("group").remove(rival)
        taken += list(records)
    assert offsets(taken) == list(range(50))


def test_a_second_member_takes_over_without_loss() -> None:
    log = new_log(2)
    for number in range(40):
        log.append(TOPIC, good(number), partition=number % 2)
    first = new_guard(log, log.consumer(TOPIC), stop_at_end=False)
    second = new_guard(log, log.consumer(TOPIC), stop_at_end=False)
    seen: list[tuple[str, int, int]] = []
    with first, second:
        ones, twos = iter(first), iter(second)
        for _ in range(10):
            record = next(ones)
            seen.append(("first", record.partition, record.offset))
        # The second joins: the first learns of it in its next poll.
        second._source.poll(100, hold=True)
        for guard in (first, second, first, second):
            guard._source.keep_alive()
        assert len(first.assignment) == len(second.assignment) == 1
        first._consumer.on_idle = first.stop  # type: ignore[attr-defined]
        second._consumer.on_idle = second.stop  # type: ignore[attr-defined]
        seen += [("first", record.partition, record.offset) for record in ones]
        seen += [("second", record.partition, record.offset) for record in twos]
    unique = {(partition, offset) for _, partition, offset in seen}
    assert len(unique) == 40
    # The record in the first's hand at the rebalance was not finished.
    assert len(seen) - len(unique) <= 1
    assert {committed(log, 0), committed(log, 1)} == {20}


def test_a_generation_that_was_missed_means_starting_at_the_committed_offset() -> None:
    log = new_log(2)
    for number in range(40):
        log.append(TOPIC, good(number), partition=number % 2)
    first = new_guard(log, log.consumer(TOPIC), stop_at_end=False, commit_every=1e9)
    second = new_guard(log, log.consumer(TOPIC), stop_at_end=False, commit_every=1e9)
    with first, second:
        second._source.poll(100, hold=True)
        for guard in (first, second, first, second):
            guard._source.keep_alive()
        ones = iter(first)
        taken = [next(ones) for _ in range(5)]
        mine = taken[0].partition
        log.rebalance("group")
        first._source.keep_alive()  # gives up its partition and joins
        second._source.keep_alive()  # joins: the new generation begins, the first does not know yet
        log.rebalance("group")
        second._source.keep_alive()
        first._source.keep_alive()  # gets its partition in a generation that is two further
        second._source.keep_alive()
        assert first.assignment == {(TOPIC, mine)}
        first._consumer.on_idle = first.stop  # type: ignore[attr-defined]
        taken += list(ones)
    # The record in hand was not committed: it comes again, and everything after it.
    assert offsets(taken)[:5] == [0, 1, 2, 3, 4]
    assert offsets(taken)[5:] == list(range(4, 20))


@pytest.mark.parametrize("noticed", [True, False])
def test_an_evicted_member_handles_and_commits_nothing_more(noticed: bool) -> None:
    log = new_log()
    for number in range(20):
        log.append(TOPIC, good(number))
    first = new_guard(log, log.consumer(TOPIC), stop_at_end=False, commit_every=0.0)
    with first:
        ones = iter(first)
        taken = [next(ones) for _ in range(5)]
        log.evict(first._consumer, noticed=noticed)  # type: ignore[arg-type]
        assert drain(new_guard(log, log.consumer(TOPIC)))[-1].offset == 19
        before = list(log.commits)
        first._consumer.on_idle = first.stop  # type: ignore[attr-defined]
        rest = list(ones)
        assert [commit for commit in log.commits if commit[2] < 20] == [c for c in before if c[2] < 20]
        if noticed:
            assert rest == []
    assert taken[0].offset == 0
    assert committed(log) == 20
    assert first.stats.losses >= 1


def test_a_member_that_was_stopped_asks_the_group_before_it_goes_on() -> None:
    log = new_log()
    for number in range(20):
        log.append(TOPIC, good(number))
    first = new_guard(log, log.consumer(TOPIC), stop_at_end=False, commit_every=1e9)
    with first:
        ones = iter(first)
        for _ in range(5):
            next(ones)
        log.evict(first._consumer, noticed=False)  # type: ignore[arg-type]
        assert len(drain(new_guard(log, log.consumer(TOPIC)))) == 20
        # By its clock, it was to look after its membership long ago. Its client has noticed nothing.
        first._due = -1e9
        first._consumer.on_idle = first.stop  # type: ignore[attr-defined]
        assert list(ones) == []
    assert committed(log) == 20


@pytest.mark.parametrize("taken", [10, 4])
def test_a_log_that_was_cut_off_is_read_from_there(taken: int) -> None:
    log = new_log()
    for number in range(10):
        log.append(TOPIC, good(number))
    consumer = log.consumer(TOPIC)
    guard = new_guard(log, consumer, stop_at_end=False)
    with guard:
        records = iter(guard)
        seen = [next(records).offset for _ in range(taken)]
        # A leader that had five of the ten is elected, and eight are written to it. The client finds out where the
        # logs part, and goes there; what the guard has in its buffer was cut off.
        (partition,) = log._topics[TOPIC].partitions
        del partition.records[5:]
        partition.end = 5
        for number in range(8):
            log.append(TOPIC, GARBAGE if number == 3 else good(100 + number))
        partition.records[5:] = [record._replace(leader_epoch=1) for record in partition.records[5:]]
        consumer.seek(TopicPartition(TOPIC, 0), 5)
        if taken == 4:
            guard._source.poll(100)
        consumer.on_idle = guard.stop
        seen += [record.offset for record in records]
    # What was not resolved of the part that is still there comes again: the record in hand.
    again = [] if taken == 10 else [3, 4]
    assert seen == [*range(taken), *again, *(number for number in range(5, 13) if number != 8)]
    assert (committed(log), guard.stats.truncated_logs) == (13, 1)
    assert [dead_headers(dead)["protocontract.offset"] for dead in log.records(DEAD)] == [b"8"]


def test_dead_letters_are_not_tried_again_for_a_partition_that_was_lost() -> None:
    log = new_log()
    log.append(TOPIC, GARBAGE)
    log.append(TOPIC, good(1))
    faults = Faults(10**9, "fail")
    log.on_send = faults
    guard = new_guard(log, stop_at_end=False)
    with guard:
        source = guard._source
        source.poll(100)
        partition = source.ready()
        assert partition is not None
        assert list(guard._take_from(partition)) == []
        guard._settle()
        assert guard.blocked is not None
        log.evict(guard._consumer)  # type: ignore[arg-type]
        faults.left = 0
        sends = faults.sends
        guard._settle()
        assert faults.sends == sends
        assert guard.unacknowledged == 0
    assert not log.records(DEAD)


def test_the_users_listener_is_called_too() -> None:
    log = new_log()
    log.append(TOPIC, good(1))
    calls: list[str] = []

    class Listener:
        def on_partitions_revoked(self, revoked: Any) -> None:
            calls.append("revoked")

        def on_partitions_assigned(self, assigned: Any) -> None:
            calls.append("assigned")

    drain(new_guard(log, listener=Listener()))
    assert calls[-2:] == ["assigned", "revoked"]


def test_a_failed_commit_is_sent_again() -> None:
    log = new_log()
    consumer = log.consumer(TOPIC)
    for number in range(5):
        log.append(TOPIC, good(number))
    consumer.fail_commits = [errors.RequestTimedOutError()] * 2
    guard = new_guard(log, consumer, stop_at_end=False)
    idle: list[int | None] = []

    def note() -> None:
        idle.append(committed(log))
        if len(idle) == 4:
            guard.stop()

    consumer.on_idle = note
    drain(guard)
    assert idle == [None, None, 5, 5]
    assert guard.stats.commit_errors == 2


def test_commits_never_go_back() -> None:
    log = new_log(3)
    for number in range(200):
        log.append(TOPIC, GARBAGE if number % 7 == 0 else good(number), partition=number % 3)
    log.on_send = Faults(5, "fail")
    drain(new_guard(log, commit_every=0.0))
    for partition in range(3):
        mine = [offset for _, tp, offset in log.commits if tp.partition == partition]
        assert mine == sorted(mine)
        assert mine[-1] == log.end(TopicPartition(TOPIC, partition))


# -- the log


def test_gaps_and_markers() -> None:
    log = new_log()
    for number in range(10):
        log.append(TOPIC, good(number))
    log.compact(P0, [0, 3, 6, 7, 8])
    log.append_marker(TOPIC)
    assert offsets(drain(new_guard(log))) == [1, 2, 4, 5, 9]
    assert committed(log) == 11


def test_a_gap_is_reported_when_none_is_allowed() -> None:
    log = new_log()
    for number in range(10):
        log.append(TOPIC, good(number))
    drain(new_guard(log))
    log.append(TOPIC, good(10))
    log.trim(P0, 11)
    log.append(TOPIC, good(11))
    with pytest.raises(SourceError, match="records are missing"):
        drain(new_guard(log, log.consumer(TOPIC, auto_offset_reset="none")))
    assert committed(log) == 10


@pytest.mark.parametrize(
    "error",
    [
        errors.CorruptRecordError(),
        errors.UnsupportedCodecError(),
        UnicodeDecodeError("utf-8", b"secret\xff", 6, 7, "invalid start byte"),
    ],
)
def test_what_cannot_be_decoded_stops_the_guard_once(error: BaseException, caplog: Any) -> None:
    log = new_log()
    log.append(TOPIC, good(1))
    log.append(TOPIC, good(2))
    consumer = log.consumer(TOPIC)
    guard = new_guard(log, consumer, stop_at_end=False)
    with caplog.at_level(logging.DEBUG), guard:
        records = iter(guard)
        next(records)
        next(records)
        consumer.fail_poll = error
        with pytest.raises(SourceError, match="payments:0 next 2") as caught:
            next(records)
        with pytest.raises(SourceError):
            list(guard)
    assert committed(log) == 2
    assert "secret" not in str(caught.value) + caplog.text


def test_a_temporary_error_of_a_poll_is_waited_out() -> None:
    log = new_log()
    log.append(TOPIC, good(1))
    consumer = log.consumer(TOPIC)
    consumer.fail_poll = errors.NodeNotReadyError("x")
    guard = new_guard(log, consumer)
    assert len(drain(guard)) == 1
    assert guard.stats.poll_errors == 1


# -- replays


def test_a_replayed_dead_letter_keeps_where_it_came_from() -> None:
    log = new_log()
    log.append(TOPIC, good(1))
    log.append(TOPIC, GARBAGE, key=b"k", headers=[("a", None), ("b", b"x")], timestamp_ms=1234)
    sizes = []
    for attempt in range(1, 11):
        drain(new_guard(log))
        dead = log.records(DEAD)[-1]
        headers = dead_headers(dead)
        names = [name for name, _ in dead.headers]
        assert len(names) == len(set(names))
        assert headers["protocontract.attempt"] == str(attempt).encode()
        assert headers["protocontract.offset"] == b"1"
        assert headers["protocontract.timestamp"] == b"1234"
        assert headers["protocontract.null_headers"] == b"0"
        assert dead.key == b"k"
        sizes.append(sum(len(name) + len(value or b"") for name, value in dead.headers))
        log.append(TOPIC, GARBAGE, key=b"k", headers=dead.headers)
    firsts = {dead_headers(dead)["protocontract.first_failed_at"] for dead in log.records(DEAD)}
    assert len(firsts) == 1
    assert max(sizes) - sizes[0] <= 2


def test_a_replayed_record_keeps_its_id() -> None:
    log = new_log()
    log.append(TOPIC, good(1))
    log.append(TOPIC, GARBAGE)
    drain(new_guard(log))
    log.append(TOPIC, good(2), headers=log.records(DEAD)[0].headers)
    (record,) = drain(new_guard(log))
    assert str(record.id) == "payments:0:1"
    assert record.offset == 2


# -- privacy


def test_no_value_in_headers_logs_or_errors(caplog: Any) -> None:
    log = new_log()
    secret = good(7, note="4711-secret-account").replace(b"p7", b"\xff7")
    log.append(TOPIC, secret, key=b"personal")
    log.on_send = Faults(2, "fail")
    with caplog.at_level(logging.DEBUG):
        drain(new_guard(log))
    headers = b"".join(value or b"" for _, value in log.records(DEAD)[0].headers)
    assert b"4711" not in headers
    assert b"personal" not in headers
    assert "4711" not in caplog.text
