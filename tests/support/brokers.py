"""Broker processes of a test's own, and what is needed around them."""

from __future__ import annotations

import base64
import os
import secrets
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

from tests.support.ports import free_ports

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


def listens(port: int) -> bool:
    """Whether somebody answers on a port."""
    with closing(socket.socket()) as tried:
        return tried.connect_ex((LOOPBACK, port)) == 0


class OwnBroker:
    """A broker process of a test's own, started by .ci/kafka/broker."""

    def __init__(self, folder: Path, properties: Mapping[str, str], *, cluster: str | None = None) -> None:
        """Start it with further server properties; ``listeners`` begins with PLAINTEXT on ``port``."""
        self.folder = folder
        self.data = folder / "data"
        folder.mkdir(parents=True)
        (self.port,) = free_ports(1) if "listeners" not in properties else (_port(properties["listeners"]),)
        self._properties = folder / "own.properties"
        self._properties.write_text("".join(f"{name}={value}\n" for name, value in properties.items()))
        self._cluster = cluster or new_cluster()
        self.start()

    @property
    def address(self) -> str:
        """Its bootstrap address."""
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
        """SIGTERM: it closes its logs and goes."""
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


def new_cluster() -> str:
    """The id of a new cluster, as Kafka writes it: 16 bytes."""
    # A dash in front would be taken for an option.
    return base64.urlsafe_b64encode(b"K" + secrets.token_bytes(15)).decode().rstrip("=")


def _port(listeners: str) -> int:
    return int(listeners.partition(",")[0].rpartition(":")[2])
