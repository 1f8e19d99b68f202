"""What runs where: ``contracts/deployments/<environment>/<module>.json``, written by `protocontract record-deployment`.

Merged is not deployed, and what was written under an older state of a contract stays for as long as its topic keeps it.
A state is a commit: of the module's code and of the contracts beside it.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from protocontract.violations import ContractError

DEPLOYMENTS: Final = "contracts/deployments"


@dataclass(frozen=True, slots=True)
class Deployment:
    """A state of a module in an environment. ``retained_until`` is None for the one that runs.

    Of one that ran before, it is the last day on which records that it wrote may still be read.
    """

    module: str
    environment: str
    commit: str
    retained_until: datetime.date | None = None

    def holds(self, today: datetime.date) -> bool:
        """Whether the state still counts."""
        return self.retained_until is None or self.retained_until >= today


def read_deployments(root: Path, environment: str) -> list[Deployment]:
    """All states of an environment, by module. Raises ContractError for a file that is none."""
    found: list[Deployment] = []
    folder = root / DEPLOYMENTS / environment
    for path in sorted(folder.glob("*.json")) if folder.is_dir() else []:
        found += _read(path, f"{DEPLOYMENTS}/{environment}/{path.name}")
    return found


def _read(path: Path, shown: str) -> list[Deployment]:
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
        return [
            Deployment(
                table["module"], table["environment"], str(state["commit"]),
                None if state["retained_until"] is None else datetime.date.fromisoformat(state["retained_until"]),
            )
            for state in table["states"]
        ]  # fmt: skip
    except (ValueError, KeyError, TypeError):
        raise ContractError(
            f"{shown}: not a record of deployments; expected a file that `protocontract record-deployment` wrote"
        ) from None


def record(
    root: Path, module: str, environment: str, commit: str, retained: int, today: datetime.date
) -> tuple[Path, Sequence[Deployment]]:
    """Record that a commit of a module runs now. What ran until now stays for ``retained`` days.

    States whose time has passed go. Returns the file and what stands in it, the running one first.
    """
    path = root / DEPLOYMENTS / environment / f"{module}.json"
    before = _read(path, f"{DEPLOYMENTS}/{environment}/{path.name}") if path.is_file() else []
    states = [Deployment(module, environment, commit)]
    for state in before:
        until = state.retained_until
        if until is None:
            until = today + datetime.timedelta(days=retained) if retained else today - datetime.timedelta(days=1)
        if state.commit != commit and until >= today:
            states.append(Deployment(module, environment, state.commit, until))
    table = {
        "module": module,
        "environment": environment,
        "states": [
            {"commit": each.commit, "retained_until": each.retained_until and each.retained_until.isoformat()}
            for each in states
        ],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
    return path, states
