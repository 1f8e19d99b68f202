"""docs/normalizers.md: every row of its example tables is run, so that the page says what the code does."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from protocontract import Contract, Refused, normalize, relations
from protocontract.normalize import instant, label, money, quantity, scalar, text
from protocontract.relations import graph, sequence, spans, tensor
from protocontract_compiler import load_protos

PAGE = (Path(__file__).parents[2] / "docs" / "normalizers.md").read_text(encoding="utf-8")
HEAD = "| input | options | result |"
SPAN_OPTIONS = {"unit", "allow_overlap", "allow_nesting", "allow_empty", "no_edge_whitespace", "order"}


class Row(NamedTuple):
    """An example: the word of its section, and its three cells without the marks of code."""

    word: str
    given: str
    options: dict[str, Any]
    result: str


def rows() -> list[Row]:
    found: list[Row] = []
    word = ""
    inside = False
    for line in PAGE.splitlines():
        if line.startswith("## "):
            word = line[3:]
        if line == HEAD:
            inside = True
        elif inside and line.startswith("| "):
            given, options, result = (cell.strip().replace("`", "") for cell in re.split(r" \|(?= )", line.strip("|")))
            found.append(Row(word, given, keywords(options), result))
        elif not line.startswith("|"):
            inside = False
    return found


def keywords(cell: str) -> dict[str, Any]:
    """The options of a cell, which is written as the keyword arguments of a call."""
    call = ast.parse(f"f({cell})", mode="eval").body
    assert isinstance(call, ast.Call)
    return {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}


ROWS = rows()


def test_every_section_has_examples() -> None:
    sections = re.findall(r"^## (\w+)$", PAGE, re.MULTILINE)
    words = {*normalize.__all__, *relations.__all__, "JSON"}
    assert set(sections) == words, "docs/normalizers.md has a section for each word"
    assert RUN.keys() == words - {"JSON"}, "RUN says how the rows of a section are run"
    assert {row.word for row in ROWS} == set(sections), "a section has a table of inputs, options and results"
    assert len(ROWS) > 150


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Contract[Any]:
    block = re.search(r"```proto\n(.*?)```", PAGE, re.DOTALL)
    assert block is not None
    file = tmp_path_factory.mktemp("docs") / "sample.proto"
    file.write_text(
        'syntax = "proto3"; package docs.v1; import "protocontract/v1/contract.proto";'
        f'import "google/protobuf/timestamp.proto";\n{block[1]}',
        encoding="utf-8",
    )
    return load_protos([file], proto_path=file.parent)["docs.v1.Sample"]


def literal(cell: str) -> Any:
    return bytes.fromhex(cell[2:]) if cell.startswith("0x") else json.loads(cell)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.word}-{row.given[:20]}")
def test_row(row: Row, sample: Contract[Any]) -> None:
    given = literal(row.given)
    if row.word == "JSON":
        outcome = sample.process(given.encode(), encoding="json")
        if row.result.startswith("refused "):
            assert [violation.rule_id for violation in outcome.violations] == [row.result.removeprefix("refused ")]
        else:
            assert outcome.message == sample.message_type(**json.loads(row.result))
        return
    try:
        result = RUN[row.word](given, row.options)
    except Refused as refused:
        result = f"refused {refused.rule_id}"
    assert result == row.result or (row.result[0] in '"[{' and result == json.loads(row.result))


def run_money(value: Any, options: Mapping[str, Any]) -> str:
    result = money.normalize(value, **options).value
    return f"{result.currency} {result.amount}"


def run_scalar(value: Any, options: Mapping[str, Any]) -> str:
    result = scalar.normalize(value, **options).value
    return f"0x{result.hex()}" if isinstance(result, bytes) else json.dumps(result)


def run_label(value: Any, options: Mapping[str, Any]) -> str:
    return json.dumps(label.normalize(value, **options).value)


def run_spans(value: Any, options: Mapping[str, Any]) -> Any:
    given = [dict(zip(("start", "end", "surface"), span, strict=False)) for span in value[1]]
    if options.keys() <= SPAN_OPTIONS:
        spans.check(value[0], given, **options)
        return "valid"
    new, moved = spans.remap(value[0], given, **options)
    return [new, [[span["start"], span["end"]] for span in moved]]


def run_graph(value: Any, options: Mapping[str, Any]) -> str:
    graph.check([name for name, _ in value], [parents for _, parents in value], **options)
    return "valid"


def run_sequence(value: Any, options: Mapping[str, Any]) -> str:
    sequence.check(value, **options)
    return "valid"


def run_tensor(value: Any, options: Mapping[str, Any]) -> str:
    tensor.check(value, **options)
    return "valid"


RUN: Mapping[str, Callable[[Any, Mapping[str, Any]], Any]] = {
    "text": lambda value, options: text.normalize(value, **options).value,
    "money": run_money,
    "instant": lambda value, options: instant.normalize(value, **options).value,
    "quantity": lambda value, options: f"{quantity.normalize(value, **options).value:f}",
    "label": run_label,
    "scalar": run_scalar,
    "spans": run_spans,
    "sequence": run_sequence,
    "graph": run_graph,
    "tensor": run_tensor,
}
