"""The contracts at the commits of a repository: in which state a module was proven, its lock or its pin tells."""

from __future__ import annotations

from functools import cached_property
from typing import Final

from protocontract.violations import ContractError
from protocontract_ci.locks import Lock, slice_digest
from protocontract_ci.modules import Modules
from protocontract_ci.repository import Repository
from protocontract_ci.sources import Contracts, read

#: How many states of the contracts are looked through for the one that a lock stands on.
_MOST_STATES: Final = 50


class History:
    """The states of the contracts, each read once."""

    def __init__(self, repository: Repository, declared: Modules, commit: str, state: Contracts) -> None:
        """``state`` is that of ``commit``, from which the history goes back; "" for none."""
        self._repository = repository
        self._declared = declared
        self._commit = commit
        self._states: dict[str, Contracts] = {commit: state} if commit else {}

    def at(self, commit: str) -> Contracts:
        """The contracts of a commit. Raises ContractError."""
        if commit not in self._states:
            proto_path = [self._repository.root / path for path in self._declared.proto_path]
            self._states[commit] = read(f"{commit}:{self._declared.contracts}", proto_path)
        return self._states[commit]

    def of_lock(self, lock: Lock) -> Contracts | None:
        """The latest state of the contracts that has the slice of a lock; None where the history does not hold it."""
        for commit in self._commits:
            try:
                if slice_digest(self.at(commit), lock.element, lock.uses) == lock.contract:
                    return self.at(commit)
            except ContractError:
                # A state that does not compile is one that nobody was proven against.
                continue
        return None

    @cached_property
    def _commits(self) -> list[str]:
        return self._repository.history(self._commit, self._declared.contracts, _MOST_STATES)
