"""The contract of the registry tests, and a schema registry that is not ours, as a process."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from functools import cache
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.request import Request, urlopen

import pytest

from protocontract.contract import Contract
from protocontract.kafka.registry.client import Reference, RegistryClient
from protocontract.kafka.registry.schema import encoded
from protocontract_compiler.dynamic import compile as compile_set
from protocontract_compiler.dynamic import describe
from tests.kafka.conftest import Broker
from tests.support.processes import stop_here

if TYPE_CHECKING:
    from protocontract.kafka.ports import Fetched

NAME: Final = "acme.pay.v1.Payment"
NESTED: Final = "acme.pay.v1.Envelope.Body.Line"
TOPIC: Final = "payments"
DEAD: Final = "payments.dead"
MONEY_FILE: Final = "acme/pay/v1/money.proto"
MONEY: Final = """
syntax = "proto3";
package acme.pay.v1;
message Money { string currency = 1; int64 units = 2; }
"""
PAYMENT: Final = """
syntax = "proto3";
package acme.pay.v1;
import "acme/pay/v1/money.proto";
import "buf/validate/validate.proto";
import "protocontract/v1/contract.proto";
message Envelope {
  map<string, string> tags = 1;
  message Body { message Other { string x = 1; } message Line { string text = 1; } }
}
message Payment {
  option (protocontract.v1.contract) = {version: "1.2.0" topic: "payments" dead_letter_topic: "payments.dead"};
  string id = 1 [(buf.validate.field).required = true];
  Money amount = 2;
  string note = 3 [(protocontract.v1.field).text = {trim: true}];
  enum Kind { KIND_UNSPECIFIED = 0; KIND_CARD = 1; }
  Kind kind = 4;
}
"""
SOURCES: Final[Mapping[str, str]] = {MONEY_FILE: MONEY, "acme/pay/v1/payment.proto": PAYMENT}


@cache
def contracts() -> Mapping[str, Contract[Any]]:
    """The contracts of the sources above."""
    return compile_set(describe(SOURCES))


def contract(name: str = NAME) -> Contract[Any]:
    """One of them."""
    return contracts()[name]


@cache
def message(source: str, name: str) -> Any:
    """A message class of a source on its own, without rules."""
    return compile_set(describe({"one.proto": source}))[name].message_type


def record(value: bytes | None, headers: tuple[tuple[str, bytes | None], ...] = (), offset: int = 0) -> Fetched:
    """A record as a consumer hands it out."""
    return cast("Fetched", SimpleNamespace(topic=TOPIC, partition=0, offset=offset, value=value, headers=list(headers)))


class Server:
    """The registry as a process: .ci/registry."""

    def __init__(self, program: str, *arguments: str) -> None:
        self._command = [program, *arguments]
        self.url = ""
        self._process: subprocess.Popen[str] | None = None
        self.start()

    def start(self) -> None:
        """Start it, on the port that it had before."""
        command = list(self._command)
        if self.url:
            command += ["-port", self.url.rpartition(":")[2]]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().strip()

    def stop(self) -> None:
        """Kill it. What it held is gone."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def pause(self) -> None:
        """Let it hang until ``resume``."""
        assert self._process is not None
        stop_here(self._process.pid)

    def resume(self) -> None:
        """Let it go on."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def fail(self, status: int = 0, *, drop: bool = False) -> None:
        """Answer everything with this status from now on, or cut connections; 0 ends it."""
        self._send(f"/fault?status={status}&drop={str(drop).lower()}", "POST")

    @property
    def requests(self) -> int:
        """Requests so far."""
        return int(self._send("/requests", "GET"))

    def _send(self, path: str, method: str) -> bytes:
        with urlopen(Request(self.url + path, method=method), timeout=120) as answer:
            found: bytes = answer.read()
            return found


def register(server: Server, subject: str = "payments-value", *, source: bool = False) -> int:
    """Register the payment's schema, as source or as descriptor, with what it refers to; its id."""
    client = RegistryClient({"url": server.url})
    descriptor: Any = contract().message_type.DESCRIPTOR
    money = next(file for file in descriptor.file.dependencies if file.name == MONEY_FILE)
    client.register(MONEY_FILE, MONEY if source else encoded(money), ())
    reference = Reference(MONEY_FILE, MONEY_FILE, 1)
    client.register(subject, PAYMENT if source else encoded(descriptor.file), (reference,))
    schema_id = client.version(subject).schema_id
    assert schema_id is not None
    return schema_id


def put(server: Server, text: str, subject: str = "other") -> int:
    """Register a schema without references; its id."""
    client = RegistryClient({"url": server.url})
    client.register(subject, text, ())
    schema_id = client.version(subject).schema_id
    assert schema_id is not None
    return schema_id


def real_broker() -> Iterator[Broker]:
    """The real broker, for a fixture."""
    servers = os.environ.get("KAFKA_BOOTSTRAP_SERVERS")
    if not servers:
        pytest.skip("KAFKA_BOOTSTRAP_SERVERS is not set")
    found = Broker(servers)
    yield found
    found.admin.close()
