"""What a program sees of a contract in TypeScript: drafts that no parser has looked at, copies, exceptions, options."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from protocontract_compiler import dynamic, ir, pipeline
from protocontract_compiler.descriptors import load
from protocontract_compiler.diagnostics import Diagnostics
from tests.typescript.support import evaluated, needs_node, write

pytestmark = needs_node

SOURCE = """
edition = "2023";
package form;
import "buf/validate/validate.proto";
import "google/protobuf/struct.proto";
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";
import "protocontract/v1/contract.proto";
option features.field_presence = IMPLICIT;
enum Kind { KIND_NONE = 0; KIND_ONE = 1; }
message Draft {
  option (protocontract.v1.contract) = {version: "1.2.3", contexts: {key: "late", value: {names: "closing"}}};
  option (buf.validate.message).cel = {id: "late" message: "too late" expression: "now < timestamp(2000)"};
  string text = 1 [(buf.validate.field).string.min_len = 2, (protocontract.v1.field).text.trim = true];
  int32 count = 2;
  uint32 size = 3;
  int64 id = 4;
  uint64 big = 5;
  float single = 6;
  double wide = 7;
  bool flag = 8;
  bytes raw = 9;
  Kind kind = 10;
  repeated string tags = 11 [(buf.validate.field).repeated.items = {ignore: IGNORE_IF_ZERO_VALUE string: {max_len: 3}}];
  map<int32, string> names = 12;
  google.protobuf.Timestamp at = 13;
  google.protobuf.Int32Value wrapped = 14;
  google.protobuf.Struct extra = 15;
  oneof choice { string one = 16 [(buf.validate.field).string.min_len = 1]; Draft other = 17; }
  string secret = 18 [(protocontract.v1.field).sensitive = true, (buf.validate.field).string.max_len = 4];
  map<int32, Draft> drafts = 19 [(buf.validate.field).map.values.cel = {id: "told" expression: "this.count < 9"}];
}
message Legacy { string must = 1 [features.field_presence = LEGACY_REQUIRED]; int32 size = 2; }
"""

HEAD = """
import { draft, legacy } from "./form_contract.js";
import { explain } from "./protocontract/v1/violation.js";
import { ContractViolation } from "./protocontract/v1/contract.js";
const blank = () => ({ text: "ab", count: 0, size: 0, id: 0n, big: 0n, single: 0, wide: 0, flag: false,
  raw: new Uint8Array(), kind: 0, tags: [], names: {}, choice: { case: undefined }, secret: "", drafts: {} });
const now = 0n;
const told = (message) => draft.process(message, { now }).violations.map((found) => [found.path, found.ruleId]);
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    files = dynamic.describe({"form.proto": SOURCE})
    loaded = load(files, ["form.proto"], Diagnostics())
    schema: ir.Schema = pipeline.compile_schema(loaded, Diagnostics(), pipeline.CompileOptions())
    made = tmp_path_factory.mktemp("objects")
    write(schema, ["form.Draft", "form.Legacy"], made)
    return made


def run(folder: Path, expression: str) -> Any:
    shown = "(_, value) => typeof value === 'bigint' ? `${value}n` : value"
    return evaluated(folder, f"{HEAD}\nconsole.log(JSON.stringify({expression}, {shown}));")


DRAFTS: dict[str, tuple[str, str]] = {
    "half a pair": ('{ text: "a\\ud83d" }', "text"),
    "halves in the wrong order": ('{ text: "\\ude00\\ud83d" }', "text"),
    "no text": ("{ text: 7 }", "text"),
    "absent": ("{ text: undefined }", "text"),
    "a fraction": ("{ count: 1.5 }", "count"),
    "beyond 32 bits": ("{ count: 2147483648 }", "count"),
    "no number": ("{ count: NaN }", "count"),
    "negative": ("{ size: -1 }", "size"),
    "a number for 64 bits": ("{ id: 1 }", "id"),
    "beyond 64 bits": ("{ id: 2n ** 63n }", "id"),
    "beyond 64 bits without sign": ("{ big: 2n ** 64n }", "big"),
    "beyond single precision": ("{ single: 1e39 }", "single"),
    "a text for a number": ('{ wide: "1" }', "wide"),
    "a number for a bool": ("{ flag: 1 }", "flag"),
    "a list for bytes": ("{ raw: [1] }", "raw"),
    "half an enum": ("{ kind: 0.5 }", "kind"),
    "no list": ('{ tags: "ab" }', "tags"),
    "an item": ('{ tags: ["ab", null] }', "tags[1]"),
    "no map": ("{ names: null }", "names"),
    "a key": ('{ names: { "1.0": "x" } }', "names"),
    "a value": ("{ names: { 1: 2 } }", "names[1]"),
    "no moment": ("{ at: new Date(0) }", "at.seconds"),
    "a wrapper": ("{ wrapped: 2 ** 40 }", "wrapped"),
    "no object": ("{ extra: 1 }", "extra"),
    "no oneof": ("{ choice: undefined }", "one"),
    "an unknown case": ('{ choice: { case: "none", value: 1 } }', "one"),
    "a member": ('{ choice: { case: "one", value: 1 } }', "one"),
    "below": ('{ choice: { case: "other", value: { ...blank(), count: 0.1 } } }', "other.count"),
}


