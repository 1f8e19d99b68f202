"""Normalizers and relations in TypeScript give what Python's give: values, refusals, offsets."""

from __future__ import annotations

import json
import os
import random
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from protocontract.normalize import (
    instant,
    instant_zone,
    label,
    mojibake,
    scalar,
    text,
)
from protocontract.relations import graph, sequence, spans
from protocontract.violations import Refusal, describe
from protocontract_compiler import ir
from protocontract_compiler.emit.typescript.inexact import Inexact
from tests.normalize.strategies import DENSE
from tests.normalize.test_instant_properties import PIECES, ZONES
from tests.normalize.test_text_mojibake import SENTENCES
from tests.typescript import direct, tables
from tests.typescript.direct import CASES, MANY, compare, shown
from tests.typescript.support import needs_node

pytestmark = needs_node


def _check_files(expected: dict[str, str]) -> None:
    for path, text_ in expected.items():
        file = tables.RUNTIME / path
        if os.environ.get("REFRESH_GOLDENS"):
            file.write_text(text_)
        assert file.read_text() == text_, path


def test_tables_are_those_of_the_python_runtime() -> None:
    _check_files(tables.files())


def test_letters_and_their_case_are_those_of_unicode_14() -> None:
    """What a younger interpreter knows beyond it is no part of the tables."""
    if unicodedata.unidata_version == "14.0.0":
        _check_files(tables.files_of_the_interpreter())


# ----------------------------------------------------------------------------------------------------------------------
# Texts, with the spans that move with them


def _units(value: str, unit: str) -> int:
    if unit == "code_point":
        return len(value)
    return len(value.encode("utf-8" if unit == "utf8_byte" else "utf-16-le", "surrogatepass")) // (
        1 if unit == "utf8_byte" else 2
    )


def text_twin(options: dict[str, Any]) -> Callable[..., Any]:
    normalize = text.normalizer(**options)

    def twin(value: str, unit: str, starts: list[int], ends: list[int], surfaces: list[str] | None) -> Any:
        result = normalize.edited(value)
        if isinstance(result, Refusal):
            return result
        if isinstance(result, str):
            return {"same": True}
        moved = spans.remapper(unit=unit).with_surfaces(value, result, starts, ends, surfaces)
        if not isinstance(moved, list):
            moved = {"starts": moved[0], "ends": moved[1], "surfaces": moved[2] if surfaces else [""] * len(starts)}
        return {"text": result.text, "moved": shown(moved)}

    return twin


def text_options(rng: random.Random) -> dict[str, Any]:
    names = ("strip_bom", "fold_width", "strip_controls", "collapse_whitespace", "trim", "reject_empty")
    options: dict[str, Any] = {name: True for name in names if rng.random() < 0.5}
    form = rng.choice((None, "nfc", "nfc", "nfkc"))
    classes = ("nul", "control", "replacement", "noncharacter", "bidi_control", "private_use", "tag", "mojibake")
    reject = tuple(rng.sample(classes, rng.choice((0, 0, 0, 1, 2, 7))))
    return {**options, **({"normalize": form} if form else {}), **({"reject": reject} if reject else {})}


def _text(rng: random.Random, *, surrogates: bool = False) -> str:
    pools: list[Callable[[], str]] = [
        lambda: rng.choice(DENSE),
        lambda: rng.choice(DENSE),
        lambda: chr(rng.choice((rng.randrange(0x20, 0x3000), rng.randrange(0xAC00, 0xD800)))),
        lambda: chr(rng.choice((rng.randrange(0xE000, 0x20000), rng.randrange(0x2F800, 0x2FA20)))),
    ]
    if surrogates and rng.random() < 0.05:
        pools.append(lambda: chr(rng.randrange(0xD800, 0xE000)))
    value = "".join(rng.choice(pools)() for _ in range(rng.randrange(16)))
    # Two halves that meet are one character to JavaScript.
    return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def spans_of(rng: random.Random, value: str, unit: str) -> tuple[list[int], list[int], list[str] | None]:
    """Spans that mostly stand between characters, and mostly few: one wrong span hides what becomes of the others."""
    starts: list[int] = []
    ends: list[int] = []
    surfaces: list[str] = []
    for _ in range(rng.choice((0, 1, 1, 1, 2, 4))):
        start = rng.randrange(len(value) + 1)
        end = rng.randint(start, len(value))
        surfaces.append(value[start:end] if rng.random() < 0.95 else rng.choice(("", "x")))
        starts.append(_units(value[:start], unit) + rng.choice((0,) * 30 + (1, -1)))
        ends.append(_units(value[:end], unit) + rng.choice((0,) * 30 + (1, -1)))
    return starts, ends, surfaces if rng.random() < 0.5 else None


