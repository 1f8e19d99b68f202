"""Sources with annotations of others, migrated; and the validators of both sides on the same messages."""

from __future__ import annotations

import base64
import itertools
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from google.protobuf import message_factory
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message
from grpc_tools import protoc as grpc_protoc

from protocontract import Contract
from protocontract_compiler import dynamic, protoc
from protocontract_compiler.migrate.report import Migrated
from protocontract_compiler.migrate.whole import Outcome, Wishes, migrate
from protocontract_compiler.protoc import includes_folder
from tests.support.messages import is_map, is_repeated, pool

_ORDERED = "const lt lte gt gte"
_NUMBERS = [
    "float",
    "double",
    "int32",
    "int64",
    "uint32",
    "uint64",
    "sint32",
    "sint64",
    "fixed32",
    "fixed64",
    "sfixed32",
    "sfixed64",
]


def pgv_proto() -> str:
    """protoc-gen-validate's option file, as far as its documentation names the rules. Numbers are our own."""
    lines = ['syntax = "proto2";', "package validate;"]
    lines += [f'import "google/protobuf/{name}.proto";' for name in ("descriptor", "duration", "timestamp")]
    lines += [
        "extend google.protobuf.MessageOptions { optional bool disabled = 1071; optional bool ignored = 1072; }",
        "extend google.protobuf.OneofOptions { optional bool required = 1071; }",
        "extend google.protobuf.FieldOptions { optional FieldRules rules = 1071; }",
        "enum KnownRegex { UNKNOWN = 0; HTTP_HEADER_NAME = 1; HTTP_HEADER_VALUE = 2; }",
    ]
    types: dict[str, list[str]] = {}
    for kind in _NUMBERS:
        types[kind] = [f"optional {kind} {name}" for name in _ORDERED.split()]
        types[kind] += [f"repeated {kind} in", f"repeated {kind} not_in", "optional bool ignore_empty"]
    types["bool"] = ["optional bool const"]
    sizes = [f"optional uint64 {name}" for name in ("len", "min_len", "max_len")]
    types["string"] = [*sizes, *(f"optional uint64 {name}" for name in ("len_bytes", "min_bytes", "max_bytes"))]
    texts = ["const", "pattern", "prefix", "suffix", "contains", "not_contains"]
    types["string"] += [f"optional string {name}" for name in texts]
    types["string"] += ["repeated string in", "repeated string not_in", "optional KnownRegex well_known_regex"]
    formats = ["email", "hostname", "ip", "ipv4", "ipv6", "uri", "uri_ref", "address", "uuid", "ignore_empty"]
    types["string"] += [f"optional bool {name}" for name in formats]
    types["string"].append("optional bool strict = 99 [default = true]")
    types["bytes"] = [*sizes, *(f"optional bytes {name}" for name in ("const", "prefix", "suffix", "contains"))]
    types["bytes"] += ["optional string pattern", "repeated bytes in", "repeated bytes not_in"]
    types["bytes"] += [f"optional bool {name}" for name in ("ip", "ipv4", "ipv6", "ignore_empty")]
    types["enum"] = ["optional int32 const", "optional bool defined_only", "repeated int32 in", "repeated int32 not_in"]
    types["message"] = ["optional bool skip", "optional bool required"]
    types["repeated"] = ["optional uint64 min_items", "optional uint64 max_items", "optional bool unique"]
    types["repeated"] += ["optional FieldRules items", "optional bool ignore_empty"]
    types["map"] = ["optional uint64 min_pairs", "optional uint64 max_pairs", "optional bool no_sparse"]
    types["map"] += ["optional FieldRules keys", "optional FieldRules values", "optional bool ignore_empty"]
    types["any"] = ["optional bool required", "repeated string in", "repeated string not_in"]
    for kind in ("duration", "timestamp"):
        known = f"google.protobuf.{kind.capitalize()}"
        types[kind] = ["optional bool required", *(f"optional {known} {name}" for name in _ORDERED.split())]
    types["duration"] += ["repeated google.protobuf.Duration in", "repeated google.protobuf.Duration not_in"]
    types["timestamp"] += ["optional bool lt_now", "optional bool gt_now", "optional google.protobuf.Duration within"]
    rules = [f"optional {kind.capitalize()}Rules {kind}" for kind in types]
    for name, fields in [
        *((f"{kind.capitalize()}Rules", fields) for kind, fields in types.items()),
        ("FieldRules", rules),
    ]:
        numbered = [text if "=" in text else f"{text} = {number}" for number, text in enumerate(fields, 1)]
        lines.append(f"message {name} {{ {' '.join(f'{text};' for text in numbered)} }}")
    return "\n".join(lines)


CONFLUENT = """
syntax = "proto3";
package confluent;
import "google/protobuf/descriptor.proto";
message Meta { string doc = 1; map<string, string> params = 2; repeated string tags = 3; repeated Rule rules = 4; }
message Rule { string name = 1; string doc = 2; string expr = 3; string sql = 4; }
extend google.protobuf.MessageOptions { Meta message_meta = 1088; }
extend google.protobuf.FieldOptions { Meta field_meta = 1088; }
"""

OPTION_FILES = {"validate/validate.proto": pgv_proto(), "confluent/meta.proto": CONFLUENT}


def migrated(folder: Path, text: str, **wishes: Any) -> tuple[Migrated, Outcome]:
    """One source, migrated, and the outcome with all that was found."""
    (folder / "t.proto").write_text(text, newline="")
    outcome = migrate(protoc.Sources(["t.proto"], [folder]), Wishes(**wishes))
    return outcome.files[0], outcome


