"""The verdict columns, declared once: their names, their types, and what the schema's metadata says of the contract."""

from __future__ import annotations

from typing import Any, Final

import pyarrow as pa

from protocontract.contract import Contract
from protocontract.violations import ContractError

VERDICTS: Final = pa.schema(
    [
        pa.field("ok", pa.bool_(), nullable=False),
        pa.field("rule_ids", pa.list_(pa.string()), nullable=False),
        pa.field("error_codes", pa.list_(pa.int64()), nullable=False),
        pa.field("field_paths", pa.list_(pa.string()), nullable=False),
        pa.field("severities", pa.list_(pa.string()), nullable=False),
        pa.field("changed_paths", pa.list_(pa.string()), nullable=False),
        pa.field("normalized", pa.binary()),
    ]
)
"""The columns that ``ArrowValidator`` adds, in this order.

``ok``: the row's record keeps the contract; warnings do not break it. ``rule_ids``, ``error_codes``, ``field_paths``
and ``severities`` have one entry a violation, in the order of ``Outcome.violations``; a null row has the violation
``wire.null``. Ids are those of dead letters (``cel:<code>`` for a rule without a short id), codes the 32-bit error
codes as numbers, paths without the keys of maps, which are data. ``changed_paths``: the fields in which normalizers
replaced a value, each once, without positions. ``normalized``: the normalised message, serialised deterministically as
protobuf whatever the input's encoding; null unless ``ok``.
"""

_PREFIX: Final = "protocontract."

METADATA: Final = (
    f"{_PREFIX}contract",
    f"{_PREFIX}version",
    f"{_PREFIX}fingerprint",
    f"{_PREFIX}column",
    f"{_PREFIX}encoding",
)
"""Keys of the schema metadata that says whose verdicts a table holds. Values are UTF-8 texts."""


def verdict_schema(
    contract: Contract[Any], schema: pa.Schema | None = None, *, column: str = "", encoding: str = "", prefix: str = ""
) -> pa.Schema:
    """The schema of a table with verdicts: the columns of ``schema`` as they are, then ``VERDICTS``.

    ``prefix`` goes before the name of each verdict column. Metadata of ``schema`` is kept and ``METADATA`` added to it
    (``column`` and ``encoding`` say which column was read, and how). Raises ContractError where a column of the input
    has the name of a verdict column.
    """
    given = pa.schema([]) if schema is None else schema
    added = [pa.field(prefix + field.name, field.type, nullable=field.nullable) for field in VERDICTS]
    clashing = [field.name for field in added if field.name in given.names]
    if clashing:
        raise ContractError(
            f"the input has columns with the names of verdict columns: {', '.join(clashing)}; "
            "choose a prefix for the verdict columns"
        )
    values = (contract.full_name, contract.version, contract.fingerprint, column, encoding)
    said = {key.encode(): value.encode() for key, value in zip(METADATA, values, strict=True)}
    return pa.schema([*given, *added], metadata={**(given.metadata or {}), **said})
