"""Two versions of one contract, compiled on the spot."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from protocontract.contract import Contract
from protocontract.loading import resolve

NAME = "shop.v1.Order"
PROTOS = Path(__file__).parent / "protos"
NOW, NEXT = PROTOS / "now", PROTOS / "next"


@cache
def now() -> Contract[Any]:
    """The contract that is in force."""
    return resolve(NAME, proto_path=NOW)


@cache
def candidate() -> Contract[Any]:
    """The one that may follow."""
    return resolve(NAME, proto_path=NEXT)


def order(**fields: Any) -> bytes:
    """An order with every field of the later version, good for both unless the fields say otherwise."""
    line = candidate().message_type.DESCRIPTOR.fields_by_name["lines"].message_type._concrete_class
    given = {"id": "o1", "lines": [{"label": "a", "count": 1}], **fields}
    given["lines"] = [line(**each) for each in given["lines"]]
    return bytes(candidate().message_type(**given).SerializeToString())
