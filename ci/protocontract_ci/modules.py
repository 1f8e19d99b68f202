"""``contracts/modules.toml``: which modules there are, who answers for them, and how strictly each is judged.

All mistakes of a file are told at once, each with its line. docs/gate.md lists the keys.
"""

from __future__ import annotations

import datetime
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, cast, get_args

from protocontract.violations import ContractError
from protocontract_ci.model import Role

Mode: TypeAlias = Literal["report", "new", "all"]
"""``report``: shown, never red; ``new``: red for what was not open before; ``all``: red for everything."""

MODULES_FILE: Final = "contracts/modules.toml"
#: The longest that an acknowledgement may hold.
MOST_DAYS: Final = 180
#: The languages that the gate reads by itself; of others a module declares its uses.
READ_LANGUAGES: Final[Mapping[str, tuple[str, ...]]] = {
    "python": (".py", ".ipynb"),
    "typescript": (".ts", ".tsx", ".mts", ".cts"),
    "sql": (".sql",),
}
#: The generators whose style the readers know.
READ_GENERATORS: Final = ("protoc", "protobuf-es")
#: What a team may say of each open question (docs/gate-modules.md), the default first. A notice makes no module red.
DECISIONS: Final[Mapping[str, tuple[str, ...]]] = {
    **{f"D{number}": ("fail", "notice") for number in range(1, 18)},
    "D8": ("ignore", "notice", "fail"),
    "D10": ("file", "imports"),
    "D17": ("notice", "fail"),
}

_ROLES: Final = ("reader", "writer", "both")
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_HEADER: Final = re.compile(r"\s*(\[\[?)\s*([^\]]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY: Final = re.compile(r"\s*([A-Za-z0-9_-]+)\s*=")
_GATE_KEYS: Final = frozenset({"contracts", "proto_path", "against", "mode", "ignore", "release_tags"})
_MODULE_KEYS: Final = frozenset(
    {
        "name", "owner", "paths", "role", "languages", "contracts", "environment", "generator", "stored_data", "mode",
        "required", "uses", "entry_points", "acknowledge", "package", "pin",
    }
)  # fmt: skip
#: What tags of releases of the contracts are called, where nothing is said.
_RELEASE_TAGS: Final = ("{package}-v{version}", "{package}@{version}", "v{version}")
_ACK_KEYS: Final = ("path", "change", "reason", "until")


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """A module's word in modules.toml that it knows of one change, until a day. ``line`` is its line there."""

    path: str
    change: str
    reason: str
    until: datetime.date
    line: int

    @property
    def key(self) -> str:
        """What it is bound to, as ``acknowledgements.Acknowledgement.key``."""
        return f"{self.path} {self.change}"


@dataclass(frozen=True, slots=True)
class Module:
    """A module as it is declared. ``line`` is where in the file.

    ``paths`` are globs below the repository (``**`` crosses folders; a folder stands for all that is in it). ``role``
    is "unknown" where the module leaves it to its code. ``contracts`` are the packages, messages or files that it may
    use; empty for any. ``uses`` are paths of elements that it uses in ways that the gate cannot read. ``entry_points``
    (``package.module:function``) are functions that the gate may run, whatever their file imports. ``required``:
    whether a module that cannot be judged makes the gate fail (exit code 2). ``package`` is the package that it gets
    the contracts in, ``pin`` the lock file with its version.
    """

    name: str
    line: int
    owner: str = ""
    paths: tuple[str, ...] = ()
    role: Role = "unknown"
    languages: tuple[str, ...] = ()
    contracts: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()
    generator: str = ""
    stored_data: bool = False
    mode: Mode = "new"
    required: bool = True
    uses: tuple[str, ...] = ()
    entry_points: tuple[str, ...] = ()
    acknowledged: tuple[Acknowledged, ...] = ()
    package: str = ""
    pin: str = ""

    @property
    def unread(self) -> tuple[str, ...]:
        """The declared languages that the gate cannot read."""
        return tuple(language for language in self.languages if language not in READ_LANGUAGES)

    def may_use(self, path: str) -> bool:
        """Whether the element is within the declared ``contracts``."""
        return not self.contracts or any(
            path == each or path.startswith((f"{each}.", f"{each}/")) for each in self.contracts
        )


@dataclass(frozen=True)
class Modules:
    """What modules.toml says. ``file`` is its path below the repository; "" where there is none.

    ``ignore`` are globs of files that belong to no module and are no users of the contracts, whatever is in them.
    ``release_tags`` are what tags of releases of a contract package are called, ``releases`` commits by version.
    """

    modules: tuple[Module, ...] = ()
    contracts: str = "contracts"
    proto_path: tuple[str, ...] = ()
    against: str = ""
    mode: Mode = "new"
    decisions: Mapping[str, str] = field(default_factory=dict)
    file: str = ""
    ignore: tuple[str, ...] = ()
    release_tags: tuple[str, ...] = _RELEASE_TAGS
    releases: Mapping[str, str] = field(default_factory=dict)

    def decision(self, key: str) -> str:
        """What is said of an open question, or its default."""
        return self.decisions.get(key, DECISIONS[key][0])

    def named(self, name: str) -> Module | None:
        """The module of that name."""
        return next((module for module in self.modules if module.name == name), None)

    @cached_property
    def _globs(self) -> list[tuple[str, re.Pattern[str], Module]]:
        """The globs, those with the longest fixed beginning first: the most exact one decides."""
        found = [(glob, glob_pattern(glob), module) for module in self.modules for glob in module.paths]
        return sorted(found, key=lambda each: -len(re.split(r"[*?\[]", each[0])[0]))

    def module_of(self, path: str) -> Module | None:
        """The module that a file below the repository belongs to."""
        if self.ignores(path):
            return None
        return next((module for _, pattern, module in self._globs if pattern.fullmatch(path)), None)

    def ignores(self, path: str) -> bool:
        """Whether a file below the repository is nobody's business."""
        return any(pattern.fullmatch(path) for pattern in self._ignored)

    @cached_property
    def _ignored(self) -> list[re.Pattern[str]]:
        return [glob_pattern(glob) for glob in self.ignore]


def glob_pattern(glob: str) -> re.Pattern[str]:
    """A glob of paths: ``*`` and ``?`` stay within a folder, ``**`` crosses; what names a folder names all in it."""
    glob = glob.removeprefix("./").rstrip("/") or "**"
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", glob)
    meanings = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(meanings.get(part, re.escape(part)) for part in parts) + "(?:/.*)?")


