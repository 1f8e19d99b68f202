"""What each id that a user meets means, and what to do about it.

Our rule ids, and the reasons of services, are in the tables below (tests check that every one in the source is). The
words of the vocabulary are explained from contract.proto, rules of buf.validate from the installed validate.proto.
Diagnostics and the like come from compiler and gate through the entry points of the group
``protocontract.explanations``, each a mapping from id to meaning.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.metadata import entry_points
from typing import Any, Final

GROUP: Final = "protocontract.explanations"


@dataclass(frozen=True, slots=True)
class Explanation:
    """``kind`` says what sort of id it is; ``fix`` is what usually helps, or empty."""

    id: str
    kind: str
    meaning: str
    fix: str = ""


# id: (meaning, what helps)
RULES: Final[dict[str, tuple[str, str]]] = {
    "money.syntax": ("the text is no amount of money", "send a number with at most one currency"),
    "money.currency": (
        "the currency is missing, unknown, or not one that the contract allows",
        "send an ISO 4217 code that `money.allowed` lists, or declare `money.default_currency`",
    ),
    "money.ambiguous": (
        "the amount can be read in two ways: 1.234 is one thousand or a little more than one",
        "send both marks (1.234,00) or none, or declare `money.locale` or `money.decimal` for the field",
    ),
    "money.scale": (
        "the amount has digits beyond the currency's minor unit",
        "send as many digits as the currency has, or declare `money.scale`",
    ),
    "instant.syntax": ("the text is no moment that can be read", "send RFC 3339: 2026-03-09T08:00:00+08:00"),
    "instant.ambiguous": (
        "day and month, or the century, can be read in two ways",
        "send year first, or declare `instant.order`",
    ),
    "instant.zone": (
        "the moment names no zone, or one that is unknown",
        "send an offset, or declare `instant.zone`",
    ),
    "instant.gap": ("the local time never was: a clock change skips it", "send an offset, or declare `instant.gap`"),
    "instant.fold": (
        "the local time was twice: a clock change repeats it",
        "send an offset, or declare `instant.fold`",
    ),
    "instant.range": ("the moment is outside of what the contract allows", "see `instant.min` and `instant.max`"),
    "quantity.syntax": ("the text is no quantity", "send a number and a unit"),
    "quantity.unit": (
        "the unit is unknown, ambiguous, or not one that the contract allows",
        "send a unit that `quantity.allowed` lists",
    ),
    "quantity.dimension": ("the unit measures something else", "send a unit of the dimension of `quantity.unit`"),
    "quantity.ambiguous": (
        "the number can be read in two ways",
        "send both marks or none, or declare `quantity.locale` or `quantity.decimal`",
    ),
    "quantity.scale": (
        "the converted number has more digits than the field may hold",
        "declare `quantity.scale` to round",
    ),
    "quantity.range": ("the converted number does not fit the field's type", "use a wider type"),
    "label.unknown": (
        "the label is none of the declared ones",
        "send a declared label, or add an alias to `label.aliases`",
    ),
    "text.type": ("the value is no text", "send a string"),
    "text.surrogate": ("the text holds half of a surrogate pair", "send well-formed UTF-8"),
    "text.nul": ("the text holds U+0000", "remove it before sending"),
    "text.control": ("the text holds control characters", "remove them, or declare `text.strip_controls`"),
    "text.replacement": (
        "the text holds U+FFFD: it was damaged before it came",
        "decode with the right encoding where the text is first read",
    ),
    "text.noncharacter": ("the text holds code points that are no characters", "remove them before sending"),
    "text.bidi": (
        "the text holds controls of the writing direction, which can hide what it says",
        "remove U+202A to U+202E and U+2066 to U+2069",
    ),
    "text.private_use": ("the text holds private-use characters", "send characters that Unicode assigns"),
    "text.tag": ("the text holds invisible tag characters", "remove U+E0000 to U+E007F"),
    "text.mojibake": (
        "the text looks decoded with the wrong encoding",
        "decode with the right encoding where the text is first read",
    ),
    "text.markup": ("the text holds markup that never ends", "close the markup, or send plain text"),
    "text.empty": ("nothing is left of the text", "send a text"),
    "text.amount": (
        "an amount inside of the text is ambiguous; it stays as it was",
        "send both marks or none, or declare `text.amounts.locale`",
    ),
    "scalar.syntax": ("the text is no number or bool", "send one"),
    "scalar.type": ("the JSON value is of another type than the field", "send the field's type"),
    "scalar.range": ("the number does not fit the field's type", "send a smaller number, or widen the field"),
    "scalar.finite": ("NaN or infinity", "send a finite number, or declare `scalar.finite: false`"),
    "scalar.inexact": (
        "the field's type cannot hold the number exactly",
        "send a number that fits, or widen the field",
    ),
    "scalar.enum": ("the enum has no such value", "send a declared name or number"),
    "scalar.duplicate": ("a JSON object names a field twice", "send each field once"),
    "scalar.required": ("a JSON object lacks a required field", "send it"),
    "scalar.unknown_field": (
        "a JSON object holds a field that the contract does not know",
        "remove it, or use a newer contract",
    ),
    "spans.order": ("a span ends before it starts, or spans are out of order", "sort them; start <= end"),
    "spans.bounds": ("a span points outside of the text", "check the unit: code points, bytes or UTF-16"),
    "spans.boundary": ("a span cuts a character in two", "check the unit: code points, bytes or UTF-16"),
    "spans.surface": (
        "a span's text is not the slice that it points to",
        "offsets and text have come apart: annotate again",
    ),
    "spans.overlap": ("spans overlap", "see `spans.allow_overlap` and `spans.allow_nesting`"),
    "spans.empty": ("a span is empty", "remove it, or declare `spans.allow_empty`"),
    "spans.edge": ("a span begins or ends with white space", "move its ends inwards"),
    "spans.lost": (
        "normalising the text left a span without an exact place",
        "end spans on character boundaries that normalising keeps",
    ),
    "sequence.step": (
        "the numbers do not follow the declared law",
        "see `sequence.first`, `step`, `strictly_increasing`",
    ),
    "sequence.length": ("the list is not as long as its sibling", "send both with the same length"),
    "graph.cycle": ("an item is its own ancestor", "remove one edge of the cycle"),
    "graph.missing": ("a parent is not among the items", "send it, or do not declare `graph.closed`"),
    "graph.duplicate": ("two items have the same identity", "send each once"),
    "tensor.dtype": ("the elements are of another type", "convert to the declared dtype"),
    "tensor.shape": ("the shape is not the declared one", "see `tensor.dims`; equal names must have equal sizes"),
    "tensor.size": (
        "the bytes are no whole number of elements, or not as many as the shape says",
        "send the whole tensor",
    ),
    "tensor.finite": ("an element is NaN or infinite", "find the layer that overflows"),
    "tensor.range": ("an element is outside of the declared bounds", "see `tensor.min` and `tensor.max`"),
    "tensor.norm": ("the vector does not have the declared length", "normalise it before sending"),
    "key.mismatch": ("the record's key is not the value of the contract's key_field", "produce with that field as key"),
    "wire.malformed": (
        "the bytes are no message of this type",
        "check the topic, the encoding and the producer's schema",
    ),
    "schema.unknown": (
        "the schema registry does not have the schema that the record names",
        "register the schema before records are written with it; then replay the dead letters",
    ),
    "schema.type": ("the schema that the record names is not a protobuf schema", "write the topic in protobuf only"),
    "schema.message": (
        "the record is of another message than the contract's, by its schema or by its message indexes",
        "write each message to a topic of its own, or guard the topic with the right contract",
    ),
    "schema.incompatible": (
        "the schema that the record was written with contradicts the contract: a number means another field or type",
        "give changed fields new numbers, and reserve the old ones in the contract",
    ),
    "schema.unusable": (
        "the schema that the record names cannot be read: its source does not compile, or an import is missing",
        "register the schema again with all that it refers to",
    ),
    "wire.framing": (
        "the bytes do not begin as their encoding demands (Confluent: 0x00, schema id, message indexes)",
        "check --encoding: protobuf, confluent or json",
    ),
    "wire.truncated": ("the file ends inside of a record", "copy it again"),
    "wire.duplicate": ("a field that may be set once is set twice", "send it once"),
    "wire.null": ("there is no value", "send a message; Kafka reads a null value as a deletion"),
    "wire.oneof": ("two members of a oneof are set", "send one"),
    "wire.size": ("the record is larger than what is read", "split it"),
    "wire.tombstone": ("a record without a value came where none may be deleted", "see Guard(tombstones=...)"),
    "wire.unknown_field": ("the record holds a field that the contract does not know", "use a newer contract"),
    "rule.evaluation": (
        "a CEL rule has no result on this message: a division by zero, an overflow, an index outside of the list",
        "guard the expression: has(), size(), ternaries",
    ),
    "handler.rejected": (
        "your code rejected the record: record.reject(reason)",
        "the reason is in the dead letter's headers",
    ),
    "handler.failed": (
        'your handler raised on every attempt, and on_failure is "dead_letter"',
        "fix the handler, then replay the dead letter",
    ),
    "sink.too_large": (
        "the sink refused a good record for its size, and --sink-too-large is dead_letter",
        "raise max.message.bytes of the sink, then replay the dead letter",
    ),
    "operator.skipped": (
        "an operator let the guard pass over the record: protocontract guard skip",
        "the reason and who gave it are in the dead letter's headers; replay it, or fix it with dead-letter edit",
    ),
}


# Reasons in the google.rpc.ErrorInfo of a refused call, where that is not a rule of its message. (meaning, what helps)
REASONS: Final[dict[str, tuple[str, str]]] = {
    "BAD_OUTPUT": ("the model's outputs break their contract", "compare model and contract: protocontract model check"),
    "BATCH_TOO_LARGE": ("the request has more rows than a batch may have", "send fewer, or raise `batch.max_size`"),
    "DEADLINE": ("the call was not answered in time", "give it more time, up to `max_deadline`, or send less"),
    "DEPLOYMENT_FAILED": ("this version is declared, but could not be loaded", "the service's log says how"),
    "DRAINING": ("the service stops and takes no more calls", "send it to another instance"),
    "EVIDENCE": (
        "the evidence cannot be written, and `evidence: REQUIRED` demands it",
        "see the disk of the evidence log",
    ),
    "KSERVE": (
        "the call is none that KServe's protocol v2 knows",
        "see the message; docs/kserve.md says what passes",
    ),
    "MODEL_FAILED": ("the model failed on the request", "the service's log says how"),
    "NO_INPUT": ("none of the inputs is set", "set one of them"),
    "NOT_READY": ("the models are still being loaded", "wait until the service is ready"),
    "QUEUE_FULL": ("as many calls wait as may", "try again later, or raise `queue`"),
    "RATE_LIMIT": ("more calls came than `rate` allows", "send fewer a second, or raise `rate`"),
    "REQUEST_TOO_LARGE": ("the request is larger than `max_request_bytes`", "send less, or raise the bound"),
    "RESPONSE_TOO_LARGE": ("the response is larger than its caller takes", "ask for less, or raise the bound"),
    "SERVICE_FAILED": ("the service itself failed", "its log says how"),
    "SEVERAL_INPUTS": ("more than one of the inputs is set", "set one of them"),
    "STEP_FAILED": ("a step before or after the model failed", "the service's log says how"),
    "UNKNOWN_MODEL": ("the service has no model of that name", "ask for one that it lists"),
    "UPSTREAM": ("the server behind this one refused the call, or did not answer", "see that server"),
    "VERSION_MISMATCH": (
        "another version of the model is there than was asked for",
        "ask for one that is served, or for none",
    ),
    "WRONG_INPUT": ("no inputs of the model can be made of a valid request", "the message says what the model lacks"),
    "WRONG_ROWS": ("the model gave another number of rows than it was asked for", "see the model: its batch axis"),
}


def explain(name: str, language: str = "en") -> Explanation | None:
    """What an id means: a rule of ours or of buf.validate, a diagnostic, an option, a service's reason.

    ``language`` is a tag as in ``translations.catalogue``; of rules there is Chinese, of all else English. None where
    nobody knows the id.
    """
    found = _explain(name)
    return None if found is None else _in_language(found, language)


def _explain(name: str) -> Explanation | None:
    if name in RULES:
        meaning, fix = RULES[name]
        return Explanation(name, "rule of protocontract", meaning, fix)
    if name in REASONS:
        meaning, fix = REASONS[name]
        return Explanation(name, "reason of a service", meaning, fix)
    rule_id = _of_reason(name)
    if rule_id is not None:
        return _explain(rule_id)
    for point in entry_points(group=GROUP):
        meanings: Any = point.load()
        if name in meanings:
            return Explanation(name, f"diagnostic of {point.name}", meanings[name])
    return _options().get(name) or _buf_rules().get(name) or _word(name)


def _of_reason(name: str) -> str | None:
    """The rule whose id a service's reason is, in capitals: STRING_MIN_LEN."""
    if name != name.upper():
        return None
    return next((known for known in (*RULES, *_buf_rules()) if known.replace(".", "_").upper() == name), None)


