"""Contracts to rules, and rules to promtool."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from protocontract_compiler import plugin
from tests.compiler.sources import descriptors, request

NAME = "shop.v1.Order"

PROTO = """\
syntax = "proto3";
package shop.v1;
import "google/protobuf/timestamp.proto";
import "protocontract/v1/contract.proto";
message Order {
  option (protocontract.v1.contract) = {
    version: "2.0.0" owner: "orders@shop.example" topic: "orders" dead_letter_topic: "orders.dead"
    event_time: "at" LEVEL
  };
  string id = 1;
  google.protobuf.Timestamp at = 2;
}
"""


def rules_of(level: str, folder: Path, *, proto: str = PROTO) -> dict[str, str]:
    """The files of rules that the plugin makes of a contract with ``level``, by their names."""
    (folder / "order.proto").write_text(proto.replace("LEVEL", level))
    files = descriptors(["order.proto"], [folder], folder)
    response = plugin.respond(request(files, ["order.proto"], "target=prometheus"))
    assert not response.error
    return {file.name: file.content for file in response.file}


def promtool(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Runs promtool; the test is skipped where there is none (Debian: the package ``prometheus``)."""
    found = shutil.which("promtool")
    if found is None:
        pytest.skip("promtool is not installed")
    return subprocess.run([found, *map(str, arguments)], capture_output=True, text=True, check=False)


def check_rules(*files: Path) -> str:
    """What `promtool check rules` says against the files: nothing, where they are good."""
    result = promtool("check", "rules", *files)
    return "" if result.returncode == 0 else result.stdout + result.stderr


def expect(
    folder: Path, rules: Path, series: Mapping[str, str], expected: Sequence[tuple[str, str, Mapping[str, float]]]
) -> None:
    """Evaluates rules over series with a sample every 10 seconds.

    ``expected`` are (time, expression, value by labels): ``{}`` expects no sample, and "" is a sample without labels.
    """
    tests = {
        "rule_files": [str(rules)],
        "evaluation_interval": "10s",
        "tests": [
            {
                "interval": "10s",
                "input_series": [{"series": name, "values": values} for name, values in series.items()],
                "promql_expr_test": [
                    {
                        "eval_time": time,
                        "expr": expr,
                        "exp_samples": [
                            {"labels": labels or "{}", "value": value} for labels, value in samples.items()
                        ],
                    }
                    for time, expr, samples in expected
                ],
            }
        ],
    }
    run_tests(folder, tests)


def run_tests(folder: Path, tests: Any) -> None:
    """`promtool test rules`. Its files are YAML, which JSON is, too."""
    path = folder / "tests.yml"
    path.write_text(json.dumps(tests, indent=1))
    result = promtool("test", "rules", path)
    assert result.returncode == 0, result.stdout + result.stderr
