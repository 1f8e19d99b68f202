"""A model runs on the declared provider and on no other; what it is, is known; what it does not take, is not run.

The Azure provider is in the plain onnxruntime and takes no node: what it is declared for runs on the CPU, while
get_providers() names it first. That is the silent fallback, without any device.
"""

from __future__ import annotations

import hashlib
import json
import threading
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import helper

from protocontract.models import Model, NoProvider, Provider, RunFailed, WrongInput, session
from protocontract.models.identity import precision_flags
from protocontract.models.onnx_file import external_data, files
from protocontract.violations import ContractError
from tests.models.support import model

CPU_ALONE = ort.get_available_providers() == ["AzureExecutionProvider", "CPUExecutionProvider"]
needs_plain = pytest.mark.skipif(not CPU_ALONE, reason="tells what the plain onnxruntime says")


def rows(count: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(2).normal(size=(count, 8)).astype("float32")


def test_a_run(tmp_path: Path) -> None:
    path = model(tmp_path / "m.onnx")
    runs = Model(path, threads=1)
    inputs = rows(5)
    ran = runs.run({"x": inputs})
    expected = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"]).run(None, {"x": inputs})[0]
    assert ran.outputs["scores"].shape == (5, 3)
    assert np.allclose(ran.outputs["scores"], expected)
    assert ran.provider == runs.provider == "cpu"
    assert ran.facts == {
        "model": hashlib.sha256(path.read_bytes()).hexdigest(), "identity": runs.identity.digest, "provider": "cpu",
    }  # fmt: skip
    assert runs.skipped == ()


def test_some_outputs(tmp_path: Path) -> None:
    runs = Model(model(tmp_path / "m.onnx", extra=True))
    assert list(runs.run({"x": rows(1)}).outputs) == ["scores", "sums"]
    assert list(runs.run({"x": rows(1)}, ["sums"]).outputs) == ["sums"]
    with pytest.raises(WrongInput, match="has no output other; expected scores, sums"):
        runs.run({"x": rows(1)}, ["other"])


def test_bfloat16_as_its_bits(tmp_path: Path) -> None:
    """As Collate has it: uint16."""
    nodes = [helper.make_node("Cast", ["x"], ["floats"], to=1), helper.make_node("Cast", ["floats"], ["y"], to=16)]
    ends = [helper.make_tensor_value_info(name, kind, ["N", 2]) for name, kind in (("x", 16), ("y", 16), ("floats", 1))]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
    onnx.save(made, str(tmp_path / "m.onnx"))
    runs = Model(tmp_path / "m.onnx")
    bits = np.array([[0x3F80, 0x4000], [0xC000, 0x0000]], dtype="uint16")
    ran = runs.run({"x": bits[:, ::-1]})
    assert ran.outputs["y"].tolist() == bits[:, ::-1].tolist()
    assert ran.outputs["floats"].tolist() == [[2, 1], [0, -2]]
    with pytest.raises(WrongInput, match=r"input `x` is float32\[2, 2\]; m.onnx takes bfloat16"):
        runs.run({"x": bits.astype("float32")})


def test_runs_from_threads(tmp_path: Path) -> None:
    runs = Model(model(tmp_path / "m.onnx"), threads=1)
    inputs = [rows(3) + shift for shift in range(8)]
    found: dict[int, Any] = {}

    def work(number: int) -> None:
        for _ in range(20):
            found[number] = runs.run({"x": inputs[number].astype("float32")}).outputs["scores"]

    workers = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for number, given in enumerate(inputs):
        assert np.array_equal(found[number], runs.run({"x": given.astype("float32")}).outputs["scores"])


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({}, "m.onnx takes x; x missing"),
        ({"x": rows(1), "y": rows(1)}, "m.onnx takes x; y unknown"),
        ({"y": rows(1)}, "m.onnx takes x; x missing and y unknown"),
        ({"x": [[1.0] * 8]}, "input `x` is list; expected an array of float32[N, 8]"),
        ({"x": rows(1).astype("float64")}, "input `x` is float64[1, 8]; m.onnx takes float32[N, 8]"),
        ({"x": rows(1)[:, :7]}, "input `x` is float32[1, 7]; m.onnx takes float32[N, 8]"),
        ({"x": rows(1)[0]}, "input `x` is float32[8]; m.onnx takes float32[N, 8]"),
    ],
)
def test_inputs_that_are_not_run(tmp_path: Path, inputs: dict[str, Any], message: str) -> None:
    runs = Model(model(tmp_path / "m.onnx"))
    with pytest.raises(WrongInput) as caught:
        runs.run(inputs)
    assert str(caught.value) == message


