"""Whatever ``buf breaking`` reports in its category WIRE_JSON, we report too, on every scenario."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from google.protobuf.message import Message

from protocontract.cli import main
from protocontract_ci.model import Change
from protocontract_ci.sources import Contracts
from protocontract_compiler.descriptors.validate_proto import write_includes
from tests.gate.scenarios import CASES, Scenario, given, own

BUF = Path(sys.executable).parent / "buf"
# Folders, and packages, of what contracts import.
SHARED = ("google/", "buf/", "protocontract/")

# The kinds that tell what a rule of buf tells. All rules of the category are here: `buf config ls-breaking-rules`.
KINDS = {
    "ENUM_SAME_JSON_FORMAT": {"encoding_changed"},
    "ENUM_VALUE_NO_DELETE_UNLESS_NAME_RESERVED": {"enum_value_removed", "enum_value_renumbered"},
    "ENUM_VALUE_NO_DELETE_UNLESS_NUMBER_RESERVED": {"enum_value_removed", "enum_value_renumbered"},
    "ENUM_VALUE_SAME_NAME": {"enum_value_renamed", "enum_value_renumbered", "enum_alias_removed"},
    "FIELD_NO_DELETE_UNLESS_NAME_RESERVED": {"field_removed", "oneof_case_removed", "field_renumbered"},
    "FIELD_NO_DELETE_UNLESS_NUMBER_RESERVED": {"field_removed", "oneof_case_removed", "field_renumbered"},
    "FIELD_SAME_DEFAULT": {"default_added", "default_removed", "default_changed", "enum_zero_changed"},
    "FIELD_SAME_JSON_NAME": {"json_name_changed", "field_renamed", "renamed_or_reused", "number_reused"},
    "FIELD_SAME_NAME": {"field_renamed", "renamed_or_reused", "number_reused"},
    "FIELD_SAME_ONEOF": {"field_moved_into_oneof", "field_moved_out_of_oneof", "oneof_renamed"},
    "FIELD_WIRE_JSON_COMPATIBLE_CARDINALITY": {"field_cardinality_changed", "field_label_changed"},
    "FIELD_WIRE_JSON_COMPATIBLE_TYPE": {
        "field_type_changed", "field_cardinality_changed", "number_reused", "message_renamed", "enum_renamed",
    },
    "FILE_SAME_PACKAGE": {"message_moved_package", "enum_moved_package", "service_moved_package"},
    "MESSAGE_SAME_JSON_FORMAT": {"encoding_changed"},
    "MESSAGE_SAME_REQUIRED_FIELDS": {"field_added", "field_removed", "field_label_changed"},
    "RESERVED_ENUM_NO_DELETE": {"reserved_removed", "number_reused"},
    "RESERVED_MESSAGE_NO_DELETE": {"reserved_removed", "number_reused"},
    "RPC_SAME_CLIENT_STREAMING": {"rpc_client_streaming_changed"},
    "RPC_SAME_IDEMPOTENCY_LEVEL": {"option_changed"},
    "RPC_SAME_REQUEST_TYPE": {"rpc_request_changed"},
    "RPC_SAME_RESPONSE_TYPE": {"rpc_response_changed"},
    "RPC_SAME_SERVER_STREAMING": {"rpc_server_streaming_changed"},
}  # fmt: skip

# What buf reports at WIRE_JSON and we report at another element, with the reason.
ELSEWHERE = {
    # buf sees a field of another type; the type has another name and the same fields, which is no change of the field.
    ("28-message-type-renamed", "FIELD_WIRE_JSON_COMPATIBLE_TYPE"): "message_renamed",
    # buf sees each field in another oneof; the oneof has another name.
    ("oneof-joined", "FIELD_SAME_ONEOF"): "oneof_renamed",
    # buf names the field whose default changes; it changes because the enum's first value does.
    ("closed-enum", "FIELD_SAME_DEFAULT"): "enum_zero_changed",
    # buf names the entry of the map; we name the map.
    ("map-value", "FIELD_WIRE_JSON_COMPATIBLE_TYPE"): "field_type_changed",
    # buf names the package of the file; we name each element in it.
    ("27-message-moved-package", "FILE_SAME_PACKAGE"): "message_moved_package",
}


@dataclass(frozen=True)
class Annotation:
    """One report of buf."""

    scenario: str
    rule: str
    message: str

    def told_by(self, changes: tuple[Change, ...]) -> bool:
        """Whether one of our changes tells the same: a fitting kind, at an element that buf names."""
        elsewhere = ELSEWHERE.get((self.scenario, self.rule))
        for change in changes:
            if change.kind == elsewhere:
                return True
            names = {change.element.short_name, change.element.new_short_name, change.path.rpartition("#")[2]} - {""}
            numbers = {str(change.element.number), str(change.element.new_number)}
            quoted = set(self.message.replace("[", '"').replace("]", '"').split('"'))
            if change.kind in KINDS[self.rule] and (names | numbers) & quoted:
                return True
        return False


def annotations(scenarios: Sequence[Scenario], folder: Path) -> Iterator[Annotation]:
    """What buf reports on all scenarios, in one run: starting it 123 times takes 7 s of a processor.

    Each scenario gets folders and packages of its own for that, which are taken out of what buf says again.
    """
    for name in ("before", "after"):
        files = FileDescriptorSet()
        for number, scenario in enumerate(scenarios):
            add_files(files, getattr(scenario.diff(), name), f"scenario{number}")
        (folder / f"{name}.binpb").write_bytes(files.SerializeToString())
    config = {"version": "v2", "breaking": {"use": ["WIRE_JSON"]}}
    result = subprocess.run(
        [BUF, "breaking", "after.binpb", "--against", "before.binpb", "--error-format", "json",
         "--config", json.dumps(config)],
        cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, "XDG_CACHE_HOME": str(folder), "HOME": str(folder)},
    )  # fmt: skip
    assert result.returncode in (0, 100), result.stderr
    for line in result.stdout.splitlines():
        found = json.loads(line)
        (number,) = set(re.findall(r"\bscenario(\d+)", line))
        message = re.sub(rf"\bscenario{number}[./]", "", found["message"])
        yield Annotation(scenarios[int(number)].name, found["type"], message)


def add_files(files: FileDescriptorSet, contracts: Contracts, prefix: str) -> None:
    """Add the descriptors of a state, in order of dependency, with names of their own; what all import comes once."""
    own = {name: f"{prefix}/{name}" for name in contracts.schema.files if not name.startswith(SHARED)}
    there = {file.name for file in files.file}
    for name in contracts.schema.files:
        file = FileDescriptorProto()
        contracts.loaded.pool.FindFileByName(name).CopyToProto(file)
        if name in own:
            file.name = own[name]
            file.package = f"{prefix}.{file.package}"
            file.dependency[:] = [own.get(dependency, dependency) for dependency in file.dependency]
            _move(file, f".{prefix}")
        if file.name not in there:
            files.file.append(file)


def _move(message: Message, prefix: str) -> None:
    """Put ``prefix`` before every name of a type that is not one of what all import."""
    for field, value in message.ListFields():
        if field.name in {"type_name", "extendee", "input_type", "output_type"}:
            if not value.startswith(tuple(f".{name.replace('/', '.')}" for name in SHARED)):
                setattr(message, field.name, f"{prefix}{value}")
        elif field.message_type is not None and field.name != "options":
            for inner in value if field.is_repeated else [value]:
                _move(inner, prefix)


@pytest.mark.skipif(not BUF.is_file(), reason="buf is not installed beside Python (buf-bin)")
def test_all_of_wire_json(tmp_path: Path) -> None:
    seen: set[str] = set()
    untold: list[Annotation] = []
    scenarios = {scenario.name: scenario for scenario in [*given(), *own()]}
    for annotation in annotations([*scenarios.values()], tmp_path):
        seen.add(annotation.rule)
        if not annotation.told_by(scenarios[annotation.scenario].diff().changes):
            untold.append(annotation)
    assert untold == []
    # Every rule of the category has a scenario in which it reports something.
    assert seen == set(KINDS)


@pytest.mark.skipif(not BUF.is_file(), reason="buf is not installed beside Python (buf-bin)")
@pytest.mark.parametrize("name", ["image.binpb", "image.binpb.gz"])
def test_images_of_buf(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What buf builds is read as the sources are; the imports that it brings are no part of the comparison."""
    monkeypatch.chdir(tmp_path)
    case = CASES / "own" / "severities"
    write_includes(tmp_path / "workspace")
    shutil.copy(case / "before" / "a.proto", tmp_path / "workspace")
    (tmp_path / "workspace" / "buf.yaml").write_text("version: v2\n")
    subprocess.run(
        [BUF, "build", "workspace", "-o", name], check=True, capture_output=True,
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path), "HOME": str(tmp_path)},
    )  # fmt: skip
    assert main(["diff", name, str(case / "before"), "--rules", "table"]) == 0
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("no changes\n", "")
    assert main(["diff", name, str(case / "after"), "--rules", "table"]) == 0
    assert "a@severities[string.max_len]  WARNING -> ERROR" in capsys.readouterr().out
