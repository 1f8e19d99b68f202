"""Looks for messages that a contract accepts, and for one that breaks each of its rules. The contract is the judge."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from google.protobuf.message import EncodeError

from protocontract._options import is_map, is_repeated, set_in
from protocontract.contract import Contract, Outcome
from protocontract.violations import Change, Violation
from protocontract_compiler.examples import breaking
from protocontract_compiler.examples.building import Builder, assign
from protocontract_compiler.examples.values import NOW, SECOND, fits

#: How often the fields that a rule complains of take other values, and how many combinations are tried each time.
_ROUNDS: Final = 12
_COMBINATIONS: Final = 400
_VALUES: Final = 7
#: Combinations after which a contract is given up.
_TRIES: Final = 3000
#: Clean-ups that are shown of one field.
_SHOWN: Final = 3
_DEPTH: Final = 4


@dataclass(frozen=True)
class Refused:
    """A record that breaks a rule, as bytes and as a message."""

    violation: Violation
    record: bytes
    message: Any
    #: How far it is from an example that people want: rules that are broken beside, whether another field was changed,
    #: whether more than that was.
    far: tuple[int, bool, bool]


@dataclass(frozen=True)
class Cleaned:
    """A record in which a normalizer changed a value."""

    change: Change
    record: bytes


@dataclass
class Found:
    """All that was found for a contract. ``kept`` is None where no message is known that it accepts."""

    kept: Any = None
    record: bytes = b""
    cleaned: list[Cleaned] = field(default_factory=list)
    #: By error code.
    refused: dict[int, Refused] = field(default_factory=dict)


@dataclass(frozen=True)
class _Spot:
    """A field somewhere in the message, by its path without subscripts, with the fields on the way."""

    path: str
    steps: tuple[Any, ...]

    @property
    def field(self) -> Any:
        return self.steps[-1]


def judged(contract: Contract[Any], record: bytes) -> Outcome[Any]:
    """What the contract says of a record, at the moment that examples are made for."""
    return contract.process(record, now=datetime.fromtimestamp(NOW // SECOND, UTC))


def search(contract: Contract[Any]) -> Found:
    """Examples of a contract: always the same ones for the same contract."""
    return _Search(contract).all()


class _Search:
    def __init__(self, contract: Contract[Any]) -> None:
        self._contract = contract
        self._builder = Builder(contract.message_type)
        self._spots = list(_spots(contract.message_type.DESCRIPTOR, (), ()))
        self._by_path = {spot.path: spot for spot in self._spots}
        self._choices: dict[str, int] = {}
        self._tries = 0
        self._found = Found()

    def all(self) -> Found:
        kept = self._accepted()
        if kept is None:
            return self._found
        self._found.kept, self._found.record = kept, kept.SerializeToString(deterministic=True)
        usual = self._choices
        for spot in self._spots:
            words = self._builder.options.words(spot.field)
            if words is not None and words.WhichOneof("normalizer"):
                self._clean(spot, words)
        for path, changed, anew in self._changed(kept):
            self._judge(path, changed, anew=anew)
        for other in self._members(usual):
            # What is in the other members of a oneof can be broken where they are set.
            self._choices = other
            broken, outcome = self._violations(other)
            if not broken and outcome.ok and (settled := self._settled(outcome.message)) is not None:
                for path, changed, anew in self._changed(settled):
                    self._judge(path, changed, anew=anew)
        self._choices = usual
        self._combine()
        return self._found

    def _members(self, usual: Mapping[str, int]) -> Iterator[dict[str, int]]:
        """Choices in which another member of a oneof is set, for each of them."""
        seen: set[str] = set()
        for spot in self._spots:
            oneof = spot.field.containing_oneof
            for path in self._oneofs_at(spot.path):
                if path not in seen and len(oneof.fields) > 1:
                    seen.add(path)
                    now = usual.get(path, 0)
                    yield from ({**usual, path: at} for at in range(len(oneof.fields)) if at != now)

    # -- a message that is accepted

    def _accepted(self) -> Any:
        for _ in range(_ROUNDS):
            broken, outcome = self._violations(self._choices)
            if outcome.ok:
                # Where a normalizer wants what it has taken away, the record stays as it was sent.
                return self._settled(outcome.message) or self._builder.message(self._choices)
            better = self._better(broken)
            if better is None:
                return None
            self._choices = better
        return None

    def _settled(self, message: Any) -> Any:
        """The message as the normalizers leave it for good; None where they never come to an end."""
        for _ in range(3):
            outcome = judged(self._contract, message.SerializeToString(deterministic=True))
            if not outcome.ok or not outcome.changes:
                return outcome.message
            message = outcome.message
        return None

    def _violations(self, choices: Mapping[str, int]) -> tuple[list[Violation], Outcome[Any]]:
        message = self._builder.message(choices)
        outcome = judged(self._contract, message.SerializePartialToString(deterministic=True))
        return [each for each in outcome.violations if each.severity == "ERROR"], outcome

    def _better(self, broken: list[Violation]) -> dict[str, int] | None:
        """Choices under which fewer rules are broken; None where there are none."""
        for violation in broken:
            paths = self._concerned(violation)[:4]
            for combination in itertools.islice(itertools.product(range(_VALUES), repeat=len(paths)), _COMBINATIONS):
                self._tries += 1
                if self._tries > _TRIES:
                    return None
                choices = {**self._choices, **dict(zip(paths, combination, strict=True))}
                left, _ = self._violations(choices)
                if len(left) < len(broken):
                    return choices
        return None

    def _concerned(self, violation: Violation) -> list[str]:
        """The paths, of fields and oneofs, that a violation can depend on."""
        path = ".".join(element.name for element, _ in violation.elements())
        reads = violation.rule.reads
        if reads is None:
            needs = [f"{path.rpartition('.')[0]}.{name}".lstrip(".") for name in violation.rule.needs]
            # A violation of a oneof, or of what is not there because another member is.
            return list(dict.fromkeys([path, *needs, *self._oneofs_at(path)]))
        found: list[str] = []
        for read in reads:
            name = f"{path}.{read}".lstrip(".").replace("[]", "")
            found += [name, *self._oneofs_at(name)]
        return list(dict.fromkeys(found))

    def _oneofs_at(self, path: str) -> list[str]:
        spot = self._by_path.get(path)
        if spot is None or spot.field.containing_oneof is None:
            return []
        return [f"{path.rpartition('.')[0]}.{spot.field.containing_oneof.name}".lstrip(".")]

    # -- records that are cleaned

    def _clean(self, spot: _Spot, words: Any) -> None:
        if is_repeated(spot.field) or self._is_hidden(spot):
            return
        usual = _at(self._found.kept, spot.steps)
        seen: set[str] = set()
        for value in breaking.dirty(spot.field, words, usual):
            if len(seen) == _SHOWN or not fits(spot.field, value):
                continue
            # Related fields are made anew: spans lie on the text as it is sent.
            record = self._builder.message(self._choices, {spot.path: value}).SerializeToString(deterministic=True)
            outcome = judged(self._contract, record)
            changes = [each for each in outcome.changes if _plain(each.declared_path) == spot.path]
            if outcome.ok and changes and repr(changes[0].before) not in seen:
                seen.add(repr(changes[0].before))
                self._found.cleaned.append(Cleaned(changes[0], record))

    def _is_hidden(self, spot: _Spot) -> bool:
        """Whether the field, or a message that it is in, is sensitive: nothing of it is shown."""
        return any(f"{spot.path}.".startswith(f"{hidden}.") for hidden in self._contract.sensitive)

    # -- records that are refused

    def _changed(self, kept: Any) -> Iterator[tuple[str, Any, bool]]:
        """Messages that differ from the one that is kept, with the path of what was changed.

        The last item says whether related fields were made anew.
        """
        for spot in self._spots:
            for value in self._breaking(spot, kept):
                yield spot.path, self._with(kept, spot, value), False
                if len(spot.steps) == 1 or not is_repeated(spot.steps[0]):
                    yield spot.path, self._rebuilt(spot, value), True
            words = self._builder.options.words(spot.field)
            if words is not None:
                for message in _holders(kept, spot.steps):
                    for changed in breaking.related(message, spot.field, words):
                        yield spot.path, _replaced(kept, spot.steps, changed), False
        for oneof in kept.DESCRIPTOR.oneofs:
            copied = type(kept)()
            copied.CopyFrom(kept)
            for member in oneof.fields:
                copied.ClearField(member.name)
            yield oneof.name, copied, False
        yield "", type(kept)(), True

    def _breaking(self, spot: _Spot, kept: Any) -> Iterator[Any]:
        rules = self._builder.options.rules(spot.field)
        words = self._builder.options.words(spot.field)
        usual = _at(kept, spot.steps)
        if is_map(spot.field):
            own = set_in(rules, "map")
            entries = dict(usual) if usual is not None and spot.field.message_type.fields_by_name[
                "value"].message_type is None else {}  # fmt: skip
            yield {}
            yield from _maps(self._builder, spot.field, own, entries)
        elif is_repeated(spot.field):
            items = list(usual) if usual is not None else []
            yield from breaking.lists(spot.field, rules, items)
            if spot.field.message_type is None:
                own = set_in(set_in(rules, "repeated"), "items")
                for value in breaking.values(spot.field, own, words, items[0] if items else None):
                    if value is not None and fits(spot.field, value):
                        yield [value, *items[1:]]
        else:
            yield from (
                value
                for value in breaking.values(spot.field, rules, words, usual)
                if value is None or fits(spot.field, value)
            )

    def _with(self, kept: Any, spot: _Spot, value: Any) -> Any:
        for holder in _holders(kept, spot.steps):
            changed = type(holder)()
            changed.CopyFrom(holder)
            try:
                assign(changed, spot.field, value)
            except (TypeError, ValueError):
                return None  # the field cannot hold the value
            return _replaced(kept, spot.steps, changed)
        return None

    def _rebuilt(self, spot: _Spot, value: Any) -> Any:
        try:
            return self._builder.message(self._choices, {spot.path: value})
        except (TypeError, ValueError):
            return None

    def _judge(self, path: str, message: Any, *, anew: bool) -> None:
        """Notes which rules a message breaks in which ``path`` was changed, where no better example is known."""
        if message is None:
            return
        try:
            record = message.SerializeToString(deterministic=True)
        except (EncodeError, ValueError):
            return  # a field that proto2 demands is missing: no record at all
        outcome = judged(self._contract, record)
        distinct = {violation.code for violation in outcome.violations}
        for violation in outcome.violations:
            known = self._found.refused.get(violation.code)
            elsewhere = ".".join(element.name for element, _ in violation.elements()) != path
            far = (len(distinct) - 1, elsewhere, anew)
            if known is None or known.far > far:
                self._found.refused[violation.code] = Refused(violation, record, message, far)

    def _combine(self) -> None:
        """Other combinations of good values, for the rules that several fields have to break together."""
        known = {violation.rule_id for violation in (each.violation for each in self._found.refused.values())}
        promised = {rule_id for promise in self._contract.promises if not promise.path for rule_id in promise.rule_ids}
        if promised <= known:
            return
        paths = [spot.path for spot in self._spots if len(spot.steps) == 1 and not is_repeated(spot.field)]
        for one, other in itertools.islice(itertools.combinations(paths, 2), _COMBINATIONS):
            for first, second in itertools.product(range(3), repeat=2):
                self._judge("", self._builder.message({**self._choices, one: first, other: second}), anew=True)


def _spots(descriptor: Any, steps: tuple[Any, ...], outer: tuple[Any, ...]) -> Iterator[_Spot]:
    """Every field of a message and of those in it, each message once on a way; maps of messages are not entered."""
    for each in descriptor.fields:
        here = (*steps, each)
        yield _Spot(".".join(step.name for step in here), here)
        inner = each.message_type
        if inner is None or is_map(each) or inner.full_name.startswith("google.protobuf."):
            continue
        if inner not in (descriptor, *outer) and len(here) < _DEPTH:
            yield from _spots(inner, here, (*outer, descriptor))


def _maps(builder: Builder, each: Any, own: Any, entries: dict[Any, Any]) -> Iterator[dict[Any, Any]]:
    """Maps that break a rule of the map, of its keys or of its values, maybe."""
    if not entries:
        return
    key, value = (each.message_type.fields_by_name[name] for name in ("key", "value"))
    first = next(iter(entries))
    rest = {name: held for name, held in entries.items() if name != first}
    for bad in breaking.values(key, set_in(own, "keys"), None, first):
        if bad is not None and fits(key, bad):
            yield {**rest, bad: entries[first]}
    for bad in breaking.values(value, set_in(own, "values"), builder.options.words(each), entries[first]):
        if bad is not None and fits(value, bad):
            yield {**rest, first: bad}
    high = set_in(own, "max_pairs")
    if high is not None and high < 1000:
        many = dict(entries)
        for nth in range(high + 1):
            key_value = f"key {nth}" if isinstance(first, str) else nth + 1
            many[key_value] = entries[first]
        yield many


def _plain(path: str) -> str:
    return path.replace("[]", "")


def _at(message: Any, steps: tuple[Any, ...]) -> Any:
    """The value at a path, in the first message that is there; None where there is none."""
    for holder in _holders(message, steps):
        return getattr(holder, steps[-1].name)
    return None


def _holders(message: Any, steps: tuple[Any, ...]) -> list[Any]:
    """The message that holds the last field of a path, the first where there are several; none, or one."""
    for step in steps[:-1]:
        inner = getattr(message, step.name)
        if is_repeated(step):
            if not len(inner):
                return []
            message = inner[0]
        elif not message.HasField(step.name):
            return []
        else:
            message = inner
    return [message]


def _replaced(message: Any, steps: tuple[Any, ...], holder: Any) -> Any:
    """A copy of a message in which the first message on the way to a path is ``holder``."""
    copied = type(message)()
    copied.CopyFrom(message)
    _holders(copied, steps)[0].CopyFrom(holder)
    return copied
