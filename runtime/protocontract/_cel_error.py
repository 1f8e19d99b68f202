"""The error that CEL evaluation ends in."""

from __future__ import annotations


class CelRuntimeError(Exception):
    """A rule could not be evaluated: overflow, division by zero, a missing key. The message holds no value."""
