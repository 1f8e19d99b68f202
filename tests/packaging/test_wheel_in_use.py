"""The first hour with the wheel: from outside of the checkout, in an environment with nothing else in it.

``.ci/elsewhere`` runs it under each major version of protobuf, ``make test`` does not. It needs the package registry:

    PROTOCONTRACT_PROTOBUF=7 python -m pytest tests/packaging
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.packaging.support import Distribution, Installed, install

USER = """\
from typing import assert_type

import protocontract
from protocontract.violations import Violation
from shop.orders.v1.order_contract import ORDER
from shop.orders.v1.order_pb2 import Order

outcome = ORDER.process(b"")
assert_type(outcome, protocontract.Outcome[Order])
for violation in outcome.violations:
    assert_type(violation, Violation)
    print(violation.rule_id)
assert_type(ORDER.parse(b""), Order)
"""
LOAD = """\
import protocontract

contract = protocontract.load("shop.orders.v1.Order")
print(protocontract.__file__, *(violation.rule_id for violation in contract.process(b"").violations), sep="\\n")
"""


@pytest.fixture(scope="module")
def first(installed: Installed, project: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that ``protocontract init`` started, with what its consumer needs."""
    install(installed.python, *project["optional-dependencies"]["kafka"])
    folder = tmp_path_factory.mktemp("first")
    installed.run("protocontract init", folder)
    return folder


def test_the_first_consumer_runs(installed: Installed, first: Path) -> None:
    said = installed.run("make run", first)
    assert "accepted 7f8c6b1e-52d0-4a44-9c1f-0d6a3f6f2a11 1000.00 CNY 2026-03-09T00:00:00Z\n" in said
    assert "dead letters by rule: {'money.ambiguous': 1, 'string.uuid': 1}\n" in said


def test_a_contract_is_compiled_loaded_verified_explained_and_shown(installed: Installed, first: Path) -> None:
    (first / "load.py").write_text(LOAD)
    good = {
        "id": "7f8c6b1e-52d0-4a44-9c1f-0d6a3f6f2a11",
        "amount": "5",
        "orderedAt": "2026-03-09T00:00:00Z",
        "email": "a@b.ch",
    }
    (first / "good.jsonl").write_text(json.dumps(good) + "\n")
    (first / "bad.jsonl").write_text(json.dumps({**good, "amount": "1.234"}) + "\n")
    installed.run("protocontract compile contracts --out gen --target python --target docs --target typescript", first)
    assert (first / "gen/shop/orders/v1/order_contract.ts").exists()
    assert "shop.orders.v1.Order" in (first / "gen/index.html").read_text(encoding="utf-8")
    file, *rule_ids = installed.run("PYTHONPATH=gen python load.py", first).splitlines()
    assert Path(file).is_relative_to(installed.folder)
    assert rule_ids == ["string.uuid_empty", "string.email_empty"]
    verify = "protocontract verify --contract shop.orders.v1.Order --proto-path contracts"
    installed.run(f"{verify} good.jsonl", first)
    assert "money.ambiguous" in installed.run(f"{verify} bad.jsonl", first, code=1)
    assert installed.run("protocontract explain money.ambiguous", first).startswith("money.ambiguous")


def test_a_strict_type_checker_knows_the_package_and_generated_code(installed: Installed, first: Path) -> None:
    installed.run("test -d gen || make gen", first)
    (first / "user.py").write_text(USER)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--python-executable", installed.python, "user.py"],
        cwd=first, env={"MYPYPATH": "gen", "MYPY_CACHE_DIR": "mypy"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stderr == ""
    *told, _ = done.stdout.splitlines()
    # protobuf's own types are in another package (types-protobuf), and protoc's stubs are not strict.
    assert [line for line in told if "_pb2.pyi:" not in line] == []


def test_the_demo_of_the_source_distribution_runs_on_the_wheel(
    installed: Installed, built: Distribution, first: Path, tmp_path: Path
) -> None:
    del first  # it installed the client
    said = installed.run(f"python {built.source}/docs/demo/demo.py --records 200 --report demo.html", tmp_path)
    assert "money.ambiguous" in said
    assert "<html" in (tmp_path / "demo.html").read_text(encoding="utf-8")
