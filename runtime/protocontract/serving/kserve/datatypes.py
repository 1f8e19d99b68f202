"""Elements of KServe's tensors: its datatypes beside the contract's, raw and typed contents, texts and lengths."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from protocontract.tensors.reading import STORED, np, of_bytes, of_numbers
from protocontract.violations import Refusal

#: Texts and other bytes, which are no numbers and which the contract has as fields of these types.
BYTES: Final = "BYTES"
#: The contract's dtypes by KServe's names.
DTYPES: Final[Mapping[str, str]] = {
    "BOOL": "bool",
    **{f"{sign}INT{bits}": f"{sign.lower()}int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)},
    "FP16": "float16", "FP32": "float32", "FP64": "float64", "BF16": "bfloat16",
}  # fmt: skip
DATATYPES: Final[Mapping[str, str]] = {dtype: name for name, dtype in DTYPES.items()}

#: The field of ``InferTensorContents`` that holds each datatype, with the dtype of its own numbers. FP16 and BF16 have
#: none: they come raw.
_TYPED: Final[Mapping[str, tuple[str, str]]] = {
    "BOOL": ("bool_contents", "bool"),
    **dict.fromkeys(("INT8", "INT16", "INT32"), ("int_contents", "int32")),
    "INT64": ("int64_contents", "int64"),
    **dict.fromkeys(("UINT8", "UINT16", "UINT32"), ("uint_contents", "uint32")),
    "UINT64": ("uint64_contents", "uint64"),
    "FP32": ("fp32_contents", "float32"),
    "FP64": ("fp64_contents", "float64"),
    BYTES: ("bytes_contents", ""),
}
_LENGTH: Final = struct.Struct("<I")


def read(datatype: str, contents: Any, raw: bytes | None) -> Any:
    """The elements of a tensor: an array of one axis, a list of bytes for BYTES, or a Refusal.

    ``raw`` are its bytes where the message has raw contents; else ``contents`` (``InferTensorContents``) has them. The
    array of raw bytes is read-only and shares their memory.
    """
    if raw is not None:
        if contents.ListFields():
            return Refusal("tensor.dtype", "typed contents beside raw ones; expected one of the two")
        return read_texts(raw) if datatype == BYTES else of_bytes(raw, DTYPES[datatype])
    if datatype not in _TYPED:
        return Refusal("tensor.dtype", f"{datatype} in typed contents; expected raw ones")
    name, natural = _TYPED[datatype]
    others = [field.name for field, _ in contents.ListFields() if field.name != name]
    if others:
        return Refusal("tensor.dtype", f"{datatype} in {others[0]}; expected {name}")
    values = getattr(contents, name)
    return list(values) if datatype == BYTES else of_numbers(values, np.dtype(natural), DTYPES[datatype])


def of_json(values: Sequence[Any], datatype: str) -> Any:
    """Numbers, bools or texts of a JSON array (flat) as elements, or a Refusal.

    Numbers are rounded to a float datatype; of an integer one they must be equal. A number beyond the largest of a
    float datatype is refused, as it would become an infinity; NaN and infinities, where the parser knows them, pass.
    """
    if datatype == BYTES:
        for at, value in enumerate(values):
            if not isinstance(value, str):
                return Refusal("tensor.dtype", f"no text for {BYTES}; expected one", at)
        return [value.encode("utf-8", "surrogatepass") for value in values]
    if datatype == "BOOL":
        for at, value in enumerate(values):
            if not isinstance(value, bool) and value not in (0, 1):
                return Refusal("tensor.dtype", "no bool; expected true or false", at)
        return np.array(values, dtype="bool")
    floats = datatype[:1] in "FB"
    for at, value in enumerate(values):
        if isinstance(value, bool) or not isinstance(value, int | float):
            return Refusal("tensor.dtype", f"no number for {datatype}; expected one", at)
        if isinstance(value, float) and not floats and not value.is_integer():
            return Refusal("tensor.dtype", f"a number that {datatype} does not have", at)
    if floats:
        try:
            return of_numbers(list(map(float, values)), np.dtype("float64"), DTYPES[datatype])
        except OverflowError:
            at = next(at for at, value in enumerate(values) if abs(value) > 2**1023)
            return Refusal("tensor.dtype", f"a number that {datatype} does not have", at)
    limits = np.iinfo(STORED[DTYPES[datatype]])
    for at, value in enumerate(values):
        if not limits.min <= value <= limits.max:
            return Refusal("tensor.dtype", f"a number that {datatype} does not have", at)
    return np.array([int(value) for value in values], dtype=STORED[DTYPES[datatype]])


def to_json(elements: Any, datatype: str) -> list[Any] | None:
    """Elements as a flat list for JSON; None where JSON cannot hold them: bytes that are no text."""
    if datatype == BYTES:
        try:
            return [each.decode() for each in elements]
        except UnicodeDecodeError:
            return None
    if datatype == "BF16":
        elements = (elements.astype("uint32") << 16).view("float32")
    found: list[Any] = elements.tolist()
    return found


def to_raw(elements: Any, datatype: str) -> bytes:
    """Elements as raw contents: little endian; each text of BYTES after its length in four bytes."""
    if datatype == BYTES:
        return write_texts(elements)
    stored = elements.dtype.newbyteorder("<")
    return bytes(np.ascontiguousarray(elements, dtype=stored).tobytes())


def read_texts(raw: bytes) -> list[bytes] | Refusal:
    """The texts of BYTES in raw contents, or a Refusal where their lengths do not add up."""
    found: list[bytes] = []
    at = 0
    while at < len(raw):
        if at + 4 > len(raw):
            return Refusal("tensor.size", "bytes that end inside the length of a text", len(found))
        (length,) = _LENGTH.unpack_from(raw, at)
        at += 4
        if at + length > len(raw):
            return Refusal("tensor.size", "bytes that end inside a text", len(found))
        found.append(raw[at : at + length])
        at += length
    return found


def write_texts(texts: Iterable[bytes]) -> bytes:
    """BYTES as raw contents have it."""
    return b"".join(part for text in texts for part in (_LENGTH.pack(len(text)), text))


def set_typed(contents: Any, texts: Sequence[bytes]) -> None:
    """Put texts into the place of those that ``contents`` has."""
    del contents.bytes_contents[:]
    contents.bytes_contents.extend(texts)


def count_of(shape: Sequence[int]) -> int:
    """How many elements a shape has."""
    return math.prod(shape)
