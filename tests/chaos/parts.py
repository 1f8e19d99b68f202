"""The parts that faults happen to: a broker of its own, and toxiproxy between it and the guards."""

from __future__ import annotations

import json
import os
import subprocess
import urllib.request
from pathlib import Path
from typing import Any

from tests.support.brokers import LOOPBACK, ROOT, OwnBroker, listens, wait_for
from tests.support.ports import free_ports


class Toxiproxy:
    """The proxy process, and a proxy for each guard in it. Its own HTTP API is described in its README."""

    def __init__(self, seed: int) -> None:
        named = os.environ.get("TOXIPROXY")
        binary = (
            named
            or subprocess.run(
                [ROOT / ".ci" / "toxiproxy" / "build"], check=True, stdout=subprocess.PIPE, text=True
            ).stdout.strip()
        )
        (self._port,) = free_ports(1)
        self._process = subprocess.Popen(
            [binary, "-host", LOOPBACK, "-port", str(self._port), "-seed", str(seed)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        wait_for(lambda: listens(self._port), "toxiproxy answers")

    def add(self, name: str, upstream: int) -> int:
        """A proxy in front of a port. Returns its own port."""
        answer = self._ask(
            "POST", "/proxies", {"name": name, "listen": f"{LOOPBACK}:0", "upstream": f"{LOOPBACK}:{upstream}"}
        )
        return int(str(answer["listen"]).rpartition(":")[2])

    def cut(self, name: str) -> None:
        """End the proxy's connections, and refuse new ones until ``mend``."""
        self._ask("POST", f"/proxies/{name}", {"enabled": False})

    def mend(self, name: str) -> None:
        """Remove what was done to a proxy."""
        for toxic in self._ask("GET", f"/proxies/{name}/toxics"):
            self._ask("DELETE", f"/proxies/{name}/toxics/{toxic['name']}")
        self._ask("POST", f"/proxies/{name}", {"enabled": True})

    def poison(self, name: str, kind: str, stream: str = "downstream", **attributes: int) -> None:
        """Do something to the connections of a proxy, those that are open included. Units are toxiproxy's own:
        milliseconds, kilobytes a second, bytes."""
        self._ask("POST", f"/proxies/{name}/toxics", {"type": kind, "stream": stream, "attributes": attributes})

    def stop(self) -> None:
        """End the proxy."""
        self._process.kill()
        self._process.wait()

    def _ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        request = urllib.request.Request(  # the scheme is written here
            f"http://{LOOPBACK}:{self._port}{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            text = answer.read()
        return json.loads(text) if text else None


class BrokerProcess(OwnBroker):
    """One broker with a listener of its own for each guard.

    What a guard reaches is its proxy: that is the address which the broker advertises on the guard's listener. The
    run itself talks to the broker directly.
    """

    def __init__(self, folder: Path, proxy: Toxiproxy, guards: list[str]) -> None:
        port, controller, *listeners = free_ports(2 + len(guards))
        #: The bootstrap address of each guard.
        self.addresses = {
            guard: f"{LOOPBACK}:{proxy.add(guard, port)}" for guard, port in zip(guards, listeners, strict=True)
        }
        names = [f"GUARD{number}" for number in range(len(guards))]
        behind = list(zip(names, listeners, strict=True))
        own = f"PLAINTEXT://{LOOPBACK}:{port}"
        super().__init__(
            folder,
            {
                "listeners": ",".join(
                    (
                        own,
                        *(f"{name}://{LOOPBACK}:{port}" for name, port in behind),
                        f"CONTROLLER://{LOOPBACK}:{controller}",
                    )
                ),
                "advertised.listeners": ",".join(
                    (own, *(f"{name}://{self.addresses[guard]}" for name, guard in zip(names, guards, strict=True)))
                ),
                "listener.security.protocol.map": ",".join(
                    f"{name}:PLAINTEXT" for name in ("PLAINTEXT", "CONTROLLER", *names)
                ),
                "controller.quorum.voters": f"1@{LOOPBACK}:{controller}",
                # One partition each: what was committed when is read from them.
                "offsets.topic.num.partitions": "1",
                "transaction.state.log.num.partitions": "1",
            },
        )
