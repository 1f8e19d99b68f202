"""A guard's counts as Prometheus metrics. Needs ``prometheus-client``: ``pip install "protocontract[metrics]"``.

    from prometheus_client import REGISTRY
    REGISTRY.register(GuardCollector(guard))

Nothing is counted here: a scrape reads what the guard counts anyway. Labels are bounded by what the contracts declare:
contracts, topics, rule ids (a rule without one is ``cel:<8 hex digits>``), classes of error; and besides by number,
since a guard may read many topics: what comes after the first hundreds is counted as ``other``. Values, keys and field
paths never become labels. docs/observability.md lists all metrics.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final

from protocontract.comparison import KINDS
from protocontract.violations import MissingExtra

try:
    from prometheus_client import CollectorRegistry, generate_latest
    from prometheus_client.core import (
        CounterMetricFamily,
        GaugeMetricFamily,
        HistogramMetricFamily,
        Metric,
        SummaryMetricFamily,
    )
    from prometheus_client.exposition import CONTENT_TYPE_LATEST
    from prometheus_client.registry import Collector
    from prometheus_client.utils import floatToGoString
except ImportError as error:
    raise MissingExtra("protocontract.metrics", "prometheus-client", "metrics") from error

if TYPE_CHECKING:
    from protocontract.kafka.engine import Engine
    from protocontract.kafka.exactly_once import ExactlyOnce
    from protocontract.kafka.halting import _Watch
    from protocontract.kafka.letters.oldest import Looked, OldestWatch

__all__ = ["CONTENT_TYPE", "OTHER", "GuardCollector", "counter", "exposition", "gauge"]

CONTENT_TYPE = CONTENT_TYPE_LATEST

#: What all label values are called that came when there were too many.
OTHER: Final = "other"
#: How many contracts, topics, and rules with their contract and class of error have series of their own.
MAX_CONTRACTS: Final = 100
MAX_TOPICS: Final = 100
MAX_RULES: Final = 500


class _Bounded:
    """Admits the first label values that it meets. A series is never taken away again: a counter must not fall."""

    def __init__(self, limit: int, width: int = 1) -> None:
        self._limit = limit
        self._rest = (OTHER,) * width
        self._admitted: set[tuple[str, ...]] = set()

    def of(self, *values: str) -> tuple[str, ...]:
        """The values, or as many times ``other``."""
        if values in self._admitted:
            return values
        if len(self._admitted) >= self._limit:
            return self._rest
        self._admitted.add(values)
        return values


class GuardCollector(Collector):
    """Reads one guard at each scrape. May be registered with any registry; made before the guard is entered."""

    def __init__(
        self,
        guard: Engine[Any] | ExactlyOnce,
        *,
        dead_letters: OldestWatch | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """``dead_letters``: what looks for the oldest dead letter that is not resolved."""
        self._guard = guard
        self._dead_letters_watch = dead_letters
        self._clock = clock
        self._times = guard._judge.measure()
        self._group = guard._provenance.group
        self._contracts = _Bounded(MAX_CONTRACTS)
        self._topics = _Bounded(MAX_TOPICS)
        self._rules_seen = _Bounded(MAX_RULES, 2)
        self._warnings_seen = _Bounded(MAX_RULES)

    def describe(self) -> list[Metric]:
        """No names in advance: registering must not read the guard."""
        return []

    def collect(self) -> Iterator[Metric]:
        """All metrics as of now. Called on the scraping thread; it only reads."""
        yield from self._records()
        yield from self._rules()
        yield from self._dead_letters()
        yield from self._levels()
        yield from self._streams()
        yield from self._shadow()
        yield from self._state()
        yield from self._registry()

    def _contract(self, name: str) -> str:
        return self._contracts.of(name)[0]

    def _records(self) -> Iterator[Metric]:
        judge = self._guard._judge
        outcomes: defaultdict[tuple[str, ...], int] = defaultdict(int)
        # Every contract from the start on: a counter whose first sample is not 0 hides what it counted before.
        judged: dict[str, list[int]] = {self._contract(contract.full_name): [0, 0] for contract in judge.contracts}
        for tp, counts in list(self._guard.stats.partitions.items()):
            name = self._contract(judge.contract_of(tp.topic).full_name)
            topic = self._topics.of(tp.topic)[0]
            for outcome in ("delivered", "dead_lettered", "tombstones", "skipped", "abandoned"):
                outcomes[name, topic, outcome] += getattr(counts, outcome)
            tally = judged.setdefault(name, [0, 0])
            tally[0] += counts.valid
            tally[1] += counts.broken
        yield counter(
            "data_contract_records",
            "Records by what became of them; abandoned ones are read again.",
            ("contract", "topic", "outcome"),
            sorted(outcomes.items()),
        )
        yield counter(
            "data_contract_judged_records",
            "Records by whether they keep their contract: what levels are judged by.",
            ("contract", "group", "verdict"),
            (
                ((name, self._group, verdict), count)
                for name, (valid, broken) in sorted(judged.items())
                for verdict, count in (("broken", broken), ("valid", valid))
            ),
        )
        yield gauge(
            "contract_compliance_ratio",
            "Share of judged records that keep their contract, since the start.",
            ("contract",),
            (((name,), valid / (valid + broken)) for name, (valid, broken) in sorted(judged.items()) if valid + broken),
        )
        yield CounterMetricFamily(
            "data_contract_normalized", "Records that a normalizer changed.", self._guard.stats.normalized
        )
        processing = SummaryMetricFamily(
            "data_contract_processing_seconds", "Time to parse, normalise and validate a record."
        )
        processing.add_metric([], self._times.count, self._times.seconds)
        yield processing

    def _rules(self) -> Iterator[Metric]:
        violations: defaultdict[tuple[str, ...], int] = defaultdict(int)
        # In the order in which they came first, which is that in which they are admitted.
        for (contract, rule, kind), count in self._guard.stats.violations.copy().items():
            violations[self._contract(contract), *self._rules_seen.of(rule, kind)] += count
        yield counter(
            "data_contract_violations",
            "Rejected records by the rules they broke; one for each rule.",
            ("contract", "rule_id", "error_class"),
            sorted(violations.items()),
        )
        warnings: defaultdict[tuple[str, ...], int] = defaultdict(int)
        for rule, count in self._guard.stats.warnings.copy().items():
            warnings[self._warnings_seen.of(rule)] += count
        yield counter(
            "data_contract_warnings",
            "Records by the rules that they broke and that only warn.",
            ("rule_id",),
            sorted(warnings.items()),
        )

    def _dead_letters(self) -> Iterator[Metric]:
        stats = self._guard.stats
        # Under --exactly-once they are part of the transaction, and nothing of them is on its way outside of it.
        outbox = getattr(self._guard, "_outbox", None)
        yield CounterMetricFamily(
            "dead_letter_records", "Dead letters that the broker acknowledged.", stats.dead_lettered
        )
        yield CounterMetricFamily(
            "dead_letter_send_errors",
            "Sends of dead letters that failed; they are tried again.",
            stats.send_errors if outbox is None else outbox.counts.errors,
        )
        yield CounterMetricFamily(
            "dead_letter_truncated",
            "Dead letters of which only the beginning fitted.",
            stats.truncated if outbox is None else outbox.counts.truncated,
        )
        if self._dead_letters_watch is not None:
            yield from self._oldest(self._dead_letters_watch.looked)
        if outbox is not None:
            yield GaugeMetricFamily("dead_letter_pending", "Dead letters on their way.", outbox.pending)
            yield GaugeMetricFamily(
                "dead_letter_blocked",
                "1 while the dead-letter topic cannot be written.",
                float(outbox.blocked is not None),
            )

    def _oldest(self, looked: Looked | None) -> Iterator[Metric]:
        now = self._clock()
        age, left = (
            GaugeMetricFamily(f"dead_letter_oldest_unresolved_{name}_seconds", text, labels=["topic"])
            for name, text in (
                ("age", "Age of the oldest dead letter that is not resolved; 0 where all are, absent while not known."),
                ("retention", "Until its topic deletes it; absent where it does not."),
            )
        )
        if looked is not None:
            oldest = looked.oldest
            age.add_metric([looked.topic], 0.0 if oldest is None else max(0.0, now - oldest.written))
            if oldest is not None and looked.retention is not None:
                left.add_metric([looked.topic], oldest.written + looked.retention - now)
        yield age
        yield left

    def _watches(self) -> list[tuple[tuple[str, str], _Watch]]:
        """The contracts with levels, with the labels that they all have."""
        return [((self._contract(watch.name), self._group), watch) for watch in self._guard._halting.watches]

    def _levels(self) -> Iterator[Metric]:
        names = ["contract", "group", "level", "measured_from"]
        kept = GaugeMetricFamily("data_contract_level_kept", "1 kept, 0 missed; absent while not judged.", labels=names)
        measured = GaugeMetricFamily(
            "data_contract_level_measured", "Share, seconds or records a second.", labels=names
        )
        promised = GaugeMetricFamily("data_contract_level_promised", "What the contract promises.", labels=names)
        for labels, watch in self._watches():
            for verdict in watch.verdicts:
                own = [*labels, verdict.level, watch.measured_from if verdict.level == "latency" else ""]
                promised.add_metric(own, verdict.promised)
                if verdict.measured is not None:
                    measured.add_metric(own, verdict.measured)
                if verdict.state != "unjudged":
                    kept.add_metric(own, float(verdict.state == "kept"))
        yield from (kept, measured, promised)
        for side, what in (
            ("producer", "From the event to the record's timestamp"),
            ("consumer", "From the record's timestamp until it was judged"),
        ):
            yield gauge(
                f"data_contract_{side}_delay_seconds",
                f"{what}; of the last record.",
                ("contract", "group"),
                (
                    (labels, seconds)
                    for labels, watch in self._watches()
                    if (seconds := getattr(watch, f"{side}_delay")) is not None
                ),
            )

    def _streams(self) -> Iterator[Metric]:
        """What whole-stream levels are computed from, over all processes of a group."""
        own = ("contract", "group")
        watches = self._watches()
        yield counter(
            "data_contract_late_records",
            "Records that were validated later than the promised latency.",
            own,
            ((labels, watch.delays.late) for labels, watch in watches if watch.live.level.latency is not None),
        )
        delays = HistogramMetricFamily(
            "data_contract_event_delay_seconds",
            "From the event (else the record's timestamp) until it was validated.",
            labels=[*own, "measured_from"],
        )
        for labels, watch in watches:
            bounds = (*map(floatToGoString, watch.delays.bounds), "+Inf")
            for clock, delay in sorted(watch.delays.by_clock.copy().items()):
                buckets = list(zip(bounds, accumulate(delay.counts), strict=True))
                delays.add_metric([*labels, clock], buckets, delay.seconds)
        yield delays
        yield gauge(
            "data_contract_last_record_timestamp_seconds",
            "When the last record was validated; absent before the first.",
            own,
            ((labels, watch.delays.last) for labels, watch in watches if watch.delays.last is not None),
        )
        yield gauge(
            "data_contract_watched_since_timestamp_seconds",
            "Since when this member has partitions that run; absent while it has none.",
            own,
            ((labels, watch.live.started) for labels, watch in watches if watch.running),
        )
        info = ("contract", "group", "version", "fingerprint")
        yield gauge(
            "data_contract_guard_info",
            "1; which version of a contract this process applies.",
            info,
            (
                ((contract.full_name, self._group, contract.version, contract.fingerprint), 1)
                for contract in self._guard._judge.contracts[:MAX_CONTRACTS]
            ),
        )

    def _registry(self) -> Iterator[Metric]:
        """Of guards that have a schema registry."""
        registry = self._guard._judge.registry
        if registry is None:
            return
        yield GaugeMetricFamily(
            "schema_registry_blocked",
            "1 while records wait because the registry does not answer.",
            float(registry.blocked is not None),
        )
        for name, help_text, count in (
            ("lookups", "Schemas that the registry was asked for.", registry.stats.lookups),
            ("errors", "Requests without an answer; they are sent again.", registry.stats.errors),
            ("unknown_ids", "Schema ids that were given up as unknown.", registry.stats.unknown),
        ):
            yield CounterMetricFamily(f"schema_registry_{name}", help_text, count)

    def _shadow(self) -> Iterator[Metric]:
        """Of guards that have a candidate contract beside."""
        if self._guard.shadow is None:
            return
        tally = self._guard.shadow.tally
        results = [("agreed", tally.agreed), ("failed", tally.failed), *((kind, tally.kinds[kind]) for kind in KINDS)]
        yield counter(
            "data_contract_shadow_records",
            "Records by what the candidate contract would do with them; failed ones met a mistake in it.",
            ("result",),
            (((result,), count) for result, count in results),
        )
        yield counter(
            "data_contract_shadow_differences",
            "Records by the rules that make a difference; one for each rule.",
            ("kind", "rule_id"),
            ((labels, row.records) for labels, row in sorted(tally.rows.copy().items())),
        )
        yield CounterMetricFamily(
            "data_contract_shadow_seconds", "Time that the candidate contract took, in all.", tally.seconds
        )

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
        age = getattr(guard, "open_transaction_age", None)
        if age is not None:
            yield GaugeMetricFamily(
                "data_contract_open_transaction_age_seconds",
                "Since when the open transaction keeps readers of committed records waiting; 0 without one.",
                age,
            )
            yield counter(
                "data_contract_transactions",
                "Transactions by how they ended.",
                ("result",),
                ((("aborted",), stats.transactions_aborted), (("committed",), stats.transactions)),
            )
        for name, help_text, count in (
            ("revocations", "Rebalances that took partitions away.", stats.revocations),
            ("losses", "Times that this member was out of the group.", stats.losses),
            ("commit_errors", "Commits that failed; they are sent again.", stats.commit_errors),
            ("poll_errors", "Polls that failed.", stats.poll_errors),
            ("truncated_logs", "Partitions that were cut off below what was read.", stats.truncated_logs),
        ):
            yield CounterMetricFamily(f"data_contract_{name}", help_text, count)


def counter(
    name: str, text: str, labels: tuple[str, ...], samples: Iterable[tuple[tuple[str, ...], float]]
) -> CounterMetricFamily:
    """A counter's samples, by the values of its labels."""
    family = CounterMetricFamily(name, text, labels=labels)
    for values, count in samples:
        family.add_metric(values, count)
    return family


def gauge(
    name: str, text: str, labels: tuple[str, ...], samples: Iterable[tuple[tuple[str, ...], float]]
) -> GaugeMetricFamily:
    """A gauge's samples, by the values of its labels."""
    family = GaugeMetricFamily(name, text, labels=labels)
    for values, value in samples:
        family.add_metric(values, value)
    return family


def exposition(collector: Collector) -> bytes:
    """One collector's metrics in Prometheus' text format (``CONTENT_TYPE``)."""
    registry = CollectorRegistry()
    registry.register(collector)
    return generate_latest(registry)
