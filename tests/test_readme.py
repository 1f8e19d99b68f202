"""README.md is true: its commands run, its contract compiles, its Python runs, its outputs are what is printed.

Blocks are told apart by how they begin. A block that no test knows is an error here, so that none is forgotten.
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path
from typing import Any

import grpc.aio
import pytest
from onnx import TensorProto

from protocontract import cli
from protocontract.commands.init import first_files
from protocontract_ci.usage.typescript import prepare
from tests.models.support import model

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SOURCE = "acme/finance/v1/transaction.proto"

_COMMAND = re.compile(r"(?:protocontract|protoc|pip|make|buf) ")


def blocks() -> list[str]:
    """The indented blocks: text between blank lines stays together."""
    found = re.findall(r"(?:^    .*\n(?:\n(?=    ))?)+", README, re.MULTILINE)
    return [textwrap.dedent(block).rstrip("\n") for block in found]


def kind(block: str) -> str:
    """What a block is, by its first words."""
    first = block.split("\n", 1)[0]
    if first.startswith("$ protocontract verify"):
        return "verify"
    if _COMMAND.match(first):
        return "shell"
    for start, name in {
        "syntax = ": "contract",
        "version: v2": "buf",
        # Run by tests/engines/loader: PyTorch is not in this environment.
        "from protocontract.torch": "training",
        "from protocontract.serving": "serving",
        "from ": "python",
        f"{SOURCE}:": "mistakes",
        "str(v)": "values",
        "acme.finance.v1.Transaction 1.4.0 · payments on": "demo",
        "$ protocontract dead-letter": "letters",
        "$ protocontract gate": "gate",
        "$ protocontract serve": "serve",
    }.items():
        if first.startswith(start):
            return name
    return "unknown"


def only(wanted: str) -> str:
    """The one block of a kind."""
    (found,) = [block for block in blocks() if kind(block) == wanted]
    return found


def python_blocks() -> list[str]:
    return [block for block in blocks() if kind(block) == "python"]


def commands() -> list[list[str]]:
    """The words of every command, continued lines joined and comments left out."""
    found = []
    for block in blocks():
        if kind(block) in {"shell", "verify", "letters", "gate", "serve"}:
            text = re.sub(r"\\?\n {7,}", " ", block).replace("$ protocontract", "protocontract")
            found += [shlex.split(line, comments=True) for line in text.splitlines() if _COMMAND.match(line)]
    return found


def run(command: list[str] | str, folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **more, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(
        command, cwd=folder, env=environment, shell=isinstance(command, str), capture_output=True, text=True,
        timeout=120, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as the README's reader has it: the contract, compiled with the README's first command."""
    folder = tmp_path_factory.mktemp("readme")
    source = folder / "contracts" / SOURCE
    source.parent.mkdir(parents=True)
    source.write_text(only("contract") + "\n", encoding="utf-8")
    done = run(["protocontract", "compile", "contracts", "--out", "gen"], folder)
    assert (done.returncode, done.stderr) == (0, "")
    return folder


