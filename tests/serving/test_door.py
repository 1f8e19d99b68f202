"""Tokens by a clock of the test's own, and by real threads."""

from __future__ import annotations

import itertools
import threading

import pytest

from protocontract.serving import TokenBucket


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_s17_threads_get_what_the_rate_gives_and_no_more() -> None:
    """100 a second and a burst of 20, for 10 s: the clock moves while 64 threads take."""
    clock = Clock()
    bucket = TokenBucket(100, 20, clock)
    granted: list[int] = []
    over = threading.Event()

    def work() -> None:
        count = 0
        while not over.is_set():
            count += bucket.take()
        granted.append(count)

    threads = [threading.Thread(target=work) for _ in range(64)]
    for thread in threads:
        thread.start()
    for _ in range(1000):
        clock.now += 0.01
        # What is there at this moment is taken before the clock moves on.
        while bucket.take():
            granted.append(1)
    over.set()
    for thread in threads:
        thread.join()
    assert 1_019 <= sum(granted) <= 1_020


def test_s17_never_above_the_burst() -> None:
    clock = Clock()
    bucket = TokenBucket(100, 20, clock)
    clock.now += 3600
    assert sum(bucket.take() for _ in range(100)) == 20


def test_s18_refused_calls_do_not_delay_the_refill() -> None:
    clock = Clock()
    bucket = TokenBucket(1, 1, clock)
    granted = []
    for millisecond in range(10_000):
        clock.now = 1000.0 + millisecond / 1000
        if bucket.take():
            granted.append(millisecond)
    assert len(granted) == 10
    assert all(second - first in (1000, 1001) for first, second in itertools.pairwise(granted))


def test_a_clock_read_earlier_does_not_rewind_the_bucket() -> None:
    clock = Clock()
    bucket = TokenBucket(1, 2, clock)
    assert [bucket.take(), bucket.take(), bucket.take()] == [True, True, False]
    clock.now += 1.0
    assert bucket.take()
    clock.now -= 0.5
    assert not bucket.take()
    clock.now += 0.5
    assert not bucket.take()


@pytest.mark.parametrize(("rate", "burst"), [(-1.0, 1), (1.0, 0)])
def test_a_bucket_that_gives_nothing_is_refused(rate: float, burst: int) -> None:
    with pytest.raises(ValueError, match="rate: expected"):
        TokenBucket(rate, burst)