def _in_language(found: Explanation, language: str) -> Explanation:
    """The explanation of a rule in another language; where there is none, as it is."""
    from protocontract.translations import catalogue

    texts = catalogue(language)
    if texts is None or found.kind not in _KINDS:
        return found
    from protocontract.translations.zh_remedies import REMEDIES

    # What a rule of buf.validate is bound to in a contract is not known here.
    meaning = re.sub(r"\{\d\}", "…", texts.gettext(found.id))
    meaning = found.meaning if meaning == found.id else meaning
    return Explanation(found.id, _KINDS[found.kind], meaning, REMEDIES.get(found.id, found.fix))


_KINDS: Final = {"rule of protocontract": "protocontract 规则", "rule of buf.validate": "buf.validate 规则"}


def known_ids() -> list[str]:
    """Every id that ``explain`` knows."""
    found = [*RULES, *REASONS, *_options(), *_buf_rules()]
    for point in entry_points(group=GROUP):
        found += point.load()
    return sorted(set(found))


def _word(name: str) -> Explanation | None:
    """An option as it stands in a contract, without the word that it belongs to: ``trim``, ``default_currency``."""
    found = [option for key, option in _options().items() if key.endswith(f".{name}")]
    if len({option.meaning for option in found}) < 2:
        # `amounts` inside of text has the options of `money`, which comes after it.
        return found[-1] if found else None
    return Explanation(name, "option", "of several words", f"explain {' or '.join(option.id for option in found)}")


