"""Judges what a stream promises: compliance, latency, frequency, throughput, error_rate (``StreamLevel``).

Pure bookkeeping: no clock is read here. All times are seconds since the epoch, handed in by the caller.

* ``LiveLevels`` judges a stream while it flows. The window slides by wall clock, in steps of a sixtieth of its length.
* ``RestLevels`` judges data at rest (``verify``, ``replay``). Windows stand side by side on the event-time axis, the
  first one beginning at the epoch, and the data are judged as a whole besides: a share that the whole misses is missed
  by some window, even where no single window holds enough records to be judged.

Shares (compliance, error_rate) and latency are judged once ``minimum_records`` are there. Frequency and throughput
speak of time, so they are judged on time: silence has no records.
"""

from __future__ import annotations

import math
from bisect import bisect_right, insort
from collections import deque
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from protocontract.contract import Outcome, StreamLevel

LevelName: TypeAlias = Literal["compliance", "latency", "frequency", "throughput", "error_rate"]
State: TypeAlias = Literal["kept", "missed", "unjudged"]

#: The window of a live stream whose level declares none, in seconds. Data at rest are then one window.
DEFAULT_WINDOW: Final = 3600.0

_BUCKETS: Final = 60
# Bounds on what RestLevels remembers, whatever the data: about 10 MB each.
_MAX_WINDOWS: Final = 65_536
_MAX_SILENCES: Final = 65_536


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one promised level.

    ``promised`` and ``measured`` are shares (0 to 1) for compliance and error_rate, seconds for latency and frequency,
    records a second for throughput. ``measured`` is None where there was nothing to measure, and for a frequency that
    data at rest keep. ``detail`` says which window missed the level, or why it was not judged.
    """

    level: LevelName
    state: State
    promised: float
    measured: float | None
    records: int
    detail: str = ""


def minimum_records(level: StreamLevel) -> int:
    """Fewest records on which a share is judged: as declared, else ceil(1 / (1 - compliance)).

    Without compliance it is ceil(1 / error_rate), and 1 where the promise is that no record breaks the contract.
    """
    if level.minimum_records:
        return level.minimum_records
    if level.compliance is not None:
        allowed = 1 - _exact(level.compliance)
    elif level.error_rate is not None:
        allowed = _exact(level.error_rate)
    else:
        return 1
    return math.ceil(1 / allowed) if allowed > 0 else 1


def event_seconds(message: Any, field_name: str) -> float | None:
    """The moment in a message's event_time field, in seconds since the epoch; None where there is none to be read.

    The field is a google.protobuf.Timestamp, an RFC 3339 text (what `instant` writes) or a number in `epoch_unit`.
    """
    if not field_name:
        return None
    value = getattr(message, field_name)
    if isinstance(value, str):
        return _parse_rfc3339(value)
    if isinstance(value, int):
        unit = _epoch_unit(message, field_name)
        return None if unit is None else value * unit
    if not message.HasField(field_name):
        return None
    seconds: float = value.seconds + value.nanos / 1e9
    return seconds


def outcome_seconds(outcome: Outcome[Any]) -> float | None:
    """The moment of a record, rejected or not; None where it cannot be read."""
    message = outcome.message if outcome.message is not None else outcome.decoded
    return None if message is None else event_seconds(message, outcome.contract.event_time)


# ----------------------------------------------------------------------------------------------------------------------
# A live stream


class _Bucket:
    __slots__ = ("index", "latency", "records", "silence", "valid")

    def __init__(self, index: int) -> None:
        self.index = index
        self.records = 0
        self.valid = 0
        self.latency = -1.0
        self.silence = 0.0

    def copy(self) -> _Bucket:
        twin = _Bucket(self.index)
        twin.records, twin.valid = self.records, self.valid
        twin.latency, twin.silence = self.latency, self.silence
        return twin


class LiveLevels:
    """Judges a stream over the last ``window`` seconds of wall clock.

    ``started`` is when watching began: silence counts from there, and throughput is judged once a whole window is over.
    """

    def __init__(self, level: StreamLevel, started: float) -> None:
        self.level: Final = level
        self.window: Final = level.window or DEFAULT_WINDOW
        self.minimum_records: Final = minimum_records(level)
        self._width = self.window / _BUCKETS
        self._started = started
        self._now = started
        self._last = started
        self._buckets: deque[_Bucket] = deque()

    @property
    def started(self) -> float:
        """When watching began, in seconds since the epoch."""
        return self._started

    def __copy__(self) -> LiveLevels:
        """A twin that counts on by itself from here."""
        twin = LiveLevels(self.level, self._started)
        twin._now, twin._last = self._now, self._last
        twin._buckets = deque(bucket.copy() for bucket in self._buckets)
        return twin

    def record(self, now: float, ok: bool, event_time: float | None = None) -> None:
        """Count one record that was validated at ``now``. A clock that steps back is taken to stand still."""
        now = self._now = max(now, self._now)
        bucket = self._bucket(now)
        bucket.records += 1
        bucket.valid += ok
        bucket.silence = max(bucket.silence, now - self._last)
        self._last = now
        if event_time is not None:
            # A moment in the future is a clock that runs ahead, not a negative delay.
            bucket.latency = max(bucket.latency, now - event_time, 0.0)

    def verdicts(self, now: float) -> tuple[Verdict, ...]:
        """One verdict for each declared level, as of ``now``."""
        now = self._now = max(now, self._now)
        self._drop_old(now)
        level = self.level
        records = sum(bucket.records for bucket in self._buckets)
        valid = sum(bucket.valid for bucket in self._buckets)
        enough = records >= self.minimum_records
        found: list[Verdict] = []
        if level.compliance is not None:
            found.append(self._share("compliance", level.compliance, valid, records))
        if level.latency is not None:
            latency = max((bucket.latency for bucket in self._buckets), default=-1.0)
            if latency < 0:
                found.append(
                    Verdict("latency", "unjudged", level.latency, None, records, "no record has an event time")
                )
            elif not enough:
                found.append(
                    Verdict(
                        "latency", "unjudged", level.latency, latency, records, _too_few(records, self.minimum_records)
                    )
                )
            else:
                found.append(Verdict("latency", _state(latency <= level.latency), level.latency, latency, records))
        if level.frequency is not None:
            silence = max(now - self._last, max((bucket.silence for bucket in self._buckets), default=0.0))
            found.append(Verdict("frequency", _state(silence <= level.frequency), level.frequency, silence, records))
        if level.throughput is not None:
            seen = min(now - self._started, self.window)
            rate = records / seen if seen > 0 else None
            if now - self._started < self.window:
                reason = f"the first window of {duration_text(self.window)} is not over"
                found.append(Verdict("throughput", "unjudged", level.throughput, rate, records, reason))
            else:
                kept = rate is not None and rate >= level.throughput
                found.append(Verdict("throughput", _state(kept), level.throughput, rate, records))
        if level.error_rate is not None:
            found.append(self._share("error_rate", level.error_rate, records - valid, records))
        return tuple(found)

    def _share(self, name: Literal["compliance", "error_rate"], promised: float, part: int, records: int) -> Verdict:
        measured = part / records if records else None
        if records < self.minimum_records:
            return Verdict(name, "unjudged", promised, measured, records, _too_few(records, self.minimum_records))
        return Verdict(name, _state(_share_kept(name, promised, part, records)), promised, measured, records)

    def _bucket(self, now: float) -> _Bucket:
        index = math.floor(now / self._width)
        if not self._buckets or self._buckets[-1].index != index:
            self._drop_old(now)
            self._buckets.append(_Bucket(index))
        return self._buckets[-1]

    def _drop_old(self, now: float) -> None:
        oldest = math.floor(now / self._width) - _BUCKETS
        while self._buckets and self._buckets[0].index <= oldest:
            self._buckets.popleft()


# ----------------------------------------------------------------------------------------------------------------------
# Data at rest


class RestLevels:
    """Judges data at rest by event time. Records may come in any order; what is remembered is bounded.

    Latency is not judged: when a record at rest was first validated is not known.
    """

    def __init__(self, level: StreamLevel) -> None:
        self.level: Final = level
        self.minimum_records: Final = minimum_records(level)
        self.records = 0
        self.valid = 0
        self._window = level.window
        self._windows: dict[int, list[int]] = {}
        self._current: int | None = None
        self._closed = _ClosedWindows()
        self._closed_until: int | None = None
        self._silences = None if level.frequency is None else _Silences(level.frequency)
        self._first: float | None = None
        self._last: float | None = None

    def record(self, ok: bool, event_time: float | None) -> None:
        """Count one record. One whose moment cannot be read counts in the window of the record before it."""
        self.records += 1
        self.valid += ok
        if event_time is not None:
            if self._first is None or event_time < self._first:
                self._first = event_time
            if self._last is None or event_time > self._last:
                self._last = event_time
            if self._silences is not None:
                self._silences.add(event_time)
            if self._window:
                self._current = math.floor(event_time / self._window)
        if self._current is None or (self._closed_until is not None and self._current <= self._closed_until):
            return
        tally = self._windows.get(self._current)
        if tally is None:
            tally = self._windows[self._current] = [0, 0]
            if len(self._windows) > _MAX_WINDOWS:
                self._close(min(self._windows))
        tally[0] += 1
        tally[1] += ok

    def verdicts(self) -> tuple[Verdict, ...]:
        """One verdict for each declared level, on all that was counted."""
        level = self.level
        found: list[Verdict] = []
        if level.compliance is not None:
            found.append(self._share("compliance", level.compliance))
        if level.latency is not None:
            reason = "judged on a live stream only"
            found.append(Verdict("latency", "unjudged", level.latency, None, self.records, reason))
        if level.frequency is not None:
            found.append(self._frequency(level.frequency))
        if level.throughput is not None:
            found.append(self._throughput(level.throughput))
        if level.error_rate is not None:
            found.append(self._share("error_rate", level.error_rate))
        return tuple(found)

    def _share(self, name: Literal["compliance", "error_rate"], promised: float) -> Verdict:
        part = self.valid if name == "compliance" else self.records - self.valid
        measured = part / self.records if self.records else None
        if self.records < self.minimum_records:
            reason = _too_few(self.records, self.minimum_records)
            return Verdict(name, "unjudged", promised, measured, self.records, reason)
        closed = self._closed.copy()
        for index, (records, valid) in self._windows.items():
            closed.share(self, index, records, valid)
        kept = _share_kept(name, promised, part, self.records) and not closed.missed[name]
        detail = ""
        if closed.missed[name] and closed.judged > 1 and self._window:
            share, index = closed.worst[name]
            worst = share if name == "compliance" else -share
            detail = (
                f"{closed.missed[name]:,} of {closed.judged:,} windows of {duration_text(self._window)} missed it,"
                f" worst {share_text(worst, promised)} from {moment_text(index * self._window)}"
            )
        return Verdict(name, _state(kept), promised, measured, self.records, detail)

    def _frequency(self, promised: float) -> Verdict:
        silences = self._silences
        if silences is None or self._first is None or self._last is None or self._first == self._last:
            return Verdict("frequency", "unjudged", promised, None, self.records, _UNTIMED)
        longest = silences.longest()
        if longest is None:
            return Verdict("frequency", "kept", promised, None, self.records, "no silence was longer")
        length, since = longest
        return Verdict("frequency", "missed", promised, length, self.records, f"from {moment_text(since)}")

    def _throughput(self, promised: float) -> Verdict:
        if self._first is None or self._last is None or self._first == self._last:
            return Verdict("throughput", "unjudged", promised, None, self.records, _UNTIMED)
        measured = self.records / (self._last - self._first)
        kept = measured >= promised
        detail = ""
        if self._window:
            # The first and the last window are cut off by the ends of the data.
            first, last = math.floor(self._first / self._window), math.floor(self._last / self._window)
            inner = max(0, last - first - 1)
            full = self._closed.fast_enough + sum(
                records >= promised * self._window
                for index, (records, _) in self._windows.items()
                if first < index < last
            )
            if inner and full < inner:
                kept = False
                detail = f"{inner - full:,} of {inner:,} windows of {duration_text(self._window)} missed it"
            elif inner:
                kept = True
        return Verdict("throughput", _state(kept), promised, measured, self.records, detail)

    def _close(self, index: int) -> None:
        records, valid = self._windows.pop(index)
        self._closed.share(self, index, records, valid)
        promised = self.level.throughput
        # The earliest window of all is cut off by the beginning of the data and is not judged.
        if promised is not None and self._window and self._first is not None:
            inside = index > math.floor(self._first / self._window)
            self._closed.fast_enough += inside and records >= promised * self._window
        self._closed_until = index


class _ClosedWindows:
    """Tallies of windows that are judged and forgotten."""

    def __init__(self) -> None:
        self.judged = 0
        self.fast_enough = 0
        self.missed: dict[LevelName, int] = {"compliance": 0, "error_rate": 0}
        # Share (negated for error_rate, so that less is worse) and index of the worst window that missed the level.
        self.worst: dict[LevelName, tuple[float, int]] = {}

    def copy(self) -> _ClosedWindows:
        twin = _ClosedWindows()
        twin.judged, twin.fast_enough = self.judged, self.fast_enough
        twin.missed, twin.worst = dict(self.missed), dict(self.worst)
        return twin

    def share(self, levels: RestLevels, index: int, records: int, valid: int) -> None:
        if records < levels.minimum_records:
            return
        self.judged += 1
        level = levels.level
        if level.compliance is not None:
            self._count("compliance", level.compliance, valid, records, index)
        if level.error_rate is not None:
            self._count("error_rate", level.error_rate, records - valid, records, index)

    def _count(
        self, name: Literal["compliance", "error_rate"], promised: float, part: int, records: int, index: int
    ) -> None:
        if _share_kept(name, promised, part, records):
            return
        self.missed[name] += 1
        standing = part / records if name == "compliance" else -(part / records)
        self.worst[name] = min(self.worst.get(name, (math.inf, 0)), (standing, index))


class _Silences:
    """The silences longer than ``promised`` between moments that come in any order.

    Only these are kept, as sorted intervals: a late record splits the silence that it falls into.
    """

    def __init__(self, promised: float) -> None:
        self._promised = promised
        self._gaps: list[tuple[float, float]] = []
        self._first = math.inf
        self._last = -math.inf

    def add(self, moment: float) -> None:
        if self._first == math.inf:
            self._first = self._last = moment
        elif moment > self._last:
            self._keep(self._last, moment)
            self._last = moment
        elif moment < self._first:
            self._keep(moment, self._first)
            self._first = moment
        elif self._gaps:
            place = bisect_right(self._gaps, (moment, math.inf)) - 1
            if place >= 0 and self._gaps[place][0] < moment < self._gaps[place][1]:
                start, end = self._gaps.pop(place)
                self._keep(start, moment)
                self._keep(moment, end)

    def longest(self) -> tuple[float, float] | None:
        """The longest silence and when it began; None where none is longer than promised."""
        if not self._gaps:
            return None
        start, end = max(self._gaps, key=lambda gap: gap[1] - gap[0])
        return end - start, start

    def _keep(self, start: float, end: float) -> None:
        if end - start <= self._promised:
            return
        insort(self._gaps, (start, end))
        if len(self._gaps) > _MAX_SILENCES:
            widest = sorted(self._gaps, key=lambda gap: gap[0] - gap[1])[: _MAX_SILENCES // 2]
            self._gaps = sorted(widest)


# ----------------------------------------------------------------------------------------------------------------------
# Figures and words

_UNTIMED: Final = "no two event times"


def share_text(measured: float, promised: float) -> str:
    """A share in per cent, with as many digits (two at least) as tell it from the promised one: ``99.44 %``.

    Rounded down, so that a missed promise never reads like a kept one.
    """
    digits = 2
    while digits < 12 and measured != promised and _floored(measured, digits) == _floored(promised, digits):
        digits += 1
    return f"{_floored(measured, digits) / 10**digits:.{digits}f} %"


def _floored(share: float, digits: int) -> int:
    """The share in units of the last digit of a percentage that has ``digits`` behind the point."""
    return math.floor(_exact(share) * Fraction(10) ** (digits + 2))


def duration_text(seconds: float) -> str:
    """``300 s``, ``1 h``, ``250 ms``: the largest unit that leaves a whole number, else seconds."""
    for unit, length in (("d", 86400), ("h", 3600)):
        if seconds >= length and seconds % length == 0:
            return f"{seconds / length:,.0f} {unit}"
    if 0 < seconds < 1:
        return f"{seconds * 1000:.3g} ms"
    return f"{seconds:,.0f} s" if seconds == int(seconds) else f"{seconds:,.3f} s"


def moment_text(seconds: float) -> str:
    """A moment as RFC 3339 in UTC, to the second."""
    try:
        return datetime.fromtimestamp(math.floor(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, ValueError, OSError):
        return f"{seconds:,.0f} s after 1970-01-01"


def _exact(share: float) -> Fraction:
    """The share as it is written in the contract: 0.999 is 999/1000, not the double nearest to it."""
    return Fraction(repr(float(share)))


def _share_kept(name: Literal["compliance", "error_rate"], promised: float, part: int, records: int) -> bool:
    bound = _exact(promised) * records
    return part >= bound if name == "compliance" else part <= bound


def _state(kept: bool) -> State:
    return "kept" if kept else "missed"


def _too_few(records: int, minimum: int) -> str:
    return f"{records:,} of the {minimum:,} records that it takes"


_UNITS: Final = {"S": 1.0, "MS": 1e-3, "US": 1e-6, "NS": 1e-9}


def _epoch_unit(message: Any, field_name: str) -> float | None:
    from protocontract.v1 import contract_pb2

    options = message.DESCRIPTOR.fields_by_name[field_name].GetOptions()
    instant = options.Extensions[contract_pb2.field].instant
    return _UNITS.get(contract_pb2.Instant.EpochUnit.Name(instant.epoch_unit))


def _parse_rfc3339(text: str) -> float | None:
    """Seconds since the epoch of an RFC 3339 text; digits beyond microseconds are below what levels need."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment.timestamp() if moment.tzinfo is not None else None
