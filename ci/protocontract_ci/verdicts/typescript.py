"""What can be found out about a TypeScript file beyond its uses: by the compiler, by literals, by running functions.

A type error that is new against the new declarations is a failure, whatever the change is called; a literal that is
written into a message is judged by both validators.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from protocontract_ci.execution.entries import Entry, Parameter
from protocontract_ci.execution.node import NodeRunner
from protocontract_ci.execution.runner import Call, Ran
from protocontract_ci.model import Change, Finding, Language, Use
from protocontract_ci.sources import Contracts
from protocontract_ci.usage.typescript.names import member_names, property_name
from protocontract_ci.usage.typescript.reader import FreshError, TypeScriptFile
from protocontract_ci.verdicts.evidence import UNKNOWN, Evidence, Laboratory, RunExperiments, Subject
from protocontract_ci.verdicts.for_file import FileOfModule
from protocontract_ci.verdicts.judge import Judge, role_of
from protocontract_ci.verdicts.literals import Literals
from protocontract_compiler import ir

_RENAMES: Final = ("field_renamed", "renamed_or_reused", "enum_value_renamed", "oneof_renamed")


@dataclass
class TypeScriptExperiments(RunExperiments):
    """One TypeScript file. ``runners`` are for the state before and after."""

    laboratory: Laboratory
    found: TypeScriptFile
    file: str
    before: Contracts
    after: Contracts
    runners: tuple[NodeRunner, NodeRunner]
    language: Language = "typescript"
    #: Functions of the file that modules.toml names as entry points.
    named: frozenset[str] = frozenset()

    @property
    def entries(self) -> list[Entry]:
        """See RunExperiments."""
        if not self.laboratory.execute:
            return []
        return [
            Entry(
                each.name,
                tuple(Parameter(kind, message) for kind, message in each.parameters),
                each.lines,
                each.returns,
                each.name in self.named,
            )
            for each in self.found.functions
        ]

    def _ran(self, side: int, calls: Sequence[Call]) -> Ran:
        return self.runners[side].run(self.file, calls)

    def readers(self, subject: Subject, uses: Sequence[Use]) -> Evidence:
        """See Experiments: by running, and where nothing could be run by what the code has for every value."""
        told = super().readers(subject, uses)
        if told.result != "unknown" or not all(use.certain and self._takes_any(use) for use in uses):
            return told
        return Evidence("passes")

    def _takes_any(self, use: Use) -> bool:
        """Whether a place has an answer to whatever the field holds: it shows it, or has a branch for all others."""
        kinds = self.found.loose.get((use.line, use.path))
        return use.how == "has" or (kinds is not None and kinds <= {"text", "handled"})

    def writers(self, subject: Subject, uses: Sequence[Use]) -> Evidence:
        """See Experiments: by the literals, and where these say nothing by what is written when functions run."""
        told = Literals(self.found, self.laboratory.maker).writers(subject, uses)
        return told if told.result != "unknown" else super().writers(subject, uses)

    def both(self, subject: Subject, uses: Sequence[Use], *, results: bool) -> Evidence:
        """See Experiments: what another type does is for the compiler to say."""
        return super().both(subject, uses, results=results) if results else UNKNOWN

    def cured(self, subject: Subject, uses: Sequence[Use]) -> bool:
        """See Experiments: one value or many is for the compiler to say."""
        del subject, uses
        return False

    def types(self, uses: Sequence[Use]) -> Evidence:
        """See Experiments. It passes where the compiler sees the value at every place, and finds nothing new."""
        paths = {use.path for use in uses}
        lines: set[int] = set()
        for error in self.found.errors:
            named = [line for path, line in error.paths if path in paths]
            if named:
                lines |= {line for line in named if line} | {error.line}
        if lines:
            return Evidence("fails", tuple(sorted(lines)))
        seen = all(use.certain and use.how not in ("json_name", "reflection") and not self._hidden(use) for use in uses)
        return Evidence("passes") if seen else UNKNOWN

    def _hidden(self, use: Use) -> bool:
        """Whether a value of another type goes unnoticed: in a text, in JSON, or as anything."""
        kinds = self.found.loose.get((use.line, use.path), set()) - {"handled", ""}
        if kinds == {"text"}:
            return not all(self._is_number(contracts, use.path) for contracts in (self.before, self.after))
        return bool(kinds)

    def _is_number(self, contracts: Contracts, path: str) -> bool:
        """Whether the field is a number on this side: number and bigint show the same digits."""
        name, _, short = path.rpartition(".")
        message = contracts.schema.messages.get(name)
        field = next((each for each in message.fields if each.name == short), None) if message is not None else None
        # Under another name on this side: no longer told apart from a number here.
        return field is None or (field.shape is ir.Shape.SINGULAR and field.type in ir.INTEGER_TYPES | ir.FLOAT_TYPES)


# ----------------------------------------------------------------------------------------------------------------------
# Findings


def findings(judge: Judge, changes: Sequence[Change], file: FileOfModule, found: TypeScriptFile) -> list[Finding]:
    """The findings of the judge, and one for each new type error that none of them explains."""
    experiments = file.experiments
    assert isinstance(experiments, TypeScriptExperiments)
    silent = {change.id for change in changes if _keeps_name(change, experiments.before, experiments.after)}
    result = [each for each in judge.findings(file) if each.change.id not in silent or _by_text(each, file)]
    explained = {line for each in result if each.verdict == "not_adapted" for line in (*each.lines, *each.related)}
    for error in found.errors:
        if error.line in explained:
            continue
        change = _cause(error, changes)
        if change is None or f"{change.path} {change.step}" in file.acknowledged:
            continue
        named = {line for path, line in error.paths if line and path in _names(change)}
        known = next((each for each in result if each.change is change and each.verdict == "not_adapted"), None)
        found_already = set(known.lines) if known is not None else set[int]()
        if change.direction == "added":
            # Of what is missing for something new, a dispatch or else the compiler knows the place: names that stay are
            # no mistake.
            lines = found_already or {error.line}
        else:
            lines = (named or {error.line}) | found_already
        explained |= {error.line}
        related = {error.line, *named, *(known.related if known is not None else ())} - lines
        result = [each for each in result if each.change is not change]
        result.append(
            Finding(
                file.module, file.file, "not_adapted", "does not type-check against the new contract", change,
                role_of(file.uses, change), tuple(sorted(lines)), tuple(sorted(related)),
            )
        )  # fmt: skip
    return result


def _by_text(finding: Finding, file: FileOfModule) -> bool:
    """Whether a finding is about names in JSON, which are others than those of properties."""
    return any(use.line in finding.lines and use.how in ("json_name", "reflection") for use in file.uses)


def _keeps_name(change: Change, before: Contracts, after: Contracts) -> bool:
    """Whether an element has another name that is the same in TypeScript: ``coupon_code`` and ``couponCode``."""
    element = change.element
    if change.kind not in _RENAMES:
        return False
    if element.kind != "enum_value":
        return property_name(element.short_name) == property_name(element.new_short_name)
    old, new = before.schema.enums.get(element.message), after.schema.enums.get(element.new_message)
    if old is None or new is None or element.message != element.new_message:
        return False
    return member_names(old).get(element.short_name) == member_names(new).get(element.new_short_name)


def _cause(error: FreshError, changes: Sequence[Change]) -> Change | None:
    """The change that an error most likely comes from: one of an element that it names, or of what is around it."""
    breaking = [each for each in changes if each.compatibility.typescript == "breaking"]
    others = [each for each in changes if each.direction in ("added", "breaking") and each not in breaking]
    for candidates in (breaking, others):
        for names in (_names, _around):
            for path, _ in error.paths:
                for change in candidates:
                    if path in names(change):
                        return change
    return next(iter(breaking), None)


def _names(change: Change) -> set[str]:
    element = change.element
    found = {element.name, element.new_name, element.oneof, element.new_oneof}
    if element.kind == "enum_value":
        found = {change.path, f"{element.new_message}.{element.new_short_name}", element.message, element.new_message}
    return found - {""}


def _around(change: Change) -> set[str]:
    return {change.element.message, change.element.new_message} - {""}
