"""The error that CEL evaluation ends in."""

from __future__ import annotations

from protocontract.violations import RuleEvaluationError


class CelRuntimeError(RuleEvaluationError):
    """A rule could not be evaluated: overflow, division by zero, a missing key. The message holds no value."""


class CelAbortError(CelRuntimeError):
    """An error that no other operand absorbs: it ends the whole rule."""
