"""Two ways to emit a validator, measured: one pass that collects, against a verdict first and a collector on failure.

The compiler emits the first. The verdicts here are what an emitter of the second would write, by hand.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from types import ModuleType
from typing import Any

from protocontract import _codegen_v1 as rt
from tests.bench.measure import Entry, paired
from tests.bench.shapes import Data

_TURN = 0.003
_COUNTRY = re.compile("[A-Z]{2}").fullmatch
_UUID = re.compile("[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}").fullmatch
_LABELS = ("PERSON", "LOCATION", "ORGANIZATION")
_AFTER_NS = 1577836800000000000

Verdict = Callable[[Any], bool]
Validator = Callable[[Any], object]


def _small(m: Any) -> bool:
    return (
        1 <= len(m.id) <= 64
        and _COUNTRY(m.country) is not None
        and 1 <= m.quantity <= 1000
        and 0.0 <= m.price < 1000000.0
        and m.status in ("NEW", "PAID", "SENT")
    )


def _entities(entities: list[Any]) -> bool:
    for entity in entities:
        start, end = entity.start_offset, entity.end_offset
        if end > start and len(entity.text) >= 2 and entity.label in _LABELS and start >= 0 and end > 0:
            continue
        return False
    return True


def _medium(m: Any) -> bool:
    if not (1 <= len(m.id) <= 64 and 1 <= len(m.raw_text) <= 512):
        return False
    entities = m.entities[:]
    return len(entities) <= 256 and _entities(entities)


def _large(m: Any) -> bool:
    if not (
        _UUID(m.id) is not None
        and rt.cel_is_email(m.email)
        and rt.cel_is_hostname(m.host)
        and rt.cel_is_ip(m.address, 4)
        and 1 <= len(m.text) <= 4096
    ):
        return False
    entities = m.entities[:]
    if not (1 <= len(entities) <= 256 and _entities(entities)):
        return False
    labels = m.labels
    if len(labels) > 64:
        return False
    for key in labels:
        if 1 <= len(key) <= 32 and len(labels[key]) <= 128:
            continue
        return False
    counters = m.counters
    for key in counters:
        if counters[key] >= 0:
            continue
        return False
    token_ids = m.token_ids[:]
    if len(token_ids) > 512:
        return False
    for token_id in token_ids:
        if 0 <= token_id < 250000:
            continue
        return False
    return _moment(m, "created_at") and _moment(m, "updated_at")


def _moment(m: Any, name: str) -> bool:
    if not m.HasField(name):
        return False
    moment = getattr(m, name)
    after: bool = moment.seconds * 1000000000 + moment.nanos > _AFTER_NS
    return after


def _one(m: Any) -> bool:
    return 1 <= len(m.id) <= 64


def _listing(m: Any) -> bool:
    for item in m.items[:]:
        if item.sku:
            continue
        return False
    return True


def _eleven(_m: Any) -> bool:
    # The least that a verdict on a broken record can cost: the first rule fails.
    return False


_VERDICTS: dict[str, Verdict] = {
    "Small": _small, "Medium": _medium, "Large": _large, "One": _one, "Listing": _listing, "Eleven": _eleven,
}  # fmt: skip


def report(all_data: list[Data], contracts: ModuleType, rounds: int) -> None:
    """Prints both ways for each shape, on messages that are parsed already."""
    print("emitted style: validating a parsed message, microseconds; ratio of a verdict first to one pass")
    for data in all_data:
        collect: Validator = getattr(contracts, f"_validate_{data.shape.message.lower()}")
        verdict = _VERDICTS[data.shape.message]

        def verdict_first(message: Any, verdict: Verdict = verdict, collect: Validator = collect) -> object:
            return None if verdict(message) else collect(message)

        messages = [data.message_type.FromString(raw) for raw in data.protobuf]
        assert all(verdict(message) is data.shape.valid for message in messages)
        timings = paired(
            [Entry("one pass", collect, messages), Entry("verdict first", verdict_first, messages)],
            "one pass", rounds=rounds, turn=_TURN,
        )  # fmt: skip
        one, two = timings["one pass"], timings["verdict first"]
        print(
            f"  {data.shape.name:<14}one pass {one.microseconds:>7.2f}   verdict first {two.microseconds:>7.2f}", end=""
        )
        print(f"{two.ratio:>9.2f}x")
    print()
