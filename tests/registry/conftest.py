"""The registry process: SCHEMA_REGISTRY=$(.ci/registry/build); tests that need it are skipped without."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.registry.support import Server


@pytest.fixture(scope="session")
def program() -> str:
    """The program that serves a registry."""
    found = os.environ.get("SCHEMA_REGISTRY")
    if not found:
        pytest.skip("SCHEMA_REGISTRY is not set")
    return found


@pytest.fixture
def server(program: str) -> Iterator[Server]:
    """A registry with nothing in it."""
    found = Server(program)
    yield found
    found.stop()


@pytest.fixture
def servers_with(program: str) -> Iterator[Callable[..., Server]]:
    """Makes registries with options of their own."""
    made: list[Server] = []

    def make(*arguments: Any) -> Server:
        made.append(Server(program, *map(str, arguments)))
        return made[-1]

    yield make
    for each in made:
        each.stop()
