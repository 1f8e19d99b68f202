"""Tensors: types, shapes, numbers; in bytes and in repeated fields, with and without NumPy."""

from __future__ import annotations

import math
import struct
import tracemalloc
from array import array
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from protocontract.relations import tensor, tensor_elements
from protocontract.violations import OptionError, Refused
from tests.examples import examples

READERS = ["python", "numpy"]


@pytest.fixture(params=READERS)
def reader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both readers of the elements; NumPy's, where it is installed, for every size."""
    if request.param == "numpy":
        if tensor_elements.numpy() is None:
            pytest.skip("NumPy is not installed")
        monkeypatch.setattr(tensor_elements, "_WORTH_NUMPY", 0)
    else:
        monkeypatch.setattr(tensor_elements, "numpy", lambda: None)
    return str(request.param)


def breaks(value: Any, shape: Any = None, bound: Any = None, **options: Any) -> list[tuple[str, int | None]]:
    return [(refusal.rule_id, refusal.index) for refusal in tensor.checker(**options)(value, shape, bound) or ()]


def floats(*values: float, code: str = "f") -> bytes:
    return struct.pack(f"<{len(values)}{code}", *values)


NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    ("dtype", "raw", "options", "expected"),
    [
        ("float32", floats(1, 2), {"finite": True}, []),
        ("float32", floats(1, NAN), {"finite": True}, [("tensor.finite", 1)]),
        ("float64", floats(1, -INF, code="d"), {"finite": True}, [("tensor.finite", 1)]),
        ("float64", floats(1e308, 1e308, code="d"), {"finite": True}, []),
        ("float16", floats(1, 65504, INF, code="e"), {"finite": True}, [("tensor.finite", 2)]),
        ("bfloat16", b"\x80\x3f\x80\x7f", {"finite": True}, [("tensor.finite", 1)]),
        ("bfloat16", b"\x80\x3f\x00\x40", {"min": 1, "max": 1.5}, [("tensor.range", 1)]),
        ("float16", floats(0.1, code="e"), {"max": 0.1}, []),  # float16's 0.1 is below the double
        ("float32", floats(0.1), {"max": 0.1}, [("tensor.range", 0)]),  # float32's is above
        ("float32", floats(0, NAN), {"min": 0}, [("tensor.range", 1)]),
        ("int64", struct.pack("<2q", 0, (1 << 53) + 1), {"max": float(1 << 53)}, [("tensor.range", 1)]),
        ("uint64", struct.pack("<Q", (1 << 64) - 1), {"min": -5.5}, []),
        ("int8", struct.pack("<2b", -1, 3), {"min": -0.5}, [("tensor.range", 0)]),
        ("int8", struct.pack("<2b", -1, 3), {"min": 1e6}, [("tensor.range", 0)]),
        ("uint8", b"\x00", {"max": -1}, [("tensor.range", 0)]),
        ("bool", b"\x00\x01", {}, []),
        ("bool", b"\x00\x02", {}, [("tensor.dtype", 1)]),
        ("float32", b"\x00" * 7, {}, [("tensor.size", None)]),
        ("float32", b"", {"finite": True, "min": 0}, []),
        ("float32", floats(3, 4, 0, 5), {"dims": ["n", "2"], "l2_norm": (5, 1e-6)}, []),
        (
            "float32",
            floats(3, 4, 1, 5),
            {"dims": ["n", "2"], "l2_norm": {"value": 5, "tolerance": 1e-6}},
            [("tensor.norm", 1)],
        ),
        ("float32", floats(NAN, 0), {"dims": ["2"], "l2_norm": (1, 1)}, [("tensor.norm", 0)]),
        ("float64", floats(3e200, 4e200, code="d"), {"dims": ["2"], "l2_norm": (5e200, 1e185)}, []),
        ("float64", floats(3e-200, 4e-200, code="d"), {"dims": ["2"], "l2_norm": (5e-200, 1e-214)}, []),
    ],
)
def test_bytes(reader: str, dtype: str, raw: bytes, options: dict[str, Any], expected: Any) -> None:
    assert breaks(raw, dtype=dtype, **options) == expected


