"""Levels are judged as they are written: exactly, whatever the order of records, and never on too few."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from fractions import Fraction
from typing import Any

import pytest
from google.protobuf import timestamp_pb2
from hypothesis import given
from hypothesis import strategies as st

from protocontract.contract import StreamLevel
from protocontract.levels import (
    LiveLevels,
    RestLevels,
    Verdict,
    duration_text,
    event_seconds,
    minimum_records,
    moment_text,
    share_text,
)
from tests.verify.support import TRANSACTION, contract

WINDOW = 60.0

# Record at a whole second within a few windows: whether it is valid, and when.
records = st.lists(st.tuples(st.booleans(), st.integers(0, 400).map(float)), max_size=60)


def of(verdicts: tuple[Verdict, ...], level: str) -> Verdict:
    return next(verdict for verdict in verdicts if verdict.level == level)


# -- minimum_records


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        (StreamLevel(compliance=0.9), 10),
        (StreamLevel(compliance=0.99), 100),
        (StreamLevel(compliance=0.999), 1000),
        (StreamLevel(compliance=0.9999), 10_000),
        (StreamLevel(compliance=0.95), 20),
        (StreamLevel(compliance=0.7), 4),
        (StreamLevel(compliance=1.0), 1),
        (StreamLevel(compliance=0.0), 1),
        (StreamLevel(error_rate=0.01), 100),
        (StreamLevel(error_rate=0.0), 1),
        (StreamLevel(latency=1.0), 1),
        (StreamLevel(compliance=0.999, minimum_records=7), 7),
    ],
)
def test_fewest_records(level: StreamLevel, expected: int) -> None:
    assert minimum_records(level) == expected


@given(st.integers(1, 10**6))
def test_one_broken_record_in_the_fewest_is_what_the_level_allows(n: int) -> None:
    """ceil(1 / (1 - compliance)) of the written decimal, not of the nearest double."""
    written = Fraction(n - 1, n)
    compliance = float(round(written, 6))
    if compliance < 1:
        exact = 1 - Fraction(repr(compliance))
        assert minimum_records(StreamLevel(compliance=compliance)) == math.ceil(1 / exact)


# -- data at rest, against a plain count


def brute_missed(level: StreamLevel, given_records: list[tuple[bool, float]]) -> bool | None:
    """Whether compliance is missed, by definition; None where it cannot be judged."""
    assert level.compliance is not None
    fewest = minimum_records(level)
    if len(given_records) < fewest:
        return None
    promised = Fraction(repr(level.compliance))
    windows: dict[int, list[bool]] = defaultdict(list)
    for ok, moment in given_records:
        windows[math.floor(moment / WINDOW)].append(ok)
    groups = [[ok for ok, _ in given_records], *(group for group in windows.values() if len(group) >= fewest)]
    return any(Fraction(sum(group), len(group)) < promised for group in groups)


@pytest.mark.parametrize("compliance", [0.5, 0.75, 0.9])
@given(given_records=records)
def test_compliance_at_rest(compliance: float, given_records: list[tuple[bool, float]]) -> None:
    level = StreamLevel(compliance=compliance, window=WINDOW)
    judge = RestLevels(level)
    for ok, moment in given_records:
        judge.record(ok, moment)
    verdict = of(judge.verdicts(), "compliance")
    expected = brute_missed(level, given_records)
    assert verdict.state == {None: "unjudged", True: "missed", False: "kept"}[expected]
    if given_records:
        assert verdict.measured == sum(ok for ok, _ in given_records) / len(given_records)


@given(given_records=records, order=st.randoms(use_true_random=False))
def test_the_order_of_records_changes_nothing(given_records: list[tuple[bool, float]], order: Any) -> None:
    level = StreamLevel(compliance=0.8, error_rate=0.2, frequency=20.0, throughput=0.1, latency=1.0, window=WINDOW)
    verdicts = []
    for _ in range(2):
        judge = RestLevels(level)
        for ok, moment in given_records:
            judge.record(ok, moment)
        verdicts.append(judge.verdicts())
        order.shuffle(given_records)
    assert verdicts[0] == verdicts[1]


@given(given_records=records)
def test_error_rate_is_the_other_side_of_compliance(given_records: list[tuple[bool, float]]) -> None:
    judge = RestLevels(StreamLevel(compliance=0.8, error_rate=0.2, window=WINDOW))
    for ok, moment in given_records:
        judge.record(ok, moment)
    compliance, error_rate = judge.verdicts()
    assert compliance.state == error_rate.state


@given(moments=st.lists(st.integers(0, 1000).map(float), min_size=2, max_size=40), promised=st.integers(1, 200))
def test_frequency_is_the_longest_silence(moments: list[float], promised: int) -> None:
    judge = RestLevels(StreamLevel(frequency=float(promised)))
    for moment in moments:
        judge.record(True, moment)
    verdict = of(judge.verdicts(), "frequency")
    ordered = sorted(moments)
    longest = max(later - earlier for earlier, later in itertools.pairwise(ordered))
    if ordered[0] == ordered[-1]:
        assert verdict.state == "unjudged"
    elif longest <= promised:
        assert (verdict.state, verdict.measured) == ("kept", None)
    else:
        assert (verdict.state, verdict.measured) == ("missed", longest)


@given(moments=st.lists(st.integers(0, 600).map(float), min_size=2, max_size=60), promised=st.sampled_from([0.05, 0.1]))
def test_throughput_is_judged_on_whole_windows(moments: list[float], promised: float) -> None:
    judge = RestLevels(StreamLevel(throughput=promised, window=WINDOW))
    for moment in moments:
        judge.record(True, moment)
    verdict = of(judge.verdicts(), "throughput")
    first, last = min(moments), max(moments)
    if first == last:
        assert verdict.state == "unjudged"
        return
    counts: dict[int, int] = defaultdict(int)
    for moment in moments:
        counts[math.floor(moment / WINDOW)] += 1
    inner = range(math.floor(first / WINDOW) + 1, math.floor(last / WINDOW))
    if inner:
        kept = all(counts[index] >= promised * WINDOW for index in inner)
    else:
        kept = len(moments) / (last - first) >= promised
    assert verdict.state == ("kept" if kept else "missed")


def test_a_record_without_a_moment_counts_in_the_window_before_it() -> None:
    judge = RestLevels(StreamLevel(compliance=0.5, window=WINDOW))
    for ok, moment in [(True, 10.0), (True, 70.0), (False, None), (False, None), (False, 130.0), (True, 131.0)]:
        judge.record(ok, moment)
    verdict = of(judge.verdicts(), "compliance")
    # Three of six records are valid, and the window from 60 s holds the one valid and the two unreadable ones.
    assert verdict == Verdict(
        "compliance", "missed", 0.5, 0.5, 6,
        "1 of 2 windows of 60 s missed it, worst 33.33 % from 1970-01-01T00:01:00Z",
    )  # fmt: skip


def test_without_a_window_the_data_are_one() -> None:
    judge = RestLevels(StreamLevel(compliance=0.5))
    for place in range(10):
        judge.record(place >= 5, place * 1e6)
    assert of(judge.verdicts(), "compliance") == Verdict("compliance", "kept", 0.5, 0.5, 10)


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("protocontract.levels._MAX_WINDOWS", 10)
    monkeypatch.setattr("protocontract.levels._MAX_SILENCES", 10)
    judge = RestLevels(StreamLevel(compliance=0.5, frequency=1.0, throughput=0.05, window=WINDOW))
    for place in range(1000):
        for _ in range(3):
            judge.record(place != 500, place * WINDOW)
    assert len(judge._windows) <= 10
    compliance, frequency, throughput = judge.verdicts()
    assert compliance.state == "missed"
    assert compliance.detail.startswith("1 of 1,000 windows of 60 s missed it, worst 0.00 %")
    assert frequency.measured == WINDOW
    assert throughput.state == "kept"


# -- a live stream


@given(
    steps=st.lists(st.tuples(st.integers(0, 20), st.booleans()), min_size=1, max_size=80),
    compliance=st.sampled_from([0.5, 0.9]),
)
def test_live_compliance_forgets_what_left_the_window(steps: list[tuple[int, bool]], compliance: float) -> None:
    """Whole seconds and a window of 60 s: buckets are seconds, so the window is exact."""
    judge = LiveLevels(StreamLevel(compliance=compliance, window=60.0), started=1000.0)
    now = 1000.0
    seen: list[tuple[float, bool]] = []
    for step, ok in steps:
        now += step
        judge.record(now, ok)
        seen.append((now, ok))
        inside = [valid for moment, valid in seen if moment > now - 60]
        verdict = of(judge.verdicts(now), "compliance")
        assert verdict.records == len(inside)
        if len(inside) < judge.minimum_records:
            assert verdict.state == "unjudged"
        else:
            kept = Fraction(sum(inside), len(inside)) >= Fraction(repr(compliance))
            assert verdict.state == ("kept" if kept else "missed")


def test_live_latency_frequency_and_throughput() -> None:
    level = StreamLevel(latency=5.0, frequency=10.0, throughput=0.5, window=60.0)
    judge = LiveLevels(level, started=0.0)
    for second in range(0, 60, 2):
        judge.record(float(second), True, event_time=second - 1.0)
    latency, frequency, throughput = judge.verdicts(58.0)
    assert (latency.state, latency.measured) == ("kept", 1.0)
    assert (frequency.state, frequency.measured) == ("kept", 2.0)
    assert throughput.state == "unjudged"
    assert of(judge.verdicts(60.0), "throughput").state == "missed"
    judge.record(61.0, True, event_time=50.0)
    assert of(judge.verdicts(61.0), "latency") == Verdict("latency", "missed", 5.0, 11.0, 30)
    # Silence is noticed without a record.
    assert of(judge.verdicts(75.0), "frequency") == Verdict("frequency", "missed", 10.0, 14.0, 23)
    assert of(judge.verdicts(1000.0), "throughput") == Verdict("throughput", "missed", 0.5, 0.0, 0)


def test_a_moment_ahead_of_the_clock_is_no_negative_delay() -> None:
    judge = LiveLevels(StreamLevel(latency=5.0), started=0.0)
    judge.record(1.0, True, event_time=99.0)
    assert of(judge.verdicts(1.0), "latency").measured == 0.0


def test_a_clock_that_steps_back_stands_still() -> None:
    judge = LiveLevels(StreamLevel(compliance=0.5, frequency=5.0, window=60.0), started=100.0)
    for now in (110.0, 50.0, 111.0):
        judge.record(now, True)
    compliance, frequency = judge.verdicts(90.0)
    assert compliance.records == 3
    assert frequency.measured == 10.0


# -- words


@given(st.floats(0, 1), st.sampled_from([0.5, 0.9, 0.99, 0.999, 0.9999]))
def test_a_missed_promise_never_reads_like_a_kept_one(measured: float, promised: float) -> None:
    shown, bound = share_text(measured, promised), share_text(promised, promised)
    assert float(shown.removesuffix(" %")) / 100 <= measured + 1e-12
    if measured < promised - 1e-9:
        assert float(shown.removesuffix(" %")) < float(bound.removesuffix(" %"))


def test_words() -> None:
    assert share_text(0.9944, 0.999) == "99.44 %"
    assert share_text(0.99899999, 0.999) == "99.89 %"
    assert share_text(0.9989999999, 0.999) == "99.89 %"
    assert share_text(0.0010001, 0.001) == "0.1000 %" or share_text(0.0010001, 0.001).startswith("0.100")
    assert [duration_text(seconds) for seconds in (300, 3600, 86400, 0.25, 1.5, 90)] == [
        "300 s", "1 h", "1 d", "250 ms", "1.500 s", "90 s",
    ]  # fmt: skip
    assert moment_text(1e300).endswith("after 1970-01-01")


# -- event time


def test_event_time_is_read_from_texts_and_timestamps() -> None:
    message = contract(TRANSACTION).message_type(booked_at="2026-03-09T00:00:00.5Z")
    assert event_seconds(message, "booked_at") == 1773014400.5
    assert event_seconds(message, "") is None
    for text in ("", "2026-03-09", "2026-03-09T00:00:00", "yesterday"):
        message.booked_at = text
        assert event_seconds(message, "booked_at") is None


def test_event_time_of_a_timestamp() -> None:
    from acme.text.v1.text_contract import TEXT_SAMPLE

    sample = TEXT_SAMPLE.message_type()
    assert event_seconds(sample, "created_at") is None
    sample.created_at.CopyFrom(timestamp_pb2.Timestamp(seconds=5, nanos=500_000_000))
    assert event_seconds(sample, "created_at") == 5.5
