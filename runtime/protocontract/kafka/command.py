"""The command ``protocontract guard``: Kafka in, contract, Kafka out."""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import sys
import time
import tomllib
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol, TextIO

from protocontract.cli import BROKEN, COULD_NOT_CHECK, INTERRUPTED, KEPT, UsageError
from protocontract.contract import Contract
from protocontract.kafka import checks, client
from protocontract.kafka.errors import DeadLetterError, GuardError, SinkError
from protocontract.kafka.exactly_once import ExactlyOnce
from protocontract.kafka.forward import Forward
from protocontract.kafka.guard import Guard
from protocontract.kafka.http import Health
from protocontract.kafka.stats import GuardStats
from protocontract.kafka.transaction import TRANSACTION_TIMEOUT_MS, Transactions, Watchdog
from protocontract.terminal import plural

# What a broker accepts as the name of a topic.
_TOPIC: Final = re.compile(r"[a-zA-Z0-9._-]{1,249}")

_DESCRIPTION: Final = """\
Read a topic, apply a contract to every record, and write what keeps it to another topic; what breaks it goes to the
dead-letter topic with the reason. At least once, in the order of each partition. Nothing is lost: an offset is
committed when the record's copy (or its dead letter) is acknowledged. With --exactly-once, good records, dead letters
and offsets are written in transactions: a consumer with isolation_level read_committed sees each exactly once.
"""
_EPILOG: Final = """\
A value that no normalizer changed is written byte for byte; key, headers and timestamp are the source's. Tombstones are
passed on. While the sink or the dead-letter topic cannot be written, the guard waits, stays in its group and says so.

The client configuration is a TOML (or .json) file of kafka-python's options, such as
    security_protocol = "SASL_SSL"

exit codes: 0 stopped, or all done with --exit-at-end (dead letters are its work); 1 stopped with something still
unacknowledged, or stopped by --from stop, by a batch that cannot be read, or by a halt under --halt exit; 2 could not
start, or gave up after --give-up-after; 130 interrupted

protocontract guard status and protocontract guard resume show and end halts; --help after them tells more.

example: protocontract guard --contract acme.finance.v1.Transaction --source payments.raw --sink payments
"""


def guard_command(argv: list[str]) -> int:
    """Guard a topic: Kafka in, contract, Kafka out."""
    if argv[:1] in (["status"], ["resume"]):
        from protocontract.kafka.halt_command import resume_command, status_command

        return (status_command if argv[0] == "status" else resume_command)(argv[1:])
    options = _parser().parse_args(argv)
    servers = options.bootstrap_servers or os.environ.get("KAFKA_BOOTSTRAP_SERVERS")
    config = _client_config(options.client_config)
    if servers:
        config["bootstrap_servers"] = servers.split(",")
    named = config.get("bootstrap_servers")
    if not named:
        raise UsageError("no broker is named; add --bootstrap-servers HOST:PORT or set KAFKA_BOOTSTRAP_SERVERS")
    config["bootstrap_servers"] = named.split(",") if isinstance(named, str) else list(named)
    from protocontract.loading import resolve

    contract = resolve(options.contract, proto_path=options.proto_path, descriptors=options.descriptors)
    dead = options.dead_letter or contract.dead_letter_topic
    if not dead:
        raise UsageError(f"{contract.full_name} names no dead-letter topic; add --dead-letter TOPIC")
    if len({options.source, options.sink, dead}) < 3:
        raise UsageError("source, sink and dead letters must be three topics")
    if options.transactional_id_prefix is not None and not options.exactly_once:
        raise UsageError("--transactional-id-prefix names transactions; add --exactly-once")
    only_at_least_once = [
        name
        for name, given in (
            ("--http", options.http is not None),
            ("--halt", options.halt != "pause"),
            ("--breaker-ratio", options.breaker_ratio is not None),
            ("--breaker-consecutive", options.breaker_consecutive is not None),
        )
        if given
    ]
    if options.exactly_once and only_at_least_once:
        raise UsageError(
            f"{', '.join(only_at_least_once)}: not with --exactly-once, which neither judges levels nor has a breaker"
        )
    for topic in (options.source, options.sink, dead):
        if not _TOPIC.fullmatch(topic):
            raise UsageError(f"`{topic}` is no name of a topic; expected letters, digits, `.`, `_` and `-`")
    try:
        return _run(options, contract, dead, config)
    except (DeadLetterError, SinkError) as error:
        return _say(error, COULD_NOT_CHECK)
    except GuardError as error:
        return _say(error, BROKEN if options.running else COULD_NOT_CHECK)


