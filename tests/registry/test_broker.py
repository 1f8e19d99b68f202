"""The process ``protocontract guard`` between a real broker and a real registry that goes away and comes back."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from protocontract import wire
from tests.kafka.conftest import Broker
from tests.kafka.test_broker import KEEPS_ALL, wait_until
from tests.registry.support import NAME, PAYMENT, Server, contract, put, real_broker, register
from tests.support.ports import free_ports

NEWER = 'syntax = "proto3"; package acme.pay.v1; message Payment { string id = 1; string note = 3; bool more = 9; }'


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    """The real broker."""
    yield from real_broker()


def get(port: int, path: str) -> str:
    """Status and body of an answer of the guard."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"http://127.0.0.1:{port}{path}", timeout=120) as answer:
            return f"{answer.status} {answer.read().decode()}"
    except urllib.error.HTTPError as error:
        with error:
            return f"{error.code} {error.read().decode()}"
    except OSError:
        return ""


def write(broker: Broker, topic: str, schema_id: int, index: int, numbers: range) -> None:
    """Payments, framed; every third has something to normalise."""
    producer = broker.producer(linger_ms=5)
    for number in numbers:
        payment = contract().message_type(id=f"p{number}", note=" a " if number % 3 == 0 else "a")
        value = wire.frame_of(schema_id, (index,)) + payment.SerializeToString()
        producer.send(topic, value, key=b"k%d" % (number % 7))
    producer.flush()
    producer.close()


@pytest.mark.kafka
@pytest.mark.parametrize("more", [(), ("--exactly-once",)], ids=["at-least-once", "exactly-once"])
def test_the_registry_goes_away_and_comes_back(
    broker: Broker, server: Server, tmp_path: Path, more: tuple[str, ...]
) -> None:
    source, sink, dead = broker.topic("raw", 2), broker.topic("clean", 2), broker.topic("dead", 1, **KEEPS_ALL)
    mine = register(server, source=True)
    newer = put(server, NEWER, "newer-value")
    config = tmp_path / "registry.toml"
    config.write_text(f'url = "{server.url}"\ntimeout = 2\n')
    (port,) = free_ports(1)
    process = subprocess.Popen(
        [
            *(sys.executable, "-W", "ignore", "-m", "protocontract.cli", "guard"),
            *("--source", source, "--sink", sink, "--dead-letter", dead, "--bootstrap-servers", broker.servers),
            *("--registry-config", str(config), "--subject", "payments-value@1", "--contract", NAME),
            *("--sink-subject", "clean-value", "--register", "--http", str(port), "--format", "json", *more),
        ],
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    level = "read_committed"

    def there(topic: str) -> int:
        assert process.poll() is None, process.communicate()
        return len(broker.read(topic, isolation_level=level))

    try:
        write(broker, source, mine, 1, range(300))
        wait_until(lambda: there(sink) == 300)
        server.stop()
        write(broker, source, newer, 0, range(300, 600))
        write(broker, source, mine, 1, range(600, 650))
        wait_until(lambda: get(port, "/readyz").startswith("503 blocked: the schema registry at http://127.0.0.1:"))
        assert "schema_registry_blocked 1.0" in get(port, "/metrics")
        assert get(port, "/livez").startswith("200")
        assert there(dead) == 0
        server.start()
        assert (register(server, source=True), put(server, NEWER, "newer-value")) == (mine, newer)
        wait_until(lambda: there(sink) == 650)
        write(broker, source, 999_999, 1, range(1_000, 1_005))
        write(broker, source, mine, 1, range(650, 660))
        wait_until(lambda: there(sink) == 660 and there(dead) == 5)
        wait_until(lambda: get(port, "/readyz").startswith("200"))
        process.terminate()
        out, err = process.communicate(timeout=180)
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()
    assert process.returncode == 0, err
    assert f"contract: {NAME} 1.2.0 from payments-value version 1 (schema id {mine})" in err
    assert "sink schema: clean-value version 1" in err
    assert PAYMENT not in err
    report = json.loads(out)
    assert report["fingerprint"] == contract().fingerprint
    assert (report["consumed"], report["delivered"], report["dead_lettered"]) == (665, 660, 5)
    assert report["by_rule"] == {"schema.unknown": 5}
    ids = []
    for record in broker.read(sink, isolation_level=level):
        frame = wire.parse_frame(record.value, (1,))
        assert isinstance(frame, wire.Frame)
        message = contract().message_type.FromString(record.value[frame.payload_offset :])
        assert message.note == "a"
        ids.append(message.id)
    assert sorted(ids) == sorted(f"p{number}" for number in range(660))
    for letter in broker.read(dead, isolation_level=level):
        assert letter.value.startswith(wire.frame_of(999_999, (1,)))
        assert dict(letter.headers)["protocontract.schema"] == b"999999"
