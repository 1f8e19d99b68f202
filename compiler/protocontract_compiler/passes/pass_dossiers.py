"""Gathers what documents tell of each contract besides its rules: examples, consumers, versions.

Examples are judged by the contracts as they run, compiled in memory. That takes the emitted Python, so this pass
comes last, and only for the targets that show examples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from protocontract_compiler import dynamic, ir, pipeline
from protocontract_compiler.descriptors import Loaded
from protocontract_compiler.diagnostics import Diagnostics, Stopped
from protocontract_compiler.examples import examples_of
from protocontract_compiler.passes.company_records import Records, names_of


def add_dossiers(loaded: Loaded, schema: ir.Schema, records: Sequence[Path], diagnostics: Diagnostics) -> ir.Schema:
    """The schema with a dossier for each requested message that has a contract, and each service.

    ``records`` are the folders in which versions and modules are looked for. Raises Stopped where a file there cannot
    be read.
    """
    files = {
        # The contract of a message refers to those of the messages in it, whatever file they are in.
        name: replace(file, requested=dynamic.has_contracts(name))
        for name, file in schema.files.items()
    }
    contracts = dynamic.contracts_of(loaded, replace(schema, files=files), pipeline.CompileOptions())
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
