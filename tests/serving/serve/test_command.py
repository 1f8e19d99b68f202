"""``protocontract serve`` as processes: starting, signals, workers, exit codes, and evidence that can be replayed."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import grpc
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from acme.inference.v1.content_type_pb2 import IdentifyRequest, IdentifyResponse
from protocontract.chain import EvidenceLog, anchor_file, verify
from protocontract.cli import main
from protocontract.serving import ModelSpec
from protocontract.serving.declared import parse_model, read_models
from protocontract.violations import ContractError
from tests.serving.serve.lab import PROTOS, contracts, message, scaled
from tests.support.ports import free_ports

ROOT: Final = Path(__file__).parents[3]
SERVICE: Final = "acme.inference.v1.ContentTypeService"
STEPS: Final = ("--steps", "acme_steps:features", "--steps", "acme_steps:label")
OPTIONS: Final = (*STEPS, "--no-fallback", "--threads", "1", "--listen", "127.0.0.1:0")
WITHIN: Final = 120.0


def content_type(path: Path, seed: int = 1) -> Path:
    """A model with magika's inputs and outputs, and nothing in it."""
    weights = np.random.default_rng(seed).normal(size=(2048, 214)).astype("float32") / 1000
    nodes = [
        helper.make_node("Cast", ["bytes"], ["floats"], name="cast", to=TensorProto.FLOAT),
        helper.make_node("MatMul", ["floats", "weights"], ["sums"], name="product"),
        helper.make_node("Softmax", ["sums"], ["target_label"], name="scale", axis=-1),
    ]
    graph = helper.make_graph(
        nodes,
        "content_type",
        [helper.make_tensor_value_info("bytes", TensorProto.INT32, ["batch", 2048])],
        [helper.make_tensor_value_info("target_label", TensorProto.FLOAT, ["batch", 214])],
        [numpy_helper.from_array(weights, "weights")],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8), str(path))
    return path


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return content_type(tmp_path_factory.mktemp("models") / "content_type.onnx")


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "protocontract.cli", *map(str, arguments)]


ENVIRONMENT: Final = {**os.environ, "PYTHONPATH": str(ROOT / "docs" / "examples" / "serving")}


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(*arguments), env=ENVIRONMENT, capture_output=True, text=True, timeout=WITHIN)


class Serving:
    """A command that serves."""

    def __init__(self, process: subprocess.Popen[str], line: str, errors: Path) -> None:
        self.process = process
        self.line = line
        self.errors = errors
        found = re.search(r"127\.0\.0\.1:\d+", line)
        assert found, f"{line}{errors.read_text()}"
        self.address = found.group()

    def stop(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(WITHIN)

    def told(self, text: str) -> bool:
        return text in self.errors.read_text()


@contextmanager
def serving(folder: Path, *arguments: str | Path, python_path: Path | None = None) -> Iterator[Serving]:
    errors = folder / "errors.txt"
    more = {} if python_path is None else {"PYTHONPATH": f"{ENVIRONMENT['PYTHONPATH']}{os.pathsep}{python_path}"}
    with open(errors, "w") as log:
        process = subprocess.Popen(
            command("serve", *arguments), env={**ENVIRONMENT, **more}, stdout=subprocess.PIPE, stderr=log, text=True
        )
        try:
            assert process.stdout is not None
            yield Serving(process, process.stdout.readline(), errors)
        finally:
            process.kill()
            process.wait()
            process.stdout.close()  # type: ignore[union-attr]


def identify(address: str, content: bytes = b"#!/bin/sh\necho") -> tuple[int, Mapping[str, str]]:
    """The label of a content, and the trailing metadata."""
    with grpc.insecure_channel(address) as channel:
        call = channel.unary_unary(
            f"/{SERVICE}/Identify",
            request_serializer=IdentifyRequest.SerializeToString,
            response_deserializer=IdentifyResponse.FromString,
        )
        response, told = call.with_call(IdentifyRequest(content=content), timeout=120, wait_for_ready=True)
        return response.content_type, dict(told.trailing_metadata())


def eventually(done: Callable[[], bool]) -> None:
    until = time.monotonic() + WITHIN
    while not done():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_it_serves_until_it_is_stopped_and_its_evidence_can_be_replayed(model: Path, tmp_path: Path) -> None:
    evidence, inputs = tmp_path / "evidence.jsonl", tmp_path / "inputs"
    (port,) = free_ports(1)
    kept = ("--evidence", evidence, "--inputs", inputs, "--http", str(port))
    with serving(tmp_path, "--contract", SERVICE, "--model", model, *OPTIONS, *kept) as served:
        assert re.fullmatch(
            rf"serving {SERVICE} on 127\.0\.0\.1:\d+: content_type 1 \(sha256 [0-9a-f]{{4}}…\) on cpu\n", served.line
        )
        label, told = identify(served.address)
        assert 1 <= label <= 214
        assert told["protocontract-model"] == "content_type@1"
        for path, text in (("/livez", "alive\n"), ("/readyz", "ready\n")):
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=WITHIN) as answer:
                assert answer.read().decode() == text
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=WITHIN) as answer:
            found = answer.read().decode()
        assert f'method="/{SERVICE}/Identify"' in found
        assert 'model="content_type"' in found
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/digests", timeout=WITHIN) as answer:
            assert f"/{SERVICE}/Identify" in json.load(answer)
        assert served.stop() == 0
    assert verify(evidence).closed == 1
    replayed = run("evidence", "replay", evidence, "--inputs", inputs, "--model", model)
    assert (replayed.returncode, "5 stages, exact" in replayed.stdout) == (0, True), replayed
    shown = run("evidence", "show", evidence, told["protocontract-request"])
    assert "acme_steps:features" in shown.stdout


