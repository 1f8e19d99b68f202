"""proto3 JSON: the strict reading, the lenient one where it is declared, and protobuf's own parser as the judge."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from google.protobuf import json_format
from hypothesis import given, settings
from hypothesis import strategies as st

from protocontract import wire
from protocontract.violations import OptionError, Refusal
from tests.examples import examples
from tests.wire.messages import MESSAGES, POOL, SCALARS, All, Old


def decode(text: str | bytes, scalars: Any = None) -> Any:
    return wire.decode_json(All, text, scalars)


def outcome(text: str | bytes, scalars: Any = None) -> Any:
    result = decode(text, scalars)
    return (result.rule_id, result.message.partition(": ")[0]) if isinstance(result, Refusal) else result


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"int32Field": "25"}', All(int32_field=25)),
        ('{"int32_field": 2.5e1}', All(int32_field=25)),
        ('{"int64Field": 9007199254740993}', All(int64_field=9007199254740993)),
        ('{"uint64Field": "18446744073709551615"}', All(uint64_field=18446744073709551615)),
        ('{"doubleField": "Infinity", "floatField": 0.1}', All(double_field=math.inf, float_field=0.1)),
        ('{"bytesField": "-_8", "boolField": true}', All(bytes_field=b"\xfb\xff", bool_field=True)),
        ('{"stringField": "\\ud83d\\ude01"}', All(string_field="\U0001f601")),
        ('{"color": "RED", "manyColor": ["GREEN", 1, 99]}', All(color=1, many_color=[2, 1, 99])),
        ('{"int32Field": null, "manyInt32": null, "childField": null, "stringToAll": null}', All()),
        ('{"childField": {}}', All(child_field=All())),
        ('{"manyChild": [{"int32Field": 1}, {}]}', All(many_child=[All(int32_field=1), All()])),
        ('{"stringToDouble": {"a": 1, "": "NaN"}}', None),
        (
            '{"int32ToString": {"-1": "x"}, "boolToColor": {"true": "RED"}}',
            All(int32_to_string={-1: "x"}, bool_to_color={True: 1}),
        ),
        ('{"maybe": 0}', All(maybe=0)),
        ('{"left": null, "right": 1}', All(right=1)),
        ('{"nullField": null}', All(null_field=0)),
        ('{"int64ValueField": "7", "boolValueField": false, "stringValueField": null}', None),
        ('{"valueField": null}', None),
        (' {"durationField" : "-1.5s"}\n', None),
        ('{"maskField": "fooBar,a.bC"}', None),
    ],
)
def test_accepted(text: str, expected: Any) -> None:
    result = decode(text)
    assert not isinstance(result, Refusal), result
    if expected is not None:
        assert result == expected
    assert result == json_format.Parse(text, All(), descriptor_pool=POOL) or "NaN" in text


@pytest.mark.parametrize(
    ("text", "rule_id", "path"),
    [
        ("", "wire.malformed", "not JSON; expected a JSON object, got a 0-character text"),
        ("[]", "wire.malformed", "not an object; expected a message, got a list of 0"),
        ('{"int32Field": 1,}', "wire.malformed", "not JSON; expected a JSON object, got an 18-character text"),
        ('{"doubleField": NaN}', "wire.malformed", "not JSON; expected a JSON object, got a 20-character text"),
        (b'{"stringField": "\xff"}', "wire.malformed", "not UTF-8; expected JSON, got a 20-byte value"),
        (
            b"\xef\xbb\xbf{}",
            "wire.malformed",
            "a byte order mark before the JSON; expected a JSON object, got a 3-character text",
        ),
        (
            '{"childField": ' * 100_000,
            "wire.malformed",
            "nested too deeply; expected a JSON object, got a 1500000-character text",
        ),
        ('{"int32Field": 1, "int32_field": 2}', "wire.duplicate", "int32_field"),
        ('{"int32Field": 1, "\\u0069nt32Field": 2}', "wire.duplicate", "int32_field"),
        ('{"int32Field": null, "int32Field": 1}', "wire.duplicate", "int32_field"),
        ('{"stringToString": {"a": "x", "\\u0061": "y"}}', "wire.duplicate", "string_to_string[*]"),
        ('{"int32ToString": {"1": "x", "1.0": "y"}}', "wire.duplicate", "int32_to_string[*]"),
        ('{"structField": {"a": 1, "a": 2}}', "wire.duplicate", "struct_field[*]"),
        ('{"nosuch": 1}', "wire.unknown_field", "a field that the message does not have; expected its own fields"),
        ('{"childField": {"manyChild": [{}, {"nosuch": 1}]}}', "wire.unknown_field", "child_field.many_child[1]"),
        ('{"left": 1, "right": 2}', "wire.oneof", "right"),
        ('{"int32Field": 2147483648}', "scalar.range", "int32_field"),
        ('{"int32Field": 1.5}', "scalar.inexact", "int32_field"),
        ('{"int32Field": true}', "scalar.type", "int32_field"),
        ('{"boolField": "true"}', "scalar.type", "bool_field"),
        ('{"boolField": 1}', "scalar.type", "bool_field"),
        ('{"floatField": 1e39}', "scalar.range", "float_field"),
        ('{"stringField": 1}', "scalar.type", "string_field"),
        ('{"stringField": "\\ud83d"}', "scalar.syntax", "string_field"),
        ('{"bytesField": "AQ$="}', "scalar.syntax", "bytes_field"),
        ('{"manyInt32": [1, null]}', "wire.malformed", "many_int32[1]"),
        ('{"manyInt32": 1}', "wire.malformed", "many_int32"),
        ('{"manyInt32": [1, "x"]}', "scalar.syntax", "many_int32[1]"),
        ('{"manyChild": [null]}', "wire.malformed", "many_child[0]"),
        ('{"color": "red"}', "scalar.enum", "color"),
        ('{"color": true}', "scalar.type", "color"),
        ('{"stringToColor": {"a": "BLUE"}}', "scalar.enum", "string_to_color[*]"),
        ('{"stringToAll": {"a": null}}', "wire.malformed", "string_to_all[*]"),
        ('{"boolToString": {"True": "x"}}', "scalar.syntax", "bool_to_string[*]"),
        ('{"uint64ToString": {"-1": "x"}}', "scalar.range", "uint64_to_string[*]"),
        ('{"stringToString": {"\\ud83d": "x"}}', "scalar.syntax", "string_to_string[*]"),
        ('{"structField": {"a": [9007199254740993]}}', "scalar.inexact", "struct_field[*][0]"),
        ('{"valueField": 1e400}', "scalar.range", "value_field"),
        ('{"timestampField": "2024-03-01 08:30:00Z"}', "scalar.syntax", "timestamp_field"),
        ('{"timestampField": "2024-03-01T08:30:00"}', "scalar.syntax", "timestamp_field"),
        ('{"timestampField": "0001-01-01T00:00:00+00:01"}', "scalar.range", "timestamp_field"),
        ('{"timestampField": "2024-02-30T00:00:00Z"}', "scalar.syntax", "timestamp_field"),
        ('{"timestampField": "2024-03-01T08:30:00.0000000001Z"}', "scalar.syntax", "timestamp_field"),
        ('{"durationField": "1"}', "scalar.syntax", "duration_field"),
        ('{"durationField": "315576000000.000000001s"}', "scalar.range", "duration_field"),
        ('{"maskField": "foo_bar"}', "scalar.syntax", "mask_field"),
        ('{"int64ValueField": {"value": 1}}', "scalar.type", "int64_value_field"),
        ('{"listField": {}}', "wire.malformed", "list_field"),
        ('{"anyField": {"value": 1}}', "wire.malformed", "any_field"),
        ('{"anyField": {"@type": "x/no.Such"}}', "wire.malformed", "any_field"),
        ('{"anyField": {"@type": "x/wire.First", "@type": "x/wire.First"}}', "wire.malformed", "any_field"),
        ('{"anyField": {"@type": "x/wire.All", "int32Field": "x"}}', "scalar.syntax", "any_field.int32_field"),
        ('{"childField": ' * 150 + "{}" + "}" * 150, "wire.malformed", None),
        ('{"structField": ' + '{"a": ' * 150 + "1" + "}" * 151, "wire.malformed", None),
        ('{"childField": ' * 20_000, "wire.malformed", None),
    ],
)
def test_refused(text: str | bytes, rule_id: str, path: str | None) -> None:
    result = outcome(text)
    assert result[0] == rule_id
    assert path is None or result[1] == path
    assert len(result[1]) < 500


def test_any_holds_messages_and_well_known_types() -> None:
    text = (
        '{"manyAny": [{"@type": "x/wire.First", "id": "a"}, {}, {"value": "1.5s", "@type": '
        '"x/google.protobuf.Duration"}, {"@type": "x/google.protobuf.Any", "value": '
        '{"@type": "x/google.protobuf.Int64Value", "value": "7"}}]}'
    )
    assert decode(text) == json_format.Parse(text, All(), descriptor_pool=POOL)
    assert decode(wire.encode(decode(text), "json")) == decode(text)


def test_lenient_only_where_declared() -> None:
    scalars = {
        "wire.All.bool_field": {"bool_words": {"yes": True, "no": False}},
        "many_child[].int32_field": {"fold_width": True, "quoted_numbers": None},
        "string_to_all.double_field": {"exact": True},
        "double_field": {"finite": True},
        "color": {"enum_aliases": {"rot": 1, "grün": 2}},
        "uint32_field": {"quoted_numbers": False},
    }
    text = '{"boolField": "Yes", "color": "ＲＯＴ", "manyColor": ["GREEN"], "int32Field": "２５"}'
    assert decode(text, scalars) == All(bool_field=True, color=1, many_color=[2], int32_field=25)
    for text, rule_id in (
        ('{"manyBool": ["yes"]}', "scalar.type"),
        ('{"manyColor": ["rot"]}', "scalar.enum"),
        ('{"doubleField": "NaN"}', "scalar.finite"),
        ('{"doubleField": 0.1}', "scalar.inexact"),
        ('{"sint32Field": "２５"}', "scalar.syntax"),
        ('{"uint32Field": "25"}', "scalar.type"),
        ('{"color": "blau"}', "scalar.enum"),
    ):
        if "0.1" in text:
            assert outcome(text, {"double_field": {"exact": True}})[0] == rule_id
        else:
            assert outcome(text, scalars)[0] == rule_id


@pytest.mark.parametrize(
    "scalars",
    [
        {"nosuch": {}},
        {"": {}},
        {"bool_field": {"bool_words": {"yes": True, "YES": False}}},
        {"bool_field": {"loud": True}},
        {"color": {"enum_aliases": {"blau": 9}}},
        {"int32_field": {"enum_aliases": {"one": 1}}},
        {"color": {"enum_aliases": {"x": 1, "X": 2}}},
    ],
)
def test_wrong_options_are_option_errors(scalars: Any) -> None:
    with pytest.raises(OptionError):
        wire.json_decoder(All, scalars)(b"{}")


def test_proto2_closed_enums_and_required_fields() -> None:
    assert wire.decode_json(Old, '{"needed": 1, "kind": "B"}') == Old(needed=1, kind=1)
    closed = wire.decode_json(Old, '{"needed": 1, "kind": 7}')
    missing = wire.decode_json(Old, "{}")
    assert isinstance(closed, Refusal)
    assert isinstance(missing, Refusal)
    assert (closed.rule_id, missing.rule_id) == ("scalar.enum", "wire.malformed")


# ----------------------------------------------------------------------------------------------------------------------
# protobuf's own writer and parser as judges

_INTEGERS = {
    "int32": (-(2**31), 2**31 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "uint32": (0, 2**32 - 1),
    "uint64": (0, 2**64 - 1),
}
_KIN = {
    "sint32": "int32",
    "sfixed32": "int32",
    "sint64": "int64",
    "sfixed64": "int64",
    "fixed32": "uint32",
    "fixed64": "uint64",
}


def _scalar(kind: str) -> st.SearchStrategy[Any]:
    kind = _KIN.get(kind, kind)
    if kind in _INTEGERS:
        return st.integers(*_INTEGERS[kind])
    others: dict[str, st.SearchStrategy[Any]] = {
        "double": st.floats(allow_nan=False),
        "float": st.floats(width=32, allow_nan=False),
        "bool": st.booleans(),
        "string": st.text(max_size=8),
        "bytes": st.binary(max_size=8),
    }
    return others[kind]


@st.composite
def messages(draw: st.DrawFn, depth: int = 1) -> Any:
    message = All()
    for kind in draw(st.sets(st.sampled_from(SCALARS), max_size=5)):
        setattr(message, f"{kind}_field", draw(_scalar(kind)))
        getattr(message, f"many_{kind}").extend(draw(st.lists(_scalar(kind), max_size=3)))
    message.many_color.extend(draw(st.lists(st.integers(0, 4), max_size=3)))
    for key, value in draw(st.dictionaries(st.text(max_size=4), st.floats(allow_nan=False), max_size=3)).items():
        message.string_to_double[key] = value
    for number in draw(st.lists(st.integers(0, 2**64 - 1), max_size=2)):
        message.uint64_to_string[number] = draw(st.text(max_size=3))
    if draw(st.booleans()):
        message.timestamp_field.seconds = draw(st.integers(-62135596800, 253402300799))
        message.timestamp_field.nanos = draw(st.integers(0, 999_999_999))
        seconds, nanos = draw(st.integers(-315576000000 + 1, 315576000000 - 1)), draw(st.integers(0, 999_999_999))
        message.duration_field.seconds, message.duration_field.nanos = seconds, nanos if seconds >= 0 else -nanos
    if draw(st.booleans()):
        message.struct_field.update(
            draw(
                st.dictionaries(
                    st.text(max_size=4),
                    st.none()
                    | st.booleans()
                    | st.integers(-(2**53), 2**53)
                    | st.text(max_size=4)
                    | st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=2),
                    max_size=3,
                )
            )
        )
        message.value_field.string_value = draw(st.text(max_size=3))
        message.int64_value_field.value = draw(st.integers(-(2**63), 2**63 - 1))
        message.mask_field.paths.append("foo_bar.baz")
    if depth:
        for child in draw(st.lists(messages(depth=depth - 1), max_size=2)):
            message.many_child.add().CopyFrom(child)
            message.string_to_all["x"].CopyFrom(child)
            message.any_field.Pack(child, deterministic=True)
    return message


@settings(max_examples=examples(200), deadline=None, derandomize=True)
@given(messages())
def test_what_protobuf_writes_is_read_back(message: Any) -> None:
    for preserve in (False, True):
        written = json_format.MessageToJson(message, preserving_proto_field_name=preserve, descriptor_pool=POOL)
        result = decode(written)
        assert not isinstance(result, Refusal), result
        assert wire.encode(result, "protobuf") == wire.encode(message, "protobuf")


NAMES = (
    [f"{kind}Field" for kind in SCALARS]
    + ["int32_field", "manyInt32", "manyString", "color", "left", "right", "stringToDouble", "int32ToString", "nosuch"]
    + ["".join(part.title() if at else part for at, part in enumerate(f"{name}_field".split("_"))) for name in MESSAGES]
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**65), 2**65)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(
        ("1", "-1", "x", "", "NaN", "2024-03-01T08:30:00Z", "1.5s", "AQI=", "RED", "fooBar", "1e2", "0.5")
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4),
    max_leaves=8,
)


@settings(max_examples=examples(500), deadline=None, derandomize=True)
@given(st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=4))
def test_what_is_accepted_is_what_protobuf_reads(content: dict[str, Any]) -> None:
    """The reverse is not true: protobuf's parser takes booleans for numbers, repeated names and more."""
    written = json.dumps(content)
    result = decode(written)
    if isinstance(result, Refusal):
        assert result.rule_id in wire.RULE_IDS
    else:
        judged = json_format.Parse(written, All(), descriptor_pool=POOL)
        assert wire.encode(result, "protobuf") == wire.encode(judged, "protobuf")


@settings(max_examples=examples(500), deadline=None, derandomize=True)
@given(
    st.text(max_size=30)
    | st.lists(
        st.sampled_from(
            ('{"', '"', ":", "{", "}", "[", "]", ",", "int32Field", "1", "null", "childField", "\\ud800", " ")
        ),
        max_size=15,
    ).map("".join)
)
def test_no_text_crashes(text: str) -> None:
    result = decode(text)
    if isinstance(result, Refusal):
        assert result.rule_id in wire.RULE_IDS
