"""The sections about what lies beside a contract: its versions, and the modules that use it."""

from __future__ import annotations

from collections.abc import Iterator

from protocontract_compiler import ir
from protocontract_compiler.emit.documents.blocks import (
    Block,
    Code,
    Heading,
    Paragraph,
    Part,
    Quiet,
    Row,
    Table,
    Text,
    marked,
)
from protocontract_compiler.emit.documents.words import Words


def history(say: Words, versions: tuple[ir.Version, ...]) -> Iterator[Block]:
    """The section about a contract's versions."""
    yield Heading(say("history"), "history")
    if not versions:
        yield Paragraph(marked(say("no_history")))
        return
    rows = [
        Row((version.version, version.date, _changes(say, version, first=version is versions[-1])))
        for version in versions
    ]
    yield Table((say("version").lower(), say("date"), say("changes")), rows)


def _changes(say: Words, version: ir.Version, *, first: bool) -> Text:
    parts: list[Part] = []
    for change in version.changes:
        parts += ["; "] if parts else []
        parts += [Code(change.path), f" {change.text} ", Quiet(f"({say(f'direction_{change.direction}')})")]
    return parts or [Quiet(say("first_version" if first else "no_changes"))]


def consumers(say: Words, modules: tuple[ir.Consumer, ...], full_name: str) -> Iterator[Block]:
    """The section about the modules that use a contract."""
    yield Heading(say("consumers"), "consumers")
    if not modules:
        yield Paragraph(marked(say("no_consumers")))
        return
    rows = [
        Row((Code(module.module), module.owner, say(f"role_{module.role}"), ", ".join(module.languages),
             _uses(say, module, full_name)))
        for module in modules
    ]  # fmt: skip
    yield Table((say("module"), say("owner").lower(), say("role"), say("languages"), say("uses")), rows)


def _uses(say: Words, module: ir.Consumer, full_name: str) -> Text:
    package = full_name.rpartition(".")[0]
    parts: list[Part] = []
    if module.is_recorded and not module.uses:
        return Quiet(say("uses_whole"))
    for use in module.uses:
        parts += [", "] if parts else []
        parts.append(Code(use.removeprefix(f"{full_name}.").removeprefix(f"{package}.")))
    return parts or [Quiet(say("uses_unknown"))]
