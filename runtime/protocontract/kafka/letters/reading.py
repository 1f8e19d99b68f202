"""Reading dead letters: what their headers say, which of them are asked for, and the topic up to its present end.

A dead letter that something else than a guard wrote is *foreign*: it has no provenance that could be trusted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import zip_longest
from typing import Any, Final, NamedTuple

from protocontract.kafka import client
from protocontract.kafka.client import UNBOUNDED, Fetched, TopicPartition
from protocontract.kafka.errors import SourceError
from protocontract.kafka.letters.dead_letter import (
    ATTEMPT,
    CLIENT,
    CONTRACT,
    EDITED,
    ERROR_CLASS,
    ERROR_CODES,
    FIELD_PATHS,
    FINGERPRINT,
    FIRST_FAILED_AT,
    FIRST_GROUP,
    GROUP,
    KEY,
    NULL,
    ORIGINAL_SIZE,
    PARTITION,
    REASON,
    REPLAYS,
    RULE_IDS,
    SHA256,
    SKIPPED_AT,
    SKIPPED_BY,
    SKIPPED_UNTIL,
    TIMESTAMP,
    TIMESTAMP_TYPE,
    TOPIC,
    TRUNCATED,
    VERSION,
    VIOLATIONS,
    restored_headers,
    split_headers,
)
from protocontract.kafka.record import PREFIX, RecordId, record_id

#: Seconds without any progress after which reading gives up.
PATIENCE: Final = 30.0


class Restored(NamedTuple):
    """The source's record as far as it can be had from its dead letter, at its original position."""

    topic: str
    partition: int
    offset: int
    leader_epoch: int | None
    timestamp: int
    timestamp_type: int
    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes | None]]


class Finding(NamedTuple):
    """One violation as the headers tell it."""

    rule_id: str
    code: int | None
    field_path: str


class Failure(NamedTuple):
    """What makes two dead letters the same: this failure of this record of this consumer group (the first one).

    A guard that dies at the wrong moment writes a dead letter twice; both copies are one failure.
    """

    record: str
    timestamp: str
    group: str
    attempt: int

    @property
    def of_record(self) -> tuple[str, str, str]:
        """The record and the group, whichever attempt it is."""
        return self[:3]


