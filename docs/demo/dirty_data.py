"""A stream of payments as branches really type them: seeded, so that every run sees the same dirt.

Nineteen of twenty records are good. A third of those are clean as they come; the others are once they are normalised:
amounts with grouping and symbols, local times, decomposed or padded memos. The rest are bad in eight ways.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

#: Share of records from tills that write what the contract wants to read.
CLEAN_SHARE: Final = 0.33
#: Share of bad records, and how they are spread over the eight kinds.
BAD_SHARE: Final = 0.05
BAD_KINDS: Final = {
    "an amount that reads two ways": 26,
    "a currency that is not allowed": 13,
    "a date that reads two ways": 18,
    "an account number cut short": 12,
    "an id that is no UUID": 7,
    "a refund of nothing": 10,
    "a memo that hides text": 6,
    "bytes cut off on the way": 8,
}

# The clock on a branch's wall: the contract says in which zone.
_START: Final = datetime(2026, 3, 9, 8, 0)  # noqa: DTZ001
_MEMOS: Final = (
    "invoice 2026-0311", "rent March", "  coffee beans, 2 kg ", "re\u0301sume\u0301 printing", "工资 三月",
    "Bu\u0308cher", "refund as agreed", "水电费\u0007", "café", "",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class DirtyRecord:
    """One record of the stream. ``kind`` is None where the record is good."""

    key: bytes
    value: bytes
    kind: str | None


def dirty_stream(message_type: type[Any], count: int, seed: int = 20260309) -> Iterator[DirtyRecord]:
    """``count`` records of the given Transaction class, over one day of business."""
    chance = random.Random(seed)
    kinds, weights = list(BAD_KINDS), list(BAD_KINDS.values())
    for number in range(count):
        moment = _START + timedelta(seconds=number * 57_600 / count)
        fields = _good(chance, moment)
        kind = chance.choices(kinds, weights)[0] if chance.random() < BAD_SHARE else None
        if kind in _SPOIL:
            _SPOIL[kind](fields, chance, moment)
        value = message_type(**fields).SerializeToString(deterministic=True)
        if kind == "bytes cut off on the way":
            value = value[: chance.randrange(4, 30)]  # inside of the id: what is left is no message
        yield DirtyRecord(str(fields["id"]).encode(), value, kind)


def _good(chance: random.Random, moment: datetime) -> dict[str, Any]:
    cents = round(chance.lognormvariate(8.5, 1.6)) + 100
    fields: dict[str, Any] = {
        "id": _uuid(chance),
        "amount": chance.choice(_AMOUNTS)(cents),
        "booked_at": chance.choice(_TIMES)(moment),
        "account": "".join(chance.choices("0123456789", k=19)),
        "kind": 1,
        "memo": chance.choice(_MEMOS),
    }
    if chance.random() < CLEAN_SHARE:
        utc = moment - timedelta(hours=8)
        fields |= {
            "amount": f"{cents / 100:.2f}",
            "currency": 1,
            "booked_at": utc.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "memo": "invoice 2026-0311",
        }
    if chance.random() < 0.08:
        fields["kind"] = 2
        fields["refund_of"] = _uuid(chance)
    return fields


def _uuid(chance: random.Random) -> str:
    return str(uuid.UUID(int=chance.getrandbits(128), version=4))


_FULL_WIDTH: Final = str.maketrans("0123456789.", "０１２３４５６７８９．")
_AMOUNTS: Final[tuple[Callable[[int], str], ...]] = (
    lambda cents: f"{cents / 100:.2f}",
    lambda cents: f"{cents / 100:,.2f}",
    lambda cents: f"¥{cents / 100:,.2f}",
    lambda cents: f"￥{cents // 100}",
    lambda cents: f"CNY {cents / 100:.2f}",
    lambda cents: f"{cents / 100:,.2f} RMB",
    lambda cents: f"US${cents / 100:,.2f}",
    lambda cents: f"{cents / 100:.2f} USD",
    lambda cents: f"{cents // 100}.{cents % 100:02d}".translate(_FULL_WIDTH),
    lambda cents: f" {cents / 100:.2f}\u00a0",
)
_TIMES: Final[tuple[Callable[[datetime], str], ...]] = (
    lambda moment: moment.strftime("%Y-%m-%d %H:%M:%S"),
    lambda moment: moment.strftime("%Y-%m-%dT%H:%M:%S+08:00"),
    lambda moment: (moment - timedelta(hours=8)).strftime("%Y-%m-%dT%H:%M:%SZ"),
    lambda moment: moment.strftime("%Y/%m/%d %H:%M"),
)


def _ambiguous_amount(fields: dict[str, Any], chance: random.Random, moment: datetime) -> None:
    fields.pop("currency", None)
    fields["amount"] = f"{chance.randrange(1, 1000)}{chance.choice('.,')}{chance.randrange(1000):03d}"


def _foreign_currency(fields: dict[str, Any], chance: random.Random, moment: datetime) -> None:
    fields.pop("currency", None)
    fields["amount"] = chance.choice(("€{},00", "EUR {}.00", "£{}.50", "{} INR")).format(chance.randrange(1, 900))


def _ambiguous_date(fields: dict[str, Any], chance: random.Random, moment: datetime) -> None:
    fields["booked_at"] = moment.strftime("%d/%m/%Y %H:%M")


def _short_account(fields: dict[str, Any], chance: random.Random, moment: datetime) -> None:
    fields["account"] = fields["account"][: chance.randrange(4, 18)]


def _no_uuid(fields: dict[str, Any], chance: random.Random, moment: datetime) -> None:
    fields["id"] = chance.choice(
        (fields["id"][:-1], f"TX-{chance.randrange(10**6):06d}", fields["id"].replace("-", "_"))
    )


def _refund_of_nothing(fields: dict[str, Any], chance: random.Random, moment: datetime) -> None:
    fields["kind"] = 2
    fields.pop("refund_of", None)


def _hidden_text(fields: dict[str, Any], chance: random.Random, moment: datetime) -> None:
    fields["memo"] = chance.choice(("invoice \u202e0001\u202c", "payment to \u2066bob\u2069", "caf\ufffd"))


_SPOIL: Final[dict[str, Callable[[dict[str, Any], random.Random, datetime], None]]] = {
    "an amount that reads two ways": _ambiguous_amount,
    "a currency that is not allowed": _foreign_currency,
    "a date that reads two ways": _ambiguous_date,
    "an account number cut short": _short_account,
    "an id that is no UUID": _no_uuid,
    "a refund of nothing": _refund_of_nothing,
    "a memo that hides text": _hidden_text,
}
