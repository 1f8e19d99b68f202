"""Emits a CEL tree as a Python expression.

Code is built by functions that know each operand's precedence, so parentheses stand only where Python needs them. The
values in the code are those of ``ir_cel``'s table; ``scope`` offers names, fields of ``this`` and constants.

``this`` is code for the value that the rule sees: a message, a number of nanoseconds for a timestamp or duration, an
unwrapped value, or the container of a repeated or map field as protobuf stores it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from protocontract_compiler.emit.python.cel_nodes import Emitter
from protocontract_compiler.emit.python.cel_source import Code
from protocontract_compiler.ir_cel import Expr, FieldRef, Program, can_raise


class Scope(Protocol):
    """What the validator's emitter offers to expressions."""

    def read(self, base: str, message: str, field: FieldRef) -> str:
        """Code that reads a field of the message in variable ``base`` (``this``); a name where it is cached."""
        ...

    def has(self, base: str, message: str, field: FieldRef) -> str:
        """Code that tests a field's presence as ``has()`` defines it."""
        ...

    def constant(self, value_code: str, hint: str) -> str:
        """The name of a constant that is evaluated once."""
        ...

    def runtime(self, name: str) -> str:
        """Code for a helper of the private runtime module."""
        ...

    def temp(self, hint: str) -> str:
        """A fresh local name."""
        ...


@dataclass(frozen=True, slots=True)
class Emitted:
    """An expression's code, with statements that must run before it (at the same place, in order)."""

    code: str
    precedence: int
    prelude: list[str]
    can_raise: bool


def emit(program: Program, *, this: str, scope: Scope, now: str | None, items: str = "") -> Emitted:
    """The program's value: a bool or a text. ``now`` is code for the clock, needed where ``program.uses_now``.

    ``items`` is the message type of the items or map values, where ``this`` is a container of messages.
    """
    return emit_condition(program.expr, this=this, scope=scope, now=now, items=items)


def emit_condition(expr: Expr, *, this: str, scope: Scope, now: str | None, items: str = "") -> Emitted:
    """Any typed tree of a program: above all a condition of ``cel.checks.as_check``."""
    emitter = Emitter(this, scope, now, items)
    code: Code = emitter.root(expr)
    return Emitted(code.text, code.precedence, emitter.prelude, can_raise(expr))