@pytest.fixture(scope="module")
def malformed(folder: Path) -> Any:
    drafts = ", ".join(f"told({{ ...blank(), ...{draft} }})" for draft, _ in DRAFTS.values())
    return dict(zip(DRAFTS, run(folder, f"[{drafts}]"), strict=True))


@pytest.mark.parametrize("name", DRAFTS)
def test_what_a_field_cannot_hold_is_refused(name: str, malformed: Any) -> None:
    """Where Python's parser or its setters would have said no; and no rule is asked afterwards."""
    assert malformed[name] == [[DRAFTS[name][1], "wire.malformed"]]


def test_what_is_no_message_is_refused(folder: Path) -> None:
    assert run(folder, "[told(null), told(undefined), told(7)]") == [[["", "wire.malformed"]]] * 3


def test_a_draft_that_holds_itself_is_refused(folder: Path) -> None:
    script = "(() => { const mine = blank(); mine.choice = { case: 'other', value: mine }; return told(mine); })()"
    [[path, rule]] = run(folder, script)
    assert (path.count("other"), rule) == (100, "wire.malformed")


def test_a_field_that_the_wire_always_has_must_be_there(folder: Path) -> None:
    found = run(
        folder, "[{ size: 1 }, { size: 1, must: '' }].map((made) => legacy.validate(made).map((v) => v.ruleId))"
    )
    assert found == [["wire.malformed"], []]


def test_the_callers_object_is_left_alone(folder: Path) -> None:
    script = """(() => {
      const mine = { ...blank(), text: " ab ", tags: ["x"], choice: { case: "one", value: "y" } };
      const outcome = draft.process(mine, { now });
      outcome.message.tags.push("z");
      outcome.message.raw.fill(1);
      return [mine.text, mine.tags, outcome.message.text, outcome.ok, outcome.changes, draft.normalize(mine).text];
    })()"""
    change = {"path": "text", "ruleId": "text", "before": " ab ", "after": "ab"}
    assert run(folder, script) == [" ab ", ["x"], "ab", True, [change], "ab"]


def test_exceptions_tell_all_violations_without_values(folder: Path) -> None:
    script = """(() => {
      try { draft.assertValid({ ...blank(), text: "x", secret: "hunter2", tags: ["", "four"] }, { now }); }
      catch (error) {
        const values = error.violations.map((found) => found.value ?? null);
        return [error instanceof ContractViolation, error.message, values];
      }
    })()"""
    is_ours, text, values = run(folder, script)
    assert is_ours
    assert text.splitlines()[0] == "3 violations of the contract"
    assert "text: must be at least 2 characters, got a 1-character text (string.min_len, 0x" in text
    assert "secret: must be at most 4 characters, got a 7-character text" in text
    assert "hunter2" not in text
    # Of a sensitive field not even `value` has it.
    assert values == ["x", "four", None]


def test_contexts_and_the_clock(folder: Path) -> None:
    script = """[
      draft.validate(blank(), { now }), draft.validate(blank(), { now: 3000n * 1_000_000_000n }),
      draft.validate(blank(), { now: 3000n * 1_000_000_000n, context: "closing" }), draft.validate(blank()),
    ].map((found) => found.map((violation) => violation.ruleId))"""
    assert run(folder, script) == [[], ["late"], ["late"], ["late"]]
    script = "(() => { try { draft.isValid(blank(), { context: 'no' }); } catch (error) { return `${error}`; } })()"
    assert run(folder, script) == 'RangeError: "no" is no context of form.Draft; expected closing'


def test_a_contract_says_which_it_is(folder: Path) -> None:
    from protocontract_compiler import compile as compile_contracts

    contract = compile_contracts(dynamic.describe({"form.proto": SOURCE}))["form.Draft"]
    found = run(folder, "[draft.fullName, draft.fingerprint, draft.version]")
    assert found == [contract.full_name, contract.fingerprint, "1.2.3"]


def test_json_shows_outcomes(folder: Path) -> None:
    """Violations are plain data."""
    found = run(folder, 'draft.process({ ...blank(), text: "" }, { now }).violations[0]')
    assert found["path"] == "text"
    assert found["code"] == int(found["code"])
    assert json.dumps(found)
