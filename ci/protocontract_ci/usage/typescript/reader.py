"""Reads TypeScript files: every place where they use an element of the contracts, and what is new to the compiler.

The work is done by the program in ``node/`` (``process.py``).
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.message import DecodeError

from protocontract_ci.model import Use
from protocontract_ci.usage.python.copies import Copy
from protocontract_ci.usage.python.reader import Unread
from protocontract_ci.usage.python.thresholds import Threshold
from protocontract_ci.usage.typescript.declarations import State, affected, write_declarations
from protocontract_ci.usage.typescript.prepare import NotPreparedError
from protocontract_ci.usage.typescript.process import ask

#: The names of files that are read.
SUFFIXES: Final = (".ts", ".tsx", ".mts", ".cts")


@dataclass(frozen=True, slots=True)
class FreshError:
    """An error against the new declarations that the old ones did not give.

    ``paths`` are the elements that it comes from, with the lines of the file where they stand (0: in another file).
    """

    line: int
    code: int
    paths: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Written:
    """What is written into a field at a line: the literals that it may be, None where nobody knows."""

    line: int
    path: str
    literals: tuple[Mapping[str, Any], ...] | None


@dataclass(frozen=True, slots=True)
class Built:
    """A message that is built at a line with these fields; ``open`` where it may get others, too."""

    line: int
    message: str
    fields: frozenset[str]
    open: bool


@dataclass(frozen=True, slots=True)
class Function:
    """A function that may be run: what it takes (kind and message), its first and last line, the message it returns.

    ``full``: it returns something, whatever it is given.
    """

    name: str
    parameters: tuple[tuple[str, str], ...]
    lines: tuple[int, int]
    returns: str = ""
    full: bool = False


@dataclass
class TypeScriptFile:
    """What was found in one file.

    ``loose`` says what the uses at a line are for: "text", "json" or "any" where a value of any type would do,
    "handled" where there is an answer to every value, "" for all others.
    """

    text: str
    uses: list[Use] = field(default_factory=list)
    loose: dict[tuple[int, str], set[str]] = field(default_factory=dict)
    written: list[Written] = field(default_factory=list)
    built: list[Built] = field(default_factory=list)
    errors: list[FreshError] = field(default_factory=list)
    #: The numbers that it compares with or works by.
    thresholds: list[Threshold] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    #: Lines of errors against the old declarations that the new ones do not give.
    gone: frozenset[int] = frozenset()


@dataclass
class TypeScriptUses:
    """What was found in a folder: files, generated modules among them, and what could not be read."""

    files: dict[str, TypeScriptFile] = field(default_factory=dict)
    copies: list[Copy] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)
    #: The generated modules among the files that a file imports, with the line.
    imports: dict[str, list[tuple[str, int]]] = field(default_factory=dict)
    #: The files that functions are run of, and those that they import, as the worker reads them.
    modules: dict[str, Any] = field(default_factory=dict)

    @property
    def uses(self) -> dict[str, list[Use]]:
        """The uses by file."""
        return {name: file.uses for name, file in self.files.items()}


def read_typescript(
    folder: Path,
    files: Iterable[str],
    before: State,
    after: State | None = None,
    named: Mapping[str, Collection[str]] | None = None,
) -> TypeScriptUses:
    """All uses in ``files``, which are paths below ``folder`` with slashes, of either state of the contracts.

    With ``after`` also the type errors that are new in it. With ``named`` also which functions may be run: those, by
    file, and those of files that only compute. Raises NotPreparedError where Node.js or the compiler is missing,
    CheckerError where the reader fails.
    """
    found = TypeScriptUses()
    texts: dict[str, str] = {}
    for name in sorted(files):
        try:
            texts[name] = (folder / name).read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            found.unread.append(Unread(name, f"not readable ({type(error).__name__})"))
    if not texts:
        return found
    states = {"all": write_declarations([before] if after is None else [before, after])}
    if after is not None:
        states.update(old=write_declarations([before]), new=write_declarations([after]))
    answer = ask(
        {
            "root": str(folder.resolve()),
            "files": list(texts),
            "states": {name: declarations.as_json() for name, declarations in states.items()},
            "affected": affected(states["old"], states["new"]) if after is not None else [],
            "named": None if named is None else {name: sorted(held) for name, held in named.items()},
        }
    )
    found.unread += [Unread(each["file"], each["reason"]) for each in answer["unread"]]
    found.copies += [copy for each in answer["copies"] if (copy := _copy(each)) is not None]
    for each in answer["imports"]:
        found.imports.setdefault(each["file"], []).append((each["copy"], each["line"]))
    unread = {each.file for each in found.unread}
    for each in answer["uses"]:
        if each["file"] not in unread:
            found.files[each["file"]] = _file(texts[each["file"]], each)
    for each in answer["errors"]:
        if each["file"] in found.files:
            found.files[each["file"]].errors = [_error(error) for error in each["errors"]]
    for each in answer["gone"]:
        if each["file"] in found.files:
            found.files[each["file"]].gone = frozenset(each["lines"])
    for name, functions in answer["functions"].items():
        if name in found.files:
            found.files[name].functions = [_function(each) for each in functions]
    found.modules = answer["modules"]
    return found


def absent_in(folder: Path, files: Iterable[str], state: State) -> list[tuple[str, int, str, str]]:
    """The names in files that messages, enums and generated modules of a state do not have: file, line, owner, name.

    Raises NotPreparedError where Node.js or the compiler is missing, CheckerError where the reader fails.
    """
    names = sorted(files)
    if not names:
        return []
    states = {"all": write_declarations([state]).as_json()}
    answer = ask({"root": str(folder.resolve()), "files": names, "states": states, "affected": [], "absent": True})
    return [(each["file"], each["line"], each["owner"], each["name"]) for each in answer["absent"]]


def read_or_say_why(
    folder: Path,
    files: Iterable[str],
    before: State,
    after: State,
    named: Mapping[str, Collection[str]] | None = None,
) -> TypeScriptUses:
    """As read_typescript; where Node.js or the compiler is missing, no file is read, and each says what to do.

    Raises CheckerError where the reader fails.
    """
    names = sorted(files)
    try:
        return read_typescript(folder, names, before, after, named)
    except NotPreparedError as error:
        return TypeScriptUses(unread=[Unread(name, str(error)) for name in names])


def _file(text: str, found: Mapping[str, Any]) -> TypeScriptFile:
    result = TypeScriptFile(text)
    for use in found["uses"]:
        loose = use.pop("loose")
        result.uses.append(Use(file=found["file"], **{**use, "handles": tuple(use["handles"])}))
        result.loose.setdefault((use["line"], use["path"]), set()).add(loose)
    result.written = [
        Written(each["line"], each["path"], None if each["literals"] is None else tuple(each["literals"]))
        for each in found["values"]
    ]
    result.built = [
        Built(each["line"], each["message"], frozenset(each["fields"]), each["open"]) for each in found["constructs"]
    ]
    result.thresholds = [
        Threshold(each["line"], each["value"], each["compared"], each["origin"]) for each in found["thresholds"]
    ]
    return result


def _function(found: Mapping[str, Any]) -> Function:
    parameters = tuple((each["kind"], each["message"]) for each in found["parameters"])
    return Function(found["name"], parameters, (found["first"], found["last"]), found["returns"], found["full"])


def _error(found: Mapping[str, Any]) -> FreshError:
    return FreshError(found["line"], found["code"], tuple((each["path"], each["line"]) for each in found["paths"]))


def _copy(found: Mapping[str, Any]) -> Copy | None:
    """The generated module that a file is; None where its descriptor does not read."""
    data = found["descriptor"]
    try:
        raw = base64.b64decode(data + "=" * (-len(data) % 4))
        return Copy(found["file"], found["line"], FileDescriptorProto.FromString(raw))
    except (binascii.Error, DecodeError):
        return None
