"""What a guard demands of the clients that it is given, and of their configuration."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from protocontract.kafka.errors import GuardError


def check_config(config: Mapping[str, Any], spelled: Callable[[str], str] = lambda name: name) -> None:
    """Refuse a configuration with which records would be lost. Raises GuardError naming the option.

    config: with kafka-python's names. spelled: how the consumer's client spells such a name.
    """
    for name in ("value_deserializer", "key_deserializer"):
        if config.get(name) is not None:
            raise GuardError(
                f"{spelled(name)}: leave it out of the consumer; one that raises stops the client at the record for "
                "ever, so the guard decodes raw bytes after the poll"
            )
    if config.get("enable_auto_commit", True):
        raise GuardError(
            f"{spelled('enable_auto_commit')}: set it to False; only the guard knows what may be committed"
        )
    if not config.get("group_id"):
        raise GuardError(f"{spelled('group_id')}: the consumer needs one; offsets are committed for it")
    reset = config.get("auto_offset_reset")
    if reset not in ("earliest", "none"):
        raise GuardError(
            f'{spelled("auto_offset_reset")}: set it to "earliest" or "none"; '
            f"{reset!r} loses what waits at the first start"
        )


def check_listener(there: Any, listener: Any) -> None:
    """Refuse a rebalance listener that the guard would silence or could not call. Raises GuardError.

    there: the listener that the consumer has already. listener: the one given to the guard.
    """
    # Replacing it silently would break what it does.
    if there is not None and listener is None:
        raise GuardError("listener: the consumer has a rebalance listener already; give it to the guard instead")
    if any(
        inspect.iscoroutinefunction(getattr(listener, name, None))
        for name in ("on_partitions_revoked", "on_partitions_lost", "on_partitions_assigned")
    ):
        raise GuardError("listener: its methods are coroutines; give one with plain methods")


def check_producer_config(config: Mapping[str, Any]) -> None:
    """Refuse a producer that would lose or change records. Raises ValueError. ``config``: with kafka-python's names."""
    if config.get("acks", "all") not in ("all", -1):
        raise ValueError('a producer with `acks` below "all" can lose records; leave `acks` out')
    if config.get("key_serializer") or config.get("value_serializer"):
        raise ValueError("records are copied byte for byte; leave `key_serializer` and `value_serializer` out")
    if config.get("transactional_id"):
        raise ValueError("the guard opens no transaction; leave `transactional_id` out")
