"""Differences from protovalidate that are meant, each with its reason. The list is empty: there is none.

``test_known_differences_exist`` fails when one of them disappears, so that the list never says what is no longer true.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Known:
    """A deliberate difference. ``exists`` makes the smallest schema that shows it and says whether it still does."""

    name: str
    reason: str
    exists: Callable[[], bool]


KNOWN: Final[tuple[Known, ...]] = ()
