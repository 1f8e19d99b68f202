"""The canonical form: one text for a value, the same hash in Python and TypeScript (S34)."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from hypothesis import given, settings
from hypothesis import strategies as st

from protocontract.chain import CanonicalError, EvidenceLog, ValueStore, digest
from protocontract.chain.canonical import Value, encoded, parse, text
from protocontract.chain.steps import FORM, Entry, Key, Step, entries
from protocontract.tensors import Batch
from protocontract.tensors import digest as digest_of_tensors
from protocontract_ci.usage.typescript.prepare import packages, ready
from tests.chain.support import chain_of_20

# ----------------------------------------------------------------------------------------------------------------------
# The form


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, "null"),
        (True, "true"),
        (0, '"i:0"'),
        (-(1 << 63), '"i:-9223372036854775808"'),
        ((1 << 64) - 1, '"i:18446744073709551615"'),
        (1.0, '"f:3ff0000000000000"'),
        (-0.0, '"f:8000000000000000"'),
        (math.nan, '"f:7ff8000000000000"'),
        (-math.nan, '"f:7ff8000000000000"'),
        (struct.unpack(">d", bytes.fromhex("7ff0000000000001"))[0], '"f:7ff8000000000000"'),
        (math.inf, '"f:7ff0000000000000"'),
        ("", '"s:"'),
        ('größe "\\\n\x01\x7f€😀/', '"s:größe \\"\\\\\\n\\u0001\x7f€😀/"'),
        (b"\x00\xff", '"b:00ff"'),
        ([1, "1", 1.0, b"1"], '["i:1","s:1","f:3ff0000000000000","b:31"]'),
        ((), "[]"),
        # Code units of UTF-16, not code points: the surrogates of the second stand before the third.
        ({"\ufb33": 1, "😀": 2, "b": 3, "": 4, "a b": 5}, '{"":"i:4","a b":"i:5","b":"i:3","😀":"i:2","\ufb33":"i:1"}'),
    ],
)
def test_the_form_is_as_written_down(value: Any, written: str) -> None:
    assert text(value) == written
    assert encoded(value) == b"protocontract value 1\n" + written.encode()
    assert digest(value) == hashlib.sha256(encoded(value)).hexdigest()
    assert text(parse(written)) == written


@pytest.mark.parametrize("value", [1 << 64, -(1 << 63) - 1, "\ud800", {1: 2}, {"\udc00": 1}, object(), {1}, 1j])
def test_what_has_no_form(value: Any) -> None:
    with pytest.raises(CanonicalError):
        text(value)


@pytest.mark.parametrize(
    "written",
    [
        "", "1", '"x"', '"i:01"', '"i:-0"', '"i:+1"', '"i:18446744073709551616"', '"f:3FF0000000000000"', '"b:0"',
        '"f:7ff8000000000001"', '"s:\\u0041"', "[null ]", '{"b":null,"a":null}', '{"a":null,"a":null}', "NaN",
        "[" * 9999,
    ],
)  # fmt: skip
def test_what_is_no_form(written: str) -> None:
    with pytest.raises(CanonicalError):
        parse(written)


INTS = st.one_of(st.integers(-(1 << 63), (1 << 64) - 1), st.sampled_from([0, 1 << 53, (1 << 53) + 1, (1 << 63) - 1]))
FLOATS = st.floats(width=64, allow_nan=True)
TEXTS = st.text(max_size=8)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), INTS, FLOATS, TEXTS, st.binary(max_size=8)),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_every_value_comes_back(value: Any) -> None:
    again = parse(text(value))
    assert text(again) == text(value)
    assert repr(again) == repr(value) or "nan" in repr(value) or isinstance(value, dict | list)


@given(st.dictionaries(TEXTS, INTS, min_size=2))
def test_the_order_of_a_map_is_none(value: dict[str, int]) -> None:
    assert digest(value) == digest(dict(reversed(value.items())))


def test_types_are_told_apart() -> None:
    alike: list[Value] = [1, 1.0, True, "1", b"1", "i:1", "s:1", [1], {"1": 1}, None, "", b"", [], {}, 0, 0.0, -0.0]
    assert len({digest(value) for value in alike}) == len(alike)


# ----------------------------------------------------------------------------------------------------------------------
# TypeScript

needs_node = pytest.mark.skipif(
    not ready(), reason="Node.js or the packages of protocontract gate --prepare are missing"
)


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Callable[[dict[str, Any]], list[str]]:
    """Runs the form that twin.ts has on a table."""
    node, folder = packages()
    compiled = tmp_path_factory.mktemp("twin") / "twin.mjs"
    script = (
        'const ts = require(process.argv[1] + "/node_modules/typescript");'
        "const options = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, strict: true };"
        'const source = require("fs").readFileSync(process.argv[2], "utf8");'
        "const made = ts.transpileModule(source, { compilerOptions: options, reportDiagnostics: true });"
        "if (made.diagnostics.length) throw new Error(made.diagnostics[0].messageText);"
        'require("fs").writeFileSync(process.argv[3], made.outputText);'
    )
    source = str(Path(__file__).with_name("twin.ts"))
    subprocess.run([node, "-e", script, str(folder), source, str(compiled)], check=True)

    def run(table: dict[str, Any]) -> list[str]:
        data = json.dumps(table).encode()
        done = subprocess.run([node, str(compiled), str(folder)], input=data, stdout=subprocess.PIPE, check=True)
        return done.stdout.decode().split()

    return run


def told(value: Any) -> list[Any]:
    """A value for the table, in none of the words of the canonical form."""
    match value:
        case None:
            return ["null"]
        case bool():
            return ["bool", value]
        case int():
            return ["int", str(value)]
        case float():
            return ["float", base64.b64encode(struct.pack("<d", value)).decode()]
        case str():
            return ["text", value]
        case bytes():
            return ["bytes", base64.b64encode(value).decode()]
        case list():
            return ["list", [told(item) for item in value]]
        case _:
            return ["map", [[key, told(item)] for key, item in reversed(value.items())]]


@needs_node
def test_typescript_has_the_same_digests(twin: Callable[[dict[str, Any]], list[str]]) -> None:
    table: list[Any] = [float("nan"), -0.0, {"é": 1, "e\u0301": 2}, {"\ufb33": 1, "😀": 2}, "\u2028\u2029\x7f\x00"]

    @settings(max_examples=400)
    @given(VALUES)
    def collect(value: Any) -> None:
        table.append(value)

    collect()
    assert twin({"values": [told(value) for value in table]}) == [digest(value) for value in table]


@needs_node
def test_typescript_has_the_same_hashes_of_steps(twin: Callable[[dict[str, Any]], list[str]], tmp_path: Path) -> None:
    chain_of_20(tmp_path / "log")
    held = list(entries(tmp_path / "log"))
    with EvidenceLog(tmp_path / "odd") as log:
        recorder = log.record('größe 😀 "\\\n')
        recorder.step(
            "infer", module="m:f", nanoseconds=(1 << 63) - 1,
            facts={
                "nan": math.nan, "big": (1 << 64) - 1, "map": {"ß": 1, "b": {"c": [None, True, -0.0]}},
                "raw": b"\x00\xff",
            },
        )  # fmt: skip
        recorder.close()
    held += list(entries(tmp_path / "odd"))
    steps = [{"form": FORM, **{name: getattr(entry.step, name) for name in Step.__slots__}} for entry in held]
    assert twin({"steps": [told(step) for step in steps]}) == [entry.hash for entry in held]


# ----------------------------------------------------------------------------------------------------------------------
# Messages

PROTO = """
syntax = "proto3";
package evidence.v1;
import "google/protobuf/timestamp.proto";
enum Kind { KIND_UNSPECIFIED = 0; KIND_ONE = 1; KIND_BELOW = -1; }
message Inner { string text = 1; }
message Everything {
  double d = 1; float f = 2; int64 i64 = 3; uint64 u64 = 4; int32 i32 = 5; fixed64 x64 = 6; sint64 s64 = 7;
  bool b = 8; string s = 9; bytes raw = 10; Kind kind = 11; Inner inner = 12;
  optional double maybe = 13; optional string maybe_text = 14;
  repeated double ds = 15; repeated string ss = 16; repeated Inner inners = 17; repeated Kind kinds = 18;
  map<string, double> by_text = 19; map<int64, Inner> by_long = 20; map<bool, Kind> by_bool = 21;
  map<uint64, bytes> by_big = 22;
  oneof one { string left = 23; Inner right = 24; uint64 number = 25; }
  google.protobuf.Timestamp at = 26;
  repeated uint64 u64s = 27;
}
"""


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The class of Everything, and the descriptors as bytes."""
    from grpc_tools import protoc

    folder = tmp_path_factory.mktemp("protos")
    (folder / "everything.proto").write_text(PROTO)
    out = folder / "set.binpb"
    well_known = Path(protoc.__file__).parent / "_proto"
    arguments = ["protoc", f"-I{folder}", f"-I{well_known}", "--include_imports", f"--descriptor_set_out={out}"]
    assert protoc.main([*arguments, "everything.proto"]) == 0
    files = descriptor_pb2.FileDescriptorSet.FromString(out.read_bytes())
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("evidence.v1.Everything")), out.read_bytes()


