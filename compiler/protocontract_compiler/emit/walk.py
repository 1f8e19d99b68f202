"""What the emitters of rules, normalizers and relations share in every language: one function a message that has work.

Normalizers and relations are rare and heavy compared with a field rule, so nothing is inlined there: a function is
called for each message in the record that has work.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Final

from protocontract_compiler import ir
from protocontract_compiler.emit.names import Names, printable, snake
from protocontract_compiler.emit.writer import Writer
from protocontract_compiler.passes import reach


def reads_json(field: ir.Field) -> bool:
    """Whether the field's normalizer acts while JSON is read: `scalar` on anything but a text."""
    of_text = (field.value or field).type == ir.TYPE_STRING
    return field.normalizer is not None and field.normalizer.kind == "scalar" and not of_text


def acts(field: ir.Field) -> bool:
    """Whether the field has a normalizer that acts on the message."""
    return field.normalizer is not None and not reads_json(field)


def has_normalizer(message: ir.Message) -> bool:
    """Whether a field of the message has a normalizer that acts on the message."""
    return any(map(acts, message.fields))


def has_relation(message: ir.Message) -> bool:
    """Whether a field of the message is related to others."""
    return any(field.relations for field in message.fields)


def has_rules(message: ir.Message) -> bool:
    """Whether a message has buf.validate rules of its own (or is delegated because of one)."""
    return bool(
        message.delegated
        or message.rules.checks
        or message.rules.oneofs
        or any(oneof.required for oneof in message.oneofs)
        or any(_has_rule(field.rules) for field in message.fields)
    )


def _has_rule(rules: ir.ValueRules | None) -> bool:
    if rules is None or rules.ignore == "always":
        return False
    return bool(
        rules.required or rules.checks or any(_has_rule(part) for part in (rules.items, rules.keys, rules.values))
    )


def spans_into(message: ir.Message, text: ir.Field) -> list[tuple[ir.Field, ir.Relation]]:
    """The fields of a message whose spans point into one of its texts, which takes them along."""
    return [
        (field, relation)
        for field in message.fields
        for relation in field.relations
        if relation.kind == "spans" and relation.option("text") == text.name
    ]


def enum_code(value: ir.EnumValue) -> str:
    """The code that an enum value stands for: its `code`, or the last word of its own name where that can be one."""
    if value.code:
        return value.code
    last = value.name.rpartition("_")[2]
    return last if len(last) == 3 and last.isupper() else ""


def currency_codes(enum: ir.Enum) -> dict[int, str]:
    """The codes that the values of an enum stand for, by number: what a field of it can hold of currencies."""
    codes = {value.number: enum_code(value) for value in enum.values}
    return {number: code for number, code in codes.items() if number and code}


def currency_options(schema: ir.Schema, message: ir.Message, money: ir.Normalizer) -> ir.Options:
    """What a normalizer of money has to know beside its options: where its currency goes.

    Without a sibling that keeps it, an amount without a currency is in the only one that may occur; an enum holds what
    it has values for (``allowed``, where declared, is within it already).
    """
    allowed = dict(money.options).get("allowed")
    if money.target is None:
        sole = isinstance(allowed, tuple) and len(allowed) == 1
        return (("sole_currency", str(allowed[0])),) if sole and isinstance(allowed, tuple) else ()
    target = message.field(money.target)
    if target.enum is None or "allowed" in dict(money.options):
        return ()
    return (("storable", tuple(sorted({*currency_codes(schema.enums[target.enum]).values()}))),)


#: Rules of buf.validate that say nothing of what a constant of theirs holds.
_GENERAL: Final = frozenset({"pattern", "in", "not_in"})


def subject(check: ir.Check, message: ir.Message, field: str) -> str:
    """What a check is about, for names: a format (``uuid``), else the field, else the rule of a message."""
    *_, word = check.rule_id.split(".")
    if check.rule_id and check.rule_path.endswith(check.rule_id) and word not in _GENERAL:
        return word
    if field:
        return f"{snake(message.python_path)}_{field}"
    return check.rule_id.replace(".", "_") if len(check.rule_id) <= 40 else ""


def is_range(values: Sequence[object]) -> bool:
    """Whether values are so many integers without a gap that their ends say it better."""
    numbers = [value for value in values if isinstance(value, int)]
    return len(numbers) == len(values) > 8 and sorted(numbers) == [*range(min(numbers), max(numbers) + 1)]


def where(place: ir.Place) -> str:
    """The file, without its folder, and the line of a place in the contract; empty where that is not known."""
    return f"{printable(place.file.rpartition('/')[2])}:{place.line}" if place.line else ""


class MessageFunctions(ABC):
    """The functions of one kind in one module."""

    #: First word of the functions' names.
    prefix: str

    def __init__(
        self, schema: ir.Schema, names: Names, functions: list[str], has_work: Callable[[ir.Message], bool]
    ) -> None:
        self.schema = schema
        self.work = reach.with_work(schema, has_work)
        self._fresh = names.fresh
        self._functions = functions
        self._names: dict[str, str] = {}
        self._waiting: list[str] = []

    def function(self, message: str) -> str | None:
        """The name of a message's function; None where there is nothing to do in it."""
        if message not in self.work:
            return None
        name = self._names.get(message)
        if name is None:
            name = self._fresh(self.spelled(f"{self.prefix}_{snake(self.schema.messages[message].python_path)}"))
            self._names[message] = name
            self._waiting.append(message)
        return name

    def spelled(self, name: str) -> str:
        """A function's name as the language has it."""
        return name

    def write_waiting(self) -> None:
        """Writes the functions asked for so far, and those that they call, into the module."""
        while self._waiting:
            message = self.schema.messages[self._waiting.pop(0)]
            self._functions.append(self.text(message, self._names[message.full_name]))

    @abstractmethod
    def text(self, message: ir.Message, function: str) -> str:
        """The text of a message's function, whose name that is."""


class FunctionPerMessage(MessageFunctions):
    """Functions that do something with a message's own fields, and call those of the messages in it."""

    @abstractmethod
    def own(self, message: ir.Message, writer: Writer, names: Names) -> None:
        """Writes what is to be done with the fields of the message itself."""
