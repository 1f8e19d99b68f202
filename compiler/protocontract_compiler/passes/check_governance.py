"""Checks of this part of a contract."""

from __future__ import annotations

from protocontract_compiler import ir
from protocontract_compiler.descriptors import Loaded
from protocontract_compiler.diagnostics import Diagnostics


def check(loaded: Loaded, schema: ir.Schema, diagnostics: Diagnostics) -> None:
    """Notes every mistake."""
