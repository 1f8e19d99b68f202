"""Which files an ONNX model consists of: its weights may stand in others, which its own hash says nothing of.

Reads the protobuf wire form of onnx.proto, as the onnx package is no dependency of a service.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Final

from protocontract.violations import ContractError

# Where tensors can be, by message: number of the field -> the message that it holds (onnx.proto).
_INSIDE: Final[dict[str, dict[int, str]]] = {
    "model": {7: "graph", 25: "function"},
    "graph": {1: "node", 5: "tensor", 15: "sparse"},
    "function": {7: "node", 11: "attribute"},
    "node": {5: "attribute"},
    "attribute": {5: "tensor", 6: "graph", 10: "tensor", 11: "graph", 22: "sparse", 23: "sparse"},
    "sparse": {1: "tensor", 2: "tensor"},
    "tensor": {13: "entry"},
}
_DEPTH: Final = 100


def files(model: Path) -> dict[str, Path]:
    """The model's files by their names in it: its own, and those of external data, sorted.

    Raises ContractError where it is no ONNX model, or names a file outside of its folder or one that is not there;
    OSError.
    """
    found = {model.name: model}
    for name in sorted(external_data(model)):
        parts = PurePosixPath(name)
        if parts.is_absolute() or ".." in parts.parts or "\\" in name:
            raise ContractError(f"{model.name} has weights outside of its folder; expected a file beside it")
        file = model.parent / parts
        if not file.is_file():
            raise ContractError(f"{model.name} has weights in {name}, which is not there; expected it beside the model")
        found[name] = file
    return found


def external_data(model: Path) -> set[str]:
    """The locations of external data. Raises ContractError where the file is no ONNX model; OSError."""
    if model.stat().st_size == 0:
        raise ContractError(f"{model.name} is empty; expected an ONNX model")
    found: set[str] = set()
    with open(model, "rb") as stream:
        # Not closed by hand: what an error refers to can still look into it.
        data = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    try:
        _walk(memoryview(data), "model", found, 0)
    except (IndexError, ValueError) as error:
        raise ContractError(f"{model.name} is no ONNX model; expected a protobuf message") from error
    return found


def _walk(view: memoryview, kind: str, found: set[str], depth: int) -> None:
    if depth > _DEPTH:
        raise ValueError("messages in messages without end")
    if kind == "entry":
        texts = {number: part.tobytes().decode("utf-8") for number, part in _parts(view)}
        if texts.get(1) == "location":
            found.add(texts.get(2, ""))
        return
    inside = _INSIDE[kind]
    for number, part in _parts(view):
        if number in inside:
            _walk(part, inside[number], found, depth + 1)


def _parts(view: memoryview) -> Iterator[tuple[int, memoryview]]:
    """Number and content of each length-delimited field. Raises IndexError, ValueError where it is no message."""
    at, size = 0, len(view)
    while at < size:
        tag, at = _varint(view, at)
        number, wire = tag >> 3, tag & 7
        if number == 0:
            raise ValueError("a field without a number")
        if wire == 0:
            _, at = _varint(view, at)
        elif wire in (1, 5):
            at += 8 if wire == 1 else 4
        elif wire == 2:
            length, at = _varint(view, at)
            if at + length > size:
                raise ValueError("a field longer than its message")
            yield number, view[at : at + length]
            at += length
        else:
            raise ValueError("an unknown wire type")
    if at != size:
        raise ValueError("a field longer than its message")


def _varint(view: memoryview, at: int) -> tuple[int, int]:
    number = 0
    for shift in range(0, 70, 7):
        byte = view[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, at
    raise ValueError("a number without end")
