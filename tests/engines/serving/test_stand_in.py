"""A real model whose device is not there: magika's, as INT8 that was calibrated here, held to probes of the model."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import grpc
import magika
import pytest

from acme.inference.v1.content_type_pb2 import IdentifyRequest, IdentifyResponse
from protocontract.models import Degrading, Fallback, Probes, with_fallback
from protocontract.wire_stream import write_delimited
from tests.engines.calibrate.test_magika import MODEL, contents
from tests.engines.serving.test_magika import METHOD, UNASKED, environment
from tests.models.breaking import Breaking

CONTRACT = "acme.inference.v1.IdentifyRequest"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model, with its INT8 version and its probes beside it, both made by our commands."""
    folder = tmp_path_factory.mktemp("stand-in")
    path = folder / "content_type.onnx"
    shutil.copy(MODEL, path)
    with open(folder / "traffic.binpb", "wb") as stream:
        for content in contents(180):
            write_delimited(stream, IdentifyRequest(content=content))
    known = ["--contract", CONTRACT, "--steps", "acme_steps:features"]
    out = str(folder / "content_type_int8.onnx")
    take = ["--take", "60", "--hold-out", "100", "--out", out]
    _run("calibrate", *known, "--model", str(path), *take, str(folder / "traffic.binpb"))
    probes = ["--take", "50", "--format", "json"]
    told = json.loads(_run("model", "probe", *known, *probes, str(path), str(folder / "traffic.binpb")))
    assert [(each["fallback"], each["verdict"]) for each in told["fallbacks"]] == [
        ("model:content_type_int8.onnx", "kept")
    ]
    return path


def _run(*arguments: str) -> str:
    command = [sys.executable, "-m", "protocontract.cli", *arguments]
    ran = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_s26_the_service_runs_on_its_stand_in_and_says_so(model: Path) -> None:
    """CUDA is asked for and missing; the contract declares a lighter model and an agreement of 0.99."""
    command = [
        sys.executable, "-m", "protocontract.cli", "serve", "--contract", "acme.inference.v1.ContentTypeService",
        "--model", f"content_type={model}", "--steps", "acme_steps:features", "--steps", "acme_steps:label",
        "--labels", f"{MODEL.parent / 'config.min.json'}#target_labels_space", "--providers", "cuda",
        "--listen", "127.0.0.1:0", "--format", "json",
    ]  # fmt: skip
    judge, same, asked = magika.Magika(), 0, 0
    names: dict[int, str] = {
        value.number: value.name.removeprefix("CONTENT_TYPE_").lower()
        for value in IdentifyResponse.DESCRIPTOR.fields_by_name["content_type"].enum_type.values
    }
    with subprocess.Popen(
        command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        line = server.stdout.readline()
        if not line:
            pytest.fail(server.communicate()[1])
        with grpc.insecure_channel(json.loads(line)["address"]) as channel:
            identify = channel.unary_unary(
                METHOD,
                request_serializer=IdentifyRequest.SerializeToString,
                response_deserializer=IdentifyResponse.FromString,
            )
            for content in contents(60):
                answer, call = identify.with_call(IdentifyRequest(content=content), timeout=180)
                metadata = {key: str(value) for key, value in call.trailing_metadata()}
                assert metadata["protocontract-fallback"] == "model:content_type_int8.onnx"
                assert metadata["protocontract-provider"] == "cpu"
                verdict: Any = judge.identify_bytes(content).prediction.dl.label.value
                if verdict != UNASKED:
                    same += names[answer.content_type] == verdict
                    asked += 1
        server.send_signal(signal.SIGTERM)
        assert server.wait(180) == 0
    print(f"{same} of {asked} labels of the stand-in equal magika's own")
    assert asked >= 50
    assert same >= 0.97 * asked


def test_s28_memory_runs_out_and_the_lighter_model_answers(model: Path) -> None:
    fallback = Fallback(model="content_type_int8.onnx", label_agreement=0.99, sticky=True, probe_every=3600.0)
    device = Breaking(model)
    engine = with_fallback(model, fallback, lambda: device, background=False)
    assert isinstance(engine, Degrading)
    inputs = Probes.read(Probes.path_of(model)).probes[0].inputs
    before = engine.run(inputs)
    device.kind = "memory"
    after = engine.run(inputs)
    device.kind = None
    assert (before.provider, after.facts["attempts"]) == ("npu", "npu failed (memory); cpu")
    labels = [ran.outputs["target_label"].argmax(axis=-1) for ran in (before, after)]
    assert (labels[0] == labels[1]).mean() >= 0.97
    assert engine.probe()
    assert engine.run(inputs).provider == "npu"
