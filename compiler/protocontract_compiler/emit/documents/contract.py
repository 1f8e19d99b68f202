"""The page of one contract: what is guaranteed comes first, the rest is to look up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from protocontract.levels import DEFAULT_WINDOW, minimum_records
from protocontract.violations import error_code
from protocontract_compiler import ir
from protocontract_compiler.emit.documents import tidy
from protocontract_compiler.emit.documents.blocks import (
    Block,
    Code,
    Facts,
    Heading,
    Link,
    Listing,
    Page,
    Paragraph,
    Part,
    Points,
    Quiet,
    Row,
    Table,
    Text,
    marked,
    parts_of,
)
from protocontract_compiler.emit.documents.codes import Explained, explained, explained_rule, rules_of_records
from protocontract_compiler.emit.documents.words import Words
from protocontract_compiler.emit.python import tool_version
from protocontract_compiler.ir_dump import fingerprint
from protocontract_compiler.passes import reach
from protocontract_compiler.passes.codes import RulePlace, places
from protocontract_compiler.passes.pass_promises import promises_in
from protocontract_compiler.passes.tongues import SPOKEN

#: Values of an enum and error codes that a table shows before it is folded.
_ROWS: Final = 24
#: A contract has so many places at most that documents list; the number of paths can be exponential.
_PLACES: Final = 2000
_TYPES: Final = {
    ir.TYPE_DOUBLE: "double", ir.TYPE_FLOAT: "float", ir.TYPE_INT64: "int64", ir.TYPE_UINT64: "uint64",
    ir.TYPE_INT32: "int32", ir.TYPE_FIXED64: "fixed64", ir.TYPE_FIXED32: "fixed32", ir.TYPE_BOOL: "bool",
    ir.TYPE_STRING: "string", ir.TYPE_BYTES: "bytes", ir.TYPE_UINT32: "uint32", ir.TYPE_SFIXED32: "sfixed32",
    ir.TYPE_SFIXED64: "sfixed64", ir.TYPE_SINT32: "sint32", ir.TYPE_SINT64: "sint64",
}  # fmt: skip


@dataclass(frozen=True)
class Entry:
    """What an index finds: a field with its promise, or an error code with its rule."""

    kind: str
    name: str
    text: str
    anchor: str


class ContractPage:
    """Writes the page of a message that has a contract, in one language."""

    def __init__(self, schema: ir.Schema, message: ir.Message, contract: ir.ContractOptions, language: str) -> None:
        self._schema = schema
        self._message = message
        self._contract = contract
        self._dossier = schema.dossiers.get(message.full_name, ir.Dossier())
        self._language = language
        self._say = Words(language)
        self._tongue = SPOKEN[language]
        self._promises = promises_in(schema, self._tongue)(message)
        self._refused = {each.code: each for each in self._dossier.examples if each.kind == "refused"}
        self._places = list(_most(places(schema, message)))

    @property
    def promise_count(self) -> int:
        """How many promises the contract makes."""
        return len(self._promises)

    def page(self) -> Page:
        """The page."""
        return Page(
            self._message.full_name,
            self._language,
            self._message.full_name,
            self._contract.version,
            tidy.prose(self._message.comment),
            list(self._blocks()),
            self._say("foot", tool_version(), self._message.file),
        )

    def entries(self) -> Iterator[Entry]:
        """What the index finds of this contract besides its name."""
        for promise in self._promises:
            if promise.path:
                yield Entry("field", promise.path, tidy.plain_words(promise.text), "guarantees")
        for place in self._places:
            yield Entry("code", f"{place.code:#010x}", f"{place.path} {place.rule_id}".strip(), f"x{place.code:08x}")
        for rule_id in rules_of_records(self._contract):
            code = error_code(self._message.full_name, "", rule_id)
            yield Entry("code", f"{code:#010x}", rule_id, f"x{code:08x}")

    def _blocks(self) -> Iterator[Block]:
        yield self._facts()
        yield from self._guarantees()
        yield from self._levels()
        yield from self._uniform()
        yield from self._fields()
        yield from self._examples()
        yield from self._codes()
        yield from history(self._say, self._dossier.history)
        yield from consumers(self._say, self._dossier.consumers, self._message.full_name)

    def _facts(self) -> Facts:
        contract, say = self._contract, self._say
        pairs: list[tuple[str, Text]] = [(say("owner"), contract.owner or Quiet(say("none")).text)]
        for key, value in (("topic", contract.topic), ("dead_letters", contract.dead_letter_topic),
                           ("key", contract.key_field), ("event_time", contract.event_time)):  # fmt: skip
            if value:
                pairs.append((say(key), Code(value)))
        place = self._message.place
        pairs.append((say("source"), Code(f"{self._message.file}:{place.line}" if place.line else self._message.file)))
        pairs.append((say("fingerprint"), Code(fingerprint(self._schema, self._message.full_name)[:16])))
        return Facts(pairs)

    # -- sentences

    def _guarantees(self) -> Iterator[Block]:
        say = self._say
        yield Heading(say("guarantees"), "guarantees")
        if not self._promises:
            yield Paragraph(say("no_guarantees"))
            return
        dead = self._contract.dead_letter_topic
        yield Paragraph(marked(say("guarantees_dead", dead) if dead else say("guarantees_lead")))
        yield Points([self._sentence(promise) for promise in self._promises])

    def _sentence(self, promise: ir.Promise) -> Text:
        say = self._say
        if promise.path and not self._is_of_message(promise):
            warned = bool(promise.rule_ids) and all(
                self._severity(promise.path, rule_id) == "WARNING" for rule_id in promise.rule_ids
            )
            text = say("warned" if warned else "sentence", self._tongue.code(promise.path), promise.text)
            return marked(text)
        where: list[Part] = [Code(promise.path), say("colon")] if promise.path else []
        if promise.text in promise.rule_ids:
            # A rule without words of its own: what it says is in the example of it.
            said = next(
                (dict(each.says)[self._language] for each in self._refused.values()
                 if each.rule_id == promise.text and each.says and dict(each.says)[self._language] != promise.text),
                "",
            )  # fmt: skip
            if not said:
                return [*where, *marked(say("rule_kept", self._tongue.code(promise.text)))]
            return [*where, *marked(self._as_sentence(said, begins=not where))]
        return [*where, *marked(self._as_sentence(promise.text, begins=not where))]

    def _as_sentence(self, text: str, *, begins: bool) -> str:
        text = text.strip().rstrip(".。")
        text = f"{text[:1].upper()}{text[1:]}" if begins else text
        # The contract's own words may be in another language than the page.
        return f"{text}." if text.isascii() else self._say("rule_said", text)

    def _is_of_message(self, promise: ir.Promise) -> bool:
        """Whether the promise is of a message as a whole or of a oneof, and says so in a sentence of its own."""
        return not any(self._field_at(promise.path))

    def _field_at(self, path: str) -> Iterator[ir.Field]:
        message: ir.Message | None = self._message
        found: ir.Field | None = None
        for step in path.replace("[]", "").split("."):
            found = next((each for each in message.fields if each.name == step), None) if message is not None else None
            message = self._schema.messages.get(found.element_message or "") if found is not None else None
        if found is not None and not self._ends_in_message_rule(path):
            yield found

    def _ends_in_message_rule(self, path: str) -> bool:
        """Whether the path is that of a message whose own rule is meant: ``entities[]``."""
        return path.endswith("[]")

    def _severity(self, path: str, rule_id: str) -> str:
        for place in self._places:
            if place.path == path.replace("[]", "") and place.rule_id == rule_id and place.field is not None:
                return dict(place.field.governance.severities).get(rule_id, "ERROR")
        return "ERROR"

    def _levels(self) -> Iterator[Block]:
        level, say = self._contract.level, self._say
        if level in (None, ir.StreamLevel()):
            return
        assert level is not None
        yield Heading(say("levels"), "levels")
        window = int(DEFAULT_WINDOW * 10**9) if level.window is None else level.window
        # The runtime's level and the IR's have the vocabulary's words alike.
        fewest: Any = level
        yield Paragraph(say("levels_lead", say.duration(window), f"{minimum_records(fewest):,}"))
        since = self._tongue.code(self._contract.event_time) if self._contract.event_time else say("its_timestamp")
        found: list[str] = []
        for key, value, show in (
            ("compliance", level.compliance, say.percent), ("error_rate", level.error_rate, say.percent),
        ):  # fmt: skip
            if value is not None:
                found.append(say(f"level_{key}", show(value)))
        if level.latency is not None:
            found.append(say("level_latency", say.duration(level.latency), since))
        if level.frequency is not None:
            found.append(say("level_frequency", say.duration(level.frequency)))
        if level.throughput is not None:
            found.append(say("level_throughput", f"{level.throughput:g}"))
        found.append(say(f"breach_{self._contract.on_breach}"))
        yield Points([marked(text) for text in found])

    def _uniform(self) -> Iterator[Block]:
        say = self._say
        normalised = [
            (promise_path, field)
            for promise_path, field in _fields(self._schema, self._message, "", (self._message.full_name,))
            if field.normalizer is not None
        ]
        if not normalised:
            return
        yield Heading(say("uniform"), "uniform")
        yield Paragraph(say("uniform_lead"))
        yield Points(
            [
                marked(say("uniform_sentence", self._tongue.code(path), tidy.normalizer(say, self._tongue, normalizer)))
                for path, field in normalised
                if (normalizer := field.normalizer) is not None
            ]
        )
        cleaned = [each for each in self._dossier.examples if each.kind == "cleaned"]
        if cleaned:
            yield Table(
                (say("field"), say("sent"), say("becomes")),
                [
                    Row((Code(each.path), Code(dict(each.sent)[self._language]),
                         Code(dict(each.becomes)[self._language])))
                    for each in cleaned
                ],
            )  # fmt: skip

    # -- tables

    def _fields(self) -> Iterator[Block]:
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
            own = {promise.path: promise.text for promise in promises_in(self._schema, self._tongue)(message)}
            yield Table(
                (say("number"), say("field"), say("type"), say("must"), say("means")),
                [self._field_row(message, field, own.get(field.name, "")) for field in message.fields],
            )
            for field in message.fields:
                name = (field.value or field).enum
                if name is not None and not name.startswith("google.protobuf."):
                    enums[name] = self._schema.enums[name]
        for enum in enums.values():
            yield Heading(self._named("of_enum", enum.full_name), _anchor(enum.full_name), 3)
            rows = [self._value_row(value) for value in enum.values]
            head = (say("number"), say("value"), say("code_of_value"), say("aliases"))
            # Most enums have neither codes nor aliases.
            used = [at for at in range(len(head)) if any(parts_of(row.cells[at]) for row in rows)]
            rows = [Row([row.cells[at] for at in used]) for row in rows]
            yield Table([head[at] for at in used], rows[:_ROWS], rows[_ROWS:], say("more_rows", len(rows) - _ROWS))

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

    # -- examples and codes

    def _examples(self) -> Iterator[Block]:
        say = self._say
        yield Heading(say("examples"), "examples")
        kept = next((each for each in self._dossier.examples if each.kind == "kept"), None)
        if kept is None:
            yield Paragraph(say("no_example"))
            return
        yield Heading(say("kept"), "kept", 3)
        yield Paragraph(say("kept_lead"))
        yield Listing(dict(kept.sent)[self._language])
        rows = [
            Row((Code(each.path) if each.path else say("whole_record"), self._sent(each),
                 dict(each.says)[self._language], Link(Code(f"{each.code:#010x}"), anchor=f"x{each.code:08x}")))
            for place in self._places
            if (each := self._refused.get(place.code)) is not None
        ]  # fmt: skip
        if rows:
            yield Heading(say("refused"), "refused", 3)
            yield Paragraph(say("refused_lead"))
            yield Table((say("field"), say("sent"), say("why"), say("code")), rows)

    def _sent(self, example: ir.Example) -> Text:
        sent = dict(example.sent)[self._language]
        return Code(sent) if sent else [Quiet(self._say("not_set"))]

    def _codes(self) -> Iterator[Block]:
        say = self._say
        if not self._places:
            return
        yield Heading(say("codes"), "codes")
        yield Paragraph(say("codes_lead"))
        rows = [self._code_row(place) for place in self._places]
        rows += [self._record_row(rule_id) for rule_id in rules_of_records(self._contract)]
        yield Table((say("code"), say("field"), say("rule"), say("means"), say("helps")), rows)

    def _record_row(self, rule_id: str) -> Row:
        code = error_code(self._message.full_name, "", rule_id)
        meant = explained_rule(rule_id, self._say)
        return Row(
            (Code(f"{code:#010x}"), Quiet(self._say("whole_record")), Code(rule_id), tidy.prose(meant.meaning),
             tidy.prose(meant.remedy)),
            f"x{code:08x}",
        )  # fmt: skip

    def _code_row(self, place: RulePlace) -> Row:
        meant: Explained = explained(place, self._refused.get(place.code), self._say)
        field: list[Part] = [Code(place.path)] if place.path else [Quiet(self._say("whole_record"))]
        rule: list[Part] = [Code(place.rule_id)] if place.rule_id else []
        rule += [" ", Quiet(meant.note)] if meant.note else []
        return Row(
            (Code(f"{place.code:#010x}"), field, rule, tidy.prose(meant.meaning), tidy.prose(meant.remedy)),
            f"x{place.code:08x}",
        )


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


def _fields(
    schema: ir.Schema, message: ir.Message, prefix: str, outer: tuple[str, ...]
) -> Iterator[tuple[str, ir.Field]]:
    """The fields of a message and of those in it, by their paths; no message within itself."""
    for field in message.fields:
        yield prefix + field.name, field
        inner = schema.messages.get(field.element_message or "")
        if inner is not None and inner.full_name not in outer and not inner.full_name.startswith("google.protobuf."):
            mark = "" if field.shape is ir.Shape.SINGULAR else "[]"
            yield from _fields(schema, inner, f"{prefix}{field.name}{mark}.", (*outer, inner.full_name))


def _most(found: Iterator[RulePlace]) -> Iterator[RulePlace]:
    for _, place in zip(range(_PLACES), found, strict=False):
        yield place


def _anchor(full_name: str) -> str:
    return full_name.replace(".", "-")


Maker = Callable[[str], Page]
