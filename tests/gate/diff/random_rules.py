"""Random rules on fields of many kinds, values that try them, and protovalidate as judge."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import protovalidate
from google.protobuf.message_factory import GetMessageClass

from protocontract_ci.sources import Contracts, read

SETS = 22  # random sets of rules for each kind

TEXTS = [
    "", "a", "ab", "abc", "abcd", "b", "xab", "é", "日本", "日本語", "😀", "abcabc", "aaaaaaaaaaaa", "127.0.0.1", "::1",
    "a@b.co", "example.com", "http://a.b/c", "/c", "9f8a5c1e-6a3f-4a68-9a55-0d8f2f3f1b10",
    "9f8a5c1e6a3f4a689a550d8f2f3f1b10", "10.0.0.0/8", "10.1.0.0/8",
]  # fmt: skip
STRINGS: Mapping[str, list[str]] = {
    "len": ["1", "2", "3", "36"], "min_len": ["0", "1", "2", "3"], "max_len": ["0", "1", "3", "36"],
    "len_bytes": ["2", "3", "6"], "min_bytes": ["1", "2", "3", "6"], "max_bytes": ["1", "3", "6", "36"],
    "prefix": ['"a"', '"ab"', '"日"'], "suffix": ['"b"', '"ab"', '"c"'], "contains": ['"a"', '"ab"', '"本"'],
    "not_contains": ['"x"'], "in": ['["ab", "abc"]', '["ab", "日本"]', '[""]'], "not_in": ['["ab"]', '["ab", "x"]'],
    "const": ['"ab"', '""'], "pattern": ['"^a"', '"^[a-c]*$"'], "uuid": ["true", "false"], "tuuid": ["true"],
    "ip": ["true"], "ipv4": ["true"], "ipv6": ["true"], "address": ["true"], "hostname": ["true"], "email": ["true"],
    "uri": ["true"], "uri_ref": ["true"], "ip_prefix": ["true"], "ipv4_prefix": ["true"],
    "ip_with_prefixlen": ["true"],
}  # fmt: skip
NUMBERS: Mapping[str, list[str]] = {
    "gt": ["0", "1", "5"], "gte": ["0", "1", "5"], "lt": ["1", "6", "10"], "lte": ["0", "5", "10"],
    "const": ["0", "5"], "in": ["[0, 5]", "[5, 7]"], "not_in": ["[0]", "[5, 11]"],
}  # fmt: skip
DOUBLES: Mapping[str, list[str]] = {**NUMBERS, "finite": ["true", "false"]}
BYTES: Mapping[str, list[str]] = {
    "len": ["1", "2", "4"], "min_len": ["1", "2"], "max_len": ["1", "4"], "prefix": [r'"\x01"'], "suffix": [r'"\x02"'],
    "in": [r'["\x01\x02"]'], "not_in": [r'["\x01"]'], "ipv4": ["true"], "ip": ["true"], "uuid": ["true"],
}  # fmt: skip
ENUMS: Mapping[str, list[str]] = {
    "defined_only": ["true"], "in": ["[0, 1]", "[1, 7]"], "not_in": ["[0]", "[7]"], "const": ["1", "0"],
}  # fmt: skip
LISTS: Mapping[str, list[str]] = {"min_items": ["0", "1", "2"], "max_items": ["0", "1", "3"], "unique": ["true"]}
DURATIONS: Mapping[str, list[str]] = {
    "gt": ["{}", "{seconds: 1}"], "gte": ["{}", "{seconds: 1 nanos: 1}"], "lt": ["{seconds: 5}"],
    "lte": ["{seconds: 4 nanos: 999999999}", "{seconds: 5}"], "const": ["{seconds: 2}"],
}  # fmt: skip


# Of these a field has one at most.
ONE_OF = (
    {"gt", "gte"}, {"lt", "lte"},
    {name for name, texts in STRINGS.items() if "true" in texts}, {"ip", "ipv4", "ipv6", "uuid"},
)  # fmt: skip


OUTSIDE = ({"@required": "true"}, {"@ignore": "IGNORE_IF_ZERO_VALUE"}, {"@ignore": "IGNORE_ALWAYS"})


@dataclass(frozen=True)
class Kind:
    """One kind of field: its declaration, its rules with constants, and values that try them."""

    name: str
    declaration: str
    rules: Mapping[str, list[str]]
    values: list[Any]


KINDS = [
    Kind("string", "string v", STRINGS, TEXTS),
    Kind("string", "optional string v", STRINGS, TEXTS),
    Kind("int32", "int32 v", NUMBERS, [*range(-2, 13), 2**31 - 1]),
    Kind("uint32", "optional uint32 v", NUMBERS, [*range(13), 2**32 - 1]),
    Kind("double", "double v", DOUBLES, [-1.0, 0.0, 0.5, 1.0, 5.0, 5.5, 7.0, 10.0, 11.0, float("inf"), float("nan")]),
    Kind("bytes", "bytes v", BYTES, [b"", b"\x01", b"\x01\x02", b"\x01\x00\x02", b"\x7f\0\0\1", b"\x01" * 16]),
    Kind("enum", "E v", ENUMS, [0, 1, 2, 7]),
    Kind("repeated", "repeated string v", LISTS, [[], ["a"], ["a", "a"], ["a", "b"], ["a", "b", "c"], ["a"] * 4]),
    Kind("duration", "google.protobuf.Duration v", DURATIONS, [None, 0, 1, 1.5, 2, 4.75, 5, 6]),
]


def rule_sets(kind: Kind, source: random.Random, *, outside: bool = False) -> list[dict[str, str]]:
    """Rules of a kind by name, each with its constant: every rule alone, then random ones together.

    ``outside``: some also have `required` or `ignore`, under ``@`` and their names.
    """
    singles = [{name: text} for name, texts in kind.rules.items() for text in texts]
    mixed = []
    for _ in range(SETS):
        names = source.sample(list(kind.rules), k=min(source.choice([2, 2, 3]), len(kind.rules)))
        mixed.append({name: source.choice(kind.rules[name]) for name in sorted(names)})
        if outside and source.random() < 0.5:
            mixed[-1] |= source.choice(OUTSIDE)
    return [*singles, *(each for each in mixed if not any(len(one & each.keys()) > 1 for one in ONE_OF))]


def contracts(kinds: list[list[dict[str, str]]], folder: Path) -> Contracts:
    lines = [
        'syntax = "proto3";', "package t;", 'import "buf/validate/validate.proto";',
        'import "google/protobuf/duration.proto";', "enum E { E_A = 0; E_B = 1; E_C = 2; }",
    ]  # fmt: skip
    for index, (kind, sets) in enumerate(zip(KINDS, kinds, strict=True)):
        for at, rules in enumerate(sets):
            options = " ".join(f"{name}: {text}" for name, text in rules.items() if name[0] != "@")
            option = f"(buf.validate.field).{kind.name} = {{{options}}}"
            option += "".join(
                f", (buf.validate.field).{name[1:]} = {text}" for name, text in rules.items() if name[0] == "@"
            )
            lines.append(f"message M{index}x{at} {{ {kind.declaration} = 1 [{option}]; }}")
    (folder / "t.proto").write_text("\n".join(lines))
    return read(str(folder))


class Judge:
    """protovalidate on values of one message."""

    def __init__(self, state: Contracts) -> None:
        self._state = state
        self._validator = protovalidate.Validator()

    def accepts(self, message: str, value: Any) -> bool:
        made: Any = GetMessageClass(self._state.loaded.pool.FindMessageTypeByName(message))()
        field = made.DESCRIPTOR.fields[0]
        if isinstance(value, list):
            made.v.extend(value)
        elif field.message_type is not None:
            if value is not None:
                made.v.FromNanoseconds(round(value * 1_000_000_000))
        elif value is not None:
            made.v = value
        return not self._validator.collect_violations(made)
