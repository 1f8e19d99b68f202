"""Tensors in TypeScript have Python's verdicts: of every dtype, as bytes and as numbers, with shapes and names."""

from __future__ import annotations

import struct
from pathlib import Path
from random import Random
from typing import Any, Final

from protocontract.relations.tensor_elements import FORMATS, SIZES
from protocontract_compiler import dynamic, pipeline
from protocontract_compiler.descriptors import load
from protocontract_compiler.diagnostics import Diagnostics
from tests.typescript.support import Case, answers, difference, needs_node, write

_INTEGERS: Final = ("BOOL", "INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64")
_FLOATS: Final = ("FLOAT16", "BFLOAT16", "FLOAT32", "FLOAT64")
_NUMBERS: Final = {"INT32": "int32", "INT64": "int64", "UINT64": "uint64", "FLOAT32": "float", "FLOAT64": "double"}
_CASES: Final = 700


def source() -> str:
    fields: list[str] = []

    def add(type_: str, options: str) -> None:
        number = len(fields) + 1
        annotation = f'(protocontract.v1.field).tensor = {{name: "t{number}" {options}}}'
        fields.append(f"  {type_} f{number} = {number} [{annotation}];")

    for dtype in _INTEGERS:
        add("optional bytes", f'dtype: {dtype} dims: ["n"] min: 0 max: 100')
        add("bytes", f'dtype: {dtype} dims: ["free{len(fields)}", "2"] min: 1.5')
    for dtype in _FLOATS:
        add("optional bytes", f'dtype: {dtype} dims: ["n"] finite: true min: -1.5 max: 60000')
        add("bytes", f'dtype: {dtype} dims: ["free{len(fields)}", "2"] l2_norm: {{value: 1 tolerance: 0.1}}')
    for dtype, type_ in _NUMBERS.items():
        add(f"repeated {type_}", f'dtype: {dtype} dims: ["n"] max: 1e18')
        add(f"repeated {type_}", f'dtype: {dtype} dims: ["s", "s"] bounds: {{key: "s" value: {{min: 1 max: 3}}}}')
    head = 'syntax = "proto3"; package t; import "protocontract/v1/contract.proto";'
    shaped = """
  repeated int64 shape = 98;
  bytes shaped = 99 [(protocontract.v1.field).tensor = {
    name: "shaped" dtype: UINT8 dims: ["n", "3", "m"] shape_field: "shape" bounds: {key: "m" value: {min: 2}}
  }];"""
    return f"{head}\nmessage M {{\n" + "\n".join(fields) + f"{shaped}\n}}\n"


def some_bytes(random: Random, dtype: str) -> bytes:
    """Elements of a dtype: small ones, those at its ends, rows of length one, any bits; now and then cut short."""
    size, count = SIZES[dtype], random.choice([0, 1, 2, 2, 4, 4, 4, 6])
    if random.random() < 0.3:
        raw = random.randbytes(size * count)
    else:
        bits = 8 * size
        pool = [0, 1, 1, 2, 100, 101, (1 << (bits - 1)) - 1, 1 << (bits - 1), (1 << bits) - 1]
        if dtype in ("float32", "float64", "float16"):
            values = [0.0, -0.0, 1.0, 0.6, 0.8, -1.5, -1.6, float("inf"), float("nan"), 60000.0, 1e-3]
            raw = struct.pack(f"<{count}{FORMATS[dtype]}", *random.choices(values, k=count))
        elif dtype == "bfloat16":
            raw = struct.pack(
                f"<{count}H", *random.choices([0, 0x3F80, 0x3F19, 0x3F4C, 0x7F80, 0x7FC0, 0x7F7F], k=count)
            )
        else:
            raw = b"".join(each.to_bytes(size, "little") for each in random.choices(pool, k=count))
    return raw[:-1] if random.random() < 0.05 else raw


def some_numbers(random: Random, type_: str) -> list[Any]:
    count = random.choice([0, 1, 1, 2, 4, 4, 4, 9, 16])
    pool: list[Any] = [0, 1, 2, 100]
    if type_ in ("float", "double"):
        pool += [0.5, -0.0, float("inf"), float("nan"), 1e18, 1.1e18]
    elif type_ != "int32":
        pool += [10**18, 10**18 + 1, 2**53 + 1]
    return random.choices(pool, k=count)


def some_message(random: Random, message_type: Any) -> Any:
    message = message_type()
    for field in message.DESCRIPTOR.fields:
        if random.random() < 0.4:
            continue
        options = str(field.GetOptions())
        dtype = next((each for each in reversed(FORMATS) if f"dtype: {each.upper()}\n" in options), "uint8")
        if field.name == "shape":
            message.shape.extend(
                random.choice([[2, 3, 2], [1, 3, 4], [2, 3, 1], [0, 3, 2], [-1, 3, 2], [2, 3], [2, 2, 2]])
            )
        elif field.name == "shaped":
            message.shaped = bytes(random.choice([0, 12, 12, 6, 7]))
        elif field.type == field.TYPE_BYTES:
            setattr(message, field.name, some_bytes(random, dtype))
        else:
            getattr(message, field.name).extend(some_numbers(random, _NUMBERS[dtype.upper()]))
    return message


@needs_node
def test_verdicts_on_tensors(tmp_path: Path) -> None:
    files = dynamic.describe({"t.proto": source()})
    loaded = load(files, ["t.proto"], Diagnostics())
    schema = pipeline.compile_schema(loaded, Diagnostics(), pipeline.CompileOptions())
    write(schema, ["t.M"], tmp_path)
    contract = dynamic.contracts_of(loaded, schema, pipeline.CompileOptions())["t.M"]
    random = Random(20_261_130)
    cases = [Case(contract, some_message(random, contract.message_type)) for _ in range(_CASES)]
    found = answers(tmp_path, [(files, schema, cases)])
    different = [text for case, answer in zip(cases, found, strict=True) if (text := difference(case, answer))]
    assert not different, "\n".join(different[:3])
    rules = {violation[1] for answer in found for violation in answer["validated"]}
    assert rules == {f"tensor.{word}" for word in ("dtype", "size", "shape", "finite", "range", "norm")}
