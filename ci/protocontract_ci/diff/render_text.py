"""The comparison as a reviewer reads it on a terminal: by message, one line a change."""

from __future__ import annotations

from typing import Final

from protocontract.terminal import BROKEN, NEUTRAL, Paint, Style, pad, plural, width
from protocontract_ci.diff.compare import Diff
from protocontract_ci.diff.wording import group_of, inside_group, means, sentence, where
from protocontract_ci.model import DIRECTIONS, Change, Direction

_STYLES: Final[dict[Direction, Style]] = {"breaking": "bad", "neutral": "quiet"}
_WIDEST: Final = 44


def render(diff: Diff, paint: Paint) -> str:
    """The report, without a line break at its end."""
    if not diff.changes:
        return "no changes"
    lines: list[str] = []
    groups: dict[str, list[Change]] = {}
    for change in diff.changes:
        groups.setdefault(group_of(change), []).append(change)
    columns = _columns(diff.changes)
    for name, changes in sorted(groups.items(), key=lambda group: _position(group[1])):
        version = next((need for need in diff.versions if need.message == name), None)
        lines.append(paint(f"{name}{version.text if version is not None else ''}", "strong"))
        for change in changes:
            lines.append(_line(change, columns, paint))
            lines.extend(f"      {paint(note, 'quiet')}" for note in change.notes)
    lines.append(summary(diff))
    lines.extend(f"  {where(change.where)}  {change.demand}" for change in diff.demands)
    return "\n".join(lines)


def summary(diff: Diff) -> str:
    """``3 changes: 1 breaking, 2 neutral``, and how much is left to do."""
    counts = [
        (direction, sum(change.direction == direction for change in diff.changes)) for direction in DIRECTIONS
    ]  # fmt: skip
    told = ", ".join(f"{count} {direction}" for direction, count in counts if count)
    open_ = len(diff.demands)
    left = f"; {open_} left to settle in the contract:" if open_ else ""
    return f"{plural(len(diff.changes), 'change')}: {told}{left}"


def _position(changes: list[Change]) -> tuple[str, int]:
    """Where a group begins: groups stand as they do in the files."""
    return min((change.where.file, change.where.line) if change.where is not None else ("", 0) for change in changes)


def _columns(changes: tuple[Change, ...]) -> tuple[int, int, int]:
    """Widths of the middle columns: what the widest needs, but not so wide that one long line pushes all others."""
    columns = zip(*((inside_group(each), sentence(each), where(each.where)) for each in changes), strict=True)
    names, texts, places = (min(max(map(width, column)), _WIDEST) for column in columns)
    return names, texts, places


def _line(change: Change, columns: tuple[int, int, int], paint: Paint) -> str:
    mark = BROKEN if change.direction == "breaking" or change.demand else NEUTRAL
    style = "bad" if change.demand else _STYLES.get(change.direction)
    direction = pad(change.direction, 9)
    parts = [
        f"  {mark} {paint(direction, style) if style is not None else direction}",
        pad(inside_group(change), columns[0]), pad(sentence(change), columns[1]), pad(where(change.where), columns[2]),
        means(change),
    ]  # fmt: skip
    return "  ".join(parts).rstrip()
