"""A message as unknowns: one z3 variable for each scalar that rules look at, shared by both sides of a comparison.

Fields are told apart by number and kind, so a field whose type changed has nothing in common with what it was. What a
type allows by itself (ranges of integers, floats of 32 bits, the default of an unset field) is an axiom.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from protocontract_ci.meaning.smt import z3
from protocontract_compiler import ir

Kind: TypeAlias = Literal["int", "float", "double", "bool", "string", "bytes", "timestamp", "duration", "message"]

_SECOND: Final = 1_000_000_000
#: Lowest and highest value of the integers on the wire.
_RANGES: Final[dict[str, tuple[int, int]]] = {
    "int32": (-(2**31), 2**31 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "uint32": (0, 2**32 - 1),
    "uint64": (0, 2**64 - 1),
    # As google.protobuf.Timestamp and Duration define them, in nanoseconds.
    "timestamp": (-62_135_596_800 * _SECOND, 253_402_300_799 * _SECOND + _SECOND - 1),
    "duration": (-315_576_000_000 * _SECOND - _SECOND + 1, 315_576_000_000 * _SECOND + _SECOND - 1),
}
_INTEGERS: Final[dict[int, str]] = {
    **dict.fromkeys((ir.TYPE_INT32, ir.TYPE_SINT32, ir.TYPE_SFIXED32, ir.TYPE_ENUM), "int32"),
    **dict.fromkeys((ir.TYPE_INT64, ir.TYPE_SINT64, ir.TYPE_SFIXED64), "int64"),
    **dict.fromkeys((ir.TYPE_UINT32, ir.TYPE_FIXED32), "uint32"),
    **dict.fromkeys((ir.TYPE_UINT64, ir.TYPE_FIXED64), "uint64"),
}
_OTHERS: Final[dict[int, Kind]] = {
    ir.TYPE_DOUBLE: "double",
    ir.TYPE_FLOAT: "float",
    ir.TYPE_BOOL: "bool",
    ir.TYPE_STRING: "string",
    ir.TYPE_BYTES: "bytes",
}
#: Messages that rules and CEL see as a value: kind and, for integers, range.
_WELL_KNOWN: Final[dict[str, tuple[Kind, str]]] = {
    "google.protobuf.Timestamp": ("timestamp", "timestamp"),
    "google.protobuf.Duration": ("duration", "duration"),
    "google.protobuf.DoubleValue": ("double", ""),
    "google.protobuf.FloatValue": ("float", ""),
    "google.protobuf.Int32Value": ("int", "int32"),
    "google.protobuf.Int64Value": ("int", "int64"),
    "google.protobuf.UInt32Value": ("int", "uint32"),
    "google.protobuf.UInt64Value": ("int", "uint64"),
    "google.protobuf.BoolValue": ("bool", ""),
    "google.protobuf.StringValue": ("string", ""),
    "google.protobuf.BytesValue": ("bytes", ""),
}


@dataclass(eq=False)
class Node:
    """One place in a message: a scalar, a message, a list or a map.

    ``value`` is a scalar's variable; ``present`` says whether a field with presence is set; ``size`` is the length of a
    list or map. ``item`` (and ``key`` of a map) stands for any element; ``items`` are the elements of a list that is
    looked at up to a length.
    """

    name: str
    kind: Kind
    shape: ir.Shape = ir.Shape.SINGULAR
    integer: str = ""
    message: str = ""
    #: The field's type and number in protobuf.
    type: int = 0
    number: int = 0
    parent: Node | None = None
    value: Any = None
    present: Any = None
    size: Any = None
    item: Node | None = None
    key: Node | None = None
    items: list[Node] = field(default_factory=list)
    keys: list[Node] = field(default_factory=list)
    children: dict[tuple[int, str], Node] = field(default_factory=dict)

    def walk(self) -> Iterator[Node]:
        """This node and all below it."""
        yield self
        for below in (self.item, self.key, *self.items, *self.keys, *self.children.values()):
            if below is not None:
                yield from below.walk()


class World:
    """All unknowns of one comparison, and the axioms about them.

    ``bound``: lists and maps are spelled out up to so many elements, which finds witnesses but proves nothing. None:
    every statement about all elements is one unknown, which proves but finds no witness.
    """

    def __init__(self, schema: ir.Schema, message: str, bound: int | None = None) -> None:
        self.bound = bound
        self.axioms: list[Any] = []
        self.root = Node("this", "message", message=message)
        self.now = z3.Int("now")
        low, high = _RANGES["timestamp"]
        self.axioms += [self.now >= low, self.now <= high]
        self._schema = schema

    def field(self, parent: Node, declared: ir.Field) -> Node:
        """The field of a message at ``parent``; made when first asked for."""
        if declared.shape is ir.Shape.MAP and declared.key is not None and declared.value is not None:
            signature = f"map {self._signature(declared.key)} {self._signature(declared.value)}"
        else:
            signature = f"{declared.shape.value} {self._signature(declared)}"
        known = parent.children.get((declared.number, signature))
        if known is not None:
            if declared.has_presence and known.present is None and known.size is None:
                self._add_presence(known, declared)
            return known
        node = self._make(f"{parent.name}.{declared.number}:{signature}", declared, declared.shape)
        node.parent, node.number = parent, declared.number
        parent.children[declared.number, signature] = node
        if declared.has_presence and node.shape is ir.Shape.SINGULAR:
            self._add_presence(node, declared)
        self._default_with(parent, node)
        return node

    def _signature(self, declared: ir.Field) -> str:
        return f"{declared.type} {declared.message or ''}"

    def _make(self, name: str, declared: ir.Field, shape: ir.Shape) -> Node:
        message = declared.message or ""
        kind, integer = _kind(declared)
        node = Node(name, kind, shape, integer, message, declared.type)
        if shape is ir.Shape.SINGULAR:
            node.value = self._variable(node)
            return node
        node.size = z3.Int(f"{name}#")
        self.axioms.append(node.size >= 0)
        if self.bound is not None:
            self.axioms.append(node.size <= self.bound)
        item = declared.value if declared.value is not None else declared
        node.item = self._make(f"{name}[*]", item, ir.Shape.SINGULAR)
        if declared.key is not None:
            node.key = self._make(f"{name}[key]", declared.key, ir.Shape.SINGULAR)
        for index in range(self.bound or 0):
            node.items.append(self._make(f"{name}[{index}]", item, ir.Shape.SINGULAR))
            if declared.key is not None:
                node.keys.append(self._make(f"{name}[key {index}]", declared.key, ir.Shape.SINGULAR))
        if node.keys:
            for at, key in enumerate(node.keys):
                for other in node.keys[:at]:
                    self.axioms.append(z3.Implies(node.size > at, key.value != other.value))
        return node

    def _variable(self, node: Node) -> Any:
        name = node.name
        match node.kind:
            case "message":
                return None
            case "bool":
                return z3.Bool(name)
            case "double":
                return z3.FP(name, z3.Float64())
            case "float":
                # CEL computes with doubles; the field holds what fits 32 bits.
                return z3.fpToFP(z3.RNE(), z3.FP(name, z3.Float32()), z3.Float64())
            case "string" | "bytes":
                text = z3.String(name)
                if node.kind == "bytes":
                    self.axioms.append(z3.InRe(text, z3.Star(z3.Range(chr(0), chr(255)))))
                return text
            case _:
                number = z3.Int(name)
                low, high = _RANGES[node.integer]
                self.axioms += [number >= low, number <= high]
                return number

    def _add_presence(self, node: Node, declared: ir.Field) -> None:
        node.present = z3.Bool(f"{node.name}?")
        given = declared.default if declared.message is None else None
        default = self.is_default(node) if given is None else node.value == constant(given, node.kind)
        if default is not None:
            self.axioms.append(z3.Implies(z3.Not(node.present), default))

    def _default_with(self, parent: Node, node: Node) -> None:
        """A field of a message that is not set is at its default itself."""
        if parent.present is None:
            return
        empty = [z3.Not(node.present)] if node.present is not None else []
        default = self.is_default(node)
        self.axioms.append(z3.Implies(z3.Not(parent.present), z3.And(*empty, *([] if default is None else [default]))))

    def is_default(self, node: Node) -> Any:
        """That a node has its type's zero value; None for a message, whose fields say so themselves."""
        if node.size is not None:
            return node.size == 0
        match node.kind:
            case "message":
                return None
            case "bool":
                return z3.Not(node.value)
            case "double" | "float":
                # -0.0 is not the zero value.
                return z3.And(z3.fpIsZero(node.value), z3.fpIsPositive(node.value))
            case "string" | "bytes":
                return node.value == z3.StringVal("")
            case _:
                return node.value == 0

    def declared(self, message: str, name: str) -> ir.Field | None:
        """The field of that name; None where the schema has no such message or field."""
        found = self._schema.messages.get(message)
        return None if found is None else next((each for each in found.fields if each.name == name), None)

    def using(self, schema: ir.Schema) -> None:
        """Look fields up in the other side's schema from now on."""
        self._schema = schema


def _kind(declared: ir.Field) -> tuple[Kind, str]:
    if declared.shape is ir.Shape.MAP and declared.value is not None:
        return "message", ""
    if declared.message is not None:
        return _WELL_KNOWN.get(declared.message, ("message", ""))
    if declared.type in _INTEGERS:
        return "int", _INTEGERS[declared.type]
    return _OTHERS[declared.type], ""


def constant(value: object, kind: str) -> Any:
    """A Python value of a kind as z3 has it."""
    match kind:
        case "bool":
            return z3.BoolVal(bool(value))
        case "double" | "float":
            return z3.FPVal(value, z3.Float64())
        case "string":
            return text(str(value))
        case "bytes":
            assert isinstance(value, bytes)
            return text(value.decode("latin-1"))
        case _:
            assert isinstance(value, int)
            return z3.IntVal(int(value))


def text(value: str) -> Any:
    """A text as z3 has it, whose own notation escapes everything but printable ASCII."""
    return z3.StringVal(
        "".join(each if 32 <= ord(each) < 127 and each != "\\" else f"\\u{{{ord(each):x}}}" for each in value)
    )
