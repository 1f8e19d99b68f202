"""Each word of contract.proto reaches what has to know it: a word that is declared and then ignored is a mistake."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import pytest

from protocontract import _codegen_v1, _sites, normalize, relations
from protocontract.v1 import contract_pb2
from protocontract_compiler import ir
from protocontract_compiler.emit.typescript import bound, known
from protocontract_compiler.emit.typescript.inexact import Inexact
from protocontract_compiler.passes.pass_annotations import RELATIONS, TARGETS
from protocontract_compiler.passes.rule_ids import OWN_RULE_IDS
from tests.typescript.words import SOURCES

FIELD = contract_pb2.Field.DESCRIPTOR
NORMALIZERS = [field.name for field in FIELD.oneofs_by_name["normalizer"].fields]
ROOT = Path(__file__).parents[2]
TYPESCRIPT = ROOT / "compiler" / "protocontract_compiler" / "emit" / "typescript" / "runtime"
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
    read = {*NORMALIZERS, *RELATIONS, *governance}
    assert {field.name for field in FIELD.fields} == read, (
        "name a relation in ir.RelationKind; read a word of governance in passes/pass_annotations.py, and name it here"
    )
    assert ir.COMPILED_OPTIONS.keys() == set(RELATIONS), (
        "ir.COMPILED_OPTIONS says which options of a relation name fields"
    )


@pytest.mark.parametrize("word", [*NORMALIZERS, *RELATIONS])
def test_every_option_is_one_of_the_functions_and_documented(word: str) -> None:
    module: Any = getattr(normalize if word in NORMALIZERS else relations, word)
    build = module.promises if word == "tensor" else module.normalizer if word in NORMALIZERS else module.checker
    parameters = set(inspect.signature(build).parameters)
    missing = set(options_of(word)) - ir.COMPILED_OPTIONS.get(word, frozenset()) - {TARGETS.get(word)} - parameters
    assert not missing, f"{module.__name__}.{build.__name__} takes no {sorted(missing)}: add the keyword"
    pages = "".join((ROOT / "docs" / name).read_text() for name in ("normalizers.md", "tensors.md"))
    untold = [name for name in options_of(word) if not re.search(rf"\b{name}\b", pages)]
    assert not untold, f"docs/normalizers.md or docs/tensors.md needs a row for {word} {untold}"
    assert OWN_RULE_IDS.get(word), f"passes/rule_ids.py has no id that {word} reports"


@pytest.mark.parametrize("word", [*NORMALIZERS, *RELATIONS])
def test_typescript_refuses_an_option_that_it_does_not_know(word: str) -> None:
    assert word in known.OPTIONS, f"emit/typescript/known.py has no line for {word}; an empty one refuses its options"
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


@pytest.mark.parametrize("word", RELATIONS)
def test_a_relation_is_exported_and_has_its_class_of_errors_in_both_languages(word: str) -> None:
    assert word in _codegen_v1.__all__, f"generated code calls protocontract/_codegen_v1.py's {word}; add it there"
    found = _sites._DEFAULT_CLASSES.get(word)
    assert found is not None, f"protocontract/_sites.py says of each relation who can mend it; {word} is not there"
    line = f'{word}: {{ source: "{found.source}", remedy: "{found.remedy}" }},'
    assert line in (TYPESCRIPT / "violation.ts").read_text(), f"emit/typescript/runtime/violation.ts lacks `{line}`"


@pytest.mark.parametrize("word", [*NORMALIZERS, *RELATIONS])
def test_every_option_is_in_a_contract_that_python_and_typescript_are_compared_on(word: str) -> None:
    """An option that none of these contracts has is compared by nothing. every_word.proto is none: its text is HTML."""
    files = [folder / name for folder, names in SOURCES for name in names if name != "good/every_word.proto"]
    told = [text for file in files if word in (text := file.read_text())]
    inexact = {"quoted_numbers"}  # on fields of JSON, which protobuf-es reads
    found = {name for name in options_of(word) for text in told if re.search(rf"\b{name}\b", text)}
    missing = sorted(set(options_of(word)) - found - inexact)
    assert not missing, f"add {word} {missing} to tests/compiler/odd/exact.proto (or to `inexact`, with the reason)"
