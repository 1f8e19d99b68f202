"""The shared cases of dirty texts, through the public function."""

from __future__ import annotations

from typing import Any

import pytest

from protocontract.normalize import text
from protocontract.violations import Normalized, OptionError, Refusal, Refused
from tests.normalize.value_contracts import cases

CASES = cases("text")

RULES = {
    "lone_surrogate": "text.surrogate",
    "html_unterminated": "text.markup",
    "bidi_control": "text.bidi",
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_case(case: dict[str, Any]) -> None:
    expected = case["expect"]
    if isinstance(expected, dict):
        with pytest.raises(Refused) as caught:
            text.normalize(case["input"], **case["context"])
        kind = expected["error"]
        assert caught.value.rule_id == RULES.get(kind, f"text.{kind}")
        assert not case["input"] or case["input"] not in str(caught.value)
        return
    result = text.normalize(case["input"], **case["context"])
    assert result.value == expected
    assert bool(result.changes) == (expected != case["input"])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_case_traced(case: dict[str, Any]) -> None:
    bound = text.normalizer(**case["context"])
    plain = bound(case["input"])
    traced = bound.traced(case["input"])
    if isinstance(plain, Refusal):
        assert traced == plain
        return
    assert isinstance(traced, tuple)
    assert traced[0] == plain == traced[1].text


def test_unchanged_text_is_the_same_object() -> None:
    bound = text.normalizer(normalize="nfkc", fold_width=True, strip_controls=True, trim=True, strip_html=True)
    for value in (
        "plain ascii text", "two\nlines", "\u4e24\n\u884c", "gr\u00fc\u00dfe aus", "\u4f60\u597d", "", "x\u200dy",
    ):  # fmt: skip
        assert bound(value) is value
        traced = bound.traced(value)
        assert isinstance(traced, tuple)
        assert traced[0] is value
        assert traced[1].is_identity
    assert bound("line\n") == bound("\nline") == "line"
    assert text.normalizer(collapse_whitespace=True)("two\nlines") == "two lines"


def test_the_value_before_is_kept() -> None:
    result = text.normalize(" a ", trim=True)
    assert isinstance(result, Normalized)
    [change] = result.changes
    assert (change.path, change.rule_id, change.before, change.after) == ("", "text", " a ", "a")


@pytest.mark.parametrize("value", [None, 5, b"bytes", ["a"], 1.5, True])
def test_what_is_no_text_is_refused(value: object) -> None:
    with pytest.raises(Refused) as caught:
        text.normalize(value, trim=True)
    assert caught.value.rule_id == "text.type"


@pytest.mark.parametrize(
    "options",
    [
        {"normalize": "nfd"},
        {"normalize": "NFC"},
        {"normalize": 1},
        {"reject": ["nothing"]},
        {"reject": "nul"},
        {"reject": [1]},
        {"reject": 5},
        {"amounts": 1},
        {"amounts": {"no_such": 1}},
    ],
)
def test_wrong_options(options: dict[str, Any]) -> None:
    with pytest.raises(OptionError):
        text.normalizer(**options)


def test_reject_empty() -> None:
    bound = text.normalizer(trim=True, reject_empty=True)
    for value in ("", "  ", "\u3000"):
        refusal = bound(value)
        assert isinstance(refusal, Refusal)
        assert refusal.rule_id == "text.empty"
        assert bound.traced(value) == refusal
    assert bound("a") == "a"


# The form is restored where a later step brings together what composes, so that a second pass changes nothing.
@pytest.mark.parametrize(
    ("value", "options", "expected"),
    [
        ("\uff21\u0301", {"normalize": "nfc", "fold_width": True}, "\u00c1"),
        ("e\x01\u0301", {"normalize": "nfc", "strip_controls": True}, "\u00e9"),
        ("\uff21\u0301", {"fold_width": True}, "A\u0301"),
    ],
)
def test_the_form_is_restored(value: str, options: dict[str, Any], expected: str) -> None:
    assert text.normalize(value, **options).value == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("\uff76\uff9e", "\u30ac"),  # Both half-width.
        ("\u304b\uff9e", "\u304c"),  # Hiragana before.
        ("\uff8a\uff9f", "\u30d1"),
        ("\uff8a\uff9e\uff9e", "\u30d0\u3099"),  # Only one mark joins.
        ("\u3042\uff9e", "\u3042\u3099"),  # Nothing to compose to.
        ("\u304b\u3099", "\u304b\u3099"),  # Not folded, so not joined.
        ("\uff9e", "\u3099"),
        ("x\uff9e", "x\u3099"),
        ("\uffa1\uffc2", "\u3131\u314f"),  # Half-width jamo become compatibility jamo.
        ("\uffe3", "\u00af"),
    ],
)
def test_fold_width(value: str, expected: str) -> None:
    assert text.normalize(value, fold_width=True).value == expected


@pytest.mark.parametrize(
    ("value", "refused"),
    [
        ("\U0001f3f4\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f", False),
        ("\U0001f3f4\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073", True),  # No cancel tag.
        ("\U0001f600\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f", True),  # No flag.
        ("\U0001f3f4" + "".join(chr(0xE0000 + ord(c)) for c in "ignore me") + "\U000e007f", True),
        ("\U000e0001", True),
    ],
)
def test_tags(value: str, refused: bool) -> None:
    assert isinstance(text.normalizer(reject=["tag"])(value), Refusal) == refused
