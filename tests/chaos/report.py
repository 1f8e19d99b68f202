"""The table at the end of a run, in plain text."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter

from tests.chaos.faults import MEANINGS
from tests.chaos.run import Outcome

#: How many lines of each guard's log stand in the report of a run that is broken.
_TAIL = 15
_MORE_MEANINGS = {
    "dead-letters-recreated": "All is caught up; the dead-letter topic is removed and created again",
    "sigterm-unacknowledged": "The dead-letter topic is away; bad records come; every guard is told to end",
}


def report(outcome: Outcome) -> str:
    """Faults, counts and the verdict. Duplicates stand at the fault in which, or after which, they were written."""
    times = sorted(outcome.verdict.duplicate_times)
    lines = [
        f"chaos: {outcome.title}",
        "",
        f"{'at':>9} {'open':>8} {'took':>8} {'dupl.':>6}  fault",
    ]
    marks = [struck.began for struck in outcome.struck]
    for number, struck in enumerate(outcome.struck):
        upto = marks[number + 1] if number + 1 < len(marks) else float("inf")
        repeated = bisect_left(times, upto) - bisect_left(times, struck.began)
        whom = f"{struck.guard}: " if struck.guard else ""
        what = {**MEANINGS, **_MORE_MEANINGS}[struck.what]
        took = (struck.ended - struck.began) / 1000 if struck.ended else float("nan")
        lines.append(
            f"{struck.resolved:>9,} {struck.open:>8,} {took:>6.1f} s {repeated:>6,}  {struck.what}: {whom}{what}"
        )
    lines.append("")
    lines += [f"{count:>9,}  {what}" for what, count in outcome.verdict.counts.items()]
    for (code, said), count in Counter((end.code, end.said) for end in outcome.ends if not end.expected).items():
        lines.append(f"{count:>9,}  ended by itself with {code}: {said}")
    lines.append(f"{outcome.flow:>7,.0f} s  of flow, {outcome.seconds:,.0f} s in all")
    lines.append("")
    lines += [f"BREACH  {breach}" for breach in outcome.verdict.breaches]
    if not outcome.passed:
        for name, log in outcome.logs.items():
            lines += [f"the end of the log of {name}:", *(f"    {line}" for line in log.splitlines()[-_TAIL:])]
    lines.append("verdict: " + ("kept" if outcome.passed else "BROKEN"))
    return "\n".join(lines)
