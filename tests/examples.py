"""How many examples a property gets: its own number times PROTOCONTRACT_EXAMPLES (a factor, default 1)."""

from __future__ import annotations

import os


def examples(number: int) -> int:
    """``number`` examples, times the factor of the environment."""
    return max(1, int(number * float(os.environ.get("PROTOCONTRACT_EXAMPLES", "1"))))
