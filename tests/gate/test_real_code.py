"""No false alarms on a code base that others wrote: the onnx package, some hundred files that use its messages."""

from __future__ import annotations

import importlib.metadata
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from protocontract.cli import main

#: A message with field names that the code uses on other messages all the time, and changes that hit whoever uses it.
BEFORE = """
message Shipment {
  optional string name = 1;
  optional string doc_string = 2;
  optional int32 data_type = 3;
  repeated int64 dims = 4;
  optional string domain = 5;
  optional Carrier type = 6;
  repeated string input = 7;
  oneof value { string raw_data = 8; int64 i = 9; }
}
enum Carrier { CARRIER_NONE = 0; CARRIER_ROAD = 1; }
"""
AFTER = """
message Shipment {
  reserved 1, 2, 4, 5;
  reserved "name", "doc_string", "domain";
  optional int64 data_type = 3;
  optional int64 dims = 14;
  optional Carrier type = 6;
  repeated bytes input = 7;
  oneof value { string raw_data = 8; int64 i = 9; string s = 12; }
}
enum Carrier { CARRIER_NONE = 0; CARRIER_ROAD = 1; CARRIER_AIR = 2; }
message Fresh { optional string name = 1; }
"""


@pytest.fixture(scope="module")
def onnx(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package's own files without generated code, and two folders of its contract."""
    try:
        package = Path(str(importlib.metadata.distribution("onnx").locate_file("onnx")))
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("onnx is not installed: ci/requirements-dev.txt has it")
    root = tmp_path_factory.mktemp("onnx")
    shutil.copytree(
        package, root / "modules" / "onnx",
        ignore=lambda folder, names: [
            name
            for name in names
            if name.endswith(("_pb2.py", "_pb2.pyi", ".so")) or (folder.endswith("backend") and name == "test")
        ],
    )  # fmt: skip
    contract = (package / "onnx-ml.proto").read_text()
    for name, more in (("before", BEFORE), ("after", AFTER)):
        (root / name / "onnx").mkdir(parents=True)
        (root / name / "onnx/onnx-ml.proto").write_text(contract + more)
    return root


def judged(root: Path, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    main(
        ["gate", "--before", str(root / "before"), "--after", str(root / "after"), "--modules", str(root / "modules"),
         "--no-exec", "--format", "json"]
    )  # fmt: skip
    modules: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["modules"]
    return modules


def test_changes_of_what_the_code_does_not_use(onnx: Path, capsys: pytest.CaptureFixture[str]) -> None:
    contract = onnx / "after/onnx/onnx-ml.proto"
    text = contract.read_text()
    for message in ("ModelProto", "TensorProto", "NodeProto"):
        # Something new in what it does use.
        text = text.replace(f"message {message} {{", f"message {message} {{\n  optional string quite_new = 900;", 1)
    contract.write_text(text)
    modules = judged(onnx, capsys)
    assert len(modules) >= 100
    assert {module["verdict"] for module in modules} == {"unaffected"}


def test_a_change_of_what_it_does_use_is_found(onnx: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same code base, so that silence above means something."""
    contract = onnx / "after/onnx/onnx-ml.proto"
    text = contract.read_text()
    assert "optional bytes raw_data = 9;" in text
    contract.write_text(text.replace("optional bytes raw_data = 9;", "optional bytes raw_bytes = 9;"))
    red = {module["module"] for module in judged(onnx, capsys) if module["verdict"] == "not_adapted"}
    python = {name for name in red if name.endswith(".py")}
    assert python == {"onnx/external_data_helper.py", "onnx/helper.py", "onnx/numpy_helper.py"}
    # Its sources in C++ are judged by their text (D16), and each has the field.
    assert "onnx/checker.cc" in red
    assert all("raw_data" in (onnx / "modules" / name).read_text() for name in red - python)
