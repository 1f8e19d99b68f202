"""What a dead letter looks like: the source's bytes as they came, and headers that say why and from where.

Key, value and headers of the source stay as they are. Ours are added behind them; a dead letter that was replayed and
failed again keeps the position and the time of its first failure and gets each of our headers once. No header holds a
value of the record.

What kafka-python cannot send has a convention:

- a header whose value is null is sent as ``b""``; ``protocontract.null_headers`` lists the places of these headers
  among the source's, counted from 0;
- a record with neither key nor value is sent with the value ``b""`` and the header ``protocontract.null: value``.

A key that is hashed or left out is said to be so in ``protocontract.key``; see ``letter_form``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from protocontract.kafka.letters.form import DeadLetterForm, connect_headers, without_connect_headers
from protocontract.kafka.ports import Fetched
from protocontract.kafka.record import PREFIX, record_id, timestamp_type
from protocontract.kafka.registry.frames import schema_name
from protocontract.violations import FieldElement, Rule, Violation, rule_label

if TYPE_CHECKING:
    from protocontract.contract import Contract

#: The headers of a dead letter. They are replaced, never repeated, when a replayed record fails again.
TOPIC: Final = f"{PREFIX}topic"
PARTITION: Final = f"{PREFIX}partition"
OFFSET: Final = f"{PREFIX}offset"
TIMESTAMP: Final = f"{PREFIX}timestamp"
TIMESTAMP_TYPE: Final = f"{PREFIX}timestamp_type"
GROUP: Final = f"{PREFIX}group"
#: The group in which the record failed first, where a replay brought it to another one.
FIRST_GROUP: Final = f"{PREFIX}first_group"
CLIENT: Final = f"{PREFIX}client"
CONTRACT: Final = f"{PREFIX}contract"
VERSION: Final = f"{PREFIX}version"
FINGERPRINT: Final = f"{PREFIX}fingerprint"
RULE_IDS: Final = f"{PREFIX}rule_ids"
ERROR_CODES: Final = f"{PREFIX}error_codes"
FIELD_PATHS: Final = f"{PREFIX}field_paths"
ERROR_CLASS: Final = f"{PREFIX}error_class"
VIOLATIONS: Final = f"{PREFIX}violations"
REASON: Final = f"{PREFIX}reason"
#: The schema id (or GUID) that a record names which breaks a rule ``schema.*``.
SCHEMA: Final = f"{PREFIX}schema"
ATTEMPT: Final = f"{PREFIX}attempt"
FIRST_FAILED_AT: Final = f"{PREFIX}first_failed_at"
REPLAYS: Final = f"{PREFIX}replays"
NULL: Final = f"{PREFIX}null"
NULL_HEADERS: Final = f"{PREFIX}null_headers"
TRUNCATED: Final = f"{PREFIX}truncated"
ORIGINAL_SIZE: Final = f"{PREFIX}original_size"
SHA256: Final = f"{PREFIX}sha256"
#: ``hashed`` or ``dropped``: the letter's key is not the record's.
KEY: Final = f"{PREFIX}key"
#: How many headers before ours are those of Kafka Connect, written by us.
CONNECT: Final = f"{PREFIX}connect"
#: Who let a guard skip the record, and when. ``skipped_until``: nothing of the records below that offset is in here.
SKIPPED_BY: Final = f"{PREFIX}skipped_by"
SKIPPED_AT: Final = f"{PREFIX}skipped_at"
SKIPPED_UNTIL: Final = f"{PREFIX}skipped_until"
#: Who changed the record before it was sent again, when, why, and in which fields. These stay with the record.
EDITED_BY: Final = f"{PREFIX}edited_by"
EDITED_AT: Final = f"{PREFIX}edited_at"
EDITED_FIELDS: Final = f"{PREFIX}edited_fields"
EDIT_REASON: Final = f"{PREFIX}edit_reason"
EDITED: Final = (EDITED_BY, EDITED_AT, EDITED_FIELDS, EDIT_REASON)
#: Written by a replay, beside position, time and attempts of the dead letter, which stay.
REPLAYED: Final = f"{PREFIX}replayed"
PLAN: Final = f"{PREFIX}replay_plan"
#: The one consumer group that a replayed record is for. Guards of other groups skip it.
TARGET_GROUP: Final = f"{PREFIX}target_group"
#: Written on good records: the fingerprint of the contract that a guard has applied already.
NORMALIZED: Final = f"{PREFIX}normalized"

DEAD_LETTER_HEADERS: Final = frozenset(
    {
        TOPIC,
        PARTITION,
        OFFSET,
        TIMESTAMP,
        TIMESTAMP_TYPE,
        GROUP,
        CLIENT,
        CONTRACT,
        VERSION,
        FINGERPRINT,
        RULE_IDS,
        ERROR_CODES,
        FIELD_PATHS,
        ERROR_CLASS,
        VIOLATIONS,
        REASON,
        SCHEMA,
        ATTEMPT,
        FIRST_FAILED_AT,
        REPLAYS,
        NULL,
        NULL_HEADERS,
        TRUNCATED,
        ORIGINAL_SIZE,
        SHA256,
        REPLAYED,
        PLAN,
        TARGET_GROUP,
        FIRST_GROUP,
        KEY,
        CONNECT,
        SKIPPED_BY,
        SKIPPED_AT,
        SKIPPED_UNTIL,
        *EDITED,
    }
)

#: Bounds of one record's headers: how many violations are listed, and how many bytes one header takes.
MAX_LISTED: Final = 50
MAX_HEADER: Final = 2_048
MAX_REASON: Final = 1_024
MAX_GROUP: Final = 255


@dataclass(frozen=True, slots=True)
class Letter:
    """A record to be sent: to the dead-letter topic, or to a sink."""

    topic: str
    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes]]
    #: Milliseconds since 1970; None for the present.
    timestamp: int | None = None

    @property
    def size(self) -> int:
        """Bytes of key, value and headers."""
        return len(self.key or b"") + len(self.value or b"") + sum(len(key) + len(value) for key, value in self.headers)


@dataclass(frozen=True, slots=True)
class Provenance:
    """What is the same for all dead letters of a guard."""

    group: str
    client: str
    form: DeadLetterForm = field(default_factory=DeadLetterForm)

    @classmethod
    def of(cls, config: Mapping[str, Any], form: DeadLetterForm | None) -> Provenance:
        """That of a guard whose consumer has this configuration."""
        return cls(str(config["group_id"]), str(config.get("client_id") or ""), form or DeadLetterForm())


def dead_letter(
    raw: Fetched,
    topic: str,
    contract: Contract[Any],
    violations: Sequence[Violation],
    provenance: Provenance,
    *,
    reason: str | None = None,
    now: float,
) -> Letter:
    """The dead letter of a record. ``now`` is in seconds since 1970."""
    before, kept, nulls = split_headers(raw.headers)
    origin = record_id(raw)
    again = TOPIC in before
    attempt = _count(before.get(ATTEMPT)) + 1 if again else 1
    key, key_form = provenance.form.key_of(raw.key, contract)
    if again and KEY in before:
        # It came with a key that was not the record's already.
        key, key_form = raw.key, _kept(before, KEY, again)
    value = raw.value
    findings = [(rule_label(each), f"{each.code:#010x}", each.redacted_path) for each in violations[:MAX_LISTED]]
    ours: list[tuple[str, bytes]] = [
        (TOPIC, origin.topic.encode()),
        (PARTITION, b"%d" % origin.partition),
        (OFFSET, b"%d" % origin.offset),
        (TIMESTAMP, _kept(before, TIMESTAMP, again) or str(raw.timestamp).encode()),
        (TIMESTAMP_TYPE, _kept(before, TIMESTAMP_TYPE, again) or timestamp_type(raw).encode()),
        (GROUP, group_header(provenance.group)),
        (CLIENT, bounded(provenance.client)),
        (CONTRACT, contract.full_name.encode()),
        (VERSION, (contract.version or "").encode()),
        (FINGERPRINT, contract.fingerprint.encode()),
        (RULE_IDS, joined(rule_id for rule_id, _, _ in findings)),
        (ERROR_CODES, joined(code for _, code, _ in findings)),
        (FIELD_PATHS, joined(path for _, _, path in findings)),
        (ERROR_CLASS, joined(dict.fromkeys(error_class(violation) for violation in violations))),
        (VIOLATIONS, b"%d" % len(violations)),
        (ATTEMPT, b"%d" % attempt),
        (FIRST_FAILED_AT, _kept(before, FIRST_FAILED_AT, again) or moment_header(now)),
        (REPLAYS, b"%d" % _count(before.get(REPLAYS) if again else None)),
    ]
    first_group = before.get(FIRST_GROUP, before.get(GROUP)) if again else None
    if first_group and len(first_group) <= MAX_GROUP and first_group != group_header(provenance.group):
        ours.append((FIRST_GROUP, first_group))
    if reason is not None:
        ours.append((REASON, bounded(reason, MAX_REASON)))
    if any(violation.rule_id.startswith("schema.") for violation in violations):
        ours.append((SCHEMA, (schema_name(raw) or "").encode()))
    if nulls:
        ours.append((NULL_HEADERS, ",".join(map(str, nulls)).encode()))
    if key_form is not None:
        ours.append((KEY, key_form))
    ours += edits(before)
    if value is None and key is None:
        value = b""
        ours.append((NULL, b"value"))
    if provenance.form.connect_headers:
        theirs = connect_headers(origin, provenance.group, contract.full_name, findings, reason)
        ours.append((CONNECT, b"%d" % len(theirs)))
        kept = kept + theirs
    return Letter(topic, key, value, kept + ours)


def truncated(letter: Letter, size: int) -> Letter:
    """The same dead letter with the first ``size`` bytes of its value, and the SHA-256 and size of the whole."""
    if letter.value is None or any(key == TRUNCATED for key, _ in letter.headers):
        # Already cut once: the digest stays that of the whole value.
        return replace(letter, value=None if letter.value is None else letter.value[:size])
    declared = [
        (TRUNCATED, b"true"),
        (ORIGINAL_SIZE, b"%d" % len(letter.value)),
        (SHA256, hashlib.sha256(letter.value).hexdigest().encode()),
    ]
    return replace(letter, value=letter.value[:size], headers=letter.headers + declared)


def sendable_headers(headers: Sequence[tuple[str, bytes | None]]) -> list[tuple[str, bytes]]:
    """The source's headers for a good record: all as they came, null values by the convention above.

    A dead letter that was replayed and is now good is a dead letter no longer: what said so goes. Who changed it stays.
    """
    if not headers:
        return []
    before, kept, nulls = split_headers(headers)
    kept += edits(before)
    if nulls:
        kept.append((NULL_HEADERS, ",".join(map(str, nulls)).encode()))
    return kept


def restored_headers(headers: Sequence[tuple[str, bytes | None]]) -> list[tuple[str, bytes | None]]:
    """The source's headers as they were, from a dead letter or a sink record: nulls are nulls again."""
    _, kept, nulls = split_headers(headers)
    return [(key, None if place in nulls else value) for place, (key, value) in enumerate(kept)]