def test_a_service_of_proto_files_needs_no_generated_code(tmp_path: Path) -> None:
    model = scaled(tmp_path / "same.onnx", 3)
    arguments = ("--contract", "lab.v1.Echo", "--proto-path", PROTOS, "--model", f"@2.0.0={model}", "--format", "json")
    with serving(tmp_path, *arguments, "--listen", "127.0.0.1:0") as served:
        report = json.loads(served.line)
        assert (report["models"][0]["name"], report["models"][0]["version"]) == ("same", "2.0.0")
        with grpc.insecure_channel(served.address) as channel:
            call = channel.unary_unary(
                "/lab.v1.Echo/Run",
                request_serializer=lambda sent: sent.SerializeToString(),
                response_deserializer=contracts()["Same"].message_type.FromString,
            )
            response: Any = call(message("Rows", x=np.ones(4, "<f4").tobytes()), timeout=120)
        assert np.frombuffer(response.y, "<f4").tolist() == [3.0] * 4
        assert served.stop(signal.SIGINT) == 130


def test_models_are_read_again(model: Path, tmp_path: Path) -> None:
    other = content_type(tmp_path / "other.onnx", 2)
    models = tmp_path / "models.toml"
    declared = f'[[model]]\nname = "content_type"\nversion = "1"\npath = "{model}"\n'
    models.write_text(declared)
    with serving(tmp_path, "--contract", SERVICE, "--models", models, *OPTIONS) as served:
        assert identify(served.address)[1]["protocontract-model"] == "content_type@1"
        models.write_text(
            declared + '[[model]]\nname = "content_type"\nversion = "2"\npath = "other.onnx"\nrole = "active"\n'
        )
        served.process.send_signal(signal.SIGHUP)
        eventually(lambda: served.told("serving content_type 1"))
        assert identify(served.address)[1]["protocontract-model"] == "content_type@2"
        other.write_bytes(b"broken")
        served.process.send_signal(signal.SIGHUP)
        eventually(lambda: served.told("not loaded: "))
        models.write_text("[[model]]\n")
        served.process.send_signal(signal.SIGHUP)
        eventually(lambda: served.told("the models stay as they are: models.toml: model 1 has no path"))
        assert identify(served.address)[1]["protocontract-model"] == "content_type@2"
        assert served.stop() == 0


