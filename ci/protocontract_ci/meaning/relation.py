"""How the records that a message accepts after a change relate to those before: proved, or shown by a message.

Each question is one implication: what one side demands as a whole implies one rule of the other side. It is asked in
two worlds. In the first one statements about all elements, formats and lengths in bytes are unknowns with some
lemmas: no model there is a proof. In the second one lists are short and everything is spelled out: a model there is a
message, and it counts once both validators, each on its own contract, confirm it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, Final, Literal, TypeAlias

import re2

from protocontract_ci.meaning import formats, patterns, samples
from protocontract_ci.meaning.judges import Judges
from protocontract_ci.meaning.lowering import UTF8_SIZE, Lowering, matches
from protocontract_ci.meaning.parts import Joined, Parts
from protocontract_ci.meaning.regular import extent, regular
from protocontract_ci.meaning.rules import RuleKey, oneof_axioms, rule_formulas
from protocontract_ci.meaning.smt import Solver, z3
from protocontract_ci.meaning.witness import fill
from protocontract_ci.meaning.world import World, text
from protocontract_ci.sources import Contracts
from protocontract_compiler import ir, ir_cel

_MOST_PATTERNS: Final = 8
#: Longest list that is spelled out: one more than the rules speak of, within these bounds.
_SHORT, _LONG = 3, 12
#: How many models of one question are tried on the validators.
_TRIES: Final = 4

By: TypeAlias = Literal["formula", "automaton", "none"]


@dataclass(frozen=True, slots=True)
class Answer:
    """Whether one side implies a rule of the other. None: neither proved nor shown.

    ``witness`` is a serialised message that the first side accepts and the rule refuses.
    """

    holds: bool | None
    by: By
    witness: bytes | None = None


class Comparison:
    """One message before and after, as sets of accepted records."""

    def __init__(
        self, sides: tuple[Contracts, Contracts], names: tuple[str, str], judges: tuple[Judges, Judges]
    ) -> None:
        """``names`` are the message's before and after. Raises KeyError for a message that is not there."""
        self._names = names
        self._judges = judges
        self._sides = sides
        self._messages = (sides[0].lowered(names[0]), sides[1].lowered(names[1]))
        #: Why nothing can be said: rules that only protovalidate can evaluate have no formula. "": it can.
        self.reason = next((message.delegated for message in self._messages if message.delegated), "")

    def rules(self) -> tuple[frozenset[RuleKey], frozenset[RuleKey]]:
        """The rules of both sides."""
        before, after = self._abstract.formulas
        return frozenset(before), frozenset(after)

    def same(self, before: RuleKey, after: RuleKey) -> bool:
        """Whether two rules have one formula: nothing needs to be proved."""
        formulas = self._abstract.formulas
        return bool(formulas[0][before].eq(formulas[1][after]))

    def still_demanded(self, rule: RuleKey) -> Answer:
        """Whether everything that is accepted after keeps this rule of before. If not, it was loosened."""
        return self._implies(1, rule)

    def already_demanded(self, rule: RuleKey) -> Answer:
        """Whether everything that was accepted before keeps this rule of after. If not, it was tightened."""
        return self._implies(0, rule)

    def accepted(self, side: int) -> bytes | None:
        """A message that this side accepts, and the other one too where that is possible. Fields that are messages are
        filled as this message's own rules demand, not theirs. None where none was found.
        """
        for both in (True, False):
            for model in self._concrete.valid(side, both=both):
                message = self._judges[side].new(self._names[side])
                try:
                    fill(message, self._concrete.world.root, model)
                    return message.SerializePartialToString(deterministic=True)
                except ValueError:
                    continue
        return None

    def _implies(self, side: int, rule: RuleKey) -> Answer:
        proof = self._abstract.prove(side, rule)
        if proof is not None:
            return Answer(True, proof)
        witness = self._witness(side, rule)
        return Answer(False, "formula", witness) if witness is not None else Answer(None, "none")

    @cached_property
    def _abstract(self) -> _Setting:
        return _Setting(self._sides, self._messages, None)

    @cached_property
    def _concrete(self) -> _Setting:
        return _Setting(self._sides, self._messages, _bound(self._messages))

    def _witness(self, side: int, rule: RuleKey) -> bytes | None:
        """A message that side ``side`` accepts and the other refuses, by the word of both validators."""
        for model in self._concrete.models(side, rule):
            try:
                message = self._judges[side].new(self._names[side])
                fill(message, self._concrete.world.root, model)
                data = message.SerializeToString(deterministic=True)
            except ValueError:
                # A value that the field cannot hold: half a surrogate pair, a proto2 enum's unknown number.
                continue
            accepted = self._judges[side].accepts(self._names[side], data)
            if accepted and self._judges[1 - side].accepts(self._names[1 - side], data) is False:
                return data
        return None


