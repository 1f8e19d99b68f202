"""Sending dead letters again: key, value and headers as they were, to a named topic or back to where they came from.

A replayed record carries its original position, timestamp and attempts in our headers, and how often it was replayed;
what said why it failed is gone. So ``record.id`` stays, and a guard that rejects it again writes a dead letter of the
next attempt. It gets the present time: old timestamps are deleted by retention.

A letter is *superseded* when a newer one of the same record and group is there: the newest stands for the record. It
is *parked*, and stays so, when the record was replayed too often, when it cannot be had from its letter (truncated;
neither key nor value, which kafka-python cannot send), or when something else than a guard wrote it. A record is for
the group in which it failed first, whichever guard rejected it since.

At least once: see ``replay_log``. The topic is read twice: once to know the newest letters, once to send. Memory grows
with the number of records that have letters, not with their size.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from protocontract.cli import UsageError
from protocontract.kafka import client
from protocontract.kafka.client import ProducerFactory, TopicPartition
from protocontract.kafka.courier import PAUSES, Courier, Parcel
from protocontract.kafka.letters.dead_letter import (
    ATTEMPT,
    FIRST_FAILED_AT,
    FIRST_GROUP,
    NULL_HEADERS,
    OFFSET,
    PARTITION,
    PLAN,
    REPLAYED,
    REPLAYS,
    TARGET_GROUP,
    TIMESTAMP,
    TIMESTAMP_TYPE,
    TOPIC,
    edits,
    group_header,
    split_headers,
)
from protocontract.kafka.letters.reading import DeadLetter, extent, read
from protocontract.kafka.letters.replay_log import Plan, ReplayLog

log: Final = logging.getLogger("protocontract.kafka")

#: Letters on their way at once, and between two writes of the log.
BATCH: Final = 200

#: Why a letter stays where it is, as the report says it.
PARKED: Final = {
    "max_replays": "replayed as often as allowed",
    "truncated": "the value was too large for its dead letter and is cut off",
    "key": "the key is hashed or left out; see --keys-from-source",
    "skipped": "an operator let the guard skip what could not be read: nothing of it is in the letter",
    "null": "neither key nor value, which the client cannot send",
    "foreign": "not written by a guard",
}


@dataclass(slots=True)
class Report:
    """What a replay did, or would do."""

    plan: Plan
    dry_run: bool
    read: int = 0
    #: Acknowledged by the target (or what would be sent).
    replayed: int = 0
    #: Replayed by this plan or another one before.
    done: int = 0
    superseded: int = 0
    unselected: int = 0
    #: Not sent, because the replay was stopped or the target could not be written.
    left: int = 0
    parked: Counter[str] = field(default_factory=Counter)
    #: Letters that could not be sent, by the error's class.
    failed: Counter[str] = field(default_factory=Counter)
    #: Rules of what was replayed; a letter counts once for each of its rules.
    by_rule: Counter[str] = field(default_factory=Counter)
    #: What kept the replay from going on.
    trouble: str | None = None

    @property
    def complete(self) -> bool:
        """Whether everything that was asked for is on its way."""
        return not self.parked and not self.failed and not self.left and self.trouble is None

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain values, for JSON."""
        return {
            "plan": None if self.dry_run else self.plan.id,
            "dry_run": self.dry_run,
            **self.plan.order(),
            "read": self.read,
            "replayed": self.replayed,
            "already_replayed": self.done,
            "superseded": self.superseded,
            "not_selected": self.unselected,
            "left": self.left,
            "parked": dict(sorted(self.parked.items())),
            "failed": dict(sorted(self.failed.items())),
            "by_rule": dict(self.by_rule.most_common()),
            "trouble": self.trouble,
        }


class _Send(NamedTuple):
    letter: DeadLetter
    parcel: Parcel


