"""The executor of protovalidate's conformance suite: ``python -m protocontract_compiler.conformance``.

Reads one TestConformanceRequest on standard input, compiles its files in memory, validates each case and answers with
a TestConformanceResponse on standard output. Only buf.validate is judged here, so of the compiler's passes only the
lowering runs: a contract that contradicts itself is a mistake to us and a case like any other to the suite.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from google.protobuf import any_pb2, descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.message import Message
from protovalidate import ViolationsPb

from protocontract.contract import Contract
from protocontract.violations import ContractError, RuleEvaluationError
from protocontract_compiler import ir, pipeline
from protocontract_compiler.cel.compiler import CelCompiler
from protocontract_compiler.descriptors import Loaded, load
from protocontract_compiler.diagnostics import Diagnostics
from protocontract_compiler.dynamic import contracts_of
from protocontract_compiler.passes.pass_rules import Lowering
from protocontract_compiler.passes.reach import with_work

_PACKAGE = "protocontract.conformance"


def main() -> int:
    """Answers one request. Returns 0."""
    request_type, response_type, result_type = _harness()
    request: Any = request_type.FromString(sys.stdin.buffer.read())
    response: Any = response_type()
    suite = _Suite(descriptor_pb2.FileDescriptorSet.FromString(request.fdset))
    for name in sorted(request.cases):
        result: Any = result_type()
        kind, value = suite.judge(request.cases[name])
        setattr(result, kind, value)
        response.results[name].CopyFrom(result)
    sys.stdout.buffer.write(response.SerializeToString())
    return 0


class _Suite:
    """The files of a request, compiled. A mistake in one message is that message's and of those that hold it."""

    def __init__(self, file_set: descriptor_pb2.FileDescriptorSet) -> None:
        diagnostics = Diagnostics()
        self._loaded = load(file_set, [file.name for file in file_set.file], diagnostics)
        self._mistakes: dict[str, str] = {}
        schema = self._lowered(self._loaded)
        self._contracts: Mapping[str, Contract[Any]] = contracts_of(self._loaded, schema, pipeline.CompileOptions())

    def _lowered(self, loaded: Loaded) -> ir.Schema:
        schema = loaded.schema
        lowered: dict[str, ir.Message] = {}
        cel = CelCompiler(loaded.pool)
        for name, message in schema.messages.items():
            diagnostics = Diagnostics()
            lowered[name] = Lowering(loaded, schema, diagnostics, strict=False, cel=cel).message(message)
            if diagnostics.failed:
                self._mistakes[name] = diagnostics.render()
        schema = replace(schema, messages=lowered)
        for name in with_work(schema, lambda message: message.full_name in self._mistakes):
            self._mistakes.setdefault(name, "a message in it has a mistake")
        kept = {
            name: replace(message, rules=ir.MessageRules(), fields=()) if name in self._mistakes else message
            for name, message in schema.messages.items()
        }
        return replace(schema, messages=kept)

    def judge(self, case: any_pb2.Any) -> tuple[str, Any]:
        """The field of TestResult that the case ends in, and its value."""
        name = case.type_url.rpartition("/")[2]
        if name in self._mistakes:
            return "compilation_error", self._mistakes[name]
        descriptor = self._loaded.pool.FindMessageTypeByName(name)
        message = message_factory.GetMessageClass(descriptor).FromString(case.value)
        try:
            found = self._contracts[name].validate(message)
        except RuleEvaluationError as error:
            return "runtime_error", str(error)
        except ContractError as error:
            return "compilation_error", str(error)
        if not found:
            return "success", True
        violations = ViolationsPb(violations=[violation.to_proto() for violation in found])
        return "validation_error", violations.to_binary()


def _harness() -> tuple[type[Message], type[Message], type[Message]]:
    """Classes of the harness's messages, from a descriptor of our own (their fields are all that matters)."""
    file = FileDescriptorProto(
        name="protocontract/conformance.proto",
        package=_PACKAGE,
        syntax="proto3",
        dependency=["google/protobuf/any.proto"],
    )
    # A message in a message arrives serialised: on the wire it is the same as bytes.
    request = file.message_type.add(name="Request")
    request.field.add(
        name="fdset", number=2, type=FieldDescriptorProto.TYPE_BYTES, label=FieldDescriptorProto.LABEL_OPTIONAL
    )
    _map(request, "cases", 3, ".google.protobuf.Any")
    result = file.message_type.add(name="Result")
    result.oneof_decl.add(name="result")
    string, raw, boolean = (
        FieldDescriptorProto.TYPE_STRING,
        FieldDescriptorProto.TYPE_BYTES,
        FieldDescriptorProto.TYPE_BOOL,
    )
    for name, number, kind in (
        ("success", 1, boolean),
        ("validation_error", 2, raw),
        ("compilation_error", 3, string),
        ("runtime_error", 4, string),
        ("unexpected_error", 5, string),
    ):
        result.field.add(name=name, number=number, type=kind, label=FieldDescriptorProto.LABEL_OPTIONAL, oneof_index=0)
    response = file.message_type.add(name="Response")
    _map(response, "results", 1, f".{_PACKAGE}.Result")
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(any_pb2.DESCRIPTOR.serialized_pb)
    pool.Add(file)
    request_class, response_class, result_class = (
        message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}"))
        for name in ("Request", "Response", "Result")
    )
    return request_class, response_class, result_class


def _field(message: descriptor_pb2.DescriptorProto, name: str, number: int, type_name: str) -> None:
    message.field.add(
        name=name,
        number=number,
        type=FieldDescriptorProto.TYPE_MESSAGE,
        type_name=type_name,
        label=FieldDescriptorProto.LABEL_OPTIONAL,
    )


def _map(message: descriptor_pb2.DescriptorProto, name: str, number: int, type_name: str) -> None:
    entry = message.nested_type.add(name=f"{name.capitalize()}Entry")
    entry.options.map_entry = True
    entry.field.add(
        name="key", number=1, type=FieldDescriptorProto.TYPE_STRING, label=FieldDescriptorProto.LABEL_OPTIONAL
    )
    _field(entry, "value", 2, type_name)
    message.field.add(
        name=name,
        number=number,
        type=FieldDescriptorProto.TYPE_MESSAGE,
        type_name=f".{_PACKAGE}.{message.name}.{entry.name}",
        label=FieldDescriptorProto.LABEL_REPEATED,
    )


if __name__ == "__main__":
    sys.exit(main())
