"""Every format of the gate's answer: what it must hold, how it escapes, and that platforms' limits are kept."""

from __future__ import annotations

import html
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from protocontract.terminal import Paint
from protocontract_ci.gate.publish import FORMATS
from protocontract_ci.model import ModuleVerdict
from protocontract_ci.reports import github, gitlab, junit, markdown, sarif, text
from protocontract_ci.reports.items import items
from protocontract_ci.reports.report import Report
from tests.gate.reports.examples import NASTY, change, empty_diff, many, nasty, scenario
from tests.gate.scenarios import CASES

RAISED = "36-min-len-raised"


@pytest.mark.parametrize("name", FORMATS)
def test_the_same_answer_twice_is_the_same_text(name: str) -> None:
    assert FORMATS[name](many(5, 5)) == FORMATS[name](many(5, 5))
    assert not FORMATS[name](many(5, 5)).endswith("\n")


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_names_module_file_and_line(name: str) -> None:
    report = scenario(RAISED)
    told = FORMATS[name](report)
    line = next(each.lines[0] for each in report.verdicts if each.verdict == "not_adapted")
    assert "legacy.py" in told
    assert re.search(rf"(?<!\d){line}(?!\d)", told)


def test_lines_are_true_lines_of_files_below_the_top() -> None:
    for item in items(scenario(RAISED)):
        source = (CASES / item.file).read_text().splitlines()
        assert "code" in source[item.line - 1]


# JSON has the witness, as bytes that the gate made up.
@pytest.mark.parametrize("name", sorted(FORMATS.keys() - {"json"}))
def test_values_are_shown_only_to_those_who_ask(name: str) -> None:
    assert '"AB"' not in FORMATS[name](scenario(RAISED))


def test_a_witness_is_told_by_its_fields() -> None:
    (item,) = (each for each in items(scenario(RAISED)) if each.module == "legacy.py")
    assert item.witness == ("witness: shop.v1.Item with code (a 2-character text), accepted before and refused after")


# -- SARIF


def results(report: Report) -> list[dict[str, Any]]:
    (run,) = sarif.log(report)["runs"]
    found: list[dict[str, Any]] = run["results"]
    return found


