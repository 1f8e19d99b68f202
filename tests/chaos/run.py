"""The run itself: parts, records, guards, faults in the middle of the flow, and what is proved in the end.

Steps are taken by progress, not by the clock: a fault strikes when so many records of its portion are committed, and
the next portion is written before that, so that there is always something in hand. What progress is, is read from the
broker's own log of committed offsets, which also works while the broker is stopped.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from bisect import bisect_right
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.chaos import faults
from tests.chaos.feed import Feeder, records
from tests.chaos.fleet import GRACE, End, Fleet
from tests.chaos.logs import GroupHistory, Written, empty_history, written
from tests.chaos.operator import Operator
from tests.chaos.parts import BrokerProcess, Toxiproxy
from tests.chaos.verdict import Copy, Evidence, Source, Verdict, judge
from tests.kafka.conftest import Broker
from tests.kafka.test_broker import KEEPS_ALL
from tests.support.brokers import Stuck, wait_for

GUARDS: Final = ["guard-0", "guard-1", "guard-2"]
PARTITIONS: Final = 8
SOURCE, SINK, DEAD, GROUP = "chaos.raw", "chaos.clean", "chaos.dead", "chaos"
#: At least once, each guard writes to a sink of its own, so that it is known who wrote a copy.
SINKS: Final = {guard: f"{SINK}.{guard}" for guard in GUARDS}
#: The share of the records that flows while faults strike; the rest is for the end.
_IN_CHAOS: Final = 0.9
#: The broker's clock for every record: by it, copies and commits can be put in order.
_APPEND_TIME: Final = {"message_timestamp_type": "LogAppendTime"}


@dataclass
class Struck:
    """A fault that struck."""

    what: str
    guard: str
    #: How many records were committed, and how many were written and not committed.
    resolved: int
    open: int
    #: From when to when, in milliseconds since 1970.
    began: int = 0
    ended: int = 0


@dataclass
class Outcome:
    """What the run came to."""

    title: str
    struck: list[Struck]
    ends: list[End]
    verdict: Verdict
    seconds: float
    #: Seconds for each record to be committed, from the first to the last.
    flow: float = 0.0
    logs: dict[str, str] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Whether nothing was broken."""
        return not self.verdict.breaches


