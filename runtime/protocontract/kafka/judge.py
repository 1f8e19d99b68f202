"""One record's verdict: which contract, which encoding, does it keep the contract, does its key agree."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from google.protobuf.message import Message

from protocontract.kafka.client import Fetched
from protocontract.kafka.dead_letter import NORMALIZED, own_violation
from protocontract.kafka.errors import GuardError
from protocontract.violations import Violation

if TYPE_CHECKING:
    from protocontract.contract import Contract, Encoding, Outcome

#: How records are written: one encoding for all, by each record's headers, or a function of the record.
EncodingChoice: TypeAlias = "Literal['protobuf', 'confluent', 'json', 'headers'] | Callable[[Fetched], Encoding]"

ENCODINGS: Final = ("protobuf", "confluent", "json", "headers")
_SCHEMA_ID_HEADER: Final = "__value_schema_id"
_CONTENT_TYPES: Final[Mapping[bytes, Encoding]] = {
    b"application/json": "json",
    b"application/protobuf": "protobuf",
    b"application/x-protobuf": "protobuf",
    b"application/vnd.google.protobuf": "protobuf",
}


class Judge:
    """Applies the contracts of a guard's topics to raw records."""

    def __init__(self, contracts: Contract[Any] | Mapping[str, Contract[Any]], encoding: EncodingChoice) -> None:
        if not callable(encoding) and encoding not in ENCODINGS:
            raise GuardError(f"encoding: expected one of {', '.join(ENCODINGS)} or a function, got {encoding!r}")
        self._encoding = encoding
        self._fixed: Encoding | None = None if callable(encoding) or encoding == "headers" else encoding
        if isinstance(contracts, Mapping):
            self._by_topic: dict[str, Contract[Any]] | None = dict(contracts)
            self._single: Contract[Any] | None = None
            if not contracts:
                raise GuardError("contract: at least one is needed")
        else:
            self._by_topic = None
            self._single = contracts
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
                f"contract: none is given for topic {topic}; add it to the mapping or do not subscribe to it")
        return found

    def encoding_of(self, raw: Fetched) -> Encoding:
        """How a record's value is written."""
        if self._fixed is not None:
            if self._fixed == "confluent" and raw.headers and _header(raw.headers, _SCHEMA_ID_HEADER) is not None:
                # Confluent's header variant: the id and the message indexes stand in the header, the value is bare.
                return "protobuf"
            return self._fixed
        if callable(self._encoding):
            return self._encoding(raw)
        if raw.headers:
            if _header(raw.headers, _SCHEMA_ID_HEADER) is not None:
                return "protobuf"
            content_type = _header(raw.headers, "content-type")
            if content_type is not None:
                return _CONTENT_TYPES.get(content_type.split(b";")[0].strip().lower(), "protobuf")
        return "protobuf"

    def judge(self, raw: Fetched, contract: Contract[Any]) -> tuple[Outcome[Any], tuple[Violation, ...]]:
        """The contract's outcome of a record that has a value, and what the guard itself finds against it."""
        value = raw.value
        if raw.headers:
            outcome = contract.process(
                value, encoding=self.encoding_of(raw), normalized=already_normalized(raw.headers, contract))
        else:
            outcome = contract.process(value, encoding=self._fixed or self.encoding_of(raw))
        if contract.key_field and outcome.message is not None:
            mismatch = _key_mismatch(raw.key, outcome.message, contract)
            if mismatch is not None:
                return outcome, (mismatch,)
        return outcome, ()


def already_normalized(headers: Sequence[tuple[str, bytes | None]], contract: Contract[Any]) -> bool:
    """Whether a guard of this very contract has normalised the record: then it is only validated."""
    return _header(headers, NORMALIZED) == contract.fingerprint.encode()


def _header(headers: Sequence[tuple[str, bytes | None]], name: str) -> bytes | None:
    for key, value in headers:
        if key == name:
            return value
    return None


def _check_key_field(contract: Contract[Any]) -> None:
    if contract.key_field and contract.key_field not in contract.message_type.DESCRIPTOR.fields_by_name:
        raise GuardError(f"key_field: {contract.key_field} is not a field of {contract.full_name}")


def _key_mismatch(key: bytes | None, message: Message, contract: Contract[Any]) -> Violation | None:
    name = contract.key_field
    value = getattr(message, name)
    if isinstance(value, bytes):
        expected = value
    elif isinstance(value, str):
        expected = value.encode()
    elif isinstance(value, bool):
        expected = b"true" if value else b"false"
    else:
        expected = str(value).encode()
    if key == expected:
        return None
    got = "no key" if key is None else f"a {len(key)}-byte key"
    return own_violation(contract, "key.mismatch", f"must equal the record's key, got {got}", name)
