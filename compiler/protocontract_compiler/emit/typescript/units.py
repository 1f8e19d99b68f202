"""The units of generated TypeScript: Pint's names and dimensions, as the Python runtime reads them."""

from __future__ import annotations

import json
from functools import lru_cache

from protocontract.normalize import quantity_units


@lru_cache(maxsize=1)
def source() -> str:
    """The text of the helper module ``normalize/data/units``."""
    table = quantity_units.table()
    dimensions = sorted({name for unit in table.units for name, _ in unit.dimension})
    units: list[str] = []
    for unit in table.units:
        powers = " ".join(f"{dimensions.index(name)}^{power}" for name, power in unit.dimension)
        units.append(f"{' '.join(unit.spellings)}|{unit.kind}|{powers}")
    return (
        "// Units and prefixes as Pint names them, and other spellings of common units.\n\n"
        f"export const DIMENSIONS: readonly string[] = {_code(dimensions)};\n\n"
        "/** Spellings, the canonical name first | offset, logarithmic, or neither | dimensions, doubled. */\n"
        f"export const UNITS: readonly string[] = [\n{''.join(f'  {_code(each)},{chr(10)}' for each in units)}];\n\n"
        "/** Spelling and canonical name, in the order in which they are tried. */\n"
        f"export const PREFIXES: readonly (readonly [string, string])[] = {_rows(table.prefixes)};\n\n"
        f"export const ALIASES: readonly (readonly [string, string])[] = {_rows([*quantity_units.ALIASES.items()])};\n"
    )


def _rows(rows: list[tuple[str, str]]) -> str:
    return "[\n" + "".join(f"  {_code(row)},\n" for row in rows) + "]"


def _code(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
