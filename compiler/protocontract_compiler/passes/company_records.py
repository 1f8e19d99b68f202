"""What lies beside the contracts and tells of them: their versions, and the modules that use them.

``history/<full name>.toml`` is written by ``protocontract diff --record``; ``modules.toml`` and ``locks/<module>/`` are
the gate's. All of it is optional. A file that cannot be read is a mistake: a document that leaves out a version or a
module without saying so would be worse than none.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from protocontract_compiler import ir
from protocontract_compiler.diagnostics import Diagnostics
from protocontract_compiler.passes import reach

HISTORY = "history"
MODULES = "modules.toml"
LOCKS = "locks"


@dataclass(frozen=True, slots=True)
class _Module:
    name: str
    owner: str
    role: str
    languages: tuple[str, ...]
    contracts: tuple[str, ...]
    uses: tuple[str, ...]


class Records:
    """The records in some folders. Mistakes are noted in ``diagnostics``."""

    def __init__(self, folders: Iterable[Path], diagnostics: Diagnostics) -> None:
        self._folders = [folder for folder in folders if folder.is_dir()]
        self._diagnostics = diagnostics
        self._modules = [module for folder in self._folders for module in self._read_modules(folder)]
        # By module, then by element: the paths that it uses.
        self._locks: dict[str, dict[str, tuple[str, ...]]] = {}
        for folder in self._folders:
            for path in sorted((folder / LOCKS).glob("*/*.json")):
                self._read_lock(path)

    def history(self, full_name: str) -> tuple[ir.Version, ...]:
        """The versions of a contract, the newest first."""
        for folder in self._folders:
            path = folder / HISTORY / f"{full_name}.toml"
            table = self._toml(path)
            if table is not None:
                return tuple(self._versions(path, table))
        return ()

    def consumers(self, schema: ir.Schema, full_name: str, names: frozenset[str]) -> tuple[ir.Consumer, ...]:
        """The modules that use a message or service, or declare that they do; by name.

        ``names`` are the elements whose uses count: the contract's own, and those of what it reaches.
        """
        file = (schema.messages.get(full_name) or schema.services[full_name]).file
        return tuple(
            ir.Consumer(
                module.name,
                module.owner,
                module.role,
                module.languages,
                self._uses(module, names),
                module.name in self._locks,
            )
            for module in sorted(self._modules, key=lambda each: each.name)
            if self._consumes(module, full_name, file)
        )

    def _consumes(self, module: _Module, full_name: str, file: str) -> bool:
        locks = self._locks.get(module.name)
        if locks is not None:
            # Evidence beats a declaration.
            return full_name in locks
        return any(
            element == each or element.startswith((f"{each}.", f"{each}/"))
            for each in module.contracts
            for element in (full_name, file)
        ) or any(use == full_name or use.startswith(f"{full_name}.") for use in module.uses)

    def _uses(self, module: _Module, names: frozenset[str]) -> tuple[str, ...]:
        locks = self._locks.get(module.name, {})
        found = [use for element in names for use in locks.get(element, ()) if use not in names]
        found += [use for use in module.uses if any(use.startswith(f"{name}.") for name in names)]
        return tuple(sorted(set(found)))

    # -- files

    def _read_modules(self, folder: Path) -> Iterator[_Module]:
        path = folder / MODULES
        table = self._toml(path)
        given = [] if table is None else table.get("module", [])
        if not isinstance(given, list) or not all(isinstance(each, dict) and "name" in each for each in given):
            self._mistake(path, "`module` is no list of tables with a name; expected [[module]]")
            return
        for each in given:
            yield _Module(
                str(each["name"]), str(each.get("owner", "")), str(each.get("role", "unknown")),
                _texts(each.get("languages")), _texts(each.get("contracts")), _texts(each.get("uses")),
            )  # fmt: skip

    def _read_lock(self, path: Path) -> None:
        try:
            table = json.loads(path.read_text(encoding="utf-8"))
            module, element, uses = str(table["module"]), str(table["element"]), tuple(map(str, table["uses"]))
        except (ValueError, KeyError, TypeError):
            self._mistake(path, "not a lock; expected a file that `protocontract adapt` wrote")
            return
        self._locks.setdefault(module, {})[element] = uses

    def _versions(self, path: Path, table: Mapping[str, Any]) -> Iterator[ir.Version]:
        try:
            for each in table.get("version", []):
                changes = tuple(
                    ir.VersionChange(str(change["path"]), str(change["direction"]), str(change["text"]))
                    for change in each.get("change", [])
                )
                yield ir.Version(str(each["version"]), str(each["date"]), changes, str(each.get("fingerprint", "")))
        except (KeyError, TypeError, AttributeError):
            self._mistake(path, "not a history of versions; expected what `protocontract diff --record` writes")

    def _toml(self, path: Path) -> Mapping[str, Any] | None:
        if not path.is_file():
            return None
        try:
            return tomllib.loads(path.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            line = re.search(r"\(at line (\d+)", str(error))
            self._mistake(path, f"not TOML{f' in line {line[1]}' if line else ''}; expected a file that can be read")
            return None

    def _mistake(self, path: Path, text: str) -> None:
        self._diagnostics.error("records", ir.Place(""), f"`{path.name}`: {text}")


def names_of(schema: ir.Schema, full_name: str) -> frozenset[str]:
    """A message or service with the messages and enums that it reaches."""
    service = schema.services.get(full_name)
    if service is not None:
        return frozenset({full_name})
    messages = reach.reached(schema, schema.messages[full_name])
    enums = {part.enum for message in messages for field in message.fields for part in (field, field.value)
             if part is not None and part.enum is not None}  # fmt: skip
    return frozenset({message.full_name for message in messages} | enums)


def _texts(value: object) -> tuple[str, ...]:
    """A text, or a list of texts."""
    if isinstance(value, str):
        return (value,)
    return tuple(map(str, value)) if isinstance(value, list) else ()
