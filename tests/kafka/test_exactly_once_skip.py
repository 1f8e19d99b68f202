"""``guard skip`` and a running guard that works exactly once: the record is passed over in a transaction of its own."""

from __future__ import annotations

from typing import Any

import pytest

from protocontract.kafka.client import errors
from protocontract.kafka.halting import halted_by
from protocontract.kafka.record import RecordId
from protocontract.kafka.skipping import Skip
from tests.kafka.support import DEAD, TOPIC, contract
from tests.kafka.test_exactly_once_levels import Line, a_line


def skip_of(offset: int, **options: Any) -> Skip:
    return Skip(RecordId(TOPIC, options.pop("partition", 0), offset), offset, "ticket 4711", "ada", **options)


def asked(line: Line, skip: Skip) -> str | None:
    """What becomes of a request that is put before the line comes round again."""
    line.guard._skipping._asked.put(skip)
    line.until_idle(polls=5)
    assert skip.done.is_set()
    return skip.refused


def test_an_operator_skips_the_record_of_a_halt(caplog: pytest.LogCaptureFixture) -> None:
    line = a_line()
    line.until_idle()
    assert asked(line, skip_of(10, dry_run=True)) is None
    assert line.world.committed() == 10
    assert asked(line, skip_of(10)) is None
    assert (line.out, line.world.committed()) == ((9, 1), 11)
    # The halt is another matter, and so is who has the partition next.
    assert halted_by(line.written)
    assert "skipped by an operator: record=payments:0:10 by='ada' reason='ticket 4711'" in caplog.text
    line.close()
    again = Line(line.world)
    again.until_idle()
    assert asked(again, skip_of(11)) is None
    assert (again.out, again.world.committed()) == ((9, 1), 12)
    assert (again.guard.stats.consumed, again.guard.stats.skipped) == (1, 1)
    again.guard.resume_levels()
    again.until_idle()
    assert (again.out, again.written) == ((9, 1), "")
    again.close()


def test_an_operator_skips_what_no_topic_takes() -> None:
    line = a_line("gbg", contract=contract())
    line.world.log._topics[DEAD].max_message_bytes = 5
    waits: list[str] = []
    skip = skip_of(1)

    def ask_when_blocked() -> None:
        if line.guard.blocked and not waits:
            waits.append(line.guard.blocked)
            line.guard._skipping._asked.put(skip)

    line.guard.tick = ask_when_blocked
    line.until_idle()
    assert "payments:0:1 is larger than topic payments.dead takes" in waits[0]
    assert (skip.refused, line.out, line.world.committed()) == (None, (2, 0), 3)
    assert line.guard.blocked is None
    line.close()


@pytest.mark.parametrize(
    ("skip", "said"),
    [
        (skip_of(9), "payments:0 stands at 10, not at 9"),
        (skip_of(10, partition=7), "payments:7 is not with this member"),
    ],
)
def test_only_the_record_that_stands_there_is_skipped(skip: Skip, said: str) -> None:
    line = a_line()
    line.until_idle()
    assert said in (asked(line, skip) or "")
    assert line.world.committed() == 10
    line.close()


def test_a_line_that_runs_and_a_transaction_that_fails_skip_nothing() -> None:
    line = a_line("gg")
    line.until_idle()
    assert asked(line, skip_of(2)) == "payments:0 is neither halted nor blocked"
    line.close()
    line = a_line()
    line.until_idle()
    line.world.coordinator.faults["commit"] = [errors.KafkaError("no")]
    assert asked(line, skip_of(10)) == "its transaction failed; ask again"
    assert (line.out, line.world.committed()) == ((9, 1), 10)
    assert asked(line, skip_of(10)) is None
    assert line.world.committed() == 11
    line.close()