def test_every_block_is_known() -> None:
    assert [block for block in blocks() if kind(block) == "unknown"] == []
    assert len(commands()) >= 10


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_commands_have_these_options(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    match words:
        case ["make", target, *_]:
            # `make run` is of the Makefile that `protocontract init` writes.
            ours = (ROOT / "Makefile").read_text(encoding="utf-8")
            assert re.search(rf"^{target}:", ours + first_files("a.B")["Makefile"], re.MULTILINE)
        case ["pip", "install", what]:
            extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
            named = re.fullmatch(r"(?:protocontract|\.)(?:\[([\w,]+)\])?", what)
            assert named is not None
            assert set(filter(None, (named[1] or "").split(","))) <= extras["optional-dependencies"].keys()
        case ["protocontract", name, *arguments]:
            # A command of commands (`dead-letter inspect`) has the options in its inner help.
            inner = arguments[:1] if name == "dead-letter" else []
            assert cli.main([name, *inner, "--help"]) == 0
            told = capsys.readouterr().out
            if "--help-all" in told:
                assert cli.main([name, *inner, "--help-all"]) == 0
                told = capsys.readouterr().out
            for option in arguments:
                if option.startswith("-"):
                    assert re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", told), option


@pytest.fixture(scope="module")
def told_of_all() -> str:
    """The help of every command, once for all options."""
    with contextlib.redirect_stdout(io.StringIO()) as told, contextlib.redirect_stderr(io.StringIO()):
        for name in cli.commands():
            assert cli.main([name, "--help"]) == 0
            cli.main([name, "--help-all"])
    return told.getvalue()


@pytest.mark.parametrize("option", sorted(set(re.findall(r"`(--[\w-]+)", README))))
def test_options_in_the_text_exist(option: str, told_of_all: str) -> None:
    assert re.search(rf"(?<![\w-]){option}(?![\w-])", told_of_all)


def test_the_contract_compiles_with_protoc(workspace: Path) -> None:
    (block,) = (block for block in blocks() if block.startswith("protoc "))
    command = block.split("\n\n", maxsplit=1)[0]
    (workspace / "protoc" / "gen").mkdir(parents=True)
    (workspace / "protoc" / "contracts").symlink_to(workspace / "contracts")
    # The protoc that is a dependency, in the place of the reader's own.
    done = run(f"python -m grpc_tools.{command}", workspace / "protoc")
    assert (done.returncode, done.stderr) == (0, "")
    assert files(workspace / "protoc" / "gen") == files(workspace / "gen")


def test_the_contract_compiles_with_buf(workspace: Path) -> None:
    folder = workspace / "buf"
    folder.mkdir()
    (folder / "buf.gen.yaml").write_text(only("buf"), encoding="utf-8")
    target = folder / "contracts" / SOURCE
    target.parent.mkdir(parents=True)
    target.write_text(only("contract"), encoding="utf-8")
    for words in (["protocontract", "includes", "--export", "contracts"], ["buf", "generate", "contracts"]):
        assert words in commands()
        done = run(words, folder, HOME=str(folder))
        assert (done.returncode, done.stderr) == (0, "")
    assert files(workspace / "gen") <= files(folder / "gen")


def test_mistakes_are_told_as_the_readme_shows(workspace: Path) -> None:
    spoilt = only("contract").replace('currency_field: "currency"', 'currency_field: "curency"')
    spoilt = spoilt.replace("string.len = 19", "string = {len: 19 max_len: 16}")
    source = workspace / "spoilt" / SOURCE
    source.parent.mkdir(parents=True)
    source.write_text(spoilt, encoding="utf-8")
    done = run(["protocontract", "compile", "spoilt", "--out", "nothing"], workspace)
    assert done.returncode == 2
    assert done.stderr.rstrip("\n") == only("mistakes")


@pytest.mark.parametrize("number", range(len(python_blocks())))
def test_python_blocks_parse(number: int) -> None:
    ast.parse(python_blocks()[number])


PRELUDE = """
import logging, sys
import kafka
from protocontract.kafka.memory import MemoryLog

booked, told, audited = [], [], []
log = logging.getLogger("readme")
log.addHandler(logging.NullHandler())
log.warning = lambda text, *values: told.append(text % values)
book = booked.append
audit = lambda *change: audited.append(change)

class ledger:
    book = booked.append

from acme.finance.v1.transaction_pb2 import Transaction
raw = Transaction(id="8b0a6e5e-0f0d-4b57-9d1c-7d7f3f0c8a11", amount="1,000.00", booked_at="2026-03-09 08:00",
                  account="6222021234567890123").SerializeToString()
bad = Transaction.FromString(raw)
bad.amount = "1.234"
"""

USE = """
assert tx.amount == "1000.00" and tx.currency == 1 and tx.booked_at == "2026-03-09T00:00:00Z"
assert booked == [outcome.message] == [tx]
assert [change[:2] for change in audited] == [("amount", "money"), ("currency", "money"), ("booked_at", "instant")]
(v,) = TRANSACTION.process(bad.SerializeToString()).violations
print(f"str(v) ->  {v}")
print(f'v.value -> "{v.value}"')
"""

BROKER = """
broker = MemoryLog()
broker.create_topic("payments")
broker.create_topic("payments.dead")
for value in (raw, b"garbage", bad.SerializeToString(), raw):
    broker.append("payments", value)
booked.clear()
# In the place of a broker: what the README makes with kafka-python comes from the log.
kafka.KafkaConsumer = lambda topic, **config: broker.consumer(topic, **config)
kafka.KafkaProducer = lambda **config: broker.producer()
servers = "localhost:9092"

class ledger:
    def book(message):
        booked.append(message)
        if len(booked) == 2:
            guard.stop()
"""

GUARDED = """
assert booked == [tx, tx]
assert guard.stats.by_rule == {"wire.malformed": 1, "money.ambiguous": 1}
assert [record.value for record in broker.records("payments.dead")] == [b"garbage", bad.SerializeToString()]
booked.clear()
class ledger:
    book = booked.append
"""


def test_the_python_examples_run(workspace: Path) -> None:
    """With a guard on the in-memory log in the place of kafka-python's clients."""
    use, guard, memory = python_blocks()
    script = workspace / "use.py"
    script.write_text("\n".join([PRELUDE, use, USE, BROKER, guard, GUARDED, memory, "assert booked == [tx]"]))
    done = run([sys.executable, "-W", "error::ResourceWarning", str(script)], workspace, PYTHONPATH="gen")
    assert (done.returncode, done.stderr) == (0, "")
    values = [re.sub(r"\s+#.*", "", line) for line in only("values").splitlines()]
    told = done.stdout.splitlines()
    assert told[: len(values)] == values
    # What the guard of the log in memory counted is printed last; its comment has the beginning of the first line.
    (counted,) = (line for line in README.splitlines() if "print(guard.stats)" in line)
    assert told[len(values)].startswith(counted.partition("# ")[2].partition(", ...")[0])
    assert "wire.malformed" in told[-1]


def test_names_in_the_text_exist(workspace: Path) -> None:
    script = """
import protocontract, protocontract_compiler
from acme.finance.v1 import transaction_contract
assert protocontract.load("acme.finance.v1.Transaction") is transaction_contract.TRANSACTION
assert transaction_contract.ERR_TRANSACTION_AMOUNT_MONEY_AMBIGUOUS == 0xb93db785
assert callable(protocontract_compiler.compile)
"""
    assert "`ERR_TRANSACTION_AMOUNT_MONEY_AMBIGUOUS`" in README
    done = run([sys.executable, "-c", script], workspace, PYTHONPATH="gen")
    assert (done.returncode, done.stderr) == (0, "")
    for words in commands():
        if words[:2] == ["protocontract", "explain"]:
            assert run(words, workspace, PYTHONPATH="gen").returncode == 0


def test_the_report_of_verify_is_the_one_that_is_tested() -> None:
    golden = ROOT / "tests" / "verify" / "goldens" / "experience.txt"
    assert only("verify").splitlines()[1:] == golden.read_text(encoding="utf-8").splitlines()


def test_the_demo_prints_these_lines(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "docs/demo/demo.py"), "--report", str(tmp_path / "demo.html")]
    done = run(command, tmp_path, KAFKA_BOOTSTRAP_SERVERS="")
    assert done.returncode == 0, done.stderr
    printed = done.stdout.splitlines()
    for line in only("demo").splitlines():
        assert any(each == line or each.startswith(f"{line},") for each in printed), line


