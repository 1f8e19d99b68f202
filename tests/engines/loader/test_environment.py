"""The environment of `make test-engines` is the one that requirements-engines.txt says, under protobuf 7."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

from google.protobuf import __version__ as protobuf

ROOT = Path(__file__).parents[3]


def test_what_is_pinned_is_installed() -> None:
    lines = (ROOT / "ci" / "requirements-engines.txt").read_text().splitlines()
    pinned = dict(line.split("==") for line in lines if line and not line.startswith("#"))
    assert {name: version(name.partition("[")[0]) for name in pinned} == pinned
    assert protobuf.startswith("7.")
