"""Which messages a message reaches, and which of them have work of a kind to do."""

from __future__ import annotations

from collections.abc import Callable

from protocontract_compiler import ir


def children(message: ir.Message) -> list[str]:
    """Full names of the messages in a message's fields, in order of declaration, each once."""
    return list(dict.fromkeys(name for field in message.fields if (name := field.element_message) is not None))


def reached(schema: ir.Schema, message: ir.Message) -> list[ir.Message]:
    """A message and all messages below it, each once, the message itself first."""
    found = {message.full_name: message}
    waiting = [message]
    while waiting:
        for name in children(waiting.pop(0)):
            if name in schema.messages and name not in found:
                found[name] = schema.messages[name]
                waiting.append(found[name])
    return list(found.values())


def contexts(schema: ir.Schema, message: ir.Message) -> list[str]:
    """The contexts that rules of a message, and of all that it reaches, name: each once, sorted."""
    found: set[str] = set()
    for each in reached(schema, message):
        if each.contract is not None:
            found.update(name for _, names in each.contract.contexts for name in names)
        for field in each.fields:
            found.update(name for _, names in field.governance.contexts for name in names)
    return sorted(found)


def with_work(schema: ir.Schema, has_work: Callable[[ir.Message], bool]) -> frozenset[str]:
    """Messages that have work themselves or reach a message that has."""
    parents: dict[str, set[str]] = {}
    for message in schema.messages.values():
        for child in children(message):
            parents.setdefault(child, set()).add(message.full_name)
    found = {message.full_name for message in schema.messages.values() if has_work(message)}
    waiting = list(found)
    while waiting:
        for parent in parents.get(waiting.pop(), ()):
            if parent not in found:
                found.add(parent)
                waiting.append(parent)
    return frozenset(found)


def recursive(schema: ir.Schema) -> frozenset[str]:
    """Messages that can contain themselves, directly or through others."""
    found: set[str] = set()
    for name in schema.messages:
        seen: set[str] = set()
        waiting = children(schema.messages[name])
        while waiting:
            child = waiting.pop()
            if child == name:
                found.add(name)
                break
            if child not in seen and child in schema.messages:
                seen.add(child)
                waiting.extend(children(schema.messages[child]))
    return frozenset(found)
