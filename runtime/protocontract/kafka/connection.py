"""How the commands about dead letters reach a cluster, and the options that they share."""

from __future__ import annotations

import argparse
import getpass
import json
import os
import re
import time
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from protocontract.cli import UsageError
from protocontract.kafka import client
from protocontract.kafka.client import Producer, ProducerFactory
from protocontract.kafka.errors import GuardError
from protocontract.kafka.letters.form import TOPIC_NAME
from protocontract.kafka.letters.reading import Selection, parsed_code

_AGO: Final = re.compile(r"([0-9]{1,6})([smhd])")
_UNITS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}


class Cluster:
    """A Kafka cluster as the command line names it."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        """``config``: kafka-python's options. Raises UsageError for one that it does not know."""
        try:
            self._consumer, self._producer = client.split_config(config)
        except ValueError as error:
            raise UsageError(str(error)) from None

    @contextmanager
    def reader(self, group: str | None = None) -> Iterator[Any]:
        """A consumer that takes its partitions by itself. ``group`` is where it may commit. Raises GuardError."""
        settings = {
            "client_id": "protocontract-dead-letter",
            "bootstrap_timeout_ms": 10_000,
            **self._consumer,
            "group_id": group,
            "enable_auto_commit": False,
            "auto_offset_reset": "earliest",
            # What a transaction aborted was never written, as far as readers are concerned.
            "isolation_level": "read_committed",
        }
        # Here and not above: `client` says what to install where it is missing, and imports it without its warnings.
        import kafka

        client.keep_payloads_out_of_logs()
        try:
            consumer = kafka.KafkaConsumer(**settings)
        except client.errors.KafkaConfigurationError as error:
            raise UsageError(f"the client configuration is refused: {error}") from None
        except client.errors.KafkaError as error:
            servers = ",".join(self._consumer["bootstrap_servers"])
            raise GuardError(f"no broker answers at {servers} ({type(error).__name__})") from None
        try:
            yield consumer
        finally:
            consumer.close(autocommit=False)

    def retention(self, topic: str) -> float | None:
        """Seconds for which a topic keeps its records; None: for ever, or this user may not know. Raises GuardError."""
        try:
            admin = client.new_admin(self._producer)
            try:
                kept = client.topic_settings(admin, [topic]).get(topic, {}).get("retention.ms", "-1")
            finally:
                admin.close()
        except client.errors.KafkaError as error:
            raise GuardError(f"the settings of {topic} cannot be read ({type(error).__name__})") from None
        return int(kept) / 1000 if kept.isdigit() else None

    def producers(self) -> ProducerFactory:
        """Makes producers of the same cluster. Raises UsageError for a configuration that would lose records."""
        try:
            return client.producer_factory(self._producer)
        except ValueError as error:
            raise UsageError(str(error)) from None


def login() -> str:
    """Who this is, for an audit: the login, or the number of a user who has no name (in a container, say)."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())


def check_topic(topic: str) -> None:
    """Raises UsageError for what no broker accepts as a topic's name."""
    if not TOPIC_NAME.fullmatch(topic):
        raise UsageError(f"`{topic}` is no name of a topic; expected letters, digits, `.`, `_` and `-`")


def partitions_of(producer: Producer, topic: str) -> set[int]:
    """The partitions of a topic that is to be written. Raises GuardError where it cannot be."""
    try:
        found = producer.partitions_for(topic)
    except client.errors.KafkaError as error:
        raise GuardError(
            f"topic {topic} cannot be written ({type(error).__name__}); create it, or grant access"
        ) from None
    if not found:
        raise GuardError(f"topic {topic} does not exist")
    return set(found)


def cluster(options: argparse.Namespace) -> Cluster:
    """The cluster that the options name. Raises as ``configured`` does, and UsageError for an unknown option."""
    return Cluster(configured(options))


