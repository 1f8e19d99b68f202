"""Checks governance: severities and error codes name rules that exist, codes are unique, dates and versions are."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from itertools import islice

from protocontract.violations import OptionError
from protocontract_compiler import ir
from protocontract_compiler.descriptors import Loaded
from protocontract_compiler.diagnostics import Diagnostics, did_you_mean, one_of
from protocontract_compiler.passes import checking
from protocontract_compiler.passes.checking import NUMBER_TYPES, SEMANTIC_VERSION, FieldScope, element, kind_of, short
from protocontract_compiler.passes.codes import RulePlace, places
from protocontract_compiler.passes.pass_annotations import CONTRACT
from protocontract_compiler.passes.rule_ids import ALL_OWN_RULE_IDS, OWN_RULE_IDS

_CONTEXT = re.compile(r"[a-z][a-z0-9_]*")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

# A schema of messages that contain each other has as many paths as one likes. Codes are compared up to here.
_MAX_CODES = 100_000


def check(loaded: Loaded, schema: ir.Schema, diagnostics: Diagnostics) -> None:
    """Notes the mistakes in governance, and rules whose ids or codes are taken."""
    for scope in checking.annotated_fields(loaded, schema, diagnostics):
        _check_rules_named(scope)
        _check_contexts(scope)
        _check_versions(scope)
        _check_number_words(scope)
        error_class = scope.field.governance.error_class
        if error_class is not None and not all(error_class):
            scope.error("error-class", ("error_class",), "an error class is half set; expected source and remedy")
    _check_user_rule_ids(loaded, schema, diagnostics)
    for message in schema.messages.values():
        _check_contexts_of_message(loaded, message, diagnostics)
        if message.contract is not None:
            _check_codes(loaded, schema, message, diagnostics)


def rule_ids(field: ir.Field) -> list[str]:
    """The ids of all rules that a value of the field can break, each once; CEL without an id by its text."""
    found: dict[str, None] = {}
    if field.rules is not None:
        found.update(dict.fromkeys(_value_rule_ids(field.rules)))
    if field.normalizer is not None:
        found.update(dict.fromkeys(sorted(OWN_RULE_IDS[field.normalizer.kind])))
    for relation in field.relations:
        found.update(dict.fromkeys(sorted(OWN_RULE_IDS[relation.kind])))
    return list(found)


def _value_rule_ids(rules: ir.ValueRules) -> Iterator[str]:
    if rules.required:
        yield "required"
    for found in rules.checks:
        yield found.rule_id or found.source
    for part in (rules.items, rules.keys, rules.values):
        if part is not None:
            yield from _value_rule_ids(part)


def _check_rules_named(scope: FieldScope) -> None:
    governance = scope.field.governance
    if not governance.severities and not governance.error_codes and not governance.contexts:
        return
    known = rule_ids(scope.field)
    for id_, option, named in (
        ("severity-rule", "severities", governance.severities),
        ("error-code-rule", "error_codes", governance.error_codes),
        ("context-rule", "contexts", governance.contexts),
    ):
        for rule_id, _ in named:
            if rule_id not in known:
                wanted = did_you_mean(rule_id, known)
                listed = ", ".join(known) if len(known) <= 8 else "the id of one of its rules"
                scope.error(
                    id_, (option,),
                    f"`{rule_id}` is not a rule of `{scope.field.name}`; expected {listed or 'none, as it has none'}",
                    wanted,
                )  # fmt: skip


def _check_contexts(scope: FieldScope) -> None:
    normalizer = scope.field.normalizer
    refusals = OWN_RULE_IDS[normalizer.kind] if normalizer is not None else frozenset()
    for rule_id, names in scope.field.governance.contexts:
        if rule_id in refusals:
            scope.error(
                "context-rule", ("contexts",),
                f"`{rule_id}` is a normalizer's, which works in every context; expected a rule of buf.validate or of a "
                "relation",
            )  # fmt: skip
        problem = _problem_of_contexts(rule_id, names)
        if problem is not None:
            scope.error("context-name", ("contexts",), problem)


def _check_contexts_of_message(loaded: Loaded, message: ir.Message, diagnostics: Diagnostics) -> None:
    if message.contract is None or not message.contract.contexts:
        return
    known = [rule.rule_id or rule.source for rule in message.rules.checks]
    known += ["message.oneof"] if message.rules.oneofs else []
    known += ["required"] if any(oneof.required for oneof in message.oneofs) else []
    descriptor = loaded.pool.FindMessageTypeByName(message.full_name)
    place = loaded.places.option(descriptor, CONTRACT, "contexts")
    for rule_id, names in message.contract.contexts:
        if rule_id not in known:
            diagnostics.error(
                "context-rule", place,
                f"`{rule_id}` is not a rule of the message {short(message.full_name)} itself", one_of(rule_id, known),
            )  # fmt: skip
        problem = _problem_of_contexts(rule_id, names)
        if problem is not None:
            diagnostics.error("context-name", place, problem)


def _problem_of_contexts(rule_id: str, names: tuple[str, ...]) -> str | None:
    if not names:
        return f"`{rule_id}` would apply nowhere; expected the names of its contexts"
    for name in names:
        if not _CONTEXT.fullmatch(name):
            return f'"{name}" is no name of a context; expected lower case letters, digits and underscores'
    if len(set(names)) != len(names):
        return f"`{rule_id}` has a context twice; expected each once"
    return None


def _check_versions(scope: FieldScope) -> None:
    governance = scope.field.governance
    contract = scope.message.contract
    if governance.since:
        if not SEMANTIC_VERSION.fullmatch(governance.since):
            scope.error("since", ("since",), f'"{governance.since}" is no semantic version; expected MAJOR.MINOR.PATCH')
        elif (
            contract is not None
            and SEMANTIC_VERSION.fullmatch(contract.version)
            and (_order(governance.since) > _order(contract.version))
        ):
            scope.error(
                "since", ("since",),
                f"`{scope.field.name}` is of a later version than its contract; expected up to {contract.version}, got "
                f"{governance.since}",
            )  # fmt: skip
    if governance.sunset and not _is_date(governance.sunset):
        scope.error("sunset", ("sunset",), f'"{governance.sunset}" is no date; expected YYYY-MM-DD')
    former = governance.renamed_from
    if not former:
        return
    if not _IDENTIFIER.fullmatch(former):
        scope.error("renamed-from", ("renamed_from",), f'"{former}" is no name of a field; expected its former name')
    elif any(field.name == former for field in scope.message.fields):
        scope.error(
            "renamed-from", ("renamed_from",),
            f"`{former}` is a field of {short(scope.message.full_name)} still; expected a name that is no longer used",
        )  # fmt: skip


def _order(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.split(r"[-+]", version, maxsplit=1)[0].split("."))


def _is_date(text: str) -> bool:
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        return False
    try:
        datetime.date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _check_number_words(scope: FieldScope) -> None:
    governance = scope.field.governance
    is_number = element(scope.field).type in NUMBER_TYPES
    if governance.unit and not is_number:
        scope.error(
            "unit",
            ("unit",),
            f"`{scope.field.name}` counts nothing; expected a number field, got {kind_of(scope.field)}",
        )
    if governance.currency:
        from protocontract.normalize.money_currency import currency_code

        if not is_number:
            scope.error(
                "currency", ("currency",),
                f"`{scope.field.name}` is no plain number; expected a number field, got {kind_of(scope.field)}",
            )  # fmt: skip
        try:
            currency_code(governance.currency, "currency")
        except OptionError as error:
            scope.error("currency", ("currency",), error.message)
    elif governance.minor_digits is not None:
        scope.error("currency", ("minor_digits",), "minor_digits without a currency; expected the currency's code")


def _check_user_rule_ids(loaded: Loaded, schema: ir.Schema, diagnostics: Diagnostics) -> None:
    """A violation's id tells whose rule it is: the contract's own rules may not use ours."""
    for message in schema.messages.values():
        found = list(message.rules.checks)
        for field in message.fields:
            if field.rules is not None:
                found.extend(_checks(field.rules))
        for rule in found:
            if rule.rule_id in ALL_OWN_RULE_IDS:
                diagnostics.error(
                    "rule-id",
                    rule.place,
                    f"`{rule.rule_id}` is an id of protocontract; expected one of the contract's own",
                )


def _checks(rules: ir.ValueRules) -> Iterator[ir.Check]:
    yield from rules.checks
    for part in (rules.items, rules.keys, rules.values):
        if part is not None:
            yield from _checks(part)


def _check_codes(loaded: Loaded, schema: ir.Schema, message: ir.Message, diagnostics: Diagnostics) -> None:
    """Two rules of one contract with one code could not be told apart by who switches on codes."""
    taken: dict[int, RulePlace] = {}
    for place in islice(places(schema, message), _MAX_CODES):
        code = place.code
        first = taken.setdefault(code, place)
        if first is place or (place.chosen_code is not None and place.is_declared_as(first)):
            continue
        named = f"`{first.path}`" if first.path else "the message"
        diagnostics.error(
            "error-code-clash",
            place.field.place if place.field is not None else place.owner.place,
            f"`{place.rule_id}` of `{place.path or message.full_name}` and `{first.rule_id}` of {named} have the code "
            f"{code:#010x}; expected a code for each",
            "set one with error_codes",
        )
