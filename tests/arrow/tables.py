"""Messages as tables, by the mapping of docs/arrow.md: the way back from ``MessageColumns``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from google.protobuf.descriptor import Descriptor, FieldDescriptor

from protocontract.loading import resolve
from tests.support.messages import is_repeated

PROTOS = Path(__file__).parent / "protos"
SHAPE = resolve("shapes.Shape", proto_path=PROTOS)
OLD = resolve("shapes.Old", proto_path=PROTOS)

_Type = FieldDescriptor
_SCALARS: dict[int, pa.DataType] = {
    _Type.TYPE_INT32: pa.int32(), _Type.TYPE_SINT32: pa.int32(), _Type.TYPE_INT64: pa.int64(),
    _Type.TYPE_UINT32: pa.uint32(), _Type.TYPE_FIXED64: pa.uint64(), _Type.TYPE_UINT64: pa.uint64(),
    _Type.TYPE_DOUBLE: pa.float64(), _Type.TYPE_FLOAT: pa.float32(), _Type.TYPE_BOOL: pa.bool_(),
    _Type.TYPE_STRING: pa.string(), _Type.TYPE_BYTES: pa.binary(), _Type.TYPE_ENUM: pa.int32(),
}  # fmt: skip
_NANOS = 1_000_000_000


def schema_of(descriptor: Descriptor, depth: int = 3) -> pa.Schema:
    """A column for each field; messages in messages down to ``depth``."""
    return pa.schema([(field.name, kind) for field in descriptor.fields if (kind := _kind(field, depth)) is not None])


def rows_of(messages: Iterable[Any], depth: int = 3) -> list[dict[str, Any]]:
    """The rows of ``schema_of``."""
    return [_row(message, depth) for message in messages]


def table_of(messages: Iterable[Any], descriptor: Descriptor) -> pa.Table:
    """Both together."""
    return pa.Table.from_pylist(rows_of(messages), schema=schema_of(descriptor))


def write(table: pa.Table, path: Path, form: str, rows: int = 1000) -> Path:
    """Write a file: parquet, file or stream. ``rows``: of a row group or batch."""
    if form == "parquet":
        pq.write_table(table, path, row_group_size=rows)
        return path
    make = pa.ipc.new_file if form == "file" else pa.ipc.new_stream
    with make(path, table.schema) as writer:
        for batch in table.to_batches(max_chunksize=rows):
            writer.write_batch(batch)
    return path


def _kind(field: FieldDescriptor, depth: int) -> pa.DataType | None:
    entry = field.message_type
    if entry is not None and entry.GetOptions().map_entry:
        value = _single(entry.fields_by_name["value"], depth)
        return None if value is None else pa.map_(_SCALARS[entry.fields_by_name["key"].type], value)
    found = _single(field, depth)
    return pa.list_(found) if is_repeated(field) and found is not None else found


def _single(field: FieldDescriptor, depth: int) -> pa.DataType | None:
    entry = field.message_type
    if entry is None:
        return _SCALARS[field.type]
    if entry.full_name == "google.protobuf.Timestamp":
        return pa.timestamp("ns", "UTC")
    if entry.full_name == "google.protobuf.Duration":
        return pa.duration("ns")
    if entry.full_name.startswith("google.protobuf."):
        return _SCALARS[entry.fields_by_name["value"].type]
    return pa.struct(list(schema_of(entry, depth - 1))) if depth else None


def _row(message: Any, depth: int) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for field in message.DESCRIPTOR.fields:
        if _kind(field, depth) is None:
            continue
        value = getattr(message, field.name)
        entry = field.message_type
        if entry is not None and entry.GetOptions().map_entry:
            inner = entry.fields_by_name["value"]
            row[field.name] = [(key, _value(inner, item, depth)) for key, item in value.items()]
        elif is_repeated(field):
            row[field.name] = [_value(field, item, depth) for item in value]
        elif field.has_presence and not message.HasField(field.name):
            row[field.name] = None
        else:
            row[field.name] = _value(field, value, depth)
    return row


def _value(field: FieldDescriptor, value: Any, depth: int) -> Any:
    entry = field.message_type
    if entry is None:
        return value
    if entry.full_name in ("google.protobuf.Timestamp", "google.protobuf.Duration"):
        return value.seconds * _NANOS + value.nanos
    if entry.full_name.startswith("google.protobuf."):
        return value.value
    return _row(value, depth - 1)
