"""What is done to a service as a process: signals when they do not suit, files that are none, disks that are full."""

from __future__ import annotations

import re
import resource
import signal
import socket
import subprocess
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import pytest

from protocontract.chain import verify
from protocontract.serving.address import demand_address
from protocontract.serving.declared import read_models
from protocontract.violations import ContractError
from tests.serving.serve.lab import PROTOS, contracts, message, scaled
from tests.serving.serve.test_command import ENVIRONMENT, WITHIN, command, eventually

ECHO = ("serve", "--contract", "lab.v1.Echo", "--proto-path", PROTOS)
#: What a full disk leaves of the log, in bytes.
ROOM = 6000


def has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as found:
            found.bind(("::1", 0))
    except OSError:
        return False
    return True


class Served:
    """`protocontract serve` in a process, with what it tells."""

    def __init__(self, errors: Path, *arguments: str | Path) -> None:
        self.errors = errors
        with open(errors, "w") as log:
            self.process = subprocess.Popen(
                command(*ECHO, *arguments), env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=log, text=True
            )  # fmt: skip
        assert self.process.stdout is not None
        self.line = self.process.stdout.readline()
        found = re.search(r" on (\S+): ", self.line)
        self.address = found.group(1) if found else ""

    def __enter__(self) -> Served:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()

    @property
    def told(self) -> str:
        return self.errors.read_text()

    def ask(self, times: int = 1) -> list[dict[str, Any]]:
        """The trailing metadata of as many answers."""
        with grpc.insecure_channel(self.address) as channel:
            call = channel.unary_unary(
                "/lab.v1.Echo/Run",
                response_deserializer=contracts()["Same"].message_type.FromString,
            )
            request = message("Rows", x=np.ones(4, "<f4").tobytes()).SerializeToString()
            return [dict(call.with_call(request, timeout=120)[1].trailing_metadata()) for _ in range(times)]

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(WITHIN)


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="no limits of other processes here")
def test_a_disk_that_gets_full_is_told_by_every_answer_and_by_the_log(tmp_path: Path) -> None:
    """Evidence is BEST_EFFORT here. A second service on the same log does not start; a SIGHUP that has nothing to read
    ends nothing; on an IPv6 address, where there is one."""
    evidence = tmp_path / "evidence.jsonl"
    listen = "[::1]:0" if has_ipv6() else "127.0.0.1:0"
    model = scaled(tmp_path / "same.onnx")
    arguments = ("--model", model, "--listen", listen, "--evidence", evidence)

    with Served(tmp_path / "first.txt", *arguments) as first:
        resource.prlimit(first.process.pid, resource.RLIMIT_FSIZE, (ROOM, ROOM))
        assert first.address.startswith(listen[:-1]), first.told
        with Served(tmp_path / "second.txt", *arguments) as second:
            assert second.process.wait(WITHIN) == 2
            assert "refused to start: evidence.jsonl is open already" in second.told
        answers = first.ask(8)
        proven = ["protocontract-evidence" in each for each in answers]
        assert proven == sorted(proven, reverse=True)
        assert proven[0]
        assert not proven[-1]
        assert all(each.get("protocontract-evidence-gap") for each in answers[proven.index(False) + 1 :])
        first.process.send_signal(signal.SIGHUP)
        eventually(lambda: "SIGHUP reads --models again; there is no such file" in first.told)
        assert first.ask()
        first.stop()
        assert "evidence is lost" in first.told
    assert evidence.stat().st_size <= ROOM
    found = verify(evidence)
    assert not found.ok or found.open_requests or not found.ended
    # Room is made: the log goes on, tells what it lost, and holds.
    with Served(tmp_path / "third.txt", *arguments) as third:
        assert "protocontract-evidence" in third.ask()[0]
        assert third.stop() == 0
    found = verify(evidence)
    assert (found.problem, found.ended, found.begun) == (None, True, 2)
    assert found.closed == sum(proven) + 1
    assert found.torn <= 1


def test_files_of_models_that_are_none_change_nothing(tmp_path: Path) -> None:
    model = scaled(tmp_path / "same.onnx")
    file = tmp_path / "models.toml"
    good = f'[[model]]\nname = "m"\nversion = "1"\npath = "{model.name}"\n'
    file.write_text(good)
    other = good.replace('"1"', '"2"')
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(model.read_bytes()[:-40])
    attempts = [
        (b"\xff\xfe\x00", "models.toml cannot be read"),
        (b"[[model", "models.toml cannot be read"),
        (b"", "declares no models"),
        (other.replace("same", "gone").encode(), "not loaded: m@2: "),
        (other.replace("same", "broken").encode(), "not loaded: "),
        ((good + other.replace("same", "broken")).encode(), "not loaded: "),
    ]
    with Served(tmp_path / "errors.txt", "--models", file, "--listen", "127.0.0.1:0") as served:
        for at, (content, _) in enumerate(attempts, 1):
            file.write_bytes(content)
            served.process.send_signal(signal.SIGHUP)
            eventually(lambda at=at: len(re.findall("ERROR", served.told)) == at)  # type: ignore[misc]
            assert served.ask()[0]["protocontract-model"] == "m@1"
        errors = [line for line in served.told.splitlines() if line.startswith("ERROR")]
        for line, (_, text) in zip(errors, attempts, strict=True):
            assert text in line
        # A storm of them, and the end in the middle of it.
        file.write_text(good.replace('"1"', '"3"'))
        for _ in range(20):
            served.process.send_signal(signal.SIGHUP)
        assert served.stop() == 0
        assert "Traceback" not in served.told


def test_a_file_of_models_in_no_encoding(tmp_path: Path) -> None:
    for content in (b"\xff\xfe", b"[" * 100_000):
        for name in ("models.json", "models.toml"):
            (tmp_path / name).write_bytes(content)
            with pytest.raises(ContractError, match=f"{name} cannot be read"):
                read_models(tmp_path / name)


@pytest.mark.parametrize("text", ["", "127.0.0.1", "127.0.0.1:", ":0", "h:-1", "h:65536", "h:99999", "h:1e3", "h:٣"])
def test_addresses_that_grpc_would_understand_otherwise(text: str) -> None:
    with pytest.raises(ContractError, match="cannot listen on"):
        demand_address(text)


@pytest.mark.parametrize("text", ["127.0.0.1:0", "[::1]:65535", "localhost:50051", "unix:/run/here", "unix-abstract:x"])
def test_addresses(text: str) -> None:
    assert demand_address(text) == text
