"""Time zones from the pinned tzdata package, and what a local time can mean in one.

The system's zone files and the interpreter's search path play no part: zone data are part of a contract's meaning, so
every machine must read the same release.
"""

from __future__ import annotations

import io
import os.path
from datetime import datetime, timedelta
from functools import lru_cache
from importlib import import_module
from typing import Any
from zoneinfo import ZoneInfo

DAY = 86_400
FIRST_SECOND = -62_135_596_800
"""0001-01-01T00:00:00Z in seconds since the epoch."""
LAST_SECOND = 253_402_300_799
"""9999-12-31T23:59:59Z in seconds since the epoch."""

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001  (local times are naive on purpose: their meaning is the question)
# The calendar repeats after 400 years, weekdays included. Before the first transition and after the last one a zone
# follows a fixed rule, so a time near the ends of datetime's range is looked up 400 years further in.
_CYCLE = 146_097 * DAY
_MARGIN = 3 * DAY


@lru_cache(maxsize=1)
def names() -> frozenset[str]:
    """All zone names of the pinned tzdata release, links included."""
    return frozenset(line for line in data("zones").decode().split("\n") if line)


def data(name: str) -> bytes:
    """A file of tzdata, read by its loader: importlib.resources takes longer to import than zones to read."""
    tzdata: Any = import_module("tzdata")
    content: bytes = tzdata.__spec__.loader.get_data(os.path.join(tzdata.__path__[0], *name.split("/")))
    return content


def data_version() -> str:
    """The IANA release of the pinned zone data: ``2026f``."""
    return str(import_module("tzdata").IANA_VERSION)


@lru_cache(maxsize=1024)  # there are about 600 names: the cache cannot be flooded by data
def load(name: str) -> ZoneInfo | None:
    """The zone of an IANA name; None where tzdata has no such zone. Names are case sensitive."""
    if name not in names():
        return None
    return ZoneInfo.from_file(io.BytesIO(data(f"zoneinfo/{name}")), key=name)


def _inside(seconds: int) -> datetime:
    if seconds < FIRST_SECOND + _MARGIN:
        seconds += _CYCLE
    elif seconds > LAST_SECOND - _MARGIN:
        seconds -= _CYCLE
    return _EPOCH + timedelta(seconds=seconds)


def offset_at(zone: ZoneInfo, instant: int) -> int:
    """The zone's offset from UTC, in seconds, at an instant in seconds since the epoch."""
    local = zone.fromutc(_inside(instant).replace(tzinfo=zone))
    return _seconds(local)


def _seconds(local: datetime) -> int:
    offset = local.utcoffset()
    return 0 if offset is None else offset.days * DAY + offset.seconds


def readings(zone: ZoneInfo, local: int) -> list[int]:
    """The instants, earliest first, at which clocks in ``zone`` show ``local``: none in a gap, two in a fold.

    ``local`` counts seconds as if the local clock were UTC. Every offset in force within a day of that time is tried,
    and kept where the zone really has it at the resulting instant (the round trip of PEP 495).
    """
    clock = _inside(local).replace(tzinfo=zone)
    offsets = {_seconds(clock), _seconds(clock.replace(fold=1))}
    offsets.update((offset_at(zone, local - DAY - DAY // 2), offset_at(zone, local + DAY + DAY // 2)))
    return sorted(local - offset for offset in offsets if offset_at(zone, local - offset) == offset)


def before_gap(zone: ZoneInfo, local: int) -> int:
    """The instant of a local time inside a gap, read with the offset in force before the gap (RFC 5545)."""
    clock = _inside(local).replace(tzinfo=zone)
    # Clocks jump forward: the offset before is the smaller one of the two.
    return local - min(_seconds(clock), _seconds(clock.replace(fold=1)))
