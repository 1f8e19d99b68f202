"""Properties of spans: units, overlap and moving, each against a slow definition, and linear time."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocontract.normalize import text as text_normalizer
from protocontract.normalize.unicode_data import WHITE_SPACE
from protocontract.relations import spans
from protocontract.relations._overlap import conflicts
from protocontract.violations import Refusal, Refused
from tests.normalize.strategies import PROPERTY, any_texts, merged, steps, stripping, texts
from tests.support.timing import seconds, within

units = st.sampled_from(["code_point", "utf8_byte", "utf16"])


def boundaries(value: str, unit: str) -> list[int]:
    """The offset of each place between characters, in the unit."""
    if unit == "utf8_byte":
        return [len(value[:place].encode()) for place in range(len(value) + 1)]
    if unit == "utf16":
        return [len(value[:place].encode("utf-16-le")) // 2 for place in range(len(value) + 1)]
    return list(range(len(value) + 1))


@PROPERTY
@given(texts, units, st.lists(st.tuples(st.integers(-1, 60), st.integers(-1, 60)), max_size=5), st.booleans())
def test_check_against_definition(value: str, unit: str, given: list[tuple[int, int]], edges: bool) -> None:
    places = boundaries(value, unit)
    expected: list[tuple[str, int]] = []
    for index, (start, end) in enumerate(given):
        if start > end:
            expected.append(("spans.order", index))
        elif start < 0 or end > places[-1]:
            expected.append(("spans.bounds", index))
        elif start not in places or end not in places:
            expected.append(("spans.boundary", index))
        elif start == end:
            expected.append(("spans.empty", index))
        elif edges and (value[places.index(start)] in WHITE_SPACE or value[places.index(end) - 1] in WHITE_SPACE):
            expected.append(("spans.edge", index))
    bound = spans.checker(unit=unit, allow_overlap=True, no_edge_whitespace=edges)
    found = bound(value, [start for start, _ in given], [end for _, end in given]) or []
    assert [(each.rule_id, each.index) for each in found] == expected


@PROPERTY
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)).map(lambda pair: (min(pair), max(pair))), max_size=12))
def test_conflicts_against_definition(places: list[tuple[int, int]]) -> None:
    def overlap(one: tuple[int, int], two: tuple[int, int]) -> bool:
        return one[0] < two[1] and two[0] < one[1]

    def cross(one: tuple[int, int], two: tuple[int, int]) -> bool:
        return one[0] < two[0] < one[1] < two[1] or two[0] < one[0] < two[1] < one[1]

    for nesting, conflict in ((False, overlap), (True, cross)):
        expected = [
            index for index, place in enumerate(places) if any(conflict(other, place) for other in places[:index])
        ]
        assert conflicts(places, allow_nesting=nesting) == expected


def attempt(*arguments: Any, **options: Any) -> object:
    try:
        return spans.remap(*arguments, **options)
    except Refused as refused:
        return refused


@PROPERTY
@given(texts, steps, units, st.data())
def test_moved_surface_is_the_normalised_surface(
    value: str, options: dict[str, Any], unit: str, data: st.DataObject
) -> None:
    """For every combination of steps a span's new text is what its old text normalises to, or the span is lost."""
    places = boundaries(value, unit)
    start = data.draw(st.integers(0, len(value)))
    end = data.draw(st.integers(start, len(value)))
    span = {"start": places[start], "end": places[end], "surface": value[start:end]}
    result: Any = attempt(value, [span], unit=unit, **options)
    if isinstance(result, Refused):
        assert (result.rule_id, result.index) == ("spans.lost", 0)
        return
    new, [moved] = result
    assert new == text_normalizer.normalize(value, **options).value
    new_places = boundaries(new, unit)
    surface = new[new_places.index(moved["start"]) : new_places.index(moved["end"])]
    assert moved["surface"] == surface
    # The ends of the text alone are trimmed, not those of a span inside.
    alone = text_normalizer.normalize(value[start:end], **{**options, "trim": False}).value
    if options["trim"]:
        assert surface.strip(WHITE_SPACE) == alone.strip(WHITE_SPACE)
        assert surface in alone
    else:
        assert surface == alone


@PROPERTY
@given(any_texts, steps, stripping, units, st.lists(st.tuples(st.integers(-2, 20), st.integers(-2, 20)), max_size=4))
def test_moved_spans_are_sound_and_keep_their_order(
    value: str, one: dict[str, Any], two: dict[str, Any], unit: str, given: list[tuple[int, int]]
) -> None:
    """Whatever the steps: a moved span lies in the new text, on boundaries, and what was in order stays in order."""
    traced = text_normalizer.normalizer(**merged(one, two)).traced(value)
    if isinstance(traced, Refusal):
        return
    new, edit_map = traced
    moved = spans.remapper(unit=unit)(value, edit_map, [start for start, _ in given], [end for _, end in given])
    if isinstance(moved, list):
        assert moved
        return
    starts, ends = moved
    assert spans.checker(unit=unit, allow_overlap=True, allow_empty=True)(new, starts, ends) is None
    assert [start == end for start, end in zip(starts, ends, strict=True)] == [left == right for left, right in given]
    real = sorted((left, right, start, end) for (left, right), start, end in zip(given, starts, ends, strict=True)
                  if left < right)  # fmt: skip
    for one_span, next_span in pairwise(real):
        assert one_span[2] <= next_span[2]
        assert one_span[1] > next_span[1] or one_span[3] <= next_span[3]


def test_linear() -> None:
    piece = "  <b>caf\u0065\u0301</b> &amp; \uff76\uff9e \U0001f600 x"
    bound = text_normalizer.normalizer(
        strip_html=True, normalize="nfc", fold_width=True, collapse_whitespace=True, trim=True
    )

    def moved_along(count: int) -> Callable[[], None]:
        value = piece * count
        size = len(piece.encode())
        place = piece.encode().index(b"caf")
        starts = [place + size * index for index in range(count)]
        ends = [start + 6 for start in starts]

        def work() -> None:
            traced = bound.traced(value)
            assert isinstance(traced, tuple)
            moved = spans.remapper(unit="utf8_byte")(value, traced[1], starts, ends)
            assert isinstance(moved, tuple)
            assert spans.checker(unit="utf8_byte")(traced[0], *moved) is None
            assert spans.checker(unit="utf8_byte")(traced[0], moved[0][::-1], moved[1][::-1]) is None

        return work

    moved_along(100)()
    small = max(seconds(moved_along(1_000)), 0.002)
    assert within(16 * 5 * small, moved_along(16_000))


@pytest.mark.parametrize("nesting", [False, True])
def test_many_conflicts_in_little_time(nesting: bool) -> None:
    starts = [(index * 7919) % 50_000 for index in range(50_000)]
    places = [(start, start + 3) for start in starts]
    began = time.process_time()
    assert len(conflicts(places, allow_nesting=nesting)) > 10_000
    assert time.process_time() - began < 20