def edits(before: dict[str, bytes]) -> list[tuple[str, bytes]]:
    """The headers that tell who changed a record, and why: they go wherever it goes. ``before``: headers of ours."""
    return [(name, before[name][:MAX_HEADER]) for name in EDITED if name in before]


def for_another_group(headers: Sequence[tuple[str, bytes | None]], group: bytes) -> bool:
    """Whether a replay sent this record to one consumer group, and that is not ``group`` (see ``group_header``)."""
    # A plain loop: it is asked for every record that has headers.
    for key, value in headers:
        if key == TARGET_GROUP:
            return value is not None and value != group
    return False


def group_header(group: str) -> bytes:
    """A consumer group's name as headers hold it."""
    return bounded(group)


def split_headers(
    headers: Sequence[tuple[str, bytes | None]],
) -> tuple[dict[str, bytes], list[tuple[str, bytes]], list[int]]:
    """Our earlier headers, the source's own in order with nulls as ``b""``, and the places of these nulls."""
    before: dict[str, bytes] = {}
    kept: list[tuple[str, bytes]] = []
    nulls: list[int] = []
    for key, value in headers or ():
        if key in DEAD_LETTER_HEADERS:
            if value is not None:
                before[key] = value
            continue
        if value is None:
            nulls.append(len(kept))
            value = b""
        kept.append((key, value))
    if CONNECT in before:
        kept = without_connect_headers(kept, _count(before[CONNECT]))
    # Places noted by an earlier guard, as far as they still fit.
    nulls += [
        int(place)
        for place in before.get(NULL_HEADERS, b"").split(b",")
        if place.isdigit() and len(place) < 10 and int(place) < len(kept) and kept[int(place)][1] == b""
    ]
    return before, kept, sorted(set(nulls))


