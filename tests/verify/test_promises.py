"""What a contract promises, in words, derived from its rules."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from google.protobuf import descriptor_pb2, duration_pb2, field_mask_pb2, message_factory, timestamp_pb2
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.descriptor_pool import DescriptorPool

from protocontract.wire_json import repeated
from protocontract_compiler import ir
from protocontract_compiler.descriptors.canonical import canonical
from protocontract_compiler.descriptors.validate_proto import validate_descriptor
from protocontract_compiler.passes.pass_promises import add_promises, promises_in
from protocontract_compiler.passes.promise_words import rules_words
from protocontract_compiler.passes.rule_text import parse
from protocontract_compiler.passes.tongues import PHRASES, SPOKEN, Tongue


def check(rule_id: str, rule_path: str, message: str = "") -> ir.Check:
    return ir.Check(rule_id, message, rule_path)


def text_field(name: str, **parts: Any) -> ir.Field:
    return ir.Field(
        name=name, number=1, type=ir.TYPE_STRING, shape=ir.Shape.SINGULAR, has_presence=False, json_name=name, **parts
    )


def promises(*messages: ir.Message, enums: tuple[ir.Enum, ...] = ()) -> tuple[ir.Promise, ...]:
    schema = ir.Schema(
        files={}, messages={m.full_name: m for m in messages}, enums={enum.full_name: enum for enum in enums}
    )
    return add_promises(schema).messages[messages[0].full_name].promises


def message(full_name: str, *fields: ir.Field, **parts: Any) -> ir.Message:
    return ir.Message(full_name, full_name.rpartition(".")[2], "t.proto", fields, **parts)


def ruled(source: str, *ids: str, required: bool = False, ignore: ir.Ignore = "unspecified") -> dict[str, Any]:
    rules = ir.ValueRules(required, ignore, tuple(check(rule_id, f"string.{rule_id}") for rule_id in ids))
    return {"rules": rules, "rule_source": source}


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("{string:{uuid:true <string.uuid \"m\" \"a > b}\">}}", "a UUID"),
        ("{string:{len:19}}", "19 characters"),
        ("{string:{min_len:1 <i \"\" \"\"> max_len:512}}", "1 to 512 characters"),
        ("{string:{min_len:1}}", "at least 1 character"),
        ("{string:{max_bytes:4}}", "at most 4 bytes"),
        ("{string:{in:[\"PERSON\",\"LOCATION\",\"ORGANIZATION\"]}}", "PERSON, LOCATION or ORGANIZATION"),
        ("{string:{const:\"a: {b}\"}}", 'exactly "a: {b}"'),
        ("{string:{pattern:\"^[a-z]+$\"}}", "matching ^[a-z]+$"),
        ("{int32:{gte:0}}", "0 or more"),
        ("{int32:{gt:0}}", "above 0"),
        ("{float:{lte:1.0 gte:0.0 finite:true}}", "0 to 1, finite"),
        ("{double:{lte:-5.0 gte:5.0}}", "5 or more or -5 or less"),
        ("{repeated:{min_items:1 max_items:8 unique:true items:{string:{len:2}}}}",
         "1 to 8 items, no two equal, each 2 characters"),
        ("{map:{max_pairs:1 keys:{string:{min_len:1}} values:{int64:{in:[0,1]}}}}",
         "at most 1 entry, each key at least 1 character, each value 0 or 1"),
        ("{timestamp:{gt:{seconds:1577836800}}}", "after 2020-01-01"),
        ("{timestamp:{lt_now:true}}", "in the past"),
        ("{duration:{gte:{}}}", "0s or more"),
        ("{duration:{lte:{seconds:1 nanos:500000000}}}", "1.5s or less"),
        ("{any:{in:[\"type.googleapis.com/a.B\"]}}", 'exactly "type.googleapis.com/a.B"'),
        ("{int32:{lt:5 gt:10}}", "above 10 or below 5"),
        ("{int32:{lt:10 gte:5}}", "5 or more, below 10"),
        ("{duration:{lte:{seconds:9} gte:{seconds:1}}}", "1s to 9s"),
        ("{duration:{lte:{seconds:1} gte:{seconds:9}}}", "9s or more or 1s or less"),
        ("{timestamp:{lt:{seconds:86400} gte:{}}}", "not before 1970-01-01, before 1970-01-02"),
        ("{bool:{const:true}}", "true"),
    ],
)  # fmt: skip
def test_words_of_standard_rules(source: str, text: str) -> None:
    found = promises(message("t.M", text_field("f", **ruled(source, "x"))))
    assert found == (ir.Promise("f", text, ("x",)),)


def test_normalizers_and_sensitive() -> None:
    money = ir.Normalizer("money", (("default_currency", "CNY"), ("allowed", ("CNY", "USD"))), "currency")
    instant = ir.Normalizer("instant", (("zone", "Asia/Shanghai"),))
    found = promises(
        message(
            "t.M",
            text_field("id", **ruled("{string:{uuid:true}}", "string.uuid")),
            text_field("amount", normalizer=money, **ruled("{required:true}", required=True)),
            text_field("booked_at", normalizer=instant),
            text_field("account", governance=ir.Governance(sensitive=True), **ruled("{string:{len:19}}", "string.len")),
            text_field("note"),
            contract=ir.ContractOptions(key_field="id"),
        )
    )
    assert [(promise.path, promise.text) for promise in found] == [
        ("id", "a UUID"),
        ("amount", "an amount in CNY or USD"),
        ("booked_at", "a moment, Asia/Shanghai where no zone is given"),
        ("account", "19 characters, sensitive"),
    ]
    assert found[0].rule_ids == ("string.uuid", "key.mismatch")
    assert found[1].rule_ids == ("money.ambiguous", "money.currency", "money.scale", "money.syntax", "required")


def test_text_normalizer_follows_the_rules() -> None:
    text = ir.Normalizer("text", (("trim", True), ("reject", ("nul", "replacement"))))
    found = promises(
        message("t.M", text_field("f", normalizer=text, **ruled("{string:{max_len:140}}", "string.max_len")))
    )
    assert found[0].text == "at most 140 characters, without NUL or replacement characters"
    assert promises(message("t.M", text_field("f", normalizer=ir.Normalizer("text"))))[0].text == "a text, cleaned"


def test_enum_values_are_named_by_their_codes() -> None:
    values = (ir.EnumValue("C_NONE", 0), ir.EnumValue("C_CNY", 1, code="CNY"), ir.EnumValue("C_USD", 2, code="USD"))
    field = ir.Field(
        "currency", 3, ir.TYPE_ENUM, ir.Shape.SINGULAR, False, "currency", enum="t.C",
        rules=ir.ValueRules(checks=(check("enum.defined_only", "enum.defined_only"),)),
        rule_source="{enum:{defined_only:true not_in:[0]}}",
    )  # fmt: skip
    assert promises(message("t.M", field), enums=(ir.Enum("t.C", values, False, "t.proto"),))[0].text == "CNY or USD"


def test_nested_messages_relations_and_message_rules() -> None:
    spans = ir.Relation("spans", (("text", "raw_text"), ("allow_nesting", True)))
    entities = ir.Field(
        "entities", 3, ir.TYPE_MESSAGE, ir.Shape.REPEATED, False, "entities", message="t.Entity", relations=(spans,),
        rules=ir.ValueRules(checks=(check("repeated.max_items", "repeated.max_items"),)),
        rule_source="{repeated:{max_items:256}}",
    )  # fmt: skip
    child = ir.Field("child", 4, ir.TYPE_MESSAGE, ir.Shape.SINGULAR, True, "child", message="t.M")
    rules = ir.MessageRules(
        (check("m.rule", "", "one thing follows another"),), (ir.OneofRule(("a", "b"), required=True),)
    )
    outer = message("t.M", entities, child, rules=rules, oneofs=(ir.Oneof("choice", ("x", "y"), required=True),))
    entity = message("t.Entity", text_field("label", **ruled('{string:{in:["A"]}}', "string.in")))
    assert [(promise.path, promise.text) for promise in promises(outer, entity)] == [
        ("entities", "at most 256 items, spans of raw_text, nested or apart"),
        ("entities[].label", "exactly A"),
        ("choice", "one of x and y is set"),
        ("", "one thing follows another"),
        ("", "exactly one of a and b"),
    ]


def test_rules_that_never_run_promise_nothing() -> None:
    assert promises(message("t.M", text_field("f", **ruled("{string:{len:1}}", "string.len", ignore="always")))) == ()


def test_without_rule_source_the_rules_speak_for_themselves() -> None:
    rules = ir.ValueRules(checks=(check("t.even", "cel[0]", "is even"), check("", "cel_expression[0]")))
    assert promises(message("t.M", text_field("f", rules=rules)))[0].text.startswith("is even")


def _rules_class() -> Any:
    """FieldRules of the installed protovalidate, in a pool of its own."""
    pool = DescriptorPool()
    for module in (descriptor_pb2, duration_pb2, field_mask_pb2, timestamp_pb2):
        pool.AddSerializedFile(module.DESCRIPTOR.serialized_pb)
    pool.AddSerializedFile(validate_descriptor().SerializeToString())
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("buf.validate.FieldRules"))


_FIELD_RULES = _rules_class()


def _every_rule() -> Iterator[tuple[str, Any]]:
    """Each field of each rules message, set alone: what rules_words has to find words for."""
    for member in _FIELD_RULES.DESCRIPTOR.oneofs_by_name["type"].fields:
        for rule in member.message_type.fields:
            options = _FIELD_RULES()
            _set(getattr(options, member.name), rule)
            yield f"{member.name}.{rule.name}", options


def _set(rules: Any, rule: FieldDescriptor) -> None:
    value: Any
    if rule.message_type is not None and rule.name in {"items", "keys", "values"}:
        getattr(rules, rule.name).string.min_len = 2
        return
    if rule.message_type is not None:
        found = getattr(rules, rule.name)
        (found.add() if repeated(rule) else found).SetInParent()
        return
    kinds: dict[int, Any] = {FieldDescriptor.CPPTYPE_STRING: "a b", FieldDescriptor.CPPTYPE_BOOL: True}
    value = kinds.get(rule.cpp_type, 1)
    if rule.type == FieldDescriptor.TYPE_BYTES:
        value = b"\x00\x12"
    if repeated(rule):
        getattr(rules, rule.name).append(value)
    else:
        setattr(rules, rule.name, value)


# Examples constrain nothing, and `strict` only widens or narrows what well_known_regex says.
_SILENT = ("example", "strict")


@pytest.mark.parametrize(("name", "options"), list(_every_rule()))
def test_every_standard_rule_has_words(name: str, options: Any) -> None:
    words = rules_words(parse(canonical(options)), {1: "ONE"})
    assert bool(words) != name.endswith(_SILENT), words
    assert all(word and "{" not in word for word in words if "duration: {" not in word)


@pytest.mark.parametrize(("name", "options"), list(_every_rule()))
@pytest.mark.parametrize("tongue", SPOKEN.values(), ids=SPOKEN)
def test_every_standard_rule_can_be_spoken_of(name: str, options: Any, tongue: Tongue) -> None:
    """As many phrases as in lists, none of which is another language's."""
    rules = parse(canonical(options))
    words = rules_words(rules, {1: "ONE"}, tongue)
    assert len(words) == len(rules_words(rules, {1: "ONE"}))
    if tongue.language == "zh":
        assert all(re.search("[\u4e00-\u9fff]", word) for word in words if word != "是\x02ONE\x03"), name