def classes(sources: Mapping[str, str]) -> Callable[[str], type[Message]]:
    """The message classes of sources, by full name, in a pool of their own."""
    pool = DescriptorPool()
    for file in dynamic.describe(sources).file:
        pool.Add(file)
    return lambda name: message_factory.GetMessageClass(pool.FindMessageTypeByName(name))


_JUDGE = """
import base64, json, sys
import t_pb2
from protoc_gen_validate.validator import ValidationFailed, validate

def valid(name, raw):
    try:
        validate(getattr(t_pb2, name).FromString(base64.b64decode(raw)))
    except ValidationFailed:
        return False
    return True

print(json.dumps([valid(name, raw) for name, raw in json.load(sys.stdin)]))
"""


_CONFLUENT_JUDGE = """
import base64, json, sys
from confluent_kafka.schema_registry.confluent import meta_pb2
sys.modules["confluent"] = sys.modules["confluent_kafka.schema_registry.confluent"]
sys.modules["confluent.meta_pb2"] = meta_pb2
import t_pb2
from confluent_kafka.schema_registry.common.protobuf import validate_message
from confluent_kafka.schema_registry.rules.cel.cel_validator import CelValidator

executor = CelValidator()

def valid(name, raw):
    message = getattr(t_pb2, name).FromString(base64.b64decode(raw))
    return not validate_message(executor, message.DESCRIPTOR, message)

print(json.dumps([valid(name, raw) for name, raw in json.load(sys.stdin)]))
"""


def judged_by_pgv(folder: Path, text: str, records: Sequence[tuple[str, bytes]]) -> list[bool]:
    """Whether protoc-gen-validate's validator for Python accepts messages of a source, by their names."""
    return _judged(folder, text, records, _JUDGE, ["t.proto", "validate/validate.proto"])


def judged_by_confluent(folder: Path, text: str, records: Sequence[tuple[str, bytes]]) -> list[bool]:
    """Whether Confluent's client for Python finds all inline rules of messages of a source kept."""
    return _judged(folder, text, records, _CONFLUENT_JUDGE, ["t.proto"])


def _judged(
    folder: Path, text: str, records: Sequence[tuple[str, bytes]], script: str, made_of: list[str]
) -> list[bool]:
    """In a process of its own: both read options through protobuf's default pool."""
    for name, source in {**OPTION_FILES, "t.proto": text}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(source)
    paths = [f"-I{folder}", f"-I{includes_folder()}"]
    assert grpc_protoc.main(["protoc", *paths, f"--python_out={folder}", *made_of]) == 0
    asked = json.dumps([(name, base64.b64encode(raw).decode()) for name, raw in records])
    answer = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script], input=asked, capture_output=True, text=True, cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])}, check=False,
    )  # fmt: skip
    assert answer.returncode == 0, answer.stderr
    verdicts: list[bool] = json.loads(answer.stdout)
    return verdicts


def contracts(text: str) -> Mapping[str, Contract[Any]]:
    """The contracts of a source."""
    return dynamic.compile(dynamic.describe({"t.proto": text}))


def around(of: type[Message]) -> list[Message]:
    """Messages around the edges of the field's rules, in all of its shapes, and one in which nothing is set."""
    found = [of()]
    field = of.DESCRIPTOR.fields_by_name["f"]
    if is_map(field):
        for pairs in ({"": 1}, {"a": 0}, {"a": -1}, {"a": 5, "b": 6}):
            found.append(of())
            for key, number in pairs.items():
                entry = found[-1].f
                if field.message_type.fields_by_name["value"].message_type is None:
                    entry[key] = number
                else:
                    entry[key].name = "x" * max(0, number)
    elif is_repeated(field):
        values = [[], ["x"], ["xx", "xx"], ["xx", "yy"], ["a"] * 3] if field.type != field.TYPE_INT32 else []
        values = values or [[], [0], [1], [1, 2], [1, 2, 3], [5, 5]]
        for items in values:
            found.append(of())
            for item in items:
                if field.message_type is None:
                    found[-1].f.append(item)
                else:
                    found[-1].f.add(name=item)
    elif field.message_type is not None:
        for given in _inside(field.message_type.full_name):
            found.append(of())
            part = found[-1].f
            part.SetInParent()
            for name, value in given.items():
                setattr(part, name, value)
    else:
        for value in pool(field):
            if isinstance(value, str) and value.endswith("\n"):
                continue  # Python's `$` also matches before it; that of RE2, which the documents name, does not
            found.append(of())
            found[-1].f = value
    if "g" in of.DESCRIPTOR.fields_by_name:
        found.append(of(g=1))
    return found


def _inside(name: str) -> list[dict[str, Any]]:
    match name:
        case "google.protobuf.Timestamp" | "google.protobuf.Duration":
            times = (0, 1, 2, -1, 1577836799, 1577836800, 32503680000)
            return [{"seconds": s, "nanos": n} for s, n in itertools.product(times, (0, 1)) if s >= 0 or not n]
        case "google.protobuf.Any":
            return [{}, {"type_url": "a.com/x.Y"}, {"type_url": "a.com/x.Z"}]
        case "google.protobuf.Int32Value":
            return [{"value": number} for number in (0, 3, 4)]
    return [{}, {"name": "a"}, {"name": "ab"}]
