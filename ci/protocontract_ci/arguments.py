"""What the command lines of the gate have in common."""

from __future__ import annotations

import argparse
from collections.abc import Collection
from pathlib import Path

from protocontract.arguments import Parser


def command_parser(
    name: str, description: str, epilog: str, *, usage: str | None = None, usual: Collection[str] | None = None
) -> argparse.ArgumentParser:
    """The parser of ``protocontract <name>``. The epilog is shown as it is written, ``usual`` options by --help."""
    return Parser(prog=f"protocontract {name}", usage=usage, usual=usual, description=description, epilog=epilog)


def add_proto_path(parser: argparse.ArgumentParser) -> None:
    """``-I DIR``, any number of times, as a list of paths in ``proto_path``."""
    parser.add_argument(
        "-I", "--proto-path", action="append", default=[], type=Path, metavar="DIR", help="where imports are looked for"
    )
