"""A service's counts as Prometheus metrics (extra ``metrics``): ``registry.register(ServingCollector(metrics))``.

Nothing is counted here: a scrape reads what ``ServingMetrics`` counts, and how the models stand. docs/serving.md lists
all metrics. Labels are names of methods, models, versions, providers, codes, rules, buckets and declared classes: as
many as contracts and the service's declaration have, and no values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import Final

from protocontract.metrics import counter, gauge
from protocontract.models import Degrading
from protocontract.serving.counts import Histogram, ServingMetrics
from protocontract.serving.versions import Running
from protocontract.violations import MissingExtra

try:
    from prometheus_client.core import HistogramMetricFamily, Metric
    from prometheus_client.registry import Collector
    from prometheus_client.utils import floatToGoString
except ImportError as error:
    raise MissingExtra("protocontract.serving.metrics", "prometheus-client", "metrics") from error

_MODEL: Final = ("model", "version")
_CHANGES: Final = ("steady", "upstream", "environment")


class ServingCollector(Collector):
    """Reads one service at each scrape. May be registered with any registry."""

    def __init__(self, metrics: ServingMetrics) -> None:
        """``metrics``: the service's watch."""
        self._metrics = metrics

    def describe(self) -> list[Metric]:
        """No names in advance: registering must not read the service."""
        return []

    def collect(self) -> Iterator[Metric]:
        """All metrics as of now. Called on the scraping thread; it only reads."""
        with self._metrics.reading():
            found = [*self._requests(), *self._models(), *self._inputs()]
        yield from found
        yield from self._standing()
        yield from self._shadows()

    def _requests(self) -> Iterator[Metric]:
        metrics = self._metrics
        yield _counted(
            "requests",
            "Requests by how they ended; error_class is that of the first violation.",
            ("method", "code", "reason", "error_class"),
            metrics.requests,
        )
        yield _histogram("request_seconds", "Time of a whole request.", ("method",), metrics.seconds)
        yield _histogram(
            "stage_seconds",
            "Time of a stage of a request; length is the most bytes of its bucket.",
            ("method", *_MODEL, "provider", "length", "stage"),
            metrics.stages,
        )

    def _models(self) -> Iterator[Metric]:
        metrics = self._metrics
        yield _histogram("batch_rows", "Rows of the batch that a request was in.", _MODEL, metrics.rows)
        for name, text, counts in (
            ("padding_rows", "Rows that filled up the batches of requests.", metrics.padding),
            ("nonfinite_requests", "Requests with NaN or infinity in their inputs.", metrics.nonfinite),
        ):
            yield _counted(name, text, _MODEL, counts)
        yield _counted(
            "fallback_requests", "Requests that ran on a declared fallback.", (*_MODEL, "fallback"), metrics.fallbacks
        )
        yield _counted(
            "fallback_events",
            "How often a model degraded, ran one batch elsewhere, failed a probe, came back.",
            (*_MODEL, "kind"),
            metrics.events,
        )
        yield _counted("labels", "Labels of answers.", ("method", *_MODEL, "label"), metrics.labels)

    def _inputs(self) -> Iterator[Metric]:
        digests = sorted(self._metrics.digests.items())
        totals = [(method, digest.total) for method, digest in digests]
        for aspect, name, text in (
            ("length", "input_lengths", "Requests by length; the label is the most bytes of the bucket."),
            ("characters", "input_characters", "Characters of texts by kind, sensitive fields left out."),
        ):
            counted = {
                (*method, bucket): count for method, total in totals for bucket, count in total.counts[aspect].items()
            }
            yield _counted(name, text, ("method", "length" if aspect == "length" else "kind"), counted)
        yield gauge(
            "model_service_shift",
            "How far the last window of requests is from the first: 0 alike, 1 nothing in common; absent before.",
            ("method", "aspect"),
            (((*method, aspect), far) for method, digest in digests for aspect, far in digest.shifts().items()),
        )
        changes = [(method, digest.change()) for method, digest in digests]
        yield gauge(
            "model_service_change",
            "1 for where to look: upstream where inputs changed, environment where only what comes of them did.",
            ("method", "where"),
            (((*method, kind), float(kind == found)) for method, found in changes if found for kind in _CHANGES),
        )

    def _standing(self) -> Iterator[Metric]:
        """The models as they are now."""
        versions = self._metrics.versions
        running = () if versions is None else versions.running
        failed = () if versions is None else versions.tables
        yield gauge(
            "model_service_model_info",
            "1; which versions serve, in which role and where.",
            (*_MODEL, "role", "provider", "sha256", "identity"),
            ((_info(each), 1.0) for each in running),
        )
        yield gauge(
            "model_service_canary_share",
            "Share of the requests that a canary answers.",
            _MODEL,
            ((_model(each), each.spec.share) for each in running if each.spec.role == "canary"),
        )
        yield gauge(
            "model_service_degraded",
            "1 while a declared fallback runs in a model's place.",
            (*_MODEL, "fallback"),
            (
                ((*_model(each), each.engine.fallback.name), float(each.engine.degraded))
                for each in running
                if isinstance(each.engine, Degrading)
            ),
        )
        yield gauge(
            "model_service_waiting", "Requests that wait for a model.", _MODEL,
            ((_model(each), each.waiting) for each in running),
        )  # fmt: skip
        yield gauge(
            "model_service_failed_versions",
            "1; versions that are declared and could not be loaded.",
            _MODEL,
            (((table.name, version), 1.0) for table in failed for version in dict(table.failed)),
        )

    def _shadows(self) -> Iterator[Metric]:
        shadows = self._metrics.shadows
        counts = [] if shadows is None else sorted(dict(shadows.counts).items())
        parted = [(tuple(name.rpartition("@")[::2]), each) for name, each in counts]
        yield counter(
            "model_service_shadow_requests",
            "Requests that ran on a shadow too: alike, other labels, or failed by kind.",
            (*_MODEL, "result"),
            (
                ((*model, result), count)
                for model, each in parted
                for result, count in {
                    "same": each.requests - each.differing - sum(each.failed.values()),
                    "differing": each.differing,
                    **each.failed,
                }.items()
            ),
        )
        yield gauge(
            "model_service_shadow_max_abs",
            "The largest difference of a number between a shadow and what answered.",
            _MODEL,
            ((model, each.max_abs) for model, each in parted),
        )


def _counted(name: str, text: str, labels: tuple[str, ...], counts: Mapping[tuple[str, ...], int]) -> Metric:
    return counter(f"model_service_{name}", text, labels, sorted(counts.items()))


def _histogram(
    name: str, text: str, labels: tuple[str, ...], histograms: Mapping[tuple[str, ...], Histogram]
) -> Metric:
    family = HistogramMetricFamily(f"model_service_{name}", text, labels=labels)
    for key, histogram in sorted(histograms.items()):
        bounds = (*map(floatToGoString, histogram.bounds), "+Inf")
        family.add_metric(key, list(zip(bounds, accumulate(histogram.counts), strict=True)), histogram.total)
    return family


def _model(running: Running) -> tuple[str, str]:
    return running.spec.name, running.spec.version


def _info(running: Running) -> tuple[str, ...]:
    identity = running.engine.identity
    return (*_model(running), running.spec.role, running.engine.provider, identity.sha256, identity.digest)