class DeadLetter:
    """One record of a dead-letter topic."""

    def __init__(self, raw: Fetched) -> None:
        #: As it lies in the dead-letter topic.
        self.raw: Final = raw
        #: Our headers by name.
        self.ours: Final = split_headers(raw.headers)[0]

    @property
    def position(self) -> str:
        """Where the dead letter itself lies: ``0:17``."""
        return f"{self.raw.partition}:{self.raw.offset}"

    @property
    def origin(self) -> RecordId:
        """Where the record was first read: ``record.id`` in a handler."""
        return record_id(self.raw)

    @property
    def foreign(self) -> bool:
        """Whether something else than a guard wrote it."""
        return TOPIC not in self.ours or PARTITION not in self.ours or CONTRACT not in self.ours

    @property
    def truncated(self) -> bool:
        """Whether only the beginning of the value is here."""
        return TRUNCATED in self.ours

    @property
    def null(self) -> bool:
        """Whether the record had neither key nor value."""
        return NULL in self.ours

    @property
    def key_form(self) -> str:
        """``hashed`` or ``dropped`` where the letter's key is not the record's; else empty."""
        return self.text(KEY)

    @property
    def unread(self) -> bool:
        """Whether it stands for records that could not be read: nothing of them is in here."""
        return SKIPPED_UNTIL in self.ours

    @property
    def attempt(self) -> int:
        """How often the record failed; 1 for the first time."""
        return self._number(ATTEMPT, 1)

    @property
    def replays(self) -> int:
        """How often the record was replayed before it failed this time."""
        return self._number(REPLAYS, 0)

    @property
    def violations(self) -> int:
        """How many violations there were; ``findings`` may list fewer."""
        return self._number(VIOLATIONS, 0)

    @property
    def group(self) -> str:
        """The consumer group in which it failed."""
        return self.text(GROUP)

    @property
    def first_group(self) -> str:
        """The consumer group in which it failed first: the one that reads the record's source."""
        return self.text(FIRST_GROUP) or self.group

    @property
    def contract(self) -> str:
        """Full name of the contract that it broke."""
        return self.text(CONTRACT)

    @property
    def version(self) -> str:
        """Version of that contract."""
        return self.text(VERSION)

    @property
    def failure(self) -> Failure:
        """Which failure it is about."""
        return Failure(str(self.origin), self.text(TIMESTAMP), self.first_group, self.attempt)

    @property
    def age(self) -> tuple[int, int, int, int]:
        """Orders the letters of one record: the newest stands for it."""
        return self.attempt, self.raw.timestamp, self.raw.partition, self.raw.offset

    @cached_property
    def findings(self) -> list[Finding]:
        """The violations that the headers list."""
        lists = [self.text(name).split(",") if self.ours.get(name) else [] for name in (RULE_IDS, ERROR_CODES)]
        # The field path of a message-level rule is empty, so an empty header is a list of one.
        paths = self.text(FIELD_PATHS).split(",") if FIELD_PATHS in self.ours else []
        paths = paths[: max(len(lists[0]), len(lists[1]))]
        return [
            Finding(rule_id, parsed_code(code), path)
            for rule_id, code, path in zip_longest(*lists, paths, fillvalue="")
        ]

    @property
    def rule_ids(self) -> list[str]:
        """The rules broken, each once."""
        return list(dict.fromkeys(finding.rule_id for finding in self.findings))

    def text(self, name: str) -> str:
        """One of our headers as text; empty where it is missing."""
        return self.ours.get(name, b"").decode("utf-8", "replace")

    def restored(self) -> Restored:
        """The record as it was, nulls and all; a truncated value stays truncated."""
        raw, origin = self.raw, self.origin
        kind = self.text(TIMESTAMP_TYPE)
        return Restored(
            origin.topic,
            origin.partition,
            origin.offset,
            None,
            self._number(TIMESTAMP, -1),
            {"CreateTime": 0, "LogAppendTime": 1}.get(kind, -1),
            raw.key,
            None if self.null else raw.value,
            restored_headers(raw.headers),
        )

    def as_dict(self) -> dict[str, Any]:
        """What the headers say, as plain values. Nothing of the record itself but its sizes."""
        found: dict[str, Any] = {
            "partition": self.raw.partition,
            "offset": self.raw.offset,
            "dead_lettered_at": moment(self.raw.timestamp),
            "foreign": self.foreign,
            "key_size": None if self.raw.key is None else len(self.raw.key),
            "value_size": None if self.raw.value is None or self.null else len(self.raw.value),
            "headers": len(restored_headers(self.raw.headers)),
        }
        if self.foreign:
            return found
        original = self._number(TIMESTAMP, -1)
        found |= {
            "record": {"topic": self.origin.topic, "partition": self.origin.partition, "offset": self.origin.offset},
            "timestamp": moment(original) if original >= 0 else None,
            "timestamp_type": self.text(TIMESTAMP_TYPE),
            "group": self.group,
            "first_group": self.first_group,
            "client": self.text(CLIENT),
            "contract": self.contract,
            "version": self.version,
            "fingerprint": self.text(FINGERPRINT),
            "error_class": self.text(ERROR_CLASS),
            "reason": self.text(REASON) or None,
            "attempt": self.attempt,
            "replays": self.replays,
            "first_failed_at": self.text(FIRST_FAILED_AT),
            "violations": self.violations,
        }
        if self.key_form:
            found["key"] = self.key_form
        for name in (SKIPPED_BY, SKIPPED_AT, SKIPPED_UNTIL, *EDITED):
            if name in self.ours:
                found[name.removeprefix(PREFIX)] = self.text(name)
        if self.truncated:
            found |= {"truncated": True, "original_size": self._number(ORIGINAL_SIZE, 0), "sha256": self.text(SHA256)}
        return found

    def _number(self, name: str, otherwise: int) -> int:
        value = self.ours.get(name, b"")
        return int(value) if value.isdigit() and len(value) < 20 else otherwise


@dataclass(frozen=True, slots=True)
class Selection:
    """Which dead letters are meant: all that fit every condition that is set. Times are milliseconds since 1970."""

    rules: tuple[str, ...] = ()
    codes: tuple[int, ...] = ()
    contract: str | None = None
    version: str | None = None
    #: The group in which the record failed first.
    group: str | None = None
    #: When the letter was written: at or after ``since``, before ``until``.
    since: int | None = None
    until: int | None = None
    #: Partitions of the topics that the records came from.
    partitions: tuple[int, ...] = ()

    @property
    def everything(self) -> bool:
        """Whether no condition is set."""
        return self == Selection()

    def matches(self, letter: DeadLetter) -> bool:
        """Whether a letter is meant."""
        written = letter.raw.timestamp
        if self.since is not None and written < self.since:
            return False
        if self.until is not None and written >= self.until:
            return False
        if self.contract is not None and letter.contract != self.contract:
            return False
        if self.version is not None and (letter.foreign or letter.version != self.version):
            return False
        if self.group is not None and letter.first_group != self.group:
            return False
        if self.partitions and (letter.foreign or letter.origin.partition not in self.partitions):
            return False
        if self.rules and not any(finding.rule_id in self.rules for finding in letter.findings):
            return False
        return not self.codes or any(finding.code in self.codes for finding in letter.findings)


@dataclass(slots=True)
class Extent:
    """The part of a topic that is read: from the first offset that is there up to the end as it was asked for."""

    topic: str
    starts: dict[int, int] = field(default_factory=dict)
    ends: dict[int, int] = field(default_factory=dict)


def extent(consumer: Any, topic: str) -> Extent:
    """Where a topic begins and ends now. Raises SourceError where it does not exist or does not answer."""
    try:
        partitions = [TopicPartition(topic, number) for number in sorted(consumer.partitions_for_topic(topic) or ())]
        if not partitions:
            raise SourceError(f"topic {topic} does not exist")
        starts, ends = consumer.beginning_offsets(partitions), consumer.end_offsets(partitions)
    except client.errors.KafkaError as error:
        raise SourceError(f"topic {topic} cannot be read ({type(error).__name__})") from None
    return Extent(
        topic,
        {tp.partition: offset for tp, offset in starts.items()},
        {tp.partition: offset for tp, offset in ends.items()},
    )


