"""The table of clear cases never says more than protovalidate does: on random rules, and on values that try them."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import protovalidate
import pytest
from google.protobuf.message_factory import GetMessageClass

from protocontract_ci.diff.rule_sides import Side, address
from protocontract_ci.diff.rule_table import Slot, accepts_empty, holds, implied, inverted
from protocontract_ci.facts import plain
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


def rule_sets(kind: Kind, source: random.Random) -> list[dict[str, str]]:
    singles = [{name: text} for name, texts in kind.rules.items() for text in texts]
    mixed = []
    for _ in range(SETS):
        names = source.sample(list(kind.rules), k=min(source.choice([2, 2, 3]), len(kind.rules)))
        mixed.append({name: source.choice(kind.rules[name]) for name in sorted(names)})
    return [
        *singles,
        *(each for each in mixed if not {"gt", "gte"} <= each.keys() and not {"lt", "lte"} <= each.keys()),
    ]


def contracts(kinds: list[list[dict[str, str]]], folder: Path) -> Contracts:
    lines = [
        'syntax = "proto3";', "package t;", 'import "buf/validate/validate.proto";',
        'import "google/protobuf/duration.proto";', "enum E { E_A = 0; E_B = 1; E_C = 2; }",
    ]  # fmt: skip
    for index, (kind, sets) in enumerate(zip(KINDS, kinds, strict=True)):
        for at, rules in enumerate(sets):
            options = " ".join(f"{name}: {text}" for name, text in rules.items())
            option = f"(buf.validate.field).{kind.name} = {{{options}}}"
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


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> tuple[Contracts, list[list[dict[str, str]]]]:
    source = random.Random(7)
    sets = [rule_sets(kind, source) for kind in KINDS]
    return contracts(sets, tmp_path_factory.mktemp("rules")), sets


def slots(state: Contracts, index: int, count: int) -> Iterator[tuple[str, Slot]]:
    for at in range(count):
        name = f"t.M{index}x{at}"
        side = Side(state, name, {})
        yield name, side.slot(state.schema.messages[name].fields[0], "", KINDS[index].name)


@pytest.mark.parametrize("index", range(len(KINDS)), ids=[kind.declaration for kind in KINDS])
def test_implied_is_true(state: tuple[Contracts, list[list[dict[str, str]]]], index: int) -> None:
    loaded, sets = state
    judge = Judge(loaded)
    known = list(slots(loaded, index, len(sets[index])))
    singles = [(name, slot) for name, slot in known if len(slot.rules) == 1]
    accepted = {
        name: [value for value in KINDS[index].values if judge.accepts(name, value)] for name, _ in known
    }  # fmt: skip
    found = 0
    for (strong, slot), (weak, single) in itertools.product(known, singles):
        if inverted(slot):
            continue
        ((rule, constant),) = single.rules.items()
        if implied(rule, constant, slot):
            found += strong != weak
            broken = [value for value in accepted[strong] if value not in accepted[weak]]
            assert not broken, (dict(slot.rules), rule, constant, broken)
    assert found > 3


@pytest.mark.parametrize("index", range(len(KINDS)), ids=[kind.declaration for kind in KINDS])
def test_single_values_are_judged_as_protovalidate_does(
    state: tuple[Contracts, list[list[dict[str, str]]]], index: int
) -> None:
    loaded, sets = state
    judge = Judge(loaded)
    for name, slot in slots(loaded, index, len(sets[index])):
        if len(slot.rules) != 1:
            continue
        ((rule, constant),) = slot.rules.items()
        field = loaded.loaded.pool.FindMessageTypeByName(name).fields[0]
        for value in KINDS[index].values:
            given: Any = tuple(value) if isinstance(value, list) else value
            if field.message_type is not None:
                if value is None:
                    continue
                given = f"{value}s"
            elif not isinstance(given, tuple) and field.enum_type is None:
                given = plain(field, value)
            told = holds(rule, constant, given, slot)
            assert told in (None, judge.accepts(name, value)), (rule, constant, value)
        empty = accepts_empty(rule, constant, slot)
        assert empty in (None, judge.accepts(name, [] if slot.presence == "list" else None)), (rule, constant)


def test_addresses() -> None:
    assert address("string.min_len").name == "min_len"
    assert (address("required").kind, address("cel[a.b]").kind) == ("", "")
    parts = address("repeated.items.string.min_len")
    assert (parts.slot, parts.kind, parts.name) == ("repeated.items.", "string", "min_len")
    assert address("map.values.cel[x]").slot == "map.values."
