"""Sources to requests, as protoc makes them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from google.protobuf.compiler import plugin_pb2
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from grpc_tools import protoc as grpc_protoc

from protocontract_compiler.protoc import includes_folder

ROOT = Path(__file__).parents[2]
CONTRACTS = ROOT / "contracts"
EXAMPLES = (
    "acme/finance/v1/transaction.proto",
    "acme/inference/v1/content_type.proto",
    "acme/inference/v1/model_service.proto",
    "acme/pipeline/v1/pipeline.proto",
    "acme/text/v1/text.proto",
)


def descriptors(names: Sequence[str], folders: Sequence[Path], out: Path) -> FileDescriptorSet:
    """The descriptors of .proto files with imports and places; ``out`` is a scratch folder."""
    file = out / "descriptors.binpb"
    arguments = ["protoc", *(f"-I{folder}" for folder in [*folders, includes_folder()])]
    arguments += ["--include_imports", "--include_source_info", f"--descriptor_set_out={file}", *names]
    assert grpc_protoc.main(arguments) == 0
    return FileDescriptorSet.FromString(file.read_bytes())


def request(files: FileDescriptorSet, names: Sequence[str], parameter: str = "") -> plugin_pb2.CodeGeneratorRequest:
    """What protoc sends to a plugin."""
    return plugin_pb2.CodeGeneratorRequest(file_to_generate=names, proto_file=files.file, parameter=parameter)
