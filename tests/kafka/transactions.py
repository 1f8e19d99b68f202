"""A dirty stream of acme.finance.v1.Transaction: 5 % bad, of eight kinds."""

from __future__ import annotations

import random
import uuid
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from protocontract.contract import Contract
from protocontract.loading import resolve

NAME = "acme.finance.v1.Transaction"
PROTOS = Path(__file__).parents[2] / "contracts"


@cache
def transaction() -> Contract[Any]:
    """The contract, compiled from the repository's own .proto files."""
    return resolve(NAME, proto_path=PROTOS)


class Made(NamedTuple):
    """A record to be written, and the rule that it breaks (None: none)."""

    key: bytes
    value: bytes
    rule: str | None


#: kind -> the rule that the record breaks first
KINDS = {
    "truncated": "wire.malformed",
    "garbage": "wire.malformed",
    "id": "string.uuid",
    "ambiguous": "money.ambiguous",
    "currency": "money.currency",
    "moment": "instant.syntax",
    "account": "string.len",
    "refund": "transaction.refund_of",
    "key": "key.mismatch",
}
EIGHT = ("truncated", "id", "ambiguous", "currency", "moment", "account", "refund", "key")


def make(random: random.Random, kind: str | None) -> Made:
    """A record: good (with kind None), or bad in one way."""
    identity = str(uuid.UUID(int=random.getrandbits(128), version=4))
    cents = random.randrange(1, 10_000_000)
    amount = f"{cents / 100:.2f}"
    fields = {
        "id": identity,
        "amount": random.choice((amount, f"¥{cents / 100:,.2f}", f"CNY {amount}")),
        "booked_at": f"2026-0{random.randrange(1, 10)}-1{random.randrange(10)} 08:30:0{random.randrange(10)}",
        "account": "".join(random.choices("0123456789", k=19)),
        "kind": 1,
    }
    key = identity
    match kind:
        case "id":
            key = fields["id"] = "not-a-uuid"
        case "ambiguous":
            fields["amount"] = "1.234"
        case "currency":
            fields["amount"] = "€12.00"
        case "moment":
            fields["booked_at"] = "soon"
        case "account":
            fields["account"] = "123"
        case "refund":
            fields["kind"] = 2
        case "key":
            key = "another"
    value = transaction().message_type(**fields).SerializeToString()
    if kind == "truncated":
        value = value[:-1]
    elif kind == "garbage":
        value = b"\x00\xff\xfe" + value
    return Made(key.encode(), value, KINDS[kind] if kind else None)


def stream(count: int, seed: int = 7, share: float = 0.05) -> list[Made]:
    """``count`` records, every 1/share-th of them bad, the kinds in turn."""
    source = random.Random(seed)
    every = round(1 / share)
    return [
        make(source, EIGHT[(number // every) % len(EIGHT)] if number % every == every // 2 else None)
        for number in range(count)
    ]
