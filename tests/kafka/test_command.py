"""``protocontract guard`` as far as no broker is needed."""

from __future__ import annotations

import io
import signal
import subprocess
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest

from protocontract import cli
from protocontract.kafka import client, connection
from protocontract.kafka.client import split_config
from protocontract.kafka.http import Health
from protocontract.kafka.progress import Progress, percent
from protocontract.kafka.stopping import stopped_by_signals
from tests.kafka.support import GARBAGE, TOPIC, contract, good, new_guard, new_log
from tests.kafka.transactions import NAME, PROTOS


@pytest.fixture(autouse=True)
def known_contract(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KAFKA_BOOTSTRAP_SERVERS", raising=False)
    monkeypatch.setattr("protocontract.loading.resolve", lambda *_args, **_more: contract())


def run(*arguments: str) -> int:
    return cli.main(["guard", "--contract", "a.B", "--source", "raw", "--sink", "clean", *arguments])


def test_no_broker_is_named(capsys: Any) -> None:
    assert run() == 2
    assert "add --bootstrap-servers" in capsys.readouterr().err


def test_the_topics_must_differ(capsys: Any) -> None:
    assert run("--bootstrap-servers", "x:1", "--dead-letter", "raw") == 2
    assert "three topics" in capsys.readouterr().err


def test_a_topic_that_no_broker_can_have(capsys: Any) -> None:
    assert run("--bootstrap-servers", "x:1", "--dead-letter", "dead letters") == 2
    assert capsys.readouterr().err == (
        "error: `dead letters` is no name of a topic; expected letters, digits, `.`, `_` and `-`\n"
    )


@pytest.mark.parametrize("seconds", ["soon", "-1", "nan"])
def test_a_duration_that_is_none(seconds: str, capsys: Any) -> None:
    assert run("--bootstrap-servers", "x:1", "--give-up-after", seconds) == 2
    assert "--give-up-after: expected seconds above 0" in capsys.readouterr().err


def test_an_option_of_the_wrong_type(capsys: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def new_consumer(topic: str, config: Any) -> None:
        """As kafka-python does once a broker has answered."""
        assert config["heartbeat_interval_ms"] >= config["session_timeout_ms"]

    monkeypatch.setattr(client, "new_consumer", new_consumer)
    config = tmp_path / "client.toml"
    config.write_text('session_timeout_ms = "hunter2"\nheartbeat_interval_ms = 3000\n')
    assert run("--bootstrap-servers", "127.0.0.1:1", "--client-config", str(config)) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: the client configuration is refused: kafka-python ends in TypeError")
    assert "hunter2" not in error


@pytest.mark.parametrize(
    ("option", "file", "environment", "taken"),
    [
        ("a:1", "b:1", "c:1", "a:1"),
        (None, "b:1", "c:1", "b:1"),
        (None, None, "c:1", "c:1"),
    ],
)
def test_brokers_of_the_option_then_of_the_file_then_of_the_environment(
    option: str | None, file: str | None, environment: str, taken: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same for every command: a file that somebody names says more than the environment of a machine."""
    config = tmp_path / "client.toml"
    config.write_text("" if file is None else f'bootstrap_servers = "{file}"\n')
    monkeypatch.setenv("KAFKA_BOOTSTRAP_SERVERS", environment)
    asked: list[list[str]] = []

    def new_consumer(topic: str, config: Any) -> None:
        asked.append(config["bootstrap_servers"])
        raise client.errors.KafkaTimeoutError

    monkeypatch.setattr(client, "new_consumer", new_consumer)
    assert run(*(() if option is None else ("--bootstrap-servers", option)), "--client-config", str(config)) == 2
    assert asked == [[taken]]
    assert connection.configured(Namespace(bootstrap_servers=option, client_config=str(config))) == {
        "bootstrap_servers": [taken]
    }


def test_no_broker_answers(tmp_path: Path) -> None:
    config = tmp_path / "client.toml"
    config.write_text("bootstrap_timeout_ms = 300\n")
    # In a process of its own: kafka-python leaves a socket open when its constructor fails.
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "protocontract.cli",
            "guard",
            "--contract",
            NAME,
            "--proto-path",
            str(PROTOS),
            "--source",
            "raw",
            "--sink",
            "clean",
            "--bootstrap-servers",
            "127.0.0.1:1",
            "--client-config",
            str(config),
        ],
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == "error: no broker answers at 127.0.0.1:1 (KafkaTimeoutError)"
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sasl_plain_password = hunter2", "is not a file of kafka-python's options"),
        ("sasl_plain_pasword = 'hunter2'", "not an option of kafka-python: sasl_plain_pasword"),
    ],
)
def test_a_wrong_configuration_is_told_without_its_values(text: str, said: str, capsys: Any, tmp_path: Path) -> None:
    config = tmp_path / "client.toml"
    config.write_text(text)
    assert run("--bootstrap-servers", "127.0.0.1:1", "--client-config", str(config)) == 2
    error = capsys.readouterr().err
    assert said in error
    assert "hunter2" not in error


def test_a_configuration_is_split_by_client() -> None:
    consumer, producer = split_config({"bootstrap_servers": ["x:1"], "fetch_max_bytes": 5, "linger_ms": 3})
    assert consumer == {"bootstrap_servers": ["x:1"], "fetch_max_bytes": 5}
    assert producer == {"bootstrap_servers": ["x:1"], "linger_ms": 3}


def test_the_progress_line() -> None:
    log = new_log()
    for number in range(1_000):
        log.append(TOPIC, GARBAGE if number == 7 else good(number, note=" a " if number < 88 else ""))
    guard = new_guard(log, close_consumer=False)
    with guard:
        assert len(list(guard)) == 999
        line = Progress(guard, "payments.raw -> payments", io.StringIO()).line()
    assert line.startswith(
        "payments.raw -> payments   1,000 in   999 valid (99.90 %)   87 normalised   1 dead   lag 0   "
    )
    assert line.endswith("/s")


def test_the_progress_line_counts_tombstones() -> None:
    log = new_log()
    log.append(TOPIC, good(1))
    log.append(TOPIC, None)
    guard = new_guard(log, close_consumer=False)
    with guard:
        assert len(list(guard)) == 1
        line = Progress(guard, "a -> b", io.StringIO()).line()
    assert "   0 dead   1 tombstone   lag 0   " in line


def test_a_share_is_never_rounded_up_to_all() -> None:
    assert percent(1.0) == "100.00 %"
    assert percent(0.99999) == "99.99 %"
    assert percent(1_203_870 / 1_204_331) == "99.96 %"


def test_signals_stop_the_guard_and_are_given_back() -> None:
    log = new_log()
    guard = new_guard(log)
    before = signal.getsignal(signal.SIGTERM)
    with stopped_by_signals(guard.stop) as received:
        signal.raise_signal(signal.SIGTERM)
        assert guard.stopping
        assert received == [signal.SIGTERM]
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--http", "0"), "expected a port"),
        (("--http", ":9464"), "or HOST:PORT"),
        (("--http", "0.0.0.0:65536"), "or HOST:PORT"),
        (("--breaker-ratio", "1.5"), "expected a share"),
        (("--breaker-consecutive", "none"), "expected a number of records"),
    ],
)
def test_options_of_halts_that_cannot_work(arguments: tuple[str, ...], said: str, capsys: Any) -> None:
    assert run("--bootstrap-servers", "x:1", *arguments) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("resume", "--reason", "x"), "give either --http"),
        (("resume", "--reason", " ", "--http", "1"), "--reason: expected text"),
        (("resume", "--http", "1", "--reason", "x"), "no guard answers on port 1"),
        (("status", "--source", "raw"), "name the guard's --group, or its --sink"),
        (("status", "--source", "ra w", "--group", "g"), "is no name of a topic"),
        (("status", "--source", "raw", "--group", "g"), "no broker is named"),
    ],
)
def test_status_and_resume_say_what_is_missing(arguments: tuple[str, ...], said: str, capsys: Any) -> None:
    assert cli.main(["guard", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_resume_reaches_a_running_guard(capsys: Any) -> None:
    log = new_log()
    guard = new_guard(log, stop_at_end=False, breaker={"consecutive": 1})
    log.append(TOPIC, GARBAGE)
    health = Health(guard, 0)
    answers: list[int] = []

    def tick() -> None:
        if guard.halted:
            asked = ["guard", "resume", "--http", str(health.port), "--reason", "x"]
            answers.extend((cli.main(asked), cli.main(asked)))
            guard.stop()

    guard._tick = tick
    try:
        with guard:
            assert list(guard) == []
    finally:
        health.close()
    assert answers == [0, 1]
    assert capsys.readouterr().out.startswith(f"resumed: {TOPIC}:0: breaker: 1 bad records in a row")
