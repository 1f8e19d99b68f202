"""z3, the solver. It has no annotations, so its terms are Any everywhere; this is the one place that imports it."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

z3: Final[Any] = import_module("z3")
