"""What goes into a stage and comes out of it, as bytes that have one digest in any language.

A message, arrays by name, or a plain value. The digest is the SHA-256 of its bytes, and a ``ValueStore`` keeps exactly
these in a file of that name: ``sha256sum`` checks it, and ``protocontract evidence replay`` runs stages on it again.

A message is not hashed as protobuf bytes, which nobody promises to be the same twice, but as the line ``protocontract
message 1``, ended by LF, and the canonical text of ``{"fields": ..., "type": full name}``: the set fields by name,
enums as their numbers, maps with their keys as texts. Unknown fields count as not there: no stage sees them. Arrays are
hashed as ``protocontract.tensors.digest`` does.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from google.protobuf import descriptor_pool, message_factory
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from protocontract._options import is_map, is_repeated
from protocontract.chain.canonical import CanonicalError, Value, encoded, parse, text
from protocontract.chain.steps import EvidenceError

#: The version of the form of messages.
MESSAGE_VERSION: Final = 1

_VALUE: Final = b"protocontract value 1\n"
_MESSAGE: Final = f"protocontract message {MESSAGE_VERSION}\n".encode()
_TENSORS: Final = b"protocontract tensors 1\n"
_FLOATS: Final = (FieldDescriptor.CPPTYPE_FLOAT, FieldDescriptor.CPPTYPE_DOUBLE)
_INTEGERS: Final = tuple(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
_DTYPES: Final = frozenset({"bool", "float16", "float32", "float64", "bfloat16", *_INTEGERS})


def digest(value: Any) -> str:
    """The SHA-256 (hex) of a message, arrays by name (also a Batch), or a plain value. Raises CanonicalError."""
    found = hashlib.sha256()
    feed(value, found.update)
    return found.hexdigest()


def feed(value: Any, update: Callable[[Any], object]) -> None:
    """Hand the bytes that ``digest`` hashes to ``update``. Raises CanonicalError."""
    if isinstance(value, Message):
        update(_MESSAGE)
        update(text({"type": value.DESCRIPTOR.full_name, "fields": fields_of(value)}).encode())
    elif _are_arrays(value):
        _feed_arrays(value, update)
    else:
        update(encoded(value))


def fields_of(message: Any) -> dict[str, Value]:
    """The set fields of a message by name, as plain values."""
    found: dict[str, Value] = {}
    for field, value in message.ListFields():
        if is_map(field):
            of: Any = field.message_type.fields_by_name["value"]
            found[_name(field)] = {_key(key): _plain(of, value[key]) for key in value}
        elif is_repeated(field):
            found[_name(field)] = [_plain(field, item) for item in value]
        else:
            found[_name(field)] = _plain(field, value)
    return found


def _name(field: Any) -> str:
    return f"[{field.full_name}]" if field.is_extension else str(field.name)


def _key(key: Any) -> str:
    return str(key).lower() if isinstance(key, bool) else str(key)


def _plain(field: Any, value: Any) -> Value:
    if field.cpp_type == FieldDescriptor.CPPTYPE_MESSAGE:
        return fields_of(value)
    if field.cpp_type in _FLOATS:
        return float(value)
    return value  # type: ignore[no-any-return]


# ----------------------------------------------------------------------------------------------------------------------
# Arrays


def _are_arrays(value: Any) -> bool:
    return (
        isinstance(value, Mapping)
        and len(value) > 0
        and all(hasattr(item, "dtype") and hasattr(item, "shape") for item in value.values())
    )


def _feed_arrays(value: Mapping[str, Any], update: Callable[[Any], object]) -> None:
    from protocontract.tensors import Batch
    from protocontract.tensors.canonical import feed as feed_batch

    batch = value
    if not isinstance(batch, Batch):
        dtypes = {name: _native(array.dtype) for name, array in value.items()}
        batch = Batch(dict(value), masks={}, dtypes=dtypes, fields={}, rows={}, size=0)
    for name, dtype in batch.dtypes.items():
        if dtype not in _DTYPES:
            raise CanonicalError(f"the array {name} of {dtype} has no canonical form; expected numbers or bool")
    feed_batch(batch, update)


def _native(dtype: Any) -> str:
    """The name of a dtype, whatever its byte order: that is no part of what is hashed."""
    return str(dtype.newbyteorder("=") if hasattr(dtype, "newbyteorder") else dtype)


def _arrays(data: bytes) -> dict[str, Any]:
    """Arrays in the form that ``protocontract.tensors.digest`` hashes. Raises EvidenceError, ValueError."""
    from protocontract.tensors.reading import np

    found: dict[str, Any] = {}
    place = len(_TENSORS)
    while place < len(data):
        kind, dtype, sizes, length, rest = data[place:].split(b" ", 4)
        if kind != b"tensor":
            raise EvidenceError("masks and rows of a batch cannot be read back; expected arrays alone")
        name = rest[: int(length)].decode()
        place += len(b" ".join((kind, dtype, sizes, length))) + 1 + int(length) + 1
        shape = () if sizes == b"-" else tuple(int(size) for size in sizes.split(b"x"))
        of = np.dtype("uint16" if dtype == b"bfloat16" else dtype.decode()).newbyteorder("<")
        count = int(np.prod(shape, dtype="int64")) if shape else 1
        array = np.frombuffer(data, dtype=of, count=count, offset=place).reshape(shape)
        found[name] = array.astype(of.newbyteorder("="))
        place += array.nbytes
    return found


# ----------------------------------------------------------------------------------------------------------------------
# Keeping values


class ValueStore:
    """A folder of values, each in a file that is called as its digest. They are the data: guard it as such."""

    def __init__(self, folder: str | Path) -> None:
        self.folder: Final = Path(folder)

    def put(self, value: Any) -> str:
        """Keep a value and return its digest. Raises CanonicalError, OSError."""
        parts: list[bytes] = []
        feed(value, lambda part: parts.append(bytes(part)))
        data = b"".join(parts)
        name = hashlib.sha256(data).hexdigest()
        target = self.folder / name
        if not target.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            descriptor, beside = tempfile.mkstemp(dir=self.folder, prefix=".part-")
            try:
                with os.fdopen(descriptor, "wb") as file:
                    file.write(data)
                os.replace(beside, target)
            except BaseException:
                os.unlink(beside)
                raise
        return name

    def has(self, name: str) -> bool:
        """Whether the value of a digest is here."""
        return (self.folder / name).is_file()

    def get(self, name: str) -> Any:
        """The value of a digest. Raises OSError, and EvidenceError where the file is another value or cannot be read.

        The class of a message is the one that this process knows by its name: import its module before.
        """
        data = (self.folder / name).read_bytes()
        if hashlib.sha256(data).hexdigest() != name:
            raise EvidenceError(f"the kept value {name[:12]}… was changed; expected bytes of that SHA-256")
        try:
            if data.startswith(_TENSORS):
                return _arrays(data)
            if data.startswith(_MESSAGE):
                return _message(parse(data.removeprefix(_MESSAGE).decode()))
            return parse(data.removeprefix(_VALUE).decode())
        except (CanonicalError, ValueError, TypeError, AttributeError) as error:
            raise EvidenceError(f"the kept value {name[:12]}… cannot be read ({type(error).__name__})") from error


def _message(held: Any) -> Message:
    try:
        descriptor = descriptor_pool.Default().FindMessageTypeByName(held["type"])
    except KeyError:
        raise EvidenceError(f"no message type {held['type']}; expected its module to be imported") from None
    message = message_factory.GetMessageClass(descriptor)()
    _fill(message, held["fields"])
    return message


def _fill(message: Any, held: Mapping[str, Any]) -> None:
    for name, value in held.items():
        if name.startswith("["):
            field = message.DESCRIPTOR.file.pool.FindExtensionByName(name[1:-1])
            raise EvidenceError(f"the extension {field.full_name} cannot be read back")
        field = message.DESCRIPTOR.fields_by_name[name]
        if is_map(field):
            _fill_map(getattr(message, name), field, value)
        elif is_repeated(field):
            items = getattr(message, name)
            for item in value:
                if field.message_type is None:
                    items.append(item)
                else:
                    _fill(items.add(), item)
        elif field.message_type is not None:
            inner = getattr(message, name)
            inner.SetInParent()
            _fill(inner, value)
        else:
            setattr(message, name, value)


def _fill_map(entries: Any, field: Any, held: Mapping[str, Any]) -> None:
    of_key, of_value = (field.message_type.fields_by_name[name] for name in ("key", "value"))
    for written, value in held.items():
        key: Any = written
        if of_key.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
            key = written == "true"
        elif of_key.cpp_type != FieldDescriptor.CPPTYPE_STRING:
            key = int(written)
        if of_value.message_type is None:
            entries[key] = value
        else:
            _fill(entries[key], value)
