"""Random messages of any type, from the same pools as the rules' constants."""

from __future__ import annotations

from random import Random
from typing import Any, TypeVar

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from tests.support.messages import is_map, is_repeated, pool

M = TypeVar("M", bound=Message)


def random_message(random: Random, message_type: type[M], depth: int = 3) -> M:
    """A message of the type; about two of three fields are set."""
    message = message_type()
    _fill(random, message, depth)
    return message


def _fill(random: Random, message: Message, depth: int) -> None:
    name = message.DESCRIPTOR.full_name
    part: Any = message
    if name in ("google.protobuf.Timestamp", "google.protobuf.Duration"):
        part.seconds = random.choice([0, 1, -1, 1577836800, 1577836801, 253402300799, -62135596800])
        part.nanos = random.choice([0, 1, 999999999])
        return
    if name == "google.protobuf.Any":
        part.type_url = random.choice(["", "type.googleapis.com/google.protobuf.Duration", "type.googleapis.com/x.Y"])
        return
    if name == "google.protobuf.FieldMask":
        part.paths.extend(random.choices(["a", "a.b", "c", "a.b.c"], k=random.randint(0, 3)))
        return
    for field in message.DESCRIPTOR.fields:
        if random.random() < 0.65:
            _fill_field(random, part, field, depth)


def _fill_field(random: Random, message: Any, field: FieldDescriptor, depth: int) -> None:
    if is_map(field):
        entries = getattr(message, field.name)
        key_field, value_field = (field.message_type.fields_by_name[name] for name in ("key", "value"))
        for _ in range(random.randint(0, 3)):
            key = random.choice(pool(key_field))
            if value_field.message_type is None:
                entries[key] = random.choice(pool(value_field))
            elif depth > 0:
                _fill(random, entries[key], depth - 1)
    elif is_repeated(field):
        values = getattr(message, field.name)
        if field.message_type is None:
            values.extend(random.choices(pool(field), k=random.randint(0, 4)))
        elif depth > 0:
            for _ in range(random.randint(0, 3)):
                _fill(random, values.add(), depth - 1)
    elif field.message_type is not None:
        if depth > 0:
            part = getattr(message, field.name)
            part.SetInParent()
            _fill(random, part, depth - 1)
    else:
        setattr(message, field.name, random.choice(pool(field)))