def test_workers_share_a_port_and_one_that_dies_is_replaced(model: Path, tmp_path: Path) -> None:
    evidence = tmp_path / "evidence.jsonl"
    arguments = ("--contract", SERVICE, "--model", model, *OPTIONS, "--workers", "2", "--evidence", evidence)
    with serving(tmp_path, *arguments) as served:
        assert served.line.endswith("on cpu, 2 workers\n")
        children = Path(f"/proc/{served.process.pid}/task/{served.process.pid}/children")
        if not children.exists():
            pytest.skip("this system does not tell a process's children")
        before = children.read_text().split()
        assert len(before) == 2
        for _ in range(8):
            identify(served.address)
        os.kill(int(before[0]), signal.SIGKILL)
        eventually(lambda: served.told("worker 0 ended with -9; it is started again"))
        eventually(lambda: served.errors.read_text().count("worker 0: INFO content_type@1 is loaded") == 2)
        assert identify(served.address)[0]
        assert served.stop() == 0
        assert not [each for each in before if Path(f"/proc/{each}").exists()]
    found = [verify(tmp_path / f"evidence.{number}.jsonl") for number in range(2)]
    assert [(each.ok, each.ended) for each in found] == [(True, True)] * 2
    assert sum(each.closed for each in found) == 9


def test_a_step_that_hangs_does_not_keep_the_process(model: Path, tmp_path: Path) -> None:
    (tmp_path / "slow_steps.py").write_text(
        "import pathlib, threading\n"
        "from acme.inference.v1.content_type_pb2 import ContentTypeInput, IdentifyRequest\n\n"
        "def hang(request: IdentifyRequest) -> ContentTypeInput:\n"
        f"    pathlib.Path({str(tmp_path / 'hangs')!r}).touch()\n"
        "    threading.Event().wait()\n"
    )
    evidence = tmp_path / "evidence.jsonl"
    steps = ("--steps", "slow_steps:hang", "--steps", "acme_steps:label")
    arguments = ("--contract", SERVICE, "--model", model, *steps, *OPTIONS[len(STEPS) :], "--evidence", evidence)
    with serving(tmp_path, *arguments, "--grace", "0", python_path=tmp_path) as served:
        with grpc.insecure_channel(served.address) as channel:
            call = channel.unary_unary(
                f"/{SERVICE}/Identify",
                request_serializer=IdentifyRequest.SerializeToString,
                response_deserializer=IdentifyResponse.FromString,
            )
            with pytest.raises(grpc.RpcError) as caught:
                call(IdentifyRequest(content=b"#!/bin/sh"), timeout=120)
            assert caught.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
        assert (tmp_path / "hangs").exists()
        assert served.stop() == 0
        assert served.told("a step, does not end: the process ends without it")
    assert (verify(evidence).ok, verify(evidence).ended) == (True, True)


def test_workers_that_cannot_start_say_it_once(tmp_path: Path) -> None:
    done = run("serve", "--contract", SERVICE, "--model", tmp_path / "no.onnx", *OPTIONS, "--workers", "2")
    assert done.returncode == 2
    assert done.stderr.count("refused to start: ") == 1
    assert "no such file" in done.stderr


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """What ends by itself needs no process of its own."""
    monkeypatch.syspath_prepend(ROOT / "docs" / "examples" / "serving")


@pytest.mark.usefixtures("in_process")
@pytest.mark.parametrize(
    ("labels", "code", "told"),
    [
        ("", 0, f"{SERVICE} can be served: content_type 1 "),
        ("moved", 1, "refused to start: "),
        ("absent", 2, "refused"),
    ],
)
def test_a_check_says_whether_it_could_be_served(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], labels: str, code: int, told: str
) -> None:
    options: tuple[str, ...] = ()
    if labels:
        file = tmp_path / "labels.json"
        options = ("--labels", str(file))
        if labels == "moved":
            file.write_text(json.dumps([f"class {number}" for number in range(214)]))
    assert main(["serve", "--check", "--contract", SERVICE, "--model", str(model), *OPTIONS, *options]) == code
    out, err = capsys.readouterr()
    assert told in (err if code else out)