@cache
def _options() -> dict[str, Explanation]:
    """The words of the vocabulary: ``money``, ``money.scale``, ``contract.event_time``, ``level.window``."""
    from protocontract.v1 import contract_pb2

    notes = _notes()
    found: dict[str, Explanation] = {}

    def walk(message: Any, prefix: str, kind: str) -> None:
        for field in message.fields:
            name = f"{prefix}.{field.name}" if prefix else field.name
            note = notes.get((message.name, field.name), "")
            meaning = f"{note} ({_shape(field)})" if note else _shape(field)
            found.setdefault(name, Explanation(name, kind, meaning))
            inner = field.message_type
            if inner is not None and inner.file == message.file and not inner.GetOptions().map_entry:
                walk(inner, field.name, f"option of `{field.name}`")

    for name, word in (
        ("Field", ""),
        ("Contract", "contract"),
        ("ServiceLevel", "service_level"),
        ("EnumValue", "value"),
    ):
        described = contract_pb2.DESCRIPTOR.message_types_by_name[name]
        walk(described, word, f"option of (protocontract.v1.{word or 'field'})")
    return found


def _shape(field: Any) -> str:
    """What is written for an option: ``one of STRICT, LENIENT``, ``a list of texts``, ``its options: ...``."""
    from protocontract.wire_json import repeated

    entry = field.message_type
    if entry is not None and entry.GetOptions().map_entry:
        return "a map"
    if entry is not None:
        if entry.full_name == "google.protobuf.Duration":
            return "a duration: {seconds: 60}"
        return f"its options: {', '.join(inner.name for inner in entry.fields)}"
    if field.enum_type is not None:
        values = ", ".join(value.name for value in field.enum_type.values if value.number)
        return f"any of {values}" if repeated(field) else f"one of {values}"
    kind = {field.CPPTYPE_STRING: "text", field.CPPTYPE_BOOL: "true or false"}.get(field.cpp_type, "number")
    if repeated(field):
        return f"a list of {kind}s"
    return kind if kind == "true or false" else f"a {kind}"


