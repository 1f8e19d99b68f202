"""What is looked at before ``protocontract guard`` starts: topics, rights, the dead-letter topic's settings, codecs.

All of it is asked through the admin client, and all problems are told at once. A codec that the source may hold and
that this installation cannot read is one of them: its first batch would stop the guard.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from protocontract.kafka import client
from protocontract.kafka.errors import GuardError
from protocontract.kafka.letters.dead_letter import MAX_HEADER, MAX_REASON
from protocontract.kafka.outbox import TooLarge

#: Bytes that a dead letter's own headers may take beside the source's record: four lists of violations, the reason, and
#: some twenty short ones.
HEADERS_ROOM: Final = 4 * MAX_HEADER + MAX_REASON + 20 * 320

_UNKNOWN_TOPIC: Final = 3
_FORBIDDEN_TOPIC: Final = 29
_CODECS: Final = ("lz4", "snappy", "zstd")


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic as the broker describes it to this user."""

    name: str
    #: Kafka's error code; 0 if the topic is there.
    error: int = 0
    #: What this user may do with it; empty where the broker does not say.
    operations: frozenset[str] = frozenset()
    #: Its settings, defaults included; empty where this user may not read them.
    settings: Mapping[str, str] = field(default_factory=dict)

    def number(self, name: str) -> int | None:
        """A setting that is a number; None where it is not known."""
        value = self.settings.get(name, "")
        return int(value) if value.lstrip("-").isdigit() else None


def describe(admin: Any, names: Sequence[str]) -> dict[str, Topic]:
    """Ask a ``KafkaAdminClient`` about topics. Raises KafkaError where no broker answers."""
    found = {each["name"]: each for each in admin.describe_topics(list(names))}
    settings = client.topic_settings(admin, names)
    return {
        name: Topic(
            name,
            int(found[name]["error_code"]) if name in found else _UNKNOWN_TOPIC,
            frozenset(found.get(name, {}).get("authorized_operations") or ()),
            settings.get(name, {}),
        )
        for name in names
    }


def may_use_group(admin: Any, group: str) -> bool:
    """Whether this user may see a consumer group. What else goes wrong is left to the first poll: a group that nobody
    has used, and a cluster that no group has used, answer with errors too."""
    try:
        admin.describe_groups([group])
    except client.errors.KafkaError as error:
        return not client.is_forbidden(error)
    return True


def problems(
    source: Topic,
    sink: Topic,
    dead: Topic,
    *,
    too_large: TooLarge = "block",
    allow_retention: bool = False,
    compression: str | None = None,
    missing_codecs: Collection[str] = (),
) -> list[str]:
    """What is wrong with the topics of a guard, each with what to change.

    too_large: what becomes of a dead letter that its topic refuses for its size.
    allow_retention: whether dead letters may be deleted by their age or number.
    compression: the compression that the guard's own producers are told to use.
    missing_codecs: compressions that this installation cannot read or write.
    """
    found = [
        *_access("source", source, "READ"),
        *_access("sink", sink, "WRITE"),
        *_access("dead letters", dead, "WRITE"),
    ]
    return found or [
        *_codecs(source, compression, missing_codecs),
        *_dead_letters(source, dead, too_large, allow_retention),
    ]


def _access(what: str, topic: Topic, operation: str) -> list[str]:
    if topic.error == _UNKNOWN_TOPIC:
        return [f"{what}: topic {topic.name} does not exist (or this user may not DESCRIBE it); create it"]
    if topic.error == _FORBIDDEN_TOPIC:
        return [f"{what}: this user may not see topic {topic.name}; grant DESCRIBE and {operation}"]
    if topic.error:
        return [f"{what}: topic {topic.name} cannot be used ({client.error_name(topic.error)})"]
    if topic.operations and operation not in topic.operations:
        return [f"{what}: this user may not use topic {topic.name}; grant {operation}"]
    return []


def _codecs(source: Topic, compression: str | None, missing: Collection[str]) -> list[str]:
    found = []
    unread = set(missing)
    if compression in _CODECS and compression in missing:
        found.append(
            f"compression_type: this installation cannot write {compression}; "
            f"install what kafka-python needs for {compression}"
        )
        unread.discard(compression)
    stored = source.settings.get("compression.type", "")
    if stored in _CODECS and stored in unread:
        found.append(
            f"source: topic {source.name} is compressed with {stored}, which this installation cannot read; "
            f"install what kafka-python needs for {stored}"
        )
    elif stored == "producer" and unread:
        names = ", ".join(sorted(unread))
        found.append(
            f"source: producers choose how topic {source.name} is compressed (compression.type=producer), and this "
            f"installation cannot read {names}; install what kafka-python needs: "
            'pip install "protocontract[kafka]" brings it'
        )
    return found


def _dead_letters(source: Topic, dead: Topic, too_large: TooLarge, allow_retention: bool) -> list[str]:
    if not dead.settings or not source.settings:
        unread = dead if not dead.settings else source
        return [
            f"the settings of topic {unread.name} cannot be read; grant DESCRIBE_CONFIGS, or start with --skip-checks"
        ]
    found = []
    policies = {each.strip() for each in dead.settings.get("cleanup.policy", "delete").split(",")}
    if "compact" in policies:
        found.append(
            f"dead letters: topic {dead.name} is compacted: of the dead letters of one key only the last "
            "would stay; set cleanup.policy=delete"
        )
    elif not allow_retention:
        finite = [
            f"{name}={value}"
            for name in ("retention.ms", "retention.bytes")
            if (value := dead.number(name)) is not None and value != -1
        ]
        if finite:
            change = ", ".join(f"{each.split('=')[0]}=-1" for each in finite)
            found.append(
                f"dead letters: topic {dead.name} deletes them in time ({', '.join(finite)}); "
                f"set {change}, or start with --allow-retention"
            )
    taken, carried = dead.number("max.message.bytes"), source.number("max.message.bytes")
    if taken is not None and carried is not None:
        # Limits count uncompressed bytes where the broker has to look into a batch; so the sum is safe.
        needed = HEADERS_ROOM + (carried if too_large == "block" else 0)
        if taken < needed:
            more = ", or start with --too-large truncate" if too_large == "block" else ""
            found.append(
                f"dead letters: topic {dead.name} takes records of {taken} bytes, the source carries "
                f"{carried} and headers come to it; set max.message.bytes={needed}{more}"
            )
    return found


def check(
    config: Mapping[str, Any],
    source: str,
    sink: str,
    dead: str,
    *,
    group: str,
    too_large: TooLarge,
    allow_retention: bool,
) -> None:
    """Look at the topics of a guard with the client configuration of its producers.

    Raises GuardError that tells all problems, one a line.
    """
    try:
        admin = client.new_admin(config)
    except client.errors.KafkaError as error:
        raise GuardError(f"no broker answers the admin client ({type(error).__name__})") from None
    try:
        topics = describe(admin, (source, sink, dead))
        seen = may_use_group(admin, group)
    except client.errors.KafkaError as error:
        raise GuardError(
            f"the topics cannot be described ({type(error).__name__}); grant DESCRIBE, or start with --skip-checks"
        ) from None
    finally:
        admin.close()
    found = problems(
        topics[source],
        topics[sink],
        topics[dead],
        too_large=too_large,
        allow_retention=allow_retention,
        compression=config.get("compression_type"),
        missing_codecs=client.missing_codecs(),
    )
    if not seen:
        found.append(f"group: this user may not use consumer group {group}; grant READ")
    if found:
        raise GuardError("\n  ".join(("the guard cannot start:", *found)) if len(found) > 1 else found[0])
