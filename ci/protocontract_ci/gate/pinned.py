"""The state of the contracts that a module runs with, where it pins a version of the package that they come in.

The version stands in a lock file of the module's package manager: in its own paths, or, for a module that lies in
another repository, where that one publishes it (``contracts/pins/<module>/``). The state of a version is the commit
that [releases] names, or that a tag of [gate] release_tags does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from protocontract.violations import ContractError
from protocontract_ci.modules import Module, Modules
from protocontract_ci.pins import LOCK_FILES, PinError, pinned_version
from protocontract_ci.repository import Repository
from protocontract_ci.sources import Contracts

#: Where modules of other repositories publish the lock files of their package managers, a folder each.
PINS: Final = "contracts/pins"


@dataclass(frozen=True, slots=True)
class Pinned:
    """What a module pins, in which file. ``state`` is None where it is not known, and ``reason`` says why."""

    file: str
    version: str = ""
    state: Contracts | None = None
    reason: str = ""


def pinned(
    repository: Repository,
    declared: Modules,
    module: Module,
    files: Iterable[str],
    state_at: Callable[[str], Contracts],
) -> Pinned | None:
    """What a module pins; None for one that names no contract package.

    ``files`` are those of the working tree, ``state_at`` reads the contracts of a commit (raises ContractError).
    """
    if not module.package:
        return None
    file = module.pin or _lock_file(declared, module, files)
    path = repository.root / file
    if not file or not path.is_file():
        where = file or f"its paths or {PINS}/{module.name}"
        return Pinned(
            file, reason=f"no lock file of {module.package} is at {where}; expected one of {', '.join(LOCK_FILES)}"
        )
    try:
        version = pinned_version(file, path.read_text(encoding="utf-8", errors="replace"), module.package)
    except PinError as error:
        return Pinned(file, reason=str(error))
    refs = [declared.releases[version]] if version in declared.releases else [
        pattern.replace("{version}", version).replace("{package}", module.package) for pattern in declared.release_tags
    ]  # fmt: skip
    commit = next((found for ref in refs if (found := repository.commit(ref))), "")
    if not commit:
        because = f"pins {module.package} {version}, and {' or '.join(f'`{ref}`' for ref in refs)} is no commit here"
        return Pinned(file, version, reason=f"{because}; expected `git fetch --tags`, or the version in [releases]")
    try:
        return Pinned(file, version, state_at(commit))
    except ContractError:
        return Pinned(file, version, reason=f"pins {module.package} {version}, whose contracts cannot be compiled")


def _lock_file(declared: Modules, module: Module, files: Iterable[str]) -> str:
    """The lock file of a module that says no `pin`: the outermost one of its own, else the one that it published."""
    known = [file for file in files if file.rpartition("/")[2] in LOCK_FILES]
    own = [file for file in known if declared.module_of(file) is module]
    own = own or [file for file in known if file.startswith(f"{PINS}/{module.name}/")]
    return min(own, key=lambda file: (file.count("/"), LOCK_FILES.index(file.rpartition("/")[2])), default="")
