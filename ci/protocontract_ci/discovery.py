"""Finds who uses the contracts without being asked: users outside all modules, and a first modules.toml.

A user is a file that imports generated modules. Owners come from CODEOWNERS (where GitHub looks for it, last match
wins); modules from folders that are projects of their own, else from the folders at the top.
"""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Final

from protocontract_ci.modules import READ_LANGUAGES, Module, Modules
from protocontract_ci.usage import notebooks
from protocontract_ci.usage.python.copies import find_copy
from protocontract_ci.usage.python.names import Modules as GeneratedModules
from protocontract_ci.usage.python.names import Names
from protocontract_ci.usage.unread import LANGUAGES
from protocontract_ci.usage.vocabulary import Elements
from protocontract_compiler.generated_names import contract_file_of, module_of

_CODEOWNERS: Final = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")
#: What makes a folder a project of its own.
_MARKERS: Final = frozenset(
    {
        "pyproject.toml", "setup.py", "setup.cfg", "package.json", "Dockerfile", "go.mod", "Cargo.toml", "pom.xml",
        "build.gradle", "build.gradle.kts", "dbt_project.yml",
    }
)  # fmt: skip
#: Languages in which a user is found by the names in its text; scripts name files that they compile.
_UNREAD: Final[Mapping[str, str]] = {
    **{suffix: language for suffix, language in LANGUAGES.items() if language != "shell"}, ".sql": "sql",
}  # fmt: skip
_LARGEST: Final = 2_000_000
_TYPESCRIPT_IMPORT: Final = re.compile(r"""(?:from|import|require)\s*\(?\s*["']([^"']+)["']""")


@dataclass(frozen=True, slots=True)
class User:
    """A file that uses the contracts: the line of its first import of them, and the generated modules that it names."""

    file: str
    line: int
    language: str
    imports: tuple[str, ...]


def is_source(path: str) -> bool:
    """Whether a file is source that a module may consist of and the gate reads."""
    ends = tuple(end for ends in READ_LANGUAGES.values() for end in ends)
    return path.endswith(ends) and not path.endswith((".d.ts", ".d.mts", ".d.cts"))


def find_users(root: Path, files: Iterable[str], elements: Elements) -> list[User]:
    """The users among ``files``, which are paths below ``root``. Generated modules are no users."""
    finder = _Finder(elements)
    found = []
    for file in files:
        suffix = PurePosixPath(file).suffix
        if not is_source(file) and suffix not in _UNREAD:
            continue
        path = root / file
        try:
            if path.stat().st_size > _LARGEST:
                continue
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            # What cannot be opened as text is no source.
            continue
        user = finder.user(file, suffix, text)
        if user is not None:
            found.append(user)
    return found


def mentions(elements: Elements) -> re.Pattern[str] | None:
    """What every Python or TypeScript file that imports a generated module has in its text; None for no module."""
    return _Finder(elements).mention


