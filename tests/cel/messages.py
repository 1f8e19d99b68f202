"""A message with every kind of field, and random instances of it with the values where things go wrong."""

from __future__ import annotations

import random
from typing import Any

from tests.cel.support import Field

FIELDS = [
    Field("i", "int32"), Field("l", "int64"), Field("u", "uint64"), Field("d", "double"), Field("fl", "float"),
    Field("s", "string"), Field("s2", "string"), Field("y", "bytes"), Field("b", "bool"), Field("e", "E"),
    Field("t", "google.protobuf.Timestamp"), Field("t2", "google.protobuf.Timestamp"),
    Field("du", "google.protobuf.Duration"), Field("sub", "Sub"), Field("w", "google.protobuf.Int64Value"),
    Field("ws", "google.protobuf.StringValue"), Field("o", "int64", optional=True), Field("os",
    "string", optional=True),
    Field("rs", "string", repeated=True), Field("ri", "int64", repeated=True), Field("ru", "uint64", repeated=True),
    Field("rd", "double", repeated=True), Field("rb", "bool", repeated=True), Field("ry", "bytes", repeated=True),
    Field("rm", "Sub", repeated=True), Field("rt", "google.protobuf.Timestamp", repeated=True),
    Field("rw", "google.protobuf.Int64Value", repeated=True), Field("rdu", "google.protobuf.Duration", repeated=True),
    Field("re", "E", repeated=True),
    Field("ms", "map:string:int64"), Field("mi", "map:int64:string"), Field("mu", "map:uint32:string"),
    Field("mb", "map:bool:string"), Field("mm", "map:string:Sub"), Field("mt", "map:string:google.protobuf.Timestamp"),
    Field("md", "map:string:google.protobuf.Duration"),
]  # fmt: skip

INTS = [0, 1, -1, 2, 5, 7, 10, 2**63 - 1, -(2**63), 2**53 + 1, 253402300799, 100]
UINTS = [0, 1, 2, 5, 7, 10, 2**64 - 1, 2**63, 2**53 + 1]
DOUBLES = [0.0, -0.0, 1.0, 1.5, -2.5, 1e300, float("inf"), float("-inf"), float("nan"), 9007199254740992.0,
           0.1, 2.0**63]  # fmt: skip
TEXTS = ["", "a", "b", "abc", "ABC", "a,b,c", "é", "日本", " a ", "10", "-5", "1.5", "true", "a@b.c", "1.2.3.4",
         "x" * 30, "a\n", "\u212a", "😀", "0x10", "nan", "aXbXa", "ß"]  # fmt: skip
BYTES = [b"", b"a", b"abc", b"\xff", "é".encode(), b"10"]


def _sub(message: Any, rng: random.Random) -> None:
    message.a = rng.choice([0, 1, 5, -1])
    message.s = rng.choice(TEXTS)
    message.l.extend(rng.choices(TEXTS[:5], k=rng.randrange(3)))
    message.d = rng.choice(DOUBLES)
    if rng.random() < 0.5:
        message.o = rng.choice([0, 3])
    if rng.random() < 0.5:
        message.t.seconds = rng.choice([0, 5, -7])


def _timestamp(message: Any, rng: random.Random) -> None:
    message.seconds = rng.choice(
        [0, 1, -1, 1577836800, 253402300799, -62135596800, 951782400, 1603587600, 1603591200, 10**12, -(10**12)]
    )
    message.nanos = rng.choice([0, 0, 1, 500_000_000, 999_999_999, 123_000])


def _duration(message: Any, rng: random.Random) -> None:
    sign = rng.choice([1, -1])
    message.seconds = sign * rng.choice([0, 1, 59, 3600, 90061, 315576000000, 9223372036, 9223372037, 315576000001])
    message.nanos = sign * rng.choice([0, 0, 1, 500_000_000, 999_999_999, 854775807])


def fill(message: Any, rng: random.Random) -> None:
    """Sets each field with probability three quarters."""
    pools: dict[str, list[Any]] = {
        "i": [0, 1, -1, 5, 2**31 - 1, -(2**31)], "l": INTS, "u": UINTS, "d": DOUBLES, "fl": [0.0, -0.0, 0.1, 1.5],
        "s": TEXTS, "s2": TEXTS, "y": BYTES, "b": [True, False], "e": [0, 1, -1, 9], "o": INTS, "os": TEXTS,
    }  # fmt: skip
    repeated: dict[str, list[Any]] = {
        "rs": TEXTS, "ri": INTS, "ru": UINTS, "rd": DOUBLES, "rb": [True, False], "ry": BYTES, "re": [0, 1, -1, 9],
    }  # fmt: skip
    for name, values in pools.items():
        if rng.random() < 0.75:
            setattr(message, name, rng.choice(values))
    for name, values in repeated.items():
        if rng.random() < 0.75:
            getattr(message, name).extend(rng.choices(values, k=rng.randrange(5)))
    for name in ("t", "t2"):
        if rng.random() < 0.75:
            _timestamp(getattr(message, name), rng)
    if rng.random() < 0.75:
        _duration(message.du, rng)
    if rng.random() < 0.75:
        _sub(message.sub, rng)
    if rng.random() < 0.6:
        message.w.value = rng.choice(INTS)
    if rng.random() < 0.6:
        message.ws.value = rng.choice(TEXTS)
    for _ in range(rng.randrange(4)):
        _sub(message.rm.add(), rng)
        _timestamp(message.rt.add(), rng)
        _duration(message.rdu.add(), rng)
        _duration(message.md[rng.choice(TEXTS)], rng)
        message.rw.add(value=rng.choice(INTS))
        message.ms[rng.choice(TEXTS)] = rng.choice(INTS)
        message.mi[rng.choice(INTS)] = rng.choice(TEXTS)
        message.mu[rng.choice([0, 1, 7])] = rng.choice(TEXTS)
        message.mb[rng.random() < 0.5] = rng.choice(TEXTS)
        _sub(message.mm[rng.choice(TEXTS)], rng)
        _timestamp(message.mt[rng.choice(TEXTS)], rng)