def test_texts(dist: Path, rng: random.Random) -> None:
    jobs = []
    for _ in range(80):
        options = text_options(rng)
        job = direct.normalizer("text", options)
        for _ in range(MANY):
            value, unit = _text(rng, surrogates=True), rng.choice(("code_point", "utf8_byte", "utf16"))
            job.calls.append([value, unit, *spans_of(rng, value, unit)])
        jobs.append((job, text_twin(options)))
    compare(dist, jobs)


def test_every_character_in_every_form(dist: Path) -> None:
    """Each code point alone, behind a letter, before a mark, and in the middle of a Hangul syllable."""
    # Not all ideographs and syllables: these go by rule.
    ranges = (range(0x80, 0x3500), range(0x9FF0, 0xACF0), range(0xD7A0, 0xD800), range(0xE000, 0x20010))
    characters = [chr(point) for points in (*ranges, range(0x2F7F0, 0x2FA30)) for point in points]
    block = 64
    texts = [
        " ".join(f"{each}|a{each}|{each}\u0323\u0301|\u1100{each}\u11a8" for each in characters[at : at + block])
        for at in range(0, len(characters), block)
    ]
    jobs = []
    for options in ({"normalize": "nfc"}, {"normalize": "nfkc"}, {"fold_width": True}, {"strip_controls": True}):
        job = direct.normalizer("text", options)
        some = texts if "normalize" in options else [each for each in texts if "\uff41" in each or "\x80" in each]
        job.calls = [[value, "utf16", [], [], None] for value in some]
        jobs.append((job, text_twin(options)))
    compare(dist, jobs)


def test_damaged_texts(dist: Path, rng: random.Random) -> None:
    """Words of many languages, read once in the wrong encoding or not at all, among others and alone."""
    words = [
        *" ".join(SENTENCES).split(), *["VOCÊ…", "NESTLÉ®", "5×£35", "20°C", "na—ja", "─│┌", "��"],
        "\U0001f600", "\u24b6\u2167", "plain", "2026", "\u0440\u0443\u043f\u0456\u0457", "\ud55c\uad6d\uc5b4",
    ]  # fmt: skip
    encodings = [*(each.name for each in mojibake.readings()), "gbk", "shift_jis"]

    def damaged(word: str) -> str:
        return word.encode("utf-8", "replace").decode(rng.choice(encodings), "replace")

    job = direct.normalizer("text", {"reject": ("mojibake",)})
    for _ in range(MANY * 40):
        chosen = (damaged(each) if rng.random() < 0.3 else each for each in rng.choices(words, k=rng.randrange(1, 6)))
        value = rng.choice((" ", " ", "")).join(chosen)
        if rng.random() < 0.5:
            # Shorter, so that a sign stands alone.
            value = value[rng.randrange(len(value) + 1) :][:4]
        value = value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        job.calls.append([value, "utf16", [], [], None])
    leads = "\xc2\xc3\xc4\xd0\xe2\xc5\u0110\u0413\u251c\u221a\xd7\u201c\u0102\u0139"
    around = ("", " ", "a", "A", "\u0434", "5", "\u4e2d", "\u24b6", "\x1c", "\xc3\xa9")
    for lead in leads:
        for behind in map(chr, (*range(0x80, 0xC0), 0x2122, 0x2014, 0x2019, 0x20AC, 0x0192, 0x0451, 0x0401, 0x2502)):
            job.calls.append([f"{rng.choice(around)}{lead}{behind}{rng.choice(around)}", "utf16", [], [], None])
    compare(dist, [(job, text_twin({"reject": ("mojibake",)}))])


