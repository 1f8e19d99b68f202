"""100,000 records, one in twenty bad in one of several ways, and what one process makes of them without Arrow."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path
from typing import Any
from uuid import UUID

import pyarrow as pa

from acme.finance.v1.transaction_contract import TRANSACTION
from protocontract.arrow import VERDICTS
from tests.arrow.support import payment, verdict

RECORDS = 100_000
BAD = RECORDS // 20

CONTRACT = """
syntax = "proto3";
package PACKAGE.v1;
import "buf/validate/validate.proto";
import "protocontract/v1/contract.proto";
message Reading {
  option (protocontract.v1.contract) = {version: "1.0.0"};
  int64 value = 1 [(buf.validate.field).int64.lt = LIMIT];
}
"""


@cache
def table() -> pa.Table:
    """Columns ``place``, ``value`` and ``note``; the bad ones stand anywhere."""
    order = random.Random(20)
    bad = set(order.sample(range(RECORDS), BAD))
    values: list[bytes | None] = []
    for place in range(RECORDS):
        fields: dict[str, Any] = {"id": str(UUID(int=place)), "memo": f"  invoice {place} "}
        if place not in bad:
            values.append(payment(**fields).SerializeToString())
            continue
        kind = order.randrange(4)
        if kind == 0:
            values.append(None)
        elif kind == 1:
            values.append(b"\xff" * (place % 7 + 1))
        elif kind == 2:
            values.append(payment(**fields, amount="1.234").SerializeToString())
        else:
            values.append(payment(**fields, account="1", kind=2).SerializeToString())
    return pa.table(
        {
            "place": pa.array(range(RECORDS), pa.int64()),
            "value": pa.array(values, pa.binary()),
            "note": [f"row {place}" for place in range(RECORDS)],
        }
    )


@cache
def expected() -> dict[str, list[Any]]:
    """The verdict columns by ``Contract.process`` alone, in the order of ``place``."""
    rows = [verdict(TRANSACTION, raw) for raw in table()["value"].to_pylist()]
    assert sum(not row["ok"] for row in rows) == BAD
    return {name: [row[name] for row in rows] for name in VERDICTS.names}


def check(result: pa.Table) -> None:
    """That an engine's result has every row, its columns as they were, and the verdicts of one process."""
    assert result.num_rows == RECORDS
    assert result.schema.names == [*table().schema.names, *VERDICTS.names]
    ordered = result.sort_by("place")
    for name in table().schema.names:
        assert ordered[name].to_pylist() == table()[name].to_pylist()
    for name, values in expected().items():
        assert ordered[name].to_pylist() == values


def compiled(folder: Path, limit: int, package: str = "engines") -> Path:
    """The generated code of ``<package>.v1.Reading`` with a limit of its own, in a folder for PYTHONPATH."""
    from protocontract.cli import main

    source, out = folder / f"protos-{limit}", folder / f"generated-{limit}"
    (source / package / "v1").mkdir(parents=True)
    text = CONTRACT.replace("LIMIT", str(limit)).replace("PACKAGE", package)
    (source / package / "v1" / "reading.proto").write_text(text)
    assert main(["compile", str(source), "--out", str(out)]) == 0
    return out
