"""Columns as fields: what maps, maps exactly; what does not is refused, by file or by row, and never guessed."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocontract import ContractError
from protocontract.records.arrow_columns import MessageColumns
from protocontract.testing import messages
from protocontract.violations import Refusal
from tests.arrow.tables import OLD, SHAPE, table_of
from tests.examples import examples

Shape: Any = SHAPE.message_type
NS = 1_000_000_000


def read(table: pa.Table, message_type: Any = Shape, **options: Any) -> list[Any]:
    columns = MessageColumns(message_type, table.schema, **options)
    return [found for batch in table.to_batches() for found in columns.messages(batch)]


def one(name: str, values: Any, kind: pa.DataType | None = None) -> Any:
    """What becomes of the first row of a column: the field's value, or the refusal as rule and text."""
    (found,) = read(pa.table({name: pa.array([values], kind) if not isinstance(values, pa.Array) else values}))
    return (found.rule_id, found.message) if isinstance(found, Refusal) else getattr(found, name)


def fits_nanoseconds(message: Any) -> bool:
    """Arrow's 64 bits of nanoseconds hold the years 1677 to 2262 only, and a Duration has one sign."""
    moment, took = message.moment, message.took
    return (
        abs(moment.seconds * NS + moment.nanos) < 1 << 63
        and 0 <= moment.nanos < NS
        and abs(took.seconds * NS + took.nanos) < 1 << 63
        and abs(took.nanos) < NS
        and took.seconds * took.nanos >= 0
    )


def shallow(message: Any) -> Any:
    """The message without what the test's tables have no columns for."""
    points = [message.point, message.at, *message.points, *message.places.values()]
    for point in points:
        for _ in range(2):
            if not point.HasField("inner"):
                break
            point = point.inner
        point.ClearField("inner")
    return message


@settings(max_examples=examples(150))
@given(st.lists(messages(SHAPE).filter(fits_nanoseconds), max_size=4))
def test_any_messages_come_back_as_they_were(drawn: list[Any]) -> None:
    given_messages = [shallow(message) for message in drawn]
    found = read(table_of(given_messages, Shape.DESCRIPTOR))
    expected = [message.SerializeToString(deterministic=True) for message in given_messages]
    assert [message.SerializeToString(deterministic=True) for message in found] == expected


# -- moments


@settings(max_examples=examples(200))
@given(
    st.integers(-(2**63) + 1, 2**63 - 1), st.sampled_from(["s", "ms", "us", "ns"]), st.sampled_from(["UTC", "+08:00"])
)
def test_moments_are_exact_in_every_unit(count: int, unit: str, zone: str) -> None:
    per_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    found = one("moment", pa.array([count], pa.int64()).cast(pa.timestamp(unit, zone)))
    first = int(datetime(1, 1, 1, tzinfo=UTC).timestamp())
    last = int(datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC).timestamp())
    if first * per_second <= count < (last + 1) * per_second:
        assert (found.seconds * NS + found.nanos) * per_second == count * NS
        assert 0 <= found.nanos < NS
    else:
        assert found == ("scalar.range", "column moment: a moment out of range; expected years 1 to 9999")


@settings(max_examples=examples(100))
@given(st.integers(-(2**63) + 1, 2**63 - 1), st.sampled_from(["s", "ms", "us", "ns"]))
def test_durations_are_exact_and_have_one_sign(count: int, unit: str) -> None:
    per_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    found = one("took", pa.array([count], pa.int64()).cast(pa.duration(unit)))
    if abs(count) <= 315_576_000_000 * per_second:
        assert (found.seconds * NS + found.nanos) * per_second == count * NS
        assert found.seconds * found.nanos >= 0
    else:
        assert found[0] == "scalar.range"


def test_a_timestamp_without_a_zone_is_no_moment_unless_utc_is_assumed() -> None:
    table = pa.table({"moment": pa.array([1], pa.timestamp("us"))})
    with pytest.raises(
        ContractError, match=r"column moment is timestamp\[us\], shapes.Shape.moment is google.protobuf.T"
    ):
        read(table)
    assert read(table, assume_utc=True)[0].moment.nanos == 1000


# -- numbers


