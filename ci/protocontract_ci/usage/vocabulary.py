"""What modules may speak of: the elements of both states of the contracts, each once, by the names that code uses.

A module may be behind the change or ahead of it, so the readers of code look for old and new names alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from protocontract_compiler import ir


@dataclass(frozen=True, slots=True)
class EnumMember:
    """A value of an enum, with its path ``pkg.Enum.NAME`` and the numbers that it had."""

    enum: str
    name: str
    number: int

    @property
    def path(self) -> str:
        """The path of changes and uses."""
        return f"{self.enum}.{self.name}"


class Elements:
    """The messages, enums and services of several states: fields by message, in the order of the states."""

    def __init__(self, states: Iterable[ir.Schema]) -> None:
        self.states = tuple(states)
        #: Import names of files to the states that have them, in order of appearance.
        self.files: dict[str, ir.File] = {}
        self.messages: dict[str, tuple[ir.Message, ...]] = {}
        self.enums: dict[str, tuple[ir.Enum, ...]] = {}
        self.services: dict[str, tuple[ir.Service, ...]] = {}
        for state in self.states:
            for name, file in state.files.items():
                self.files.setdefault(name, file)
            for name, message in state.messages.items():
                self.messages[name] = (*self.messages.get(name, ()), message)
            for name, enum in state.enums.items():
                self.enums[name] = (*self.enums.get(name, ()), enum)
            for name, service in state.services.items():
                self.services[name] = (*self.services.get(name, ()), service)

    def fields(self, message: str) -> dict[str, tuple[ir.Field, ...]]:
        """The fields of a message by name, each as it was in every state that has it."""
        found: dict[str, tuple[ir.Field, ...]] = {}
        for state in self.messages.get(message, ()):
            for field in state.fields:
                found[field.name] = (*found.get(field.name, ()), field)
        return found

    def oneofs(self, message: str) -> dict[str, tuple[str, ...]]:
        """The oneofs of a message with all fields that were ever in them."""
        found: dict[str, tuple[str, ...]] = {}
        for state in self.messages.get(message, ()):
            for oneof in state.oneofs:
                known = found.get(oneof.name, ())
                found[oneof.name] = (*known, *(name for name in oneof.fields if name not in known))
        return found

    def members(self, enum: str) -> dict[tuple[str, int], EnumMember]:
        """The values of an enum by name and number."""
        return {
            (value.name, value.number): EnumMember(enum, value.name, value.number)
            for state in self.enums.get(enum, ())
            for value in state.values
        }

    def in_file(self, name: str) -> Iterator[str]:
        """The messages and enums that any state declares in a file, by full name."""
        seen: dict[str, None] = {}
        for state in self.states:
            file = state.files.get(name)
            if file is not None:
                seen.update(dict.fromkeys((*file.messages, *file.enums)))
        yield from seen

    def file_of(self, full_name: str) -> str:
        """The file of a message or enum, of the first state that has it; "" where none has."""
        found = self.messages.get(full_name) or self.enums.get(full_name) or ()
        return found[0].file if found else ""

    @cached_property
    def field_names(self) -> frozenset[str]:
        """Every name of a field, and its JSON name."""
        return frozenset(
            name
            for states in self.messages.values()
            for message in states
            for field in message.fields
            for name in (field.name, field.json_name)
        )

    @cached_property
    def full_names(self) -> frozenset[str]:
        """The full names of messages, enums, services and RPCs that lie in a package."""
        methods = (f"{s.full_name}.{m.name}" for states in self.services.values() for s in states for m in s.methods)
        return frozenset(name for name in (*self.messages, *self.enums, *self.services, *methods) if "." in name)

    @cached_property
    def own_messages(self) -> tuple[str, ...]:
        """The messages that are not of protobuf, buf.validate or our vocabulary."""
        return tuple(name for name in self.messages if not name.startswith(("google.", "buf.", "protocontract.")))

    @cached_property
    def packages(self) -> frozenset[str]:
        """The packages of all files that are in one."""
        return frozenset(file.package for file in self.files.values() if file.package)

    @cached_property
    def member_names(self) -> frozenset[str]:
        """Every name of an enum value."""
        return frozenset(value.name for states in self.enums.values() for enum in states for value in enum.values)

    @cached_property
    def method_names(self) -> frozenset[str]:
        """Every name of an RPC."""
        return frozenset(m.name for states in self.services.values() for service in states for m in service.methods)
