"""JSON Schemas as plain values, and how several become one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

Json: TypeAlias = "bool | dict[str, Any]"
"""A schema: True accepts every value, False none."""

# Keywords that look at one value by themselves: schemas of these alone become one object where no name is twice.
_SIMPLE = frozenset(
    {
        "type", "const", "enum", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength",
        "pattern", "format", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "not", "items",
        "propertyNames", "properties", "required", "anyOf", "$comment", "description",
    }
)  # fmt: skip


# Of two bounds of the same name the stricter one is demanded.
_STRICTER: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(("minLength", "minItems", "minProperties", "minimum", "exclusiveMinimum"), max),
    **dict.fromkeys(("maxLength", "maxItems", "maxProperties", "maximum", "exclusiveMaximum"), min),
}


def all_of(parts: Iterable[Json]) -> Json:
    """What every part accepts."""
    merged: dict[str, Any] = {}
    apart: list[dict[str, Any]] = []
    for part in parts:
        if part is False:
            return False
        if part is True or part in apart or part == merged:
            continue
        assert isinstance(part, dict)
        shared = merged.keys() & part.keys()
        if all(name in _STRICTER or merged[name] == part[name] for name in shared) and (
            merged.keys() <= _SIMPLE and part.keys() <= _SIMPLE
        ):
            merged = {**merged, **part} | {
                name: merged[name] if merged[name] == part[name] else _STRICTER[name](merged[name], part[name])
                for name in shared
            }
        elif set(part) == {"allOf"}:
            apart += [inner for inner in part["allOf"] if inner not in apart]
        else:
            apart.append(part)
    if not apart:
        return merged or True
    if not merged:
        return apart[0] if len(apart) == 1 else {"allOf": apart}
    return {**merged, "allOf": apart}


def any_of(parts: Iterable[Json]) -> Json:
    """What at least one part accepts."""
    found: list[dict[str, Any]] = []
    for part in parts:
        if part is True:
            return True
        if part is False:
            continue
        assert isinstance(part, dict)
        for inner in part["anyOf"] if set(part) == {"anyOf"} else [part]:
            if inner not in found:
                found.append(inner)
    if not found:
        return False
    return found[0] if len(found) == 1 else {"anyOf": found}


def negated(part: Json) -> Json:
    """What the part does not accept."""
    if isinstance(part, bool):
        return not part
    return part["not"] if set(part) == {"not"} else {"not": part}
