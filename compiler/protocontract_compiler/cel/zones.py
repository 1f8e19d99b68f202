"""Time zones that a contract may name: those that mean the same wherever the contract is enforced."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

from protocontract_compiler.cel.errors import Untranslatable

_OFFSET = re.compile(r"[+-]?[0-9]{2}:[0-9]{2}")


@cache
def _names() -> frozenset[str]:
    return frozenset(resources.files("tzdata").joinpath("zones").read_text(encoding="utf-8").split())


def check_zone(name: str) -> None:
    """Raises ``Untranslatable`` unless ``name`` is empty, UTC, an offset like ``+08:00``, or an IANA name."""
    if name == "" or _OFFSET.fullmatch(name) or name in _names():
        return
    raise Untranslatable("a time zone that is not one of the IANA database")
