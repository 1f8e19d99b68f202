"""Partial validation: fields, rules, contexts and the clock narrow what counts, and cost nothing where unused."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from google.protobuf import text_format
from google.protobuf.field_mask_pb2 import FieldMask

from protocontract import Contract, ContractError, ContractViolation, RuleEvaluationError, Violation
from protocontract_compiler import load_protos

PROTO = """
syntax = "proto3";
package partial;
import "buf/validate/validate.proto";
import "google/protobuf/timestamp.proto";
import "protocontract/v1/contract.proto";
message Order {
  option (protocontract.v1.contract) = {version: "1.0.0"
    contexts: {key: "order.ends" value: {names: ["create"]}}
    contexts: {key: "message.oneof" value: {names: ["update"]}}};
  option (buf.validate.message).cel = {id: "order.ratio" message: "ratio" expression: "this.total / this.count > 1"};
  option (buf.validate.message).cel = {id: "order.ends" message: "ends" expression: "this.total != this.count"};
  option (buf.validate.message).oneof = {fields: ["mail", "phone"] required: true};
  string id = 1 [(buf.validate.field).string.min_len = 2,
    (protocontract.v1.field).contexts = {key: "string.min_len" value: {names: ["update", "remove"]}}];
  int32 total = 2;
  int32 count = 3 [(buf.validate.field).int32.gte = 0];
  string mail = 4;
  string phone = 5;
  User user = 6;
  repeated User friends = 7;
  map<string, User> by_name = 8;
  google.protobuf.Timestamp at = 9 [(buf.validate.field).timestamp.lt_now = true];
  oneof choice { option (buf.validate.oneof).required = true; bool a = 10; bool b = 11; }
  string text = 12;
  repeated Span spans = 13 [(protocontract.v1.field).spans = {text: "text" start: "start" end: "end"},
    (protocontract.v1.field).contexts = {key: "spans.bounds" value: {names: ["create"]}}];
}
message User {
  option (buf.validate.message).cel = {id: "user.names" message: "names" expression: "this.first != this.last"};
  string first = 1 [(buf.validate.field).required = true];
  string last = 2;
  optional int32 age = 3 [(buf.validate.field).cel = {id: "age" message: "age" expression: "100 / this > 2"}];
}
message Span { int32 start = 1; int32 end = 2; }
message Tree {
  option (buf.validate.message).cel = {id: "tree" message: "tree" expression: "this.size > this.children.size()"};
  int32 size = 1;
  repeated Tree children = 2;
}
message Loose {
  option (buf.validate.message).cel = {id: "loose" expression: "dyn(this).nosuch == 1 || this.a > 0"};
  option (buf.validate.message).cel = {id: "late" expression: "!has(this.at) || this.at < now"};
  int32 a = 1 [(buf.validate.field).int32.lt = 5];
  google.protobuf.Timestamp at = 2;
  int32 b = 3 [(buf.validate.field).int32.lt = 5,
    (protocontract.v1.field).contexts = {key: "int32.lt" value: {names: ["create"]}}];
}
message Holder { Loose loose = 1; string name = 2 [(buf.validate.field).string.min_len = 1]; }
"""

VALID = "id: 'ab' total: 4 count: 2 mail: 'm' a: true"


@pytest.fixture(scope="module")
def contracts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Contract[Any]]:
    folder = tmp_path_factory.mktemp("partial")
    (folder / "m.proto").write_text(PROTO)
    return {name.rpartition(".")[2]: contract for name, contract in load_protos([folder / "m.proto"], folder).items()}


@pytest.fixture(scope="module")
def order(contracts: dict[str, Contract[Any]]) -> Contract[Any]:
    return contracts["Order"]


def found(contract: Contract[Any], text: str, **asked: Any) -> list[str]:
    message = text_format.Parse(text, contract.message_type())
    return [f"{v.field_path}:{v.rule_id}" for v in contract.validate(message, **asked)]


# -- fields


def test_fields_at_and_below_a_path_count(order: Contract[Any]) -> None:
    broken = (
        "id: 'a' count: -1 total: 4 mail: 'm' a: true user {age: 1} friends {first: 'x'} friends {} "
        "by_name {key: 'k' value {}}"
    )
    everything = found(order, broken)
    assert found(order, broken, fields=["*"]) == everything
    assert found(order, broken, fields=["id"]) == ["id:string.min_len"]
    assert found(order, broken, fields=FieldMask(paths=["id", "count"])) == ["id:string.min_len", "count:int32.gte"]
    assert found(order, broken, fields=["user"]) == ["user:user.names", "user.first:required"]
    assert found(order, broken, fields=["user.first"]) == ["user.first:required"]
    assert found(order, broken, fields=["friends.first"]) == ["friends[1].first:required"]
    assert found(order, broken, fields=["by_name"]) == ['by_name["k"]:user.names', 'by_name["k"].first:required']
    assert found(order, broken, fields=["by_name.first"]) == ['by_name["k"].first:required']
    assert found(order, broken, fields=[]) == []


def test_rules_of_a_message_count_where_all_that_they_read_is_asked_for(order: Contract[Any]) -> None:
    equal = "total: 2 count: 2 mail: 'm' phone: 'p'"
    assert found(order, equal, fields=["total"]) == []
    assert found(order, equal, fields=["total", "count"]) == [":order.ratio", ":order.ends"]
    assert found(order, equal, fields=["mail"]) == []
    assert found(order, equal, fields=["phone", "mail"]) == [":message.oneof"]
    assert found(order, equal, fields=["a"]) == []
    assert found(order, equal, fields=["a", "b"]) == ["choice:required"]
    assert found(order, "user {first: 'x' last: 'x'}", fields=["user.first", "user.last"]) == ["user:user.names"]


def test_relations_count_where_all_that_they_relate_is_asked_for(order: Contract[Any]) -> None:
    text = "text: 'ab' spans {start: 1 end: 5}"
    assert found(order, text, fields=["spans"]) == []
    assert found(order, text, fields=["spans", "text"]) == ["spans[0]:spans.bounds"]


def test_a_rule_that_does_not_count_cannot_fail(order: Contract[Any]) -> None:
    for text, inside in (("count: 0", ["total", "count"]), ("user {age: 0 first: 'x'} count: 1", [])):
        assert found(order, text, fields=["id"]) == ["id:string.min_len"]
        if inside:
            with pytest.raises(RuleEvaluationError):
                found(order, text, fields=inside)
    with pytest.raises(RuleEvaluationError):
        found(order, "count: 0")
    assert found(order, "count: 0", rules={"string.min_len"}) == ["id:string.min_len"]
    with pytest.raises(RuleEvaluationError):
        found(order, "count: 0", rules={"order.ratio"})
    with pytest.raises(RuleEvaluationError):
        found(order, "count: 0", rules=lambda violation: violation.value is None and violation.rule_id == "order.ratio")


def test_messages_that_hold_themselves(contracts: dict[str, Contract[Any]]) -> None:
    tree = contracts["Tree"]
    text = "size: 2 children {size: 0 children {size: 0}}"
    assert found(tree, text) == ["children[0]:tree", "children[0].children[0]:tree"]
    assert found(tree, text, fields=["children.children"]) == ["children[0].children[0]:tree"]
    assert found(tree, text, fields=["children.size", "children.children"]) == found(tree, text)


@pytest.mark.parametrize("path", ["nosuch", "user.nosuch", "id.length", "", "friends[0].first", "by_name.k.first"])
def test_unknown_paths_are_errors(order: Contract[Any], path: str) -> None:
    with pytest.raises(ValueError, match="is no field of"):
        found(order, VALID, fields=[path])


# -- rules


def test_rules(order: Contract[Any]) -> None:
    broken = "id: 'a' count: -1 mail: 'm' phone: 'p'"
    assert found(order, broken, rules={"string.min_len", "message.oneof"}) == [":message.oneof", "id:string.min_len"]
    assert found(order, broken, rules="int32.gte") == ["count:int32.gte"]

    def is_text(violation: Violation) -> bool:
        return isinstance(violation.value, str)

    assert found(order, broken, rules=is_text) == ["id:string.min_len"]
    assert found(order, broken, rules=is_text, fields=["count"]) == []


# -- contexts


def test_contexts(order: Contract[Any]) -> None:
    assert order.contexts == {"create", "update", "remove"}
    broken = "id: 'a' total: 2 count: 2 text: 'ab' spans {start: 1 end: 5} a: true"
    rest = [":order.ratio"]
    assert found(order, broken) == [
        *rest, ":order.ends", ":message.oneof", "id:string.min_len", "spans[0]:spans.bounds"
    ]  # fmt: skip
    assert found(order, broken, context="create") == [*rest, ":order.ends", "spans[0]:spans.bounds"]
    assert found(order, broken, context="update") == [*rest, ":message.oneof", "id:string.min_len"]
    assert found(order, broken, context="remove") == [*rest, "id:string.min_len"]
    with pytest.raises(ValueError, match=r"'creat' is no context of partial\.Order; expected create, remove, update"):
        found(order, broken, context="creat")


def test_records_in_a_context(order: Contract[Any]) -> None:
    raw = text_format.Parse("id: 'a' total: 4 count: 2 mail: 'm' a: true", order.message_type()).SerializeToString()
    assert not order.process(raw).ok
    assert order.process(raw, context="create").ok
    assert order.parse(raw, context="create").id == "a"
    with pytest.raises(ContractViolation):
        order.parse(raw, context="update")
    with pytest.raises(ValueError, match="is no context"):
        order.process(raw, context="nosuch")


# -- the clock


def test_now(order: Contract[Any]) -> None:
    text = f"{VALID} at {{seconds: 1000}}"
    late = ["at:timestamp.lt_now"]
    assert found(order, text) == []
    assert found(order, text, now=999_000_000_000) == late
    assert found(order, text, now=1_000_000_000_001) == []
    assert found(order, text, now=datetime(1970, 1, 1, 0, 16, 39, tzinfo=UTC)) == late
    assert found(order, text, now=datetime(1970, 1, 1, 0, 16, 40, 1, tzinfo=UTC)) == []
    zone = timezone(timedelta(hours=8))
    assert found(order, text, now=datetime(1970, 1, 1, 8, 16, 39, tzinfo=zone)) == late
    # The clock is the machine's again.
    assert found(order, text) == []
    with pytest.raises(ValueError, match="has no zone"):
        found(order, text, now=datetime(1970, 1, 1))  # noqa: DTZ001
    raw = text_format.Parse(text, order.message_type()).SerializeToString()
    assert order.process(raw).ok
    assert [v.rule_id for v in order.process(raw, now=0).violations] == ["timestamp.lt_now"]
    with pytest.raises(ContractViolation):
        order.parse(raw, now=0)


def test_threads_do_not_see_each_others_clock(order: Contract[Any]) -> None:
    text = f"{VALID} at {{seconds: 1000}}"
    seen: list[list[str]] = []

    def elsewhere(violation: Violation) -> bool:
        thread = threading.Thread(target=lambda: seen.append(found(order, text)))
        thread.start()
        thread.join()
        return True

    assert found(order, text, now=0, rules=elsewhere) == ["at:timestamp.lt_now"]
    assert seen == [[]]


# -- messages that are left to protovalidate


def test_delegated_messages(contracts: dict[str, Contract[Any]]) -> None:
    holder = contracts["Holder"]
    assert found(holder, "loose {a: 7 b: 7}") == ["loose.a:int32.lt", "loose.b:int32.lt", "name:string.min_len"]
    assert found(holder, "loose {a: 7 b: 7}", fields=["loose.a"]) == ["loose.a:int32.lt"]
    # Nobody knows what its rules read, nor which of them failed.
    assert found(holder, "loose {a: 0}", fields=["name"]) == ["name:string.min_len"]
    for asked in ({"fields": ["loose.a"]}, {"fields": ["loose"]}, {"rules": {"int32.lt"}}, {}):
        with pytest.raises(RuleEvaluationError):
            found(holder, "loose {a: 0}", **asked)
    assert holder.contexts == {"create"}
    assert found(holder, "loose {a: 1 b: 7} name: 'n'", context="create") == ["loose.b:int32.lt"]
    with pytest.raises(ContractError, match="whose clock cannot be set"):
        found(holder, "loose {a: 1}", now=0)
    assert found(holder, "name: 'n'", now=0) == []


# -- at no cost


def test_unused_it_is_not_imported() -> None:
    import subprocess
    import sys

    script = (
        "import sys, protocontract; from acme.finance.v1.transaction_contract import TRANSACTION as t;"
        "t.validate(t.message_type()); t.process(b''); print('protocontract._partial' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "False"
