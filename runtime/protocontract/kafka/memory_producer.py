"""The producer of the in-memory log, and the futures that it and the consumer give. See ``memory``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from protocontract.kafka.client import errors

if TYPE_CHECKING:
    from protocontract.kafka.memory import MemoryLog


@dataclass(frozen=True, slots=True)
class SendFault:
    """What happens to one send instead of its success.

    ``raise``: ``send`` raises. ``fail``: the future fails, nothing is written. ``lost_answer``: it is written and the
    future fails. ``hold``: it is written, and the future waits for ``MemoryLog.release``.
    """

    kind: Literal["raise", "fail", "lost_answer", "hold"]
    error: BaseException | None = None


class MemoryFuture:
    """The part of kafka-python's Future that the guard uses."""

    def __init__(self) -> None:
        self.is_done = False
        self.value: Any = None
        self.exception: BaseException | None = None
        self._callbacks: list[Callable[[Any], object]] = []
        self._errbacks: list[Callable[[Any], object]] = []

    def add_callback(self, f: Callable[[Any], object]) -> MemoryFuture:
        """Call ``f`` with the result, now or later."""
        if not self.is_done:
            self._callbacks.append(f)
        elif self.exception is None:
            f(self.value)
        return self

    def add_errback(self, f: Callable[[Any], object]) -> MemoryFuture:
        """Call ``f`` with the error, now or later."""
        if not self.is_done:
            self._errbacks.append(f)
        elif self.exception is not None:
            f(self.exception)
        return self

    def success(self, value: Any) -> None:
        """Resolve it."""
        self.is_done, self.value = True, value
        for f in self._callbacks:
            f(value)

    def failure(self, error: BaseException) -> None:
        """Fail it."""
        self.is_done, self.exception = True, error
        for f in self._errbacks:
            f(error)

    def get(self, timeout: float | None = None) -> Any:
        """The result; raises the error, or KafkaTimeoutError while there is none (``timeout`` is not waited)."""
        if not self.is_done:
            raise errors.KafkaTimeoutError("no answer")
        if self.exception is not None:
            raise self.exception
        return self.value


class Acknowledged(NamedTuple):
    """What a send's future resolves to."""

    topic: str
    partition: int
    offset: int


class MemoryProducer:
    """The part of ``kafka.KafkaProducer`` that the guard uses, over a ``MemoryLog``."""

    def __init__(self, log: MemoryLog) -> None:
        self.closed = False
        self._log: Final = log
        self._poisoned: BaseException | None = None

    def partitions_for(self, topic: str) -> set[int] | None:
        """The partitions of a topic. Raises KafkaTimeoutError if it is missing, as kafka-python does in the end."""
        found = self._log._topics.get(topic)
        if found is None:
            raise errors.KafkaTimeoutError("Failed to update metadata")
        return set(range(len(found.partitions)))

    def send(
        self,
        topic: str,
        value: bytes | None = None,
        key: bytes | None = None,
        headers: list[tuple[str, bytes]] | None = None,
        partition: int | None = None,
        timestamp_ms: int | None = None,
    ) -> MemoryFuture:
        """Write a record; the future tells when it is there."""
        if self.closed:
            raise errors.IllegalStateError("KafkaProducer already closed!")
        if value is None and key is None:
            raise ValueError("Need at least one: key or value")
        for name, content in headers or ():
            if not isinstance(name, str) or not isinstance(content, bytes):
                raise TypeError("All headers items must be (str, bytes) tuples")
        fault = self._log.on_send(topic, value) if self._log.on_send is not None else None
        if fault is not None and fault.kind == "raise":
            raise fault.error or errors.KafkaTimeoutError("Failed to update metadata")
        found = self._log._topics.get(topic)
        if found is None:
            raise errors.KafkaTimeoutError("Failed to update metadata")
        future = MemoryFuture()
        size = len(value or b"") + len(key or b"") + sum(len(k) + len(v) for k, v in headers or ())
        error = self._poisoned
        if error is None and size > found.max_message_bytes:
            error = errors.MessageSizeTooLargeError()
        if error is None and fault is not None and fault.kind == "fail":
            error = fault.error or errors.KafkaTimeoutError("batch expired")
        if error is not None:
            if not getattr(error, "retriable", False):
                self._poisoned = error
            future.failure(error)
            return future
        record = self._log.append(topic, value, key, list(headers or ()), partition, timestamp_ms)
        metadata = Acknowledged(topic, record.partition, record.offset)
        if fault is None:
            future.success(metadata)
        elif fault.kind == "hold":
            self._log._held.append((future, metadata))
        else:
            future.failure(fault.error or errors.KafkaTimeoutError("batch expired"))
        return future

    def flush(self, timeout: float | None = None) -> None:
        """Nothing is ever left behind here."""

    def close(self, timeout: float | None = None) -> None:
        """Close it."""
        self.closed = True