def some_messages(kind: Any) -> list[Any]:
    """Messages with every kind of field, drawn."""
    from protocontract.chain.values import _fill

    found: list[Any] = [kind(), kind(d=-0.0, f=-0.0), kind(maybe=0.0, maybe_text="", left=""), kind(inner={}, right={})]
    inner = st.fixed_dictionaries({}, optional={"text": TEXTS})
    longs, bigs = st.integers(-(1 << 63), (1 << 63) - 1), st.integers(0, (1 << 64) - 1)
    floats, kinds = st.floats(width=32), st.sampled_from([0, 1, -1, 77])
    fields = {
        "d": FLOATS, "f": floats, "i64": longs, "u64": bigs, "i32": st.integers(-(1 << 31), (1 << 31) - 1), "x64": bigs,
        "s64": longs, "b": st.booleans(), "s": TEXTS, "raw": st.binary(max_size=5), "kind": kinds, "inner": inner,
        "maybe": FLOATS, "maybe_text": TEXTS, "ds": st.lists(FLOATS, max_size=3), "ss": st.lists(TEXTS, max_size=3),
        "inners": st.lists(inner, max_size=3), "kinds": st.lists(kinds, max_size=3),
        "by_text": st.dictionaries(TEXTS, FLOATS, max_size=3),
        "by_long": st.dictionaries(longs.map(str), inner, max_size=3),
        "by_bool": st.dictionaries(st.sampled_from(["true", "false"]), kinds, max_size=2),
        "by_big": st.dictionaries(bigs.map(str), st.binary(max_size=3), max_size=3),
        "at": st.fixed_dictionaries({"seconds": st.integers(0, 1 << 33)}), "u64s": st.lists(bigs, max_size=3),
    }  # fmt: skip

    @settings(max_examples=200)
    @given(
        st.fixed_dictionaries({}, optional=fields), st.sampled_from([{}, {"left": "ß"}, {"right": {}}, {"number": 7}])
    )
    def collect(held: dict[str, Any], one: dict[str, Any]) -> None:
        message = kind()
        _fill(message, {**held, **one})
        found.append(message)

    collect()
    return found