def error_class(violation: Violation) -> str:
    """``INPUT/IMMEDIATE``: where the violation comes from, and what ends it."""
    return f"{violation.error_class.source}/{violation.error_class.remedy}"


def own_violation(contract: Contract[Any], rule_id: str, message: str, field: str | None = None) -> Violation:
    """A violation that the guard itself found, of the whole record or of one field. It never carries the value."""
    path: tuple[FieldElement, ...] = ()
    if field is not None:
        described = contract.message_type.DESCRIPTOR.fields_by_name[field]
        path = (FieldElement(described.number, described.name, described.type),)
    return Violation(Rule(contract.full_name, path, rule_id, message))


def joined(parts: Iterable[str]) -> bytes:
    """The entries of a header: comma-separated, whole entries only, within the bound of one header."""
    entries: list[bytes] = []
    room = MAX_HEADER
    for part in parts:
        entry = part.encode("utf-8", "replace")
        room -= len(entry) + 1
        if room < 0:
            break
        entries.append(entry)
    return b",".join(entries)


def bounded(text: str, size: int = MAX_GROUP) -> bytes:
    """Text as a header holds it, cut to ``size`` bytes."""
    return text.encode("utf-8", "replace")[:size].decode("utf-8", "ignore").encode()


def moment_header(now: float) -> bytes:
    """A time in seconds since 1970 as a header holds it: RFC 3339 in UTC, to the millisecond."""
    return datetime.fromtimestamp(now, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z").encode()


# ----------------------------------------------------------------------------------------------------------------------


def _kept(before: dict[str, bytes], name: str, again: bool) -> bytes | None:
    value = before.get(name) if again else None
    return value if value is not None and len(value) <= 64 else None


def _count(value: bytes | None) -> int:
    return int(value) if value is not None and value.isdigit() and len(value) < 10 else 0
