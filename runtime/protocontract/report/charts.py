"""Bars as inline SVG. Colours come from the page's custom properties, so that they follow light and dark."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final

_ROW: Final = 30
_LABEL: Final = 190
_FIGURE: Final = 118
_WIDTH: Final = 760
_COLUMNS: Final = 480
_COLUMN_HEIGHT: Final = 64


def bars(rows: Sequence[tuple[str, int]], total: int, unit: str) -> str:
    """Horizontal bars, one a row, each with its count and its share of ``total``. The longest takes the whole width."""
    if not rows:
        return ""
    most = max(number for _, number in rows) or 1
    space = _WIDTH - _LABEL - _FIGURE
    parts = [
        f'<svg class="bars" viewBox="0 0 {_WIDTH} {len(rows) * _ROW}" role="img"'
        f' aria-label="{escape(unit)}" preserveAspectRatio="xMinYMin meet">'
    ]
    for place, (label, number) in enumerate(rows):
        top = place * _ROW
        middle = top + _ROW / 2
        length = max(2.0, space * number / most)
        share = f" · {100 * number / total:.2f} %" if total else ""
        parts.append(
            f"<g><title>{escape(label)}: {number:,}</title>"
            f'<text class="name" x="{_LABEL - 12}" y="{middle:.0f}" text-anchor="end">{escape(_short(label))}</text>'
            f'<rect class="bar" x="{_LABEL}" y="{top + 6}" width="{length:.1f}" height="{_ROW - 12}" rx="2"/>'
            f'<text class="figure" x="{_LABEL + length + 8:.1f}" y="{middle:.0f}">{number:,}{share}</text></g>'
        )
    parts.append("</svg>")
    return "".join(parts)


def split(parts: Sequence[tuple[str, str, int]]) -> str:
    """One bar that is divided: ``(name, css class, count)`` from left to right. Empty parts take no room."""
    total = sum(number for _, _, number in parts)
    if not total:
        return ""
    drawn: list[str] = []
    left = 0.0
    for name, style, number in parts:
        # A part that is there at all can be seen.
        length = max(3.0, _WIDTH * number / total) if number else 0.0
        if number:
            drawn.append(
                f'<rect class="{escape(style)}" x="{left:.1f}" y="0" width="{max(1.0, length - 1.5):.1f}" height="14">'
                f"<title>{escape(name)}: {number:,}</title></rect>"
            )
        left += length
    label = ", ".join(f"{name} {number:,}" for name, _, number in parts)
    return (
        f'<svg class="split" viewBox="0 0 {left:.1f} 14" role="img" aria-label="{escape(label)}"'
        f' preserveAspectRatio="none">{"".join(drawn)}</svg>'
    )


def columns(bins: Sequence[tuple[str, int, bool]], unit: str) -> str:
    """A histogram: ``(range in words, count, whether it is a tail)`` from left to right."""
    most = max((number for _, number, _ in bins), default=0)
    if not most:
        return ""
    step = _COLUMNS / len(bins)
    drawn: list[str] = []
    for place, (label, number, tail) in enumerate(bins):
        # A bin that is not empty can be seen.
        height = max(1.5, _COLUMN_HEIGHT * number / most) if number else 0.0
        drawn.append(
            f"<g><title>{escape(label)}: {number:,}</title>"
            f'<rect class="column{" tail" if tail else ""}" x="{place * step:.1f}" y="{_COLUMN_HEIGHT - height:.1f}"'
            f' width="{max(1.0, step - 1.5):.1f}" height="{height:.1f}"/></g>'
        )
    return (
        f'<svg class="columns" viewBox="0 0 {_COLUMNS} {_COLUMN_HEIGHT + 1}" role="img" aria-label="{escape(unit)}"'
        f' preserveAspectRatio="none">{"".join(drawn)}'
        f'<rect class="axis" x="0" y="{_COLUMN_HEIGHT}" width="{_COLUMNS}" height="1"/></svg>'
    )


def _short(label: str) -> str:
    return label if len(label) <= 26 else f"{label[:25]}…"
