"""What each id that a user meets means, and what to do about it.

Our rule ids, and the reasons of services, are in ``ids`` (tests check that every one in the source is). The words of
the vocabulary are explained from contract.proto, rules of buf.validate from the installed validate.proto. Diagnostics
and the like come from compiler and gate through the entry points of the group ``protocontract.explanations``, each a
mapping from id to meaning.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.metadata import entry_points
from typing import Any, Final

from protocontract.ids import REASONS, RULES

GROUP: Final = "protocontract.explanations"


@dataclass(frozen=True, slots=True)
class Explanation:
    """``kind`` says what sort of id it is; ``fix`` is what usually helps, or empty."""

    id: str
    kind: str
    meaning: str
    fix: str = ""


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
