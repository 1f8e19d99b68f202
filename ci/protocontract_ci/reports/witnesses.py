"""What a witness looks like: which fields it sets and of which kind; values only for those who ask for them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass

from protocontract.violations import describe
from protocontract_ci.diff.compare import Diff
from protocontract_ci.model import Witness

_MOST: Final = 6
_LONGEST: Final = 60


def witness_text(diff: Diff, witness: Witness, *, show_values: bool) -> str:
    """``witness: shop.v1.Item with code (a 2-character text), accepted before and refused after``."""
    told = ", ".join(_told(path, value, show_values) for path, value in witness_fields(diff, witness))
    refused = "before" if witness.accepted == "after" else "after"
    unsure = "" if witness.confirmed else "; not confirmed by both validators"
    return (
        f"witness: {witness.message} {f'with {told}' if told else 'without any field'}, "
        f"accepted {witness.accepted} and refused {refused}{unsure}"
    )


def witness_fields(diff: Diff, witness: Witness) -> list[tuple[str, Any]]:
    """The fields that a witness sets, as (path, value), the first few; none where it cannot be decoded."""
    contracts = diff.after if witness.accepted == "after" else diff.before
    try:
        message = GetMessageClass(contracts.loaded.pool.FindMessageTypeByName(witness.message))()
        message.ParseFromString(witness.data)
    except (KeyError, DecodeError):
        return []
    found = []
    for path, value in _fields(message, ""):
        found.append((path, value))
        if len(found) == _MOST:
            break
    return found


def _fields(message: Message, prefix: str) -> Iterator[tuple[str, Any]]:
    for field, value in message.ListFields():
        path = f"{prefix}{field.name}"
        if field.message_type is not None and field.message_type.GetOptions().map_entry:
            yield path, {str(key): None for key in value}
        elif field.is_repeated:
            yield path, list(value)
        elif field.type in (FieldDescriptor.TYPE_MESSAGE, FieldDescriptor.TYPE_GROUP):
            yield from _fields(value, f"{path}.") if value.ListFields() else iter([(path, value)])
        else:
            yield path, value


def _told(path: str, value: Any, show_values: bool) -> str:
    if not show_values or isinstance(value, list | dict | Message):
        return f"{path} ({describe(value)})"
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
    return f"{path} = {text if len(text) <= _LONGEST else text[: _LONGEST - 1] + '…'}"
