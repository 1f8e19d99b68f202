"""Why a command ends is told in one form on standard error, by one function."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from protocontract import cli
from protocontract.terminal import tell_error, tell_refused
from tests.cli.test_help import COMMANDS

ROOT = Path(__file__).parents[2]
SOURCES = [
    path
    for root in ("runtime/protocontract", "compiler/protocontract_compiler", "ci/protocontract_ci")
    for path in sorted((ROOT / root).rglob("*.py"))
    if path.name != "terminal.py"
]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_wrong_command_line_is_told_in_one_line(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([*words, "--no-such-option"]) == cli.COULD_NOT_CHECK
    told = capsys.readouterr()
    assert told.out == ""
    assert re.fullmatch(rf"error: [^\n]+; protocontract {words[0]}[a-z -]* --help says more\n", told.err)


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        (["guard", "--sorce", "payments.raw"], "`--sorce` is no option, did you mean `--source`?"),
        (["guard", "status", "--sorce=payments.raw"], "`--sorce` is no option, did you mean `--source`?"),
        (["gate", "--agaisnt", "main"], "`--agaisnt` is no option, did you mean `--against`?"),
    ],
)
def test_an_option_that_is_nearly_one_is_asked_about(
    line: list[str], meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(line) == cli.COULD_NOT_CHECK
    assert f"; {meant} protocontract {line[0]}" in capsys.readouterr().err


def test_what_refuses_to_start_says_so_once(capsys: pytest.CaptureFixture[str]) -> None:
    tell_error("no broker answers")
    tell_error("refused to start: the model has no input `x`")
    tell_refused("the model has no input `x`")
    tell_refused("refused to start:\n  one\n  two")
    assert capsys.readouterr().err == (
        "error: no broker answers\n"
        "refused to start: the model has no input `x`\n"
        "refused to start: the model has no input `x`\n"
        "refused to start:\n  one\n  two\n"
    )


def test_nothing_else_writes_errors() -> None:
    own_form = re.compile(r"""(?:print|write)\(\s*f?["'](?:error|refused to start)\b""")
    assert [str(path.relative_to(ROOT)) for path in SOURCES if own_form.search(path.read_text())] == []
