"""What the working tree holds of each module, and what of it has changed since the commit that is compared with."""

from __future__ import annotations

from functools import cached_property

from protocontract_ci.discovery import is_source
from protocontract_ci.locks import LOCKS, Lock, module_of_lock, read_lock, source_digest
from protocontract_ci.modules import Modules
from protocontract_ci.repository import Repository
from protocontract_ci.usage import notebooks


class Tree:
    """The files of a repository by module. Each is read when it is asked for, and once."""

    def __init__(self, repository: Repository, declared: Modules, commit: str) -> None:
        """``commit`` is compared with; "" for none, which has no locks, and from which nothing has changed."""
        self._repository = repository
        self._declared = declared
        self._commit = commit
        self._digests: dict[str, str] = {}

    @cached_property
    def all_files(self) -> list[str]:
        """The files of the working tree."""
        return self._repository.files()

    @cached_property
    def files(self) -> dict[str, list[str]]:
        """The source files of each module."""
        found: dict[str, list[str]] = {module.name: [] for module in self._declared.modules}
        for file in self.all_files:
            if is_source(file) and (module := self._declared.module_of(file)) is not None:
                found[module.name].append(file)
        return found

    @cached_property
    def changed(self) -> set[str]:
        """The files that differ from those of the commit."""
        return self._repository.changed(self._commit) if self._commit else set()

    @cached_property
    def python(self) -> dict[str, str]:
        """The Python of all modules; files that are no UTF-8, no notebook, are left to the reader to name."""
        found = {
            file: self._read(file)
            for held in self.files.values()
            for file in held
            if file.endswith((".py", notebooks.SUFFIX))
        }
        return {
            file: notebooks.code_of(text) if file.endswith(notebooks.SUFFIX) else text for file, text in found.items()
        }

    def text(self, file: str) -> str:
        """What a file says, whatever its language; of a notebook the code."""
        return self.python[file] if file in self.python else self._read(file)

    def _read(self, file: str) -> str:
        return (self._repository.root / file).read_text(encoding="utf-8", errors="replace")

    def digest(self, file: str) -> str:
        """The digest that locks hold of a file; "" where it is gone."""
        if file not in self._digests:
            path = self._repository.root / file
            self._digests[file] = source_digest(path.read_bytes()) if path.is_file() else ""
        return self._digests[file]

    @cached_property
    def base_locks(self) -> dict[str, list[Lock]]:
        """The locks of the commit by module."""
        if not self._commit:
            return {}
        found: dict[str, list[Lock]] = {}
        for path, data in self._repository.contents_at(self._commit, LOCKS).items():
            if module_of_lock(path):
                lock = read_lock(data.decode("utf-8", "replace"), path)
                found.setdefault(module_of_lock(path), []).append(lock)
        return found

    @cached_property
    def edited(self) -> set[str]:
        """The modules whose locks differ from those of the commit."""
        return {module_of_lock(path) for path in self.changed} - {""}
