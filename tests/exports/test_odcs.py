"""Contracts in the Open Data Contract Standard. Its own schema and linter judge the committed files in `.ci/odcs`."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from protocontract_compiler.emit.yaml import document
from tests.compiler.sources import ROOT
from tests.examples import examples
from tests.exports.support import Compiled
from tests.testing.support import HEAD

SHOP = (
    HEAD
    + """
// What a shop sells. "Quoted": a comment with marks, ünïcode - and a dash.
message Order {
  option (protocontract.v1.contract) = {
    version: "2.0.0" owner: "orders@shop.example" topic: "orders" key_field: "id" event_time: "at"
    level: {compliance: 0.9 frequency: {seconds: 20} throughput: 2.5 error_rate: 0.01 window: {seconds: 60}}
    on_breach: HALT
  };
  option (buf.validate.message).cel = {id: "order.paid" message: "what is paid has a price" expression:
    "!this.paid || this.cents > 0"};
  string id = 1 [(buf.validate.field).string = {min_len: 2 max_len: 9 pattern: "^o"}];
  int64 cents = 2 [(buf.validate.field).int64.gte = 5, (protocontract.v1.field).currency = "EUR"];
  google.protobuf.Timestamp at = 3 [(buf.validate.field).required = true];
  repeated Inner parts = 4 [(buf.validate.field).repeated = {min_items: 1 max_items: 3}];
  map<string, int32> stock = 5 [(buf.validate.field).map.max_pairs = 4];
  Color color = 6 [(buf.validate.field).enum = {defined_only: true not_in: 0}];
  bytes picture = 7;
  bool paid = 8;
  optional double weight = 9 [(buf.validate.field).double.lt = 10, (protocontract.v1.field).acknowledge = true];
  string card = 10 [(protocontract.v1.field).sensitive = true];
  string size = 11 [(buf.validate.field).string = {in: ["S", "no", "1"]}];
  Order before = 12;
  repeated string notes = 13 [(buf.validate.field).repeated = {unique: true items: {string: {max_len: 5}}}];
  google.protobuf.Int32Value rank = 14;
}
"""
)


@pytest.fixture(scope="module")
def order() -> dict[str, Any]:
    made: dict[str, Any] = yaml.safe_load(Compiled(SHOP, ("odcs",)).files["kinds.Order.odcs.yaml"])
    return made


def properties(order: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {part["name"]: part for part in order["schema"][0]["properties"]}


def custom(part: dict[str, Any]) -> dict[str, Any]:
    return {each["property"]: each["value"] for each in part["customProperties"]}


def test_the_contract_itself(order: dict[str, Any]) -> None:
    assert {key: order[key] for key in ("apiVersion", "kind", "id", "version", "status")} == {
        "apiVersion": "v3.1.0", "kind": "DataContract", "id": "kinds.Order", "version": "2.0.0", "status": "active"
    }  # fmt: skip
    assert order["description"]["purpose"].startswith('What a shop sells. "Quoted"')
    assert order["team"]["members"] == [{"username": "orders@shop.example", "role": "owner"}]
    shown = custom(order)
    assert (shown["keyField"], shown["eventTime"], shown["onBreach"]) == ("id", "at", "HALT")
    assert len(shown["fingerprint"]) == 64
    assert order["schema"][0]["physicalName"] == "orders"
    assert [check["description"] for check in order["schema"][0]["quality"]] == ["what is paid has a price"]


def test_levels(order: dict[str, Any]) -> None:
    levels = {level["property"]: (level["value"], level.get("unit")) for level in order["slaProperties"]}
    assert levels == {
        "compliance": (0.9, None), "frequency": (20, "s"), "throughput": (2.5, "records/s"), "errorRate": (0.01, None)
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("id", {"logicalType": "string", "required": True,
                "logicalTypeOptions": {"minLength": 2, "maxLength": 9, "pattern": "^o"}}),
        ("cents", {"logicalType": "integer", "required": True, "logicalTypeOptions": {"minimum": 5}}),
        ("at", {"logicalType": "timestamp", "required": True}),
        ("parts", {"logicalType": "array", "physicalType": "repeated kinds.Inner", "required": True,
                   "logicalTypeOptions": {"minItems": 1, "maxItems": 3}}),
        ("stock", {"logicalType": "object", "physicalType": "map<string, int32>",
                   "logicalTypeOptions": {"maxProperties": 4}}),
        ("color", {"logicalType": "string", "physicalType": "kinds.Color", "required": True}),
        ("picture", {"logicalType": "string", "logicalTypeOptions": {"format": "binary"}}),
        ("paid", {"logicalType": "boolean"}),
        ("weight", {"logicalType": "number", "criticalDataElement": True,
                    "logicalTypeOptions": {"exclusiveMaximum": 10}}),
        ("card", {"classification": "sensitive"}),
        ("before", {"logicalType": "object", "physicalType": "kinds.Order"}),
        ("notes", {"logicalType": "array", "logicalTypeOptions": {"uniqueItems": True}}),
        ("rank", {"logicalType": "integer", "physicalType": "google.protobuf.Int32Value"}),
    ],
)  # fmt: skip
def test_properties(name: str, expected: dict[str, Any], order: dict[str, Any]) -> None:
    part = properties(order)[name]
    assert {key: part.get(key) for key in expected} == expected


def test_what_is_inside(order: dict[str, Any]) -> None:
    parts = properties(order)
    assert [inner["name"] for inner in parts["parts"]["items"]["properties"]] == ["name"]
    assert parts["notes"]["items"]["logicalTypeOptions"] == {"maxLength": 5}
    assert "properties" not in parts["before"]  # it is the contract itself
    assert custom(parts["cents"])["currency"] == "EUR"
    required = {name for name, part in parts.items() if part.get("required")}
    assert required == {"id", "cents", "at", "parts", "color", "size"}


def test_sets_of_values(order: dict[str, Any]) -> None:
    """As texts, whatever YAML might read in them."""
    checks = {
        name: part["quality"][0].get("arguments") for name, part in properties(order).items() if "quality" in part
    }
    assert checks["size"] == {"validValues": ["S", "no", "1"]}
    assert checks["color"] == {"validValues": ["RED", "BLUE"]}


def test_every_promise_of_the_examples_stands_in_words() -> None:
    texts = "".join(file.read_text() for file in sorted((ROOT / "generated" / "odcs").iterdir()))
    for words in ("an amount in CNY or USD", "a refund names the payment that it takes back", "spans of raw_text"):
        assert words in texts


def test_messages_that_can_be_reached_on_more_ways_than_anybody_reads() -> None:
    """Thirty messages with two fields of the next one each: a billion paths."""
    chain = "".join(f"message M{at} {{ M{at + 1} a = 1; M{at + 1} b = 2; }}\n" for at in range(30))
    option = 'option (protocontract.v1.contract).version = "1.0.0";'
    source = HEAD + chain.replace("message M0 {", f"message M0 {{ {option}") + "message M30 { int32 n = 1; }"
    made = Compiled(source, ("odcs", "manifest", "jsonschema"))
    assert 1000 < made.files["kinds.M0.odcs.yaml"].count("- name: ") < 10_000
    assert sum(map(len, made.files.values())) < 3_000_000


SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()


@settings(max_examples=examples(30))
@given(
    st.dictionaries(
        st.text(min_size=1, alphabet=st.characters(min_codepoint=33, max_codepoint=126)),
        st.recursive(
            SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)
        ),
        min_size=1,
    )
)
def test_yaml_reads_what_was_written(value: dict[str, Any]) -> None:
    assert yaml.safe_load(document(value)) == value
