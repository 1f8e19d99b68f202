"""Which records are drawn: by content and seed, each once, never in both sets."""

from __future__ import annotations

import random

import pytest

from protocontract.calibrate.reservoir import Reservoir, Size

RECORDS = [f"record {number}".encode() for number in range(4000)]


def drawn(records: list[bytes], take: str, hold_out: str, seed: int = 0) -> tuple[list[bytes], list[bytes]]:
    reservoir = Reservoir(Size.parse(take), Size.parse(hold_out), seed)
    for record in records:
        reservoir.add(record)
    calibration, held_out = reservoir.drawn()
    return calibration, held_out


@pytest.mark.parametrize(("take", "hold_out"), [("100", "400"), ("2%", "10 %"), ("1", "1")])
def test_order_and_repetition_do_not_matter(take: str, hold_out: str) -> None:
    expected = drawn(RECORDS, take, hold_out)
    chosen = random.Random(1)
    for _ in range(3):
        again = [*RECORDS, *chosen.choices(RECORDS, k=5000)]
        chosen.shuffle(again)
        assert drawn(again, take, hold_out) == expected
    assert not set(expected[0]) & set(expected[1])
    assert drawn(RECORDS, take, hold_out, seed=1) != expected


def test_numbers_and_shares() -> None:
    calibration, held_out = drawn(RECORDS, "100", "400")
    assert (len(calibration), len(held_out)) == (100, 400)
    calibration, held_out = drawn(RECORDS, "5%", "20%")
    assert 150 < len(calibration) < 250
    assert 700 < len(held_out) < 900
    calibration, held_out = drawn(RECORDS[:120], "100", "400")
    assert (len(calibration), len(held_out)) == (100, 20)


def test_more_records_change_what_is_drawn_as_little_as_they_can() -> None:
    calibration, _ = drawn(RECORDS[:2000], "5%", "5%")
    more, _ = drawn(RECORDS, "5%", "5%")
    assert set(calibration) == set(more) & set(RECORDS[:2000])


def test_any_record_is_as_likely_as_any_other() -> None:
    counts = [0, 0]
    for seed in range(40):
        calibration, _ = drawn(RECORDS[:400], "40", "1", seed)
        for record in calibration:
            counts[RECORDS.index(record) >= 200] += 1
    assert sum(counts) == 1600
    assert abs(counts[0] - counts[1]) < 160  # four standard deviations


@pytest.mark.parametrize("text", ["", "0", "-1", "1.5", "0%", "101%", "1e3", "ten", "100 records"])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        Size.parse(text)


@pytest.mark.parametrize(("take", "hold_out", "error"), [
    ("10", "1%", "a number and a share"), ("60%", "50%", "more than all records"),
])  # fmt: skip
def test_sizes_that_do_not_fit(take: str, hold_out: str, error: str) -> None:
    with pytest.raises(ValueError, match=error):
        Reservoir(Size.parse(take), Size.parse(hold_out), 0)


@pytest.mark.parametrize("text", ["100", "1%", "0.25%"])
def test_sizes_as_text(text: str) -> None:
    assert str(Size.parse(text)) == text
