"""Checks enums: a code, an alias or a class index stands for one value."""

from __future__ import annotations

from protocontract_compiler import ir
from protocontract_compiler.descriptors import Loaded
from protocontract_compiler.diagnostics import Diagnostics
from protocontract_compiler.passes.pass_annotations import VALUE


def check(loaded: Loaded, schema: ir.Schema, diagnostics: Diagnostics) -> None:
    """Notes codes, aliases and class indexes that two values of an enum share."""
    for enum in schema.enums.values():
        _check(loaded, enum, diagnostics)


def _check(loaded: Loaded, enum: ir.Enum, diagnostics: Diagnostics) -> None:
    descriptor = loaded.pool.FindEnumTypeByName(enum.full_name)
    words: dict[str, ir.EnumValue] = {}
    indexes: dict[int, ir.EnumValue] = {}
    for value in enum.values:
        known = descriptor.values_by_name[value.name]
        given = [("code", value.code)] if value.code else []
        given += [(f"aliases[{index}]", alias) for index, alias in enumerate(value.aliases)]
        for option, word in given:
            steps: tuple[str | int, ...] = ("code",) if option == "code" else ("aliases", int(option[8:-1]))
            place = loaded.places.option(known, VALUE, *steps)
            if not word.strip():
                diagnostics.error("enum-value", place, f"`{value.name}` has an empty alias; expected a text")
                continue
            # Aliases are compared without case, as labels are.
            other = words.setdefault(word.casefold(), value)
            # Two names of one number (allow_alias) may share what they stand for.
            if other.number != value.number:
                diagnostics.error(
                    "enum-value",
                    place,
                    f"`{word}` stands for `{other.name}` already; expected one value for each word",
                )
        if value.class_index is not None:
            other = indexes.setdefault(value.class_index, value)
            if other.number != value.number:
                diagnostics.error(
                    "enum-value",
                    loaded.places.option(known, VALUE, "class_index"),
                    f"class {value.class_index} is `{other.name}` already; expected one value for each class",
                )
