"""Declared degradation: nothing is silent, both sides are held to probes, and the model comes back."""

from __future__ import annotations

import logging
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from protocontract.models import Model, NoProvider, Provider, RunFailed, WrongInput
from protocontract.models.fallback import Degrading, Event, Fallback
from protocontract.models.probes import Probes
from protocontract.models.stand_in import with_fallback
from protocontract.violations import ContractError
from tests.models.breaking import Breaking, Factory
from tests.models.providers import save

CPU = Fallback(provider="cpu", max_abs=1e-4, max_rel=1e-3, label_agreement=0.99, sticky=True, probe_every=30.0)
PASSING = replace(CPU, sticky=False)


def rows(count: int, seed: int = 2) -> dict[str, Any]:
    return {"x": np.random.default_rng(seed).normal(size=(count, 8)).astype("float32")}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A classifier, with its probes beside it."""
    return classifier(tmp_path_factory.mktemp("zoo") / "m.onnx")


def classifier(path: Path, seed: int = 1) -> Path:
    weights = np.random.default_rng(seed).normal(size=(8, 8)).astype("float32")
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["sums"]),
        helper.make_node("Softmax", ["sums"], ["scores"], axis=-1),
    ]
    save(path, nodes, [numpy_helper.from_array(weights, "w")], ["N", 8])
    Probes.make(Model(path, threads=1), [rows(8, seed) for seed in range(3)], {}).write(Probes.path_of(path))
    return path


def degrading(path: Path, fallback: Fallback, factory: Factory | None = None, **more: Any) -> Degrading:
    probes = Probes.read(Probes.path_of(path))
    more = {"background": False, "clock": lambda: 5.0, **more}
    return Degrading(factory or Factory(path), Model(path, threads=1), fallback, probes, **more)


def primary(engine: Degrading) -> Breaking:
    assert isinstance(engine.engines[0], Breaking)
    return engine.engines[0]


# -- S28


@pytest.mark.parametrize("kind", ["memory", "provider"])
@pytest.mark.parametrize("fallback", [CPU, PASSING], ids=["sticky", "passing"])
def test_s28_a_batch_that_fails_runs_once_more_elsewhere_and_says_so(
    path: Path, kind: Literal["memory", "provider"], fallback: Fallback, caplog: pytest.LogCaptureFixture
) -> None:
    engine = degrading(path, fallback)
    engine.check()
    device = primary(engine)
    before = engine.run(rows(4))
    assert before.provider == "npu"
    assert "fallback" not in before.facts
    device.kind = kind
    with caplog.at_level(logging.WARNING, "protocontract.models"):
        ran = engine.run(rows(4))
    assert np.abs(ran.outputs["scores"] - before.outputs["scores"]).max() <= CPU.max_abs
    assert (ran.provider, ran.facts["provider"]) == ("cpu", "cpu")
    assert ran.facts["fallback"] == "provider:cpu"
    assert ran.facts["attempts"] == f"npu failed ({kind}); cpu"
    assert ran.facts["model"] == before.facts["model"]
    assert len(caplog.records) == 1
    device.kind = None
    later = engine.run(rows(4))
    if fallback.sticky:
        assert [event.kind for event in engine.events] == ["degraded"]
        assert (engine.degraded, engine.provider, engine.reason) == (True, "cpu", f"npu failed ({kind})")
        assert (later.provider, later.facts["fallback"], later.facts["attempts"]) == ("cpu", "provider:cpu", "cpu")
    else:
        assert list(engine.events) == [Event(5.0, "retried", f"npu failed ({kind})")]
        assert (engine.degraded, later.provider) == (False, "npu")
        assert "fallback" not in later.facts


def test_s28_later_batches_return_when_a_probe_succeeds(path: Path) -> None:
    factory = Factory(path)
    told: list[Event] = []
    engine = degrading(path, CPU, factory, on_event=told.append)
    primary(engine).kind = factory.breaks = "memory"
    engine.run(rows(1))
    assert not engine.probe()
    assert engine.run(rows(1)).provider == "cpu"
    assert factory.made[0].closed  # its memory has to be free before it is started anew
    factory.breaks = None
    assert engine.probe()
    assert engine.probe()  # nothing is to be done any more
    assert engine.run(rows(1)).provider == "npu"
    assert [event.kind for event in engine.events] == ["degraded", "probe_failed", "recovered"]
    assert list(engine.events) == told
    assert len(factory.made) == 3


def test_s28_a_device_that_is_back_but_wrong_does_not_serve(path: Path) -> None:
    factory = Factory(path)
    engine = degrading(path, CPU, factory)
    first = primary(engine)
    first.kind = factory.breaks = "provider"
    engine.run(rows(1))
    first.kind, first.skew = None, 0.01
    assert not engine.probe()
    assert engine.degraded
    assert engine.events[-1].reason == "m.onnx failed on npu"  # that of the one that was started anew


def test_s28_on_a_thread_of_its_own(path: Path) -> None:
    """What serves in practice: nobody calls ``probe``."""
    back = threading.Event()

    def told(event: Event) -> None:
        if event.kind == "recovered":
            back.set()

    engine = degrading(path, replace(CPU, probe_every=0.001), background=True, on_event=told)
    broken = primary(engine)  # which a probe may have closed when the run is back
    broken.kind = "memory"
    engine.run(rows(1))
    broken.kind = None
    assert back.wait(120)
    assert engine.run(rows(1)).provider == "npu"
    engine.close()


@pytest.mark.parametrize("degraded", [False, True])
def test_what_is_closed_still_says_what_ran(path: Path, degraded: bool) -> None:
    """`protocontract serve --check` gives its models up before it tells what they are."""
    engine = degrading(path, CPU)
    if degraded:
        primary(engine).kind = "memory"
        engine.run(rows(1))
    ran = (engine.identity, engine.provider)
    assert ran[1] == ("cpu" if degraded else "npu")
    engine.close()
    engine.close()
    assert (engine.identity, engine.provider) == ran


@pytest.mark.parametrize(
    ("raised", "reason"),
    [(OSError("m.onnx is gone"), "m.onnx is gone"), (ZeroDivisionError("12.5"), "ZeroDivisionError")],
)
def test_a_start_that_raises_is_tried_again(path: Path, raised: Exception, reason: str) -> None:
    """Texts of errors that are not ours stay out."""
    factory = Factory(path)
    factory.missing = "no device"
    engine = degrading(path, CPU, factory)

    def fail() -> Breaking:
        raise raised

    engine._start = fail  # type: ignore[misc]
    assert not engine.probe()
    assert engine.events[-1].reason == reason
    factory.missing = ""
    engine._start = factory  # type: ignore[misc]
    assert engine.probe()


def test_what_a_probe_starts_after_the_end_is_closed(path: Path) -> None:
    """The service stops while a device is tried: nobody waits for it, and nothing stays open."""
    factory = Factory(path)
    engine = degrading(path, CPU, factory)
    primary(engine).kind = "memory"
    engine.run(rows(1))
    start, end = threading.Event(), threading.Event()

    def slowly() -> Breaking:
        start.set()
        assert end.wait(120)
        return factory()

    engine._start = slowly  # type: ignore[misc]
    trying = threading.Thread(target=engine.probe)
    trying.start()
    assert start.wait(120)
    engine.close()
    end.set()
    trying.join(120)
    assert [made.closed for made in factory.made] == [True, True]
    assert engine.degraded
    assert not engine.probe()


def test_s28_undeclared_kinds_of_failure_are_failures(path: Path) -> None:
    """What the inputs do to a model, they do on any device."""
    engine = degrading(path, CPU)
    primary(engine).kind = "runtime"
    with pytest.raises(RunFailed) as caught:
        engine.run(rows(1))
    assert caught.value.kind == "runtime"
    assert not engine.degraded
    primary(engine).kind = None
    with pytest.raises(WrongInput):
        engine.run({"y": rows(1)["x"]})
    assert not engine.events


def test_s28_when_both_fail_both_are_told(path: Path) -> None:
    engine = degrading(path, CPU)
    stand_in = Breaking(path, "cpu")
    broken = Degrading(Factory(path), stand_in, CPU, engine.probes, background=False)
    primary(broken).kind, stand_in.kind = "memory", "provider"
    with pytest.raises(RunFailed, match=r"^npu failed \(memory\), and in its place m.onnx failed on cpu$") as caught:
        broken.run(rows(1))
    assert caught.value.kind == "provider"


def test_s28_without_a_declaration_it_fails(tmp_path: Path) -> None:
    """Real memory that runs out, on the CPU: a buffer of so many bytes is in no machine."""
    nodes = [
        helper.make_node("Expand", ["x", "shape"], ["wide"]),
        helper.make_node("ReduceSum", ["wide"], ["scores"], keepdims=0),
    ]
    ports = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, [1]),
        helper.make_tensor_value_info("shape", TensorProto.INT64, [1]),
    ]
    graph = helper.make_graph(nodes, "g", ports, [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [])])
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8), str(tmp_path / "m.onnx")
    )
    runs = Model(tmp_path / "m.onnx")
    with pytest.raises(RunFailed) as caught:
        runs.run({"x": np.ones(1, "float32"), "shape": np.array([1 << 50], "int64")})
    assert caught.value.kind == "memory"


def test_s28_memory_that_runs_out_for_real(tmp_path: Path) -> None:
    """The mean of ``copies`` of x: a model that makes them, in whatever memory that takes, and one that does not."""
    path, light = tmp_path / "m.onnx", tmp_path / "light.onnx"
    ends = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 4]),
        helper.make_tensor_value_info("copies", TensorProto.INT64, [1]),
        helper.make_tensor_value_info("mean", TensorProto.FLOAT, ["N", 4]),
    ]
    made = [
        helper.make_node("Shape", ["x"], ["own"]),
        helper.make_node("Concat", ["copies", "own"], ["shape"], axis=0),
        helper.make_node("Expand", ["x", "shape"], ["wide"]),
        helper.make_node("ReduceMean", ["wide"], ["mean"], axes=[0], keepdims=0),
    ]
    for file, nodes in ((path, made), (light, [helper.make_node("Identity", ["x"], ["mean"])])):
        graph = helper.make_graph(nodes, "g", ends[:2], ends[2:])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8), str(file))
    x = np.random.default_rng(4).normal(size=(3, 4)).astype("float32")
    few, many = ({"x": x, "copies": np.array([copies], "int64")} for copies in (5, 1 << 45))
    Probes.make(Model(path), [few], {}).write(Probes.path_of(path))
    fallback = Fallback(model="light.onnx", max_abs=1e-5, sticky=True, probe_every=3600.0)
    engine = with_fallback(path, fallback, lambda: Model(path), background=False)
    assert "fallback" not in engine.run(few).facts
    ran = engine.run(many)
    assert ran.facts["fallback"] == "model:light.onnx"
    assert ran.facts["attempts"] == "cpu failed (memory); cpu"
    assert np.abs(ran.outputs["mean"] - x).max() <= 1e-5
    assert isinstance(engine, Degrading)
    assert engine.probe()  # few copies fit
    assert "fallback" not in engine.run(few).facts


# -- S26


def test_s26_a_provider_that_is_missing_serves_on_the_declared_one_and_says_so(path: Path) -> None:
    """CUDA is asked for; this onnxruntime has none."""
    with pytest.raises(NoProvider, match=r"^refused to start: m.onnx cannot run on cuda: "):
        Model(path, (Provider("cuda"),))
    engine = with_fallback(path, CPU, lambda: Model(path, (Provider("cuda"),)), threads=1, background=False)
    assert isinstance(engine, Degrading)
    assert engine.degraded
    assert engine.reason.startswith("cuda: ")
    assert engine.provider == "cpu"
    for _ in range(2):
        ran = engine.run(rows(3))
        assert (ran.provider, ran.facts["fallback"], ran.facts["attempts"]) == ("cpu", "provider:cpu", "cpu")
    assert engine.identity.provider == "cpu"
    assert not engine.probe()
    assert engine.events[-1].reason.startswith("m.onnx cannot run on cuda: ")


def test_s26_a_provider_that_comes_later(path: Path) -> None:
    factory = Factory(path)
    factory.missing = "no device"
    engine = degrading(path, CPU, factory)
    assert (engine.name, engine.reason) == ("m.onnx", "npu: no device")
    assert engine.engines == (engine.stand_in,)
    engine.check()
    factory.missing = ""
    assert engine.probe()
    assert engine.run(rows(1)).provider == "npu"


# -- before serving


def test_the_check_compares_three_ways(path: Path) -> None:
    engine = degrading(path, CPU)
    texts = [str(each) for each in engine.check()]
    assert texts == [
        "m.onnx on npu beside its probes: up to 0 apart, 24 of 24 labels alike",
        "m.onnx on cpu beside m.onnx on npu: up to 0 apart, 24 of 24 labels alike",
    ]


def test_a_stand_in_that_gives_something_else_is_refused(path: Path, tmp_path: Path) -> None:
    other = Model(classifier(tmp_path / "other.onnx", seed=9), threads=1)
    engine = Degrading(Factory(path), other, CPU, Probes.read(Probes.path_of(path)), background=False)
    with pytest.raises(ContractError) as caught:
        engine.check()
    lines = str(caught.value).splitlines()
    assert lines[0] == "refused to start: "
    assert lines[1].startswith("  other.onnx on cpu beside m.onnx on npu: output scores is up to 0.")
    assert lines[1].endswith(" apart; expected at most 0.0001 + 0.001 of the recorded value, in 3 of 3 runs")
    assert lines[2].startswith("  other.onnx on cpu beside m.onnx on npu: ")
    assert lines[2].endswith(" of 24 labels are alike; expected 0.99 of them")


def test_a_model_that_no_longer_gives_its_probes_is_refused(path: Path) -> None:
    engine = degrading(path, CPU)
    primary(engine).skew = 0.5
    with pytest.raises(ContractError, match=r"m.onnx on npu beside its probes: output scores is up to 0.5 apart"):
        engine.check()


def test_a_device_that_fails_at_the_check_degrades(path: Path) -> None:
    engine = degrading(path, CPU)
    primary(engine).kind = "memory"
    assert [each.engine for each in engine.check()] == ["m.onnx on cpu"]
    assert engine.reason == "npu failed (memory)"


def test_labels_alone(path: Path) -> None:
    """A lighter model is held to labels, where no number is declared."""
    engine = degrading(path, Fallback(model="light.onnx", label_agreement=0.99))
    primary(engine).skew = 0.5  # of all classes alike: no label changes
    assert engine.check()[0].found.max_abs == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"provider": "CPUExecutionProvider"}, "the fallback provider:cpu declares nothing that it is held to"),
        ({"model": "light.onnx", "sticky": True}, "the fallback model:light.onnx declares nothing that it is held to"),
    ],
)
def test_a_declaration_without_a_promise(option: dict[str, Any], message: str) -> None:
    from protocontract.v1.contract_pb2 import ServiceLevel

    with pytest.raises(ContractError, match=message):
        Fallback.of(ServiceLevel(fallback=ServiceLevel.Fallback(**option)).fallback)


def test_the_declaration() -> None:
    from protocontract.v1.contract_pb2 import ServiceLevel

    option = ServiceLevel().fallback
    assert Fallback.of(option) is None
    assert Fallback.of(None) is None
    option.provider, option.max_abs, option.sticky = "CPUExecutionProvider", 0.5, True
    option.probe_every.seconds, option.probe_every.nanos = 1, 500_000_000
    assert Fallback.of(option) == Fallback("cpu", max_abs=0.5, sticky=True, probe_every=1.5)


def test_what_has_to_be_there(path: Path, tmp_path: Path) -> None:
    def start() -> Breaking:
        return Breaking(tmp_path / "m.onnx")

    bare = tmp_path / "m.onnx"
    bare.write_bytes(path.read_bytes())
    with pytest.raises(ContractError, match=r"^refused to start: the fallback provider:cpu of m.onnx cannot be"):
        with_fallback(bare, CPU, start)
    Probes.make(Model(classifier(tmp_path / "o.onnx", seed=9)), [rows(2)], {}).write(Probes.path_of(bare))
    with pytest.raises(ContractError, match=r"^refused to start: the probes are of another model than m.onnx; "):
        with_fallback(bare, CPU, start)
    Probes.path_of(bare).write_bytes(Probes.path_of(path).read_bytes())
    with pytest.raises(ContractError, match=r"^refused to start: the fallback light.onnx is not beside m.onnx; "):
        with_fallback(bare, Fallback(model="light.onnx", label_agreement=0.9), start)
    with pytest.raises(ContractError, match=r"is no name of a file beside m.onnx"):
        with_fallback(bare, Fallback(model="../m.onnx", label_agreement=0.9), start)
    assert isinstance(with_fallback(bare, CPU, start, background=False), Degrading)


def test_where_the_model_runs_already_there_is_no_other(path: Path) -> None:
    engine = with_fallback(path, CPU, lambda: Model(path))
    assert isinstance(engine, Model)


def test_what_could_not_start_is_closed(path: Path) -> None:
    factory = Factory(path)
    first = factory()
    first.skew = 0.5
    with pytest.raises(ContractError):
        with_fallback(path, CPU, lambda: first)
    assert first.closed