@pytest.mark.parametrize(
    ("field", "value", "kind", "expected"),
    [
        ("i32", 2**31 - 1, pa.int64(), 2**31 - 1),
        ("i32", 2**31, pa.int64(),
         ("scalar.range", "column i32: a number out of range; expected -2147483648 to 2147483647")),
        ("i64", 2**63, pa.uint64(), "scalar.range"),
        ("i64", 2**63 - 1, pa.uint64(), 2**63 - 1),
        ("u32", -1, pa.int8(), "scalar.range"),
        ("u64", 2**64 - 1, pa.uint64(), 2**64 - 1),
        ("u64", -1, pa.int64(), "scalar.range"),
        ("s32", -5, pa.int8(), -5),
        ("f64", 5, pa.uint8(), 5),
        # Pandas writes integers with gaps as floats.
        ("i32", 3.0, pa.float64(), 3),
        ("i32", 3.5, pa.float64(), "scalar.inexact"),
        ("i32", float("nan"), pa.float64(), "scalar.inexact"),
        ("i32", float("inf"), pa.float32(), "scalar.inexact"),
        ("i32", 1e10, pa.float64(), "scalar.range"),
        ("i64", float(2**53), pa.float64(), 2**53),
        ("i64", float(2**53 + 2), pa.float64(), "scalar.inexact"),
        ("real", 2**53, pa.int64(), float(2**53)),
        ("real", 2**53 + 1, pa.int64(), "scalar.inexact"),
        ("real", 2**60, pa.int64(), float(2**60)),
        ("real", 0.1, pa.float64(), 0.1),
        ("real", 1.5, pa.float16(), 1.5),
        ("single", 0.5, pa.float64(), 0.5),
        ("single", 0.1, pa.float64(),
     ("scalar.inexact", "column single: a number that a float cannot hold exactly; expected float32 in the file")),
        ("single", 1e300, pa.float64(), "scalar.inexact"),
        ("single", float("inf"), pa.float64(), float("inf")),
        ("single", 2**24 + 1, pa.int32(), "scalar.inexact"),
        ("single", 2**25, pa.int32(), float(2**25)),
        ("single", 2**64 - 1, pa.uint64(), "scalar.inexact"),
        ("flag", True, pa.bool_(), True),
        ("text", Decimal("-12.50"), pa.decimal128(10, 2), "-12.50"),
        ("text", Decimal("1E+3"), pa.decimal128(5, -3), "1000"),
        ("text", "日本", pa.large_string(), "日本"),
        ("text", "a", pa.string_view(), "a"),
        ("raw", b"\xff", pa.large_binary(), b"\xff"),
        ("raw", b"ab", pa.binary(2), b"ab"),
        ("color", "COLOR_BLUE", pa.string(), 5),
        ("color", "BLUE", pa.string(), ("scalar.enum", "column color: no name of the enum; expected one of 3")),
        ("color", 77, pa.int64(), 77),
        ("color", 2**40, pa.int64(), "scalar.range"),
    ],
)  # fmt: skip
def test_single_values(field: str, value: Any, kind: pa.DataType, expected: Any) -> None:
    found = one(field, value, kind)
    if isinstance(expected, str) and isinstance(found, tuple):
        found = found[0]
    assert found == expected


def test_nan_stays_nan() -> None:
    assert one("single", float("nan"), pa.float64()) != one("single", float("nan"), pa.float64())


def test_one_bad_value_refuses_its_row_only() -> None:
    found = read(pa.table({"single": [0.5, 0.1, None], "i32": [1, 2, 2**40]}))
    assert [isinstance(row, Refusal) for row in found] == [False, True, True]
    assert [row.message.partition(":")[0] for row in found[1:]] == ["column single", "column i32"]


def test_a_closed_enum_has_no_other_numbers() -> None:
    table = pa.table({"id": [1, 2], "level": [2, 3]})
    good, bad = read(table, OLD.message_type)
    assert good.level == 2
    assert (bad.rule_id, bad.message) == ("scalar.enum", "column level: no number of the enum; expected one of 2")


# -- structure


def test_nulls_leave_fields_unset_and_lists_hold_none() -> None:
    table = pa.Table.from_pylist([{"maybe": None, "numbers": None, "point": None, "boxed": None, "name": None}])
    assert read(table)[0] == Shape()
    assert one("numbers", [1, None], pa.list_(pa.int32())) == (
        "wire.malformed", "column numbers[1]: null; expected a value",
    )  # fmt: skip
    assert one("counts", [("a", None)], pa.map_(pa.string(), pa.int64())) == (
        "wire.malformed", "column counts[*]: null; expected a value",
    )  # fmt: skip


def test_presence_is_kept() -> None:
    (found,) = read(pa.table({"maybe": pa.array([0], pa.int32()), "boxed": [0], "point": [{"x": None}], "name": [""]}))
    assert found.HasField("maybe")
    assert found.HasField("boxed")
    assert found.HasField("point")
    assert found.WhichOneof("choice") == "name"


def test_paths_name_columns_and_no_keys() -> None:
    points = pa.list_(pa.struct([("tags", pa.list_(pa.string())), ("x", pa.int64())]))
    assert one("points", [{"x": 1}, {"x": 2**53 + 1}], points)[1].startswith("column points[1].x: an integer")
    places = pa.map_(pa.int64(), pa.struct([("x", pa.int64())]))
    assert one("places", [(1, {"x": 2**53 + 1})], places)[1].startswith("column places[*].x: an integer")
    assert one("places", [(2**40, {"x": 1})], places)[0] == "scalar.range"


