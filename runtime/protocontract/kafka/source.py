"""Reading: the poll loop that survives kafka-python, the buffers, the rebalances, the commits.

What shapes it (all of it seen with kafka-python 3.0.12):

- A partition that is paused half consumed never delivers again. So each poll takes everything and the buffer is ours,
  bounded by the consumer's ``fetch_max_bytes`` for each broker.
- An eager rebalance keeps position and pause flag of the partitions that come back. Their buffers are dropped when they
  are revoked, so they are put back to the first record that nobody has taken.
- Rebalance callbacks run on the client's own thread while ``poll`` waits. They make no blocking call.
- ``assignment()`` still lists partitions after an eviction. Whoever owns them is told by generation and member id.
- Only a poll of 100 ms or more completes a rejoin.
- After an exception from decoding, the next poll may spin for ever.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Iterable
from queue import SimpleQueue
from typing import Any, Final

from protocontract.kafka.contact import Contact
from protocontract.kafka.errors import GuardError, SourceError
from protocontract.kafka.listening import Listening
from protocontract.kafka.partition import Partition
from protocontract.kafka.ports import (
    UNBOUNDED,
    Client,
    TopicPartition,
    error_kind,
    error_name,
    known_errors,
)
from protocontract.kafka.stats import GuardStats, PartitionStats

log: Final = logging.getLogger("protocontract.kafka")

#: A rejoin needs a poll of at least this long.
KEEP_ALIVE_MS: Final = 100
#: How often, and how long each time, a member that was away asks for its membership.
CONFIRM_TRIES: Final = 10
CONFIRM_MS: Final = 2_000
#: Longest time between two polls while records are handled, so that other members need not wait for a rebalance.
KEEP_ALIVE_SECONDS: Final = 10.0


class Source:
    """The consumer that a guard wraps."""

    def __init__(
        self,
        kafka: Client,
        stats: GuardStats,
        *,
        listener: Any = None,
        clock: Callable[[], float] = time.monotonic,
        parse_halt: Callable[[str], str] | None = None,
        block_keys: bool = False,
        give_up_after: float | None = None,
    ) -> None:
        """``parse_halt``: takes the metadata of a committed offset and returns why the partition is halted ("": it is
        not). Given where the line can be stopped; every new partition's metadata is read then.
        ``block_keys``: later records of a key wait behind a rejected one. ``give_up_after``: seconds without an answer
        from the source after which polling raises UnreachableError.
        """
        self._block_keys = block_keys
        self._parse_halt = parse_halt
        consumer = self.consumer = kafka.consumer
        self._offset = kafka.offset
        self._sleep = kafka.sleep
        self._contact = Contact(kafka, give_up_after, clock)
        self.stats = stats
        self.partitions: dict[TopicPartition, Partition] = {}
        self._revoked: dict[TopicPartition, Partition] = {}
        #: Partitions whose position in the client says nothing about what is resolved.
        self._astray: set[TopicPartition] = set()
        #: Partitions to be set to their committed offset before they are read.
        self._restart: set[TopicPartition] = set()
        self._listener = listener
        self._clock = clock
        self._holding = False
        self._paused_here: set[TopicPartition] = set()
        self._commits: SimpleQueue[tuple[dict[TopicPartition, int], BaseException | None]] = SimpleQueue()
        self._broken: SourceError | None = None
        self._membership: tuple[int, str] = (-1, "")
        self._last_poll = clock()
        self._retry_wait = 0.1
        interval = consumer.config.get("max_poll_interval_ms") or 300_000
        self._keep_alive_after = min(interval / 3000, KEEP_ALIVE_SECONDS)

    # -- start and end

    def start(self) -> None:
        """Take over the subscription, with a listener of our own that calls the user's."""
        if not self._topics_are_subscribed():
            if not self.consumer.assignment():
                raise GuardError("consumer: it is neither subscribed nor assigned; give it topics")
        else:
            pattern = getattr(getattr(self.consumer, "_subscription", None), "subscribed_pattern", None)
            listener = Listening(self, self._listener)
            if pattern is not None:
                self.consumer.subscribe(pattern=pattern.pattern, listener=listener)
            else:
                self.consumer.subscribe(sorted(self.consumer.subscription() or ()), listener=listener)
        for tp in self.consumer.assignment():
            self._add(tp)
        self._note_membership()

    def _topics_are_subscribed(self) -> bool:
        subscription = getattr(self.consumer, "_subscription", None)
        auto = getattr(subscription, "partitions_auto_assigned", None)
        if callable(auto):
            # A subscription by pattern has no topics before the first poll.
            return bool(auto())
        return bool(self.consumer.subscription())

    def close(self, timeout: float) -> None:
        """Commit what is resolved, then leave the group."""
        try:
            self.commit_now(timeout)
        finally:
            self.consumer.close(autocommit=False, timeout_ms=max(1, int(timeout * 1000)))

    # -- reading

    def ready(self) -> Partition | None:
        """A partition with records to take, or None."""
        for partition in self.partitions.values():
            if partition.ready:
                return partition
        return None

    @property
    def buffered(self) -> int:
        """How many records wait in our buffers."""
        return sum(len(partition.buffer) for partition in self.partitions.values())

    def poll(self, timeout_ms: int, *, hold: bool = False) -> None:
        """Commit what is resolved, then fetch. With ``hold`` nothing is fetched: it only keeps the membership alive.

        Raises SourceError when the source cannot be read further.
        """
        if self._broken is not None:
            raise self._broken
        self.commit()
        self._hold(hold)
        try:
            fetched = self.consumer.poll(timeout_ms=timeout_ms, max_records=UNBOUNDED)
        except Exception as error:
            # Whatever it is, it came out of the client's internals; see _poll_failed for what may go on.
            self._poll_failed(error)
            return
        finally:
            self._last_poll = self._clock()
        self._retry_wait = 0.1
        self._note_membership()
        if fetched:
            self._contact.heard()
        else:
            self._contact.check()
        for tp, records in fetched.items():
            partition = self.partitions.get(tp)
            if partition is None:
                if tp not in self.consumer.assignment():
                    continue
                partition = self._add(tp)
            if records:
                place = partition.first_rewritten(records)
                if place is not None:
                    self._log_was_cut(partition, records[place].offset)
                    continue
                partition.ledger.begin(records[0].offset)
                partition.buffer.extend(records)
        if self._restart:
            self._restart_from_committed()
        if self._parse_halt is not None:
            self._read_halts(self._parse_halt)
        self._note_positions()

    def keep_alive(self) -> None:
        """Poll with everything paused, so that the group sees us and rebalances complete."""
        self.poll(KEEP_ALIVE_MS, hold=True)

    @property
    def keep_alive_at(self) -> float:
        """When the next keep-alive is due, on the clock given."""
        return self._last_poll + self._keep_alive_after

    def confirm(self) -> None:
        """Ask the group whether this is still its member, and wait for the answer.

        For a process that was stopped for longer than its session lasts. Its client believes that all is well until
        some answer of the broker's says otherwise, and kafka-python 3.0.12 sends no heartbeat before the next poll.
        """
        for _ in range(CONFIRM_TRIES):
            if not self.still_member():
                return
            offsets = {
                tp: self._offset(partition.ledger.watermark, partition.epoch, "")
                for tp, partition in self.partitions.items()
                if partition.halt == "" and partition.ledger.watermark is not None
            }
            if not offsets:
                break
            try:
                # What is committed already is committed again: only a member of this generation may.
                self.consumer.commit(offsets, timeout_ms=CONFIRM_MS)
            except known_errors() as error:
                self.stats.commit_errors += 1
                log.info("the group does not confirm this member (%s)", error_name(error))
                self.keep_alive()
            else:
                return
        self.keep_alive()

    def wait(self, seconds: float) -> None:
        """Let time pass without reading, as a member of the group."""
        until = self._clock() + seconds
        while (left := until - self._clock()) > 0:
            if left * 1000 < KEEP_ALIVE_MS:
                self._sleep(left)
            else:
                self.poll(max(KEEP_ALIVE_MS, min(500, int(left * 1000))), hold=True)

    def _hold(self, hold: bool) -> None:
        """Pause every partition, or resume those that we paused. The user's own pauses stay."""
        self._holding = hold
        if hold:
            running = set(self.partitions) - self.consumer.paused()
            if running:
                self.consumer.pause(*running)
                self._paused_here |= running
        else:
            mine = {tp for tp in self._paused_here if tp in self.partitions and not self.partitions[tp].stopped}
            mine -= self._restart
            if mine:
                self.consumer.resume(*mine)
            # What a rebalance has taken meanwhile stays noted: the client keeps its pause flag if it comes back.
            self._paused_here -= mine
        stopped = {tp for tp, partition in self.partitions.items() if partition.stopped}
        if stopped:
            self.consumer.pause(*stopped)
            self._paused_here |= {tp for tp in stopped if not self.partitions[tp].held}

    def _poll_failed(self, error: Exception) -> None:
        """Wait and go on after what the client calls temporary; end the source after anything else."""
        self.stats.poll_errors += 1
        self._note_membership()
        trouble = error_kind(error)
        if trouble == "temporary":
            log.warning("poll failed (%s); trying again in %.1f s", error_name(error), self._retry_wait)
            self._sleep(self._retry_wait)
            self._retry_wait = min(self._retry_wait * 2, 5.0)
            self._contact.check()
            return
        where = ", ".join(
            f"{tp.topic}:{tp.partition} next {partition.ledger.next}"
            for tp, partition in sorted(self.partitions.items())
        )
        kind = error_name(error)
        if trouble == "gap":
            what = f"records are missing from the source ({kind})"
        elif trouble == "forbidden":
            what = f"rights are missing on the source ({kind})"
        else:
            what = f"the source cannot be read further ({kind})"
        # The client's text may quote a record; its class does not.
        self._broken = SourceError(f"{what}; nothing after the last finished record is committed; position: {where}")
        log.error("%s", self._broken)
        raise self._broken from (None if trouble is None else error)

    def _note_positions(self) -> None:
        """Where a partition has nothing left to take, its books follow the client's position."""
        for tp, partition in self.partitions.items():
            if partition.buffer or tp in self._restart:
                continue
            position = self._position(tp)
            if position is not None:
                partition.ledger.read_to(position)

    def _position(self, tp: TopicPartition) -> int | None:
        try:
            return self.consumer.position(tp, timeout_ms=100)
        except known_errors() + (KeyError,):  # noqa: RUF005  # mypy follows no unpacking here
            # Not ours any more, or no position yet: it is looked up again after the next poll.
            return None

    # -- ownership

    def _note_membership(self) -> None:
        member = self.consumer.group_metadata()
        self._membership = (member.generation_id, member.member_id)

    @property
    def membership(self) -> tuple[int, str]:
        """Generation and member id as the last poll left them."""
        return self._membership

    def still_member(self) -> bool:
        """Whether this is still the member of the last poll. If not, everything that was fetched is dropped."""
        member = self.consumer.group_metadata()
        if (member.generation_id, member.member_id) == self._membership:
            return True
        log.warning(
            "this member is no longer in the group's generation; dropping %d records that others will read",
            self.buffered,
        )
        self.stats.losses += 1
        for tp, partition in self.partitions.items():
            partition.abandon()
            # Where the client still holds a position for it, that position is past what we drop here.
            self._astray.add(tp)
        self.partitions.clear()
        return False

    def _add(self, tp: TopicPartition) -> Partition:
        partition = self.partitions.get(tp)
        if partition is None:
            partition = self.partitions[tp] = self._new(tp, self.stats.of(tp))
            if self._parse_halt is not None:
                partition.halt = partition.halt_sent = None
        return partition

    def _new(self, tp: TopicPartition, stats: PartitionStats) -> Partition:
        return Partition(tp, stats, block_keys=self._block_keys)

    def revoked(self, tps: Collection[TopicPartition]) -> None:
        """A rebalance begins. No blocking call is allowed here; what is resolved was committed before the poll."""
        self.stats.revocations += 1
        generation = self._membership[0]
        for tp in tps:
            partition = self.partitions.pop(tp, None)
            if partition is not None:
                partition.owned = False
                partition.buffer.clear()
                partition.generation = generation
                self._revoked[tp] = partition

    def lost(self, tps: Collection[TopicPartition]) -> None:
        """The membership is gone: others may have the partitions already."""
        if any(tp in self.partitions or tp in self._revoked for tp in tps):
            self.stats.losses += 1
        for tp in tps:
            for known in (self.partitions, self._revoked):
                partition = known.pop(tp, None)
                if partition is not None:
                    partition.abandon()
            # The client forgets the position too, and starts at the committed offset if it comes back.
            self._astray.discard(tp)
            self._paused_here.discard(tp)

    def assigned(self, tps: Collection[TopicPartition]) -> None:
        """A rebalance ends."""
        generation = self.consumer.group_metadata().generation_id
        for tp in sorted(tps):
            partition = self._revoked.pop(tp, None)
            if partition is None or generation != partition.generation + 1 or partition.ledger.next is None:
                if partition is not None:
                    partition.abandon()
                    self._astray.add(tp)
                partition = self._add(tp)
                if tp in self._astray:
                    # Nobody knows what another member did with it meanwhile: begin where the group says. That takes
                    # a request, which has to wait until the poll is over.
                    self._astray.discard(tp)
                    self._restart.add(tp)
            else:
                # It was nobody else's: go on after the last record taken. Those taken before are in good hands.
                partition.owned = True
                self.partitions[tp] = partition
                self.consumer.seek(tp, partition.ledger.next)
            if self._holding or tp in self._restart or partition.halt != "":
                self.consumer.pause(tp)
                self._paused_here.add(tp)
            elif tp in self._paused_here and not partition.held:
                self._paused_here.discard(tp)
                self.consumer.resume(tp)
        for partition in self._revoked.values():
            partition.abandon()
        self._revoked.clear()

    def _restart_from_committed(self) -> None:
        for tp in sorted(self._restart):
            partition = self.partitions.get(tp)
            if partition is None:
                self._restart.discard(tp)
                continue
            try:
                committed = self.consumer.committed(tp, timeout_ms=5_000)
                if committed is None:
                    self.consumer.seek_to_beginning(tp)
                else:
                    self.consumer.seek(tp, committed)
            except known_errors() as error:
                log.warning("no committed offset for %s:%d yet (%s)", tp.topic, tp.partition, error_name(error))
                continue
            partition.buffer.clear()
            self._restart.discard(tp)
            if not self._holding and tp in self._paused_here and not partition.stopped:
                self._paused_here.discard(tp)
                self.consumer.resume(tp)

    def _read_halts(self, parse: Callable[[str], str]) -> None:
        """Learn of new partitions whether an owner before us stopped the line."""
        for tp, partition in list(self.partitions.items()):
            if partition.halt is not None:
                continue
            try:
                committed = self.consumer.committed(tp, metadata=True, timeout_ms=5_000)
            except known_errors() as error:
                # It stays stopped until somebody answers; the others would wait as long, and the group for us.
                log.warning("no committed offset for %s:%d yet (%s)", tp.topic, tp.partition, error_name(error))
                return
            metadata = "" if committed is None else committed.metadata or ""
            partition.halt = partition.halt_sent = parse(metadata)
            if partition.halt:
                log.warning(
                    "%s:%d was halted by an earlier owner and stays so; see guard.halted", tp.topic, tp.partition
                )

    # -- control by the user

    def pause(self, tps: Iterable[TopicPartition]) -> None:
        """Hand out nothing of these partitions until ``resume``."""
        for tp in tps:
            partition = self.partitions.get(tp)
            if partition is not None:
                partition.held = True
                # Its own name for the partition: some clients take no other class.
                self.consumer.pause(partition.tp)

    def resume(self, tps: Iterable[TopicPartition]) -> None:
        """End a ``pause``."""
        for tp in tps:
            partition = self.partitions.get(tp)
            if partition is not None and partition.held:
                partition.held = False
                if not self._holding and tp not in self._restart and not partition.stopped:
                    self.consumer.resume(partition.tp)

    def seek(self, tp: TopicPartition, offset: int) -> None:
        """Read on at another offset. What is buffered or on its way is dropped; the committed offset may go back."""
        partition = self.partitions.get(tp)
        if partition is None:
            raise GuardError(f"{tp.topic}:{tp.partition} is not assigned to this member")
        tp = partition.tp
        self.consumer.seek(tp, offset)
        partition.abandon()
        del self.partitions[tp]
        fresh = self._add(tp)
        fresh.held, fresh.halt, fresh.halt_sent = partition.held, partition.halt, partition.halt_sent
        fresh.ledger.begin(offset)
        fresh.ledger.committed = None

    def _log_was_cut(self, partition: Partition, offset: int) -> None:
        """A leader was elected that had not all records. What it has instead of them is new; what comes before them and
        is not resolved is read again, too."""
        self.stats.truncated_logs += 1
        log.warning(
            "%s:%d was cut off below what was read, and goes on differently from offset %d: it is read from there",
            partition.tp.topic,
            partition.tp.partition,
            offset,
        )
        mark = partition.ledger.watermark
        self.seek(partition.tp, offset if mark is None else min(mark, offset))

    def rewind(self) -> None:
        """Read again from its first unresolved record every partition that has one, as if nothing had been taken."""
        for tp, partition in list(self.partitions.items()):
            mark = partition.ledger.watermark
            if mark is None or partition.ledger.open == 0:
                continue
            committed = partition.ledger.committed
            partition.abandon()
            fresh = self.partitions[tp] = self._new(tp, partition.stats)
            fresh.held, fresh.halt, fresh.halt_sent = partition.held, partition.halt, partition.halt_sent
            fresh.ledger.begin(mark)
            fresh.ledger.committed = committed
            self.consumer.seek(tp, mark)

    # -- commits

    def commit(self) -> None:
        """Send what is resolved, without waiting. Answers are noted at the next call."""
        self._note_commits()
        offsets = self._to_commit()
        if not offsets:
            return
        member = self.consumer.group_metadata()
        if (member.generation_id, member.member_id) != self._membership:
            return
        sent = {tp: offset for tp, (offset, _, _) in offsets.items()}
        future = self.consumer.commit_async({tp: self._offset(*each) for tp, each in offsets.items()}, callback=_ignore)
        for tp, (offset, _, halt) in offsets.items():
            self.partitions[tp].sent = offset
            self.partitions[tp].halt_sent = halt
        future.add_callback(lambda _: self._commits.put((sent, None)))
        future.add_errback(lambda error: self._commits.put((sent, error)))

    def commit_now(self, timeout: float) -> None:
        """Commit what is resolved and wait for the answer, at most ``timeout`` seconds."""
        self._note_commits()
        for partition in self.partitions.values():
            # A commit may still be on its way; sending its offset again is harmless.
            partition.sent = -1
            if self._parse_halt is not None:
                partition.halt_sent = None
        if not self.still_member():
            return
        self._note_positions()
        offsets = self._to_commit()
        if not offsets:
            return
        try:
            self.consumer.commit(
                {tp: self._offset(*each) for tp, each in offsets.items()},
                timeout_ms=max(1, int(timeout * 1000)),
            )
        except known_errors() as error:
            # Not committed means read again, by us or by the next owner: nothing is lost.
            self.stats.commit_errors += 1
            log.warning(
                "a commit failed (%s); what it held is sent again, or its records are read again", error_name(error)
            )
        else:
            for tp, (offset, _, halt) in offsets.items():
                partition = self.partitions[tp]
                partition.sent, partition.halt_sent = offset, halt
                partition.ledger.committed_to(offset)

    def _to_commit(self) -> dict[TopicPartition, tuple[int, int, str]]:
        """Offset, leader epoch and metadata of what there is to commit."""
        found: dict[TopicPartition, tuple[int, int, str]] = {}
        for tp, partition in self.partitions.items():
            halt = partition.halt
            if halt is None:
                # Not read yet, so it is not known what a commit would overwrite; nothing was taken either.
                continue
            offset = partition.ledger.to_commit()
            if halt != partition.halt_sent:
                offset = partition.ledger.watermark
            elif offset == partition.sent:
                continue
            if offset is not None:
                found[tp] = (offset, partition.epoch, halt)
        return found

    def _note_commits(self) -> None:
        while not self._commits.empty():
            sent, error = self._commits.get()
            if error is not None:
                self.stats.commit_errors += 1
                log.info("a commit failed (%s); it is sent again", error_name(error))
            for tp, offset in sent.items():
                partition = self.partitions.get(tp)
                if partition is None:
                    continue
                if error is None:
                    partition.ledger.committed_to(offset)
                elif partition.sent == offset:
                    partition.sent = -1
                    if self._parse_halt is not None:
                        partition.halt_sent = None

    def lag(self) -> int | None:
        """Records of our partitions that are not resolved, as far as the last fetches told. None before the first."""
        total: int | None = None
        for tp, partition in list(self.partitions.items()):
            mark = partition.ledger.watermark
            try:
                high = self.consumer.highwater(tp)
            except known_errors():
                continue
            if mark is not None and high is not None:
                total = (total or 0) + max(0, high - mark)
        return total


def _ignore(_offsets: object, _answer: object) -> None:
    """The client logs a failed commit at error level unless it is given a callback; we count and send again."""
