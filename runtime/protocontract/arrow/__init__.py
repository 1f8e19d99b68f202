"""Contracts over columns of Arrow: the form in which pandas, Parquet, Ray Data and Spark pass records around.

``ArrowValidator`` takes tables or batches and gives them back with verdict columns: no row is lost, no column is
changed. ``VERDICTS`` and ``verdict_schema`` declare these columns. Needs pyarrow (extra ``arrow``). docs/arrow.md.
"""

from __future__ import annotations

from protocontract.extras import missing_extra

try:
    from protocontract.arrow.schema import METADATA, VERDICTS, verdict_schema
    from protocontract.arrow.validator import ArrowValidator
except ImportError as error:
    missing = missing_extra("protocontract.arrow", error)
    if missing is None:
        raise
    raise missing from error

__all__ = ["METADATA", "VERDICTS", "ArrowValidator", "verdict_schema"]
