"""Judges one file of a module: each change of the contracts against the file's uses, and what experiments say.

Every kind of change has one function here. It returns what the change means for the file: the lines that have not
adapted, or that they have, or that the change cannot hurt it. Which questions are open in the field, and what is
chosen, stands in docs/gate.md (D1 to D17).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from protocontract_ci.model import Change, Finding, How, Proof, Role, Use, Verdict, Witness
from protocontract_ci.sources import Contracts
from protocontract_ci.usage.python.decide import VIOLATION
from protocontract_ci.usage.python.own_api import error_constant
from protocontract_ci.usage.python.thresholds import Threshold
from protocontract_ci.verdicts.evidence import UNKNOWN, Evidence, Experiments, Subject

_WRITES: Final[frozenset[How]] = frozenset({"write", "construct", "clear"})
_READS: Final[frozenset[How]] = frozenset(
    {"read", "has", "which_oneof", "json_name", "reflection", "match_open", "match_closed"}
)
_BY_NAME: Final[frozenset[How]] = frozenset({"import", "type_only"})


#: Kinds of changes of what records are accepted, and of what they become.
_OF_RULES: Final = ("rule_", "cel_", "ignore_", "normalizer_", "relation_")


@dataclass(frozen=True, slots=True)
class Meaning:
    """What one change means for a file."""

    verdict: Verdict
    because: str = ""
    lines: tuple[int, ...] = ()
    related: tuple[int, ...] = ()
    proof: Proof = "static"
    witness: Witness | None = None
    decision: str = ""


_UNAFFECTED: Final = Meaning("unaffected")


@dataclass
class FileOfModule:
    """A file with its uses. ``acknowledged`` are the changes that it names, as ``path step``."""

    module: str
    file: str
    uses: Sequence[Use]
    experiments: Experiments
    acknowledged: frozenset[str] = frozenset()
    #: The numbers that it compares with, waits for or works by.
    thresholds: Sequence[Threshold] = ()


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
        return self._rule(change, file) if change.kind.startswith(_OF_RULES) else _UNAFFECTED

    # -- rules

    def _rule(self, change: Change, file: FileOfModule) -> Meaning:
        """D6: a tighter rule hits writers, a looser one readers, one that is neither hits both."""
        if change.after is None or change.kind == "rule_moved":
            element, rule = change.element, change.path.partition("@")[2]
            field_name = element.short_name if element.kind == "field" else ""
            name = error_constant(self._before.schema, element.message or element.name, field_name, rule)
            if name and (codes := [use for use in file.uses if use.path == name]):
                return _not_adapted("waits for an error code that is never reported again", codes)
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
            return _subject_of(change)
        return Subject(old, new, self._read_by(change, old, new), shown=_shown_by(change, old, new))

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
        writes = [use for use in uses if use.how in _WRITES]
        built = [use for use in file.uses if use.how == "construct" and use.path in (subject.old, subject.new)]
        sites = writes or built
        if not sites:
            return _UNAFFECTED
        evidence = file.experiments.writers(subject, sites)
        if evidence.result == "fails":
            held = [use for use in sites if any(entry.holds(use.line) for entry in evidence.entries)] or sites
            return _not_adapted("writes a value that the new rule refuses", held, evidence, proof="witness")
        if not writes and not _demands_presence(change):
            # It leaves the field out, and nothing shows that this is refused now.
            return _UNAFFECTED
        if evidence.result == "passes":
            return Meaning("adapted", "what it writes keeps the new rule", proof="witness")
        if not writes:
            return _not_adapted("builds the message without this field", built, UNKNOWN)
        if _demands_presence(change):
            return Meaning("adapted", "sets the field")
        because = "writes this field, and nothing shows that its values keep the new rule"
        return _not_adapted(because, writes, UNKNOWN, proof="unresolved")

    def _readers(self, change: Change, file: FileOfModule, subject: Subject, uses: Sequence[Use]) -> Meaning:
        reads = [use for use in uses if use.how in _READS]
        if not reads:
            return _UNAFFECTED
        evidence = file.experiments.readers(subject, reads)
        if evidence.result == "fails":
            held = [use for use in reads if any(entry.holds(use.line) for entry in evidence.entries)] or reads
            return _not_adapted("fails on a message that the new rule lets in", held, evidence, proof="witness")
        if evidence.result == "passes":
            proof: Proof = "witness" if evidence.entries else "static"
            return Meaning("adapted", "copes with what the new rule lets in", proof=proof)
        because = "reads this field, and nothing shows that it copes with what the new rule lets in"
        return _not_adapted(because, reads, UNKNOWN, proof="unresolved")


def role_of(uses: Iterable[Use], change: Change) -> Role:
    """What a file does with the message of a change."""
    element = change.element
    names = (element.name, element.new_name) if element.kind in ("message", "enum", "service") else ()
    scopes = {name for name in (element.message, element.new_message, *names) if name}
    touching = [use for use in uses if use.path in scopes or use.path.rpartition(".")[0] in scopes]
    writes = any(use.how in _WRITES for use in touching)
    reads = any(use.how in _READS and use.path not in scopes for use in touching)
    return "both" if reads and writes else "writer" if writes else "reader" if reads else "unknown"


def worst(meanings: Sequence[Meaning]) -> Meaning:
    """The worst of several meanings, the first one of its kind."""
    order: tuple[Verdict, ...] = ("not_adapted", "unverified", "adapted", "unaffected")
    return min(meanings, key=lambda meaning: order.index(meaning.verdict), default=_UNAFFECTED)


# ----------------------------------------------------------------------------------------------------------------------
# Helpers


def _not_adapted(
    because: str, uses: Iterable[Use], evidence: Evidence = UNKNOWN, *, proof: Proof = "static", decision: str = ""
) -> Meaning:
    uses = list(uses)
    lines = tuple(sorted({use.line for use in uses}))
    related = tuple(sorted({use.origin for use in uses if use.origin} | set(evidence.lines)))
    if any(not use.certain for use in uses) and all(not use.certain for use in uses):
        proof, decision = "unresolved", decision or "D7"
    return Meaning("not_adapted", because, lines, related, proof, evidence.witness, decision)


def _named(file: FileOfModule, *paths: str) -> list[Use]:
    """The uses of elements by their full names."""
    return [use for use in file.uses if use.path in paths and use.path]


def _old_and_new(change: Change) -> tuple[str, str]:
    element = change.element
    if element.kind == "file":
        return element.file, element.new_file
    if element.kind == "enum_value":
        # Within its enum, as changes and uses say it.
        new = f"{element.new_message}.{element.new_short_name}" if element.new_name else ""
        return change.path, new
    return element.name, element.new_name


def _demands_presence(change: Change) -> bool:
    return change.path.endswith("@required")


# ----------------------------------------------------------------------------------------------------------------------
# One function for each kind of change

_Rule: TypeAlias = Callable[[Change, FileOfModule], Meaning]


def _gone(change: Change, file: FileOfModule) -> Meaning:
    """An element that is not there any more under its name."""
    old, new = _old_and_new(change)
    uses = [use for use in _named(file, old) if _by_that_name(change, use)]
    if uses:
        because = f"uses {old.rpartition('.')[2]}, which is gone"
        if new and new != old:
            because = f"uses the old name {old.rpartition('.')[2]}; it is {new.rpartition('.')[2]} now"
        imports = [use for use in uses if use.how in _BY_NAME]
        first = [use for use in imports if use.line == min(each.line for each in uses)]
        if first and first[0].how in ("import", "type_only") and change.element.kind != "field":
            rest = tuple(sorted({use.line for use in uses if use not in first}))
            return replace(_not_adapted(because, first), related=rest)
        return _not_adapted(because, uses)
    if new and new != old and any(_by_that_name(change, use) for use in _named(file, new)):
        return Meaning("adapted", f"uses the new name {new.rpartition('.')[2]}")
    return _UNAFFECTED


def _by_that_name(change: Change, use: Use) -> bool:
    """Whether a use is one of the name that is gone: not of the message without it, nor of a number that stays."""
    if change.element.kind == "message":
        return use.named and use.how != "call"
    return not (change.kind == "enum_value_renamed" and use.text.lstrip("-").isdigit())


def _moved(change: Change, file: FileOfModule) -> Meaning:
    """A message or enum in another package or file: code follows files, texts and descriptors follow full names."""
    old, new = _old_and_new(change)
    uses = _named(file, old)
    texts = [use for use in uses if use.how == "reflection"]
    if texts:
        return _not_adapted("names the old full name in a text", texts)
    if change.compatibility.of(file.experiments.language) == "breaking" and uses:
        # Python says by each name which module it is taken from; other readers say the imported file alone.
        apart = file.experiments.language == "python"
        uses = [use for use in uses if use.named and (use.text == change.element.file or not apart)]
        imports = [use for use in uses if use.how in _BY_NAME]
        first = [use for use in imports if use.line == min(each.line for each in uses)]
        if uses:
            found = _not_adapted("imports it from where it was", first or uses)
            return replace(found, related=tuple(sorted({use.line for use in uses} - set(found.lines))))
        if _named(file, change.element.new_file):
            return Meaning("adapted", f"imports it from {change.element.new_file}")
    # In one file both full names belong to one name of the module.
    if any(use.how == "call" for use in _named(file, old, new)):
        return Meaning("adapted", "asks the descriptor for the full name")
    return _UNAFFECTED


def _renumbered(change: Change, file: FileOfModule) -> Meaning:
    uses = _named(file, _old_and_new(change)[0])
    return _not_adapted("stands on the old number", uses) if uses else _UNAFFECTED


def _presence(change: Change, file: FileOfModule) -> Meaning:
    uses = _named(file, change.element.name, change.element.new_name)
    if not uses or change.compatibility.of(file.experiments.language) != "breaking":
        return _UNAFFECTED
    asked = [use for use in uses if use.how == "has"]
    if change.after == "explicit":
        # Asking was idle before; whether the value may be missing is for the type checker.
        return Meaning("adapted", "copes with a field that may not be set")
    if asked:
        return _not_adapted("asks for the presence of a field that has none any more", asked)
    return Meaning("adapted", "does not ask whether the field is set")


def _default(change: Change, file: FileOfModule) -> Meaning:
    reads = [use for use in _named(file, change.element.name, change.element.new_name) if use.how in _READS]
    if not reads:
        return _UNAFFECTED
    evidence = file.experiments.both(_subject_of(change), reads, results=True)
    if evidence.result == "fails":
        return _not_adapted("an unset field reads differently now", reads, evidence, proof="witness")
    if evidence.result == "passes" or any(use.how == "has" for use in reads):
        return Meaning("adapted", "does not rest on the default", proof="witness" if evidence.entries else "static")
    return _not_adapted("an unset field reads differently now", reads)


def _subject_of(change: Change) -> Subject:
    element = change.element
    names = (element.short_name, element.new_short_name)
    return Subject(
        element.message or element.new_message,
        element.new_message or element.message,
        tuple(dict.fromkeys(name for name in names if name)),
        demanded=_demands_presence(change),
        shown=_shown_by(change, element.message, element.new_message),
    )


def _shown_by(change: Change, *messages: str) -> tuple[bytes, ...]:
    """The witness of a change, where it is of the message that is asked about."""
    witness = change.witness
    return (witness.data,) if witness is not None and witness.message in messages else ()


def _type(change: Change, file: FileOfModule) -> Meaning:
    """Another type: what code sees, and what JSON shows."""
    uses = _named(file, change.element.name, change.element.new_name)
    keys = [use for use in uses if use.how in ("json_name", "reflection")]
    others = [use for use in uses if use not in keys]
    parts = []
    if file.experiments.language == "python":
        compared = [use for use in others if use.text and _comparable(use.text, change.before)]
        strange = [use for use in compared if not _comparable(use.text, change.after)]
        if strange:
            return _not_adapted("compares the value with one of the old type", strange)
        if {change.before, change.after} <= _INTEGERS:
            # An int either way: only what is written may be out of range.
            others = [use for use in others if use.how in _WRITES]
    if keys and change.compatibility.json == "breaking":
        parts.append(_by_experiment(change, file, keys, "its JSON has another type now"))
    if others and change.compatibility.of(file.experiments.language) == "breaking":
        parts.append(_by_experiment(change, file, others, "the value has another type now"))
    if not parts and change.compatibility.wire == "breaking":
        # The same code on another wire: nothing complains, and what was written before is misread.
        reads = [use for use in uses if use.how in _READS]
        parts += [_not_adapted("reads what was written before as another value", reads)] if reads else []
    return worst(parts)


_INTEGERS: Final = frozenset(
    f"{prefix}{width}" for prefix in ("int", "uint", "sint", "fixed", "sfixed") for width in (32, 64)
)


def _comparable(kind: str, declared: object) -> bool:
    """Whether a constant of a Python type may equal a value of a field's type, which is an enum's name for an enum."""
    if kind not in ("str", "bytes", "int", "float", "bool"):
        return True
    if declared == "string":
        return kind == "str"
    if declared == "bytes":
        return kind == "bytes"
    return kind not in ("str", "bytes")


def _by_experiment(change: Change, file: FileOfModule, uses: Sequence[Use], because: str) -> Meaning:
    types = file.experiments.types(uses)
    if types.result == "fails":
        return _not_adapted(because, [use for use in uses if use.line in types.lines] or uses, types)
    evidence = file.experiments.both(_subject_of(change), uses, results=False)
    if evidence.result == "fails":
        held = [use for use in uses if any(entry.holds(use.line) for entry in evidence.entries)] or uses
        return _not_adapted(because, held, evidence, proof="witness")
    if types.result == "passes" or evidence.result == "passes":
        return Meaning("adapted", "handles the new type", proof="static" if types.result == "passes" else "witness")
    return _not_adapted(because, uses)


def _cardinality(change: Change, file: FileOfModule) -> Meaning:
    """One value or many: code that runs on both is not thereby right, for a text is a list of letters, too."""
    uses = _named(file, change.element.name, change.element.new_name)
    if not uses:
        return _UNAFFECTED
    types = file.experiments.types(uses)
    if types.result == "fails":
        return _not_adapted("one value and many are handled differently", uses, types)
    if types.result == "passes" or file.experiments.cured(_subject_of(change), uses):
        return Meaning("adapted", "handles the new number of values")
    return _not_adapted("one value and many are handled differently", uses)


def _label(change: Change, file: FileOfModule) -> Meaning:
    """``required`` of proto2 that comes or goes."""
    subject = _subject_of(change)
    uses = _named(file, change.element.name, change.element.new_name)
    if change.after == "required":
        return _required_field(change, file)
    reads = [use for use in uses if use.how in _READS]
    if not reads:
        return _UNAFFECTED
    evidence = file.experiments.readers(subject, reads)
    if evidence.result == "fails":
        return _not_adapted("fails where the field is not set", reads, evidence, proof="witness")
    if evidence.result == "passes" or any(use.how == "has" for use in reads):
        return Meaning(
            "adapted", "copes with a field that is not set", proof="witness" if evidence.entries else "static"
        )
    return _not_adapted("reads a field that may not be set now", reads, proof="unresolved")


def _required_field(change: Change, file: FileOfModule) -> Meaning:
    """A field that proto2 requires: whoever serialises the message has to set it."""
    subject = _subject_of(change)
    messages = {subject.old, subject.new}
    sets = [use for use in _named(file, change.element.name, change.element.new_name) if use.how in _WRITES]
    whole = [use for use in file.uses if use.path in messages and use.how in ("construct", "write")]
    if not whole:
        return _UNAFFECTED
    evidence = file.experiments.both(subject, whole, results=False)
    if evidence.result == "fails":
        return _not_adapted("serialises the message without the required field", whole, evidence, proof="witness")
    if sets:
        return Meaning("adapted", "sets the field")
    return _not_adapted("serialises the message without the required field", whole)


def _field_added(change: Change, file: FileOfModule) -> Meaning:
    return _required_field(change, file) if change.direction == "breaking" else _UNAFFECTED


def _demanded(change: Change, file: FileOfModule) -> Meaning:
    """The contract demands that whoever uses the message uses the new field, or says that it ignores it."""
    element = change.element
    message = element.new_message
    uses = [use for use in file.uses if use.path == message or use.path.rpartition(".")[0] == message]
    if not uses:
        return _UNAFFECTED
    if _named(file, element.new_name):
        return Meaning("adapted", "uses the new field")
    sites = [use for use in uses if use.how not in _BY_NAME] or uses
    return _not_adapted("neither uses the new field nor says that it ignores it", sites, decision="D5")


def _out_of_oneof(change: Change, file: FileOfModule) -> Meaning:
    cases = [use for use in _named(file, change.element.name) if use.how == "which_oneof"]
    return _not_adapted("waits for a case that is never reported again", cases) if cases else _UNAFFECTED


def _into_oneof(change: Change, file: FileOfModule) -> Meaning:
    """D4: setting one member of a oneof now unsets this field, and the other way round."""
    uses = [use for use in _named(file, change.element.name, change.element.new_name) if use.how in _WRITES]
    opened = [
        use
        for use in _named(file, change.element.new_oneof)
        if use.how == "match_open" and change.element.new_short_name not in use.handles
    ]
    both = [*uses, *opened]
    return _not_adapted("sets a field that now excludes its neighbours", both) if both else _UNAFFECTED


def _case_added(change: Change, file: FileOfModule) -> Meaning:
    """D5: a reader without a fallback does not know the new case."""
    element = change.element
    uses = _named(file, element.new_oneof if element.kind == "field" else element.new_message)
    dispatches = [use for use in uses if use.how in ("match_open", "match_closed")]
    new = {element.new_short_name} | ({str(element.new_number)} if element.kind == "enum_value" else set())
    opened = [use for use in dispatches if use.how == "match_open" and new.isdisjoint(use.handles)]
    if opened:
        return _not_adapted("has no branch for the new case, and no fallback", opened)
    if dispatches and not any(new.isdisjoint(use.handles) for use in dispatches):
        return Meaning("adapted", "has a branch for the new case")
    return Meaning("adapted", "has a fallback") if any(use.how == "match_closed" for use in uses) else _UNAFFECTED


def _rpc(change: Change, file: FileOfModule) -> Meaning:
    uses = _named(file, change.element.name, change.element.new_name)
    if not uses:
        return _UNAFFECTED
    # What is done with the reply is part of the call.
    messages = {str(each) for each in (change.before, change.after)} if change.kind == "rpc_response_changed" else set()
    replies = [use for use in file.uses if use.path.rpartition(".")[0] in messages]
    types = file.experiments.types([*uses, *replies])
    if types.result == "passes":
        return Meaning("adapted", "handles the new form of the call")
    failing = [use for use in replies if use.line in types.lines and use.line not in {each.line for each in uses}]
    because = "calls or serves it in its old form"
    if failing:
        found = _not_adapted(because, failing, types)
        return replace(found, related=tuple(sorted({use.line for use in uses} - set(found.lines))))
    return _not_adapted(because, uses, types)


def _unit(change: Change, file: FileOfModule) -> Meaning:
    """D13: the number means something else, and no run can show it."""
    uses = _named(file, change.element.name, change.element.new_name)
    return (
        _not_adapted(f"the number was in {change.before}; it is in {change.after} now", uses) if uses else _UNAFFECTED
    )


def _json_name(change: Change, file: FileOfModule) -> Meaning:
    keys = [use for use in _named(file, change.element.name, change.element.new_name) if use.how == "json_name"]
    old = [use for use in keys if not use.text or use.text != change.after]
    if old:
        return _not_adapted("the key in JSON is another one now", old)
    return Meaning("adapted", f"uses the new key {change.after}") if keys else _UNAFFECTED


def _reused(change: Change, file: FileOfModule) -> Meaning:
    """D11: a field on a number that was kept free; old records may hold what the number meant before."""
    reads = [use for use in _named(file, change.reused_by) if use.how in _READS | {"enum_value"}]
    if not reads or change.before != "reserved":
        return _UNAFFECTED
    return _not_adapted("reads a number that meant something else in old records", reads, decision="D11")


def _level(change: Change, file: FileOfModule) -> Meaning:
    """D14: a tighter level hits writers, a looser one readers that have a threshold of their own."""
    message = change.element.new_name or change.element.name
    uses = [use for use in file.uses if use.path == message or use.path.rpartition(".")[0] == message]
    old, new = _promised(change.before), _promised(change.after)
    if not uses or old is None or new is None:
        return _UNAFFECTED
    writes = [use for use in uses if use.how in _WRITES]
    strict, lax = (old, new) if change.direction == "loosened" else (new, old)
    own = [each for each in file.thresholds if each.compared or change.direction == "tightened"]
    if change.direction == "tightened" and not writes:
        return _UNAFFECTED
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
        return _not_adapted(because, writes, proof="unresolved", decision="D14")
    return _UNAFFECTED


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


def _moved_rule(change: Change, file: FileOfModule) -> Meaning:
    """D12: the same records are accepted, but a violation names another rule or place."""
    if change.kind != "rule_moved" and not (change.kind in ("rule_removed", "cel_removed") and change.before):
        return _UNAFFECTED
    rule = change.path.partition("@")[2]
    rule = rule.removeprefix("cel[").removesuffix("]") if rule.startswith("cel[") else rule
    messages = {change.element.message, change.element.new_message, change.element.name} - {""}
    touches = any(use.path in messages or use.path.rpartition(".")[0] in messages for use in file.uses)
    uses = [use for use in file.uses if use.path == VIOLATION and (not use.text or use.text.startswith(rule))]
    if touches and uses:
        return _not_adapted("reads which rule a violation is of or where it is, and this one is another now", uses)
    return _UNAFFECTED


_RULES: Final[dict[str, _Rule]] = {
    **dict.fromkeys(
        (
            "file_removed", "field_removed", "field_renamed", "renamed_or_reused", "field_renumbered",
            "enum_value_removed",
            "enum_value_renamed", "enum_alias_removed", "message_removed", "message_renamed", "enum_removed",
            "enum_renamed", "service_removed", "service_renamed", "rpc_removed", "rpc_renamed", "oneof_removed",
            "oneof_renamed", "oneof_case_removed",
        ),
        _gone,
    ),
    **dict.fromkeys(("message_moved_package", "message_moved_file", "enum_moved_package", "enum_moved_file"), _moved),
    "enum_value_renumbered": _renumbered,
    "field_presence_changed": _presence,
    **dict.fromkeys(("default_added", "default_removed", "default_changed"), _default),
    "field_type_changed": _type,
    "field_cardinality_changed": _cardinality,
    "field_label_changed": _label,
    "field_added": _field_added,
    "field_moved_out_of_oneof": _out_of_oneof,
    "field_moved_into_oneof": _into_oneof,
    **dict.fromkeys(("oneof_case_added", "enum_value_added"), _case_added),
    **dict.fromkeys(
        ("rpc_request_changed", "rpc_response_changed", "rpc_client_streaming_changed", "rpc_server_streaming_changed"),
        _rpc,
    ),
    **dict.fromkeys(("unit_changed", "currency_changed"), _unit),
    "json_name_changed": _json_name,
    "number_reused": _reused,
    "level_changed": _level,
}  # fmt: skip
