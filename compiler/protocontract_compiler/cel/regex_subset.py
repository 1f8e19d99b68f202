"""The subset of RE2 that Python's ``re`` runs with the same meaning and without backtracking into loops."""

from __future__ import annotations

from typing import Literal


def translate(pattern: str) -> tuple[str, Literal["fullmatch", "search"]] | None:
    """The pattern in Python's syntax with the method to call, or ``None`` where it is not known to be safe."""
    return None
