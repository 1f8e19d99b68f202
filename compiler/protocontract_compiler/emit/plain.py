"""Parts of the IR as plain values, for back ends that write data."""

from __future__ import annotations

from typing import Any

from protocontract_compiler import ir


def one_line(comment: str) -> str:
    """A comment as one line of text."""
    return " ".join(comment.split())


def word(of: ir.Normalizer | ir.Relation) -> dict[str, Any]:
    """A normalizer or relation with its options; ``writes`` is the sibling field that a normalizer fills."""
    target = of.target if isinstance(of, ir.Normalizer) else None
    return {"kind": of.kind, **ir.keywords(of.options), **({"writes": target} if target else {})}