def test_a_key_twice_and_two_members_of_a_oneof_are_refused() -> None:
    assert one("counts", [("a", 1), ("a", 2)], pa.map_(pa.string(), pa.int64()))[0] == "wire.duplicate"
    (found,) = read(pa.table({"name": ["a"], "code": [1]}))
    assert (found.rule_id, found.message) == ("wire.oneof", "column code: a second member of its oneof; expected one")


@pytest.mark.parametrize("kind", [pa.large_list(pa.int64()), pa.list_(pa.int64(), 2), pa.list_view(pa.int64())])
def test_lists_of_any_layout(kind: pa.DataType) -> None:
    column = pa.array([[9, 9], None, [1, 2], [3, 4]], kind).slice(1)
    assert [list(row.numbers) for row in read(pa.table({"numbers": column}))] == [[], [1, 2], [3, 4]]


def test_slices_of_structs_and_maps_keep_their_rows() -> None:
    table = pa.table(
        {
            "point": pa.array([{"x": 9.0}, None, {"x": 2.0}]),
            "counts": pa.array([[("z", 9)], [("a", 1), ("b", 2)], None], pa.map_(pa.string(), pa.int64())),
        }
    ).slice(1)
    first, second = read(table)
    assert (first.HasField("point"), dict(first.counts)) == (False, {"a": 1, "b": 2})
    assert (second.point.x, dict(second.counts)) == (2.0, {})


def test_dictionaries_and_columns_of_nulls() -> None:
    found = read(pa.table({"color": pa.array(["COLOR_RED", None]).dictionary_encode(), "point": pa.nulls(2)}))
    assert [row.color for row in found] == [1, 0]
    words = pa.array([["a"], ["b", "a"]], pa.list_(pa.dictionary(pa.int8(), pa.string())))
    assert [list(row.words) for row in read(pa.table({"words": words}))] == [["a"], ["b", "a"]]


def test_a_text_that_is_none_refuses_its_row_only() -> None:
    raws = pa.array([b"good", b"\xff"], pa.binary())
    column = pa.Array.from_buffers(pa.string(), 2, raws.buffers())
    good, bad = read(pa.table({"text": column}))
    assert good.text == "good"
    assert (bad.rule_id, bad.message) == ("wire.malformed", "column text: a text that is not UTF-8; expected text")


def test_json_names_are_names_too_but_not_both() -> None:
    assert read(pa.table({"camelCase": ["x"]}))[0].camel_case == "x"
    with pytest.raises(ContractError, match=r"two columns for shapes.Shape.camel_case"):
        read(pa.table({"camelCase": ["x"], "camel_case": ["x"]}))


# -- what a file is refused for


@pytest.mark.parametrize(
    ("name", "kind", "said"),
    [
        ("i32", pa.string(), "column i32 is string, shapes.Shape.i32 is int32; expected integers"),
        ("i64", pa.decimal128(10, 0), "column i64 is decimal128(10, 0), shapes.Shape.i64 is int64; expected integers"),
        ("real", pa.decimal128(10, 2), "shapes.Shape.real is double; expected floats or integers"),
        ("flag", pa.int8(), "column flag is int8, shapes.Shape.flag is bool; expected bools"),
        ("text", pa.binary(), "column text is binary, shapes.Shape.text is string; expected strings or decimals"),
        ("text", pa.timestamp("s", "UTC"), "shapes.Shape.text is string; expected strings or decimals"),
        ("raw", pa.string(), "column raw is string, shapes.Shape.raw is bytes; expected binary"),
        ("color", pa.float64(), "shapes.Shape.color is shapes.Color; expected names (strings) or numbers (integers)"),
        ("moment", pa.int64(), "column moment is int64, shapes.Shape.moment is google.protobuf.Timestamp; expected"),
        ("moment", pa.date32(), "column moment is date32[day], shapes.Shape.moment is google.protobuf.Timestamp"),
        ("took", pa.int64(), "shapes.Shape.took is google.protobuf.Duration; expected a duration"),
        ("point", pa.float64(), "column point is double, shapes.Shape.point is shapes.Shape.Point; expected a struct"),
        ("numbers", pa.int32(), "shapes.Shape.numbers is repeated int32; expected a list"),
        ("words", pa.list_(pa.int8()), "column words[] is int8, shapes.Shape.words is repeated string; expected s"),
        ("counts", pa.list_(pa.int64()), "shapes.Shape.counts is map<string, int64>; expected a map"),
        ("counts", pa.map_(pa.int64(), pa.int64()), "column counts.key is int64"),
        ("points", pa.list_(pa.struct([("z", pa.int8())])), "shapes.Shape.Point has no field for the columns points[]"),
        ("boxed", pa.string(), "column boxed is string, google.protobuf.Int64Value.value is int64; expected integers"),
        ("other", pa.int64(), "shapes.Shape has no field for the columns other"),
    ],
)  # fmt: skip
def test_types_that_do_not_fit_are_refused_with_both(name: str, kind: pa.DataType, said: str) -> None:
    with pytest.raises(ContractError) as raised:
        MessageColumns(Shape, pa.schema([(name, kind)]))
    assert said in str(raised.value)
