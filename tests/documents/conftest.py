"""The pages of the example contracts, made once."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from protocontract_compiler import ir
from tests.documents.support import examples, pages_of


@pytest.fixture(scope="session")
def schema() -> ir.Schema:
    """The example contracts with what is told of them."""
    return examples()[1]


@pytest.fixture(scope="session")
def site(schema: ir.Schema) -> Mapping[str, str]:
    """The pages of the example contracts."""
    return pages_of(schema)
