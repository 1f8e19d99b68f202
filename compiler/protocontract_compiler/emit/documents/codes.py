"""What an error code means, and what helps."""

from __future__ import annotations

from dataclasses import dataclass

from protocontract.explain import explain
from protocontract.ids import RULES
from protocontract.violations import Rule, Violation
from protocontract_compiler import ir
from protocontract_compiler.emit.documents.words import Words
from protocontract_compiler.ir_cel import Cond, Literal
from protocontract_compiler.passes.codes import RulePlace


@dataclass(frozen=True, slots=True)
class Explained:
    """The meaning of a rule at a place, what ends a violation of it, and what is special about it."""

    meaning: str
    remedy: str
    note: str


def rules_of_records(contract: ir.ContractOptions) -> list[str]:
    """The ids of rules about a record as a whole, which every contract has: its bytes, and its key if there is one."""
    return [*(["key.mismatch"] if contract.key_field else []), "wire.malformed", "wire.null"]


def explained_rule(rule_id: str, say: Words) -> Explained:
    """Meaning and remedy of one of our own rules, wherever it stands; both empty for any other."""
    known = explain(rule_id, say.language) if rule_id in RULES else None
    return Explained("", "", "") if known is None else Explained(known.meaning, known.fix, "")


def explained(place: RulePlace, example: ir.Example | None, say: Words) -> Explained:
    """Meaning and remedy of an error code.

    Our own rules are explained; others mean what a violation says: of the example, or by the rule itself.
    """
    own = explained_rule(place.rule_id, say)
    meaning = own.meaning or (dict(example.says).get(say.language, "") if example is not None else "")
    meaning = meaning or _message(place, say) or _by_id(place.rule_id, say) or place.rule_id
    remedies = [own.remedy] if own.remedy else []
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


def _by_id(rule_id: str, say: Words) -> str:
    """What a standard rule means wherever it stands."""
    known = explain(rule_id, say.language) if rule_id else None
    return "" if known is None else known.meaning


def _message(place: RulePlace, say: Words) -> str:
    """The message that the rule itself has, as a violation says it; empty where it has none."""
    rules = place.field.rules if place.field is not None else None
    checks = list(place.owner.rules.checks) if place.field is None else []
    for part in (rules, *((rules.items, rules.keys, rules.values) if rules is not None else ())):
        checks += part.checks if part is not None else ()
    message = next((text for check in checks if check.rule_id == place.rule_id and (text := _said(check))), "")
    if not message:
        return ""
    return Violation(Rule(place.contract, (), place.rule_id, message)).localized(say.language)


def _said(check: ir.Check) -> str:
    """What a violation of a check says: its message, or the one text that its expression can have as result."""
    if check.message or check.program is None:
        return check.message
    expr = check.program.expr
    if not isinstance(expr, Cond):
        return ""
    results = [part.value for part in (expr.then, expr.otherwise) if isinstance(part, Literal)]
    said = [text for text in results if isinstance(text, str) and text]
    return said[0] if len(results) == 2 and len(said) == 1 else ""
