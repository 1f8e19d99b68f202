"""The command ``protocontract guard``: Kafka in, contract, Kafka out."""

from __future__ import annotations

import argparse
import json
import signal
import sys
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

from protocontract.cli import BROKEN, COULD_NOT_CHECK, INTERRUPTED, KEPT, UsageError
from protocontract.contract import Contract
from protocontract.kafka import checks, client
from protocontract.kafka.connection import Cluster, check_topic, configured
from protocontract.kafka.errors import DeadLetterError, GuardError, RegistryError, SinkError, UnreachableError
from protocontract.kafka.exactly_once import ExactlyOnce
from protocontract.kafka.forward import Forward
from protocontract.kafka.guard import Guard
from protocontract.kafka.guard_options import guard_parser, letter_form
from protocontract.kafka.http import Health
from protocontract.kafka.letters.form import topic_for
from protocontract.kafka.letters.oldest import OldestWatch, look
from protocontract.kafka.progress import Progress
from protocontract.kafka.registry.options import contract_of
from protocontract.kafka.shadow_options import Asked, shadow_of
from protocontract.kafka.stopping import stopped_by_signals
from protocontract.kafka.transaction import TRANSACTION_TIMEOUT_MS, Transactions, Watchdog
from protocontract.terminal import plural, tell_error


def guard_command(argv: list[str]) -> int:
    """Guard a topic: Kafka in, contract, Kafka out."""
    if argv[:1] in (["status"], ["resume"], ["skip"]):
        from protocontract.kafka.halt_command import resume_command, status_command
        from protocontract.kafka.skip_command import skip_command

        below = {"status": status_command, "resume": resume_command, "skip": skip_command}
        return below[argv[0]](argv[1:])
    if argv and not argv[0].startswith("-"):
        raise UsageError(f"guard has no command `{argv[0]}`; expected status, resume, skip, or options of its own")
    options = guard_parser().parse_args(argv)
    config = configured(options)
    contract = contract_of(options)
    options.candidate = shadow_of(options)
    dead = options.dead_letter or contract.dead_letter_topic
    if not dead:
        raise UsageError(f"{contract.full_name} names no dead-letter topic; add --dead-letter TOPIC")
    try:
        dead = topic_for(dead, _group(options))
    except GuardError as error:
        raise UsageError(str(error)) from None
    if len({options.source, options.sink, dead}) < 3:
        raise UsageError("source, sink and dead letters must be three topics")
    if options.on_reject != "dead_letter" and options.exactly_once:
        raise UsageError("--on-reject block_key keeps offsets open, which --exactly-once cannot; choose one")
    if options.sink_too_large != "block" and options.exactly_once:
        raise UsageError("--sink-too-large dead_letter is for at least once; --exactly-once waits")
    if options.transactional_id_prefix is not None and not options.exactly_once:
        raise UsageError("--transactional-id-prefix names transactions; add --exactly-once")
    if options.watch_dead_letters is not None and options.http is None:
        raise UsageError("--watch-dead-letters is for /metrics; add --http PORT")
    for topic in (options.source, options.sink, dead):
        check_topic(topic)
    try:
        return _run(options, contract, dead, config)
    except (DeadLetterError, SinkError, RegistryError, UnreachableError) as error:
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
    progress = Progress(guard, f"{options.source} -> {options.sink}", sys.stderr)
    watch = None
    if options.watch_dead_letters is not None:
        there = Cluster({**for_consumer, **config})
        watch = OldestWatch(partial(look, there, dead), options.watch_dead_letters)
    health = _health(options, work, watch)
    asked = Asked(guard.shadow, options.format)

    def step() -> None:
        progress.tick()
        asked.tick()
        if health is not None:
            health.beat()
        if options.halt == "exit" and not guard.stopping:
            options.halted = guard.halted
            if options.halted:
                guard.stop()

    work.tick(step)
    with stopped_by_signals(guard.stop) as received, asked.listening():
        try:
            if not options.skip_checks:
                _check_topics(options, dead, config)
            work.start()
            options.running = True
            print(_begun(options, contract, dead), file=sys.stderr, flush=True)
            work.run()
            waiting = guard.waiting if isinstance(guard, Guard) else None
        finally:
            try:
                work.close()
            finally:
                if health is not None:
                    health.close()
            if options.running:
                progress.finish()
    _report(options, contract, dead, guard)
    return _ended(options, guard, waiting, received)


def _begun(options: argparse.Namespace, contract: Contract[Any], dead: str) -> str:
    way = f"{options.source} -> {options.sink}, dead letters to {dead}, group {_group(options)}"
    return f"guarding {way}: {contract.full_name} {contract.version}".rstrip()


def _check_topics(options: argparse.Namespace, dead: str, config: dict[str, Any]) -> None:
    checks.check(
        config,
        options.source,
        options.sink,
        dead,
        group=_group(options),
        too_large=options.too_large,
        allow_retention=options.allow_retention,
    )


