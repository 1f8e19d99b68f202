"""Messages to run functions on: accepted by both states, newly accepted, newly refused.

A valid message is taken from the rules' own formula; then the fields that a change is about get one value after the
other, ordinary and nasty ones, and both validators of both states say where each message belongs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, product
from typing import TYPE_CHECKING, Any, Final

from google.protobuf.message import Message

from protocontract_ci.meaning.samples import telling
from protocontract_ci.sources import Contracts
from protocontract_compiler import ir, ir_cel

if TYPE_CHECKING:
    from protocontract_ci.meaning.judges import Judges

#: Most messages of each kind.
_ENOUGH: Final = 24
#: How deep messages inside messages are made valid.
_DEPTH: Final = 3

TEXTS: Final = (
    "", "a", "AB", "abc", "Abc-1", "a b", " a ", "EUR", "USD", "é", "東京", "0", "-1", "12.50", "a/b", "../a", "a.b",
    "a@b.example", "https://example.com/", "2024-01-31", "2024-01-31T00:00:00Z", "<b>", "'", '"', "%", "a,b", "a\nb",
    "😀", "123e4567-e89b-12d3-a456-426614174000", "x" * 33, "x" * 70, "x" * 300,
)  # fmt: skip
NUMBERS: Final = (
    0,
    1,
    -1,
    2,
    3,
    5,
    7,
    9,
    10,
    60,
    99,
    100,
    1000,
    -1000,
    86_400,
    2**31 - 1,
    -(2**31),
    2**31,
    2**53 + 1,
    2**63 - 1,
)
FLOATS: Final = (0.0, 1.0, -1.0, 0.5, 100.0, 1e300, float("inf"), float("nan"))


@dataclass
class Samples:
    """Serialised messages by what both states say of them."""

    both: list[bytes] = field(default_factory=list)
    gained: list[bytes] = field(default_factory=list)
    lost: list[bytes] = field(default_factory=list)


class SampleMaker:
    """Makes samples of the messages of two states."""

    def __init__(self, before: Contracts, after: Contracts, judges: tuple[Judges, Judges]) -> None:
        self._sides = (before, after)
        self.judges = judges
        self._bases: dict[tuple[str, str, int], bytes] = {}

    def samples(self, old: str, new: str, fields: Iterable[str], shown: Iterable[bytes] = ()) -> Samples:
        """Messages of a type, called ``old`` before and ``new`` after; ``fields`` vary (names of either state).

        ``shown`` are messages that somebody has found already.
        """
        found = Samples()
        seen: set[bytes] = set()
        kinds: dict[tuple[bool | None, bool | None], list[bytes]] = {
            (True, True): found.both,
            (False, True): found.gained,
            (True, False): found.lost,
        }
        for data in chain(shown, self.candidates(old, new, list(fields))):
            if data in seen:
                continue
            seen.add(data)
            kind = kinds.get((self._accepts(0, old, data), self._accepts(1, new, data)))
            if kind is not None and len(kind) < _ENOUGH:
                kind.append(data)
        return found

    def values(self, name: str, fields: Iterable[str], messages: Iterable[bytes]) -> list[object]:
        """What single fields hold in messages of the state before, each value once."""
        declared = [each for each in self._declared(0, name, fields) if each.shape is ir.Shape.SINGULAR]
        scalars = [each.name for each in declared if each.message is None]
        parsed = [self._parsed(0, name, data) for data in messages]
        return list(dict.fromkeys(getattr(message, each) for message in parsed for each in scalars))

    def _accepts(self, side: int, name: str, data: bytes) -> bool | None:
        """Whether a state accepts a message: its rules, and the fields that proto2 requires."""
        accepted = self.judges[side].accepts(name, data)
        return accepted and self._parsed(side, name, data).IsInitialized()

    def candidates(self, old: str, new: str, fields: list[str]) -> Iterator[bytes]:
        """Messages in which one field after the other has ordinary and nasty values; some come twice."""
        declared = [self._declared(side, name, fields) for side, name in ((0, old), (1, new))]
        before, after = ([found for each in side for found in _patterns(each)] for side in declared)
        texts = list(telling(before, after))
        for side, name in ((0, old), (1, new)):
            base = self.base(old, new, side)
            yield base
            message = self._parsed(side, name, base)
            varied = declared[side]
            for each in varied:
                if each.type == ir.TYPE_STRING and each.shape is not ir.Shape.MAP:
                    held = ([text] if each.shape is ir.Shape.REPEATED else text for text in texts)
                    yield from (data for value in held if (data := _with(message, [each], [value])) is not None)
                yield from self._variants(side, message, [each])
            if 2 <= len(varied) <= 3:
                # A rule over several fields is about their values together.
                yield from self._variants(side, message, varied)

    def _parsed(self, side: int, name: str, data: bytes) -> Message:
        message = self.judges[side].new(name)
        message.ParseFromString(data)
        return message

    def base(self, old: str, new: str, side: int, depth: int = _DEPTH) -> bytes:
        """A message that ``side`` accepts, as far as one was found: with its messages inside made valid, too."""
        key = (old, new, side)
        if key not in self._bases:
            # z3, which is not asked where nothing has changed.
            from protocontract_ci.meaning.relation import Comparison

            comparison = Comparison(self._sides, (old, new), self.judges)
            data = None if comparison.reason else comparison.accepted(side)
            message = self._parsed(side, (old, new)[side], data or b"")
            for inner in self._sides[side].schema.messages[(old, new)[side]].fields:
                self._fill(message, inner, side, depth)
            self._bases[key] = message.SerializePartialToString(deterministic=True)
        return self._bases[key]

    def _fill(self, message: Any, declared: ir.Field, side: int, depth: int) -> None:
        """Give a message-typed field a valid message of its own."""
        inner = declared.message
        if (
            inner is None
            or declared.shape is not ir.Shape.SINGULAR
            or depth == 0
            or inner.startswith("google.protobuf.")
        ):
            return
        if declared.oneof is not None and not message.HasField(declared.name):
            return
        if any(inner not in side.schema.messages for side in self._sides):
            return
        getattr(message, declared.name).ParseFromString(self.base(inner, inner, side, depth - 1))
        getattr(message, declared.name).SetInParent()

    def _variants(self, side: int, message: Message, fields: list[ir.Field]) -> Iterator[bytes]:
        few = len(fields) > 1
        for values in product(*(self._values(side, each, few=few) for each in fields)):
            data = _with(message, fields, values)
            if data is not None:
                yield data

    def _declared(self, side: int, name: str, fields: Iterable[str]) -> list[ir.Field]:
        declared = {each.name: each for each in self._sides[side].lowered(name).fields}
        return [declared[each] for each in fields if each in declared]

    def _values(self, side: int, declared: ir.Field, *, few: bool) -> list[Any]:
        if declared.shape is ir.Shape.MAP and declared.key is not None and declared.value is not None:
            keys = self._scalars(side, declared.key)[:4]
            value = (self._scalars(side, declared.value) or [_UNSET])[1:2]
            return [_UNSET, *({key: each} for key in keys for each in value)]
        scalars = self._scalars(side, declared)
        if declared.shape is ir.Shape.REPEATED:
            first = scalars[:6]
            return [
                [],
                *([each] for each in scalars),
                *([each, each] for each in first),
                first,
                [*first, *first, *first],
            ]
        return [_UNSET, *(scalars[:7] if few else scalars)]

    def _scalars(self, side: int, declared: ir.Field) -> list[Any]:
        literals = list(dict.fromkeys(_literals(declared)))
        if declared.message is not None:
            return [_EMPTY]
        if declared.type == ir.TYPE_BOOL:
            return [False, True]
        if declared.enum is not None:
            numbers = [value.number for value in self._sides[side].schema.enums[declared.enum].values]
            return [*numbers, max(numbers) + 1, -1, *_whole(literals)]
        if declared.type in ir.FLOAT_TYPES:
            given = [float(each) for each in literals if isinstance(each, int | float)]
            return [*given, *(each + step for each in given for step in (-1.0, 1.0)), *FLOATS]
        if declared.type in (ir.TYPE_STRING, ir.TYPE_BYTES):
            texts = [each for each in literals if isinstance(each, str)]
            lengths = [each + step for each in _whole(literals) if 0 < each < 5000 for step in (-1, 0, 1)]
            texts += ["x" * length for length in lengths] + ["é" * length for length in lengths[:6]] + list(TEXTS)
            return texts if declared.type == ir.TYPE_STRING else [each.encode() for each in texts]
        near = [each + step for each in _whole(literals) for step in (-1, 0, 1)]
        return [*NUMBERS[:7], *near, *NUMBERS[7:]]


class _Unset:
    """No value at all."""


_UNSET: Final = _Unset()
_EMPTY: Final = _Unset()


def _with(message: Message, fields: Iterable[ir.Field], values: Iterable[Any]) -> bytes | None:
    """The message with these values; None where one is out of its field's range."""
    changed: Any = type(message)()
    changed.CopyFrom(message)
    try:
        for declared, value in zip(fields, values, strict=True):
            changed.ClearField(declared.name)
            if value is not _UNSET:
                _assign(changed, declared, value)
        data: bytes = changed.SerializePartialToString(deterministic=True)
    except (TypeError, ValueError):
        return None
    return data


