"""Tallies: exact where they say so, bounded where they do not, and the same whatever the order and the split."""

from __future__ import annotations

import math
import random
import struct
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocontract.card.sketch import LIMIT, Sketch, key_of, number_of
from protocontract.card.tallies import BINS, Moments, Numbers, Texts, written
from protocontract.relations import tensor_elements
from tests.examples import examples

FINITE = st.floats(allow_nan=False, allow_infinity=False)


@given(FINITE, FINITE)
def test_keys_of_doubles_are_in_their_order(one: float, other: float) -> None:
    assert number_of(key_of(one)) == one
    assert (key_of(one) < key_of(other)) == (one < other)
    assert (key_of(one) == key_of(other)) == (one == other)


@settings(max_examples=examples(60))
@given(st.lists(st.integers(-(2**70), 2**70), max_size=60), st.randoms(use_true_random=False), st.integers(1, 5))
def test_a_sketch_is_a_function_of_what_was_counted(keys: list[int], chosen: random.Random, parts: int) -> None:
    # Dense stretches around each key, so that the limit is passed.
    numbers = [key + offset for key in keys for offset in range(0, 600, 7)]
    whole = Sketch()
    for number in numbers:
        whole.add(number)
    chosen.shuffle(numbers)
    split = [Sketch() for _ in range(parts)]
    for number in numbers:
        chosen.choice(split).add(number)
    merged = Sketch()
    for part in split:
        merged.merge(part)
    assert (merged.shift, merged.counts) == (whole.shift, whole.counts)
    assert len(whole.counts) <= LIMIT
    assert sum(whole.counts.values()) == len(numbers)
    if whole.shift:
        assert len({number >> (whole.shift - 1) for number in numbers}) > LIMIT, "no wider than it must be"


@settings(max_examples=examples(60))
@given(st.lists(st.floats(), min_size=1, max_size=200), st.integers(1, 4))
def test_numbers_merge_exactly(values: list[float], parts: int) -> None:
    whole = Numbers(whole=False)
    split = [Numbers(whole=False) for _ in range(parts)]
    for place, value in enumerate(values):
        whole.add(value)
        split[place % parts].add(value)
    merged = Numbers(whole=False)
    for part in reversed(split):
        merged.merge(part)
    report = merged.report()
    assert repr(report) == repr(whole.report())
    finite = sorted(value for value in values if math.isfinite(value))
    assert report["count"] == len(finite)
    assert report["nan"] == sum(value != value for value in values)
    assert report["infinite"] == values.count(math.inf)
    assert report["negative_infinite"] == values.count(-math.inf)
    if finite:
        assert (report["min"], report["max"]) == (finite[0], finite[-1])
        assert report["mean"] == float(sum(map(Fraction, finite)) / len(finite))
        assert sum(number for _, _, number in report["histogram"]) == len(finite)
        for name, quantile in report["quantiles"].items():
            assert quantile == finite[math.ceil(Fraction(name) * len(finite)) - 1]


@pytest.mark.parametrize("draw", [
    lambda chosen: chosen.gauss(0, 1), lambda chosen: chosen.random() * 1e-300,
    lambda chosen: chosen.paretovariate(0.3), lambda chosen: -chosen.expovariate(1e-9),
])  # fmt: skip
def test_quantiles_of_many_numbers_are_as_close_as_they_say(draw: Any) -> None:
    chosen = random.Random(5)
    values = [draw(chosen) for _ in range(20_000)]
    tally = Numbers(whole=False)
    for value in values:
        tally.add(value)
    report = tally.report()
    assert report["exact"] is False
    assert report["relative_error"] < 0.02
    values.sort()
    for name, quantile in report["quantiles"].items():
        true = values[math.ceil(Fraction(name) * len(values)) - 1]
        assert abs(quantile - true) <= report["relative_error"] * abs(true)
    assert sum(number for _, _, number in report["histogram"]) == len(values)
    assert len(report["histogram"]) <= BINS + 4


