"""The options of ``protocontract guard`` about a registry, as far as no broker is needed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from protocontract import cli
from protocontract.kafka.guard_options import guard_parser
from protocontract.kafka.registry import Registry
from protocontract.kafka.registry.options import contract_of, registry_config
from tests.registry.support import NAME, Server, contract, register

PLACES = ("--source", "raw", "--sink", "clean", "--dead-letter", "dead")
BROKER = ("--bootstrap-servers", "127.0.0.1:1")


@pytest.fixture
def generated(monkeypatch: pytest.MonkeyPatch) -> None:
    """A contract that is found without a registry."""
    monkeypatch.setattr("protocontract.loading.resolve", lambda *_args, **_more: contract())


def settled(*arguments: str) -> Any:
    """Options after the registry was asked."""
    options = guard_parser().parse_args([*PLACES, *arguments])
    options.found = contract_of(options)
    return options


@pytest.mark.usefixtures("generated")
def test_what_is_read_how(server: Server) -> None:
    named = ("--contract", NAME)
    assert settled(*named).encoding == "protobuf"
    assert settled(*named, "--encoding", "confluent").encoding == "confluent"
    assert isinstance(settled(*named, "--registry", server.url).encoding, Registry)
    assert isinstance(settled(*named, "--registry", server.url, "--encoding", "confluent").encoding, Registry)
    only_sink = settled(*named, "--registry", server.url, "--encoding", "json", "--sink-subject", "s", "--register")
    assert only_sink.encoding == "json"
    assert only_sink.sink_frame.frame[5:] == b"\x02\x02"


def test_the_contract_of_a_subject(server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    schema_id = register(server)
    config = tmp_path / "registry.toml"
    config.write_text(f'url = "{server.url}"\n[basic.auth.user]\ninfo = "guard:s3cret"\n')
    options = settled("--registry-config", str(config), "--subject", "payments-value@1", "--contract", NAME)
    assert options.found.fingerprint == contract().fingerprint
    assert options.encoding.place == server.url
    told = capsys.readouterr().err
    assert told == (
        f"contract: {NAME} 1.2.0 from payments-value version 1 (schema id {schema_id}), "
        f"sha256 {contract().fingerprint}\n"
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "no contract is named; add --contract NAME, or --registry URL --subject NAME"),
        (("--subject", "s"), "--subject is one of a schema registry; add --registry URL"),
        (("--contract", NAME, "--sink-subject", "s"), "--sink-subject is one of a schema registry; add --registry URL"),
        (
            ("--contract", NAME, "--register"),
            "--register and --sink-frame are about frames on the sink; add --sink-sub",
        ),
        (("--contract", NAME, "--sink-frame", "header"), "--register and --sink-frame are about frames on the sink"),
        (
            ("--contract", NAME, "--sink-encoding", "confluent", "--encoding", "json"),
            "frames on the sink need a schema id; add --registry URL --sink-subject NAME",
        ),
        (("--registry", "URL", "--contract", NAME, "--sink-subject", "s", "--sink-encoding", "json"), "not for json"),
        (("--registry", "URL", "--subject", "s", "--proto-path", "x"), "leave out --proto-path and --descriptors"),
        (("--registry", "URL", "--subject", "@3"), "--subject @3: expected NAME or NAME@VERSION"),
        (("--registry", "URL", "--subject", "nowhere"), "has no subject nowhere"),
        (("--registry", "URL", "--subject", "payments-value"), "acme.pay.v1.Payment; name one with --contract"),
        (("--registry", "URL", "--subject", "payments-value", "--contract", "a.B"), "no message a.B in payments-value"),
        (
            ("--registry", "URL", "--subject", "payments-value", "--contract", NAME, "--sink-subject", "s"),
            "register its schema, or add --register",
        ),
        (
            ("--registry", "http://127.0.0.1:1", "--contract", NAME),
            "at http://127.0.0.1:1 does not answer (ConnectError)",
        ),
        (("--registry", "registry", "--contract", NAME), "its address is not a URL"),
    ],
)
def test_what_does_not_go_together_or_is_not_there(
    server: Server, arguments: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    register(server)
    given = [server.url if argument == "URL" else argument for argument in arguments]
    assert cli.main(["guard", *PLACES, *BROKER, *given]) == 2
    error = capsys.readouterr().err
    assert error.splitlines()[-1].startswith("error: ")
    assert said in error


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.toml", '"basic.auth.user.info" = "u:p"\nssl.ca.location = "ca.pem"\n'),
        ("a.toml", '[basic.auth.user]\ninfo = "u:p"\n[ssl.ca]\nlocation = "ca.pem"\n'),
        ("a.json", '{"basic.auth.user.info": "u:p", "ssl.ca.location": "ca.pem"}'),
    ],
)
def test_names_with_full_stops_in_files(tmp_path: Path, name: str, text: str) -> None:
    file = tmp_path / name
    file.write_text(text)
    assert registry_config(str(file)) == {"basic.auth.user.info": "u:p", "ssl.ca.location": "ca.pem"}


@pytest.mark.usefixtures("generated")
@pytest.mark.parametrize("text", ["url = s3cret", 'url = "http://a"\nnonsense = "s3cret"\n', 'basic.auth = "s3cret"\n'])
def test_files_that_are_refused_are_not_quoted(tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.toml"
    file.write_text(text)
    assert cli.main(["guard", *PLACES, *BROKER, "--contract", NAME, "--registry-config", str(file)]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert "s3cret" not in error


def test_without_the_extra_it_says_what_to_type() -> None:
    arguments = [*PLACES, *BROKER, "--registry", "http://a", "--contract", NAME]
    code = (
        "import sys; sys.modules['confluent_kafka'] = None; from protocontract.cli import main;"
        f"sys.exit(main(['guard', *{arguments!r}]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == (
        'error: a schema registry needs confluent-kafka[schemaregistry]: pip install "protocontract[registry]"'
    )
