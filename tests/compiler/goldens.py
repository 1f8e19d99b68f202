"""Goldens: expected output in files, refreshed by one switch (``REFRESH_GOLDENS=1``)."""

from __future__ import annotations

import os
from pathlib import Path


def matches(path: Path, text: str) -> bool:
    """Whether the file holds ``text``. Under the switch it is written first."""
    if os.environ.get("REFRESH_GOLDENS"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8", newline="\n")
    return path.read_text("utf-8") == text
