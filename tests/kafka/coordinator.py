"""A transaction coordinator over the in-memory log, and producers with kafka-python's habits in transactions."""

from __future__ import annotations

from typing import Any

from protocontract.kafka.client import TopicPartition, errors
from protocontract.kafka.memory import MemoryFuture, MemoryLog, MemoryProducer


class Coordinator:
    """The transactions of one id: what is committed, and who is fenced."""

    def __init__(self, log: MemoryLog) -> None:
        self.log = log
        self.epoch = 0
        self.made: list[Producer] = []
        #: What happens, in order.
        self.events: list[str] = []
        #: Errors of the next calls by name, first in first out; a callable is called instead.
        self.faults: dict[str, list[Any]] = {}
        self.members: list[Any] = []

    def producer(self) -> Producer:
        self.made.append(Producer(self))
        return self.made[-1]

    def step(self, name: str) -> None:
        self.events.append(name)
        waiting = self.faults.get(name)
        if waiting:
            fault = waiting.pop(0)
            if isinstance(fault, BaseException):
                raise fault
            if fault is not None:
                fault()


class Producer(MemoryProducer):
    """Keeps what is sent back until the commit. As kafka-python's, it commits although a send has failed, and offsets
    of an aborted transaction come again with its next one."""

    def __init__(self, coordinator: Coordinator) -> None:
        super().__init__(coordinator.log)
        self.coordinator = coordinator
        self.epoch = -1
        self.held: list[tuple[Any, ...]] = []
        self.offsets: dict[TopicPartition, Any] = {}
        self.group = ""

    def init_transactions(self) -> None:
        self.coordinator.step("init")
        self.coordinator.epoch += 1
        self.epoch = self.coordinator.epoch

    def _check_epoch(self) -> None:
        if self.epoch != self.coordinator.epoch:
            raise errors.ProducerFencedError()

    def begin_transaction(self) -> None:
        self.coordinator.step("begin")
        self._check_epoch()
        self.held = []

    def send(
        self,
        topic: str,
        value: Any = None,
        key: Any = None,
        headers: Any = None,
        partition: Any = None,
        timestamp_ms: Any = None,
    ) -> MemoryFuture:
        self.coordinator.step("send")
        log = self.coordinator.log
        fault = log.on_send(topic, value) if log.on_send is not None else None
        future = MemoryFuture()
        limit = log._topics[topic].max_message_bytes
        if fault is not None:
            future.failure(fault.error or errors.KafkaTimeoutError("batch expired"))
        elif len(value or b"") > limit:
            future.failure(errors.MessageSizeTooLargeError())
        else:
            self.held.append((topic, value, key, headers or (), partition, timestamp_ms))
            future.success(None)
        return future

    def send_offsets_to_transaction(self, offsets: dict[TopicPartition, Any], group_metadata: Any) -> None:
        self.coordinator.step("offsets")
        self._check_epoch()
        _check_member(self.coordinator.log, group_metadata)
        self.coordinator.members.append(group_metadata)
        self.offsets |= offsets
        self.group = group_metadata.group_id

    def commit_transaction(self) -> None:
        self.coordinator.step("commit")
        self._check_epoch()
        log = self.coordinator.log
        for each in self.held:
            log.append(*each)
        for tp, offset in self.offsets.items():
            log._group(self.group).offsets[tp] = offset.offset
            log._group(self.group).metadata[tp] = offset.metadata
            log.commits.append((self.group, tp, offset.offset))
        self.held, self.offsets = [], {}
        self.coordinator.step("committed")

    def abort_transaction(self) -> None:
        self.coordinator.step("abort")
        self.held = []


def _check_member(log: MemoryLog, member: Any) -> None:
    """As a broker: who is not a member of the generation may not commit. Below 0, nobody is asked who he is."""
    if member.generation_id < 0:
        return
    group = log._group(member.group_id)
    if member.member_id not in {each._member_id for each in group.members if not each._evicted}:
        raise errors.UnknownMemberIdError()
    if member.generation_id != group.generation:
        raise errors.IllegalGenerationError()
