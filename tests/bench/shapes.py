"""The records of the benchmark: one maker a shape, each giving the same data as a message and as JSON.

Compiles ``protos/`` into a folder of its own, so that what is measured is what the compiler of this tree emits.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import random
import sys
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from google.protobuf import json_format
from google.protobuf.message import Message

from protocontract import Contract
from protocontract_compiler.commands import compile_command

Record = dict[str, Any]

_SEED = 20260101
_PROTOS = Path(__file__).with_name("protos")
_SENTENCE = "the model read seven labelled samples from Zürich and 上海 before noon while nobody looked"
_WORDS = _SENTENCE.split(" ")
_LABELS = ("PERSON", "LOCATION", "ORGANIZATION")


@dataclass(frozen=True, slots=True)
class Shape:
    """One kind of record."""

    name: str
    #: The message's name in shapes.proto.
    message: str
    make: Callable[[random.Random], Record]
    #: How many distinct records a round goes through.
    distinct: int
    #: Whether the records keep the contract.
    valid: bool = True
    #: Changes that break one rule each: every contestant must refuse each of them before anything is measured.
    broken: tuple[Record, ...] = ()
    #: The same for rules that JSON Schema cannot say; there the pydantic model of the pipeline refuses.
    broken_across: tuple[Record, ...] = ()


@dataclass(frozen=True, slots=True)
class Data:
    """A shape's records, serialised."""

    shape: Shape
    message_type: type[Message]
    contract: Contract[Any]
    protobuf: list[bytes]
    json: list[bytes]


def compile_protos(folder: Path) -> tuple[ModuleType, ModuleType]:
    """Compiles the shapes into ``folder`` and imports them: the messages' module and the contracts'."""
    with contextlib.redirect_stdout(io.StringIO()):
        code = compile_command([str(_PROTOS), "--out", str(folder)])
    if code != 0:
        raise SystemExit("the benchmark's contracts do not compile")
    sys.path.insert(0, str(folder))
    return importlib.import_module("speed.v1.shapes_pb2"), importlib.import_module("speed.v1.shapes_contract")


def serialise(shape: Shape, messages: ModuleType, contracts: ModuleType, count: int | None = None) -> Data:
    """Distinct records of a shape, always the same ones."""
    randomness = random.Random(_SEED)
    message_type: type[Message] = getattr(messages, shape.message)
    records = [shape.make(randomness) for _ in range(count or shape.distinct)]
    return Data(
        shape,
        message_type,
        getattr(contracts, shape.message.upper()),
        [to_message(message_type, record).SerializeToString() for record in records],
        [to_json(record) for record in records],
    )


def to_message(message_type: type[Message], record: Record) -> Message:
    """The record as a message."""
    return json_format.ParseDict(record, message_type())


def to_json(record: Record) -> bytes:
    """The record as compact JSON with the fields' own names, numbers as numbers."""
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode()


def _text(randomness: random.Random, words: int) -> str:
    return " ".join(randomness.choices(_WORDS, k=words))


def _id(randomness: random.Random) -> str:
    return f"r-{randomness.randrange(10**9):09d}"


def _entity(randomness: random.Random) -> Record:
    start = randomness.randrange(0, 150)
    return {
        "text": randomness.choice(_WORDS[2:]),
        "label": randomness.choice(_LABELS),
        "start_offset": start,
        "end_offset": start + randomness.randrange(2, 12),
    }


def _small(randomness: random.Random) -> Record:
    return {
        "id": _id(randomness),
        "country": randomness.choice(("DE", "CN", "US", "BR")),
        "quantity": randomness.randrange(1, 1001),
        "price": randomness.randrange(1, 10**6) / 16,
        "status": randomness.choice(("NEW", "PAID", "SENT")),
    }


def _medium(randomness: random.Random) -> Record:
    return {
        "id": _id(randomness),
        "raw_text": _text(randomness, 30),
        "entities": [_entity(randomness) for _ in range(2)],
    }


def _large(randomness: random.Random) -> Record:
    number = randomness.randrange(10**6)
    return {
        "id": str(uuid.UUID(int=randomness.getrandbits(128), version=4)),
        "email": f"user.{number}@mail.acme.example",
        "host": f"node-{number}.eu.acme.example",
        "address": f"10.{number % 256}.{number % 199}.{number % 97}",
        "text": _text(randomness, 200),
        "entities": [_entity(randomness) for _ in range(50)],
        "labels": {f"key_{i}": _text(randomness, 3) for i in range(20)},
        "counters": {f"counter_{i}": randomness.randrange(10**6) for i in range(20)},
        "token_ids": [randomness.randrange(250000) for _ in range(128)],
        "created_at": f"2025-03-{number % 28 + 1:02d}T10:00:00.{number:06d}Z",
        "updated_at": f"2025-04-{number % 28 + 1:02d}T10:00:00Z",
    }


def _one(randomness: random.Random) -> Record:
    return {"id": _id(randomness)}


def _listing(randomness: random.Random) -> Record:
    return {
        "items": [
            {"sku": _id(randomness), "count": randomness.randrange(1, 100), "price": randomness.randrange(1, 9999) / 4}
            for _ in range(100)
        ]
    }


def _eleven(randomness: random.Random) -> Record:
    number = randomness.randrange(1, 10**6)
    return {
        "a": "xy"[: number % 2 + 1],
        "b": f"long-{number}",
        "c": f"NOT{number}",
        "d": f"z{number}",
        "e": f"no-{number}",
        "f": -number,
        "g": 10 + number,
        "h": 5 + number,
        "i": -number / 4,
        "j": [],
        "k": False,
    }


def _first_entity(**changes: Any) -> Record:
    entity = {"text": "noon", "label": "PERSON", "start_offset": 3, "end_offset": 7, **changes}
    return {"entities": [entity]}


_ENTITY_BROKEN = (
    _first_entity(text="n"),
    _first_entity(label="ANIMAL"),
    _first_entity(start_offset=-1),
    _first_entity(start_offset=-9, end_offset=-3),
)

SHAPES = (
    Shape(
        "small", "Small", _small, 1000,
        broken=(
            {"id": ""}, {"id": "x" * 65}, {"country": "de"}, {"country": "DEU"}, {"quantity": 0}, {"quantity": 1001},
            {"price": -0.5}, {"price": 1000000.0}, {"status": "LOST"},
        ),
    ),
    Shape(
        "medium", "Medium", _medium, 1000,
        broken=({"id": ""}, {"raw_text": ""}, {"raw_text": "x" * 513}, *_ENTITY_BROKEN),
        broken_across=(_first_entity(start_offset=7, end_offset=7),),
    ),
    Shape(
        "large", "Large", _large, 60,
        broken=(
            {"id": "1234"}, {"email": "nobody"}, {"host": "-.example"}, {"address": "10.0.0.256"}, {"text": ""},
            {"entities": []}, {"labels": {"": "x"}}, {"labels": {"a": "x" * 129}}, {"counters": {"a": -1}},
            {"token_ids": [1, 250000]}, {"created_at": "2019-12-31T00:00:00Z"}, *_ENTITY_BROKEN,
        ),
        broken_across=(_first_entity(start_offset=7, end_offset=7),),
    ),
    Shape("one field", "One", _one, 2000, broken=({"id": ""}, {"id": "x" * 65})),
    Shape(
        "list of 100", "Listing", _listing, 60,
        broken=({"items": [{"sku": "a", "count": 1, "price": 2.5}, {"sku": "", "count": 1, "price": 2.5}]},),
    ),
    Shape("11 broken", "Eleven", _eleven, 500, valid=False),
)  # fmt: skip
