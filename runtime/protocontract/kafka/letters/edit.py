"""Sending one dead letter again in another form: finding it, judging what it became, sending it, noting who and why.

It is sent as a replay sends it, with its original position; besides, headers say who changed it, when, why and in which
fields. They stay with the record: in the sink, and in the letter that is written if it fails again. The log of replays
knows it as resolved.
"""

from __future__ import annotations

import hashlib
import logging
import re
import time
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final

from protocontract.cli import UsageError
from protocontract.contract import Contract, Outcome
from protocontract.kafka import client
from protocontract.kafka.client import ProducerFactory
from protocontract.kafka.courier import Courier, Parcel
from protocontract.kafka.errors import GuardError
from protocontract.kafka.judge import Judge
from protocontract.kafka.letters.dead_letter import (
    EDIT_REASON,
    EDITED,
    EDITED_AT,
    EDITED_BY,
    EDITED_FIELDS,
    MAX_REASON,
    bounded,
    joined,
    moment_header,
)
from protocontract.kafka.letters.editing import Difference, differences
from protocontract.kafka.letters.reading import DeadLetter, Failure, Restored, extent, read
from protocontract.kafka.letters.replay import destination, replayed_headers
from protocontract.kafka.letters.replay_log import ReplayLog
from protocontract.violations import Violation

log: Final = logging.getLogger("protocontract.kafka")

_WHERE: Final = re.compile(r"(?:([a-zA-Z0-9._-]{1,249}):)?([0-9]{1,9}):([0-9]{1,18})")


def find(consumer: Any, topic: str, where: str, group: str | None = None) -> DeadLetter:
    """The letter at ``0:17`` of a dead-letter topic, or the newest of the record ``payments:0:5``.

    group: which one's, where several groups have letters of that record. Raises UsageError where it is not there or not
    the newest of its record, SourceError where the topic cannot be read.
    """
    place = _WHERE.fullmatch(where)
    if place is None:
        raise UsageError(
            f"`{where}` is no letter; expected PARTITION:OFFSET of it, or TOPIC:PARTITION:OFFSET of its record"
        )
    whole = extent(consumer, topic)
    newest: dict[tuple[str, str, str], DeadLetter] = {}
    wanted: DeadLetter | None = None
    if place[1] is None:
        number, offset = int(place[2]), int(place[3])
        if whole.starts.get(number, offset + 1) <= offset < whole.ends.get(number, 0):
            wanted = next(read(consumer, topic, {number: offset}, {number: offset + 1}), None)
        if wanted is None:
            raise UsageError(f"{topic} has no letter at {where}")
        if wanted.foreign:
            raise UsageError(f"the letter at {where} was not written by a guard: nothing says what it is about")
    for letter in read(consumer, topic, whole.starts, whole.ends):
        of_record = letter.failure.of_record
        if str(letter.origin) != where if wanted is None else of_record != wanted.failure.of_record:
            continue
        if letter.foreign or (group is not None and letter.first_group != group):
            continue
        if of_record not in newest or letter.age > newest[of_record].age:
            newest[of_record] = letter
    if not newest:
        raise UsageError(f"{topic} has no letter of the record {where}" + (f" and group {group}" if group else ""))
    if len(newest) > 1:
        groups = ", ".join(sorted(letter.first_group for letter in newest.values()))
        raise UsageError(f"{where} has letters of several groups; choose one with --group: {groups}")
    (found,) = newest.values()
    if wanted is not None and found.age > wanted.age:
        raise UsageError(f"the letter at {where} is superseded; the newest of its record is at {found.position}")
    return found


