"""Stopping the line: a guard judges what its contracts promise of the stream, and pauses where that is missed.

A level that turns missed is told at once, in one log line and to a callable of the user's. Under ``on_breach: HALT``,
and where the breaker opens, the partitions concerned are halted besides: nothing more of them is delivered,
dead-lettered or committed, and they stay with this member, for to leave would hand them to one that goes on. The reason
is written as metadata of the committed offset, so every later owner finds it, after a restart as after a rebalance.

A partition that is halted by a level is so with all partitions of that contract that this member has at the time; the
breaker counts and halts each partition by itself.
"""

from __future__ import annotations

import json
import logging
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypedDict

from protocontract.kafka.delays import Delays
from protocontract.kafka.errors import GuardError
from protocontract.kafka.ports import Fetched, TopicPartition
from protocontract.kafka.record import timestamp_type
from protocontract.levels import LiveLevels, Verdict, duration_text, outcome_seconds, share_text

if TYPE_CHECKING:
    from protocontract.contract import Contract, Outcome, StreamLevel
    from protocontract.violations import Violation

log: Final = logging.getLogger("protocontract.kafka")

#: Seconds between two looks at the levels while no record breaks its contract.
LOOK_EVERY: Final = 1.0
#: Records of a partition over which the breaker takes its ratio, unless it is told otherwise.
BREAKER_RECORDS: Final = 100
#: Seconds that writing a halt may take before the guard goes back to keeping its membership.
SAVE_WITHIN: Final = 5.0
_SHARES: Final = frozenset(("compliance", "error_rate"))
_KIND: Final = "protocontract.halt"
#: Longest reason, in characters: the broker takes 4,096 bytes, and JSON writes some characters as six.
_MAX_REASON: Final = 500


@dataclass(frozen=True, slots=True)
class Breach:
    """A level that turned missed, or a breaker that opened."""

    #: Full name of the contract.
    contract: str
    #: ``compliance``, ``latency``, ``frequency``, ``throughput``, ``error_rate``, or ``breaker``.
    level: str
    #: What happened, in words.
    reason: str
    #: Whether the line is stopped for it.
    halts: bool
    #: The level's figures; None for a breaker.
    verdict: Verdict | None = None
    #: The partition of a breaker; None for a level.
    partition: TopicPartition | None = None


class Breaker(TypedDict, total=False):
    """When a partition is halted whatever its contract promises."""

    #: Share of bad records, above 0 and at most 1, among the last ``records`` (default 100).
    ratio: float
    records: int
    #: Bad records in a row.
    consecutive: int


class Haltable(Protocol):
    """One partition of this member. ``halt`` is why its line is stopped, as it is written; "": it runs."""

    halt: str | None

    @property
    def tp(self) -> TopicPartition: ...


class Line(Protocol):
    """What reads the partitions, and writes their halts beside the committed offsets."""

    @property
    def partitions(self) -> Mapping[TopicPartition, Haltable]: ...
    def commit(self) -> object: ...
    def commit_now(self, timeout: float) -> object: ...


# ----------------------------------------------------------------------------------------------------------------------
# What is written beside the committed offset


def read_metadata(metadata: str, kind: str) -> Mapping[str, Any] | None:
    """What the metadata of a committed offset tells of this kind; None if nothing."""
    if kind not in metadata:
        return None
    try:
        found = json.loads(metadata)
    except ValueError:
        return None
    return found if isinstance(found, dict) and found.get("kind") == kind else None


def halt_metadata(contract: str, reason: str, at: float) -> str:
    """A halt as text for the metadata of a committed offset: at most 4,096 bytes. ``at``: seconds since 1970."""
    moment = datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")
    return json.dumps({"kind": _KIND, "reason": reason[:_MAX_REASON], "contract": contract[:200], "at": moment})


def halted_by(metadata: str) -> str:
    """The reason in the metadata of a committed offset: "" if it says nothing of a halt."""
    found = read_metadata(metadata, _KIND)
    if found is None:
        return ""
    return f"{found.get('reason') or 'no reason given'} (since {found.get('at', 'an unknown time')})"


