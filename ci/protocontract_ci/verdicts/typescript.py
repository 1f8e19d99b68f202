"""What can be found out about a TypeScript file beyond its uses: by the compiler, and by the literals that it writes.

Nothing is run. A type error that is new against the new declarations is a failure, whatever the change is called; a
literal that is written into a message is judged by both validators.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Any, Final, Literal

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from protocontract_ci.execution.entries import Entry
from protocontract_ci.execution.samples import SampleMaker
from protocontract_ci.model import Change, Finding, Language, Use, Witness
from protocontract_ci.sources import Contracts
from protocontract_ci.usage.typescript.names import member_names, property_name
from protocontract_ci.usage.typescript.reader import FreshError, TypeScriptFile, Written
from protocontract_ci.verdicts.evidence import UNKNOWN, Evidence, Subject
from protocontract_ci.verdicts.judge import FileOfModule, Judge, role_of
from protocontract_compiler import ir

#: Most combinations of literals that are tried at one place.
_MOST: Final = 64
_RENAMES: Final = ("field_renamed", "renamed_or_reused", "enum_value_renamed", "oneof_renamed")


@dataclass
class TypeScriptExperiments:
    """One TypeScript file."""

    found: TypeScriptFile
    before: Contracts
    after: Contracts
    maker: SampleMaker
    language: Language = "typescript"

    def readers(self, subject: Subject, uses: Sequence[Use]) -> Evidence:
        """See Experiments: nothing is run."""
        del subject, uses
        return UNKNOWN

    def both(self, subject: Subject, uses: Sequence[Use], *, results: bool) -> Evidence:
        """See Experiments: nothing is run."""
        del subject, uses, results
        return UNKNOWN

    def cured(self, subject: Subject, uses: Sequence[Use]) -> bool:
        """See Experiments: nothing is run."""
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
        kinds = self.found.loose.get((use.line, use.path), set())
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

    # -- what is written

    def writers(self, subject: Subject, uses: Sequence[Use]) -> Evidence:
        """See Experiments: literals in the place of fields, in a message that is valid otherwise."""
        results = [(site, *self._judged(subject, site)) for site in self._sites(subject, uses)]
        refused = [(site, data) for site, result, data in results if result == "fails"]
        if refused:
            lines = sorted({line for site, _ in refused for line in site.lines})
            entries = tuple(Entry("", (), (line, line)) for line in lines)
            witness = Witness(subject.old, refused[0][1], "before", confirmed=True)
            return Evidence("fails", entries=entries, witness=witness)
        return Evidence("passes") if results and all(each[1] == "passes" for each in results) else UNKNOWN

    def _sites(self, subject: Subject, uses: Sequence[Use]) -> Iterator[_Site]:
        paths = {f"{message}.{name}": name for message in (subject.old, subject.new) for name in subject.fields}
        written = [each for each in self.found.written if each.path in paths]
        used = {use.line for use in uses}
        taken: set[Written] = set()
        for built in self.found.built:
            if built.message not in (subject.old, subject.new):
                continue
            values: dict[str, Sequence[Mapping[str, Any]] | None] = {}
            lines = {built.line}
            for path, name in paths.items():
                inside = [each for each in written if path in built.fields and each.path == path and each not in taken]
                here = min(inside, key=lambda each: abs(each.line - built.line), default=None)
                if here is not None:
                    taken.add(here)
                    values[name] = here.literals
                    lines = {here.line} if built.line in lines and len(lines) == 1 else lines | {here.line}
                elif path in built.fields:
                    values[name] = None
                elif name not in values:
                    later = any(each.path == path for each in written)
                    values[name] = None if built.open or later else ({"unset": True},)
            if lines & used or built.line in used:
                yield _Site(tuple(sorted(lines)), values)
        for each in written:
            if each not in taken and each.line in used:
                rest: dict[str, Sequence[Mapping[str, Any]] | None] = dict.fromkeys(subject.fields)
                yield _Site((each.line,), {**rest, paths[each.path]: each.literals})

    def _judged(self, subject: Subject, site: _Site) -> tuple[Literal["fails", "passes", "unknown"], bytes]:
        """Whether what is written there is refused by the new state alone; the message that is."""
        if any(values is None for values in site.values.values()):
            return "unknown", b""
        kept = False
        names = list(site.values)
        choices = [site.values[name] or () for name in names]
        for values in islice(product(*choices), _MOST):
            for side in (1, 0):
                data = self._message(subject, side, dict(zip(names, values, strict=True)))
                if data is None or not self.maker.judges[0].accepts(subject.old, data):
                    # What was refused before is nothing new.
                    continue
                accepted = self.maker.judges[1].accepts(subject.new, data)
                if accepted is False:
                    return "fails", data
                kept = kept or accepted is True
                break
        return ("passes" if kept else "unknown"), b""

    def _message(self, subject: Subject, side: int, values: Mapping[str, Mapping[str, Any]]) -> bytes | None:
        name = (subject.old, subject.new)[side]
        try:
            message = self.maker.judges[side].new(name)
            message.ParseFromString(self.maker.base(subject.old, subject.new, side))
        except KeyError:
            # The message exists on one side only.
            return None
        for field, value in values.items():
            descriptor = message.DESCRIPTOR.fields_by_name.get(field)
            if descriptor is None:
                continue
            message.ClearField(field)
            if not _assign(message, descriptor, value):
                return None
        return message.SerializePartialToString(deterministic=True)


@dataclass(frozen=True, slots=True)
class _Site:
    """A place where fields are written: literals by field, None where they are not known."""

    lines: tuple[int, ...]
    values: Mapping[str, Sequence[Mapping[str, Any]] | None]


def _assign(message: Message, descriptor: Any, value: Mapping[str, Any]) -> bool:
    """Whether the literal is a value of the field, which then holds it."""
    if "unset" in value:
        return True
    try:
        if "list" in value:
            items = [_plain(descriptor, each) for each in value["list"]]
            getattr(message, descriptor.name).extend(items)
        else:
            setattr(message, descriptor.name, _plain(descriptor, value))
    except (TypeError, ValueError, AttributeError):
        # Out of the field's range, or a message.
        return False
    return True


def _plain(descriptor: Any, value: Mapping[str, Any]) -> object:
    if "integer" in value:
        return int(value["integer"])
    if "number" in value:
        number = value["number"]
        is_float = descriptor.cpp_type in (FieldDescriptor.CPPTYPE_DOUBLE, FieldDescriptor.CPPTYPE_FLOAT)
        return float(number) if is_float else int(number)
    if "flag" in value:
        return value["flag"]
    return value["text"]


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
        lines = {line for path, line in error.paths if line and path in _names(change)} or {error.line}
        explained |= {error.line}
        known = next((each for each in result if each.change is change and each.verdict == "not_adapted"), None)
        lines |= set(known.lines) if known is not None else set()
        related = {error.line, *(known.related if known is not None else ())} - lines
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
