"""What can go wrong between an expression's text and its tree."""

from __future__ import annotations

from typing import Final


class CelError(Exception):
    """The expression is wrong: a mistake in the contract. Line and column count from 1, in the expression."""

    def __init__(self, message: str, line: int = 1, column: int = 1) -> None:
        super().__init__(f"{line}:{column}: {message}")
        self.message: Final = message
        self.line: Final = line
        self.column: Final = column


class Untranslatable(Exception):
    """The expression is legal, but no exact translation exists: protovalidate itself has to evaluate it."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason: Final = reason
