"""The demo: its stream is always the same, its books balance, its report shows no secret and needs no network."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from protocontract.contract import Contract
from protocontract.levels import Verdict
from protocontract.report import StreamReport, render
from protocontract.report.charts import bars, split
from protocontract.violations import Change
from tests.verify.support import TRANSACTION, contract, transaction

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "demo"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def transactions() -> Contract[Any]:
    from acme.finance.v1.transaction_contract import TRANSACTION as generated

    return generated


def test_the_stream_is_seeded_and_every_kind_of_bad_is_bad(transactions: Contract[Any]) -> None:
    dirty_data = load("dirty_data")
    stream = list(dirty_data.dirty_stream(transactions.message_type, 6000))
    assert stream == list(dirty_data.dirty_stream(transactions.message_type, 6000))
    kinds = Counter(record.kind for record in stream)
    assert len(kinds) == 9
    assert kinds.keys() - {None} == dirty_data.BAD_KINDS.keys()
    for record in stream:
        assert transactions.process(record.value).ok == (record.kind is None)


def test_make_demo(tmp_path: Path) -> None:
    """The whole of it, with the real plugin, on a short stream."""
    report = tmp_path / "report.html"
    done = subprocess.run(
        [sys.executable, str(FOLDER / "demo.py"), "--records", "2000", "--report", str(report)],
        capture_output=True, text=True, timeout=120, check=False,
        env={"PATH": "/usr/bin:/bin", "NO_COLOR": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    count = len(list((FOLDER.parents[1] / "contracts" / "acme").rglob("*.proto")))
    assert re.fullmatch(rf"compiled {count} \.proto files into {count} contract modules in .* s", lines[0])
    assert lines[-1] == f"report: {report}"
    figures = {
        line.split()[0]: int(line.split()[1].replace(",", "")) for line in lines if re.match(r"  [a-z-]+ +\d", line)
    }
    assert figures["accepted"] + figures["dead-lettered"] == 2000
    assert any("records a second" in line for line in lines)
    assert any(line.startswith("  ✗ compliance") for line in lines)
    page = report.read_text(encoding="utf-8")
    assert "money.ambiguous" in page
    assert "<svg" in page


# -- the report


def page() -> str:
    made = contract(TRANSACTION)
    report = StreamReport(made, "payments <here>", seconds=2.0)
    report.accept(())
    report.accept((Change("amount", "money", "¥1,000", "1000.00"), Change("account", "text", None, None)))
    for fields in ({"amount": "<b>1.234</b>", "currency": 0}, {"account": "4242424242"}, {"id": "\u202e"}):
        outcome = made.process(json.dumps(transaction(1, **fields)).encode(), encoding="json")
        report.reject("0:17", outcome.violations)
    report.levels = (
        Verdict("compliance", "missed", 0.999, 0.4, 5),
        Verdict("latency", "unjudged", 300.0, None, 5, "x"),
    )
    assert (report.records, report.accepted, report.normalised, report.rejected) == (5, 2, 1, 3)
    assert report.compliance == 0.4
    return render(report, made="made by a test")


def test_the_page_needs_nothing_from_outside() -> None:
    assert not re.search(r"(?:src|href)\s*=|url\(|@import|<script|https?://", page())


def test_the_page_escapes_what_it_shows_and_hides_what_is_sensitive() -> None:
    text = page()
    assert "<b>1.234" not in text
    assert "payments &lt;here&gt;" in text
    assert "4242424242" not in text
    assert "sensitive, not shown" in text
    assert "\u202e" not in text
    assert "$" not in re.sub(r"<style>.*?</style>", "", text, flags=re.DOTALL)


def test_the_page_is_well_formed_and_for_light_dark_and_paper() -> None:
    import justhtml

    text = page()
    assert not justhtml.JustHTML(text).errors
    for needed in ("prefers-color-scheme: dark", "@media print", 'name="viewport"', 'lang="en"', "aria-label"):
        assert needed in text


def test_an_empty_stream_has_a_page_too() -> None:
    text = render(StreamReport(contract(TRANSACTION), "nothing"), made="made by a test")
    assert "No record was rejected." in text


def test_charts() -> None:
    assert bars([], 0, "x") == split([]) == split([("a", "b", 0)]) == ""
    drawn = bars([("a<b", 10), ("c", 5)], 100, "violations")
    assert "a&lt;b" in drawn
    assert "10 · 10.00 %" in drawn
    assert drawn.count("<rect") == 2
    # A part that is there can be seen, however small.
    assert 'width="1.5"' in split([("many", "x", 10**6), ("one", "y", 1)])
