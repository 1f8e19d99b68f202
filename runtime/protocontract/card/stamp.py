"""What a model says of the data that it was made of: metadata_props of an ONNX file, a sidecar beside any other.

An ONNX file is a protobuf message. The entries are put behind its other fields, whose bytes stay as they are: neither
the onnx package nor a second copy of a large model in memory is needed.
"""

from __future__ import annotations

import json
import mmap
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from protocontract._files import file_sha256, replacing
from protocontract.violations import ContractError
from protocontract.wire_confluent import varint

if TYPE_CHECKING:
    from protocontract.card.card import Card

#: What the keys of our entries in metadata_props begin with.
PREFIX: Final = "protocontract."
#: What is added to a model's name to get its sidecar's.
SIDECAR: Final = ".protocontract.json"
#: Schema of the sidecar.
SCHEMA: Final = "protocontract.stamp/1"

# onnx.proto: ModelProto.metadata_props = 14, of StringStringEntryProto {key = 1, value = 2}.
_METADATA_PROPS: Final = 14
_CHUNK: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Stamp:
    """The training side of a model, which a service compares with its own.

    ``card_sha256`` is None for a model without a data card. ``calibration`` describes how a quantised model was made
    (``protocontract calibrate``); None for others.
    """

    contract: str
    version: str
    fingerprint: str
    data_versions: Mapping[str, str]
    card_sha256: str | None = None
    calibration: Mapping[str, Any] | None = None

    @classmethod
    def of(cls, card: Card) -> Stamp:
        """The stamp of a model that was trained on what a card describes."""
        contract = card.data["contract"]
        return cls(
            contract["name"], contract["version"], contract["fingerprint"], card.data["data_versions"], card.sha256
        )

    def entries(self) -> dict[str, str]:
        """As metadata_props have it: texts by key, sorted by key."""
        found = {
            "contract": self.contract,
            "version": self.version,
            "fingerprint": self.fingerprint,
            "data_versions": _compact(self.data_versions),
        }
        if self.card_sha256 is not None:
            found["card_sha256"] = self.card_sha256
        if self.calibration is not None:
            found["calibration"] = _compact(self.calibration)
        return {PREFIX + key: found[key] for key in sorted(found)}

    @classmethod
    def from_entries(cls, entries: Mapping[str, str]) -> Stamp | None:
        """The stamp among a model's metadata (onnxruntime's ``custom_metadata_map``); None where there is none.

        Raises ContractError where there is one that cannot be read.
        """
        found = {key.removeprefix(PREFIX): value for key, value in entries.items() if key.startswith(PREFIX)}
        if not found:
            return None
        try:
            calibration = found.get("calibration")
            return cls(
                found["contract"],
                found.get("version", ""),
                found["fingerprint"],
                _object(found["data_versions"]),
                found.get("card_sha256"),
                None if calibration is None else _object(calibration),
            )
        except (KeyError, ValueError) as error:
            raise ContractError("a stamp in part; expected contract, fingerprint and data versions") from error


def write_stamp(stamp: Stamp, model: str | Path, out: str | Path | None = None) -> Path:
    """Stamp a model and return where the stamp is: in ``out``, or beside it where the format has no place for it.

    ``.onnx`` files are copied with the entries in metadata_props (those of an earlier stamp are replaced) and put in
    place of ``out`` at once. Any other model stays as it is (``out`` must be None), and a sidecar with the model's
    SHA-256 stands beside it. Raises ContractError where an ``.onnx`` file is none, OSError.
    """
    source = Path(model)
    if source.suffix != ".onnx":
        if out is not None and Path(out) != source:
            raise ContractError(
                f"{source.name} is stamped by a sidecar, not by a copy; expected no other file to write"
            )
        return _write_sidecar(stamp, source)
    target = source if out is None else Path(out)
    with open(source, "rb") as reader, replacing(target) as writer:
        for start, end, key in _fields(reader, source):
            if key is None or not key.startswith(PREFIX):
                _copy(reader, writer, start, end)
        for key, value in stamp.entries().items():
            writer.write(_entry(key, value))
    return target


def read_stamp(model: str | Path) -> Stamp | None:
    """The stamp of a model: in an ``.onnx`` file, else in a sidecar; None where it has neither.

    Raises ContractError where a stamp cannot be read or a sidecar belongs to other bytes than the model's; OSError.
    """
    path = Path(model)
    if path.suffix == ".onnx":
        with open(path, "rb") as reader:
            entries = {key: _value(reader, start, end) for start, end, key in _fields(reader, path) if key is not None}
        stamp = Stamp.from_entries(entries)
        if stamp is not None:
            return stamp
    sidecar = path.with_name(path.name + SIDECAR)
    if not sidecar.exists():
        path.stat()  # a model that is not there is not one without a stamp
        return None
    return _read_sidecar(sidecar, path)


