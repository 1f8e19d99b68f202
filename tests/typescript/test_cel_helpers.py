"""The helpers that compiled CEL calls, each beside Python's: formats, patterns, numbers as texts, times."""

from __future__ import annotations

import json
import math
import re
import shutil
import struct
from pathlib import Path
from random import Random
from typing import Any

import pytest
import re2

from protocontract import _cel
from protocontract._cel_error import CelRuntimeError
from protocontract._cel_time import cel_display_timestamp
from protocontract_compiler.cel.regex import check_pattern
from protocontract_compiler.emit.typescript.regex import pattern_code
from tests.cel.test_regex import ALPHABET, _pattern
from tests.formats.test_formats import FORMATS, SPECIMENS, _mutations, _short
from tests.typescript.support import evaluated, needs_node
from tests.typescript.tables import RUNTIME

pytestmark = needs_node


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("helpers")
    for name in ("cel", "formats"):
        shutil.copytree(RUNTIME / name, made / name)
    for file in RUNTIME.glob("*.ts"):
        shutil.copy(file, made)
    return made


def run(folder: Path, imports: str, expression: str, table: Any) -> Any:
    """What an expression makes of each row of a table."""
    (folder / "table.json").write_text(json.dumps(table))
    shown = "(_, value) => typeof value === 'bigint' ? String(value) : value"
    script = (
        f'{imports}\nimport {{ readFileSync }} from "node:fs";\n'
        'const table = JSON.parse(readFileSync("table.json", "utf8"));\n'
        f"console.log(JSON.stringify(table.map({expression}), {shown}));"
    )
    return evaluated(folder, script)


#: In TypeScript's words, in the order of ``FORMATS``.
CALLS = [
    "isEmail(t)", "isHostname(t)", "isHostAndPort(t, true)", "isHostAndPort(t, false)", "isIp(t, 0n)", "isIp(t, 4n)",
    "isIp(t, 6n)", "isIpPrefix(t, 0n, false)", "isIpPrefix(t, 0n, true)", "isIpPrefix(t, 4n, false)",
    "isIpPrefix(t, 6n, false)", "isIpPrefix(t, 4n, true)", "isIpPrefix(t, 6n, true)", "isUri(t)", "isUriRef(t)",
]  # fmt: skip


def test_formats(folder: Path) -> None:
    rng = Random(21)
    texts = [*SPECIMENS, *_mutations(rng, 5000), *_short(rng, 5000)]
    imports = (
        'import { isEmail } from "./formats/email.js";\n'
        'import { isHostAndPort, isHostname } from "./formats/hostname.js";\n'
        'import { isIp, isIpPrefix } from "./formats/ip.js";\n'
        'import { isUri, isUriRef } from "./formats/uri.js";'
    )
    found = run(folder, imports, f"(t) => [{', '.join(CALLS)}]", texts)
    for text, verdicts in zip(texts, found, strict=True):
        expected = [accepts(text) for accepts in FORMATS.values()]
        different = [call for call, one, two in zip(CALLS, expected, verdicts, strict=True) if one != two]
        assert not different, (text, different)


#: Sets of Unicode's, as RE2's tables have them.
PROPERTIES = [r"\pL+", r"\p{Lu}\pL*", r"[\p{Han}\d]+", r"\P{Greek}", r"[^\pL]", r"\p{^L}|x", r"[\pN\p{Lt}-]"]


def test_regular_expressions(folder: Path) -> None:
    """Those that run in RegExp, and those that run as automata, on random texts: what RE2 says."""
    rng = Random(5)
    rows: list[tuple[str, str]] = []
    expected: list[list[bool]] = []
    texts = ["".join(rng.choice(ALPHABET) for _ in range(rng.randrange(8))) for _ in range(40)] + ["", "\n", "a\n"]
    texts += ["Zo\u00eb", "\u65e5\u672c", "\u0394x", "\U0001d400", "A1", "\u01c5"]
    automata = 0
    while len(rows) < 1500:
        head, tail = rng.choice(["", "^", "^", "(?i)", "(?i)^", "(?s)^", r"\A"]), rng.choice(["", "$", "$", r"\z"])
        middle = _pattern(rng) if rng.random() < 0.95 else rng.choice(PROPERTIES)
        pattern = head + middle + tail
        code = pattern_code(pattern, lambda path, name: name) if check_pattern(pattern) is None else None
        if code is not None:
            rows.append((pattern, code))
            expected.append([re2.search(pattern, text) is not None for text in texts])
            automata += "automaton(" in code
    assert automata > 200
    assert len(rows) - automata > 200
    matchers = ",\n".join(code for _, code in rows)
    imports = f'import {{ automaton }} from "./cel/automaton.js";\nconst matchers = [{matchers}];'
    found = run(folder, imports, "(text) => matchers.map((matcher) => matcher.test(text))", texts)
    for place, (pattern, code) in enumerate(rows):
        assert [each[place] for each in found] == expected[place], (pattern, code)


