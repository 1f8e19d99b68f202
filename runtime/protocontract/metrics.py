"""A guard's counts as Prometheus metrics. Needs ``prometheus-client``: ``pip install "protocontract[metrics]"``.

    from prometheus_client import REGISTRY
    REGISTRY.register(GuardCollector(guard))

Nothing is counted here: a scrape reads what the guard counts anyway. Labels are bounded by what the contracts declare:
contracts, topics, rule ids (a rule without one is ``cel:<8 hex digits>``), classes of error. Values, keys and field
paths never become labels.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from protocontract.violations import MissingExtra

try:
    from prometheus_client import CollectorRegistry, generate_latest
    from prometheus_client.core import (
        CounterMetricFamily,
        GaugeMetricFamily,
        Metric,
        SummaryMetricFamily,
    )
    from prometheus_client.exposition import CONTENT_TYPE_LATEST
    from prometheus_client.registry import Collector
except ImportError as error:
    raise MissingExtra("protocontract.metrics", "prometheus-client", "metrics") from error

if TYPE_CHECKING:
    from protocontract.kafka.guard import Guard

__all__ = ["CONTENT_TYPE", "GuardCollector", "exposition"]

CONTENT_TYPE = CONTENT_TYPE_LATEST


class GuardCollector(Collector):
    """Reads one guard at each scrape. May be registered with any registry; made before the guard is entered."""

    def __init__(self, guard: Guard[Any]) -> None:
        self._guard = guard
        self._times = guard._judge.measure()

    def describe(self) -> list[Metric]:
        """No names in advance: registering must not read the guard."""
        return []

    def collect(self) -> Iterator[Metric]:
        """All metrics as of now. Called on the scraping thread; it only reads."""
        yield from self._records()
        yield from self._rules()
        yield from self._dead_letters()
        yield from self._levels()
        yield from self._state()

    def _records(self) -> Iterator[Metric]:
        contract_of = self._guard._judge.contract_of
        outcomes: defaultdict[tuple[str, str, str], int] = defaultdict(int)
        judged: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
        for tp, counts in list(self._guard.stats.partitions.items()):
            name = contract_of(tp.topic).full_name
            for outcome in ("delivered", "dead_lettered", "tombstones", "skipped", "abandoned"):
                outcomes[name, tp.topic, outcome] += getattr(counts, outcome)
            judged[name][0] += counts.valid
            judged[name][1] += counts.judged
        records = CounterMetricFamily(
            "data_contract_records",
            "Records by what became of them; abandoned ones are read again.",
            labels=["contract", "topic", "outcome"],
        )
        for labels, count in sorted(outcomes.items()):
            records.add_metric(labels, count)
        yield records
        ratio = GaugeMetricFamily(
            "contract_compliance_ratio",
            "Share of judged records that keep their contract, since the start.",
            labels=["contract"],
        )
        for name, (valid, all_judged) in sorted(judged.items()):
            if all_judged:
                ratio.add_metric([name], valid / all_judged)
        yield ratio
        yield CounterMetricFamily(
            "data_contract_normalized", "Records that a normalizer changed.", self._guard.stats.normalized
        )
        processing = SummaryMetricFamily(
            "data_contract_processing_seconds", "Time to parse, normalise and validate a record."
        )
        processing.add_metric([], self._times.count, self._times.seconds)
        yield processing

    def _rules(self) -> Iterator[Metric]:
        violations = CounterMetricFamily(
            "data_contract_violations",
            "Rejected records by the rules they broke; one for each rule.",
            labels=["contract", "rule_id", "error_class"],
        )
        for labels, count in sorted(self._guard.stats.violations.copy().items()):
            violations.add_metric(labels, count)
        yield violations
        warnings = CounterMetricFamily(
            "data_contract_warnings", "Records by the rules that they broke and that only warn.", labels=["rule_id"]
        )
        for rule, count in sorted(self._guard.stats.warnings.copy().items()):
            warnings.add_metric([rule], count)
        yield warnings

    def _dead_letters(self) -> Iterator[Metric]:
        outbox, stats = self._guard._outbox, self._guard.stats
        yield CounterMetricFamily(
            "dead_letter_records", "Dead letters that the broker acknowledged.", stats.dead_lettered
        )
        yield CounterMetricFamily(
            "dead_letter_send_errors", "Sends of dead letters that failed; they are tried again.", outbox.counts.errors
        )
        yield CounterMetricFamily(
            "dead_letter_truncated", "Dead letters of which only the beginning fitted.", outbox.counts.truncated
        )
        yield GaugeMetricFamily("dead_letter_pending", "Dead letters on their way.", outbox.pending)
        yield GaugeMetricFamily(
            "dead_letter_blocked", "1 while the dead-letter topic cannot be written.", float(outbox.blocked is not None)
        )

    def _levels(self) -> Iterator[Metric]:
        names = ["contract", "level", "measured_from"]
        kept = GaugeMetricFamily("data_contract_level_kept", "1 kept, 0 missed; absent while not judged.", labels=names)
        measured = GaugeMetricFamily(
            "data_contract_level_measured", "Share, seconds or records a second.", labels=names
        )
        promised = GaugeMetricFamily("data_contract_level_promised", "What the contract promises.", labels=names)
        for watch in self._guard._halting.watches:
            for verdict in watch.verdicts:
                labels = [watch.name, verdict.level, watch.measured_from if verdict.level == "latency" else ""]
                promised.add_metric(labels, verdict.promised)
                if verdict.measured is not None:
                    measured.add_metric(labels, verdict.measured)
                if verdict.state != "unjudged":
                    kept.add_metric(labels, float(verdict.state == "kept"))
        yield from (kept, measured, promised)
        for side, what in (
            ("producer", "From the event to the record's timestamp"),
            ("consumer", "From the record's timestamp until it was judged"),
        ):
            delay = GaugeMetricFamily(
                f"data_contract_{side}_delay_seconds", f"{what}; of the last record.", labels=["contract"]
            )
            for watch in self._guard._halting.watches:
                seconds = getattr(watch, f"{side}_delay")
                if seconds is not None:
                    delay.add_metric([watch.name], seconds)
            yield delay

    def _state(self) -> Iterator[Metric]:
        guard, stats = self._guard, self._guard.stats
        yield GaugeMetricFamily(
            "data_contract_blocked",
            "1 while nothing is delivered because a topic cannot be written.",
            float(guard.blocked is not None),
        )
        yield GaugeMetricFamily(
            "data_contract_halted",
            "1 while partitions are halted by a level or a breaker.",
            float(guard.halted is not None),
        )
        yield CounterMetricFamily(
            "data_contract_halts", "How often a level or a breaker stopped the line.", guard._halting.halts
        )
        yield GaugeMetricFamily(
            "data_contract_assigned_partitions", "Partitions of this member.", len(guard.assignment)
        )
        lag = guard.lag
        if lag is not None:
            yield GaugeMetricFamily("data_contract_lag_records", "Records of this member that are not resolved.", lag)
        for name, help_text, count in (
            ("revocations", "Rebalances that took partitions away.", stats.revocations),
            ("losses", "Times that this member was out of the group.", stats.losses),
            ("commit_errors", "Commits that failed; they are sent again.", stats.commit_errors),
            ("poll_errors", "Polls that failed.", stats.poll_errors),
        ):
            yield CounterMetricFamily(f"data_contract_{name}", help_text, count)


def exposition(collector: GuardCollector) -> bytes:
    """One collector's metrics in Prometheus' text format (``CONTENT_TYPE``)."""
    registry = CollectorRegistry()
    registry.register(collector)
    return generate_latest(registry)
