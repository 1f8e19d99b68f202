"""Locks: what of a contract a module stands on, a file for each module and message: ``contracts/locks/M/MESSAGE.json``.

A lock is evidence, never permission. It holds only what the module uses: the elements and how, a digest of that slice
of the contract, a digest of each source file that uses it, and the findings that were open when it was written. It has
no version, date or line, and nothing of the rest of the contract, so that two branches rarely meet in it and a change
of what a module does not use leaves its locks alone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any, Final

from protocontract.violations import ContractError
from protocontract_ci.model import HOWS, How, Role, Use
from protocontract_ci.sources import Contracts
from protocontract_compiler import ir
from protocontract_compiler.ir_dump import field_lines, text_of

LOCKS: Final = "contracts/locks"

WRITES: Final[frozenset[How]] = frozenset({"write", "construct", "clear"})
READS: Final[frozenset[How]] = frozenset({"read", "has", "which_oneof", "json_name", "match_open", "match_closed"})
#: Uses through which any field of the message may be reached.
_WHOLE: Final[frozenset[How]] = frozenset({"json_name", "reflection"})
_DISPATCHES: Final[frozenset[How]] = frozenset({"match_open", "match_closed"})


@dataclass(frozen=True, slots=True)
class Lock:
    """What a module uses of one message, enum or service (``element``, a full name).

    ``uses`` are element paths with how they are used, ``contract`` is the digest of what the contract says of them,
    ``sources`` are digests of the files that use them, by path below the repository. ``open`` are the ids of findings
    (path, kind and step) that were open, ``acknowledged`` of those that the module had acknowledged.
    """

    module: str
    element: str
    uses: Mapping[str, tuple[How, ...]]
    contract: str
    sources: Mapping[str, str]
    role: Role = "unknown"
    open: tuple[str, ...] = ()
    acknowledged: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """Its file below the repository."""
        return f"{LOCKS}/{self.module}/{self.element}.json"

    def text(self) -> str:
        """The file, with one fact a line, in a fixed order."""
        table = {
            "module": self.module,
            "element": self.element,
            "role": self.role,
            "contract": self.contract,
            "uses": {path: " ".join(self.uses[path]) for path in sorted(self.uses)},
            "sources": dict(sorted(self.sources.items())),
            "open": sorted(self.open),
            "acknowledged": sorted(self.acknowledged),
        }
        return json.dumps(table, indent=1, ensure_ascii=False) + "\n"


def read_lock(text: str, path: str) -> Lock:
    """A lock from its file. Raises ContractError for a file that is none."""
    try:
        table: dict[str, Any] = json.loads(text)
        known: dict[str, How] = {how: how for how in HOWS}
        uses: dict[str, tuple[How, ...]] = {}
        for element, hows in table["uses"].items():
            uses[element] = tuple(known[how] for how in hows.split() if how in known)
        return Lock(
            table["module"], table["element"], uses, table["contract"], dict(table["sources"]), table["role"],
            tuple(table["open"]), tuple(table["acknowledged"]),
        )  # fmt: skip
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ContractError(f"{path}: not a lock; expected a file that `protocontract adapt` wrote") from None


def are_written(root: Path, module: str, locks: Sequence[Lock] | None) -> bool:
    """Whether the locks of a module in the working tree are these; never where there are None."""
    if locks is None:
        return False
    folder = root / LOCKS / module
    there = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.json")} if folder.is_dir() else {}
    return there == {PurePosixPath(lock.path).name: lock.text() for lock in locks}


def module_of_lock(path: str) -> str:
    """The module that a file below the folder of locks is of; "" for any other file."""
    inside = PurePosixPath(path)
    return inside.parent.name if str(inside.parent.parent) == LOCKS and inside.suffix == ".json" else ""


def role_of(uses: Iterable[tuple[str, How]], schema: ir.Schema) -> Role:
    """What somebody who uses these elements so does with the records: to hold a message is neither."""
    writes = reads = False
    for path, how in uses:
        if path not in schema.messages:
            writes = writes or how in WRITES
            reads = reads or how in READS
    return "both" if writes and reads else "writer" if writes else "reader" if reads else "unknown"


def source_digest(data: bytes) -> str:
    """The digest of a source file."""
    return hashlib.sha256(data).hexdigest()[:32]


def make_locks(
    module: str,
    uses: Mapping[str, Sequence[Use]],
    contracts: Contracts,
    sources: Mapping[str, str],
    *,
    opened: Iterable[str] = (),
    acknowledged: Iterable[str] = (),
) -> list[Lock]:
    """The locks of a module from its uses by file. ``sources`` are the digests of these files."""
    hows: dict[str, dict[str, set[How]]] = {}
    files: dict[str, set[str]] = {}
    for file, found in uses.items():
        for use in found:
            element = owner_of(use.path, contracts.schema)
            if element.startswith("google.protobuf.") or not element:
                continue
            hows.setdefault(element, {}).setdefault(use.path, set()).add(use.how)
            files.setdefault(element, set()).add(file)
    opened, acknowledged = list(opened), list(acknowledged)
    locks = []
    for element in sorted(hows):
        kept: dict[str, tuple[How, ...]] = {
            path: tuple(how for how in HOWS if how in found) for path, found in hows[element].items()
        }
        locks.append(
            Lock(
                module,
                element,
                kept,
                slice_digest(contracts, element, kept),
                {file: sources[file] for file in files[element] if file in sources},
                role_of(((path, how) for path, found in kept.items() for how in found), contracts.schema),
                tuple(sorted(each for each in opened if _is_of(each, element))),
                tuple(sorted(each for each in acknowledged if _is_of(each, element))),
            )
        )
    return locks


def _is_of(finding: str, element: str) -> bool:
    path = finding.partition(" ")[0].partition("@")[0].partition("#")[0]
    return path == element or path.rpartition(".")[0] == element


def owner_of(path: str, schema: ir.Schema) -> str:
    """The message, enum or service that a path lies in, or that it is; of a name that is gone, what was around it."""
    name = path.partition("@")[0].partition("#")[0]
    if "/" in name or "." not in name:
        return ""
    known = (schema.messages, schema.enums, schema.services)
    if any(name in each for each in known):
        return name
    return name.rpartition(".")[0]


# ----------------------------------------------------------------------------------------------------------------------
# The slice


def slice_digest(contracts: Contracts, element: str, uses: Mapping[str, Sequence[How]]) -> str:
    """The digest of what a contract says of the elements that are used."""
    return hashlib.sha256("\n".join(slice_lines(contracts, element, uses)).encode()).hexdigest()


def slice_lines(contracts: Contracts, element: str, uses: Mapping[str, Sequence[How]]) -> Iterator[str]:
    """What a contract says of the elements that are used, canonically: types, rules and words, but no version."""
    schema = contracts.schema
    if element in schema.messages:
        yield from _message(schema.messages[element], uses)
    elif element in schema.enums:
        yield from _enum(schema.enums[element], uses)
    elif element in schema.services:
        yield from _service(schema.services[element], uses)
    else:
        yield f"missing {element}"


def _message(message: ir.Message, uses: Mapping[str, Sequence[How]]) -> Iterator[str]:
    yield f"message {message.full_name} {message.file}"
    own = set(uses.get(message.full_name, ()))
    whole = any(set(hows) & _WHOLE for path, hows in uses.items() if path == message.full_name)
    writes = "construct" in own or any(set(hows) & WRITES for hows in uses.values())
    demanding = message.contract is not None and message.contract.acknowledge_new_fields
    names = {path.removeprefix(f"{message.full_name}.") for path in uses}
    if message.contract is not None:
        # Who answers for it and how its versions are counted changes nothing for who uses it.
        yield f"contract {text_of(replace(message.contract, version='', owner='', topic='', dead_letter_topic=''))}"
    if message.rule_source:
        yield f"rules {message.rule_source}"
    for oneof in sorted(message.oneofs, key=lambda each: each.name):
        if oneof.name in names or any(name in names for name in oneof.fields):
            yield f"oneof {oneof.name} {' '.join(sorted(oneof.fields))} {oneof.rule_source}".rstrip()
    for field in sorted(message.fields, key=lambda each: each.number):
        if field.name in names or whole:
            yield from field_lines(replace(field, governance=replace(field.governance, since="")))
        elif writes and (field.rule_source or field.legacy_required):
            # Who builds the message must keep the rules of what it leaves out, too.
            yield f"left out {field.name} {field.rule_source} {field.legacy_required}"
        elif demanding or field.governance.acknowledge:
            yield f"demanded {field.name}"
    for name in sorted(names - {field.name for field in message.fields} - {oneof.name for oneof in message.oneofs}):
        if name != message.full_name:
            yield f"missing {name}"


def _enum(enum: ir.Enum, uses: Mapping[str, Sequence[How]]) -> Iterator[str]:
    yield f"enum {enum.full_name} {enum.file}{' closed' if enum.closed else ''}"
    names = {path.rpartition(".")[2] for path in uses}
    every = any(set(hows) & (_DISPATCHES | _WHOLE) for hows in uses.values())
    for value in sorted(enum.values, key=lambda each: (each.number, each.name)):
        if every or value.name in names:
            yield f"value {text_of(value)}"
    known = {value.name for value in enum.values}
    yield from (f"missing {name}" for name in sorted(names - known) if f"{enum.full_name}.{name}" in uses)


def _service(service: ir.Service, uses: Mapping[str, Sequence[How]]) -> Iterator[str]:
    yield f"service {service.full_name} {service.file}"
    names = {path.rpartition(".")[2] for path in uses}
    serves = any("subclass" in hows for hows in uses.values())
    for method in sorted(service.methods, key=lambda each: each.name):
        if method.name in names or serves:
            yield f"method {text_of(method)}"
