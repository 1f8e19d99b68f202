"""What is turned means the same: protoc-gen-validate's own validator for Python and ours on the same messages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.migrate.support import OPTION_FILES, around, classes, contracts, judged_by_pgv, migrated

HEAD = """\
syntax = "proto3";
package t;
import "google/protobuf/any.proto";
import "google/protobuf/duration.proto";
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";
import "validate/validate.proto";
enum Color { COLOR_UNSPECIFIED = 0; RED = 1; BLUE = 5; }
message Inner { string name = 1 [(validate.rules).string.min_len = 2]; }
"""

# A field with rules of protoc-gen-validate, and what turns them; all of it must be turned.
SAME = {
    "int_bounds": "int32 f = 1 [(validate.rules).int32 = {gte: 1, lt: 64}];",
    "int_outside": "sint64 f = 1 [(validate.rules).sint64 = {gt: 64 lt: -1}];",
    "int_const": "fixed32 f = 1 [(validate.rules).fixed32.const = 7];",
    "int_in": "uint64 f = 1 [(validate.rules).uint64 = {in: [1, 2, 3], not_in: [2]}];",
    "int_ignore": "int64 f = 1 [(validate.rules).int64 = {gt: 5, ignore_empty: true}];",
    "optional": "optional int32 f = 1 [(validate.rules).int32.gt = 3];",
    "bool": "bool f = 1 [(validate.rules).bool.const = true];",
    "text_len": "string f = 1 [(validate.rules).string.len = 2];",
    "text_sizes": "string f = 1 [(validate.rules).string = {min_len: 2, max_len: 19}];",
    "text_bytes": "string f = 1 [(validate.rules).string = {min_bytes: 2 max_bytes: 36}];",
    "text_len_bytes": "string f = 1 [(validate.rules).string.len_bytes = 2];",
    "text_pattern": 'string f = 1 [(validate.rules).string.pattern = "^[A-Za-z]+$"];',
    "text_affixes": 'string f = 1 [(validate.rules).string = {prefix: "a", suffix: "m", contains: "@"}];',
    "text_not_contains": 'string f = 1 [(validate.rules).string.not_contains = "a"];',
    "text_in": 'string f = 1 [(validate.rules).string = {in: ["PERSON", "LOCATION"]}];',
    "text_not_in": 'string f = 1 [(validate.rules).string.not_in = "PERSON", (validate.rules).string.not_in = "é"];',
    "text_const": 'string f = 1 [(validate.rules).string.const = "PERSON"];',
    "text_ignore": "string f = 1 [(validate.rules).string.min_len = 5, (validate.rules).string.ignore_empty = true];",
    "uuid": "string f = 1 [(validate.rules).string.uuid = true];",
    "header": "string f = 1 [(validate.rules).string.well_known_regex = HTTP_HEADER_NAME];",
    "bytes": "bytes f = 1 [(validate.rules).bytes = {min_len: 1 max_len: 2}];",
    "bytes_prefix": 'bytes f = 1 [(validate.rules).bytes.prefix = "x"];',
    "enum": "Color f = 1 [(validate.rules).enum = {defined_only: true, not_in: [0]}];",
    "enum_const": "Color f = 1 [(validate.rules).enum.const = 5];",
    "message": "Inner f = 1 [(validate.rules).message.required = true];",
    "message_plain": "Inner f = 1;",
    "message_skip": "Inner f = 1 [(validate.rules).message.skip = true];",
    "list": "repeated int32 f = 1 [(validate.rules).repeated = {min_items: 1 max_items: 2 items: {int32: {gt: 0}}}];",
    "list_unique": "repeated string f = 1 [(validate.rules).repeated.unique = true];",
    "list_ignore": "repeated int32 f = 1 [(validate.rules).repeated = {min_items: 2, ignore_empty: true}];",
    "list_messages": "repeated Inner f = 1 [(validate.rules).repeated.min_items = 1];",
    "list_skip": "repeated Inner f = 1 [(validate.rules).repeated.items.message.skip = true];",
    "map": "map<string, int32> f = 1 [(validate.rules).map = "
    "{min_pairs: 1 keys: {string: {min_len: 1}} values: {int32: {gte: 0}}}];",
    "map_sparse": "map<string, Inner> f = 1 [(validate.rules).map.no_sparse = true];",
    "wrapper": "google.protobuf.Int32Value f = 1 [(validate.rules).int32.gt = 3];",
    "timestamp": "google.protobuf.Timestamp f = 1 [(validate.rules).timestamp = {required: true, gt: {seconds: 1}}];",
    "timestamp_now": "google.protobuf.Timestamp f = 1 [(validate.rules).timestamp.lt_now = true];",
    "duration": "google.protobuf.Duration f = 1 [(validate.rules).duration = {gte: {}, lt: {seconds: 1577836800}}];",
    "duration_required": "google.protobuf.Duration f = 1 [(validate.rules).duration.required = true];",
    "any": 'google.protobuf.Any f = 1 [(validate.rules).any = {required: true, in: ["a.com/x.Y"]}];',
    "oneof": "oneof o { option (validate.required) = true; string f = 1 [(validate.rules).string.min_len = 2]; "
    "int32 g = 2; }",
}


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[tuple[str, bool, bool]]]:
    """By source: each message, what protoc-gen-validate says of it, and what the migrated contract says."""
    text = HEAD + "".join(f"message {name} {{ {body} }}\n" for name, body in SAME.items())
    file, outcome = migrated(tmp_path_factory.mktemp("migrated"), text)
    assert (outcome.mistakes, outcome.unchecked) == ([], "")
    assert [finding for finding in file.findings if finding.kind == "left"] == []
    assert "(validate." not in file.after
    assert 'import "validate/' not in file.after
    of = classes({**OPTION_FILES, "t.proto": text})
    records = [(name, message) for name in SAME for message in around(of(f"t.{name}"))]
    asked = [(name, message.SerializeToString()) for name, message in records]
    verdicts = judged_by_pgv(tmp_path_factory.mktemp("pgv"), text, asked)
    after = contracts(file.after)
    found: dict[str, list[tuple[str, bool, bool]]] = {name: [] for name in SAME}
    for (name, message), expected in zip(records, verdicts, strict=True):
        contract = after[f"t.{name}"]
        ours = contract.message_type.FromString(message.SerializeToString())
        found[name].append((str(message), expected, contract.is_valid(ours)))
    return found


@pytest.mark.parametrize("name", SAME)
def test_the_same_values_are_accepted(name: str, judged: dict[str, list[tuple[str, bool, bool]]]) -> None:
    assert [shown for shown, theirs, ours in judged[name] if theirs is not ours] == []
    assert {theirs for _, theirs, _ in judged[name]} == {True, False} or name in NEVER_BROKEN


# Rules that no message that was parsed can break.
NEVER_BROKEN = {"message_skip", "list_skip", "map_sparse"}


def left(folder: Path, body: str, **wishes: Any) -> tuple[str, list[str]]:
    """What becomes of the body of a message, and what stays, each with the beginning of its reason."""
    file, outcome = migrated(folder, f"{HEAD}message M {{\n  {body}\n}}\n", **wishes)
    assert (outcome.mistakes, outcome.unchecked) == ([], "")
    after = file.after.partition("message M {\n  ")[2].removesuffix("\n}\n")
    return after, [f"{each.line}: {each.what}" for each in file.findings if each.kind == "left"]


@pytest.mark.parametrize(
    ("body", "after", "stays"),
    [
        (
            "string f = 1 [(validate.rules).string.email = true];",
            "string f = 1 [(validate.rules).string.email = true];",
            ["11: f: string.email"],
        ),
        (  # what is not the same stays beside what is
            "string f = 1 [(validate.rules).string = {min_len: 3, email: true}, deprecated = true];",
            "string f = 1 [(buf.validate.field).string = {min_len: 3}, (validate.rules).string.email = true, "
            "deprecated = true];",
            ["11: f: string.email"],
        ),
        (
            "repeated string f = 1 [(validate.rules).repeated = {items: {string: {ip: true min_len: 3}}}];",
            "repeated string f = 1 [(buf.validate.field).repeated = {items: {string: {min_len: 3}}}, "
            "(validate.rules).repeated.items.string.ip = true];",
            ["11: f: repeated.items.string.ip"],
        ),
        (  # where the field is set to its zero value, the two disagree about all of its rules
            "optional string f = 1 [(validate.rules).string = {min_len: 3 ignore_empty: true}];",
            "optional string f = 1 [(validate.rules).string = {min_len: 3 ignore_empty: true}];",
            ["11: f: string.min_len", "11: f: string.ignore_empty"],
        ),
        (
            "google.protobuf.StringValue f = 1 [(validate.rules).string.ignore_empty = true];",
            "google.protobuf.StringValue f = 1 [(validate.rules).string.ignore_empty = true];",
            ["11: f: string.ignore_empty"],
        ),
        (
            "string f = 1 [(validate.rules).string = {well_known_regex: HTTP_HEADER_NAME strict: false}];",
            "string f = 1 [(buf.validate.field).string = {strict: false}, "
            "(validate.rules).string.well_known_regex = HTTP_HEADER_NAME];",
            ["11: f: string.well_known_regex"],
        ),
        (
            "bytes f = 1 [(validate.rules).bytes.pattern = 'a+'];",
            "bytes f = 1 [(validate.rules).bytes.pattern = 'a+'];",
            ["11: f: bytes.pattern"],
        ),
        (  # nothing of a message that is switched off may begin to be demanded
            "option (validate.disabled) = true;\n  string f = 1 [(validate.rules).string.min_len = 3];",
            "option (validate.disabled) = true;\n  string f = 1 [(validate.rules).string.min_len = 3];",
            ["11: (validate.disabled)", "12: (validate.rules) of f"],
        ),
    ],
)
def test_what_is_not_the_same_stays(body: str, after: str, stays: list[str], tmp_path: Path) -> None:
    assert left(tmp_path, body) == (after, stays)


def test_what_is_not_the_same_is_turned_where_somebody_wants_it(tmp_path: Path) -> None:
    body = "string f = 1 [(validate.rules).string = {min_len: 3, email: true}];"
    after, stays = left(tmp_path, body, accepted=frozenset({"string.email"}))
    assert after == "string f = 1 [(buf.validate.field).string = {min_len: 3, email: true}];"
    assert stays == []


LAID_OUT = """// A licence.
syntax = "proto3";