def test_sarif_has_what_the_standard_demands() -> None:
    log = json.loads(sarif.render(nasty()))
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["impact_on_data", "rule_changed", "unverified"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("error", "warning", "note", "none")
        assert result["message"]["text"]
        assert set(result["partialFingerprints"]) == {"protocontractFinding/v1"}
        for location in (*result["locations"], *result.get("relatedLocations", ())):
            place = location["physicalLocation"]
            assert place["artifactLocation"]["uriBaseId"] == "%SRCROOT%"
            assert " " not in place["artifactLocation"]["uri"]
            assert place.get("region", {"startLine": 1})["startLine"] >= 1
    first = run["results"][0]
    assert [each["physicalLocation"]["region"]["startLine"] for each in first["locations"]] == [3, 5]
    contract = first["relatedLocations"][0]
    assert contract["message"] == {"text": "the contract"}
    assert contract["physicalLocation"]["artifactLocation"]["uri"] == "contracts/shop/v1/item.proto"


def test_fingerprints_stay_when_code_moves_and_differ_within_a_log() -> None:
    report = many(3, 4)
    moved = Report(report.diff, report.verdicts, Path("elsewhere"))
    prints = [result["partialFingerprints"]["protocontractFinding/v1"] for result in results(report)]
    assert sorted(prints) == sorted(
        result["partialFingerprints"]["protocontractFinding/v1"] for result in results(moved)
    )
    assert len(set(prints)) == len(prints) == 12
    (verdict,) = many(1, 1).verdicts
    twice = (*verdict.findings, *verdict.findings)
    again = Report(report.diff, [ModuleVerdict("m", "a.py", "not_adapted", "", findings=twice)])
    assert len({item.fingerprint for item in items(again)}) == 2


def test_sarif_is_cut_at_what_github_shows() -> None:
    (run,) = sarif.log(many(60, 100))["runs"]
    assert len(run["results"]) == sarif.MOST_RESULTS
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert note["message"]["text"].startswith("1,000 more findings")


# -- GitHub


def commands(told: str) -> Iterator[tuple[str, dict[str, str], str]]:
    """Workflow commands, read as the runner reads them."""
    for line in told.splitlines():
        match = re.fullmatch(r"::(error|warning|notice) ([^:]*)::(.*)", line)
        if match is not None:
            properties = dict(each.split("=", 1) for each in match[2].split(","))
            yield match[1], {name: unescaped(value) for name, value in properties.items()}, unescaped(match[3])


def unescaped(value: str) -> str:
    for code, mark in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        value = value.replace(code, mark)
    return value


def test_annotations_survive_the_runner() -> None:
    found = list(commands(github.render(nasty())))
    assert [each[0] for each in found] == ["error", "error", "notice"]
    assert found[0][1] == {
        "file": "a b.py", "line": "3", "title": "m has not adapted: shop.v1.Item.field_0@string.min_len (@a, b)",
    }  # fmt: skip
    assert found[0][2].startswith(f"{NASTY} (also line 5)")


def test_annotations_are_ten_and_the_last_counts_the_others_by_owner() -> None:
    report = many(50, 40)
    found = list(commands(github.render(report)))
    assert len(found) == github.MOST
    assert found[-1][1] == {"title": "1,991 findings more"}
    counted = dict(re.findall(r"(@team-\d) ([\d,]+)", found[-1][2]))
    left = Counter(item.owner for item in items(report)[github.MOST - 1 :])
    assert {owner: int(number.replace(",", "")) for owner, number in counted.items()} == left


def test_nothing_to_do_annotates_nothing() -> None:
    assert github.render(scenario("74-ncn-comment-only")).startswith("the one module")


# -- Markdown


def test_a_comment_can_be_found_again_and_fits() -> None:
    assert markdown.comment(nasty()).startswith(markdown.MARKER + "\n")
    for report in (many(50, 40), many(3_000, 1), many(40, 5, text=NASTY * 500)):
        told = markdown.comment(report)
        assert len(told.encode()) < 65_536
        assert re.search(r"… and [\d,]+ findings more: ", told)


def test_a_comment_calls_nobody_and_points_nowhere() -> None:
    told = re.sub("`+.*?`+", "", markdown.comment(nasty()))
    assert re.findall(r"(?<![\w.])@\w+", told) == []
    assert re.search(r"@\u200bteam", told)


def test_a_summary_has_more_room() -> None:
    told = markdown.summary(many(50, 40))
    assert "findings more" not in told
    assert markdown.MARKER not in told
    assert len(markdown.summary(many(300, 60)).encode()) < 1_000_000


def test_cells_hold_what_they_were_given() -> None:
    told = markdown.comment(nasty())
    for row in (line for line in told.splitlines() if line.startswith("| ")):
        cells = re.split(r"(?<!\\)\|", row)[1:-1]
        assert len(cells) in (1, 3, 4, 5)
    assert "<b>" not in re.sub("`+.*?`+", "", told)
    assert html.unescape("&lt;b>") in NASTY
    assert "``100%, a:b next \\| <b>`x`</b>" in told


# -- GitLab and JUnit


def test_gitlab_takes_every_issue() -> None:
    issues = json.loads(gitlab.render(nasty()))
    assert [issue["location"] for issue in issues] == [
        {"path": "a b.py", "lines": {"begin": 3}},
        {"path": "n.py", "lines": {"begin": 1}},
        {"path": ".", "lines": {"begin": 1}},
    ]
    for issue in issues:
        assert {"description", "check_name", "fingerprint", "severity", "location"} <= issue.keys()
        assert issue["severity"] in ("info", "minor", "major", "critical", "blocker")
    assert len({issue["fingerprint"] for issue in json.loads(gitlab.render(many(50, 40)))}) == 2_000


def test_junit_has_a_case_for_each_module() -> None:
    root = ElementTree.fromstring(junit.render(nasty()))
    (suite,) = root.findall("testsuite")
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "1", "1")
    failure = suite.find("testcase[@name='m']/failure")
    assert failure is not None
    assert NASTY.replace("\x07", "\ufffd").split("\n")[0] in (failure.text or "")
    assert suite.find("testcase[@name='n.py']/error") is not None
    green = ElementTree.fromstring(junit.render(scenario("74-ncn-comment-only")))
    assert green.findall(".//failure") == green.findall(".//error") == []
    assert len(green.findall(".//testcase")) == len(scenario("74-ncn-comment-only").verdicts)


