"""Normalizers: what a value becomes before it is validated. A module for each word, imported when it is named."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from protocontract.normalize import instant, label, money, quantity, scalar, text

__all__ = ["instant", "label", "money", "quantity", "scalar", "text"]


def __getattr__(name: str) -> ModuleType:
    if name in __all__:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