package   shop.v1; // with odd spaces

import "google/protobuf/timestamp.proto";
import "validate/validate.proto"; // theirs

/* A user. */
message User {
  option deprecated = false;

  // Its number.
  uint64 id = 1 [(validate.rules).uint64.gt = 999]; // above the old ones

  string name = 3 [(validate.rules).string = { // as it is shown
    pattern: "^[^[0-9]A-Za-z]+( \\"[^[0-9]A-Za-z]+)*$" // quotes; and { braces } in texts
    "|;",
    max_bytes: 256, /* of UTF-8 */
    ignore_empty: true
  }];

  google.protobuf.Timestamp at = 5 [
    (validate.rules).timestamp.required = true, // always
    (validate.rules).timestamp.lt_now = true
  ];
  map<string, User> friends = 7 [(validate.rules).map.no_sparse = true];
  oneof how { option (validate.required) = true; string mail = 8; }
  reserved 9, 10 to 12;
  extensions 100 to 200;
  enum Kind { option allow_alias = true; KIND = 0; OTHER = 0; }
}
"""

TURNED = """// A licence.
syntax = "proto3";

package   shop.v1; // with odd spaces

import "google/protobuf/timestamp.proto";
import "buf/validate/validate.proto"; // theirs

/* A user. */
message User {
  option deprecated = false;

  // Its number.
  uint64 id = 1 [(buf.validate.field).uint64.gt = 999]; // above the old ones

  string name = 3 [(buf.validate.field).string = { // as it is shown
    pattern: "^[^[0-9]A-Za-z]+( \\"[^[0-9]A-Za-z]+)*$" // quotes; and { braces } in texts
    "|;",
    max_bytes: 256 /* of UTF-8 */
  },
  (buf.validate.field).ignore = IGNORE_IF_ZERO_VALUE];

  google.protobuf.Timestamp at = 5 [
    (buf.validate.field).required = true, // always
    (buf.validate.field).timestamp.lt_now = true
  ];
  map<string, User> friends = 7;
  oneof how { option (buf.validate.oneof).required = true; string mail = 8; }
  reserved 9, 10 to 12;
  extensions 100 to 200;
  enum Kind { option allow_alias = true; KIND = 0; OTHER = 0; }
}
"""


@pytest.mark.parametrize("ends", ["\n", "\r\n"], ids=["unix", "windows"])
def test_comments_and_layout_are_kept(ends: str, tmp_path: Path) -> None:
    source = LAID_OUT.replace("  extensions 100 to 200;\n", "")  # proto3 has none; the reader knows them
    expected = TURNED.replace("  extensions 100 to 200;\n", "")
    file, outcome = migrated(tmp_path, source.replace("\n", ends))
    assert outcome.mistakes == []
    assert file.after == expected.replace("\n", ends)


def test_a_source_that_is_not_read_stays(tmp_path: Path) -> None:
    file, _ = migrated(tmp_path, 'syntax = "proto3";\nmessage A { string f = 1 [(validate.rules).string = {\n')
    assert file.after == file.before
    assert [(each.kind, each.what) for each in file.findings] == [("left", "the file")]


def test_files_without_such_annotations_are_left_alone(tmp_path: Path) -> None:
    text = 'syntax = "proto3";\nimport "buf/validate/validate.proto";\nmessage A { string f = 1 [json_name = "x"]; }\n'
    file, outcome = migrated(tmp_path, text)
    assert (file.after, file.turned, outcome.mistakes) == (text, 0, [])


ODD = """\
/* a licence; { } */ syntax = "proto2"; package a.b; // one line
import public "google/protobuf/any.proto"; import weak "google/protobuf/duration.proto";
import "google/protobuf/descriptor.proto";
import "validate/validate.proto";
option java_package = "x";
extend google.protobuf.FieldOptions { optional string mine = 50001; }
service S { option deprecated = true; rpc A (M) returns (stream M) { option deprecated = true; } rpc B(M) returns (M); }
enum message_kind { A = 0 [deprecated = true]; B = -1; }
message M {
  optional string message = 1 [(validate.rules).string.min_len = 1];
  optional string option = 2 [(.validate.rules).string = {max_len: 5;}, default = "a;]}", (mine) = "{"];
  optional int32 reserved = 3 [ (validate.rules) = { int32 { gte: 1; lte: 0x10 } } , deprecated=true ];
  repeated group Old = 4 { optional int32 x = 1 [(validate.rules).int32.gt = 1]; }
  optional .a.b.M oneof = 5 [(validate.rules).message = <required: true>];
  map < string , int32 > map = 6 [(validate.rules).map = {keys {string {in: ["a", 'b']}} values {int32 {in: [-3]}}}];
  reserved 7, 9 to 11; reserved "foo", "bar"; extensions 100 to max;
  extend M { optional string more = 101 [(validate.rules).string.min_len = 4]; }
  oneof which { string s = 12 [(validate.rules).string.len = 3]; M m = 13; }
  optional google.protobuf.Duration d = 15 [(validate.rules).duration = {gt {seconds: 1}, lt { seconds : 5 }}];
  optional bytes raw = 16 [(validate.rules).bytes = {prefix: "\\x99\\"]", not_in: "a" not_in: "b"}];
  optional double dd = 17 [(validate.rules).double = {gte: -1e-5, lt: inf}];
  message Inner { optional uint64 id = 1 [(validate.rules).uint64.const = 18446744073709551615]; }
}
"""


def test_the_whole_language_is_read(tmp_path: Path) -> None:
    """Words of the language as names, groups, both kinds of brackets, extensions, statements side by side."""
    file, outcome = migrated(tmp_path, ODD)
    assert (outcome.mistakes, outcome.unchecked) == ([], "")
    assert [(each.line, each.what) for each in file.findings if each.kind == "left"] == [
        (17, "(validate.rules) of more")
    ]
    lines = [line for line in file.after.splitlines() if line != 'import "buf/validate/validate.proto";']
    changed = [(before, after) for before, after in zip(ODD.splitlines(), lines, strict=True) if before != after]
    assert len(changed) == 11
    for before, after in changed:
        assert after == re.sub(r"\(\.?validate\.rules\)", "(buf.validate.field)", before).replace(
            "(buf.validate.field).message = <required: true>", "(buf.validate.field).required = true"
        )
