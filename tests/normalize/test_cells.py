"""`scalar.type`: text cells in fields of every shape of a contract."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from protocontract import Contract
from protocontract_compiler import load_protos

PROTO = """
syntax = "proto3"; package cells.v1;
import "buf/validate/validate.proto"; import "protocontract/v1/contract.proto";
message Row {
  repeated string counts = 1 [(protocontract.v1.field).scalar.type = INT64];
  map<string, string> flags = 2 [
    (protocontract.v1.field).scalar = {type: BOOL bool_words: {key: "ja" value: true}}
  ];
  oneof one { string ratio = 3 [(protocontract.v1.field).scalar = {type: DOUBLE finite: false}]; string name = 4; }
  string age = 5 [(protocontract.v1.field).scalar.type = UINT32, (buf.validate.field).string.max_len = 2];
}
"""


@pytest.fixture(scope="module")
def contract(tmp_path_factory: pytest.TempPathFactory) -> Contract[Any]:
    file: Path = tmp_path_factory.mktemp("cells") / "cells.proto"
    file.write_text(PROTO, encoding="utf-8")
    return load_protos([file], proto_path=file.parent)["cells.v1.Row"]


def test_cells_become_canonical_before_rules_see_them(contract: Contract[Any]) -> None:
    row = contract.message_type(counts=[" 1", "+2", "3.0"], flags={"a": "JA", "b": "false"}, ratio="NaN ", age="0042")
    outcome = contract.process(row.SerializeToString())
    assert outcome.message == contract.message_type(
        counts=["1", "2", "3"], flags={"a": "true", "b": "false"}, ratio="NaN", age="42"
    )
    assert [change.path for change in outcome.changes] == [
        "counts[0]", "counts[1]", "counts[2]", 'flags["a"]', "ratio", "age",
    ]  # fmt: skip
    assert {change.rule_id for change in outcome.changes} == {"scalar"}


def test_a_refused_cell_is_told_with_its_place_and_no_other_rule(contract: Contract[Any]) -> None:
    row = contract.message_type(counts=["1", "x"], flags={"a": "nein"}, ratio="1e5", age="-1000")
    outcome = contract.process(row.SerializeToString())
    assert [(violation.field_path, violation.rule_id) for violation in outcome.violations] == [
        ("counts[1]", "scalar.syntax"),
        ('flags["a"]', "scalar.syntax"),
        ("ratio", "scalar.syntax"),
        ("age", "scalar.range"),
    ]


def test_an_unset_cell_is_not_looked_at(contract: Contract[Any]) -> None:
    assert contract.process(b"").ok