def read(
    consumer: Any,
    topic: str,
    starts: Mapping[int, int],
    ends: Mapping[int, int],
    *,
    patience: float = PATIENCE,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[DeadLetter]:
    """The letters of a topic from ``starts`` up to ``ends``, in the order of each partition.

    The consumer is in no group, or leaves it to us which partitions it reads. Raises SourceError where nothing comes
    for ``patience`` seconds, or where a batch cannot be decoded: kafka-python must not be polled again then.
    """
    left = {TopicPartition(topic, number): end for number, end in ends.items() if starts.get(number, 0) < end}
    if not left:
        return
    try:
        consumer.assign(list(left))
        for tp in left:
            consumer.seek(tp, starts.get(tp.partition, 0))
        deadline = clock() + patience
        while left:
            # Unbounded: what a poll leaves half consumed, kafka-python may never deliver.
            for tp, batch in consumer.poll(250, max_records=UNBOUNDED).items():
                deadline = clock() + patience
                end = left.get(tp, -1)
                yield from (DeadLetter(raw) for raw in batch if raw.offset < end)
            # The end may be a transaction marker or a gap, which no record tells.
            done = [tp for tp, end in left.items() if (consumer.position(tp) or 0) >= end]
            for tp in done:
                del left[tp]
            if left and clock() > deadline:
                waiting = ", ".join(f"{tp.topic}:{tp.partition}" for tp in sorted(left))
                raise SourceError(
                    f"nothing came from {waiting} for {patience:.0f} s; an open transaction may hold its end"
                )
    except client.errors.KafkaError as error:
        raise SourceError(f"topic {topic} cannot be read ({type(error).__name__})") from None


def key_at_source(consumer: Any, letter: DeadLetter) -> tuple[bytes | None] | None:
    """The key of the letter's record as its source still has it, in a tuple; None where the source has not."""
    origin = letter.origin
    try:
        whole = extent(consumer, origin.topic)
        if not whole.starts.get(origin.partition, origin.offset + 1) <= origin.offset < whole.ends[origin.partition]:
            return None
        places = {origin.partition: origin.offset}, {origin.partition: origin.offset + 1}
        found = next(read(consumer, origin.topic, *places), None)
    except SourceError:
        return None
    # A topic may have been made anew: another record lies there then.
    if found is None or found.raw.timestamp != letter.restored().timestamp:
        return None
    return (found.raw.key,)


def last_letters(
    consumer: Any, topic: str, count: int | None, matches: Callable[[DeadLetter], bool]
) -> list[DeadLetter]:
    """The last letters that fit (``Selection.matches``, say), oldest first, by the time at which they were written.

    ``count`` None: all of them. Raises SourceError where the topic cannot be read.
    """
    whole = extent(consumer, topic)
    window = max(count or 0, 100)
    while True:
        starts = {
            number: whole.starts.get(number, 0) if count is None else max(whole.starts.get(number, 0), end - window)
            for number, end in whole.ends.items()
        }
        found: dict[int, list[DeadLetter]] = {number: [] for number in whole.ends}
        for letter in read(consumer, topic, starts, whole.ends):
            if matches(letter):
                kept = found[letter.raw.partition]
                kept.append(letter)
                if count is not None and len(kept) > count:
                    del kept[0]
        # A partition may hold more of the last ones only if it gave as many as asked, or was not read from its start.
        short = [
            number
            for number, kept in found.items()
            if starts[number] > whole.starts.get(number, 0) and len(kept) < (count or 0)
        ]
        if not short:
            break
        window *= 8
    letters = sorted(
        (letter for kept in found.values() for letter in kept),
        key=lambda letter: (letter.raw.timestamp, letter.raw.partition, letter.raw.offset),
    )
    return letters if count is None else letters[max(0, len(letters) - count) :]


def rule_counts(letters: Iterable[DeadLetter]) -> dict[str, int]:
    """How many letters name each rule, most first."""
    counts: dict[str, int] = {}
    for letter in letters:
        for rule_id in letter.rule_ids:
            counts[rule_id] = counts.get(rule_id, 0) + 1
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def parsed_code(text: str) -> int | None:
    """A 32-bit error code from ``0xb93db785`` or from digits; None where it is none."""
    try:
        code = int(text, 16) if text[:2].lower() == "0x" else int(text)
    except ValueError:
        return None
    return code if 0 <= code < 2**32 else None


def moment(milliseconds: int) -> str:
    """RFC 3339 in UTC, to the millisecond: ``2026-03-09T00:00:25.000Z``."""
    seconds, rest = divmod(milliseconds, 1000)
    try:
        return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{rest:03d}Z"
    except (ValueError, OverflowError, OSError):
        # A producer may write any 64-bit number as a time.
        return str(milliseconds)
