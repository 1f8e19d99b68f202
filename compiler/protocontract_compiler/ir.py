"""The intermediate representation: a schema as the emitters see it.

Frozen data, no behaviour beyond look-ups. Nothing here imports protobuf or any other module of ours but the CEL trees:
an emitter needs this module and the names and writer of ``emit`` and nothing else. DESIGN.md documents the phases;
``ir_dump`` prints the canonical text that fingerprints are taken of.

Descriptor reading (``descriptors``) builds the schema without rules; ``passes`` fill in what is derived: the lowered
buf.validate rules, the annotations, error codes, promises and the plan.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum as PyEnum
from typing import Any, Final, Literal, TypeAlias

from protocontract_compiler.ir_cel import Program

# Values of google.protobuf.FieldDescriptorProto.Type, which field paths of violations carry.
TYPE_DOUBLE, TYPE_FLOAT, TYPE_INT64, TYPE_UINT64, TYPE_INT32, TYPE_FIXED64, TYPE_FIXED32, TYPE_BOOL = range(1, 9)
TYPE_STRING, TYPE_GROUP, TYPE_MESSAGE, TYPE_BYTES, TYPE_UINT32, TYPE_ENUM = range(9, 15)
TYPE_SFIXED32, TYPE_SFIXED64, TYPE_SINT32, TYPE_SINT64 = range(15, 19)

INTEGER_TYPES = frozenset(
    {
        TYPE_INT64, TYPE_UINT64, TYPE_INT32, TYPE_FIXED64, TYPE_FIXED32, TYPE_UINT32,
        TYPE_SFIXED32, TYPE_SFIXED64, TYPE_SINT32, TYPE_SINT64,
    }
)  # fmt: skip
FLOAT_TYPES = frozenset({TYPE_DOUBLE, TYPE_FLOAT})
MESSAGE_TYPES = frozenset({TYPE_GROUP, TYPE_MESSAGE})

# The wrapper messages whose rules apply to the value that they wrap.
WRAPPERS = frozenset(
    f"google.protobuf.{name}Value"
    for name in ("Double", "Float", "Int64", "UInt64", "Int32", "UInt32", "Bool", "String", "Bytes")
)

OptionValue: TypeAlias = (
    "bool | int | float | str | tuple[OptionValue, ...] | tuple[tuple[str, OptionValue], ...] | None"
)


Options: TypeAlias = tuple[tuple[str, OptionValue], ...]


def keywords(options: Options) -> dict[str, Any]:
    """Options as keyword arguments: pairs become dicts, lists stay tuples.

    A tuple is a mapping when all of its items are pairs that begin with a string and it is not empty; no option of the
    vocabulary is a list of such pairs.
    """
    return {name: _plain(value) for name, value in options}


def _plain(value: OptionValue) -> Any:
    if not isinstance(value, tuple):
        return value
    pairs = [item for item in value if isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], str)]
    if value and len(pairs) == len(value):
        return {str(key): _plain(item) for key, item in pairs}
    return tuple(_plain(item) for item in value)


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a source file. Lines and columns count from 1; 0 means unknown.

    ``inside`` is the path inside the option that starts there (``money.currency_field``), where neither the front end
    nor the source told the place more exactly.
    """

    file: str
    line: int = 0
    column: int = 0
    inside: str = ""


class Shape(PyEnum):
    """How many values a field holds."""

    SINGULAR = "singular"
    REPEATED = "repeated"
    MAP = "map"


# ----------------------------------------------------------------------------------------------------------------------
# buf.validate, lowered


@dataclass(frozen=True, slots=True)
class PathElement:
    """A step of a rule path that names alone cannot express: an extension field of a rules message."""

    number: int
    name: str
    type: int


