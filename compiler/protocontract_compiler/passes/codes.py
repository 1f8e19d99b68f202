"""Every place of a contract where a rule can be broken: what error codes are taken of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from protocontract.violations import error_code
from protocontract_compiler import ir
from protocontract_compiler.passes import reach
from protocontract_compiler.passes.rule_ids import ids_of


@dataclass(frozen=True, slots=True)
class RulePlace:
    """A rule of a contract, where it stands.

    ``path`` is the field path as error codes are taken of it: no subscripts, ``.key`` and ``.value`` for map entries.
    ``owner`` is the message that declares the rule, ``field`` its field (None for a rule of the message or a oneof).
    """

    contract: str
    path: str
    rule_id: str
    owner: ir.Message
    field: ir.Field | None = None

    @property
    def code(self) -> int:
        """The error code: the one that the field's ``error_codes`` gives the rule, else the derived one."""
        chosen = self.chosen_code
        return error_code(self.contract, self.path, self.rule_id) if chosen is None else chosen

    @property
    def chosen_code(self) -> int | None:
        """The code that the field's ``error_codes`` gives the rule, in every contract that the field is part of."""
        return dict(self.field.governance.error_codes).get(self.rule_id) if self.field is not None else None

    def is_declared_as(self, other: RulePlace) -> bool:
        """Whether both are the same rule of the same field, reached on two ways."""
        return (
            self.field is not None
            and other.field is not None
            and (self.owner.full_name, self.field.number, self.rule_id)
            == (other.owner.full_name, other.field.number, other.rule_id)
        )


def places(schema: ir.Schema, message: ir.Message) -> Iterator[RulePlace]:
    """The places of a contract's rules, each once, in order of evaluation.

    A message that contains itself is followed to its first recurrence: deeper paths have codes, but no names. Messages
    that contain each other can have more paths than memory holds: who goes through them sets a limit.
    """
    seen: set[tuple[str, str]] = set()
    # Of the schema only what the message reaches, or the places of many contracts would take quadratic time.
    schema = replace(schema, messages={reached.full_name: reached for reached in reach.reached(schema, message)})
    for place in _Places(schema, message.full_name).of_message(message, "", (message.full_name,)):
        if (place.path, place.rule_id) not in seen:
            seen.add((place.path, place.rule_id))
            yield place


class _Places:
    def __init__(self, schema: ir.Schema, contract: str) -> None:
        self._schema = schema
        self._contract = contract
        # What has no rule below it is not entered: paths through it can be many, and none has a place at its end.
        self._work = reach.with_work(schema, self._has_own)

    def _has_own(self, message: ir.Message) -> bool:
        return any(self._own(message, "")) or any(True for field in message.fields for _ in _own(field, ""))

    def of_message(self, message: ir.Message, prefix: str, outer: tuple[str, ...]) -> Iterator[RulePlace]:
        for path, rule_id in self._own(message, prefix):
            yield RulePlace(self._contract, path, rule_id, message)
        for field in message.fields:
            path = prefix + field.name
            for place, rule_id in _own(field, path):
                yield RulePlace(self._contract, place, rule_id, message, field)
            child = field.element_message
            ignored = field.rules is not None and field.rules.ignore == "always"
            if child in self._work and child not in outer and not ignored:
                inner = self._schema.messages[child]
                yield from self.of_message(inner, f"{_element_path(field, path)}.", (*outer, child))

    def _own(self, message: ir.Message, prefix: str) -> Iterator[tuple[str, str]]:
        for check in message.rules.checks:
            yield prefix.removesuffix("."), check.rule_id
        if message.rules.oneofs:
            yield prefix.removesuffix("."), "message.oneof"
        for oneof in message.oneofs:
            if oneof.required:
                yield prefix + oneof.name, "required"


def _own(field: ir.Field, path: str) -> Iterator[tuple[str, str]]:
    """The rules of a field itself, not of the messages in it: path and rule id."""
    rules = field.rules
    if field.normalizer is not None:
        for rule_id in ids_of(field.normalizer):
            yield _element_path(field, path), rule_id
    if rules is not None and rules.ignore != "always":
        if rules.required:
            yield path, "required"
        for part, place in (
            (rules, path), (rules.items, path), (rules.keys, f"{path}.key"), (rules.values, f"{path}.value")
        ):  # fmt: skip
            for check in part.checks if part is not None else ():
                yield place, check.rule_id
    for relation in field.relations:
        for rule_id in ids_of(relation):
            yield path, rule_id


def _element_path(field: ir.Field, path: str) -> str:
    return f"{path}.value" if field.shape is ir.Shape.MAP else path