def _run(options: argparse.Namespace, contract: Contract[Any], dead: str, config: dict[str, Any]) -> int:
    options.running = False
    options.halted = None
    try:
        for_consumer, config = client.split_config(config)
    except ValueError as error:
        raise UsageError(str(error)) from None
    work = (_exactly_once if options.exactly_once else _at_least_once)(options, contract, dead, for_consumer, config)
    guard = work.guard
    progress = _Progress(guard, f"{options.source} -> {options.sink}", sys.stderr)
    work.tick(progress.tick)
    interrupted = False
    with _signals(guard) as received:
        try:
            if not options.skip_checks:
                checks.check(
                    config,
                    options.source,
                    options.sink,
                    dead,
                    group=_group(options),
                    too_large=options.too_large,
                    allow_retention=options.allow_retention,
                )
            work.start()
            options.running = True
            work.run()
        finally:
            work.close()
            if options.running:
                progress.finish()
        interrupted = signal.SIGINT in received
    if options.format == "json":
        print(
            json.dumps(
                {
                    "contract": contract.full_name,
                    "version": contract.version,
                    "fingerprint": contract.fingerprint,
                    "source": options.source,
                    "sink": options.sink,
                    "dead_letter": dead,
                    "unacknowledged": guard.unacknowledged,
                    **guard.stats.as_dict(),
                }
            )
        )
    if guard.unacknowledged:
        reason = guard.blocked or "no acknowledgement within the grace period"
        print(f"{plural(guard.unacknowledged, 'record')} not acknowledged and not committed: {reason}", file=sys.stderr)
        return BROKEN
    if options.halted:
        print(f"halted: {options.halted}", file=sys.stderr)
        return BROKEN
    return INTERRUPTED if interrupted else KEPT


class _Counting(Protocol):
    """What the progress line and the signal handlers need of a guard of either kind."""

    @property
    def stats(self) -> GuardStats: ...
    @property
    def blocked(self) -> str | None: ...
    @property
    def lag(self) -> int | None: ...
    @property
    def unacknowledged(self) -> int: ...
    def stop(self) -> None: ...


class _Work(NamedTuple):
    """A guard of either kind, and how it is driven."""

    guard: _Counting
    tick: Callable[[Callable[[], object]], None]
    start: Callable[[], object]
    run: Callable[[], object]
    close: Callable[[], object]


def _at_least_once(
    options: argparse.Namespace,
    contract: Contract[Any],
    dead: str,
    for_consumer: dict[str, Any],
    config: dict[str, Any],
) -> _Work:
    consumer = _consumer(options, for_consumer)
    try:
        guard: Guard[Any] = Guard(
            consumer,
            contract,
            dead_letters=config,
            dead_letter_topic=dead,
            encoding=options.encoding,
            tombstones="deliver",
            too_large=options.too_large,
            give_up_after=options.give_up_after,
            grace=options.grace,
            stop_at_end=options.exit_at_end,
            breaker=_breaker(options),
        )
    except GuardError:
        consumer.close(autocommit=False)
        raise
    try:
        health = None if options.http is None else Health(guard, options.http)
    except OSError as error:
        guard.close()
        raise GuardError(f"--http: port {options.http} cannot be used ({error.strerror})") from None
    forward = Forward(
        guard,
        options.sink,
        client.producer_factory(config),
        encoding=options.sink_encoding,
        acknowledge_within=client.answer_within(config),
    )

    def tick(function: Callable[[], object]) -> None:
        def step() -> None:
            function()
            if health is not None:
                health.beat()
            if options.halt == "exit" and not guard.stopping:
                options.halted = guard.halted
                if options.halted:
                    guard.stop()

        guard._tick = step

    def close() -> None:
        try:
            guard.close()
            forward.close(options.grace)
        finally:
            if health is not None:
                health.close()

    return _Work(guard, tick, forward.start, forward.run, close)


