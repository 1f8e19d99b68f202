"""Quantities in generated contracts: the number goes into the field, or a sibling, in that one's type."""

from __future__ import annotations

from itertools import product
from pathlib import Path

from protocontract_compiler import dynamic
from tests.typescript.support import Case, answers, difference, needs_node
from tests.typescript.test_parity import compiled

pytestmark = needs_node

PROTO = """
syntax = "proto3"; package p; import "protocontract/v1/contract.proto";
message M {
  string text = 1 [(protocontract.v1.field).quantity = {unit: "m" allowed: ["km", "ft"] decimal: "." scale: 2}];
  string wide_text = 2 [(protocontract.v1.field).quantity = {unit: "m" allowed: ["km"] value_field: "wide"}];
  double wide = 3;
  string single_text = 4 [
    (protocontract.v1.field).quantity = {unit: "kg" allowed: ["lb"] scale: 9 value_field: "single"}
  ];
  optional float single = 5;
  string whole_text = 6 [(protocontract.v1.field).quantity = {unit: "m" allowed: ["km"] value_field: "whole"}];
  int32 whole = 7;
  string big_text = 8 [(protocontract.v1.field).quantity = {unit: "m" allowed: ["km"] value_field: "big"}];
  optional uint64 big = 9;
  repeated double numbers = 10 [(protocontract.v1.field).quantity = {unit: "m" allowed: ["km"] scale: 2}];
  map<string, string> named = 11 [(protocontract.v1.field).quantity = {unit: "m" allowed: ["km"] decimal: "."}];
  int64 count = 12 [(protocontract.v1.field).quantity = {unit: "m" allowed: ["km"]}];
}
"""


def test_quantities_go_where_they_belong(tmp_path: Path) -> None:
    files = dynamic.describe({"p.proto": PROTO})
    schema, contract = compiled(files, tmp_path)
    texts = (
        "5 km",
        "3 ft",
        "7",
        "-2.50 m",
        "0.5 km",
        "1" + "0" * 12 + " km",
        "1" + "0" * 39,
        "2.5",
        "9 lb",
        "4 s",
        "x",
        "",
    )
    cases = [
        Case(
            contract,
            contract.message_type(
                text=text, wide_text=other, single_text=text, whole_text=other, big_text=text, wide=wide, whole=5000,
                numbers=[wide, 1.005, float("nan"), -0.0], named={"b": text, "a": other}, count=-7,
            ),
        )
        for (text, other), wide in product(zip(texts, texts[1:] + texts[:1], strict=True), (0.0, 5000.0, 2.675))
    ]  # fmt: skip
    cases += [
        Case(contract, contract.message_type(single_text=text, single=3.0, big_text=text, big=5000)) for text in texts
    ]
    found = answers(tmp_path, [(files, schema, cases)])
    differences = [text for case, answer in zip(cases, found, strict=True) if (text := difference(case, answer))]
    assert not differences, differences[:3]
    outcomes = [contract.process(case.message.SerializeToString()) for case in cases]
    assert sum(len(outcome.changes) for outcome in outcomes) > 100
    rules = {each.rule_id for outcome in outcomes for each in outcome.violations}
    assert rules >= {"quantity.range", "quantity.scale", "quantity.unit", "quantity.dimension", "quantity.syntax"}
