"""Where a service listens, as it is written: gRPC itself takes 443 for no port, and 34463 for port 99999."""

from __future__ import annotations

from protocontract.violations import ContractError


def demand_address(text: str) -> str:
    """``HOST:PORT`` with a port from 0 (any that is free) to 65535, or ``unix:PATH``. Raises ContractError."""
    host, colon, port = text.rpartition(":")
    if text.startswith(("unix:", "unix-abstract:")) or (
        colon and host and port.isascii() and port.isdigit() and len(port) < 6 and int(port) < 65_536
    ):
        return text
    raise ContractError(f"it cannot listen on {text}; expected HOST:PORT, [HOST]:PORT or unix:PATH")
