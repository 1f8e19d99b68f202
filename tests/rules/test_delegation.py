"""Messages that are left to protovalidate: said in the header, refused under strict, equal and as private as others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import protovalidate
import pytest
from google.protobuf import text_format

from protocontract import Contract, ContractError
from protocontract_compiler import load_protos, plugin
from tests.compiler.sources import descriptors, request
from tests.fuzz.compare import equal, ours, theirs

PROTO = """
syntax = "proto3";
package left;
import "buf/validate/validate.proto";
import "protocontract/v1/contract.proto";
message Top {
  string name = 1 [(buf.validate.field).string.min_len = 2];
  Loose one = 2 [(buf.validate.field).required = true];
  repeated Loose many = 3 [(buf.validate.field).repeated.max_items = 2];
  map<string, Loose> by_name = 4 [(buf.validate.field).map.values.cel = {id: "v" expression: "this.a != 9"}];
  oneof choice { Loose chosen = 5; string other = 6; }
  Middle middle = 7;
  int32 last = 8 [(buf.validate.field).int32.gt = 0];
  Loose secret = 9 [(protocontract.v1.field).sensitive = true];
}
message Middle { Loose inner = 1; Top top = 2; string word = 3 [(buf.validate.field).string.len = 3]; }
message Loose {
  option (buf.validate.message).cel = {id: "dyn" message: "no"
    expression: "this.a > 5 || this.b.matches(this.b + 'x')"};
  option (buf.validate.message).cel = {id: "text" expression: "this.hidden == 'leak' ? 'saw ' + this.hidden : ''"};
  int32 a = 1 [(buf.validate.field).int32.lt = 8];
  string b = 2;
  string hidden = 3 [(protocontract.v1.field).sensitive = true, (buf.validate.field).string.max_len = 4,
    (buf.validate.field).cel = {id: "quote" expression: "this == 'quote' ? 'got ' + this : ''"}];
  Deep deep = 4;
  map<string, Deep> deeps = 5;
  repeated Loose again = 6;
}
message Deep {
  string key = 1 [(protocontract.v1.field).sensitive = true, (buf.validate.field).string.min_len = 7];
  string open = 2 [(buf.validate.field).string.min_len = 7];
}
"""

MESSAGES = [
    "",
    "name: 'ab' one {a: 6} last: 1",
    "name: 'ab' one {} last: 1",
    "one {a: 9} many {a: 1} many {a: 9} many {} by_name {key: 'k' value {a: 9}} chosen {a: 3}",
    "one {a: 6 deep {} deeps {key: 'x' value {}} again {a: 6 deep {}}}",
    "middle {inner {a: 9} top {one {a: 8}}}",
    "one {a: 6 hidden: 'quote'} secret {a: 6 hidden: 'leak' deep {key: 'abc'}}",
]
SECRETS = "one {a: 6 hidden: 'quote' deep {key: 'k3y' open: 'op3n'} again {a: 6 hidden: 'leak' deep {key: 'k3y'}}} "


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("left")
    (made / "m.proto").write_text(PROTO)
    return made


@pytest.fixture(scope="module")
def contract(folder: Path) -> Contract[Any]:
    return load_protos([folder / "m.proto"], folder)["left.Top"]


def test_the_header_says_which_message_and_why(folder: Path, tmp_path: Path) -> None:
    response = plugin.respond(request(descriptors(["m.proto"], [folder], tmp_path), ["m.proto"], ""))
    text = next(file.content for file in response.file if file.name.endswith("_contract.py"))
    header = text.partition('"""')[0]
    (line,) = [line for line in header.splitlines() if "left to protovalidate" in line]
    assert line.startswith("# left.Loose is left to protovalidate, because of rule dyn: "), line
    assert "All buf.validate rules are compiled" not in header
    # The others are compiled.
    assert "string.min_len" in text
    assert text.count("_rt.delegate(") >= 1


def test_strict_refuses(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ContractError, match=r"m\.proto:\d+:\d+: error\[cel-untranslatable\]: .*rule `dyn` cannot be"):
        load_protos([folder / "m.proto"], folder, strict=True)
    files = descriptors(["m.proto"], [folder], tmp_path)
    response = plugin.respond(request(files, ["m.proto"], f"strict,source_root={folder}"))
    assert not response.file
    assert "error[cel-untranslatable]" in response.error
    assert "leave out `strict`" in response.error


@pytest.mark.parametrize("text", MESSAGES)
def test_violations_equal_protovalidates(contract: Contract[Any], text: str) -> None:
    """But for rules of messages that hold something sensitive: there the id stands for the text.

    (Which may be a constant, but not even protovalidate tells.)
    """
    message = text_format.Parse(text, contract.message_type())
    expected, found = theirs(protovalidate.Validator(), message), ours(contract, message)
    if not isinstance(expected, str):
        expected = [_without_quotes(raw) for raw in expected]
    assert equal(expected, found)


def _without_quotes(raw: bytes) -> bytes:
    violation = protovalidate.ViolationPb.from_binary(raw)
    if violation.rule_id in ("text", "quote", "dyn"):
        violation.message = violation.rule_id
    return violation.to_binary()


def test_nothing_sensitive_is_shown(contract: Contract[Any]) -> None:
    message = text_format.Parse(SECRETS + "name: 'ab' last: 1", contract.message_type())
    found = contract.validate(message)
    shown = {violation.field_path: violation for violation in found}
    assert {
        "one.hidden", "one.deep.key", "one.deep.open", "one.again[0]", "one.again[0].deep.key",
        "one.again[0].deep.open",
    } <= set(shown)  # fmt: skip
    for violation in found:
        text = f"{violation} {violation!r} {violation.message} {violation.to_proto().to_json()}"
        assert not any(secret in text for secret in ("got quote", "leak", "k3y"))
        if not violation.field_path.endswith("open"):
            assert violation.sensitive, violation.field_path
            assert violation.value is None, violation.field_path
    assert shown["one.deep.open"].value == "op3n"
    assert shown["one.deep.open"].message == "must be at least 7 characters"


def test_what_is_in_a_sensitive_field_is_sensitive(contract: Contract[Any]) -> None:
    text = "name: 'ab' last: 1 one {a: 6} secret {a: 9 deep {open: 'op3n'}}"
    message = text_format.Parse(text, contract.message_type())
    found = contract.validate(message)
    assert [violation.field_path for violation in found] == [
        "secret.a", "secret.deep.key", "secret.deep.open",
    ]  # fmt: skip
    assert [violation.value for violation in found if violation.sensitive] == [None] * 3
