"""What is asked of a service by HTTP: ``/livez``, ``/readyz``, ``/metrics``, ``/digests``."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Protocol

from protocontract.status_http import TEXT, Reply, StatusServer
from protocontract.violations import MissingExtra

if TYPE_CHECKING:
    from protocontract.serving.counts import ServingMetrics

#: Seconds between two beats of the event loop, and how many may be missing.
_BEAT: Final = 1.0
_SILENT: Final = 30.0


class Serving(Protocol):
    """Whatever serves requests. Asked on another thread than it serves on."""

    @property
    def not_ready(self) -> str | None:
        """Why it does not serve at present; None while it does."""
        ...


class ServingStatus:
    """Serves a server's state from the moment it is made until ``close``. Made on the server's event loop."""

    def __init__(self, server: Serving, host: str, port: int, metrics: ServingMetrics) -> None:
        """``metrics`` are those that the server is watched by. Raises OSError where the port is taken."""
        self._server: Final = server
        self._metrics: Final = metrics
        self._no_metrics = ""
        try:
            from protocontract.metrics import CONTENT_TYPE, exposition
            from protocontract.serving.metrics import ServingCollector
        except MissingExtra as error:
            self._no_metrics = str(error)
        else:
            collector = ServingCollector(metrics)
            self._exposed: Callable[[], tuple[str, bytes]] = lambda: (CONTENT_TYPE, exposition(collector))
        self._loop: Final = asyncio.get_running_loop()
        self._at = time.monotonic()
        self._http: Final = StatusServer(host, port, self.answer)
        self.port: Final = self._http.port
        self._timer = self._loop.call_later(_BEAT, self._beat)

    def answer(self, path: str) -> Reply:
        """Status, content type and body of a GET; on a thread of the HTTP server."""
        if path == "/livez":
            silent = time.monotonic() - self._at
            if silent > _SILENT:
                return 503, TEXT, f"the event loop has not come round for {silent:.0f} s\n".encode()
            return 200, TEXT, b"alive\n"
        if path == "/readyz":
            reason = self._server.not_ready
            return (200, TEXT, b"ready\n") if reason is None else (503, TEXT, f"{reason}\n".encode())
        if path == "/metrics":
            return (501, TEXT, f"{self._no_metrics}\n".encode()) if self._no_metrics else (200, *self._exposed())
        if path == "/digests":
            return 200, "application/json", json.dumps(self._metrics.as_dict()).encode()
        return 404, TEXT, b"/livez, /readyz, /metrics, /digests\n"

    def close(self) -> None:
        """Stop serving."""
        self._timer.cancel()
        self._http.close()

    def _beat(self) -> None:
        self._at = time.monotonic()
        self._timer = self._loop.call_later(_BEAT, self._beat)


def open_status(server: Serving, address: tuple[str, int], metrics: ServingMetrics, worker: int = 0) -> ServingStatus:
    """The status at ``--http``; a worker's is as many ports above. Raises OSError, which names the option."""
    host, port = address
    try:
        return ServingStatus(server, host, port + worker, metrics)
    except OSError as error:
        raise OSError(error.errno, error.strerror, f"--http {host}:{port}") from error