def test_the_gate_prints_these_lines(tmp_path: Path) -> None:
    done = run([sys.executable, str(ROOT / "docs/demo-gate/story.py")], tmp_path)
    assert done.returncode == 0, done.stderr
    printed = iter(done.stdout.splitlines())
    for block in blocks():
        for line in block.splitlines() if kind(block) == "gate" else ():
            # Without the TypeScript reader its module is left out (`protocontract gate --prepare`).
            if not prepare.ready() and re.search(r"\bweb\b|\d modules", line):
                continue
            assert line in printed, line


def test_the_interceptor_is_one() -> None:
    async def serve() -> None:
        names: dict[str, Any] = {"grpc": grpc}
        exec(only("serving"), names)
        await names["server"].stop(0)

    asyncio.run(serve())


def test_the_service_says_these_lines(tmp_path: Path) -> None:
    models = {"yesterday.onnx": TensorProto.INT64, "content_type.onnx": TensorProto.INT32}
    for name, element in models.items():
        path = tmp_path / name
        model(path, dims=("batch", 2048), name="bytes", output="target_label", element=element, classes=214)
    path_of_steps = os.pathsep.join(str(ROOT / name) for name in ("generated/python", "docs/examples/serving"))
    for block in only("serve").split("\n\n"):
        command, _, told = re.sub(r"\\\n +", "", block.removeprefix("$ ")).partition("\n")
        # `--check` says the same and does not stay.
        done = run(f"{command} --check", tmp_path, PYTHONPATH=path_of_steps)
        if told.startswith("refused"):
            assert (done.returncode, done.stderr.splitlines()[-1]) == (1, told)
        else:
            assert done.returncode == 0
            assert done.stdout.split(": ", 1)[1].strip() == told.split(": ", 1)[1]


@pytest.mark.parametrize("link", re.findall(r"\]\((?!https?:)([^)#]+)\)", README))
def test_links_lead_somewhere(link: str) -> None:
    assert (ROOT / link).exists()


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
