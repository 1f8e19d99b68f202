"""What the run has to prove, from what the broker's logs say afterwards. Pure: evidence in, counts and breaches out.

How an observer can know that a duplicate was above a committed offset: the broker stamps sink and dead letters with the
time of their append (``LogAppendTime``), and every commit and every generation of the group with the same clock. Who
wrote a copy is known too: each guard has a sink of its own (at least once), a dead letter names its client, and a batch
names the producer session that wrote it, which belongs to the process that ran when the session began. A guard begins
with a partition at the offset that is committed when the partition becomes its own. So every copy must lie at or above
what was committed when its writer last got the partition, and a writer that never had it has no business there.

The same table proves more: no offset was ever committed before everything below it had been appended somewhere.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from tests.chaos.logs import Commit, Generation

Kind = Literal["good", "bad"]
#: Partition and offset in the source topic.
Place = tuple[int, int]
#: Producer id and its epoch.
Session = tuple[int, int]

#: Most breaches of one kind that are listed.
_LISTED: Final = 5


class Source(NamedTuple):
    """A record that was produced."""

    kind: Kind
    key: bytes | None
    value: bytes | None


class Copy(NamedTuple):
    """A record in the sink or in the dead letters, of a record of the source. Times are milliseconds of the broker."""

    place: Place
    #: Where it lies: partition and offset in its own topic.
    partition: int
    offset: int
    time: int
    #: The guard that wrote it; "" where all write to one sink.
    guard: str
    session: Session
    key: bytes | None
    value: bytes | None
    #: False where the broker never ended the transaction that it belongs to, see ``logs.written``.
    ended: bool = True


@dataclass
class Evidence:
    """All that was seen at the end."""

    source: dict[Place, Source]
    sink: list[Copy]
    dead: list[Copy]
    commits: list[Commit]
    generations: list[Generation]
    #: When a process of a guard began, in milliseconds, in order.
    starts: dict[str, list[int]]
    #: Committed offset and end of each partition, when all was done.
    committed: dict[int, int]
    ends: dict[int, int]


@dataclass
class Verdict:
    """Counts, and what was broken."""

    counts: dict[str, int] = field(default_factory=dict)
    breaches: list[str] = field(default_factory=list)
    #: When a duplicate was appended, in milliseconds.
    duplicate_times: list[int] = field(default_factory=list)

    def breach(self, guarantee: str, what: str, examples: Sequence[object]) -> None:
        """Note a breach, if there are examples of it."""
        if examples:
            shown = ", ".join(map(str, examples[:_LISTED]))
            more = f" and {len(examples) - _LISTED} more" if len(examples) > _LISTED else ""
            self.breaches.append(f"{guarantee}: {what}: {shown}{more}")


def judge(evidence: Evidence, *, exactly_once: bool) -> Verdict:
    """Hold the evidence against the guarantees."""
    verdict = Verdict()
    _check_books(verdict, evidence)
    _check_commits(verdict, evidence)
    tenures = Tenures(evidence)
    for name, copies in (("sink", evidence.sink), ("dead letters", evidence.dead)):
        repeated = duplicates(copies)
        verdict.counts[f"{name}: duplicates"] = len(repeated)
        verdict.duplicate_times += [copy.time for copy in repeated]
        if exactly_once:
            # What the broker let another transaction decide is no guard's doing; it is counted, and told.
            unended = [copy for copy in copies if not copy.ended]
            verdict.counts[f"{name}: records of transactions that the broker did not end"] = len(unended)
            copies = [copy for copy in copies if copy.ended]
            repeated = duplicates(copies)
            verdict.breach("exactly once", f"{name}: more than one copy of", [copy.place for copy in repeated])
            _check_order(verdict, name, copies, ())
        else:
            verdict.breach(
                "G11", f"{name}: below the offset committed when its writer began", tenures.unexplained(copies)
            )
            if name == "sink":
                # What the dead-letter topic refused is tried again by itself, after its successors.
                _check_order(verdict, name, copies, [generation.time for generation in evidence.generations])
    return verdict


def _check_books(verdict: Verdict, evidence: Evidence) -> None:
    """Delivered and dead-lettered make what was produced: nothing lost, nothing foreign, nothing in the wrong topic."""
    source = evidence.source
    places = {"sink": {copy.place for copy in evidence.sink}, "dead letters": {copy.place for copy in evidence.dead}}
    verdict.counts |= {
        "produced": len(source),
        "delivered": len(places["sink"]),
        "dead-lettered": len(places["dead letters"]),
        "lost": len(source.keys() - places["sink"] - places["dead letters"]),
    }
    verdict.breach("G1", "lost", sorted(source.keys() - places["sink"] - places["dead letters"]))
    for guarantee, name, kind in (("G2", "sink", "good"), ("G3", "dead letters", "bad")):
        verdict.breach(
            guarantee,
            f"not to be in the {name}",
            sorted(place for place in places[name] if place not in source or source[place].kind != kind),
        )
    verdict.breach(
        "G6",
        "a dead letter that is not its record byte for byte",
        [
            copy.place
            for copy in evidence.dead
            if copy.place in source and (copy.key, copy.value) != (source[copy.place].key, source[copy.place].value)
        ],
    )
    verdict.breach(
        "G6",
        "a delivered record with another key",
        [copy.place for copy in evidence.sink if copy.place in source and copy.key != source[copy.place].key],
    )


def _check_commits(verdict: Verdict, evidence: Evidence) -> None:
    """Each commit came after everything below it was there; no commit went back; in the end all is committed."""
    first: dict[Place, int] = {}
    for copy in (*evidence.sink, *evidence.dead):
        first[copy.place] = min(first.get(copy.place, copy.time), copy.time)
    # By partition: by when everything up to here was there.
    ready: dict[int, list[int]] = defaultdict(list)
    for partition, offset in sorted(evidence.source):
        mine = ready[partition]
        assert offset == len(mine), "the source has gaps"
        mine.append(max(mine[-1] if mine else 0, first.get((partition, offset), 0)))
    too_early, back = [], []
    last: dict[int, int] = {}
    for commit in evidence.commits:
        mine = ready[commit.partition][: commit.offset]
        # A lost record has no time of its own; it is told as lost.
        if mine and mine[-1] > commit.time:
            too_early.append((commit.partition, commit.offset))
        if commit.offset < last.get(commit.partition, 0):
            back.append((commit.partition, commit.offset))
        last[commit.partition] = commit.offset
    verdict.counts["commits"] = len(evidence.commits)
    verdict.counts["generations"] = len(evidence.generations)
    verdict.breach("G7", "committed before it was written", too_early)
    verdict.breach("G7", "committed offsets that went back", back)
    verdict.breach(
        "G4",
        "not committed in the end",
        [
            f"{partition} at {evidence.committed.get(partition, 0)} of {end}"
            for partition, end in sorted(evidence.ends.items())
            if evidence.committed.get(partition, 0) != end
        ],
    )


def duplicates(copies: Iterable[Copy]) -> list[Copy]:
    """Every copy after the first of its record, in the order of their appends."""
    seen: set[Place] = set()
    found = []
    for copy in sorted(copies, key=lambda copy: (copy.time, copy.partition, copy.offset)):
        if copy.place in seen:
            found.append(copy)
        seen.add(copy.place)
    return found


class Tenures:
    """Who had a partition from when on, and what was committed then."""

    def __init__(self, evidence: Evidence) -> None:
        self._starts = evidence.starts
        #: By partition and guard: times at which tenures began, and the offsets committed then.
        self._began: dict[tuple[int, str], list[tuple[int, int]]] = defaultdict(list)
        # Both lie in one log, in one order.
        commits = evidence.commits
        committed: dict[int, int] = {}
        owners: dict[int, tuple[str, str]] = {}
        at = 0
        for generation in evidence.generations:
            while at < len(commits) and commits[at].position < generation.position:
                committed[commits[at].partition] = commits[at].offset
                at += 1
            now = generation.owners()
            for partition, (member, guard) in now.items():
                # A partition that stays with its member goes on where it was.
                if owners.get(partition) != (member, guard):
                    self._began[partition, guard].append((generation.time, committed.get(partition, 0)))
            owners = now

    def unexplained(self, copies: Iterable[Copy]) -> list[Place]:
        """Records that their writer should not have written; see the head of this file."""
        by_session: dict[tuple[str, Session], list[Copy]] = defaultdict(list)
        for copy in copies:
            by_session[copy.guard, copy.session].append(copy)
        found: list[Place] = []
        for (guard, _), written in by_session.items():
            starts = self._starts.get(guard, [])
            process = bisect_right(starts, min(copy.time for copy in written))
            since = starts[process - 1] if process else 0
            until = starts[process] if process < len(starts) else sys.maxsize
            for copy in written:
                began = self._began_at(copy.place[0], guard, since, min(copy.time, until))
                if began is None or copy.place[1] < began:
                    found.append(copy.place)
        return found

    def _began_at(self, partition: int, guard: str, since: int, time: int) -> int | None:
        """The offset at which the guard's last tenure before ``time`` began; None: it had none since ``since``."""
        tenures = self._began[partition, guard]
        place = bisect_right(tenures, time, key=lambda each: each[0])
        return tenures[place - 1][1] if place and tenures[place - 1][0] >= since else None


def _check_order(verdict: Verdict, name: str, copies: Iterable[Copy], generations: Sequence[int]) -> None:
    """Within a producer session, the records of a partition come in its order, unless the group's generation changed
    since the session's first record after the last step back. With exactly once: at all, whoever wrote them."""
    exactly_once = not generations
    lines: dict[object, list[Copy]] = defaultdict(list)
    # Offsets begin again in a topic that was removed and created again; times do not.
    for copy in sorted(copies, key=lambda copy: (copy.time, copy.partition, copy.offset)):
        lines[copy.partition, copy.place[0], () if exactly_once else copy.session].append(copy)
    wrong: list[str] = []
    steps: Counter[str] = Counter()
    for line in lines.values():
        began, last = line[0].time, line[0].place[1]
        for copy in line[1:]:
            if copy.place[1] <= last:
                steps["back"] += 1
                if bisect_right(generations, copy.time) == bisect_right(generations, began):
                    wrong.append(f"{copy.place} after {(copy.place[0], last)}")
                began = copy.time
            last = copy.place[1]
    verdict.counts[f"{name}: steps back"] = steps["back"]
    verdict.breach("G5", f"{name}: out of order", wrong)
