"""The oracle that the diff asks: what the rules of a message mean before and after, one by one and as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from protocontract_ci.diff.oracle import MessageComparison, RuleKey
from protocontract_ci.meaning.judges import Judges
from protocontract_ci.meaning.relation import Answer, Comparison
from protocontract_ci.model import Relation, RuleComparison, RuleProof, Witness
from protocontract_ci.sources import Contracts
from protocontract_compiler import ir

_HOLDS: Final = Answer(True, "formula")
_STRENGTH: Final[dict[tuple[bool | None, bool | None], Relation]] = {
    (True, True): "equal",
    (False, True): "stronger",
    (True, False): "weaker",
    (False, False): "incomparable",
}


class MeaningOracle:
    """Compares by formulas (z3) and, for patterns, by automata."""

    def __init__(self) -> None:
        self._judges: dict[int, tuple[Contracts, Judges]] = {}

    def compare(self, before: Contracts, after: Contracts, old: str, new: str) -> MessageComparison:
        """What is known of a message, called ``old`` before and ``new`` after."""
        sides = (before, after)
        comparison = Comparison(sides, (old, new), (self._judge(before), self._judge(after)))
        if comparison.reason:
            return MessageComparison(RuleComparison("unknown", reason=comparison.reason))
        names = _Names(before, after, old, new)
        rules_before, rules_after = comparison.rules()
        found: dict[RuleKey, RuleComparison] = {}
        for key in sorted(rules_before | {names.before(each) for each in rules_after}):
            there = names.after(key)
            in_before, in_after = key in rules_before, there in rules_after
            if in_before and in_after and comparison.same(key, there):
                continue
            if key[1] == "ignore" and not names.ignores_otherwise(key[0]):
                # What is ignored is the same: each of the field's rules is asked about by itself.
                continue
            found[key] = _compared(
                comparison.already_demanded(there) if in_after else _HOLDS,
                comparison.still_demanded(key) if in_before else _HOLDS,
                (old, new),
            )
        return MessageComparison(_whole(found.values()), found)

    def _judge(self, contracts: Contracts) -> Judges:
        # The contracts are kept, so that no other ones get their identity.
        known = self._judges.get(id(contracts))
        if known is None:
            known = self._judges[id(contracts)] = (contracts, Judges(contracts))
        return known[1]


class _Names:
    """What fields are called on the other side: the same number is the same field."""

    def __init__(self, before: Contracts, after: Contracts, old: str, new: str) -> None:
        numbers = {field.number: field.name for field in before.schema.messages[old].fields}
        self._before = {
            field.name: numbers[field.number] for field in after.schema.messages[new].fields if field.number in numbers
        }
        self._after = {name: field for field, name in self._before.items()}
        self._ignores = [
            {field.name: list(_ignores(field.rules)) for field in message.fields}
            for message in (before.lowered(old), after.lowered(new))
        ]

    def ignores_otherwise(self, field: str) -> bool:
        """Whether ``ignore`` of a field, or of its items, keys or values, differs."""
        return self._ignores[0].get(field) != self._ignores[1].get(self._after.get(field, field))

    def before(self, key: RuleKey) -> RuleKey:
        return self._before.get(key[0], key[0]), key[1]

    def after(self, key: RuleKey) -> RuleKey:
        return self._after.get(key[0], key[0]), key[1]


def _ignores(rules: ir.ValueRules | None) -> Iterator[str]:
    if rules is not None:
        yield rules.ignore
        for inner in (rules.items, rules.keys, rules.values):
            yield from _ignores(inner)


def _compared(already: Answer, still: Answer, names: tuple[str, str]) -> RuleComparison:
    lost = None if already.witness is None else Witness(names[0], already.witness, "before", confirmed=True)
    gained = None if still.witness is None else Witness(names[1], still.witness, "after", confirmed=True)
    relation = _STRENGTH.get((already.holds, still.holds), "unknown")
    by: set[RuleProof] = {already.by, still.by}
    proof: RuleProof = "none" if relation == "unknown" else "automaton" if "automaton" in by else "formula"
    reason = "" if relation != "unknown" else "neither a proof nor a message that shows a difference was found"
    return RuleComparison(relation, proof, lost, gained, reason)


def _whole(rules: Iterable[RuleComparison]) -> RuleComparison:
    """All rules together: what one of them loses or gains, the message does."""
    rules = list(rules)
    lost = next((rule.lost for rule in rules if rule.lost is not None), None)
    gained = next((rule.gained for rule in rules if rule.gained is not None), None)
    if any(rule.relation == "unknown" for rule in rules):
        return RuleComparison("unknown", lost=lost, gained=gained, reason="not every rule could be compared")
    return RuleComparison(_STRENGTH[lost is None, gained is None], "formula", lost, gained)