def test_tongues_say_the_same() -> None:
    for tongue in SPOKEN.values():
        assert tongue.phrases.keys() == PHRASES.phrases.keys()
        for key, phrase in tongue.phrases.items():
            assert set(re.findall(r"\{\d\}", phrase)) == set(re.findall(r"\{\d\}", PHRASES.phrases[key])), key
        for words in ("formats", "rejects", "nouns"):
            assert getattr(tongue, words).keys() == getattr(PHRASES, words).keys()


def test_sentences() -> None:
    money = ir.Normalizer("money", (("allowed", ("CNY", "USD")),))
    label = ruled('{string:{in:["A","B"]}}', "string.in", ignore="if_zero_value")
    of_contract = message(
        "t.M",
        text_field("id", **ruled("{string:{uuid:true}}", "string.uuid")),
        text_field("amount", normalizer=money, **ruled("{required:true}", required=True)),
        text_field("label", **label),
        rules=ir.MessageRules(oneofs=(ir.OneofRule(("a", "b"), required=False),)),
        contract=ir.ContractOptions(key_field="id"),
    )
    schema = ir.Schema(files={}, messages={"t.M": of_contract}, enums={})
    said = {
        language: [promise.text for promise in promises_in(schema, tongue)(of_contract)]
        for language, tongue in SPOKEN.items()
    }
    assert said["en"] == [
        "is a UUID and is the key of its record",
        "is always set and is an amount in CNY or USD",
        "is \x02A\x03 or \x02B\x03 or is empty",
        "at most one of \x02a\x03 and \x02b\x03 is set",
    ]
    assert said["zh"] == [
        "是 UUID，是记录的键",
        "必须填写，是以 CNY 或 USD 计的金额",
        "是 \x02A\x03 或 \x02B\x03，或者为空",
        "\x02a\x03 和 \x02b\x03 中最多填写一个",
    ]


@pytest.mark.parametrize("raw", [b"", b"\x00\x12", b"\x12\x34", b"\x1e\x50", b"\xab"])
def test_bytes_are_shown_as_they_are(raw: bytes) -> None:
    options = _FIELD_RULES()
    options.bytes.const = raw
    assert rules_words(parse(canonical(options)), {}) == [f"exactly 0x{raw.hex()}" if raw else "exactly no bytes"]


def test_an_enum_without_a_value_left() -> None:
    assert rules_words({"enum": {"defined_only": True, "not_in": [0]}}, {0: "A"}) == ["nothing"]


@pytest.mark.parametrize("text", ["{", "{a}", "{a:[1}", "{a:1} x", "x"])
def test_text_that_is_no_options_is_refused(text: str) -> None:
    with pytest.raises((ValueError, IndexError)):
        parse(text)
