"""A short run of both kinds of guard. ``make chaos`` is the long one, with every fault."""

from __future__ import annotations

import os

import pytest

from tests.chaos.faults import FAULTS, FEW, plan
from tests.chaos.report import report
from tests.chaos.run import GUARDS, Run


@pytest.mark.toxiproxy
@pytest.mark.skipif("TOXIPROXY" not in os.environ, reason="TOXIPROXY is not set")
@pytest.mark.parametrize("exactly_once", [False, True], ids=["at-least-once", "exactly-once"])
def test_nothing_is_lost(exactly_once: bool) -> None:
    outcome = Run(20_000, seed=3, exactly_once=exactly_once, only=FEW).go()
    print(report(outcome))
    assert outcome.passed, report(outcome)
    counts = outcome.verdict.counts
    assert (counts["produced"], counts["delivered"], counts["dead-lettered"]) == (20_000, 19_000, 1_000)
    assert [struck.what for struck in outcome.struck[:-2]] == [act.fault for act in plan(3, GUARDS, list(FEW))], (
        "every fault struck"
    )


def test_a_plan_follows_from_its_seed() -> None:
    names = list(FAULTS)
    first = plan(5, GUARDS, names)
    assert first == plan(5, GUARDS, names)
    assert sorted(act.fault for act in first) == sorted(names)
    assert first != plan(6, GUARDS, names)
