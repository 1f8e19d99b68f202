"""The label normalizer: aliases, class numbers, options."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocontract.normalize import label
from protocontract.violations import OptionError, Refusal, Refused
from tests.examples import examples

SENTIMENT = {"NEGATIVE": ["neg", "0", "负面"], "POSITIVE": ["pos", "1", "正面", "Straße"]}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("POSITIVE", "POSITIVE"),
        (" pos\u3000", "POSITIVE"),
        ("ＰＯＳ", "POSITIVE"),
        ("STRASSE", "POSITIVE"),
        ("0", "NEGATIVE"),
        (0, "NEGATIVE"),
        ("负面", "NEGATIVE"),
    ],
)
def test_aliases(value: Any, expected: str) -> None:
    assert label.normalize(value, aliases=SENTIMENT).value == expected


@pytest.mark.parametrize("value", ["", "posi", "pos\u200b", "pos\x1c", "\ud800", 7, 1 << 80, None, 1.0, True, ["pos"]])
def test_what_is_no_label_is_refused(value: Any) -> None:
    with pytest.raises(Refused) as refused:
        label.normalize(value, aliases=SENTIMENT)
    assert refused.value.rule_id == "label.unknown"


def test_the_label_itself_is_the_same_object() -> None:
    value = "".join(["POSI", "TIVE"])
    normalized = label.normalize(value, aliases=SENTIMENT)
    assert normalized.value is value
    assert normalized.changes == ()
    assert label.normalize("pos", aliases=SENTIMENT).changes[0].after == "POSITIVE"


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (0, True),
        (2, True),
        (-100, True),
        (3, False),
        (-1, False),
        (-101, False),
    ],
)
def test_class_numbers(value: int, kept: bool) -> None:
    result = label.normalizer(num_classes=3, ignore_index=-100)(value)
    assert (result == value) if kept else isinstance(result, Refusal)


@pytest.mark.parametrize(
    "options",
    [
        {"aliases": {"A": ["x"], "B": ["Ｘ "]}},
        {"aliases": {"A": ["b"], "B": []}},
        {"aliases": {"A": [" "]}},
        {"aliases": {"A": "abc"}},
        {"num_classes": -1},
        {"num_classes": True},
        {"ignore_index": -100},
        {"num_classes": 3, "ignore_index": 1 << 63},
    ],
)
def test_wrong_options_are_option_errors(options: dict[str, Any]) -> None:
    with pytest.raises(OptionError):
        label.normalizer(**options)


@settings(max_examples=examples(1000), derandomize=True)
@given(st.text(max_size=8) | st.sampled_from(("pos", "ＮＥＧ", "正面", " 1 ")))
def test_no_text_crashes_and_twice_is_once(value: str) -> None:
    twin = label.normalizer(aliases=SENTIMENT)
    result = twin(value)
    if not isinstance(result, Refusal):
        assert twin(result) is result
