"""Pieces of Python source with their precedence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

# Python's precedences from loosest to tightest, as far as expressions of ours use them.
LAMBDA: Final = 0
CONDITIONAL: Final = 1
OR: Final = 2
AND: Final = 3
NOT: Final = 4
COMPARISON: Final = 5
SUM: Final = 6
PRODUCT: Final = 7
UNARY: Final = 8
ATOM: Final = 9


@dataclass(frozen=True, slots=True)
class Code:
    """Source text of an expression and the precedence of its outermost operator."""

    text: str
    precedence: int = ATOM

    def within(self, precedence: int) -> str:
        """The text, in parentheses if an operator of ``precedence`` would take it apart."""
        return self.text if self.precedence >= precedence else f"({self.text})"

    def after(self, precedence: int) -> str:
        """The text as the right operand of a left-associative operator, or an operand of a comparison."""
        return self.text if self.precedence > precedence else f"({self.text})"


def call(function: str, *arguments: Code) -> Code:
    """``function(arguments)``."""
    return Code(f"{function}({', '.join(argument.text for argument in arguments)})")


def method(receiver: Code, name: str, *arguments: Code) -> Code:
    """``receiver.name(arguments)``; a number literal is put in parentheses."""
    text = receiver.within(ATOM)
    if text[0].isdigit():
        text = f"({text})"
    return call(f"{text}.{name}", *arguments)


def binary(operator: str, left: Code, right: Code, precedence: int) -> Code:
    """A left-associative operator."""
    return Code(f"{left.within(precedence)} {operator} {right.after(precedence)}", precedence)


def comparison(operator: str, left: Code, right: Code) -> Code:
    """A comparison of two operands; comparisons inside are put in parentheses, so that they do not chain."""
    return Code(f"{left.after(COMPARISON)} {operator} {right.after(COMPARISON)}", COMPARISON)


_FOUND: Final = " is not None"


def negated(operand: Code) -> Code:
    """``not operand``; of ``x is not None`` it is ``x is None``."""
    if operand.precedence == COMPARISON and operand.text.endswith(_FOUND):
        return Code(f"{operand.text.removesuffix(_FOUND)} is None", COMPARISON)
    return Code(f"not {operand.within(NOT)}", NOT)


def joined(operator: str, operands: list[Code]) -> Code:
    """``a and b and c``, ``a or b or c``."""
    precedence = AND if operator == "and" else OR
    return Code(f" {operator} ".join(operand.after(precedence) for operand in operands), precedence)


def conditional(condition: Code, then: Code, otherwise: Code) -> Code:
    """``then if condition else otherwise``."""
    text = f"{then.after(CONDITIONAL)} if {condition.after(CONDITIONAL)} else {otherwise.within(CONDITIONAL)}"
    return Code(text, CONDITIONAL)


def literal(value: object) -> Code:
    """A constant; the infinities and NaN are written so that no name is needed."""
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            return Code(f'float("{value}")')
        return Code(repr(value), UNARY if repr(value).startswith("-") else ATOM)
    if isinstance(value, bool) or not isinstance(value, int):
        return Code(string(value) if isinstance(value, str) else repr(value))
    return Code(str(value), UNARY if value < 0 else ATOM)


def string(value: str) -> str:
    """A text literal in double quotes, as formatters write it."""
    single = repr(value)
    if single.startswith('"'):
        return single
    body = single[1:-1].replace("\\'", "'")
    return f'"{body}"' if '"' not in body else single
