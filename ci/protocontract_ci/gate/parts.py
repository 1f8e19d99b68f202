"""Puts modules together that one run of the type checker can read: no two of them mean different things by one name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from protocontract_ci.model import Change
from protocontract_ci.modules import Modules
from protocontract_ci.usage.python.reader import import_roots
from protocontract_ci.usage.python.together import imports
from protocontract_ci.usage.sql import SUFFIX, Word
from protocontract_ci.verdicts.declared import reaches_unread


@dataclass
class Part:
    """Modules that are read together, by name, and all of their files."""

    modules: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    #: The files of modules that import from each other, directly or through others.
    linked: list[frozenset[str]] = field(default_factory=list)
    _provided: set[str] = field(default_factory=set)
    _imported: set[str] = field(default_factory=set)

    def clashes(self, provided: set[str], imported: set[str]) -> bool:
        """Whether a name that anybody imports would be provided twice."""
        return bool(self._provided & provided & (self._imported | imported))

    def add(self, modules: Iterable[str], files: Iterable[str], provided: set[str], imported: set[str]) -> None:
        """Takes modules in."""
        self.modules += modules
        self.files += files
        self._provided |= provided
        self._imported |= imported


def parts(files: Mapping[str, Sequence[str]], texts: Mapping[str, str], wanted: Iterable[str], top: Path) -> list[Part]:
    """The parts for the ``wanted`` modules, with the modules that they import from. ``files`` are those of all modules.

    ``texts`` are the Python files by path, below ``top``.
    """
    provided = {name: _provided(held, top) for name, held in files.items()}
    imported = {name: {each for file in held for each in imports(texts.get(file, ""))} for name, held in files.items()}
    by_name: dict[str, list[str]] = {}
    for module, names in provided.items():
        for name in names:
            by_name.setdefault(name, []).append(module)
    found: list[Part] = []
    done: set[str] = set()
    for module in wanted:
        if module in done:
            continue
        together = _closure(module, provided, imported, by_name) - done
        done |= together
        own = sorted(together)
        names = set().union(*(provided[each] for each in own))
        asked = set().union(*(imported[each] for each in own))
        part = next((each for each in found if not each.clashes(names, asked)), None)
        if part is None:
            part = Part()
            found.append(part)
        part.add(own, (file for each in own for file in files[each]), names, asked)
    for part in found:
        part.linked = _linked(part.modules, files, provided, imported)
    return found


def _linked(
    modules: Iterable[str],
    files: Mapping[str, Sequence[str]],
    provided: Mapping[str, set[str]],
    imported: Mapping[str, set[str]],
) -> list[frozenset[str]]:
    """The files of modules that import from each other, as far as the first names of imports say it."""
    # From the top of the repository, a file is found by its whole path.
    names = {each: provided[each] | {file.partition("/")[0] for file in files[each]} for each in modules}
    meeting: dict[str, set[str]] = {}
    for module in names:
        for name in imported[module] | names[module]:
            meeting.setdefault(name, set()).add(module)
    # Who imports a name meets those who provide it; nobody meets over a name that only others import, or none.
    links: dict[str, set[str]] = {module: set() for module in names}
    for name, met in meeting.items():
        providers = {module for module in met if name in names[module]}
        importers = {module for module in met if name in imported[module]}
        for importer in importers if providers else ():
            links[importer] |= providers
            for each in providers:
                links[each].add(importer)
    found = []
    left = dict.fromkeys(names)
    while left:
        waiting, together = [next(iter(left))], set()
        while waiting:
            module = waiting.pop()
            if module in left:
                del left[module]
                together.add(module)
                waiting += links[module]
        found.append(frozenset(file for module in together for file in files[module]))
    return found


def words_of(declared: Modules, files: Iterable[str], changes: Sequence[Change]) -> dict[str, Word]:
    """What modules.toml says of SQL files: which contracts they are of, and whether they must be read (D16)."""
    found = {}
    for file in files:
        module = declared.module_of(file) if file.endswith(SUFFIX) else None
        if module is not None:
            touched = any(reaches_unread(change) and module.may_use(change.path) for change in changes)
            required = "sql" in module.languages and not module.uses and touched
            found[file] = Word(module.name, module.contracts, required)
    return found


def _provided(files: Sequence[str], top: Path) -> set[str]:
    """The names that a module's files can be imported by, below the folders where imports start."""
    python = [file for file in files if file.endswith(".py")]
    roots = [PurePosixPath(root) for root in import_roots(python, top)]
    names = set()
    for file in python:
        path = PurePosixPath(file)
        for root in roots:
            if path.is_relative_to(root):
                names.add(path.relative_to(root).parts[0].removesuffix(".py"))
    return names


def _closure(
    module: str, provided: Mapping[str, set[str]], imported: Mapping[str, set[str]], by_name: Mapping[str, list[str]]
) -> set[str]:
    """A module with those that it imports from, and those that they do."""
    found = {module}
    waiting = [module]
    while waiting:
        each = waiting.pop()
        for name in imported[each] - provided[each]:
            for other in by_name.get(name, ()):
                # A name that many modules have at their top is nobody's in particular.
                if other not in found and len(by_name[name]) == 1:
                    found.add(other)
                    waiting.append(other)
    return found
