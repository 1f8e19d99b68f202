"""validate.proto without a copy of it: printed, compiled again, compared."""

from __future__ import annotations

from pathlib import Path

import pytest
from google.protobuf import descriptor_pool
from google.protobuf.descriptor_pb2 import Edition, FileDescriptorProto, FileDescriptorSet
from grpc_tools import protoc as grpc_protoc

from protocontract_compiler.descriptors import load, validate_proto
from protocontract_compiler.descriptors.printer import print_proto
from protocontract_compiler.diagnostics import Diagnostics, Stopped
from protocontract_compiler.protoc import includes_folder, write_validate_pb2
from tests.compiler.sources import CONTRACTS


def _compiled(folder: Path, name: str, out: Path) -> FileDescriptorProto:
    file = out / "compiled.binpb"
    arguments = ["protoc", f"-I{folder}", f"-I{includes_folder()}", f"--descriptor_set_out={file}", name]
    assert grpc_protoc.main(arguments) == 0
    return FileDescriptorSet.FromString(file.read_bytes()).file[0]


def test_the_printed_file_compiles_to_the_same_descriptor(tmp_path: Path) -> None:
    source = tmp_path / validate_proto.VALIDATE_PROTO
    source.parent.mkdir(parents=True)
    source.write_text(validate_proto.validate_source())
    compiled = _compiled(tmp_path, validate_proto.VALIDATE_PROTO, tmp_path)
    expected = FileDescriptorProto()
    expected.CopyFrom(validate_proto.validate_descriptor())
    expected.ClearField("source_code_info")
    assert compiled.SerializeToString(deterministic=True) == expected.SerializeToString(deterministic=True)


def test_the_printed_vocabulary_means_the_same(tmp_path: Path) -> None:
    """The printer on a second file: proto3, optional fields, maps, nested types."""
    file = validate_proto.vocabulary_descriptor()
    pool = descriptor_pool.DescriptorPool()
    for dependency in validate_proto.well_known().file:
        pool.Add(dependency)
    pool.Add(file)
    source = tmp_path / "printed" / validate_proto.VOCABULARY_PROTO
    source.parent.mkdir(parents=True)
    source.write_text(print_proto(file, pool))
    compiled = _compiled(tmp_path / "printed", validate_proto.VOCABULARY_PROTO, tmp_path)
    assert validate_proto.same_meaning(compiled, file)
    assert compiled != file  # the comparison looks through json names and the order of nested types


def test_the_installed_vocabulary_is_the_one_of_the_sources(tmp_path: Path) -> None:
    compiled = _compiled(CONTRACTS, validate_proto.VOCABULARY_PROTO, tmp_path)
    assert validate_proto.same_meaning(compiled, validate_proto.vocabulary_descriptor())


def test_the_packaged_vocabulary_is_the_source() -> None:
    """`make generate` copies it beside its pb2 module, so that the wheel has it with its comments."""
    assert validate_proto.vocabulary_source() == (CONTRACTS / validate_proto.VOCABULARY_PROTO).read_text("utf-8")


def test_the_pb2_module_is_written(tmp_path: Path) -> None:
    write_validate_pb2(tmp_path)
    module = tmp_path / "buf/validate/validate_pb2.py"
    assert "buf/validate/validate.proto" in module.read_text()
    assert module.with_suffix(".pyi").exists()


def test_front_ends_may_differ_in_what_means_nothing() -> None:
    other = FileDescriptorProto()
    other.CopyFrom(validate_proto.validate_descriptor())
    other.syntax = "proto2"
    other.options.java_package = "rewritten.by.managed.mode"
    other.source_code_info.location.add(path=[4, 0], span=[1, 2, 3])
    for message in other.message_type:
        for field in message.field:
            field.ClearField("json_name")
    assert validate_proto.same_meaning(other, validate_proto.validate_descriptor())


@pytest.mark.parametrize("change", ["rule removed", "rule renumbered", "cel changed"])
def test_another_meaning_is_seen(change: str) -> None:
    other = FileDescriptorProto()
    other.CopyFrom(validate_proto.validate_descriptor())
    rules = next(message for message in other.message_type if message.name == "StringRules")
    if change == "rule removed":
        del rules.field[3]
    elif change == "rule renumbered":
        rules.field[3].number = 999
    else:
        options = rules.field[1].options
        raw = options.SerializeToString()
        assert b"this.size()" in raw
        options.ParseFromString(raw.replace(b"this.size()", b"this.sizf()"))
    assert not validate_proto.same_meaning(other, validate_proto.validate_descriptor())


def test_a_foreign_validate_proto_in_a_request_is_refused() -> None:
    foreign = FileDescriptorProto()
    foreign.CopyFrom(validate_proto.validate_descriptor())
    del foreign.message_type[-1].field[-1]
    diagnostics = Diagnostics()
    with pytest.raises(Stopped):
        load(FileDescriptorSet(file=[*validate_proto.well_known().file, foreign]), [], diagnostics)
    assert [found.id for found in diagnostics.sorted()] == ["validate-proto"]


def test_editions_and_groups_are_not_printed() -> None:
    pool = descriptor_pool.DescriptorPool()
    file = FileDescriptorProto(name="x.proto", syntax="editions", edition=Edition.EDITION_2023)
    with pytest.raises(ValueError, match="only proto2 and proto3"):
        print_proto(file, pool)
