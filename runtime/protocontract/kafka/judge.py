"""One record's verdict: which contract, which encoding, does it keep the contract, does its key agree."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet

from protocontract import wire
from protocontract.kafka.errors import GuardError
from protocontract.kafka.letters.dead_letter import NORMALIZED, own_violation
from protocontract.kafka.ports import Fetched
from protocontract.kafka.registry.frames import VALUE_SCHEMA_ID, Framed, Frames, own_frame
from protocontract.violations import Refusal, Violation, numbered

if TYPE_CHECKING:
    from protocontract.contract import Contract, Encoding, Outcome
    from protocontract.kafka.registry.registry import Registry

#: How records are written: one encoding for all, by each record's headers, a function of the record; or framed, with
#: a registry that says which schema a frame means.
EncodingChoice: TypeAlias = (
    "Literal['protobuf', 'confluent', 'json', 'headers'] | Callable[[Fetched], Encoding] | Registry"
)

ENCODINGS: Final = ("protobuf", "confluent", "json", "headers")
_CONTENT_TYPES: Final[Mapping[bytes, Encoding]] = {
    b"application/json": "json",
    b"application/protobuf": "protobuf",
    b"application/x-protobuf": "protobuf",
    b"application/vnd.google.protobuf": "protobuf",
}


class Judge:
    """Applies the contracts of a guard's topics to raw records."""

    def __init__(self, contracts: Contract[Any] | Mapping[str, Contract[Any]], encoding: EncodingChoice) -> None:
        #: What frames mean, where the guard was given a registry. (Its module is imported only by who has one.)
        self.registry: Registry | None = None
        if hasattr(encoding, "frames") and not callable(encoding) and not isinstance(encoding, str):
            self.registry, encoding = encoding, "confluent"
        if not callable(encoding) and encoding not in ENCODINGS:
            raise GuardError(f"encoding: expected one of {', '.join(ENCODINGS)} or a function, got {encoding!r}")
        self._encoding: Literal["headers"] | Encoding | Callable[[Fetched], Encoding] = _plain(encoding)
        self._fixed: Encoding | None = (
            None if callable(self._encoding) or self._encoding == "headers" else self._encoding
        )
        if isinstance(contracts, Mapping):
            self._by_topic: dict[str, Contract[Any]] | None = dict(contracts)
            self._single: Contract[Any] | None = None
            if not contracts:
                raise GuardError("contract: at least one is needed")
        else:
            self._by_topic = None
            self._single = contracts
        self._judges: dict[str, TopicJudge] = {}
        self._times: Times | None = None
        self._wrap: Callable[[str, TopicJudge], TopicJudge] | None = None
        for contract in self.contracts:
            _check_key_field(contract)

    @property
    def contracts(self) -> list[Contract[Any]]:
        """Every contract in use."""
        if self._by_topic is None:
            return [] if self._single is None else [self._single]
        return list(self._by_topic.values())

    def contract_of(self, topic: str) -> Contract[Any]:
        """The contract of a topic's records. Raises GuardError where none is given."""
        if self._single is not None:
            return self._single
        found = (self._by_topic or {}).get(topic)
        if found is None:
            raise GuardError(
                f"contract: none is given for topic {topic}; add it to the mapping or do not subscribe to it"
            )
        return found

    def encoding_of(self, raw: Fetched) -> Encoding:
        """How a record's value is written."""
        if self._fixed is not None:
            if self._fixed == "confluent" and raw.headers and _header(raw.headers, VALUE_SCHEMA_ID) is not None:
                # Confluent's header variant: the id and the message indexes stand in the header, the value is bare.
                return "protobuf"
            return self._fixed
        if callable(self._encoding):
            return self._encoding(raw)
        if raw.headers:
            if _header(raw.headers, VALUE_SCHEMA_ID) is not None:
                return "protobuf"
            content_type = _header(raw.headers, "content-type")
            if content_type is not None:
                return _CONTENT_TYPES.get(content_type.split(b";")[0].strip().lower(), "protobuf")
        return "protobuf"

    def for_topic(self, topic: str) -> TopicJudge:
        """The judge of one topic's records, with all that is the same for them looked up once."""
        found = self._judges.get(topic)
        if found is None:
            contract = self.contract_of(topic)
            frames = None if self.registry is None else self.registry.frames(contract)
            heeds = not callable(self._encoding) and self._encoding in ("confluent", "headers")
            found = TopicJudge(contract, self._fixed, self.encoding_of, frames, heeds)
            if self._times is not None:
                found = TimedJudge(found, self._times)
            if self._wrap is not None:
                found = self._wrap(topic, found)
            self._judges[topic] = found
        return found

    def measure(self) -> Times:
        """Take the time of every record from now on: two readings of a clock each."""
        if self._times is None:
            self._times = Times()
            self._judges.clear()
        return self._times

    @property
    def is_wrapped(self) -> bool:
        """Whether ``wrap`` was called."""
        return self._wrap is not None

    def wrap(self, function: Callable[[str, TopicJudge], TopicJudge]) -> None:
        """Put something around the judge of each topic, from now on."""
        self._wrap = function
        self._judges.clear()


class Times:
    """How many records were judged while time was taken, and for how long in all."""

    __slots__ = ("count", "seconds")

    def __init__(self) -> None:
        self.count = 0
        self.seconds = 0.0


