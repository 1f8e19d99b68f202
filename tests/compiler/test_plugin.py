"""The plugin's conversation with protoc."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from google.protobuf.compiler import plugin_pb2
from google.protobuf.descriptor_pb2 import FileDescriptorProto

from protocontract_compiler import plugin
from tests.compiler.sources import CONTRACTS, EXAMPLES, descriptors, request


def _pipe(data: bytes) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "protocontract_compiler.plugin"], input=data, capture_output=True, check=False
    )


@pytest.mark.parametrize("data", [b"not a request", b"\xff" * 40, b"\x0a\x7f"])
def test_anything_else_on_standard_input_is_told(data: bytes) -> None:
    result = _pipe(data)
    assert result.returncode == 2
    assert b"expected a CodeGeneratorRequest" in result.stderr
    assert b"Traceback" not in result.stderr
    assert not result.stdout


def test_an_empty_request_is_answered() -> None:
    """What `protoc-gen-contract < /dev/null` sends; buf asks so for the features."""
    result = _pipe(b"")
    response = plugin_pb2.CodeGeneratorResponse.FromString(result.stdout)
    assert result.returncode == 0
    assert not response.error
    assert response.supported_features == 3
    assert (response.minimum_edition, response.maximum_edition) == (998, 1001)


def test_a_person_who_calls_it_is_told_at_once() -> None:
    result = subprocess.run(
        [sys.executable, "-m", "protocontract_compiler.plugin", "--help"], stdin=subprocess.DEVNULL,
        capture_output=True, timeout=180, check=False,
    )  # fmt: skip
    assert result.returncode == 2
    assert b"is a plugin of protoc" in result.stderr


def test_a_missing_package_is_told_to_protoc() -> None:
    """protoc shows what stands in the response, and a traceback as it is."""
    blocked = (
        "import sys; sys.modules['cel_expr_python'] = None; from protocontract_compiler.plugin import main; main()"
    )
    file = FileDescriptorProto(name="a.proto", syntax="proto3", package="a")
    wanted = plugin_pb2.CodeGeneratorRequest(file_to_generate=["a.proto"], proto_file=[file])
    result = subprocess.run(
        [sys.executable, "-c", blocked], input=wanted.SerializeToString(), capture_output=True, check=False
    )
    response = plugin_pb2.CodeGeneratorResponse.FromString(result.stdout)
    assert result.stderr == b""
    assert response.error == 'protoc-gen-contract needs cel-expr-python: pip install "protocontract[compiler]"'


def test_only_requested_files_are_generated(tmp_path: Path) -> None:
    files = descriptors(EXAMPLES, [CONTRACTS], tmp_path)
    response = plugin.respond(request(files, ["acme/text/v1/text.proto"]))
    assert [file.name for file in response.file] == ["acme/text/v1/text_contract.py"]


def test_nothing_is_generated_for_the_vocabularies(tmp_path: Path) -> None:
    files = descriptors(EXAMPLES, [CONTRACTS], tmp_path)
    names = ["protocontract/v1/contract.proto", "buf/validate/validate.proto"]
    response = plugin.respond(request(files, names))
    assert not response.error
    assert not response.file


def test_all_files_are_checked(tmp_path: Path) -> None:
    """A mistake in an imported file stops the build too: the contract reaches into it."""
    (tmp_path / "a.proto").write_text('syntax = "proto3"; import "b.proto"; message A { B b = 1; }')
    (tmp_path / "b.proto").write_text(
        'syntax = "proto3"; import "protocontract/v1/contract.proto";\n'
        "message B { int32 x = 1 [(protocontract.v1.field).text.trim = true]; }"
    )
    files = descriptors(["a.proto"], [tmp_path], tmp_path)
    response = plugin.respond(request(files, ["a.proto"]))
    assert "b.proto:2:26: error[normalizer-type]" in response.error


def test_a_request_that_lacks_its_own_file_is_told(tmp_path: Path) -> None:
    files = descriptors(EXAMPLES, [CONTRACTS], tmp_path)
    response = plugin.respond(request(files, ["acme/nowhere.proto"]))
    assert "acme/nowhere.proto: error[descriptor]" in response.error


@pytest.mark.parametrize(
    "parameter", ["", "strict", "target=python", "strict,target=python,source_root=/", " strict , "]
)
def test_parameters(tmp_path: Path, parameter: str) -> None:
    files = descriptors(["acme/text/v1/text.proto"], [CONTRACTS], tmp_path)
    response = plugin.respond(request(files, ["acme/text/v1/text.proto"], parameter))
    assert not response.error
    assert len(response.file) == 1


def test_a_file_without_package_or_messages(tmp_path: Path) -> None:
    (tmp_path / "empty.proto").write_text('syntax = "proto3"; enum E { E_UNSPECIFIED = 0; }')
    files = descriptors(["empty.proto"], [tmp_path], tmp_path)
    response = plugin.respond(request(files, ["empty.proto"]))
    assert not response.error