def configured(options: argparse.Namespace) -> dict[str, Any]:
    """The options of ``--client-config``, with the brokers: ``--bootstrap-servers``, else the file's, else the
    environment's. Raises UsageError where none is named, OSError where the file cannot be read.
    """
    name = options.client_config
    config = {} if name is None else read_options(name, "kafka-python's options")
    servers = options.bootstrap_servers or config.get("bootstrap_servers") or os.environ.get("KAFKA_BOOTSTRAP_SERVERS")
    if not servers:
        raise UsageError("no broker is named; add --bootstrap-servers HOST:PORT or set KAFKA_BOOTSTRAP_SERVERS")
    config["bootstrap_servers"] = servers.split(",") if isinstance(servers, str) else list(servers)
    return config


def read_options(name: str, what: str) -> dict[str, Any]:
    """The options in a TOML or .json file; ``what`` they are. Raises UsageError, or OSError where it cannot be read."""
    path = Path(name)
    text = path.read_text(encoding="utf-8")
    try:
        found = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except ValueError:
        # The parsers quote the file, which may hold passwords.
        raise UsageError(f"{name} is not a file of {what} in TOML or JSON") from None
    if not isinstance(found, dict):
        raise UsageError(f"{name} holds no options; expected names with values")
    return found


def add_connection(parser: argparse.ArgumentParser) -> None:
    """Options that say where the cluster is."""
    parser.add_argument(
        "--bootstrap-servers", metavar="SERVERS", help="HOST:PORT,...; default $KAFKA_BOOTSTRAP_SERVERS"
    )
    parser.add_argument("--client-config", metavar="FILE", help="kafka-python's options in TOML (or .json): TLS, SASL")


def add_selection(parser: argparse.ArgumentParser) -> None:
    """Options that say which dead letters are meant."""
    parser.add_argument(
        "--rule",
        action="append",
        default=[],
        metavar="ID",
        help="only letters that broke this rule; may be given again",
    )
    parser.add_argument(
        "--code",
        action="append",
        default=[],
        type=_code,
        metavar="CODE",
        help="only letters with this error code, 0xb93db785; may be given again",
    )
    parser.add_argument("--contract", metavar="NAME", help="only letters of this contract: pkg.v1.Message")
    parser.add_argument("--contract-version", metavar="VERSION", help="only letters of this version of the contract")
    parser.add_argument("--group", metavar="NAME", help="only records that failed first in this consumer group")
    parser.add_argument(
        "--since",
        type=_time,
        metavar="TIME",
        help="only letters written since: 2026-03-09T08:00:00Z, or 90m, 12h, 3d ago",
    )
    parser.add_argument("--until", type=_time, metavar="TIME", help="only letters written before")
    parser.add_argument(
        "--partition",
        action="append",
        default=[],
        type=_partition,
        metavar="N",
        help="only records that came from this partition of their source; may be given again",
    )


def add_state(parser: argparse.ArgumentParser) -> None:
    """Where the logs of replays and edits lie."""
    parser.add_argument(
        "--state",
        type=Path,
        metavar="DIR",
        help="where the logs of replays and edits lie; default $XDG_STATE_HOME/protocontract/replay",
    )


def selection(options: argparse.Namespace) -> Selection:
    """Which letters the options mean."""
    return Selection(
        rules=tuple(sorted(set(options.rule))),
        codes=tuple(sorted(set(options.code))),
        contract=options.contract,
        version=options.contract_version,
        group=options.group,
        since=options.since,
        until=options.until,
        partitions=tuple(sorted(set(options.partition))),
    )


def _code(text: str) -> int:
    found = parsed_code(text)
    if found is None:
        raise argparse.ArgumentTypeError("expected a 32-bit code such as 0xb93db785")
    return found


def _partition(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise argparse.ArgumentTypeError("expected the number of a partition")
    return int(text)


def _time(text: str) -> int:
    ago = _AGO.fullmatch(text)
    if ago is not None:
        return int((time.time() - int(ago[1]) * _UNITS[ago[2]]) * 1000)
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        found = None
    if found is None or found.tzinfo is None:
        raise argparse.ArgumentTypeError("expected a time with its zone, 2026-03-09T08:00:00Z, or 90m, 12h, 3d")
    return int(found.timestamp() * 1000)
