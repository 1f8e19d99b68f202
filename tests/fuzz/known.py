"""Differences from protovalidate that are meant, each with its reason. A run fails when one of them disappears."""

from __future__ import annotations

from collections.abc import Callable, Mapping

#: Name -> (reason, whether an expression has it). Empty: there is none.
KNOWN: Mapping[str, tuple[str, Callable[[str], bool]]] = {}