@needs_node
def test_typescript_has_the_same_digests_of_messages(
    twin: Callable[[dict[str, Any]], list[str]], everything: Any
) -> None:
    kind, files = everything
    messages = some_messages(kind)
    table = {
        "files": base64.b64encode(files).decode(),
        "type": "evidence.v1.Everything",
        "messages": [base64.b64encode(message.SerializeToString()).decode() for message in messages],
    }
    assert twin(table) == [digest(message) for message in messages]


def test_a_message_has_one_digest_whatever_its_bytes(everything: Any) -> None:
    kind, _ = everything
    one, other = kind(s="x"), kind(s="x")
    for key in ("a", "b", "c", "ä"):
        one.by_text[key] = 1.5
    for key in ("ä", "c", "b", "a"):
        other.by_text[key] = 1.5
    assert digest(one) == digest(other)
    assert digest(kind.FromString(one.SerializeToString() + kind(s="x").SerializeToString())) == digest(one)
    assert digest(kind(maybe=0.0)) != digest(kind())


# ----------------------------------------------------------------------------------------------------------------------
# Values that are kept


def test_arrays_have_the_digest_of_tensors_and_come_back(tmp_path: Path) -> None:
    store = ValueStore(tmp_path / "kept")
    arrays = {
        "größe": np.arange(6, dtype=">i8").reshape(2, 3), "x": np.array(np.nan, "float32"),
        "b": np.array([True, False]),
        "half": np.zeros((0, 2), "float16"), "cut": np.arange(10, dtype="uint8")[::2],
    }  # fmt: skip
    name = store.put(arrays)
    assert name == digest(arrays)
    dtypes = {key: str(value.dtype.newbyteorder("=")) for key, value in arrays.items()}
    native = {key: value.astype(value.dtype.newbyteorder("=")) for key, value in arrays.items()}
    assert digest(Batch(native, masks={}, dtypes=dtypes, fields={}, rows={}, size=2)) == digest(native)
    assert digest_of_tensors(Batch(native, masks={}, dtypes=dtypes, fields={}, rows={}, size=2)) == digest(native)
    back = store.get(name)
    for key, value in native.items():
        assert back[key].dtype == value.dtype
        assert np.array_equal(back[key], value, equal_nan=value.dtype.kind == "f")
    assert hashlib.sha256((tmp_path / "kept" / name).read_bytes()).hexdigest() == name
    with pytest.raises(CanonicalError, match="the array words of object"):
        digest({"words": np.array(["a"], dtype=object)})


@given(VALUES)
@settings(max_examples=30)
def test_plain_values_come_back(tmp_path_factory: pytest.TempPathFactory, value: Any) -> None:
    store = ValueStore(tmp_path_factory.getbasetemp() / "plain")
    assert text(store.get(store.put(value))) == text(value)


def test_messages_come_back(tmp_path: Path) -> None:
    from google.protobuf import struct_pb2, timestamp_pb2

    held = struct_pb2.Struct()
    held.update({"a": [1, None, {"b": "ß"}], "c": {}})
    for message in (held, timestamp_pb2.Timestamp(seconds=-5, nanos=7), timestamp_pb2.Timestamp()):
        store = ValueStore(tmp_path / "kept")
        assert store.get(store.put(message)) == message


def test_a_step_without_a_key_and_with_one_have_the_same_hash() -> None:
    step = Step(sequence=0, previous=None, kind="begin", at=1)
    keyed = Entry.of(step, Key(b"0123456789abcdef"))
    assert keyed.hash == Entry.of(step).hash
    assert keyed.mac is not None
