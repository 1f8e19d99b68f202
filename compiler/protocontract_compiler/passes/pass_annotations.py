"""Reads the vocabulary: options of protocontract.v1 become normalizers, relations, governance, levels.

Options keep their names; enum values become lower case, durations nanoseconds, maps sorted pairs. What is not set is
left out, but where contract.proto gives unset a meaning ("As STRICT"), that meaning is written down: so a default that
is spelled out and one that is not give the same contract.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, get_args

from google.protobuf.descriptor import Descriptor, FieldDescriptor, MethodDescriptor
from google.protobuf.message import Message

from protocontract_compiler import ir
from protocontract_compiler.descriptors import Loaded

FIELD = "protocontract.v1.field"
CONTRACT = "protocontract.v1.contract"
SERVICE_LEVEL = "protocontract.v1.service_level"
VALUE = "protocontract.v1.value"

RELATIONS: tuple[ir.RelationKind, ...] = get_args(ir.RelationKind)

# The sibling that a normalizer writes; no option of its Python function.
TARGETS = {"money": "currency_field", "instant": "instant_field", "quantity": "value_field"}

# "As X" of contract.proto, by message.
_DEFAULTS: dict[str, dict[str, ir.OptionValue]] = {
    "Money": {"policy": "strict", "scale": "currency"},
    "Quantity": {"policy": "strict"},
    "Scalar": {"quoted_numbers": True, "finite": True},
    "Spans": {"unit": "code_point", "order": "any"},
    "Pad": {"value": 0.0, "side": "right"},
    "Norm": {"value": 0.0, "tolerance": 0.0},
    "ServiceLevel": {"evidence": "off"},
    "Retry": {"codes": ("UNAVAILABLE",)},
}
# The names of enum values that are not the lower case of the .proto: ANY_ORDER carries its suffix only because ANY is
# taken in its scope, and orders of dates are written in capitals everywhere.
_ENUM_NAMES = {"ANY_ORDER": "any", "DMY": "DMY", "MDY": "MDY"}


def annotate(loaded: Loaded, schema: ir.Schema) -> ir.Schema:
    """The schema with all annotations of its messages, enums and services."""
    return replace(
        schema,
        messages={name: _message(loaded, message) for name, message in schema.messages.items()},
        enums={name: _enum(loaded, enum) for name, enum in schema.enums.items()},
        services={name: _service(loaded, service) for name, service in schema.services.items()},
    )


def _message(loaded: Loaded, message: ir.Message) -> ir.Message:
    descriptor = loaded.pool.FindMessageTypeByName(message.full_name)
    return replace(
        message,
        contract=_contract(loaded, descriptor),
        fields=tuple(_field(loaded, field, descriptor.fields_by_name[field.name]) for field in message.fields),
    )


def _contract(loaded: Loaded, descriptor: Descriptor) -> ir.ContractOptions | None:
    options: Any = loaded.options.contract(descriptor)
    if options is None:
        return None
    level = options.level
    return ir.ContractOptions(
        version=options.version,
        owner=options.owner,
        topic=options.topic,
        dead_letter_topic=options.dead_letter_topic,
        key_field=options.key_field,
        event_time=options.event_time,
        level=ir.StreamLevel(
            compliance=level.compliance or None,
            latency=_duration(level, "latency"),
            frequency=_duration(level, "frequency"),
            throughput=level.throughput or None,
            error_rate=level.error_rate or None,
            window=_duration(level, "window"),
            minimum_records=level.minimum_records or None,
        )
        if options.HasField("level")
        else None,
        on_breach="HALT" if options.on_breach == 2 else "ALERT",
        acknowledge_new_fields=options.acknowledge_new_fields,
        contexts=_contexts(options),
        place=loaded.places.option(descriptor, CONTRACT),
    )


def _field(loaded: Loaded, field: ir.Field, descriptor: FieldDescriptor) -> ir.Field:
    options: Any = loaded.options.field(descriptor)
    if options is None:
        return field
    return replace(
        field,
        normalizer=_normalizer(loaded, options, descriptor),
        relations=tuple(
            ir.Relation(kind, _options(getattr(options, kind)), loaded.places.option(descriptor, FIELD, kind))
            for kind in RELATIONS
            if options.HasField(kind)
        ),
        governance=_governance(options),
    )


def _normalizer(loaded: Loaded, options: Any, descriptor: FieldDescriptor) -> ir.Normalizer | None:
    kind = options.WhichOneof("normalizer")
    if kind is None:
        return None
    read = dict(_options(getattr(options, kind)))
    target = read.pop(TARGETS.get(kind, ""), None)
    if kind == "label" and "aliases" in read:
        # label.proto wraps the aliases of each label in a message, as maps of lists must.
        aliases = options.label.aliases
        read["aliases"] = tuple((label, tuple(aliases[label].alias)) for label in sorted(aliases))
    return ir.Normalizer(
        kind, tuple(read.items()), str(target) if target is not None else None,
        loaded.places.option(descriptor, FIELD, kind),
    )  # fmt: skip


def _governance(options: Any) -> ir.Governance:
    error_class = None
    if options.HasField("error_class"):
        source, remedy = (_enum_name(options.error_class, name) for name in ("source", "remedy"))
        error_class = (source.upper(), remedy.upper())
    severities: dict[str, Literal["ERROR", "WARNING"]] = {
        rule: "WARNING" if options.severities[rule] == 2 else "ERROR" for rule in sorted(options.severities)
    }
    return ir.Governance(
        sensitive=options.sensitive,
        severities=tuple(severities.items()),
        error_class=error_class,
        since=options.since,
        sunset=options.sunset,
        renamed_from=options.renamed_from,
        unit=options.unit,
        currency=options.currency,
        minor_digits=options.minor_digits if options.HasField("minor_digits") else None,
        acknowledge=options.acknowledge,
        error_codes=tuple((rule, options.error_codes[rule]) for rule in sorted(options.error_codes)),
        contexts=_contexts(options),
    )


def _contexts(options: Any) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple((rule, tuple(options.contexts[rule].names)) for rule in sorted(options.contexts))


def _enum(loaded: Loaded, enum: ir.Enum) -> ir.Enum:
    descriptor = loaded.pool.FindEnumTypeByName(enum.full_name)
    values: list[ir.EnumValue] = []
    for value, known in zip(enum.values, descriptor.values, strict=True):
        options: Any = loaded.options.enum_value(known)
        if options is not None:
            value = replace(
                value,
                code=options.code,
                aliases=tuple(options.aliases),
                class_index=options.class_index if options.HasField("class_index") else None,
            )
        values.append(value)
    return replace(enum, values=tuple(values))


def _service(loaded: Loaded, service: ir.Service) -> ir.Service:
    descriptor = loaded.pool.FindServiceByName(service.full_name)
    methods = (_method(loaded, method, descriptor.methods_by_name[method.name]) for method in service.methods)
    return replace(service, methods=tuple(methods))


def _method(loaded: Loaded, method: ir.Method, descriptor: MethodDescriptor) -> ir.Method:
    options = loaded.options.service_level(descriptor)
    if options is None:
        return method
    place = loaded.places.option(descriptor, SERVICE_LEVEL)
    return replace(method, level=_options(options), place=place)


def _options(message: Message) -> ir.Options:
    """The set fields of an option message in the order of contract.proto, with the defaults that unset ones have."""
    defaults = dict(_DEFAULTS.get(message.DESCRIPTOR.name, {}))
    read: dict[str, ir.OptionValue] = {}
    for field, value in sorted(message.ListFields(), key=lambda pair: pair[0].number):
        read[field.name] = _value(field, value)
    for name, default in defaults.items():
        read.setdefault(name, default)
    if message.DESCRIPTOR.name == "Sequence" and "step" in read:
        read.setdefault("first", 0)
    order = {field.name: field.number for field in message.DESCRIPTOR.fields}
    return tuple(sorted(read.items(), key=lambda pair: order[pair[0]]))


def _value(field: FieldDescriptor, value: Any) -> ir.OptionValue:
    entry = field.message_type
    if entry is not None and entry.GetOptions().map_entry:
        of = entry.fields_by_name["value"]
        return tuple((key, _scalar(of, value[key])) for key in sorted(value))
    if isinstance(value, str) or not hasattr(value, "__len__"):
        return _scalar(field, value)
    return tuple(_scalar(field, item) for item in value)


def _scalar(field: FieldDescriptor, value: Any) -> ir.OptionValue:
    if field.message_type is not None:
        if field.message_type.full_name == "google.protobuf.Duration":
            return int(value.seconds * 1_000_000_000 + value.nanos)
        return _options(value)
    if field.enum_type is not None:
        known = field.enum_type.values_by_number.get(value)
        # A number that the vocabulary does not know stays visible: the option's own check refuses it.
        name = known.name if known is not None else str(value)
        return _ENUM_NAMES.get(name, name.lower())
    plain: bool | int | float | str = value
    return plain


def _enum_name(message: Any, field: str) -> str:
    """The value's name, or empty where it is unspecified."""
    descriptor = message.DESCRIPTOR.fields_by_name[field]
    number = getattr(message, field)
    known = descriptor.enum_type.values_by_number.get(number)
    return known.name if known is not None and number else ""


def _duration(message: Any, name: str) -> int | None:
    """Nanoseconds, or None where the duration is not set."""
    if not message.HasField(name):
        return None
    value = getattr(message, name)
    return int(value.seconds * 1_000_000_000 + value.nanos)
