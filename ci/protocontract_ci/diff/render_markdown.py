"""The comparison as a changelog that can be pasted into a pull request or a release note."""

from __future__ import annotations

from typing import Final

from protocontract_ci.diff.compare import Diff
from protocontract_ci.diff.render_text import summary
from protocontract_ci.diff.wording import means, sentence, where
from protocontract_ci.model import Change, Direction

_HEADINGS: Final[dict[Direction, str]] = {
    "breaking": "Breaking",
    "tightened": "Tightened: fewer records are accepted",
    "loosened": "Loosened: more records are accepted",
    "added": "Added",
    "neutral": "Without effect",
}


def render(diff: Diff) -> str:
    """The changelog in Markdown (CommonMark), without a line break at its end."""
    if not diff.changes:
        return "## Contract changes\n\nNone."
    lines = ["## Contract changes", "", summary(diff).rstrip(":") + "."]
    if diff.versions:
        lines += ["", "| message | version | demanded |", "| --- | --- | --- |"]
        lines += [
            f"| `{need.message}` | {need.before or 'none'} to {need.after or 'none'} | {need.demanded} |"
            for need in diff.versions
        ]
    if diff.demands:
        lines += ["", "### To settle in the contract", ""]
        lines += [f"- `{change.path}`{_where(change)}: {change.demand}" for change in diff.demands]
    for direction, heading in _HEADINGS.items():
        found = [change for change in diff.changes if change.direction == direction]
        if not found:
            continue
        lines += ["", f"### {heading}", ""]
        lines += [_item(change) for change in found]
    return "\n".join(lines)


def _item(change: Change) -> str:
    follows = means(change)
    tail = f" ({follows})" if follows and change.direction in ("breaking", "added") else ""
    return f"- `{change.path}`: {_escaped(sentence(change))}{tail}{_where(change)}"


def _where(change: Change) -> str:
    place = where(change.where)
    return f", {place}" if place else ""


def _escaped(text: str) -> str:
    """Text of the contract (patterns, CEL) without what Markdown would read."""
    for mark in "\\`*_<>[]|":
        text = text.replace(mark, f"\\{mark}")
    return text.replace("-\\>", "->")
