"""Properties of the text normalizer, and its edits against slow definitions."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unicodedata2 import category, combining, decomposition, normalize

from protocontract.normalize import text
from protocontract.normalize.composition import normalization_edits, width_edits
from protocontract.normalize.edits import Edit, EditMap, splice
from protocontract.normalize.unicode_data import WHITE_SPACE, Form, clusters, width_table
from protocontract.violations import Refusal
from tests.normalize.strategies import PROPERTY, any_texts, merged, rejecting, steps, stripping, texts


@PROPERTY
@given(any_texts, steps, stripping, rejecting)
def test_never_raises_and_traces_alike(
    value: str, one: dict[str, Any], two: dict[str, Any], three: dict[str, Any]
) -> None:
    bound = text.normalizer(**merged(one, two, three))
    result = bound(value)
    traced = bound.traced(value)
    if any("\ud800" <= each <= "\udfff" for each in value):
        assert isinstance(result, Refusal)
    if isinstance(result, Refusal):
        assert traced == result
        return
    assert isinstance(traced, tuple)
    assert traced[0] == result == traced[1].text
    assert (result is value) == (result == value) == (traced[0] is value)


@PROPERTY
@given(texts, steps)
def test_twice_is_once(value: str, options: dict[str, Any]) -> None:
    bound = text.normalizer(**options)
    once = bound(value)
    assert isinstance(once, str)
    assert bound(once) is once


@PROPERTY
@given(texts, steps)
def test_result_against_definitions(value: str, options: dict[str, Any]) -> None:
    expected = value
    form = {"nfc": "NFC", "nfkc": "NFKC", None: None}[options["normalize"]]
    if form:
        expected = normalize(form, expected)
    if options["fold_width"]:
        expected = slow_fold(expected)
    if options["strip_controls"]:
        expected = "".join(each for each in expected if category(each) != "Cc" or each in WHITE_SPACE)
    if form:
        expected = normalize(form, expected)
    if options["collapse_whitespace"]:
        collapsed = ""
        for each in expected:
            if each in WHITE_SPACE:
                collapsed += "" if collapsed.endswith(" ") else " "
            else:
                collapsed += each
        expected = collapsed
    if options["trim"]:
        while expected and expected[0] in WHITE_SPACE:
            expected = expected[1:]
        while expected and expected[-1] in WHITE_SPACE:
            expected = expected[:-1]
    assert text.normalizer(**options)(value) == expected


def slow_fold(value: str) -> str:
    result = ""
    for each in value:
        mapping = decomposition(each)
        if not mapping.startswith(("<wide>", "<narrow>")):
            result += each
            continue
        folded = "".join(chr(int(point, 16)) for point in mapping.split()[1:])
        joined = normalize("NFC", result[-1:] + folded)
        if result and folded in "\u3099\u309a" and len(joined) == 1:
            result = result[:-1] + joined
        else:
            result += folded
    return result


def assert_exact(value: str, edits: list[Edit], apply: Any) -> None:
    """A stretch begins or ends exactly where both sides of the place can be treated on their own."""
    whole = apply(value)
    assert splice(value, edits) == whole
    edit_map = EditMap(whole, [edits])
    for start in range(len(value) + 1):
        before = apply(value[:start])
        apart = before + apply(value[start:]) == whole
        assert (edit_map.map_span(start, start) is not None) == apart
        if not apart:
            continue
        for end in range(start + 1, len(value) + 1):
            if apply(value[:end]) + apply(value[end:]) == whole:
                image = (len(before), len(apply(value[:end])))
                assert edit_map.map_span(start, end) == (image if image[0] < image[1] else None)
            else:
                assert edit_map.map_span(start, end) is None


@PROPERTY
@given(texts, st.sampled_from(["NFC", "NFKC"]))
def test_normalization_edits_are_exact(value: str, form: Form) -> None:
    assert_exact(value, normalization_edits(form, value), lambda part: normalize(form, part))


@PROPERTY
@given(texts)
def test_width_edits_are_exact(value: str) -> None:
    assert_exact(value, width_edits(value), slow_fold)


@pytest.mark.parametrize("form", ["NFC", "NFKC"])
def test_clusters_miss_nothing(form: Form) -> None:
    """Every character that normalization changes, moves or composes with another is found."""
    pattern = clusters(form)
    for point in range(sys.maxunicode + 1):
        character = chr(point)
        if 0xD800 <= point <= 0xDFFF:
            continue
        if normalize(form, character) != character:
            assert pattern.search(character), f"{point:04X}"
        if combining(character):
            assert pattern.search("a" + character), f"{point:04X}"
        canonical = normalize("NFD", character)
        if len(canonical) > 1 and normalize("NFC", character) == character:
            assert pattern.search(canonical), f"{point:04X}"


def test_width_table_is_whole() -> None:
    expected = {
        point for point in range(sys.maxunicode + 1) if decomposition(chr(point)).startswith(("<wide>", "<narrow>"))
    }
    assert width_table().keys() == expected
    assert all(len(folded) == 1 for folded in width_table().values())


def test_control_classes() -> None:
    controls = [chr(point) for point in range(sys.maxunicode + 1) if category(chr(point)) == "Cc"]
    stripped = text.normalizer(strip_controls=True)("".join(controls))
    assert stripped == "".join(each for each in controls if each in WHITE_SPACE)


@PROPERTY
@given(st.lists(st.sampled_from([
    ("&amp;", "&"), ("&#x301;", "\u0301"), ("&eacute;", "\u00e9"), ("&nbsp;", "\u00a0"), ("<b>", ""), ("</p>", " "),
    ("<br>", " "), ("<!-- x -->", ""), ("<script>a<b</script>", ""), ("<a href='>'>", ""), ("a", "a"),
    ("\u4f60", "\u4f60"), (" < ", " < "), ("e", "e"),
]), max_size=10), st.data())  # fmt: skip
def test_html_map(parts: list[tuple[str, str]], data: st.DataObject) -> None:
    """Spans that begin and end between parts cover what becomes of those parts."""
    value = "".join(source for source, _ in parts)
    traced = text.normalizer(strip_html=True).traced(value)
    assert isinstance(traced, tuple)
    start = data.draw(st.integers(0, len(parts)))
    end = data.draw(st.integers(start, len(parts)))
    assert traced[0] == "".join(result for _, result in parts)
    place = [sum(len(source) for source, _ in parts[:edge]) for edge in (start, end)]
    image = [sum(len(result) for _, result in parts[:edge]) for edge in (start, end)]
    expected = tuple(image) if image[0] < image[1] or start == end else None
    assert traced[1].map_span(*place) == expected
