"""Windows of requests: what tells that inputs have changed from what tells that only their answers have."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from protocontract.serving.digests import Digest, character_class, characters_of, divergence, length_bucket
from tests.serving.echo import ask, contracts


def test_lengths() -> None:
    found = [length_bucket(size) for size in (0, 64, 65, 4_194_304, 4_194_305)]
    assert found == ["64", "64", "256", "4194304", "+Inf"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("aZ", "letter"), ("7", "digit"), (" \n", "space"), ("!", "punctuation"), ("\x00\x7f\x85", "control"),
        ("é", "latin"), ("ω", "greek"), ("ж", "cyrillic"), ("א", "hebrew"), ("ب", "arabic"), ("न", "devanagari"),
        ("ไ", "thai"), ("한", "hangul"), ("漢𠀀", "han"), ("かカ", "kana"), ("€«", "symbol"), ("\u0301", "mark"),
        ("\ufffd", "replacement"), ("\ue000", "private"), ("😀", "emoji"), ("ა", "other"),
    ],
)  # fmt: skip
def test_kinds_of_characters(text: str, expected: str) -> None:
    assert {character_class(character) for character in text} == {expected}


def test_texts_of_a_message_and_nothing_of_sensitive_ones() -> None:
    contract = contracts()["echo.v1.Ask"]
    found = characters_of(contract, ask("ab 1", "é!", secret="жж"))
    assert found == Counter(letter=2, space=1, digit=1, latin=1, punctuation=1)
    assert characters_of(contract, ask("x" * 10_000)).total() == 512


def test_divergence() -> None:
    assert divergence({"a": 1}, {"a": 7}) == 0
    assert divergence({"a": 1}, {"b": 1}) == 1
    assert 0.1 < divergence({"a": 3, "b": 1}, {"a": 1, "b": 3}) < 0.5


def requests(seed: int, number: int, *, large: float = 0.1, cyrillic: float = 0.0, sad: float = 0.3) -> list[Any]:
    """Requests by what is seen of them; shares of long ones, Cyrillic letters and one of two labels."""
    draw = random.Random(seed)
    return [
        {
            "length": Counter(["4096" if draw.random() < large else "256"]),
            "characters": Counter(cyrillic=int(100 * cyrillic), letter=int(100 * (1 - cyrillic))),
            "labels": Counter(["SAD" if draw.random() < sad else "GLAD"]),
            "inference": Counter(["0.01"]),
        }
        for _ in range(number)
    ]


@pytest.mark.parametrize(
    ("later", "expected"),
    [
        ({}, "steady"),
        ({"large": 0.6}, "upstream"),
        ({"cyrillic": 0.5}, "upstream"),
        ({"cyrillic": 0.5, "sad": 0.9}, "upstream"),
        ({"sad": 0.9}, "environment"),
    ],
)
def test_where_to_look(later: dict[str, float], expected: str) -> None:
    digest = Digest(500)
    for each in requests(1, 500):
        digest.add(each)
    assert (digest.change(), digest.shifts()) == ("", {})
    for each in requests(2, 500, **later):
        digest.add(each)
    assert digest.change() == expected
    assert digest.as_dict()["change"] == expected
    for each in requests(3, 500):  # back to what it was: compared with the first, not with the one before
        digest.add(each)
    assert digest.change() == "steady"
    assert digest.total.requests == 1500


def test_an_aspect_that_nothing_is_known_of_is_left_out() -> None:
    digest = Digest(1)
    for _ in range(2):
        digest.add({"length": Counter(["64"])})
    assert digest.shifts() == {"length": 0.0}
    with pytest.raises(ValueError, match="a window of 0 requests"):
        Digest(0)
