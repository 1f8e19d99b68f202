"""The verdict columns as Spark declares them; imported only where somebody asks for them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from pyspark.sql import types  # pyright: ignore[reportMissingImports]  # the user's own

from protocontract.arrow.schema import VERDICTS
from protocontract.violations import ContractError


def with_verdicts(schema: Any, prefix: str) -> Any:
    """A StructType with the fields of ``schema`` and the verdict columns behind them.

    Raises ContractError where a field has the name of a verdict column; Spark compares names without their case.
    """
    taken = {name.lower() for name in schema.names}
    fields = [types.StructField(prefix + field.name, _TYPES[field.type], field.nullable) for field in VERDICTS]
    clashing = [field.name for field in fields if field.name.lower() in taken]
    if clashing:
        raise ContractError(
            f"the input has columns with the names of verdict columns: {', '.join(clashing)}; "
            "choose a prefix for the verdict columns"
        )
    return types.StructType([*schema.fields, *fields])


_TYPES = {
    pa.bool_(): types.BooleanType(),
    pa.binary(): types.BinaryType(),
    pa.list_(pa.string()): types.ArrayType(types.StringType()),
    pa.list_(pa.int64()): types.ArrayType(types.LongType()),
}
