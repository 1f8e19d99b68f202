"""Who is who: the messages, enums and services before, each with the one that it became.

The same full name is the same element. What is left on both sides may have moved to another package or file, or have
got another name: moves are told by the name inside the package, renames by what the elements hold. Nothing is paired
that has less than half in common, so that a removal and an unrelated addition stay two changes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from protocontract_ci.sources import Contracts
from protocontract_compiler import ir

T = TypeVar("T", ir.Message, ir.Enum, ir.Service)

_ENOUGH: Final = 0.5
# What one reference that changed its type from the old to the new name adds to the likeness of two messages.
_REFERENCE: Final = 0.25


@dataclass(frozen=True)
class Pairs:
    """Elements of both sides. Of each pair one side may be None: the element was added or removed.

    Pairs stand in the order of the files after, with what is gone at the end. ``new_names`` has the full name after of
    every message, enum and service that is there on both sides.
    """

    messages: list[tuple[ir.Message | None, ir.Message | None]]
    enums: list[tuple[ir.Enum | None, ir.Enum | None]]
    services: list[tuple[ir.Service | None, ir.Service | None]]
    files: list[tuple[ir.File | None, ir.File | None]]
    new_names: Mapping[str, str] = field(default_factory=dict)

    def same(self, old: str | None, new: str | None) -> bool:
        """Whether a type before and a type after are the same element, or there is none on both sides."""
        return old == new if old is None else self.new_names.get(old, old) == new


def pair(before: Contracts, after: Contracts) -> Pairs:
    """Pairs all elements of the files that were named, and those of imports that are there on both sides."""
    messages = _Matcher(
        before, after, _messages(before), _messages(after), _message_likeness, references=_references(before, after)
    ).match()  # fmt: skip
    new_names = _names(messages)
    # After messages: what is declared in a renamed one keeps its own name.
    enums = _Matcher(before, after, _enums(before), _enums(after), _enum_likeness, around=new_names).match()
    services = _Matcher(before, after, _services(before), _services(after), _service_likeness).match()
    new_names.update(_names(enums))
    new_names.update(_names(services))
    return Pairs(messages, enums, services, _files(before, after), new_names)


def _names(pairs: list[tuple[T | None, T | None]]) -> dict[str, str]:
    return {old.full_name: new.full_name for old, new in pairs if old is not None and new is not None}


def _messages(contracts: Contracts) -> dict[str, ir.Message]:
    schema = contracts.schema
    return {name: schema.messages[name] for file in _requested(contracts) for name in file.messages}


def _enums(contracts: Contracts) -> dict[str, ir.Enum]:
    schema = contracts.schema
    return {name: schema.enums[name] for file in _requested(contracts) for name in file.enums}


def _services(contracts: Contracts) -> dict[str, ir.Service]:
    schema = contracts.schema
    return {name: schema.services[name] for file in _requested(contracts) for name in file.services}


def _requested(contracts: Contracts) -> list[ir.File]:
    return [file for file in contracts.schema.files.values() if file.requested]


def _files(before: Contracts, after: Contracts) -> list[tuple[ir.File | None, ir.File | None]]:
    """Files by name; one that is gone is paired with a new one that holds all that it held."""
    old = {file.name: file for file in _requested(before)}
    new = {file.name: file for file in _requested(after)}
    fresh = {name: file for name, file in new.items() if name not in old}
    pairs: list[tuple[ir.File | None, ir.File | None]] = [(old.get(name), file) for name, file in new.items()]
    for name, file in old.items():
        if name in new:
            continue
        held = set(_held(file))
        moved = next((other for other in fresh.values() if held and held <= set(_held(other))), None)
        if moved is None:
            pairs.append((file, None))
        else:
            pairs[pairs.index((None, moved))] = (file, moved)
            del fresh[moved.name]
    return pairs


def _held(file: ir.File) -> list[str]:
    """The names inside the package of all that a file declares."""
    scope = f"{file.package}." if file.package else ""
    return [name.removeprefix(scope) for name in (*file.messages, *file.enums, *file.services)]


class _Matcher:
    """Pairs elements of one kind: by full name, by the new name of what holds them, by move, by likeness."""

    def __init__(
        self, before: Contracts, after: Contracts, old: Mapping[str, Any], new: Mapping[str, Any],
        likeness: Callable[[Any, Any], float], *, references: Mapping[tuple[str, str], int] | None = None,
        around: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        """``references`` counts fields that went from one type to another; ``around`` has messages by old names."""
        self._packages = (_packages(before), _packages(after))
        self._old, self._new = old, new
        self._likeness = likeness
        self._references = references or {}
        self._around = dict(around or {})
        self._became: dict[str, str] = {}

    def match(self) -> list[Any]:
        """All pairs, in the order of the elements after; what is gone follows."""
        self._became = {name: name for name in self._old if name in self._new}
        self._moved()
        self._inside()
        self._renamed()
        self._inside()
        came_from = {new: old for old, new in self._became.items()}
        pairs: list[Any] = [
            (self._old[came_from[name]] if name in came_from else None, new) for name, new in self._new.items()
        ]
        pairs.extend((old, None) for name, old in self._old.items() if name not in self._became)
        return pairs

    def _free(self) -> tuple[list[str], list[str]]:
        taken = set(self._became.values())
        return [n for n in self._old if n not in self._became], [n for n in self._new if n not in taken]

    def _inner(self, name: str, side: int) -> str:
        element = (self._old, self._new)[side][name]
        package = self._packages[side].get(element.file, "")
        return name.removeprefix(f"{package}.") if package else name

    def _moved(self) -> None:
        """The same name in another package: the only one of that name, or one in the same file."""
        old, new = self._free()
        for name in old:
            same = [other for other in new if self._inner(other, 1) == self._inner(name, 0)]
            same.sort(key=lambda other: (self._new[other].file != self._old[name].file, -self._score(name, other)))
            if same and (self._new[same[0]].file == self._old[name].file or self._score(name, same[0]) >= _ENOUGH):
                self._became[name] = same[0]
                new.remove(same[0])

    def _inside(self) -> None:
        """What is declared in a message that has another name now keeps its own."""
        old, new = self._free()
        for name in old:
            outer, _, own = name.rpartition(".")
            became = self._became.get(outer) or self._around.get(outer)
            if became is not None and (other := f"{became}.{own}") in new:
                self._became[name] = other
                new.remove(other)

    def _renamed(self) -> None:
        old, new = self._free()
        scores = [
            (self._score(name, other), name, other)
            for name in old
            for other in new
            # Beside each other, or of one name inside and outside of a message.
            if self._scope(name, 0) == self._scope(other, 1) or name.rpartition(".")[2] == other.rpartition(".")[2]
        ]
        # The most alike first; of equals those that stand nearest to each other in order.
        for score, name, other in sorted(scores, key=lambda found: -found[0]):
            if score >= _ENOUGH and name not in self._became and other in new:
                self._became[name] = other
                new.remove(other)

    def _scope(self, name: str, side: int) -> str:
        """The message around, by its name after, or the package."""
        outer = name.rpartition(".")[0]
        return self._became.get(outer) or self._around.get(outer, outer) if side == 0 else outer

    def _score(self, name: str, other: str) -> float:
        likeness = self._likeness(self._old[name], self._new[other])
        return likeness + _REFERENCE * self._references.get((name, other), 0)


def _packages(contracts: Contracts) -> dict[str, str]:
    return {name: file.package for name, file in contracts.schema.files.items()}


def _share(common: int, all_of_them: int) -> float:
    return common / all_of_them if all_of_them else 1.0


def _message_likeness(old: ir.Message, new: ir.Message) -> float:
    """The share of numbers under which both have the same field."""
    before, after = ({of_field.number: of_field for of_field in message.fields} for message in (old, new))

    def alike(one: ir.Field, other: ir.Field) -> bool:
        kinds = one.type == other.type and one.shape == other.shape
        names = (one.element_message, one.enum), (other.element_message, other.enum)
        # By their own names: what they are declared in may have another one now.
        same = all(str(a).rpartition(".")[2] == str(b).rpartition(".")[2] for a, b in zip(*names, strict=True))
        return kinds and one.name == other.name and same

    common = sum(alike(before[number], after[number]) for number in before.keys() & after.keys())
    if not before and not after:
        return 0.0  # two empty messages have nothing in common but that
    return _share(common, len(before.keys() | after.keys()))


def _references(before: Contracts, after: Contracts) -> dict[tuple[str, str], int]:
    """How many fields have kept number and name and changed from one message type to another."""
    found: dict[tuple[str, str], int] = {}
    for name, old in before.schema.messages.items():
        new = after.schema.messages.get(name)
        for one in old.fields if new is not None else ():
            for other in new.fields if new is not None else ():
                types = one.element_message, other.element_message
                if one.number == other.number and one.name == other.name and None not in types and types[0] != types[1]:
                    key = (str(types[0]), str(types[1]))
                    found[key] = found.get(key, 0) + 1
    return found


def _enum_likeness(old: ir.Enum, new: ir.Enum) -> float:
    """The share of numbers under which both have the same name, their common beginnings left out."""
    before, after = (
        {(value.number, value.name.removeprefix(_common([v.name for v in enum.values]))) for value in enum.values}
        for enum in (old, new)
    )
    return _share(len(before & after), len(before | after))


def _common(names: list[str]) -> str:
    """The beginning that all names share, up to its last underscore (``CURRENCY_``)."""
    shortest, longest = min(names), max(names)
    length = next((at for at, sign in enumerate(shortest) if longest[at] != sign), len(shortest))
    return shortest[: shortest.rfind("_", 0, length) + 1]


def _service_likeness(old: ir.Service, new: ir.Service) -> float:
    before, after = (
        {(method.name, method.client_streaming, method.server_streaming) for method in service.methods}
        for service in (old, new)
    )
    return _share(len(before & after), len(before | after)) if before and after else 0.0
