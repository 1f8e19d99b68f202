"""``ServingMetrics``: what a service counts of its requests and models, without Prometheus (``metrics.py`` exports it).

metrics = ServingMetrics()
server = InferenceServer(..., watch=metrics)
prometheus_client.REGISTRY.register(ServingCollector(metrics))
"""

from __future__ import annotations

import bisect
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from protocontract._options import is_repeated
from protocontract.models.agreement import labelled_outputs
from protocontract.models.fallback import FALLBACK_FACT, Event
from protocontract.serving.digests import WINDOW, Digest, characters_of, length_bucket

if TYPE_CHECKING:
    from protocontract.serving.beside import Shadows
    from protocontract.serving.engines import ModelSpec
    from protocontract.serving.plan import MethodPlan
    from protocontract.serving.versions import Versions
    from protocontract.serving.watch import Ran, Seen

#: Upper bounds of times, in seconds.
SECONDS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
#: Upper bounds of rows in a batch.
ROWS: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256)
#: The stages that are timed, in their order.
STAGES: Final = ("preprocess", "queue", "batch", "inference", "postprocess")
# Scores of more classes than these are no label mix that a person could look at.
_MOST_CLASSES: Final = 1000


class Histogram:
    """Numbers by buckets: ``counts`` has one more than ``bounds``, for what is above the last."""

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: Sequence[float] = SECONDS) -> None:
        self.bounds: Final = tuple(bounds)
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def add(self, value: float) -> None:
        """One more."""
        self.counts[bisect.bisect_left(self.bounds, value)] += 1
        self.total += value


