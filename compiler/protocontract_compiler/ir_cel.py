"""Typed CEL expressions, as the front end makes them and the emitters read them.

A tree holds no constants of the contract any more: rules are folded into literals, macros are recognised again, every
call names one operation with known operand types. Values are represented as the emitted code represents them:

==================  =================================================================================
CEL                 value of a ``Literal`` and of emitted code
==================  =================================================================================
int, uint, enum     ``int``                   double              ``float``
string, bytes       ``str``, ``bytes``        bool                ``bool``
timestamp           ``int``, nanoseconds since 1970-01-01T00:00:00Z
duration            ``int``, nanoseconds
list, map           any sequence, any mapping (a ``Literal`` holds tuples: of items, or of key and value pairs)
message             a protobuf message (never in a ``Literal``)
wrapper             the unwrapped value, or ``None`` when unset (``Type.nullable``)
type                the type's name as ``str``
==================  =================================================================================
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias
from typing import Literal as Choice

Value: TypeAlias = "bool | int | float | str | bytes | tuple[Value, ...] | None"


@dataclass(frozen=True, slots=True)
class Type:
    """A CEL type. ``args`` are the element type of a list, or the key and value types of a map."""

    kind: str
    args: tuple[Type, ...] = ()
    message: str = ""
    nullable: bool = False

    def __str__(self) -> str:
        if self.kind == "message":
            return self.message
        inner = f"({', '.join(map(str, self.args))})" if self.args else ""
        return f"{self.kind}{inner}{'?' if self.nullable else ''}"

    @property
    def element(self) -> Type:
        """What a loop over a value of this type yields: a list's items, a map's keys."""
        return self.args[0]


BOOL: Final = Type("bool")
INT: Final = Type("int")
UINT: Final = Type("uint")
DOUBLE: Final = Type("double")
STRING: Final = Type("string")
BYTES: Final = Type("bytes")
NULL: Final = Type("null")
TIMESTAMP: Final = Type("timestamp")
DURATION: Final = Type("duration")
TYPE: Final = Type("type")
DYN: Final = Type("dyn")
NUMBERS: Final = frozenset({"int", "uint", "double"})
ORDERED: Final = frozenset({"bool", "int", "uint", "string", "bytes", "timestamp", "duration"})
"""Kinds whose values are totally ordered, so that ``not a < b`` is ``a >= b``; double is not one (NaN)."""


def list_of(element: Type) -> Type:
    """The type of lists of ``element``."""
    return Type("list", (element,))


def map_of(key: Type, value: Type) -> Type:
    """The type of maps from ``key`` to ``value``."""
    return Type("map", (key, value))


@dataclass(frozen=True, slots=True)
class FieldRef:
    """A field of a message as CEL sees it. ``wire`` is protobuf's name of the scalar type, "message" or "enum"."""

    name: str
    number: int
    message: str
    type: Type
    cardinality: Choice["singular", "repeated", "map"]
    has_presence: bool
    wire: str
    message_type: str = ""


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant."""

    type: Type
    value: Value


@dataclass(frozen=True, slots=True)
class Var:
    """``this``, ``now``, or a macro's variable (``slot`` tells variables of one name apart; 0 is no macro's)."""

    type: Type
    name: str
    slot: int = 0


@dataclass(frozen=True, slots=True)
class Select:
    """The value of a field."""

    type: Type
    operand: Expr
    field: FieldRef


@dataclass(frozen=True, slots=True)
class Has:
    """Whether a field is present, as ``has()`` says."""

    operand: Expr
    field: FieldRef
    type: Type = BOOL


@dataclass(frozen=True, slots=True)
class Not:
    """Logical negation."""

    operand: Expr
    type: Type = BOOL


@dataclass(frozen=True, slots=True)
class And:
    """Conjunction of two or more operands: false wins over an error."""

    operands: tuple[Expr, ...]
    type: Type = BOOL


@dataclass(frozen=True, slots=True)
class Or:
    """Disjunction of two or more operands: true wins over an error."""

    operands: tuple[Expr, ...]
    type: Type = BOOL


@dataclass(frozen=True, slots=True)
class Cond:
    """``condition ? then : otherwise``; only the branch taken is evaluated."""

    type: Type
    condition: Expr
    then: Expr
    otherwise: Expr


@dataclass(frozen=True, slots=True)
class Compare:
    """``eq ne lt le gt ge``; ``mixed`` compares integers with a double, which means as doubles."""

    op: Choice["eq", "ne", "lt", "le", "gt", "ge"]
    left: Expr
    right: Expr
    mixed: bool = False
    type: Type = BOOL


@dataclass(frozen=True, slots=True)
class In:
    """Membership in a list, or of a key in a map."""

    item: Expr
    container: Expr
    type: Type = BOOL


@dataclass(frozen=True, slots=True)
class Call:
    """One operation with strict operands; ``op`` names it, ``raises`` says whether it can fail by itself."""

    type: Type
    op: str
    args: tuple[Expr, ...]
    raises: bool = False


@dataclass(frozen=True, slots=True)
class Unwrap:
    """A wrapper's value where an unset one (null) is an error."""

    type: Type
    operand: Expr


