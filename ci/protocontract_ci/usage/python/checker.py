"""Type checkers, asked for the types that ``reveal_type`` tells: any that prints them with their places serves."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Protocol, TypeAlias

#: File below the folder, line and column from 1, and the type as the checker writes it.
Told: TypeAlias = dict[tuple[str, int, int], str]

_TY: Final = re.compile(r"^(.+?):(\d+):(\d+): info\[revealed-type\] Revealed type: `(.*)`$")
_TY_ERROR: Final = re.compile(r"^(.+?):(\d+):\d+: error\[([\w-]+)\] (.*)$")
_SECONDS: Final = 300


class CheckerError(Exception):
    """The checker is missing, or ended without an answer."""


class Checker(Protocol):
    """A type checker."""

    def reveal(self, folder: Path, roots: Sequence[Path], files: Sequence[str]) -> Told:
        """The types told in ``files`` of ``folder``. ``roots`` are where imports are looked for, in this order.

        Raises CheckerError.
        """
        ...


class Ty:
    """https://docs.astral.sh/ty: the fastest."""

    def reveal(self, folder: Path, roots: Sequence[Path], files: Sequence[str]) -> Told:
        """See Checker."""
        return _told(_run([*self._command(folder, roots), "--ignore", "all", *files], folder), _TY)

    def errors(self, folder: Path, roots: Sequence[Path], files: Sequence[str]) -> frozenset[tuple[str, int, str]]:
        """File, line and rule of all type errors. Raises CheckerError."""
        return frozenset((file, line, rule) for file, line, rule, _ in self.complaints(folder, roots, files))

    def complaints(self, folder: Path, roots: Sequence[Path], files: Sequence[str]) -> list[tuple[str, int, str, str]]:
        """File, line, rule and text of all type errors. Raises CheckerError."""
        output = _run([*self._command(folder, roots), *files], folder)
        found = (_TY_ERROR.match(line) for line in output.splitlines())
        return [(Path(match[1]).as_posix(), int(match[2]), match[3], match[4]) for match in found if match is not None]

    def _command(self, folder: Path, roots: Sequence[Path]) -> list[str]:
        command = [_program("ty"), "check", "--output-format", "concise", "--exit-zero", "--no-progress"]
        command += ["--color", "never", "--project", str(folder), "--no-respect-ignore-files"]
        for root in roots:
            command += ["--extra-search-path", str(root)]
        return command


def _program(name: str) -> str:
    beside = Path(sys.executable).with_name(name)
    found = str(beside) if beside.is_file() else shutil.which(name)
    if found is None:
        raise CheckerError(f"{name} is not installed; install protocontract[gate]")
    return found


def _run(command: Sequence[str], folder: Path, environment: dict[str, str] | None = None) -> str:
    import os

    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=False, timeout=_SECONDS,
            env={**os.environ, **(environment or {})},
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise CheckerError(f"{Path(command[0]).name} did not end within {_SECONDS} s") from None
    if done.returncode not in (0, 1):
        reason = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise CheckerError(f"{Path(command[0]).name} failed: {reason[-1] if reason else 'no message'}")
    return done.stdout


def _told(output: str, line: re.Pattern[str]) -> Told:
    found: Told = {}
    for each in output.splitlines():
        match = line.match(each)
        if match is not None:
            found[Path(match[1]).as_posix(), int(match[2]), int(match[3])] = match[4]
    return found