# -- providers


@needs_plain
def test_s26_a_provider_that_this_build_has_not(tmp_path: Path) -> None:
    """S26: CUDA asked for, library missing. onnxruntime alone warns, and runs on the CPU."""
    path = model(tmp_path / "m.onnx")
    with pytest.warns(UserWarning, match="not in available provider names"):
        silent = ort.InferenceSession(str(path), providers=["CUDAExecutionProvider"])
    assert silent.get_providers() == ["CPUExecutionProvider"]
    with pytest.raises(NoProvider) as caught:
        Model(path, Provider.parse("cuda"))
    assert str(caught.value) == (
        "refused to start: m.onnx cannot run on cuda: this onnxruntime has no CUDAExecutionProvider, only azure, cpu;"
        " install onnxruntime-gpu instead of onnxruntime"
    )


@needs_plain
def test_a_provider_that_runs_nothing(tmp_path: Path) -> None:
    path = model(tmp_path / "m.onnx")
    silent = ort.InferenceSession(str(path), providers=["AzureExecutionProvider"])
    assert silent.get_providers()[0] == "AzureExecutionProvider"  # and every node on the CPU
    with pytest.raises(NoProvider) as caught:
        Model(path, [Provider("azure")])
    assert str(caught.value) == (
        "refused to start: m.onnx cannot run on azure: 2 of 2 nodes run elsewhere: 1 MatMul on cpu, 1 Softmax on cpu;"
        " declare the operators that may (elsewhere), or another provider"
    )


@needs_plain
def test_s27_some_nodes_elsewhere(tmp_path: Path) -> None:
    """S27: nodes that run elsewhere are counted by operator; declared ones may."""
    path = model(tmp_path / "m.onnx")
    with pytest.raises(NoProvider) as caught:
        Model(path, [Provider("azure", elsewhere={"cpu": ("Cast", "scale")})])
    (attempt,) = caught.value.attempts
    assert attempt.reason == "1 of 2 nodes run elsewhere: 1 MatMul on cpu"  # the Cast to what it is already is no node
    with pytest.raises(NoProvider) as caught:
        Model(path, [Provider("azure", elsewhere={"cpu": ("MatMul", "Softmax")})])
    assert caught.value.attempts[0].reason == "none of its 2 nodes runs there"


