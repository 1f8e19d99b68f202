"""What rules accept, compared: each row one change of a field or message, with the relation that it must have."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from protocontract_ci.diff.oracle import MessageComparison
from protocontract_ci.meaning.judges import Judges
from protocontract_ci.meaning.oracle import MeaningOracle
from protocontract_ci.sources import Contracts, read

HEAD = """
syntax = "proto3";
package t.v1;
import "buf/validate/validate.proto";
import "google/protobuf/duration.proto";
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";
enum E { E_U = 0; E_A = 1; E_B = 2; }
message S { string x = 1; int32 y = 2; }
message Unused { google.protobuf.Duration d = 1; google.protobuf.Timestamp t = 2; google.protobuf.StringValue s = 3; }
"""


def field(kind: str, rules: str) -> str:
    return f"{kind} f = 1 [(buf.validate.field).{rules}];"


def cel(expression: str, fields: str) -> str:
    return f'option (buf.validate.message).cel = {{id: "o" expression: "{expression}"}}; {fields}'


INT, STRING, STRINGS = "int32", "string", "repeated string"
TWO = "int64 a = 1; int64 b = 2;"
ROWS = {
    "characters to bytes": (field(STRING, "string.min_len = 3"), field(STRING, "string.min_bytes = 3"), "weaker"),
    "bytes to characters": (field(STRING, "string.min_bytes = 3"), field(STRING, "string.min_len = 3"), "stronger"),
    "infinity": (field("double", "double.gt = 0"), field("double", "double = {gt: 0 finite: true}"), "stronger"),
    "nan breaks a bound": (field("double", "double.gt = 0"), field("double", "double = {gt: 0}"), "equal"),
    "bounds to a set": (field(INT, "int32 = {gte: 1 lte: 3}"), field(INT, "int32 = {in: [1, 2, 3]}"), "equal"),
    "both bounds move": (field(INT, "int32 = {gte: 1 lte: 9}"), field(INT, "int32 = {gte: 2 lte: 10}"), "incomparable"),
    "overflow is a refusal": (cel("this.a + this.b > this.a", TWO), cel("this.b > 0", TWO), "weaker"),
    "pattern": (
        field(STRING, 'string.pattern = "^[a-z]+$"'),
        field(STRING, 'string.pattern = "^[a-z]{1,5}$"'),
        "stronger",
    ),
    "pattern, written anew": (
        field(STRING, 'string.pattern = "^[a-z]+$"'),
        field(STRING, 'string.pattern = "^[a-z][a-z]*$"'),
        "equal",
    ),
    "pattern to length": (field(STRING, 'string.pattern = "^[a-z]{3}$"'), field(STRING, "string.len = 3"), "weaker"),
    "word to part": (
        field(STRING, r'string.pattern = "\\bab\\b"'),
        field(STRING, 'string.contains = "ab"'),
        "weaker",
    ),
    "email to pattern": (field(STRING, "string.email = true"), field(STRING, 'string.pattern = "@"'), "weaker"),
    "ipv4 to ip": (field(STRING, "string.ipv4 = true"), field(STRING, "string.ip = true"), "weaker"),
    "uuid to length": (field(STRING, "string.uuid = true"), field(STRING, "string = {len: 36}"), "weaker"),
    "items": (
        field(STRINGS, "repeated.items.string.min_len = 2"),
        field(STRINGS, "repeated.items.string.min_len = 3"),
        "stronger",
    ),
    "items to CEL": (
        field(STRINGS, "repeated = {min_items: 1 items: {string: {min_len: 2}}}"),
        field(STRINGS, 'cel = {id: "x" expression: "this.size() > 0 && this.all(e, e.size() >= 2)"}'),
        "equal",
    ),
    "more items": (
        field("repeated int32", "repeated.min_items = 5"),
        field("repeated int32", "repeated.min_items = 8"),
        "stronger",
    ),
    "one item is unique": (
        field("repeated int32", "repeated = {max_items: 1}"),
        field("repeated int32", "repeated = {max_items: 1 unique: true}"),
        "equal",
    ),
    "keys and values": (
        field("map<string, int32>", "map.keys.string.min_len = 2"),
        field("map<string, int32>", "map = {keys: {string: {min_len: 1}} values: {int32: {gt: 0}}}"),
        "incomparable",
    ),
    "wrapper": (
        field("google.protobuf.StringValue", "string.min_len = 2"),
        "google.protobuf.StringValue f = 1 [(buf.validate.field) = {required: true string: {min_len: 2}}];",
        "stronger",
    ),
    "duration": (
        field("google.protobuf.Duration", "duration.lte = {seconds: 5}"),
        field("google.protobuf.Duration", "duration.lt = {seconds: 5}"),
        "stronger",
    ),
    "clock": (
        field("google.protobuf.Timestamp", "timestamp.lt_now = true"),
        field("google.protobuf.Timestamp", "timestamp = {lt_now: true within: {seconds: 60}}"),
        "stronger",
    ),
    "enum": (field("E", "enum = {in: [1, 2]}"), field("E", "enum = {defined_only: true not_in: [0]}"), "equal"),
    "const to required": (field("bool", "bool.const = true"), field("bool", "required = true"), "equal"),
    "required and length": (field(STRING, "string.min_len = 1"), field(STRING, "required = true"), "equal"),
    "float": (field("float", "float.gt = 0.1"), field("float", "float.gte = 0.1"), "weaker"),
    "bytes": (field("bytes", "bytes.min_len = 2"), field("bytes", 'bytes = {min_len: 2 prefix: "ab"}'), "stronger"),
    "nested and unset": (
        cel("this.s.x != ''", "S s = 1;"),
        cel("has(this.s) && this.s.x.size() > 0", "S s = 1;"),
        "equal",
    ),
    "oneof": (
        "oneof o { int32 a = 1; int32 b = 2; }",
        "oneof o { option (buf.validate.oneof).required = true; int32 a = 1; int32 b = 2; }",
        "stronger",
    ),
    "ignore": (
        field(STRING, "string.min_len = 2"),
        "string f = 1 [(buf.validate.field) = {ignore: IGNORE_IF_ZERO_VALUE string: {min_len: 2}}];",
        "weaker",
    ),
    "an inverted range": (field(INT, "int32 = {gt: 10 lt: 5}"), field(INT, "int32 = {gt: 20 lt: 5}"), "stronger"),
    "another spelling": (cel("this.a <= this.b", TWO), cel("!(this.b < this.a)", TWO), "equal"),
    "rule to message": (field(INT, "int32.gte = 1"), cel("this.f >= 1", "int32 f = 1;"), "equal"),
}


def sides(folder: Path, before: str, after: str) -> tuple[Contracts, Contracts]:
    for name, body in (("before", before), ("after", after)):
        (folder / name).mkdir()
        (folder / name / "m.proto").write_text(f"{HEAD}message M {{ {body} }}\n", encoding="utf-8")
    return read(str(folder / "before")), read(str(folder / "after"))


def compared(folder: Path, before: str, after: str) -> tuple[MessageComparison, tuple[Contracts, Contracts]]:
    both = sides(folder, before, after)
    return MeaningOracle().compare(*both, "t.v1.M", "t.v1.M"), both


@pytest.mark.parametrize("name", ROWS)
def test_relation(name: str, tmp_path: Path) -> None:
    before, after, relation = ROWS[name]
    found, both = compared(tmp_path, before, after)
    assert found.message.relation == relation
    judges = [Judges(side) for side in both]
    for rule in (found.message, *found.rules.values()):
        for witness, here, there in ((rule.lost, 0, 1), (rule.gained, 1, 0)):
            if witness is not None:
                # What is called a witness is accepted on its side and refused on the other, by both validators.
                assert judges[here].accepts("t.v1.M", witness.data) is True
                assert judges[there].accepts("t.v1.M", witness.data) is False


def test_fields_that_have_nothing_to_do_with_it_do_not_tire_the_solver(tmp_path: Path) -> None:
    others = """
      string id = 1 [(buf.validate.field).string.uuid = true];
      string mail = 2 [(buf.validate.field).string.email = true];
      string name = 3 [(buf.validate.field).string = {pattern: "^[A-Z][a-z]{2,30}( [A-Z][a-z]{2,30})*$" max_bytes: 60}];
      string host = 4 [(buf.validate.field).string.hostname = true];
      repeated string tags = 5 [(buf.validate.field).repeated = {unique: true items: {string: {pattern: "^[a-z]+$"}}}];
      google.protobuf.Timestamp at = 6 [(buf.validate.field).timestamp.lt_now = true];
      double share = 7 [(buf.validate.field).double = {gte: 0 lte: 1 finite: true}];
    """
    memo = "string memo = 8 [(buf.validate.field).string.max_len = {}];"
    found, _ = compared(tmp_path, others + memo.format(140), others + memo.format(100))
    assert found.message.relation == "stronger"


def test_each_rule_has_its_own_relation(tmp_path: Path) -> None:
    found, _ = compared(tmp_path, field(STRING, "string.min_bytes = 2"), field(STRING, "string.min_len = 2"))
    relations = {path: rule.relation for (_, path), rule in found.rules.items()}
    assert relations["string.min_bytes"] == "equal"
    assert relations["string.min_len"] == "stronger"


def test_a_renamed_field_is_the_same_field(tmp_path: Path) -> None:
    found, _ = compared(
        tmp_path, "int32 a = 1 [(buf.validate.field).int32.gt = 1];", "int32 b = 1 [(buf.validate.field).int32.gt = 2];"
    )
    assert found.rules["a", "int32.gt"].relation == "stronger"


def test_the_same_input_gives_the_same_witness() -> None:
    """Whatever numbers texts are hashed by, and whatever the process has compared before."""
    script = (
        "import sys, tempfile, pathlib\n"
        "from tests.gate.meaning.test_meaning import ROWS, compared\n"
        "told = {}\n"
        "for name in sys.argv[1:]:\n"
        "    with tempfile.TemporaryDirectory() as folder:\n"
        "        told[name], _ = compared(pathlib.Path(folder), *ROWS[name][:2])\n"
        "print(*(told[name] for name in sorted(told)), sep='\\n')\n"
    )
    names = ("keys and values", "word to part", "pattern", "email to pattern")
    texts = {
        subprocess.run(
            [sys.executable, "-c", script, *order],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
            cwd=Path(__file__).parents[3],
        ).stdout
        for seed, order in (("1", names), ("2", names[::-1]))
    }
    assert len(texts) == 1
