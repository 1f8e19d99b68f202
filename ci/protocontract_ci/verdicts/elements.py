"""What changes of protobuf's own elements mean for a file: one function for each kind of change.

Messages, fields, enums, oneofs and services that come, go, move, or become something else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from protocontract_ci.model import Change, Use
from protocontract_ci.verdicts.for_file import (
    BY_NAME,
    READS,
    UNAFFECTED,
    WRITES,
    FileOfModule,
    Meaning,
    named,
    not_adapted,
    subject_of,
    worst,
)

Means: TypeAlias = Callable[[Change, FileOfModule], Meaning]


def _gone(change: Change, file: FileOfModule) -> Meaning:
    """An element that is not there any more under its name."""
    old, new = _old_and_new(change)
    uses = [use for use in named(file, old) if _by_that_name(change, use)]
    if uses:
        because = f"uses {old.rpartition('.')[2]}, which is gone"
        if new and new != old:
            because = f"uses the old name {old.rpartition('.')[2]}; it is {new.rpartition('.')[2]} now"
        imports = [use for use in uses if use.how in BY_NAME]
        first = [use for use in imports if use.line == min(each.line for each in uses)]
        if first and change.element.kind != "field":
            rest = tuple(sorted({use.line for use in uses if use not in first}))
            return replace(not_adapted(because, first), related=rest)
        return not_adapted(because, uses)
    if new and new != old and any(_by_that_name(change, use) for use in named(file, new)):
        return Meaning("adapted", f"uses the new name {new.rpartition('.')[2]}")
    return UNAFFECTED


def _by_that_name(change: Change, use: Use) -> bool:
    """Whether a use is one of the name that is gone: not of the message without it, nor of a number that stays."""
    if change.element.kind == "message":
        return use.named and use.how != "call"
    return not (change.kind == "enum_value_renamed" and use.text.lstrip("-").isdigit())


def _old_and_new(change: Change) -> tuple[str, str]:
    element = change.element
    if element.kind == "file":
        return element.file, element.new_file
    if element.kind == "enum_value":
        # Within its enum, as changes and uses say it.
        new = f"{element.new_message}.{element.new_short_name}" if element.new_name else ""
        return change.path, new
    return element.name, element.new_name


def _moved(change: Change, file: FileOfModule) -> Meaning:
    """A message or enum in another package or file: code follows files, texts and descriptors follow full names."""
    old, new = _old_and_new(change)
    uses = named(file, old)
    texts = [use for use in uses if use.how == "reflection"]
    if texts:
        return not_adapted("names the old full name in a text", texts)
    if change.compatibility.of(file.experiments.language) == "breaking" and uses:
        # Python says by each name which module it is taken from; other readers say the imported file alone.
        apart = file.experiments.language == "python"
        uses = [use for use in uses if use.named and (use.text == change.element.file or not apart)]
        imports = [use for use in uses if use.how in BY_NAME]
        first = [use for use in imports if use.line == min(each.line for each in uses)]
        if uses:
            found = not_adapted("imports it from where it was", first or uses)
            return replace(found, related=tuple(sorted({use.line for use in uses} - set(found.lines))))
        if named(file, change.element.new_file):
            return Meaning("adapted", f"imports it from {change.element.new_file}")
    # In one file both full names belong to one name of the module.
    if any(use.how == "call" for use in named(file, old, new)):
        return Meaning("adapted", "asks the descriptor for the full name")
    return UNAFFECTED


def _renumbered(change: Change, file: FileOfModule) -> Meaning:
    uses = named(file, _old_and_new(change)[0])
    return not_adapted("stands on the old number", uses) if uses else UNAFFECTED


def _presence(change: Change, file: FileOfModule) -> Meaning:
    uses = named(file, change.element.name, change.element.new_name)
    if not uses or change.compatibility.of(file.experiments.language) != "breaking":
        return UNAFFECTED
    asked = [use for use in uses if use.how == "has"]
    if change.after == "explicit":
        # Asking was idle before; whether the value may be missing is for the type checker.
        return Meaning("adapted", "copes with a field that may not be set")
    if asked:
        return not_adapted("asks for the presence of a field that has none any more", asked)
    return Meaning("adapted", "does not ask whether the field is set")


def _default(change: Change, file: FileOfModule) -> Meaning:
    reads = [use for use in named(file, change.element.name, change.element.new_name) if use.how in READS]
    if not reads:
        return UNAFFECTED
    evidence = file.experiments.both(subject_of(change), reads, results=True)
    if evidence.result == "fails":
        return not_adapted("an unset field reads differently now", reads, evidence, proof="witness")
    if evidence.result == "passes" or any(use.how == "has" for use in reads):
        return Meaning("adapted", "does not rest on the default", proof="witness" if evidence.entries else "static")
    return not_adapted("an unset field reads differently now", reads)


def _type(change: Change, file: FileOfModule) -> Meaning:
    """Another type: what code sees, and what JSON shows."""
    uses = named(file, change.element.name, change.element.new_name)
    keys = [use for use in uses if use.how in ("json_name", "reflection")]
    others = [use for use in uses if use not in keys]
    parts = []
    if file.experiments.language == "python":
        compared = [use for use in others if use.text and _comparable(use.text, change.before)]
        strange = [use for use in compared if not _comparable(use.text, change.after)]
        if strange:
            return not_adapted("compares the value with one of the old type", strange)
        if {change.before, change.after} <= _INTEGERS:
            # An int either way: only what is written may be out of range.
            others = [use for use in others if use.how in WRITES]
    if keys and change.compatibility.json == "breaking":
        parts.append(_by_experiment(change, file, keys, "its JSON has another type now"))
    if others and change.compatibility.of(file.experiments.language) == "breaking":
        parts.append(_by_experiment(change, file, others, "the value has another type now"))
    if not parts and change.compatibility.wire == "breaking":
        # The same code on another wire: nothing complains, and what was written before is misread.
        reads = [use for use in uses if use.how in READS]
        parts += [not_adapted("reads what was written before as another value", reads)] if reads else []
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
        return not_adapted(because, [use for use in uses if use.line in types.lines] or uses, types)
    evidence = file.experiments.both(subject_of(change), uses, results=False)
    if evidence.result == "fails":
        held = [use for use in uses if any(entry.holds(use.line) for entry in evidence.entries)] or uses
        return not_adapted(because, held, evidence, proof="witness")
    if types.result == "passes" or evidence.result == "passes":
        return Meaning("adapted", "handles the new type", proof="static" if types.result == "passes" else "witness")
    return not_adapted(because, uses)


def _cardinality(change: Change, file: FileOfModule) -> Meaning:
    """One value or many: code that runs on both is not thereby right, for a text is a list of letters, too."""
    uses = named(file, change.element.name, change.element.new_name)
    if not uses:
        return UNAFFECTED
    types = file.experiments.types(uses)
    if types.result == "fails":
        return not_adapted("one value and many are handled differently", uses, types)
    if types.result == "passes" or file.experiments.cured(subject_of(change), uses):
        return Meaning("adapted", "handles the new number of values")
    return not_adapted("one value and many are handled differently", uses)


def _label(change: Change, file: FileOfModule) -> Meaning:
    """``required`` of proto2 that comes or goes."""
    subject = subject_of(change)
    uses = named(file, change.element.name, change.element.new_name)
    if change.after == "required":
        return _required_field(change, file)
    reads = [use for use in uses if use.how in READS]
    if not reads:
        return UNAFFECTED
    evidence = file.experiments.readers(subject, reads)
    if evidence.result == "fails":
        return not_adapted("fails where the field is not set", reads, evidence, proof="witness")
    if evidence.result == "passes" or any(use.how == "has" for use in reads):
        return Meaning(
            "adapted", "copes with a field that is not set", proof="witness" if evidence.entries else "static"
        )
    return not_adapted("reads a field that may not be set now", reads, proof="unresolved")


def _required_field(change: Change, file: FileOfModule) -> Meaning:
    """A field that proto2 requires: whoever serialises the message has to set it."""
    subject = subject_of(change)
    messages = {subject.old, subject.new}
    sets = [use for use in named(file, change.element.name, change.element.new_name) if use.how in WRITES]
    whole = [use for use in file.uses if use.path in messages and use.how in ("construct", "write")]
    if not whole:
        return UNAFFECTED
    evidence = file.experiments.both(subject, whole, results=False)
    if evidence.result == "fails":
        return not_adapted("serialises the message without the required field", whole, evidence, proof="witness")
    if sets:
        return Meaning("adapted", "sets the field")
    return not_adapted("serialises the message without the required field", whole)


def _field_added(change: Change, file: FileOfModule) -> Meaning:
    return _required_field(change, file) if change.direction == "breaking" else UNAFFECTED


def _out_of_oneof(change: Change, file: FileOfModule) -> Meaning:
    cases = [use for use in named(file, change.element.name) if use.how == "which_oneof"]
    return not_adapted("waits for a case that is never reported again", cases) if cases else UNAFFECTED


def _into_oneof(change: Change, file: FileOfModule) -> Meaning:
    """D4: setting one member of a oneof now unsets this field, and the other way round."""
    uses = [use for use in named(file, change.element.name, change.element.new_name) if use.how in WRITES]
    opened = [
        use
        for use in named(file, change.element.new_oneof)
        if use.how == "match_open" and change.element.new_short_name not in use.handles
    ]
    both = [*uses, *opened]
    return not_adapted("sets a field that now excludes its neighbours", both) if both else UNAFFECTED


def _case_added(change: Change, file: FileOfModule) -> Meaning:
    """D5: a reader without a fallback does not know the new case."""
    element = change.element
    uses = named(file, element.new_oneof if element.kind == "field" else element.new_message)
    dispatches = [use for use in uses if use.how in ("match_open", "match_closed")]
    new = {element.new_short_name} | ({str(element.new_number)} if element.kind == "enum_value" else set())
    opened = [use for use in dispatches if use.how == "match_open" and new.isdisjoint(use.handles)]
    if opened:
        return not_adapted("has no branch for the new case, and no fallback", opened)
    if dispatches and not any(new.isdisjoint(use.handles) for use in dispatches):
        return Meaning("adapted", "has a branch for the new case")
    return Meaning("adapted", "has a fallback") if any(use.how == "match_closed" for use in uses) else UNAFFECTED


def _rpc(change: Change, file: FileOfModule) -> Meaning:
    uses = named(file, change.element.name, change.element.new_name)
    if not uses:
        return UNAFFECTED
    # What is done with the reply is part of the call.
    messages = {str(each) for each in (change.before, change.after)} if change.kind == "rpc_response_changed" else set()
    replies = [use for use in file.uses if use.path.rpartition(".")[0] in messages]
    types = file.experiments.types([*uses, *replies])
    if types.result == "passes":
        return Meaning("adapted", "handles the new form of the call")
    failing = [use for use in replies if use.line in types.lines and use.line not in {each.line for each in uses}]
    because = "calls or serves it in its old form"
    if failing:
        found = not_adapted(because, failing, types)
        return replace(found, related=tuple(sorted({use.line for use in uses} - set(found.lines))))
    return not_adapted(because, uses, types)


def _json_name(change: Change, file: FileOfModule) -> Meaning:
    keys = [use for use in named(file, change.element.name, change.element.new_name) if use.how == "json_name"]
    old = [use for use in keys if not use.text or use.text != change.after]
    if old:
        return not_adapted("the key in JSON is another one now", old)
    return Meaning("adapted", f"uses the new key {change.after}") if keys else UNAFFECTED


def _reused(change: Change, file: FileOfModule) -> Meaning:
    """D11: a field on a number that was kept free; old records may hold what the number meant before."""
    reads = [use for use in named(file, change.reused_by) if use.how in READS | {"enum_value"}]
    if not reads or change.before != "reserved":
        return UNAFFECTED
    return not_adapted("reads a number that meant something else in old records", reads, decision="D11")


ELEMENTS: Final[dict[str, Means]] = {
    **dict.fromkeys(
        (
            "file_removed", "field_removed", "field_renamed", "renamed_or_reused", "field_renumbered",
            "enum_value_removed", "enum_value_renamed", "enum_alias_removed", "message_removed", "message_renamed",
            "enum_removed", "enum_renamed", "service_removed", "service_renamed", "rpc_removed", "rpc_renamed",
            "oneof_removed", "oneof_renamed", "oneof_case_removed",
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
    "json_name_changed": _json_name,
    "number_reused": _reused,
}  # fmt: skip
