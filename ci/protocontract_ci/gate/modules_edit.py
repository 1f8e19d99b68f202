"""Edits modules.toml and leaves what people wrote there as it is: comments, order, spaces."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

import tomlkit
from tomlkit.items import AoT, Array, Table

from protocontract.cli import UsageError


def add_acknowledgements(
    text: str, module: str, path: str, steps: Sequence[str], reason: str, until: datetime.date
) -> str:
    """The file with acknowledgements of changes at a path; they take the place of older ones of the same change.

    Raises UsageError where the module is not declared.
    """
    document = tomlkit.parse(text)
    declared = document.get("module")
    tables = declared if isinstance(declared, AoT) else []
    table = next((each for each in tables if each.get("name") == module), None)
    if table is None:
        raise UsageError(f"no module `{module}` in modules.toml")
    given = table.get("acknowledge")
    if isinstance(given, Array):
        # Tables in one line each, as somebody wrote them.
        kept = [each for each in given if not (each.get("path") == path and each.get("change") in steps)]
        del given[:]
        given.extend([*kept, *(_inline(path, step, reason, until) for step in steps)])
        return tomlkit.dumps(document)
    tables_of_words = given if isinstance(given, AoT) else tomlkit.aot()
    for index in reversed(range(len(tables_of_words))):
        word = tables_of_words[index]
        if word.get("path") == path and word.get("change") in steps:
            del tables_of_words[index]
    for step in steps:
        tables_of_words.append(_fill(tomlkit.table(), path, step, reason, until))
    if steps and table is not tables[-1]:
        tables_of_words[-1].add(tomlkit.nl())  # the next module stands apart, as people write them
    if not isinstance(given, AoT):
        table.append("acknowledge", tables_of_words)
    return tomlkit.dumps(document)


def _fill(table: Table, path: str, step: str, reason: str, until: datetime.date) -> Table:
    table.update({"path": path, "change": step, "reason": reason, "until": until})
    return table


def _inline(path: str, step: str, reason: str, until: datetime.date) -> object:
    table = tomlkit.inline_table()
    table.update({"path": path, "change": step, "reason": reason, "until": until})
    return table