def _exactly_once(
    options: argparse.Namespace,
    contract: Contract[Any],
    dead: str,
    for_consumer: dict[str, Any],
    config: dict[str, Any],
) -> _Work:
    if contract.on_breach == "HALT":
        raise GuardError(
            "--exactly-once: service levels are not judged there, and the contract halts on a breach; "
            "guard it at least once"
        )
    transactional_id = ".".join(
        (options.transactional_id_prefix or "protocontract", _group(options), options.instance or uuid.uuid4().hex)
    )
    try:
        producers = client.transactional_factory(config, transactional_id, TRANSACTION_TIMEOUT_MS)
    except ValueError as error:
        raise GuardError(f"client configuration: {error}") from None
    consumer = _consumer(options, for_consumer)
    try:
        guard = ExactlyOnce(
            consumer,
            contract,
            Transactions(producers),
            sink=options.sink,
            dead_letter_topic=dead,
            encoding=options.encoding,
            sink_encoding=options.sink_encoding,
            too_large=options.too_large,
            give_up_after=options.give_up_after,
            grace=options.grace,
            stop_at_end=options.exit_at_end,
            sole=options.instance is not None,
        )
    except GuardError:
        consumer.close(autocommit=False)
        raise
    watchdog = Watchdog(lambda: guard.stopping, options.grace)

    def tick(function: Callable[[], object]) -> None:
        guard.tick = function

    def start() -> None:
        watchdog.start()
        guard.start()

    def close() -> None:
        try:
            guard.close()
        finally:
            watchdog.stop()

    return _Work(guard, tick, start, guard.run, close)


def _breaker(options: argparse.Namespace) -> dict[str, Any] | None:
    limits = {"ratio": options.breaker_ratio, "consecutive": options.breaker_consecutive}
    return {name: limit for name, limit in limits.items() if limit is not None} or None


def _group(options: argparse.Namespace) -> str:
    return options.group or f"protocontract.{options.source}.{options.sink}"


def _consumer(options: argparse.Namespace, config: Mapping[str, Any]) -> Any:
    settings = {
        "client_id": "protocontract-guard",
        "bootstrap_timeout_ms": 10_000,
        **config,
        "group_id": _group(options),
        "enable_auto_commit": False,
        "auto_offset_reset": "earliest" if getattr(options, "from") == "earliest" else "none",
        # What a transaction aborted was never written, as far as readers are concerned.
        "isolation_level": "read_committed",
    }
    if options.instance is not None:
        settings["group_instance_id"] = options.instance
    servers = ",".join(config["bootstrap_servers"])
    try:
        # It asks a broker for the cluster before it is there.
        consumer = client.new_consumer(options.source, settings)
    except client.errors.KafkaConfigurationError as error:
        raise UsageError(f"the client configuration is refused: {error}") from None
    except client.errors.KafkaError as error:
        raise GuardError(f"no broker answers at {servers} ({type(error).__name__})") from None
    except (TypeError, ValueError, AssertionError) as error:
        # How kafka-python meets an option of the wrong type; the text may quote a password.
        reason = f"kafka-python ends in {type(error).__name__}"
        raise UsageError(f"the client configuration is refused: {reason}; check the types of its values") from None
    try:
        found = consumer.partitions_for_topic(options.source)
    except client.errors.KafkaError as error:
        consumer.close(autocommit=False)
        raise GuardError(f"no broker answers at {servers} ({type(error).__name__})") from None
    if not found:
        consumer.close(autocommit=False)
        raise GuardError(f"source: topic {options.source} does not exist (or this user may not DESCRIBE it)")
    return consumer


