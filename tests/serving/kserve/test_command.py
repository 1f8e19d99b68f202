"""``protocontract serve --upstream``, as a process."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import tritonclient.grpc as triton

from protocontract.cli import main
from protocontract.contract import Contract
from protocontract.serving.kserve.command import declared_models, upstream_parser
from protocontract.violations import ContractError
from tests.serving.kserve.support import PROTOS, SCALE, ModelServer, array_of, contracts, doubled, served, stub_of
from tests.serving.kserve.test_proxy import ONES, request, tensor
from tests.serving.kserve.test_rest import Answer
from tests.support.ports import free_ports

MODEL = "scale=kserve.v1.ScaleIn:kserve.v1.ScaleOut"


def arguments(upstream: str, *more: str, model: str = MODEL) -> list[str]:
    return ["serve", "--upstream", upstream, "--model", model, "--proto-path", str(PROTOS), *more]


class Process:
    """A proxy in a process of its own, once it has said where it listens."""

    def __init__(self, upstream: str, more: Sequence[str]) -> None:
        command = [sys.executable, "-m", "protocontract.cli", *arguments(upstream, *more)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.said = self.process.stdout.readline().strip()
        found = re.fullmatch(r"serving scale on (\S+) and http://(\S+), before (\S+)", self.said)
        assert found is not None, (self.said, self.process.communicate())
        self.grpc, self.rest, self.upstream = found.groups()


def test_it_waits_for_its_server_serves_until_sigterm_and_finishes_what_is_under_way() -> None:
    entered, over = threading.Event(), threading.Event()

    def slow(asked: Any) -> Any:
        if array_of(asked)[0, 0] == 7:
            entered.set()
            over.wait(120)
        return doubled(asked)

    with served(ModelServer({})) as server:
        port = server.port
    found: list[Process] = []
    (http,) = free_ports(1)
    more = ("--rest", "127.0.0.1:0", "--wait", "60", "--http", str(http))
    starting = threading.Thread(target=lambda: found.append(Process(server.address, more)))
    starting.start()
    with served(ModelServer({"scale": (*SCALE, slow)}), port):
        starting.join(180)
        (running,) = found
        assert running.upstream == server.address
        with triton.InferenceServerClient(running.grpc) as client:
            np.testing.assert_array_equal(client.infer("scale", [tensor("x", ONES)]).as_numpy("y"), ONES * 2)
        body = b'{"inputs": [{"name": "x", "shape": [1, 4], "datatype": "FP32", "data": [NaN, 1, 2, 3]}]}'
        assert Answer(running.rest, "POST", "/v2/models/scale/infer", body).status == 400
        assert Answer(f"127.0.0.1:{http}", "GET", "/readyz").body == b"ready\n"
        counted = Answer(f"127.0.0.1:{http}", "GET", "/metrics").body.decode()
        for code, reason, error_class in (("OK", "", ""), ("INVALID_ARGUMENT", "TENSOR_FINITE", "MODEL/CODE")):
            assert (
                f'requests_total{{code="{code}",error_class="{error_class}",'
                f'method="ModelInfer/scale",reason="{reason}"}} 1.0'
            ) in counted
        with stub_of(running) as stub:
            under_way = stub.ModelInfer.future(request("scale", ONES * 7))
            assert entered.wait(120)
            running.process.send_signal(signal.SIGTERM)
            over.set()
            assert under_way.result(20).model_name == "scale"
        running.process.communicate(timeout=120)
        assert running.process.returncode == 0


def test_it_ends_at_sigterm_while_it_still_waits_for_the_server() -> None:
    command = [sys.executable, "-m", "protocontract.cli", *arguments("127.0.0.1:9", "--wait", "600")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        # Whenever it comes: before there are handlers of its own, or after.
        running.send_signal(signal.SIGTERM)
        assert running.wait(180) in (0, -signal.SIGTERM)


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """The contracts of ``protos``, without compiling them again."""

    def resolve(name: str, **_: Any) -> Contract[Any]:
        return contracts()[name.rpartition(".")[2]]

    monkeypatch.setattr("protocontract.serving.kserve.command.resolve", resolve)


@pytest.mark.usefixtures("compiled")
def test_check(capsys: pytest.CaptureFixture[str]) -> None:
    models = {"scale": (*SCALE, doubled), "other": ({"x": ("FP64", [-1, 4])}, {"y": ("FP32", [-1, 3])}, doubled)}
    with served(ModelServer(models)) as server:
        assert main(arguments(server.address, "--check")) == 0
        assert capsys.readouterr().out == f"✓ scale at {server.address} fit their contracts\n"
        other = MODEL.replace("scale", "other")
        assert main(arguments(server.address, "--check", model=other)) == 1
        out = capsys.readouterr().out.splitlines()
        assert [line.partition(" (")[0] for line in out] == [
            "✗ other input `x` is float64[?, 4]; the contract says float32[rows, 4]",
            "✗ other output `y` is float32[?, 3]; the contract says float32[rows, 4]",
        ]
        assert main(arguments(server.address, model=other)) == 2
        assert capsys.readouterr().err.startswith("refused to start: \n  other input `x` is float64[?, 4]")
        assert main(arguments(server.address, model=MODEL.replace("scale", "unknown"))) == 2
        assert "does not know the model or its version (NOT_FOUND)" in capsys.readouterr().err
    assert main(arguments("127.0.0.1:9", "--check")) == 2
    assert "scale at 127.0.0.1:9: the model server cannot be reached (UNAVAILABLE)" in capsys.readouterr().err


def test_a_command_line_without_models(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--upstream", "127.0.0.1:9"]) == 2
    assert "expected models, by --model NAME=REQUEST:RESPONSE or by --contract SERVICE" in capsys.readouterr().err


def test_a_contract_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments("127.0.0.1:9", model="x=kserve.v1.Unknown:kserve.v1.ScaleOut")) == 2
    assert capsys.readouterr().err.startswith("refused to start: no message kserve.v1.Unknown")


@pytest.mark.parametrize(
    ("more", "text"),
    [
        (["--http", "x"], "expected a port"),
        (["--model", "scale"], "`scale` declares no model; expected NAME=REQUEST:RESPONSE"),
        (["--model", "scale=a.B"], "declares no model"),
        (["--model", MODEL], "scale is declared twice"),
        (["--level", "kserve.v1.Scales/Unknown"], "no RPC kserve.v1.Scales/Unknown beside the contracts"),
        (["--listen", "127.0.0.1"], "`127.0.0.1` is no HOST:PORT"),
        (["--max-request-bytes", "0"], "is no number of bytes"),
        (["--deadline", "soon"], "is no number of seconds"),
    ],
)
@pytest.mark.usefixtures("compiled")
def test_command_lines_that_cannot_be(more: list[str], text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments("127.0.0.1:9", *more)) == 2
    assert text in capsys.readouterr().err


def test_the_models_of_a_service_are_its_requests_fields() -> None:
    def found(service: str) -> Any:
        return declared_models(upstream_parser().parse_args(["--upstream", "h:1", "--contract", service]))

    models = found("acme.inference.v1.ModelService")
    assert [(each.name, each.request.full_name, each.response.full_name) for each in models] == [
        ("entity_model", "acme.inference.v1.EntityModelInput", "acme.inference.v1.EntityModelOutput"),
        ("encoder", "acme.inference.v1.EncoderInput", "acme.inference.v1.EncoderOutput"),
    ]
    assert {(each.level.deadline, each.level.max_request_bytes, each.level.queue) for each in models} == {
        (0.5, 4194304, 100)
    }
    with pytest.raises(ContractError, match="has no request with a field for each model"):
        found("acme.inference.v1.ContentTypeService")


@pytest.mark.usefixtures("compiled")
def test_levels_are_an_rpcs_and_the_options() -> None:
    def level(*more: str) -> Any:
        (found,) = declared_models(upstream_parser().parse_args(arguments("h:1", *more)[1:]))
        return found.level

    assert level().timeout(None) is None
    declared = level("--level", "kserve.v1.Scales/Scale")
    assert (declared.deadline, declared.max_deadline, declared.max_request_bytes) == (60.0, 120.0, 2048)
    mixed = level("--level", "kserve.v1.Scales/Scale", "--deadline", "3", "--max-request-bytes", "100")
    assert (mixed.deadline, mixed.max_deadline, mixed.max_request_bytes) == (3.0, 120.0, 100)


@pytest.mark.usefixtures("compiled")
def test_an_address_that_is_taken(capsys: pytest.CaptureFixture[str]) -> None:
    with served(ModelServer({"scale": (*SCALE, doubled)})) as server:
        assert main(arguments(server.address, "--listen", "203.0.113.1:1")) == 2
        assert "203.0.113.1:1" in capsys.readouterr().err


def test_without_the_extra_it_says_what_to_type() -> None:
    script = (
        "import sys; sys.modules['tritonclient'] = None\n"
        "from protocontract.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script, *arguments("127.0.0.1:9")], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 2
    assert "tritonclient" in ran.stderr
    assert "protocontract[triton]" in ran.stderr
