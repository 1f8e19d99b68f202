"""Reads Python files: every place where they use an element of the contracts."""

from __future__ import annotations

import ast
import re
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Final

from protocontract_ci.model import Use
from protocontract_ci.usage.python.checker import Checker, Ty
from protocontract_ci.usage.python.constants import imported_constants
from protocontract_ci.usage.python.copies import Copy, find_copy
from protocontract_ci.usage.python.decide import Decider
from protocontract_ci.usage.python.infer import Inference
from protocontract_ci.usage.python.mocks import mock_uses
from protocontract_ci.usage.python.names import Modules, Names
from protocontract_ci.usage.python.overlay import Overlay, Source
from protocontract_ci.usage.python.shared import Shared, write_files
from protocontract_ci.usage.python.sites import Sites
from protocontract_ci.usage.python.stubs import write_stubs
from protocontract_ci.usage.python.together import Group, batches, found_above
from protocontract_ci.usage.vocabulary import Elements

#: A type travels one call or return each round.
_MOST_ROUNDS: Final = 6


@dataclass(frozen=True, slots=True)
class Unread:
    """A file that cannot be read, and why."""

    file: str
    reason: str


@dataclass
class PythonUses:
    """What was found in a folder: uses by file, generated modules among the files, and what could not be read.

    ``imports`` tells which of the generated copies a file imports, with the line.
    """

    uses: dict[str, list[Use]] = field(default_factory=dict)
    copies: list[Copy] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)
    imports: dict[str, list[tuple[str, int]]] = field(default_factory=dict)
    #: The parsed files and the names in them, for whoever looks further.
    sources: dict[str, Source] = field(default_factory=dict)
    names: dict[str, Names] = field(default_factory=dict)
    #: Files that import anything of the contracts.
    aware: set[str] = field(default_factory=set)


def read_together(readings: Sequence[Reading], checker: Checker | None = None) -> list[PythonUses]:
    """What files use, those of each reading by themselves, with as few runs of the type checker as may be.

    No file is in two readings. Raises CheckerError.
    """
    checker = checker or Ty()
    waiting: dict[int, list[Reading]] = {}
    for reading in readings:
        # Copies of generated modules make stubs of their own, which nobody else reads.
        waiting.setdefault(id(reading if reading.held else reading.shared), []).append(reading)
    for alike in waiting.values():
        with alike[0].generated() as generated:
            groups = {id(group): each for each in alike if each.relevant for group in (each.group,)}
            trial = found_above(checker, generated)
            for batch in batches([each.group for each in groups.values()], trial):
                _ask([groups[id(group)] for group in batch.groups], batch.roots, generated, checker)
    return [reading.uses() for reading in readings]


