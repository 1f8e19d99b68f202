"""Options as canonical text: the same for every front end, whatever order or encoding the options came in.

Fields are printed by number, numbers shortest-exact, strings as JSON, map entries by key. Each standard or predefined
rule of buf.validate is followed by the CEL that defines it, so that a rule whose meaning changes upstream changes the
text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

Predefined = Callable[[FieldDescriptor], "Message | None"]


def canonical(message: Message, predefined: Predefined | None = None) -> str:
    """The set fields of ``message`` as one line of text.

    ``predefined`` gives the ``(buf.validate.predefined)`` option of a rule field; its CEL then follows the value.
    """
    return "{" + " ".join(_fields(message, predefined)) + "}"


def _fields(message: Message, predefined: Predefined | None) -> Iterator[str]:
    for field, value in sorted(message.ListFields(), key=lambda pair: pair[0].number):
        name = f"[{field.full_name}]" if field.is_extension else field.name
        yield f"{name}:{_value(field, value, predefined)}"
        definition: Any = predefined(field) if predefined is not None else None
        if definition is not None:
            for cel in definition.cel:
                yield f"<{cel.id} {json.dumps(cel.message)} {json.dumps(cel.expression)}>"


def _value(field: FieldDescriptor, value: Any, predefined: Predefined | None) -> str:
    entry = field.message_type
    if entry is not None and entry.GetOptions().map_entry:
        of = entry.fields_by_name["value"]
        items = [f"{json.dumps(key)}:{_scalar(of, value[key], predefined)}" for key in sorted(value)]
        return "{" + ",".join(items) + "}"
    if isinstance(value, str | bytes) or not hasattr(value, "__len__"):
        return _scalar(field, value, predefined)
    return "[" + ",".join(_scalar(field, item, predefined) for item in value) + "]"


def _scalar(field: FieldDescriptor, value: Any, predefined: Predefined | None) -> str:
    if isinstance(value, Message):
        return canonical(value, predefined)
    if field.enum_type is not None:
        known = field.enum_type.values_by_number.get(value)
        return known.name if known is not None else str(value)
    if isinstance(value, bytes):
        return value.hex() or "''"
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value)