def kept_halt(metadata: str) -> str:
    """The metadata if it tells of a halt, else ""."""
    return metadata if halted_by(metadata) else ""


# ----------------------------------------------------------------------------------------------------------------------


class _Watch:
    """The levels of one contract, as far as this process sees its records."""

    def __init__(self, contract: Contract[Any], level: StreamLevel, clock: Callable[[], float]) -> None:
        self.name: Final = contract.full_name
        self.halts: Final = contract.on_breach == "HALT"
        #: Whose clock latency is measured from: the contract's field, or what Kafka calls the record's timestamp.
        self.measured_from = contract.event_time
        #: Of the last record, in seconds: from its event time (where the contract names one) to its timestamp, and from
        #: there until it was judged. A punctual producer is not to blame for a consumer that stood still.
        self.producer_delay: float | None = None
        self.consumer_delay: float | None = None
        #: What whole-stream figures are made from. It goes on over halts.
        self.delays: Final = Delays(level.latency)
        self.missed: set[str] = set()
        self.verdicts: tuple[Verdict, ...] = ()
        self.live: LiveLevels
        self._has_event_time = bool(contract.event_time)
        self._latency = level.latency
        self._level = level
        self._clock = clock
        #: Delays of records that are not settled yet (see ``remember``): a counter cannot take anything back.
        self._unsettled: list[tuple[float, float | None, str]] | None = None
        self._shares = frozenset(name for name in _SHARES if getattr(level, name) is not None)
        self._count = 0
        #: Whether this member had records to judge at the last look. Without any, nothing is judged.
        self.running = False
        self.restart()

    def restart(self) -> None:
        """Forget everything, as if watching began now."""
        self.live = LiveLevels(self._level, self._clock())
        self.missed.clear()
        self.verdicts = ()
        self._count = 0

    def begin(self) -> None:
        """There are records to judge. If there were none before, that was no silence of the stream's."""
        if not self.running:
            self.running = True
            self.restart()

    def remember(self) -> tuple[LiveLevels, int]:
        """What was counted so far, for ``recall``."""
        self._unsettled = []
        return copy(self.live), self._count

    def recall(self, counted: tuple[LiveLevels, int]) -> None:
        """Take back what was counted since. What was told stays told."""
        self.live, self._count = counted
        self._unsettled = None

    def settle(self) -> None:
        """Nothing of what was counted since ``remember`` comes again."""
        for now, moment, clock in self._unsettled or ():
            self.delays.record(now, moment, clock)
        self._unsettled = None

    def record(self, raw: Fetched, outcome: Outcome[Any], ok: bool) -> bool:
        """Count a record. True where it can have turned a level, so that somebody should look at once."""
        now = self._clock()
        moment = outcome_seconds(outcome) if self._has_event_time else None
        stamp = raw.timestamp
        if stamp is not None and stamp >= 0:
            if not self._has_event_time:
                moment = stamp / 1000
                self.measured_from = timestamp_type(raw)
            elif moment is not None:
                self.producer_delay = stamp / 1000 - moment
            self.consumer_delay = now - stamp / 1000
        self.live.record(now, ok, moment)
        if self._unsettled is None:
            self.delays.record(now, moment, self.measured_from)
        else:
            self._unsettled.append((now, moment, self.measured_from))
        self._count += 1
        if self._count == self.live.minimum_records:
            return True
        if not ok and not self._shares <= self.missed:
            return True
        return (
            moment is not None
            and self._latency is not None
            and now - moment > self._latency
            and "latency" not in self.missed
        )


