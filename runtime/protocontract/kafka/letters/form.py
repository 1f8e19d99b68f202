"""What may be chosen about dead letters: what becomes of the key, headers for Kafka Connect's tools, and the topic."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from protocontract.kafka.errors import GuardError

if TYPE_CHECKING:
    from protocontract.contract import Contract
    from protocontract.kafka.record import RecordId

KeyPolicy: TypeAlias = Literal["keep", "hash", "drop", "contract"]
KEY_POLICIES: Final[tuple[KeyPolicy, ...]] = ("keep", "hash", "drop", "contract")

#: What a letter's header says of a key that is not the record's.
HASHED: Final = b"hashed"
DROPPED: Final = b"dropped"

#: Where the name of the consumer group goes in the name of a dead-letter topic.
GROUP_PLACE: Final = "{group}"
#: What a broker accepts as the name of a topic; "." and ".." would also be folders.
TOPIC_NAME: Final = re.compile(r"(?!\.{1,2}$)[a-zA-Z0-9._-]{1,249}")


@dataclass(frozen=True, slots=True)
class DeadLetterForm:
    """How a guard writes its dead letters.

    key: "keep" leaves the record's key as it is, so that a replay has it. Where keys are personal data, "hash" puts a
        hash in its place: letters of one key stay together, and the key cannot be read; "drop" sends none; "contract"
        hashes the keys of contracts whose ``key_field`` is sensitive, and keeps the others.
    key_secret: makes the hash an HMAC-SHA-256 with this secret. Without one it is SHA-256, the same everywhere: whoever
        can list all possible keys (all account numbers, say) can find the one that was hashed.
    connect_headers: also write the headers of Kafka Connect's dead-letter queues, for tools that know these.
    """

    key: KeyPolicy = "keep"
    key_secret: bytes | None = field(default=None, repr=False)
    connect_headers: bool = False

    def __post_init__(self) -> None:
        if self.key not in KEY_POLICIES:
            raise GuardError(f"dead-letter key: expected one of {', '.join(KEY_POLICIES)}, got {self.key!r}")
        if self.key_secret is not None and len(self.key_secret) < 16:
            raise GuardError("dead-letter key: a secret of less than 16 bytes can be guessed; give a longer one")

    def key_of(self, key: bytes | None, contract: Contract[Any]) -> tuple[bytes | None, bytes | None]:
        """The letter's key, and what its header says of it: None where it is the record's own."""
        if key is None or self.key == "keep" or (self.key == "contract" and not _key_is_sensitive(contract)):
            return key, None
        if self.key == "drop":
            return None, DROPPED
        return self.hash(key), HASHED

    def hash(self, key: bytes) -> bytes:
        """A key's hash: 64 hexadecimal digits."""
        if self.key_secret is not None:
            return hmac.new(self.key_secret, key, hashlib.sha256).hexdigest().encode()
        return hashlib.sha256(key).hexdigest().encode()


def _key_is_sensitive(contract: Contract[Any]) -> bool:
    return bool(contract.key_field) and contract.key_field in contract.sensitive


def topic_for(name: str, group: str) -> str:
    """The dead-letter topic of a consumer group: ``{group}`` in the name stands for it.

    Raises GuardError where the result is no name of a topic.
    """
    if GROUP_PLACE not in name:
        return name
    topic = name.replace(GROUP_PLACE, group)
    if not TOPIC_NAME.fullmatch(topic):
        raise GuardError(
            f"dead-letter topic {name}: with group `{group}` it is no name of a topic; expected letters, digits, "
            "`.`, `_` and `-`, 249 at most"
        )
    return topic


# ----------------------------------------------------------------------------------------------------------------------
# Kafka Connect's headers, by the names of its reporter of dead letters (KIP-298)

CONNECT_PREFIX: Final = "__connect.errors."
#: Longest text in one of these headers, in bytes.
_MAX_TEXT: Final = 2_048
_STAGES: Final = {"wire": "VALUE_CONVERTER", "handler": "TASK_PUT", "key": "KEY_CONVERTER"}


def connect_headers(
    origin: RecordId, group: str, contract: str, findings: Sequence[tuple[str, str, str]], reason: str | None
) -> list[tuple[str, bytes]]:
    """What Connect would write about a record, without any value: the message lists rules, codes and field paths.

    findings: rule id, error code and redacted field path of each violation.
    """
    first = findings[0][0] if findings else ""
    lines = [f"{rule_id} ({code}) {path}".rstrip() for rule_id, code, path in findings]
    if reason is not None:
        lines.append(f"reason: {reason}")
    message = f"{contract}: {'; '.join(lines)}"
    error = "protocontract.ContractViolation"
    said = (
        ("topic", origin.topic),
        ("partition", str(origin.partition)),
        ("offset", str(origin.offset)),
        ("connector.name", group),
        # Connect numbers its tasks, and tools read a number. A consumer group's members have none.
        ("task.id", "0"),
        ("stage", _STAGES.get(first.partition(".")[0], "TRANSFORMATION")),
        ("class.name", "protocontract.kafka.Guard"),
        ("exception.class.name", error),
        ("exception.message", message),
        ("exception.stacktrace", "\n\tat ".join((f"{error}: {contract}", *lines))),
    )
    return [(CONNECT_PREFIX + name, _cut(text)) for name, text in said]


def without_connect_headers(headers: list[tuple[str, bytes]], count: int) -> list[tuple[str, bytes]]:
    """A letter's headers without the last ``count``, if these are Connect's and ours; a source may have its own."""
    ours = headers[len(headers) - count :] if 0 < count <= len(headers) else []
    if ours and all(name.startswith(CONNECT_PREFIX) for name, _ in ours):
        return headers[: len(headers) - count]
    return headers


def _cut(text: str) -> bytes:
    return text.encode("utf-8", "replace")[:_MAX_TEXT].decode("utf-8", "ignore").encode()