def load_modules(root: Path, *, file: str = MODULES_FILE, today: datetime.date | None = None) -> Modules:
    """The modules that a repository declares; none where it has no such file.

    Raises ContractError with all mistakes of the file, each with its line.
    """
    path = root / file
    if not path.is_file():
        return Modules()
    return parse_modules(path.read_text(encoding="utf-8"), file, today)


def parse_modules(text: str, file: str = MODULES_FILE, today: datetime.date | None = None) -> Modules:
    """See ``load_modules``. ``today`` bounds the ends of acknowledgements."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        where = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
        place = f"{where[1]}:{where[2]}: " if where else ""
        said = re.sub(r"\s*\(at .*\)$", "", str(error))
        raise ContractError(f"{file}:{place or ' '}{said[:1].lower()}{said[1:]}") from None
    reader = _Reader(file, _Lines(text), today or datetime.datetime.now(datetime.UTC).date())
    modules = reader.modules(table)
    if reader.mistakes:
        found = sorted(dict.fromkeys(reader.mistakes))
        raise ContractError(
            "\n".join([f"{file} cannot be used", *(f"  {file}:{line}: {said}" for line, said in found)])
        )
    return modules


class _Lines:
    """Where the tables and keys of a TOML file stand; tomllib does not tell."""

    def __init__(self, text: str) -> None:
        self._places: dict[tuple[object, ...], int] = {}
        where: tuple[object, ...] = ()
        counts: dict[str, int] = {}
        for number, line in enumerate(text.splitlines(), 1):
            header = _HEADER.match(line)
            if header is not None and "=" not in header[2]:
                where = self._header(header[1], header[2], counts)
                self._places.setdefault(where, number)
                continue
            key = _KEY.match(line)
            if key is not None:
                self._places.setdefault((*where, key[1]), number)

    def _header(self, bracket: str, name: str, counts: dict[str, int]) -> tuple[object, ...]:
        if bracket == "[":
            return (name,)
        if name == "module.acknowledge":
            module = counts.get("module", 0) - 1
            key = f"{module}.acknowledge"
            counts[key] = counts.get(key, 0) + 1
            return ("module", module, "acknowledge", counts[key] - 1)
        counts[name] = counts.get(name, 0) + 1
        return (name, counts[name] - 1)

    def of(self, *where: object) -> int:
        """The line of a key, of the nearest table around it where the key is not found; 1 at last."""
        for length in range(len(where), 0, -1):
            if where[:length] in self._places:
                return self._places[where[:length]]
        return 1


class _Reader:
    """Turns tables into modules and collects mistakes as (line, text)."""

    def __init__(self, file: str, lines: _Lines, today: datetime.date) -> None:
        self.mistakes: list[tuple[int, str]] = []
        self._file = file
        self._lines = lines
        self._today = today

    def modules(self, table: Mapping[str, Any]) -> Modules:
        self._known((), table, ("gate", "decisions", "releases", "module"))
        gate = self._table(table, "gate")
        self._known(("gate",), gate, _GATE_KEYS)
        mode = cast(Mode, self._choice(("gate",), gate, "mode", get_args(Mode), "new"))
        given = table.get("module", [])
        if not isinstance(given, list) or not all(isinstance(each, dict) for each in given):
            self._wrong(("module",), "`module` is no list of tables; expected [[module]]")
            given = []
        modules = [self._module(number, each, mode) for number, each in enumerate(given)]
        seen: dict[str, int] = {}
        for number, module in enumerate(modules):
            if module.name in seen:
                self._wrong(
                    ("module", number, "name"), f"`{module.name}` is declared twice; see line {seen[module.name]}"
                )
            seen.setdefault(module.name, module.line)
        return Modules(
            tuple(modules),
            self._text(("gate",), gate, "contracts", "contracts").rstrip("/"),
            self._texts(("gate",), gate, "proto_path"),
            self._text(("gate",), gate, "against", ""),
            mode,
            self._decisions(self._table(table, "decisions")),
            self._file,
            self._texts(("gate",), gate, "ignore"),
            self._release_tags(gate),
            self._releases(self._table(table, "releases")),
        )

    def _module(self, number: int, table: Mapping[str, Any], mode: Mode) -> Module:
        where = ("module", number)
        self._known(where, table, _MODULE_KEYS)
        name = self._text(where, table, "name", "")
        if not _NAME.fullmatch(name):
            self._wrong((*where, "name"), "a module needs a `name` of letters, digits, dots, dashes")
        module = Module(
            name,
            self._lines.of(*where),
            self._text(where, table, "owner", ""),
            self._texts(where, table, "paths"),
            cast(Role, self._choice(where, table, "role", _ROLES, "unknown")),
            tuple(each.lower() for each in self._texts(where, table, "languages")),
            self._texts(where, table, "contracts"),
            self._texts(where, table, "environment"),
            self._text(where, table, "generator", ""),
            self._flag(where, table, "stored_data", default=False),
            cast(Mode, self._choice(where, table, "mode", get_args(Mode), mode)),
            self._flag(where, table, "required", default=True),
            self._texts(where, table, "uses"),
            self._texts(where, table, "entry_points"),
            tuple(self._acknowledged(where, table)),
            self._text(where, table, "package", ""),
            self._text(where, table, "pin", ""),
        )
        if module.pin and not module.package:
            self._wrong((*where, "pin"), "`pin` is the lock file of a contract package; expected `package` to name it")
        for path in (*module.paths, module.pin):
            if path.startswith("/") or ".." in path.split("/"):
                key = "pin" if path == module.pin else "paths"
                self._wrong((*where, key), f"`{path}` leaves the repository; expected a glob below it")
        for use in module.uses:
            if not re.fullmatch(r"[\w.]+(?:/[\w.-]+)*", use):
                self._wrong((*where, "uses"), f"`{use}` is no path of an element; expected one as shop.v1.Order.total")
        for point in module.entry_points:
            if not re.fullmatch(r"\w+(?:\.\w+)*:\w+", point):
                self._wrong((*where, "entry_points"), f"`{point}` is no function; expected one as shop.ledger:book")
        return module

    def _acknowledged(self, where: tuple[object, ...], table: Mapping[str, Any]) -> Iterator[Acknowledged]:
        given = table.get("acknowledge", [])
        if not isinstance(given, list) or not all(isinstance(each, dict) for each in given):
            self._wrong((*where, "acknowledge"), "`acknowledge` is no list of tables {path, change, reason, until}")
            return
        for number, each in enumerate(given):
            inside = (*where, "acknowledge", number)
            self._known(inside, each, _ACK_KEYS)
            texts = {key: each.get(key) for key in _ACK_KEYS[:3]}
            for key, value in texts.items():
                if not isinstance(value, str) or not value.strip():
                    self._wrong((*inside, key), f"an acknowledgement needs `{key}`")
            until = self._until(inside, each.get("until"))
            if until is not None and all(isinstance(value, str) for value in texts.values()):
                path, change, reason = (str(value) for value in texts.values())
                yield Acknowledged(path, change, reason, until, self._lines.of(*inside))

    def _until(self, inside: tuple[object, ...], value: object) -> datetime.date | None:
        if isinstance(value, str):
            try:
                value = datetime.date.fromisoformat(value)
            except ValueError:
                value = None
        if isinstance(value, datetime.datetime):
            value = value.date()
        if not isinstance(value, datetime.date):
            self._wrong((*inside, "until"), "an acknowledgement needs `until`, a day as 2027-01-31")
            return None
        last = self._today + datetime.timedelta(days=MOST_DAYS)
        if value > last:
            self._wrong(
                (*inside, "until"), f"`until` is too far; expected {last} at most ({MOST_DAYS} days), got {value}"
            )
        return value

    def _release_tags(self, gate: Mapping[str, Any]) -> tuple[str, ...]:
        tags = self._texts(("gate",), gate, "release_tags") or _RELEASE_TAGS
        for tag in tags:
            if "{version}" not in tag:
                self._wrong(
                    ("gate", "release_tags"), f"`{tag}` is the same for all versions; expected {{version}} in it"
                )
        return tags

    def _releases(self, table: Mapping[str, Any]) -> dict[str, str]:
        for version, ref in table.items():
            if not isinstance(ref, str):
                self._wrong(("releases", version), f"the commit of {version} is no text")
        return {version: ref for version, ref in table.items() if isinstance(ref, str)}

    def _decisions(self, table: Mapping[str, Any]) -> dict[str, str]:
        self._known(("decisions",), table, DECISIONS)
        known = {key: DECISIONS[key] for key in table if key in DECISIONS}
        return {key: self._choice(("decisions",), table, key, values, values[0]) for key, values in known.items()}

    # -- values

    def _wrong(self, where: Sequence[object], said: str) -> None:
        self.mistakes.append((self._lines.of(*where), said))

    def _known(self, where: tuple[object, ...], table: Mapping[str, Any], known: Iterable[str]) -> None:
        known = list(known)
        for key in table:
            if key not in known:
                self._wrong((*where, key), f"`{key}` is unknown; expected one of {', '.join(sorted(known))}")

    def _table(self, table: Mapping[str, Any], key: str) -> Mapping[str, Any]:
        found = table.get(key, {})
        if isinstance(found, dict):
            return found
        self._wrong((key,), f"`{key}` is no table; expected [{key}]")
        return {}

    def _text(self, where: tuple[object, ...], table: Mapping[str, Any], key: str, default: str) -> str:
        found = table.get(key, default)
        if isinstance(found, str):
            return found
        self._wrong((*where, key), f"`{key}` is no text")
        return default

    def _texts(self, where: tuple[object, ...], table: Mapping[str, Any], key: str) -> tuple[str, ...]:
        found = table.get(key, [])
        if isinstance(found, str):
            return (found,)
        if isinstance(found, list) and all(isinstance(each, str) for each in found):
            return tuple(found)
        self._wrong((*where, key), f"`{key}` is no list of texts")
        return ()

    def _flag(self, where: tuple[object, ...], table: Mapping[str, Any], key: str, *, default: bool) -> bool:
        found = table.get(key, default)
        if isinstance(found, bool):
            return found
        self._wrong((*where, key), f"`{key}` is neither true nor false")
        return default

    def _choice(
        self, where: tuple[object, ...], table: Mapping[str, Any], key: str, known: Sequence[str], default: str
    ) -> str:
        found = table.get(key, default)
        if found == default or found in known:
            return str(found)
        self._wrong((*where, key), f"`{key}` is none of {', '.join(known)}")
        return default