class _Breaker:
    """The last records of one partition, as good or bad."""

    def __init__(self, limits: Breaker) -> None:
        self._ratio = limits.get("ratio")
        self._consecutive = limits.get("consecutive")
        self._last: deque[bool] = deque(maxlen=limits.get("records", BREAKER_RECORDS))
        self._bad = 0
        self._in_a_row = 0

    def record(self, ok: bool) -> str:
        """Count a record. Returns why the breaker opens, or ""."""
        self._in_a_row = 0 if ok else self._in_a_row + 1
        if self._consecutive is not None and self._in_a_row >= self._consecutive:
            return f"breaker: {self._in_a_row:,} bad records in a row"
        if self._ratio is None:
            return ""
        last = self._last
        if len(last) == last.maxlen:
            self._bad -= not last[0]
        last.append(ok)
        self._bad += not ok
        if len(last) == last.maxlen and self._bad >= self._ratio * len(last):
            return f"breaker: {self._bad:,} of the last {len(last):,} records are bad"
        return ""

    def __copy__(self) -> _Breaker:
        twin = _Breaker.__new__(_Breaker)
        twin.__dict__.update(self.__dict__, _last=self._last.copy())
        return twin


class Counted(NamedTuple):
    """What levels and breakers had counted when a transaction began."""

    watches: dict[str, tuple[LiveLevels, int]]
    breakers: dict[TopicPartition, tuple[Observer, _Breaker]]


class Observer:
    """Counts the records of one partition as they are judged."""

    __slots__ = ("_halting", "_watch", "breaker", "partition")

    def __init__(self, halting: Halting, partition: Haltable, watch: _Watch | None, breaker: _Breaker | None) -> None:
        self.partition = partition
        self._halting = halting
        self._watch = watch
        self.breaker = breaker

    def __call__(self, raw: Fetched, outcome: Outcome[Any], own: Violation | None) -> bool:
        """Whether the record may go on. If not, the line stops before it."""
        ok = own is None and outcome.message is not None
        watch = self._watch
        if watch is not None and watch.record(raw, outcome, ok):
            self._halting.look_at(watch)
        if self.breaker is not None and not self.partition.halt:
            reason = self.breaker.record(ok)
            if reason:
                self._halting.break_off(self.partition, outcome.contract.full_name, reason)
        return not self.partition.halt


