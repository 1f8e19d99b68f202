"""The shared cases of spans, and the public functions' manners."""

from __future__ import annotations

import dataclasses
from collections import namedtuple
from types import SimpleNamespace
from typing import Any

import pytest

from protocontract.normalize import text as text_normalizer
from protocontract.relations import spans
from protocontract.violations import OptionError, Refusal, Refused
from tests.normalize.value_contracts import cases

CASES = cases("spans")

RULES = {"edge_whitespace": "spans.edge", "split": "spans.lost", "vanished": "spans.lost"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_case(case: dict[str, Any]) -> None:
    given, expected, context = case["input"], case["expect"], dict(case["context"])
    task, options = context.pop("task"), context.pop("options", {})

    def run() -> Any:
        if task == "validate":
            return spans.check(given["text"], given["spans"], **context)
        return spans.remap(given["text"], given["spans"], **context, **options)

    if "error" in expected:
        with pytest.raises(Refused) as caught:
            run()
        assert caught.value.rule_id == RULES.get(expected["error"], f"spans.{expected['error']}")
        assert caught.value.index == expected["span"]
        return
    result = run()
    if task == "validate":
        assert expected == {"valid": True}
        assert result is None
    else:
        assert {"text": result[0], "spans": result[1]} == expected


@dataclasses.dataclass(frozen=True)
class Frozen:
    start: int
    end: int
    label: str
    surface: str


Named = namedtuple("Named", "start end surface")


def test_spans_of_every_kind() -> None:
    given = [
        {"start": 0, "end": 5, "label": "X", "surface": "cafe\u0301"},
        Frozen(0, 5, "X", "cafe\u0301"),
        Named(0, 5, "cafe\u0301"),
        SimpleNamespace(start=0, end=5, surface="cafe\u0301"),
        SimpleNamespace(start=0, end=5),
    ]
    spans.check("cafe\u0301 x", given, unit="code_point", allow_overlap=True)
    new_text, moved = spans.remap("cafe\u0301 x", given, unit="code_point", normalize="nfc")
    assert new_text == "caf\u00e9 x"
    assert moved == [
        {"start": 0, "end": 4, "label": "X", "surface": "caf\u00e9"},
        Frozen(0, 4, "X", "caf\u00e9"),
        Named(0, 4, "caf\u00e9"),
        SimpleNamespace(start=0, end=4, surface="caf\u00e9"),
        SimpleNamespace(start=0, end=4),
    ]
    assert given[0] == {"start": 0, "end": 5, "label": "X", "surface": "cafe\u0301"}


@pytest.mark.parametrize(
    ("text", "given", "rule"),
    [
        (5, [], "text.type"),
        ("a\ud800", [], "text.surrogate"),
        ("abc", 5, "spans.bounds"),
        ("abc", [None], "spans.bounds"),
        ("abc", [{}], "spans.bounds"),
        ("abc", [{"start": 0}], "spans.bounds"),
        ("abc", [{"start": "0", "end": "1"}], "spans.bounds"),
        ("abc", [{"start": False, "end": True}], "spans.bounds"),
        ("abc", [{"start": 0.0, "end": 1.0}], "spans.bounds"),
        ("abc", [{"start": -1, "end": 1}], "spans.bounds"),
        ("abc", [{"start": 0, "end": 10**30}], "spans.bounds"),
        ("abc", [{"start": 0, "end": 1, "surface": 5}], "spans.surface"),
        ("abc", [{"start": 0, "end": 1, "surface": ""}], "spans.surface"),
        ("abc", [{"start": 0, "end": 1, "surface": "ab"}], "spans.surface"),
    ],
)
@pytest.mark.parametrize("unit", ["code_point", "utf8_byte", "utf16"])
def test_nothing_but_a_refusal(text: Any, given: Any, rule: str, unit: str) -> None:
    for function in (spans.check, spans.remap):
        with pytest.raises(Refused) as caught:
            function(text, given, unit=unit)
        assert caught.value.rule_id == rule


@pytest.mark.parametrize("options", [{"unit": "byte"}, {"unit": 1}, {"order": "down"}, {"order": 1}, {"order": []}])
def test_wrong_options(options: dict[str, Any]) -> None:
    with pytest.raises(OptionError):
        spans.checker(**options)


def test_surface_is_compared_with_the_raw_text() -> None:
    with pytest.raises(Refused) as caught:
        spans.remap("cafe\u0301", [{"start": 0, "end": 5, "surface": "caf\u00e9"}], normalize="nfc")
    assert (caught.value.rule_id, caught.value.index) == ("spans.surface", 0)


def test_all_problems_are_reported() -> None:
    found = spans.checker(no_edge_whitespace=True)(
        "ab cd \U0001f600", [0, 5, 0, 2, 3, 1, 0], [2, 3, 99, 3, 3, 4, 2], [None, None, None, None, None, "b c", "xx"]
    )
    assert found is not None
    assert [(each.rule_id, each.index) for each in found] == [
        ("spans.order", 1),
        ("spans.bounds", 2),
        ("spans.edge", 3),
        ("spans.empty", 4),
        ("spans.surface", 6),
        ("spans.overlap", 5),
    ]
    assert spans.checker()("abc", [], []) is None


def test_order_by_start() -> None:
    bound = spans.checker(order="by_start", allow_overlap=True)
    assert bound("abcdef", [0, 0, 3], [3, 2, 4]) is None
    found = bound("abcdef", [0, 3, 2], [1, 4, 3])
    assert found is not None
    assert [(each.rule_id, each.index) for each in found] == [("spans.order", 2)]


@pytest.mark.parametrize(
    ("places", "overlap", "crossing"),
    [
        ([(0, 4), (1, 3)], [1], []),
        ([(1, 3), (0, 4)], [1], []),
        ([(0, 4), (0, 4)], [1], []),
        ([(0, 4), (4, 6)], [], []),
        ([(0, 3), (2, 5)], [1], [1]),
        ([(2, 5), (0, 3)], [1], [1]),
        ([(0, 9), (1, 4), (3, 6)], [1, 2], [2]),
        ([(0, 2), (4, 6), (1, 5)], [2], [2]),
    ],
)
def test_overlap_and_nesting(places: list[tuple[int, int]], overlap: list[int], crossing: list[int]) -> None:
    starts, ends = [start for start, _ in places], [end for _, end in places]
    option_sets: list[tuple[dict[str, Any], list[int]]] = [
        ({}, overlap),
        ({"allow_nesting": True}, crossing),
        ({"allow_overlap": True}, []),
    ]
    for options, expected in option_sets:
        found = spans.checker(**options)("0123456789", starts, ends) or []
        assert [each.index for each in found] == expected


def test_an_unset_field_is_no_surface() -> None:
    """The twins read messages, where an unset string is empty; the public functions read what is given."""
    assert spans.checker()("abc", [0, 1], [1, 2], ["", "b"]) is None
    with pytest.raises(Refused) as caught:
        spans.check("abc", [{"start": 0, "end": 1, "surface": ""}])
    assert caught.value.rule_id == "spans.surface"
    traced = text_normalizer.normalizer(trim=True).traced(" abc")
    assert isinstance(traced, tuple)
    bound = spans.remapper()
    assert bound.with_surfaces(" abc", traced[1], [1, 2], [2, 3], ["", "b"]) == ([0, 1], [1, 2], ["", "b"])


def test_remapper_for_generated_code() -> None:
    value = "  caf\u0065\u0301 \U0001f600 <b>x</b>"
    traced = text_normalizer.normalizer(normalize="nfc", trim=True, strip_html=True).traced(value)
    assert not isinstance(traced, Refusal)
    new, edit_map = traced
    start, end = value.index("\U0001f600"), value.index("x")
    before = len(value[:start].encode("utf-16-le")) // 2
    behind = len(value[:end].encode("utf-16-le")) // 2
    bound = spans.remapper(unit="utf16")
    assert bound(value, edit_map, [before, behind], [before + 2, behind + 1]) == ([5, 8], [7, 9])
    assert bound.with_surfaces(value, edit_map, [before], [before + 2], ["\U0001f600"]) == ([5], [7], ["\U0001f600"])
    assert new == "caf\u00e9 \U0001f600 x"
    found = bound(value, edit_map, [before, 0, 3], [before + 1, 2, 2])
    assert isinstance(found, list)
    assert [(each.rule_id, each.index) for each in found] == [
        ("spans.boundary", 0), ("spans.lost", 1), ("spans.order", 2),
    ]  # fmt: skip
