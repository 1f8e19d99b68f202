"""How RPCs are wired to models by their types, and what is refused before anything is loaded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from protocontract.serving import InferenceServer, ModelSpec
from protocontract.steps import Step, load_step, shape_of, step
from protocontract.violations import ContractError
from tests.serving.serve.lab import contracts, service, steps

ONE = [ModelSpec("", "", "model.onnx")]


def planned(name: str, *, models: list[ModelSpec] | None = None, steps: list[Any] | None = None, **more: Any) -> Any:
    return InferenceServer(**service(name), models=models or ONE, steps=steps or [], **more).plan


def refused(name: str, *, models: list[ModelSpec] | None = None, steps: list[Any] | None = None, **more: Any) -> str:
    with pytest.raises(ContractError, match=r"^refused to start: ") as caught:
        planned(name, models=models, steps=steps, **more)
    return str(caught.value)


def annotated(takes: Any, gives: Any, name: str = "some:step", **more: Any) -> Step:
    def function(value: Any) -> Any:
        return value

    function.__annotations__ = {"value": takes, "return": gives, **more}
    return Step(name, "1", function)


def kind(name: str) -> Any:
    return contracts()[name].message_type


def test_the_messages_own_tensors() -> None:
    (method,) = planned("Echo").methods
    (route,) = method.routes
    assert (route.inputs.full_name, route.outputs.full_name, route.target) == ("lab.v1.Rows", "lab.v1.Same", "")
    assert (method.copied, method.version_field) == (("request_id", "model_version"), "model_version")


def test_a_model_for_each_message_with_tensors() -> None:
    models = [ModelSpec("small", "", "a.onnx"), ModelSpec("sample", "", "b.onnx")]
    (method,) = planned("Two", models=models).methods
    assert [(route.field, route.inputs.full_name, route.target) for route in method.routes] == [
        ("small", "lab.v1.Small", "small"),
        ("sample", "lab.v1.Sample", "sample"),
    ]


def test_steps_by_their_annotations() -> None:
    (method,) = planned("Moods", steps=steps(), recorded=True).methods
    (route,) = method.routes
    assert (route.preprocess.name, route.postprocess.name) == ("lab:count", "lab:tell")
    assert (route.inputs.full_name, route.outputs.full_name) == ("lab.v1.Features", "lab.v1.Scores")
    assert method.evidence_field == "evidence"


def test_steps_with_arrays_have_no_contract() -> None:
    both = [annotated(kind("Saying"), Mapping[str, Any], "a:b"), annotated(dict[str, Any], kind("Mood"), "c:d")]
    (method,) = planned("Moods", steps=both, recorded=True).methods
    assert (method.routes[0].inputs, method.routes[0].outputs) == (None, None)


def test_several_steps_for_one_place_are_refused_by_their_names() -> None:
    text = refused("Moods", steps=[*steps(), annotated(kind("Saying"), kind("Features"), "other:count")], recorded=True)
    assert "lab:count and other:count: each takes lab.v1.Saying; expected one step" in text


def test_everything_is_told_at_once() -> None:
    wrong = [annotated(kind("Saying"), int, "some:number"), annotated(kind("Saying"), kind("Empty"), "some:empty")]
    text = refused("Moods", steps=wrong)
    assert "some:number: result is annotated with int; expected a message or a mapping of arrays" in text
    assert "some:empty gives lab.v1.Empty, which has no `tensor` fields" in text
    assert "/lab.v1.Moods/Tell requires evidence; expected a log to write it to" in text


@pytest.mark.parametrize(
    ("name", "given", "told"),
    [
        ("Streams", [], "/lab.v1.Streams/Run is a stream; expected an RPC with one request and one response"),
        ("Nothing", [], "nothing makes lab.v1.Empty of a model's outputs; expected `tensor` fields, or a step that"),
        ("Lacking", [], "lab.v1.Needs.note has to be set (string.min_len), and nothing does; expected a step that"),
        ("Moods", [], "nothing makes a model's inputs of lab.v1.Saying; expected `tensor` fields, or a step that"),
        ("Echo", [("Saying", "Features")], "some:step (lab.v1.Saying) -> lab.v1.Features fits no RPC of lab.v1.Echo"),
        ("Echo", [("Rows", "Same")], "some:step makes the response of the request itself; expected a model's outputs"),
    ],
)
def test_what_does_not_fit_is_refused(name: str, given: list[tuple[str, str]], told: str) -> None:
    made = [annotated(kind(takes), kind(gives)) for takes, gives in given]
    assert told in refused(name, steps=made, recorded=True)


@pytest.mark.parametrize(
    ("models", "told"),
    [
        ([], "no model is given"),
        ([("a", "1", ""), ("b", "1", "")], "one model is asked for, got a, b"),
        ([("a", "1", ""), ("a", "1", "")], "a@1 is declared 2 times; expected each version once"),
        ([("a", "1", "active"), ("a", "2", "active")], "a has 2 active versions; expected one at most"),
        ([("a", "1", "shadow")], "a has no active version; expected one"),
    ],
)
def test_models_that_make_no_sense_are_refused(models: list[tuple[str, str, str]], told: str) -> None:
    with pytest.raises(ContractError, match=told):
        InferenceServer(**service("Echo"), models=[ModelSpec(a, b, "x.onnx", c) for a, b, c in models])  # type: ignore[arg-type]


def test_models_are_named_as_the_fields_that_choose_them() -> None:
    text = refused("Two", models=[ModelSpec("small", "", "a.onnx"), ModelSpec("large", "", "b.onnx")])
    assert "`sample` has no model; expected sample=PATH" in text
    assert "nothing asks for the model large; expected small, sample" in text
    assert "a.onnx has no name; expected NAME=PATH, of small, sample" in refused(
        "Two", models=[ModelSpec("", "", "a.onnx"), ModelSpec("sample", "", "b.onnx")]
    )


def test_a_share_is_a_canarys() -> None:
    with pytest.raises(ContractError, match=r"a@1 has the share 0.5; expected 0 to 1, of a canary"):
        InferenceServer(**service("Echo"), models=[ModelSpec("a", "1", "x.onnx", "active", 0.5)])


def test_a_step_has_its_version(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "versioned_steps.py").write_text(
        "from protocontract.steps import step\n\n"
        "@step(version='7')\ndef features(value: dict) -> dict:\n    return value\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    found = load_step("versioned_steps:features")
    assert found.version == "7"
    assert str(shape_of(found)) == "(arrays) -> arrays"


def test_what_steps_may_not_be() -> None:
    @step(version="1")
    async def later(value: dict[str, Any]) -> dict[str, Any]:
        return value

    def two(value: dict[str, Any], other: int) -> dict[str, Any]:
        return value

    def unsaid(value):  # type: ignore[no-untyped-def]
        return value

    for function, told in (
        (later, "is a coroutine; expected a plain function"),
        (two, "takes 2 parameters; expected a message or arrays, and `call` at most"),
        (unsaid, "parameter `value` has no annotation; expected a message"),
    ):
        with pytest.raises(ContractError, match=told):
            shape_of(Step("some:step", "", function))


def test_annotations_have_to_be_there_at_run_time() -> None:
    def function(value: Any) -> Any:
        return value

    function.__annotations__ = {"value": "Unimported", "return": "dict"}
    with pytest.raises(ContractError, match="name Unimported, which its module does not have at run time"):
        shape_of(Step("some:step", "", function))
