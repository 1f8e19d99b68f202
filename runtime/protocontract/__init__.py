"""protocontract: data contracts for protobuf, enforced where data enters.

A contract is a ``.proto`` message with annotations; ``protoc-gen-contract`` compiles it into a module that holds a
``Contract`` object. ``Contract.parse`` and ``Contract.process`` turn bytes into a normalised, valid message or say why
not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from protocontract.contract import Contract, Outcome, Promise, StreamLevel
from protocontract.evidence import Evidence
from protocontract.loading import load, resolve
from protocontract.violations import (
    Change,
    ContractError,
    ContractViolation,
    ErrorClass,
    MissingExtra,
    Normalized,
    OptionError,
    Refused,
    RuleEvaluationError,
    Violation,
)

if TYPE_CHECKING:
    from protocontract import normalize as normalize
    from protocontract import relations as relations


def __getattr__(name: str) -> Any:
    # Looked up when asked for: reading a package's metadata costs more than all the rest of this import.
    if name == "__version__":
        from importlib.metadata import version

        return version("protocontract")
    if name in ("normalize", "relations"):
        from importlib import import_module

        return import_module(f"protocontract.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "Change",
    "Contract",
    "ContractError",
    "ContractViolation",
    "ErrorClass",
    "Evidence",
    "MissingExtra",
    "Normalized",
    "OptionError",
    "Outcome",
    "Promise",
    "Refused",
    "RuleEvaluationError",
    "StreamLevel",
    "Violation",
    "load",
    "resolve",
]
