"""The constants of one emitted module while it is being written, each once, under readable names: for every target."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from protocontract_compiler import ir
from protocontract_compiler.emit.names import Names, screaming

N = TypeVar("N", bound=Names)


@dataclass(slots=True)
class Section:
    """Constants of one kind: code by name, in order of first use."""

    title: str
    names: dict[str, str] = field(default_factory=dict)  # code -> name
    lines: list[str] = field(default_factory=list)


class Constants(ABC, Generic[N]):
    """A module's constants, and the names that are taken in it."""

    schema: ir.Schema
    names: N

    @abstractmethod
    def declared(self, name: str, code: str, annotation: str) -> str:
        """The line that declares a constant; ``annotation`` is empty where its type is not written."""

    def _once(self, section: Section, code: str, hint: str, key: str | None = None, *, annotation: str = "") -> str:
        """The name of a constant, which is written at its first use. ``key``: what is the same constant; its code."""
        found = section.names.get(key or code)
        if found is None:
            found = self.names.fresh(hint)
            section.names[key or code] = found
            section.lines.append(self.declared(found, code, annotation))
        return found

    def _short(self, message: str) -> str:
        """A message's name without its package, as part of a constant's name."""
        known = self.schema.messages.get(message)
        return screaming(known.python_path if known is not None else message.rpartition(".")[2])
