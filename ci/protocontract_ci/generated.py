"""``gate --check-generated``: committed generated code is what the compiler makes of the contracts."""

from __future__ import annotations

import contextlib
import io
import shlex
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

from protocontract.cli import BROKEN, COULD_NOT_CHECK, KEPT, UsageError
from protocontract.terminal import plural
from protocontract_ci.reports.github import in_message, in_property
from protocontract_compiler.commands import compile_command

State: TypeAlias = Literal["missing", "different", "left over"]

_GENERATED: Final = ("_pb2.py", "_pb2.pyi", "_contract.py")
#: Rendered from the installed protovalidate. Many do not commit it, so it may be missing.
_MAY_BE_MISSING: Final = "buf/validate/"
_SAID: Final[dict[State, str]] = {
    "missing": "is missing; expected what the compiler makes",
    "different": "is not what the compiler makes",
    "left over": "is generated code of no contract; expected it to be removed",
}


@dataclass(frozen=True, slots=True)
class Drift:
    """A file that is not as the compiler would make it. ``line`` is the first that differs; 0 where none does."""

    file: Path
    state: State
    line: int = 0

    def __str__(self) -> str:
        return f"{self.file.as_posix()}{f':{self.line}' if self.line else ''} {_SAID[self.state]}"


def check_generated(
    contracts: Sequence[Path], proto_path: Sequence[Path], folders: Sequence[Path], *, annotate: bool = False
) -> int:
    """Compare folders of generated code with what the compiler makes; prints what drifted, returns the exit code.

    ``annotate``: as annotations for GitHub. Mistakes of the contracts go to standard error (exit code 2).
    Raises UsageError where the contracts are not there.
    """
    gone = next((each for each in contracts if not each.exists()), None)
    if gone is not None:
        raise UsageError(f"no folder {gone}; expected --contracts DIR, where the .proto files are")
    words = [*map(str, contracts), *(word for each in proto_path for word in ("-I", str(each)))]
    with tempfile.TemporaryDirectory(prefix="protocontract-") as made:
        with contextlib.redirect_stdout(io.StringIO()):
            code = compile_command([*words, "--out", made])
        if code:
            return COULD_NOT_CHECK
        found = [each for folder in folders for each in drifted(folder, Path(made))]
    for drift in found:
        if annotate:
            line = f",line={drift.line}" if drift.line else ""
            file = in_property(drift.file.as_posix())
            print(f"::error file={file}{line},title=generated code::{in_message(_SAID[drift.state])}")
        else:
            print(drift)
    if found:
        again = "; ".join(f"protocontract compile {shlex.join(words)} --out {folder}" for folder in folders)
        print(f"{plural(len(found), 'file')} of generated code to be made anew: {again}")
        return BROKEN
    print(f"the generated code in {', '.join(map(str, folders))} is what the compiler makes")
    return KEPT


def drifted(folder: Path, made: Path) -> Iterator[Drift]:
    """The files of a folder that differ from those that were made, in the order of their names."""
    wanted = {path.relative_to(made) for path in made.rglob("*") if path.is_file()}
    there = {
        path.relative_to(folder) for path in folder.rglob("*") if path.is_file() and path.name.endswith(_GENERATED)
    }
    for name in sorted(wanted | there):
        target = folder / name
        if name not in wanted:
            if not name.as_posix().startswith(_MAY_BE_MISSING):
                yield Drift(target, "left over")
        elif not target.is_file():
            if not name.as_posix().startswith(_MAY_BE_MISSING):
                yield Drift(target, "missing")
        elif target.read_bytes() != (made / name).read_bytes():
            yield Drift(target, "different", _first_difference(target, made / name))


def _first_difference(one: Path, other: Path) -> int:
    lines, others = (path.read_text("utf-8", "replace").splitlines() for path in (one, other))
    for number, (line, another) in enumerate(zip(lines, others, strict=False), 1):
        if line != another:
            return number
    return max(1, min(len(lines), len(others)))
