"""Predefined rules of the user's own: extensions of buf.validate's rules messages, defined by CEL."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto

from buf.validate import validate_pb2

T = FieldDescriptorProto


@dataclass(frozen=True, slots=True)
class _Kind:
    """A rule that can be declared: on which rules message, of which type, by which CEL, with which constants."""

    rules: str
    type: int
    expressions: tuple[str, ...]
    constants: tuple[bytes, ...]  # as they stand on the wire
    repeated: bool = False


def _varint(number: int) -> bytes:
    number &= 0xFFFFFFFFFFFFFFFF
    made = bytearray()
    while number > 0x7F:
        made.append(number & 0x7F | 0x80)
        number >>= 7
    made.append(number)
    return bytes(made)


def _text(text: str) -> bytes:
    raw = text.encode()
    return _varint(len(raw)) + raw


_TRUE = (_varint(1), _varint(0))
_NUMBERS = tuple(_varint(number) for number in (0, 1, 2, 7))
_TEXTS = tuple(_text(text) for text in ("", "a", "PERSON", "日"))

_KINDS = [
    _Kind("StringRules", T.TYPE_BOOL, ("!rule || this != this.upperAscii()", "!rule || this == '' ? '' : 'not empty'"),
          _TRUE),
    _Kind("StringRules", T.TYPE_STRING, ("this.startsWith(rule) ? '' : 'must begin with %s'.format([rule])",
                                         "rule in [this, 'a']", "rules.min_len < 3u || this == rule"), _TEXTS),
    _Kind("StringRules", T.TYPE_STRING, ("this in rule", "rule.exists(r, this.contains(r))", "size(rule) > 1"), _TEXTS,
          repeated=True),
    _Kind("Int32Rules", T.TYPE_INT32, ("this % 3 != rule", "rule / this >= 0", "this + rule > 1 ? 'too much' : ''"),
          _NUMBERS),
    _Kind("Int64Rules", T.TYPE_INT64, ("this - rule < 9", "rule == 0 || this % rule == 0"), _NUMBERS),
    _Kind("UInt32Rules", T.TYPE_BOOL, ("this > 4u == rule", "rule ? this == 1u : this != 1u"), _TRUE),
    _Kind("RepeatedRules", T.TYPE_UINT64, ("uint(size(this)) >= rule", "uint(size(this)) % 2u == rule"), _NUMBERS),
    _Kind("TimestampRules", T.TYPE_BOOL, ("!rule || this < now", "this > timestamp('2000-01-01T00:00:00Z') == rule"),
          _TRUE),
    _Kind("EnumRules", T.TYPE_INT32, ("this != rule", "this + 1 > rule"), _NUMBERS),
    _Kind("BytesRules", T.TYPE_BOOL, ("!rule || this == b'a'", "!rule || size(this) % 2 == 0"), _TRUE),
    _Kind("DoubleRules", T.TYPE_BOOL, ("!rule || this * 2.0 > 1.0", "!rule || !this.isNan()"), _TRUE),
]  # fmt: skip

#: A wire type by the field's type: length-delimited for texts, varints for the rest.
_DELIMITED = frozenset({T.TYPE_STRING})
_FIRST_NUMBER = 1100  # inside the range that validate.proto leaves to everybody's private rules


class Predefined:
    """The predefined rules of one schema."""

    def __init__(self) -> None:
        self._declared: dict[str, list[tuple[int, _Kind]]] = {}

    def declare(self, random: Random, file: FileDescriptorProto) -> None:
        """Declares some rules in the file."""
        for offset, kind in enumerate(random.sample(_KINDS, random.randint(1, 5))):
            number = _FIRST_NUMBER + offset * 3
            field = file.extension.add(
                name=f"rule_{offset}",
                number=number,
                type=kind.type,  # type: ignore[arg-type]  # the stubs want an enum value
                label=T.LABEL_REPEATED if kind.repeated else T.LABEL_OPTIONAL,
                extendee=f".buf.validate.{kind.rules}",
            )
            rules = field.options.Extensions[validate_pb2.predefined]
            for index in range(random.choice([1, 1, 2])):
                rules.cel.add(
                    id=random.choice([f"own.{offset}.{index}", f"own.{offset}"]),
                    message=random.choice(["", "must keep the house rule"]),
                    expression=random.choice(kind.expressions),
                )
            self._declared.setdefault(kind.rules, []).append((number, kind))

    def apply(self, random: Random, part: Any) -> None:
        """Sets some of the rules declared for this rules message."""
        for number, kind in self._declared.get(part.DESCRIPTOR.name, ()):
            if random.random() < 0.4:
                wire = 2 if kind.type in _DELIMITED else 0
                for _ in range(random.randint(1, 3) if kind.repeated else 1):
                    part.MergeFromString(_varint(number << 3 | wire) + random.choice(kind.constants))
