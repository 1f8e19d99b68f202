"""Derives what each contract promises, one line a field: what ``verify``, documents and reviewers read.

The words are for people; ``rule_ids`` tie each line to the violations that break it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from protocontract_compiler import ir
from protocontract_compiler.passes import reach
from protocontract_compiler.passes.promise_words import normalizer_words, relation_words, rules_words
from protocontract_compiler.passes.rule_ids import ids_of
from protocontract_compiler.passes.rule_text import parse
from protocontract_compiler.passes.tongues import PHRASES, Tongue

# Enough for any contract that people read; a graph of messages can have exponentially many paths.
_MAX_PROMISES = 500


def add_promises(schema: ir.Schema) -> ir.Schema:
    """The schema with the promises of every message that has rules, or reaches one that has."""
    deriving = _Deriving(schema)
    return replace(
        schema,
        messages={
            name: replace(message, promises=tuple(deriving.promises(message)))
            for name, message in schema.messages.items()
        },
    )


def promises_in(schema: ir.Schema, tongue: Tongue) -> Callable[[ir.Message], list[ir.Promise]]:
    """The promises of the schema's messages, in the words of a language: of each that is asked for."""
    return _Deriving(schema, tongue).promises


class _Deriving:
    def __init__(self, schema: ir.Schema, tongue: Tongue = PHRASES) -> None:
        self._schema = schema
        self._tongue = tongue
        self._own: dict[int, ir.Promise | None] = {}
        # Messages without a promise, themselves and below, are not entered: the paths through them can be many.
        self._promising = reach.with_work(schema, self._promises_itself)

    def promises(self, message: ir.Message) -> list[ir.Promise]:
        found: list[ir.Promise] = []
        for promise in self._of_message(message, "", (message.full_name,)):
            if len(found) == _MAX_PROMISES:
                break
            found.append(promise)
        return found

    def _promises_itself(self, message: ir.Message) -> bool:
        return bool(
            message.rules.checks
            or message.rules.oneofs
            or any(oneof.required for oneof in message.oneofs)
            or any(self._of_field(field) for field in message.fields)
        )

    def _of_message(self, message: ir.Message, prefix: str, outer: tuple[str, ...]) -> Iterator[ir.Promise]:
        key_field = message.contract.key_field if message.contract is not None and not prefix else ""
        for field in message.fields:
            own = self._of_field(field)
            if own is not None:
                text, rule_ids = own.text, own.rule_ids
                if field.name == key_field:
                    rule_ids = (*rule_ids, "key.mismatch")
                    text = self._tongue.joined((text, self._tongue.say("key"))) if self._tongue.full else text
                yield ir.Promise(prefix + field.name, text, rule_ids)
            # What is never validated makes no promise either.
            skipped = field.rules is not None and field.rules.ignore == "always"
            inner = self._schema.messages.get(field.element_message or "")
            if inner is None or skipped or inner.full_name in outer or inner.full_name not in self._promising:
                continue
            if inner.full_name.startswith("google.protobuf."):
                continue
            mark = "" if field.shape is ir.Shape.SINGULAR else "[]"
            yield from self._of_message(inner, f"{prefix}{field.name}{mark}.", (*outer, inner.full_name))
        for oneof in message.oneofs:
            if oneof.required:
                yield ir.Promise(prefix + oneof.name, self._said_of("oneof_set", oneof.fields), ("required",), True)
        for check in message.rules.checks:
            text = check.message if check.message and not check.message.endswith("returned false") else ""
            text = text or check.rule_id or check.source
            yield ir.Promise(prefix.removesuffix("."), text, (check.rule_id or check.source,), True)
        for rule in message.rules.oneofs:
            bound = "oneof_exactly" if rule.required else "oneof_most"
            yield ir.Promise(prefix.removesuffix("."), self._said_of(bound, rule.fields), ("message.oneof",), True)

    def _said_of(self, key: str, fields: tuple[str, ...]) -> str:
        return self._tongue.say(key, self._tongue.either(map(self._tongue.code, fields), "and"))

    def _of_field(self, field: ir.Field) -> ir.Promise | None:
        """The promise of a field, with an empty path; None where nothing is promised."""
        # Asked for on every path that leads to the field.
        if id(field) not in self._own:
            self._own[id(field)] = self._promise(field)
        return self._own[id(field)]

    def _promise(self, field: ir.Field) -> ir.Promise | None:
        words: list[str] = []
        rule_ids: list[str] = []
        if field.normalizer is not None:
            words += normalizer_words(field.normalizer, self._tongue)
            rule_ids += ids_of(field.normalizer)
        rules = field.rules
        if rules is not None and rules.ignore != "always":
            words = self._rules_text(field, rules) + words if _leads(field) else words + self._rules_text(field, rules)
            if rules.required:
                rule_ids.append("required")
                if self._tongue.full or not words:
                    words.insert(0, self._tongue.say("required"))
            rule_ids += _ids(rules)
        for relation in field.relations:
            words += relation_words(relation, self._tongue)
            rule_ids += ids_of(relation)
        if not words and field.normalizer is not None:
            words = [self._tongue.say(f"what_{field.normalizer.kind}")]
        if field.governance.sensitive:
            words.append(self._tongue.say("sensitive"))
        if not words:
            return None
        return ir.Promise("", self._tongue.joined(words), tuple(dict.fromkeys(rule_ids)))

    def _rules_text(self, field: ir.Field, rules: ir.ValueRules) -> list[str]:
        try:
            plain = parse(field.rule_source)
        except (ValueError, IndexError):
            plain = {}
        words = rules_words(plain, self._enum_names(field), self._tongue)
        # Rules that there are no words for, the contract's own among them, speak for themselves.
        checks = rules.checks if not words else tuple(check for check in rules.checks if _own(check))
        words += [self._tongue.say("own", check.message or check.rule_id or check.source) for check in checks]
        words = list(dict.fromkeys(words))
        if words and rules.ignore == "if_zero_value":
            words[-1] = self._tongue.say("or_empty", words[-1])
        return words

    def _enum_names(self, field: ir.Field) -> dict[int, str]:
        element = field.value if field.value is not None else field
        enum = self._schema.enums.get(element.enum or "")
        return {} if enum is None else {value.number: value.code or value.name for value in enum.values}


def _leads(field: ir.Field) -> bool:
    """Whether the field's rules say what it is and its normalizer only how it is cleaned."""
    return field.normalizer is not None and field.normalizer.kind in {"text", "scalar"}


def _own(check: ir.Check) -> bool:
    """Whether a check is the contract's own CEL or predefined rule, which rules_words does not know."""
    last = check.rule_path.rpartition(".")[2]
    return check.extension is not None or last.startswith(("cel[", "cel_expression["))


def _checks(rules: ir.ValueRules) -> Iterator[ir.Check]:
    yield from rules.checks
    for nested in (rules.items, rules.keys, rules.values):
        if nested is not None:
            yield from _checks(nested)


def _ids(rules: ir.ValueRules) -> list[str]:
    found = [check.rule_id or check.source for check in _checks(rules)]
    nested = (rules.items, rules.keys, rules.values)
    return found + ["required" for part in nested if part is not None and part.required]
