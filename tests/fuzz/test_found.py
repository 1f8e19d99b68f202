"""What differential runs have found, each as the smallest contract that showed it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import protovalidate
import pytest
from google.protobuf import text_format

from protocontract_compiler import load_protos
from tests.fuzz.compare import equal, ours, theirs

HEAD = """
import "buf/validate/validate.proto";
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";
"""

#: Name -> (contract, messages in text format).
FOUND = {
    "a message that holds nothing is the zero value of an item": (
        """message M {
             repeated Inner items = 1 [(buf.validate.field).repeated.items.ignore = IGNORE_IF_ZERO_VALUE];
             map<string, Inner> entries = 2 [(buf.validate.field).map.values.ignore = IGNORE_IF_ZERO_VALUE];
             repeated google.protobuf.StringValue texts = 3 [(buf.validate.field).repeated.items = {
               ignore: IGNORE_IF_ZERO_VALUE string: {const: "x"}}];
             repeated google.protobuf.Timestamp moments = 4 [(buf.validate.field).repeated.items = {
               ignore: IGNORE_IF_ZERO_VALUE timestamp: {const: {seconds: 5}}}];
           }
           message Inner {
             optional int32 a = 1 [(buf.validate.field).required = true];
             optional int32 b = 2;
           }""",
        ["items {}", "items {b: 0}", "entries {key: 'a' value {}}", "entries {key: 'a' value {b: 1}}", "texts {}",
         "texts {value: 'a'}", "moments {}", "moments {nanos: 1}"],
    ),
    "unique() of wrappers compares what they wrap": (
        """message M {
             repeated google.protobuf.DoubleValue numbers = 1 [(buf.validate.field).repeated.unique = true];
             repeated google.protobuf.StringValue texts = 2 [(buf.validate.field).repeated.unique = true];
             repeated google.protobuf.Int64Value ints = 3 [(buf.validate.field).cel = {
               id: "small" expression: "this.all(i, i < 3) && this.map(i, i + 1) != [1]"}];
             map<string, google.protobuf.Int64Value> by_name = 4 [(buf.validate.field).cel = {
               id: "a" expression: "!('a' in this) || this['a'] > 1"}];
           }""",
        ["numbers {value: 1} numbers {value: 1}", "numbers {value: 1} numbers {}", "texts {} texts {}",
         "texts {value: 'a'} texts {value: 'b'}", "ints {value: 2} ints {}", "ints {value: 4}", "ints {}",
         "by_name {key: 'a' value {}}", "by_name {key: 'a' value {value: 2}}"],
    ),
    "getField() reads an unset wrapper as its default": (
        """message M {
             option (buf.validate.message).cel = {id: "low" expression: "getField(this, 'w') >= 1"};
             option (buf.validate.message).cel = {id: "null"
               expression: "getField(this, 'w') == null || this.w == null"};
             google.protobuf.Int32Value w = 1;
           }""",
        ["", "w {}", "w {value: 2}"],
    ),
    "a missing field behind dyn() is an error only where it is evaluated": (
        """message M {
             option (buf.validate.message).cel = {id: "dyn" expression: "this.a > 0 || dyn(this).nosuch == 1"};
             int32 a = 1;
           }""",
        ["", "a: 1", "a: -1"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FOUND)
def test_found_differences_stay_gone(name: str, tmp_path: Path) -> None:
    source, messages = FOUND[name]
    (tmp_path / "m.proto").write_text(f'syntax = "proto3";\npackage found;\n{HEAD}\n{source}\n')
    contract = load_protos([tmp_path / "m.proto"], tmp_path)["found.M"]
    validator = protovalidate.Validator()
    verdicts = []
    for text in messages:
        message = text_format.Parse(text, contract.message_type())
        expected, found = theirs(validator, message), ours(contract, message)
        assert equal(expected, found), (text, expected, found)
        verdicts.append(expected)
    # The messages are on both sides of the rules.
    assert any(verdicts)
    assert len({str(verdict) for verdict in verdicts}) > 1


def test_two_versions_of_a_delegated_contract_stand_side_by_side(tmp_path: Path) -> None:
    """protovalidate's validator keeps extensions by number: each pool needs one of its own."""
    contracts: list[Any] = []
    for version in ("one", "two"):
        folder = tmp_path / version
        folder.mkdir()
        (folder / "m.proto").write_text(
            f'syntax = "proto2";\npackage found.{version};\n{HEAD}\n'
            "extend buf.validate.StringRules { optional bool house = 1100 [(buf.validate.predefined).cel = "
            f'{{id: "house.{version}" expression: "!rule || this != \'\'"}}]; }}\n'
            'message M { option (buf.validate.message).cel = {id: "d" expression: "dyn(this).nosuch == 1 || true"};\n'
            f"  optional string a = 1 [(buf.validate.field).string.(found.{version}.house) = true]; }}\n"
        )
        contracts.append(load_protos([folder / "m.proto"], folder)[f"found.{version}.M"])
    for version, contract in zip(("one", "two"), contracts, strict=True):
        found = contract.validate(contract.message_type(a=""))
        assert [violation.rule_id for violation in found] == [f"house.{version}"]


def test_a_package_may_be_a_python_keyword(tmp_path: Path) -> None:
    (tmp_path / "class").mkdir()
    (tmp_path / "class" / "lambda.proto").write_text(
        f'syntax = "proto3";\npackage class.lambda;\n{HEAD}\n'
        "message None { string from = 1 [(buf.validate.field).string.min_len = 1]; None def = 2; }\n"
    )
    contract = load_protos([tmp_path / "class" / "lambda.proto"], tmp_path)["class.lambda.None"]
    message = contract.message_type()
    getattr(message, "def").SetInParent()
    assert [violation.field_path for violation in contract.validate(message)] == ["from", "def.from"]
