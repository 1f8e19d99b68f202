"""The checks of the chaos run find what they are there for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.chaos.logs import Commit, Generation
from tests.chaos.verdict import Copy, Evidence, Source, Verdict, duplicates, judge

ONE, OTHER = (1, 0), (2, 0)


def copy(offset: int, time: int, session: tuple[int, int] = ONE, guard: str = "") -> Copy:
    """A record in a sink, written by ``a``, or by ``b`` in the other session."""
    who = guard or ("b" if session == OTHER else "a")
    return Copy((0, offset), 0, time, time, who, session, b"k%d" % offset, b"v%d" % offset)


def generation(position: int, time: int, owner: str) -> Generation:
    return Generation(position, time, position, {f"member-{owner}": (owner, frozenset({0}))})


def evidence(**changes: object) -> Evidence:
    """Five records, the one at 3 bad: read by ``a``, which dies after a commit of 2; ``b`` goes on there."""
    found = Evidence(
        source={
            (0, offset): Source("bad" if offset == 3 else "good", b"k%d" % offset, b"v%d" % offset)
            for offset in range(5)
        },
        sink=[
            copy(0, 110),
            copy(1, 111),
            copy(2, 112),
            copy(2, 210, OTHER),
            copy(4, 212, OTHER),
        ],
        dead=[copy(3, 211, (3, 0), "b")],
        commits=[Commit(2, 120, 0, 2), Commit(4, 220, 0, 5)],
        generations=[generation(1, 100, "a"), generation(3, 200, "b")],
        starts={"a": [50], "b": [150]},
        committed={0: 5},
        ends={0: 5},
    )
    return replace(found, **changes)  # type: ignore[arg-type]


def guarantees(verdict: Verdict) -> set[str]:
    return {breach.partition(":")[0] for breach in verdict.breaches}


def test_what_was_read_again_above_the_committed_offset_is_no_breach() -> None:
    verdict = judge(evidence(), exactly_once=False)
    assert verdict.breaches == []
    assert verdict.counts["sink: duplicates"] == 1
    assert verdict.duplicate_times == [210]
    assert (verdict.counts["produced"], verdict.counts["delivered"], verdict.counts["dead-lettered"]) == (5, 4, 1)


def test_nothing_may_come_twice_with_exactly_once() -> None:
    assert guarantees(judge(evidence(), exactly_once=True)) == {"exactly once", "G5"}
    once = evidence()
    once.sink.remove(copy(2, 210, OTHER))
    assert judge(once, exactly_once=True).breaches == []


def test_a_duplicate_below_the_committed_offset_is_found() -> None:
    # The one that goes on from 2 writes 1 again.
    wrong = evidence()
    wrong.sink.insert(3, copy(1, 209, OTHER))
    assert guarantees(judge(wrong, exactly_once=False)) == {"G11"}


def test_a_zombie_writes_what_was_above_the_committed_offset_when_it_began() -> None:
    # What `a` sent before it was stopped arrives when `b` has long gone on.
    late = evidence()
    late.sink.append(copy(2, 230, (9, 0), "a"))
    assert judge(late, exactly_once=False).breaches == []


def test_a_process_does_not_go_on_where_the_one_before_it_began() -> None:
    # `a` was started again, and writes without having got the partition.
    wrong = evidence(starts={"a": [50, 220], "b": [150]})
    wrong.sink.append(copy(2, 230, (9, 0), "a"))
    assert guarantees(judge(wrong, exactly_once=False)) == {"G11"}


def test_a_writer_without_the_partition_is_found() -> None:
    wrong = evidence()
    wrong.sink.insert(0, copy(0, 90, (8, 0)))
    assert "G11" in guarantees(judge(wrong, exactly_once=False))


def test_a_lost_record_is_found() -> None:
    wrong = evidence(dead=[])
    verdict = judge(wrong, exactly_once=False)
    assert "G1" in guarantees(verdict)
    assert verdict.counts["lost"] == 1


def test_records_in_the_wrong_topic_are_found() -> None:
    wrong = evidence()
    wrong.sink.append(copy(3, 213, OTHER))
    wrong.dead.append(copy(4, 213, (3, 0)))
    assert guarantees(judge(wrong, exactly_once=False)) >= {"G2", "G3"}


def test_changed_bytes_are_found() -> None:
    wrong = evidence(dead=[copy(3, 211, (3, 0))._replace(value=b"changed")])
    assert guarantees(judge(wrong, exactly_once=False)) == {"G6"}


@pytest.mark.parametrize(
    "commits",
    [
        # Offset 2 is committed before record 1 is there.
        [Commit(2, 110, 0, 2), Commit(4, 220, 0, 5)],
        # Back from 2 to 1.
        [Commit(2, 120, 0, 2), Commit(4, 120, 0, 1), Commit(5, 220, 0, 5)],
    ],
)
def test_unsafe_commits_are_found(commits: list[Commit]) -> None:
    assert "G7" in guarantees(judge(evidence(commits=commits), exactly_once=False))


def test_an_end_that_is_not_committed_is_found() -> None:
    assert guarantees(judge(evidence(committed={0: 4}), exactly_once=False)) == {"G4"}


def test_a_step_back_needs_a_new_generation() -> None:
    # One session: after the rebalance it may begin again at the committed offset.
    back = [copy(0, 110), copy(1, 111), copy(2, 112), copy(2, 210), copy(4, 212)]
    dead = [copy(3, 211, (3, 0))]
    again = [generation(1, 100, "a"), generation(3, 150, "b"), generation(4, 200, "a")]
    assert judge(evidence(sink=back, dead=dead, generations=again), exactly_once=False).breaches == []
    wrong = evidence(sink=back, dead=dead, generations=[generation(1, 100, "a")])
    assert guarantees(judge(wrong, exactly_once=False)) == {"G5"}


def test_duplicates_are_all_but_the_first() -> None:
    assert duplicates([copy(1, 3), copy(1, 1), copy(1, 2), copy(2, 4)]) == [copy(1, 2), copy(1, 3)]


def test_what_the_broker_did_not_end_is_counted_and_is_no_guards_duplicate() -> None:
    found = evidence()
    found.sink[2] = found.sink[2]._replace(ended=False)
    verdict = judge(found, exactly_once=True)
    assert verdict.breaches == []
    assert verdict.counts["sink: records of transactions that the broker did not end"] == 1
