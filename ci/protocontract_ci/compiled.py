"""The contracts of one state, ready to judge records: what its generated modules would hold out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from protocontract.contract import Contract
from protocontract.violations import ContractError
from protocontract_ci.sources import Contracts
from protocontract_compiler import dynamic, pipeline
from protocontract_compiler.diagnostics import Diagnostics, Stopped


def compiled(contracts: Contracts) -> Mapping[str, Contract[Any]]:
    """The contract of every message by full name. Raises ContractError with all mistakes of the state."""
    options = pipeline.CompileOptions()
    diagnostics = Diagnostics()
    try:
        schema = pipeline.compile_schema(contracts.loaded, diagnostics, options)
    except Stopped:
        raise ContractError(diagnostics.render()) from None
    return dynamic.contracts_of(contracts.loaded, schema, options)