@needs_plain
def test_the_declared_order(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = model(tmp_path / "m.onnx")
    with caplog.at_level("WARNING", logger="protocontract.models"):
        runs = Model(path, Provider.parse("tensorrt,azure,cpu"))
    assert runs.provider == runs.identity.provider == "cpu"
    assert [attempt.provider for attempt in runs.skipped] == ["tensorrt", "azure"]
    assert len(caplog.records) == 2
    assert "m.onnx cannot run on tensorrt" in caplog.text
    with pytest.raises(NoProvider) as caught:
        Model(path, Provider.parse("tensorrt,azure"))
    assert str(caught.value).startswith("refused to start: \n  m.onnx cannot run on tensorrt: ")
    assert len(caught.value.attempts) == 2


REAL = ort.InferenceSession


class Session:
    """A session whose provider has nodes elsewhere, as a GPU's has: everything else is real."""

    def __init__(self, real: Any, nodes: dict[str, list[str]], providers: list[str]) -> None:
        self._real, self._nodes, self._providers = real, nodes, providers

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def get_providers(self) -> list[str]:
        return self._providers

    def get_provider_options(self) -> dict[str, dict[str, str]]:
        return {"CUDAExecutionProvider": {"device_id": "0", "use_tf32": "1"}, "CPUExecutionProvider": {}}

    def get_provider_graph_assignment_info(self) -> list[Any]:
        class Part:
            def __init__(self, ep_name: str, operators: list[str]) -> None:
                self.ep_name, self._operators = ep_name, operators

            def get_nodes(self) -> list[Any]:
                return [type("Node", (), {"op_type": each, "name": each.lower()}) for each in self._operators]

        return [Part(provider, operators) for provider, operators in self._nodes.items()]


def standing_in(monkeypatch: pytest.MonkeyPatch, nodes: dict[str, list[str]], providers: list[str]) -> list[Any]:
    """Let onnxruntime give such a session; the arguments that it was asked with are returned."""
    asked: list[Any] = []

    def made(path: str, options: Any, **given: Any) -> Session:
        asked.append((options, given))
        return Session(REAL(path, providers=["CPUExecutionProvider"]), nodes, providers)

    monkeypatch.setattr(session.ort, "InferenceSession", made)
    monkeypatch.setattr(
        session.ort, "get_available_providers", lambda: ["CUDAExecutionProvider", "CPUExecutionProvider"]
    )
    return asked


def test_what_is_asked_of_onnxruntime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = model(tmp_path / "m.onnx")
    nodes = {"CUDAExecutionProvider": ["MatMul"]}
    both = ["CUDAExecutionProvider", "CPUExecutionProvider"]
    asked = standing_in(monkeypatch, nodes, both)
    runs = Model(path, [Provider("cuda", {"device_id": "0"})])
    ((options, given),) = asked
    assert given == {"providers": [("CUDAExecutionProvider", {"device_id": "0"})], "enable_fallback": 0}
    assert options.get_session_config_entry("session.disable_cpu_ep_fallback") == "1"
    assert options.get_session_config_entry("session.record_ep_graph_assignment_info") == "1"
    assert runs.identity.providers == (("cuda", {"device_id": "0", "use_tf32": "1"}),)
    assert runs.identity.precision["use_tf32"] == "1"


def test_s27_a_gpu_that_runs_half(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = model(tmp_path / "m.onnx")
    nodes = {"CUDAExecutionProvider": ["MatMul"] * 3, "CPUExecutionProvider": ["Shape", "Shape", "Gather"]}
    both = ["CUDAExecutionProvider", "CPUExecutionProvider"]
    standing_in(monkeypatch, nodes, both)
    with pytest.raises(NoProvider) as caught:
        Model(path, [Provider("cuda", elsewhere={"cpu": ("gather",)})])
    assert caught.value.attempts[0].reason == "2 of 6 nodes run elsewhere: 2 Shape on cpu"
    runs = Model(path, [Provider("cuda", elsewhere={"cpu": ("gather", "Shape")})])
    assert [name for name, _ in runs.identity.providers] == ["cuda", "cpu"]
    # Every run says so, and with it evidence.
    assert runs.elsewhere == runs.run({"x": rows(1)}).facts["elsewhere"] == "1 Gather on cpu, 2 Shape on cpu"
    standing_in(monkeypatch, nodes, ["CPUExecutionProvider"])
    with pytest.raises(NoProvider, match="the session has only cpu"):
        Model(path, [Provider("cuda")])


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("CUDA failure 2: out of memory ; GPU=0 ; hostname=x", "memory"),
        ("BFCArena::AllocateRawInternal Failed to allocate memory for requested buffer of size 17", "memory"),
        ("CUDNN failure 5000: CUDNN_STATUS_EXECUTION_FAILED", "provider"),
        ("Got invalid dimensions for input: x", "runtime"),
    ],
)
def test_runs_that_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, kind: str) -> None:
    runs = Model(model(tmp_path / "m.onnx"))

    class Failing:
        def run(self, *_: Any) -> Any:
            raise RuntimeError(text)

    monkeypatch.setattr(runs, "_session", Failing())
    with pytest.raises(RunFailed) as caught:
        runs.run({"x": rows(1)})
    assert caught.value.kind == kind
    assert text not in str(caught.value)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("libcublasLt.so.13: cannot open shared object file: No such file", "the library libcublasLt.so.13 is missing"),
        ("invalid ELF header", "its library cannot be loaded"),
    ],
)
def test_a_provider_whose_libraries_are_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, reason: str
) -> None:
    """onnxruntime-gpu without CUDA's libraries: it lists CUDA, and would run on the CPU."""
    path = model(tmp_path / "m.onnx")
    asked = standing_in(monkeypatch, {}, [])
    (tmp_path / "capi").mkdir()
    (tmp_path / "capi" / "libonnxruntime_providers_cuda.so").touch()
    monkeypatch.setattr(session.ort, "__file__", str(tmp_path / "__init__.py"))

    def load(name: str, mode: int = 0) -> None:
        if "cuda" in name:
            raise OSError(said)

    monkeypatch.setattr(session.ctypes, "CDLL", load)
    with pytest.raises(NoProvider) as caught:
        Model(path, [Provider("cuda")])
    assert caught.value.attempts[0].reason == reason
    assert asked == []  # onnxruntime was not let at it


