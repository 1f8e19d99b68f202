"""Contracts compiled from a registered schema, and the schema of a contract in a subject: both once, at start."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from google.protobuf.descriptor import FileDescriptor

from protocontract import wire
from protocontract.contract import Contract
from protocontract.kafka.errors import GuardError
from protocontract.kafka.registry.client import Missing, Reference, Registered, RegistryClient, Unreachable
from protocontract.kafka.registry.frames import SinkFrame
from protocontract.kafka.registry.registry import Registry, described
from protocontract.kafka.registry.schema import (
    UnusableSchema,
    WriterSchema,
    encoded,
    file_set,
    is_builtin,
    references_of,
    writer_schema,
)
from protocontract.loading import compiler
from protocontract.violations import ContractError
from protocontract.wire_compatible import same

#: How many versions of a subject are looked through for a contract's schema, newest first.
MAX_VERSIONS: Final = 100


class Subject(NamedTuple):
    """``NAME`` or ``NAME@VERSION``; without a version, or with ``latest``, the latest at the time."""

    name: str
    version: int | None = None

    @classmethod
    def of(cls, text: str) -> Subject:
        """Read it. Raises ValueError."""
        found = re.fullmatch(r"(?P<name>[^@].*?)(@(latest|(?P<version>[0-9]{1,9})))?", text)
        if found is None or found["version"] == "0":
            raise ValueError("expected NAME or NAME@VERSION")
        return cls(found["name"], None if found["version"] is None else int(found["version"]))


class RegisteredContract(NamedTuple):
    """A contract, and the version of a subject that it was compiled from. It does not change when another follows."""

    contract: Contract[Any]
    registered: Registered

    def __str__(self) -> str:
        """``acme.v1.Payment 1.4.0 from payments-value version 3 (schema id 12), sha256 9f3c...``."""
        contract = self.contract
        version = f" {contract.version}" if contract.version else ""
        return f"{contract.full_name}{version} from {described(self.registered)}, sha256 {contract.fingerprint}"


def contract_from(registry: Registry, subject: Subject, message: str | None = None) -> RegisteredContract:
    """The contract of a message in a registered schema, compiled now.

    ``message`` is its full name; without it the schema's only message outside of others. Imports come from the schema's
    references; validate.proto and contract.proto are always the installed ones. Raises GuardError where the registry
    has none or does not answer, ContractError where the schema has mistakes, MissingExtra without the compiler.
    """
    client = registry.client
    registered = None
    try:
        registered = client.version(subject.name, subject.version, source=True)
        name, files = file_set(registered, references_of(client, registered, source=True))
    except Missing:
        if registered is not None:
            what = f"{described(registered)} refers to a schema that {registry.place} does not have"
            raise GuardError(what) from None
        raise GuardError(_missing(registry, subject)) from None
    except Unreachable as error:
        raise GuardError(registry.no_answer(error)) from None
    except UnusableSchema as error:
        if isinstance(error.__cause__, ContractError):
            raise error.__cause__ from None
        raise GuardError(f"subject {subject.name}: its schema cannot be used: {error}") from None
    contracts: Mapping[str, Contract[Any]] = compiler("compile")(files)
    file = next(each for each in files.file if each.name == name)
    scope = f"{file.package}." if file.package else ""
    outermost = [f"{scope}{each.name}" for each in file.message_type]
    if not outermost:
        raise GuardError(f"{described(registered)} has no message")
    if message is None and len(outermost) != 1:
        raise GuardError(f"{described(registered)} has the messages {', '.join(outermost)}; name one with --contract")
    wanted = outermost[0] if message is None else message
    if wanted not in contracts:
        raise ContractError(f"no message {wanted} in {described(registered)}; it has: {', '.join(outermost)}")
    return RegisteredContract(contracts[wanted], registered)


def sink_frame(
    registry: Registry, contract: Contract[Any], subject: str, *, in_header: bool = False, register: bool = False
) -> tuple[SinkFrame, Registered]:
    """The frame for a contract's records under a subject, with the version that it names.

    That is the newest version whose message has the contract's very fields (``wire_compatible.same``; options, and so
    rules, do not count). With ``register``, the contract's file is registered where there is none, as Confluent's
    serializers do it: what it imports under its own name each. ``in_header`` gives the form with the GUID, which
    Confluent's header serializer writes.

    Raises GuardError.
    """
    client = registry.client
    try:
        found = _find(client, contract, subject)
        if found is None and register:
            _register(client, contract, subject)
            found = _find(client, contract, subject)
    except Unreachable as error:
        raise GuardError(registry.no_answer(error)) from None
    except Missing:
        raise GuardError(f"sink: subject {subject} was given up while it was read; start again") from None
    if found is None:
        raise GuardError(
            f"sink: no version of subject {subject} has the fields of {contract.full_name}; register its schema, or add"
            " --register"
        )
    path = found.path_of(contract.full_name)
    assert path is not None  # _find looked for it
    registered = found.registered
    if not in_header:
        if registered.schema_id is None:
            raise GuardError(f"sink: the registry gives no id for subject {subject}")
        return SinkFrame(wire.frame_of(registered.schema_id, path)), registered
    if registered.guid is None:
        raise GuardError(
            f"sink: the registry gives no GUID for subject {subject}; write the id before the value instead"
        )
    return SinkFrame(wire.frame_of(registered.guid, path), in_header=True), registered


def _find(client: RegistryClient, contract: Contract[Any], subject: str) -> WriterSchema | None:
    ours: Any = contract.message_type.DESCRIPTOR
    try:
        versions = client.versions(subject)
    except Missing:
        return None
    for version in versions[:MAX_VERSIONS]:
        try:
            schema = writer_schema(client, client.version(subject, version))
        except UnusableSchema:
            continue
        if schema.path_of(contract.full_name) is not None and same(schema.message(contract.full_name), ours):
            return schema
    return None


def _register(client: RegistryClient, contract: Contract[Any], subject: str) -> None:
    descriptor: Any = contract.message_type.DESCRIPTOR
    done: dict[str, Reference] = {}
    client.register(subject, encoded(descriptor.file), _registered(client, descriptor.file, done))


def _registered(client: RegistryClient, file: FileDescriptor, done: dict[str, Reference]) -> tuple[Reference, ...]:
    """References to what a file imports, registered where it is not."""
    references: list[Reference] = []
    for imported in file.dependencies:
        if is_builtin(imported.name):
            continue
        if imported.name not in done:
            text, inner = encoded(imported), _registered(client, imported, done)
            client.register(imported.name, text, inner)
            version = client.lookup(imported.name, text, inner)
            done[imported.name] = Reference(imported.name, imported.name, version)
        references.append(done[imported.name])
    return tuple(references)


def _missing(registry: Registry, subject: Subject) -> str:
    version = "" if subject.version is None else f" version {subject.version}"
    return f"the schema registry at {registry.place} has no subject {subject.name}{version}"