def _report(options: argparse.Namespace, contract: Contract[Any], dead: str, guard: Guard[Any] | ExactlyOnce) -> None:
    """Say on standard output what was done."""
    if options.format == "json":
        report = {
            "contract": contract.full_name,
            "version": contract.version,
            "fingerprint": contract.fingerprint,
            "source": options.source,
            "sink": options.sink,
            "dead_letter": dead,
            "unacknowledged": guard.unacknowledged,
            **guard.stats.as_dict(),
            **({} if guard.shadow is None else {"shadow": guard.shadow.report()}),
        }
        print(json.dumps(report))
    elif guard.shadow is not None:
        print(guard.shadow.text())


def _ended(
    options: argparse.Namespace, guard: Guard[Any] | ExactlyOnce, waiting: str | None, received: Collection[int]
) -> int:
    """The exit code; what is not done is said. ``received``: the signals that ended it."""
    if guard.unacknowledged:
        reason = guard.blocked or "no acknowledgement within the grace period"
        print(f"{plural(guard.unacknowledged, 'record')} not acknowledged and not committed: {reason}", file=sys.stderr)
        return BROKEN
    if waiting is not None:
        print(f"not done: {waiting}", file=sys.stderr)
        if not received:
            return BROKEN
    if options.halted:
        print(f"halted: {options.halted}", file=sys.stderr)
        return BROKEN
    return INTERRUPTED if signal.SIGINT in received else KEPT


class _Work(NamedTuple):
    """A guard of either kind, and how it is driven."""

    guard: Guard[Any] | ExactlyOnce
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
    with _closed_where_refused(consumer):
        guard: Guard[Any] = Guard(
            consumer,
            contract,
            dead_letters=config,
            tombstones="deliver",
            on_reject=options.on_reject,
            **_of_either_kind(options, dead),
        )
    forward = Forward(
        guard,
        options.sink,
        client.producer_factory(config),
        encoding=options.sink_encoding,
        frame=options.sink_frame,
        acknowledge_within=client.answer_within(config),
        too_large=options.sink_too_large,
    )

    # What closes in time does so by itself: this is for a client that does not come back from a call.
    watchdog = Watchdog(lambda: guard.stopping, options.grace)

    def tick(function: Callable[[], object]) -> None:
        guard._tick = function

    def start() -> None:
        watchdog.start()
        forward.start()

    def close() -> None:
        try:
            guard.close()
            forward.close(guard.grace_left)
        finally:
            watchdog.stop()

    return _Work(guard, tick, start, forward.run, close)


def _exactly_once(
    options: argparse.Namespace,
    contract: Contract[Any],
    dead: str,
    for_consumer: dict[str, Any],
    config: dict[str, Any],
) -> _Work:
    transactional_id = ".".join(
        (options.transactional_id_prefix or "protocontract", _group(options), options.instance or uuid.uuid4().hex)
    )
    try:
        producers = client.transactional_factory(config, transactional_id, TRANSACTION_TIMEOUT_MS)
    except ValueError as error:
        raise GuardError(f"client configuration: {error}") from None
    consumer = _consumer(options, for_consumer)
    with _closed_where_refused(consumer):
        guard = ExactlyOnce(
            consumer,
            contract,
            Transactions(producers),
            sink=options.sink,
            sink_encoding=options.sink_encoding,
            sink_frame=options.sink_frame,
            sole=options.instance is not None,
            **_of_either_kind(options, dead),
        )
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


def _health(options: argparse.Namespace, work: _Work, watch: OldestWatch | None) -> Health | None:
    if options.http is None:
        return None
    host, port = options.http
    try:
        return Health(work.guard, port, host, dead_letters=watch)
    except OSError as error:
        work.close()
        raise GuardError(f"--http: port {port} of {host} cannot be used ({error.strerror})") from None


def _of_either_kind(options: argparse.Namespace, dead: str) -> dict[str, Any]:
    """The arguments that guards of either kind take."""
    limits = {"ratio": options.breaker_ratio, "consecutive": options.breaker_consecutive}
    return {
        "dead_letter_topic": dead,
        "dead_letter_form": letter_form(options),
        "encoding": options.encoding,
        "too_large": options.too_large,
        "give_up_after": options.give_up_after,
        "grace": options.grace,
        "stop_at_end": options.exit_at_end,
        "breaker": {name: limit for name, limit in limits.items() if limit is not None} or None,
        "shadow": options.candidate,
    }


@contextmanager
def _closed_where_refused(consumer: Any) -> Iterator[None]:
    try:
        yield
    except GuardError:
        consumer.close(autocommit=False)
        raise


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


def _say(error: GuardError, code: int) -> int:
    tell_error(error)
    return code