class _Finder:
    def __init__(self, elements: Elements) -> None:
        self._elements = elements
        self._modules = GeneratedModules.of(elements, {})
        own = [name for name in elements.files if not name.startswith(("google/", "buf/", "protocontract/"))]
        self._stems = {module_of(name).rpartition(".")[2] for name in own}
        self._stems |= {PurePosixPath(contract_file_of(name)).stem for name in own}
        # protobuf-es has order_pb, where protoc has order_pb2.
        parts = sorted({stem.removesuffix("2") if stem.endswith("_pb2") else stem for stem in self._stems})
        self.mention = re.compile("|".join(map(re.escape, parts))) if own else None
        messages = [n for n in (*elements.messages, *elements.services) if not n.startswith(("google.", "buf."))]
        self._names = re.compile("|".join(re.escape(n) for n in sorted(messages, reverse=True))) if messages else None
        files = [re.escape(name.removesuffix(".proto")) for name in own]
        packages = [re.escape(f.package) for n, f in elements.files.items() if n in own and "." in f.package]
        #: What generated code of other languages is imported by: ``shop/v1``, ``shop.v1``, ``order.pb.h``.
        self._elsewhere = re.compile(rf"(?<![\w.])(?:{'|'.join(dict.fromkeys([*files, *packages]))})") if own else None

    def user(self, file: str, suffix: str, text: str) -> User | None:
        """The file as a user; None where it is none."""
        if self.mention is None:
            return None
        if suffix == notebooks.SUFFIX:
            return self._notebook(file, text)
        if suffix == ".py":
            return self._python(file, text) if self.mention.search(text) else None
        if suffix in READ_LANGUAGES["typescript"]:
            return self._typescript(file, text) if self.mention.search(text) else None
        return self._other(file, suffix, text)

    def _python(self, file: str, text: str) -> User | None:
        if file.endswith(("_pb2.py", "_pb2_grpc.py")):
            return None
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError):
            return None
        if find_copy(file, tree) is not None or (file.endswith("_contract.py") and "Do not edit" in text[:400]):
            return None
        names = Names(tree, self._modules, self._elements, ".".join(PurePosixPath(file).parts[:-1]))
        own = [each for each in names.imports if each.module.rpartition(".")[2].removesuffix("_grpc") in self._stems]
        if own:
            first = min(each.node.lineno for each in own)
            return User(file, first, "python", tuple(dict.fromkeys(each.module for each in own)))
        contracts = [
            (node.lineno, node.module)
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and (node.module or "").rpartition(".")[2] in self._stems
        ]
        return User(file, contracts[0][0], "python", tuple(str(name) for _, name in contracts)) if contracts else None

    def _notebook(self, file: str, text: str) -> User | None:
        if not self.mention or not self.mention.search(text):
            return None
        try:
            notebook = notebooks.read_notebook(text)
        except notebooks.NotebookError:
            return None
        user = self._python(file, notebook.text)
        return None if user is None else replace(user, line=notebook.line(user.line))

    def _typescript(self, file: str, text: str) -> User | None:
        ours = file.endswith("_contract.ts") and "Do not edit" in text[:400]
        if ours or re.search(r"_pb\.m?ts$", file) or "@generated by protoc-gen" in text[:400]:
            return None
        stems = {stem.removesuffix("2") for stem in self._stems}
        found = [
            (text.count("\n", 0, match.start()) + 1, match[1])
            for match in _TYPESCRIPT_IMPORT.finditer(text)
            if re.sub(r"\.[mc]?[jt]s$", "", match[1].rpartition("/")[2]) in stems
        ]
        return User(file, found[0][0], "typescript", tuple(name for _, name in found)) if found else None

    def _other(self, file: str, suffix: str, text: str) -> User | None:
        if (
            ".pb." in file
            or "Code generated by protoc" in text[:400]
            or "Generated by the protocol buffer" in text[:400]
        ):
            return None
        pattern = self._names if suffix == ".sql" else self._elsewhere
        match = pattern.search(text) if pattern is not None else None
        if match is None:
            return None
        return User(file, text.count("\n", 0, match.start()) + 1, _UNREAD[suffix], (match[0],))


def undeclared(users: Iterable[User], modules: Modules) -> list[User]:
    """The users that no module holds."""
    return [user for user in users if modules.module_of(user.file) is None]


# ----------------------------------------------------------------------------------------------------------------------
# CODEOWNERS


@dataclass(frozen=True)
class Owners:
    """The rules of a CODEOWNERS file, in its order."""

    rules: Sequence[tuple[re.Pattern[str], tuple[str, ...]]] = ()

    def of(self, path: str) -> tuple[str, ...]:
        """The owners of a file: the last rule that fits decides, and may say that nobody is."""
        found: tuple[str, ...] = ()
        for pattern, owners in self.rules:
            if pattern.fullmatch(path):
                found = owners
        return found

    def of_most(self, paths: Iterable[str]) -> str:
        """The owners of most of the files, "" where they have none."""
        counted = Counter(" ".join(self.of(path)) for path in paths)
        return counted.most_common(1)[0][0] if counted else ""


def read_owners(root: Path) -> Owners:
    """CODEOWNERS of a repository, from the first place that GitHub looks at."""
    for place in _CODEOWNERS:
        path = root / place
        if path.is_file():
            return parse_owners(path.read_text(encoding="utf-8", errors="replace"))
    return Owners()


