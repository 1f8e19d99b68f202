"""What the guard asks of a Kafka client, as small protocols. No client is imported here.

The protocols have the shape of kafka-python, whose consumer fits as it is; ``client.py`` (kafka-python),
``client_confluent.py`` and ``client_aiokafka.py`` are the adapters, ``clients.py`` finds the right one. What the guard
relies on, whatever the client:

- a rebalance happens inside ``poll``: the listener is called there and nowhere else (and by ``close``);
- ``group_metadata()`` tells generation and member id as they are now, without asking the broker;
- the guard seeks every partition that comes back, and asks for the committed offset where it must begin anew;
- an error is one of ``known_errors()``, and ``error_kind`` says what the guard does about it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, Protocol, TypeAlias

#: ``poll(max_records=...)`` of this size never leaves a partition half consumed. A partition that is paused half
#: consumed never delivers again in kafka-python 3.0.12; so the guard takes all and keeps the buffer itself.
UNBOUNDED: Final = 2**31 - 1


class TopicPartition(NamedTuple):
    """One partition of one topic. Equal to any client's own pair of the same name."""

    topic: str
    partition: int


class Fetched(Protocol):
    """A record as a consumer's ``poll`` returns it, without deserializers. Times are milliseconds since 1970."""

    @property
    def topic(self) -> str: ...
    @property
    def partition(self) -> int: ...
    @property
    def offset(self) -> int: ...
    @property
    def leader_epoch(self) -> int | None: ...
    @property
    def timestamp(self) -> int: ...
    @property
    def timestamp_type(self) -> int: ...
    @property
    def key(self) -> bytes | None: ...
    @property
    def value(self) -> bytes | None: ...
    @property
    def headers(self) -> Sequence[tuple[str, bytes | None]]: ...


class FetchedRecord(NamedTuple):
    """A record of a client that has no such tuple of its own. The shape of ``Fetched``."""

    topic: str
    partition: int
    leader_epoch: int | None
    offset: int
    timestamp: int
    timestamp_type: int
    key: bytes | None
    value: bytes | None
    headers: Sequence[tuple[str, bytes | None]]


class Future(Protocol):
    """What ``send`` and ``commit_async`` return. Callbacks may run on a thread of the client's."""

    def add_callback(self, f: Callable[[Any], object]) -> object: ...
    def add_errback(self, f: Callable[[Any], object]) -> object: ...


class Answer:
    """A ``Future`` for clients that have none with callbacks of this kind. Answered once, on any thread."""

    __slots__ = ("_callbacks", "_done", "_errbacks", "_error", "_value")

    def __init__(self) -> None:
        self._done = False
        self._value: Any = None
        self._error: BaseException | None = None
        self._callbacks: list[Callable[[Any], object]] = []
        self._errbacks: list[Callable[[Any], object]] = []

    def add_callback(self, f: Callable[[Any], object]) -> None:
        """Call ``f`` with the result, now or later."""
        self._callbacks.append(f)
        self._tell()

    def add_errback(self, f: Callable[[Any], object]) -> None:
        """Call ``f`` with the error, now or later."""
        self._errbacks.append(f)
        self._tell()

    def success(self, value: Any = None) -> None:
        """It went well."""
        self._value, self._done = value, True
        self._tell()

    def failure(self, error: BaseException) -> None:
        """It did not."""
        self._error, self._done = error, True
        self._tell()

    def _tell(self) -> None:
        # The answer may come while a callback is added, on another thread: pop() gives each to one of the two.
        if not self._done:
            return
        error = self._error
        waiting, given = (self._callbacks, self._value) if error is None else (self._errbacks, error)
        while waiting:
            try:
                f = waiting.pop()
            except IndexError:
                return
            f(given)


class Membership(Protocol):
    """The part of ``group_metadata()`` that identifies a member within a generation."""

    @property
    def generation_id(self) -> int: ...
    @property
    def member_id(self) -> str: ...


class MemberOf(NamedTuple):
    """A ``Membership`` for clients that have none of their own. Outside of the group: -1 and ""."""

    generation_id: int
    member_id: str


class RebalanceListener:
    """What ``subscribe`` is given. Its methods make no blocking call."""

    def on_partitions_revoked(self, revoked: Collection[TopicPartition]) -> None:
        """A rebalance begins; these may go to others."""

    def on_partitions_lost(self, lost: Collection[TopicPartition]) -> None:
        """The membership is gone; others may have these already."""

    def on_partitions_assigned(self, assigned: Collection[TopicPartition]) -> None:
        """A rebalance ends."""


