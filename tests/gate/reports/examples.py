"""Reports for tests: one made by the gate from a scenario, and one made up of as many findings as wanted."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

from protocontract_ci.diff.compare import Diff, compare
from protocontract_ci.gate.command import source_files
from protocontract_ci.model import Change, Element, Finding, ModuleVerdict
from protocontract_ci.reports.impact import Impact, RuleImpact
from protocontract_ci.reports.report import Report
from protocontract_ci.sources import read
from protocontract_ci.verdicts.folder import Folder
from protocontract_compiler.ir import Place
from tests.gate.scenarios import CASES

#: Everything that some format reads otherwise than as itself.
NASTY = '100%, a:b\nnext | <b>`x`</b> & ]]> "q" *s* @team \x07'


@cache
def scenario(name: str) -> Report:
    """The gate's answer on a scenario, with paths below the tests' folder."""
    folder = CASES / name
    judged = Folder(
        folder / "downstream", source_files(folder / "downstream"), read(str(folder / "before")),
        read(str(folder / "after")),
    )  # fmt: skip
    return Report(judged.diff, judged.verdicts(), judged.root, CASES)


@cache
def empty_diff() -> Diff:
    """A comparison of a state with itself."""
    state = read(str(CASES / "74-ncn-comment-only" / "before"))
    return compare(state, state)


def change(number: int = 0, text: str = "") -> Change:
    """A tightened rule of some field."""
    name = f"shop.v1.Item.field_{number}"
    element = Element("field", name, name, "shop.v1.Item", "shop.v1.Item")
    return Change(
        f"{name}@string.min_len", "rule_changed", "tightened", element,
        before=text or 2, after=3, where_after=Place("contracts/shop/v1/item.proto", number + 1, 3),
    )  # fmt: skip


def many(modules: int, findings: int, *, text: str = "writes what the rule refuses") -> Report:
    """``modules`` red modules of ``modules / 7`` owners, each with ``findings`` findings."""
    changes = [change(number) for number in range(findings)]
    verdicts = []
    for number in range(modules):
        name = f"module-{number:04}"
        found = tuple(
            Finding(name, f"{name}/a.py", "not_adapted", text, each, "writer", (place + 1, place + 9), (place + 2,))
            for place, each in enumerate(changes)
        )
        verdicts.append(
            ModuleVerdict(name, f"{name}/a.py", "not_adapted", text, (1,), owner=f"@team-{number % 7}", findings=found)
        )
    return Report(replace(empty_diff(), changes=tuple(changes)), verdicts, Path("services"))


def nasty() -> Report:
    """One red module whose every text is NASTY, one that cannot be read, and an impact on data."""
    each = change(0, NASTY)
    found = Finding("m", "a b.py", "not_adapted", NASTY, each, "writer", (3, 5))
    verdicts = [
        ModuleVerdict("m", "a b.py", "not_adapted", NASTY, (3, 5), owner="@a, b", findings=(found,)),
        ModuleVerdict("n.py", "n.py", "unverified", f"cannot be read: {NASTY}", proof="unresolved"),
    ]
    impact = Impact(
        "shop.v1.Item", "items.jsonl", 1_000,
        (("newly_rejected", 3), ("newly_accepted", 0), ("normalized_differently", 0)),
        (RuleImpact("newly_rejected", "string.min_len", "code", 3, example=NASTY),),
    )  # fmt: skip
    return Report(replace(empty_diff(), changes=(each,)), verdicts, impacts=[impact], notes=[NASTY])
