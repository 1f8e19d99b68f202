"""The tables of a contract's page: the fields of its message and of all that it reaches, and the enums."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from protocontract_compiler import ir
from protocontract_compiler.emit.documents import tidy
from protocontract_compiler.emit.documents.blocks import (
    Block,
    Code,
    Heading,
    Link,
    Paragraph,
    Part,
    Quiet,
    Row,
    Table,
    Text,
    marked,
    parts_of,
)
from protocontract_compiler.emit.documents.words import Words
from protocontract_compiler.passes import reach
from protocontract_compiler.passes.pass_promises import promises_in
from protocontract_compiler.passes.tongues import SPOKEN

#: Values of an enum that a table shows before it is folded.
_ROWS: Final = 24
_TYPES: Final = {
    ir.TYPE_DOUBLE: "double", ir.TYPE_FLOAT: "float", ir.TYPE_INT64: "int64", ir.TYPE_UINT64: "uint64",
    ir.TYPE_INT32: "int32", ir.TYPE_FIXED64: "fixed64", ir.TYPE_FIXED32: "fixed32", ir.TYPE_BOOL: "bool",
    ir.TYPE_STRING: "string", ir.TYPE_BYTES: "bytes", ir.TYPE_UINT32: "uint32", ir.TYPE_SFIXED32: "sfixed32",
    ir.TYPE_SFIXED64: "sfixed64", ir.TYPE_SINT32: "sint32", ir.TYPE_SINT64: "sint64",
}  # fmt: skip


class FieldTables:
    """Writes the section about fields and rules, in one language."""

    def __init__(self, schema: ir.Schema, message: ir.Message, language: str) -> None:
        self._schema = schema
        self._message = message
        self._language = language
        self._say = Words(language)
        self._tongue = SPOKEN[language]
        self._promises_of = promises_in(schema, self._tongue)

    def blocks(self) -> Iterator[Block]:
        say = self._say
        yield Heading(say("fields"), "fields")
        messages = [each for each in reach.reached(self._schema, self._message)
                    if not each.full_name.startswith("google.protobuf.")]  # fmt: skip
        enums: dict[str, ir.Enum] = {}
        for message in messages:
            if message is not self._message:
                yield Heading(self._named("of_message", message.full_name), _anchor(message.full_name), 3)
                if message.comment:
                    yield Paragraph(tidy.prose(message.comment))
            own = {each.path: each.text for each in self._promises_of(message) if not each.of_message}
            rows = [self._field_row(message, field, own.get(field.name, "")) for field in message.fields]
            yield from self._table((say("number"), say("field"), say("type"), say("must"), say("means")), rows)
            for field in message.fields:
                name = (field.value or field).enum
                if name is not None and not name.startswith("google.protobuf."):
                    enums[name] = self._schema.enums[name]
        for enum in enums.values():
            yield Heading(self._named("of_enum", enum.full_name), _anchor(enum.full_name), 3)
            rows = [self._value_row(value) for value in enum.values]
            head = (say("number"), say("value"), say("code_of_value"), say("aliases"))
            yield from self._table(head, rows, most=_ROWS)

    def _table(self, head: Sequence[str], rows: Sequence[Row], *, most: int | None = None) -> Iterator[Table]:
        """A table without the columns that say nothing: most enums have neither codes nor aliases."""
        used = [at for at in range(len(head)) if any(parts_of(row.cells[at]) for row in rows)]
        rows = [Row([row.cells[at] for at in used]) for row in rows]
        most = len(rows) if most is None else most
        if rows:
            more = self._say("more_rows", len(rows) - most)
            yield Table([head[at] for at in used], rows[:most], rows[most:], more)

    def _named(self, key: str, full_name: str) -> Text:
        return marked(self._say(key, self._tongue.code(full_name.removeprefix(f"{self._package()}."))))

    def _package(self) -> str:
        return self._schema.files[self._message.file].package

    def _field_row(self, message: ir.Message, field: ir.Field, promise: str) -> Row:
        say = self._say
        notes = self._notes(message, field)
        means: list[Part] = list(tidy.prose(field.comment))
        if notes:
            means += [" "] if means else []
            means.append(Quiet(f"({say('comma').join(notes)})" if self._language == "en"
                               else f"（{say('comma').join(notes)}）"))  # fmt: skip
        return Row((str(field.number), Code(field.name), self._type(field), marked(promise), means))

    def _notes(self, message: ir.Message, field: ir.Field) -> list[str]:
        say, governed = self._say, field.governance
        found = [
            say(f"note_{key}", value)
            for key, value in (
                ("since", governed.since), ("sunset", governed.sunset), ("renamed", governed.renamed_from),
                ("unit", governed.unit), ("currency", governed.currency),
            )
            if value
        ]  # fmt: skip
        if field.oneof is not None:
            found.append(say("note_oneof", field.oneof))
        elif field.has_presence and not field.is_message and field.shape is ir.Shape.SINGULAR:
            found.append(say("optional"))
        if governed.acknowledge:
            found.append(say("note_acknowledge"))
        return found

    def _type(self, field: ir.Field) -> Text:
        say = self._say
        if field.key is not None and field.value is not None:
            return self._joined(say("map_of", "\x00", "\x01"), [self._one_type(field.key), self._one_type(field.value)])
        one = self._one_type(field)
        return [one] if field.shape is ir.Shape.SINGULAR else self._joined(say("list_of", "\x00"), [one])

    def _joined(self, text: str, parts: list[Part]) -> Text:
        found: list[Part] = []
        rest = text
        for at, part in enumerate(parts):
            before, _, rest = rest.partition(chr(at))
            found += [before, part]
        return [*found, rest]

    def _one_type(self, field: ir.Field) -> Part:
        name = field.message or field.enum
        if name is None:
            return Code(_TYPES.get(field.type, "group"))
        shown = Code(name.removeprefix(f"{self._package()}."))
        known = name != self._message.full_name and not name.startswith("google.protobuf.")
        return Link(shown, anchor=_anchor(name)) if known else shown

    def _value_row(self, value: ir.EnumValue) -> Row:
        aliases: list[Part] = []
        for alias in value.aliases:
            aliases += [", "] if aliases else []
            aliases.append(Code(alias))
        return Row((str(value.number), Code(value.name), Code(value.code) if value.code else "", aliases))


def _anchor(full_name: str) -> str:
    return full_name.replace(".", "-")
