"""The command line as a whole: finding commands, help, endings and exit codes."""

from __future__ import annotations

import inspect
import io
import json
import os
import re
import signal
import subprocess
import sys
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, Final

import pytest

from protocontract import cli
from protocontract.extras import PROVIDERS, missing_extra
from protocontract.terminal import Paint, Progress, pad, plural, wants_colour, width
from protocontract.violations import ContractError, MissingExtra
from tests.verify.support import PROTOS, TRANSACTION, transaction

COMMAND = Path(sys.executable).parent / "protocontract"


def run(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(COMMAND), *map(str, arguments)], capture_output=True, text=True, timeout=180, check=False, **options
    )


# -- commands, called by tests in the place of installed ones


def interrupted(argv: list[str]) -> int:
    """Is interrupted."""
    raise KeyboardInterrupt


def wrong_contract(argv: list[str]) -> int:
    """Finds no contract."""
    raise ContractError("no contract for a.B")


def without_extra(argv: list[str]) -> int:
    """Needs kafka-python."""
    raise ModuleNotFoundError("No module named 'kafka'", name="kafka")


def without_disk(argv: list[str]) -> int:
    """Reads a file that is not there."""
    Path("no/such/file").read_bytes()
    return 0


def says(argv: list[str]) -> int:
    """Says what it is given.

    The second line is not for the help page.
    """
    print(*argv)
    return int(argv[0])


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("interrupted", "wrong_contract", "without_extra", "without_disk", "says")
    points = [EntryPoint(name.replace("_", "-"), f"{__name__}:{name}", cli.GROUP) for name in names]
    points.append(EntryPoint("broken", "tests.cli.no_such_module:x", cli.GROUP))
    monkeypatch.setattr(cli, "entry_points", lambda group: points)
    monkeypatch.setattr(cli, "entry_point", lambda _, name: {point.name: point for point in points}.get(name))


