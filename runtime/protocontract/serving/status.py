"""What an orchestrator asks a service by HTTP: ``/livez``, ``/readyz``, ``/metrics``. Health is asked by gRPC too."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from protocontract.status_http import TEXT, Reply, StatusServer

if TYPE_CHECKING:
    from protocontract.serving.server import InferenceServer

#: Seconds between two beats of the event loop, and how many may be missing.
_BEAT: Final = 1.0
_SILENT: Final = 30.0


class ServingStatus:
    """Serves a server's state from the moment it is made until ``close``. Made on the server's event loop."""

    def __init__(
        self, server: InferenceServer, host: str, port: int, metrics: Callable[[], tuple[str, bytes]] | None = None
    ) -> None:
        """``metrics`` gives a content type and the exposition. Raises OSError where the port is taken."""
        self._server: Final = server
        self._metrics: Final = metrics
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
            if self._metrics is None:
                return 501, TEXT, b"no metrics; install protocontract[metrics]\n"
            return 200, *self._metrics()
        return 404, TEXT, b"/livez, /readyz, /metrics\n"

    def close(self) -> None:
        """Stop serving."""
        self._timer.cancel()
        self._http.close()

    def _beat(self) -> None:
        self._at = time.monotonic()
        self._timer = self._loop.call_later(_BEAT, self._beat)