class Replay:
    """One run over a dead-letter topic."""

    def __init__(
        self,
        consumer: Any,
        producers: ProducerFactory,
        history: ReplayLog,
        plan: Plan,
        *,
        dry_run: bool = False,
        again: bool = False,
        rate: float | None = None,
        stopping: Callable[[], bool] = lambda: False,
        acknowledge_within: float = 45.0,
        pauses: tuple[float, ...] = PAUSES,
        key_of: Callable[[DeadLetter], tuple[bytes | None] | None] = lambda _: None,
        on_begin: Callable[[], None] = lambda: None,
    ) -> None:
        """``consumer`` reads the dead-letter topic and commits to its group; ``rate`` is in records per second.

        ``again`` replays what another plan has replayed before. ``key_of`` finds the key of a record whose letter has
        not got it, in a tuple; None where it cannot be had. ``on_begin`` is called when the plan is in the log.
        """
        self._consumer = consumer
        self._courier = Courier(producers, stopping=stopping, acknowledge_within=acknowledge_within, pauses=pauses)
        self._history = history
        self._plan = plan
        self._done = history.done(only=plan.id if again else None)
        self._rate = rate
        self._stopping = stopping
        self._key_of = key_of
        self._on_begin = on_begin
        #: Keys that letters have not got, by position.
        self._keys: dict[str, bytes | None] = {}
        self._newest: dict[tuple[str, str, str], tuple[int, int, int, int]] = {}
        #: The first letter of each partition that is not resolved: what may be committed.
        self._unresolved: dict[int, int] = {}
        self._next_batch = 0.0
        #: Parked letters that the log does not have yet.
        self._notes: list[tuple[DeadLetter, str, str]] = []
        self.report: Final = Report(plan, dry_run)

    def run(self) -> Report:
        """Do it. Raises UsageError for what should be said differently, GuardError where nothing could be begun."""
        plan, report = self._plan, self.report
        starts = extent(self._consumer, plan.topic).starts
        topics, groups = self._survey(starts)
        self._check(topics, groups)
        try:
            if not report.dry_run:
                self._courier.open(topics if plan.target is None else [plan.target])
                if self._history.find(plan.id) is None:
                    self._history.begin(plan)
                self._on_begin()
            batch: list[_Send] = []
            size = BATCH if self._rate is None else max(1, min(BATCH, int(self._rate / 2)))
            for letter in self._to_replay(starts):
                if report.dry_run:
                    self._count(letter)
                    continue
                batch.append(self._addressed(letter))
                if len(batch) >= size:
                    self._deliver(batch)
                    batch = []
            self._deliver(batch)
            if not report.dry_run:
                self._commit()
        finally:
            self._courier.close()
        return report

    # -- before anything is sent

    def _survey(self, starts: dict[int, int]) -> tuple[set[str], set[str]]:
        """Learn the newest letter of each record. Returns topics and groups of the letters that are asked for."""
        topics: set[str] = set()
        groups: set[str] = set()
        for letter in read(self._consumer, self._plan.topic, starts, self._plan.ends):
            failure, age = letter.failure, letter.age
            known = self._newest.get(failure.of_record)
            if known is None or age > known:
                self._newest[failure.of_record] = age
            if not letter.foreign and failure not in self._done and self._plan.selection.matches(letter):
                topics.add(letter.origin.topic)
                groups.add(letter.first_group)
        return topics, groups

    def _check(self, topics: set[str], groups: set[str]) -> None:
        target = self._plan.target
        if target is None:
            if self._plan.topic in topics and not self.report.dry_run:
                raise UsageError(f"letters of {self._plan.topic} came from that very topic; name another with --to")
            return
        if target in topics:
            raise UsageError(
                f"{target} is where these records came from, and other groups may read it too; "
                "type --to-source if that is meant"
            )
        if len(groups) > 1:
            raise UsageError(
                f"these letters are of {len(groups)} groups, and a record may be among them more than "
                f"once; choose one with --group: {', '.join(sorted(groups)[:8])}"
            )

    def _to_replay(self, starts: dict[int, int]) -> Iterator[DeadLetter]:
        """The letters to be sent. Every other one is counted for what it is."""
        plan, report = self._plan, self.report
        for letter in read(self._consumer, plan.topic, starts, plan.ends):
            report.read += 1
            failure, age = letter.failure, letter.age
            if self._newest.get(failure.of_record, age) > age:
                report.superseded += 1
            elif failure in self._done:
                report.done += 1
            elif not plan.selection.matches(letter):
                report.unselected += 1
                self._stays(letter)
            elif (reason := self._parked(letter)) is not None:
                report.parked[reason] += 1
                self._notes.append((letter, "parked", reason))
            elif self._stopping() or report.trouble is not None:
                report.left += 1
                self._stays(letter)
            else:
                yield letter

    def _parked(self, letter: DeadLetter) -> str | None:
        if letter.foreign:
            return "foreign"
        if letter.unread:
            return "skipped"
        if letter.truncated:
            return "truncated"
        if letter.key_form:
            key = self._key_of(letter)
            if key is None:
                return "key"
            self._keys[letter.position] = key[0]
        if letter.null or (letter.raw.key is None and letter.raw.value is None and not letter.key_form):
            return "null"
        return "max_replays" if letter.replays >= self._plan.max_replays else None

    # -- sending

    def _addressed(self, letter: DeadLetter) -> _Send:
        plan, raw = self._plan, letter.raw
        topic, partition, group = destination(letter, plan.target, plan.target_group, self._courier.partitions)
        headers = replayed_headers(letter, plan.id, group)
        key = self._keys.pop(letter.position) if letter.key_form else raw.key
        return _Send(letter, Parcel(topic, key, raw.value, headers, partition))

    def _deliver(self, batch: list[_Send]) -> None:
        """Send, and note what is acknowledged."""
        if not batch:
            self._note([])
            return
        self._pace(len(batch))
        through: list[tuple[DeadLetter, str, str]] = []
        answers = self._courier.deliver([sending.parcel for sending in batch])
        for (letter, _), answer in zip(batch, answers, strict=True):
            if isinstance(answer, BaseException):
                self.report.failed[type(answer).__name__] += 1
                self._stays(letter)
                continue
            through.append((letter, "replayed", f"{answer.topic}:{answer.partition}:{answer.offset}"))
            self._count(letter)
        self.report.trouble = self._courier.trouble
        self._note(through)

    def _note(self, through: list[tuple[DeadLetter, str, str]]) -> None:
        notes, self._notes = self._notes, []
        if not self.report.dry_run:
            self._history.note(self._plan, notes + through)

    def _pace(self, count: int) -> None:
        if self._rate is None:
            return
        while (left := self._next_batch - time.monotonic()) > 0 and not self._stopping():
            time.sleep(min(left, 0.2))
        self._next_batch = max(time.monotonic(), self._next_batch) + count / self._rate

    def _count(self, letter: DeadLetter) -> None:
        self.report.replayed += 1
        self.report.by_rule.update(letter.rule_ids)

    # -- what is resolved

    def _stays(self, letter: DeadLetter) -> None:
        number, offset = letter.raw.partition, letter.raw.offset
        self._unresolved[number] = min(offset, self._unresolved.get(number, offset))

    def _commit(self) -> None:
        """Commit, for whoever watches lags, how far everything is resolved. Nothing is read back from it."""
        try:
            offsets: dict[TopicPartition, Any] = {}
            for number, end in self._plan.ends.items():
                tp, mark = TopicPartition(self._plan.topic, number), self._unresolved.get(number, end)
                if mark > (self._consumer.committed(tp) or 0):
                    offsets[tp] = client.offset_to_commit(mark)
            if offsets:
                self._consumer.commit(offsets)
        except client.errors.KafkaError as error:
            log.warning(
                "the offsets of %s could not be committed (%s); the log of the plan is what counts",
                self._plan.topic,
                type(error).__name__,
            )


