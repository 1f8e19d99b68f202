"""The odd but legal schemas below ``odd/``: contracts of them, modules of them, messages of them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from protocontract import Contract
from protocontract_compiler import load_protos, plugin
from tests.compiler.sources import descriptors, request

ODD = Path(__file__).parent / "odd"
NAMES = tuple(sorted(file.relative_to(ODD).as_posix() for file in ODD.rglob("*.proto")))


@cache
def contracts() -> Mapping[str, Contract[Any]]:
    """The contracts of all odd messages, made at run time."""
    return load_protos([ODD])


def modules(scratch: Path) -> dict[str, str]:
    """The contract modules that the plugin writes for all odd files, by path."""
    response = plugin.respond(request(descriptors(NAMES, [ODD], scratch), NAMES))
    assert not response.error
    return {file.name: file.content for file in response.file}
