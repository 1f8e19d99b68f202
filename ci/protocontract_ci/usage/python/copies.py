"""Generated modules that lie among a module's own files: found by the descriptor in them, whatever they are called."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from google.protobuf.descriptor_pb2 import DescriptorProto, FileDescriptorProto
from google.protobuf.message import DecodeError


@dataclass(frozen=True, slots=True)
class Copy:
    """A generated module: the descriptor in it and the line where it stands."""

    path: str
    line: int
    descriptor: FileDescriptorProto

    def names(self) -> Iterator[str]:
        """Full names of all messages and enums that it holds."""
        package = f"{self.descriptor.package}." if self.descriptor.package else ""
        yield from (f"{package}{enum.name}" for enum in self.descriptor.enum_type)
        for message in self.descriptor.message_type:
            yield from _inside(message, package)


def _inside(message: DescriptorProto, scope: str) -> Iterator[str]:
    name = f"{scope}{message.name}"
    yield name
    yield from (f"{name}.{enum.name}" for enum in message.enum_type)
    for inner in message.nested_type:
        if not inner.options.map_entry:
            yield from _inside(inner, f"{name}.")


def find_copy(path: str, tree: ast.Module) -> Copy | None:
    """The generated module that a file is; None for any other file."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not node.args:
            continue
        data = node.args[0]
        if node.func.attr == "AddSerializedFile" and isinstance(data, ast.Constant) and isinstance(data.value, bytes):
            try:
                return Copy(path, node.lineno, FileDescriptorProto.FromString(data.value))
            except DecodeError:
                return None
    return None
