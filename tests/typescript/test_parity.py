"""Python and TypeScript say the same of the same messages. `make parity` compares many more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorSet

from protocontract import Contract
from protocontract_compiler import dynamic, ir, pipeline
from protocontract_compiler.descriptors import load
from protocontract_compiler.diagnostics import Diagnostics
from tests.typescript import parity
from tests.typescript.support import Case, answers, difference, needs_node, strictly, write
from tests.typescript.words import SOURCES

pytestmark = needs_node


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("parity")


def told(differences: list[str]) -> str:
    return "\n\n".join(differences[:3])


def test_random_rules(folder: Path) -> None:
    report = parity.rules(400, folder / "rules")
    assert not report.differences, told(report.differences)
    assert report.cases >= 400
    # There is something to compare.
    assert report.violations > 1000
    assert len(report.kinds) > 60
    assert report.errors > 20


def test_every_word(folder: Path) -> None:
    # The examples, and all words at once; `make parity` has odd names and other syntaxes too.
    report = parity.words(800, 40, folder / "words", SOURCES[:2])
    assert not report.differences, told(report.differences)
    assert report.cases >= 800
    words = {kind.partition(".")[0] for kind in report.kinds}
    assert {"spans", "label", "string", "required"} <= words, sorted(words)


def test_what_was_written_passes_the_strictest_compiler(folder: Path) -> None:
    """With plain types, of random contracts; tests/typescript/test_types.py has every word on those of protobuf-es."""
    if not (folder / "rules").exists():
        parity.rules(100, folder / "rules")
    assert strictly(folder / "rules") == ""


def compiled(files: FileDescriptorSet, folder: Path) -> tuple[ir.Schema, Contract[Any]]:
    """The schema of p.proto, written as TypeScript, and its contract in Python."""
    loaded = load(files, ["p.proto"], Diagnostics())
    schema = pipeline.compile_schema(loaded, Diagnostics(), pipeline.CompileOptions())
    write(schema, ["p.M"], folder)
    return schema, dynamic.contracts_of(loaded, schema, pipeline.CompileOptions())["p.M"]


@pytest.mark.parametrize(
    ("rules", "word"),
    [
        ("[(buf.validate.field).string.min_len = 3]", "validated"),
        ("[(buf.validate.field).string.min_len = 2, (protocontract.v1.field).error_codes = "
         "{key: 'string.min_len', value: 7}]", "validated"),
        ("[(buf.validate.field).string.min_len = 2, (protocontract.v1.field).text.trim = true]", "changes"),
    ],
    ids=["verdict", "code", "change"],
)  # fmt: skip
def test_a_difference_is_found(rules: str, word: str, tmp_path: Path) -> None:
    """The comparison itself: where TypeScript has another contract, it says what differs."""
    head = (
        'syntax = "proto3"; package p; import "buf/validate/validate.proto"; import "protocontract/v1/contract.proto";'
    )
    ours, others = (
        dynamic.describe({"p.proto": f"{head} message M {{ string a = 1 {text}; }}"})
        for text in ("[(buf.validate.field).string.min_len = 2]", rules)
    )
    _, contract = compiled(ours, tmp_path / "ours")
    schema, _ = compiled(others, tmp_path / "others")
    value = "b"
    cases = [Case(contract, contract.message_type(a=text)) for text in (value, " bb ", "bb")]
    found = answers(tmp_path / "others", [(others, schema, cases)])
    texts = [difference(case, answer) for case, answer in zip(cases, found, strict=True)]
    assert any(text is not None and text.startswith(f"{word}: ") for text in texts), texts
