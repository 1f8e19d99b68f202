"""Fields by their paths, records as text, and what is different: on messages of every shape."""

from __future__ import annotations

import json
from typing import Any

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, timestamp_pb2

from protocontract.cli import UsageError
from protocontract.contract import Contract
from protocontract.kafka.letters.editing import (
    clear_field,
    decode,
    differences,
    encode,
    from_text,
    keep_unknown,
    set_field,
    to_text,
)
from protocontract.wire import frame_prefix

PACKAGE = "protocontract.test.editing"


def _order() -> Any:
    """An order with lines, tags, prices by name, a status, bytes, a moment, an optional note, and a choice."""
    kinds = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="editing_test.proto", package=PACKAGE, syntax="proto3")
    file.dependency.append("google/protobuf/timestamp.proto")
    status = file.enum_type.add(name="Status")
    for number, name in enumerate(("UNKNOWN", "PAID")):
        status.value.add(name=name, number=number)
    line = file.message_type.add(name="Line")
    line.field.add(name="sku", number=1, type=kinds.TYPE_STRING, label=1)
    line.field.add(name="count", number=2, type=kinds.TYPE_INT64, label=1)
    order = file.message_type.add(name="Order")
    for entry, key, value in (("PricesEntry", kinds.TYPE_STRING, None), ("NotesEntry", kinds.TYPE_INT32, "text")):
        nested = order.nested_type.add(name=entry)
        nested.options.map_entry = True
        nested.field.add(name="key", number=1, type=key, label=1)
        if value is None:
            nested.field.add(name="value", number=2, type=kinds.TYPE_MESSAGE, label=1, type_name=f".{PACKAGE}.Line")
        else:
            nested.field.add(name="value", number=2, type=kinds.TYPE_STRING, label=1)
    order.oneof_decl.add(name="by")
    order.oneof_decl.add(name="_note")

    def add(name: str, kind: int, label: int = 1, type_name: str = "", **more: Any) -> None:
        number = len(order.field) + 1
        field = order.field.add(name=name, number=number, type=kind, label=label, **more)
        if type_name:
            field.type_name = type_name

    add("id", kinds.TYPE_STRING)
    add("lines", kinds.TYPE_MESSAGE, 3, f".{PACKAGE}.Line")
    add("tags", kinds.TYPE_STRING, 3)
    add("prices", kinds.TYPE_MESSAGE, 3, f".{PACKAGE}.Order.PricesEntry")
    add("notes", kinds.TYPE_MESSAGE, 3, f".{PACKAGE}.Order.NotesEntry")
    add("status", kinds.TYPE_ENUM, 1, f".{PACKAGE}.Status")
    add("seal", kinds.TYPE_BYTES)
    add("paid_at", kinds.TYPE_MESSAGE, 1, ".google.protobuf.Timestamp")
    add("weight", kinds.TYPE_DOUBLE)
    add("card", kinds.TYPE_STRING, oneof_index=0)
    add("cash", kinds.TYPE_BOOL, oneof_index=0)
    add("note", kinds.TYPE_STRING, oneof_index=1, proto3_optional=True)
    add("first", kinds.TYPE_MESSAGE, 1, f".{PACKAGE}.Line")
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(timestamp_pb2.DESCRIPTOR.serialized_pb)
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{PACKAGE}.Order"))


Order: Any = _order()
SENSITIVE = frozenset({"lines.sku", "card", "prices"})
CONTRACT: Contract[Any] = Contract(Order, full_name=f"{PACKAGE}.Order", fingerprint="0" * 64, sensitive=SENSITIVE)


def order() -> Any:
    found = Order(id="o", tags=["a", "b"], card="4111", seal=b"\x00\xff", weight=1.5, note="")
    found.lines.add(sku="s1", count=2**60)
    found.lines.add(sku="s2", count=1)
    found.prices["k"].count = 7
    found.notes[5] = "five"
    found.first.count = 3
    return found


@pytest.mark.parametrize(
    ("path", "text", "read"),
    [
        ("id", "a = b", lambda m: m.id == "a = b"),
        ("id", '"quoted"', lambda m: m.id == '"quoted"'),
        ("lines[1].count", "9007199254740993", lambda m: m.lines[1].count == 9007199254740993),
        ("lines[0]", '{"sku": "x"}', lambda m: (m.lines[0].sku, m.lines[0].count) == ("x", 0)),
        ("tags[1]", "z", lambda m: list(m.tags) == ["a", "z"]),
        ("tags", '["x"]', lambda m: list(m.tags) == ["x"]),
        ('prices["k"].count', "8", lambda m: m.prices["k"].count == 8),
        ('prices["new"]', '{"count": 1}', lambda m: m.prices["new"].count == 1),
        ("notes[5]", "fünf", lambda m: m.notes[5] == "fünf"),
        ("status", "PAID", lambda m: m.status == 1),
        ("seal", "AP8=", lambda m: m.seal == b"\x00\xff"),
        ("paid_at", "2026-03-09T08:00:00Z", lambda m: m.paid_at.seconds == 1773043200),
        ("weight", "2.25", lambda m: m.weight == 2.25),
        ("cash", "true", lambda m: m.cash and m.WhichOneof("by") == "cash"),
        ("note", "", lambda m: m.HasField("note") and m.note == ""),
        ("first.sku", "f", lambda m: (m.first.sku, m.first.count) == ("f", 3)),
    ],
)
def test_a_field_is_set(path: str, text: str, read: Any) -> None:
    message = order()
    set_field(message, path, text)
    assert read(message)
    assert set(Order.DESCRIPTOR.fields_by_name) >= {field.name for field, _ in message.ListFields()}


