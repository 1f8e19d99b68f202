"""Where validating code is being written for, and the small texts that it is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from protocontract_compiler import ir
from protocontract_compiler.emit.names import literal, snake
from protocontract_compiler.emit.python.module import Path, Step
from protocontract_compiler.emit.walk import is_range, where


@dataclass(frozen=True, slots=True)
class Spot:
    """Where code is being written for: the path from the record, and the variables that hold its subscripts."""

    path: Path = ()
    subscripts: tuple[str, ...] = ()

    def below(self, message: str, field: ir.Field) -> Spot:
        """The field of the message here."""
        return Spot((*self.path, Step(message, field)), self.subscripts)

    def each(self, subscript: str) -> Spot:
        """An element of the field here."""
        last = self.path[-1]
        return Spot((*self.path[:-1], Step(last.message, last.field, each=True)), (*self.subscripts, subscript))


def native_condition(check: ir.Check, this: str) -> str:
    """Code of the condition under which a rule that the engine decides itself is broken."""
    values = ", ".join(literal(value) for value in check.values)
    match check.native:
        case "enum_defined_only" if is_range(check.values):
            return f"not {min(check.values)} <= {this} <= {max(check.values)}"
        case "enum_defined_only":
            return f"{this} not in {{{values}}}"
        case "any_in":
            return f"{this}.type_url not in {{{values}}}"
        case _:
            return f"{this}.type_url in {{{values}}}"


def comment(place: ir.Place, what: str) -> str:
    """A comment for the end of a line: where the contract demands what the line checks."""
    if not place.line:
        return f"  # {what}" if what.isprintable() and len(what) < 60 else ""
    short = what if what.isprintable() and len(what) < 60 else "cel"
    return f"  # {where(place)}  {short}"


def told(message: ir.Message) -> str:
    """A message and the line of the contract where it is declared, for a docstring."""
    name = message.full_name.rpartition(".")[2]
    place = where(message.place)
    # A docstring must not end in a quote, nor hold three, nor escape.
    return f"{name} ({place})" if place and '"' not in place and "\\" not in place else name


def singular_name(plural: str) -> str:
    """``entities`` -> ``entity``, ``tags`` -> ``tag``: a name for one item."""
    if plural.endswith("ies") and len(plural) > 4:
        return f"{snake(plural[:-3])}y"
    if plural.endswith("s") and not plural.endswith("ss") and len(plural) > 2:
        return snake(plural[:-1])
    return f"{snake(plural)}_item"


def tuple_code(parts: Sequence[str]) -> str:
    """Code of a tuple."""
    return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"
