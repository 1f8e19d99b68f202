"""Where a contract is found: a generated module below ``sys.path``, or .proto files and descriptors on the spot."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, Final
from weakref import WeakValueDictionary

from google.protobuf.runtime_version import VersionError

from protocontract.contract import Contract
from protocontract.violations import ContractError, MissingExtra


def load(name: str) -> Contract[Any]:
    """The generated contract of a message.

    ``name`` is the message's full name (``acme.finance.v1.Transaction``): its package is a folder below ``sys.path``,
    or in a zip file on it, and the contract is in one of the ``*_contract.py`` modules there. Or it is the place
    itself: ``acme.finance.v1.transaction_contract:TRANSACTION``.

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
    raise ContractError(_nowhere(name, looked))


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
        known = _near(name, contracts) or f"it has: {', '.join(sorted(contracts)) or 'none'}"
        raise ContractError(f"no message {name} in {proto_path or descriptors}; {known}") from None


def resolve_service(
    name: str, *, proto_path: str | Path | None = None, descriptors: str | Path | None = None
) -> tuple[Any, Mapping[str, Contract[Any]] | None]:
    """The descriptor of a service, and the contracts that were compiled for it (None where they are generated).

    Where neither ``proto_path`` nor ``descriptors`` is given, it is that of a generated module: its package is a folder
    below ``sys.path``. Raises ContractError for an unknown service or a contract with mistakes.
    """
    from google.protobuf import descriptor_pool

    package = name.rpartition(".")[0]
    compiled: Mapping[str, Contract[Any]] | None = None
    pool: Any
    if proto_path is None and descriptors is None:
        where = "the generated modules of " + (package or "PYTHONPATH")
        pool = descriptor_pool.Default()  # pyright: ignore[reportUnknownMemberType]  # untyped in protobuf 6
        found = [each for module in _contract_modules(package, []) for each in _contracts_of(module).values()]
    else:
        where = str(proto_path or descriptors)
        compiled = _compile_protos(Path(proto_path)) if proto_path is not None else _compile_set(Path(where))
        found = list(compiled.values())
        pool = found[0].message_type.DESCRIPTOR.file.pool if found else None
    try:
        if pool is None:
            raise KeyError(name)
        return pool.FindServiceByName(name), compiled
    except KeyError:
        files: set[Any] = {each.message_type.DESCRIPTOR.file for each in found}
        known = sorted(service.full_name for file in files for service in file.services_by_name.values())
        expected = f"one of {', '.join(known)}" if known else "the full name of a service"
        raise ContractError(f"no service {name} in {where}; expected {expected}") from None


# ----------------------------------------------------------------------------------------------------------------------
# From one process to another

# Contracts compiled at run time that travelled, by name and fingerprint: in one process there is one of each, so that
# the message classes of its copies are the same.
_TRAVELLED: Final[WeakValueDictionary[tuple[str, str], Contract[Any]]] = WeakValueDictionary()


def travel(contract: Contract[Any]) -> tuple[Callable[..., Contract[Any]], tuple[object, ...]]:
    """How a contract is pickled: by name and fingerprint where it was generated, else by its descriptors.

    The result is that of ``__reduce__``: a function and its arguments.
    """
    from google.protobuf import descriptor_pool

    file = contract.message_type.DESCRIPTOR.file
    if file.pool is descriptor_pool.Default():  # pyright: ignore[reportUnknownMemberType]  # untyped in protobuf 6
        return load_same, (contract.full_name, contract.fingerprint)
    _TRAVELLED[contract.full_name, contract.fingerprint] = contract
    return compile_same, (_descriptors(file), contract.full_name, contract.fingerprint)


def load_same(name: str, fingerprint: str) -> Contract[Any]:
    """The generated contract of a message, as another process has it.

    Raises ContractError where the generated code here has another fingerprint, or is not found.
    """
    return _same(load(name), fingerprint, "both processes need the same generated code")


def compile_same(descriptors: bytes, name: str, fingerprint: str) -> Contract[Any]:
    """A contract that another process compiled at run time, from its serialised FileDescriptorSet.

    Raises ContractError where compiling it here gives another fingerprint, MissingExtra without the compiler.
    """
    known = _TRAVELLED.get((name, fingerprint))
    if known is not None:
        return known
    from google.protobuf.descriptor_pb2 import FileDescriptorSet

    contract = compiler("compile")(FileDescriptorSet.FromString(descriptors))[name]
    found = _same(contract, fingerprint, "both processes need the same version of protocontract")
    return _TRAVELLED.setdefault((name, fingerprint), found)


def _same(contract: Contract[Any], fingerprint: str, advice: str) -> Contract[Any]:
    if contract.fingerprint != fingerprint:
        raise ContractError(
            f"{contract.full_name} is another contract here; expected fingerprint {fingerprint},"
            f" got {contract.fingerprint}; {advice}"
        )
    return contract


