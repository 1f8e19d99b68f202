"""The canonical text: what changes it, and what does not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from protocontract_compiler import pipeline
from protocontract_compiler.descriptors import load
from protocontract_compiler.diagnostics import Diagnostics
from protocontract_compiler.ir import Schema
from protocontract_compiler.ir_dump import dump, fingerprint
from tests.compiler.goldens import matches
from tests.compiler.sources import CONTRACTS, EXAMPLES, descriptors

_GOLDENS = Path(__file__).parent / "goldens"
_TEXT = (CONTRACTS / "acme/text/v1/text.proto").read_text()


def _schema(text: str, folder: Path, name: str = "text.proto") -> Schema:
    (folder / name).write_text(text)
    files = descriptors([name], [folder], folder)
    return pipeline.compile_schema(load(files, [name], Diagnostics()), Diagnostics(), pipeline.CompileOptions())


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> str:
    return fingerprint(_schema(_TEXT, tmp_path_factory.mktemp("before")), "acme.text.v1.TextSample")


def test_comments_names_and_order_change_nothing(before: str, tmp_path: Path) -> None:
    text = re.sub(r"//.*", "", _TEXT)
    sample = text[text.index("message TextSample") : text.index("message NamedEntity")]
    entity = text[text.index("message NamedEntity") :]
    label = re.search(r"  string label = 2 .*?\}\];\n", entity, re.DOTALL)
    assert label is not None
    entity = entity.replace(label.group(), "").replace("  int32 end_offset", label.group() + "  int32 end_offset")
    moved = text.replace(text[text.index("message TextSample") :], entity + sample)
    assert moved != _TEXT
    assert fingerprint(_schema(moved, tmp_path, "other.proto"), "acme.text.v1.TextSample") == before


def test_a_default_that_is_spelled_out_changes_nothing(before: str, tmp_path: Path) -> None:
    spelled = _TEXT.replace("unit: CODE_POINT\n", "unit: CODE_POINT\n      order: ANY_ORDER\n")
    bare = _TEXT.replace("      unit: CODE_POINT\n", "")
    assert len({spelled, bare, _TEXT}) == 3
    for text in (spelled, bare):
        assert fingerprint(_schema(text, tmp_path), "acme.text.v1.TextSample") == before


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("string.max_len = 512", "string.max_len = 513"),
        ('"PERSON", ', ""),
        ("trim: true", "trim: false"),
        ("allow_nesting: true", "allow_nesting: false"),
        ('version: "2.1.0"', 'version: "2.1.1"'),
        ("compliance: 0.99", "compliance: 0.98"),
        ("on_breach: HALT", "on_breach: ALERT"),
        ("int32 end_offset = 4", "int64 end_offset = 4"),
        ("(buf.validate.field).int32.gt = 0", "(buf.validate.field).int32.gt = 1"),
        ("string label = 2 [", "string label = 2 [(protocontract.v1.field).sensitive = true, "),
    ],
)
def test_what_a_contract_says_changes_it(before: str, tmp_path: Path, old: str, new: str) -> None:
    assert old in _TEXT
    text = _TEXT.replace(old, new)
    if "int64 end_offset" in text:
        text = text.replace(
            "int64 end_offset = 4 [(buf.validate.field).int32", "int64 end_offset = 4 [(buf.validate.field).int64"
        )
    assert fingerprint(_schema(text, tmp_path), "acme.text.v1.TextSample") != before


def test_other_messages_do_not_count(before: str, tmp_path: Path) -> None:
    text = _TEXT + "message Unrelated { string id = 1 [(buf.validate.field).string.min_len = 3]; }\n"
    schema = _schema(text, tmp_path)
    assert fingerprint(schema, "acme.text.v1.TextSample") == before
    assert fingerprint(schema, "acme.text.v1.Unrelated") != before


def test_data_versions_count_only_where_they_are_used(tmp_path: Path) -> None:
    schema = _schema(_TEXT, tmp_path)
    assert "data unicodedata2 " in dump(schema, "acme.text.v1.TextSample")
    assert "data " not in dump(schema, "acme.text.v1.NamedEntity")


def test_recursion_ends(tmp_path: Path) -> None:
    schema = _schema('syntax = "proto3"; message A { B b = 1; } message B { map<string, A> a = 1; }', tmp_path)
    assert dump(schema, "A").count("message ") == 2


@pytest.mark.parametrize("name", ["finance.v1.Transaction", "text.v1.TextSample", "inference.v1.PredictRequest"])
def test_the_text_of_the_examples(name: str, tmp_path: Path) -> None:
    """So that a change of the canonical text, which changes every fingerprint in the field, is seen."""
    files = descriptors(EXAMPLES, [CONTRACTS], tmp_path)
    schema = pipeline.compile_schema(load(files, EXAMPLES, Diagnostics()), Diagnostics(), pipeline.CompileOptions())
    text = re.sub(r"^data (\S+) .*$", r"data \1 VERSION", dump(schema, f"acme.{name}"), flags=re.MULTILINE)
    assert matches(_GOLDENS / f"{name}.txt", text)