def _client_config(name: str | None) -> dict[str, Any]:
    if name is None:
        return {}
    path = Path(name)
    text = path.read_text(encoding="utf-8")
    try:
        found = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except ValueError:
        # The parsers quote the file, which may hold passwords.
        raise UsageError(f"{name} is not a file of kafka-python's options in TOML or JSON") from None
    if not isinstance(found, dict):
        raise UsageError(f"{name} holds no options; expected names with values")
    return found


def _say(error: GuardError, code: int) -> int:
    print(f"error: {error}", file=sys.stderr)
    return code


@contextmanager
def _signals(guard: _Counting) -> Iterator[list[int]]:
    """SIGTERM and SIGINT stop the guard after the record in hand; the second one ends the process at once."""
    received: list[int] = []
    kinds = (signal.SIGTERM, signal.SIGINT)
    before = {kind: signal.getsignal(kind) for kind in kinds}

    def stop(number: int, _frame: object) -> None:
        received.append(number)
        guard.stop()
        for kind in kinds:
            signal.signal(kind, signal.SIG_DFL)

    for kind in kinds:
        signal.signal(kind, stop)
    try:
        yield received
    finally:
        for kind, handler in before.items():
            signal.signal(kind, handler)


class _Progress:
    """One line on standard error: redrawn every second on a terminal, else printed every ten seconds."""

    def __init__(self, guard: _Counting, title: str, stream: TextIO) -> None:
        self._guard = guard
        self._title = title
        self._stream = stream
        self._live = stream.isatty() and os.environ.get("TERM") != "dumb"
        self._every = 1.0 if self._live else 10.0
        self._next = time.monotonic() + self._every
        self._last = (time.monotonic(), 0)
        self._blocked: str | None = None

    def tick(self) -> None:
        """Show the state if it is time, or if the guard got stuck or free."""
        now = time.monotonic()
        blocked = self._guard.blocked
        if now < self._next and blocked == self._blocked:
            return
        self._blocked = blocked
        self._next = now + self._every
        self._write(self.line(), end=False)

    def finish(self) -> None:
        """Show the last state, on a line of its own."""
        self._write(self.line(), end=True)

    def line(self) -> str:
        """``raw -> payments   1,204 in   1,203 valid (99.96 %)   88 normalised   1 dead   lag 12   31,400/s``."""
        stats = self._guard.stats
        now = time.monotonic()
        then, count = self._last
        consumed = stats.consumed
        rate = max(0, consumed - count) / max(now - then, 1e-9)
        self._last = (now, consumed)
        share = "" if stats.compliance is None else f" ({percent(stats.compliance)})"
        lag = self._guard.lag
        parts = [
            self._title,
            f"{consumed:,} in",
            f"{stats.valid:,} valid{share}",
            f"{stats.normalized:,} normalised",
            f"{stats.dead_lettered:,} dead",
            plural(stats.tombstones, "tombstone") if stats.tombstones else "",
            "" if lag is None else f"lag {lag:,}",
            f"{rate:,.0f}/s",
        ]
        if self._guard.blocked:
            parts.append(f"waiting: {self._guard.blocked}")
        halted = self._guard.halted if isinstance(self._guard, Guard) else None
        if halted:
            parts.append(f"halted: {halted}")
        return "   ".join(part for part in parts if part)

    def _write(self, line: str, *, end: bool) -> None:
        if self._live:
            self._stream.write(f"\r\x1b[K{line}" + ("\n" if end else ""))
        else:
            self._stream.write(f"{line}\n")
        self._stream.flush()


def percent(share: float) -> str:
    """A share with two decimals, never rounded up to 100 %: ``99.96 %``."""
    return f"{int(round(share * 10_000, 6)) / 100:.2f} %"


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1e9:
        raise argparse.ArgumentTypeError("expected seconds above 0")
    return value


def _ratio(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 1:
        raise argparse.ArgumentTypeError("expected a share above 0 and at most 1")
    return value


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < len(text) < 10 and int(text) > 0):
        raise argparse.ArgumentTypeError("expected a number of records, 1 at least")
    return int(text)


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < len(text) < 6 and 0 < int(text) < 65_536):
        raise argparse.ArgumentTypeError("expected a port, 1 to 65535")
    return int(text)


