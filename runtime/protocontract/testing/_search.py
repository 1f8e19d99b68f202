"""Draws messages that a whole contract accepts, or refuses; fields by construction, the rest by search."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any, Final

from google.protobuf.message import EncodeError
from hypothesis import reject
from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument

from protocontract.contract import Contract
from protocontract.testing._edges import Edge, edges, put_edge
from protocontract.testing._messages import Maker
from protocontract.violations import ContractError, RuleEvaluationError, Violation

#: How often the fields that a rule complains of are drawn anew before the whole message is given up.
_ROUNDS: Final = 8
#: After so many messages without one that is valid, it is an error and no bad luck.
_MOST: Final = 30
#: After so many valid messages without one that could be broken, it is an error, too.
_MOST_UNBROKEN: Final = 6
#: Rules about what is around a message, its key and its bytes.
_OUTSIDE: Final = ("key.", "wire.", "rule.")
#: How many edges are tried with how many others for a rule that no single one breaks.
_PAIRS: Final = 6
_STEP: Final = re.compile(r"([A-Za-z_]\w*)((?:\[[^\]]*\])*)")


class Search:
    """Draws valid messages of one contract, and says so where there are none to be found."""

    def __init__(self, contract: Contract[Any]) -> None:
        descriptor: Any = contract.message_type.DESCRIPTOR
        self.contract = contract
        self.maker = Maker(descriptor.file.pool)
        self._found = False
        # An example that failed so fails so again, whatever was found in between.
        self._gave_up = False
        self._failures = 0
        self._broken: set[str] = set()

    def valid(self, draw: Any) -> Any:
        """A valid message in its normal form. Raises ContractError where none is found at all."""
        message = self.contract.message_type()
        try:
            self.maker.fill(draw, message, None)
        except (ValueError, InvalidArgument) as error:
            raise ContractError(f"no values of {self.contract.full_name} can be drawn: {error}") from None
        for _ in range(_ROUNDS):
            settled, broken = self.settled(message)
            if settled is not None:
                self._found = True
                return settled
            self._broken.update(violation.rule_id for violation in broken)
            for violation in broken:
                self._redraw(draw, message, violation)
        self._failures += 1
        if self._gave_up or (not self._found and self._failures >= _MOST):
            self._gave_up = True
            raise ContractError(
                f"no valid message of {self.contract.full_name} was found in {_MOST * _ROUNDS} tries; "
                f"the rules that stayed broken: {', '.join(sorted(self._broken))}"
            )
        return reject()

    def settled(self, message: Any) -> tuple[Any, list[Violation]]:
        """The message as the normalizers leave it, or the violations that reject it."""
        for _ in range(3):
            # proto2's required fields may be missing in what is on its way to become valid.
            outcome = self.contract.process(message.SerializePartialToString(deterministic=True))
            if not outcome.ok:
                return None, [each for each in outcome.violations if each.severity == "ERROR"]
            if not outcome.changes:
                return outcome.message, []
            message = outcome.message
        return message, []

    def _redraw(self, draw: Any, message: Any, violation: Violation) -> None:
        """Draw anew what a violation is about: its field, or the fields that its rule reads."""
        holder: Any = message
        names: Collection[str] | None = None
        steps = _STEP.findall(violation.field_path)
        for at, (name, subscripts) in enumerate(steps):
            field = holder.DESCRIPTOR.fields_by_name.get(name)
            inner: Any = getattr(holder, name) if field is not None else None
            if field is not None and field.message_type is not None and subscripts and _is_index(subscripts):
                place = int(subscripts[1:-1])
                # A field that an earlier violation was about may have become shorter.
                inner = inner[place] if place < len(inner) else None
            last = at == len(steps) - 1
            if inner is None or not hasattr(inner, "DESCRIPTOR") or (last and violation.rule.reads is None):
                names = [name] if field is not None else None
                break
            holder = inner
        reads = violation.rule.reads
        if names is None and reads:
            own = holder.DESCRIPTOR.fields_by_name
            names = [first for each in reads if (first := re.split(r"[.\[]", each)[0]) in own] or None
        if holder.DESCRIPTOR.full_name.startswith("google.protobuf."):
            holder, names = message, None
        self.maker.fill(draw, holder, names)


def _is_index(subscripts: str) -> bool:
    return subscripts[1:-1].isdigit()


def strategy(contract: Contract[Any]) -> st.SearchStrategy[Any]:
    """Valid messages of a contract."""
    search = Search(contract)

    @st.composite
    def valid(draw: Any) -> Any:
        return search.valid(draw)

    return valid()


def at_edges(contract: Contract[Any]) -> st.SearchStrategy[Any]:
    """Messages with one field at or beside a bound of its rules, the others valid."""
    search = Search(contract)
    descriptor: Any = contract.message_type.DESCRIPTOR
    found = edges(search.maker, descriptor)

    @st.composite
    def boundary(draw: Any) -> Any:
        message = search.valid(draw)
        if found:
            edge = draw(st.sampled_from(found))
            try:
                put_edge(search.maker, draw, message, edge)
            except (TypeError, ValueError):
                # A value that the field cannot hold lies at no bound of it.
                reject()
        return message

    return boundary()


def broken(contract: Contract[Any], rule: str | None) -> st.SearchStrategy[Any]:
    """Messages that the contract rejects, by one rule where that is possible. Raises ValueError for an unknown rule."""
    known = {each for promise in contract.promises for each in promise.rule_ids if not each.startswith(_OUTSIDE)}
    if rule is not None and rule not in known:
        raise ValueError(
            f"{contract.full_name} has no rule {rule!r}; expected one of {', '.join(sorted(known)) or 'none'}"
        )
    if not known:
        raise ValueError(f"{contract.full_name} has no rule that a message could break")
    return _Breaker(contract, rule).strategy()


class _Breaker:
    """Breaks valid messages by putting edges into them, until the contract says that the wanted rule is broken."""

    def __init__(self, contract: Contract[Any], rule: str | None) -> None:
        self._search = Search(contract)
        self._contract = contract
        self._rule = rule
        descriptor: Any = contract.message_type.DESCRIPTOR
        found = edges(self._search.maker, descriptor)
        # Edges of the fields that the rule is about come first.
        paths = {promise.path for promise in contract.promises if rule in promise.rule_ids}
        self._several = "" in paths
        # Whether a rule over several fields can be broken depends on the message: its lists may be too short.
        self._most = _MOST if self._several else _MOST_UNBROKEN
        self._near = [each for each in found if any(_concerns(each.name, path) for path in paths)]
        near = {id(each) for each in self._near}
        self._others = [each for each in found if id(each) not in near]
        self._found = False
        # An example that failed so fails so again, whatever was found in between.
        self._gave_up = False
        self._failures = 0

    def strategy(self) -> st.SearchStrategy[Any]:
        @st.composite
        def invalid(draw: Any) -> Any:
            return self._draw(draw)

        return invalid()

    def _draw(self, draw: Any) -> Any:
        message = self._search.valid(draw)
        second: Any = None
        for edge in self._in_turn(draw):
            changed = self._with(draw, message, edge)
            if changed is None:
                continue
            alone = self._judge(changed)
            if alone:
                self._found = True
                return changed
            if alone is False and second is None:
                second = changed
        if second is None and self._several:
            second = self._by_two(draw, message)
        if second is not None:
            self._found = True
            return second
        self._failures += 1
        if self._gave_up or (not self._found and self._failures >= self._most):
            self._gave_up = True
            what = f"breaks {self._rule}" if self._rule else "is invalid"
            raise ContractError(f"no message of {self._contract.full_name} was found that {what}")
        return reject()

    def _in_turn(self, draw: Any) -> list[Edge]:
        found: list[Edge] = []
        for group in (self._near, self._others):
            if group:
                start = draw(st.integers(0, len(group) - 1))
                found += group[start:] + group[:start]
        return found

    def _with(self, draw: Any, message: Any, edge: Edge) -> Any:
        changed = self._contract.message_type()
        changed.CopyFrom(message)
        try:
            put_edge(self._search.maker, draw, changed, edge)
        except (TypeError, ValueError):
            # The field cannot hold the value.
            return None
        return changed

    def _by_two(self, draw: Any, message: Any) -> Any:
        """A rule over several fields may need two changes."""
        for first in self._in_turn(draw)[:_PAIRS]:
            changed = self._with(draw, message, first)
            if changed is None:
                continue
            for edge in self._in_turn(draw)[:_PAIRS]:
                twice = self._with(draw, changed, edge)
                if twice is not None and self._judge(twice) is not None:
                    return twice
        return None

    def _judge(self, message: Any) -> bool | None:
        """Whether the wanted rule is the only one that is broken; None where it is not broken."""
        try:
            outcome = self._contract.process(message.SerializeToString())
        except EncodeError:
            # A field that proto2 demands is missing: no message, so no rule of it is broken.
            return None
        if outcome.ok and (self._rule is None or not outcome.violations):
            return None
        as_it_comes = {_name(each) for each in outcome.violations}
        try:
            as_it_stands = {_name(each) for each in self._contract.validate(message)}
        except RuleEvaluationError:
            return None
        if self._rule is None:
            return len(as_it_comes | as_it_stands) == 1
        if self._rule not in as_it_comes | as_it_stands:
            return None
        return as_it_comes | as_it_stands == {self._rule}


def _name(violation: Violation) -> str:
    return violation.rule_id or violation.rule.rule_text


def _concerns(name: str, path: str) -> bool:
    """Whether a field is the one at ``path``, lies in it, or is in the message whose rule it is (an empty path)."""
    return not path or name == path or name.startswith((f"{path}.", f"{path}["))


def anything(contract: Contract[Any]) -> st.SearchStrategy[Any]:
    """Any messages of a contract's type."""
    descriptor: Any = contract.message_type.DESCRIPTOR
    maker = Maker(descriptor.file.pool)

    @st.composite
    def message(draw: Any) -> Any:
        made = contract.message_type()
        maker.fill(draw, made, None, valid=False)
        return made

    return message()
