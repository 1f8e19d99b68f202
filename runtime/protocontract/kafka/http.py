"""What an orchestrator asks a guard process: ``/livez``, ``/readyz``, ``/metrics``; ``/resume``, ``/skip``, to go on.

It answers on the loopback interface unless it is told otherwise. It knows no passwords, so what changes anything is
taken from this host only, wherever it listens.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from protocontract.kafka.record import RecordId
from protocontract.kafka.skipping import Skip
from protocontract.status_http import TEXT, Reply, StatusServer
from protocontract.violations import MissingExtra

if TYPE_CHECKING:
    from protocontract.kafka.engine import Engine
    from protocontract.kafka.exactly_once import ExactlyOnce
    from protocontract.kafka.letters.oldest import OldestWatch

#: Carries why the line goes on, percent-encoded where a header cannot carry it as it is. A page in a browser cannot
#: send it without being allowed to, so none can resume us.
REASON_HEADER: Final = "Protocontract-Reason"
#: What ``/skip`` needs besides: ``topic:partition:offset``, the committed offset that was seen, and who asks.
RECORD_HEADER: Final = "Protocontract-Record"
STANDING_HEADER: Final = "Protocontract-Standing"
BY_HEADER: Final = "Protocontract-By"
DRY_RUN_HEADER: Final = "Protocontract-Dry-Run"


class Health:
    """Serves one guard's state from the moment it is made until ``close``."""

    def __init__(
        self,
        guard: Engine[Any] | ExactlyOnce,
        port: int,
        host: str = "127.0.0.1",
        *,
        dead_letters: OldestWatch | None = None,
    ) -> None:
        """``port`` 0 takes any free one; ``self.port`` says which. Raises OSError where the port is taken.

        ``dead_letters`` looks for the oldest dead letter that is not resolved, for the metrics. It is started and
        closed with this.
        """
        self._guard = guard
        self._dead_letters = dead_letters
        interval = guard._consumer.config.get("max_poll_interval_ms") or 300_000
        self._stuck_after = interval / 1000
        self._beat = time.monotonic()
        self._metrics: Any = None
        self._no_metrics = ""
        try:
            from protocontract import metrics
        except MissingExtra as error:
            self._no_metrics = str(error)
        else:
            self._metrics = metrics
            self._collector = metrics.GuardCollector(guard, dead_letters=dead_letters)
        self._server = StatusServer(host, port, self.answer, self.change)
        self.port: Final = self._server.port
        if dead_letters is not None:
            dead_letters.start()

    def beat(self) -> None:
        """The guard's loop is alive. Called at each of its steps."""
        self._beat = time.monotonic()

    def close(self) -> None:
        """Stop serving."""
        if self._dead_letters is not None:
            self._dead_letters.close()
        self._server.close()

    def answer(self, path: str) -> Reply:
        """Status, content type and body of a GET."""
        if path == "/livez":
            silent = time.monotonic() - self._beat
            if silent > self._stuck_after:
                return 503, TEXT, f"the guard's loop has not come round for {silent:.0f} s\n".encode()
            return 200, TEXT, b"alive\n"
        if path == "/readyz":
            reason = self.not_ready()
            return (200, TEXT, b"ready\n") if reason is None else (503, TEXT, f"{reason}\n".encode())
        if path == "/metrics":
            if self._metrics is None:
                return 501, TEXT, f"{self._no_metrics}\n".encode()
            return 200, self._metrics.CONTENT_TYPE, self._metrics.exposition(self._collector)
        if path == "/shadow":
            shadow = self._guard.shadow
            if shadow is None:
                return 404, TEXT, b"no candidate contract runs beside this guard's\n"
            return 200, "application/json", json.dumps(shadow.report()).encode()
        return 404, TEXT, b"/livez, /readyz, /metrics, /shadow\n"

    def not_ready(self) -> str | None:
        """Why the guard passes nothing on at present; None while it does."""
        guard = self._guard
        if guard.stopping:
            return "stopping"
        if guard.halted:
            return f"halted: {guard.halted}"
        if guard.blocked:
            return f"blocked: {guard.blocked}"
        if not guard.assignment:
            return "no partition is assigned"
        return None

    def change(self, path: str, headers: Mapping[str, str], this_host: bool) -> Reply:
        """Status, content type and body of a POST."""
        # Names of headers have no case.
        named = {name.title(): value for name, value in headers.items()}
        reason = " ".join(unquote(named.get(REASON_HEADER, "")).split())[:500]
        if not this_host:
            return 403, TEXT, b"a guard is resumed from its own host only\n"
        if path not in ("/resume", "/skip"):
            return 404, TEXT, b"/resume, /skip\n"
        if not reason:
            return 400, TEXT, f"say why in the header {REASON_HEADER}\n".encode()
        return self.skip(named, reason) if path == "/skip" else self.resume(reason)

    def resume(self, reason: str) -> Reply:
        """Let a halted guard go on."""
        halted = self._guard.halted
        if halted is None:
            return 409, TEXT, b"nothing is halted\n"
        self._guard.resume_levels(reason)
        return 200, TEXT, f"resumed: {halted}\n".encode()

    def skip(self, headers: Mapping[str, str], reason: str) -> Reply:
        """Let the guard pass over a record. 409 and why, where it does not."""
        topic, _, rest = headers.get(RECORD_HEADER, "").partition(":")
        partition, _, offset = rest.partition(":")
        standing = headers.get(STANDING_HEADER, "")
        if not topic or not all(text.isascii() and text.isdigit() for text in (partition, offset, standing)):
            return 400, TEXT, f"name the record in the headers {RECORD_HEADER} and {STANDING_HEADER}\n".encode()
        refused = self._guard.skip(
            Skip(
                RecordId(topic, int(partition), int(offset)),
                int(standing),
                reason,
                unquote(headers.get(BY_HEADER, ""))[:255],
                dry_run=DRY_RUN_HEADER in headers,
            )
        )
        return (200, TEXT, b"skipped\n") if refused is None else (409, TEXT, f"{refused}\n".encode())
