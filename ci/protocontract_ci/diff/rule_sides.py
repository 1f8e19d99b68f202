"""The rules of one message in one state, as the comparison asks for them: slot by slot, and as conjuncts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, TypeAlias

from protocontract_ci.diff import rule_conjuncts as conjuncts
from protocontract_ci.diff.rule_conjuncts import Conjunct
from protocontract_ci.diff.rule_table import Presence, Slot
from protocontract_ci.facts import Rule
from protocontract_ci.model import Value
from protocontract_ci.sources import Contracts
from protocontract_compiler import ir

Ignored: TypeAlias = Literal["IGNORE_UNSPECIFIED", "IGNORE_IF_ZERO_VALUE", "IGNORE_ALWAYS"]

_PARTS: Final = re.compile(r"(?P<slot>(?:repeated\.items\.|map\.keys\.|map\.values\.)?)(?P<rest>.*)")


@dataclass(frozen=True, slots=True)
class Address:
    """A rule's path, taken apart: ``repeated.items.string.min_len`` is slot ``repeated.items.``, kind ``string``.

    ``kind`` is empty for what every value has: required, ignore, cel.
    """

    slot: str
    kind: str
    name: str


def address(path: str) -> Address:
    """The parts of a rule's path in FieldRules."""
    match = _PARTS.fullmatch(path)
    slot, rest = (match["slot"], match["rest"]) if match is not None else ("", path)
    kind, dot, name = rest.partition(".")
    if not dot or "[" in kind:
        return Address(slot, "", rest)
    return Address(slot, kind, name)


class Side:
    """One message in one state. Names in conjuncts are those after, so that both sides compare."""

    def __init__(self, contracts: Contracts, full_name: str, new_names: Mapping[str, str]) -> None:
        self.contracts = contracts
        self.full_name = full_name
        self._new_names = new_names

    @cached_property
    def lowered(self) -> ir.Message:
        """The message with compiled rules."""
        return self.contracts.lowered(self.full_name)

    def rules(self, field: str) -> Mapping[str, Rule]:
        """The rules of a field, or of a oneof."""
        return self.contracts.facts.rules_of(f"{self.full_name}.{field}")

    @property
    def message_rules(self) -> Mapping[str, Rule]:
        """The rules of the message itself."""
        return self.contracts.facts.rules_of(self.full_name)

    def ignored(self, field: str, slot: str) -> Ignored:
        """When the rules of a value are not looked at."""
        rule = self.rules(field).get(f"{slot}ignore")
        if rule is not None and rule.value in ("IGNORE_IF_ZERO_VALUE", "IGNORE_ALWAYS"):
            return rule.value  # type: ignore[return-value]
        return "IGNORE_UNSPECIFIED"

    def slot(self, field: ir.Field, slot: str, kind: str) -> Slot:
        """The constants of a value's rules of one kind."""
        rules: dict[str, Value] = {}
        required = False
        for path, rule in self.rules(field.name).items():
            at = address(path)
            if at.slot != slot:
                continue
            if at.kind == kind:
                rules[at.name] = rule.value
            elif path == f"{slot}required":
                required = rule.value is True
        element = _element(field, slot)
        enum = self.contracts.schema.enums.get(element.enum) if element.enum is not None else None
        return Slot(
            kind, _presence(field, slot), rules, required,
            frozenset(value.number for value in enum.values) if enum is not None else frozenset(),
            enum is not None and enum.closed,
        )  # fmt: skip

    # -- conjuncts

    def of_rule(self, field: str, rule: Rule) -> frozenset[Conjunct] | None:
        """The conjuncts of one rule of a field (of the message, with an empty name), on its own ``this``."""
        checks = list(self._checks(field, rule))
        if not checks:
            return None
        found: set[Conjunct] = set()
        for check in checks:
            own = conjuncts.of_check(check)
            if own is None:
                return None
            found.update(own)
        return conjuncts.relabel(found, self._new_names)

    def raised(self, field: ir.Field, rule: Rule) -> frozenset[Conjunct] | None:
        """The conjuncts of a field's rule as conjuncts of the message."""
        if rule.path == "required":
            own = conjuncts.required(field, self.full_name) if rule.value is True else None
            return conjuncts.relabel(own, self._new_names) if own is not None else None
        if address(rule.path).slot:
            return None
        found: set[Conjunct] = set()
        for check in self._checks(field.name, rule):
            own = conjuncts.of_check(check)
            if own is None:
                return None
            found.update(own)
        if not found:
            return None
        lifted = conjuncts.lifted(found, field, self.full_name)
        return conjuncts.relabel(lifted, self._new_names) if lifted is not None else None

    @cached_property
    def all_conjuncts(self) -> frozenset[Conjunct]:
        """Everything that holds for every message that is accepted, as far as it is told in conjuncts."""
        found: set[Conjunct] = set()
        for rule in self.message_rules.values():
            found.update(self.of_rule("", rule) or ())
        for field in self.lowered.fields:
            if self.ignored(field.name, "") != "IGNORE_UNSPECIFIED":
                continue
            for rule in self.rules(field.name).values():
                found.update(self.raised(field, rule) or ())
        return frozenset(found)

    def in_slot(self, field: str, slot: str) -> frozenset[Conjunct]:
        """What holds for a value by the rules of its own slot, on its own ``this``."""
        found: set[Conjunct] = set()
        for path, rule in self.rules(field).items():
            if address(path).slot == slot:
                found.update(self.of_rule(field, rule) or ())
        return frozenset(found)

    def _checks(self, field: str, rule: Rule) -> Iterator[ir.Check]:
        if not field:
            for check in self.lowered.rules.checks:
                if rule.cel and check.rule_id == rule.id and check.source == rule.value:
                    yield check
            return
        declared = self.lowered.field(field)
        at = address(rule.path)
        rules = _value_rules(declared.rules, at.slot)
        for check in rules.checks if rules is not None else ():
            if rule.cel:
                if check.rule_path.startswith(f"{at.slot}cel") and (check.rule_id, check.source) == (
                    rule.id,
                    rule.value,
                ):
                    yield check
            elif check.extension is not None:
                if at.name == check.extension.name:
                    yield check
            elif check.rule_path == rule.path:
                yield check


def _value_rules(rules: ir.ValueRules | None, slot: str) -> ir.ValueRules | None:
    if rules is None or not slot:
        return rules
    return {"repeated.items.": rules.items, "map.keys.": rules.keys, "map.values.": rules.values}[slot]


def _element(field: ir.Field, slot: str) -> ir.Field:
    if slot == "map.keys." and field.key is not None:
        return field.key
    if slot == "map.values." and field.value is not None:
        return field.value
    return field


def _presence(field: ir.Field, slot: str) -> Presence:
    if slot:
        return "explicit"
    if field.shape is not ir.Shape.SINGULAR:
        return "list"
    return "explicit" if field.has_presence else "implicit"
