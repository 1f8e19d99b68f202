"""Every place of a contract where a rule can be broken: what error codes are taken of."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from protocontract_compiler import ir
from protocontract_compiler.passes.pass_promises import NORMALIZER_IDS, RELATION_IDS


def rule_places(schema: ir.Schema, message: ir.Message) -> Iterator[tuple[str, str]]:
    """Field path (as error codes are taken of it: no subscripts) and rule id, each once, in order of evaluation.

    A message that contains itself is followed to its first recurrence: deeper paths have codes, but no names.
    """
    yield from dict.fromkeys(_of_message(schema, message, "", (message.full_name,)))


def error_code(contract: str, path: str, rule_id: str) -> int:
    """The first four bytes of SHA-256 of ``<contract>.<path>:<rule id>`` (``protocontract.violations.error_code``)."""
    place = f"{contract}.{path}" if path else contract
    return int.from_bytes(hashlib.sha256(f"{place}:{rule_id}".encode()).digest()[:4], "big")


def settled_code(contract: str, path: str, rule_id: str, governed: ir.Governance) -> int:
    """The code of a rule: the one that the field's ``error_codes`` gives it, else the derived one."""
    return dict(governed.error_codes).get(rule_id, error_code(contract, path, rule_id))


def _of_message(
    schema: ir.Schema, message: ir.Message, prefix: str, outer: tuple[str, ...]
) -> Iterator[tuple[str, str]]:
    for check in message.rules.checks:
        yield prefix.removesuffix("."), check.rule_id
    if message.rules.oneofs:
        yield prefix.removesuffix("."), "message.oneof"
    for oneof in message.oneofs:
        if oneof.required:
            yield prefix + oneof.name, "required"
    for field in message.fields:
        yield from _of_field(schema, field, prefix + field.name, outer)


def _of_field(schema: ir.Schema, field: ir.Field, path: str, outer: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    rules = field.rules
    element = f"{path}.value" if field.shape is ir.Shape.MAP else path
    if field.normalizer is not None:
        for rule_id in NORMALIZER_IDS[field.normalizer.kind]:
            yield element, rule_id
    if rules is not None and rules.ignore != "always":
        if rules.required:
            yield path, "required"
        for part, place in (
            (rules, path), (rules.items, path), (rules.keys, f"{path}.key"), (rules.values, f"{path}.value")
        ):  # fmt: skip
            for check in part.checks if part is not None else ():
                yield place, check.rule_id
    for relation in field.relations:
        for rule_id in RELATION_IDS[relation.kind]:
            yield path, rule_id
    inner = schema.messages.get(field.element_message or "")
    ignored = rules is not None and rules.ignore == "always"
    if inner is not None and not ignored and inner.full_name not in outer:
        yield from _of_message(schema, inner, f"{element}.", (*outer, inner.full_name))