def test_texts_of_the_cases(dist: Path) -> None:
    jobs = []
    for file in ("text.jsonl", "own_text.jsonl"):
        for line in (CASES / file).read_text().splitlines():
            case = json.loads(line)
            options = {name: value for name, value in case["context"].items() if value}
            options = {name: tuple(value) if isinstance(value, list) else value for name, value in options.items()}
            try:
                job = direct.normalizer("text", options)
            except Inexact:
                continue
            value = case["input"]
            job.calls.append([value, "code_point", [*range(len(value))], [at + 1 for at in range(len(value))], None])
            jobs.append((job, text_twin(options)))
    assert len(jobs) > 100
    compare(dist, jobs)


# ----------------------------------------------------------------------------------------------------------------------
# Relations


def test_spans(dist: Path, rng: random.Random) -> None:
    jobs = []
    for _ in range(60):
        options: dict[str, Any] = {
            name: True
            for name in ("allow_overlap", "allow_nesting", "allow_empty", "no_edge_whitespace")
            if rng.random() < 0.4
        }
        unit = rng.choice(("code_point", "utf8_byte", "utf16"))
        options |= {"unit": unit, "order": rng.choice(("any", "any_order", "by_start"))}
        job = direct.relation("spans", {"text": "raw", "start": "s", "end": "e", **options})
        for _ in range(MANY):
            value = "".join(rng.choice(" ab\u00e9\u3000\U0001f600e\u0301") for _ in range(rng.randrange(12)))
            starts, ends, surfaces = spans_of(rng, value, unit)
            if rng.random() < 0.5:
                starts.sort()
            job.calls.append([value, starts, ends, surfaces])
        checker = spans.checker(**options)
        jobs.append((job, checker))
    compare(dist, jobs)


def test_spans_of_64_bits(dist: Path) -> None:
    """Offsets beyond what a double holds exactly are compared as integers."""
    job = direct.relation("spans", {"text": "raw", "start": "s", "end": "e", "unit": "code_point"})
    pairs = [(1 << 62, (1 << 62) - 1), (1, 2), (-(1 << 63), 1), (0, 1 << 63)]
    job.calls = [["abc", [{"$big": str(start)} for start, _ in pairs], [{"$big": str(end)} for _, end in pairs], None]]
    expected = shown(spans.checker(unit="code_point")("abc", [s for s, _ in pairs], [e for _, e in pairs]))
    assert direct.run(dist, [job])[0][0] == expected
    assert [each["refused"][0] for each in expected] == ["spans.order", "spans.bounds", "spans.bounds"]


def test_sequences(dist: Path, rng: random.Random) -> None:
    jobs = []
    laws: list[dict[str, Any]] = [
        {"step": 1}, {"first": 3, "step": -2}, {"first": 5, "step": 0}, {"strictly_increasing": True},
        {"first": 1, "strictly_increasing": True}, {"same_length_as": "x"}, {"step": 1, "same_length_as": "x"},
    ]  # fmt: skip
    for law in laws:
        job = direct.relation("sequence", law)
        for _ in range(MANY):
            size, first, step = rng.randrange(6), rng.choice((0, 0, 3, 1, 5)), rng.choice((1, 1, -2, 0))
            values = [first + step * at for at in range(size)]
            if values and rng.random() < 0.4:
                values[rng.randrange(size)] = rng.randrange(-5, 9)
            job.calls.append([values, rng.choice((size, size + 1)) if "same_length_as" in law else None])
        jobs.append((job, sequence.checker(**law)))
    compare(dist, jobs)


def test_graphs(dist: Path, rng: random.Random) -> None:
    jobs = []
    for options in ({"acyclic": True}, {"closed": True}, {"acyclic": True, "closed": True}):
        job = direct.relation("graph", options)
        for _ in range(MANY * 3):
            size = rng.randrange(7)
            names: list[Any] = rng.sample("abcdefgh", size) if rng.random() < 0.6 else rng.choices(range(4), k=size)
            pool = [*names, "z"] if rng.random() < 0.2 or not names else names
            job.calls.append([names, [rng.choices(pool, k=rng.choice((0, 1, 1, 2))) for _ in names]])
        jobs.append((job, graph.checker(**options)))
    compare(dist, jobs)