def doubles(rng: Random) -> list[float]:
    """Doubles on which texts are hard: ties, powers, the ends, any bits."""
    found = [
        0.0,
        -0.0,
        1.0,
        0.1,
        1 + 2**-17,
        0.5,
        2.5,
        1e16,
        1e17,
        123456.5,
        1e-5,
        0.0001,
        5e-324,
        1.7976931348623157e308,
    ]
    found += [rng.randrange(1 << 20) + rng.choice([0.5, 0.25, 0.125, 2**-17]) for _ in range(300)]
    found += [float(10**power) for power in range(-20, 23)]
    found += [each for _ in range(700) if math.isfinite(each := struct.unpack("<d", rng.randbytes(8))[0])]
    return found + [-each for each in found]


def test_doubles_as_texts(folder: Path) -> None:
    table = doubles(Random(7))
    imports = (
        'import { formatE, formatF, formatValue, stringOfDouble } from "./cel/format.js";\n'
        'import { intOfDouble, uintOfDouble } from "./cel/numbers.js";\n'
        "const attempt = (work) => { try { return String(work()); } catch (error) { return error.message; } };"
    )
    shown = (
        "([high, low]) => { const view = new DataView(new ArrayBuffer(8)); "
        "view.setUint32(0, high); view.setUint32(4, low); const x = view.getFloat64(0); "
        "return [stringOfDouble(x), formatValue(x, 'double'), formatF(x, 6n), formatF(x, 0n), "
        "formatE(x, 3n), attempt(() => intOfDouble(x)), attempt(() => uintOfDouble(x))]; }"
    )
    found = run(folder, imports, shown, [struct.unpack(">II", struct.pack(">d", each)) for each in table])
    for number, texts in zip(table, found, strict=True):
        assert texts == [
            _cel.cel_string_of_double(number), _cel.cel_format_value(number, "double"), _cel.cel_format_f(number, 6),
            _cel.cel_format_f(number, 0), _cel.cel_format_e(number, 3), attempt(_cel.cel_int_of_double, number),
            attempt(_cel.cel_uint_of_double, number),
        ], number  # fmt: skip


def attempt(function: Any, *arguments: Any) -> str:
    try:
        return str(function(*arguments))
    except CelRuntimeError as error:
        return str(error)


PARTS = (
    "year",
    "month",
    "day_of_year",
    "day_of_month",
    "date",
    "day_of_week",
    "hours",
    "minutes",
    "seconds",
    "milliseconds",
)
ZONES = ("", "+08:00", "-00:30", "05:45")


