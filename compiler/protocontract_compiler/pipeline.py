"""The order of the passes, and the reason for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from protocontract.contract import Contract
from protocontract_compiler import ir
from protocontract_compiler.descriptors import Loaded
from protocontract_compiler.diagnostics import Diagnostics, Stopped, did_you_mean
from protocontract_compiler.emit.output import OutputFile
from protocontract_compiler.typescript_names import Types as Types

TARGETS = ("python", "prometheus", "typescript", "docs", "jsonschema", "odcs", "manifest")
#: Targets with a file that is about all contracts.
WHOLE = frozenset({"docs", "manifest"})


@dataclass(frozen=True, slots=True)
class CompileOptions:
    """How to compile. ``strict``: what cannot be translated exactly is an error instead of left to protovalidate.

    ``targets`` are names out of ``TARGETS``. ``source_roots`` are where .proto files are looked for, to refine places.
    ``records`` are the folders with the versions and modules of documents; by default the source roots.
    ``types`` says where TypeScript's message types come from, ``messages`` which of them get a contract there (all of
    them, where it is empty).
    """

    strict: bool = False
    targets: tuple[str, ...] = ("python",)
    source_roots: tuple[Path, ...] = ()
    records: tuple[Path, ...] = ()
    types: Types = "protobuf-es"
    messages: tuple[str, ...] = ()


def compile_schema(loaded: Loaded, diagnostics: Diagnostics, options: CompileOptions) -> ir.Schema:
    """Takes a schema through all passes. Raises Stopped where there are mistakes, after all were found."""
    from protocontract_compiler.passes import (
        check_contradictions,
        check_enums,
        check_governance,
        check_messages,
        check_normalizers,
        check_options,
        check_relations,
        check_services,
        check_whole,
        pass_annotations,
        pass_fingerprints,
        pass_promises,
        pass_rules,
    )

    schema = loaded.schema
    # The vocabulary first: it needs nothing but options, and rules of sensitive fields are lowered with it in view.
    schema = pass_annotations.annotate(loaded, schema)
    # buf.validate into checks. Before the checks of the contract, which compare rules with normalizers.
    schema = pass_rules.lower(loaded, schema, diagnostics, strict=options.strict)
    # All checks run whatever the others found, so that every mistake is shown at once. Enums before fields: a field's
    # normalizer may write an enum's codes.
    check_options.check(loaded, schema, diagnostics)
    check_enums.check(loaded, schema, diagnostics)
    check_normalizers.check(loaded, schema, diagnostics)
    check_relations.check(loaded, schema, diagnostics)
    check_contradictions.check(loaded, schema, diagnostics)
    check_messages.check(loaded, schema, diagnostics)
    check_services.check(loaded, schema, diagnostics)
    # Last of the checks: severities and error codes name the rules of all words together.
    check_governance.check(loaded, schema, diagnostics)
    whole = [target for target in options.targets if target in WHOLE]
    if whole:
        check_whole.check(schema, whole, options.source_roots, diagnostics)
    if diagnostics.failed:
        raise Stopped
    # Prose about rules, for reports; only of contracts that can be kept.
    schema = pass_promises.add_promises(schema)
    # Fingerprints when nothing changes any more.
    schema = pass_fingerprints.add_fingerprints(schema)
    if "docs" in options.targets:
        from protocontract_compiler.passes import pass_dossiers

        # Examples are judged by the contracts as they run: after everything.
        contracts = _contracts(loaded, schema)
        schema = pass_dossiers.add_dossiers(schema, contracts, options.records or options.source_roots, diagnostics)
    return schema


def _contracts(loaded: Loaded, schema: ir.Schema) -> Mapping[str, Contract[Any]]:
    """All contracts of a request, in memory. Those of a message refer to those of messages of any file."""
    from protocontract_compiler.execution import execute, has_contracts

    files = {name: replace(file, requested=has_contracts(name)) for name, file in schema.files.items()}
    return execute(loaded, schema, emit(replace(schema, files=files), CompileOptions()))


def emit(schema: ir.Schema, options: CompileOptions, diagnostics: Diagnostics | None = None) -> list[OutputFile]:
    """The output of every target for the requested files.

    Raises Stopped where a target cannot express the contract; why is noted in ``diagnostics``.
    """
    diagnostics = diagnostics or Diagnostics()
    files: list[OutputFile] = []
    if "python" in options.targets:
        from protocontract_compiler.emit import python

        files.extend(python.emit(schema, options))
    if "prometheus" in options.targets:
        from protocontract_compiler.emit import prometheus

        files.extend(prometheus.emit(schema))
    if "docs" in options.targets:
        from protocontract_compiler.emit import documents

        files.extend(documents.emit(schema))
    if "jsonschema" in options.targets:
        from protocontract_compiler.emit import jsonschema

        files.extend(jsonschema.emit(schema))
    if "odcs" in options.targets:
        from protocontract_compiler.emit import odcs

        files.extend(odcs.emit(schema))
    if "manifest" in options.targets:
        from protocontract_compiler.emit import manifest

        files.extend(manifest.emit(schema))
    if "typescript" in options.targets:
        from protocontract_compiler.emit import typescript

        emitted = typescript.emit(schema, types=options.types, messages=options.messages)
        for inexact in emitted.inexact:
            diagnostics.error("typescript-inexact", inexact.place, inexact.what, inexact.hint)
        for name in options.messages:
            if name not in schema.messages:
                hint = did_you_mean(name, schema.messages)
                diagnostics.error("parameter", ir.Place(""), f"no message `{name}`; expected full names", hint)
        files.extend(emitted.files)
    if diagnostics.failed:
        raise Stopped
    return files