def parse_owners(text: str) -> Owners:
    """The rules of a CODEOWNERS file."""
    rules = []
    for line in text.splitlines():
        words = re.split(r"\s+", re.sub(r"(?:^|\s)#.*", "", line).strip())
        # GitLab's sections begin with a bracket.
        if words[0] and not words[0].startswith(("[", "^[", "!")):
            rules.append((_owner_pattern(words[0]), tuple(words[1:])))
    return Owners(rules)


def _owner_pattern(pattern: str) -> re.Pattern[str]:
    """As .gitignore reads it: anchored where it has a slash before its end; a folder stands for what is in it."""
    inner = pattern.strip("/")
    anchored = pattern.startswith("/") or "/" in inner
    parts = re.split(r"(\*\*/|/\*\*|\*\*|\*|\?)", inner)
    meanings = {"**/": "(?:.*/)?", "/**": "/.*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    body = "".join(meanings.get(part, re.escape(part)) for part in parts)
    end = "/.*" if pattern.endswith("/") else "" if pattern.endswith("/*") else "(?:/.*)?"
    return re.compile(("" if anchored else "(?:.*/)?") + body + end)


# ----------------------------------------------------------------------------------------------------------------------
# A first modules.toml


def propose(files: Sequence[str], users: Sequence[User], owners: Owners) -> list[Module]:
    """A module for each folder that users are in: the nearest that is a project of its own, else the one at the top."""
    projects = {str(PurePosixPath(file).parent) for file in files if PurePosixPath(file).name in _MARKERS} - {"."}
    folders: dict[str, list[User]] = {}
    for user in users:
        folders.setdefault(_folder(user.file, projects), []).append(user)
    names = _names(list(folders))
    found = []
    for folder, held in sorted(folders.items()):
        inside = [file for file in files if file == folder or file.startswith(f"{folder}/")]
        languages = tuple(dict.fromkeys(user.language for user in held))
        path = folder if folder in files else f"{folder}/**"
        found.append(Module(names[folder], 0, owners.of_most(inside), (path,), languages=languages))
    return found


def _folder(file: str, projects: set[str]) -> str:
    parents = [str(parent) for parent in PurePosixPath(file).parents][:-1]
    # A file at the very top is a module by itself.
    return next((parent for parent in parents if parent in projects), parents[-1] if parents else file)


def _names(folders: Sequence[str]) -> dict[str, str]:
    """Short names: the last part of the path; all parts where two folders end alike."""
    counted = Counter(PurePosixPath(folder).stem for folder in folders)
    return {
        folder: _name(PurePosixPath(folder).stem if counted[PurePosixPath(folder).stem] == 1 else folder)
        for folder in folders
    }


def _name(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-.")[:64] or "module"


def modules_text(contracts: str, modules: Iterable[Module], roles: Mapping[str, str], mode: str = "new") -> str:
    """modules.toml for these modules."""
    lines = [
        "# The modules that use the contracts: `protocontract gate` judges each of them.",
        "# docs/gate-modules.md of protocontract lists all keys.",
        "",
        "[gate]",
        f"contracts = {json.dumps(contracts)}",
        "# report: never red; new: red for what was not open before; all: red for everything, undeclared users too",
        f"mode = {json.dumps(mode)}",
    ]
    for module in modules:
        lines += ["", "[[module]]", f"name = {json.dumps(module.name)}"]
        lines += [f"owner = {json.dumps(module.owner)}"] if module.owner else []
        lines += [f"paths = {json.dumps(list(module.paths))}"]
        lines += [f"languages = {json.dumps(list(module.languages))}"] if module.languages else []
        role = roles.get(module.name, "unknown")
        lines += [f"role = {json.dumps(role)}"] if role != "unknown" else []
        if module.unread:
            lines.append(f"# {', '.join(module.unread)} is not read: name what it uses, as shop.v1.Order.total")
            lines.append("uses = []")
    return "\n".join(lines) + "\n"