# -- the terminal


def test_the_terminal_says_who_what_where_and_what_to_do() -> None:
    told = text.render(scenario(RAISED), Paint(False))
    assert re.search(
        r"item\.proto:\d+  shop\.v1\.Item\.code@string\.min_len  2 -> 3  tightened: writers must cope", told
    )
    assert re.search(r"✗ legacy\.py +not adapted +\S+legacy\.py:7  writes a value that the new rule refuses", told)
    assert "contract-ack: shop.v1.Item.code@string.min_len 2->3 (reason)" in told
    assert told.splitlines()[-2].startswith("1 of 3 modules has not adapted.")


def test_declared_modules_are_told_the_command() -> None:
    report = many(2, 1)
    declared = Report(report.diff, report.verdicts, declared=True)
    assert (
        'protocontract adapt module-0001 --acknowledge shop.v1.Item.field_0@string.min_len --reason "..." --until DATE'
        in text.render(declared, Paint(False))
    )


def test_declared_modules_are_told_the_comment_as_well_once_for_all() -> None:
    report = many(3, 2)
    told = text.render(Report(report.diff, report.verdicts, declared=True), Paint(False)).splitlines()
    offered = [line for line in told if line.startswith("or for good")]
    assert len(offered) == 1
    assert re.fullmatch(
        r"or for good, in a comment of \S+: contract-ack: shop\.v1\.Item\.\S+ \S+ \(reason\)", offered[0]
    )


def test_thousands_of_unaffected_modules_take_one_line() -> None:
    quiet = [ModuleVerdict(f"m{number}", "a.py", "unaffected", "") for number in range(3_000)]
    told = text.render(Report(empty_diff(), quiet), Paint(False))
    assert told.splitlines() == [
        "no change of the contracts", "  · unaffected: 3,000 modules",
        "all 3,000 modules have adapted or are not affected",
    ]  # fmt: skip


def test_what_is_tolerated_is_shown_and_makes_nothing_red() -> None:
    report = many(2, 1)
    tolerated = Report(report.diff, report.verdicts, tolerated=frozenset({"module-0000", "module-0001"}))
    assert (report.exit_code, tolerated.exit_code) == (1, 0)
    assert [item.level for item in items(tolerated)] == ["warning", "warning"]
    assert ElementTree.fromstring(junit.render(tolerated)).findall(".//failure") == []


def test_what_cannot_be_judged_is_no_green() -> None:
    unread = [ModuleVerdict("n.py", "n.py", "unverified", "cannot be read: a syntax error")]
    report = Report(empty_diff(), unread)
    assert report.exit_code == 2
    assert text.render(report, Paint(False)).splitlines()[-1] == "1 of 1 modules cannot be judged"


def test_a_demand_of_the_contract_stands_at_its_line() -> None:
    demanded = replace(change(4), demand="its version has to rise")
    report = Report(replace(empty_diff(), changes=(demanded,)), [])
    assert report.exit_code == 1
    (item,) = items(report)
    assert (item.file, item.line, item.because) == ("contracts/shop/v1/item.proto", 5, "its version has to rise")
    root = ElementTree.fromstring(junit.render(report))
    assert root.find(".//testcase[@name='the contract']/failure") is not None