class Reading:
    """Files that are read together: what is in them, and what the type checker told of it."""

    def __init__(
        self,
        folder: Path,
        files: Iterable[str],
        shared: Shared,
        texts: Mapping[str, str],
        linked: Sequence[Collection[str]] = (),
        *,
        follow_imports: bool = False,
    ) -> None:
        """Read ``files``, which are paths below ``folder`` with slashes; nothing is asked yet.

        ``shared`` is what all readings of the same elements share. ``texts`` are further sources by path that no file
        holds as they are (of notebooks). Files in different ones of ``linked`` do not call each other.
        ``follow_imports``: constants of other files count, too (D10).
        """
        self.folder = folder
        self.shared = shared
        self.found = PythonUses()
        self.sources: dict[str, Source] = {}
        self.told: dict[ast.expr, str] = {}
        self._read(files, texts)
        elements = shared.elements
        copies = self.found.copies
        self.held = {str(PurePosixPath(copy.path).with_suffix("")): list(copy.names()) for copy in copies}
        self.stubs = write_stubs(elements, self.held) if self.held else shared.stubs
        modules = Modules.of(elements, self.held) if self.held else shared.modules()
        names = _names(self.sources, modules, elements)
        self.found.sources, self.found.names = self.sources, names
        self.found.aware = {path for path, each in names.items() if each.aware}
        self.sites = {path: Sites(source, names[path], elements) for path, source in self.sources.items()}
        for path, constants in (imported_constants(self.sources) if follow_imports else {}).items():
            self.sites[path].know(constants)
        for each in self.sites.values():
            each.collect()
        self.relevant = self._relevant()
        left = set(self.relevant).difference(*linked)
        self._inferences = [
            Inference({path: source for path, source in self.relevant.items() if path in held}, self.stubs)
            for held in (*linked, left)
        ]

    def _read(self, files: Iterable[str], texts: Mapping[str, str]) -> None:
        for path in sorted({*files, *texts}):
            try:
                text = texts[path] if path in texts else (self.folder / path).read_text(encoding="utf-8")
                source = Source.parse(path, text)
            except (SyntaxError, ValueError, RecursionError) as error:
                self.found.unread.append(Unread(path, _reason(error)))
                continue
            copy = find_copy(path, source.tree) if "AddSerializedFile" in text else None
            if copy is not None:
                self.found.copies.append(copy)
            else:
                self.sources[path] = source

    def _relevant(self) -> dict[str, Source]:
        """The files that know the contracts, that such a file imports, or that name them in texts."""
        aware = self.found.aware
        imported = _imported({path: self.sources[path] for path in aware})
        named = _texts_with(self.shared.elements.packages)
        return {
            path: source
            for path, source in self.sources.items()
            if path in aware or _name(path) in imported or (named is not None and named.search(source.text))
        }

    @cached_property
    def group(self) -> Group:
        """The files, for whoever puts them together with others."""
        roots = import_roots(self.sources, self.folder)
        return Group({path: source.text for path, source in self.sources.items()}, roots)

    @contextmanager
    def generated(self) -> Iterator[Path]:
        """The folder of the stubs."""
        if not self.held:
            yield self.shared.folder
            return
        with tempfile.TemporaryDirectory(prefix="protocontract-") as folder:
            write_files(Path(folder), self.stubs.files)
            yield Path(folder)

    def files(self) -> dict[str, str]:
        """What lies beside the stubs: the sources, and stubs of copies among them at their own places."""
        found = {path: source.text for path, source in self.sources.items()}
        folders = {str(parent) for path in self.sources for parent in PurePosixPath(path).parents} - {"."}
        stubs = self.stubs.files.items()
        return {**found, **{path: text for path, text in stubs if str(PurePosixPath(path).parent) in folders}}

    def overlays(self) -> Iterator[tuple[str, str, dict[tuple[int, int], ast.expr]]]:
        """The files to ask about as they are asked, by path, and which expression begins where."""
        for inference in self._inferences:
            for path, source in inference.files.items():
                overlay = Overlay(source)
                self.sites[path].ask(overlay)
                for call, module in self.sites[path].names.by_text.items():
                    alias = f"_contract_module_{module.replace('.', '_')}"
                    overlay.replace(call, alias, f"import {module} as {alias}")
                inference.prepare(overlay)
                yield (path, *overlay.render())

    def learn(self) -> bool:
        """Take what the checker told of parameters and results. Whether anything is new."""
        learned = [inference.learn(self.told) for inference in self._inferences]
        return any(learned)

    def uses(self) -> PythonUses:
        """What was found, once the checker has told the types."""
        found, copies = self.found, {name.replace("/", ".") for name in self.held}
        for path in sorted(self.relevant):
            names = found.names[path]
            decider = Decider(
                self.sites[path], names, self.shared.elements, self.stubs, self.told, aware=path in found.aware
            )
            found.uses[path] = [*decider.uses(), *mock_uses(self.sources[path], names, self.shared.elements)]
            found.imports[path] = [(each.module, each.node.lineno) for each in names.imports if each.module in copies]
        return found


