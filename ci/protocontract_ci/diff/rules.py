"""Changes of buf.validate's rules, each with its direction.

A rule is read together with all others of its side: one that is removed while others demand the same is neutral, and so
is one that is added where others demand it already. A rule that changed is tightened where what is accepted after keeps
the rule before and not the other way round. The oracle (z3, automata) settles what it can, the table the clear cases,
and what neither decides is breaking.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from protocontract_ci.diff import rule_conjuncts, rule_table
from protocontract_ci.diff.collector import Collector
from protocontract_ci.diff.fields import FieldPairs
from protocontract_ci.diff.oracle import MessageComparison, Oracle, RuleKey
from protocontract_ci.diff.rule_sides import Side, address
from protocontract_ci.facts import Rule
from protocontract_ci.model import Direction, Element, Kind, Relation, RuleComparison, Value
from protocontract_compiler import ir

_OF_RELATION: Final[Mapping[Relation, Direction]] = {
    "equal": "neutral", "stronger": "tightened", "weaker": "loosened", "incomparable": "breaking",
}  # fmt: skip
_BOUNDS: Final = ("gt", "gte", "lt", "lte")
_LEVELS: Final = {"IGNORE_UNSPECIFIED": 0, "IGNORE_IF_ZERO_VALUE": 1, "IGNORE_ALWAYS": 2}


@dataclass
class _Difference:
    """A rule that is not the same on both sides. ``key`` names it to the oracle."""

    path: str
    key: RuleKey
    element: Element
    old: Rule | None
    new: Rule | None
    direction: Direction
    decided: bool = True
    of_new_field: bool = False
    # A bound of a range that is turned inside out on one side: it says nothing without the other bound.
    joint: bool = False
    notes: list[str] = field(default_factory=list)


def compare_rules(collector: Collector, pairs: Sequence[FieldPairs], oracle: Oracle | None) -> None:
    """The changes of all rules of messages that are on both sides."""
    for fields in pairs:
        _Message(collector, fields).compare(oracle)


class _Message:
    """Compares the rules of one message."""

    def __init__(self, collector: Collector, fields: FieldPairs) -> None:
        self._collector = collector
        self._fields = fields
        names = collector.pairs.new_names
        self._before = Side(collector.before, fields.old.full_name, names)
        self._after = Side(collector.after, fields.new.full_name, names)

    def compare(self, oracle: Oracle | None) -> None:
        """Notes the changes with their directions."""
        found = [*self._own(), *self._of_oneofs(), *self._of_fields(), *self._of_new_fields()]
        if not found:
            return
        known: MessageComparison | None = None
        if oracle is not None and any(not difference.of_new_field for difference in found):
            known = oracle.compare(
                self._collector.before, self._collector.after, self._fields.old.full_name, self._fields.new.full_name
            )
        for difference in found:
            settled = known.rules.get(difference.key) if known is not None else None
            if settled is None or difference.of_new_field or difference.joint:
                continue
            if settled.relation in _OF_RELATION:
                difference.direction, difference.decided = _OF_RELATION[settled.relation], True
        whole = known.message if known is not None and known.message.relation != "unknown" else _whole(found)
        for difference, moved in _moved(found, self._conjuncts_of):
            comparison = known.rules.get(difference.key) if known is not None else None
            self._add(difference, moved, comparison, whole)

    def _add(
        self, difference: _Difference, moved: _Difference | None, own: RuleComparison | None, whole: RuleComparison
    ) -> None:
        old, new = difference.old, moved.new if moved is not None else difference.new
        comparison = whole
        if own is not None and own.proof != "none":
            comparison = RuleComparison(whole.relation, own.proof, own.lost or whole.lost, own.gained or whole.gained)
        notes = list(difference.notes)
        if not difference.decided:
            notes.append("neither a proof nor a witness says how it relates to the rule before")
        before: Value = old.value if old is not None else None
        after: Value = new.value if new is not None else None
        if old is not None and new is not None and before == after and old.cel:
            before, after = old.message, new.message
        if moved is not None:
            after = moved.path
            notes.append("the same records are accepted; a violation has another rule id or field path")
        self._collector.add(
            _kind(difference, moved), difference.path, difference.direction, difference.element,
            before=before, after=after, old=old.place if old is not None else None,
            new=new.place if new is not None else None, comparison=comparison, notes=notes,
        )  # fmt: skip

    def _conjuncts_of(self, difference: _Difference) -> frozenset[rule_conjuncts.Conjunct] | None:
        """The conjuncts of a rule that is on one side only, as conjuncts of the message."""
        side, rule = (self._before, difference.old) if difference.old is not None else (self._after, difference.new)
        name = difference.key[0] if difference.old is not None else difference.element.new_name.rpartition(".")[2]
        if rule is None or difference.element.kind == "oneof":
            return None
        if difference.element.kind == "message":
            return side.of_rule("", rule)
        return side.raised(side.lowered.field(name), rule)

    # -- rules of the message itself

    def _own(self) -> Iterator[_Difference]:
        old_name, new_name = self._fields.old.full_name, self._fields.new.full_name
        element = Element(
            "message",
            old_name,
            new_name,
            old_name,
            new_name,
            file=self._fields.old.file,
            new_file=self._fields.new.file,
        )
        before, after = self._before.message_rules, self._after.message_rules
        for path, old, new in _differing(before, after):
            decided = True
            if path.startswith("oneof["):
                direction = _oneof_direction(old, new)
            else:
                forth = old is None or self._implied_conjuncts(self._before.of_rule("", old), self._after)
                back = new is None or self._implied_conjuncts(self._after.of_rule("", new), self._before)
                direction, decided = _direction(old, new, forth, back)
            yield _Difference(f"{old_name}@{path}", ("", path), element, old, new, direction, decided)

    def _of_oneofs(self) -> Iterator[_Difference]:
        for old_name, new_name in self._fields.oneofs.items():
            element = Element(
                "oneof", f"{self._fields.old.full_name}.{old_name}", f"{self._fields.new.full_name}.{new_name}",
                self._fields.old.full_name, self._fields.new.full_name,
                file=self._fields.old.file, new_file=self._fields.new.file,
            )  # fmt: skip
            for path, old, new in _differing(self._before.rules(old_name), self._after.rules(new_name)):
                was, now = (rule is not None and rule.value is True for rule in (old, new))
                direction: Direction = "neutral" if was == now else "tightened" if now else "loosened"
                key = ("", f"oneof[{old_name}].required")
                yield _Difference(f"{element.name}@{path}", key, element, old, new, direction)

    def _implied_conjuncts(self, wanted: frozenset[rule_conjuncts.Conjunct] | None, side: Side) -> bool:
        return wanted is not None and rule_conjuncts.implies(side.all_conjuncts, wanted)

    # -- rules of fields

    def _of_fields(self) -> Iterator[_Difference]:
        for old_field, new_field in self._fields.both():
            before, after = self._before.rules(old_field.name), self._after.rules(new_field.name)
            if not before and not after:
                continue
            element = self._fields.element(old_field, new_field)
            for path, old, new in _differing(before, after):
                joint = self._joint(old_field, new_field, path)
                if path.endswith("ignore"):
                    direction, decided = self._ignore_direction(old_field, new_field, address(path).slot), True
                elif joint is not None:
                    direction, decided = joint
                else:
                    forth = old is None or self._implied(old_field, old, self._before, new_field, self._after)
                    back = new is None or self._implied(new_field, new, self._after, old_field, self._before)
                    direction, decided = _direction(old, new, forth, back)
                yield _Difference(
                    f"{element.name}@{path}", (old_field.name, path), element, old, new, direction, decided,
                    joint=joint is not None,
                )  # fmt: skip

    def _of_new_fields(self) -> Iterator[_Difference]:
        """The rules of a new field that a message without it breaks; its other rules come with the field."""
        for new_field in self._fields.added():
            element = self._fields.element(None, new_field)
            for path, rule in self._after.rules(new_field.name).items():
                at = address(path)
                if at.slot or at.name == "ignore" or self._after.ignored(new_field.name, "") != "IGNORE_UNSPECIFIED":
                    continue
                slot = self._after.slot(new_field, "", at.kind)
                if rule.cel:
                    accepted = True if slot.presence == "explicit" else None
                elif at.name == "required":
                    accepted = rule.value is not True
                else:
                    accepted = rule_table.accepts_empty(at.name, rule.value, slot)
                if accepted is not True:
                    yield _Difference(
                        f"{self._fields.path(None, new_field)}@{path}", (new_field.name, path), element, None, rule,
                        "tightened", of_new_field=True,
                    )  # fmt: skip

    def _implied(self, own: ir.Field, rule: Rule, own_side: Side, other: ir.Field, side: Side) -> bool:
        """Whether what ``side`` demands of the field implies ``rule`` of ``own_side``."""
        at = address(rule.path)
        mine, theirs = own_side.ignored(own.name, at.slot), side.ignored(other.name, at.slot)
        if mine == "IGNORE_ALWAYS":
            return True
        if not rule.cel and rule_table.is_silent(at.name, rule.value, own_side.slot(own, at.slot, at.kind)):
            return True
        if theirs == "IGNORE_ALWAYS":
            return False
        slot = side.slot(other, at.slot, at.kind)
        if theirs == "IGNORE_IF_ZERO_VALUE" and mine == "IGNORE_UNSPECIFIED" and not rule.cel:
            empty = rule_table.accepts_empty(at.name, rule.value, _unset(slot))
            if empty is not True:
                return False
        if at.name == "required":
            # Rules of any kind may refuse the empty value.
            kinds = {address(path).kind for path in side.rules(other.name) if address(path).slot == at.slot}
            if any(rule_table.implied(at.name, rule.value, side.slot(other, at.slot, kind)) for kind in kinds):
                return True
        elif not rule.cel and rule_table.implied(at.name, rule.value, slot):
            return True
        if theirs != "IGNORE_UNSPECIFIED" and mine == "IGNORE_UNSPECIFIED":
            return False
        wanted = own_side.of_rule(own.name, rule)
        if wanted is not None and rule_conjuncts.implies(side.in_slot(other.name, at.slot), wanted):
            return True
        return not at.slot and self._implied_conjuncts(own_side.raised(own, rule), side)

    def _joint(self, old: ir.Field, new: ir.Field, path: str) -> tuple[Direction, bool] | None:
        """The direction of a bound that says nothing without the other one; None for every other rule."""
        at = address(path)
        before, after = self._before.slot(old, at.slot, at.kind), self._after.slot(new, at.slot, at.kind)
        if at.name not in _BOUNDS or not (rule_table.inverted(before) or rule_table.inverted(after)):
            return None
        forth, back = rule_table.range_implied(after, before), rule_table.range_implied(before, after)
        return ("neutral" if forth and back else "tightened" if forth else "loosened" if back else "breaking"), True

    def _ignore_direction(self, old: ir.Field, new: ir.Field, slot: str) -> Direction:
        levels = [
            _LEVELS[side.ignored(of_field.name, slot)] for side, of_field in ((self._before, old), (self._after, new))
        ]
        if levels[0] == levels[1] or self._nothing_ignored(old, new, slot, zero_only=2 not in levels):
            return "neutral"
        return "loosened" if levels[1] > levels[0] else "tightened"

    def _nothing_ignored(self, old: ir.Field, new: ir.Field, slot: str, *, zero_only: bool) -> bool:
        """Whether no rule of either side would refuse a value that is passed over."""
        for side, of_field in ((self._before, old), (self._after, new)):
            for path, rule in side.rules(of_field.name).items():
                at = address(path)
                if at.slot != slot or at.name == "ignore":
                    continue
                own = side.slot(of_field, slot, at.kind)
                if not rule.cel and rule_table.is_silent(at.name, rule.value, own):
                    continue
                if not zero_only or rule.cel or rule_table.accepts_empty(at.name, rule.value, _unset(own)) is not True:
                    return False
        return True


def _unset(slot: rule_table.Slot) -> rule_table.Slot:
    """The slot of a value whose zero is looked at, as ``IGNORE_IF_ZERO_VALUE`` does whatever its presence."""
    if slot.presence == "list":
        return slot
    return rule_table.Slot(slot.kind, "implicit", slot.rules, slot.required, slot.numbers, slot.closed)


def _differing(before: Mapping[str, Rule], after: Mapping[str, Rule]) -> Iterator[tuple[str, Rule | None, Rule | None]]:
    """Rules that are not written the same, by path."""
    for path in [*before, *(path for path in after if path not in before)]:
        old, new = before.get(path), after.get(path)
        if old is None or new is None or _content(old) != _content(new):
            yield path, old, new


def _content(rule: Rule) -> tuple[object, ...]:
    return type(rule.value), rule.value, rule.message


def _direction(old: Rule | None, new: Rule | None, forth: bool, back: bool) -> tuple[Direction, bool]:
    """The direction, and whether the table decided it. ``forth``: after implies before; ``back``: the other way."""
    if forth and back:
        return "neutral", True
    if old is None or new is None:
        return ("tightened" if old is None else "loosened"), True
    if forth or back:
        return ("tightened" if forth else "loosened"), True
    return "breaking", _certainly_apart(old, new)


def _certainly_apart(old: Rule, new: Rule) -> bool:
    """Whether two constants of one rule are known to accept what the other refuses: sets, lengths, parts of texts."""
    return not old.cel and not new.cel and not old.path.endswith((".pattern", "]"))


def _oneof_direction(old: Rule | None, new: Rule | None) -> Direction:
    if old is None:
        return "tightened"
    if new is None:
        return "loosened"
    return "tightened" if new.value == "required" else "loosened"


def _whole(found: Sequence[_Difference]) -> RuleComparison:
    """The relation of the whole message, as far as the directions of its rules tell."""
    directions = {difference.direction for difference in found} - {"neutral"}
    if not directions:
        return RuleComparison("equal", "table")
    if directions == {"tightened"}:
        return RuleComparison("stronger", "table")
    if directions == {"loosened"}:
        return RuleComparison("weaker", "table")
    if all(difference.decided for difference in found):
        return RuleComparison("incomparable", "table")
    return RuleComparison("unknown")


def _kind(difference: _Difference, moved: _Difference | None) -> Kind:
    if moved is not None:
        return "rule_moved"
    if difference.path.endswith("ignore"):
        return "ignore_changed"
    rule = difference.old or difference.new
    cel = rule is not None and rule.cel
    if difference.old is None:
        return "cel_added" if cel else "rule_added"
    if difference.new is None:
        return "cel_removed" if cel else "rule_removed"
    return "cel_changed" if cel else "rule_changed"


def _moved(
    found: Sequence[_Difference], read: Callable[[_Difference], frozenset[rule_conjuncts.Conjunct] | None]
) -> Iterator[tuple[_Difference, _Difference | None]]:
    """The differences, each removed rule with the added one that demands the very same, where there is one."""
    added = [d for d in found if d.old is None and d.direction == "neutral"]
    removed = [d for d in found if d.new is None and d.direction == "neutral"]
    became: dict[int, _Difference] = {}
    for old in removed:
        wanted = read(old)
        for new in added:
            alone = len(removed) == len(added) == 1
            if not any(new is taken for taken in became.values()) and (
                alone or (wanted is not None and wanted == read(new))
            ):
                became[id(old)] = new
                break
    by_id = {id(difference): difference for difference in found}
    # Another rule of the same field is told by itself, too: whoever looks for what was added finds it.
    taken = {id(new) for old, new in became.items() if not _of_one_field(by_id[old], new)}
    for difference in found:
        if id(difference) not in taken:
            yield difference, became.get(id(difference))


def _of_one_field(old: _Difference, new: _Difference) -> bool:
    rules = (old.old, new.new)
    return old.element == new.element and old.element.kind == "field" and all(rule and not rule.cel for rule in rules)
