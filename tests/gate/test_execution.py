"""The process in which functions of modules run: what it refuses, and what counts as an answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from protocontract_ci.execution.runner import Argument, Call, Runner
from protocontract_ci.sources import read

PROTO = 'syntax = "proto3";\npackage shop.v1;\nmessage Order { string id = 1; }\n'


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    (tmp_path / "order.proto").write_text(PROTO)
    return Runner(read(str(tmp_path / "order.proto")), [tmp_path])


def run(runner: Runner, folder: Path, body: str, *arguments: Argument) -> str:
    """What one call of ``f`` came to: the exception's class, or the result as text."""
    path = folder / "module.py"
    path.write_text(body)
    ran = runner.run(path, [Call("f", arguments)])
    if ran.import_error:
        return f"import {ran.import_error}"
    (outcome,) = ran.outcomes
    return outcome.error or outcome.text or outcome.message or ("data" if outcome.data is not None else "nothing")


@pytest.mark.parametrize(
    "body",
    [
        "import socket\ndef f():\n    return socket.socket()\n",
        "import socket\ndef f():\n    return socket.getaddrinfo('localhost', 80)\n",
        "import subprocess\ndef f():\n    return subprocess.run(['true'])\n",
        "import os\ndef f():\n    return os.system('true')\n",
        "import os\ndef f():\n    return os.fork()\n",
        "def f():\n    return open('written', 'w')\n",
        "import pathlib\ndef f():\n    return pathlib.Path('made').mkdir()\n",
        "import ctypes\ndef f():\n    return ctypes.CDLL(None)\n",
    ],
)
def test_nothing_outside_is_reached(body: str, runner: Runner, tmp_path: Path) -> None:
    assert run(runner, tmp_path, body) in ("PermissionError", "import PermissionError")
    assert not (tmp_path / "written").exists()


def test_a_function_that_does_not_end_is_no_answer(runner: Runner, tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text("def f():\n    while True:\n        pass\ndef g():\n    return 1\n")
    ran = runner.run(tmp_path / "module.py", [Call("f", ()), Call("f", ()), Call("f", ()), Call("g", ())])
    assert [outcome.ran for outcome in ran.outcomes] == [False, False, False, True]


def test_a_function_that_waits_for_ever_is_no_answer(runner: Runner, tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text("import time\ndef f():\n    time.sleep(999)\ndef g():\n    return 1\n")
    ran = runner.run(tmp_path / "module.py", [Call("f", ()), Call("g", ())])
    assert [outcome.ran for outcome in ran.outcomes] == [False, True]


def test_a_busy_machine_changes_no_answer(runner: Runner, tmp_path: Path) -> None:
    """Three seconds on the clock, nearly none of a processor."""
    (tmp_path / "module.py").write_text("import time\ndef f():\n    time.sleep(3)\n    return 1\n")
    assert runner.run(tmp_path / "module.py", [Call("f", ())]).outcomes[0].ran


def test_exceptions_come_with_the_lines_of_the_module(runner: Runner, tmp_path: Path) -> None:
    body = "from order_pb2 import Order\n\n\ndef g(o):\n    return o.id[0]\n\n\ndef f(o):\n    return g(o)\n"
    (tmp_path / "module.py").write_text(body)
    ran = runner.run(tmp_path / "module.py", [Call("f", (Argument("message", b"", "shop.v1.Order"),))])
    assert ran.outcomes[0].error == "IndexError"
    assert ran.outcomes[0].lines == (9, 5)


def test_a_module_that_ends_the_process_is_contained(runner: Runner, tmp_path: Path) -> None:
    assert run(runner, tmp_path, "import sys\ndef f():\n    sys.exit(3)\n") == "SystemExit"
    (tmp_path / "module.py").write_text("import os\ndef f():\n    os._exit(3)\n")
    assert runner.run(tmp_path / "module.py", [Call("f", ())]).broken


def test_a_changed_argument_is_the_result_of_a_function_without_one(runner: Runner, tmp_path: Path) -> None:
    body = "def f(o):\n    o.id = 'x'\n"
    assert run(runner, tmp_path, body, Argument("message", b"", "shop.v1.Order")) == "shop.v1.Order"


def test_generated_contracts_are_those_of_the_state(tmp_path: Path) -> None:
    rule = "[(buf.validate.field).string.min_len = 1]; }\n"
    proto = PROTO.replace("package", 'import "buf/validate/validate.proto";\npackage').replace("; }\n", f" {rule}")
    (tmp_path / "order.proto").write_text(proto)
    body = (
        "import protocontract\nfrom order_contract import ORDER\n\n\n"
        "def f(data: bytes) -> list[str]:\n    return [each.rule_id for each in ORDER.process(data).violations]\n"
    )
    state = Runner(read(str(tmp_path / "order.proto")), [tmp_path])
    assert run(state, tmp_path, body, Argument("bytes", b"")) == "list [\"str 'string.min_len'\"]"
    # A state that does not compile has no such module: that is nobody's failure.
    (tmp_path / "order.proto").write_text(
        proto.replace("min_len = 1", "min_len = 2, (buf.validate.field).string.max_len = 1")
    )
    broken = Runner(read(str(tmp_path / "order.proto")), [tmp_path]).run(tmp_path / "module.py", [])
    assert broken.broken == "imports contracts that do not compile"
