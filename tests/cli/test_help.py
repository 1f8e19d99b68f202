"""The help of every command: one form, on one screen, with an example; all options where they are asked for."""

from __future__ import annotations

import re

import pytest

from protocontract import cli
from protocontract.arguments import Parser

INNER = {
    "dead-letter": ("inspect", "edit"),
    "evidence": ("verify", "show", "replay"),
    "guard": ("status", "resume", "skip"),
    "model": ("check", "probe"),
}
COMMANDS = [*([name] for name in cli.commands()), *([name, inner] for name, all_ in INNER.items() for inner in all_)]
#: Lines of a screen, and the columns of a window.
SCREEN, COLUMNS = 52, 100


def told(words: list[str], option: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert cli.main([*words, option]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_help_fits_a_screen_and_shows_an_example(
    words: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(COLUMNS))
    text = told(words, "--help", capsys)
    assert text.startswith(f"usage: protocontract {' '.join(words)}")
    assert len(text.splitlines()) <= SCREEN
    # Commands of commands list these.
    if words[0] in INNER and len(words) == 1 and words[0] != "guard":
        assert all(re.search(rf"^ +{inner}\b", text, re.MULTILINE) for inner in INNER[words[0]])
    else:
        assert re.search(r"^examples?:", text, re.MULTILINE)


@pytest.mark.parametrize("name", ["guard", "gate", "serve", "calibrate", "replay"])
def test_all_options_are_there_where_they_are_asked_for(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(COLUMNS))
    usual, everything = (told([name], option, capsys) for option in ("--help", "--help-all"))
    options = [set(re.findall(r"^ +(?:-\w(?: \w+)?, )?(--[\w-]+)", text, re.MULTILINE)) for text in (usual, everything)]
    assert options[0] < options[1]
    (more,) = re.findall(rf"^(\d+) more options: protocontract {name} --help-all$", usual, re.MULTILINE)
    assert int(more) == len(options[1]) - len(options[0])
    assert "more option" not in everything


def test_a_group_of_rare_options_is_left_out_with_its_words() -> None:
    parser = Parser(prog="x", usual=("--often",), epilog="the end")
    parser.add_argument("--often")
    rare = parser.add_argument_group("rare things", "told at length")
    rare.add_argument("--seldom", help="now and then")
    for _ in range(2):
        assert "rare things" not in parser.format_help()
        assert "told at length" not in parser.format_help()
        assert "1 more option: x --help-all\n\nthe end" in parser.format_help()
    assert "rare things:\n  told at length\n" in parser.format_all()
    assert "now and then" in parser.format_all()