@dataclass(frozen=True, slots=True)
class ListExpr:
    """A list display whose items are not all constants of one type."""

    type: Type
    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class MapExpr:
    """A map display. Equal keys are an error of evaluation."""

    type: Type
    entries: tuple[tuple[Expr, Expr], ...]


@dataclass(frozen=True, slots=True)
class Macro:
    """``all exists exists_one map filter`` over a list's items or a map's keys.

    ``body`` is the predicate, or what ``map`` yields; ``where`` is ``map``'s optional filter.
    """

    type: Type
    kind: Choice["all", "exists", "exists_one", "map", "filter"]
    var: Var
    range: Expr
    body: Expr
    where: Expr | None = None


Expr: TypeAlias = (
    Literal | Var | Select | Has | Not | And | Or | Cond | Compare | In | Call | Unwrap | ListExpr | MapExpr | Macro
)

TRUE: Final = Literal(BOOL, True)
FALSE: Final = Literal(BOOL, False)


@dataclass(frozen=True, slots=True)
class Program:
    """One compiled expression.

    ``reads`` are the names of the fields of ``this`` that it reads (empty unless ``this`` is a message);
    ``constant`` is the result where it does not depend on the message.
    """

    source: str
    expr: Expr
    result: Choice["bool", "string"]
    can_raise: bool
    uses_now: bool
    reads: frozenset[str]
    constant: bool | str | None


@dataclass(frozen=True, slots=True)
class Branch:
    """A violation: ``condition`` says when, ``message`` is its constant text (``None``: the rule's own message)."""

    condition: Expr
    message: str | None


@dataclass(frozen=True, slots=True)
class Check:
    """A program as a chain of conditions with constant texts: the first that holds is the violation."""

    branches: tuple[Branch, ...]


def children(expr: Expr) -> Iterator[Expr]:
    """The direct operands of a node, in order of evaluation."""
    match expr:
        case Literal() | Var():
            return
        case Select() | Has() | Not() | Unwrap():
            yield expr.operand
        case And() | Or():
            yield from expr.operands
        case Cond():
            yield from (expr.condition, expr.then, expr.otherwise)
        case Compare():
            yield from (expr.left, expr.right)
        case In():
            yield from (expr.item, expr.container)
        case Call():
            yield from expr.args
        case ListExpr():
            yield from expr.items
        case MapExpr():
            for key, value in expr.entries:
                yield from (key, value)
        case Macro():
            yield expr.range
            if expr.where is not None:
                yield expr.where
            yield expr.body


def walk(expr: Expr) -> Iterator[Expr]:
    """A node and everything below it."""
    yield expr
    for child in children(expr):
        yield from walk(child)


def can_raise(expr: Expr) -> bool:
    """Whether evaluation can end in a CEL error for some message."""
    match expr:
        case Call() if expr.raises:
            return True
        case Unwrap() | MapExpr():
            return True
        case _:
            return any(can_raise(child) for child in children(expr))


def can_abort(expr: Expr) -> bool:
    """Whether evaluation can end in an error that nothing absorbs: that of a subject of ``matches``."""
    return any(isinstance(node, Call) and node.op == "matches" and can_raise(node.args[0]) for node in walk(expr))


_FLIPPED: Final[dict[str, Choice["eq", "ne", "lt", "le", "gt", "ge"]]] = {
    "lt": "ge",
    "le": "gt",
    "gt": "le",
    "ge": "lt",
    "eq": "ne",
    "ne": "eq",
}


def negate(expr: Expr) -> Expr:
    """The logical negation, pushed inwards where that is exact (an order of doubles is not turned: NaN)."""
    match expr:
        case Literal():
            return FALSE if expr.value else TRUE
        case Not():
            return expr.operand
        case And():
            return Or(tuple(negate(operand) for operand in expr.operands))
        case Or():
            return And(tuple(negate(operand) for operand in expr.operands))
        case Compare(op="eq" | "ne"):
            return Compare(_FLIPPED[expr.op], expr.left, expr.right, expr.mixed)
        case Compare() if expr.left.type.kind in ORDERED and expr.right.type.kind in ORDERED:
            return Compare(_FLIPPED[expr.op], expr.left, expr.right, expr.mixed)
        case _:
            return Not(expr)
