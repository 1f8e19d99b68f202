"""The manifest: one JSON file that lists all contracts of a request with all that tools ask of them.

It spans the files of a request, so a part of one has none (``passes.check_whole``). Its form has a number,
``manifest``: keys may come, none goes and none changes its meaning under the same number. docs/exports.md lists them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from protocontract.violations import error_code
from protocontract_compiler import ir
from protocontract_compiler.emit import jsonschema, odcs
from protocontract_compiler.emit.documents import html, markdown
from protocontract_compiler.emit.output import OutputFile
from protocontract_compiler.emit.plain import json_text, one_line, word
from protocontract_compiler.emit.python import tool_version
from protocontract_compiler.generated_names import contract_file_of
from protocontract_compiler.ir_dump import fingerprint
from protocontract_compiler.passes.codes import RulePlace, places
from protocontract_compiler.passes.rule_ids import OWN_RULE_IDS

FORM: Final = 1
FILE: Final = "manifest.json"
#: Rules of a contract that are listed. Messages in messages can make more than anybody reads.
MAX_RULES: Final = 20_000


def emit(schema: ir.Schema) -> list[OutputFile]:
    """The manifest of all requested files."""
    messages = schema.requested_messages()
    requested = [file for file in schema.files.values() if file.requested]
    whole = {
        "manifest": FORM,
        "generator": f"protoc-gen-contract {tool_version()}",
        "contracts": [
            _contract(schema, message, message.contract) for message in messages if message.contract is not None
        ],
        "messages": {message.full_name: _message(message) for message in messages},
        "enums": {name: _enum(schema.enums[name]) for file in requested for name in file.enums},
        "services": [_service(schema.services[name]) for file in requested for name in file.services],
    }
    return [OutputFile(FILE, json_text(whole))]


def _contract(schema: ir.Schema, message: ir.Message, contract: ir.ContractOptions) -> dict[str, Any]:
    rules = list(islice(places(schema, message), MAX_RULES + 1))
    return {
        "name": message.full_name,
        "version": contract.version,
        "fingerprint": fingerprint(schema, message.full_name),
        "owner": contract.owner,
        "source": {"file": message.file, "line": message.place.line},
        "description": one_line(message.comment),
        "topic": contract.topic,
        "dead_letter_topic": contract.dead_letter_topic,
        "key_field": contract.key_field,
        "event_time": contract.event_time,
        "level": _level(contract.level),
        "on_breach": contract.on_breach,
        "promises": [
            {"path": promise.path, "text": promise.text, "rules": list(promise.rule_ids)}
            for promise in message.promises
        ],
        "rules": [_rule(place) for place in rules[:MAX_RULES]],
        "rules_left_off": len(rules) > MAX_RULES,
        "record_rules": [
            {"path": path, "id": rule_id, "code": f"{error_code(message.full_name, path, rule_id):#010x}"}
            for path, rule_id in _record_rules(contract)
        ],
        "files": _files(schema, message, contract),
    }


def _files(schema: ir.Schema, message: ir.Message, contract: ir.ContractOptions) -> dict[str, list[str]]:
    """The files of a contract by target, below the folder that the target is written to."""
    promised = contract.level not in (None, ir.StreamLevel())
    return {
        "python": [contract_file_of(message.file)],
        "prometheus": [f"{message.full_name}.rules.yml"] if promised else [],
        "jsonschema": jsonschema.file_names(schema, message),
        "odcs": [odcs.file_name(message)],
        "docs": [f"{message.full_name}{ending}" for kind in (html, markdown) for ending in kind.ENDINGS.values()],
    }


def _rule(place: RulePlace) -> dict[str, Any]:
    governance = place.field.governance if place.field is not None else ir.Governance()
    contexts = dict(governance.contexts or (place.owner.contract.contexts if place.owner.contract is not None else ()))
    found: dict[str, Any] = {
        "path": place.path,
        "id": place.rule_id,
        "code": f"{place.code:#010x}",
        "severity": dict(governance.severities).get(place.rule_id, "ERROR"),
        "declared_in": place.owner.full_name,
    }
    if place.rule_id in contexts:
        found["contexts"] = list(contexts[place.rule_id])
    if governance.sensitive:
        found["sensitive"] = True
    return found


def _record_rules(contract: ir.ContractOptions) -> Iterator[tuple[str, str]]:
    """What a guard says of a record as a whole: that its bytes are no message, that its key is another one."""
    for rule_id in sorted(OWN_RULE_IDS["wire"]):
        yield "", rule_id
    if contract.key_field:
        yield contract.key_field, "key.mismatch"


def _level(level: ir.StreamLevel | None) -> dict[str, Any] | None:
    if level is None:
        return None
    values = {
        "compliance": level.compliance,
        "latency_seconds": _seconds(level.latency),
        "frequency_seconds": _seconds(level.frequency),
        "throughput_per_second": level.throughput,
        "error_rate": level.error_rate,
        "window_seconds": _seconds(level.window),
        "minimum_records": level.minimum_records,
    }
    return {name: value for name, value in values.items() if value is not None}


def _seconds(nanoseconds: int | None) -> float | None:
    return None if nanoseconds is None else nanoseconds / 1e9


def _message(message: ir.Message) -> dict[str, Any]:
    return {
        "file": message.file,
        "description": one_line(message.comment),
        "fields": [_field(field) for field in message.fields],
        "oneofs": [
            {"name": oneof.name, "fields": list(oneof.fields), "required": oneof.required} for oneof in message.oneofs
        ],
    }


def _field(field: ir.Field) -> dict[str, Any]:
    governance = field.governance
    found: dict[str, Any] = {
        "name": field.name,
        "json_name": field.json_name,
        "number": field.number,
        "type": odcs.physical_type(field),
        "presence": field.has_presence,
    }
    optional: dict[str, Any] = {
        "oneof": field.oneof,
        "description": one_line(field.comment),
        "normalizer": None if field.normalizer is None else word(field.normalizer),
        "relations": [word(relation) for relation in field.relations],
        "sensitive": governance.sensitive,
        "acknowledge": governance.acknowledge,
        "unit": governance.unit,
        "currency": governance.currency,
        "minor_digits": governance.minor_digits,
        "since": governance.since,
        "sunset": governance.sunset,
        "renamed_from": governance.renamed_from,
        "error_class": governance.error_class and dict(zip(("source", "remedy"), governance.error_class, strict=True)),
    }
    return found | {name: value for name, value in optional.items() if value not in (None, "", [], False)}


def _enum(enum: ir.Enum) -> dict[str, Any]:
    return {"file": enum.file, "values": [dict(_value(value)) for value in enum.values]}


def _value(value: ir.EnumValue) -> Iterator[tuple[str, Any]]:
    yield "name", value.name
    yield "number", value.number
    if value.code:
        yield "code", value.code
    if value.aliases:
        yield "aliases", list(value.aliases)
    if value.class_index is not None:
        yield "class_index", value.class_index


def _service(service: ir.Service) -> dict[str, Any]:
    return {
        "name": service.full_name,
        "file": service.file,
        "methods": [
            {
                "name": method.name,
                "request": method.request,
                "response": method.response,
                "client_streaming": method.client_streaming,
                "server_streaming": method.server_streaming,
                "level": None if method.level is None else ir.keywords(method.level),
            }
            for method in service.methods
        ],
    }
