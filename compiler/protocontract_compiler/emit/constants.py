"""The constants of one emitted module while it is being written, each once, under readable names: for every target."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
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
    orders: list[tuple[float, float]] = field(
        default_factory=list
    )  # one a line, where lines have an order of their own

    def in_order(self) -> list[str]:
        """The lines in the order that they were given, those of one place by first use."""
        return [line for _, line in sorted(zip(self.orders, self.lines, strict=True), key=lambda pair: pair[0])]


class Constants(ABC, Generic[N]):
    """A module's constants, and the names that are taken in it."""

    schema: ir.Schema
    file: ir.File
    names: N

    @abstractmethod
    def declared(self, name: str, code: str, annotation: str) -> str:
        """The line that declares a constant; ``annotation`` is empty where its type is not written."""

    def _once(
        self, section: Section, code: str, hint: str, key: str | None = None, *, annotation: str = "",
        order: tuple[float, float] = (0, 0),
    ) -> str:  # fmt: skip
        """The name of a constant, which is written at its first use. ``key``: what is the same constant; its code."""
        found = section.names.get(key or code)
        if found is None:
            found = self.names.fresh(hint)
            section.names[key or code] = found
            section.lines.append(self.declared(found, code, annotation))
            section.orders.append(order)
        return found

    def _once_as(self, section: Section, code: str, hint: str, *, annotation: str = "") -> str:
        """As ``_once``, but under a name of its own where the code is there under another one already."""
        first = self._once(section, code, hint, annotation=annotation)
        # A number at the end: other code has the name.
        if first == hint or first.removeprefix(f"{hint}_").isdigit():
            return first
        return self._once(section, first, hint, key=f"{first} as {hint}")

    def _field_order(self, message: str, number: float) -> tuple[float, float]:
        """Where the constant of a field stands: by message and number, those of other files' messages last."""
        return (self._message_order.get(message, len(self._message_order)), number)

    @cached_property
    def _message_order(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.file.messages)}

    def _short(self, message: str) -> str:
        """A message's name without its package, as part of a constant's name."""
        known = self.schema.messages.get(message)
        return screaming(known.python_path if known is not None else message.rpartition(".")[2])
