"""Checks that the request has all contracts, for targets whose output spans files.

buf calls a plugin once for each folder unless it says ``strategy: all``; an index of one folder's contracts would then
take the place of the index of all.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from protocontract_compiler import ir
from protocontract_compiler.descriptors.validate_proto import VALIDATE_PROTO, VOCABULARY_PROTO
from protocontract_compiler.diagnostics import Diagnostics

#: What a source says that declares a contract.
_DECLARES = b"(protocontract.v1.contract)"
#: Folders of other people's files.
_FOREIGN = frozenset({"node_modules", "site-packages", "__pycache__"})


def check(schema: ir.Schema, targets: Sequence[str], source_roots: Sequence[Path], diagnostics: Diagnostics) -> None:
    """Notes each file with a contract that the request leaves out.

    Those are files that requested ones import, and files beside requested ones below a source root.
    """
    requested = {file.name for file in schema.files.values() if file.requested}
    left_out = {
        file.name
        for file in schema.files.values()
        if not file.requested and any(schema.messages[name].contract is not None for name in file.messages)
    }
    for root in source_roots:
        if any((root / name).is_file() for name in requested):
            left_out.update(name for name in _contracts_below(root) if name not in requested)
    for name in sorted(left_out - {VALIDATE_PROTO, VOCABULARY_PROTO}):
        diagnostics.error(
            "partial-request", ir.Place(name),
            f"the contracts of this file are not in the request; expected all files at once for target "
            f"{' and '.join(targets)}, which is one output of all (with buf: `strategy: all`)",
        )  # fmt: skip


def _contracts_below(root: Path) -> Iterator[str]:
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(".") and name not in _FOREIGN]
        for name in files:
            path = Path(folder) / name
            if path.suffix == ".proto" and _DECLARES in path.read_bytes():
                yield path.relative_to(root).as_posix()