def destination(
    letter: DeadLetter, target: str | None, target_group: str | None, partitions: Mapping[str, Collection[int]]
) -> tuple[str, int | None, str | None]:
    """Topic, partition and group that a letter goes to: ``target``, or back to where it came from.

    ``partitions``: those of the topics that are written to.
    """
    if target is not None:
        return target, None, target_group
    origin = letter.origin
    # To the partition that it came from: the source's producer may have partitioned in its own way.
    partition = origin.partition if origin.partition in partitions.get(origin.topic, ()) else None
    return origin.topic, partition, target_group if target_group is not None else letter.first_group or None


def replayed_headers(letter: DeadLetter, plan_id: str, target_group: str | None) -> list[tuple[str, bytes]]:
    """The headers of a replayed record: the source's own as they were, then where it was and how often it came.

    Null headers stay ``b""`` with their places listed: kafka-python cannot send nulls.
    """
    before, kept, nulls = split_headers(letter.raw.headers)
    stay = (TOPIC, PARTITION, OFFSET, TIMESTAMP, TIMESTAMP_TYPE, ATTEMPT, FIRST_FAILED_AT)
    ours = [(name, before[name]) for name in stay if name in before]
    if letter.first_group:
        ours.append((FIRST_GROUP, group_header(letter.first_group)))
    ours += [(REPLAYS, b"%d" % (letter.replays + 1)), (REPLAYED, b"true"), (PLAN, plan_id.encode())]
    if target_group is not None:
        ours.append((TARGET_GROUP, group_header(target_group)))
    ours += edits(before)
    if nulls:
        ours.append((NULL_HEADERS, ",".join(map(str, nulls)).encode()))
    return kept + ours