def _descriptors(file: Any) -> bytes:
    """The serialised FileDescriptorSet of a file and what it imports, without protobuf's own files."""
    from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet

    found = FileDescriptorSet()
    seen: set[str] = set()

    def collect(each: Any) -> None:
        if each.name in seen or each.name.startswith("google/protobuf/"):
            return
        seen.add(each.name)
        for imported in each.dependencies:
            collect(imported)
        copy = FileDescriptorProto()
        each.CopyToProto(copy)
        found.file.append(copy)

    collect(file)
    return found.SerializeToString(deterministic=True)


# ----------------------------------------------------------------------------------------------------------------------


def _nowhere(name: str, looked: list[str]) -> str:
    """What to say of a name without a contract: what is there instead, or how a contract gets there."""
    if name in looked:
        return f"{name} is a module; name a message of it: {_some(_contracts_of(name))}"
    if looked:
        there = sorted(full_name for module in looked for full_name in _contracts_of(module))
        where = f"no contract for {name}: looked in {', '.join(looked)}"
        near = _near(name, there)
        return f"{where}; {near}" if near else f"{where}, which has {_some(there)}"
    package = name.rpartition(".")[0]
    if not package:
        return f"no contract for {name or 'an empty name'}; expected a full name, such as acme.finance.v1.Transaction"
    return (
        f"no contract for {name}: looked in no *_contract.py, as no folder {package.replace('.', '/')} of PYTHONPATH"
        " has one; make it with `protocontract compile`, put its --out folder on PYTHONPATH, or say where the .proto"
        " files are with --proto-path"
    )


def _near(name: str, known: Iterable[str]) -> str:
    """``did you mean ...?`` where one message is called much the same; empty otherwise.

    The own names are compared: packages are long, and alike in all of them.
    """
    own = {each.rpartition(".")[2]: each for each in sorted(known, reverse=True)}
    near = get_close_matches(name.rpartition(".")[2], own, n=1, cutoff=0.75)
    return f"did you mean {own[near[0]]}?" if near else ""


def _some(names: Iterable[str]) -> str:
    shown = sorted(names)
    return ", ".join(shown[:8]) + (f" and {len(shown) - 8} more" if len(shown) > 8 else "") or "none"


def _load_attribute(name: str) -> Contract[Any]:
    module_name, _, attribute = name.partition(":")
    module = _import(module_name)
    found = getattr(module, attribute, None)
    if not isinstance(found, Contract):
        there = [known for known, value in vars(module).items() if isinstance(value, Contract)]
        raise ContractError(f"{module_name} has no contract named {attribute}; it has: {_some(there)}")
    return found


def _contract_modules(package: str, looked: list[str]) -> Iterator[str]:
    """Names of the ``*_contract`` modules in the folders of a package, sorted within each folder."""
    folder = package.replace(".", "/")
    seen: set[str] = set()
    for entry in sys.path:
        place = Path(entry or ".") / folder
        try:
            stems: Iterable[str] = sorted(file.stem for file in place.glob("*_contract.py"))
            if not stems and Path(entry).is_file():
                # A zip file, as spark-submit --py-files puts it there.
                stems = sorted(
                    module.name for module in iter_modules([str(place)]) if module.name.endswith("_contract")
                )
        except OSError:  # an entry of sys.path that cannot be listed holds no module for us
            continue
        for stem in stems:
            module_name = f"{package}.{stem}" if package else stem
            if module_name not in seen:
                seen.add(module_name)
                looked.append(module_name)
                yield module_name


def _contracts_of(module_name: str) -> Mapping[str, Contract[Any]]:
    module = _import(module_name)
    return {value.full_name: value for value in vars(module).values() if isinstance(value, Contract)}


def _import(module_name: str) -> Any:
    """A generated module. Raises ContractError where it, or a module that it stands on, cannot be imported."""
    try:
        return importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        missing = error.name or ""
        if missing == module_name or module_name.startswith(f"{missing}."):
            text = f"no module {module_name}; put the folder of the generated code on PYTHONPATH"
            raise ContractError(text) from error
        hint = "; compile buf/validate/validate.proto too" if missing.partition(".")[0] == "buf" else ""
        raise ContractError(f"{module_name} cannot be imported: no module {missing}{hint}") from error
    except VersionError as error:
        raise ContractError(f"{module_name} was generated for another protobuf: {error}") from error


def _compile_protos(folder: Path) -> Mapping[str, Contract[Any]]:
    if not folder.exists():
        raise ContractError(f"no folder {folder}")
    contracts: Mapping[str, Contract[Any]] = compiler("load_protos")([folder], proto_path=folder)
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
    contracts: Mapping[str, Contract[Any]] = compiler("compile")(file_set)
    return contracts


def compiler(function: str) -> Any:
    """A function of the compiler, through its entry point: the runtime never imports the compiler."""
    from protocontract._entry_points import entry_point

    point = entry_point("protocontract.dynamic", function)
    if point is None:
        raise MissingExtra("compiling contracts on the spot", "the compiler", "compiler")
    try:
        return point.load()
    except ModuleNotFoundError as error:
        raise MissingExtra("compiling contracts on the spot", str(error.name), "compiler") from error
