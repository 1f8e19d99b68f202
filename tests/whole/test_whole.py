"""One story through every part, on real parts: a broker, git, two environments, gRPC, ONNX Runtime.

A contract changes; the gate is red with file and line; the module adapts; the gate is green; the generated code is
rolled to a running consumer; dead letters are replayed; the training loader and the inference service have the values
that the consumer had; the evidence holds. docs/whole.md tells it in prose.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import grpc
import pytest

from tests.kafka.conftest import Broker
from tests.models.support import model

HERE = Path(__file__).parent
PROTOCONTRACT = [sys.executable, "-m", "protocontract.cli"]
#: Written amounts, and the rule that refuses them under the first contract.
AMOUNTS = {"¥1,000.00": "", "CNY 12.5": "", "$3": "", "EUR 7.00": "money.currency", "1.234": "money.ambiguous"}
SECONDS = 240.0


@dataclass
class Shop:
    """A repository of a shop, and its topic."""

    folder: Path
    broker: Broker
    engines: str
    topic: str
    sent: dict[str, bytes] = field(default_factory=dict[str, bytes])
    running: list[subprocess.Popen[bytes]] = field(default_factory=list[subprocess.Popen[bytes]])

    @property
    def environment(self) -> dict[str, str]:
        folders = self.folder / "gen", self.folder / "training"
        return {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(map(str, folders)),
            "KAFKA_BOOTSTRAP_SERVERS": self.broker.servers,
            "XDG_STATE_HOME": str(self.folder.parent / "state"),
            "XDG_CACHE_HOME": str(self.folder.parent / "cache"),
        }

    def run(self, *command: str | Path, code: int = 0) -> str:
        """A command in the repository; what it prints. It has to end with ``code``."""
        done = subprocess.run(
            [*PROTOCONTRACT, *map(str, command)] if command[0] != "git" else [*map(str, command)],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    def commit(self, subject: str) -> None:
        self.run("git", "add", "-A")
        self.run("git", "-c", "user.name=t", "-c", "user.email=t@shop.example", "commit", "-qm", subject)

    def consumer(self) -> subprocess.Popen[bytes]:
        """The ledger, as its code is now."""
        # The code and the contracts as they are deployed: later changes of the repository do not reach it.
        deployed = self.folder.parent / f"deployed-{len(self.running)}"
        shutil.copytree(self.folder / "gen", deployed)
        shutil.copytree(self.folder / "ledger", deployed, dirs_exist_ok=True)
        process = subprocess.Popen(
            [sys.executable, "book.py", self.broker.servers, self.topic, self.folder.parent / "booked.jsonl"],
            cwd=deployed,
            env={**self.environment, "PYTHONPATH": str(deployed)},
        )
        self.running.append(process)
        return process

    def booked(self) -> list[dict[str, str]]:
        """What the ledger has booked."""
        path = self.folder.parent / "booked.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    servers, engines = (os.environ.get(name) for name in ("KAFKA_BOOTSTRAP_SERVERS", "PROTOCONTRACT_ENGINES"))
    if not servers or not engines:
        pytest.skip("KAFKA_BOOTSTRAP_SERVERS and PROTOCONTRACT_ENGINES are not set (make test-whole)")
    folder = tmp_path_factory.mktemp("whole") / "shop"
    shutil.copytree(HERE / "shop", folder)
    broker = Broker(servers)
    made = Shop(folder, broker, engines, broker.topic("payments", 2))
    broker.create(f"{made.topic}.dead", retention_ms="-1")
    yield made
    for process in made.running:
        process.kill()
        process.wait()
    broker.admin.close()


def until(true: Callable[[], bool], what: str) -> None:
    """Wait for something that other processes bring about."""
    end = time.monotonic() + SECONDS
    while not true():
        assert time.monotonic() < end, what
        time.sleep(0.1)


def send(shop: Shop) -> None:
    """Each amount four times, as somebody typed it."""
    producer = shop.broker.producer()
    for turn in range(4):
        for amount in AMOUNTS:
            name = str(uuid.uuid4())
            # Proto JSON would do as well; bytes are what the topic has.
            raw = encoded(shop, {"id": name, "amount": amount, "note": f"  cafe\u0301 {turn} "})
            shop.sent[name] = raw
            producer.send(shop.topic, value=raw, key=name.encode())
    producer.flush()
    producer.close()


def encoded(shop: Shop, payment: dict[str, str]) -> bytes:
    """A payment as protobuf, written by generated code in a process of its own: this one has none."""
    script = "import json, sys; from shop.v1.payment_pb2 import Payment; \
sys.stdout.buffer.write(Payment(**json.loads(sys.argv[1])).SerializeToString())"
    return subprocess.run(
        [sys.executable, "-c", script, json.dumps(payment)], env=shop.environment, capture_output=True, check=True
    ).stdout


def dead_letters(shop: Shop) -> list[dict[str, Any]]:
    told = json.loads(shop.run("dead-letter", "inspect", f"{shop.topic}.dead", "--all", "--format", "json"))
    return list(told["letters"])


def test_a_contract_changes_and_everything_that_hangs_on_it_follows(shop: Shop) -> None:
    # A repository whose modules fit its contracts, and a consumer in operation.
    shop.run("git", "init", "-q", "-b", "main")
    (shop.folder / ".gitignore").write_text("__pycache__/\n")
    shop.run("compile", "contracts", "--out", "gen")
    shop.commit("Begin")
    shop.run("adapt", "--all")
    shop.commit("Lock")
    shop.run("git", "checkout", "-qb", "euro")
    send(shop)
    old = shop.consumer()
    rejected = [rule for rule in AMOUNTS.values() if rule] * 4
    until(lambda: len(shop.booked()) == 12, "the valid payments are booked")
    until(lambda: len(dead_letters(shop)) == len(rejected), "the others are dead letters")
    assert {line["account"] for line in shop.booked()} == {"1001", "1002"}

    # The contract changes: euros are taken, too. The gate is red, with file and line.
    shutil.copytree(HERE / "adapted" / "contracts", shop.folder / "contracts", dirs_exist_ok=True)
    shop.run("compile", "contracts", "--out", "gen")
    red = shop.run("gate", "--against", "main", code=1)
    assert "✗ ledger" in red
    assert "ledger/accounts.py:7" in red
    assert "✗ training" in red
    assert "training/features.py:12" in red

    # One module adapts, the other says why it need not: green, and the locks say so.
    shutil.copytree(HERE / "adapted" / "ledger", shop.folder / "ledger", dirs_exist_ok=True)
    assert "✗ ledger" not in shop.run("gate", "--against", "main", code=1)
    knows = ["--acknowledge", "shop.v1.Payment.amount@money.allowed", "--reason", "the currency is a feature, too"]
    shop.run("adapt", "training", *knows, "--until", str(datetime.now(UTC).date() + timedelta(90)))
    shop.run("adapt", "--all")
    shop.commit("Take euros")
    assert "✗" not in shop.run("gate", "--against", "main")

    # Rolled to the running consumer: the new one joins the group, then the old one goes.
    new = shop.consumer()
    old.send_signal(signal.SIGTERM)
    assert old.wait(SECONDS) == 0

    # Its dead letters are sent again: those that the new contract takes are booked, and no other.
    shop.run("replay", f"{shop.topic}.dead", "--to-source", "--rule", "money.currency")
    until(lambda: len(shop.booked()) == 16, "the euros are booked")
    euros = shop.booked()[12:]
    assert {(line["account"], line["contract"]) for line in euros} == {("1003", "1.1.0")}
    new.send_signal(signal.SIGTERM)
    assert new.wait(SECONDS) == 0
    by_ledger = {line["id"]: line["normalised"] for line in shop.booked()}
    assert len(by_ledger) == 16

    # The topic becomes a training set: the loader has the values that the ledger had.
    shop.run("sample", "--source", shop.topic, "--out", "train.binpb")
    trained = [
        json.loads(line)
        for line in subprocess.run(
            [shop.engines, "training/train.py", "train.binpb"],
            cwd=shop.folder, env=shop.environment, capture_output=True, text=True, check=True,
        ).stdout.splitlines()
    ]  # fmt: skip
    assert {line["id"]: line["normalised"] for line in trained} == by_ledger

    # So has the service, of what came over the wire; and the features are the loader's.
    path = model(shop.folder / "risk.onnx", dims=("N", 3))
    (shop.folder / "risk.labels.json").write_text('["low", "middle", "high"]')
    by_service, features = served(shop, path, list(by_ledger))
    assert by_service == by_ledger
    assert features == {line["id"]: line["features"] for line in trained}

    # What the service says it did can be proved, and done again.
    told = shop.run("evidence", "verify", "evidence.jsonl", "--complete")
    assert f"{len(by_ledger)} requests with all steps" in told
    again = ["evidence", "replay", "evidence.jsonl", "--inputs", "values", "--model", path, "--max-abs", "1e-5"]
    assert f"{len(by_ledger)} the same, 0 differ" in shop.run(*again)


def served(shop: Shop, path: Path, names: list[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Digests of the normalised payments and of the features that the service made of them, from its evidence."""
    command = [
        *PROTOCONTRACT, "serve", "--contract", "shop.v1.RiskService", "--model", str(path), "--providers", "cpu",
        "--steps", "features:features", "--steps", "features:assess", "--listen", "127.0.0.1:0", "--format", "json",
        "--evidence", "evidence.jsonl", "--inputs", "values",
    ]  # fmt: skip
    requests: dict[str, str] = {}
    with subprocess.Popen(command, cwd=shop.folder, env=shop.environment, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        address = json.loads(server.stdout.readline())["address"]
        with grpc.insecure_channel(address) as channel:
            assess = channel.unary_unary("/shop.v1.RiskService/Assess")
            for name in names:
                _, call = assess.with_call(shop.sent[name], timeout=120)
                requests[dict(call.trailing_metadata())["protocontract-request"]] = name
            with pytest.raises(grpc.RpcError, match=r"money\.ambiguous"):
                assess(next(raw for raw in shop.sent.values() if b"1.234" in raw), timeout=120)
        server.send_signal(signal.SIGTERM)
        assert server.wait(SECONDS) == 0
    normalised: dict[str, str] = {}
    features: dict[str, str] = {}
    for line in (shop.folder / "evidence.jsonl").read_text().splitlines():
        step = json.loads(line)["step"]
        name = requests.get(str(step["request"]).removeprefix("s:"))
        if name and step["name"] == "s:normalize":
            normalised[name] = step["digest_out"].removeprefix("s:")
        if name and step["name"] == "s:infer":
            features[name] = step["digest_in"].removeprefix("s:")
    return normalised, features
