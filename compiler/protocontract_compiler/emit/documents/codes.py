"""What an error code means, and what helps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from protocontract.explain import RULES, explain
from protocontract_compiler import ir
from protocontract_compiler.emit.documents.words import Words
from protocontract_compiler.passes.codes import RulePlace


@dataclass(frozen=True, slots=True)
class Explained:
    """The meaning of a rule at a place, what ends a violation of it, and what is special about it."""

    meaning: str
    remedy: str
    note: str


def explained(place: RulePlace, example: ir.Example | None, say: Words) -> Explained:
    """Meaning and remedy of an error code.

    The meaning of our own rules is their explanation, of others what a violation says.
    """
    known: Any = explain(place.rule_id) if place.rule_id else None
    is_ours = place.rule_id in RULES
    # Ours say in a violation what was wrong with one value; the others say the same each time.
    meaning = dict(example.says).get(say.language, "") if example is not None and not is_ours else ""
    if not meaning and known is not None:
        meaning = known.meaning
    if not meaning or "{" in meaning:
        meaning = _message(place) or place.rule_id
    remedies: list[str] = []
    if is_ours and known is not None and known.fix:
        remedies.append(known.fix)
    notes: list[str] = []
    source, remedy = ("INPUT", "IMMEDIATE")
    if place.field is not None:
        governed = place.field.governance
        source, remedy = governed.error_class or (source, remedy)
        if dict(governed.severities).get(place.rule_id) == "WARNING":
            notes.append(say("severity_WARNING"))
        contexts = dict(governed.contexts).get(place.rule_id)
        if contexts:
            notes.append(say("contexts", ", ".join(contexts)))
    if source in ("MODEL", "INFRASTRUCTURE", "DATA"):
        notes.append(say(f"source_{source}"))
    if not remedies or remedy != "IMMEDIATE":
        remedies.append(say(f"remedy_{remedy}"))
    note = say("comma").join(notes)
    return Explained(meaning, say("semicolon").join(remedies), f"({note})" if note else "")


def _message(place: RulePlace) -> str:
    """The message that the rule itself has."""
    rules = place.field.rules if place.field is not None else None
    checks = list(place.owner.rules.checks) if place.field is None else []
    for part in (rules, *((rules.items, rules.keys, rules.values) if rules is not None else ())):
        checks += part.checks if part is not None else ()
    return next((check.message for check in checks if check.rule_id == place.rule_id and check.message), "")
