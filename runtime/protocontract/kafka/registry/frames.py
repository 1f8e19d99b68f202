"""The frames of a topic's records, against the contract: what stands before the message, and whether it fits.

Almost all records of a topic begin with the same bytes. What is known of these bytes is kept, so a record costs one
look-up in a dictionary and a copy of its payload; only new ones are taken apart and looked up in the registry.
"""

from __future__ import annotations

import uuid
from collections import OrderedDict
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from protocontract.violations import Refusal
from protocontract.wire_compatible import contradictions
from protocontract.wire_confluent import parse_frame

if TYPE_CHECKING:
    from protocontract.contract import Contract
    from protocontract.kafka.client import Fetched
    from protocontract.kafka.registry.registry import Registry
    from protocontract.kafka.registry.schema import WriterSchema

#: Holds the frame of a record whose value has none. The key's, ``__key_schema_id``, is not ours to read.
VALUE_SCHEMA_ID: Final = "__value_schema_id"
#: Bounds what is kept of frames that were seen.
MAX_KNOWN: Final = 4_096


class Framed(NamedTuple):
    """A record's value taken apart."""

    #: Magic byte, id or GUID, message indexes.
    frame: bytes
    payload: bytes
    in_header: bool


class _Place(NamedTuple):
    """Message indexes of the contract's message in a schema, and those of all messages there."""

    path: tuple[int, ...]
    all_paths: frozenset[tuple[int, ...]]


class SinkFrame(NamedTuple):
    """The frame that good records get on their way to a sink."""

    frame: bytes
    #: Whether it goes into ``__value_schema_id`` instead of before the value.
    in_header: bool = False


class Frames:
    """Takes the frames off the records of one contract. Called for every record."""

    __slots__ = ("_contract", "_known", "_registry", "_verdicts")

    def __init__(self, registry: Registry, contract: Contract[Any]) -> None:
        self._registry = registry
        self._contract = contract
        #: Magic byte and id (or GUID) -> a whole frame that is good.
        self._known: dict[bytes, bytes] = {}
        #: id or GUID -> where the contract's message is, or why its records are refused.
        self._verdicts: OrderedDict[int | bytes, _Place | Refusal] = OrderedDict()

    def __call__(self, raw: Fetched) -> bytes | Refusal:
        """The message's bytes, or a Refusal: wire.framing, schema.*. Raises Later while the registry is to be asked."""
        found = self.split(raw)
        return found.payload if isinstance(found, Framed) else found

    def split(self, raw: Fetched) -> Framed | Refusal:
        """As calling it, with the frame."""
        value = raw.value or b""
        header = frame_header(raw)
        framed = value if header is None else header
        known = self._known.get(framed[: 17 if framed[:1] == b"\1" else 5])
        if known is None or not framed.startswith(known):
            found = self._look(framed)
            if isinstance(found, Refusal):
                return found
            known = found
        if header is None:
            return Framed(known, value[len(known) :], False)
        if len(header) != len(known):
            return _behind()
        return Framed(known, value, True)

    def _look(self, framed: bytes) -> bytes | Refusal:
        """The frame at the start of ``framed``."""
        frame = parse_frame(framed)
        if isinstance(frame, Refusal):
            return frame
        key: int | bytes | None = frame.schema_guid if frame.schema_id is None else frame.schema_id
        assert key is not None  # one of the two is set
        verdict = self._verdicts.get(key)
        if verdict is None:
            schema = self._registry.schema(key)
            if isinstance(schema, Refusal):
                # Kept by the registry, which knows for how long it holds.
                return schema
            verdict = self._verdicts[key] = self._judge(schema)
            if len(self._verdicts) > MAX_KNOWN:
                self._verdicts.popitem(last=False)
        if isinstance(verdict, Refusal):
            return verdict
        if frame.indexes != verdict.path:
            # Older writers' unsigned varints, but only where the list names no message as it is written today.
            again = parse_frame(framed, verdict.path)
            if frame.indexes in verdict.all_paths or isinstance(again, Refusal):
                return Refusal("schema.message", "a frame that names another message; expected the contract's own")
            frame = again
        found = framed[: frame.payload_offset]
        if len(self._known) >= MAX_KNOWN:
            self._known.clear()
        self._known[framed[: 17 if framed[0] == 1 else 5]] = found
        return found

    def _judge(self, schema: WriterSchema) -> _Place | Refusal:
        contract = self._contract
        path = schema.path_of(contract.full_name)
        if path is None:
            return Refusal("schema.message", "a schema without the contract's message; expected it there")
        ours: Any = contract.message_type.DESCRIPTOR
        found = list(islice(contradictions(schema.message(contract.full_name), ours), 3))
        if found:
            return Refusal("schema.incompatible", f"the writer's schema contradicts the contract: {'; '.join(found)}")
        return _Place(path, schema.paths)


def schema_name(raw: Fetched) -> str | None:
    """The schema id (or GUID) that a record names, as text; None where it names none."""
    header = frame_header(raw)
    frame = parse_frame(raw.value or b"" if header is None else header)
    if isinstance(frame, Refusal):
        return None
    return str(uuid.UUID(bytes=frame.schema_guid)) if frame.schema_guid is not None else str(frame.schema_id)


def own_frame(raw: Fetched, expected: tuple[int, ...]) -> Framed | Refusal:
    """A record's value taken apart without a registry: its message indexes must be ``expected``."""
    header = frame_header(raw)
    value = raw.value or b""
    frame = parse_frame(value if header is None else header, expected)
    if isinstance(frame, Refusal):
        return frame
    if header is None:
        return Framed(value[: frame.payload_offset], value[frame.payload_offset :], False)
    if frame.payload_offset != len(header):
        return _behind()
    return Framed(header, value, True)


def frame_header(raw: Fetched) -> bytes | None:
    """The frame in a record's header, where its value is bare; None where there is no such header."""
    for key, value in raw.headers or ():
        if key == VALUE_SCHEMA_ID:
            return value
    return None


def _behind() -> Refusal:
    return Refusal("wire.framing", "bytes behind the frame in a header; expected none")
