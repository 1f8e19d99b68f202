"""Ports for servers that tests start: ``python tests/support/ports.py COUNT`` prints as many.

The system gives a connection any port of its ephemeral range, and other processes connect all the time. A port out of
that range that was free a moment ago can be gone when a server comes to listen on it; so these are all below it.
"""

from __future__ import annotations

import random
import socket
import sys
from contextlib import closing
from pathlib import Path
from typing import Final

_RANGE: Final = Path("/proc/sys/net/ipv4/ip_local_port_range")
_LOWEST: Final = 15_000
#: Where the system does not tell where its ephemeral range begins.
_USUAL: Final = 32_768
#: Tests seed the common one.
_RANDOM: Final = random.SystemRandom()


def free_ports(count: int) -> list[int]:
    """Different ports of the loopback interface that nobody listens on."""
    highest = int(_RANGE.read_text().split()[0]) if _RANGE.exists() else _USUAL
    found: list[int] = []
    while len(found) < count:
        port = _RANDOM.randrange(_LOWEST, highest)
        if port not in found and _is_free(port):
            found.append(port)
    return found


def _is_free(port: int) -> bool:
    with closing(socket.socket()) as tried:
        try:
            tried.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


if __name__ == "__main__":
    print(*free_ports(int(sys.argv[1])))