@cache
def _notes() -> dict[tuple[str, str], str]:
    """The comments of contract.proto, by message and field; empty where the installation has no source of it."""
    source = resources.files("protocontract").joinpath("v1", "contract.proto")
    if not source.is_file():
        return {}
    found: dict[tuple[str, str], str] = {}
    message, comment = "", []
    for line in source.read_text(encoding="utf-8").splitlines():
        text = line.strip()
        if text.startswith("//"):
            comment.append(text.removeprefix("//").strip())
            continue
        opened = re.match(r"message (\w+)", text)
        field = re.match(r"(?:optional |repeated )?[\w.<>, ]+ (\w+) = \d+[^;]*;\s*(?://\s*(.*))?$", text)
        if opened:
            message = opened[1]
        elif field and not text.startswith("option "):
            found.setdefault((message, field[1]), " ".join(comment) or field[2] or "")
        comment = []
    return found


@cache
def _buf_rules() -> dict[str, Explanation]:
    """The standard rules, read from the validate.proto of the installed protovalidate."""
    import protovalidate
    from google.protobuf import descriptor_pb2, duration_pb2, field_mask_pb2, message_factory, timestamp_pb2
    from google.protobuf.descriptor_pool import DescriptorPool

    from protocontract.translations.en import TEMPLATES

    pool = DescriptorPool()
    for module in (descriptor_pb2, duration_pb2, field_mask_pb2, timestamp_pb2):
        pool.AddSerializedFile(module.DESCRIPTOR.serialized_pb)
    file = descriptor_pb2.FileDescriptorProto.FromString(protovalidate.ViolationPb.desc().file.proto.to_binary())
    pool.AddSerializedFile(file.SerializeToString())
    options_type = message_factory.GetMessageClass(pool.FindMessageTypeByName("google.protobuf.FieldOptions"))
    extension = pool.FindExtensionByName("buf.validate.predefined")
    found = {
        "required": Explanation(
            "required", "rule of buf.validate", "the field must be set", "(buf.validate.field).required; set it"
        ),
        "message.oneof": Explanation(
            "message.oneof", "rule of buf.validate", "too many fields of a group are set, or none",
            "(buf.validate.message).oneof; set one of them",
        ),
        "enum.defined_only": Explanation(
            "enum.defined_only", "rule of buf.validate", "the number is none of the enum's values",
            "(buf.validate.field).enum.defined_only; send a declared value",
        ),
    }  # fmt: skip
    for message in file.message_type:
        word = message.name.removesuffix("Rules").lower()
        for field in message.field:
            options: Any = options_type.FromString(field.options.SerializeToString())
            for rule in options.Extensions[extension].cel:
                # A message that names the rule's constants is put together by its CEL.
                template = TEMPLATES.get(rule.id, {}).get(rule.id, "").replace("{}", "…")
                meaning = rule.message or template or f"{word} rule `{field.name}`"
                place = f"(buf.validate.field).{rule.id.partition('.')[0]}.{field.name}"
                found.setdefault(
                    rule.id,
                    Explanation(
                        rule.id, "rule of buf.validate", meaning, f"{place}, defined as: {_one_line(rule.expression)}"
                    ),
                )
    return found


def _one_line(expression: str) -> str:
    return " ".join(expression.split())