def _assign(message: Any, declared: ir.Field, value: Any) -> None:
    if value is _EMPTY:
        getattr(message, declared.name).SetInParent()
    elif isinstance(value, list):
        container = getattr(message, declared.name)
        for each in value:
            if each is _EMPTY:
                container.add()
            else:
                container.append(each)
    elif isinstance(value, dict):
        for key, each in value.items():
            if each is _EMPTY:
                getattr(message, declared.name).get_or_create(key)
            else:
                getattr(message, declared.name)[key] = each
    else:
        setattr(message, declared.name, value)


def _whole(literals: Iterable[Any]) -> list[int]:
    return [each for each in literals if type(each) is int]


def _rules(declared: ir.Field) -> Iterator[ir.Check]:
    """The rules of a field, and of what is in it."""
    rules = [declared.rules]
    while rules:
        each = rules.pop()
        if each is not None:
            rules += [each.items, each.keys, each.values]
            yield from each.checks


def _patterns(declared: ir.Field) -> Iterator[str]:
    """The patterns that a field's rules ask for."""
    for check in _rules(declared):
        for node in ir_cel.walk(check.program.expr) if check.program is not None else ():
            if isinstance(node, ir_cel.Call) and node.op == "matches" and isinstance(node.args[1], ir_cel.Literal):
                yield str(node.args[1].value)


def _literals(declared: ir.Field) -> Iterator[Any]:
    """The constants of a field's rules: what lies at and beside them is where rules differ."""
    for check in _rules(declared):
        yield from check.values
        for node in ir_cel.walk(check.program.expr) if check.program is not None else ():
            if isinstance(node, ir_cel.Literal) and node.type.kind in ("int", "uint", "double", "string", "list"):
                values = node.value if isinstance(node.value, tuple) else (node.value,)
                yield from (value for value in values if isinstance(value, int | float | str))
