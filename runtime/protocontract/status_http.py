"""A small HTTP server beside a process that does something else: probes and metrics, on a thread of its own.

The standard library's. It knows no passwords: it listens where it is told to, and what changes anything has to ask
whether the caller is on this host.
"""

from __future__ import annotations

import argparse
import ipaddress
import socket
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final, TypeAlias

#: Status, content type and body.
Reply: TypeAlias = tuple[int, str, bytes]
TEXT: Final = "text/plain; charset=utf-8"


class StatusServer:
    """Serves from the moment it is made until ``close``."""

    def __init__(
        self,
        host: str,
        port: int,
        get: Callable[[str], Reply],
        post: Callable[[str, Mapping[str, str], bool], Reply] | None = None,
    ) -> None:
        """``port`` 0 takes any free one; ``self.port`` says which. Raises OSError where the port is taken.

        ``get`` answers a path; ``post`` a path and headers, and is told whether the caller is on this host.
        """
        server = _Server6 if ":" in host else ThreadingHTTPServer
        self._server: Final = server((host, port), _handler(get, post))
        self._server.daemon_threads = True
        self.port: Final[int] = self._server.server_address[1]
        self._thread: Final = threading.Thread(
            target=self._server.serve_forever, args=(0.1,), name="protocontract-http", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(2.0)


def http_address(text: str) -> tuple[str, int]:
    """``PORT`` or ``HOST:PORT`` of a command line; the loopback interface without a host. For argparse."""
    host, colon, port = text.rpartition(":")
    if not (port.isascii() and port.isdigit() and 0 < len(port) < 6 and 0 < int(port) < 65_536) or (colon and not host):
        raise argparse.ArgumentTypeError("expected a port, 1 to 65535, or HOST:PORT")
    return host.removeprefix("[").removesuffix("]") or "127.0.0.1", int(port)


class _Server6(ThreadingHTTPServer):
    """The same, on an IPv6 address."""

    address_family = socket.AF_INET6


def is_this_host(address: str) -> bool:
    """Whether an IP address is one of this host's own (loopback)."""
    found = ipaddress.ip_address(address.partition("%")[0])
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return (mapped or found).is_loopback


def _handler(
    get: Callable[[str], Reply], post: Callable[[str, Mapping[str, str], bool], Reply] | None
) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        """Answers one request."""

        timeout = 10.0

        def do_GET(self) -> None:
            self._reply(*get(self.path.partition("?")[0]))

        def do_POST(self) -> None:
            if post is None:
                self._reply(405, TEXT, b"only GET\n")
            else:
                self._reply(*post(self.path, dict(self.headers.items()), is_this_host(self.client_address[0])))

        def _reply(self, status: int, kind: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(body)
            self.close_connection = True

        def log_message(self, format: str, *_args: object) -> None:  # noqa: A002  # the base class's name
            """Probes come every few seconds; they are not logged."""

    return Handler