# ----------------------------------------------------------------------------------------------------------------------
# Labels and cells

ALIASES = {
    "POSITIVE": ("pos", "+", "gut", "Ｐ", "ﬁne", "straße"),
    "negative": ("neg", "ΝΑΙ", "İstanbul", "é", "ǆ"),
    "__proto__": ("constructor",),
}


def test_labels(dist: Path, rng: random.Random) -> None:
    job = direct.normalizer("label", {"aliases": ALIASES})
    words = [*ALIASES, *(word for each in ALIASES.values() for word in each)]
    changes: list[Callable[[str], str]] = [
        str.upper, str.lower, str.title, str.swapcase, lambda word: f"\u2003{word}\x85", lambda word: word + "x",
        lambda word: "".join(chr(ord(each) + 0xFEE0) if "!" <= each <= "~" else each for each in word),
        lambda word: word.replace("é", "e\u0301").replace("i", "\u0131").replace("s", "\u017f"), lambda word: word,
    ]  # fmt: skip
    for word in words:
        job.calls += [[change(other(word))] for change in changes for other in changes]
    job.calls += [[_text(rng)] for _ in range(MANY)] + [[""], ["\u1e9e"], ["toString"], ["STRASSE"], ["straſſe"]]
    compare(dist, [(job, label.normalizer(aliases=ALIASES))])


def test_case_folding_of_every_character(dist: Path) -> None:
    """Each character that folds, as a word of its own."""
    characters = [chr(point) for point in range(0x20000) if not 0xD800 <= point < 0xE000]
    aliases = {"a": tuple(dict.fromkeys(each for each in characters if each.casefold() != each and label.folded(each)))}
    job = direct.normalizer("label", {"aliases": aliases})
    job.calls = [[each] for each in characters if each.casefold() != each or each in aliases["a"][::7]]
    compare(dist, [(job, label.normalizer(aliases=aliases))])


def test_class_numbers(dist: Path) -> None:
    jobs = []
    options: dict[str, Any]
    for options in ({"num_classes": 3}, {"num_classes": 3, "ignore_index": -100}):
        twin = label.normalizer(**options)
        job = direct.normalizer("label", options, ir.TYPE_INT64)
        job.calls = [[value] for value in (-101, -100, -1, 0, 2, 3, 4)]

        def refused(value: int, twin: Callable[[object], Any] = twin) -> Any:
            result = twin(value)
            return result if isinstance(result, Refusal) else None

        jobs.append((job, refused))
    compare(dist, jobs)


def _cell(rng: random.Random) -> str:
    digits = "".join(rng.choice("0123456789") for _ in range(rng.choice((0, 1, 2, 3, 9, 10, 17, 19, 20, 24, 40))))
    fraction = "".join(rng.choice("0123456789") for _ in range(rng.choice((0, 0, 1, 2, 3, 9, 17, 30))))
    number = f"{rng.choice(('', '', '-', '+'))}{rng.choice(('', '', '0', '00'))}{digits}"
    if rng.random() < 0.5:
        number += f".{fraction}"
    if rng.random() < 0.1:
        number += rng.choice(("e5", "E-3", "x", "\u0661", ",0", "_1"))
    if rng.random() < 0.1:
        number = "".join(chr(ord(each) + 0xFEE0) if "!" <= each <= "~" else each for each in number)
    return f"{rng.choice(('', '', ' ', chr(0x3000)))}{number}{rng.choice(('', '', chr(0x85), chr(0x1C)))}"


