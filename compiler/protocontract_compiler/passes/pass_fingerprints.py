"""Fingerprints of files, over those of their messages: what a generated file's header names."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from protocontract_compiler import ir
from protocontract_compiler.ir_dump import fingerprint


def add_fingerprints(schema: ir.Schema) -> ir.Schema:
    """The schema with ``sha256`` of the requested files set."""
    files = {name: replace(file, sha256=_digest(schema, file)) if file.requested else file
             for name, file in schema.files.items()}  # fmt: skip
    return replace(schema, files=files)


def _digest(schema: ir.Schema, file: ir.File) -> str:
    lines = sorted(f"{name} {fingerprint(schema, name)}" for name in file.messages)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
