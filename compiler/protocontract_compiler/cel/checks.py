"""Reduces a program to straight-line checks: conditions with constant messages."""

from __future__ import annotations

from protocontract_compiler.cel import build
from protocontract_compiler.ir_cel import TRUE, Branch, Check, Cond, Expr, Literal, Program, can_raise, negate


def as_check(program: Program) -> Check | None:
    """The program as conditions under which it is violated, or ``None`` where a message is made at run time.

    A bool program is violated when it is false; a string program when its text is not empty. No branch is left where
    nothing can be violated. A condition with ``can_raise`` keeps its errors.
    """
    if program.result == "bool":
        if program.constant is True:
            return Check(())
        return Check((Branch(negate(program.expr), None),))
    branches: list[Branch] = []
    if not _collect(program.expr, [], branches):
        return None
    return Check(tuple(branches))


def _collect(expr: Expr, path: list[Expr], branches: list[Branch]) -> bool:
    """Appends the violations below ``expr``; earlier branches are known not to hold when a later one is tried."""
    match expr:
        case Literal(value=str(text)):
            if text:
                branches.append(Branch(build.conjunction(path) if path else TRUE, text))
            return True
        case Cond(condition=condition, then=then, otherwise=otherwise):
            empty_then = then == Literal(then.type, "")
            empty_otherwise = otherwise == Literal(otherwise.type, "")
            if can_raise(condition) and (empty_then or not isinstance(then, Literal)):
                return False  # as one operand of a conjunction its error could be absorbed by a later one
            if not empty_then and not _collect(then, [*path, condition], branches):
                return False
            if empty_otherwise:
                return True
            # After a branch with exactly this condition the rest needs no negation: it is tried only if that failed.
            alone = isinstance(then, Literal) and not empty_then
            return _collect(otherwise, path if alone else [*path, negate(condition)], branches)
        case _:
            return False