@pytest.mark.parametrize(
    ("values", "options", "expected"),
    [
        ([1, 2, 3], {}, []),
        ([1.5], {"dtype": "int8"}, [("tensor.dtype", 0)]),
        ([1, 300], {"dtype": "int8"}, [("tensor.dtype", 1)]),
        ([1.0], {"dtype": "int8"}, []),
        ([NAN], {"dtype": "int8"}, [("tensor.dtype", 0)]),
        ([70000.0], {"dtype": "float16"}, [("tensor.dtype", 0)]),
        ([INF], {"dtype": "float16"}, []),
        ([1e308, 1e308, NAN], {"finite": True}, [("tensor.finite", 2)]),
        ([0.5, 1.5], {"max": 1}, [("tensor.range", 1)]),
        ([1, "x"], {}, [("tensor.dtype", 1)]),
        ([10**400], {}, [("tensor.dtype", 0)]),
        (["x"], {}, [("tensor.dtype", 0)]),
        ("text", {}, [("tensor.dtype", None)]),
        (None, {}, [("tensor.dtype", None)]),
        (b"1234", {}, [("tensor.dtype", None)]),
        ([], {"dims": ["n"], "min": 0, "l2_norm": (1, 0)}, []),
    ],
)
def test_repeated_numbers(values: Any, options: dict[str, Any], expected: Any) -> None:
    assert breaks(values, **options) == expected


@pytest.mark.parametrize(
    ("count", "shape", "options", "expected"),
    [
        (6, None, {"dims": ["2", "3"]}, []),
        (7, None, {"dims": ["2", "3"]}, [("tensor.size", None)]),
        (6, None, {"dims": ["batch", "3"], "batched": True}, []),
        (7, None, {"dims": ["batch", "3"]}, [("tensor.size", None)]),
        (9, None, {"dims": ["n", "n"]}, []),
        (8, None, {"dims": ["n", "n"]}, [("tensor.size", None)]),
        (6, None, {"dims": ["a", "b"]}, [("tensor.shape", None)]),
        (6, [2, 3], {"dims": ["a", "b"]}, []),
        (6, [3, 2], {"dims": ["a", "3"]}, [("tensor.shape", 1)]),
        (6, [6], {"dims": ["a", "3"]}, [("tensor.shape", None)]),
        (6, [2, 4], {"dims": ["a", "b"]}, [("tensor.size", None)]),
        (6, [-2, -3], {"dims": ["a", "b"]}, [("tensor.shape", None)]),
        (6, [2, 3], {"dims": ["n", "n"]}, [("tensor.shape", None)]),
        (6, None, {"dims": ["n"], "bounds": {"n": {"min": 1, "max": 5}}}, [("tensor.shape", None)]),
        (6, None, {"dims": ["n"], "bounds": {"n": {"min": 7}}}, [("tensor.shape", None)]),
        (6, None, {"dims": ["n"], "bounds": {"n": (None, 6)}}, []),
        (0, None, {"dims": ["n", "3"]}, []),
        (0, None, {"dims": ["n", "0"]}, []),
        (1, None, {"dims": ["n", "0"]}, [("tensor.size", None)]),
        (6, [2, 3], {}, []),
        (6, [1 << 40, 1 << 40], {}, [("tensor.size", None)]),
        (6, None, {}, []),
    ],
)
def test_shapes(count: int, shape: Any, options: dict[str, Any], expected: Any) -> None:
    assert breaks([0.0] * count, shape, **options) == expected
    assert breaks(bytes(4 * count), shape, dtype="float32", **options) == expected


