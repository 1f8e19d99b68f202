"""What the command lines of the gate have in common."""

from __future__ import annotations

import argparse
from pathlib import Path


def command_parser(name: str, description: str, epilog: str) -> argparse.ArgumentParser:
    """The parser of ``protocontract <name>``. The epilog is shown as it is written."""
    return argparse.ArgumentParser(
        prog=f"protocontract {name}",
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def add_proto_path(parser: argparse.ArgumentParser) -> None:
    """``-I DIR``, any number of times, as a list of paths in ``proto_path``."""
    parser.add_argument(
        "-I", "--proto-path", action="append", default=[], type=Path, metavar="DIR", help="where imports are looked for"
    )
