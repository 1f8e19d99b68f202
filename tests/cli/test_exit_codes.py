"""Exit codes are one table: docs/operations.md says of each command what its own help says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from protocontract import cli
from tests.cli.test_help import COMMANDS, INNER, told

OPERATIONS = Path(__file__).parents[2] / "docs" / "operations.md"
#: Commands that only have commands of their own.
GROUPS = INNER.keys() - {"guard"}
#: One option makes another command of it, with a help of its own.
UPSTREAM = ["serve", "--upstream=127.0.0.1:8001"]
CHECKED = [*(words for words in COMMANDS if words[0] not in GROUPS or len(words) > 1), UPSTREAM]


def called(words: list[str]) -> str:
    """A command as the table has it."""
    return " ".join(words).partition("=")[0]


def documented() -> dict[str, dict[str, str]]:
    """By command, what each code means: the rows below the heading."""
    _, _, section = OPERATIONS.read_text().partition("\n## Exit codes\n")
    rows: dict[str, dict[str, str]] = {}
    for line in section.partition("\n## ")[0].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| `"):
            rows[cells[0].strip("`")] = {str(code): text for code, text in enumerate(cells[1:]) if text}
    return rows


def said(words: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    """What a command's help says of its exit codes."""
    (text,) = re.findall(r"^exit codes: (.*?)(?:\n\n|\Z)", told(words, "--help", capsys), re.MULTILINE | re.DOTALL)
    return dict(part.split(" ", 1) for part in re.split(r"; (?=\d )", " ".join(text.split())))


@pytest.mark.parametrize("words", CHECKED, ids=called)
def test_the_help_and_the_table_agree(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert said(words, capsys) == documented().get(called(words))


def test_the_table_has_no_other_command() -> None:
    assert documented().keys() <= {called(words) for words in (*COMMANDS, UPSTREAM)}


def test_the_codes_have_one_meaning() -> None:
    assert (cli.KEPT, cli.BROKEN, cli.COULD_NOT_CHECK, cli.INTERRUPTED) == (0, 1, 2, 130)
    assert all(codes.keys() <= {"0", "1", "2"} and "0" in codes for codes in documented().values())
