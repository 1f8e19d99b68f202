"""The committed exports are what the compiler makes, by the command and by the plugin alike."""

from __future__ import annotations

from pathlib import Path

import pytest

from protocontract_compiler import plugin
from protocontract_compiler.commands import compile_command
from tests.compiler.sources import CONTRACTS, EXAMPLES, ROOT, descriptors, request

TARGETS = {"jsonschema": 16, "odcs": 12, "manifest": 1}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """All files of the three targets, as the plugin makes them."""
    files = descriptors(EXAMPLES, [CONTRACTS], tmp_path_factory.mktemp("plugin"))
    parameter = ",".join(f"target={target}" for target in TARGETS)
    response = plugin.respond(request(files, EXAMPLES, parameter))
    assert not response.error
    return {file.name: file.content for file in response.file}


def test_by_the_plugin(made: dict[str, str]) -> None:
    committed = {file.name: file.read_text() for target in TARGETS for file in (ROOT / "generated" / target).iterdir()}
    assert committed == made


def test_by_the_command(made: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [str(CONTRACTS / "acme"), "-I", str(CONTRACTS), "--out", str(tmp_path / "out")]
    for target in TARGETS:
        arguments += ["--target", target]
    assert compile_command(arguments) == 0
    assert f"{sum(TARGETS.values())} files written" in capsys.readouterr().out
    assert {file.name: file.read_text() for file in (tmp_path / "out").iterdir()} == made


def test_a_part_of_the_contracts_has_no_manifest(tmp_path: Path) -> None:
    """As buf asks by default: once for each folder."""
    some = ["acme/finance/v1/transaction.proto"]
    files = descriptors(some, [CONTRACTS], tmp_path)
    response = plugin.respond(request(files, some, f"target=manifest,source_root={CONTRACTS}"))
    assert "error[partial-request]" in response.error
    assert "acme/text/v1/text.proto" in response.error
    assert "target manifest" in response.error
    # The other two are about one contract a file.
    assert not plugin.respond(request(files, some, f"target=odcs,target=jsonschema,source_root={CONTRACTS}")).error
