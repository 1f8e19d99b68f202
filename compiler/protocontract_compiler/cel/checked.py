"""Reads what the CEL checker answers: a serialized ``CheckedExpr``, or a ``ParsedExpr`` where checking was left out.

Only the parts that the translator needs are declared, as descriptors in a private pool (names and numbers are those of
the public cel.expr schema); everything else stays an unknown field.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError

_Field = descriptor_pb2.FieldDescriptorProto

_PACKAGE: Final = "cel.expr"

# message -> (field, number, type): a lower-case type is a scalar, anything else a message of the package; a leading
# "*" makes the field repeated, "key->value" makes it a map, "?" a member of the message's oneof.
_SCHEMA: Final[dict[str, tuple[tuple[str, int, str], ...]]] = {
    "CheckedExpr": (
        ("reference_map", 2, "int64->Reference"),
        ("expr", 4, "Expr"),
        ("source_info", 5, "SourceInfo"),
    ),
    "ParsedExpr": (("expr", 2, "Expr"), ("source_info", 3, "SourceInfo")),
    "SourceInfo": (("line_offsets", 3, "*int32"), ("positions", 4, "int64->int32")),
    "Reference": (("name", 1, "string"), ("value", 4, "Constant")),
    "Constant": (
        ("null_value", 1, "?int32"),
        ("bool_value", 2, "?bool"),
        ("int64_value", 3, "?int64"),
        ("uint64_value", 4, "?uint64"),
        ("double_value", 5, "?double"),
        ("string_value", 6, "?string"),
        ("bytes_value", 7, "?bytes"),
    ),
    "Expr": (
        ("id", 2, "int64"),
        ("const_expr", 3, "?Constant"),
        ("ident_expr", 4, "?Ident"),
        ("select_expr", 5, "?Select"),
        ("call_expr", 6, "?CallExpr"),
        ("list_expr", 7, "?CreateList"),
        ("struct_expr", 8, "?CreateStruct"),
        ("comprehension_expr", 9, "?Comprehension"),
    ),
    "Ident": (("name", 1, "string"),),
    "Select": (("operand", 1, "Expr"), ("field", 2, "string"), ("test_only", 3, "bool")),
    "CallExpr": (("target", 1, "Expr"), ("function", 2, "string"), ("args", 3, "*Expr")),
    "CreateList": (("elements", 1, "*Expr"), ("optional_indices", 2, "*int32")),
    "CreateStruct": (("message_name", 1, "string"), ("entries", 2, "*StructEntry")),
    "StructEntry": (
        ("field_key", 2, "?string"),
        ("map_key", 3, "?Expr"),
        ("value", 4, "Expr"),
        ("optional_entry", 5, "bool"),
    ),
    "Comprehension": (
        ("iter_var", 1, "string"),
        ("iter_range", 2, "Expr"),
        ("accu_var", 3, "string"),
        ("accu_init", 4, "Expr"),
        ("loop_condition", 5, "Expr"),
        ("loop_step", 6, "Expr"),
        ("result", 7, "Expr"),
        ("iter_var2", 8, "string"),
    ),
}

_SCALARS: Final = {
    "bool": _Field.TYPE_BOOL,
    "bytes": _Field.TYPE_BYTES,
    "double": _Field.TYPE_DOUBLE,
    "int32": _Field.TYPE_INT32,
    "int64": _Field.TYPE_INT64,
    "string": _Field.TYPE_STRING,
    "uint64": _Field.TYPE_UINT64,
}

Node = Any
"""An ``Expr`` message of the private pool: the class is made at run time, so there is no static type for it."""


class TooDeep(Exception):
    """The expression nests deeper than the wire format's reader follows."""


class Tree:
    """A parsed expression with places and, when it was checked, what its names resolve to."""

    __slots__ = ("_lines", "_places", "expr", "references")

    def __init__(self, expr: Node, references: dict[int, Node], source_info: Node) -> None:
        self.expr: Final = expr
        self.references: Final = references
        self._places: Final = source_info.positions
        self._lines: Final = source_info.line_offsets

    def place(self, node: Node) -> tuple[int, int]:
        """Line and column of a node in the expression, both counted from 1."""
        offset = self._places.get(node.id, 0)
        starts = [0, *self._lines]
        line = max((i for i, start in enumerate(starts) if start <= offset), default=0)
        return line + 1, offset - starts[line] + 1


def read(serialized: bytes) -> Tree:
    """Reads what ``Expression.serialize()`` returned. Raises ``TooDeep``."""
    classes = _classes()
    try:
        envelope = classes["Any"].FromString(serialized)
        name = envelope.type_url.rpartition(".")[2]
        tree = classes[name].FromString(envelope.value)
    except DecodeError as error:
        raise TooDeep from error
    references = dict(tree.reference_map) if name == "CheckedExpr" else {}
    return Tree(tree.expr, references, tree.source_info)


def _add_field(
    message: descriptor_pb2.DescriptorProto, name: str, number: int, type_name: str
) -> descriptor_pb2.FieldDescriptorProto:
    field = message.field.add(name=name, number=number, label=_Field.LABEL_OPTIONAL)
    if type_name in _SCALARS:
        field.type = _SCALARS[type_name]
    else:
        field.type = _Field.TYPE_MESSAGE
        field.type_name = f".{_PACKAGE}.{type_name}"
    return field


def _add_map(message: descriptor_pb2.DescriptorProto, name: str, number: int, key: str, value: str) -> None:
    entry = message.nested_type.add(name="".join(map(str.title, name.split("_"))) + "Entry")
    entry.options.map_entry = True
    _add_field(entry, "key", 1, key)
    _add_field(entry, "value", 2, value)
    field = _add_field(message, name, number, f"{message.name}.{entry.name}")
    field.label = _Field.LABEL_REPEATED


@cache
def _classes() -> dict[str, Any]:
    file = descriptor_pb2.FileDescriptorProto(name="cel/expr/checked.proto", package=_PACKAGE, syntax="proto3")
    # The answer comes in an envelope with the fields of google.protobuf.Any.
    schema = {**_SCHEMA, "Any": (("type_url", 1, "string"), ("value", 2, "bytes"))}
    for message_name, fields in schema.items():
        message = file.message_type.add(name=message_name)
        for name, number, type_name in fields:
            if "->" in type_name:
                key, _, value = type_name.partition("->")
                _add_map(message, name, number, key, value)
                continue
            field = _add_field(message, name, number, type_name.lstrip("?*"))
            if type_name.startswith("*"):
                field.label = _Field.LABEL_REPEATED
            elif type_name.startswith("?"):
                if not message.oneof_decl:
                    message.oneof_decl.add(name="kind")
                field.oneof_index = 0
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}")) for name in schema}
