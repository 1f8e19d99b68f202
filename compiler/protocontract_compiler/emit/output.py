"""What emitters hand over."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OutputFile:
    """A file to write: its path below the output folder, with forward slashes, and its text."""

    name: str
    text: str
