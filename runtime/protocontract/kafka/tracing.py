"""OpenTelemetry: a span for each record of a trace that is sampled. Needs ``opentelemetry-api`` (extra ``otel``).

A record that carries a W3C trace context gets a span ``process TOPIC``, linked to the producer's span, as
OpenTelemetry's messaging conventions ask, and its child, so that a bad record stands in the trace of whoever sent it.
Records of traces that are not sampled, and records without a trace, have none: a look at their headers is all that they
cost. No header is changed: whoever reads the sink or the dead letters finds the producer's context there, as it was.

A guard does it by itself where the application has set up a tracer provider when the guard starts, also through
``opentelemetry-instrument``; OpenTelemetry is not imported otherwise. ``trace`` takes a provider of your own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from time import time_ns
from typing import TYPE_CHECKING, Any, Final

from protocontract.kafka.judge import TopicJudge
from protocontract.kafka.letters.dead_letter import MAX_LISTED, error_class
from protocontract.kafka.ports import Fetched
from protocontract.violations import MissingExtra, rule_label

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer, TracerProvider

    from protocontract.contract import Outcome
    from protocontract.kafka.engine import Engine
    from protocontract.kafka.exactly_once import ExactlyOnce
    from protocontract.violations import Violation

_TRACEPARENT: Final = "traceparent"
_TRACESTATE: Final = "tracestate"
#: Where the last digit of the flags stands, and those digits that have the bit `sampled`.
_FLAGS: Final = 54
_SAMPLED: Final = frozenset(b"13579bdf")


def trace(guard: Engine[Any] | ExactlyOnce, tracer_provider: TracerProvider) -> None:
    """Make spans with a provider of your own. Call it before the guard starts.

    Raises MissingExtra where opentelemetry-api is not installed.
    """
    try:
        import opentelemetry.trace  # noqa: F401
    except ImportError as error:
        raise MissingExtra("protocontract.kafka.tracing", "opentelemetry-api", "otel") from error
    _begin(guard, tracer_provider)


def begin(guard: Engine[Any] | ExactlyOnce) -> None:
    """Make spans where the application has set up a provider. Every guard calls it when it starts."""
    # A provider is set up by code that imports this, or there is none.
    if "opentelemetry.trace" not in sys.modules or guard._judge.is_wrapped:
        return
    from opentelemetry import trace as api

    provider = api.get_tracer_provider()
    if not isinstance(provider, api.ProxyTracerProvider | api.NoOpTracerProvider):
        _begin(guard, provider)


def _begin(guard: Engine[Any] | ExactlyOnce, provider: TracerProvider) -> None:
    from importlib.metadata import version

    tracer = provider.get_tracer("protocontract", version("protocontract"))
    group, client = guard._provenance.group, guard._provenance.client
    guard._judge.wrap(lambda topic, judge: _TracedJudge(judge, _spans(tracer, topic, group, client, judge)))


class _TracedJudge(TopicJudge):
    """A judge that tells of what it judged."""

    __slots__ = ("_inner", "_tell")

    def __init__(self, judge: TopicJudge, tell: _Tell) -> None:
        super().__init__(judge.contract, judge._fixed, judge._encoding_of, judge._frames, judge._heeds_frames)
        self._inner = judge
        self._tell = tell

    def __call__(self, raw: Fetched) -> tuple[Outcome[Any], Violation | None]:
        """As ``TopicJudge``."""
        headers = raw.headers
        if not headers:
            return self._inner(raw)
        carrier = _sampled(headers)
        if carrier is None:
            return self._inner(raw)
        began = time_ns()
        outcome, own = self._inner(raw)
        # Made afterwards: a record for which a registry is asked first is no attempt yet.
        self._tell(raw, carrier, began, outcome, own)
        return outcome, own


_Tell = Callable[[Fetched, dict[str, str], int, "Outcome[Any]", "Violation | None"], None]


def _sampled(headers: Sequence[tuple[str, bytes | None]]) -> dict[str, str] | None:
    """The trace context of a record whose trace is sampled; None where there is none, or it is not."""
    parent = state = None
    # As Kafka's own instrumentations have it, the last header of a name counts.
    for name, value in headers:
        if name == _TRACEPARENT:
            parent = value
        elif name == _TRACESTATE:
            state = value
    if parent is None or len(parent) <= _FLAGS or parent[_FLAGS] not in _SAMPLED:
        return None
    carrier = {_TRACEPARENT: parent.decode("ascii", "replace")}
    if state:
        carrier[_TRACESTATE] = state.decode("ascii", "replace")
    return carrier


def _spans(tracer: Tracer, topic: str, group: str, client: str, judge: TopicJudge) -> _Tell:
    from opentelemetry.context import Context
    from opentelemetry.trace import Link, SpanKind, Status, StatusCode, get_current_span
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    propagator = TraceContextTextMapPropagator()
    contract = judge.contract
    common: dict[str, str] = {
        "messaging.system": "kafka",
        "messaging.operation.name": "process",
        "messaging.operation.type": "process",
        "messaging.destination.name": topic,
        "messaging.consumer.group.name": group,
        "protocontract.contract": contract.full_name,
        "protocontract.contract.version": contract.version,
    }
    if client:
        common["messaging.client.id"] = client

    def tell(raw: Fetched, carrier: dict[str, str], began: int, outcome: Outcome[Any], own: Violation | None) -> None:
        # Not of what this thread works on: the record belongs to the trace of its producer.
        context = propagator.extract(carrier, Context())
        producer = get_current_span(context).get_span_context()
        if not producer.is_valid:
            return
        broken = own is not None or outcome.message is None
        span = tracer.start_span(
            f"process {topic}",
            context,
            SpanKind.CONSUMER,
            {
                **common,
                "messaging.destination.partition.id": str(raw.partition),
                "messaging.kafka.offset": raw.offset,
                "protocontract.outcome": "broken" if broken else "valid",
                "protocontract.changes": len(outcome.changes),
            },
            [Link(producer)],
            began,
        )
        if span.is_recording():
            found = outcome.violations if own is None else (*outcome.violations, own)
            for violation in found[:MAX_LISTED]:
                span.add_event(
                    "protocontract.violation",
                    {
                        "rule_id": rule_label(violation),
                        "error_code": f"{violation.code:#010x}",
                        "error_class": error_class(violation),
                        "severity": violation.severity,
                    },
                )
            if broken:
                first = next((each for each in found if each.severity == "ERROR"), None)
                rule = "" if first is None else rule_label(first)
                span.set_attribute("error.type", rule or "_OTHER")
                span.set_status(Status(StatusCode.ERROR, rule or None))
        span.end()

    return tell
