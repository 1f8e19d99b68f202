"""What a caller of a ``Batcher`` is told: the facts of its batch, or why it has no result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

from protocontract.models.errors import ModelError


@dataclass(frozen=True, slots=True)
class BatchFacts:
    """How a request was run.

    ``rows`` are those of all requests of the batch, ``padding`` the rows that were added behind them and belong to
    nobody. Nanoseconds: ``queue_ns`` from the request to the start of its batch, ``batch_ns`` until the model was
    called (rows put together and filled up), ``infer_ns`` in the model. ``model`` is what ``Ran.facts`` says,
    ``padded_to`` the sizes of axes that requests were filled up to.
    """

    rows: int
    padding: int
    requests: int
    provider: str
    queue_ns: int
    batch_ns: int
    infer_ns: int
    model: Mapping[str, str] = field(default_factory=dict[str, str])
    padded_to: Mapping[str, int] = field(default_factory=dict[str, int])

    def texts(self) -> dict[str, str]:
        """As evidence holds them, times aside: those have a place of their own in a step."""
        sizes = ",".join(f"{name}={size}" for name, size in sorted(self.padded_to.items()))
        return {
            **self.model,
            **({"batch_padded_to": sizes} if sizes else {}),
            "batch_rows": str(self.rows),
            "batch_padding": str(self.padding),
            "batch_requests": str(self.requests),
            "provider": self.provider,
        }


@dataclass(frozen=True, slots=True)
class Answer:
    """The rows of one request, in its order, by output. They share no memory with those of other requests."""

    outputs: dict[str, Any]
    facts: BatchFacts


class BatchError(ModelError):
    """A request has no result. ``code`` is the gRPC status that says so; no text holds a value of the data."""

    code: ClassVar[str] = "INTERNAL"


class TooManyRows(BatchError):
    """The request has more rows than a batch may have: refused, not split."""

    code = "RESOURCE_EXHAUSTED"


class QueueFull(BatchError):
    """As many requests wait as may: refused at once."""

    code = "RESOURCE_EXHAUSTED"


class OutOfTime(BatchError):
    """The deadline passed. Where ``started`` is False, no row of the request reached the model."""

    code = "DEADLINE_EXCEEDED"

    def __init__(self, message: str, *, started: bool) -> None:
        self.started: Final = started
        super().__init__(message)


class Draining(BatchError):
    """The batcher takes no more requests, or ended before this one was done."""

    code = "UNAVAILABLE"


class BatchFailed(BatchError):
    """The model gave nothing for the batch; ``__cause__`` is what it raised."""


class WrongRows(BatchError):
    """The model answered with another number of rows than it was given: nobody can tell whose they are.

    ``facts`` are the batch's, with ``rows_given`` and ``rows_returned`` of ``output``.
    """

    def __init__(self, output: str, given: int, returned: int | None, facts: BatchFacts) -> None:
        got = "no array of rows" if returned is None else f"{returned:,}"
        super().__init__(f"output `{output}` of a batch of {given:,} rows; expected {given:,} rows, got {got}")
        self.output: Final = output
        self.given: Final = given
        #: None where the output is no array, or one without axes.
        self.returned: Final = returned
        self.facts: Final = facts

    def texts(self) -> dict[str, str]:
        """The facts of the batch with both counts, as evidence holds them."""
        return {
            **self.facts.texts(),
            "output": self.output,
            "rows_given": str(self.given),
            "rows_returned": "none" if self.returned is None else str(self.returned),
        }
