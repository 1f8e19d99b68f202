"""What generated modules are called: protoc's own, and the contracts beside them."""

from __future__ import annotations


def module_of(proto_file: str) -> str:
    """The module that protoc generates for a file: ``a/b-c.proto`` -> ``a.b_c_pb2``. Its dots are folders, too."""
    stem = proto_file.removesuffix(".proto")
    return f"{stem.replace('-', '_').replace('/', '.')}_pb2"


def contract_file_of(proto_file: str) -> str:
    """The file of a .proto's contracts, beside protoc's module of it: ``a/b-c.proto`` -> ``a/b_c_contract.py``."""
    return f"{module_of(proto_file).removesuffix('_pb2').replace('.', '/')}_contract.py"
