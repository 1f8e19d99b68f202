"""The scalar normalizer: the shared cases, and each policy by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest

from protocontract.normalize import scalar
from protocontract.violations import OptionError, Refusal, Refused
from tests.normalize.value_contracts import cases

CASES = cases("labels_and_numbers")


def equals(got: Any, expected: Any) -> bool:
    """Whether a value is the expected one, which the cases write as text where JSON numbers would lose digits."""
    if isinstance(got, float) and isinstance(expected, str):
        return math.isnan(got) if expected == "NaN" else got == float(expected)
    return str(got) == expected if isinstance(expected, str) else bool(got == expected)


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_shared_case(case: dict[str, Any]) -> None:
    expected = case["expect"]
    if "error" in expected:
        with pytest.raises(Refused) as refused:
            scalar.normalize(case["input"], **case["context"])
        assert refused.value.rule_id.split(".")[0] in ("scalar", "label")
        return
    value = scalar.normalize(case["input"], **case["context"]).value
    if "hex" in expected:
        assert value == bytes.fromhex(expected["hex"])
    elif "ignored" in expected:
        assert value == case["context"]["ignore_index"]
    else:
        assert equals(value, expected["value"])


def outcome(value: Any, **options: Any) -> Any:
    result = scalar.normalizer(**options)(value)
    return result.rule_id if isinstance(result, Refusal) else result


WORDS = {"yes": True, "no": False}


@pytest.mark.parametrize(
    ("value", "options", "expected"),
    [
        # integers
        ("2147483648", {"type": "int32"}, "scalar.range"),
        ("-2147483648", {"type": "sfixed32"}, -2147483648),
        ("-1", {"type": "uint64"}, "scalar.range"),
        ("-0", {"type": "uint32"}, 0),
        ("1e-1", {"type": "int32"}, "scalar.inexact"),
        ("100e-2", {"type": "int32"}, 1),
        ("1e99999999999999999999", {"type": "int32"}, "scalar.range"),
        ("1e-99999999999999999999", {"type": "int32"}, "scalar.inexact"),
        ("0e99999999999999999999", {"type": "int32"}, 0),
        ("9" * 6000, {"type": "int64"}, "scalar.range"),
        ('" 1"', {"type": "int32"}, "scalar.syntax"),
        ('"+1"', {"type": "int32"}, "scalar.syntax"),
        ('"1"', {"type": "int32", "quoted_numbers": False}, "scalar.type"),
        ('"２５"', {"type": "int32", "fold_width": True}, 25),
        ("null", {"type": "int32"}, None),
        ("null", {"type": "int32", "required": True}, "scalar.required"),
        ("[1]", {"type": "int32"}, "scalar.type"),
        ('"NaN"', {"type": "int32", "finite": False}, "scalar.inexact"),
        ("1 2", {"type": "int32"}, "scalar.syntax"),
        ("\ufeff1", {"type": "int32"}, "scalar.syntax"),
        ("[" * 50_000, {"type": "int32"}, "scalar.syntax"),
        # floats
        ("3.5e38", {"type": "float"}, "scalar.range"),
        ("3.4028234663852886e38", {"type": "float"}, 3.4028234663852886e38),
        ("0.1", {"type": "float", "exact": True}, "scalar.inexact"),
        ("0.1", {"type": "float"}, 0.10000000149011612),
        ("0.5", {"type": "float", "exact": True}, 0.5),
        ("1e-400", {"type": "double"}, 0.0),
        ("1e-400", {"type": "double", "exact": True}, "scalar.inexact"),
        ("1e-99999999999999999999", {"type": "double", "exact": True}, "scalar.inexact"),
        ('"Infinity"', {"type": "float", "finite": False}, math.inf),
        ('"Infinity"', {"type": "float"}, "scalar.finite"),
        # bools
        ('"YES "', {"type": "bool", "bool_words": WORDS}, True),
        ('"true"', {"type": "bool", "bool_words": WORDS}, True),
        ("1", {"type": "bool", "bool_words": {"1": True}}, "scalar.type"),
        ('"maybe"', {"type": "bool", "bool_words": WORDS}, "scalar.syntax"),
        # cells
        (" 25 ", {"type": "int32", "form": "text"}, 25),
        ("+25", {"type": "int32", "form": "text"}, 25),
        ("−25", {"type": "int32", "form": "text"}, "scalar.syntax"),
        ("２５", {"type": "int32", "form": "text", "fold_width": True}, 25),
        ("", {"type": "double", "form": "text"}, "scalar.syntax"),
        ("1e5", {"type": "double", "form": "text"}, "scalar.syntax"),
        ("2.50", {"type": "double", "form": "text", "exact": True}, 2.5),
        ("NEG", {"type": "enum", "form": "text", "enum": {"NEG": 1}}, "NEG"),
        (b"25", {"type": "int32", "form": "text"}, "scalar.type"),
        (None, {"type": "int32"}, "scalar.type"),
        # enums
        ("1", {"type": "enum", "enum": {"ZERO": 0, "NEG": 1, "MINUS": 1}}, "NEG"),
        ("7", {"type": "enum", "enum": {"ZERO": 0}}, 7),
        ('"neg"', {"type": "enum", "enum": {"NEG": 1}}, "scalar.enum"),
        ("1.5", {"type": "enum", "enum": {"NEG": 1}}, "scalar.inexact"),
        # bytes and texts
        ('"AQ=="', {"type": "bytes"}, b"\x01"),
        ('"AQ==="', {"type": "bytes"}, "scalar.syntax"),
        ('"A"', {"type": "bytes"}, "scalar.syntax"),
        ('"é"', {"type": "bytes"}, "scalar.syntax"),
        ('"\\ud83d"', {"type": "string"}, "scalar.syntax"),
        ('"\x01"', {"type": "string"}, "scalar.syntax"),
        # labels
        ("3", {"type": "label_id", "num_classes": 3}, "label.unknown"),
        ('"2"', {"type": "label_id", "num_classes": 3}, 2),
        ('" pos"', {"type": "label", "aliases": {"POSITIVE": ["pos"]}}, "POSITIVE"),
        # objects
        ('{"a": 1, "\\u0061": 1}', {"type": "object", "fields": {"a": "int32"}}, "scalar.duplicate"),
        ('{"a": "x"}', {"type": "object", "fields": {"a": "int32"}}, "scalar.syntax"),
        (
            '{"fooBar": "9007199254740993"}',
            {"type": "object", "fields": {"foo_bar": "int64"}},
            {"foo_bar": 9007199254740993},
        ),
        ("[]", {"type": "object", "fields": {}}, "scalar.type"),
    ],
)
def test_policy(value: Any, options: dict[str, Any], expected: Any) -> None:
    got = outcome(value, **options)
    assert got == expected
    assert type(got) is type(expected)


def test_negative_zero_stays_a_double() -> None:
    assert math.copysign(1, scalar.normalize("-0", type="double").value) == -1


@pytest.mark.parametrize(
    "options",
    [
        {"type": "decimal"},
        {"type": "int32", "form": "xml"},
        {"type": "object", "form": "text"},
        {"type": "bool", "bool_words": {"yes": True, "YES": False}},
        {"type": "bool", "bool_words": {" ": True}},
        {"type": "bool", "bool_words": {"true": False}},
        {"type": "bool", "bool_words": {"yes": "1"}},
        {"type": "label", "aliases": {"A": ["x"], "B": ["x"]}},
    ],
)
def test_wrong_options_are_option_errors(options: dict[str, Any]) -> None:
    with pytest.raises(OptionError):
        scalar.normalizer(**options)


# ----------------------------------------------------------------------------------------------------------------------
# Text cells in string fields


def written(value: Any, **options: Any) -> Any:
    result = scalar.cell(**options)(value)
    return result.rule_id if isinstance(result, Refusal) else result


@pytest.mark.parametrize(
    ("value", "options", "expected"),
    [
        (" +025.0\u3000", {"type": "int32"}, "25"),
        ("-0", {"type": "int64"}, "0"),
        ("9007199254740993", {"type": "int64"}, "9007199254740993"),
        ("2147483648", {"type": "int32"}, "scalar.range"),
        ("2.50", {"type": "double"}, "2.5"),
        ("-0.0", {"type": "double"}, "-0"),
        ("100000000000000000000000", {"type": "double"}, "100000000000000000000000"),
        ("0.00000001", {"type": "double"}, "0.00000001"),
        ("0.1", {"type": "float"}, "0.1"),
        ("0.10000000149011612", {"type": "float"}, "0.1"),
        ("16777217", {"type": "float"}, "16777216"),
        ("16777217", {"type": "float", "exact": True}, "scalar.inexact"),
        ("9" * 39, {"type": "float"}, "scalar.range"),
        ("NaN", {"type": "double", "finite": False}, "NaN"),
        (" -Infinity", {"type": "float", "finite": False}, "-Infinity"),
        ("NaN", {"type": "double"}, "scalar.finite"),
        ("YES ", {"type": "bool", "bool_words": WORDS}, "true"),
        ("FALSE", {"type": "bool"}, "false"),
        ("1e5", {"type": "double"}, "scalar.syntax"),
        (25, {"type": "int32"}, "scalar.type"),
    ],
)
def test_a_cell_becomes_canonical_text(value: Any, options: dict[str, Any], expected: Any) -> None:
    got = written(value, **options)
    assert got == expected
    if not str(got).startswith("scalar."):
        assert scalar.cell(**options)(got) is got


@pytest.mark.parametrize("kind", ["string", "enum", "object", "decimal"])
def test_a_cell_stands_for_a_number_or_a_bool(kind: str) -> None:
    with pytest.raises(OptionError):
        scalar.cell(type=kind)
