"""Scalars: no text crashes, and Python's own arithmetic agrees where it is exact."""

from __future__ import annotations

import base64
import json
import math
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocontract.normalize import scalar
from protocontract.violations import Refusal
from tests.examples import examples

TYPES = (*scalar.INTEGERS, "float", "double", "bool", "string", "bytes", "enum", "label_id")
TOKENS = st.lists(
    st.sampled_from(
        (
            '"',
            "1",
            "0",
            "-",
            "+",
            ".",
            "e",
            "E",
            "9999999999",
            "true",
            "null",
            "NaN",
            "[",
            "]",
            "{",
            "}",
            ":",
            ",",
            " ",
            "\\u0041",
            "\\ud800",
            "１",
            "\x00",
            "=",
            "AQI",
            "_",
        )
    ),
    max_size=10,
)
SOURCES = TOKENS.map("".join) | st.text(max_size=20)


@pytest.mark.parametrize("form", ["json", "text"])
@settings(max_examples=examples(1000), deadline=None, derandomize=True)
@given(value=SOURCES, kind=st.sampled_from(TYPES), fold=st.booleans(), exact=st.booleans(), finite=st.booleans())
def test_no_text_crashes(form: str, value: str, kind: str, fold: bool, exact: bool, finite: bool) -> None:
    extra: dict[str, Any] = {"num_classes": 3} if kind == "label_id" else {"enum": {"A": 1}} if kind == "enum" else {}
    twin = scalar.normalizer(form=form, type=kind, fold_width=fold, exact=exact, finite=finite, **extra)
    result = twin(value)
    if isinstance(result, Refusal):
        # A short text may be a word of the message by chance: "a number".
        assert len(value) < 12 or value not in result.message


@settings(max_examples=examples(1000), derandomize=True)
@given(st.integers(-(1 << 70), 1 << 70), st.integers(0, 6), st.integers(-12, 12), st.booleans())
def test_integers_are_exact(number: int, zeros: int, exponent: int, quoted: bool) -> None:
    written = f"{number}.{'0' * zeros}e{exponent}" if zeros else f"{number}e{exponent}"
    result = scalar.normalizer(type="int64")(f'"{written}"' if quoted else written)
    exact = Decimal(number).scaleb(exponent)
    if isinstance(result, Refusal):
        assert exact != exact.to_integral_value() or not -(1 << 63) <= exact < 1 << 63
    else:
        assert Decimal(result) == exact


@settings(max_examples=examples(1000), derandomize=True)
@given(st.floats(allow_nan=False, allow_infinity=False), st.booleans())
def test_doubles_survive(number: float, exact: bool) -> None:
    result = scalar.normalize(json.dumps(number), type="double").value
    assert result == number
    digits = format(Decimal(number), "f")
    assert scalar.normalize(digits, type="double", exact=exact).value == number


@settings(max_examples=examples(1000), derandomize=True)
@given(st.binary(max_size=40), st.booleans(), st.booleans())
def test_base64_survives(raw: bytes, url_safe: bool, padded: bool) -> None:
    text = (base64.urlsafe_b64encode if url_safe else base64.b64encode)(raw).decode()
    assert scalar.from_base64(text if padded else text.rstrip("=")) == raw


@settings(max_examples=examples(1000), derandomize=True)
@given(value=st.floats(allow_nan=False), kind=st.sampled_from(["float", "double"]))
def test_a_cell_keeps_the_number_and_is_left_alone(value: float, kind: str) -> None:
    """In plain digits, however large or small; the second time nothing changes."""
    canonical = scalar.cell(type=kind, finite=False)
    once = canonical("Infinity" if value == math.inf else "-Infinity" if value == -math.inf else f"{Decimal(value):f}")
    if isinstance(once, Refusal):
        assert (kind, once.rule_id) == ("float", "scalar.range")
        return
    assert canonical(once) is once
    assert float(once) == value or kind == "float"
    assert "e" not in once
