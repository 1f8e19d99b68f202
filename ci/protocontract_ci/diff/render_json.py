"""The comparison for programs."""

from __future__ import annotations

import base64
from dataclasses import asdict
from typing import Any

from protocontract_ci.diff.compare import Diff
from protocontract_ci.model import DIRECTIONS, Change, Value, Witness
from protocontract_compiler.ir import Place


def render(diff: Diff) -> dict[str, Any]:
    """The whole comparison as an object that JSON can hold."""
    return {
        "changes": [change_object(change) for change in diff.changes],
        "versions": [
            {"message": need.message, "from": need.before, "to": need.after, "demanded": need.demanded}
            for need in diff.versions
        ],
        "demands": [{"path": change.path, "kind": change.kind, "demand": change.demand} for change in diff.demands],
        "summary": {
            direction: sum(change.direction == direction for change in diff.changes) for direction in DIRECTIONS
        },
        "notes": list(diff.notes),
    }


def change_object(change: Change) -> dict[str, Any]:
    """One change. What does not apply is left out; ``from`` and ``to`` are null where there was nothing."""
    found: dict[str, Any] = {
        "path": change.path,
        "kind": change.kind,
        "direction": change.direction,
        "from": _plain(change.before),
        "to": _plain(change.after),
        "step": change.step,
        "before": _place(change.where_before),
        "after": _place(change.where_after),
        "compatibility": asdict(change.compatibility),
        "element": {name: value for name, value in asdict(change.element).items() if value not in ("", None)},
    }
    if change.relation is not None:
        found["relation"] = change.relation
        found["proof"] = change.proof
    if change.witness is not None:
        found["witness"] = witness_object(change.witness)
    if change.acknowledge:
        found["acknowledge"] = True
    if change.demand:
        found["demand"] = change.demand
    if change.notes:
        found["notes"] = list(change.notes)
    return found


def witness_object(witness: Witness) -> dict[str, Any]:
    """A witness: its message in base64 of the protobuf encoding. The gate has made it up: it is nobody's data."""
    return {
        "synthetic": True,
        "message": witness.message,
        "data": base64.b64encode(witness.data).decode("ascii"),
        "accepted": witness.accepted,
        "confirmed": witness.confirmed,
    }


def _plain(value: Value) -> Any:
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def _place(place: Place | None) -> dict[str, Any] | None:
    return None if place is None else {"file": place.file, "line": place.line, "column": place.column}
