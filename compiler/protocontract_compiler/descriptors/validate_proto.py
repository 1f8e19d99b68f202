"""buf/validate/validate.proto without a copy of it.

protovalidate 2.x carries the descriptor in its wheel and no module ``buf.validate.validate_pb2``. This module takes it
from there (public names only) and offers it as a descriptor, as .proto source, and as a check of what a request brings.
The vocabulary's own contract.proto is offered in the same way.
"""

from __future__ import annotations

import hashlib
import importlib
import re
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from google.protobuf import (
    any_pb2,
    descriptor_pb2,
    descriptor_pool,
    duration_pb2,
    field_mask_pb2,
    message_factory,
    timestamp_pb2,
)
from google.protobuf.descriptor_pb2 import DescriptorProto, FileDescriptorProto, FileDescriptorSet

from protocontract_compiler.descriptors.printer import print_proto

if TYPE_CHECKING:
    from google.protobuf.internal.containers import RepeatedCompositeFieldContainer

VALIDATE_PROTO = "buf/validate/validate.proto"
VOCABULARY_PROTO = "protocontract/v1/contract.proto"

# What the two files may import. Files of the protobuf runtime itself, so always at hand and always its own version.
_WELL_KNOWN = (any_pb2, descriptor_pb2, duration_pb2, field_mask_pb2, timestamp_pb2)


@cache
def validate_descriptor() -> FileDescriptorProto:
    """The descriptor of validate.proto as the installed protovalidate has it."""
    # Imported here: it costs 100 ms, and a schema without buf.validate needs none of it.
    import protovalidate

    return FileDescriptorProto.FromString(protovalidate.ViolationPb.desc().file.proto.to_binary())


@cache
def vocabulary_descriptor() -> FileDescriptorProto:
    """The descriptor of protocontract/v1/contract.proto as the installed protocontract has it."""
    from protocontract.v1 import contract_pb2

    file = FileDescriptorProto()
    contract_pb2.DESCRIPTOR.CopyToProto(file)
    return file


def option_names(message: str) -> list[str]:
    """The fields of a message of buf.validate or protocontract, by its full name, in their order; none of others."""
    found = _message(message)
    return [] if found is None else [field.name for field in found.field]


def misspelt(option: str, path: str) -> tuple[str, str] | None:
    """Which message lacks which name of ``path`` (``string.max_lenn``) below an option: (full name, name).

    ``option`` is the full name of the option (``buf.validate.field``). None where it is none of ours, or has them all.
    """
    message = ""
    for file in (validate_descriptor(), vocabulary_descriptor()):
        for each in file.extension:
            if f"{file.package}.{each.name}" == option:
                message = each.type_name.lstrip(".")
    for name in path.split("."):
        found = _message(message)
        if found is None:
            return None
        declared = next((field for field in found.field if field.name == name), None)
        if declared is None:
            return message, name
        message = declared.type_name.lstrip(".")
    return None


def _message(full_name: str) -> DescriptorProto | None:
    package, _, name = full_name.rpartition(".")
    for file in (validate_descriptor(), vocabulary_descriptor()):
        if file.package == package:
            return next((each for each in file.message_type if each.name == name), None)
    return None


def installed(name: str) -> FileDescriptorProto | None:
    """The descriptor of a file that comes with the installed packages, or None: the two above, and protobuf's own."""
    if name == VALIDATE_PROTO:
        return validate_descriptor()
    if name == VOCABULARY_PROTO:
        return vocabulary_descriptor()
    if not re.fullmatch(r"google/protobuf/(compiler/)?[a-z_]+\.proto", name):
        return None
    try:
        module = importlib.import_module(name.removesuffix(".proto").replace("/", ".") + "_pb2")
    except ImportError:
        return None
    file = FileDescriptorProto()
    module.DESCRIPTOR.CopyToProto(file)
    return file


def well_known() -> FileDescriptorSet:
    """The well-known files that the two descriptors import, in order of dependency."""
    files = FileDescriptorSet()
    for module in _WELL_KNOWN:
        module.DESCRIPTOR.CopyToProto(files.file.add())
    return files


def validate_source() -> str:
    """validate.proto as source."""
    return _source(validate_descriptor(), "protovalidate's")


def vocabulary_source() -> str:
    """contract.proto as source: the packaged file with its comments where the installation has it."""
    packaged = resources.files("protocontract").joinpath("v1", "contract.proto")
    if packaged.is_file():
        return packaged.read_text("utf-8")
    return _source(vocabulary_descriptor(), "protocontract's")


def same_meaning(left: FileDescriptorProto, right: FileDescriptorProto) -> bool:
    """Whether two descriptors of validate.proto or contract.proto declare the same, whoever compiled them."""
    return _digest(left.SerializeToString()) == _digest(right.SerializeToString())


def write_includes(folder: Path) -> None:
    """Writes both files as .proto source below ``folder``."""
    for name, text in ((VALIDATE_PROTO, validate_source()), (VOCABULARY_PROTO, vocabulary_source())):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8", newline="\n")


def includes_digest() -> str:
    """Changes whenever one of the two files does."""
    return hashlib.sha256(
        validate_descriptor().SerializeToString(deterministic=True) + vocabulary_source().encode()
    ).hexdigest()[:16]


def _source(file: FileDescriptorProto, whose: str) -> str:
    head = f"// Written by `protocontract includes` from {whose} descriptor. Do not edit.\n"
    return head + print_proto(file, _pool(file))


def _pool(file: FileDescriptorProto) -> descriptor_pool.DescriptorPool:
    pool = descriptor_pool.DescriptorPool()
    for dependency in well_known().file:
        pool.Add(dependency)
    pool.Add(file)
    return pool


@lru_cache(maxsize=16)
def _digest(serialized: bytes) -> bytes:
    """A digest of what a file declares: no source information, json names as they follow, options parsed anew.

    Front ends differ in how they store custom options (one field or several that merge), in whether they write out
    json_name, and in the empty syntax that stands for proto2.
    """
    plain = FileDescriptorProto.FromString(serialized)
    plain.ClearField("source_code_info")
    # Where generated code of other languages goes is no part of the meaning; buf's managed mode rewrites it.
    plain.ClearField("options")
    if plain.syntax == "proto2":
        plain.ClearField("syntax")
    _sort(plain.message_type)
    pool = _pool(plain)
    parsed = message_factory.GetMessageClass(
        pool.FindMessageTypeByName("google.protobuf.FileDescriptorProto")
    ).FromString(plain.SerializeToString())
    _drop_json_names(parsed)
    return hashlib.sha256(parsed.SerializeToString(deterministic=True)).digest()


def _sort(messages: RepeatedCompositeFieldContainer[DescriptorProto]) -> None:
    """Nested types by name: a map stands where its entry is, and nobody sees that. Fields keep their order."""
    messages.sort(key=lambda message: message.name)
    for message in messages:
        message.enum_type.sort(key=lambda enum: enum.name)
        _sort(message.nested_type)


def _drop_json_names(message: object) -> None:
    for field, value in message.ListFields():  # type: ignore[attr-defined]
        if field.name == "json_name":
            message.ClearField("json_name")  # type: ignore[attr-defined]
        elif field.message_type is not None and not field.is_extension:
            for item in value if hasattr(value, "__len__") else [value]:
                _drop_json_names(item)
