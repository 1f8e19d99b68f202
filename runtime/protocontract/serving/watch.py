"""What a service tells of its requests and models to whoever counts: ``Watch``."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from protocontract.models import Answer
    from protocontract.models.fallback import Event
    from protocontract.serving.beside import Shadows
    from protocontract.serving.engines import ModelSpec
    from protocontract.serving.plan import Route
    from protocontract.serving.rejection import Rejected
    from protocontract.serving.versions import Running, Versions


@dataclass(slots=True)
class Ran:
    """One model's part of a request: its inputs, and what came of them."""

    route: Route
    running: Running
    source: Any
    inputs: Mapping[str, Any]
    nonfinite: dict[str, int]
    answer: Answer | None = None


@dataclass(slots=True)
class Seen:
    """What became of a request, for whoever counts. ``code`` is gRPC's name of the status; times in nanoseconds."""

    method: str
    raw: bytes
    started: int = field(default_factory=time.perf_counter_ns)
    code: str = "OK"
    reason: str = ""
    error: Rejected | None = None
    request: Any = None
    response: Any = None
    ran: list[Ran] = field(default_factory=list[Ran])
    preprocess: int = 0
    postprocess: int = 0
    total: int = 0


class Watch(Protocol):
    """Is told of everything, and must not fail."""

    def serving(self, versions: Versions, shadows: Shadows) -> None:
        """Called once, before the first request: where the state of models can be read, on any thread."""
        ...

    def request(self, seen: Seen) -> None:
        """A request has ended, on the event loop."""
        ...

    def event(self, spec: ModelSpec, event: Event) -> None:
        """A model degraded or came back, on any thread."""
        ...