def test_times(folder: Path) -> None:
    rng = Random(8)
    instants = [rng.randrange(-(10**23), 10**23) // 10 ** rng.randrange(0, 18) for _ in range(800)]
    instants += [-62_135_596_800 * 10**9 + step for step in (-1, 0, 1)] + [
        253_402_300_800 * 10**9 - step for step in (0, 1)
    ]
    imports = (
        'import * as time from "./cel/time.js";\n'
        f"const parts = {json.dumps(PARTS)}; const zones = {json.dumps(ZONES)};\n"
        "const attempt = (work) => { try { return String(work()); } catch (error) { return error.message; } };"
    )
    shown = (
        "(text) => { const x = BigInt(text); "
        "return [attempt(() => time.stringOfTimestamp(x)), time.displayTimestamp(x), "
        "attempt(() => time.stringOfDuration(x)), attempt(() => time.addDuration(x, x)), "
        "attempt(() => time.subTimestamps(x, -x)), attempt(() => time.addTimestamp(x, x)), "
        "attempt(() => time.subTimestamp(x, x)), "
        "time.durationHours(x), time.durationMinutes(x), time.durationSeconds(x), time.durationMilliseconds(x), "
        "...parts.flatMap((part) => zones.map((zone) => time.timestampPart(x, part, zone)))].map(String); }"
    )
    found = run(folder, imports, shown, [str(each) for each in instants])
    for instant, texts in zip(instants, found, strict=True):
        expected = [
            attempt(_cel.cel_string_of_timestamp, instant), attempt(cel_display_timestamp, instant),
            attempt(_cel.cel_string_of_duration, instant), attempt(_cel.cel_add_duration, instant, instant),
            attempt(_cel.cel_sub_timestamps, instant, -instant), attempt(_cel.cel_add_timestamp, instant, instant),
            attempt(_cel.cel_sub_timestamp, instant, instant),
            *(str(function(instant)) for function in (
                _cel.cel_duration_hours, _cel.cel_duration_minutes, _cel.cel_duration_seconds,
                _cel.cel_duration_milliseconds,
            )),
            *(str(_cel.cel_timestamp_part(instant, part, zone)) for part in PARTS for zone in ZONES),
        ]  # fmt: skip
        assert texts == expected, instant


def test_functions_of_texts(folder: Path) -> None:
    rng = Random(9)
    pieces = ["a", "b", "ab", "", "\U0001f600", "e\u0301", "\u3000", " ", "\x1c", "\u00a0", "A", "\u0130", "aa"]

    def some() -> str:
        return "".join(rng.choices(pieces, k=rng.randrange(5)))

    rows = [[some(), some(), some(), rng.randrange(-2, 7), rng.randrange(-1, 7)] for _ in range(1500)]
    names = {
        "charAt(a, m)": lambda a, b, c, m, n: _cel.cel_char_at(a, m),
        "indexOf(a, b)": lambda a, b, c, m, n: _cel.cel_index_of(a, b),
        "indexOfFrom(a, b, m)": lambda a, b, c, m, n: _cel.cel_index_of_from(a, b, m),
        "lastIndexOf(a, b)": lambda a, b, c, m, n: _cel.cel_last_index_of(a, b),
        "lastIndexOfFrom(a, b, m)": lambda a, b, c, m, n: _cel.cel_last_index_of_from(a, b, m),
        "lowerAscii(a) + upperAscii(b)": lambda a, b, c, m, n: _cel.cel_lower_ascii(a) + _cel.cel_upper_ascii(b),
        "replace(a, b, c)": lambda a, b, c, m, n: _cel.cel_replace(a, b, c),
        "replaceLimit(a, b, c, m)": lambda a, b, c, m, n: _cel.cel_replace_limit(a, b, c, m),
        "split(a, b).join('|')": lambda a, b, c, m, n: "|".join(_cel.cel_split(a, b)),
        "splitLimit(a, b, m).join('|')": lambda a, b, c, m, n: "|".join(_cel.cel_split_limit(a, b, m)),
        "substring(a, m, n)": lambda a, b, c, m, n: _cel.cel_substring(a, m, n),
        "substringFrom(a, m)": lambda a, b, c, m, n: _cel.cel_substring_from(a, m),
        "trim(a)": lambda a, b, c, m, n: _cel.cel_trim(a),
        "reverse(a)": lambda a, b, c, m, n: a[::-1],
        "utf8Size(a)": lambda a, b, c, m, n: _cel.cel_utf8_size(a),
        "size(a)": lambda a, b, c, m, n: len(a),
    }
    imports = (
        f"import {{ {', '.join(sorted({word for name in names for word in _words(name)} - {'size'}))} }} "
        'from "./cel/text.js";\nimport { size } from "./codepoints.js";\n'
        "const attempt = (work) => { try { return String(work()); } catch (error) { return error.message; } };"
    )
    calls = ", ".join(f"attempt(() => {name})" for name in names)
    found = run(
        folder, imports, f"([a, b, c, x, y]) => {{ const m = BigInt(x), n = BigInt(y); return [{calls}]; }}", rows
    )
    for row, texts in zip(rows, found, strict=True):
        assert texts == [attempt(function, *row) for function in names.values()], row


def _words(call: str) -> set[str]:
    return {word for word in re.findall(r"(\w+)\(", call) if word != "join"}
