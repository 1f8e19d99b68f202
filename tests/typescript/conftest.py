"""What tests of the TypeScript runtime share: the runtime as JavaScript, and numbers that are the same on every run."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.typescript import direct


@pytest.fixture(scope="session")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the runtime as JavaScript."""
    return direct.compiled(tmp_path_factory.mktemp("runtime"))


@pytest.fixture
def rng() -> random.Random:
    """Random numbers."""
    return random.Random(20_261_130)
