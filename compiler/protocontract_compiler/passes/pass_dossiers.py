"""Gathers what documents tell of each contract besides its rules: examples, consumers, versions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from protocontract.contract import Contract
from protocontract_compiler import ir
from protocontract_compiler.diagnostics import Diagnostics, Stopped
from protocontract_compiler.examples import examples_of
from protocontract_compiler.passes.company_records import Records, names_of


def add_dossiers(
    schema: ir.Schema, contracts: Mapping[str, Contract[Any]], records: Sequence[Path], diagnostics: Diagnostics
) -> ir.Schema:
    """The schema with a dossier for each requested message that has a contract, and each service.

    ``contracts`` judge the examples. ``records`` are the folders in which versions and modules are looked for. Raises
    Stopped where a file there cannot be read.
    """
    beside = Records(records, diagnostics)
    dossiers: dict[str, ir.Dossier] = {}
    for message in schema.requested_messages():
        name = message.full_name
        if message.contract is not None:
            dossiers[name] = ir.Dossier(
                examples_of(contracts[name]),
                beside.consumers(schema, name, names_of(schema, name)),
                beside.history(name),
            )
    for name in (name for file in schema.files.values() if file.requested for name in file.services):
        dossiers[name] = ir.Dossier(consumers=beside.consumers(schema, name, names_of(schema, name)))
    if diagnostics.failed:
        raise Stopped
    return replace(schema, dossiers=dossiers)
