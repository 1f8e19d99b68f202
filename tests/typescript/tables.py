"""The Unicode tables of the TypeScript runtime, made of the data that the Python runtime uses."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import unicodedata2

from protocontract.normalize import mojibake, money_currency, money_marks, money_parse
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
        "normalize/data/numerals.ts": _numerals(),
        "normalize/data/money.ts": _money(),
        "normalize/data/mojibake.ts": _mojibake(),
    }


def files_of_the_interpreter() -> dict[str, str]:
    """As ``files``, for what Python's own Unicode data decide, where these are of Unicode 14, as those of 3.11 are."""
    return {"normalize/data/casefold.ts": _case_folding(), "normalize/data/letters.ts": _letters()}


def _letters() -> str:
    """Runs of letters: the first one of each, and the first code point behind it."""
    bounds = [point for point in range(1, 0x110000) if chr(point).isalpha() is not chr(point - 1).isalpha()]
    return (
        "// Letters of Unicode 14 as runs: first, behind the last; distances from one to the next, of base 36.\n"
        "// Written by tests/typescript.\n\n" + _constant("LETTERS", _distances(bounds))
    )


def _numerals() -> str:
    zeros = [p for p in range(0x80, 0x110000) if unicodedata2.decimal(chr(p), None) == 0]
    counts = [unicodedata2.category(chr(p)) in {"No", "Nl"} for p in range(0x110000)]
    bounds = [p if counts[p] else p - 1 for p in range(1, 0x110000) if counts[p] is not counts[p - 1]]
    signs = "".join(chr(p) for p in range(0x80, 0x110000) if unicodedata2.category(chr(p)) == "Sc")
    return (
        _file(
            "Zeros of all scripts (Nd), runs of other numerals (No, Nl) and currency signs (Sc)",
            ZEROS=_distances(zeros),
            COUNTERS=_distances(bounds),
        )
        + f"\nexport const CURRENCY_SIGNS = {json.dumps(signs)};\n"
    )


def _money() -> str:
    texts: dict[money_marks.Mark, list[str]] = {}
    for text, mark in money_marks.MARKS.items():
        texts.setdefault(mark, []).append(text.replace(" ", "_"))
    entries: list[str] = []
    for mark, own in texts.items():
        flags = "".join(flag for flag, holds in (("y", mark.yuan), ("w", mark.weak), ("u", mark.unknown)) if holds)
        entries.append(f"{' '.join(sorted(mark.candidates))}|{mark.primary or ''}|{mark.part}|{flags}|{' '.join(own)}")
    assert not any(each in text for text in money_marks.MARKS for each in "|;_=")
    folded = {key: next(text for text, mark in money_marks.MARKS.items() if mark is held and text.casefold() == key)
              for key, held in money_marks.FOLDED.items()}  # fmt: skip
    pairs = (key if text == key else f"{key}={text}" for key, text in folded.items())
    minor = (f"{code}={'' if digits is None else digits}" for code, digits in money_currency.MINOR_DIGITS.items())
    return (
        "// Currencies of ISO 4217, their marks, and words beside amounts, as the Python runtime knows them.\n"
        "// Written by tests/typescript.\n\n"
        + "\n".join(
            [
                "/** Digits behind the point by code; none where a currency has no minor unit. */",
                _constant("MINOR", " ".join(minor)),
                "/** Codes that ISO 4217 withdrew. */",
                _constant("WITHDRAWN_CODES", " ".join(sorted(money_currency.WITHDRAWN))),
                "/** candidates | primary | part | y: yuan, w: weak, u: unknown | texts, with _ for a space. */",
                _constant("MARKS", ";".join(entries)),
                "/** Marks that are found whatever their case: folded, and as they stand where that differs. */",
                _constant("FOLDED", " ".join(pairs)),
                "/** Powers of ten as words, in lower case. */",
                _record("WORD_POWERS", money_parse.WORD_POWERS),
                _record("ENGLISH_POWERS", money_parse.ENGLISH_POWERS),
                "/** Words that mean one power in one language and another one in another. */",
                _list("UNSURE_POWERS", money_parse.UNSURE_POWERS),
                _list("PERCENT_WORDS", money_parse.PERCENT_WORDS),
            ]
        )
    )


def _mojibake() -> str:
    readings = [
        (each.name, "".join(sorted(map(chr, each.to_bytes), key=lambda character: each.to_bytes[ord(character)])))
        for each in mojibake.readings()
    ]
    first, second, third = re.findall(r"\[((?:\\U[0-9a-f]{8}-?)+)\]", mojibake.east_asian_sign().pattern)[:3]
    east_asian = ",\n".join(f"  {json.dumps(_distances(_points(each)))}" for each in (first, second, third))
    rows = ",\n".join(f"  [{json.dumps(name)}, {json.dumps(characters)}]" for name, characters in readings)
    return (
        "// What bytes 0x80 to 0xFF are in the encodings that UTF-8 is mistaken for, and what people write.\n"
        "// Written by tests/typescript.\n\n"
        f"export const READINGS: readonly (readonly [string, string])[] = [\n{rows},\n];\n\n"
        f"/** Characters that GBK makes of UTF-8, at three places of three. */\n"
        f"export const EAST_ASIAN: readonly string[] = [\n{east_asian},\n];\n\n"
        f"export const TWO_BYTES = {json.dumps(mojibake.TWO_BYTES.pattern)};\n"
        f"export const MORE_BYTES =\n  {json.dumps(mojibake.MORE_BYTES.pattern)};\n"
    )


def _points(pattern: str) -> list[int]:
    """The code points of the inside of a regular expression class."""
    found: list[int] = []
    for first, last in re.findall(r"\\U([0-9a-f]{8})(?:-\\U([0-9a-f]{8}))?", pattern):
        found += range(int(first, 16), int(last or first, 16) + 1)
    return found


def _record(name: str, numbers: Mapping[str, int]) -> str:
    pairs = ", ".join(f"{json.dumps(key, ensure_ascii=False)}: {value}" for key, value in numbers.items())
    return f"export const {name}: Readonly<Record<string, number>> = {{ {pairs} }};\n"


def _list(name: str, texts: Iterable[str]) -> str:
    return f"export const {name}: readonly string[] = {json.dumps(sorted(texts), ensure_ascii=False)};\n"


def _case_folding() -> str:
    """What younger versions add (letters of small alphabets) is no part of it; the emitter refuses such words."""
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
    return (
        f"export const {name} =\n" + " +\n".join(f"  {json.dumps(line, ensure_ascii=False)}" for line in lines) + ";\n"
    )


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