# ----------------------------------------------------------------------------------------------------------------------
# Sidecars


def _write_sidecar(stamp: Stamp, model: Path) -> Path:
    entries = {key.removeprefix(PREFIX): value for key, value in stamp.entries().items()}
    content = {"schema": SCHEMA, "model_sha256": file_sha256(model), "stamp": entries}
    sidecar = model.with_name(model.name + SIDECAR)
    with replacing(sidecar) as stream:
        stream.write((json.dumps(content, ensure_ascii=False, sort_keys=True, indent=2) + "\n").encode())
    return sidecar


def _read_sidecar(sidecar: Path, model: Path) -> Stamp:
    try:
        content = _object(sidecar.read_text(encoding="utf-8"))
        entries = {PREFIX + key: str(value) for key, value in dict(content["stamp"]).items()}
        expected = str(content["model_sha256"])
        known = content["schema"] == SCHEMA
    except (KeyError, TypeError, ValueError) as error:
        raise ContractError(f"{sidecar.name} is no stamp; expected the schema {SCHEMA}") from error
    if not known:
        raise ContractError(f"{sidecar.name} is a stamp of another version; expected the schema {SCHEMA}")
    found = file_sha256(model)
    if found != expected:
        raise ContractError(
            f"{sidecar.name} is the stamp of another model; expected SHA-256 {expected[:12]}, got {found[:12]}"
        )
    stamp = Stamp.from_entries(entries)
    if stamp is None:
        raise ContractError(f"{sidecar.name} is empty; expected contract, fingerprint and data versions")
    return stamp


# ----------------------------------------------------------------------------------------------------------------------
# The fields of a protobuf message in a file


def _fields(reader: BinaryIO, path: Path) -> Iterator[tuple[int, int, str | None]]:
    """``(start, end, key)`` of each top-level field; ``key`` is that of an entry of metadata_props, else None."""
    size = os.fstat(reader.fileno()).st_size
    if size == 0:
        raise ContractError(f"{path.name} is empty; expected an ONNX model")
    with mmap.mmap(reader.fileno(), 0, access=mmap.ACCESS_READ) as data:
        at = 0
        while at < size:
            start, length = at, 0
            tag, at = _varint(data, at, path)
            number, kind = tag >> 3, tag & 7
            if kind == 0:
                _, at = _varint(data, at, path)
            elif kind == 1:
                at += 8
            elif kind == 5:
                at += 4
            elif kind == 2:
                length, at = _varint(data, at, path)
                at += length
            else:
                raise _no_model(path)
            if at > size or number == 0:
                raise _no_model(path)
            is_entry = number == _METADATA_PROPS and kind == 2
            yield start, at, _texts(data[at - length : at], path).get(1, "") if is_entry else None


def _texts(entry: bytes, path: Path) -> dict[int, str]:
    """The texts of an entry by field number."""
    found: dict[int, str] = {}
    at = 0
    while at < len(entry):
        tag, at = _varint(entry, at, path)
        if tag & 7 != 2:
            raise _no_model(path)
        length, at = _varint(entry, at, path)
        found[tag >> 3] = entry[at : at + length].decode("utf-8", "replace")
        at += length
    return found


def _value(reader: BinaryIO, start: int, end: int) -> str:
    reader.seek(start)
    raw = reader.read(end - start)
    path = Path(str(reader.name))
    _, at = _varint(raw, 0, path)
    _, at = _varint(raw, at, path)
    return _texts(raw[at:], path).get(2, "")


def _varint(data: bytes | mmap.mmap, at: int, path: Path) -> tuple[int, int]:
    number = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            raise _no_model(path)
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, at
    raise _no_model(path)


def _no_model(path: Path) -> ContractError:
    return ContractError(f"{path.name} is no ONNX model; expected a protobuf message")


def _copy(reader: BinaryIO, writer: BinaryIO, start: int, end: int) -> None:
    reader.seek(start)
    while start < end:
        part = reader.read(min(_CHUNK, end - start))
        writer.write(part)
        start += len(part)


def _entry(key: str, value: str) -> bytes:
    content = b"".join(
        varint(number << 3 | 2) + varint(len(text)) + text for number, text in ((1, key.encode()), (2, value.encode()))
    )
    return varint(_METADATA_PROPS << 3 | 2) + varint(len(content)) + content


def _compact(value: Mapping[str, Any]) -> str:
    return json.dumps(dict(value), ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _object(text: str) -> dict[str, Any]:
    value = json.loads(text)
    if not isinstance(value, dict):
        raise ValueError("expected a JSON object")
    return value
