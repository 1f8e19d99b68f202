"""Every example that a page shows was judged by the contract: judged again, it says the same."""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest

from protocontract import Contract
from protocontract_compiler import dynamic, ir
from protocontract_compiler.examples import examples_of, judged
from tests.testing.support import EXAMPLES, HEAD, KINDS

_LANGUAGES = ("en", "zh")


@cache
def kinds() -> Mapping[str, Contract[Any]]:
    """A contract for each kind of rule, in one file."""
    source = HEAD + "\n".join(f"message {kind} {{ {body} }}" for kind, body in KINDS.items())
    return dynamic.compile(dynamic.describe({"kinds.proto": source}))


def check(contract: Contract[Any], example: ir.Example) -> None:
    """Asks the contract about an example."""
    outcome = judged(contract, example.record)
    if example.kind == "kept":
        assert outcome.ok
    elif example.kind == "cleaned":
        assert outcome.ok
        change = next(change for change in outcome.changes if change.declared_path == example.path)
        assert change.rule_id == example.rule_id
        if isinstance(change.after, str) and len(change.after) < 60:
            assert json.loads(dict(example.becomes)["en"]) == change.after
            assert json.loads(dict(example.sent)["en"]) == change.before
    else:
        assert example.alone == (len({violation.code for violation in outcome.violations}) == 1)
        # Several items can break the rule.
        broken = [violation for violation in outcome.violations if violation.code == example.code]
        assert {violation.rule_id or violation.rule.rule_text for violation in broken} == {example.rule_id}
        said = [{language: violation.localized(language) for language in _LANGUAGES} for violation in broken]
        assert dict(example.says) in said


@pytest.mark.parametrize("module", [*EXAMPLES, "acme.inference.v1.content_type_contract"])
def test_examples_of_the_example_contracts(schema: ir.Schema, module: str) -> None:
    """The examples were found with contracts compiled in memory; generated code says the same of them."""
    there = [value for value in vars(importlib.import_module(module)).values() if isinstance(value, Contract)]
    contracts = [contract for contract in there if contract.full_name in schema.dossiers]
    assert contracts
    for contract in contracts:
        examples = schema.dossiers[contract.full_name].examples
        assert [example.kind for example in examples].count("kept") == 1
        for example in examples:
            check(contract, example)


@pytest.mark.parametrize("kind", KINDS)
def test_examples_of_every_kind_of_rule(kind: str) -> None:
    contract = kinds()[f"kinds.{kind}"]
    examples = examples_of(contract)
    for example in examples:
        check(contract, example)
    # A class of letters that only RE2 has is not read.
    assert bool(examples) == (kind != "pattern_re2")


def test_most_rules_have_an_example(schema: ir.Schema) -> None:
    """What no message can break has none: a number that int64 does not have, a unit of code points that cuts none."""
    counted = {name: len(dossier.examples) for name, dossier in schema.dossiers.items()}
    assert counted["acme.finance.v1.Transaction"] >= 30
    assert counted["acme.text.v1.TextSample"] >= 24
    ids = {example.rule_id for example in schema.dossiers["acme.inference.v1.PredictRequest"].examples}
    assert {"tensor.shape", "tensor.size", "tensor.range", "required", "string.uuid"} <= ids
    # Both members of a oneof.
    paths = {example.path.split(".")[0] for example in schema.dossiers["acme.inference.v1.PredictRequest"].examples}
    assert {"entity_model", "encoder"} <= paths


def test_the_same_contract_has_the_same_examples() -> None:
    contract = kinds()["kinds.text_size"]
    assert examples_of(contract) == examples_of(contract)
    kept = next(example for example in examples_of(contract) if example.kind == "kept")
    assert dict(kept.sent)["en"] == '{\n  "f": "f 1"\n}'


ODD = """
syntax = "proto2";
package odd;
import "buf/validate/validate.proto";
import "google/protobuf/timestamp.proto";
message Odd {
  enum Size { SMALL = 2; LARGE = 7; }
  // A closed enum holds no other number, whatever a rule compares it with.
  optional Size size = 1 [(buf.validate.field).cel = {
    id: "odd.size" expression: "this != 4611686018427387904 && this != 2"
  }];
  required string code = 2 [(buf.validate.field).string.min_len = 1];
}
message Clock {
  optional google.protobuf.Timestamp at = 1 [(buf.validate.field).timestamp.lt_now = true];
  // Left to protovalidate, whose clock is its own.
  optional string pattern = 2 [(buf.validate.field).cel = {id: "clock.pattern" expression: "'a'.matches(this)"}];
}
"""


def test_odd_contracts() -> None:
    contracts = dynamic.compile(dynamic.describe({"odd.proto": ODD}))
    examples = examples_of(contracts["odd.Odd"])
    for example in examples:
        check(contracts["odd.Odd"], example)
    assert {example.rule_id for example in examples} == {"", "odd.size", "string.min_len"}
    assert examples_of(contracts["odd.Clock"]) == ()


HIDDEN = """
syntax = "proto3";
package hidden;
import "buf/validate/validate.proto";
import "protocontract/v1/contract.proto";
message Card {
  option (protocontract.v1.contract).version = "1.0.0";
  option (buf.validate.message).cel = {
    id: "card.owner" expression: "this.number != this.owner" message: "the owner is not the number"
  };
  string number = 1 [(protocontract.v1.field).sensitive = true, (buf.validate.field).string = {prefix: "4929" len: 16}];
  string owner = 2 [(buf.validate.field).string.min_len = 1];
  Secret secret = 3 [(protocontract.v1.field).sensitive = true];
  repeated string notes = 4 [(protocontract.v1.field) = {sensitive: true text: {trim: true}}];
}
message Secret { string word = 1 [(buf.validate.field).string.const = "swordfish"]; }
"""


def test_no_value_of_a_sensitive_field_is_shown() -> None:
    contract = dynamic.compile(dynamic.describe({"hidden.proto": HIDDEN}))["hidden.Card"]
    examples = examples_of(contract)
    shown = [text for example in examples for said in (example.sent, example.becomes) for _, text in said]
    assert any(example.path == "number" for example in examples)
    for text in shown:
        assert "4929" not in text
        assert "swordfish" not in text
        assert "notes 1" not in text
    kept = dict(examples[0].sent)
    assert kept["en"] == (
        '{\n  "number": (not shown),\n  "owner": "owner 1",\n  "secret": (not shown),\n  "notes": (not shown)\n}'
    )
    assert "（不显示）" in kept["zh"]
    for example in examples:
        check(contract, example)


def test_what_cannot_be_seen_is_escaped(schema: ir.Schema) -> None:
    examples = schema.dossiers["acme.finance.v1.Transaction"].examples
    bidi = next(example for example in examples if example.rule_id == "text.bidi")
    assert dict(bidi.sent)["en"] == '"abc\\u202egnp"'
    assert all(text.replace("\n", "").isprintable() for example in examples for _, text in example.sent)


def test_long_values_are_cut_with_their_size(schema: ir.Schema) -> None:
    examples = {example.rule_id: example for example in schema.dossiers["acme.text.v1.TextSample"].examples}
    assert dict(examples["string.max_len"].sent)["en"].endswith('…" (513 characters)')
    assert dict(examples["string.max_len"].sent)["zh"].endswith('…" (513 个字符)')
    assert dict(examples["repeated.max_items"].sent)["en"].endswith("… (257 items)]")
