"""The parts that faults happen to: a broker of its own, and toxiproxy between it and the guards."""

from __future__ import annotations

import base64
import json
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[2]
LOOPBACK: Final = "127.0.0.1"


class Stuck(Exception):
    """Something that must come did not come in time."""


def wait_for(condition: Callable[[], bool], what: str, seconds: float = 120.0) -> None:
    """Wait until ``condition`` is true. Raises Stuck."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise Stuck(f"{what}: not within {seconds:g} s")
        time.sleep(0.05)


def free_ports(count: int) -> list[int]:
    """Ports of the loopback interface that nobody listens on."""
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind((LOOPBACK, 0))
    ports: list[int] = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def listens(port: int) -> bool:
    """Whether somebody answers on a port."""
    with closing(socket.socket()) as tried:
        return tried.connect_ex((LOOPBACK, port)) == 0


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


class BrokerProcess:
    """One broker, started by .ci/kafka/broker, with a listener of its own for each guard.

    What a guard reaches is its proxy: that is the address which the broker advertises on the guard's listener. The
    run itself talks to the broker directly.
    """

    def __init__(self, folder: Path, proxy: Toxiproxy, guards: list[str]) -> None:
        self.folder = folder
        self.data = folder / "data"
        folder.mkdir(parents=True)
        self.port, controller, *listeners = free_ports(2 + len(guards))
        #: The bootstrap address of each guard.
        self.addresses = {
            guard: f"{LOOPBACK}:{proxy.add(guard, port)}" for guard, port in zip(guards, listeners, strict=True)
        }
        names = [f"GUARD{number}" for number in range(len(guards))]
        behind = list(zip(names, listeners, strict=True))
        own = f"PLAINTEXT://{LOOPBACK}:{self.port}"
        properties = {
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
        }
        # As Kafka writes it: 16 bytes.
        self._cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        self._properties = folder / "chaos.properties"
        self._properties.write_text("".join(f"{name}={value}\n" for name, value in properties.items()))
        self.start()

    @property
    def address(self) -> str:
        """The bootstrap address past all proxies."""
        return f"{LOOPBACK}:{self.port}"

    def start(self) -> None:
        """Start it, with the data that it has."""
        subprocess.run(
            [ROOT / ".ci" / "kafka" / "broker", "start", self.folder],
            check=True,
            stdout=subprocess.DEVNULL,
            env={
                **os.environ,
                "KAFKA_PORT": str(self.port),
                "KAFKA_PROPERTIES": str(self._properties),
                "KAFKA_CLUSTER_ID": self._cluster,
            },
        )

    def stop(self) -> None:
        """SIGTERM: it closes its logs and goes. Nobody waits for partitions to move, since there is no other broker."""
        subprocess.run([ROOT / ".ci" / "kafka" / "broker", "stop", self.folder], check=True)

    def kill(self) -> None:
        """SIGKILL."""
        self.signal(signal.SIGKILL)
        wait_for(lambda: not self._runs(), "the killed broker is gone")

    def signal(self, number: int) -> None:
        """Send its process a signal."""
        os.kill(self._pid(), number)

    def close(self) -> None:
        """End it, whatever state it is in."""
        with suppress(OSError, ValueError):
            self.signal(signal.SIGKILL)

    def _pid(self) -> int:
        return int((self.folder / "pid").read_text())

    def _runs(self) -> bool:
        """Whether the process is there; one that only waits to be collected by its parent is not."""
        state = subprocess.run(
            ["ps", "-o", "stat=", "-p", str(self._pid())], stdout=subprocess.PIPE, text=True, check=False
        ).stdout.strip()
        return bool(state) and not state.startswith("Z")