@pytest.mark.parametrize(
    ("path", "text", "said"),
    [
        ("", "1", "is no path of a field"),
        ("a-b", "1", "is no path of a field"),
        ("id.", "1", "id is no message"),
        ("idd", "1", "has no field idd"),
        ("id.x", "1", "id is no message"),
        ("id[0]", "1", "holds one value; leave the brackets out"),
        ("lines.count", "1", "say which: lines[0]"),
        ("lines[2].count", "1", "lines has 2, counted from 0"),
        ("lines[-1].count", "1", "lines has 2, counted from 0"),
        ("prices[1]", "{}", "keys of prices are texts, in quotes"),
        ('notes["5"]', "x", "keys of notes are no texts"),
        ('prices["none"].count', "1", "there is no such entry"),
        ("lines[0].count", "secret", "--set lines[0].count:"),
        ("weight", "1e999", "--set weight:"),
        ("status", "secret", "--set status:"),
        ("seal", "not base64!", "--set seal:"),
    ],
)
def test_what_cannot_be_set(path: str, text: str, said: str) -> None:
    message = order()
    with pytest.raises(UsageError) as caught:
        set_field(message, path, text)
    assert said in str(caught.value)
    assert "secret" not in str(caught.value)
    assert message == order()


def test_a_field_is_taken_away() -> None:
    message = order()
    for path in ("note", "lines[0]", 'prices["k"]', "first", "tags"):
        clear_field(message, path)
    assert not message.HasField("note")
    assert [line.sku for line in message.lines] == ["s2"]
    assert (len(message.prices), len(message.tags), message.HasField("first")) == (0, 0, False)


def test_text_and_back_with_what_is_sensitive_hidden() -> None:
    text, hidden = to_text(order(), CONTRACT)
    shown = json.loads(text)
    assert shown["lines"] == [
        {"sku": "(sensitive value 1)", "count": str(2**60)},
        {"sku": "(sensitive value 2)", "count": "1"},
    ]
    assert (shown["prices"], shown["card"]) == ("(sensitive value 3)", "(sensitive value 4)")
    assert hidden == ['"s1"', '"s2"', '{"k": {"count": "7"}}', '"4111"']
    assert from_text(text, CONTRACT, hidden) == order()
    # Elements change places, and one goes: the values go with their marks.
    shown["lines"].reverse()
    del shown["card"]
    changed = from_text(json.dumps(shown), CONTRACT, hidden)
    assert [line.sku for line in changed.lines] == ["s2", "s1"]
    assert changed.card == ""
    assert to_text(order(), CONTRACT, show_sensitive=True)[1] == []


def test_a_text_that_is_none() -> None:
    for text in ("", "{", '{"id": 1}', '{"id": "a", "id": "b"}', '{"idd": "secret"}', "[]"):
        with pytest.raises(UsageError) as caught:
            from_text(text, CONTRACT, [])
        assert "the text is no Order" in str(caught.value)
        assert "secret" not in str(caught.value)


def test_what_is_different() -> None:
    after = order()
    after.lines[0].sku = "new"
    after.lines.add(count=1)
    after.prices["k"].count = 8
    after.notes[6] = "six"
    after.tags.pop()
    after.ClearField("note")
    after.cash = True
    after.first.count = 4
    found = differences(order(), after, SENSITIVE)
    assert [(each.path, each.redacted_path, each.sensitive) for each in found] == [
        ("lines[0].sku", "lines[0].sku", True),
        ("lines[2]", "lines[2]", False),
        ("tags[1]", "tags[1]", False),
        ("prices[*].count", "prices[*].count", True),
        ("notes[6]", "notes[*]", False),
        ("card", "card", True),
        ("cash", "cash", False),
        ("note", "note", False),
        ("first.count", "first.count", False),
    ]
    assert [(found[2].before, found[2].after), (found[4].before, found[4].after)] == [("b", None), (None, "six")]
    assert (found[7].before, found[7].after) == ("", None)
    assert differences(order(), order(), SENSITIVE) == []


def test_numbers_that_are_none_are_no_difference() -> None:
    one, other = Order(weight=float("nan")), Order(weight=float("nan"))
    assert differences(one, other, frozenset()) == []


def test_fields_that_the_contract_does_not_know_stay() -> None:
    unknown = b"\xf8\x07\x05"  # field 127, a number
    before = Order.FromString(order().SerializeToString() + unknown)
    text, hidden = to_text(before, CONTRACT)
    after = keep_unknown(before, from_text(text.replace('"o"', '"p"'), CONTRACT, hidden))
    assert after.id == "p"
    assert unknown in after.SerializeToString()
    inside = Order(first=type(order().first).FromString(unknown))
    with pytest.raises(UsageError, match="fields that the contract does not know, which a text would lose"):
        keep_unknown(inside, Order())


def test_a_frame_stays() -> None:
    descriptor = Order.DESCRIPTOR
    framed = frame_prefix(descriptor, 4711) + order().SerializeToString()
    assert decode(CONTRACT, framed, "confluent") == order()
    assert encode(Order(id="x"), "confluent", framed) == frame_prefix(descriptor, 4711) + b"\n\x01x"
    with pytest.raises(UsageError, match="frame cannot be read"):
        encode(Order(id="x"), "confluent", b"\x01")
    assert decode(CONTRACT, encode(order(), "json", None), "json") == order()
