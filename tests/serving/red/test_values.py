"""Values of every dtype there and back, and bytes that are no tensor: what a model gets is what the contract says."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from protocontract.serving import ModelSpec
from tests.serving.red.support import asked, message, serving
from tests.serving.serve.lab import refusal, scaled

ELEMENTS = {
    "i64": TensorProto.INT64, "u64": TensorProto.UINT64, "flags": TensorProto.BOOL, "half": TensorProto.FLOAT16,
    "brain": TensorProto.BFLOAT16, "free": TensorProto.DOUBLE,
}  # fmt: skip


@pytest.fixture(scope="module")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> list[ModelSpec]:
    """Everything as it is."""
    path = tmp_path_factory.mktemp("kinds") / "kinds.onnx"

    def ports(suffix: str) -> list[Any]:
        return [
            helper.make_tensor_value_info(f"{name}{suffix}", element, ["N", "W" if name == "free" else 2])
            for name, element in ELEMENTS.items()
        ]

    nodes = [helper.make_node("Identity", [name], [f"{name}_out"], name=name) for name in ELEMENTS]
    graph = helper.make_graph(nodes, "kinds", ports(""), ports("_out"))
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)], ir_version=8), str(path))
    return [ModelSpec("kinds", "1", str(path))]


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[ModelSpec]:
    return [ModelSpec("same", "1", str(scaled(tmp_path_factory.mktemp("rows") / "same.onnx")))]


def numbers(**other: Any) -> Any:
    held: dict[str, Any] = {
        "i64": np.array([-(2**63), 2**63 - 1], "<i8").tobytes(),
        "u64": np.array([0, 2**64 - 1], "<u8").tobytes(),
        "flags": b"\x00\x01",
        "half": np.array([65504, 6e-8], "<f2").tobytes(),
        "brain": b"\x7f\x7f\x01\x00",  # the largest, and a subnormal one
        "shape": [1, 3],
        "free": np.array([5e-324, -0.0, 1.5], "<f8").tobytes(),
    }
    return message("Numbers", **held | other)


def test_each_dtype_comes_back_bit_by_bit(kinds: list[ModelSpec]) -> None:
    async def main() -> None:
        async with serving("Kinds", kinds) as (_, call):
            sent = numbers()
            got = await call("Kinds/Run", sent)
            assert {name: getattr(got, name) for name in ELEMENTS} == {name: getattr(sent, name) for name in ELEMENTS}
            assert list(got.shape) == [1, 3]

    asyncio.run(main())


def test_a_shape_is_the_outputs_own_also_where_the_request_has_one_of_that_name(kinds: list[ModelSpec]) -> None:
    async def main() -> None:
        async with serving("Kinds", kinds) as (_, call):
            got = await call("Kinds/Run", numbers(shape=[1, 0], free=b""))
            assert (list(got.shape), got.free) == ([1, 0], b"")

    asyncio.run(main())


BROKEN: list[tuple[dict[str, Any], str]] = [
    ({"i64": np.array([1, 2], "<i8").tobytes()[:-1]}, "i64"),  # a byte is missing
    ({"u64": np.arange(3, dtype="<u8").tobytes()}, "u64"),  # a row and a half
    ({"flags": b"\x00\x02"}, "flags"),  # no bool
    ({"half": np.array([1, np.inf], "<f2").tobytes()}, "half"),
    ({"brain": b"\xc0\x7f\x00\x00"}, "brain"),  # NaN
    ({"shape": [3, 1]}, "free"),  # the rows of the others are one
    ({"shape": [1, 4]}, "free"),
    ({"shape": [-1, -3]}, "free"),
    ({"shape": [2**62, 2**62]}, "free"),  # the product overflows 64 bits to 0
    ({"shape": [1, 3, 1]}, "free"),
    ({"shape": []}, "free"),
    ({"i64": np.arange(4, dtype="<i8").tobytes()}, "u64"),  # two rows, the others have one
]


def test_what_is_no_tensor_of_the_contract_reaches_no_model(kinds: list[ModelSpec]) -> None:
    async def main() -> None:
        async with serving("Kinds", kinds) as (_, call):
            for other, field in BROKEN:
                code, _, metadata, _ = await refusal(call("Kinds/Run", numbers(**other)))
                assert (code, metadata["field"].partition("[")[0]) == ("INVALID_ARGUMENT", field), other

    asyncio.run(main())


def test_no_rows_are_a_request_that_nobody_can_answer(rows: list[ModelSpec]) -> None:
    async def main() -> None:
        async with serving("Rated", rows) as (_, call):
            code, reason, _, text = await refusal(call("Rated/RunLarge", asked()))
            assert (code, reason) == ("INVALID_ARGUMENT", "WRONG_INPUT"), text

    asyncio.run(main())


def test_what_the_client_knows_and_we_do_not(rows: list[ModelSpec]) -> None:
    """A newer client: fields that are unknown here pass and change nothing; a value of an enum that is none here does
    not; bytes that are no message are the caller's."""

    async def main() -> None:
        async with serving("Rated", rows) as (_, call):
            newer = asked(3).SerializeToString() + b"\xa2\x06\x03new"  # field 100
            assert (await call("Rated/RunLarge", newer)).y == asked(3).x
            code, reason, metadata, _ = await refusal(call("Rated/RunLarge", asked(1, mood=7)))
            assert (code, reason, metadata["field"]) == ("INVALID_ARGUMENT", "ENUM_DEFINED_ONLY", "mood")
            for raw in (b"\x1a\xff", b"\x00", b"\xff" * 30, asked(1).SerializeToString()[:-3], b"\x22\x02\xc3\x28"):
                code, _, _, text = await refusal(call("Rated/RunLarge", raw))
                assert code == "INVALID_ARGUMENT", text

    asyncio.run(main())


def test_a_message_that_is_as_deep_as_no_parser_goes(rows: list[ModelSpec]) -> None:
    (name,) = (each.name for each in asked().DESCRIPTOR.fields if each.number == 6)
    raw = asked(1).SerializeToString()
    for _ in range(150):
        size = len(raw)
        raw = b"\x32" + bytes([size & 0x7F | 0x80, size >> 7] if size > 127 else [size]) + raw
    assert name.startswith("a_field")

    async def main() -> None:
        async with serving("Rated", rows) as (_, call):
            code, _, _, text = await refusal(call("Rated/RunLarge", raw))
            assert code == "INVALID_ARGUMENT", text
            assert (await call("Rated/RunLarge", asked(2))).y == asked(2).x

    asyncio.run(main())