def test_names_have_one_size_in_a_message() -> None:
    bound: dict[str, int] = {}
    assert breaks([0] * 6, None, bound, dims=["batch", "3"]) == []
    assert bound == {"batch": 2}
    assert breaks([0] * 8, [2, 4], bound, dims=["batch", "width"]) == []
    assert bound == {"batch": 2, "width": 4}
    assert breaks([0] * 8, None, bound, dims=["batch", "width"]) == []
    assert breaks([0] * 9, None, bound, dims=["batch", "3"]) == [("tensor.shape", None)]
    assert breaks([0] * 3, [3], bound, dims=["batch"]) == [("tensor.shape", None)]
    assert bound == {"batch": 2, "width": 4}


def test_every_buffer_is_read() -> None:
    values = array("f", [1, 2, 3])
    for value in (values, memoryview(values), bytearray(values.tobytes())):
        assert breaks(value, dtype="float32", dims=["3"], min=1, max=3) == []
    assert breaks(memoryview(values)[::2], dtype="float32") == [("tensor.dtype", None)]


@pytest.mark.parametrize(
    ("dtype", "size", "norm"),
    [
        ("float32", 10 << 20, None),
        ("int8", 10 << 20, None),
        ("bfloat16", 1 << 20, None),
        ("float16", 1 << 20, None),
        ("float64", 4 << 20, (0, 0)),
    ],
)
def test_large_tensors_are_not_copied(reader: str, dtype: str, size: int, norm: Any) -> None:
    raw = bytes(size)
    check = tensor.checker(dtype=dtype, dims=["batch", "128"], finite=True, min=0, max=1, l2_norm=norm)
    check(bytes(1024))
    tracemalloc.start()
    assert check(raw) is None
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # Some element types are converted, a chunk at a time.
    assert peak < (2 << 20 if reader == "numpy" else 1 << 20)


@pytest.mark.parametrize(
    "options",
    [
        {"dtype": "float8"},
        {"dims": ["-1"]},
        {"dims": ["a b"]},
        {"dims": [True]},
        {"bounds": {"n": (1, 2)}},
        {"dims": ["n"], "bounds": {"n": (3, 2)}},
        {"batched": True},
        {"min": 2, "max": 1},
        {"min": NAN, "max": 1},
        {"l2_norm": (-1, 0)},
        {"l2_norm": (1, INF)},
    ],
)
def test_wrong_options_are_option_errors(options: dict[str, Any]) -> None:
    with pytest.raises(OptionError):
        tensor.checker(**options)


def test_check_raises() -> None:
    tensor.check(floats(1, 2), dtype="FLOAT32", dims=["2"])
    with pytest.raises(Refused) as refused:
        tensor.check(floats(1, NAN), dtype="float32", dims=["3"], finite=True)
    assert refused.value.rule_id == "tensor.size"


@pytest.mark.skipif(tensor_elements.numpy() is None, reason="NumPy is not installed")
@settings(max_examples=examples(500), deadline=None, derandomize=True)
@example("bfloat16", b"\0" * 10 + b"\x81\x7f", 1, None, 0.0, None)  # a signalling NaN
@given(
    st.sampled_from(sorted(tensor_elements.FORMATS)),
    st.binary(max_size=64),
    st.integers(1, 4),
    st.none() | st.floats(allow_nan=False),
    st.none() | st.floats(allow_nan=False),
    st.none() | st.tuples(st.floats(0, 1e300), st.floats(0, 1e10)),
)
def test_both_readers_agree(dtype: str, raw: bytes, row: int, low: Any, high: Any, norm: Any) -> None:
    if low is not None and high is not None and low > high:
        low, high = high, low
    step = tensor_elements.SIZES[dtype] * row
    raw = raw[: len(raw) // step * step]
    options = {"dtype": dtype, "dims": ["n", str(row)], "min": low, "max": high, "l2_norm": norm}
    found = []
    for worth in (0, 1 << 60):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(tensor_elements, "_WORTH_NUMPY", worth)
            found.append([breaks(raw, finite=finite, **options) for finite in (False, True)])
    assert found[0] == found[1]
