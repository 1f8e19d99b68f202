"""Each word of contract.proto reaches what has to know it: a word that is declared and then ignored is a mistake."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import pytest

from protocontract import normalize, relations
from protocontract.v1 import contract_pb2
from protocontract_compiler import ir
from protocontract_compiler.emit.typescript import bound, known
from protocontract_compiler.emit.typescript.inexact import Inexact
from protocontract_compiler.passes.pass_annotations import RELATIONS, TARGETS
from protocontract_compiler.passes.rule_ids import OWN_RULE_IDS

FIELD = contract_pb2.Field.DESCRIPTOR
NORMALIZERS = [field.name for field in FIELD.oneofs_by_name["normalizer"].fields]
ROOT = Path(__file__).parents[2]
#: Options of relations that name fields or say how a batch is made: compiled into code, so no function has them.
COMPILED = {
    "spans": {"text", "start", "end", "surface"},
    "sequence": {"same_length_as"},
    "graph": {"id", "parents"},
    "tensor": {"name", "shape_field", "pad", "truncate"},
}
PLACE = ir.Place("a.proto", 1, 1)


def use(_path: str, name: str) -> str:
    return name


def options_of(word: str) -> list[str]:
    message = FIELD.fields_by_name[word].message_type
    assert message is not None
    return [option.name for option in message.fields]


def test_every_word_of_a_field_is_read() -> None:
    """A field of Field beside the normalizers is a relation of pass_annotations, or governance."""
    governance = {
        "sensitive", "severities", "error_class", "since", "sunset", "renamed_from", "unit", "currency", "minor_digits",
        "acknowledge", "error_codes", "contexts",
    }  # fmt: skip
    assert {field.name for field in FIELD.fields} == {*NORMALIZERS, *RELATIONS, *governance}


@pytest.mark.parametrize("word", [*NORMALIZERS, *RELATIONS])
def test_every_option_is_one_of_the_functions_and_documented(word: str) -> None:
    module: Any = getattr(normalize if word in NORMALIZERS else relations, word)
    build = module.promises if word == "tensor" else module.normalizer if word in NORMALIZERS else module.checker
    parameters = set(inspect.signature(build).parameters)
    expected = set(options_of(word)) - COMPILED.get(word, set()) - {TARGETS.get(word)}
    assert expected <= parameters, f"{module.__name__} does not take them"
    pages = "".join((ROOT / "docs" / name).read_text() for name in ("normalizers.md", "tensors.md"))
    assert [name for name in options_of(word) if not re.search(rf"\b{name}\b", pages)] == []
    assert OWN_RULE_IDS[word]


@pytest.mark.parametrize("word", [*NORMALIZERS, *RELATIONS])
def test_typescript_refuses_an_option_that_it_does_not_know(word: str) -> None:
    assert known.OPTIONS[word] - {"sole_currency", "storable"} <= set(options_of(word))
    given = {"of_tomorrow": 1}
    with pytest.raises(Inexact, match=rf"`{word}\.of_tomorrow` has no translation"):
        _ = (
            bound.normalizer(use, word, given, ir.TYPE_STRING, PLACE)
            if word in NORMALIZERS
            else bound.relation(use, word, given, PLACE)
        )


def test_typescript_looks_at_the_options_of_amounts_in_a_text() -> None:
    with pytest.raises(Inexact, match=r"`money\.of_tomorrow` has no translation"):
        bound.normalizer(use, "text", {"amounts": {"of_tomorrow": 1}}, ir.TYPE_STRING, PLACE)
