"""Confluent's ``(confluent.field_meta)`` and ``(confluent.message_meta)``: inline CEL rules, and tags.

An inline rule and ``(buf.validate.field).cel`` mean the same: ``this`` is the value, or the message; a field that is
not set is passed over where it has presence; false, or a text, is a violation. So a rule is turned as it is, and the
compiler says whether its CEL is one (Confluent's clients have functions of their own, and check no types).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from protocontract_compiler.migrate.edits import Edits, replace_options
from protocontract_compiler.migrate.pgv import extensions
from protocontract_compiler.migrate.report import Finding, Migrated
from protocontract_compiler.migrate.source import Aggregate, Block, Entry, Field, Listed, Option, Source, Value

FIELD: Final = "confluent.field_meta"
MESSAGE: Final = "confluent.message_meta"
EXTENSIONS: Final = frozenset(
    {FIELD, MESSAGE, "confluent.file_meta", "confluent.enum_meta", "confluent.enum_value_meta"}
)

_KEPT: Final = {
    "doc": "documentation: make it a comment",
    "params": "protocontract has no word for parameters",
    "sql": "buf.validate has no SQL",
}


def migrate(
    source: Source, edits: Edits, told: Migrated, sensitive: frozenset[str], refused: Mapping[str, str]
) -> None:
    """Turns the annotations of a file.

    ``sensitive`` are the tags that stand for `sensitive`; ``refused`` says why an expression stays, by its source text.
    """
    for block in source.every_block():
        if block.kind == "message":
            oneofs = [inner for inner in block.blocks if inner.kind == "oneof"]
            turning = _Turning(source, edits, told, sensitive, refused)
            turning.message(block)
            for field in [*block.fields, *(field for oneof in oneofs for field in oneof.fields)]:
                turning.field(field)
        elif block.kind == "extend":
            told.findings += extensions(block, source, told.file, EXTENSIONS)


class _Turning:
    def __init__(
        self, source: Source, edits: Edits, told: Migrated, sensitive: frozenset[str], refused: Mapping[str, str]
    ) -> None:
        self._source = source
        self._edits = edits
        self._told = told
        self._sensitive = sensitive
        self._refused = refused
        self._written: set[str] = set()

    def field(self, field: Field) -> None:
        """The annotations of a field."""
        by: dict[Option, list[str]] = {}
        self._written.clear()
        for option in field.options:
            if option.extension == FIELD:
                turned = self._option(option, field.name, "buf.validate.field")
                if turned is not None:
                    by[option] = turned
        if by:
            replace_options(self._edits, field, by)

    def message(self, message: Block) -> None:
        """The annotations of a message itself."""
        self._written.clear()
        for each in message.statements:
            if each.option.extension == MESSAGE:
                turned = self._option(each.option, message.name, "buf.validate.message")
                if turned == []:
                    self._edits.remove_statement(each.start, each.end)
                elif turned is not None:
                    between = f";\n{self._edits.indent(each.start)}option "
                    self._edits.replace(each.option.start, each.option.end, between.join(turned))

    def _option(self, option: Option, where: str, into: str) -> list[str] | None:
        """The options in the place of one; None where all of it stays."""
        parts = _parts(option)
        turned: list[str] = []
        staying: list[tuple[str, Value]] = []
        for name, value in parts:
            found = None
            if name == "rules" and isinstance(value, Aggregate):
                found = self._rule(value, where, into, self._edits.indent(option.start))
            elif name == "tags" and option.extension == FIELD and self._word(value) in self._sensitive:
                found = "(protocontract.v1.field).sensitive = true"
            if found is None:
                staying.append((name, value))
                if name != "rules":
                    self._left(value, f"{where}: {name}", self._why(name, value))
            else:
                self._told.turned += 1
                # Several tags may say the same.
                if found not in self._written:
                    turned.append(found)
                self._written.add(found)
        if not turned and staying:
            return None
        return [*turned, *(f"({option.extension}).{name} = {self._text(value)}" for name, value in staying)]

    def _rule(self, rule: Aggregate, where: str, into: str, indent: str) -> str | None:
        entries: dict[str, Entry] = {entry.name: entry for entry in rule.entries}
        expression = entries.get("expr")
        name = entries.get("name")
        if expression is None:
            self._left(rule, f"{where}: rules", "a rule without an expression")
            return None
        text = self._text(expression.value)
        if text in self._refused:
            self._left(rule, f"{where}: rules", self._refused[text])
            return None
        if "sql" in entries:
            self._note(entries["sql"].value, f"{where}: rules", f"left out: {_KEPT['sql']}")
        if name is None:
            return f"({into}).cel_expression = {text}"
        inner = [("id", name), *([("message", entries["doc"])] if "doc" in entries else []), ("expression", expression)]
        lines = "".join(f"\n{indent}  {key}: {self._text(entry.value)}" for key, entry in inner)
        return f"({into}).cel = {{{lines}\n{indent}}}"

    def _why(self, name: str, value: Value) -> str:
        if name == "tags":
            tag = self._text(value)
            return f"nothing says what the tag {tag} means here (--sensitive-tag turns one into `sensitive`)"
        return _KEPT.get(name, "no part of Confluent's Meta")

    def _word(self, value: Value) -> str:
        return self._text(value).strip("\"'")

    def _left(self, value: Value, what: str, why: str) -> None:
        self._told.findings.append(Finding("left", self._told.file, self._source.line(value.start), what, why))

    def _note(self, value: Value, what: str, why: str) -> None:
        self._told.findings.append(Finding("note", self._told.file, self._source.line(value.start), what, why))

    def _text(self, value: Value) -> str:
        return self._source.text[value.start : value.end]


def _parts(option: Option) -> list[tuple[str, Value]]:
    """The fields of Meta in an option, one for each item of a list."""
    if option.path:
        # (confluent.field_meta).rules = {...}; a deeper path names a part of a rule, which cannot stand alone.
        named = [(".".join(option.path), option.value)]
    elif isinstance(option.value, Aggregate):
        named = [(entry.name, entry.value) for entry in option.value.entries]
    else:
        named = []
    found: list[tuple[str, Value]] = []
    for name, value in named:
        items = value.items if isinstance(value, Listed) else (value,)
        found += ((name, item) for item in items)
    return found
