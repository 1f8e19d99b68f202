"""The contracts of one state, ready to judge records: what its generated modules would hold out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from protocontract.contract import Contract
from protocontract.violations import ContractError
from protocontract_ci.sources import Contracts
from protocontract_compiler import dynamic, ir, pipeline
from protocontract_compiler.diagnostics import Diagnostics, Stopped

_OPTIONS: Final = pipeline.CompileOptions()


def compiled(contracts: Contracts) -> Mapping[str, Contract[Any]]:
    """The contract of every message by full name. Raises ContractError with all mistakes of the state."""
    return dynamic.contracts_of(contracts.loaded, _schema(contracts), _OPTIONS)


def contract_modules(contracts: Contracts) -> dict[str, str]:
    """The sources of the generated modules of a state by dotted name. Raises ContractError as ``compiled``."""
    files = {file.name: file.text for file in pipeline.emit(_schema(contracts), _OPTIONS)}
    return {name.removesuffix(".py").replace("/", "."): text for name, text in files.items() if name.endswith(".py")}


def _schema(contracts: Contracts) -> ir.Schema:
    diagnostics = Diagnostics()
    try:
        return pipeline.compile_schema(contracts.loaded, diagnostics, _OPTIONS)
    except Stopped:
        raise ContractError(diagnostics.render()) from None