class Consumer(Protocol):
    """What the guard uses of a consumer. ``config`` has kafka-python's names, whatever the client calls its options."""

    @property
    def config(self) -> Mapping[str, Any]: ...
    def subscribe(self, topics: Iterable[str] = ..., pattern: str | None = ..., listener: Any = ...) -> None: ...
    def subscription(self) -> set[str] | None: ...
    def assignment(self) -> set[TopicPartition]: ...
    def poll(
        self, timeout_ms: int = ..., max_records: int | None = ...
    ) -> Mapping[TopicPartition, Sequence[Fetched]]: ...
    def position(self, partition: TopicPartition, timeout_ms: int | None = ...) -> int | None: ...
    def committed(self, partition: TopicPartition, metadata: bool = ..., timeout_ms: int | None = ...) -> Any: ...
    def commit(self, offsets: Any = ..., timeout_ms: int | None = ...) -> object: ...
    def commit_async(self, offsets: Any = ..., callback: Any = ...) -> Future: ...
    def group_metadata(self) -> Membership: ...
    def pause(self, *partitions: TopicPartition) -> None: ...
    def resume(self, *partitions: TopicPartition) -> None: ...
    def paused(self) -> set[TopicPartition]: ...
    def seek(self, partition: TopicPartition, offset: int) -> None: ...
    def seek_to_beginning(self, *partitions: TopicPartition) -> None: ...
    def highwater(self, partition: Any) -> int | None: ...
    def end_offsets(
        self, partitions: Iterable[TopicPartition], timeout_ms: int | None = ...
    ) -> dict[TopicPartition, int]: ...
    def beginning_offsets(
        self, partitions: Iterable[TopicPartition], timeout_ms: int | None = ...
    ) -> dict[TopicPartition, int]: ...
    def partitions_for_topic(self, topic: str) -> set[int]: ...
    def close(self, autocommit: bool = ..., timeout_ms: int | None = ...) -> None: ...


class Producer(Protocol):
    """What the guard uses of a producer: ``send`` queues a record, its future is the broker's acknowledgement."""

    def send(
        self,
        topic: str,
        value: bytes | None = ...,
        key: bytes | None = ...,
        headers: list[tuple[str, bytes]] | None = ...,
        partition: int | None = ...,
        timestamp_ms: int | None = ...,
    ) -> Future: ...
    def partitions_for(self, topic: str) -> set[int] | None: ...
    def flush(self, timeout: float | None = ...) -> object: ...
    def close(self, timeout: float | None = ...) -> object: ...


ProducerFactory: TypeAlias = Callable[[], Producer]


@dataclass(frozen=True, slots=True)
class Client:
    """A consumer as the guard uses it, and what belongs to its client."""

    #: The package's name, as one installs it.
    name: str
    consumer: Consumer
    #: Something that stays equal as long as generation and member id do. Asked for every record.
    membership: Callable[[], object]
    #: Whether the client knows that others wait for it to join a rebalance, which it does in ``poll`` only.
    rebalancing: Callable[[], bool]
    #: The client's own pair for a partition: some take no other.
    partition: Callable[[str, int], TopicPartition]
    #: An offset as the client commits it: offset, leader epoch, metadata (4,096 bytes at most).
    offset: Callable[[int, int, str], Any]
    #: Producers from a configuration, from a function of the user's, or (None) for the consumer's own cluster.
    #: Raises ValueError for a configuration that would lose records.
    producers: Callable[[Mapping[str, Any] | ProducerFactory | None], ProducerFactory]
    #: Seconds after which such a producer must have answered a send.
    answer_within: Callable[[Mapping[str, Any] | ProducerFactory | None], float]
    #: Compressions that this installation cannot read.
    missing_codecs: Callable[[], list[str]]
    #: Lets seconds pass.
    sleep: Callable[[float], None]
    #: How the client spells one of kafka-python's options.
    spelled: Callable[[str], str]
    #: A rebalance listener that the consumer has already.
    listener: Any = None


# ----------------------------------------------------------------------------------------------------------------------
# Errors, by what the guard does about them

#: ``temporary``: tried again; ``too_large``: refused for its size; ``forbidden``: rights are missing, waiting does not
#: help; ``gap``: records are gone that should have been read; ``other``: anything else that a client reports.
ErrorKind: TypeAlias = Literal["temporary", "too_large", "forbidden", "gap", "other"]


class ClientError(Exception):
    """An error of the guard's own making that stands for one of a client's."""

    kind: ErrorKind = "temporary"


class KafkaTimeoutError(ClientError):
    """No answer within the time."""


class UnknownTopicOrPartitionError(ClientError):
    """The topic is not there, or may not be seen."""


_KINDS: list[tuple[type[BaseException], Callable[[Any], ErrorKind], Callable[[Any], str]]] = [
    (ClientError, lambda error: error.kind, lambda error: type(error).__name__)
]


def register_errors(
    base: type[BaseException],
    kind: Callable[[Any], ErrorKind],
    name: Callable[[Any], str] = lambda error: type(error).__name__,
) -> None:
    """Make a client's errors known: their base class, what the guard does about one, and its name for messages."""
    _KINDS.append((base, kind, name))


def known_errors() -> tuple[type[BaseException], ...]:
    """Base classes of the errors of the clients that are in use: for ``except``."""
    return tuple(base for base, _, _ in _KINDS)


def error_kind(error: BaseException) -> ErrorKind | None:
    """What the guard does about an error; None for one that is no client's."""
    for base, kind, _ in _KINDS:
        if isinstance(error, base):
            return kind(error)
    return None


def error_name(error: BaseException) -> str:
    """An error's name for messages: never its text, which may quote a record."""
    for base, _, name in _KINDS:
        if isinstance(error, base):
            return name(error)
    return type(error).__name__