@dataclass(frozen=True, slots=True)
class Check:
    """One rule that can be broken: at most one violation a value.

    ``rule_path`` is the rule's place in FieldRules or MessageRules (``string.min_len``, ``cel[1]``); a predefined
    rule of the user's ends in an extension, given as PathElement after the textual part.
    """

    rule_id: str
    message: str
    rule_path: str
    program: Program | None = None
    # Rules that the engine decides itself. `values` are their constants: enum numbers, type URLs, field names.
    native: Literal["enum_defined_only", "any_in", "any_not_in"] | None = None
    values: tuple[int | str, ...] = ()
    extension: PathElement | None = None
    # The CEL text, where the rule has no id of its own (cel_expression).
    source: str = ""
    place: Place = Place("")


Ignore: TypeAlias = Literal["unspecified", "if_zero_value", "always"]


@dataclass(frozen=True, slots=True)
class ValueRules:
    """The buf.validate rules of a field, or of the items, keys or values of one.

    ``checks`` are in the order in which protovalidate evaluates them. ``rule_prefix`` is the rule path up to here:
    empty for a field, ``repeated.items`` for its items.
    """

    required: bool = False
    ignore: Ignore = "unspecified"
    checks: tuple[Check, ...] = ()
    items: ValueRules | None = None
    keys: ValueRules | None = None
    values: ValueRules | None = None
    rule_prefix: str = ""
    place: Place = Place("")


@dataclass(frozen=True, slots=True)
class OneofRule:
    """``(buf.validate.message).oneof``: at most one, or exactly one, of the fields is set."""

    fields: tuple[str, ...]
    required: bool
    place: Place = Place("")


@dataclass(frozen=True, slots=True)
class MessageRules:
    """Rules of a whole message: CEL in protovalidate's order, then the oneofs."""

    checks: tuple[Check, ...] = ()
    oneofs: tuple[OneofRule, ...] = ()


# ----------------------------------------------------------------------------------------------------------------------
# The vocabulary, read


@dataclass(frozen=True, slots=True)
class Normalizer:
    """A normalizer word with its options under the names of the Python function that it configures.

    ``options`` are constants (enum values in lower case, unset options left out). ``target`` is the sibling that
    receives what does not fit the field: currency_field, instant_field, value_field.
    """

    kind: Literal["text", "money", "instant", "quantity", "label", "scalar"]
    options: tuple[tuple[str, OptionValue], ...] = ()
    target: str | None = None
    place: Place = Place("")


RelationKind: TypeAlias = Literal["spans", "sequence", "graph", "tensor"]

#: Options of relations that name fields, or that say how batches are made: emitters compile them into code, and pass
#: the others to the function that checks.
COMPILED_OPTIONS: Final[Mapping[str, frozenset[str]]] = {
    "spans": frozenset({"text", "start", "end", "surface"}),
    "sequence": frozenset({"same_length_as"}),
    "graph": frozenset({"id", "parents"}),
    "tensor": frozenset({"name", "shape_field", "pad", "truncate"}),
}


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation word with its options. Names of fields stay names: of siblings, or of fields of the item."""

    kind: RelationKind
    options: tuple[tuple[str, OptionValue], ...] = ()
    place: Place = Place("")

    def option(self, name: str, default: OptionValue = None) -> OptionValue:
        """The option's value, or ``default`` where the contract does not set it."""
        return dict(self.options).get(name, default)

    @property
    def passed(self) -> Options:
        """The options that the function takes which checks the relation."""
        return tuple((name, value) for name, value in self.options if name not in COMPILED_OPTIONS[self.kind])


@dataclass(frozen=True, slots=True)
class Governance:
    """The words that say who sees a value, who must know it and how a violation of it is classed."""

    sensitive: bool = False
    severities: tuple[tuple[str, Literal["ERROR", "WARNING"]], ...] = ()
    error_class: tuple[str, str] | None = None
    since: str = ""
    sunset: str = ""
    renamed_from: str = ""
    unit: str = ""
    currency: str = ""
    minor_digits: int | None = None
    acknowledge: bool = False
    error_codes: tuple[tuple[str, int], ...] = ()
    # Rule id -> the contexts in which it applies; a rule that is not named applies in all.
    contexts: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class StreamLevel:
    """What a stream promises. Durations in nanoseconds; None where nothing is promised."""

    compliance: float | None = None
    latency: int | None = None
    frequency: int | None = None
    throughput: float | None = None
    error_rate: float | None = None
    window: int | None = None
    minimum_records: int | None = None


