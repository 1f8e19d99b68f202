"""What one run of the type checker can read: groups of files in which no name means two things.

Services often call their packages alike (``app``), and each means its own. A checker that looks for what it finds
nowhere else in the folders above the importing file reads them together all the same: a folder with such a package is
then no search path. Whether the checker at hand does that is tried out, name by name, before it is relied on; where it
does not, groups that would disturb each other are read one after the other.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Final, TypeAlias

from protocontract_ci.usage.python.checker import Checker
from protocontract_ci.usage.python.shared import write_files

_IMPORT: Final = re.compile(
    r"^[ \t]*(?:from[ \t]+([A-Za-z_]\w*)|import[ \t]+([A-Za-z_][\w.]*(?:[ \t]*,[ \t]*[\w.]+)*))", re.M
)
_TOP: Final = "."
#: The folders of the trial, with the class that a module of each name holds there.
_TRIED: Final = {"one": "One", "other": "Other"}

#: Which of some names a checker finds above the importing file, each file its own.
Trial: TypeAlias = Callable[[Iterable[str]], Collection[str]]


@dataclass(frozen=True)
class Group:
    """Files that may import each other: texts by path, and the folders (``roots``) where their imports start."""

    texts: Mapping[str, str]
    roots: Sequence[str]

    @cached_property
    def imported(self) -> dict[str, list[PurePosixPath]]:
        """The first names of all absolute imports, with the files that have them."""
        found: dict[str, list[PurePosixPath]] = {}
        for file, text in self.texts.items():
            for name in imports(text):
                found.setdefault(name, []).append(PurePosixPath(file))
        return found

    @cached_property
    def borrowed(self) -> set[str]:
        """What is imported and is below no root."""
        return {name for name in self.imported if not any(name in held for held in self.provided.values())}

    @cached_property
    def provided(self) -> dict[str, set[str]]:
        """The names below each root. What lies at the top is always found from there."""
        found: dict[str, set[str]] = {root: set() for root in (_TOP, *self.roots)}
        for file in self.texts:
            path = PurePosixPath(file)
            for root in (_TOP, *(str(parent) for parent in path.parents)):
                if root in found:
                    found[root].add(path.relative_to(root).parts[0].removesuffix(".py"))
        return found

    def is_own(self, root: str, name: str) -> bool:
        """Whether a name below a root is found from every file that imports it by looking above the file."""
        alone = all(name not in names for other, names in self.provided.items() if other != root)
        return alone and all(file.is_relative_to(root) for file in self.imported.get(name, ()))


@dataclass
class Batch:
    """Groups that are read in one run. ``roots`` are where imports start, below the folder that all files are in."""

    groups: list[Group] = field(default_factory=list)
    roots: list[str] = field(default_factory=list)
    #: The names that a search path has, with the roots that they are below.
    _found: dict[str, set[str]] = field(default_factory=dict)
    _imported: set[str] = field(default_factory=set)
    #: The names that are found above the importing file alone, and those that nobody who imports them has.
    _above: set[str] = field(default_factory=set)
    _borrowed: set[str] = field(default_factory=set)

    def disturbs(self, group: Group, roots: Collection[str]) -> bool:
        """Whether a name would mean something else to anybody if a group came in, with these of its roots."""
        found = _found(group, roots)
        if self._above & group.borrowed or self._borrowed & _above(group, roots):
            return True
        return any(found.get(name, set()) - self._found.get(name, set()) for name in self._imported) or any(
            self._found.get(name, set()) - found.get(name, set()) for name in group.imported
        )

    def add(self, group: Group, roots: Sequence[str]) -> None:
        """Takes a group in."""
        self.groups.append(group)
        self.roots += [root for root in roots if root not in self.roots]
        for name, own in _found(group, roots).items():
            self._found.setdefault(name, set()).update(own)
        self._imported.update(group.imported)
        self._above |= _above(group, roots)
        self._borrowed |= group.borrowed

    @property
    def texts(self) -> dict[str, str]:
        """The texts of all files by path."""
        return {path: text for group in self.groups for path, text in group.texts.items()}


def batches(groups: Sequence[Group], trial: Trial) -> list[Batch]:
    """The runs that read all groups, as few as may be."""
    crowded = _crowded(groups)
    wanted = {name for group in groups for root in group.roots for name in _wanted(group, root, crowded)}
    works: Collection[str] = trial(sorted(wanted)) if wanted else ()
    made: list[Batch] = []
    for group in groups:
        roots = []
        for root in group.roots:
            names = _wanted(group, root, crowded)
            if not names or not all(name in works and group.is_own(root, name) for name in names):
                roots.append(root)
        batch = next((each for each in made if not each.disturbs(group, roots)), None)
        if batch is None:
            batch = Batch()
            made.append(batch)
        batch.add(group, roots)
    return made


def found_above(checker: Checker, generated: Path) -> Trial:
    """The trial of a checker: two folders hold modules of the same names, and a file in each imports them.

    ``generated`` is the search path of the stubs. Raises CheckerError.
    """

    def trial(names: Iterable[str]) -> Collection[str]:
        names = list(names)
        lines = (f"import {name}\nreveal_type({name}.Here)" for name in names)
        asking = "\n".join(lines) + "\n"
        files = {f"{folder}/inside/asking.py": asking for folder in _TRIED}
        for folder, held in _TRIED.items():
            files.update({f"{folder}/{name}/__init__.py": f"class {held}: ...\nHere = {held}\n" for name in names})
        with tempfile.TemporaryDirectory(prefix="protocontract-") as temporary:
            write_files(Path(temporary), files)
            asked = [f"{folder}/inside/asking.py" for folder in _TRIED]
            told = checker.reveal(Path(temporary), [generated], asked)
        column = len("reveal_type(") + 1
        return {
            name
            for number, name in enumerate(names)
            if all(
                told.get((f"{folder}/inside/asking.py", 2 * number + 2, column)) == f"<class '{held}'>"
                for folder, held in _TRIED.items()
            )
        }

    return trial


def imports(text: str) -> set[str]:
    """The first names of all absolute imports."""
    found: set[str] = set()
    for match in _IMPORT.finditer(text):
        if match[1]:
            found.add(match[1])
        else:
            found |= {each.strip().split(".")[0] for each in match[2].split(",")}
    return found


def _crowded(groups: Iterable[Group]) -> set[str]:
    """The names that are below roots of several groups, and that one of these imports."""
    holders: dict[str, int] = {}
    wanted: set[str] = set()
    for group in groups:
        names = {name for root, held in group.provided.items() if root != _TOP for name in held}
        wanted |= names & set(group.imported)
        for name in names:
            holders[name] = holders.get(name, 0) + 1
    return {name for name in wanted if holders[name] > 1}


def _wanted(group: Group, root: str, crowded: Collection[str]) -> set[str]:
    """What a group imports from below a root, where that is in the way of others as a search path."""
    names = group.provided[root] & set(group.imported)
    return set() if root == _TOP or names.isdisjoint(crowded) else names


def _found(group: Group, roots: Iterable[str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for root in (_TOP, *roots):
        for name in group.provided[root]:
            found.setdefault(name, set()).add(root)
    return found


def _above(group: Group, roots: Collection[str]) -> set[str]:
    return {name for root, held in group.provided.items() if root not in (_TOP, *roots) for name in held}
