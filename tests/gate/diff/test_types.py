"""What another type does to bytes, JSON, Python and TypeScript, checked on real messages where that can be done."""

from __future__ import annotations

from pathlib import Path

import pytest
from google.protobuf import json_format
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass

from protocontract_ci.diff.compare import compare
from protocontract_ci.model import Change
from protocontract_ci.sources import Contracts, read

# Type before and after: effects on wire, JSON, Python, TypeScript.
TYPES = {
    ("int32", "int64"): "compatible breaking compatible breaking",
    ("int64", "int32"): "compatible breaking breaking breaking",
    ("int32", "uint32"): "compatible compatible breaking compatible",
    ("uint32", "uint64"): "compatible breaking compatible breaking",
    ("uint32", "int64"): "compatible breaking compatible breaking",
    ("int32", "sint32"): "breaking compatible compatible compatible",
    ("fixed32", "sfixed32"): "compatible compatible breaking compatible",
    ("int32", "fixed32"): "breaking compatible breaking compatible",
    ("int32", "bool"): "compatible breaking breaking breaking",
    ("int32", "E"): "compatible breaking breaking breaking",
    ("string", "bytes"): "compatible breaking breaking breaking",
    ("float", "double"): "breaking compatible compatible compatible",
    ("double", "float"): "breaking compatible breaking compatible",
    ("string", "N"): "breaking breaking breaking breaking",
    ("N", "O"): "breaking breaking breaking breaking",
}
SAMPLES = {"int32": 5, "int64": 5, "uint32": 5, "string": "a", "fixed32": 5, "float": 0.5, "double": 0.5}


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> tuple[Contracts, Contracts]:
    folder = tmp_path_factory.mktemp("types")
    for side in (0, 1):
        messages = "\n".join(f"message M{at} {{ {pair[side]} v = 1; }}" for at, pair in enumerate(TYPES))
        path = folder / str(side) / "t.proto"
        path.parent.mkdir()
        path.write_text(
            'syntax = "proto3";\npackage t;\nenum E { E_A = 0; }\n'
            f"message N {{ int32 n = 1; }}\nmessage O {{ bytes o = 3; }}\n{messages}"
        )
    return read(str(folder / "0")), read(str(folder / "1"))


@pytest.fixture(scope="module")
def changes(states: tuple[Contracts, Contracts]) -> dict[str, Change]:
    return {change.element.message: change for change in compare(*states).changes}


@pytest.mark.parametrize("at", range(len(TYPES)), ids=[f"{old}-{new}" for old, new in TYPES])
def test_effects(changes: dict[str, Change], at: int) -> None:
    old, new = list(TYPES)[at]
    change = changes[f"t.M{at}"]
    assert (change.kind, change.direction) == ("field_type_changed", "breaking")
    effects = change.compatibility
    told = f"{effects.wire} {effects.json} {effects.python} {effects.typescript}"
    assert told == TYPES[old, new]


@pytest.mark.parametrize("at", range(len(TYPES)), ids=[f"{old}-{new}" for old, new in TYPES])
def test_effects_on_real_bytes_and_json(
    states: tuple[Contracts, Contracts], changes: dict[str, Change], at: int
) -> None:
    """What is called compatible reads as the same value; what is called breaking need not fail for each value."""
    pair = list(TYPES)[at]
    if pair[0] not in SAMPLES:
        return
    effects = changes[f"t.M{at}"].compatibility
    old, new = (
        GetMessageClass(state.loaded.pool.FindMessageTypeByName(f"t.M{at}"))(**values)
        for state, values in zip(states, ({"v": SAMPLES[pair[0]]}, {}), strict=True)
    )
    if effects.wire == "compatible":
        new.ParseFromString(old.SerializeToString())
        assert new.v in (old.v, str(old.v).encode(), bool(old.v))
    elif "N" not in pair:
        try:
            new.ParseFromString(old.SerializeToString())
            assert new.v != old.v
        except DecodeError:
            pass
    if effects.json == "compatible":
        new.Clear()
        json_format.Parse(json_format.MessageToJson(old), new)
        assert new.v == old.v


def test_cardinality_and_presence(tmp_path: Path) -> None:
    fields = [
        ("string a = 1;", "repeated string a = 1;"), ("repeated int32 b = 2;", "int32 b = 2;"),
        ("optional string c = 3;", "string c = 3;"), ("string d = 4;", "optional string d = 4;"),
    ]  # fmt: skip
    for side in (0, 1):
        body = " ".join(pair[side] for pair in fields)
        (tmp_path / str(side)).mkdir()
        (tmp_path / str(side) / "t.proto").write_text(f'syntax = "proto3";\nmessage M {{ {body} }}')
    found = compare(read(str(tmp_path / "0")), read(str(tmp_path / "1"))).changes
    told = {
        change.path: (
            change.kind,
            change.compatibility.wire,
            change.compatibility.python,
            change.compatibility.typescript,
        )
        for change in found
    }
    assert told == {
        "M.a": ("field_cardinality_changed", "compatible", "breaking", "breaking"),
        "M.b": ("field_cardinality_changed", "breaking", "breaking", "breaking"),
        "M.c": ("field_presence_changed", "compatible", "breaking", "breaking"),
        # D3: only TypeScript sees it.
        "M.d": ("field_presence_changed", "compatible", "compatible", "breaking"),
    }
