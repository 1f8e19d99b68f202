"""What is called how in generated code: modules, and constants after protobuf names."""

from __future__ import annotations

import re

_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
#: What no identifier holds.
NOT_A_NAME = re.compile(r"[^A-Za-z0-9_]+")


def snake(name: str) -> str:
    """``TextSample`` -> ``text_sample``; ``Outer.Inner`` -> ``outer_inner``."""
    return NOT_A_NAME.sub("_", _WORD_START.sub("_", name)).strip("_").lower() or "x"


def screaming(name: str) -> str:
    """``TextSample`` -> ``TEXT_SAMPLE``; ``string.min_len`` -> ``STRING_MIN_LEN``."""
    return snake(name).upper()


def module_of(proto_file: str) -> str:
    """The module that protoc generates for a file: ``a/b-c.proto`` -> ``a.b_c_pb2``. Its dots are folders, too."""
    stem = proto_file.removesuffix(".proto")
    return f"{stem.replace('-', '_').replace('/', '.')}_pb2"


def contract_file_of(proto_file: str) -> str:
    """The file of a .proto's contracts, beside protoc's module of it: ``a/b-c.proto`` -> ``a/b_c_contract.py``."""
    return f"{module_of(proto_file).removesuffix('_pb2').replace('.', '/')}_contract.py"
