"""The contracts that the strategies are tried on: the examples, and a table of rule kinds compiled at run time."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from functools import cache
from typing import Any

from protocontract import Contract
from protocontract_compiler import dynamic

EXAMPLES = (
    "acme.text.v1.text_contract",
    "acme.finance.v1.transaction_contract",
    "acme.pipeline.v1.pipeline_contract",
    "acme.inference.v1.model_service_contract",
)

HEAD = """
syntax = "proto3";
package kinds;
import "buf/validate/validate.proto";
import "google/protobuf/any.proto";
import "google/protobuf/duration.proto";
import "google/protobuf/field_mask.proto";
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";
import "protocontract/v1/contract.proto";
enum Color { COLOR_UNSPECIFIED = 0; RED = 1; BLUE = 2; }
message Inner { string name = 1 [(buf.validate.field).string.min_len = 2]; }
"""

#: One field (or body) a kind of rule.
KINDS = {
    "between": "int32 f = 1 [(buf.validate.field).int32 = {gt: 5 lte: 9}];",
    "outside": "sint64 f = 1 [(buf.validate.field).sint64 = {gt: 100 lt: -100}];",
    "in_not_in": "uint32 f = 1 [(buf.validate.field).uint32 = {in: [3, 4, 5] not_in: 4}];",
    "const": "fixed64 f = 1 [(buf.validate.field).fixed64.const = 7];",
    "float": "float f = 1 [(buf.validate.field).float = {gt: 0.1 lt: 0.2}];",
    "double": "double f = 1 [(buf.validate.field).double = {gte: -1 finite: true}];",
    "text_size": "string f = 1 [(buf.validate.field).string = {min_len: 3 max_len: 5}];",
    "text_bytes": "string f = 1 [(buf.validate.field).string = {min_bytes: 4 max_bytes: 6}];",
    "affixes": 'string f = 1 [(buf.validate.field).string = {prefix: "ab" suffix: "yz" contains: "-" max_len: 9}];',
    "not_contains": 'string f = 1 [(buf.validate.field).string = {not_contains: "a" min_len: 1}];',
    "pattern": 'string f = 1 [(buf.validate.field).string.pattern = "^[a-z]+(-[0-9]{2})?$"];',
    "pattern_sized": 'string f = 1 [(buf.validate.field).string = {pattern: "^[A-Z0-9]+$" min_len: 20 max_len: 22}];',
    "pattern_unanchored": 'string f = 1 [(buf.validate.field).string = {pattern: "x[0-9]y"}];',
    "pattern_re2": "string f = 1 "
    '[(buf.validate.field).string.pattern = "\\\\A\\\\pL[[:alpha:]]+\\\\Q.\\\\E\\\\d\\\\z"];',
    "text_in": 'string f = 1 [(buf.validate.field).string = {in: ["A", "BC"]}];',
    "email": "string f = 1 [(buf.validate.field).string.email = true];",
    "host_and_port": "string f = 1 [(buf.validate.field).string.host_and_port = true];",
    "ipv4_prefix": "string f = 1 [(buf.validate.field).string.ipv4_prefix = true];",
    "ipv6_with_prefixlen": "string f = 1 [(buf.validate.field).string.ipv6_with_prefixlen = true];",
    "uri": "string f = 1 [(buf.validate.field).string.uri = true];",
    "tuuid": "string f = 1 [(buf.validate.field).string.tuuid = true];",
    "address": "string f = 1 [(buf.validate.field).string.address = true];",
    "header": "string f = 1 [(buf.validate.field).string.well_known_regex = KNOWN_REGEX_HTTP_HEADER_NAME];",
    "bytes": 'bytes f = 1 [(buf.validate.field).bytes = {prefix: "\\x01" min_len: 3 max_len: 4}];',
    "bytes_ip": "bytes f = 1 [(buf.validate.field).bytes.ipv6 = true];",
    "bool": "bool f = 1 [(buf.validate.field).bool.const = true];",
    "enum": "Color f = 1 [(buf.validate.field).enum = {defined_only: true not_in: 0}];",
    "required": "optional int32 f = 1 [(buf.validate.field).required = true];",
    "required_zero": "string f = 1 [(buf.validate.field).required = true];",
    "if_zero": "string f = 1 [(buf.validate.field) = {ignore: IGNORE_IF_ZERO_VALUE string: {min_len: 4}}];",
    "wrapper": "google.protobuf.Int64Value f = 1 [(buf.validate.field).int64 = {gte: 10 lt: 12}];",
    "timestamp": "google.protobuf.Timestamp f = 1 [(buf.validate.field) = {required: true "
    "timestamp: {gt: {seconds: 100} lte: {seconds: 200}}}];",
    "past": "google.protobuf.Timestamp f = 1 [(buf.validate.field) = {required: true "
    "timestamp: {lt_now: true within: {seconds: 86400}}}];",
    "future": "google.protobuf.Timestamp f = 1 [(buf.validate.field).timestamp.gt_now = true];",
    "duration": "google.protobuf.Duration f = 1 "
    "[(buf.validate.field).duration = {gte: {seconds: -1} lt: {seconds: 1}}];",
    "any": 'google.protobuf.Any f = 1 [(buf.validate.field).any.in = "type.googleapis.com/kinds.Inner"];',
    "field_mask": 'google.protobuf.FieldMask f = 1 [(buf.validate.field).field_mask = {in: ["a", "b.c"]}];',
    "items": "repeated int32 f = 1 [(buf.validate.field).repeated = "
    "{min_items: 2 max_items: 3 unique: true items: {int32: {gte: 0}}}];",
    "messages": "repeated Inner f = 1 [(buf.validate.field).repeated = {min_items: 1 max_items: 2}];",
    "map": "map<string, int32> f = 1 [(buf.validate.field).map = "
    '{min_pairs: 1 max_pairs: 2 keys: {string: {pattern: "^k[0-9]$"}} values: {int32: {gt: 0}}}];',
    "map_messages": "map<int32, Inner> f = 1 [(buf.validate.field).map.min_pairs = 1];",
    "nested": "Inner f = 1 [(buf.validate.field).required = true];",
    "oneof": "oneof f { option (buf.validate.oneof).required = true; "
    "int32 a = 1 [(buf.validate.field).int32.gt = 3]; Inner b = 2; }",
    "message_oneof": 'option (buf.validate.message).oneof = {fields: ["a", "b"] required: true}; '
    "string a = 1; optional int32 b = 2;",
    "cel_field": 'int32 f = 1 [(buf.validate.field).cel = {id: "even" expression: "this % 2 == 0"}];',
    "cel_message": 'option (buf.validate.message).cel = {id: "ordered" expression: "this.a < this.b"}; '
    "int32 a = 1; int32 b = 2;",
    "cel_literal": 'string f = 1 [(buf.validate.field).cel = {id: "named" expression: "this == \'only this\'"}];',
    "recursive": "int32 f = 1 [(buf.validate.field).int32.gt = 0]; recursive next = 2;",
    "money": "string f = 1 [(buf.validate.field).required = true, "
    '(protocontract.v1.field).money = {allowed: ["EUR", "JPY"] currency_field: "code"}]; string code = 2;',
    "instant": "int64 f = 1 [(protocontract.v1.field).instant = {epoch_unit: S}];",
    "quantity": 'string f = 1 [(protocontract.v1.field).quantity = {unit: "kg"}];',
    "label": 'string f = 1 [(protocontract.v1.field).label.aliases = {key: "cat" value: {alias: "kitty"}}];',
    "scalar": "string f = 1 [(protocontract.v1.field).scalar.type = INT32];",
    "text": "string f = 1 [(buf.validate.field).string.min_len = 3, "
    "(protocontract.v1.field).text = {normalize: NFKC trim: true collapse_whitespace: true reject: [CONTROL]}];",
    "increasing": "repeated int64 f = 1 [(buf.validate.field).repeated.min_items = 2, "
    "(protocontract.v1.field).sequence.strictly_increasing = true];",
}


@cache
def contract_of(kind: str) -> Contract[Any]:
    """The contract of a kind of rule."""
    source = f"{HEAD}message {kind} {{ {KINDS[kind]} }}"
    return dynamic.compile(dynamic.describe({f"{kind}.proto": source}))[f"kinds.{kind}"]


def example_contracts() -> Mapping[str, Contract[Any]]:
    """The example contracts, by full name."""
    return {
        value.full_name: value
        for name in EXAMPLES
        for value in vars(importlib.import_module(name)).values()
        if isinstance(value, Contract)
    }