class Halting:
    """The levels and breakers of one guard, on the guard's thread."""

    def __init__(
        self,
        contracts: Iterable[Contract[Any]],
        contract_of: Callable[[str], Contract[Any]],
        clock: Callable[[], float],
        *,
        breaker: Breaker | Mapping[str, Any] | None = None,
        on_breach: Callable[[Breach], object] | None = None,
    ) -> None:
        """``contract_of`` tells the contract of a topic; ``clock`` is wall clock, in seconds since 1970.

        Raises GuardError for a breaker that can never open or always would.
        """
        self._clock = clock
        self._contract_of = contract_of
        self._on_breach = on_breach
        self._breaker = None if breaker is None else _checked_breaker(breaker)
        self._watches: dict[str, _Watch] = {}
        for contract in contracts:
            if contract.level is not None and contract.full_name not in self._watches:
                self._watches[contract.full_name] = _Watch(contract, contract.level, clock)
        self._observers: dict[TopicPartition, Observer] = {}
        self._source: Line | None = None
        self._looked = float("-inf")
        self._resume: str | None = None
        self._unsaved = False
        #: How often the line was stopped here.
        self.halts = 0

    @property
    def parse(self) -> Callable[[str], str] | None:
        """How to read a halt from a committed offset's metadata; None where this guard never halts."""
        can_halt = self._breaker is not None or any(watch.halts for watch in self._watches.values())
        return kept_halt if can_halt else None

    @property
    def watches(self) -> list[_Watch]:
        """The contracts with levels: for metrics."""
        return list(self._watches.values())

    def start(self, source: Line) -> None:
        """Begin to watch what ``source`` reads."""
        self._source = source
        for watch in self._watches.values():
            watch.restart()

    def observer(self, partition: Haltable) -> Observer | None:
        """Who counts the records of a partition; None where neither a level nor a breaker asks for it."""
        watch = self._watches.get(self._contract_of(partition.tp.topic).full_name) if self._watches else None
        if watch is None and self._breaker is None:
            return None
        if watch is not None:
            watch.begin()
        found = self._observers.get(partition.tp)
        if found is None or found.partition is not partition:
            breaker = None if self._breaker is None else _Breaker(self._breaker)
            found = self._observers[partition.tp] = Observer(self, partition, watch, breaker)
        return found

    # -- for a line whose records may be read again as if they had never been: a transaction that is aborted

    def remember(self) -> Counted:
        """What was counted so far, for ``recall``."""
        return Counted(
            {name: watch.remember() for name, watch in self._watches.items()},
            {tp: (each, copy(each.breaker)) for tp, each in self._observers.items() if each.breaker is not None},
        )

    def settle(self) -> None:
        """What was counted since ``remember`` stays counted."""
        for watch in self._watches.values():
            watch.settle()

    def recall(self, counted: Counted) -> None:
        """Take back what was counted since; the records come again. What was told or halted since stays so."""
        for name, levels in counted.watches.items():
            self._watches[name].recall(levels)
        for tp, observer in list(self._observers.items()):
            known, breaker = counted.breakers.get(tp, (None, None))
            if known is observer:
                observer.breaker = breaker
            elif observer.breaker is not None:
                del self._observers[tp]

    # -- state

    @property
    def halted(self) -> str | None:
        """Which partitions of this member are halted, and why; None while the line runs."""
        if self._source is None or self._resume is not None:
            return None
        reasons: dict[str, list[str]] = {}
        for tp, partition in sorted(self._source.partitions.items()):
            if partition.halt:
                reasons.setdefault(halted_by(partition.halt), []).append(f"{tp.topic}:{tp.partition}")
        return "; ".join(f"{', '.join(where)}: {reason}" for reason, where in reasons.items()) or None

    def levels(self) -> dict[str, tuple[Verdict, ...]]:
        """The verdicts as of now, by the contract's full name."""
        now = self._clock()
        return {name: watch.live.verdicts(now) for name, watch in self._watches.items()}

    def resume(self, reason: str) -> None:
        """Let the line go on at the guard's next step. May be called from any thread or signal handler."""
        self._resume = reason

    # -- looking

    def look(self) -> None:
        """What is due at each step of the guard: go on if somebody said so; judge the levels once a second."""
        if self._resume is not None:
            self._go_on(self._resume)
        now = self._clock()
        if not self._watches or abs(now - self._looked) < LOOK_EVERY:
            return
        self._looked = now
        for watch in self._watches.values():
            halts = [partition.halt for partition in self._partitions(watch.name)]
            if "" in halts:
                watch.begin()
                self.look_at(watch)
            else:
                watch.running = False
                if not any(halts):
                    # Whoever has its partitions now tells how they are; what was found here is no news any more.
                    watch.verdicts = ()
        self.save()

    def save(self) -> None:
        """Write new halts beside the committed offsets before anything else happens. What fails is sent again."""
        if self._unsaved and self._source is not None:
            self._unsaved = False
            self._source.commit_now(SAVE_WITHIN)

    def look_at(self, watch: _Watch) -> None:
        """Judge one contract's levels, and tell what turned."""
        watch.verdicts = watch.live.verdicts(self._clock())
        for verdict in watch.verdicts:
            if verdict.state == "missed" and verdict.level not in watch.missed:
                watch.missed.add(verdict.level)
                reason = verdict_text(verdict)
                _log_turn(watch, verdict, "missed")
                if watch.halts:
                    self._halt(self._partitions(watch.name), watch.name, reason)
                    # What comes after the halt, or where it cannot be kept, is judged anew.
                    watch.running = False
                self._tell(Breach(watch.name, verdict.level, reason, watch.halts, verdict))
            elif verdict.state == "kept" and verdict.level in watch.missed:
                watch.missed.discard(verdict.level)
                _log_turn(watch, verdict, "kept")

    def break_off(self, partition: Haltable, contract: str, reason: str) -> None:
        """Halt one partition because its breaker opened."""
        log.warning(
            "breaker open: contract=%s partition=%s:%d reason=%r",
            contract,
            partition.tp.topic,
            partition.tp.partition,
            reason,
            extra={
                "protocontract": {
                    "contract": contract,
                    "level": "breaker",
                    "state": "open",
                    "reason": reason,
                    "topic": partition.tp.topic,
                    "partition": partition.tp.partition,
                }
            },
        )
        self._halt([partition], contract, reason)
        self._tell(Breach(contract, "breaker", reason, True, partition=partition.tp))

    def _partitions(self, contract: str) -> list[Haltable]:
        if self._source is None:
            return []
        return [
            partition
            for tp, partition in self._source.partitions.items()
            if self._contract_of(tp.topic).full_name == contract
        ]

    def _halt(self, partitions: Iterable[Haltable], contract: str, reason: str) -> None:
        text = halt_metadata(contract, reason, self._clock())
        halted = False
        for partition in partitions:
            if not partition.halt:
                halted = True
                partition.halt = text
        if halted:
            self.halts += 1
            self._unsaved = True

    def _go_on(self, reason: str) -> None:
        self._resume = None
        source = self._source
        if source is None:
            return
        resumed = [partition for partition in source.partitions.values() if partition.halt]
        for partition in resumed:
            partition.halt = ""
        for watch in self._watches.values():
            watch.restart()
        self._observers.clear()
        if resumed:
            log.warning("the line goes on: %d partitions resumed, reason=%r", len(resumed), reason)
            source.commit()

    def _tell(self, breach: Breach) -> None:
        if self._on_breach is None:
            return
        try:
            self._on_breach(breach)
        except Exception as error:
            # Whatever the user's callable does, records go on (or stay halted) as the contract says.
            log.error("on_breach failed (%s); the guard goes on", type(error).__name__)


