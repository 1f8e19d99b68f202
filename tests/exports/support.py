"""Contracts to schemas, and validators that read patterns as ECMA-262 does."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

from protocontract import Contract
from protocontract_compiler import dynamic, ir, pipeline
from protocontract_compiler.descriptors import load
from protocontract_compiler.diagnostics import Diagnostics
from tests.testing.support import HEAD, KINDS, example_contracts

ROOT = Path(__file__).parents[2]


def _pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[ValidationError]:
    """Python's ``$`` also matches before a final line feed, which that of the standard's patterns does not."""
    if isinstance(instance, str) and not re.search(re.sub(r"(?<!\\)\$(?=$|\)|\|)", r"\\Z", pattern), instance):
        yield ValidationError(f"does not match {pattern}")


Validator = extend(Draft202012Validator, {"pattern": _pattern})


class Compiled:
    """Contracts of a source, with the files of some targets."""

    def __init__(self, source: str, targets: tuple[str, ...] = ("jsonschema",)) -> None:
        diagnostics = Diagnostics()
        loaded = load(dynamic.describe({"t.proto": source}), ["t.proto"], diagnostics, search_here=False)
        options = pipeline.CompileOptions(targets=targets)
        self.schema: ir.Schema = pipeline.compile_schema(loaded, diagnostics, options)
        self.files = {file.name: file.text for file in pipeline.emit(self.schema, options)}
        self.contracts = dynamic.contracts_of(loaded, self.schema, pipeline.CompileOptions())

    def exported(self, name: str) -> Exported:
        """One of the contracts with its schemas."""
        sent = f"{name}.schema.json"
        return Exported(self.contracts[name], self.files[sent], self.files.get(f"{name}.normalized.schema.json"))


class Exported:
    """A contract with its JSON Schemas: of records as they may be sent, and as they are normalised."""

    def __init__(self, contract: Contract[Any], sent: str, normalized: str | None) -> None:
        self.contract = contract
        self.sent_schema: dict[str, Any] = json.loads(sent)
        normalized_schema = json.loads(normalized or sent)
        for schema in (self.sent_schema, normalized_schema):
            Draft202012Validator.check_schema(schema)
        self.sent: Any = Validator(self.sent_schema)
        self.normalized: Any = Validator(normalized_schema)
        self.untold = told_otherwise(self.sent_schema)
        self.untold_normalized = told_otherwise(normalized_schema)


#: Kinds of rules and forms that the strategies' table leaves out.
MORE = {
    "hostname": "string f = 1 [(buf.validate.field).string.hostname = true];",
    "ipv4": "string f = 1 [(buf.validate.field).string.ipv4 = true];",
    "ipv4_prefixlen": "string f = 1 [(buf.validate.field).string.ipv4_with_prefixlen = true];",
    "ip": "string f = 1 [(buf.validate.field).string.ip = true];",
    "uri_ref": "string f = 1 [(buf.validate.field).string.uri_ref = true];",
    "uuid_optional": "optional string f = 1 [(buf.validate.field).string.uuid = true];",
    "text_not_in": 'string f = 1 [(buf.validate.field).string = {not_in: ["", "a.b"] suffix: "."}];',
    "classes": "int32 f = 1 [(protocontract.v1.field).label = {num_classes: 5 ignore_index: -100}];",
    "lenient": "int32 f = 1 [(buf.validate.field).int32.gt = 5, (protocontract.v1.field).scalar.fold_width = true];",
    "unquoted": "int64 f = 1 [(buf.validate.field).int64.gt = 5, "
    "(protocontract.v1.field).scalar.quoted_numbers = false];",
    "words": "bool f = 1 [(buf.validate.field).bool.const = true, "
    '(protocontract.v1.field).scalar.bool_words = {key: "yes" value: true}];',
    "finite": "double f = 1 [(protocontract.v1.field).scalar.exact = true];",
    "codes": "Coded f = 1 [(buf.validate.field).enum.in = 1];",
    "warning": "int32 f = 1 [(buf.validate.field).int32.gt = 5, "
    '(protocontract.v1.field).severities = {key: "int32.gt" value: WARNING}];',
    "sometimes": "string f = 1 [(buf.validate.field).required = true, "
    '(protocontract.v1.field).contexts = {key: "required" value: {names: ["create"]}}];',
    "keys_int": "map<int32, string> f = 1 [(buf.validate.field).map = "
    "{keys: {int32: {gt: 3}} values: {string: {max_len: 2}}}];",
    "keys_bool": "map<bool, Color> f = 1 [(buf.validate.field).map.keys.bool.const = true];",
    "items_if_zero": "repeated string f = 1 [(buf.validate.field).repeated.items = "
    "{ignore: IGNORE_IF_ZERO_VALUE string: {min_len: 3}}];",
    "items_messages_if_zero": "repeated Inner f = 1 "
    "[(buf.validate.field).repeated.items.ignore = IGNORE_IF_ZERO_VALUE];",
    "never": "Inner f = 1 [(buf.validate.field).ignore = IGNORE_ALWAYS]; "
    "int32 a = 2 [(buf.validate.field).int32.gt = 3];",
    "list_required": "repeated int32 f = 1 [(buf.validate.field).required = true];",
    "list_if_zero": "repeated int32 f = 1 "
    "[(buf.validate.field) = {ignore: IGNORE_IF_ZERO_VALUE repeated: {min_items: 2}}];",
    "camel": "string some_text = 1 [(buf.validate.field).string.min_len = 1]; repeated camel more_of_it = 2;",
    "wrapped_text": "google.protobuf.StringValue f = 1 [(buf.validate.field).string.min_len = 2];",
    "wrapped_float": "google.protobuf.FloatValue f = 1 [(buf.validate.field).float.lte = 0.1];",
    "duration_positive": "google.protobuf.Duration f = 1 [(buf.validate.field).duration.gte = {}];",
    "duration_between": "google.protobuf.Duration f = 1 "
    "[(buf.validate.field).duration = {gt: {seconds: -3 nanos: -500000000} lte: {seconds: 90}}];",
    "duration_not": "google.protobuf.Duration f = 1 "
    "[(buf.validate.field).duration = {gte: {seconds: 5} lt: {seconds: 1}}];",
    "duration_in": "google.protobuf.Duration f = 1 [(buf.validate.field).duration = {in: [{seconds: 1}, {nanos: 5}]}];",
    "tensor_list": "repeated float f = 1 [(protocontract.v1.field).tensor = "
    '{dtype: FLOAT32 dims: ["2", "2"] finite: true min: -1 max: 0.7}];',
    "tensor_free": 'repeated int64 f = 1 [(protocontract.v1.field).tensor = {dtype: INT64 dims: ["n"] min: 0 max: 5}];',
    "tensor_nan": 'repeated double f = 1 [(protocontract.v1.field).tensor = {dtype: FLOAT64 dims: ["n"] max: 5}];',
    "tensor_bytes": 'bytes f = 1 [(protocontract.v1.field).tensor = {dtype: INT16 dims: ["1"]}];',
    "tensor_bytes_optional": 'optional bytes f = 1 [(protocontract.v1.field).tensor = {dtype: UINT8 dims: ["1"]}];',
    "float_in": "float f = 1 [(buf.validate.field).float = {in: [0.1, 2]}];",
    "double_outside": "double f = 1 [(buf.validate.field).double = {gt: 2 lte: 1}];",
    "oneof_plain": "oneof which { string a_b = 1; int32 b = 2; Inner c = 3; }",
    "messages_oneof": 'option (buf.validate.message).oneof = {fields: ["a", "b", "c"]}; '
    "int64 a = 1; repeated int32 b = 2; Color c = 3;",
    "cel_has": 'option (buf.validate.message).cel = {id: "both" expression: "has(this.a) == has(this.b)"}; '
    "optional int32 a = 1; Inner b = 2;",
    "cel_nested": 'option (buf.validate.message).cel = {id: "deep" expression: '
    "\"this.a.name.startsWith('x') || this.n > 3\"}; "
    "Inner a = 1; uint64 n = 2;",
    "cel_sizes": 'option (buf.validate.message).cel = {id: "sizes" expression: '
    "\"size(this.a) <= 2 && (this.on ? size(this.b) > 0 : this.b == '')\"};"
    "repeated int32 a = 1; string b = 2; bool on = 3;",
    "cel_enum": 'option (buf.validate.message).cel = {id: "colours" expression: "this.a != 2 || this.b in [1, 2]"}; '
    "Color a = 1; int64 b = 2;",
    "cel_moved": 'option (buf.validate.message).cel = {id: "short" expression: "size(this.a) < 4"}; '
    "string a = 1 [(protocontract.v1.field).text.trim = true];",
    "spans": "string t = 1 [(protocontract.v1.field).text.trim = true]; "
    "repeated Part f = 2 [(protocontract.v1.field).spans = "
    '{text: "t" start: "start" end: "end" surface: "name"}];',
    "money_any": 'string f = 1 [(protocontract.v1.field).money = {allowed: "EUR" scale: ANY}];',
}

_PARTS = """
enum Coded { CODED_UNSPECIFIED = 0; CODED_ONE = 1 [(protocontract.v1.value) = {code: "one" aliases: "uno"}]; }
message Part {
  int32 start = 1 [(buf.validate.field).int32.gte = 0];
  int32 end = 2 [(buf.validate.field).int32.gt = 0];
  string name = 3 [(buf.validate.field).string.min_len = 1];
}
"""


@cache
def kinds() -> Compiled:
    """The kinds of rules of tests/testing, in one file."""
    return Compiled(HEAD + _PARTS + "".join(f"message {name} {{ {body} }}\n" for name, body in (KINDS | MORE).items()))


@cache
def kind(name: str) -> Exported:
    """One of these kinds."""
    return kinds().exported(f"kinds.{name}")


def told_otherwise(schema: Any) -> set[str]:
    """The rules that a schema's comments name as not told, or not in full."""
    found: set[str] = set()
    if isinstance(schema, dict):
        comment = schema.get("$comment")
        if isinstance(comment, str) and "rules: " in comment:
            found |= set(re.findall(r"([^,]+?) \((?:not told|told in part|after normalising|when it is normalised|"
                                    r"a warning|in some contexts)\)", comment.partition("rules: ")[2]))  # fmt: skip
        for part in schema.values():
            found |= told_otherwise(part)
    elif isinstance(schema, list):
        for part in schema:
            found |= told_otherwise(part)
    return {rule.strip() for rule in found}


@cache
def example(name: str) -> Exported:
    """One of the example contracts, with the schemas that are committed."""
    folder = ROOT / "generated" / "jsonschema"
    normalized = folder / f"{name}.normalized.schema.json"
    text = normalized.read_text() if normalized.exists() else None
    return Exported(example_contracts()[name], (folder / f"{name}.schema.json").read_text(), text)
