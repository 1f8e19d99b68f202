"""Model inputs of valid records: sensitive fields are gone before anybody looks, and what does not fit is said."""

from __future__ import annotations

import struct
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from acme.inference.v1.content_type_contract import CONTENT_TYPE_INPUT
from acme.inference.v1.content_type_pb2 import ContentTypeInput
from protocontract.calibrate.inputs import Inputs, sensitive_paths
from protocontract.cli import main
from protocontract.contract import Contract
from protocontract.steps import Step, load_step
from protocontract.violations import ContractError
from protocontract_compiler.dynamic import load_protos

PROTO = """
syntax = "proto3";
package inputs.v1;
import "protocontract/v1/contract.proto";
message Request {
  string name = 1 [(protocontract.v1.field).sensitive = true];
  bytes x = 2 [(protocontract.v1.field).tensor = {name: "x" dtype: FLOAT32 dims: ["2"]}];
  bytes face = 3 [(protocontract.v1.field) = {sensitive: true tensor: {name: "face" dtype: UINT8 dims: ["3"]}}];
  repeated Person people = 4;
  map<string, Person> by_name = 5;
  Person owner = 6 [(protocontract.v1.field).sensitive = true];
}
message Person { string email = 1 [(protocontract.v1.field).sensitive = true]; int32 age = 2; }
message Plain { string text = 1; }
"""


@pytest.fixture(scope="module")
def contracts(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Contract[Any]]:
    folder = tmp_path_factory.mktemp("protos")
    (folder / "inputs.proto").write_text(PROTO)
    return load_protos([folder / "inputs.proto"], folder)


@pytest.fixture(scope="module")
def request_contract(contracts: Mapping[str, Contract[Any]]) -> Contract[Any]:
    return contracts["inputs.v1.Request"]


def test_sensitive_fields_are_cleared_wherever_they_are(request_contract: Contract[Any]) -> None:
    seen: list[Any] = []

    def step(message: Any) -> dict[str, Any]:
        seen.append(message)
        return {}

    inputs = Inputs(request_contract, Step("m:step", "", step))
    person = {"email": "a@example.com", "age": 7}
    message = request_contract.message_type(
        name="Quetzal", x=bytes(8), face=b"abc", people=[person, person], by_name={"k": person}, owner=person
    )
    inputs.of(inputs.without_sensitive(message))
    expected = request_contract.message_type(x=bytes(8), people=[{"age": 7}] * 2, by_name={"k": {"age": 7}})
    assert seen == [expected]


def test_sensitive_tensors_are_no_inputs(request_contract: Contract[Any]) -> None:
    inputs = Inputs(request_contract)
    message = request_contract.message_type(x=struct.pack("<2f", 1, 2), face=b"abc")
    batch = inputs.of(inputs.without_sensitive(message))
    assert list(batch) == ["x"]
    assert batch["x"].tolist() == [[1.0, 2.0]]
    assert inputs.hidden("face") == "face"
    assert inputs.hidden("x") == ""
    assert sensitive_paths(request_contract) == {"face"}


def test_a_step_may_make_a_message_or_arrays() -> None:
    message = ContentTypeInput(features=bytes(4 * 2048))
    for made in (message, {"bytes": Inputs(CONTENT_TYPE_INPUT).of(message)["bytes"]}):
        batch = Inputs(CONTENT_TYPE_INPUT, Step("m:step", "1", lambda _, made=made: made)).of(message)
        assert (batch["bytes"].shape, batch.dtypes["bytes"]) == ((1, 2048), "int32")


def fails(_: Any) -> Any:
    raise ValueError("Quetzal")


@pytest.mark.parametrize(("run", "error"), [
    (fails, r"m:step failed on a valid record \(ValueError\)$"),
    (lambda _: ContentTypeInput(features=struct.pack("<2048i", *[257] * 2048)), "m:step made a message that breaks"),
    (lambda _: None, "m:step returned NoneType; expected a message or arrays by name"),
    (lambda _: {"x": [1, 2]}, "m:step returned values that are no arrays"),
])  # fmt: skip
def test_a_step_that_fails_is_named_and_its_text_is_not_repeated(run: Any, error: str) -> None:
    with pytest.raises(ContractError, match=error):
        Inputs(CONTENT_TYPE_INPUT, Step("m:step", "", run)).of(ContentTypeInput())


def test_a_contract_without_tensors_needs_a_step(contracts: Mapping[str, Contract[Any]]) -> None:
    with pytest.raises(ContractError, match=r"Plain has no tensors; expected a contract with `tensor` fields, or"):
        Inputs(contracts["inputs.v1.Plain"])


def test_steps_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("some_steps")
    module.features = fails  # type: ignore[attr-defined]
    module.number = 7  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "some_steps", module)
    monkeypatch.setattr(fails, "version", 3, raising=False)
    step = load_step("some_steps:features")
    assert (step.name, step.version, step.run) == ("some_steps:features", "3", fails)
    for name, error in (
        ("some_steps", "names no step; expected module:function"),
        ("some_steps:number", "has no function number"),
        ("some_steps:other", "has no function other$"),
        ("some_steps:feature", r"has no function feature; did you mean `features`\?"),
        ("nowhere.at_all:step", r"no module nowhere\.at_all"),
    ):
        with pytest.raises(ContractError, match=error):
            load_step(name)


def test_a_step_in_the_working_folder_is_found_by_the_advice(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "steps_of_mine").mkdir()
    (tmp_path / "steps_of_mine" / "text.py").write_text("def features(request): ...\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry not in ("", ".")])
    with pytest.raises(ContractError, match=r"; steps_of_mine.text\.py is here: put this folder on PYTHONPATH"):
        load_step("steps_of_mine.text:features")
    monkeypatch.syspath_prepend(tmp_path)
    assert load_step("steps_of_mine.text:features").name == "steps_of_mine.text:features"


def test_the_extra_is_named_where_it_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    monkeypatch.delitem(sys.modules, "protocontract.calibrate.quantize", raising=False)
    monkeypatch.delitem(sys.modules, "protocontract.calibrate.calibration", raising=False)
    arguments = ["--contract", "acme.inference.v1.ContentTypeInput", "--model", "m.onnx", "--out", "o.onnx", "x.binpb"]
    assert main(["calibrate", *arguments]) == 2
    assert 'protocontract.calibrate needs onnx: pip install "protocontract[calibrate]"' in capsys.readouterr().err