class _Setting:
    """Both sides' rules in one world."""

    def __init__(
        self, sides: tuple[Contracts, Contracts], messages: tuple[ir.Message, ir.Message], bound: int | None
    ) -> None:
        self.world = World(sides[0].schema, messages[0].full_name, bound)
        self._lowering = Lowering(self.world)
        formulas: list[dict[RuleKey, Any]] = []
        for side, message in zip(sides, messages, strict=True):
            self.world.using(side.schema)
            formulas.append(rule_formulas(self._lowering, message))
            self.world.axioms += oneof_axioms(self._lowering, message)
        self.formulas: tuple[Mapping[RuleKey, Any], Mapping[RuleKey, Any]] = (formulas[0], formulas[1])
        self._bound = bound
        self._by_automaton = False
        self._samples: Mapping[str, Any] = {}
        self._parts = Parts()
        self._known_parts: dict[tuple[int, ...], tuple[frozenset[str], Any] | None] = {}
        self._add_formats()
        self._lemmas = [*self._of_texts(), *self._of_patterns(), *self._of_extents()]

    # -- proofs

    def prove(self, side: int, rule: RuleKey) -> By | None:
        """By what it is proved that everything that ``side`` accepts keeps the other side's rule; None: it is not."""
        denied = z3.Not(self.formulas[1 - side][rule])
        facts = [*self.world.axioms, *self._lemmas, *self._element_lemmas, *self.formulas[side].values()]
        # What speaks of the same field is mostly enough.
        near, all_around = (self._parts.around(denied, facts, steps=steps) for steps in (1, None))
        for known in (near, all_around) if len(near) < len(all_around) else (near,):
            for more in ([], self._parts.around(denied, self._languages)):
                solver = Solver()
                solver.add(*known, *more, denied)
                if solver.check() == z3.unsat:
                    automaton = rule[1].endswith("pattern") and not more and self._by_automaton
                    return "automaton" if automaton else "formula"
        return None

    @cached_property
    def _element_lemmas(self) -> list[Any]:
        return list(self._of_elements())

    def _of_elements(self) -> Iterator[Any]:
        """What holds for all elements of a list follows from what else holds for all of them."""
        for known in self._lowering.statements.values():
            for one in known:
                others = [other for other in known if other is not one]
                if self._follows([other.body for other in others], one.body):
                    yield from self._smallest(others, one)

    def _smallest(self, others: list[Any], one: Any) -> Iterator[Any]:
        """The lemmas with one premise each, or the one with all."""
        alone = [other for other in others if self._follows([other.body], one.body)]
        if alone:
            for other in alone:
                yield z3.Implies(other.holds, one.holds)
        else:
            yield z3.Implies(z3.And(*(other.holds for other in others)), one.holds)

    def _follows(self, premises: list[Any], conclusion: Any) -> bool:
        solver = Solver()
        facts = [*self.world.axioms, *self._lemmas, *self._languages, *premises]
        solver.add(*self._parts.around(conclusion, facts), z3.Not(conclusion))
        return bool(solver.check() == z3.unsat)

    # -- lemmas

    def _add_formats(self) -> None:
        """What formats say of each other; an email address is a pattern like any other."""
        seen: list[Any] = []
        for term, ask, answer in self._lowering.formats:
            if not any(term.eq(each) for each in seen):
                seen.append(term)
                self.world.axioms += formats.lemmas(term)
            if answer("a@b") and not answer("a"):
                self.world.axioms.append(ask(term) == self._lowering.matches(term, formats.EMAIL))

    def _of_texts(self) -> Iterator[Any]:
        """What patterns, formats and lengths say of the texts that the rules name."""
        texts = dict(self._lowering.texts)
        if self._bound is not None:
            for each in samples.texts(self._lowering.patterns, list(texts)):
                texts.setdefault(each, text(each))
        self._samples = texts
        for value, term in texts.items():
            yield UTF8_SIZE(term) == len(value.encode())
            for pattern in self._lowering.patterns:
                yield matches(pattern)(term) == (re2.search(pattern, value) is not None)
            for _, ask, answer in self._lowering.formats:
                found = answer(value)
                if found is not None:
                    yield ask(term) == found
        if self._bound is not None:
            yield from self._spelled_out(texts)

    def _of_patterns(self) -> Iterator[Any]:
        """How the patterns that one text is asked for relate."""
        for first, second in combinations(list(self._lowering.patterns)[:_MOST_PATTERNS], 2):
            one, other = self._lowering.patterns[first], self._lowering.patterns[second]
            terms = [term for term in one if any(term.eq(each) for each in other)]
            if not terms:
                continue
            narrower, wider = patterns.implies(first, second).holds, patterns.implies(second, first).holds
            apart = patterns.find(all, (first, second)).holds
            self._by_automaton = self._by_automaton or bool(narrower or wider or apart)
            for term in terms:
                a, b = matches(first)(term), matches(second)(term)
                if narrower:
                    yield z3.Implies(a, b)
                if wider:
                    yield z3.Implies(b, a)
                if apart:
                    yield z3.Not(z3.And(a, b))

    def _of_extents(self) -> Iterator[Any]:
        """How long a text is that matches, in code points and bytes."""
        for pattern, terms in self._lowering.patterns.items():
            found = extent(pattern)
            if found is None:
                continue
            for term in terms:
                length, size = z3.Length(term), UTF8_SIZE(term)
                facts = [length >= found.shortest, size >= found.narrowest * length, size <= found.widest * length]
                if found.longest is not None:
                    facts.append(length <= found.longest)
                yield z3.Implies(matches(pattern)(term), z3.And(*facts))

    @cached_property
    def _languages(self) -> list[Any]:
        """The patterns that are regular expressions of z3 too."""
        found = []
        for pattern, terms in self._lowering.patterns.items():
            expression = None if pattern in self._lowering.parts else regular(pattern)
            if expression is not None:
                found += [matches(pattern)(term) == z3.InRe(term, expression) for term in terms]
        return found

    # -- witnesses

    def models(self, side: int, rule: RuleKey) -> Iterator[Any]:
        """Models in which ``side`` accepts and the other side's rule is broken, readable ones first."""
        yield from self._models(z3.Not(self.formulas[1 - side][rule]), list(self.formulas[side].values()))

    def valid(self, side: int, *, both: bool) -> Iterator[Any]:
        """Models that ``side`` accepts, or both sides."""
        others = self.formulas[1 - side].values() if both else ()
        yield from self._models(z3.BoolVal(True), [*self.formulas[side].values(), *others])

    def _models(self, goal: Any, given: list[Any]) -> Iterator[Any]:
        """Models of the goal and what is given, part by part: only that of the goal is varied."""
        now = self.world.now
        goal, *given = (
            z3.And(*(z3.substitute(each, (now, z3.IntVal(time))) for time in _TIMES)) for each in (goal, *given)
        )
        facts = [*self.world.axioms, *self._lemmas, *self._languages, *given]
        own = self._parts.around(goal, facts)
        mine = {fact.get_id() for fact in own}
        rest = [fact for fact in facts if fact.get_id() not in mine or not self._parts.symbols(fact)[0]]
        others = [part for facts in self._parts.split(rest) if (part := self._solved(facts)) is not None]
        for model in self._varied([goal, *own]):
            yield Joined(self._parts, [(self._parts.unknowns([goal, *own]), model), *others])

    def _solved(self, facts: list[Any]) -> tuple[frozenset[str], Any] | None:
        """The unknowns of a part and the first model of it; solved once. None where none was found."""
        key = tuple(sorted(fact.get_id() for fact in facts))
        if key not in self._known_parts:
            model = next(self._varied(facts), None)
            self._known_parts[key] = None if model is None else (self._parts.unknowns(facts), model)
        return self._known_parts[key]

    def _varied(self, facts: list[Any]) -> Iterator[Any]:
        """Models of facts: with sample texts, then with computed ones, readable ones first."""
        names = self._parts.unknowns(facts)
        nodes = [node for node in self.world.root.walk() if node.value is not None]
        nodes = [node for node in nodes if self._parts.symbols(node.value)[0] & names]
        yield from self._of_samples(facts, [node.value for node in nodes if node.kind == "string"])
        solver = Solver()
        solver.add(*facts)
        for letters in (*_READABLE, None):
            solver.push()
            if letters is not None:
                solver.add(*(z3.InRe(node.value, letters) for node in nodes if node.kind == "string"))
            for _ in range(_TRIES):
                if solver.check() != z3.sat:
                    break
                model = solver.model()
                yield model
                # The validators did not agree with it: another one.
                solver.add(z3.Or(*(node.value != model.eval(node.value, model_completion=True) for node in nodes)))
            solver.pop()

    def _of_samples(self, facts: list[Any], unknown_texts: list[Any]) -> Iterator[Any]:
        """A model in which every text is one of the samples, of which all that is asked is known beforehand."""
        if not unknown_texts:
            return
        languages = {fact.get_id() for fact in self._languages}
        solver = Solver()
        solver.add(*(fact for fact in facts if fact.get_id() not in languages))
        solver.add(*(z3.Or(*(each == term for term in self._samples.values())) for each in unknown_texts))
        if solver.check() == z3.sat:
            yield solver.model()

    def _spelled_out(self, texts: Mapping[str, Any]) -> Iterator[Any]:
        """Texts that something without a theory is asked about are among the samples; sizes in bytes are exact."""
        asked = [term for term, _, answer in self._lowering.formats if not (answer("a@b") and not answer("a"))]
        for pattern, terms in self._lowering.patterns.items():
            if pattern not in self._lowering.parts and regular(pattern) is None:
                asked += terms
        chosen: list[Any] = []
        for term in asked:
            if not any(term.eq(each) for each in chosen):
                chosen.append(term)
                yield z3.Or(*(term == value for value in texts.values()))
        for number, term in enumerate(self._lowering.measured):
            if any(term.eq(each) for each in chosen):
                continue
            parts = [z3.String(f"part {number} {width}") for width in range(1, 5)]
            for part, (low, high) in zip(parts, _WIDTHS, strict=True):
                yield z3.InRe(part, z3.Star(z3.Range(text(low), text(high))))
            yield term == z3.Concat(*parts)
            yield UTF8_SIZE(term) == z3.Sum(*(width * z3.Length(part) for width, part in enumerate(parts, 1)))


