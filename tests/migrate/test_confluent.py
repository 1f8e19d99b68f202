"""Inline rules and tags of Confluent's, and the conditions of a schema registry."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.migrate.support import OPTION_FILES, around, classes, contracts, judged_by_confluent, migrated

PAYMENT = """\
syntax = "proto3";
package pay.v1;
import "confluent/meta.proto";

message Payment {
  option (confluent.message_meta) = {
    doc: "A payment."
    rules: [{name: "pay.other" doc: "nobody pays himself" expr: "this.from != this.to"},
            {name: "pay.small" expr: "this.amount > 100 ? 'too much' : ''"}]
  };

  int64 amount = 1 [(confluent.field_meta).rules = {name: "pay.amount" expr: "this > 0" sql: "amount > 0"}];
  string from = 2 [(confluent.field_meta) = {tags: ["PII", "INTERNAL"]}];
  // To whom.
  string to = 3 [(confluent.field_meta).tags = "PII", (confluent.field_meta).rules = {expr: "this >= 'a'"}];
  optional string note = 4 [(confluent.field_meta).rules = {name: "pay.note" expr: "size(this) > 1"}];
  repeated string parts = 5 [
    // one at most
    (confluent.field_meta).rules = {name: "pay.parts" expr: "size(this) < 2"}
  ];
  double price = 6 [(confluent.field_meta).rules = {name: "pay.price" expr: "decimals.ge(this, 1)"}];
}
"""

TURNED = """\
syntax = "proto3";
package pay.v1;
import "buf/validate/validate.proto";
import "protocontract/v1/contract.proto";
import "confluent/meta.proto";

