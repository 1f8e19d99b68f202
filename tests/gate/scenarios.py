"""The gate's scenarios below tests/cases/gate: two states of a contract, modules, and what is expected of both."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from protocontract_ci.diff.compare import Diff, compare
from protocontract_ci.sources import read

CASES = Path(__file__).parents[1] / "cases" / "gate"


@dataclass(frozen=True)
class Scenario:
    """One folder. ``expect`` is its expect.json."""

    folder: Path

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.folder.name

    @property
    def expect(self) -> dict[str, Any]:
        """What is expected, as tests/cases/gate/FORMAT.md describes it."""
        loaded: dict[str, Any] = json.loads((self.folder / "expect.json").read_text())
        return loaded

    def diff(self) -> Diff:
        """The comparison of its two states, by the table alone."""
        return _diff(self.folder)


@cache
def _diff(folder: Path) -> Diff:
    return compare(read(str(folder / "before")), read(str(folder / "after")))


def given() -> list[Scenario]:
    """The scenarios that we were given."""
    return [Scenario(folder) for folder in sorted(CASES.iterdir()) if (folder / "before").is_dir()]


def own() -> list[Scenario]:
    """Our own, which have no modules."""
    return [Scenario(folder) for folder in sorted((CASES / "own").iterdir()) if (folder / "before").is_dir()]
