"""Pieces of TypeScript source with their precedence and, for integers, what holds them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from protocontract_compiler.emit.typescript import access
from protocontract_compiler.ir_cel import Type, Value

# JavaScript's precedences from loosest to tightest, as far as expressions of ours use them.
ARROW: Final = 0
CONDITIONAL: Final = 1
OR: Final = 2
AND: Final = 3
EQUALITY: Final = 4
RELATION: Final = 5
SUM: Final = 6
PRODUCT: Final = 7
UNARY: Final = 8
ATOM: Final = 9

#: What an integer of CEL is held by: a number that is exact, or a bigint. Empty for what is no integer.
Held = Literal["", "number", "bigint"]


@dataclass(frozen=True, slots=True)
class Code:
    """Source text of an expression, the precedence of its outermost operator, and what holds an integer."""

    text: str
    precedence: int = ATOM
    held: Held = ""

    def within(self, precedence: int) -> str:
        """The text, in parentheses if an operator of ``precedence`` would take it apart."""
        return self.text if self.precedence >= precedence else f"({self.text})"

    def after(self, precedence: int) -> str:
        """The text as an operand that must bind tighter than an operator of ``precedence``."""
        return self.text if self.precedence > precedence else f"({self.text})"

    @property
    def big(self) -> str:
        """The text of an integer as a bigint; of anything else as it is."""
        if self.held != "number":
            return self.text
        plain = self.text.removeprefix("-").isdigit()
        return f"{self.text}n" if plain else f"BigInt({self.text})"


def call(function: str, *arguments: str, held: Held = "") -> Code:
    """``function(arguments)``."""
    return Code(f"{function}({', '.join(arguments)})", held=held)


def comparison(operator: str, left: str, right: str) -> Code:
    """A comparison of two operands that bind tighter."""
    return Code(f"{left} {operator} {right}", EQUALITY if operator in ("===", "!==", "==", "!=") else RELATION)


#: A comparison of two operands that are no comparisons themselves.
_EQUALITY: Final = re.compile(r"([^\s&|?]+) (===|!==) ([^\s&|?]+)")


def negated(operand: Code) -> Code:
    """``!operand``; of ``a === b`` it is ``a !== b``."""
    compared = _EQUALITY.fullmatch(operand.text)
    if compared is not None:
        left, operator, right = compared.groups()
        return comparison("!==" if operator == "===" else "===", left, right)
    return Code(f"!{operand.within(UNARY)}", UNARY)


def joined(operator: str, operands: list[Code]) -> Code:
    """``a && b && c``, ``a || b || c``."""
    precedence = AND if operator == "&&" else OR
    # Both in one expression are always parted by parentheses: for readers, and because `??` may not stand beside them.
    return Code(f" {operator} ".join(operand.after(AND) for operand in operands), precedence)


def integer(value: int) -> Code:
    """A constant integer: a number where that is exact."""
    if abs(value) <= 2**53 - 1:
        return Code(str(value), UNARY if value < 0 else ATOM, "number")
    return Code(f"{value}n", UNARY if value < 0 else ATOM, "bigint")


def literal(value: object) -> Code:
    """Any constant but an integer."""
    shown = access.literal(value)
    return Code(shown, UNARY if shown.startswith("-") else ATOM)


#: Kinds that bigints hold in lists and maps.
_BIG: Final = frozenset({"int", "uint", "timestamp", "duration"})
_TYPES: Final = {
    "bool": "boolean", "int": "bigint", "uint": "bigint", "double": "number", "string": "string", "bytes": "Uint8Array",
    "timestamp": "bigint", "duration": "bigint", "type": "string", "null": "undefined",
}  # fmt: skip


def type_code(type_: Type) -> str:
    """The type of a constant list or map."""
    if type_.kind == "list":
        return f"ReadonlyArray<{type_code(type_.element)}>"
    if type_.kind == "map":
        return f"ReadonlyMap<{', '.join(map(type_code, type_.args))}>"
    return _TYPES.get(type_.kind, "unknown")


def value_code(value: Value, type_: Type) -> str:
    """A constant in a list or map: integers and times are bigints there."""
    if type_.kind == "list" and isinstance(value, tuple):
        return f"[{', '.join(value_code(item, type_.element) for item in value)}]"
    if type_.kind == "map" and isinstance(value, tuple):
        pairs = (pair for pair in value if isinstance(pair, tuple))
        shown = (f"[{value_code(pair[0], type_.args[0])}, {value_code(pair[1], type_.args[1])}]" for pair in pairs)
        return f"/* @__PURE__ */ new Map([{', '.join(shown)}])"
    if type_.kind in _BIG:
        return f"{value!s}n"
    return access.literal(value)
