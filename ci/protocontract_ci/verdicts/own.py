"""Findings that need no change of a contract: what a module's own state says against the contract as it is.

They are how a pull request that touches only a module is judged. A name that the contract does not have is found by the
type checker of the language against declarations of one state; only complaints that name an element of the contract
count, so that the types of everything else are nobody's business here.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from google.protobuf.message import Message

from protocontract_ci.model import Change, Element, Finding, Kind
from protocontract_ci.sources import Contracts
from protocontract_ci.usage.python.checker import Ty
from protocontract_ci.usage.python.shared import Shared, write_files
from protocontract_ci.usage.python.stubs import Stubs
from protocontract_ci.usage.python.together import Group, batches, found_above
from protocontract_ci.usage.typescript.declarations import State
from protocontract_ci.usage.typescript.prepare import NotPreparedError
from protocontract_ci.usage.typescript.reader import SUFFIXES, absent_in
from protocontract_ci.usage.vocabulary import Elements
from protocontract_compiler.generated_names import module_of
from protocontract_compiler.ir import Place

#: What the checker says of a name that is not there: the type and the name, or the name and the type.
_ABSENT: Final = (
    re.compile(r"^Object of type `(?P<type>\w+)` has no attribute `(?P<name>\w+)`"),
    re.compile(r"^Class `(?P<type>\w+)` has no attribute `(?P<name>\w+)`"),
    re.compile(r"^Unresolved attribute `(?P<name>\w+)` on type `(?P<type>\w+)`"),
    re.compile(r"^Argument `(?P<name>\w+)` does not match any known parameter of `(?P<type>\w+)\.__init__`"),
)
_NO_MEMBER: Final = re.compile(r"^Module `(?P<module>[\w.]+)` has no member `(?P<name>\w+)`")
_NUMBER: Final = "_FIELD_NUMBER"


@dataclass(frozen=True, slots=True)
class Absent:
    """A name at a place that the contract does not have."""

    file: str
    line: int
    owner: str
    name: str

    @property
    def path(self) -> str:
        """The path that an element of this name would have."""
        return f"{self.owner}.{self.name}"


def absent_names(groups: Sequence[Group], state: Shared) -> list[Absent]:
    """The names in Python files that messages, enums and generated modules do not have. Raises CheckerError.

    ``state`` is of one state of the contracts; each group's files are read by themselves.
    """
    groups = [group for group in groups if group.texts]
    if not groups:
        return []
    checker = Ty()
    said: list[tuple[str, int, str, str]] = []
    for batch in batches(groups, found_above(checker, state.folder)):
        with tempfile.TemporaryDirectory(prefix="protocontract-") as temporary:
            modules = Path(temporary)
            write_files(modules, batch.texts)
            said += checker.complaints(
                modules, [state.folder, *(modules / root for root in batch.roots)], sorted(batch.texts)
            )
    stubs, elements = state.stubs, state.elements
    found = [Absent(file, line, *known) for file, line, _, text in said for known in _known(text, stubs, elements)]
    return sorted(dict.fromkeys(found), key=lambda each: (each.file, each.line, each.path))


def absent_in_typescript(folder: Path, files: Sequence[str], contracts: Contracts) -> list[Absent]:
    """As absent_names, for the TypeScript files among ``files``; none where nothing can read them, which others say.

    Raises CheckerError.
    """
    names = [file for file in files if file.endswith(SUFFIXES)]
    try:
        found = absent_in(folder, names, State.of(contracts)) if names else []
    except NotPreparedError:
        return []
    return sorted((Absent(*each) for each in dict.fromkeys(found)), key=lambda each: (each.file, each.line, each.path))


def _known(text: str, stubs: Stubs, elements: Elements) -> Iterator[tuple[str, str]]:
    """The element and the name that a complaint is about; nothing where it is about something else."""
    for pattern in _ABSENT:
        match = pattern.match(text)
        if match is None:
            continue
        said = stubs.read(match["type"])
        for owner in (*said.messages, *said.enums, *said.services):
            if not owner.startswith("google.protobuf.") and not _of_every_message(match["name"], owner, elements):
                yield owner, match["name"]
        return
    match = _NO_MEMBER.match(text)
    if match is not None:
        for name, file in elements.files.items():
            if (
                module_of(name) == match["module"]
                and file.package
                and not match["name"].startswith(("_", "DESCRIPTOR"))
            ):
                yield file.package, match["name"]


def _of_every_message(name: str, owner: str, elements: Elements) -> bool:
    """Whether protobuf itself gives the name to every message: its methods, and the numbers of its fields."""
    if hasattr(Message, name) or name in ("Extensions", "FromString", "RegisterExtension"):
        return True
    fields = {each.upper() for each in elements.fields(owner)}
    return name.endswith(_NUMBER) and name.removesuffix(_NUMBER) in fields


def finding(module: str, kind: Kind, path: str, because: str, file: str, lines: Sequence[int] = ()) -> Finding:
    """A finding of a module's own state, as one of a change of this kind at this path."""
    change = Change(path, kind, "breaking", Element("field", path), where_after=Place(file, lines[0] if lines else 0))
    return Finding(module, file, "not_adapted", because, change, lines=tuple(lines))


def findings_of(module: str, absent: Sequence[Absent]) -> list[Finding]:
    """Findings of names that are not there, one for each path and file."""
    by_place: dict[tuple[str, str], list[Absent]] = {}
    for each in absent:
        by_place.setdefault((each.file, each.path), []).append(each)
    return [
        finding(
            module,
            "name_unknown",
            path,
            f"uses {found[0].name}, which {found[0].owner} does not have",
            file,
            tuple(sorted({each.line for each in found})),
        )
        for (file, path), found in by_place.items()
    ]