@dataclass(frozen=True, slots=True)
class Change:
    """A letter's record, and what it is to become."""

    letter: DeadLetter
    contract: Contract[Any]
    #: The record as it was, and as it is to be sent.
    before: Restored
    after: Restored
    differences: list[Difference]
    outcome: Outcome[Any]
    #: What the contract says of it now; empty where it is kept (warnings aside).
    violations: list[Violation]

    @property
    def touched(self) -> bool:
        """Whether anything is changed."""
        return (self.before.key, self.before.value) != (self.after.key, self.after.value)

    @property
    def accepted(self) -> bool:
        """Whether the contract takes what it becomes."""
        return self.outcome.ok and not self.violations

    @property
    def fields(self) -> list[str]:
        """What was changed, without keys of maps: field paths, ``(key)``, and ``(value)`` for bytes as a whole."""
        found = [each.redacted_path for each in self.differences]
        if not found and self.before.value != self.after.value:
            found.append("(value)")
        if self.before.key != self.after.key:
            found.append("(key)")
        return found


def settle(consumer: Any, topic: str, partition: int, done: Collection[Failure]) -> None:
    """Move the offset of the replays' group over the letters that are done, for whoever watches what is unresolved.

    ``consumer`` is of that group. What cannot be committed is committed by the next replay.
    """
    tp = client.TopicPartition(topic, partition)
    try:
        whole = extent(consumer, topic)
        start = max(whole.starts[partition], consumer.committed(tp) or 0)
        mark = start
        for letter in read(consumer, topic, {partition: start}, {partition: whole.ends[partition]}):
            if letter.failure not in done:
                mark = letter.raw.offset
                break
            mark = letter.raw.offset + 1
        if mark > start:
            consumer.commit({tp: client.offset_to_commit(mark)})
    except (GuardError, client.errors.KafkaError) as error:
        log.warning("the offsets of %s could not be committed (%s)", topic, type(error).__name__)


def change(letter: DeadLetter, judge: Judge, before: Any, after: Any, value: bytes | None, key: bytes | None) -> Change:
    """Judge what a letter's record is to become. ``before`` and ``after`` are its messages, where there are such."""
    was = letter.restored()
    record = was._replace(value=value, key=key)
    topic_judge = judge.for_topic(record.topic)
    outcome, own = topic_judge(record)
    sensitive = topic_judge.contract.sensitive
    return Change(
        letter,
        topic_judge.contract,
        was,
        record,
        [] if before is None or after is None else differences(before, after, sensitive),
        outcome,
        ([] if outcome.ok else list(outcome.violations)) + ([] if own is None else [own]),
    )


def send(
    wanted: Change,
    producers: ProducerFactory,
    history: ReplayLog,
    edit_id: str,
    *,
    target: str | None,
    target_group: str | None,
    by: str,
    reason: str,
) -> str:
    """Send a changed record and note it. ``target`` None: back to where it came from. Returns where it lies now.

    Raises GuardError where it cannot be written; nothing is resolved then.
    """
    letter, after = wanted.letter, wanted.after
    now = time.time()
    courier = Courier(producers)
    try:
        courier.open([target or letter.origin.topic])
        topic, partition, group = destination(letter, target, target_group, courier.partitions)
        headers = [pair for pair in replayed_headers(letter, edit_id, group) if pair[0] not in EDITED]
        headers += [
            (EDITED_BY, bounded(by)),
            (EDITED_AT, moment_header(now)),
            (EDITED_FIELDS, joined(wanted.fields)),
            (EDIT_REASON, bounded(reason, MAX_REASON)),
        ]
        audit = {
            "edit": edit_id,
            "record": str(letter.origin),
            "by": by,
            "at": moment_header(now).decode(),
            "reason": reason,
            "fields": wanted.fields,
            "target": topic,
            "sha256_before": _digest(wanted.before.value),
            "sha256_after": _digest(after.value),
        }
        # Two lines: whoever finds the first one alone knows that the record may have been sent.
        history.note_edit(letter, "sending", audit)
        (answer,) = courier.deliver([Parcel(topic, after.key, after.value, headers, partition)])
        if isinstance(answer, BaseException):
            raise GuardError(f"topic {topic} did not take the record ({type(answer).__name__}); nothing is resolved")
        sent = f"{answer.topic}:{answer.partition}:{answer.offset}"
        history.note_edit(letter, "edited", {**audit, "sent": sent})
        return sent
    finally:
        courier.close()


def _digest(value: bytes | None) -> str | None:
    return None if value is None else hashlib.sha256(value).hexdigest()