message Payment {
  option (buf.validate.message).cel = {
    id: "pay.other"
    message: "nobody pays himself"
    expression: "this.from != this.to"
  };
  option (buf.validate.message).cel = {
    id: "pay.small"
    expression: "this.amount > 100 ? 'too much' : ''"
  };
  option (confluent.message_meta).doc = "A payment.";

  int64 amount = 1 [(buf.validate.field).cel = {
    id: "pay.amount"
    expression: "this > 0"
  }];
  string from = 2 [(protocontract.v1.field).sensitive = true, (confluent.field_meta).tags = "INTERNAL"];
  // To whom.
  string to = 3 [(protocontract.v1.field).sensitive = true, (buf.validate.field).cel_expression = "this >= 'a'"];
  optional string note = 4 [(buf.validate.field).cel = {
    id: "pay.note"
    expression: "size(this) > 1"
  }];
  repeated string parts = 5 [
    // one at most
    (buf.validate.field).cel = {
      id: "pay.parts"
      expression: "size(this) < 2"
    }
  ];
  double price = 6 [(confluent.field_meta).rules = {name: "pay.price" expr: "decimals.ge(this, 1)"}];
}
"""


def test_rules_and_tags(tmp_path: Path) -> None:
    file, outcome = migrated(tmp_path, PAYMENT, sensitive=frozenset({"PII"}))
    assert (outcome.mistakes, outcome.unchecked) == ([], "")
    assert file.after == TURNED
    assert [(each.kind, each.line, each.what) for each in file.findings] == [
        ("left", 7, "Payment: doc"),
        ("note", 12, "amount: rules"),
        ("left", 13, "from: tags"),
        ("left", 21, "price: rules"),
    ]
    assert "undeclared reference to 'decimals'" in file.findings[-1].why


@pytest.mark.parametrize(
    ("fields", "broken"),
    [
        ({"amount": 1, "to": "a"}, set()),
        ({"to": "a"}, {"pay.amount"}),  # no presence: zero is judged, too
        ({"amount": 1}, {"this >= 'a'", "pay.other"}),
        ({"amount": 1, "to": "a", "from": "a"}, {"pay.other"}),
        ({"amount": 101, "to": "a"}, {"pay.small"}),
        ({"amount": 1, "to": "a", "note": "x"}, {"pay.note"}),  # set: judged; unset: passed over
        ({"amount": 1, "to": "a", "parts": ["x", "y"]}, {"pay.parts"}),
    ],
)
def test_the_contract_refuses_what_the_rules_refused(fields: dict[str, Any], broken: set[str], payment: Any) -> None:
    message = payment.message_type(**fields)
    assert {found.rule_id or found.rule.rule_text for found in payment.validate(message)} == broken
    assert payment.sensitive == {"from", "to"}


@pytest.fixture(scope="module")
def payment(tmp_path_factory: pytest.TempPathFactory) -> Any:
    text = PAYMENT.replace(', (confluent.field_meta).rules = {name: "pay.price"', "")
    lines = [line for line in text.splitlines() if "price" not in line and 'doc: "A' not in line]
    text = "\n".join(lines).replace(', "INTERNAL"', "")
    file, outcome = migrated(tmp_path_factory.mktemp("pay"), text, sensitive=frozenset({"PII"}))
    assert outcome.mistakes == []
    assert "confluent" not in file.after
    return contracts(file.after)["pay.v1.Payment"]


RULES = {
    "ruleSet": {
        "domainRules": [
            {"name": "pay.named", "kind": "CONDITION", "type": "CEL", "mode": "WRITE", "doc": "from is no message",
             "expr": "has(message.from) ; message.from != 'message' && message.amount != 7"},
            {"name": "pay.secret", "kind": "TRANSFORM", "type": "ENCRYPT", "mode": "WRITEREAD", "tags": ["PII"]},
            {"name": "pay.wrong", "kind": "CONDITION", "type": "CEL", "mode": "WRITE", "expr": "message.nothing > 1"},
            {"name": "pay.field", "kind": "CONDITION", "type": "CEL_FIELD", "expr": "name == 'x' ; value != ''"},
            {"name": "pay.off", "kind": "CONDITION", "type": "CEL", "expr": "false", "disabled": True},
        ]
    }
}  # fmt: skip
PLAIN = 'syntax = "proto3";\npackage pay.v1;\nmessage Payment {\n  int64 amount = 1;\n  string from = 2;\n}\n'


def test_conditions_of_a_schema_registry(tmp_path: Path) -> None:
    rules = tmp_path / "rules.json"
    rules.write_text(json.dumps(RULES, indent=1))
    file, outcome = migrated(tmp_path, PLAIN, rules=rules)
    assert outcome.mistakes == []
    assert "!(has(this.from)) || (this.from != 'message' && this.amount != 7)" in file.after
    contract = contracts(file.after)["pay.v1.Payment"]
    verdicts = [contract.is_valid(contract.message_type(**{"from": name, "amount": amount}))
                for name, amount in (("", 7), ("x", 7), ("message", 1), ("x", 1))]  # fmt: skip
    assert verdicts == [True, False, False, True]
    told = {each.what: (each.kind, each.why) for each in file.findings}
    assert {what for what, (kind, _) in told.items() if kind == "left"} == {
        "rule pay.secret", "rule pay.wrong", "rule pay.field", "rule pay.off"
    }  # fmt: skip
    assert "undefined field 'nothing'" in told["rule pay.wrong"][1]
    assert told["rule pay.named"][0] == "note"
    lines = rules.read_text().splitlines()
    assert all(each.what.removeprefix("rule ") in lines[each.line - 1] for each in file.findings)


HEAD = """\
syntax = "proto3";
package t;
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";
import "confluent/meta.proto";
enum Color { COLOR_UNSPECIFIED = 0; RED = 1; BLUE = 5; }
message Inner { string name = 1 [(confluent.field_meta).rules = {name: "inner" expr: "size(this) > 1"}]; }
"""

SAME = {
    "int": ("int32 f = 1", "this > 3 && this < 64"),
    "int_optional": ("optional int32 f = 1", "this != 0"),
    "uint": ("uint64 f = 1", "this >= 2u"),
    "text": ("string f = 1", "this.matches('^[a-z]+$') || this == ''"),
    "text_sizes": ("string f = 1", "size(this) in [1, 2]"),
    "text_says": ("string f = 1", "this.endsWith('e') ? 'ends' : ''"),
    "bytes": ("bytes f = 1", "size(this) != 1"),
    "bool": ("bool f = 1", "this"),
    "double": ("double f = 1", "this >= 0.5"),
    "enum": ("Color f = 1", "this != 1"),
    "list": ("repeated int32 f = 1", "size(this) < 3 && this.all(x, x > 0)"),
    "list_texts": ("repeated string f = 1", "this.exists(x, x == 'a') || size(this) == 0"),
    "messages": ("repeated Inner f = 1", "size(this) > 0"),
    "map": ("map<string, int32> f = 1", "this.all(k, k != '') && size(this) < 2"),
    "message": ("Inner f = 1", "this.name != 'ab'"),
    "moment": ("google.protobuf.Timestamp f = 1", "this < now"),
    "wrapper": ("google.protobuf.Int32Value f = 1", "this > 3"),
    "member": ("oneof o { string f = 1", "this != 'a'"),
}


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[tuple[str, bool, bool]]]:
    """By source: each message, what Confluent's client says of it, and what the migrated contract says."""
    text = HEAD
    for name, (field, expression) in SAME.items():
        end = "; int32 g = 2; }" if field.startswith("oneof") else ";"
        text += (
            f'message {name} {{ {field} [(confluent.field_meta).rules = {{name: "r" expr: "{expression}"}}]{end} }}\n'
        )
    text += 'message whole { option (confluent.message_meta).rules = {name: "w" expr: "this.f != \'a\' || this.g"};'
    text += " string f = 1; bool g = 2; }\n"
    file, outcome = migrated(tmp_path_factory.mktemp("migrated"), text)
    assert (outcome.mistakes, outcome.unchecked, file.findings) == ([], "", [])
    assert "confluent" not in file.after
    of = classes({**OPTION_FILES, "t.proto": text})
    records = [(name, message) for name in (*SAME, "whole") for message in around(of(f"t.{name}"))]
    asked = [(name, message.SerializeToString()) for name, message in records]
    verdicts = judged_by_confluent(tmp_path_factory.mktemp("confluent"), text, asked)
    after = contracts(file.after)
    found: dict[str, list[tuple[str, bool, bool]]] = {}
    for (name, message), expected in zip(records, verdicts, strict=True):
        contract = after[f"t.{name}"]
        ours = contract.message_type.FromString(message.SerializeToString())
        found.setdefault(name, []).append((str(message), expected, contract.is_valid(ours)))
    return found


@pytest.mark.parametrize("name", [*SAME, "whole"])
def test_the_same_values_are_accepted(name: str, judged: dict[str, list[tuple[str, bool, bool]]]) -> None:
    assert [shown for shown, theirs, ours in judged[name] if theirs is not ours] == []
    assert {theirs for _, theirs, _ in judged[name]} == {True, False}
