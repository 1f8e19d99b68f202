"""One distribution and one environment for all tests of packaging."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

import google.protobuf
import pytest

from tests.packaging.support import ROOT, Distribution, Installed, distribution, environment

#: The major version of protobuf beside the wheel, where it is not that of this environment.
PROTOBUF = os.environ.get("PROTOCONTRACT_PROTOBUF")
# It takes twice what all others take, and has its place in .ci/elsewhere.
collect_ignore = [] if PROTOBUF else ["test_wheel_in_use.py"]


@pytest.fixture(scope="session")
def project() -> dict[str, Any]:
    """The table ``project`` of pyproject.toml."""
    table: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return table


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Distribution:
    return distribution(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="session")
def wheel(built: Distribution) -> Path:
    return built.wheel


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    # So one run of the tests proves one of them.
    protobuf = PROTOBUF or google.protobuf.__version__.split(".")[0]
    return environment(tmp_path_factory.mktemp("fresh") / "venv", wheel, protobuf)