def test_cells(dist: Path, rng: random.Random) -> None:
    jobs = []
    texts = [
        "", "NaN", "-NaN", "Infinity", "-Infinity", "nan", "true", "TRUE ", "false", "Yes", "n", "oui", "-0", "-0.0",
        "0.1", "0.25195312", "0.251953125", "16777217", "1e5", "3.4028235e38", "0.1000", "5e-324", "9007199254740993",
        "340282356779733661637539395458142568448", "1" + "0" * 308, "1" + "0" * 309, "0." + "0" * 330 + "1",
        "0." + "0" * 323 + "5", "2147483648", "-2147483649", "4294967296", "9223372036854775808", "0" * 30 + "7",
        "18446744073709551615", "18446744073709551616", "25.000", "25.0001", "123456789.123456789", "8388608.5",
    ]  # fmt: skip
    kinds = ("int32", "int64", "uint32", "uint64", "float", "double", "bool")
    words = {"yes": True, "n": False, "straße": True}
    for kind in kinds:
        for extra in ({}, {"fold_width": True}, {"exact": True, "finite": False}, {"bool_words": words}):
            if "bool_words" in extra and kind != "bool":
                continue
            options: dict[str, Any] = {"type": kind, **extra}
            job = direct.normalizer("scalar", options)
            job.calls = [[each] for each in texts] + [[_cell(rng)] for _ in range(MANY * 3)]
            jobs.append((job, scalar.cell(**options)))
    single = direct.normalizer("scalar", {"type": "float"})
    # Numbers with short binary fractions: ties when they are rounded to fewer decimal digits.
    single.calls = [[f"{rng.randrange(1 << 24) / (1 << rng.randrange(30)):.30f}"] for _ in range(MANY * 20)]
    jobs.append((single, scalar.cell(type="float")))
    compare(dist, jobs)


# ----------------------------------------------------------------------------------------------------------------------
# Moments


def _instant_options(rng: random.Random) -> dict[str, Any]:
    choices: dict[str, tuple[Any, ...]] = {
        "zone": (None, *ZONES), "order": (None, "dmy", "mdy"), "epoch_unit": (None, "s", "ms", "us", "ns"),
        "fold": (None, "earlier", "later"), "gap": (None, "shift_forward"), "leap_second": (None, "next_second"),
        "hour24": (None, "next_day"), "date_only": (None, "start_of_day"), "excess_fraction": (None, "truncate"),
        "min": (None, None, "1999-12-31T23:59:59.5Z"), "max": (None, None, "2040-01-01T08:00:00+08:00"),
    }  # fmt: skip
    return {name: value for name, values in choices.items() if (value := rng.choice(values)) is not None}


def _moment(rng: random.Random) -> str:
    """Something like a date and time, in one of the forms that are read."""
    year, month, day = (
        rng.choice((rng.randrange(1, 10000), rng.randrange(1900, 2100), 2024)),
        rng.randint(1, 12),
        rng.randint(1, 31),
    )
    hour, minute, second = (
        rng.choice((rng.randrange(24), rng.randrange(25))),
        rng.choice((0, 30, 59)),
        rng.choice((0, 59, 60)),
    )
    name = rng.choice(("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sept", "October", "NOV", "december"))
    date = rng.choice((
        f"{year:04d}-{month:02d}-{day:02d}", f"{year:04d}/{month}/{day}", f"{day}.{month}.{year:04d}",
        f"{month}/{day}/{year:04d}", f"{day} {name} {year:04d}", f"{name} {day}, {year:04d}", f"{day}-{name}-{year}",
        f"{year:04d}年{month}月{day}日",
        f"Fri, {day:02d} {name} {year:04d}", f"{year:04d}{month:02d}{day:02d}T{hour:02d}{minute:02d}", f"令和{day}年",
    ))  # fmt: skip
    fraction = rng.choice(("", "", ".5", ".123456789", ".1234567891", ",25"))
    time = rng.choice((
        "", f"{hour:02d}:{minute:02d}", f"{hour:02d}:{minute:02d}:{second:02d}{fraction}", f"{hour}:{minute:02d} pm",
        f"下午{hour}点{minute}分", f"晚上{hour}:{minute:02d}", f"{hour}時",
        f"{hour:02d}:{minute:02d}:{second:02d} {year:04d}",
    ))  # fmt: skip
    offset = rng.choice((
        "", "", "Z", "z", " +0800", "-05:30", "+23:59", "+24:00", " UTC+8", " GMT", "GMT-0500 (EST)", " CST", "-00:00",
        "\u221203:00", f"[{rng.choice(ZONES)}]", f"Z[{rng.choice(ZONES)}]", "+01:00[Europe/Paris]", "[u-ca=iso8601]",
        "[!x=1]", "+02:00[+02:00]",
    ))  # fmt: skip
    return f"{rng.choice(('', '', ' ', '星期五 ', 'Tues. '))}{date}{rng.choice(('T', ' ', ', ', ''))}{time}{offset}"


