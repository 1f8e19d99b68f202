"""``--conformance``: what both validators of both states say of generated messages is what the changes say."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from protocontract.cli import main
from protocontract.terminal import Paint
from protocontract_ci.conformance import Broken, conform, conformances_of
from protocontract_ci.diff.compare import Diff, compare
from protocontract_ci.reports import github, gitlab, junit, markdown, sarif, text
from protocontract_ci.reports.conformance import Conformance
from protocontract_ci.reports.report import Report
from protocontract_ci.sources import read
from tests.gate.reports.examples import scenario
from tests.gate.scenarios import CASES

#: Rules that are tighter, looser, moved, of lists, enums, CEL; another type, another presence, a rename.
FOLDERS = [
    CASES / name
    for name in (
        "08-implicit-to-optional", "35-required-removed", "36-min-len-raised", "37-max-len-lowered",
        "41-in-list-narrowed", "44-message-cel-removed", "48-rule-moved-to-message", "53-enum-defined-only-added",
        "54-min-bytes-to-min-len",
    )
]  # fmt: skip


def diff(folder: Path) -> Diff:
    return compare(read(str(folder / "before")), read(str(folder / "after")))


def test_the_changes_of_scenarios_say_it_all() -> None:
    found = [each for folder in FOLDERS for each in conformances_of(diff(folder))]
    assert [each.text for each in found if each.failed] == []
    assert len(found) == len(FOLDERS)
    assert min(each.records for each in found) > 0
    assert sum(each.newly_rejected > 0 for each in found) >= 3
    assert sum(each.newly_accepted > 0 for each in found) >= 2


@dataclass
class Stub:
    """A state in which what is broken depends on the record alone."""

    by_theirs: Broken
    by_ours: Broken

    def theirs(self, name: str, data: bytes) -> Broken | None:
        return None if data == b"unreadable" else self.by_theirs

    def ours(self, name: str, data: bytes) -> Broken | None:
        return self.by_ours


NOTHING: Broken = frozenset()
SHORT: Broken = frozenset({("string.min_len", ("code",))})
ITEM = ("shop.v1.Item", "shop.v1.Item")


@pytest.fixture(scope="module")
def raised() -> Diff:
    return diff(CASES / "36-min-len-raised")


def test_a_difference_of_which_no_change_tells(raised: Diff) -> None:
    sides = Stub(NOTHING, NOTHING), Stub(SHORT, SHORT)
    told = conform(raised, ITEM, [b"a", b"unreadable", b"b"], sides)
    assert (told.records, told.newly_rejected, told.failed) == (2, 2, False)
    silent = conform(replace(raised, changes=()), ITEM, [b"a"], sides)
    assert silent.unexplained == ("string.min_len at code",)
    # A tighter rule is no reason for a record to be accepted.
    other = conform(raised, ITEM, [b"a"], (sides[1], sides[0]))
    assert (other.newly_accepted, other.unexplained) == (1, ("string.min_len at code",))


def test_validators_that_disagree(raised: Diff) -> None:
    found = conform(raised, ITEM, [b"a"], (Stub(NOTHING, NOTHING), Stub(SHORT, NOTHING)))
    assert found.disagreements == ("string.min_len at code (after)",)
    assert found.failed


def test_it_fails_in_every_format() -> None:
    green = scenario("74-ncn-comment-only")
    found = Conformance("shop.v1.Item", 118, 17, 0, ("string.min_len at code",))
    report = Report(green.diff, green.verdicts, green.root, CASES, conformances=[found])
    assert (green.exit_code, report.exit_code) == (0, 1)
    assert "✗ shop.v1.Item: 118 records, 17 newly rejected" in text.render(report, Paint(False))
    assert "no change tells of string.min_len at code" in text.render(report, Paint(False))
    assert "Not as the changes say: shop.v1.Item" in markdown.comment(report)
    assert '"not_as_changes_say"' in sarif.render(report)
    assert "not_as_changes_say" in gitlab.render(report)
    assert 'name="the contract"' in junit.render(report)
    assert "::error" in github.render(report)


def test_it_is_run_on_demand(capsys: pytest.CaptureFixture[str]) -> None:
    folder = CASES / "36-min-len-raised"
    words = ["gate", "--before", str(folder / "before"), "--after", str(folder / "after")]
    words += ["--modules", str(folder / "downstream"), "--no-exec", "--format", "json"]
    main(words)
    assert "conformances" not in json.loads(capsys.readouterr().out)
    main([*words, "--conformance"])
    (found,) = json.loads(capsys.readouterr().out)["conformances"]
    assert (found["message"], found["failed"]) == ("shop.v1.Item", False)
    assert found["newly_rejected"] > 0
