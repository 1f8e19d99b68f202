"""`protocontract init`: what it writes compiles and runs, and nothing that is there is touched."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from protocontract.cli import main

#: Runs the consumer where its dead-letter topic is not there.
_WITHOUT_TOPICS = """
import runpy
from protocontract.kafka.memory import MemoryLog
there = MemoryLog.create_topic
MemoryLog.create_topic = lambda log, name: None if name.endswith(".dead") else there(log, name)
runpy.run_path("consumer.py", run_name="__main__")
"""
RUNTIME = Path(__file__).parents[2] / "runtime"


@pytest.mark.parametrize("message", ["shop.orders.v1.Order", "acme.hr.v2.NewHTTPHire"])
def test_what_it_writes_compiles_and_runs(
    message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["init", str(tmp_path), "--message", message]) == 0
    assert "make run" in capsys.readouterr().err
    for file in (tmp_path / "consumer.py", *(tmp_path / "contracts").rglob("*.proto")):
        assert re.search(rf"\b{message.rpartition('.')[2]}\b", file.read_text())
        assert not re.search(r"\border\b", file.read_text())  # nobody's words but those of the name that was given
    assert main(["compile", str(tmp_path / "contracts"), "--out", str(tmp_path / "gen"), "--strict"]) == 0
    ran = subprocess.run(
        [sys.executable, "consumer.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": f"{tmp_path / 'gen'}{os.pathsep}{RUNTIME}", "KAFKA_BOOTSTRAP_SERVERS": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    (tmp_path / "alone.py").write_text(_WITHOUT_TOPICS)
    refused = subprocess.run(
        [sys.executable, "alone.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": f"{tmp_path / 'gen'}{os.pathsep}{RUNTIME}", "KAFKA_BOOTSTRAP_SERVERS": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert refused.returncode == 1
    assert re.fullmatch(r"error: dead_letter_topic: .* create it, or grant access\n", refused.stderr)  # no traceback
    assert ran.stdout.splitlines() == [
        "accepted 7f8c6b1e-52d0-4a44-9c1f-0d6a3f6f2a11 1000.00 CNY 2026-03-09T00:00:00Z",
        "dead letters by rule: {'money.ambiguous': 1, 'string.uuid': 1}",
    ]


def test_nothing_that_is_there_is_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "Makefile").write_text("all:\n")
    assert main(["init", str(tmp_path)]) == 2
    assert "Makefile is there already" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["Makefile"]
    (tmp_path / "consumer.py").touch()
    assert main(["init", str(tmp_path)]) == 2
    assert "consumer.py, Makefile are there already" in capsys.readouterr().err
    (tmp_path / "consumer.py").unlink()
    assert (tmp_path / "Makefile").read_text() == "all:\n"


def test_whoever_has_a_contract_is_told_how_to_compile_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    contract = tmp_path / "contracts/shop/orders/v1/order.proto"
    contract.parent.mkdir(parents=True)
    contract.touch()
    assert main(["init", str(tmp_path)]) == 2
    assert "`protocontract compile contracts --out gen` compiles contracts that are there" in capsys.readouterr().err


def test_a_name_that_is_no_full_name_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", str(tmp_path), "--message", "Order"]) == 2
    assert "shop.v1.Order" in capsys.readouterr().err
