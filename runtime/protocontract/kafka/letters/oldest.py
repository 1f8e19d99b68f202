"""The oldest dead letter that nobody has resolved, and how long it will still be there.

Resolved is what the committed offsets of ``protocontract.replay.TOPIC`` tell: replays and edits leave them at the first
letter of each partition that is not settled. Only that one letter of each partition is read.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from protocontract.cli import UsageError
from protocontract.kafka import client
from protocontract.kafka.client import TopicPartition
from protocontract.kafka.connection import Cluster
from protocontract.kafka.errors import GuardError, SourceError
from protocontract.kafka.letters.reading import DeadLetter, extent, read

log: Final = logging.getLogger("protocontract.kafka")

#: Seconds after which a look that gets no answer is given up; the next one comes in its time.
PATIENCE: Final = 10.0


class Oldest(NamedTuple):
    """The oldest dead letter that is not resolved."""

    #: Where it lies: ``0:17``.
    position: str
    #: When it was written, in seconds since 1970.
    written: float


class Looked(NamedTuple):
    """What one look at a dead-letter topic found."""

    topic: str
    #: None where everything is resolved.
    oldest: Oldest | None
    #: Seconds for which the topic keeps records; None where it keeps them for ever, or does not tell.
    retention: float | None


def replay_group(topic: str) -> str:
    """The consumer group whose committed offsets tell how far a dead-letter topic is resolved."""
    return f"protocontract.replay.{topic}"


def oldest_unresolved(consumer: Any, topic: str) -> Oldest | None:
    """The oldest letter of a topic that is not resolved; None where all are.

    ``consumer`` is of the group ``replay_group(topic)`` and takes its partitions by itself; nothing is committed.
    Raises SourceError where the topic cannot be read.
    """
    there = extent(consumer, topic)
    found: list[Oldest] = []
    for number, end in there.ends.items():
        try:
            committed = consumer.committed(TopicPartition(topic, number), timeout_ms=int(PATIENCE * 1000))
        except client.errors.KafkaError as error:
            group = replay_group(topic)
            raise SourceError(f"the offsets of {group} cannot be read ({type(error).__name__})") from None
        # What has expired is gone, whatever was committed.
        start = max(there.starts[number], committed or 0)
        letter = next(_letters(consumer, topic, number, start, end), None)
        if letter is not None:
            found.append(Oldest(letter.position, letter.raw.timestamp / 1000))
    return min(found, key=lambda oldest: oldest.written, default=None)


def _letters(consumer: Any, topic: str, partition: int, start: int, end: int) -> Iterator[DeadLetter]:
    return read(consumer, topic, {partition: start}, {partition: end}, patience=PATIENCE)


def look(there: Cluster, topic: str) -> Looked:
    """One look at a topic, with clients of its own. Raises GuardError or UsageError."""
    with there.reader(replay_group(topic)) as consumer:
        oldest = oldest_unresolved(consumer, topic)
    return Looked(topic, oldest, there.retention(topic))


class OldestWatch:
    """Looks again and again, on a thread of its own: the guard's loop waits for nothing of it."""

    def __init__(self, once: Callable[[], Looked], every: float) -> None:
        """``every``: seconds between two looks. The first one is at once, after ``start``."""
        self._once = once
        self._every = every
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="guard-oldest-dead-letter", daemon=True)
        #: What the last look found; None before the first one, and after one that failed.
        self.looked: Looked | None = None

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def close(self) -> None:
        """Look no more. Does not wait for a look that goes on: it ends by itself."""
        self._over.set()

    def _run(self) -> None:
        while not self._over.is_set():
            self.look()
            self._over.wait(self._every)

    def look(self) -> None:
        """One look."""
        try:
            self.looked = self._once()
        except (GuardError, UsageError) as error:
            self.looked = None
            log.warning("the oldest dead letter is not known: %s", error)
        except Exception as error:
            # Whatever else comes out of the client: the guard goes on without this figure, and the next look may work.
            self.looked = None
            log.warning("the oldest dead letter is not known (%s)", type(error).__name__)
