"""What may be committed, against a naive model."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocontract.kafka.ledger import PartitionLedger


def test_nothing_is_known_before_the_first_position() -> None:
    ledger = PartitionLedger()
    assert ledger.watermark is None
    assert ledger.to_commit() is None


def test_a_gap_in_acknowledgements_holds_the_watermark() -> None:
    ledger = PartitionLedger()
    for offset in (5, 6, 7):
        assert ledger.take(offset)
    ledger.resolve(5)
    ledger.resolve(7)
    assert ledger.to_commit() == 6
    ledger.resolve(6)
    assert ledger.to_commit() == 8


def test_a_gap_in_the_log_is_passed_over() -> None:
    ledger = PartitionLedger()
    for offset in (1, 2, 4, 5, 9):
        ledger.take(offset)
        ledger.resolve(offset)
    assert ledger.to_commit() == 10


def test_the_position_beyond_a_marker_is_committed() -> None:
    ledger = PartitionLedger()
    for offset in (0, 1, 2):
        ledger.take(offset)
        ledger.resolve(offset)
    ledger.read_to(4)
    assert ledger.to_commit() == 4
    ledger.committed_to(4)
    assert ledger.to_commit() is None


def test_what_is_read_again_is_not_taken_again() -> None:
    ledger = PartitionLedger()
    ledger.take(3)
    ledger.take(4)
    ledger.resolve(4)
    assert not ledger.take(3)
    assert not ledger.take(4)
    assert ledger.take(5)


def test_resolving_twice_or_what_was_never_taken() -> None:
    ledger = PartitionLedger()
    ledger.take(0)
    ledger.take(1)
    assert ledger.resolve(1)
    assert not ledger.resolve(1)
    assert ledger.resolve(0)
    assert not ledger.resolve(0)
    ledger.take(2)
    with pytest.raises(ValueError, match="never taken"):
        ledger.resolve(7)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=40), st.randoms(use_true_random=False))
def test_the_watermark_is_the_first_unresolved_offset(gaps: list[int], random: object) -> None:
    ledger = PartitionLedger()
    offsets, at = [], 0
    for gap in gaps:
        at += gap
        offsets.append(at)
        at += 1
    for offset in offsets:
        assert ledger.take(offset)
    order = list(offsets)
    random.shuffle(order)  # type: ignore[attr-defined]
    unresolved = set(offsets)
    for offset in order:
        assert ledger.resolve(offset)
        unresolved.discard(offset)
        assert ledger.watermark == (min(unresolved) if unresolved else offsets[-1] + 1)
        assert ledger.open == len(unresolved)
