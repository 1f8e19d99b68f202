"""Whatever options a contract sets, the plugin answers: with files or with diagnostics, never with a traceback."""

from __future__ import annotations

import random
from typing import Any

from google.protobuf.compiler import plugin_pb2
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.message import Message

from protocontract.v1 import contract_pb2
from protocontract_compiler import plugin
from protocontract_compiler.descriptors.validate_proto import (
    VALIDATE_PROTO,
    VOCABULARY_PROTO,
    validate_descriptor,
    vocabulary_descriptor,
    well_known,
)
from tests.examples import examples

_WORDS = [
    *("a", "b", "id", "items", "item", "missing", "", " ", "\u212b", "x" * 300, "1.0.0", "2", "batch", "^a$"),
    *("EUR", "UTC", "de-DE", "kg", "int32.gt", "string.min_len", "required", "UNAVAILABLE"),
]
_TYPES = [1, 2, 3, 4, 5, 8, 9, 12, 13, 14, 17]


def _fill(message: Any, choose: random.Random, depth: int = 0) -> Any:
    """Sets about half of the fields of a message at random, to values that are often nearly right."""
    for field in message.DESCRIPTOR.fields:
        if choose.random() < 0.6 or depth > 3:
            continue
        value = getattr(message, field.name)
        if field.message_type is not None and field.message_type.GetOptions().map_entry:
            of = field.message_type.fields_by_name["value"]
            for _ in range(choose.randint(0, 2)):
                key = choose.choice(_WORDS)
                if of.message_type is not None:
                    _fill(value[key], choose, depth + 1)
                else:
                    value[key] = _scalar(of, choose)
        elif hasattr(value, "extend"):
            if field.message_type is not None:
                for _ in range(choose.randint(0, 2)):
                    _fill(value.add(), choose, depth + 1)
            else:
                value.extend(_scalar(field, choose) for _ in range(choose.randint(0, 3)))
        elif isinstance(value, Message):
            value.SetInParent()
            _fill(value, choose, depth + 1)
        else:
            setattr(message, field.name, _scalar(field, choose))
    return message


def _set(options: Any, extension: Any, value: Message) -> None:
    options.Extensions[extension].CopyFrom(value)


def _scalar(field: Any, choose: random.Random) -> Any:
    if field.enum_type is not None:
        return choose.choice([*field.enum_type.values_by_number, 99])
    kind = field.cpp_type
    if kind == field.CPPTYPE_STRING:
        return choose.choice(_WORDS)
    if kind == field.CPPTYPE_BOOL:
        return choose.random() < 0.7
    if kind in (field.CPPTYPE_DOUBLE, field.CPPTYPE_FLOAT):
        return choose.choice([0.0, 1.0, -1.0, 0.5, float("nan"), float("inf"), 1e300])
    signed = [-1, -(2**31)] if kind in (field.CPPTYPE_INT32, field.CPPTYPE_INT64) else []
    return choose.choice([0, 1, 2, 100, 2**31 - 1, *signed])


def _request(choose: random.Random) -> plugin_pb2.CodeGeneratorRequest:
    file = FileDescriptorProto(name="f.proto", package="f", syntax="proto3")
    file.dependency.extend([VOCABULARY_PROTO, VALIDATE_PROTO])
    enum = file.enum_type.add(name="E")
    for number, name in enumerate(("E_UNSPECIFIED", "E_ONE")):
        value = enum.value.add(name=name, number=number)
        if choose.random() < 0.5:
            _set(value.options, contract_pb2.value, _fill(contract_pb2.EnumValue(), choose))
    item = file.message_type.add(name="Item")
    item.field.add(name="id", number=1, type=9, label=1)
    item.field.add(name="a", number=2, type=5, label=1)
    item.field.add(name="b", number=3, type=5, label=1)
    message = file.message_type.add(name="M")
    for number, name in enumerate(("a", "b", "id", "items"), start=1):
        kind = 11 if name == "items" else choose.choice(_TYPES)
        label = 3 if name == "items" or choose.random() < 0.3 else 1
        field = message.field.add(name=name, number=number, type=kind, label=label)
        if kind == FieldDescriptorProto.TYPE_ENUM:
            field.type_name = ".f.E"
        elif kind == FieldDescriptorProto.TYPE_MESSAGE:
            field.type_name = ".f.Item"
        _set(field.options, contract_pb2.field, _fill(contract_pb2.Field(), choose))
    if choose.random() < 0.5:
        _set(message.options, contract_pb2.contract, _fill(contract_pb2.Contract(), choose))
    method = file.service.add(name="S").method.add(name="R", input_type=".f.M", output_type=".f.Item")
    if choose.random() < 0.5:
        _set(method.options, contract_pb2.service_level, _fill(contract_pb2.ServiceLevel(), choose))
    brought = [*well_known().file, validate_descriptor(), vocabulary_descriptor(), file]
    return plugin_pb2.CodeGeneratorRequest(file_to_generate=["f.proto"], proto_file=brought)


def test_any_options_are_answered() -> None:
    refused = 0
    number = examples(60)
    for seed in range(number):
        response = plugin.respond(_request(random.Random(seed)))
        assert bool(response.error) != bool(response.file)
        refused += bool(response.error)
    assert refused > number // 2  # most of what is random cannot be kept
