"""Helper modules that are made at generation, of the data that the Python runtime reads: path -> its text.

Their releases are not pinned exactly, so they are no files of ours: generated code has what is installed beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from protocontract_compiler.emit.typescript import units, zones

SOURCES: Final[Mapping[str, Callable[[], str]]] = {
    "normalize/data/units": units.source,
    "normalize/data/zones": zones.source,
}