def _names(sources: Mapping[str, Source], modules: Modules, elements: Elements) -> dict[str, Names]:
    """The names of all files. What one file imports from another one of them that has it from the contracts is found by
    reading again, until no file holds anything new.
    """
    generated = set(modules.held)
    names: dict[str, Names] = {}
    for _ in range(_MOST_ROUNDS):
        names = {path: Names(source.tree, modules, elements, _package(path)) for path, source in sources.items()}
        held = {
            dotted: each.table
            for path, each in names.items()
            if each.table
            for dotted in _module_names(path)
            if dotted not in generated
        }
        if all(modules.held.get(dotted) == table for dotted, table in held.items()):
            break
        modules.held.update(held)
    return names


def _texts_with(packages: Iterable[str]) -> re.Pattern[str] | None:
    """What finds a full name that begins with one of the packages: a file may need nothing but a text."""
    words = "|".join(sorted(map(re.escape, packages)))
    return re.compile(rf"(?<![\w.])(?:{words})\.[A-Za-z_]") if words else None


def _module_names(path: str) -> list[str]:
    """What a file may be imported as: its path from any folder above it."""
    parts = list(PurePosixPath(path).with_suffix("").parts)
    if parts[-1] == "__init__":
        parts.pop()
    return [".".join(parts[at:]) for at in range(len(parts))]


def _reason(error: Exception) -> str:
    if isinstance(error, SyntaxError) and error.lineno is not None:
        return f"line {error.lineno}: {error.msg}"
    return f"not readable ({type(error).__name__})"


def _package(path: str) -> str:
    return ".".join(PurePosixPath(path).parts[:-1])


def _name(path: str) -> str:
    """What a file is called where it is imported."""
    stem = PurePosixPath(path).stem
    return PurePosixPath(path).parent.name if stem == "__init__" else stem


def _imported(sources: Mapping[str, Source]) -> set[str]:
    """The last parts of what files import: files that know the contracts may call functions of these."""
    found: set[str] = set()
    for source in sources.values():
        for node in source.nodes:
            if isinstance(node, ast.ImportFrom):
                found.add((node.module or "").rpartition(".")[2])
                found.update(alias.name for alias in node.names)
            elif isinstance(node, ast.Import):
                found.update(alias.name.rpartition(".")[2] for alias in node.names)
    return found


def _ask(readings: Sequence[Reading], roots: Sequence[str], generated: Path, checker: Checker) -> None:
    """Tell readings the types of what decides their sites, after as many rounds as it takes each of them to learn of
    parameters and results.
    """
    with tempfile.TemporaryDirectory(prefix="protocontract-") as temporary:
        root = Path(temporary, "modules")
        for reading in readings:
            write_files(root, reading.files())
        search = [generated, *(root / each for each in roots)]
        learning = list(readings)
        for _ in range(_MOST_ROUNDS):
            places: dict[tuple[str, int, int], tuple[Reading, ast.expr]] = {}
            for reading in learning:
                reading.told = {}
                for path, text, where in reading.overlays():
                    Path(root, path).write_text(text, encoding="utf-8")
                    places.update({(path, line, column): (reading, node) for (line, column), node in where.items()})
            asked = sorted(path for reading in learning for path in reading.relevant)
            for place, text in checker.reveal(root, search, asked).items():
                if place in places:
                    reading, node = places[place]
                    reading.told[node] = text
            learning = [reading for reading in learning if reading.learn()]
            if not learning:
                break


def import_roots(paths: Iterable[str], top: Path | None = None) -> list[str]:
    """Folders from which imports start: those with files that are in no package, the outermost first.

    ``top`` is the folder that the paths are below: what makes a folder a package may be a file of somebody else there.
    """
    files = [PurePosixPath(path) for path in paths]
    folders = {path.parent for path in files}
    packages = {path.parent for path in files if path.name == "__init__.py"}
    if top is not None:
        around = {parent for folder in folders for parent in (folder, *folder.parents)} - {PurePosixPath(".")}
        packages |= {each for each in around if (top / each / "__init__.py").is_file()}
    roots = {folder for folder in folders if folder not in packages}
    roots |= {package.parent for package in packages if package.parent not in packages}
    return [str(folder) for folder in sorted(roots, key=lambda each: (len(each.parts), str(each)))]
