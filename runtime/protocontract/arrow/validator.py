"""``ArrowValidator``: rows of serialised records in, the same rows with their verdicts out.

It is a value: a contract, a column, an encoding. It pickles by these alone, so that an engine's workers build the same
one; the contract itself refuses to be another there (``Contract.__reduce__``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import pyarrow as pa

from protocontract.arrow.kinds import is_binary, is_text, stored_type, stored_values
from protocontract.arrow.schema import VERDICTS, verdict_schema
from protocontract.violations import ContractError, rule_label

if TYPE_CHECKING:
    from datetime import datetime

    from protocontract.contract import Contract, Encoding, Outcome

    Tabular = TypeVar("Tabular", bound=pa.Table | pa.RecordBatch)

_ENCODINGS: Final = ("protobuf", "confluent", "json")

# What is made of a part of a column at once: bounded by rows, and by bytes for records that are large.
_PART_ROWS: Final = 4096
_PART_BYTES: Final = 64 << 20


class ArrowValidator:
    """Validates and normalises a column of serialised records.

    Called with a Table or RecordBatch, it gives one back with the same rows and columns and the verdict columns behind
    them (``VERDICTS``). Hand it to ``ray.data.Dataset.map_batches(validator, batch_format="pyarrow")``, its
    ``map_in_arrow`` to ``DataFrame.mapInArrow``, or call it in a job of your own. It pickles, and is thread safe.
    """

    def __init__(
        self,
        contract: Contract[Any],
        column: str = "value",
        *,
        encoding: Encoding = "protobuf",
        prefix: str = "",
        context: str | None = None,
        now: datetime | int | None = None,
    ) -> None:
        """``column`` holds the records: binary columns of any kind, or text columns for ``encoding="json"``.

        ``prefix`` goes before the names of the verdict columns. ``context`` and ``now`` are those of
        ``Contract.validate``. Raises ValueError for an unknown encoding or context, or a ``now`` without a zone.
        """
        if encoding not in _ENCODINGS:
            raise ValueError(f"unknown encoding {encoding!r}; expected protobuf, confluent or json")
        if context is not None or now is not None:
            contract.process(b"", context=context, now=now)  # refuses here what it would refuse for every row
        self.contract: Final = contract
        self.column: Final = column
        self.encoding: Final[Encoding] = encoding
        self.prefix: Final = prefix
        self.context: Final = context
        self.now: Final = now
        self._process: Callable[[bytes | None], Outcome[Any]] = contract.process
        if encoding != "protobuf" or context is not None or now is not None:
            self._process = partial(contract.process, encoding=encoding, context=context, now=now)

    def __call__(self, rows: Tabular) -> Tabular:
        """The same rows with verdict columns. A Table comes back in chunks of its own, a RecordBatch as one.

        Raises ContractError where the column is missing or holds no records, or a name is taken; ValueError where the
        normalised records of one RecordBatch have more than 2 GiB (give a Table instead).
        """
        schema = self.schema(rows.schema)
        verdicts = pa.Table.from_batches(list(self._parts(rows.column(self.column))), schema=VERDICTS)
        if isinstance(rows, pa.Table):
            return cast("Tabular", pa.Table.from_arrays([*rows.columns, *verdicts.columns], schema=schema))
        try:
            # One array a column, which concatenating gives: a batch has no chunks.
            arrays = [_only_chunk(column) for column in verdicts.combine_chunks().columns]
        except (pa.ArrowInvalid, pa.ArrowCapacityError) as error:
            raise ValueError("the normalised records of a batch have more than 2 GiB; give a Table instead") from error
        return cast("Tabular", pa.RecordBatch.from_arrays([*rows.columns, *arrays], schema=schema))

    def map_in_arrow(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """For ``DataFrame.mapInArrow(validator.map_in_arrow, validator.spark_schema(df.schema))``.

        Lazy, batch by batch; a batch of many bytes comes back as several. Raises as ``__call__`` does.
        """
        for batch in batches:
            schema = self.schema(batch.schema)
            at = 0
            for part in self._parts(batch.column(self.column)):
                rows = batch.slice(at, part.num_rows)
                yield pa.RecordBatch.from_arrays([*rows.columns, *part.columns], schema=schema)
                at += part.num_rows

    def verdicts(self, column: pa.Array | pa.ChunkedArray) -> pa.Table:
        """The verdict columns alone, one row for each of the column's. Raises ContractError as ``__call__`` does."""
        self._check("column", column.type)
        schema = verdict_schema(self.contract, column=self.column, encoding=self.encoding, prefix=self.prefix)
        verdicts = pa.Table.from_batches(list(self._parts(column)), schema=VERDICTS)
        return pa.Table.from_arrays(verdicts.columns, schema=schema)

    def schema(self, schema: pa.Schema) -> pa.Schema:
        """What comes out where ``schema`` goes in. Raises ContractError as ``__call__`` does."""
        places = schema.get_all_field_indices(self.column)
        if len(places) != 1:
            what = "no column" if not places else f"{len(places)} columns"
            raise ContractError(f"{what} named {self.column!r}; the input has {', '.join(schema.names) or 'none'}")
        self._check(self.column, schema.field(places[0]).type)
        return verdict_schema(self.contract, schema, column=self.column, encoding=self.encoding, prefix=self.prefix)

    def spark_schema(self, schema: Any) -> Any:
        """What comes out where a Spark DataFrame of ``schema`` goes in, as a StructType for ``mapInArrow``.

        Needs pyspark. Raises ContractError where the column is missing or a name is taken.
        """
        from protocontract.arrow.spark import with_verdicts

        if self.column not in schema.names:
            raise ContractError(f"no column named {self.column!r}; the input has {', '.join(schema.names) or 'none'}")
        return with_verdicts(schema, self.prefix)

    def __repr__(self) -> str:
        return f"<ArrowValidator {self.contract.full_name} of {self.column!r} ({self.encoding})>"

    def __reduce__(self) -> tuple[Any, ...]:
        # Only what it was made with: __init__ makes the rest, and checks it again.
        return _rebuild, (self.contract, self.column, self.encoding, self.prefix, self.context, self.now)

    # -- parts

    def _check(self, name: str, kind: pa.DataType) -> None:
        stored = stored_type(kind)
        binary, text = is_binary(stored), is_text(stored)
        # A column of nulls only has no type of its own; each of its rows is a violation.
        if not (binary or pa.types.is_null(stored) or (text and self.encoding == "json")):
            expected = "binary or string" if self.encoding == "json" else "binary"
            raise ContractError(f"column {name!r} is {kind}; expected {expected}, a serialised record in each row")

    def _parts(self, column: pa.Array | pa.ChunkedArray) -> Iterator[pa.RecordBatch]:
        """The verdicts of a column, in parts of bounded size; their rows are the column's, in order."""
        for chunk in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
            at = 0
            while at < len(chunk):
                part = stored_values(chunk.slice(at, _PART_ROWS))
                while len(part) > 1 and part.nbytes > _PART_BYTES:
                    part = part.slice(0, len(part) // 2)
                yield self._judge(part)
                at += len(part)

    def _judge(self, part: pa.Array) -> pa.RecordBatch:
        process = self._process
        ok: list[bool] = []
        normalized: list[bytes | None] = []
        found: list[tuple[int, Outcome[Any]]] = []
        # Text is taken as bytes: what is no UTF-8 is one record's fault.
        raws = (part.cast(pa.large_binary()) if is_text(part.type) else part).to_pylist()
        for row, raw in enumerate(raws):
            outcome = process(raw)
            message = outcome.message
            ok.append(message is not None)
            normalized.append(None if message is None else message.SerializeToString(deterministic=True))
            if outcome.violations or outcome.changes:
                found.append((row, outcome))
        return pa.RecordBatch.from_arrays(
            [pa.array(ok, pa.bool_()), *_lists(found, len(ok)), pa.array(normalized, pa.binary())], schema=VERDICTS
        )


def _rebuild(
    contract: Contract[Any],
    column: str,
    encoding: Encoding,
    prefix: str,
    context: str | None,
    now: datetime | int | None,
) -> ArrowValidator:
    return ArrowValidator(contract, column, encoding=encoding, prefix=prefix, context=context, now=now)


def _lists(found: list[tuple[int, Outcome[Any]]], rows: int) -> list[pa.Array]:
    """The list columns of a part; rows that are not in ``found`` have nothing in them."""
    violations, changes = [0] * rows, [0] * rows
    rule_ids: list[str] = []
    codes: list[int] = []
    paths: list[str] = []
    severities: list[str] = []
    changed: list[str] = []
    for row, outcome in found:
        paths_changed = list(dict.fromkeys(change.declared_path for change in outcome.changes))
        violations[row], changes[row] = len(outcome.violations), len(paths_changed)
        for violation in outcome.violations:
            rule_ids.append(rule_label(violation))
            codes.append(violation.code)
            paths.append(violation.redacted_path)
            severities.append(violation.severity)
        changed += paths_changed
    of_violations = pa.array(accumulate(violations, initial=0), pa.int32())
    of_changes = pa.array(accumulate(changes, initial=0), pa.int32())
    return [
        *(
            pa.ListArray.from_arrays(of_violations, pa.array(values, kind))
            for values, kind in (
                (rule_ids, pa.string()), (codes, pa.int64()), (paths, pa.string()), (severities, pa.string()),
            )
        ),
        pa.ListArray.from_arrays(of_changes, pa.array(changed, pa.string())),
    ]  # fmt: skip


def _only_chunk(column: pa.ChunkedArray) -> pa.Array:
    if column.num_chunks > 1:
        raise pa.ArrowCapacityError("a column that does not fit into one array")
    return column.chunk(0) if column.num_chunks else pa.array([], column.type)
