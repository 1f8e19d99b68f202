"""A migration of several files: read, turned, and shown to the compiler, which has the last word on CEL."""

from __future__ import annotations

import contextlib
import io
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from protocontract_compiler import pipeline, protoc
from protocontract_compiler.descriptors import load
from protocontract_compiler.descriptors.validate_proto import VALIDATE_PROTO, VOCABULARY_PROTO
from protocontract_compiler.diagnostics import Diagnostic, Diagnostics, Stopped
from protocontract_compiler.migrate import confluent, pgv, ruleset
from protocontract_compiler.migrate.edits import Edits, replace_options
from protocontract_compiler.migrate.report import Finding, Migrated
from protocontract_compiler.migrate.source import NotRead, Option, Source, read

_TRIES: Final = 20


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a person decided: inexact rules to turn, tags that mean `sensitive`, rules of a schema registry."""

    accepted: frozenset[str] = frozenset()
    sensitive: frozenset[str] = frozenset()
    rules: Path | None = None


@dataclass(slots=True)
class Outcome:
    """All files, and what the compiler says against the result, if it was asked (``unchecked`` says why not)."""

    files: list[Migrated] = field(default_factory=list)
    mistakes: list[Diagnostic] = field(default_factory=list)
    unchecked: str = ""


def migrate(sources: protoc.Sources, wishes: Wishes) -> Outcome:
    """Turns the annotations of .proto files. Raises OSError for a file that cannot be read, ValueError for `rules`."""
    texts = {name: _read_text(name, sources.roots) for name in sources.names}
    refused: dict[str, dict[str, str]] = {name: {} for name in texts}
    outcome = Outcome()
    # CEL that does not compile stays as it was: turned again without it, until the compiler is content.
    for _ in range(_TRIES):
        outcome = Outcome([_file(name, text, wishes, refused[name]) for name, text in texts.items()])
        bare = {each.file: without_leftovers(each.after) for each in outcome.files}
        outcome.mistakes, outcome.unchecked = _mistakes(bare, sources.roots)
        more = False
        for mistake in outcome.mistakes:
            expression = _expression_at(bare.get(mistake.place.file, ""), mistake.place.line)
            if expression and expression not in refused[mistake.place.file]:
                refused[mistake.place.file][expression] = mistake.message
                more = True
        if not more:
            break
    return outcome


def _read_text(name: str, roots: Iterable[Path]) -> str:
    path = next(root / name for root in roots if (root / name).is_file())
    return path.read_bytes().decode("utf-8")


def _file(name: str, text: str, wishes: Wishes, refused: dict[str, str]) -> Migrated:
    told = Migrated(name, text, text)
    try:
        source = read(text)
    except NotRead as error:
        told.findings.append(Finding("left", name, error.line, "the file", str(error)))
        return told
    edits = Edits(text)
    pgv.migrate(source, edits, told, wishes.accepted)
    confluent.migrate(source, edits, told, wishes.sensitive, refused)
    if wishes.rules is not None:
        ruleset.migrate(source, edits, told, wishes.rules, refused)
    if told.turned:
        _imports(source, edits)
    told.after = edits.result()
    told.findings.sort(key=lambda finding: (finding.file, finding.line))
    return told


def _imports(source: Source, edits: Edits) -> None:
    """Imports what the new annotations need, and no longer what is gone, in the place of the old imports."""
    after = edits.result()
    known = {each.name for each in source.imports}
    wanted = [
        name
        for name, words in ((VALIDATE_PROTO, "(buf.validate."), (VOCABULARY_PROTO, "(protocontract.v1."))
        if words in after and name not in known
    ]
    statements = [f'import "{name}";' for name in wanted]
    for each in source.imports:
        words = _brought(each.name)
        if words and not any(f"({word}" in after or f"(.{word}" in after for word in words):
            if statements:
                edits.replace(each.start, each.end, "\n".join(statements))
                statements = []
            else:
                edits.remove_statement(each.start, each.end)
    if statements and source.imports:
        edits.insert(source.imports[0].start, "".join(f"{statement}\n" for statement in statements))
    elif statements:
        edits.insert(source.head, "\n\n" + "\n".join(statements))


def _brought(name: str) -> tuple[str, ...]:
    """The extensions that an import is there for; none where it is not one of theirs."""
    if name.endswith("validate/validate.proto") and name != VALIDATE_PROTO:
        return ("validate.",)
    if name.endswith("confluent/meta.proto"):
        return ("confluent.",)
    return ()


def without_leftovers(text: str) -> str:
    """A source without annotations of the others, and without their imports: what the compiler can be shown."""
    try:
        source = read(text)
    except NotRead:
        return text
    theirs = pgv.EXTENSIONS | confluent.EXTENSIONS
    edits = Edits(text)
    for block in source.every_block():
        for each in block.statements:
            if each.option.extension in theirs:
                edits.replace(each.start, each.end, "")
        for described in block.fields:
            gone: dict[Option, list[str]] = {option: [] for option in described.options if option.extension in theirs}
            if gone:
                replace_options(edits, described, gone)
    for statement in source.imports:
        if _brought(statement.name):
            edits.replace(statement.start, statement.end, "")
    return edits.result()


def _mistakes(texts: dict[str, str], roots: list[Path]) -> tuple[list[Diagnostic], str]:
    diagnostics = Diagnostics()
    with tempfile.TemporaryDirectory(prefix="protocontract-") as folder:
        for name, text in texts.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8", newline="")
        sources = protoc.Sources(list(texts), [Path(folder), *roots])
        try:
            # What protoc warns of are the sources as they were, under names that nobody has seen.
            with contextlib.redirect_stderr(io.StringIO()):
                files = protoc.describe(sources, diagnostics)
        except Stopped:
            missing = [found for found in diagnostics.sorted() if "not found" in found.message]
            if missing:
                return [], f"not compiled: {missing[0].place.file or missing[0].message} is not found; expected -I DIR"
            return diagnostics.sorted(), ""
        try:
            loaded = load(files, list(texts), diagnostics, source_roots=[Path(folder)], search_here=False)
            pipeline.compile_schema(loaded, diagnostics, pipeline.CompileOptions())
        except Stopped:
            return diagnostics.sorted(), ""
    return [], ""


def _expression_at(text: str, line: int) -> str:
    """The expression of the CEL rule at a line, as it is written; empty where there is none."""
    try:
        source = read(text)
    except NotRead:
        return ""
    for block in source.every_block():
        options = [each.option for each in block.statements]
        options += (option for described in block.fields for option in described.options)
        for option in options:
            is_cel = option.path[:1] in {("cel",), ("cel_expression",)}
            if is_cel and source.line(option.start) <= line <= source.line(option.end):
                return _expression(option, text)
    return ""


def _expression(option: Option, text: str) -> str:
    value = option.value
    for entry in getattr(value, "entries", ()):
        if entry.name == "expression":
            value = entry.value
    return text[value.start : value.end]


__all__ = ["Outcome", "Wishes", "migrate", "without_leftovers"]