def test_moments(dist: Path, rng: random.Random) -> None:
    jobs = []
    for _ in range(40):
        options = _instant_options(rng)
        job = direct.normalizer("instant", options)
        for _ in range(MANY):
            pieces = "".join(rng.choice(PIECES) for _ in range(rng.randrange(12)))
            value = rng.choice((_moment(rng), _moment(rng), pieces))
            # Two halves of a pair that meet are one character to JavaScript.
            job.calls.append([value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")])
        job.calls += [[str(rng.randrange(-(10**16), 10**19))] for _ in range(3)] + [
            ["-0.5"],
            ["9" * 40],
            [" \u22125.25"],
        ]
        jobs.append((job, instant.normalizer(**options)))
    compare(dist, jobs)


def test_moments_of_the_cases(dist: Path) -> None:
    jobs = []
    for file in ("instants.jsonl", "own_instants.jsonl"):
        for line in (CASES / file).read_text().splitlines():
            case = json.loads(line)
            options = {name: value for name, value in case["context"].items() if value is not None}
            job = direct.normalizer("instant", options)
            job.calls = [[case["input"]]]
            jobs.append((job, instant.normalizer(**options)))
    assert len(jobs) > 400
    compare(dist, jobs)


def test_every_zone(dist: Path, rng: random.Random) -> None:
    """Around changes of the clock, and in centuries past and to come."""
    names = sorted(instant_zone.names())
    jobs = []
    for name in names if MANY > 1000 else rng.sample(names, 30):
        options = {"zone": name, "fold": "later", "gap": "shift_forward"}
        job = direct.normalizer("instant", options)
        years = [1, 1850, 1883, 1918, 1945, *(rng.randrange(1900, 2100) for _ in range(12)), 2400, 9998]
        for year in years:
            month, hour = rng.choice((3, 4, 9, 10, 11, rng.randint(1, 12))), rng.choice((0, 1, 2, 2, 3, 23))
            job.calls += [
                [f"{year:04d}-{month:02d}-{day:02d}T{hour:02d}:{rng.choice((0, 29, 30, 59)):02d}:00"]
                for day in range(1, 31)
            ]
        jobs.append((job, instant.normalizer(**options)))
    compare(dist, jobs)


def test_what_is_inexact_is_refused() -> None:
    cases: list[tuple[str, dict[str, Any]]] = [
        ("text", {"strip_html": True}),
        ("quantity", {"unit": "m"}),
        ("label", {"aliases": {"a": ("\ua7cb",)}}),
        ("scalar", {"type": "bool", "bool_words": {"\u0264": True}}),
    ]
    for word, options in cases:
        with pytest.raises(Inexact) as refused:
            direct.normalizer(word, options)
        assert refused.value.place == direct.PLACE
        assert refused.value.hint


def test_a_size_has_the_article_that_is_spoken(dist: Path) -> None:
    """An eight, an eleven, an eighteen, an eight hundred, an eleven thousand; a one hundred and ten."""
    an = (8, 11, 18, 80, 89, 800, 8_000, 11_000, 18_999, 80_000)
    a = (0, 1, 7, 9, 10, 12, 19, 79, 90, 108, 110, 118, 180, 1_100, 1_800, 110_000)
    job = direct.Job("describe", [("refusal", "describe")])
    job.calls = [["x" * size] for size in (*an, *a)]
    told = [*(f"an {size}-character text" for size in an), *(f"a {size}-character text" for size in a)]
    assert direct.run(dist, [job])[0] == told == [describe("x" * size) for size in (*an, *a)]
    assert [describe(bytes(size)) for size in (8, 12)] == ["an 8-byte value", "a 12-byte value"]
