"""What a contract may leave out, and a reviewer would miss: one function a check, all in one table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from protocontract_compiler import ir


@dataclass(frozen=True, slots=True)
class Omission:
    """A warning: nothing is wrong, but something is missing. ``id`` is a key of IDS."""

    id: str
    place: ir.Place
    message: str


#: What each check is about, for `protocontract explain`.
IDS: Final[Mapping[str, str]] = {
    "no-contract": "a message with rules that is part of no other has no (protocontract.v1.contract): nobody answers "
    "for it, and its changes have no version",
    "no-version": "a contract names no version: `protocontract diff` cannot tell which change a user stands on",
    "no-owner": "a contract names no owner: nobody is told when it breaks",
    "no-dead-letter-topic": "a contract names a topic and no dead_letter_topic: a guard has to be told it",
    "left-to-protovalidate": "the rules of a message are left to protovalidate, which is slower: one of them cannot be "
    "compiled exactly",
}

_Check: TypeAlias = Callable[[ir.Schema, ir.Message], Iterator[tuple[str, ir.Place, str]]]


def omissions(schema: ir.Schema, requested: frozenset[str]) -> list[Omission]:
    """All omissions in the files that were named, by place."""
    inner = {field.element_message for message in schema.messages.values() for field in message.fields}
    found = []
    for file in requested:
        for name in schema.files[file].messages:
            message = schema.messages[name]
            checks = [_contract] if message.contract is not None else [] if name in inner else [_none]
            for check in (*checks, _delegated):
                found += [Omission(*each) for each in check(schema, message)]
    return sorted(found, key=lambda each: (each.place.file, each.place.line, each.place.column, each.id))


def _none(_: ir.Schema, message: ir.Message) -> Iterator[tuple[str, ir.Place, str]]:
    if message.promises:
        yield (
            "no-contract", message.place,
            f"`{message.full_name}` makes promises and has no (protocontract.v1.contract); expected one",
        )  # fmt: skip


def _contract(_: ir.Schema, message: ir.Message) -> Iterator[tuple[str, ir.Place, str]]:
    contract = message.contract
    if contract is None:
        return
    place = contract.place if contract.place.line else message.place
    name = message.full_name
    if not contract.version:
        yield "no-version", place, f"the contract of `{name}` has no `version`; expected one as 1.0.0"
    if not contract.owner:
        yield "no-owner", place, f"the contract of `{name}` has no `owner`; expected who is told when it breaks"
    if contract.topic and not contract.dead_letter_topic:
        yield (
            "no-dead-letter-topic", place,
            f"the contract of `{name}` has a `topic` and no `dead_letter_topic`; expected where bad records go",
        )  # fmt: skip


def _delegated(_: ir.Schema, message: ir.Message) -> Iterator[tuple[str, ir.Place, str]]:
    if message.delegated is not None:
        yield (
            "left-to-protovalidate", message.place,
            f"the rules of `{message.full_name}` are left to protovalidate: {message.delegated}",
        )  # fmt: skip