@pytest.mark.usefixtures("in_process")
@pytest.mark.parametrize("anchored", [False, True], ids=["alone", "with anchors"])
def test_a_log_that_was_changed_is_not_gone_on_with_where_that_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], anchored: bool
) -> None:
    path, anchors = tmp_path / "evidence.jsonl", tmp_path / "anchors.jsonl"
    with EvidenceLog(path, anchor=anchor_file(anchors)) as log, log.record("r-7") as recorder:
        recorder.step("infer", module="a:b", facts={"provider": "cuda"})
        recorder.close()
    # A crash: the first bytes of an entry are there.
    path.write_bytes(path.read_bytes() + b'{"hash":"00')
    arguments = ["serve", "--contract", SERVICE, "--model", str(tmp_path / "absent.onnx"), *OPTIONS]
    arguments += ["--evidence", str(path), *(("--evidence-anchor", str(anchors)) if anchored else ())]
    # Whether the log is gone on with shows by what is said next: there is no such model.
    assert main([*arguments, "--verify-evidence"]) == 2
    assert "absent.onnx" in capsys.readouterr().err
    path.write_bytes(path.read_bytes().replace(b"cuda", b"cpux"))
    assert main([*arguments, "--verify-evidence"]) == 2
    assert "the chain of evidence.jsonl is broken at position 1 (line 2): the step does not" in capsys.readouterr().err
    assert main(arguments) == 2
    assert "absent.onnx" in capsys.readouterr().err


@pytest.mark.usefixtures("in_process")
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "expected models, by --model PATH or by --models FILE"),
        (("--model", "a.onnx", "--inputs", "somewhere"), "--inputs keeps what evidence names; add --evidence FILE"),
        (("--model", "a.onnx", "--verify-evidence"), "a log that is gone on with: with --evidence FILE, and without"),
        (("--model", "a.onnx", *STEPS[:2]), "nothing makes acme.inference.v1.IdentifyResponse of a model's outputs"),
        (("--model", "a.onnx", "--steps", "acme_steps:absent"), "acme_steps has no function absent"),
        (("--models", "absent.toml"), "absent.toml: no such file or directory"),
        (("--model", "a.onnx", "--contract", f"{SERVICE}s"), f"of acme.inference.v1; expected one of {SERVICE}, acme."),
    ],
)
def test_what_makes_no_sense_is_said_before_anything_is_loaded(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], told: str
) -> None:
    assert main(["serve", "--contract", SERVICE, *arguments]) == 2
    assert told in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[[model]]\nname = 'a'", "model 1 has no path"),
        ("[[model]]\npath = 'a'\nrole = 'boss'", "model 1: unknown role; expected active, canary or shadow"),
        ("[[model]]\npath = 'a'\nshare = 'x'", "model 1: share is str; expected float"),
        ("[[model]]\npath = 'a'\nshape = 1", "model 1 has shape; expected name, version, path"),
        ("models = 1", "declares no models; expected a list `model` and nothing else"),
        ("[[model", "cannot be read"),
    ],
)
def test_a_file_of_models_says_what_is_wrong_with_it(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "models.toml"
    file.write_text(text)
    with pytest.raises(ContractError, match=re.escape(told)):
        read_models(file)


def test_models_as_data_and_on_the_command_line(tmp_path: Path) -> None:
    file = tmp_path / "models.json"
    file.write_text(
        json.dumps({"model": [{"path": "a.onnx", "name": "m", "version": "2", "role": "canary", "share": 1}]})
    )
    assert read_models(file) == [ModelSpec("m", "2", str(tmp_path / "a.onnx"), "canary", 1.0)]
    assert parse_model("m@2=a.onnx") == ModelSpec("m", "2", "a.onnx")
    assert parse_model("m=a.onnx") == ModelSpec("m", "", "a.onnx")
    assert parse_model("folder/a=b.onnx") == ModelSpec("", "", "folder/a=b.onnx")
    assert parse_model("grpc://host:1/m") == ModelSpec("", "", "grpc://host:1/m")
