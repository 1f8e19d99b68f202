"""Which files are made, and what stands in them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from protocontract_compiler import plugin
from protocontract_compiler.commands import compile_command
from protocontract_compiler.emit.prometheus.rules import duration, number, quoted
from tests.compiler.sources import CONTRACTS, EXAMPLES, ROOT, descriptors, request
from tests.prometheus.support import NAME, PROTO, check_rules, rules_of

GENERATED = ROOT / "generated" / "prometheus"
PROMISING = ("acme.finance.v1.Transaction", "acme.pipeline.v1.Embedding", "acme.text.v1.TextSample")


def test_one_file_a_contract_that_promises_a_level(tmp_path: Path) -> None:
    files = descriptors(EXAMPLES, [CONTRACTS], tmp_path)
    response = plugin.respond(request(files, EXAMPLES, "target=prometheus"))
    assert not response.error
    assert [file.name for file in response.file] == [f"{name}.rules.yml" for name in sorted(PROMISING)]


def test_the_committed_rules_are_what_the_compiler_makes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By the command and by the plugin alike."""
    arguments = [str(CONTRACTS / "acme"), "-I", str(CONTRACTS), "--out", str(tmp_path / "out")]
    assert compile_command([*arguments, "--target", "prometheus"]) == 0
    assert f"{len(EXAMPLES)} .proto files, 3 files written" in capsys.readouterr().out
    committed = {file.name: file.read_text() for file in GENERATED.iterdir()}
    assert committed == {file.name: file.read_text() for file in (tmp_path / "out").iterdir()}
    files = descriptors(EXAMPLES, [CONTRACTS], tmp_path)
    response = plugin.respond(request(files, EXAMPLES, "target=prometheus"))
    assert committed == {file.name: file.content for file in response.file}


def test_the_committed_rules_are_good() -> None:
    assert check_rules(*sorted(GENERATED.glob("*.yml"))) == ""


def test_both_targets_at_once(tmp_path: Path) -> None:
    (tmp_path / "order.proto").write_text(PROTO.replace("LEVEL", "level: {throughput: 1}"))
    out = tmp_path / "out"
    both = ["--target", "python", "--target", "prometheus"]
    assert compile_command([str(tmp_path / "order.proto"), "-I", str(tmp_path), "--out", str(out), *both]) == 0
    assert sorted(path.name for path in out.iterdir()) == [
        "order_contract.py", "order_pb2.py", "order_pb2.pyi", f"{NAME}.rules.yml"
    ]  # fmt: skip


@pytest.mark.parametrize("level", ["", 'key_field: "id"'])
def test_a_contract_without_a_level_has_no_rules(level: str, tmp_path: Path) -> None:
    assert rules_of(level, tmp_path) == {}


def test_only_promised_levels_have_rules(tmp_path: Path) -> None:
    text = rules_of("level: {frequency: {seconds: 20}}", tmp_path)[f"{NAME}.rules.yml"]
    assert re.findall(r"alert: (\w+)", text) == [
        "DataContractFrequencyMissed", "DataContractUnwatched", "DataContractRulesOutdated"
    ]  # fmt: skip
    assert set(re.findall(r'level: "(\w+)"', text)) == {"frequency"}
    # No window is declared: an hour, as a guard takes it. Short silences need frequent scrapes.
    assert "promised over 1 h" in text
    assert "[1h]" in text
    assert "every 5s or more often" in text


def test_hostile_texts_stay_texts(tmp_path: Path) -> None:
    proto = PROTO.replace("orders@shop.example", 'a\\"b\\n- {{ $x }} # c: \\u2028')
    text = rules_of("level: {compliance: 0.9}", tmp_path, proto=proto)[f"{NAME}.rules.yml"]
    path = tmp_path / "rules.yml"
    path.write_text(text)
    assert all(line.isprintable() for line in text.split("\n"))
    assert check_rules(path) == ""


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(3600, "1h"), (90, "90s"), (300, "5m"), (86400, "1d"), (1.5, "1500ms"), (0.0001, "1ms"), (7200, "2h")],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("value", "text"), [(1.0, "1"), (0.999, "0.999"), (1e-7, "1e-07"), (300.0, "300"), (1e20, "1e+20")]
)
def test_numbers(value: float, text: str) -> None:
    assert number(value) == text


def test_quoted() -> None:
    assert quoted('a "b" ü') == '"a \\"b\\" ü"'
    assert quoted("a\nb\u2028") == '"a\\nb\\u2028"'
