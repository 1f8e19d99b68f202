"""The failure scenarios: where their functions are entered, which tests stand for which, and what they share."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

#: What tests/cases/kafka.json lists.
CASES: Final[dict[str, dict[str, Any]]] = {
    case["id"]: case
    for case in json.loads((Path(__file__).parents[1] / "cases" / "kafka.json").read_text(encoding="utf-8"))[
        "scenarios"
    ]
}
#: What was found beyond it.
MORE: Final[dict[str, dict[str, Any]]] = {
    "P01": {
        "title": "Partition that stays with its member through a rebalance",
        "guarantees": ["G1", "G5", "G7", "G11"],
    },
    "P02": {"title": "Zombie: a member stopped past its session timeout goes on", "guarantees": ["G1", "G7", "G12"]},
    "P03": {"title": "Everything at once: make chaos", "guarantees": ["G1", "G4", "G5", "G7", "G11"]},
}
#: Tests with a name of their own that stand for scenarios, here or in another folder.
STANDS_FOR: Final[dict[str, tuple[str, ...]]] = {
    "test_k16_an_unknown_schema_id": ("K16",),
    "test_a_dead_letter_topic_that_is_missing_or_vanishes": ("K24",),
    "test_a_dead_letter_topic_behind_a_broken_network": ("K27", "K28"),
    "test_two_members_share_and_take_over": ("K44",),
    "test_a_member_that_was_thrown_out": ("K46",),
    "test_transaction_markers_leave_no_lag": ("K53", "K54"),
    "test_a_compacted_topic": ("K55",),
    "test_an_unclean_election": ("K58",),
    "test_a_log_that_was_cut_off_is_read_from_there": ("K58",),
    "test_leaders_change": ("K59",),
    "test_a_corrupt_batch": ("K60",),
    "test_a_codec_that_is_missing": ("K61",),
    "test_a_64_mib_record": ("K63",),
    "test_pause_and_resume": ("K65",),
    "test_the_process_ends_well_on_sigterm": ("K68",),
    "test_the_process_says_so_when_a_dead_letter_is_left_at_sigterm": ("K70",),
    "test_k75_a_restart_does_not_close_the_breaker": ("K75",),
    "test_k77_the_breaker_is_its_partitions_own": ("K77",),
    "test_k80_the_clock_of_latency_is_told": ("K80",),
    "test_k80_and_k82_the_clock_and_both_delays_are_told": ("K80", "K82"),
    "test_k82_delays_are_told_apart": ("K82",),
    "test_k86_a_record_is_not_replayed_for_ever": ("K86",),
    "test_what_was_fetched_is_not_skipped_when_a_partition_comes_back": ("P01",),
    "test_partitions_that_stay": ("P01",),
    "test_an_evicted_member_handles_and_commits_nothing_more": ("P02",),
    "test_a_zombie": ("P02",),
    "test_a_zombie_is_fenced": ("P02",),
    "test_nothing_is_lost": ("P03",),
}

SCENARIOS: dict[str, Callable[[], None]] = {}


def scenario(function: Callable[[], None]) -> Callable[[], None]:
    """Enter a scenario into the table under its function's name."""
    SCENARIOS[function.__name__.upper()] = function
    return function


def offsets(records: list[Any]) -> list[int]:
    """Their offsets."""
    return [record.offset for record in records]


def until(condition: Callable[[], bool]) -> None:
    """Wait for what another thread does, two minutes at most."""
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)