def _checked_breaker(limits: Mapping[str, Any]) -> Breaker:
    unknown = sorted(set(limits) - {"ratio", "consecutive", "records"})
    if unknown:
        raise GuardError(f"breaker: expected ratio, consecutive, records; got {', '.join(unknown)}")
    ratio, consecutive, records = (limits.get(name) for name in ("ratio", "consecutive", "records"))
    if ratio is None and consecutive is None:
        raise GuardError("breaker: give a ratio of bad records, a number of consecutive ones, or both")
    if ratio is not None and not (isinstance(ratio, int | float) and 0 < ratio <= 1):
        raise GuardError("breaker: ratio must be above 0 and at most 1")
    for name, value in (("consecutive", consecutive), ("records", records)):
        if value is not None and not (isinstance(value, int) and value >= 1):
            raise GuardError(f"breaker: {name} must be a whole number of records, 1 at least")
    checked: Breaker = {}
    if ratio is not None:
        checked["ratio"] = float(ratio)
    if consecutive is not None:
        checked["consecutive"] = consecutive
    if records is not None:
        checked["records"] = records
    return checked


def verdict_text(verdict: Verdict) -> str:
    """``compliance 95.00 %, promised 99.90 %``."""
    return f"{verdict.level} {_figure(verdict, verdict.measured)}, promised {_figure(verdict, verdict.promised)}"


def _figure(verdict: Verdict, value: float | None) -> str:
    if value is None:
        return "unknown"
    if verdict.level in _SHARES:
        return share_text(value, verdict.promised)
    if verdict.level == "throughput":
        return f"{value:,.3g}/s"
    return duration_text(round(value, 3))


def _log_turn(watch: _Watch, verdict: Verdict, state: str) -> None:
    level = logging.WARNING if state == "missed" else logging.INFO
    halts = watch.halts and state == "missed"
    log.log(
        level,
        "level %s: contract=%s level=%s measured=%s promised=%s records=%d window_seconds=%g on_breach=%s",
        state,
        watch.name,
        verdict.level,
        verdict.measured,
        verdict.promised,
        verdict.records,
        watch.live.window,
        "HALT" if watch.halts else "ALERT",
        extra={
            "protocontract": {
                "contract": watch.name,
                "level": verdict.level,
                "state": state,
                "measured": verdict.measured,
                "promised": verdict.promised,
                "records": verdict.records,
                "window_seconds": watch.live.window,
                "halts": halts,
            }
        },
    )
