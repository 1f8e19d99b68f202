"""The page of a service: what each of its methods promises its callers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from protocontract_compiler import ir
from protocontract_compiler.emit.documents.beside import consumers
from protocontract_compiler.emit.documents.blocks import (
    Block,
    Code,
    Facts,
    Heading,
    Link,
    Page,
    Paragraph,
    Part,
    Points,
    Text,
    marked,
)
from protocontract_compiler.emit.documents.words import Words
from protocontract_compiler.emit.python import tool_version
from protocontract_compiler.passes.tongues import SPOKEN


def service_page(schema: ir.Schema, service: ir.Service, language: str) -> Page:
    """The page of a service in one language."""
    return Page(
        service.full_name, language, service.full_name, "", "", list(_blocks(schema, service, language)),
        Words(language)("foot", tool_version(), service.file),
    )  # fmt: skip


def _blocks(schema: ir.Schema, service: ir.Service, language: str) -> Iterator[Block]:
    say = Words(language)
    yield Facts([(say("source"), Code(service.file))])
    for method in service.methods:
        yield Heading(Code(method.name), method.name)
        yield Paragraph(_said(say, method, schema))
        sentences = list(level_sentences(say, method))
        if sentences:
            yield Points([marked(sentence) for sentence in sentences])
    yield from consumers(say, schema.dossiers.get(service.full_name, ir.Dossier()).consumers, service.full_name)


def _said(say: Words, method: ir.Method, schema: ir.Schema) -> Text:
    """The sentence about what a method takes and gives, with links to their contracts."""
    text = say("method_lead", "\x00", "\x01", "\x04")
    parts: list[Part] = []
    for piece in (
        text.replace("\x00", "\x05\x00\x05")
        .replace("\x01", "\x05\x01\x05")
        .replace("\x04", "\x05\x04\x05")
        .split("\x05")
    ):
        match piece:
            case "\x00":
                parts.append(Code(method.name))
            case "\x01":
                parts += _side(say, schema, method.request, streams=method.client_streaming)
            case "\x04":
                parts += _side(say, schema, method.response, streams=method.server_streaming)
            case _:
                parts += [piece] if piece else []
    return parts


def _side(say: Words, schema: ir.Schema, name: str, *, streams: bool) -> list[Part]:
    short = Code(name.rpartition(".")[2])
    message = schema.messages.get(name)
    has_page = message is not None and message.contract is not None and schema.files[message.file].requested
    shown: Part = Link(short, page=name) if has_page else short
    if not streams:
        return [shown]
    before, _, after = say("streams", "\x00").partition("\x00")
    return [part for part in (before, shown, after) if part]


def level_sentences(say: Words, method: ir.Method) -> Iterator[str]:
    """What a method's service level promises, a sentence each, as texts with marks."""
    if method.level is None:
        return
    level: dict[str, Any] = ir.keywords(method.level)
    code = SPOKEN[say.language].code
    for key in ("deadline", "max_deadline", "latency_p99"):
        if level.get(key) is not None:
            yield say(f"rpc_{key}", _duration(say, level[key]))
    if level.get("availability"):
        yield say("rpc_availability", say.percent(level["availability"]))
    for key in ("max_request_bytes", "queue"):
        if level.get(key):
            yield say(f"rpc_{key}", f"{level[key]:,}")
    if level.get("model_version_field"):
        yield say("rpc_model_version_field", code(level["model_version_field"]))
    evidence = str(level.get("evidence", "")).upper()
    if evidence in ("OFF", "BEST_EFFORT", "REQUIRED"):
        yield say(f"rpc_evidence_{evidence}")
    if level.get("retry"):
        codes = level["retry"].get("codes") or ("UNAVAILABLE",)
        yield say("rpc_retry", level["retry"].get("attempts", 1), say("comma").join(map(code, codes)))
    if level.get("rate"):
        yield say("rpc_rate", f"{level['rate'].get('per_second', 0):g}", level["rate"].get("burst", 1))
    if level.get("batch"):
        yield say("rpc_batch", level["batch"].get("max_size", 1), _duration(say, level["batch"].get("max_wait")))
    yield from _fallback(say, level.get("fallback"))


def _fallback(say: Words, fallback: Any) -> Iterator[str]:
    if not fallback:
        return
    code = SPOKEN[say.language].code
    for key in ("provider", "model"):
        if fallback.get(key):
            yield say(f"rpc_fallback_{key}", code(fallback[key]))
    if fallback.get("label_agreement"):
        yield say("rpc_fallback_agreement", say.percent(fallback["label_agreement"]))
    if fallback.get("max_abs"):
        yield say("rpc_fallback_max_abs", f"{fallback['max_abs']:g}")
    if fallback.get("max_rel"):
        yield say("rpc_fallback_max_rel", say.percent(fallback["max_rel"]))


def _duration(say: Words, value: Any) -> str:
    """A duration as options have it: nanoseconds, or the message's fields."""
    if isinstance(value, dict):
        value = int(value.get("seconds", 0)) * 10**9 + int(value.get("nanos", 0))
    return say.duration(int(value or 0))
