"""Which client a consumer or a producer belongs to. An adapter is imported when something of its client turns up."""

from __future__ import annotations

import threading
from typing import Any, Final, cast

from protocontract.kafka import client
from protocontract.kafka.errors import GuardError
from protocontract.kafka.ports import Client, Producer

#: Modules of the clients, as they are named where an object's class comes from.
_KAFKA_PYTHON: Final = "kafka"
_CONFLUENT: Final = "confluent_kafka"
_AIOKAFKA: Final = "aiokafka"

#: What a consumer or producer of kafka-python's shape has: a wrapper, a fake, ``protocontract.kafka.memory``.
_CONSUMER_SHAPE: Final = ("poll", "commit_async", "group_metadata", "subscription", "highwater", "config")
_PRODUCER_SHAPE: Final = ("send", "partitions_for", "close")

_KNOWN: Final = "kafka-python, confluent-kafka or aiokafka"


def consumer(given: Any) -> Client:
    """The client of a consumer that is polled by calls. Raises GuardError for any other object."""
    family = _family(given)
    if family == _AIOKAFKA:
        raise GuardError("consumer: an aiokafka consumer is asynchronous; give it to AsyncGuard")
    if family == _CONFLUENT:
        from protocontract.kafka import client_confluent

        return client_confluent.of(given)
    if family == _KAFKA_PYTHON or all(hasattr(given, name) for name in _CONSUMER_SHAPE):
        return client.of(given)
    raise GuardError(f"consumer: expected a consumer of {_KNOWN}, got {_described(given)}")


def async_consumer(given: Any) -> Client:
    """The client of a consumer that is awaited. Raises GuardError for any other object."""
    family = _family(given)
    if family == _AIOKAFKA:
        from protocontract.kafka import client_aiokafka

        return client_aiokafka.of(given)
    if family in (_KAFKA_PYTHON, _CONFLUENT) or all(hasattr(given, name) for name in _CONSUMER_SHAPE):
        raise GuardError("consumer: it is polled by calls that wait; give it to Guard, on a thread of its own")
    raise GuardError(f"consumer: expected an AIOKafkaConsumer, got {_described(given)}")


def only_kafka_python(given: Any, why: str) -> None:
    """Refuse a consumer of another client where only kafka-python does. Raises GuardError."""
    family = _family(given)
    if family in (_CONFLUENT, _AIOKAFKA):
        raise GuardError(f"consumer: {family.replace('_', '-')} cannot be used here: {why}; give one of kafka-python")


def producer(made: Any) -> Producer:
    """A producer as the guard uses it, whatever client it is of. Raises GuardError for an unknown one."""
    family = _family(made)
    if family == _CONFLUENT:
        from protocontract.kafka import client_confluent

        return client_confluent.ConfluentProducer(made)
    if family == _AIOKAFKA:
        from protocontract.kafka import client_aiokafka

        return client_aiokafka.AioProducer(made)
    if all(hasattr(made, name) for name in _PRODUCER_SHAPE):
        return cast(Producer, made)
    raise GuardError(f"producers: expected a producer of {_KNOWN}, got {_described(made)}")


def close_producer(made: Producer, timeout: float) -> str | None:
    """Close a producer within ``timeout`` seconds, whatever it still holds. Returns the name of an error, or None."""
    shut = getattr(made, "shut", None)
    if shut is not None:
        return cast("str | None", shut(timeout))
    return client.close_producer(made, timeout)


def retire_producer(made: Producer, timeout: float) -> None:
    """Give a producer up without waiting. What it has in flight is answered through its futures."""
    retire = getattr(made, "retire", None)
    if retire is not None:
        retire(timeout)
        return
    threading.Thread(
        target=close_producer, args=(made, timeout), daemon=True, name="protocontract-retired-producer"
    ).start()


def _family(given: Any) -> str:
    """The first module in an object's ancestry that is a client's; "" for none."""
    for ancestor in type(given).__mro__:
        root = ancestor.__module__.partition(".")[0]
        if root == "cimpl":
            # The classes of confluent-kafka say that they come from its extension module.
            return _CONFLUENT
        if root in (_KAFKA_PYTHON, _CONFLUENT, _AIOKAFKA):
            return root
    return ""


def _described(given: Any) -> str:
    kind = type(given)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