@dataclass(frozen=True, slots=True)
class ContractOptions:
    """``(protocontract.v1.contract)`` of a message."""

    version: str = ""
    owner: str = ""
    topic: str = ""
    dead_letter_topic: str = ""
    key_field: str = ""
    event_time: str = ""
    level: StreamLevel | None = None
    on_breach: Literal["ALERT", "HALT"] = "ALERT"
    acknowledge_new_fields: bool = False
    # As Governance.contexts, for the rules of the message itself.
    contexts: tuple[tuple[str, tuple[str, ...]], ...] = ()
    place: Place = Place("")


@dataclass(frozen=True, slots=True)
class Promise:
    """One line of what a message guarantees: a field (or the message, with an empty path) and its rules in prose.

    ``path`` has ``[]`` for each repeated field or map on the way: ``entities[].label``. ``rule_ids`` are the ids of all
    violations that break it. ``of_message``: it is of the message at the path as a whole, or of a oneof.
    """

    path: str
    text: str
    rule_ids: tuple[str, ...] = ()
    of_message: bool = False


# ----------------------------------------------------------------------------------------------------------------------
# What documents tell of a contract besides its rules

Said: TypeAlias = tuple[tuple[str, str], ...]
"""A text in each language: pairs of language and text."""


@dataclass(frozen=True, slots=True)
class Example:
    """A record that the contract accepts (``kept``), changes (``cleaned``) or refuses (``refused``).

    ``sent`` is what stands at ``path``, or the whole record where the path is empty; ``becomes`` what a normalizer made
    of it. ``says`` is the violation's message and ``code`` its error code; ``alone``: it is the only rule that the
    record breaks. ``record`` is the whole message, which nobody is shown.
    """

    kind: Literal["kept", "cleaned", "refused"]
    path: str
    rule_id: str
    code: int
    sent: Said
    becomes: Said = ()
    says: Said = ()
    record: bytes = b""
    alone: bool = True


@dataclass(frozen=True, slots=True)
class Consumer:
    """A module that uses a contract. ``uses`` are the elements that it uses, besides the contract as a whole;
    ``is_recorded``: its locks say so.
    """

    module: str
    owner: str = ""
    role: str = "unknown"
    languages: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    is_recorded: bool = False


@dataclass(frozen=True, slots=True)
class VersionChange:
    """A change between two versions: where, in which direction (``breaking`` to ``neutral``), and what, in words."""

    path: str
    direction: str
    text: str


@dataclass(frozen=True, slots=True)
class Version:
    """A version that a contract had. ``date`` is the day (YYYY-MM-DD) on which it was recorded."""

    version: str
    date: str
    changes: tuple[VersionChange, ...] = ()
    fingerprint: str = ""


@dataclass(frozen=True, slots=True)
class Dossier:
    """What is known of a contract besides its rules. ``history`` has the newest version first."""

    examples: tuple[Example, ...] = ()
    consumers: tuple[Consumer, ...] = ()
    history: tuple[Version, ...] = ()


# ----------------------------------------------------------------------------------------------------------------------
# Schema


@dataclass(frozen=True, slots=True)
class EnumValue:
    """A value of an enum, with what `(protocontract.v1.value)` says of it."""

    name: str
    number: int
    code: str = ""
    aliases: tuple[str, ...] = ()
    class_index: int | None = None


@dataclass(frozen=True, slots=True)
class Enum:
    """An enum. ``closed`` enums of proto2 keep unknown numbers out of the field."""

    full_name: str
    values: tuple[EnumValue, ...]
    closed: bool
    file: str
    place: Place = Place("")


