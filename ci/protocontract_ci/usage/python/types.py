"""The module against the old and the new stubs: what the type checker says of one and not of the other."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from protocontract_ci.usage.python.checker import Ty
from protocontract_ci.usage.python.shared import Shared, write_files

#: File, line and the checker's name of the mistake.
TypeErrors: TypeAlias = frozenset[tuple[str, int, str]]


def type_errors(texts: Mapping[str, str], state: Shared, roots: Sequence[str]) -> TypeErrors:
    """The type errors of files, by path, against stubs of one state. ``roots`` are where imports start, below ``""``.

    Raises CheckerError.
    """
    with tempfile.TemporaryDirectory(prefix="protocontract-") as temporary:
        modules = Path(temporary)
        write_files(modules, texts)
        return Ty().errors(modules, [state.folder, *(modules / root for root in roots)], sorted(texts))
