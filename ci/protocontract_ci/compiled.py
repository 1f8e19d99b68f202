"""The contracts of one state, ready to judge records: what its generated modules would hold out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from protocontract.contract import Contract
from protocontract.violations import ContractError
from protocontract_ci.sources import Contracts
from protocontract_compiler import dynamic, ir, pipeline
from protocontract_compiler.descriptors import Loaded
from protocontract_compiler.diagnostics import Diagnostics, Stopped

_OPTIONS: Final = pipeline.CompileOptions()


def compiled(contracts: Contracts) -> Mapping[str, Contract[Any]]:
    """The contract of every message by full name. Raises ContractError with all mistakes of the state."""
    return dynamic.contracts_of(contracts.loaded, _schema(contracts.loaded), _OPTIONS)


def compiled_file(contracts: Contracts, file: str) -> Mapping[str, Contract[Any]]:
    """The contracts of the messages of one file and of those that it imports, by full name; far less work than all.

    Raises ContractError with the mistakes of these files, KeyError for a file that is not there.
    """
    schema = contracts.loaded.schema
    files: dict[str, ir.File] = {}
    waiting = [file]
    while waiting:
        name = waiting.pop()
        if name not in files:
            files[name] = schema.files[name]
            waiting += files[name].dependencies
    part = ir.Schema(
        {name: schema.files[name] for name in schema.files if name in files},
        {name: each for name, each in schema.messages.items() if each.file in files},
        {name: each for name, each in schema.enums.items() if each.file in files},
        {name: each for name, each in schema.services.items() if each.file in files},
    )
    loaded = replace(contracts.loaded, schema=part)
    return dynamic.contracts_of(loaded, _schema(loaded), _OPTIONS)


def contract_modules(contracts: Contracts) -> dict[str, str]:
    """The sources of the generated modules of a state by dotted name. Raises ContractError as ``compiled``."""
    files = {file.name: file.text for file in pipeline.emit(_schema(contracts.loaded), _OPTIONS)}
    return {name.removesuffix(".py").replace("/", "."): text for name, text in files.items() if name.endswith(".py")}


def _schema(loaded: Loaded) -> ir.Schema:
    diagnostics = Diagnostics()
    try:
        return pipeline.compile_schema(loaded, diagnostics, _OPTIONS)
    except Stopped:
        raise ContractError(diagnostics.render()) from None