def test_no_provider_at_all(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match="no provider is declared"):
        Model(model(tmp_path / "m.onnx"), [])
    with pytest.raises(ContractError, match="a provider without a name"):
        Provider.parse("cuda,")
    assert [each.name for each in Provider.parse("CPUExecutionProvider, cuda")] == ["cpu", "cuda"]


def test_providers_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "providers.json"
    file.write_text(
        '[{"name": "cuda", "options": {"device_id": "1"}, "elsewhere": {"cpu": ["Shape"]}}, "CPUExecutionProvider"]'
    )
    assert Provider.parse(str(file)) == (Provider("cuda", {"device_id": "1"}, {"cpu": ("Shape",)}), Provider("cpu"))
    for wrong in (
        "[]",
        "{}",
        "no",
        '[{"name": "cuda", "device": "1"}]',
        '[{"options": {}}]',
        '[{"name": "a", "options": {"b": 1}}]',
    ):
        file.write_text(wrong)
        with pytest.raises(ContractError, match=r"providers\.json"):
            Provider.parse(str(file))


# -- identity and files


def test_the_identity(tmp_path: Path) -> None:
    path = model(tmp_path / "m.onnx")
    one, two = Model(path, threads=1).identity, Model(path, threads=2).identity
    assert one.sha256 == two.sha256
    assert one.digest != two.digest  # the order of sums is another
    assert one.digest == Model(path, threads=1).identity.digest
    told = json.loads(one.to_json())
    assert told["schema"] == "protocontract.model-identity/1"
    assert told["runtime_version"] == ort.__version__
    assert told["providers"] == [{"name": "cpu", "options": {}}]
    assert told["precision"]["threads"] == "1"
    assert hashlib.sha256(one.to_json().encode()).hexdigest() == one.digest


def test_flags_that_change_results() -> None:
    options = {"trt_fp16_enable": "1", "use_tf32": "0", "device_id": "0", "trt_engine_cache_path": "/c"}
    found = precision_flags(options, {"threads": "1"}, {"NVIDIA_TF32_OVERRIDE": "0", "HOME": "/root"})
    assert found == {"trt_fp16_enable": "1", "use_tf32": "0", "threads": "1", "NVIDIA_TF32_OVERRIDE": "0"}


def test_weights_beside_the_model_are_part_of_it(tmp_path: Path) -> None:
    path = model(tmp_path / "m.onnx", external="weights.bin")
    assert external_data(path) == {"weights.bin"}
    before = Model(path).identity
    assert before.files == {name: hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() for name in
                            ("m.onnx", "weights.bin")}  # fmt: skip
    weights = bytearray((tmp_path / "weights.bin").read_bytes())
    weights[0] ^= 1
    (tmp_path / "weights.bin").write_bytes(weights)
    after = Model(path).identity
    assert after.sha256 == before.sha256
    assert after.digest != before.digest
    (tmp_path / "weights.bin").unlink()
    with pytest.raises(ContractError, match=r"has weights in weights\.bin, which is not there"):
        Model(path)


def test_weights_outside_of_the_folder(tmp_path: Path) -> None:
    path = model(tmp_path / "m.onnx", external="ab_out.bin")
    path.write_bytes(path.read_bytes().replace(b"ab_out.bin", b"../out.bin"))
    with pytest.raises(ContractError, match="has weights outside of its folder"):
        files(path)


@pytest.mark.parametrize(
    "content", [b"", b"no model", b"\x00\x01", b"\xff" * 40, b"\x3a\xff\x01", b"\x3a\x04\x0a\x02\xff\xff"]
)
def test_what_is_no_model(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(content)
    with pytest.raises(ContractError, match=r"m\.onnx"):
        Model(path)


def test_a_model_that_onnxruntime_cannot_read(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(b"\x0a\x01a")  # a message, without a graph
    with pytest.raises(ContractError):
        Model(path)
    with pytest.raises(ContractError, match=r"m\.onnx cannot be read by onnxruntime"):
        session.read_signature(path)
    with pytest.raises(FileNotFoundError):
        Model(tmp_path / "other.onnx")