class Run:
    """One run. ``go`` returns its outcome; the parts are ended whatever happens."""

    def __init__(
        self,
        count: int,
        seed: int,
        *,
        exactly_once: bool = False,
        only: Collection[str] | None = None,
        session_timeout: float = 4.0,
        say: Callable[[str], object] = print,
    ) -> None:
        """``count`` records; ``only``: names of the faults, all where None; ``session_timeout`` in seconds."""
        self.count = count
        self.seed = seed
        self.exactly_once = exactly_once
        self.session_timeout = session_timeout
        self._say = say
        self._plan = faults.plan(seed, GUARDS, list(faults.FAULTS if only is None else only))
        self._started = time.monotonic()
        self._folder = Path(tempfile.mkdtemp(prefix="protocontract-chaos-"))
        self.struck: list[Struck] = []
        self._dead: list[Copy] = []
        self._wrong: list[str] = []

    def go(self) -> Outcome:
        """Do all of it."""
        made = records(self.count, self.seed)
        self.proxy = Toxiproxy(self.seed)
        try:
            self.broker = BrokerProcess(self._folder / "broker", self.proxy, GUARDS)
            try:
                return self._with_parts(made)
            finally:
                self.broker.close()
        finally:
            self.proxy.stop()
            shutil.rmtree(self._folder, ignore_errors=True)

    def _with_parts(self, made: list[Any]) -> Outcome:
        broker = Broker(self.broker.address)
        broker.create(SOURCE, PARTITIONS)
        self.sinks = dict.fromkeys(GUARDS, SINK) if self.exactly_once else SINKS
        for sink in sorted(set(self.sinks.values())):
            broker.create(sink, PARTITIONS, **_APPEND_TIME)
        self._create_dead_letters(broker)
        broker.admin.close()
        self.history: GroupHistory = empty_history(self.broker.data, GROUP, SOURCE)
        self.operator = Operator(self.broker.address, self.broker.data, self.history)
        self.feeder = Feeder(self.broker.address, SOURCE, made)
        self.fleet = Fleet(
            self._folder,
            self.broker.addresses,
            source=SOURCE,
            sinks=self.sinks,
            dead=DEAD,
            group=GROUP,
            exactly_once=self.exactly_once,
            session_timeout=self.session_timeout,
        )
        verdict = Verdict()
        flowing = time.monotonic()
        try:
            self.fleet.start()
            try:
                self._strike()
                self._end()
                flow = time.monotonic() - flowing
                verdict = judge(self._evidence(), exactly_once=self.exactly_once)
            except Stuck as stuck:
                flow = time.monotonic() - flowing
                verdict.breach("G4", "stuck", [stuck])
            self._judge_ends(verdict)
            logs = {
                name: self.fleet.log(name).read_text(encoding="utf-8", errors="replace") for name in self.fleet.names
            }
        finally:
            self.fleet.close()
            self.feeder.close()
        title = f"{self.count:,} records, seed {self.seed}, {'exactly' if self.exactly_once else 'at least'} once"
        return Outcome(title, self.struck, self.fleet.ends, verdict, time.monotonic() - self._started, flow, logs)

    # -- what the faults use

    def wait(self, condition: Callable[[], bool], what: str, seconds: float = 300.0) -> None:
        """Wait, and look after the guards meanwhile. Raises Stuck."""

        def look() -> bool:
            self.feeder.check()
            self.fleet.supervise()
            self.history.update()
            if self.exactly_once:
                self.operator.look()
            return condition()

        wait_for(look, what, seconds)

    def until_without(self, guard: str) -> None:
        """Wait until other guards have the guard's partitions."""
        self.wait(lambda: bool(self.owners) and guard not in self.owners, f"others take over from {guard}")

    def until_moved(self, count: int) -> None:
        """Wait until so many more records are committed, or all that may be written.

        All of these may be committed already, by the other guards where one is away.
        """
        goal = self.history.resolved + count
        self.wait(
            lambda: self.history.resolved >= goal or (self.feeder.done and self._all_committed()),
            f"{count} more records are committed",
        )

    def told(self, ends: list[End], expected: Collection[int]) -> None:
        """Note guards that did not end as they should when they were told to."""
        for end in ends:
            if end.code not in expected:
                self._wrong.append(f"{end.guard}: exit code {end.code} for {expected}: {end.said}")
            if end.took > GRACE + 3.0:
                # A process takes a moment to go.
                self._wrong.append(f"{end.guard}: {end.took:.0f} s after SIGTERM, with a grace period of {GRACE:g} s")

    @property
    def owners(self) -> set[str]:
        """The guards that have partitions."""
        generations = self.history.generations
        return generations[-1].clients() if generations else set()

    # -- the acts

    def _strike(self) -> None:
        self.wait(lambda: self.owners == set(GUARDS), "every guard has partitions")
        # One portion more than there are faults: the last one, too, strikes while records are coming.
        portion = self.count * _IN_CHAOS / (len(self._plan) + 1)
        for number, act in enumerate(self._plan):
            limit, goal = int((number + 2) * portion), int((number + act.share) * portion)
            self.feeder.allow(limit)

            def due(goal: int = goal, limit: int = limit) -> bool:
                resolved = self.history.resolved
                flows = resolved == limit or self.feeder.fed - resolved >= portion / 4
                return resolved >= goal and flows and self.owners == set(GUARDS)

            self.wait(due, f"{goal:,} records are committed and every guard has partitions")
            self._one(act.fault, act.guard, lambda act=act: faults.FAULTS[act.fault](self, act.guard))  # type: ignore[misc]

    def _one(self, what: str, guard: str, strike: Callable[[], None]) -> None:
        resolved = self.history.resolved
        struck = Struck(what, guard, resolved, self.feeder.fed - resolved, _now())
        self._say(f"{time.monotonic() - self._started:5.0f} s  {what} {guard}  at {resolved:,}, {struck.open:,} open")
        self.struck.append(struck)
        strike()
        self.until_moved(1)
        struck.ended = _now()

    def _end(self) -> None:
        # Enough for the last part that every guard gets bad records.
        last = max(self.count // 100, 800)
        first, second = self.count - 2 * last, self.count - last
        self._all_done(first)
        self._one("dead-letters-recreated", "", lambda: self._recreate(second))
        self._all_done(second)
        self._one("sigterm-unacknowledged", "", self._terminate_with_letters_in_hand)
        self._all_done(self.count)
        self.told(self.fleet.terminate(), expected=(0,))

    def _all_done(self, count: int) -> None:
        self.feeder.allow(count)
        self.wait(lambda: self.feeder.done and self._caught_up(), "everything is committed")

    def _caught_up(self) -> bool:
        return self._all_committed() and self.owners == set(GUARDS)

    def _all_committed(self) -> bool:
        return self.history.committed == dict(self.feeder.ends)

    def _recreate(self, upto: int) -> None:
        """The dead-letter topic is removed and created again, when all is caught up."""
        broker = Broker(self.broker.address)
        self._remove_dead_letters(broker)
        self.feeder.allow(upto)
        self._create_dead_letters(broker)
        broker.admin.close()

    def _terminate_with_letters_in_hand(self) -> None:
        """The dead-letter topic is away when bad records come and the guards are told to end: exit code 1 (K70)."""
        broker = Broker(self.broker.address)
        self._remove_dead_letters(broker)
        before = {name: self.fleet.log(name).stat().st_size for name in GUARDS}
        self.feeder.allow(self.count - 50)
        self.wait(
            lambda: all(b"cannot be written" in self.fleet.log(name).read_bytes()[before[name] :] for name in GUARDS),
            "every guard says that dead letters cannot be written",
        )
        self.told(self.fleet.terminate(), expected=(1,))
        self._create_dead_letters(broker)
        broker.admin.close()
        self.fleet.start()

    # -- dead letters

    def _create_dead_letters(self, broker: Broker) -> None:
        broker.create(DEAD, 2, **KEEPS_ALL, **_APPEND_TIME)

    def _remove_dead_letters(self, broker: Broker) -> None:
        """What is in the topic is evidence and read first."""
        self._wait_for_decided(broker, DEAD)
        self._dead += self._letters(broker)
        broker.admin.delete_topics([DEAD])
        wait_for(lambda: not any(self.broker.data.glob(f"{DEAD}-[0-9]")), "the dead-letter topic is gone")

    def _wait_for_decided(self, broker: Broker, topic: str) -> None:
        """A transaction that was killed hides what came after it from readers until the broker aborts it."""
        self.wait(
            lambda: broker.ends(topic, "read_committed") == broker.ends(topic), f"the transactions of {topic} are over"
        )

    # -- evidence

    def _evidence(self) -> Evidence:
        broker = Broker(self.broker.address)
        for topic in (*self.sinks.values(), DEAD):
            self._wait_for_decided(broker, topic)
        made = records(self.count, self.seed)
        source: dict[tuple[int, int], Source] = {}
        places: dict[int, tuple[int, int]] = {}
        for record in broker.read(SOURCE):
            number = int(dict(record.headers)["n"])
            if number in places:
                raise Stuck(f"the feeder wrote record {number} twice")
            places[number] = place = (record.partition, record.offset)
            source[place] = Source("good" if made[number][1] else "bad", record.key, record.value)
        if len(places) != self.count:
            raise Stuck(f"the feeder wrote {len(places)} records of {self.count}")
        sink: list[Copy] = []
        for topic, guard in ((SINK, ""),) if self.exactly_once else ((sink, guard) for guard, sink in SINKS.items()):
            batches = self._batches(topic)
            sink += [
                _copy(record, places[int(dict(record.headers)["n"])], guard, batches)
                for record in broker.read(topic, isolation_level="read_committed")
            ]
        self._dead += self._letters(broker)
        self.history.update()
        committed = {partition: offset or 0 for partition, offset in broker.committed(SOURCE, GROUP).items()}
        ends = broker.ends(SOURCE)
        broker.admin.close()
        return Evidence(
            source, sink, self._dead, self.history.commits, self.history.generations, self.fleet.starts, committed, ends
        )

    def _letters(self, broker: Broker) -> list[Copy]:
        batches = self._batches(DEAD)
        found = []
        for record in broker.read(DEAD, isolation_level="read_committed"):
            headers = dict(record.headers)
            place = (int(headers["protocontract.partition"]), int(headers["protocontract.offset"]))
            found.append(_copy(record, place, headers["protocontract.client"].decode(), batches))
        return found

    def _batches(self, topic: str) -> dict[int, list[Written]]:
        return {
            int(folder.name.rpartition("-")[2]): written(folder)
            for folder in self.broker.data.glob(f"{topic}-[0-9]*")
            if folder.name.rpartition("-")[2].isdigit()
        }

    def _judge_ends(self, verdict: Verdict) -> None:
        verdict.breach("K70", "ends after SIGTERM", self._wrong)
        verdict.counts["offsets' transactions that the broker did not end: ended by hand"] = self.operator.ended
        # Nobody asked these to end: they could not start while there was no broker, or lost their name to a newer one.
        by_themselves = [end for end in self.fleet.ends if not end.expected]
        verdict.counts["guards that ended by themselves"] = len(by_themselves)
        verdict.breach(
            "G9",
            "guards that broke",
            sorted(
                {
                    f"{end.guard}: exit code {end.code}: {end.said}"
                    for end in by_themselves
                    if not end.said.startswith("error: ")
                }
            ),
        )
        verdict.breach(
            "G9",
            "a traceback in the log of",
            [name for name in self.fleet.names if "Traceback" in self.fleet.log(name).read_text(errors="replace")],
        )


def _copy(record: Any, place: tuple[int, int], guard: str, batches: dict[int, list[Written]]) -> Copy:
    mine = batches[record.partition]
    batch = mine[bisect_right(mine, record.offset, key=lambda each: each.first) - 1]
    return Copy(
        place,
        record.partition,
        record.offset,
        record.timestamp,
        guard,
        batch.session,
        record.key,
        record.value,
        batch.ended,
    )


def _now() -> int:
    return int(time.time() * 1000)
