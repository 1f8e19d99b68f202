"""Keeping out of the logs of Kafka clients what has no place there: payloads, and warnings that mislead."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Final

#: How warnings begin that tell of something that the guard means: it subscribes anew to set its listener.
_MEANT: Final = ("subscription unchanged by ",)


class _NoPayloads(logging.Filter):
    """The clients log whole records and requests at DEBUG: keys, values, headers."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno > logging.DEBUG:
            return not str(record.msg).startswith(_MEANT)
        return not _carries_payload(record.args, 4)


def _carries_payload(value: object, depth: int) -> bool:
    """Whether a log argument holds bytes, or a request or response that can hold records."""
    if isinstance(value, bytes | bytearray | memoryview):
        return True
    if isinstance(value, Mapping):
        return depth > 0 and any(_carries_payload(item, depth - 1) for pair in value.items() for item in pair)
    if isinstance(value, list | tuple | set | frozenset):
        return depth > 0 and any(_carries_payload(item, depth - 1) for item in value)
    name = type(value).__name__
    return name.startswith(("Produce", "Fetch", "ConsumerRecord")) and not name.startswith("Producer")


_NO_PAYLOADS: Final = _NoPayloads()


def keep_payloads_out_of_logs(package: str = "kafka") -> None:
    """Silence the DEBUG lines in which a client writes payloads to its log, and warnings of what the guard means to do.

    Repeating it changes nothing.
    """
    for name in list(logging.Logger.manager.loggerDict):
        if name.startswith(f"{package}."):
            logging.getLogger(name).addFilter(_NO_PAYLOADS)
