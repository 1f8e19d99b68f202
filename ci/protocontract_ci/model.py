"""What the gate talks about: a change of a contract, a use of it in code, what one means for the other.

Frozen data without behaviour beyond ids. ``diff`` makes changes, ``usage`` makes uses, ``verdicts`` makes findings from
both, ``reports`` shows them; all meet here and nowhere else.

Paths (one grammar for changes, uses and acknowledgements):

==============================  ========================================================================
``shop.v1.Item.code``           a message, field, oneof, enum, service or method by its full name
``ship.v1.Fault.FAULT_LOST``    an enum value: within its enum, not beside it as protobuf scopes it
``...Item.code@string.min_len`` a rule of buf.validate, by its path in FieldRules or MessageRules
``...Span@cel[span.order]``     a CEL rule by its id; ``@cel_expression[0]`` by its place, for it has no id
``...Person.created_at@unit``   a word of protocontract, with dots into it: ``@money.scale``, ``@level.latency``
``shop.v1.Order#4``             a number (reserved) of a message or enum
``shop/v1/order.proto``         a file
==============================  ========================================================================

A renamed element goes by its name before the change.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from protocontract_compiler.ir import Place

Direction: TypeAlias = Literal["breaking", "tightened", "loosened", "added", "neutral"]
"""``breaking``: wire, JSON or generated code changes incompatibly, or nobody can tell which records are accepted.
``tightened``: fewer records are accepted; ``loosened``: more are; ``added``: a new element; ``neutral``: neither the
accepted records nor code can tell."""

DIRECTIONS: Final[tuple[Direction, ...]] = ("breaking", "tightened", "loosened", "added", "neutral")

Effect: TypeAlias = Literal["same", "compatible", "breaking"]
"""``same``: nobody can tell; ``compatible``: old and new understand each other; ``breaking``: they do not."""

Language: TypeAlias = Literal["python", "typescript"]

ElementKind: TypeAlias = Literal["file", "message", "field", "oneof", "enum", "enum_value", "service", "method"]

Relation: TypeAlias = Literal["equal", "stronger", "weaker", "incomparable", "unknown"]
"""How the set of records that is accepted after relates to the one before: ``stronger`` accepts fewer."""

Proof: TypeAlias = Literal["witness", "static", "unresolved"]
"""What a finding rests on: a message that shows it, the code and the contract alone, or nothing that decides it."""

RuleProof: TypeAlias = Literal["table", "formula", "automaton", "none"]
"""What the direction of a rule rests on: the table of clear cases, z3, the product of two patterns, or nothing."""

Verdict: TypeAlias = Literal["adapted", "not_adapted", "unaffected", "unverified"]
"""``unverified``: the module cannot be read or its lock is missing; it ends in exit code 2, never in green."""

Role: TypeAlias = Literal["reader", "writer", "both", "unknown"]

How: TypeAlias = Literal[
    "read",  # the value of a field, an item of it, a member of an enum in an expression
    "write",  # assignment, append, extend, CopyFrom into the field
    "construct",  # keyword of the constructor, property of create(Schema, {...}); on a message: the message is built
    "has",  # HasField, isFieldSet
    "clear",  # ClearField
    "which_oneof",  # WhichOneof, message.kind.case; on a oneof
    "enum_value",  # the constant, the name in Value("..."), the member
    "match_open",  # a dispatch over an enum or oneof that falls through or fails for a value it does not name
    "match_closed",  # a dispatch with a default
    "import",  # of the module or the name
    "subclass",  # of a servicer, or a class that implements one
    "call",  # an RPC through a stub; on a message: its full name is asked of its descriptor
    "json_name",  # a key of JSON or of MessageToDict's result
    "reflection",  # getattr, DESCRIPTOR, fields_by_name, ** with names that are known or not (`certain`)
    "type_only",  # an annotation, or an import for the type checker alone
    "mock",  # a keyword or attribute of a test double whose spec is the message, the stub or the servicer
    "error_code",  # a constant ERR_..., or its number
    "rule_id",  # a rule id or a rule's field path as text
]
HOWS: Final[tuple[How, ...]] = How.__args__  # type: ignore[attr-defined]

Kind: TypeAlias = Literal[
    # files
    "file_added", "file_removed", "import_changed", "declarations_reordered", "syntax_changed", "file_option_changed",
    # messages
    "message_added", "message_removed", "message_renamed", "message_moved_package", "message_moved_file",
    "fields_reordered", "reserved_added", "reserved_removed", "extensions_changed",
    # fields
    "field_added", "field_removed", "field_renamed", "renamed_or_reused", "field_renumbered", "field_type_changed",
    "field_presence_changed", "field_cardinality_changed", "field_label_changed", "field_moved_into_oneof",
    "field_moved_out_of_oneof", "number_reused", "default_added", "default_removed", "default_changed",
    "json_name_changed", "encoding_changed",
    # oneofs
    "oneof_added", "oneof_removed", "oneof_renamed", "oneof_case_added", "oneof_case_removed",
    # enums
    "enum_added", "enum_removed", "enum_renamed", "enum_moved_package", "enum_moved_file", "enum_value_added",
    "enum_value_removed", "enum_value_renamed", "enum_value_renumbered", "enum_alias_added", "enum_alias_removed",
    "enum_openness_changed", "enum_zero_changed", "values_reordered",
    # services
    "service_added", "service_removed", "service_renamed", "service_moved_package", "service_moved_file",
    "rpc_added", "rpc_removed", "rpc_renamed", "rpc_request_changed", "rpc_response_changed",
    "rpc_client_streaming_changed", "rpc_server_streaming_changed", "methods_reordered",
    # rules
    "rule_added", "rule_removed", "rule_changed", "rule_moved", "cel_added", "cel_removed", "cel_changed",
    "ignore_changed",
    # the vocabulary
    "normalizer_added", "normalizer_removed", "normalizer_changed", "relation_added", "relation_removed",
    "relation_changed", "unit_changed", "currency_changed", "level_changed", "service_level_changed",
    "governance_changed", "contract_changed", "version_changed", "version_reused", "version_bump_missing",
    # the rest
    "deprecated_added", "deprecated_removed", "comment_changed", "option_changed",
    # not of the contract: what a module's own state says (verdicts/own.py)
    "name_unknown", "role_exceeded", "contract_undeclared", "lock_edited", "copy_stale",
    "used_after_sunset",
]  # fmt: skip

OWN_STATE: Final[frozenset[Kind]] = frozenset(
    {"name_unknown", "role_exceeded", "contract_undeclared", "lock_edited", "copy_stale", "used_after_sunset"}
)
"""Kinds that are about a module as it is, and not about a change of the contract."""

Value: TypeAlias = "bool | int | float | str | tuple[Value, ...] | None"
"""What stood there before or after: as JSON shows it. None where there was nothing."""


@dataclass(frozen=True, slots=True)
class Compatibility:
    """What a change does to bytes, to JSON, and to code against the generated modules, per language.

    ``python`` is for protoc's ``*_pb2``, ``typescript`` for protobuf-es v2. Rules change none of these.
    """

    wire: Effect = "same"
    json: Effect = "same"
    python: Effect = "same"
    typescript: Effect = "same"

    def of(self, language: Language) -> Effect:
        """The effect on generated code of a language."""
        return self.python if language == "python" else self.typescript

    @property
    def breaking(self) -> bool:
        """Whether anything of it breaks."""
        return bool(self.broken(("", "", "", "")))

    def broken(self, names: tuple[str, str, str, str]) -> list[str]:
        """What breaks, by what a report calls the wire, JSON, Python and TypeScript."""
        effects = (self.wire, self.json, self.python, self.typescript)
        return [name for name, effect in zip(names, effects, strict=True) if effect == "breaking"]


@dataclass(frozen=True, slots=True)
class Element:
    """The element that a change is about, as verdicts need it.

    Names are full names; ``name`` is empty for an element that is new, ``new_name`` for one that is gone, and they
    differ for a renamed one. ``message`` and ``new_message`` are the message (for a value: the enum, for a method: the
    service) that holds it, or the message itself. ``number`` and ``new_number`` are those of a field or enum value.
    ``oneof`` is the full name of the oneof that a field is a member of, before and after.
    """

    kind: ElementKind
    name: str = ""
    new_name: str = ""
    message: str = ""
    new_message: str = ""
    number: int | None = None
    new_number: int | None = None
    oneof: str = ""
    new_oneof: str = ""
    file: str = ""
    new_file: str = ""

    @property
    def short_name(self) -> str:
        """The last part of the name before, or of the new one where there was none."""
        return (self.name or self.new_name).rpartition(".")[2]

    @property
    def new_short_name(self) -> str:
        """The last part of the name after; empty where the element is gone."""
        return self.new_name.rpartition(".")[2]

    @property
    def renamed(self) -> bool:
        """Whether the element exists on both sides under two names."""
        return bool(self.name and self.new_name) and self.short_name != self.new_short_name


@dataclass(frozen=True, slots=True)
class Witness:
    """A message that shows what a change of rules does: accepted on one side and refused on the other.

    ``data`` is its protobuf encoding, for the message named ``message``; ``accepted`` says on which side it is valid.
    ``confirmed``: both validators (protovalidate and ours) agreed on both sides; only then it counts.
    """

    message: str
    data: bytes
    accepted: Literal["before", "after"]
    confirmed: bool = False


@dataclass(frozen=True, slots=True)
class RuleComparison:
    """What is known of two sets of accepted records, with what shows it.

    ``lost`` is accepted before and refused after, ``gained`` the other way round; either may be None where no message
    was found.
    """

    relation: Relation
    proof: RuleProof = "none"
    lost: Witness | None = None
    gained: Witness | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """One change of a contract.

    ``where_before`` and ``where_after`` are true lines of the sources (of the rule, where it is about a rule), with the
    path as the user named the folder; None where the element is not there. ``relation`` compares what the whole message
    accepts after with what it accepted before; it is set for changes of rules only, ``witness`` where one was found.

    ``acknowledge``: a module that uses the message must use the new field or say that it ignores it. ``demand`` is what
    the contract itself still has to do, for a change that stays red whatever modules do (an undeclared rename, a
    version without the bump that fits); empty for all others. ``notes`` are further facts for a reader, one a sentence.
    """

    path: str
    kind: Kind
    direction: Direction
    element: Element
    before: Value = None
    after: Value = None
    where_before: Place | None = None
    where_after: Place | None = None
    compatibility: Compatibility = Compatibility()
    relation: Relation | None = None
    proof: RuleProof = "none"
    witness: Witness | None = None
    acknowledge: bool = False
    demand: str = ""
    notes: tuple[str, ...] = ()

    @property
    def step(self) -> str:
        """``from->to``, ``added`` or ``removed``: what an acknowledgement names beside the path. No white space."""
        if self.before is None and self.after is None:
            return self.kind.rpartition("_")[2]
        if self.before is None:
            return "added"
        if self.after is None:
            return "removed"
        return f"{step_text(self.before)}->{step_text(self.after)}"

    @property
    def acknowledgements(self) -> tuple[str, ...]:
        """What an acknowledgement in code may say: path and step, and for a number that has a new meaning also that the
        number is free no more, or that its field is new.
        """
        own = f"{self.path} {self.step}"
        if self.kind != "number_reused":
            return (own,)
        return own, f"{self.path} added", f"{self.path} removed", f"{self.reused_by} added"

    @property
    def reused_by(self) -> str:
        """The path of the field or value that has the number now, for a number that is used again."""
        declared = value_text(self.after).partition(" = ")[0].rpartition(" ")[2]
        return f"{self.path.partition('#')[0]}.{declared}"

    @property
    def id(self) -> str:
        """The change without the module that it meets: path, kind and step. Stable across lines and files."""
        return f"{self.path} {self.kind} {self.step}"

    @property
    def where(self) -> Place | None:
        """The place after, or the place before of what is gone."""
        return self.where_after or self.where_before


@dataclass(frozen=True, slots=True)
class Use:
    """One place where a module uses a contract.

    ``path`` is the full name of the field, enum value, oneof, message, enum, service or method, or a file's import
    name; a rule's path for ``rule_id`` and ``error_code``. Lines and columns count from 1, columns in characters.
    ``certain`` is False where the receiver may come from somewhere else, or the name is put together at run time.
    ``origin`` says where the name was written, where that is another line (a constant, a tuple of names), 0 otherwise.
    ``text`` is what stands in the code where that decides: a key of JSON, the number in the place of an enum value, the
    type of the constants that a field is compared with, the rule id that a violation is, the .proto file of the
    generated module that a name is taken from; empty where nobody knows. ``named`` is False for a message that is used
    without its name: an item that ``add()`` makes, a dictionary, one that is serialised. ``handles`` are the names (or
    numbers) that a dispatch has branches for, as far as they are written down.
    """

    file: str
    line: int
    column: int
    path: str
    how: How
    certain: bool = True
    origin: int = 0
    text: str = ""
    named: bool = True
    handles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """What one change means for one module.

    ``file`` is the file that the lines are of, ``lines`` where the changed element is used, ``related`` other lines
    that belong to it. ``path`` is that of the change, ``step`` its from->to.
    """

    module: str
    file: str
    verdict: Verdict
    because: str
    change: Change
    role: Role = "unknown"
    lines: tuple[int, ...] = ()
    related: tuple[int, ...] = ()
    proof: Proof = "static"
    witness: Witness | None = None
    decision: str = ""
    notice: bool = False

    @property
    def id(self) -> str:
        """``module path kind from->to``: never a line or a file's path, so that code can move."""
        return f"{self.module} {self.change.id}"


@dataclass(frozen=True, slots=True)
class ModuleVerdict:
    """The verdict on one module (or on one file of it): the worst of its findings, and these."""

    module: str
    file: str
    verdict: Verdict
    because: str
    lines: tuple[int, ...] = ()
    related: tuple[int, ...] = ()
    proof: Proof = "static"
    role: Role = "unknown"
    owner: str = ""
    witness: Witness | None = None
    findings: tuple[Finding, ...] = ()

    @property
    def changes(self) -> tuple[str, ...]:
        """The ids of the changes that the verdict rests on."""
        return tuple(finding.change.id for finding in self.findings)


_PLAIN = re.compile(r"[^\s()]{1,64}")


def step_text(value: Value) -> str:
    """A value as it stands in ``from->to``: itself, or ``#`` and 8 hex digits where it is long or has white space."""
    text = value_text(value)
    if _PLAIN.fullmatch(text) and "->" not in text:
        return text
    return "#" + hashlib.sha256(text.encode()).hexdigest()[:8]


def value_text(value: Value) -> str:
    """A value as a reader likes it: ``true``, ``3``, ``EUR,USD``; ``none`` where there is none."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return ",".join(value_text(item) for item in value)
    return repr(value) if isinstance(value, float) else str(value)
