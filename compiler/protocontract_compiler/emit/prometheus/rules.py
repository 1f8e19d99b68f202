"""Rules as YAML. Only what rule files need: plain names, quoted texts, expressions as literal blocks."""

from __future__ import annotations

import json
from dataclasses import dataclass

from protocontract_compiler.emit.writer import Writer


@dataclass(frozen=True, slots=True)
class Rule:
    """A recording rule, or with ``alert`` an alerting one. ``expr`` may have several lines."""

    name: str
    expr: str
    labels: tuple[tuple[str, str], ...] = ()
    annotations: tuple[tuple[str, str], ...] = ()
    alert: bool = False
    #: How long it holds before it fires: a duration of Prometheus'.
    pending: str = ""


def write_rule(writer: Writer, rule: Rule) -> None:
    """One item of a group's ``rules``."""
    writer.line(f"- {'alert' if rule.alert else 'record'}: {rule.name}")
    with writer.indented():
        lines = rule.expr.splitlines()
        if len(lines) == 1:
            writer.line(f"expr: {quoted(rule.expr)}" if _needs_quotes(rule.expr) else f"expr: {rule.expr}")
        else:
            with writer.block("expr: |-"):
                writer.lines(lines)
        if rule.pending:
            writer.line(f"for: {rule.pending}")
        for title, pairs in (("labels", rule.labels), ("annotations", rule.annotations)):
            if pairs:
                with writer.block(f"{title}:"):
                    writer.lines(f"{name}: {quoted(text)}" for name, text in pairs)


def quoted(text: str) -> str:
    """A text as a double-quoted scalar: those of JSON are YAML's, too."""
    return json.dumps(text, ensure_ascii=any(not char.isprintable() for char in text))


def _needs_quotes(expr: str) -> bool:
    return expr[0] in "{[\"'&*!|>%@`#-" or ": " in expr or " #" in expr


def template_text(text: str) -> str:
    """A text for a label or an annotation, both of which are Go templates: braces of its own begin no action."""
    return text.replace("{{", '{{ "{{" }}')


def duration(seconds: float) -> str:
    """A duration of Prometheus', to the millisecond, which is the shortest it knows: ``1h``, ``90s``, ``1500ms``."""
    milliseconds = max(1, round(seconds * 1000))
    for unit, length in (("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000)):
        if milliseconds % length == 0:
            return f"{milliseconds // length}{unit}"
    return f"{milliseconds}ms"


def number(value: float) -> str:
    """A number in an expression, as the contract writes it."""
    return f"{value:.0f}" if value == int(value) and abs(value) < 1e15 else repr(float(value))