class TopicJudge:
    """Applies one contract to the records of one topic. Called for every record, so it does only what it must."""

    __slots__ = (
        "_encoding_of",
        "_fixed",
        "_frames",
        "_heeds_frames",
        "_key_of",
        "_process",
        "contract",
        "has_unknown_fields",
        "plain",
    )

    def __init__(
        self,
        contract: Contract[Any],
        fixed: Encoding | None,
        encoding_of: Callable[[Fetched], Encoding],
        frames: Frames | None = None,
        heeds_frames: bool = False,
    ) -> None:
        """``heeds_frames``: whether a frame in a header says how the value is written."""
        self.contract = contract
        self._frames = frames
        self._heeds_frames = heeds_frames
        self._process = contract.process
        self._fixed: Encoding | None = fixed
        self._encoding_of = encoding_of
        self._key_of = _key_reader(contract)
        #: Whether a message holds fields that its contract does not know.
        self.has_unknown_fields = _unknown_fields_check(contract.message_type.DESCRIPTOR)
        #: The whole verdict on the value of a record without headers, where nothing but the value is asked; else None.
        self.plain: Callable[[bytes | None], Outcome[Any]] | None = (
            contract.process if fixed == "protobuf" and frames is None and self._key_of is None else None
        )

    def __call__(self, raw: Fetched) -> tuple[Outcome[Any], Violation | None]:
        """The contract's outcome of a record that has a value, and what the guard itself finds against it.

        Raises Later where a registry is to be asked first.
        """
        headers = raw.headers
        if self._frames is not None or (
            headers and self._heeds_frames and _header(headers, VALUE_SCHEMA_ID) is not None
        ):
            outcome = self._framed(raw)
        elif headers:
            outcome = self._process(
                raw.value, encoding=self._encoding_of(raw), normalized=already_normalized(headers, self.contract)
            )
        elif self._fixed is not None:
            outcome = self._process(raw.value, encoding=self._fixed)
        else:
            outcome = self._process(raw.value, encoding=self._encoding_of(raw))
        key_of = self._key_of
        if key_of is not None and outcome.message is not None and key_of(outcome.message) != raw.key:
            return outcome, _key_mismatch(raw.key, self.contract)
        return outcome, None

    def _framed(self, raw: Fetched) -> Outcome[Any]:
        """Of a record that a registry tells about, or whose header holds its frame."""
        found = self.split(raw)
        if isinstance(found, Refusal):
            return self.contract._refused(raw.value, found)
        return self._process(found.payload, normalized=already_normalized(raw.headers or (), self.contract))

    def split(self, raw: Fetched) -> Framed | Refusal:
        """The value of a framed record taken apart. Raises Later."""
        if self._frames is not None:
            return self._frames.split(raw)
        return own_frame(raw, wire.message_indexes(self.contract.message_type.DESCRIPTOR))


class TimedJudge(TopicJudge):
    """The same judge with a stop-watch."""

    __slots__ = ("_times",)

    def __init__(self, judge: TopicJudge, times: Times) -> None:
        super().__init__(judge.contract, judge._fixed, judge._encoding_of, judge._frames, judge._heeds_frames)
        self.plain = None
        self._times = times

    def __call__(self, raw: Fetched) -> tuple[Outcome[Any], Violation | None]:
        """As ``TopicJudge``."""
        began = perf_counter()
        found = super().__call__(raw)
        self._times.seconds += perf_counter() - began
        self._times.count += 1
        return found


def _plain(encoding: Any) -> Any:
    """What is no registry any more; a type checker cannot see it."""
    return encoding


def already_normalized(headers: Sequence[tuple[str, bytes | None]], contract: Contract[Any]) -> bool:
    """Whether a guard of this very contract has normalised the record: then it is only validated."""
    return _header(headers, NORMALIZED) == contract.fingerprint.encode()


def _header(headers: Sequence[tuple[str, bytes | None]], name: str) -> bytes | None:
    for key, value in headers:
        if key == name:
            return value
    return None


def _check_key_field(contract: Contract[Any]) -> None:
    name = contract.key_field
    field = contract.message_type.DESCRIPTOR.fields_by_name.get(name) if name else None
    if name and (field is None or field.is_repeated or field.message_type is not None):
        raise GuardError(f"key_field: {name} is no single value of {contract.full_name}")


def _key_reader(contract: Contract[Any]) -> Callable[[Message], bytes] | None:
    """What the record's key must be, from its message; None where the contract says nothing about keys."""
    name = contract.key_field
    if not name:
        return None
    field = contract.message_type.DESCRIPTOR.fields_by_name[name]
    if field.type == FieldDescriptor.TYPE_STRING:
        return lambda message: cast(bytes, getattr(message, name).encode())
    if field.type == FieldDescriptor.TYPE_BYTES:
        return lambda message: cast(bytes, getattr(message, name))
    if field.type == FieldDescriptor.TYPE_BOOL:
        return lambda message: b"true" if getattr(message, name) else b"false"
    return lambda message: str(getattr(message, name)).encode()


def _key_mismatch(key: bytes | None, contract: Contract[Any]) -> Violation:
    got = "no key" if key is None else f"{numbered(len(key))}-byte key"
    return own_violation(contract, "key.mismatch", f"must equal the record's key, got {got}", contract.key_field)


def _unknown_fields_check(descriptor: Descriptor) -> Callable[[Message], bool]:
    if any(field.message_type is not None for field in descriptor.fields):
        return wire.unknown_fields
    # A flat message: a tenth of the time.
    return lambda message: len(UnknownFieldSet(message)) > 0
