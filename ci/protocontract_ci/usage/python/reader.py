"""Reads Python files: every place where they use an element of the contracts."""

from __future__ import annotations

import ast
import re
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
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
from protocontract_ci.usage.python.stubs import Stubs, write_stubs
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


def read_python(
    folder: Path,
    files: Iterable[str],
    elements: Elements,
    checker: Checker | None = None,
    shared: Shared | None = None,
    texts: Mapping[str, str] | None = None,
    *,
    follow_imports: bool = False,
) -> PythonUses:
    """All uses in ``files``, which are paths below ``folder`` with slashes.

    ``texts`` are further sources by path that no file holds as they are (of notebooks). ``shared`` is what other
    readings of the same elements have made already. ``follow_imports``: constants of other files count, too (D10).
    Raises CheckerError where the type checker is missing or fails.
    """
    found = PythonUses()
    sources: dict[str, Source] = {}
    texts = texts or {}
    for path in sorted({*files, *texts}):
        try:
            text = texts[path] if path in texts else (folder / path).read_text(encoding="utf-8")
            source = Source.parse(path, text)
        except (SyntaxError, ValueError, RecursionError) as error:
            found.unread.append(Unread(path, _reason(error)))
            continue
        copy = find_copy(path, source.tree)
        if copy is not None:
            found.copies.append(copy)
        else:
            sources[path] = source
    held = {str(PurePosixPath(copy.path).with_suffix("")): list(copy.names()) for copy in found.copies}
    # Copies of generated modules among the files make stubs of their own.
    shared = shared if shared is not None and not held else None
    modules = shared.modules() if shared is not None else Modules.of(elements, held)
    names = _names(sources, modules, elements)
    found.sources, found.names = sources, names
    found.aware = {path for path, each in names.items() if each.aware}
    sites = {path: Sites(source, names[path], elements) for path, source in sources.items()}
    for path, constants in (imported_constants(sources) if follow_imports else {}).items():
        sites[path].know(constants)
    for each in sites.values():
        each.collect()
    imported = _imported({path: sources[path] for path in found.aware})
    named = _texts_with(elements.packages)
    relevant = {
        path
        for path, source in sources.items()
        if path in found.aware or _name(path) in imported or (named is not None and named.search(source.text))
    }
    stubs = shared.stubs if shared is not None else write_stubs(elements, held)
    told = _ask(
        folder, {path: source for path, source in sources.items() if path in relevant}, sites, sources, stubs,
        checker or Ty(), shared,
    )  # fmt: skip
    for path in sorted(relevant):
        decider = Decider(sites[path], names[path], elements, stubs, told, aware=path in found.aware)
        found.uses[path] = [*decider.uses(), *mock_uses(sources[path], names[path], elements)]
        found.imports[path] = [
            (imported.module, imported.node.lineno)
            for imported in names[path].imports
            if imported.module in {name.replace("/", ".") for name in held}
        ]
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
        for node in ast.walk(source.tree):
            if isinstance(node, ast.ImportFrom):
                found.add((node.module or "").rpartition(".")[2])
                found.update(alias.name for alias in node.names)
            elif isinstance(node, ast.Import):
                found.update(alias.name.rpartition(".")[2] for alias in node.names)
    return found


def _ask(
    folder: Path,
    relevant: Mapping[str, Source],
    sites: Mapping[str, Sites],
    sources: Mapping[str, Source],
    stubs: Stubs,
    checker: Checker,
    shared: Shared | None,
) -> dict[ast.expr, str]:
    """The types of what decides the sites, after as many rounds as it takes to learn of parameters and results."""
    told: dict[ast.expr, str] = {}
    if not relevant:
        return told
    inference = Inference(relevant, stubs)
    with tempfile.TemporaryDirectory(prefix="protocontract-") as temporary:
        root = Path(temporary, "modules")
        generated = shared.folder if shared is not None else Path(temporary, "generated")
        if shared is None:
            write_files(generated, stubs.files)
        write_files(root, {path: source.text for path, source in sources.items()})
        # Copies among the files stand at their own places.
        folders = {str(parent) for path in sources for parent in PurePosixPath(path).parents} - {"."}
        write_files(
            root, {path: text for path, text in stubs.files.items() if str(PurePosixPath(path).parent) in folders}
        )
        roots = [generated, *(root / each for each in import_roots(sources, folder))]
        for _ in range(_MOST_ROUNDS):
            told = {}
            places: dict[tuple[str, int, int], ast.expr] = {}
            for path, source in relevant.items():
                overlay = Overlay(source)
                sites[path].ask(overlay)
                for call, module in sites[path].names.by_text.items():
                    alias = f"_contract_module_{module.replace('.', '_')}"
                    overlay.replace(call, alias, f"import {module} as {alias}")
                inference.prepare(overlay)
                text, where = overlay.render()
                Path(root, path).write_text(text, encoding="utf-8")
                places.update({(path, line, column): node for (line, column), node in where.items()})
            for place, text in checker.reveal(root, roots, sorted(relevant)).items():
                node = places.get(place)
                if node is not None:
                    told[node] = text
            if not inference.learn(told):
                break
    return told


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
