"""Judges modules by what they declare, or by a lock that they published: their code cannot be read, or is elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from protocontract_ci.model import Change, Finding, How, Language, Role, Use
from protocontract_ci.usage.vocabulary import Elements
from protocontract_ci.verdicts.evidence import UNKNOWN, Evidence, Subject
from protocontract_ci.verdicts.for_file import FileOfModule
from protocontract_ci.verdicts.judge import Judge


@dataclass
class NoExperiments:
    """Nothing can be tried. For an unread language stands the one of those read that tells more types apart."""

    language: Language = "typescript"

    def readers(self, subject: Subject, uses: Sequence[Use]) -> Evidence:
        """See Experiments."""
        del subject, uses
        return UNKNOWN

    def writers(self, subject: Subject, uses: Sequence[Use]) -> Evidence:
        """See Experiments."""
        del subject, uses
        return UNKNOWN

    def both(self, subject: Subject, uses: Sequence[Use], *, results: bool) -> Evidence:
        """See Experiments."""
        del subject, uses, results
        return UNKNOWN

    def cured(self, subject: Subject, uses: Sequence[Use]) -> bool:
        """See Experiments."""
        del subject, uses
        return False

    def types(self, uses: Sequence[Use]) -> Evidence:
        """See Experiments."""
        del uses
        return UNKNOWN


def declared_uses(paths: Iterable[str], role: Role, elements: Elements, file: str, line: int) -> list[Use]:
    """Uses of declared paths, at the place of the declaration; of both kinds where the module does not say its role."""
    return [Use(file, line, 1, path, how) for path in paths for how in _hows(path, role, elements)]


def _hows(path: str, role: Role, elements: Elements) -> Iterator[How]:
    owner, _, name = path.rpartition(".")
    if owner in elements.services:
        yield "call"
    elif owner in elements.messages and path not in elements.messages and path not in elements.enums:
        if name in elements.oneofs(owner):
            yield "which_oneof"
        if role != "writer":
            yield "read"
        if role != "reader":
            yield "write"
    elif owner in elements.enums:
        yield "enum_value"
    else:
        yield "import"


def uses_of_lock(uses: Mapping[str, Sequence[How]], file: str) -> list[Use]:
    """Uses that a lock records, at the lock."""
    return [Use(file, 1, 1, path, how) for path, hows in uses.items() for how in hows]


def findings_of_uses(judge: Judge, module: str, file: str, uses: Sequence[Use]) -> list[Finding]:
    """What changes mean for uses that nobody can look at."""
    return judge.findings(FileOfModule(module, file, uses, NoExperiments()))


def reaches_unread(change: Change) -> bool:
    """Whether a change may be the business of code that nobody can look at."""
    return change.direction not in ("neutral", "added") or change.acknowledge


#: The languages that options are for, by how their names begin.
_OF_LANGUAGES: Final[Mapping[str, tuple[str, ...]]] = {
    "java_": ("java", "kotlin", "scala"),
    "go_": ("go",),
    "csharp_": ("csharp",),
    "objc_": ("objc", "swift"),
    "swift_": ("swift",),
    "php_": ("php",),
    "ruby_": ("ruby",),
    "cc_": ("cpp",),
    "optimize_for": ("cpp", "java", "kotlin", "scala"),
}


def option_findings(
    module: str, languages: Sequence[str], changes: Iterable[Change], file: str, line: int
) -> list[Finding]:
    """D8: options that decide what generated code of a module's languages is called."""
    found = []
    for change in changes:
        if change.kind not in ("file_option_changed", "option_changed"):
            continue
        option = str(change.before or change.after).partition(" = ")[0]
        meant = next((held for start, held in _OF_LANGUAGES.items() if option.startswith(start)), ())
        told = [each for each in languages if each in meant]
        if told:
            because = f"is in {', '.join(told)}, whose generated code follows {option}"
            found.append(Finding(module, file, "not_adapted", because, change, lines=(line,), decision="D8"))
    return found


def unread_findings(
    module: str, languages: Sequence[str], changes: Iterable[Change], file: str, line: int
) -> list[Finding]:
    """D16: a module in a language that the gate does not read, which does not say what it uses."""
    because = f"is in {', '.join(languages)}, which the gate does not read; expected `uses`, or an acknowledgement"
    return [
        Finding(module, file, "not_adapted", because, change, lines=(line,), proof="unresolved", decision="D16")
        for change in changes
        if reaches_unread(change)
    ]