#: Letters of one to four bytes, which a reader can see.
_WIDTHS: Final = ((" ", "~"), ("à", "ö"), ("一", "丐"), ("\U0001f600", "\U0001f610"))


_READABLE: Final = (z3.Star(z3.Range("a", "z")), z3.Star(z3.Range(" ", "~")))
#: A rule that asks for the time must say the same at all of these, since nobody sets protovalidate's clock: the begin
#: of 2026 and of 2200, in nanoseconds.
_TIMES: Final = (1_767_225_600_000_000_000, 7_258_118_400_000_000_000)


def _bound(messages: tuple[ir.Message, ir.Message]) -> int:
    """The longest list that is worth spelling out: one more than a rule about its size says."""
    sizes = [0]
    for message in messages:
        programs = [check.program for check in message.rules.checks]
        for field in message.fields:
            if field.rules is not None and field.shape is not ir.Shape.SINGULAR:
                programs += [check.program for check in field.rules.checks]
        for program in programs:
            sizes += [] if program is None else _small_numbers(program.expr)
    return max(_SHORT, min(_LONG, max(sizes) + 1))


def _small_numbers(expr: ir_cel.Expr) -> list[int]:
    values = [node.value for node in ir_cel.walk(expr) if isinstance(node, ir_cel.Literal)]
    return [value for value in values if type(value) is int and 0 <= value < _LONG]
