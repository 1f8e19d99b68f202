"""What PyTorch and its company warn of in these tests, and is meant to be."""

from __future__ import annotations

import pytest

MEANT = [
    # Four workers on two cores: the tests want them, whatever they cost.
    "ignore:This DataLoader will create .* worker processes:UserWarning",
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for warning in MEANT:
            item.add_marker(pytest.mark.filterwarnings(warning))
