"""Reading for transactions: every partition begins at what the group has committed, again after each change of hands.

``source.py`` goes on after the last record taken, since what it took may still be on its way. Here nothing is ever on
its way: a transaction ends before the next poll. So whatever disturbs the reading, everything fetched is dropped and
read again from the committed offsets; and ``member`` is the membership as the poll left it that filled the buffers.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Collection, Iterator
from typing import Any, Final

from protocontract.kafka import client
from protocontract.kafka.client import Consumer, Fetched, Membership, TopicPartition
from protocontract.kafka.errors import SourceError
from protocontract.kafka.halting import kept_halt
from protocontract.kafka.skipping import Skip, elsewhere
from protocontract.kafka.stats import GuardStats
from protocontract.kafka.transaction import TRANSACTION_TIMEOUT_MS

log: Final = logging.getLogger("protocontract.kafka")

#: How long one poll waits for records: the longest time that ``stop`` goes unnoticed.
POLL_MS: Final = 500
#: A rejoin needs a poll of at least this long.
KEEP_ALIVE_MS: Final = 100
#: Seconds between two questions about what other members have committed.
_ASK_EVERY: Final = 1.0
#: Seconds for which a committed offset may be unknown before it is told. By then the coordinator has ended every
#: transaction whose process died: it looks for those that are open for too long every 10 s.
_DECIDED_WITHIN: Final = TRANSACTION_TIMEOUT_MS / 1000 + 20.0


class Share:
    """One partition while this member has it."""

    __slots__ = ("buffer", "committed", "epoch", "halt", "position", "saved", "taken_to", "tp")

    def __init__(self, tp: TopicPartition) -> None:
        self.tp = tp
        self.buffer: deque[Fetched] = deque()
        #: The client's position: above everything in the buffer.
        self.position: int | None = None
        self.committed = 0
        #: Why the line is stopped, as it is written beside the committed offset; "": it runs.
        self.halt: str | None = ""
        #: What is written there.
        self.saved = ""
        #: After the last record taken since the last commit, and its leader epoch.
        self.taken_to: int | None = None
        self.epoch = -1

    def take(self) -> Fetched:
        """The next record of the buffer, as part of the open transaction."""
        raw = self.buffer.popleft()
        self.taken_to = raw.offset + 1
        self.epoch = -1 if raw.leader_epoch is None else raw.leader_epoch
        return raw

    @property
    def mark(self) -> int | None:
        """The first offset that is neither committed nor taken; None where it is not known yet.

        It lies above the last record's offset where the log has gaps or transaction markers; committing it leaves no
        lag behind.
        """
        if self.buffer:
            return self.buffer[0].offset
        return max((mark for mark in (self.position, self.taken_to) if mark is not None), default=None)

    def drop(self) -> None:
        """Forget what was fetched and taken: it is read again."""
        self.buffer.clear()
        self.position = self.taken_to = None


class CommittedSource:
    """The consumer of a guard that works exactly once."""

    def __init__(self, consumer: Consumer, stats: GuardStats) -> None:
        self.consumer = consumer
        self.stats = stats
        #: The partitions of this member.
        self.partitions: dict[TopicPartition, Share] = {}
        #: The member as the poll left it that filled the buffers. None: no transaction can be committed for it.
        self.member: Membership | None = None
        #: Whether partitions were revoked, lost or assigned since: what is read or open now is not to be committed.
        self.disturbed = False
        self._restart = True
        self._generation = -1
        self._ends: dict[TopicPartition, int] = {}
        self._others_asked = 0.0
        #: Since when no committed offset can be had, and why that blocks, once it has taken too long.
        self._undecided_since: float | None = None
        self.undecided: str | None = None
        interval = consumer.config.get("max_poll_interval_ms") or 300_000
        self._keep_alive_after = min(interval / 3000, 10.0)
        self._last_poll = 0.0

    def start(self, *, to_end: bool) -> None:
        """Take over the subscription; with ``to_end``, note where the topics end now."""
        if to_end:
            self._find_ends()
        self.consumer.subscribe(sorted(self.consumer.subscription() or ()), listener=_listener(self))

    def close(self, timeout: float) -> None:
        """Leave the group."""
        self.consumer.close(autocommit=False, timeout_ms=max(1, int(timeout * 1000)))

    # -- state

    @property
    def keep_alive_due(self) -> bool:
        """Whether the group should hear of this member again."""
        return time.monotonic() - self._last_poll >= self._keep_alive_after

    def ready(self) -> Iterator[Share]:
        """The partitions with records to take, while there is a member to commit for."""
        if self.member is None:
            return
        for share in self.partitions.values():
            if share.buffer and not share.halt:
                yield share

    @property
    def behind(self) -> bool:
        """Whether there is something to commit without a record: transaction markers, gaps, a halt or its end."""
        return self.member is not None and any(
            share.halt != share.saved or (not share.buffer and mark > share.committed)
            for share in self.partitions.values()
            if (mark := share.mark) is not None
        )

    @property
    def unsaved(self) -> bool:
        """Whether a halt, or its end, is not written yet."""
        return any(share.halt != share.saved for share in self.partitions.values())

    def lag(self) -> int | None:
        """Records of this member's partitions that are not committed; None before the first fetch."""
        total: int | None = None
        for tp, share in list(self.partitions.items()):
            try:
                high = self.consumer.highwater(tp)
            except client.errors.KafkaError:
                continue
            if high is not None:
                total = (total or 0) + max(0, high - share.committed)
        return total

    def still(self, member: Membership) -> bool:
        """Whether this is still that member, with the partitions that it had."""
        return not self.disturbed and _same(self.consumer.group_metadata(), member)

    # -- reading

    def poll(self, *, hold: bool = False) -> None:
        """Fetch, or (with ``hold``) only stay a member. Leaves ``member``, the buffers and the positions in step.

        Raises SourceError when the source cannot be read further.
        """
        consumer = self.consumer
        hold = hold or self._restart
        self._pause(hold)
        wait = KEEP_ALIVE_MS if hold else POLL_MS
        try:
            fetched = consumer.poll(timeout_ms=wait, max_records=client.UNBOUNDED)
        except Exception as error:
            # Whatever it is, it came out of the client's internals; see _poll_failed for what may go on.
            self._poll_failed(error)
            return
        finally:
            self._last_poll = time.monotonic()
        member = consumer.group_metadata()
        settled = client.is_settled(member)
        if self.disturbed or (hold and self.member is not None and not _same(member, self.member)):
            self.forget()
        self.disturbed = False
        if self._restart:
            # What this poll brought is read again: it may lie above records that nobody has committed.
            self.member = None
            if member.generation_id < 0:
                self.partitions = {}
            elif settled:
                self._begin_at_committed(member.generation_id)
            return
        if hold and not fetched:
            return
        self.member = member if settled else None
        for tp, records in fetched.items():
            share = self.partitions.get(tp)
            if share is not None:
                share.buffer.extend(records)
        for tp, share in self.partitions.items():
            position = self._position(tp)
            if position is not None:
                share.position = position

    def forget(self) -> None:
        """Drop what was read: the next poll begins at the committed offsets. Halts are kept, written or not."""
        self._restart = True
        self.member = None
        for share in self.partitions.values():
            share.drop()

    def _pause(self, hold: bool) -> None:
        """Fetch nothing at all (``hold``), or nothing of the partitions that are halted."""
        consumer = self.consumer
        assigned, paused = consumer.assignment(), consumer.paused()
        still = assigned if hold else {tp for tp in assigned if tp in self.partitions and self.partitions[tp].halt}
        if more := still - paused:
            consumer.pause(*more)
        if less := paused - still:
            consumer.resume(*less)

    def _poll_failed(self, error: Exception) -> None:
        self.stats.poll_errors += 1
        self.forget()
        kind = type(error).__name__
        if client.is_retriable(error):
            log.warning("poll failed (%s); trying again", kind)
            time.sleep(0.1)
            return
        what = "the source cannot be read further"
        if client.is_gap(error):
            what = "records are missing from the source"
        elif client.is_forbidden(error):
            what = "rights are missing on the source or its group"
        # The client's text may quote a record; its class does not.
        raise SourceError(f"{what} ({kind}); nothing is committed that was not written") from (
            error if client.is_client_error(error) else None
        )

    def _begin_at_committed(self, generation: int) -> None:
        """Set every partition to what the group has committed, and learn whether an owner has stopped its line.

        What another member's transaction has not decided yet is waited for: that is what ``read_committed`` asks the
        broker for.
        """
        consumer = self.consumer
        found: dict[TopicPartition, Share] = {}
        for tp in sorted(consumer.assignment()):
            try:
                committed = consumer.committed(tp, metadata=True, timeout_ms=5_000)
                if committed is not None:
                    consumer.seek(tp, committed.offset)
                elif consumer.config.get("auto_offset_reset") == "none":
                    raise SourceError(f"{tp.topic}:{tp.partition} has no committed offset; begin with --from earliest")
                else:
                    consumer.seek_to_beginning(tp)
            except client.errors.KafkaError as error:
                if client.is_forbidden(error):
                    self._poll_failed(error)
                self._is_undecided(tp, error)
                return
            written = "" if committed is None else kept_halt(committed.metadata or "")
            share = found[tp] = self._share(tp, generation, written)
            share.committed = 0 if committed is None else committed.offset
        self.partitions = found
        self._generation = generation
        self._restart = False
        self._undecided_since = self.undecided = None

    def _is_undecided(self, tp: TopicPartition, error: Exception) -> None:
        now = time.monotonic()
        log.info("no committed offset for %s:%d yet (%s)", tp.topic, tp.partition, type(error).__name__)
        if self._undecided_since is None:
            self._undecided_since = now
        elif self.undecided is None and now - self._undecided_since >= _DECIDED_WITHIN:
            self.undecided = f"the committed offset of {tp.topic}:{tp.partition} is not known ({type(error).__name__})"
            log.warning(
                "%s for %.0f s; waiting for it. Either the coordinator does not answer, or a transaction that holds it "
                "was never ended: end that one (kafka-transactions find-hanging, abort)",
                self.undecided,
                now - self._undecided_since,
            )

    def _share(self, tp: TopicPartition, generation: int, written: str) -> Share:
        """The books of a partition, given what is written beside its committed offset."""
        known = self.partitions.get(tp)
        # From one generation to the next it was nobody else's, and neither was it if the text is still the same.
        ours = known is not None and 0 <= generation - self._generation <= 1
        if known is None or not ours or known.saved != written:
            known = Share(tp)
            known.halt = written
            if written:
                log.warning(
                    "%s:%d was halted by an earlier owner and stays so; see protocontract guard status",
                    tp.topic,
                    tp.partition,
                )
        # Else a halt or its end that could not be written before is written now.
        known.drop()
        known.saved = written
        return known

    def _position(self, tp: TopicPartition) -> int | None:
        try:
            return self.consumer.position(tp, timeout_ms=100)
        except (client.errors.KafkaError, KeyError):
            # Not ours any more, or no position yet: it is looked up again after the next poll.
            return None

    # -- commits: the transaction's, see ExactlyOnce

    def marks(self) -> dict[TopicPartition, tuple[int, int, str]]:
        """What a transaction commits now: next offset, leader epoch, and the halt as metadata ("": it runs)."""
        found: dict[TopicPartition, tuple[int, int, str]] = {}
        for tp, share in self.partitions.items():
            mark = share.mark
            if mark is not None and (share.taken_to is not None or mark > share.committed or share.halt != share.saved):
                found[tp] = (mark, share.epoch, share.halt or "")
        return found

    def committed(self, marks: dict[TopicPartition, tuple[int, int, str]]) -> None:
        """Note what a transaction has committed."""
        for tp, (offset, _, halt) in marks.items():
            share = self.partitions[tp]
            share.committed, share.saved, share.taken_to = offset, halt, None

    def skip(self, skip: Skip, blocked: str | None) -> str | None:
        """Pass over the record before which a partition stands, in the transaction that comes next.

        ``blocked``: why nothing is committed at present, or None. Returns why it is not done, or None.
        """
        record = skip.record
        where = f"{record.topic}:{record.partition}"
        share = self.partitions.get(TopicPartition(record.topic, record.partition))
        if share is None:
            return f"{where} is not with this member; ask the one that has it"
        if not share.halt and blocked is None:
            return f"{where} is neither halted nor blocked"
        refused = elsewhere(skip, share.mark)
        if refused is None and share.buffer and share.buffer[0].offset != record.offset:
            refused = f"{where} stands at {share.mark}, not at {record.offset}; look again with guard status"
        if refused is not None or skip.dry_run:
            return refused
        if share.buffer:
            share.take()
        else:
            # Never fetched: the line was halted when the partition came.
            self.consumer.seek(share.tp, record.offset + 1)
            share.position = share.taken_to = record.offset + 1
        return None

    def commit(self) -> None:
        """Halting asks for halts to be written: the next transaction does (see ``behind``)."""

    def commit_now(self, timeout: float) -> None:
        """As ``commit``: a transaction is the only way to write here, and it follows at once."""

    # -- rebalances, called by the client while it polls or closes

    def changed_hands(self, *, lost: bool) -> None:
        """Partitions were revoked, lost or assigned."""
        self.disturbed = True
        if lost:
            self.stats.losses += 1
            # Others may have them already: what is not written about them is theirs to find out.
            self._generation = -2

    # -- the end that was

    def _find_ends(self) -> None:
        consumer = self.consumer
        tps = [
            TopicPartition(topic, number)
            for topic in consumer.subscription() or ()
            for number in consumer.partitions_for_topic(topic)
        ]
        starts = consumer.beginning_offsets(tps)
        self._ends = {tp: end for tp, end in consumer.end_offsets(tps).items() if end > starts.get(tp, 0)}

    def at_end(self) -> bool:
        """Whether everything below the ends noted at the start is committed, by this member or by others."""
        mine = self.partitions
        others = [(tp, end) for tp, end in self._ends.items() if tp not in mine or mine[tp].committed < end]
        now = time.monotonic()
        if not others:
            return True
        if any(tp in mine for tp, _ in others) or now - self._others_asked < _ASK_EVERY:
            return False
        self._others_asked = now
        try:
            return all((self.consumer.committed(tp, timeout_ms=5_000) or 0) >= end for tp, end in others)
        except client.errors.KafkaError:
            return False


def _same(one: Membership, other: Membership) -> bool:
    return one.generation_id == other.generation_id and one.member_id == other.member_id


def _listener(source: CommittedSource) -> Any:
    class Listener(client.RebalanceListener):  # type: ignore[misc]  # an untyped base class
        """Tells of every change of hands. It makes no blocking call: the client waits for it."""

        def on_partitions_revoked(self, revoked: Collection[TopicPartition]) -> None:
            source.changed_hands(lost=False)

        def on_partitions_lost(self, lost: Collection[TopicPartition]) -> None:
            source.changed_hands(lost=True)

        def on_partitions_assigned(self, assigned: Collection[TopicPartition]) -> None:
            source.changed_hands(lost=False)

    return Listener()