class ServingMetrics:
    """A ``Watch`` that counts. Its fields are read with ``reading()`` held; keys are labels in the order of the names.

    Labels are names of methods, models, versions and providers, codes, ids of rules, buckets, and classes that
    contracts declare; never values.
    """

    def __init__(self, *, window: int = WINDOW) -> None:
        """``window``: requests of one method that are compared with as many before (``digests``)."""
        self._lock: Final = threading.Lock()
        self._window: Final = window
        self._plans: dict[str, MethodPlan] = {}
        self.versions: Versions | None = None
        self.shadows: Shadows | None = None
        #: method, code, reason, error_class
        self.requests: Final[Counter[tuple[str, ...]]] = Counter()
        #: method
        self.seconds: Final[dict[tuple[str, ...], Histogram]] = {}
        #: method, model, version, provider, length, stage
        self.stages: Final[dict[tuple[str, ...], Histogram]] = {}
        #: model, version
        self.rows: Final[dict[tuple[str, ...], Histogram]] = {}
        #: model, version
        self.padding: Final[Counter[tuple[str, ...]]] = Counter()
        #: model, version
        self.nonfinite: Final[Counter[tuple[str, ...]]] = Counter()
        #: model, version, fallback
        self.fallbacks: Final[Counter[tuple[str, ...]]] = Counter()
        #: model, version, kind
        self.events: Final[Counter[tuple[str, ...]]] = Counter()
        #: method, model, version, label
        self.labels: Final[Counter[tuple[str, ...]]] = Counter()
        #: method
        self.digests: Final[dict[tuple[str, ...], Digest]] = {}

    # -- as a Watch

    def serving(self, versions: Versions, shadows: Shadows) -> None:
        """Where the state of models is read."""
        self.versions, self.shadows = versions, shadows
        self._plans = {each.method.name: each for each in versions.plan.methods}

    def event(self, spec: ModelSpec, event: Event) -> None:
        """A model degraded, or came back."""
        with self._lock:
            self.events[spec.name, spec.version, event.kind] += 1

    def request(self, seen: Seen) -> None:
        """A request has ended."""
        error_class = "" if seen.error is None else seen.error.error_class
        inputs = self._inputs(seen)
        with self._lock:
            self.requests[seen.method, seen.code, seen.reason, error_class] += 1
            self._time(self.seconds, (seen.method,), seen.total)
            for ran in seen.ran:
                self._ran(seen, ran, inputs)
            if inputs:
                digest = self.digests.get((seen.method,))
                if digest is None:
                    digest = self.digests[(seen.method,)] = Digest(self._window)
                digest.add(inputs)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """While it is held, nothing changes."""
        with self._lock:
            yield

    def as_dict(self) -> dict[str, Any]:
        """The digests of inputs by method, as JSON has them."""
        with self._lock:
            return {method: digest.as_dict() for (method,), digest in self.digests.items()}

    # -- inside

    def _ran(self, seen: Seen, ran: Ran, inputs: dict[str, dict[str, int]]) -> None:
        """One model's part of a request; what is seen of its answer goes to ``inputs`` as well."""
        spec = ran.running.spec
        model = (spec.name, spec.version)
        if ran.nonfinite:
            self.nonfinite[model] += 1
        if ran.answer is None:
            return
        facts = ran.answer.facts
        times = (seen.preprocess, facts.queue_ns, facts.batch_ns, facts.infer_ns, seen.postprocess)
        run = (seen.method, *model, facts.provider, length_bucket(len(seen.raw)))
        for stage, nanoseconds in zip(STAGES, times, strict=True):
            self._time(self.stages, (*run, stage), nanoseconds)
        if model not in self.rows:
            self.rows[model] = Histogram(ROWS)
        self.rows[model].add(facts.rows)
        self.padding[model] += facts.padding
        fallback = facts.model.get(FALLBACK_FACT)
        if fallback:
            self.fallbacks[(*model, fallback)] += 1
        if seen.code != "OK":
            return
        for label, count in _labels(self._plans.get(seen.method), seen, ran).items():
            self.labels[(seen.method, *model, label)] += count
            inputs["labels"][label] = inputs["labels"].get(label, 0) + count
        at = bisect.bisect_left(SECONDS, facts.infer_ns / 1e9)
        bucket = str(SECONDS[at]) if at < len(SECONDS) else "+Inf"
        inputs["inference"][bucket] = inputs["inference"].get(bucket, 0) + 1

    def _inputs(self, seen: Seen) -> dict[str, dict[str, int]]:
        """What is seen of a request that was read."""
        if seen.request is None:
            return {}
        found: dict[str, dict[str, int]] = {"labels": {}, "inference": {}, "length": {length_bucket(len(seen.raw)): 1}}
        plan = self._plans.get(seen.method)
        if plan is not None:
            found["characters"] = characters_of(plan.request, seen.request)
        return found

    @staticmethod
    def _time(histograms: dict[tuple[str, ...], Histogram], key: tuple[str, ...], nanoseconds: int) -> None:
        found = histograms.get(key)
        if found is None:
            found = histograms[key] = Histogram()
        found.add(nanoseconds / 1e9)


def _labels(plan: MethodPlan | None, seen: Seen, ran: Ran) -> dict[str, int]:
    """The labels of an answer: its enums with declared classes; where it has none, the classes with the highest
    scores."""
    found: dict[str, int] = {}
    for each in () if plan is None else plan.response.labels:
        value = _enum(seen.response, each.path.split(".")) if each.classes and "[]" not in each.path else None
        if value:
            found[value] = found.get(value, 0) + 1
    if found or ran.answer is None:
        return found
    counted: Counter[str] = Counter()
    for name in labelled_outputs(ran.running.engine.signature):
        scores = ran.answer.outputs.get(name)
        if scores is not None and scores.dtype.kind == "f" and scores.shape[-1] <= _MOST_CLASSES:
            counted.update(map(str, scores.argmax(axis=-1).ravel().tolist()))
    return counted


def _enum(message: Any, path: list[str]) -> str:
    """The name of an enum's value in a message; empty where it is not set, or a list."""
    name, *rest = path
    known = message.DESCRIPTOR.fields_by_name[name]
    if is_repeated(known):
        return ""
    if rest:
        return _enum(getattr(message, name), rest) if message.HasField(name) else ""
    number = getattr(message, name)
    value = known.enum_type.values_by_number.get(number) if known.enum_type is not None and number else None
    return "" if value is None else str(value.name)
