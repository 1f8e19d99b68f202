"""A contract with a field of every kind, compiled on the spot, and messages of it."""

from __future__ import annotations

import random
import struct
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from protocontract.card import Card, CardBuilder
from protocontract.contract import Contract
from protocontract_compiler.dynamic import load_protos

PROTO = """
syntax = "proto3";
package cards.v1;
import "buf/validate/validate.proto";
import "google/protobuf/duration.proto";
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";
import "protocontract/v1/contract.proto";

message Sample {
  option (protocontract.v1.contract) = {version: "3.1.0"};
  string text = 1;
  string label = 2 [(buf.validate.field).string = {in: ["cat", "dog", "<fox>"]}];
  string secret = 3 [(protocontract.v1.field).sensitive = true, (buf.validate.field).string.max_len = 30];
  repeated string secrets = 4 [(protocontract.v1.field).sensitive = true];
  Person hidden = 5 [(protocontract.v1.field).sensitive = true];
  optional double score = 6;
  int64 size = 7;
  Colour colour = 8;
  google.protobuf.Timestamp at = 9;
  google.protobuf.Duration took = 10;
  google.protobuf.Int32Value votes = 11;
  string seen_at = 12 [(protocontract.v1.field).instant = {zone: "UTC"}];
  string price = 13 [(protocontract.v1.field).money = {allowed: ["EUR", "USD"] currency_field: "currency"}];
  string currency = 14;
  string weight = 15 [(protocontract.v1.field).scalar = {type: DOUBLE}];
  string kind = 16 [(protocontract.v1.field).label = {
    aliases: [{key: "pos" value: {alias: ["+"]}}, {key: "neg" value: {}}]
  }];
  repeated int64 tags = 17 [(protocontract.v1.field).label = {num_classes: 5 ignore_index: -100}];
  map<string, Person> people = 18;
  bytes blob = 19;
  bytes pixels = 20 [(protocontract.v1.field).tensor = {dtype: FLOAT32 dims: ["n", "2"]}];
  repeated float vector = 21 [(protocontract.v1.field).tensor = {dtype: FLOAT32 dims: ["3"]}];
  Tree tree = 22;
  bool flag = 23;
  bytes cut = 24 [(protocontract.v1.field) = {
    tensor: {dtype: INT16 dims: ["m"]} severities: [{key: "tensor.size" value: WARNING}]
  }];
}
message Person { string name = 1; int32 age = 2; }
message Tree { int32 value = 1; repeated Tree branches = 2; }
enum Colour { COLOUR_UNSPECIFIED = 0; RED = 1; BLUE = 2; }
"""


@lru_cache(maxsize=1)
def contract() -> Contract[Any]:
    """``cards.v1.Sample``."""
    with TemporaryDirectory() as folder:
        (Path(folder) / "cards.proto").write_text(PROTO)
        return load_protos([Path(folder) / "cards.proto"], Path(folder))["cards.v1.Sample"]


def message(**fields: Any) -> Any:
    """A sample that is valid where ``fields`` are."""
    given: dict[str, Any] = {"label": "cat", "kind": "pos", "vector": [0.0, 1.0, -2.5], **fields}
    given.setdefault("pixels", struct.pack("<4f", 0, 1, 2, 3))
    return contract().message_type(**given)


def messages(number: int, seed: int = 1) -> list[Any]:
    """Samples of all kinds of values, some of them broken."""
    chosen = random.Random(seed)
    found = []
    for place in range(number):
        made = message(
            text=chosen.choice(["", "abc", "Ünïcode", "日本語 text", "x" * chosen.randrange(3000)]),
            label=chosen.choice(["cat", "dog", "<fox>", "cow" if place % 10 == 0 else "dog"]),
            secret="s" * chosen.randrange(40),
            secrets=["a"] * chosen.randrange(3),
            size=chosen.getrandbits(40),
            colour=chosen.randrange(4),
            at={"seconds": 1_700_000_000 + chosen.randrange(10**8), "nanos": chosen.randrange(10**9)},
            took={"nanos": chosen.randrange(10**9)},
            seen_at=chosen.choice(["2026-01-02T03:04:05Z", "2026-03-04 05:06:07.25", "not a moment"]),
            price=chosen.choice(["EUR 12.50", "$7", "USD 1,000.00"]),
            weight=chosen.choice(["1.5", " 2 ", "-7"]),
            kind=chosen.choice(["+", "neg"]),
            tags=[chosen.randrange(5) if chosen.random() < 0.8 else -100 for _ in range(chosen.randrange(6))],
            people={f"p{chosen.randrange(9)}": {"name": "N", "age": chosen.randrange(90)} for _ in range(2)},
            blob=bytes(chosen.randrange(100)),
            pixels=struct.pack("<6f", *(chosen.gauss(0, 1) for _ in range(6))),
            vector=[chosen.gauss(0, 1) for _ in range(3)],
            tree={"value": 1, "branches": [{"value": 2}] * chosen.randrange(3)},
            flag=chosen.random() < 0.3,
        )
        if chosen.random() < 0.5:
            made.score = chosen.choice([0.0, -0.0, 1e300, float("nan"), float("-inf"), chosen.gauss(0, 1)])
        if chosen.random() < 0.5:
            made.votes.value = chosen.randrange(3)
        found.append(made)
    return found


def card_of(*samples: Any) -> Card:
    """The card of some messages, processed as records are."""
    builder: CardBuilder[Any] = CardBuilder(contract())
    for sample in samples:
        builder.add(contract().process(sample.SerializeToString()))
    return builder.card()


def field(card: Card, path: str) -> dict[str, Any]:
    """What a card says of a field."""
    found = [each for each in card.data["fields"] if each["path"] == path]
    assert len(found) == 1, [each["path"] for each in card.data["fields"]]
    return dict(found[0])
