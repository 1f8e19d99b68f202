"""Every kind of change is explained, and every sentence of a report is about one."""

from __future__ import annotations

import ast
from pathlib import Path

from protocontract_ci import diff, model
from protocontract_ci.diff.kinds import KINDS
from protocontract_ci.diff.wording import SENTENCES

FOLDER = Path(diff.__file__).parent


def test_every_kind_that_the_diff_tells_is_explained() -> None:
    known = set(model.Kind.__args__)  # type: ignore[attr-defined]
    written = {
        node.value
        for file in FOLDER.glob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Constant) and node.value in known
    }
    # The three that are put together from "message", "enum" and "service".
    written |= {kind for kind in known if kind.endswith(("_renamed", "_moved_package", "_moved_file"))}
    assert written == set(KINDS)
    assert set(SENTENCES) <= set(KINDS)


def test_style() -> None:
    for kind, meaning in KINDS.items():
        assert meaning[0].islower() or meaning.startswith("."), kind
        assert not meaning.endswith("."), kind
