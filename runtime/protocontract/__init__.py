"""protocontract: data contracts for protobuf, enforced where data enters.

A contract is a ``.proto`` message with annotations; ``protoc-gen-contract`` compiles it into a module that holds a
``Contract`` object. ``Contract.parse`` and ``Contract.process`` turn bytes into a normalised, valid message or say why
not.
"""

from __future__ import annotations

from importlib.metadata import version as _version

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

__version__ = _version("protocontract")

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
