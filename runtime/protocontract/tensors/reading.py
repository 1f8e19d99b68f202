"""Values of messages as NumPy arrays: bytes are read in place, repeated numbers as quickly as protobuf gives them."""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from protocontract._options import is_map
from protocontract.extras import missing_extra
from protocontract.relations.tensor_elements import INTEGER_BOUNDS, LARGEST
from protocontract.violations import Refusal

try:
    import numpy as np
except ModuleNotFoundError as error:
    raise missing_extra("protocontract.tensors", error) or error from error

#: How NumPy stores each dtype. NumPy has no bfloat16: its 16 bits are kept.
STORED: Final[dict[str, Any]] = {
    dtype: np.dtype(dtype) for dtype in (*INTEGER_BOUNDS, "float16", "float32", "float64")
} | {"bfloat16": np.dtype("uint16")}
_LITTLE: Final = {dtype: stored.newbyteorder("<") for dtype, stored in STORED.items()}

_NATURAL: Final = {
    FieldDescriptor.CPPTYPE_BOOL: np.dtype("bool"),
    FieldDescriptor.CPPTYPE_INT32: np.dtype("int32"),
    FieldDescriptor.CPPTYPE_INT64: np.dtype("int64"),
    FieldDescriptor.CPPTYPE_UINT32: np.dtype("uint32"),
    FieldDescriptor.CPPTYPE_UINT64: np.dtype("uint64"),
    FieldDescriptor.CPPTYPE_FLOAT: np.dtype("float32"),
    FieldDescriptor.CPPTYPE_DOUBLE: np.dtype("float64"),
    FieldDescriptor.CPPTYPE_ENUM: np.dtype("int32"),
}


def of_bytes(value: bytes, dtype: str) -> Any:
    """The elements of little-endian bytes as a read-only array over these very bytes, or a Refusal."""
    stored = _LITTLE[dtype]
    if len(value) % stored.itemsize:
        return Refusal(
            "tensor.size",
            f"bytes that end inside an element; expected a multiple of {stored.itemsize}, got {len(value)} bytes",
        )
    if dtype != "bool":
        return np.frombuffer(value, dtype=stored)
    raw = np.frombuffer(value, dtype="u1")
    if raw.size and raw.max() > 1:
        return Refusal("tensor.dtype", "a byte that is no bool; expected 0 or 1", int((raw > 1).argmax()))
    return raw.view("bool")


def of_numbers(values: Any, natural: Any, dtype: str) -> Any:
    """The elements of a repeated field in the dtype, or a Refusal where the dtype cannot hold one.

    ``natural`` is the NumPy dtype of the field's own type. Numbers of a wider type are rounded to a float dtype (half
    to even), and must be equal in an integer dtype.
    """
    if hasattr(values, "__array__"):  # protobuf 7 lets them out in one piece
        found = np.asarray(values, dtype=natural)
    elif natural.kind == "f":
        found = np.frombuffer(struct.pack(f"{len(values)}{natural.char}", *values), dtype=natural)
    else:
        found = np.array(values[:], dtype=natural)
    stored = STORED[dtype]
    if found.dtype == stored and dtype != "bfloat16":
        return found
    if dtype in LARGEST:
        kept = (np.abs(found) <= LARGEST[dtype]) | ~np.isfinite(found)
    else:
        low, high = INTEGER_BOUNDS[dtype]
        own = np.iinfo(natural) if natural.kind != "b" else None
        kept = (
            np.ones(len(found), "bool") if own is None else (found >= max(low, own.min)) & (found <= min(high, own.max))
        )
    if not kept.all():
        return Refusal("tensor.dtype", f"a number that {dtype} does not have", int(kept.argmin()))
    with np.errstate(all="ignore"):
        return _to_bfloat16(found) if dtype == "bfloat16" else found.astype(stored)


def _to_bfloat16(found: Any) -> Any:
    singles = found.astype("float32")
    bits = singles.view("uint32")
    if found.dtype == np.dtype("float64"):
        # Rounding twice goes wrong where the first step lands on a tie of the second: step back off the tie.
        tie = (bits & 0xFFFF) == 0x8000
        short = tie & (np.abs(singles.astype("float64")) < np.abs(found))
        long = tie & (np.abs(singles.astype("float64")) > np.abs(found))
        bits = bits + short.astype("uint32") - long.astype("uint32")
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("uint16")
    return np.where(np.isnan(singles), (bits >> 16).astype("uint16") | 0x0040, rounded)


def count_nonfinite(array: Any, *, bfloat16: bool = False) -> int:
    """How many elements are NaN or infinite. ``bfloat16``: the array holds the 16 bits of such numbers."""
    if bfloat16:  # all bits of the exponent are set
        return int(np.count_nonzero((array & 0x7F80) == 0x7F80))
    return int(array.size - np.count_nonzero(np.isfinite(array))) if array.dtype.kind == "f" else 0


def natural_dtype(field: Any) -> Any:
    """The NumPy dtype of a repeated field's own type; None for bytes."""
    return _NATURAL.get(field.cpp_type)


def owners(descriptor: Descriptor, path: str) -> tuple[Callable[[Any], list[Any]], Descriptor, bool]:
    """What finds the messages at a path (``a.b[]``; empty: the message itself), their type, whether there are many.

    The function returns those that are there: none below a field that is not set, maps by sorted key.
    """
    steps: list[Callable[[Any], list[Any]]] = []
    many = False
    for word in path.split(".") if path else ():
        name = word.removesuffix("[]")
        field: Any = descriptor.fields_by_name[name]
        many = many or word != name
        if is_map(field):
            steps.append(partial(_values, name))
            field = field.message_type.fields_by_name["value"]
        else:
            steps.append(partial(_set if word == name else _items, name))
        descriptor = field.message_type
    if not steps:
        return lambda message: [message], descriptor, many
    if len(steps) == 1:
        return steps[0], descriptor, many

    def find(message: Any) -> list[Any]:
        found = [message]
        for step in steps:
            found = [inner for outer in found for inner in step(outer)]
        return found

    return find, descriptor, many


def _set(name: str, message: Any) -> list[Any]:
    return [getattr(message, name)] if message.HasField(name) else []


def _items(name: str, message: Any) -> list[Any]:
    found: list[Any] = getattr(message, name)[:]
    return found


def _values(name: str, message: Any) -> list[Any]:
    found = getattr(message, name)
    return [found[key] for key in sorted(found)]


__all__ = ["STORED", "count_nonfinite", "natural_dtype", "np", "of_bytes", "of_numbers", "owners"]
