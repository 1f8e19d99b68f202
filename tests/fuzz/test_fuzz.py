"""A small differential run in every test run; CI and ``make fuzz`` run more of the same."""

from __future__ import annotations

import os

from tests.fuzz.known import KNOWN
from tests.fuzz.run import run

#: Schemas and messages for each: PROTOCONTRACT_FUZZ=2000x100.
SCHEMAS, MESSAGES = map(int, os.environ.get("PROTOCONTRACT_FUZZ", "120x40").split("x"))
SEED = int(os.environ.get("PROTOCONTRACT_FUZZ_SEED", "1"))


def test_agrees_with_protovalidate() -> None:
    report = run(range(SEED, SEED + SCHEMAS), MESSAGES)
    print(report)
    assert not report.differences, "\n".join(report.differences)
    # A run that compares nothing proves nothing.
    assert report.schemas == SCHEMAS
    # A few contracts have a mistake, which both sides refuse.
    assert report.refused < SCHEMAS / 10
    assert report.messages == (SCHEMAS - report.refused) * MESSAGES
    assert report.violations > report.messages
    assert report.errors < report.messages / 2
    assert report.delegated < SCHEMAS / 4


def test_known_differences_exist() -> None:
    assert [known.name for known in KNOWN if not known.exists()] == []
