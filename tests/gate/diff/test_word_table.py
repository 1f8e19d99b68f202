"""The table of directions for protocontract's words: cases without a scenario, and docs/gate.md, which names all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from protocontract.v1 import contract_pb2
from protocontract_ci.diff.word_table import TABLE, direction
from protocontract_compiler.passes.pass_annotations import RELATIONS

DOCS = Path(__file__).parents[3] / "docs" / "gate.md"


@pytest.mark.parametrize(
    ("word", "before", "after", "expected"),
    [
        ("text.normalize", None, "nfc", "tightened"), ("text.normalize", "nfc", None, "loosened"),
        ("text.normalize", None, "nfkc", "breaking"), ("text.reject", ("nul",), ("tag",), "breaking"),
        ("money.allowed", None, ("CNY",), "tightened"), ("money.allowed", ("CNY",), None, "loosened"),
        ("money.allowed", ("CNY", "USD"), ("CNY", "EUR"), "breaking"),
        ("money.default_currency", None, "CNY", "loosened"), ("money.default_currency", "CNY", None, "tightened"),
        ("money.scale", "currency", "any", "breaking"), ("money.scale", "round_half_up", "currency", "tightened"),
        ("money.scale", "round_half_up", "round_half_even", "breaking"),
        ("money.policy", "lenient", "strict", "tightened"),
        ("instant.zone", None, "Asia/Tokyo", "loosened"), ("instant.order", "DMY", "MDY", "breaking"),
        ("instant.max", "2030-01-01T00:00:00Z", "2031-01-01T00:00:00Z", "loosened"),
        ("scalar.bool_words", {"yes": True}, {"yes": True, "no": False}, "loosened"),
        ("scalar.bool_words", {"yes": True}, {"yes": False}, "breaking"),
        ("label.aliases", {"A": ("a",)}, {"A": ()}, "tightened"),
        ("label.aliases", {"A": ("a",)}, {"A": (), "B": ("b",)}, "breaking"),
        ("tensor.dims", ("n", "4"), ("m", "4"), "neutral"), ("tensor.dims", ("n", "n"), ("n", "m"), "loosened"),
        ("tensor.dims", ("n", "m"), ("k", "k"), "tightened"), ("tensor.dims", ("n", "4"), ("8", "k"), "breaking"),
        ("tensor.dims", ("4",), ("4", "4"), "breaking"), ("tensor.dims", ("4",), ("8",), "breaking"),
        ("tensor.bounds", {"n": {"min": 1}}, {"n": {"min": 2, "max": 9}}, "tightened"),
        ("tensor.bounds", {"n": {"min": 1}}, {"n": {"max": 9}}, "breaking"),
        ("tensor.l2_norm", {"value": 1.0, "tolerance": 0.1}, {"value": 1.0, "tolerance": 0.01}, "tightened"),
        ("tensor.l2_norm", {"value": 1.0, "tolerance": 0.1}, {"value": 2.0, "tolerance": 0.1}, "breaking"),
        ("evidence", "required", "best_effort", "loosened"), ("evidence", None, "required", "tightened"),
        ("unit", "", "ms", "neutral"), ("unit", "ms", "s", "breaking"),
        ("level.compliance", 0.9, 0.99, "tightened"), ("level.error_rate", 0.1, None, "loosened"),
        ("a_word_of_tomorrow", 1, 2, "breaking"), ("text.trim", True, True, "neutral"),
    ],
)  # fmt: skip
def test_direction(word: str, before: Any, after: Any, expected: str) -> None:
    assert direction(word, before, after) == expected


@pytest.mark.parametrize("word", TABLE)
def test_documented(word: str) -> None:
    text = DOCS.read_text()
    assert all(part in text for part in word.split(".")), (
        f"docs/gate.md has a row for each line of TABLE; none for {word}"
    )


_NORMALIZERS = [field.name for field in contract_pb2.Field.DESCRIPTOR.oneofs_by_name["normalizer"].fields]


def words_of(descriptor: Any, prefix: str) -> set[str]:
    return {f"{prefix}{field.name}" for field in descriptor.fields}


def test_every_word_of_the_vocabulary_has_a_line() -> None:
    """A word that is added to contract.proto needs a direction: without one each change of it is breaking."""
    declared: set[str] = set()
    field = words_of(contract_pb2.Field.DESCRIPTOR, "")
    kinds = {*_NORMALIZERS, *RELATIONS}
    for name in kinds:
        declared |= words_of(contract_pb2.Field.DESCRIPTOR.fields_by_name[name].message_type, f"{name}.")
    # Told by rules of their own: flags that make a change `added`, sets of contexts, digits that ISO 4217 may know.
    declared |= field - kinds - {"acknowledge", "contexts", "minor_digits"}
    declared |= words_of(contract_pb2.EnumValue.DESCRIPTOR, "")
    declared |= words_of(contract_pb2.Contract.DESCRIPTOR, "") - {"level", "contexts"}
    declared |= words_of(contract_pb2.StreamLevel.DESCRIPTOR, "level.")
    for part in contract_pb2.ServiceLevel.DESCRIPTOR.fields:
        inner = part.message_type
        if inner is not None and inner.file.name == contract_pb2.DESCRIPTOR.name:
            declared |= words_of(inner, f"{part.name}.")
        else:
            declared.add(part.name)
    assert sorted(declared - set(TABLE)) == [], (
        "say in protocontract_ci/diff/word_table.py what a change of these means, and in docs/gate.md"
    )
