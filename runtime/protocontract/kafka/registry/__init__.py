"""A Confluent Schema Registry beside a guard (extra ``registry``): ``Registry``. docs/registry.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from protocontract.kafka.errors import RegistryError

if TYPE_CHECKING:
    from protocontract.kafka.registry.registry import Registry, RegistryStats


def __getattr__(name: str) -> Any:
    # Not above: a guard without a registry reads the options beside this, and needs no client of one.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from protocontract.kafka.registry import registry

    return getattr(registry, name)


__all__ = ["Registry", "RegistryError", "RegistryStats"]