@pytest.mark.usefixtures("installed")
class TestEndings:
    def test_the_exit_code_is_the_commands_own(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert [cli.main(["says", code]) for code in ("0", "1", "2")] == [0, 1, 2]
        assert capsys.readouterr().out == "0\n1\n2\n"

    def test_an_interrupt_is_130(self) -> None:
        assert cli.main(["interrupted"]) == 130

    @pytest.mark.parametrize(
        ("name", "error"),
        [
            ("wrong-contract", "error: no contract for a.B\n"),
            ("without-extra", 'error: tests.cli needs kafka-python: pip install "protocontract[kafka]"\n'),
            ("without-disk", "error: no/such/file: no such file or directory\n"),
            ("sayz", "error: `sayz` is not a command; did you mean `says`?\n"),
        ],
    )
    def test_what_could_not_be_checked_is_2_and_one_line(
        self, capsys: pytest.CaptureFixture[str], name: str, error: str
    ) -> None:
        assert cli.main([name]) == 2
        assert capsys.readouterr() == ("", error)

    def test_help_lists_commands_and_survives_a_broken_one(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert cli.main(["--help"]) == 0
        out = capsys.readouterr().out
        assert "  says            Says what it is given\n" in out  # as wide as `wrong-contract`
        assert "second line" not in out
        assert "cannot be loaded from tests.cli.no_such_module:x" in out

    def test_nothing_to_do_is_a_usage_error(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert cli.main([]) == 2
        told = capsys.readouterr()
        assert told.out == ""
        assert told.err.startswith("usage: protocontract COMMAND")


def test_a_service_is_stopped_before_it_has_handlers_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def connecting(_argv: list[str]) -> int:
        os.kill(os.getpid(), signal.SIGTERM)
        raise AssertionError("it went on")

    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(cli, "load_command", lambda _: connecting)
    assert cli.main(["guard", "--exactly-once"]) == 0
    assert signal.getsignal(signal.SIGTERM) is before


def test_other_commands_leave_signals_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []

    def noting(_argv: list[str]) -> int:
        seen.append(signal.getsignal(signal.SIGTERM))
        return 0

    monkeypatch.setattr(cli, "load_command", lambda _: noting)
    before = signal.getsignal(signal.SIGTERM)
    assert cli.main(["verify"]) == 0
    assert seen == [before]


def test_a_usage_error_is_one_line_whatever_starts_the_command() -> None:
    command = [sys.executable, "-m", "protocontract.cli", "guard", "statsu"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=180, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith("error: guard has no command `statsu`; expected status, resume, skip")


def test_a_missing_module_names_its_extra() -> None:
    error = missing_extra("protocontract.kafka", ModuleNotFoundError("no", name="kafka.errors"))
    assert str(error) == 'protocontract.kafka needs kafka-python: pip install "protocontract[kafka]"'
    assert isinstance(missing_extra("x", MissingExtra("a", "b", "c")), MissingExtra)
    assert missing_extra("x", ModuleNotFoundError("no", name="surprise")) is None


def test_what_an_extra_brings_is_named_by_it_where_it_is_missing() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    brought = {
        name: {re.split(r"[\[><=]", requirement)[0] for requirement in requirements}
        for name, requirements in project["optional-dependencies"].items()
    }
    assert [(module, of) for module, of in PROVIDERS.items() if of[0] not in brought[of[1]]] == []
    # ty is a program; whoever runs it says what to install.
    told = {distribution for distribution, _ in PROVIDERS.values()} | {"protocontract", "ty"}
    assert set().union(*brought.values()) - told == set()


def test_installed_commands() -> None:
    assert {"compile", "includes", "verify", "guard", "explain"} <= cli.commands().keys()
    done = run("--help")
    assert (done.returncode, done.stderr) == (0, "")
    for name in ("compile", "includes", "verify", "guard", "explain"):
        assert f"  {name} " in done.stdout
    assert run("--version").stdout.startswith("protocontract 0.")


OURS = {name: point for name, point in cli.commands().items() if name in cli._OURS}


def test_the_help_page_says_of_each_command_what_the_command_does(capsys: pytest.CaptureFixture[str]) -> None:
    assert OURS.keys() == cli._OURS.keys()
    for name, point in OURS.items():
        said = (inspect.getdoc(cli.load_command(point)) or "").partition("\n")[0].rstrip(".")
        assert said == cli._OURS[name][0], name
    assert cli.main(["--help"]) == 0
    told = re.findall(r"^  ([\w-]+) +(\S.*)$", capsys.readouterr().out, re.MULTILINE)
    assert told[: len(OURS)] == [(name, summary) for name, (summary, _) in cli._OURS.items()]


_LOADED: Final = """
import sys
from protocontract import cli
assert cli.main(sys.argv[1:]) == 0
print(*sorted({point.module for point in cli.commands().values()} & set(sys.modules)), sep="\\n", file=sys.stderr)
"""


@pytest.mark.parametrize(
    ("words", "loaded"), [(["--help"], []), (["explain", "money.ambiguous"], ["protocontract.commands.explain"])]
)
def test_only_the_command_that_runs_is_imported(words: list[str], loaded: list[str]) -> None:
    done = subprocess.run([sys.executable, "-c", _LOADED, *words], capture_output=True, text=True, check=True)
    assert done.stderr.split() == loaded


_WITHOUT_EXTRAS: Final = """
import sys
from protocontract import cli
from protocontract.extras import PROVIDERS
from protocontract.violations import MissingExtra
sys.modules.update(dict.fromkeys(PROVIDERS))
cli.main(["--help"])
for name, point in cli.commands().items():
    try:
        cli.load_command(point)
    except MissingExtra as error:
        print(f"{name} ({error})", file=sys.stderr)
"""


def test_the_help_page_says_what_a_command_misses() -> None:
    done = subprocess.run([sys.executable, "-c", _WITHOUT_EXTRAS], capture_output=True, text=True, check=True)
    told = re.findall(r"^  ([\w-]+) +(\(.*\))$", done.stdout, re.MULTILINE)
    assert [f"{name} {error}" for name, error in told] == done.stderr.splitlines()
    assert {name for name, _ in told} == {name for name, (_, module) in cli._OURS.items() if module}


def test_a_command_of_another_package_tells_of_itself_whatever_its_name(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli, "entry_points", lambda group: [EntryPoint("verify", f"{__name__}:says", cli.GROUP)])
    assert cli.main(["--help"]) == 0
    assert "  verify  Says what it is given\n" in capsys.readouterr().out


@pytest.mark.parametrize("first", [False, True], ids=["last", "first"])
def test_another_package_adds_commands_and_takes_none_of_ours(
    first: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = tmp_path / "theirs-1.0.dist-info"
    theirs.mkdir()
    (theirs / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (theirs / "entry_points.txt").write_text(f"[{cli.GROUP}]\nexplain = {__name__}:says\nsays = {__name__}:says\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path] if first else [*sys.path, str(tmp_path)])
    assert cli.main(["says", "1"]) == 1
    assert cli.main(["explain", "money.ambiguous"]) == 0
    assert cli.main(["--help"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("1\nmoney.ambiguous")
    assert "  says               Says what it is given\n" in out
    assert cli._OURS["explain"][0] in out


@pytest.mark.parametrize("name", ["compile", "verify", "explain"])
def test_help_fits_a_screen_and_shows_an_example(name: str) -> None:
    done = run(name, "--help")
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) <= 42
    assert "example" in done.stdout
    assert "exit codes:" in done.stdout


def test_verify_as_a_process_reads_standard_input(tmp_path: Path) -> None:
    lines = json.dumps(transaction(1)) + "\n" + json.dumps(transaction(2, account="1")) + "\n"
    arguments = ("verify", "--contract", TRANSACTION, "--proto-path", PROTOS, "-", "--encoding", "json")
    done = run(*arguments, input=lines)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("acme.finance.v1.Transaction 1.4.0 · standard input · 2 records\n")
    assert "\x1b" not in done.stdout


def test_a_terminal_without_our_marks_gets_others(tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    file.write_text(json.dumps(transaction(1, amount="€1", currency=0)) + "\n")
    arguments = ("verify", "--contract", TRANSACTION, "--proto-path", PROTOS, file)
    done = run(*arguments, env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.splitlines()[0] == "acme.finance.v1.Transaction 1.4.0 - x.jsonl - 1 record"
    assert "  + id " in done.stdout
    assert "  x amount " in done.stdout
    assert '"\\u20ac1"' in done.stdout


def test_a_folder_is_no_file_of_records(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["verify", "--contract", TRANSACTION, "--proto-path", str(PROTOS), str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"error: {tmp_path}: is a directory\n"


def test_a_reader_that_goes_away_is_no_traceback(tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    file.write_text(json.dumps(transaction(1)) + "\n")
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run(
            [str(COMMAND), "verify", "--contract", TRANSACTION, "--proto-path", str(PROTOS), str(file)],
            stdout=write, stderr=subprocess.PIPE, text=True, timeout=180, check=False,
        )  # fmt: skip
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (2, "")


# -- terminal


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_colour_only_on_a_terminal_that_wants_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert wants_colour(Terminal(), {})
    assert not wants_colour(Terminal(), {"NO_COLOR": "1"})
    assert wants_colour(Terminal(), {"NO_COLOR": ""})
    assert not wants_colour(Terminal(), {"TERM": "dumb"})
    assert not wants_colour(io.StringIO(), {})
    assert Paint(True)("broken", "bad") == "\x1b[31mbroken\x1b[0m"
    assert Paint(False)("broken", "bad") == "broken"


def test_columns_are_counted_as_a_terminal_shows_them() -> None:
    assert [width(text) for text in ("abc", "人民币", "e\u0301", "…")] == [3, 6, 1, 1]
    assert pad("人", 4) == "人  "
    assert (plural(1, "promise"), plural(2000, "promise")) == ("1 promise", "2,000 promises")


def test_progress_is_shown_on_a_terminal_and_taken_away() -> None:
    now = [0.0]
    screen = Terminal()
    progress = Progress(1000, stream=screen, clock=lambda: now[0])
    progress.update(100, 10)
    assert screen.getvalue() == ""
    now[0] = 1.0
    progress.update(500, 50)
    assert " 50%  50 records  50/s" in screen.getvalue()
    progress.clear()
    assert screen.getvalue().endswith("\r\x1b[K")


def test_progress_is_silent_elsewhere() -> None:
    pipe = io.StringIO()
    progress = Progress(None, stream=pipe, every=0)
    progress.update(1, 1)
    progress.clear()
    assert pipe.getvalue() == ""
    assert not progress.enabled


def test_progress_of_a_pipe_has_no_share() -> None:
    screen = Terminal()
    progress = Progress(None, stream=screen, clock=iter([0.0, 2.0]).__next__, every=0)
    progress.update(10, 3000)
    assert "3,000 records  1,500/s" in screen.getvalue()
    assert "%" not in screen.getvalue()
