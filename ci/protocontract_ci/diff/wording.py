"""What a change is called in a report: one short line, the same in every format."""

from __future__ import annotations

from typing import Final

from protocontract_ci.model import OWN_STATE, Change, Direction, Value, value_text
from protocontract_compiler.ir import Place

_LONGEST: Final = 60

# Kinds with a sentence of their own; {old} and {new} are the values. All others show their two values.
SENTENCES: Final[dict[str, str]] = {
    "file_removed": "the file is gone",
    "import_changed": "other imports",
    "message_renamed": "renamed to {new}",
    "message_moved_package": "moved to {new}",
    "message_moved_file": "moved from {old} to {new}",
    "enum_renamed": "renamed to {new}",
    "enum_moved_package": "moved to {new}",
    "enum_moved_file": "moved from {old} to {new}",
    "service_renamed": "renamed to {new}",
    "service_moved_package": "moved to {new}",
    "service_moved_file": "moved from {old} to {new}",
    "fields_reordered": "fields in another order",
    "values_reordered": "values in another order",
    "declarations_reordered": "declarations in another order",
    "methods_reordered": "methods in another order",
    "reserved_added": "reserved: {new}",
    "reserved_removed": "no longer reserved: {old}",
    "number_reused": "{old} became {new}",
    "field_renamed": "renamed to {new}",
    "renamed_or_reused": "renamed to {new}, or its number reused",
    "field_renumbered": "number {old} -> {new}",
    "field_presence_changed": "presence {old} -> {new}",
    "field_moved_into_oneof": "moved into the oneof {new}",
    "field_moved_out_of_oneof": "moved out of the oneof {old}",
    "default_added": "default {new}",
    "default_removed": "default {old} removed",
    "default_changed": "default {old} -> {new}",
    "json_name_changed": "JSON name {old} -> {new}",
    "oneof_renamed": "renamed to {new}",
    "enum_value_removed": "removed (was {old})",
    "enum_alias_removed": "alias removed (was {old})",
    "enum_value_added": "added: {new}",
    "enum_alias_added": "alias added: {new}",
    "enum_value_renamed": "renamed to {new}",
    "enum_value_renumbered": "number {old} -> {new}",
    "rpc_renamed": "renamed to {new}",
    "rpc_request_changed": "request {old} -> {new}",
    "rpc_response_changed": "response {old} -> {new}",
    "rpc_client_streaming_changed": "request {old} -> {new}",
    "rpc_server_streaming_changed": "response {old} -> {new}",
    "rule_moved": "demanded by {new} now",
    "version_reused": "{new} names another contract already",
    "deprecated_added": "deprecated",
    "deprecated_removed": "no longer deprecated",
    "comment_changed": "comment",
}
_MEANS: Final[dict[Direction, str]] = {"tightened": "writers must cope", "loosened": "readers must cope"}


def sentence(change: Change) -> str:
    """What changed, in a few words."""
    old, new = (shortened(value_text(value)) for value in (change.before, change.after))
    if change.kind == "file_removed" and change.after is not None:
        return f"moved to {new}"
    if change.kind in SENTENCES:
        return SENTENCES[change.kind].format(old=old, new=new)
    if change.before is None and change.after is None:
        return change.kind.replace("_", " ")
    if change.before is None:
        return "added" if _names_itself(change, change.after) else f"added: {new}"
    if change.after is None:
        return "removed" if _names_itself(change, change.before) else f"removed (was {old})"
    return f"{old} -> {new}"


def _names_itself(change: Change, value: Value) -> bool:
    """Whether the value says no more than the path does: the element's own name, or that a rule is on."""
    return value is True or value == change.path or value == change.path.rpartition(".")[2]


def means(change: Change) -> str:
    """What follows for modules: what breaks, and for whom; empty where nothing does."""
    if change.kind in OWN_STATE:
        return "without a change of the contract"
    if change.acknowledge:
        return "every module must use it or say that it ignores it"
    broken = change.compatibility.broken(("wire", "JSON", "Python", "TypeScript"))
    if broken:
        return f"breaks {', '.join(broken)}"
    if change.direction == "breaking":
        return "readers and writers must cope"
    return _MEANS.get(change.direction, "")


def shortened(text: str) -> str:
    """A text on one line, cut where it is long."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


def where(place: Place | None) -> str:
    """``file:line``, or only the file where the line is not known."""
    if place is None:
        return ""
    return f"{place.file}:{place.line}" if place.line else place.file


def group_of(change: Change) -> str:
    """The heading that a change stands under: its message, enum, service or file, by the name before."""
    element = change.element
    return (
        element.message or element.name or element.new_message or element.new_name or element.file or element.new_file
    )


def inside_group(change: Change) -> str:
    """The path without what the heading says: ``code@string.min_len``; empty for the element of the heading itself."""
    group = group_of(change)
    if not change.path.startswith(group):
        return change.path
    return change.path[len(group) :].removeprefix(".")
