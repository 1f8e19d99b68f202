"""The page of one contract: what is guaranteed comes first, the rest is to look up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from protocontract.levels import DEFAULT_WINDOW, minimum_records
from protocontract.violations import error_code
from protocontract_compiler import ir
from protocontract_compiler.emit.documents import tidy
from protocontract_compiler.emit.documents.beside import consumers, history
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
)
from protocontract_compiler.emit.documents.codes import Explained, explained, explained_rule, rules_of_records
from protocontract_compiler.emit.documents.fields import FieldTables
from protocontract_compiler.emit.documents.words import Words
from protocontract_compiler.emit.python import tool_version
from protocontract_compiler.ir_dump import fingerprint
from protocontract_compiler.passes.codes import RulePlace, places
from protocontract_compiler.passes.pass_promises import promises_in
from protocontract_compiler.passes.tongues import SPOKEN

#: A contract has so many places at most that documents list; the number of paths can be exponential.
_PLACES: Final = 2000


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
        yield from FieldTables(self._schema, self._message, self._language).blocks()
        yield from self._examples()
        yield from self._codes()
        yield from history(self._say, self._dossier.history)
        yield from consumers(self._say, self._dossier.consumers, self._message.full_name)

    def _facts(self) -> Facts:
        contract, say = self._contract, self._say
        pairs: list[tuple[str, Text]] = [(say("owner"), contract.owner or say("none"))]
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
        if not promise.of_message:
            warned = bool(promise.rule_ids) and all(
                self._severity(promise.path, rule_id) == "WARNING" for rule_id in promise.rule_ids
            )
            text = say("warned" if warned else "sentence", self._tongue.code(promise.path), promise.text)
            return marked(text)
        where: list[Part] = [Code(promise.path), say("colon")] if promise.path else []
        if promise.text in promise.rule_ids:
            # A rule without words of its own: what it says is in the example of it.
            told = (dict(each.says)[self._language] for each in self._refused.values() if each.rule_id == promise.text)
            said = next(told, promise.text)
            if said == promise.text or said.endswith("returned false"):
                return [*where, *marked(say("rule_kept", self._tongue.code(promise.text)))]
            return [*where, *marked(self._as_sentence(said, begins=not where))]
        return [*where, *marked(self._as_sentence(promise.text, begins=not where))]

    def _as_sentence(self, text: str, *, begins: bool) -> str:
        text = text.strip().rstrip(".。")
        text = f"{text[:1].upper()}{text[1:]}" if begins else text
        # The contract's own words may be in another language than the page.
        return f"{text}." if text.isascii() else self._say("rule_said", text)

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
        for key, share in (("compliance", level.compliance), ("error_rate", level.error_rate)):
            if share is not None:
                found.append(say(f"level_{key}", say.percent(share)))
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
        sentences = [
            marked(say("uniform_sentence", self._tongue.code(path), tidy.normalizer(say, self._tongue, word)))
            for path, field in _fields(self._schema, self._message, "", (self._message.full_name,))
            if (word := field.normalizer) is not None
        ]
        if not sentences:
            return
        yield Heading(say("uniform"), "uniform")
        yield Paragraph(say("uniform_lead"))
        yield Points(sentences)
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
