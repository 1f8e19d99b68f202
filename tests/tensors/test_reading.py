"""Elements of messages as arrays: every dtype, bytes in place, numbers exactly."""

from __future__ import annotations

import struct
import subprocess
import sys
import warnings
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocontract.relations import tensor
from protocontract.tensors.reading import STORED, of_bytes, of_numbers
from protocontract.violations import Refusal, Refused
from tests.examples import examples
from tests.tensors.support import contracts

TYPES = contracts()["Types"]
DOUBLE = np.dtype("float64")
FORMATS = {
    "bool": "?", "int8": "b", "int16": "h", "int32": "i", "int64": "q", "uint8": "B", "uint16": "H", "uint32": "I",
    "uint64": "Q", "float16": "e", "bfloat16": "H", "float32": "f", "float64": "d",
}  # fmt: skip


@pytest.mark.parametrize("dtype", FORMATS)
def test_bytes_are_read_in_place_and_cannot_be_written(dtype: str) -> None:
    numbers = [0, 1, 1, 0]
    raw = struct.pack(f"<4{FORMATS[dtype]}", *numbers)
    found = of_bytes(raw, dtype)
    assert found.tolist() == numbers
    assert found.dtype == STORED[dtype]
    assert np.shares_memory(found, np.frombuffer(raw, dtype="u1"))
    with pytest.raises(ValueError, match="read-only"):
        found[0] = 1


@pytest.mark.parametrize("dtype", FORMATS)
def test_bytes_that_end_inside_an_element_are_refused(dtype: str) -> None:
    size = STORED[dtype].itemsize
    found = of_bytes(bytes(size * 3 + size // 2), dtype)
    if size == 1:
        assert len(found) == 3
    else:
        assert found.rule_id == "tensor.size"


def test_a_byte_that_is_no_bool_is_refused() -> None:
    assert of_bytes(b"\0\1\2", "bool") == Refusal("tensor.dtype", "a byte that is no bool; expected 0 or 1", 2)


NATURAL = {"int64": st.integers(-(2**63), 2**63 - 1), "uint64": st.integers(0, 2**64 - 1), "float64": st.floats()}


@settings(max_examples=examples(400))
@given(st.data())
def test_numbers_are_taken_where_the_contract_takes_them(data: st.DataObject) -> None:
    """The same verdict as the relation's own check, and the value of struct where there is one."""
    natural = data.draw(st.sampled_from(sorted(NATURAL)))
    near = st.sampled_from([0, 1, 2, 127, 128, 255, 256, 32767, 65535, 65536, 2**31, 2**32, 2**53, 2**63 - 1])
    element = NATURAL[natural] | (
        near if natural != "float64" else near.map(float) | st.floats(width=16) | st.floats(width=32)
    )
    values = data.draw(st.lists(element, max_size=6))
    if natural == "float64":
        held = ("float16", "bfloat16", "float32", "float64")
    else:
        held = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
    dtype = data.draw(st.sampled_from(held))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = of_numbers(values, np.dtype(natural), dtype)
    try:
        tensor.check(values, dtype=dtype, dims=["n"])
    except Refused:
        assert isinstance(found, Refusal)
        assert found.rule_id == "tensor.dtype"
        return
    assert found.dtype == STORED[dtype]
    if dtype == "bfloat16":
        assert np.isnan(_singles(found)).tolist() == [value != value for value in values]  # the rest is tested below
    elif natural == "float64":
        assert [struct.pack("<d", x) for x in found.tolist() if x == x] == [
            struct.pack("<d", x) for x in np.array(values, dtype="f8").astype(dtype).tolist() if x == x
        ]
    else:
        assert found.tolist() == values


@settings(max_examples=examples(300))
@given(st.lists(st.floats(width=32, allow_nan=False), max_size=8))
def test_bfloat16_of_singles_is_that_of_ml_dtypes(values: list[float]) -> None:
    found = of_numbers(values, np.dtype("float32"), "bfloat16")
    with np.errstate(over="ignore"):
        expected = np.array(values, dtype="float32").astype(ml_dtypes.bfloat16)
    if isinstance(found, Refusal):
        assert found.index is not None
        assert np.isinf(expected[found.index].astype("float32"))
    else:
        assert found.tolist() == expected.view("uint16").tolist()


@settings(max_examples=examples(300))
@given(st.floats(-1e38, 1e38))
def test_bfloat16_of_doubles_is_the_nearest_one(value: float) -> None:
    bits = int(of_numbers([value], DOUBLE, "bfloat16")[0])
    chosen = _double(bits)
    for other in (_double((bits - 1) & 0xFFFF), _double((bits + 1) & 0xFFFF)):
        if np.isfinite(other) and other != chosen:
            assert abs(chosen - value) <= abs(other - value)
            assert abs(chosen - value) < abs(other - value) or bits % 2 == 0  # a tie goes to the even one


def test_a_double_just_above_a_tie_of_bfloat16_is_rounded_once() -> None:
    # 1 + 2^-8 is a tie and goes down to 1; the least more goes up, though the nearest float32 is the tie itself.
    tie = 1 + 2**-8
    above = float(np.nextafter(tie, 2))
    found = of_numbers([tie, above, -above], DOUBLE, "bfloat16")
    assert _singles(found).tolist() == [1.0, 1.0078125, -1.0078125]
    # 1 + 3 * 2^-8 is a tie and goes up to the even 1 + 2^-6; the least below it goes down.
    tie = 1 + 3 * 2**-8
    assert _singles(of_numbers([tie, float(np.nextafter(tie, 0))], DOUBLE, "bfloat16")).tolist() == [
        1.015625,
        1.0078125,
    ]


def test_nan_stays_nan_in_bfloat16() -> None:
    found = of_numbers([float("nan"), float("inf"), -float("inf")], np.dtype("float32"), "bfloat16")
    assert np.isnan(_singles(found)[0])
    assert found.tolist()[1:] == [0x7F80, 0xFF80]


def _singles(bits: Any) -> Any:
    return bits.view(ml_dtypes.bfloat16).astype("float32")


def _double(bits: int) -> float:
    return float(_singles(np.array([bits], dtype="uint16"))[0])


@pytest.mark.parametrize(
    ("field", "natural", "values"),
    [
        ("rounded32", "float64", [0.1, 1e-300, 5.0]),
        ("rounded16_of_singles", "float32", [0.5, 3.0]),
        ("narrow", "int64", [-128, 127, 0]),
        ("wide", "uint64", [2**64 - 1, 0]),
        ("flags", "uint32", [1, 0, 1]),
    ],
)
def test_repeated_fields_are_read_as_lists_are(field: str, natural: str, values: list[float]) -> None:
    """Whatever way a version of protobuf has to let the numbers out."""
    message = TYPES.message_type(**{field: values})
    dtype = next(each.dtype for each in TYPES.tensors if each.path == field)
    from_field = of_numbers(getattr(message, field), np.dtype(natural), dtype)
    assert from_field.dtype == STORED[dtype]
    assert from_field.tobytes() == of_numbers(values, np.dtype(natural), dtype).tobytes()


def test_without_numpy_the_extra_is_named() -> None:
    script = (
        "import sys; sys.modules['numpy'] = None\n"
        "from protocontract.tensors import TensorField\n"
        "try:\n"
        "    from protocontract.tensors import Collate\n"
        "except ImportError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert done.stdout == 'protocontract.tensors needs numpy: pip install "protocontract[tensors]"\n'
