"""Judges one file of a module: each change of the contracts against the file's uses, and what experiments say.

The answer says what the change means for the file: the lines that have not adapted, or that they have, or that the
change cannot hurt it. ``elements`` answers for what protobuf itself knows; here is what our words and rules promise.
Which questions are open in the field, and what is chosen, stands in docs/gate.md (D1 to D17).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

from protocontract_ci.model import Change, Finding, Proof, Role, Use
from protocontract_ci.sources import Contracts
from protocontract_ci.usage.python.decide import VIOLATION
from protocontract_ci.usage.python.own_api import error_constant
from protocontract_ci.verdicts.elements import ELEMENTS, Means
from protocontract_ci.verdicts.evidence import UNKNOWN, Subject
from protocontract_ci.verdicts.for_file import (
    BY_NAME,
    READS,
    UNAFFECTED,
    WRITES,
    FileOfModule,
    Meaning,
    demands_presence,
    named,
    not_adapted,
    shown_by,
    subject_of,
    worst,
)

if TYPE_CHECKING:
    from protocontract_ci.meaning.judges import Judges

#: Kinds of changes of what records are accepted, and of what they become.
_OF_RULES: Final = ("rule_", "cel_", "ignore_", "normalizer_", "relation_")


class Judge:
    """Judges files against the changes between two states."""

    def __init__(self, before: Contracts, after: Contracts, changes: Sequence[Change]) -> None:
        self._before = before
        self._after = after
        self._changes = changes

    def findings(self, file: FileOfModule) -> list[Finding]:
        """One finding for each change that touches the file."""
        found = []
        for change in self._changes:
            meaning = self._meaning(change, file)
            if meaning.verdict == "not_adapted" and not file.acknowledged.isdisjoint(change.acknowledgements):
                meaning = replace(meaning, verdict="adapted", because="acknowledged in the code", lines=(), related=())
            if meaning.verdict != "unaffected":
                found.append(self._finding(change, file, meaning))
        return found

    def _finding(self, change: Change, file: FileOfModule, meaning: Meaning) -> Finding:
        related = tuple(line for line in meaning.related if line not in meaning.lines)
        return Finding(
            file.module, file.file, meaning.verdict, meaning.because, change, role_of(file.uses, change), meaning.lines,
            related, meaning.proof, meaning.witness or (change.witness if meaning.verdict == "not_adapted" else None),
            meaning.decision,
        )  # fmt: skip

    def _meaning(self, change: Change, file: FileOfModule) -> Meaning:
        if change.acknowledge and change.kind == "field_added":
            return _demanded(change, file)
        rule = _RULES.get(change.kind)
        if rule is not None:
            return rule(change, file)
        return self._rule(change, file) if change.kind.startswith(_OF_RULES) else UNAFFECTED

    # -- rules

    def _rule(self, change: Change, file: FileOfModule) -> Meaning:
        """D6: a tighter rule hits writers, a looser one readers, one that is neither hits both."""
        if change.after is None or change.kind == "rule_moved":
            element, rule = change.element, change.path.partition("@")[2]
            field_name = element.short_name if element.kind == "field" else ""
            name = error_constant(self._before.schema, element.message or element.name, field_name, rule)
            if name and (codes := [use for use in file.uses if use.path == name]):
                return not_adapted("waits for an error code that is never reported again", codes)
        if change.direction == "neutral":
            return _moved_rule(change, file)
        subject = self._subject(change)
        uses = self._uses_of(subject, file)
        parts = []
        if change.direction in ("tightened", "breaking"):
            parts.append(self._writers(change, file, subject, uses))
        if change.direction in ("loosened", "breaking"):
            parts.append(self._readers(change, file, subject, uses))
        return worst(parts)

    def _subject(self, change: Change) -> Subject:
        element = change.element
        old = element.message or element.new_message
        new = element.new_message or element.message
        if element.kind == "message":
            old, new = element.name or element.new_name, element.new_name or element.name
        if element.kind in ("field", "oneof") and "@" in change.path:
            return subject_of(change)
        return Subject(old, new, self._read_by(change, old, new), shown=shown_by(change, old, new))

    def _read_by(self, change: Change, old: str, new: str) -> tuple[str, ...]:
        """The fields that a rule of the whole message reads; all of them where it does not say."""
        word = change.path.partition("@")[2]
        found: dict[str, None] = {}
        for contracts, name in ((self._before, old), (self._after, new)):
            if name not in contracts.schema.messages:
                continue
            message = contracts.lowered(name)
            for check in message.rules.checks:
                if check.program is not None and word in (f"cel[{check.rule_id}]", f"cel_expression[{check.rule_id}]"):
                    found.update(dict.fromkeys(sorted(check.program.reads)))
            for relation in (each for declared in message.fields for each in declared.relations):
                if word.startswith(relation.kind):
                    found.update(dict.fromkeys(declared.name for declared in message.fields))
        if not found and new in self._after.schema.messages:
            found.update(dict.fromkeys(each.name for each in self._after.schema.messages[new].fields))
        return tuple(found)

    def _uses_of(self, subject: Subject, file: FileOfModule) -> list[Use]:
        paths = {f"{message}.{name}" for message in (subject.old, subject.new) for name in subject.fields}
        return [use for use in file.uses if use.path in paths]

    def _writers(self, change: Change, file: FileOfModule, subject: Subject, uses: Sequence[Use]) -> Meaning:
        writes = [use for use in uses if use.how in WRITES]
        built = [use for use in file.uses if use.how == "construct" and use.path in (subject.old, subject.new)]
        sites = writes or built
        if not sites:
            return UNAFFECTED
        evidence = file.experiments.writers(subject, sites)
        if evidence.result == "fails":
            held = [use for use in sites if any(entry.holds(use.line) for entry in evidence.entries)] or sites
            return not_adapted("writes a value that the new rule refuses", held, evidence, proof="witness")
        if not writes and not demands_presence(change) and not self._refuses_unset_now(change, subject):
            # It leaves the field out, and nothing shows that this is refused now.
            return UNAFFECTED
        if evidence.result == "passes":
            return Meaning("adapted", "what it writes keeps the new rule", proof="witness")
        if not writes:
            return not_adapted("builds the message without this field", built, UNKNOWN)
        if demands_presence(change):
            return Meaning("adapted", "sets the field")
        because = "writes this field, and nothing shows that its values keep the new rule"
        return not_adapted(because, writes, UNKNOWN, proof="unresolved")

    @cached_property
    def _validators(self) -> tuple[Judges, Judges]:
        """Of before and after. The validators take long to import, and are not asked where nothing is left out."""
        from protocontract_ci.meaning.judges import Judges

        return Judges(self._before), Judges(self._after)

    def _refuses_unset_now(self, change: Change, subject: Subject) -> bool:
        """Whether who leaves the field out is refused now and was not: the rule refuses the empty value of a field
        without presence.
        """
        element = change.element
        if element.kind != "field" or not element.short_name or not element.new_short_name:
            return False
        before, after = self._validators
        return after.refuse_unset(subject.new, element.new_short_name) and not before.refuse_unset(
            subject.old, element.short_name
        )

    def _readers(self, change: Change, file: FileOfModule, subject: Subject, uses: Sequence[Use]) -> Meaning:
        reads = [use for use in uses if use.how in READS]
        if not reads:
            return UNAFFECTED
        evidence = file.experiments.readers(subject, reads)
        if evidence.result == "fails":
            held = [use for use in reads if any(entry.holds(use.line) for entry in evidence.entries)] or reads
            return not_adapted("fails on a message that the new rule lets in", held, evidence, proof="witness")
        if evidence.result == "passes":
            proof: Proof = "witness" if evidence.entries else "static"
            return Meaning("adapted", "copes with what the new rule lets in", proof=proof)
        because = "reads this field, and nothing shows that it copes with what the new rule lets in"
        return not_adapted(because, reads, UNKNOWN, proof="unresolved")


def role_of(uses: Iterable[Use], change: Change) -> Role:
    """What a file does with the message of a change."""
    element = change.element
    names = (element.name, element.new_name) if element.kind in ("message", "enum", "service") else ()
    scopes = {name for name in (element.message, element.new_message, *names) if name}
    touching = [use for use in uses if use.path in scopes or use.path.rpartition(".")[0] in scopes]
    writes = any(use.how in WRITES for use in touching)
    reads = any(use.how in READS and use.path not in scopes for use in touching)
    return "both" if reads and writes else "writer" if writes else "reader" if reads else "unknown"


# ----------------------------------------------------------------------------------------------------------------------
# What a contract promises beyond its elements


def _moved_rule(change: Change, file: FileOfModule) -> Meaning:
    """D12: the same records are accepted, but a violation names another rule or place."""
    if change.kind != "rule_moved" and not (change.kind in ("rule_removed", "cel_removed") and change.before):
        return UNAFFECTED
    rule = change.path.partition("@")[2]
    rule = rule.removeprefix("cel[").removesuffix("]") if rule.startswith("cel[") else rule
    messages = {change.element.message, change.element.new_message, change.element.name} - {""}
    touches = any(use.path in messages or use.path.rpartition(".")[0] in messages for use in file.uses)
    uses = [use for use in file.uses if use.path == VIOLATION and (not use.text or use.text.startswith(rule))]
    if touches and uses:
        return not_adapted("reads which rule a violation is of or where it is, and this one is another now", uses)
    return UNAFFECTED


def _demanded(change: Change, file: FileOfModule) -> Meaning:
    """The contract demands that whoever uses the message uses the new field, or says that it ignores it."""
    element = change.element
    message = element.new_message
    uses = [use for use in file.uses if use.path == message or use.path.rpartition(".")[0] == message]
    if not uses:
        return UNAFFECTED
    if named(file, element.new_name):
        return Meaning("adapted", "uses the new field")
    sites = [use for use in uses if use.how not in BY_NAME] or uses
    return not_adapted("neither uses the new field nor says that it ignores it", sites, decision="D5")


def _unit(change: Change, file: FileOfModule) -> Meaning:
    """D13: the number means something else, and no run can show it."""
    uses = named(file, change.element.name, change.element.new_name)
    return not_adapted(f"the number was in {change.before}; it is in {change.after} now", uses) if uses else UNAFFECTED


def _level(change: Change, file: FileOfModule) -> Meaning:
    """D14: a tighter level hits writers, a looser one readers that have a threshold of their own."""
    message = change.element.new_name or change.element.name
    uses = [use for use in file.uses if use.path == message or use.path.rpartition(".")[0] == message]
    old, new = _promised(change.before), _promised(change.after)
    if not uses or old is None or new is None:
        return UNAFFECTED
    writes = [use for use in uses if use.how in WRITES]
    strict, lax = (old, new) if change.direction == "loosened" else (new, old)
    own = [each for each in file.thresholds if each.compared or change.direction == "tightened"]
    if change.direction == "tightened" and not writes:
        return UNAFFECTED
    # What was right by the old level and is not by the new one.
    missed = [each for each in own if _between(each.value, strict, lax, closed_at=old)]
    if missed:
        because = f"works by {missed[0].value:g}, which is no measure any more: the level went from {change.before}"
        lines = tuple(sorted({each.line for each in missed}))
        related = tuple(sorted({each.origin for each in missed if each.origin}))
        return Meaning("not_adapted", f"{because} to {change.after}", lines, related, decision="D14")
    loosened = change.direction == "loosened"
    if any(
        _between(each.value, 0.0, strict, closed_at=strict)
        or (_keeps(each.value, strict, lax) if loosened else each.value == new)
        for each in own
    ):
        return Meaning("adapted", "works by a number that keeps the new level")
    if change.direction == "tightened":
        because = "writes the stream, and nothing shows that it keeps the tighter level"
        return not_adapted(because, writes, proof="unresolved", decision="D14")
    return UNAFFECTED


def _promised(value: object) -> float | None:
    """A level as a number: durations in seconds."""
    if isinstance(value, int | float):
        return float(value)
    text = str(value or "")
    try:
        return float(text.removesuffix("s"))
    except ValueError:
        return None


def _keeps(value: float, strict: float, lax: float) -> bool:
    """Whether a number is one for the laxer level, or for a still laxer one of the same order of magnitude."""
    return lax <= value <= 10 * lax if strict < lax else lax / 10 <= value <= lax


def _between(value: float, one: float, other: float, *, closed_at: float) -> bool:
    low, high = sorted((one, other))
    return low < value < high or value == closed_at


_RULES: Final[dict[str, Means]] = {
    **ELEMENTS,
    "unit_changed": _unit,
    "currency_changed": _unit,
    "level_changed": _level,
}