def test_whole_numbers_are_exact_and_stay_whole() -> None:
    tally = Numbers(whole=True)
    for value in range(1, 101):
        tally.add(value)
    report = tally.report()
    assert report["exact"] is True
    assert report["quantiles"]["0.05"] == 5
    assert report["quantiles"]["0.99"] == 99
    assert report["histogram"][0] == [0, 4, 4]
    assert report["histogram"][-1] == [100, 104, 1]
    assert all(isinstance(end, int) for low, high, _ in report["histogram"] for end in (low, high))


def test_a_few_outliers_do_not_squeeze_the_histogram() -> None:
    tally = Numbers(whole=True)
    for value in [*(place % 50 for place in range(5000)), 10**9]:
        tally.add(value)
    *bins, tail = tally.report()["histogram"]
    assert tail == [49 + 1, 10**9, 1]
    assert len(bins) == 10


def test_whole_numbers_beyond_doubles_do_not_claim_to_be_exact() -> None:
    tally = Numbers(whole=True)
    tally.add(2**63 - 1)
    report = tally.report()
    assert (report["max"], report["exact"]) == (2**63 - 1, False)


def test_of_the_two_zeros_there_is_one() -> None:
    for values in ([0.0, -0.0], [-0.0, 0.0]):
        tally = Numbers(whole=False)
        for value in values:
            tally.add(value)
        assert repr(tally.report()["min"]) == repr(tally.report()["max"]) == "0.0"


def test_texts_by_class() -> None:
    tally = Texts()
    for text in ("abc 1", "日本", "Ж\N{COMBINING ACUTE ACCENT}", ""):
        tally.add(text)
    report = tally.report()
    assert report["ascii"] == 2
    assert report["length"]["max"] == 5
    assert {row["class"]: (row["characters"], row["texts"]) for row in report["categories"]} == {
        "Ll": (3, 1), "Lo": (2, 1), "Lu": (1, 1), "Mn": (1, 1), "Nd": (1, 1), "Zs": (1, 1),
    }  # fmt: skip
    assert [(row["class"], row["characters"]) for row in report["alphabets"]] == [
        ("CJK", 2), ("CYRILLIC", 1), ("LATIN", 3),
    ]  # fmt: skip


def test_moments_are_exact_while_they_are_few_and_say_how_close_they_are_then() -> None:
    few, many = Moments(), Moments()
    for place in range(40):
        few.add(1_700_000_000_000_000_000 + place * 60_000_000_000)
    report = few.report()
    assert (report["exact"], report["min"]) == (True, "2023-11-14T22:13:20Z")
    assert report["histogram"][0][:2] == ["2023-11-14T22:12:00Z", "2023-11-14T22:14:00Z"]
    chosen = random.Random(2)
    values = [1_700_000_000_000_000_000 + chosen.randrange(10**16) for _ in range(5000)]
    for value in values:
        many.add(value)
    report = many.report()
    assert report["exact"] is False
    assert report["resolution_seconds"] < 10**7 / LIMIT * 2
    assert (report["min"], report["max"]) == (written(min(values)), written(max(values)))


def test_moments_beyond_the_calendar_are_seconds() -> None:
    assert written(10**21) == "1000000000000 s"
    assert written(-62_135_596_800 * 10**9) == "0001-01-01T00:00:00Z"


@pytest.mark.parametrize("dtype", tensor_elements.FORMATS)
def test_both_readers_see_the_same_extent(dtype: str) -> None:
    chosen = random.Random(3)
    code = tensor_elements.FORMATS[dtype]
    raw = bytes(chosen.getrandbits(8) for _ in range(20_000 * struct.calcsize(code)))
    if dtype == "bool":
        raw = bytes(byte & 1 for byte in raw)
    view = memoryview(raw)
    fast = tensor_elements.of_bytes(view, dtype)
    assert isinstance(fast, tensor_elements.NumPyElements)
    assert repr(fast.extent()) == repr(fast._exact.extent())