def _instance(text: str) -> str:
    if not _TOPIC.fullmatch(text) or text in (".", ".."):
        raise argparse.ArgumentTypeError("expected letters, digits, `.`, `_` and `-`")
    return text


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="protocontract guard",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--contract", required=True, metavar="NAME", help="full name of the message: pkg.v1.Message")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--proto-path", metavar="DIR", help="compile the contract from the .proto files below DIR")
    where.add_argument("--descriptors", metavar="FILE", help="compile the contract from a FileDescriptorSet")
    parser.add_argument("--source", required=True, metavar="TOPIC", help="where records are read")
    parser.add_argument("--sink", required=True, metavar="TOPIC", help="where good records are written")
    parser.add_argument("--dead-letter", metavar="TOPIC", help="where bad records are written; default the contract's")
    parser.add_argument("--bootstrap-servers", metavar="HOST:PORT[,...]", help="default $KAFKA_BOOTSTRAP_SERVERS")
    parser.add_argument("--client-config", metavar="FILE", help="further options of the Kafka client: TLS, SASL")
    parser.add_argument("--group", metavar="NAME", help="consumer group; default protocontract.SOURCE.SINK")
    parser.add_argument(
        "--instance",
        type=_instance,
        metavar="NAME",
        help="a name that this process keeps over restarts and no other has: it gets its partitions "
        "back without a rebalance (group.instance.id)",
    )
    parser.add_argument(
        "--exactly-once",
        action="store_true",
        help="write good records, dead letters and offsets in transactions of one cluster",
    )
    parser.add_argument(
        "--transactional-id-prefix",
        metavar="TEXT",
        help="transactional ids are TEXT.GROUP.INSTANCE, with a random instance where none is named; "
        "default protocontract",
    )
    parser.add_argument(
        "--from",
        choices=("earliest", "stop"),
        default="earliest",
        help="where to begin without a committed offset; stop refuses, and so reports a gap",
    )
    parser.add_argument(
        "--encoding",
        choices=("protobuf", "confluent", "json", "headers"),
        default="protobuf",
        help="how records are written; headers decides by __value_schema_id and content-type",
    )
    parser.add_argument("--sink-encoding", choices=("protobuf", "json"), help="default as the source")
    parser.add_argument(
        "--too-large",
        choices=("block", "truncate"),
        default="block",
        help="a dead letter that its topic refuses for its size: wait, or cut it and say so",
    )
    parser.add_argument(
        "--allow-retention",
        action="store_true",
        help="start although the dead-letter topic deletes records by their age or number",
    )
    parser.add_argument(
        "--skip-checks", action="store_true", help="start without a look at the topics' rights and settings"
    )
    parser.add_argument(
        "--exit-at-end", action="store_true", help="stop when everything is done that was in the source at the start"
    )
    parser.add_argument(
        "--give-up-after",
        type=_seconds,
        metavar="SECONDS",
        help="end when a topic could not be written for so long; default never",
    )
    parser.add_argument(
        "--grace",
        type=_seconds,
        default=10.0,
        metavar="SECONDS",
        help="time to wait for acknowledgements when stopped; default 10",
    )
    parser.add_argument(
        "--halt",
        choices=("pause", "exit"),
        default="pause",
        help="what a missed level of a contract that halts, or an open breaker, does: stay in the "
        "group and deliver nothing (default), or end with exit code 1",
    )
    parser.add_argument(
        "--breaker-ratio",
        type=_ratio,
        metavar="SHARE",
        help="halt a partition when so many of its last 100 records are bad: 0.5 is half of them",
    )
    parser.add_argument(
        "--breaker-consecutive", type=_count, metavar="N", help="halt a partition after N bad records in a row"
    )
    parser.add_argument(
        "--http",
        type=_port,
        metavar="PORT",
        help="answer /livez, /readyz and /metrics on this port of the loopback interface",
    )
    parser.add_argument(
        "--format",
        choices=("text", "json"),
        default="text",
        help="json prints the counts at the end to standard output",
    )
    return parser