@dataclass(frozen=True, slots=True)
class Field:
    """A field. For a map, ``key`` and ``value`` are the fields of its entry; ``type`` is TYPE_MESSAGE."""

    name: str
    number: int
    type: int
    shape: Shape
    has_presence: bool
    json_name: str
    message: str | None = None
    enum: str | None = None
    oneof: str | None = None
    key: Field | None = None
    value: Field | None = None
    default: bool | int | float | str | bytes | None = None
    rules: ValueRules | None = None
    normalizer: Normalizer | None = None
    relations: tuple[Relation, ...] = ()
    governance: Governance = field(default_factory=Governance)
    # `required` of proto2, `field_presence = LEGACY_REQUIRED` of editions: not the rule of that name.
    legacy_required: bool = False
    # The buf.validate options in canonical text (descriptors/canonical.py): what fingerprints are taken of.
    rule_source: str = ""
    comment: str = ""
    place: Place = Place("")

    @property
    def is_message(self) -> bool:
        """Whether the field, or each of its items or map values, is a message."""
        element = self.value if self.value is not None else self
        return element.type in MESSAGE_TYPES

    @property
    def element_message(self) -> str | None:
        """Full name of the message in the field, its items or its map values."""
        return self.value.message if self.value is not None else self.message


@dataclass(frozen=True, slots=True)
class Oneof:
    """A oneof of the .proto (synthetic ones of `optional` are no oneofs here)."""

    name: str
    fields: tuple[str, ...]
    required: bool = False
    rule_source: str = ""
    place: Place = Place("")


@dataclass(frozen=True, slots=True)
class Message:
    """A message. ``python_path`` is its class within the pb2 module: ``Outer.Inner``.

    ``delegated`` says why this message's buf.validate rules are left to protovalidate: a rule that cannot be translated
    exactly. None where all are compiled.
    """

    full_name: str
    python_path: str
    file: str
    fields: tuple[Field, ...]
    oneofs: tuple[Oneof, ...] = ()
    contract: ContractOptions | None = None
    rules: MessageRules = MessageRules()
    delegated: str | None = None
    promises: tuple[Promise, ...] = ()
    rule_source: str = ""
    comment: str = ""
    place: Place = Place("")

    def field(self, name: str) -> Field:
        """The field of that name. Raises KeyError."""
        for candidate in self.fields:
            if candidate.name == name:
                return candidate
        raise KeyError(name)


@dataclass(frozen=True, slots=True)
class Method:
    """An RPC. ``level`` holds `(protocontract.v1.service_level)` as nested option pairs."""

    name: str
    request: str
    response: str
    client_streaming: bool
    server_streaming: bool
    level: tuple[tuple[str, OptionValue], ...] | None = None
    place: Place = Place("")


@dataclass(frozen=True, slots=True)
class Service:
    """A service."""

    full_name: str
    file: str
    methods: tuple[Method, ...]


@dataclass(frozen=True, slots=True)
class File:
    """A .proto file: names of what it declares, in order of declaration. ``requested``: code is to be generated."""

    name: str
    package: str
    requested: bool
    dependencies: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()
    enums: tuple[str, ...] = ()
    services: tuple[str, ...] = ()
    # Over the fingerprints of the file's messages; set once all rules are known.
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class Schema:
    """All files of a request, by name. Messages include nested ones, not map entries."""

    files: Mapping[str, File]
    messages: Mapping[str, Message]
    enums: Mapping[str, Enum]
    services: Mapping[str, Service] = field(default_factory=dict)
    #: By full name of message or service; only for the targets that show them.
    dossiers: Mapping[str, Dossier] = field(default_factory=dict)

    def requested_messages(self) -> list[Message]:
        """Messages of the files to generate, in order of declaration."""
        return [self.messages[name] for file in self.files.values() if file.requested for name in file.messages]
