"""``--max-slowdown``: what judging a record costs under the changed contract, against the one before, in one run.

Both contracts are compiled here and take turns on the same records, so that what else the machine does strikes both.
CPU time is measured, which does not count waiting. Records are messages that the gate makes up and both states accept.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from protocontract.contract import Contract
from protocontract_ci.compiled import compiled
from protocontract_ci.conformance import changed_messages
from protocontract_ci.diff.compare import Diff
from protocontract_ci.execution.samples import SampleMaker
from protocontract_ci.reports.slowdown import Slowdown

#: Pairs of turns that are measured, and the least time that a turn takes.
ROUNDS: Final = 41
_TURN_NS: Final = 2_000_000

Clock = Callable[[], int]


def slowdowns_of(diff: Diff, limit: float, *, clock: Clock = time.process_time_ns) -> list[Slowdown]:
    """What each changed message that is there on both sides costs, beside what it cost.

    Raises ContractError for a state with mistakes.
    """
    names = changed_messages(diff)
    if not names:
        return []
    # protovalidate takes long to import, and few changes come here.
    from protocontract_ci.meaning.judges import Judges

    before, after = compiled(diff.before), compiled(diff.after)
    maker = SampleMaker(diff.before, diff.after, (Judges(diff.before), Judges(diff.after)))
    found = []
    for old, new in names:
        fields = [field.name for field in diff.after.schema.messages[new].fields]
        records = maker.samples(old, new, fields).both
        if records and old in before and new in after:
            found.append(compare(before[old], after[new], records, limit, clock=clock))
    return found


def compare(
    old: Contract[Any],
    new: Contract[Any],
    records: Sequence[bytes],
    limit: float,
    *,
    clock: Clock = time.process_time_ns,
) -> Slowdown:
    """Measure two contracts on the same records, in pairs of turns whose order alternates."""

    def turn(contract: Contract[Any], times: int) -> int:
        process = contract.process
        start = clock()
        for _ in range(times):
            for record in records:
                process(record)
        return max(clock() - start, 1)

    # The first turns warm caches up; the second ones say how often to repeat.
    for contract in (old, new):
        turn(contract, 1)
    times = max(1, _TURN_NS // min(turn(old, 1), turn(new, 1)))
    ratios, costs = [], []
    for number in range(ROUNDS):
        if number % 2:
            second = turn(new, times)
            first = turn(old, times)
        else:
            first = turn(old, times)
            second = turn(new, times)
        ratios.append(second / first)
        costs.append((first / (times * len(records)), second / (times * len(records))))
    lower, median, upper = statistics.quantiles(ratios, n=4)
    before, after = (statistics.median(side) for side in zip(*costs, strict=True))
    return Slowdown(new.full_name, len(records), before, after, median, lower, upper, limit)
