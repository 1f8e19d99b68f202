"""Stages: what a service runs and a replay runs again, found by ``module:function``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from protocontract.chain.canonical import Value
from protocontract.chain.steps import EvidenceError
from protocontract.steps import import_if_there


class Stage(Protocol):
    """Takes what the stage before gave: a message, arrays by name, or a plain value. It may have a ``version``."""

    def __call__(self, value: Any, /) -> Any: ...


@runtime_checkable
class ModelStage(Protocol):
    """A stage that needs a model: what ``module:function`` names is this, and ``bind`` makes the stage of it."""

    def bind(self, model: Path, facts: Mapping[str, Value], /) -> Stage:
        """The stage over a model's file, as the facts of a recorded step describe its run (provider, batch size).

        Asked for each step that is replayed: what takes long to make is kept here.
        """
        ...


def version_of(stage: object) -> str:
    """The version that a stage says it has; empty without one."""
    return str(getattr(stage, "version", ""))


def load_stage(name: str) -> Any:
    """What ``module:function`` names: a Stage or a ModelStage. Raises EvidenceError."""
    module_name, _, attribute = name.partition(":")
    if not module_name or not attribute:
        raise EvidenceError(f"{name or 'an empty name'} names no stage; expected module:function")
    found: Any = import_if_there(module_name)
    if found is None:
        raise EvidenceError(f"no module {module_name}; expected the stage in a module of PYTHONPATH")
    for part in attribute.split("."):
        found = getattr(found, part, None)
    if not callable(found) and not isinstance(found, ModelStage):
        raise EvidenceError(f"{module_name} has no stage {attribute}")
    return found
