"""The module against the old and the new stubs: what the type checker says of one and not of the other."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from protocontract_ci.usage.python.checker import Ty
from protocontract_ci.usage.python.stubs import write_stubs
from protocontract_ci.usage.vocabulary import Elements

#: File, line and the checker's name of the mistake.
TypeErrors: TypeAlias = frozenset[tuple[str, int, str]]


def type_errors(
    texts: Mapping[str, str],
    elements: Elements,
    roots: Sequence[str],
    copies: Mapping[str, Iterable[str]] | None = None,
) -> TypeErrors:
    """The type errors of files, by path, against stubs of one state. ``roots`` are where imports start, below ``""``.

    Raises CheckerError.
    """
    stubs = write_stubs(elements, copies)
    with tempfile.TemporaryDirectory(prefix="protocontract-") as temporary:
        modules, generated = Path(temporary, "modules"), Path(temporary, "generated")
        for folder, files in ((modules, texts), (generated, stubs.files)):
            for path, text in files.items():
                target = folder / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text, encoding="utf-8")
        return Ty().errors(modules, [generated, *(modules / root for root in roots)], sorted(texts))
