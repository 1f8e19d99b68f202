"""protovalidate as judge: its violations and ours of one message, in a form that can be compared."""

from __future__ import annotations

from typing import Any

import protovalidate
from google.protobuf.message import Message

from protocontract import Contract, RuleEvaluationError

#: Field path, rule path, rule id, message, for_key: all that protovalidate says of a violation.
Seen = tuple[str, str, str, str, bool]


def theirs(message: Message) -> list[Seen] | str:
    """What protovalidate finds, or "error" where a rule has no result."""
    try:
        found = protovalidate.collect_violations(message)
    except protovalidate.EvaluationError:
        return "error"
    return _by_entry([_seen(violation.proto) for violation in found])


def ours(contract: Contract[Any], message: Message) -> list[Seen] | str:
    """What the compiled contract finds by buf.validate's rules, or "error"."""
    try:
        found = contract.validate(message)
    except RuleEvaluationError:
        return "error"
    return _by_entry([_seen(violation.to_proto()) for violation in found if not _is_relation(violation.rule_id)])


def _is_relation(rule_id: str) -> bool:
    return rule_id.partition(".")[0] in ("spans", "sequence", "graph", "tensor")


def _seen(proto: Any) -> Seen:
    return (
        _path(proto.field),
        _path(proto.rule),
        proto.rule_id or "",
        proto.message or "",
        bool(proto.for_key),
    )


def _path(path: Any) -> str:
    if path is None:
        return ""
    steps = []
    for element in path.elements:
        types = ":".join(
            str(int(getattr(element, name))) if element.has_field(name) else ""
            for name in ("field_type", "key_type", "value_type")
        )
        subscript = "" if element.subscript is None else f"[{element.subscript.field}={element.subscript.value!r}]"
        steps.append(f"{element.field_name}#{element.field_number or 0}:{types}{subscript}")
    return ".".join(steps)


def _by_entry(found: list[Seen]) -> list[Seen]:
    """Entries of one map have no order of their own: sorted where neighbours differ in a map's key only."""
    return sorted(found) if any("_key=" in seen[0] for seen in found) else found
