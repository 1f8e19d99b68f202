"""The Unicode tables of the TypeScript runtime, made of the data that the Python runtime uses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import unicodedata2

from protocontract.normalize.unicode_data import width_table

ROOT = Path(__file__).parents[2]
RUNTIME = ROOT / "compiler" / "protocontract_compiler" / "emit" / "typescript" / "runtime"

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_HANGUL = range(0xAC00, 0xD7A4)


def files() -> dict[str, str]:
    """Path below the runtime's folder -> the text that the file must have."""
    return {
        "normalize/data/canonical.ts": _file(
            "Canonical decompositions, combining classes and composition exclusions",
            CANONICAL=_mappings(_decompositions(canonical=True)),
            COMBINING=_classes(),
            EXCLUDED=_distances(_excluded()),
        ),
        "normalize/data/compatibility.ts": _file(
            "Compatibility decompositions", COMPATIBILITY=_mappings(_decompositions(canonical=False))
        ),
        "normalize/data/width.ts": _file(
            "Characters with a wide or narrow decomposition",
            WIDE=_mappings({point: [ord(text)] for point, text in width_table().items()}),
        ),
    }


def case_folding() -> str:
    """The text of normalize/data/casefold.ts, where this interpreter has Unicode 14, as that of 3.11 does.

    What younger versions add (letters of small alphabets) is no part of it: the emitter refuses labels that have them.
    """
    folded = {point: chr(point).casefold() for point in range(0x110000) if chr(point).casefold() != chr(point)}
    singles = {point: ord(text) - point for point, text in folded.items() if len(text) == 1}
    return (
        "// Case folding of Unicode 14, as numbers of base 36. Written by tests/typescript.\n\n"
        + _constant("FOLDED", _runs(singles))
        + "\n"
        + _constant("FOLDED_LONG", _mappings({point: [*map(ord, t)] for point, t in folded.items() if len(t) > 1}))
    )


def _runs(shifts: dict[int, int]) -> str:
    """Runs of code points with one shift: distance from the last one before, count, stride and shift."""
    words: list[str] = []
    last = 0
    points = sorted(shifts)
    while points:
        first = points[0]
        stride = next((each for each in (1, 2) if shifts.get(first + each) == shifts[first]), 1)
        count = 1
        while shifts.get(first + count * stride) == shifts[first]:
            count += 1
        points = [point for point in points if point not in range(first, first + count * stride, stride)]
        sign = "-" if shifts[first] < 0 else ""
        words.append(f"{number(first - last)},{number(count)},{number(stride)},{sign}{number(abs(shifts[first]))}")
        last = first + (count - 1) * stride
    return " ".join(words)


def _file(what: str, **constants: str) -> str:
    head = f"// {what} of Unicode {unicodedata2.unidata_version}, as numbers of base 36. Written by tests/typescript.\n"
    return head + "".join(f"\n{_constant(name, value)}" for name, value in constants.items())


def _constant(name: str, value: str) -> str:
    lines: list[str] = []
    line = ""
    for word in value.split(" "):
        if len(line) + len(word) > 110:
            lines.append(line)
            line = ""
        line += f"{word} "
    lines.append(line[:-1])
    return f"export const {name} =\n" + " +\n".join(f'  "{line}"' for line in lines) + ";\n"


def number(value: int) -> str:
    """A number of base 36."""
    text = _DIGITS[value % 36]
    while value := value // 36:
        text = _DIGITS[value % 36] + text
    return text


def _mappings(mappings: dict[int, Sequence[int]]) -> str:
    last = 0
    words: list[str] = []
    for point, mapping in sorted(mappings.items()):
        words.append(",".join(number(each) for each in (point - last, *mapping)))
        last = point
    return " ".join(words)


def _distances(points: Iterable[int]) -> str:
    last = 0
    words: list[str] = []
    for point in sorted(points):
        words.append(number(point - last))
        last = point
    return " ".join(words)


def _decompositions(*, canonical: bool) -> dict[int, Sequence[int]]:
    found: dict[int, Sequence[int]] = {}
    for point in range(0x110000):
        mapping = unicodedata2.decomposition(chr(point))
        if mapping and point not in _HANGUL and mapping.startswith("<") is not canonical:
            found[point] = [int(each, 16) for each in mapping.split() if not each.startswith("<")]
    return found


def _excluded() -> list[int]:
    """Code points whose decomposition in two does not compose again."""
    pairs = _decompositions(canonical=True).items()
    return [
        point
        for point, mapping in pairs
        if len(mapping) == 2 and unicodedata2.normalize("NFC", "".join(map(chr, mapping))) != chr(point)
    ]


def _classes() -> str:
    """Runs of one class: the distance from the end of the run before, the length, the class."""
    words: list[str] = []
    end = 0
    points = [point for point in range(0x110000) if unicodedata2.combining(chr(point))]
    while points:
        start = points[0]
        value = unicodedata2.combining(chr(start))
        length = 0
        while points and points[0] == start + length and unicodedata2.combining(chr(points[0])) == value:
            points.pop(0)
            length += 1
        words.append(f"{number(start - end)},{number(length)},{number(value)}")
        end = start + length
    return " ".join(words)
