"""What changes mean for a file in a language that the gate does not read (D16): whoever names it has not adapted.

Nothing tells a reader from a writer there, nor what a value is used for. So every change counts that could hurt
anybody, where the text names what changed and the message around it, until the file acknowledges it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from protocontract_ci.model import Change, Finding, Kind
from protocontract_ci.usage.unread import LANGUAGES, UnreadFile, of_field, of_message, of_package, of_service, of_value
from protocontract_ci.usage.vocabulary import Elements
from protocontract_ci.verdicts.declared import reaches_unread

#: What is added and may still find somebody without a branch for it.
_CASES: frozenset[Kind] = frozenset({"enum_value_added", "oneof_case_added"})
_MOVED: frozenset[Kind] = frozenset({"message_moved_package", "enum_moved_package", "service_moved_package"})
#: Numbers and names of generated files say nothing about the code of another language.
_FOREIGN: frozenset[Kind] = frozenset({"file_removed", "import_changed", "file_option_changed"})


@dataclass(frozen=True)
class UnreadJudge:
    """Judges files by their text."""

    elements: Elements
    changes: Sequence[Change]

    def names_any(self, file: UnreadFile) -> bool:
        """Whether a file names any message of the contracts."""
        return any(file.lines_of(of_message(name)) for name in self.elements.own_messages)

    def findings(self, name: str, file: UnreadFile, acknowledged: frozenset[str]) -> list[Finding]:
        """One finding for each change that the file may be hurt by."""
        language = LANGUAGES.get(PurePosixPath(name).suffix, "a file")
        found = []
        for change in self.changes:
            if change.kind in _FOREIGN or not (reaches_unread(change) or change.kind in _CASES):
                continue
            lines, new = self._lines(change, file)
            if not lines:
                if new:
                    found.append(Finding(name, name, "adapted", "uses the new name", change, lines=(), decision="D16"))
            elif not acknowledged.isdisjoint(change.acknowledgements):
                because = "acknowledged in the code"
                found.append(Finding(name, name, "adapted", because, change, lines=(), decision="D16"))
            else:
                because = f"names it in {language}, which the gate does not read; expected an acknowledgement or `uses`"
                found.append(
                    Finding(
                        name, name, "not_adapted", because, change, lines=lines, proof="unresolved", decision="D16"
                    )
                )  # fmt: skip
        return found

    def _lines(self, change: Change, file: UnreadFile) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Where the file names what changed, and where it names what it became."""
        element = change.element
        if element.kind in ("message", "enum", "service"):
            names = of_service if element.kind == "service" else of_message
            here = self._around(file, element.name or element.new_name, list(names(element.name or element.new_name)))
            if change.kind in _MOVED:
                package = element.name.rpartition(".")[0]
                return file.lines_with(of_package(package)) or here, ()
            new = file.lines_of(names(element.new_name)) if element.renamed else ()
            return here, new
        holder = element.message or element.new_message
        if element.kind == "enum_value":
            return self._values(change, file, holder)
        if element.kind == "method":
            return (self._calls(file, element.short_name) if file.lines_of(of_service(holder)) else ()), ()
        if not self._around(file, holder, list(of_message(holder))):
            return (), ()
        old = file.lines_of(of_field(element.short_name))
        if change.acknowledge and change.kind == "field_added":
            return ((), old) if old else (file.lines_of(of_message(holder)), ())
        if change.kind == "oneof_case_added":
            return file.lines_of(of_field(element.new_oneof.rpartition(".")[2])), ()
        return old, file.lines_of(of_field(element.new_short_name)) if element.renamed else ()

    def _calls(self, file: UnreadFile, method: str) -> tuple[int, ...]:
        """Where a method is called or named in a path; where it is not, whatever has its name may implement it."""
        called = file.lines_with(re.compile(rf"(?i)(?:\.|->|::|/)\s*{re.escape(method)}\b"))
        return called or file.lines_of((method.replace("_", "").lower(),))

    def _values(self, change: Change, file: UnreadFile, enum: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
        members = self.elements.members(enum).values()
        added = change.kind == "enum_value_added"
        wanted = [each.name for each in members] if added else [change.element.short_name]
        return self._named_values(file, enum, wanted), (
            self._named_values(file, enum, [change.element.new_short_name]) if change.element.renamed else ()
        )

    def _named_values(self, file: UnreadFile, enum: str, names: Iterable[str]) -> tuple[int, ...]:
        found: set[int] = set()
        for name in names:
            words, pattern = of_value(enum, name)
            found |= {*file.lines_of(words), *file.lines_with(pattern)}
        return tuple(sorted(found))

    def _around(self, file: UnreadFile, full_name: str, words: Sequence[str]) -> tuple[int, ...]:
        """Where a message is named; its package or the stem of its file stand for it."""
        here = file.lines_of(words)
        package = full_name.rpartition(".")[0]
        if here or "." not in package:
            return here
        return file.lines_with(of_package(package))
