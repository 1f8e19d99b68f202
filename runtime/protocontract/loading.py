"""Where a contract is found: a generated module below ``sys.path``, or .proto files and descriptors on the spot."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from protocontract.contract import Contract
from protocontract.violations import ContractError, MissingExtra


def load(name: str) -> Contract[Any]:
    """The generated contract of a message.

    ``name`` is the message's full name (``acme.finance.v1.Transaction``): its package is a folder below ``sys.path``
    and the contract is in one of the ``*_contract.py`` modules there. Or it is the place itself:
    ``acme.finance.v1.transaction_contract:TRANSACTION``.

    Raises ContractError where there is none; the message says where it was looked for.
    """
    if ":" in name:
        return _load_attribute(name)
    package, _, _ = name.rpartition(".")
    looked: list[str] = []
    # A nested message's full name has its outer messages in it: shorten until a folder holds the module.
    while package:
        for module_name in _contract_modules(package, looked):
            found = _contracts_of(module_name).get(name)
            if found is not None:
                return found
        package, _, _ = package.rpartition(".")
    for module_name in _contract_modules("", looked):
        found = _contracts_of(module_name).get(name)
        if found is not None:
            return found
    tried = ", ".join(looked) if looked else "no *_contract.py module in the folder of its package"
    raise ContractError(
        f"no contract for {name}: looked in {tried}; generate it with protoc-gen-contract and put the output folder on"
        " PYTHONPATH, or name the .proto files with --proto-path"
    )


def resolve(name: str, *, proto_path: str | Path | None = None, descriptors: str | Path | None = None) -> Contract[Any]:
    """The contract of a message from .proto files below ``proto_path``, from a FileDescriptorSet file, or generated.

    Raises ContractError for an unknown message or a contract with mistakes; MissingExtra where compiling on the spot
    needs the compiler.
    """
    if proto_path is None and descriptors is None:
        return load(name)
    contracts = _compile_protos(Path(proto_path)) if proto_path is not None else _compile_set(Path(str(descriptors)))
    try:
        return contracts[name]
    except KeyError:
        known = ", ".join(sorted(contracts)) or "none"
        raise ContractError(f"no message {name} in {proto_path or descriptors}; it has: {known}") from None


def _load_attribute(name: str) -> Contract[Any]:
    module_name, _, attribute = name.partition(":")
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        raise ContractError(f"no module {module_name} for {name}: {error}") from error
    found = getattr(module, attribute, None)
    if not isinstance(found, Contract):
        raise ContractError(f"{module_name} has no contract named {attribute}")
    return found


def _contract_modules(package: str, looked: list[str]) -> Iterator[str]:
    """Names of the ``*_contract`` modules in the folders of a package, sorted within each folder."""
    folder = package.replace(".", "/")
    seen: set[str] = set()
    for entry in sys.path:
        place = Path(entry or ".") / folder
        try:
            files: Iterable[Path] = sorted(place.glob("*_contract.py"))
        except OSError:  # an entry of sys.path that cannot be listed holds no module for us
            continue
        for file in files:
            module_name = f"{package}.{file.stem}" if package else file.stem
            if module_name not in seen:
                seen.add(module_name)
                looked.append(module_name)
                yield module_name


def _contracts_of(module_name: str) -> Mapping[str, Contract[Any]]:
    module = importlib.import_module(module_name)
    return {value.full_name: value for value in vars(module).values() if isinstance(value, Contract)}


def _compile_protos(folder: Path) -> Mapping[str, Contract[Any]]:
    if not folder.exists():
        raise ContractError(f"no folder {folder}")
    contracts: Mapping[str, Contract[Any]] = _compiler("load_protos")([folder], proto_path=folder)
    return contracts


def _compile_set(file: Path) -> Mapping[str, Contract[Any]]:
    from google.protobuf.descriptor_pb2 import FileDescriptorSet
    from google.protobuf.message import DecodeError

    try:
        file_set = FileDescriptorSet.FromString(file.read_bytes())
    except OSError as error:
        raise ContractError(f"cannot read {file}: {error.strerror}") from error
    except DecodeError as error:
        raise ContractError(
            f"{file} is not a FileDescriptorSet; expected the output of buf build -o or protoc -o"
        ) from error
    contracts: Mapping[str, Contract[Any]] = _compiler("compile")(file_set)
    return contracts


def _compiler(function: str) -> Any:
    """A function of the compiler, through its entry point: the runtime never imports the compiler."""
    from importlib.metadata import entry_points

    for point in entry_points(group="protocontract.dynamic", name=function):
        try:
            return point.load()
        except ModuleNotFoundError as error:
            raise MissingExtra("compiling contracts on the spot", str(error.name), "compiler") from error
    raise MissingExtra("compiling contracts on the spot", "the compiler", "compiler")
