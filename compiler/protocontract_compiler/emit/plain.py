"""Parts of the IR as plain values, for back ends that write data."""

from __future__ import annotations

import json
import re
from typing import Any

from protocontract_compiler import ir


def one_line(comment: str) -> str:
    """A comment as one line of text."""
    return " ".join(comment.split())


def word(of: ir.Normalizer | ir.Relation) -> dict[str, Any]:
    """A normalizer or relation with its options; ``writes`` is the sibling field that a normalizer fills."""
    target = of.target if isinstance(of, ir.Normalizer) else None
    return {"kind": of.kind, **ir.keywords(of.options), **({"writes": target} if target else {})}


def json_text(value: object) -> str:
    """JSON that people read: what does not print is escaped, as it could hide or turn what stands beside it."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    return (
        re.sub(r"[^\n -~]", lambda char: char[0] if char[0].isprintable() else json.dumps(char[0])[1:-1], text) + "\n"
    )
