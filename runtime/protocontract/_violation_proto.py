"""Violations as buf.validate knows them: the messages of the installed protovalidate, built through their JSON form."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any

from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto
from protovalidate import FieldPathPb, ViolationPb

from protocontract.violations import FieldElement, Subscript, Violation

_UNSIGNED_KEYS = frozenset(
    {FieldDescriptorProto.TYPE_UINT64, FieldDescriptorProto.TYPE_FIXED64, FieldDescriptorProto.TYPE_FIXED32,
     FieldDescriptorProto.TYPE_UINT32}
)  # fmt: skip

_STEP = re.compile(r"([^.\[]+)(?:\[(\d+)\])?")


def violation(found: Violation) -> ViolationPb:
    """``buf.validate.Violation`` for a violation of ours; a rule that is not buf.validate's has no rule path."""
    made: dict[str, Any] = {}
    if found.rule_id:
        made["ruleId"] = found.rule_id
    path = _field_path(found)
    if path:
        made["field"] = {"elements": path}
    rule = _rule_path(found)
    if rule:
        made["rule"] = {"elements": rule}
    if found.message:
        made["message"] = found.message
    if found.for_key:
        made["forKey"] = True
    return ViolationPb.from_json(json.dumps(made))


def field_path(found: Violation) -> FieldPathPb | None:
    """The field path, or None for a rule of the whole message."""
    path = _field_path(found)
    return FieldPathPb.from_json(json.dumps({"elements": path})) if path else None


def _field_path(found: Violation) -> list[dict[str, Any]]:
    return [_element(element, subscript) for element, subscript in found.elements()]


def _rule_path(found: Violation) -> list[dict[str, Any]]:
    path = found.rule.rule_path
    if isinstance(path, str):
        return [dict(step) for step in _named_path(path)] if path else []
    steps: list[dict[str, Any]] = []
    for part in path:
        steps.extend([dict(step) for step in _named_path(part)] if isinstance(part, str) else [_element(part, None)])
    return steps


def _element(element: FieldElement, subscript: Subscript | None) -> dict[str, Any]:
    made: dict[str, Any] = {"fieldName": element.name}
    if element.number:  # a oneof has a name and nothing else
        made["fieldNumber"] = element.number
        made["fieldType"] = _type_name(element.type)
    if subscript is None:
        return made
    if element.key_type:  # types of an entry stand beside its key only
        made["keyType"] = _type_name(element.key_type)
        made["valueType"] = _type_name(element.value_type)
    if isinstance(subscript, bool):
        made["boolKey"] = subscript
    elif isinstance(subscript, str):
        made["stringKey"] = subscript
    elif not element.key_type:
        made["index"] = str(subscript)
    else:
        made["uintKey" if element.key_type in _UNSIGNED_KEYS else "intKey"] = str(subscript)
    return made


def _type_name(number: int) -> str:
    name: str = FieldDescriptorProto.Type.Name(number)  # type: ignore[arg-type]  # the stubs want an enum value
    return name


@lru_cache(maxsize=4096)
def _named_path(path: str) -> tuple[dict[str, Any], ...]:
    """The steps of ``repeated.items.string.min_len`` or ``cel[1]``, looked up in protovalidate's own descriptor."""
    messages = _rule_messages()
    current = messages["FieldRules"]
    steps: list[dict[str, Any]] = []
    for name, index in _STEP.findall(path):
        field = next(field for field in current.field if field.name == name)
        step = {"fieldNumber": field.number, "fieldName": field.name, "fieldType": _type_name(field.type)}
        if index:
            step["index"] = index
        steps.append(step)
        if field.type_name.startswith(".buf.validate."):
            current = messages.get(field.type_name.rpartition(".")[2], current)
    return tuple(steps)


@lru_cache(maxsize=1)
def _rule_messages() -> dict[str, DescriptorProto]:
    file = FileDescriptorProto.FromString(ViolationPb.desc().file.proto.to_binary())
    return {message.name: message for message in file.message_type}
