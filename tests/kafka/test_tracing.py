"""Spans of records that belong to a sampled trace, through OpenTelemetry's SDK and its in-memory exporter."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("opentelemetry.sdk")

from opentelemetry import trace as api
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from protocontract.kafka import tracing
from tests.kafka.support import BAD, DEAD, GARBAGE, NAME, TOPIC, good, new_guard, new_log
from tests.kafka.test_exactly_once_levels import a_line

ROOT = Path(__file__).parents[2]
TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = "b7ad6b7169203331"
SAMPLED = f"00-{TRACE}-{PARENT}-01".encode()


class Spans:
    """A provider whose spans are kept."""

    def __init__(self) -> None:
        self.exporter = InMemorySpanExporter()
        self.provider = TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))

    @property
    def made(self) -> Sequence[ReadableSpan]:
        return self.exporter.get_finished_spans()


@pytest.fixture
def spans() -> Iterator[Spans]:
    found = Spans()
    yield found
    found.provider.shutdown()


def run(spans: Spans, *records: tuple[bytes | None, list[tuple[str, bytes | None]]]) -> Any:
    log = new_log()
    for value, headers in records:
        log.append(TOPIC, value, key=b"k", headers=headers)
    guard = new_guard(log)
    tracing.trace(guard, spans.provider)
    with guard:
        list(guard)
    return log


def test_a_good_record(spans: Spans) -> None:
    run(spans, (good(1, note=" a "), [("traceparent", SAMPLED), ("tracestate", b"vendor=1")]))
    (span,) = spans.made
    assert (span.name, span.kind, span.status.status_code) == (f"process {TOPIC}", SpanKind.CONSUMER, StatusCode.UNSET)
    assert dict(span.attributes or {}) == {
        "messaging.system": "kafka",
        "messaging.operation.name": "process",
        "messaging.operation.type": "process",
        "messaging.destination.name": TOPIC,
        "messaging.destination.partition.id": "0",
        "messaging.kafka.offset": 0,
        "messaging.consumer.group.name": "group",
        "messaging.client.id": "memory",
        "protocontract.contract": NAME,
        "protocontract.contract.version": "1.2.0",
        "protocontract.outcome": "valid",
        "protocontract.changes": 1,
    }
    assert span.events == ()
    # In the producer's trace, below its span, and linked to it.
    assert span.parent is not None
    assert (f"{span.context.trace_id:032x}", f"{span.parent.span_id:016x}") == (TRACE, PARENT)
    assert [f"{link.context.span_id:016x}" for link in span.links] == [PARENT]
    assert span.links[0].context.trace_state.get("vendor") == "1"
    assert span.start_time is not None
    assert span.end_time is not None
    assert span.start_time <= span.end_time
    assert span.instrumentation_scope is not None
    assert span.instrumentation_scope.name == "protocontract"


def test_a_bad_record_tells_its_rules_and_no_value(spans: Spans) -> None:
    run(spans, (BAD, [("traceparent", SAMPLED)]), (GARBAGE, [("traceparent", SAMPLED)]))
    broken, malformed = spans.made
    assert (broken.status.status_code, broken.status.description) == (StatusCode.ERROR, "required")
    assert broken.attributes is not None
    assert broken.attributes["protocontract.outcome"] == "broken"
    assert broken.attributes["error.type"] == "required"
    assert [(event.name, dict(event.attributes or {})["rule_id"]) for event in broken.events] == [
        ("protocontract.violation", "required"),
        ("protocontract.violation", "int64.gte"),
    ]
    assert dict(broken.events[0].attributes or {}).keys() == {"rule_id", "error_code", "error_class", "severity"}
    assert malformed.status.description == "wire.malformed"
    assert "garbage" not in malformed.to_json()


def test_a_warning_is_an_event_and_no_error(spans: Spans) -> None:
    run(spans, (good(1, note="far too long"), [("traceparent", SAMPLED)]))
    (span,) = spans.made
    assert span.status.status_code == StatusCode.UNSET
    assert [dict(event.attributes or {})["severity"] for event in span.events] == ["WARNING"]


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [("other", b"1")],
        [("traceparent", None)],
        [("traceparent", b"")],
        [("traceparent", f"00-{TRACE}-{PARENT}-00".encode())],
        [("traceparent", f"00-{'0' * 32}-{PARENT}-01".encode())],
        [("traceparent", b"\xff" * 54 + b"1")],
        [("traceparent", SAMPLED), ("traceparent", f"00-{TRACE}-{PARENT}-00".encode())],
    ],
)
def test_records_without_a_sampled_trace_have_no_span(headers: list[tuple[str, bytes | None]], spans: Spans) -> None:
    log = run(spans, (good(), headers), (BAD, headers))
    assert spans.made == ()
    assert len(log.records(DEAD)) == 1


def test_the_last_context_counts(spans: Spans) -> None:
    run(spans, (good(), [("traceparent", f"00-{'1' * 32}-{PARENT}-01".encode()), ("traceparent", SAMPLED)]))
    assert [f"{span.context.trace_id:032x}" for span in spans.made] == [TRACE]


def test_headers_stay_as_they_were_sent(spans: Spans) -> None:
    headers = [("a", b"1"), ("traceparent", SAMPLED), ("tracestate", b"vendor=1")]
    log = run(spans, (BAD, list(headers)))
    (letter,) = log.records(DEAD)
    assert letter.headers[: len(headers)] == headers
    assert [name for name, _ in letter.headers].count("traceparent") == 1


def test_nothing_of_the_callers_trace_comes_in(spans: Spans) -> None:
    with spans.provider.get_tracer("test").start_as_current_span("the application's own"):
        run(spans, (good(), [("traceparent", SAMPLED)]))
    assert f"{spans.made[0].context.trace_id:032x}" == TRACE


def test_exactly_once(spans: Spans) -> None:
    line = a_line("")
    for value in (good(), BAD):
        line.world.log.append(TOPIC, value, key=b"k", headers=[("traceparent", SAMPLED)])
    tracing.trace(line.guard, spans.provider)
    line.until_idle()
    line.close()
    assert [(span.attributes or {})["protocontract.outcome"] for span in spans.made] == ["valid", "broken"]


def test_the_applications_provider_is_used(spans: Spans, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "get_tracer_provider", lambda: spans.provider)
    log = new_log()
    log.append(TOPIC, good(), headers=[("traceparent", SAMPLED)])
    with new_guard(log) as guard:
        list(guard)
    assert len(spans.made) == 1


def test_where_none_is_set_up_nothing_is_done() -> None:
    guard = new_guard(new_log())
    with guard:
        assert not guard._judge.is_wrapped


def test_opentelemetry_is_not_imported_by_a_guard() -> None:
    code = (
        "import sys; from tests.kafka.support import *; "
        "drain(new_guard(new_log())); print([name for name in sys.modules if name.startswith('opentelemetry')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout == "[]\n"


def test_the_missing_extra_is_named() -> None:
    code = (
        "import sys; sys.modules['opentelemetry'] = None\n"
        "from protocontract.kafka import tracing\n"
        "tracing.trace(None, None)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.stderr.splitlines()[-1].endswith(
        'MissingExtra: protocontract.kafka.tracing needs opentelemetry-api: pip install "protocontract[otel]"'
    )
