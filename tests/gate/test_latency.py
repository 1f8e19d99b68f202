"""``--max-slowdown``: two contracts take turns, on a clock that the test winds."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from protocontract.cli import main
from protocontract.terminal import Paint
from protocontract_ci.latency import compare, slowdowns_of
from protocontract_ci.reports import junit, markdown, sarif, text
from protocontract_ci.reports.report import Report
from protocontract_ci.reports.slowdown import Slowdown
from tests.gate.reports.examples import scenario
from tests.gate.scenarios import CASES


class Machine:
    """A clock, and contracts whose records take as long as said; some turns are disturbed."""

    def __init__(self) -> None:
        self.now = 0
        self.calls: list[str] = []

    def clock(self) -> int:
        return self.now

    def contract(self, name: str, cost: int, *, disturbed: int = 0) -> Any:
        machine = self

        class Stub:
            full_name = name
            seen = 0

            def process(self, _record: bytes) -> None:
                self.seen += 1
                machine.calls.append(name)
                machine.now += cost * (10 if disturbed and self.seen % disturbed == 0 else 1)

        return Stub()


def test_the_median_of_pairs_is_told() -> None:
    machine = Machine()
    old, new = machine.contract("old", 1_000), machine.contract("new", 1_500)
    found = compare(old, new, [b"a", b"b"], 1.4, clock=machine.clock)
    assert (found.ratio, found.lower, found.upper) == (1.5, 1.5, 1.5)
    assert (found.before, found.after, found.records) == (1_000, 1_500, 2)
    assert found.too_slow
    assert not replace(found, limit=1.5).too_slow


def test_both_take_turns_in_alternating_order() -> None:
    machine = Machine()
    compare(machine.contract("old", 10**9), machine.contract("new", 10**9), [b"a"], 1.2, clock=machine.clock)
    assert machine.calls[4:12] == ["old", "new", "new", "old", "old", "new", "new", "old"]


def test_a_machine_that_is_busy_now_and_then_makes_nothing_red() -> None:
    machine = Machine()
    old, new = machine.contract("old", 10**9), machine.contract("new", 10**9, disturbed=3)
    found = compare(old, new, [b"a"], 1.2, clock=machine.clock)
    assert found.upper > 1.2
    assert not found.too_slow


def test_changed_messages_are_measured_on_messages_that_both_accept() -> None:
    diff = scenario("36-min-len-raised").diff
    (found,) = slowdowns_of(diff, 1000.0)
    assert found.message == "shop.v1.Item"
    assert found.records > 0
    assert found.before > 0
    assert slowdowns_of(replace(diff, changes=()), 1.2) == []


SLOW = Slowdown("shop.v1.Item", 24, 1_000.0, 2_000.0, 2.0, 1.9, 2.1, 1.2)


def test_too_slow_is_red_in_every_format() -> None:
    green = scenario("74-ncn-comment-only")
    report = Report(green.diff, green.verdicts, green.root, CASES, slowdowns=[SLOW])
    assert (green.exit_code, report.exit_code) == (0, 1)
    assert "✗ shop.v1.Item: a record costs 2.00 times what it did" in text.render(report, Paint(False))
    assert "Too slow: shop.v1.Item" in markdown.comment(report)
    assert '"slower_than_allowed"' in sarif.render(report)
    assert 'name="the contract"' in junit.render(report)
    fine = Report(green.diff, green.verdicts, slowdowns=[replace(SLOW, limit=3.0)])
    assert fine.exit_code == 0


def test_it_is_measured_on_demand_only(capsys: pytest.CaptureFixture[str]) -> None:
    folder: Path = CASES / "36-min-len-raised"
    words = ["gate", "--before", str(folder / "before"), "--after", str(folder / "after")]
    words += ["--modules", str(folder / "downstream"), "--no-exec", "--format", "json"]
    main(words)
    assert "slowdowns" not in json.loads(capsys.readouterr().out)
    main([*words, "--max-slowdown", "1000"])
    (found,) = json.loads(capsys.readouterr().out)["slowdowns"]
    assert found["too_slow"] is False
    assert main([*words, "--max-slowdown", "0.5"]) == 2


def test_a_contract_that_costs_many_times_more_is_red(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The whole way, on a cost that no machine hides: what was a length is an amount of money."""
    proto = (
        'syntax = "proto3";\npackage shop.v1;\nimport "buf/validate/validate.proto";\n'
        'import "protocontract/v1/contract.proto";\nmessage Order {{\n'
        "  string code = 1 [(buf.validate.field).string.min_len = 1{rule}];\n}}\n"
    )
    slow = ', (protocontract.v1.field).money = {default_currency: "USD" allowed: ["USD"]}'
    for state, rule in (("before", ""), ("after", slow)):
        (tmp_path / state).mkdir()
        (tmp_path / state / "order.proto").write_text(proto.format(rule=rule))
    (tmp_path / "modules").mkdir()
    words = ["gate", "--before", str(tmp_path / "before"), "--after", str(tmp_path / "after"), "--format", "json"]
    words += ["--modules", str(tmp_path / "modules")]
    assert main(words) == 0
    capsys.readouterr()
    assert main([*words, "--max-slowdown", "2"]) == 1
    answer = json.loads(capsys.readouterr().out)
    (found,) = answer["slowdowns"]
    assert (found["message"], found["too_slow"], answer["exit_code"]) == ("shop.v1.Order", True, 1)
    # The other way round it is faster.
    words[2], words[4] = words[4], words[2]
    assert main([*words, "--max-slowdown", "2"]) == 0
