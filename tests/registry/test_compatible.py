"""What a writer's schema may differ in from the contract."""

from __future__ import annotations

import pytest

from protocontract.wire_compatible import contradictions, same
from tests.registry.support import message

HEAD = 'syntax = "proto3"; package p; '


def found(writer: str, reader: str) -> list[str]:
    """The contradictions between two versions of p.M."""
    return list(contradictions(message(HEAD + writer, "p.M").DESCRIPTOR, message(HEAD + reader, "p.M").DESCRIPTOR))


@pytest.mark.parametrize(
    ("writer", "reader"),
    [
        ("string a = 1;", "string a = 1;"),
        ("string a = 1;", "string a = 1; int32 b = 2;"),
        ("string a = 1; int32 b = 2;", "string a = 1;"),
        ("string old = 1;", "string renamed = 1;"),
        ("int32 a = 1;", "int64 a = 1;"),
        ("uint32 a = 1;", "int64 a = 1;"),
        ("uint32 a = 1;", "uint64 a = 1;"),
        ("sint32 a = 1;", "sint64 a = 1;"),
        ("bool a = 1;", "int32 a = 1;"),
        ("bytes a = 1;", "string a = 1;"),
        ("string a = 1;", "bytes a = 1;"),
        ("string a = 1;", "optional string a = 1;"),
        ("repeated int32 a = 1 [packed = false];", "repeated int32 a = 1;"),
        ("enum E { Z = 0; X = 1; Y = 2; } E a = 1;", "enum E { Z = 0; X = 1; } E a = 1;"),
        ("enum E { Z = 0; X = 1; } E a = 1;", "enum F { Z = 0; RENAMED = 1; } F a = 1;"),
        ("enum E { Z = 0; } E a = 1;", "int32 a = 1;"),
        ("message A { string x = 1; } A a = 1;", "message B { string x = 1; } B a = 1;"),
        ("M a = 1; string b = 2;", "M a = 1; string b = 2;"),
        ("oneof o { string a = 1; string b = 2; }", "oneof o { string a = 1; string b = 2; string c = 3; }"),
        ("string a = 1;", "oneof o { string a = 1; string b = 2; }"),
        ("string a = 1;", "reserved 1; string a = 2;"),
        ("map<string, int32> a = 1;", "map<string, int64> a = 1;"),
    ],
)  # fmt: skip
def test_what_contradicts_nothing(writer: str, reader: str) -> None:
    assert found(f"message M {{ {writer} }}", f"message M {{ {reader} }}") == []


@pytest.mark.parametrize(
    ("writer", "reader", "said"),
    [
        ("int64 a = 1;", "int32 a = 1;", "`a` (number 1): expected int32, got int64"),
        ("uint64 a = 1;", "int64 a = 1;", "`a` (number 1): expected int64, got uint64"),
        ("int32 a = 1;", "sint32 a = 1;", "`a` (number 1): expected sint32, got int32"),
        ("fixed32 a = 1;", "sfixed32 a = 1;", "`a` (number 1): expected sfixed32, got fixed32"),
        ("float a = 1;", "double a = 1;", "`a` (number 1): expected double, got float"),
        ("string a = 1;", "int32 a = 1;", "`a` (number 1): expected int32, got string"),
        ("repeated string a = 1;", "string a = 1;", "`a` (number 1): expected a single value, got a list"),
        ("string a = 1;", "repeated string a = 1;", "`a` (number 1): expected a list, got a single value"),
        ("message A { string key = 1; string value = 2; } repeated A a = 1;", "map<string, string> a = 1;",
         "`a` (number 1): expected a map, got a list"),
        ("map<string, int64> a = 1;", "map<string, int32> a = 1;",
         "`a.value` (number 2): expected int32, got int64"),
        ("string a = 1; string b = 2;", "string b = 1; string a = 2;", "`b`: expected number 1, got 2"),
        ("string a = 1;", "string a = 2;", "`a`: expected number 2, got 1"),
        ("enum E { Z = 0; X = 1; Y = 2; } E a = 1;", "enum E { Z = 0; Y = 1; X = 2; } E a = 1;",
         "`a`: expected Y to be 1, got 2"),
        ("message A { int64 x = 1; } A a = 1;", "message A { int32 x = 1; } A a = 1;",
         "`a.x` (number 1): expected int32, got int64"),
        ("string a = 1; string b = 2;", "oneof o { string a = 1; string b = 2; }",
         "`o`: expected a oneof, got fields that can all be set"),
        ("oneof p { string a = 1; } oneof q { string b = 2; }", "oneof o { string a = 1; string b = 2; }",
         "`o`: expected a oneof, got fields that can all be set"),
        ("optional string a = 1; optional string b = 2;", "oneof o { string a = 1; string b = 2; }",
         "`o`: expected a oneof, got fields that can all be set"),
    ],
)  # fmt: skip
def test_what_contradicts(writer: str, reader: str, said: str) -> None:
    assert said in found(f"message M {{ {writer} }}", f"message M {{ {reader} }}")


def test_messages_that_hold_themselves_end() -> None:
    recursive = "message M { M left = 1; repeated N n = 2; } message N { M m = 1; int64 x = 2; }"
    assert found(recursive, recursive) == []
    assert found(recursive, recursive.replace("int64", "int32")) == ["`n.x` (number 2): expected int32, got int64"]


@pytest.mark.parametrize(
    ("other", "equal"),
    [
        ("message M { string a = 1; enum E { Z = 0; } E e = 2; }", True),
        ("message M { enum E { Z = 0; } E e = 2; string a = 1; string more = 3; }", False),
        ("message M { string b = 1; enum E { Z = 0; } E e = 2; }", False),
        ("message M { bytes a = 1; enum E { Z = 0; } E e = 2; }", False),
        ("message M { repeated string a = 1; enum E { Z = 0; } E e = 2; }", False),
        ("message M { string a = 1; enum E { Z = 0; Y = 1; } E e = 2; }", False),
    ],
)
def test_the_same_message(other: str, equal: bool) -> None:
    one = message(HEAD + "message M { enum E { Z = 0; } E e = 2; string a = 1; }", "p.M").DESCRIPTOR
    assert same(one, message(HEAD + other, "p.M").DESCRIPTOR) is equal
