"""Which version of a contract package a module runs with: read from the lock file of its package manager.

A lock file that names no version of a release for good (a git commit, a folder, two versions at once, a range) pins
nothing that contracts could be looked up by, and says so.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, Final

_REQUIREMENT: Final = re.compile(r"^([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*(.*?)\s*(?:;.*)?$")
_EXACT: Final = re.compile(r"^={2,3}\s*([\w.!+-]+)$")


class PinError(Exception):
    """Why a file pins no version of a package."""


def pinned_version(path: str, text: str, package: str) -> str:
    """The one version of ``package`` that a lock file pins. Raises PinError."""
    name = PurePosixPath(path).name
    read = _READERS.get(name) or (_requirements if name.endswith(".txt") else None)
    if read is None:
        raise PinError(f"`{name}` is no lock file that the gate reads; expected one of {', '.join(LOCK_FILES)}")
    try:
        found = dict.fromkeys(read(text, package))
    except (ValueError, KeyError, TypeError, AttributeError):
        # A file that another program writes: whatever is not as expected in it is the same mistake.
        raise PinError(f"`{name}` cannot be read") from None
    if not found:
        raise PinError(f"`{name}` does not hold {package}")
    if len(found) > 1:
        raise PinError(f"`{name}` holds {package} in several versions ({', '.join(found)})")
    return next(iter(found))


def _uv(text: str, package: str) -> Iterator[str]:
    for each in _named(tomllib.loads(text).get("package", ()), package):
        source = each.get("source", {})
        if not {"registry", "url"} & source.keys():
            raise PinError(f"{package} comes from {_where(source)}; expected a release")
        yield each["version"]


def _poetry(text: str, package: str) -> Iterator[str]:
    for each in _named(tomllib.loads(text).get("package", ()), package):
        kind = each.get("source", {}).get("type", "legacy")
        if kind in ("git", "directory"):
            raise PinError(
                f"{package} comes from {'a git repository' if kind == 'git' else 'a folder'}; expected a release"
            )
        yield each["version"]


def _npm(text: str, package: str) -> Iterator[str]:
    table = json.loads(text)
    if table.get("lockfileVersion") not in (2, 3):
        raise PinError("the lock file is not of version 2 or 3; expected one of npm 7 or newer")
    for path, each in table["packages"].items():
        _, found, last = path.rpartition("node_modules/")
        # An alias stands under its own name, and says which package it is.
        if not found or each.get("name", last) != package:
            continue
        if each.get("link") or str(each.get("resolved", "")).startswith(("git", "file:")):
            raise PinError(f"{package} comes from a git repository or a folder; expected a release")
        yield each["version"]


def _requirements(text: str, package: str) -> Iterator[str]:
    for line in re.sub(r"\\\r?\n", " ", text).splitlines():
        line = re.sub(r"(?:^|\s)#.*", "", line).strip()
        match = _REQUIREMENT.match(re.sub(r"\s--hash\S*", "", line))
        if match is None or _canonical(match[1]) != _canonical(package):
            continue
        exact = _EXACT.match(match[2])
        if exact is None:
            raise PinError(f"{package} has no exact version; expected {package}==VERSION")
        yield exact[1]


def _named(packages: Iterable[Mapping[str, Any]], package: str) -> Iterator[Mapping[str, Any]]:
    return (each for each in packages if _canonical(each["name"]) == _canonical(package))


def _canonical(name: str) -> str:
    """PEP 503: how names of Python packages compare."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _where(source: Mapping[str, Any]) -> str:
    return "a git repository" if "git" in source else "a folder"


_READERS: Final[Mapping[str, Callable[[str, str], Iterator[str]]]] = {
    "uv.lock": _uv,
    "poetry.lock": _poetry,
    "package-lock.json": _npm,
    "npm-shrinkwrap.json": _npm,
    "requirements.txt": _requirements,
}
#: The lock files that are looked for, in this order.
LOCK_FILES: Final = tuple(_READERS)
