"""The ids of violations that protocontract itself reports, by word. buf.validate's are in validate.proto."""

from __future__ import annotations

from collections.abc import Mapping

from protocontract_compiler import ir

OWN_RULE_IDS: Mapping[str, frozenset[str]] = {
    word: frozenset(f"{word}.{what}" for what in whats.split())
    for word, whats in {
        "text": "type surrogate nul control replacement noncharacter bidi private_use tag mojibake markup empty amount",
        "money": "syntax currency ambiguous scale",
        "instant": "syntax ambiguous zone gap fold range",
        "quantity": "syntax unit dimension ambiguous scale range",
        "label": "unknown",
        "scalar": "syntax type range finite inexact enum duplicate required unknown_field",
        "spans": "order bounds boundary surface overlap empty edge lost",
        "sequence": "step length",
        "graph": "cycle missing duplicate",
        "tensor": "dtype shape size finite range norm",
        "key": "mismatch",
        "wire": "malformed framing truncated duplicate null oneof size tombstone unknown_field",
    }.items()
}

ALL_OWN_RULE_IDS = frozenset().union(*OWN_RULE_IDS.values())

# What reports an id only where an option asks for it; without an entry here an id is always possible. A field of a
# message holds no half of a surrogate pair and nothing but text, so that those two ids are for direct callers.
_NEVER = frozenset({"text.type", "text.surrogate"})
_ASKED_FOR = {
    "text.markup": "strip_html",
    "text.empty": "reject_empty",
    "text.amount": "amounts",
    "spans.edge": "no_edge_whitespace",
    "spans.surface": "surface",
    "sequence.length": "same_length_as",
    "graph.cycle": "acyclic",
    "graph.missing": "closed",
    "tensor.finite": "finite",
    "tensor.norm": "l2_norm",
}
_ALLOWED_BY = {"spans.empty": "allow_empty", "spans.overlap": "allow_overlap"}
_REJECTED = {"text.bidi": "bidi_control"} | {
    f"text.{name}": name for name in ("nul", "control", "replacement", "noncharacter", "private_use", "tag", "mojibake")
}


def ids_of(word: ir.Normalizer | ir.Relation) -> list[str]:
    """The ids that a normalizer or relation with these options can report, sorted."""
    options = dict(word.options)
    rejected = options.get("reject")
    classes = rejected if isinstance(rejected, tuple) else ()
    found: list[str] = []
    for rule_id in sorted(OWN_RULE_IDS[word.kind] - _NEVER):
        if rule_id in _ASKED_FOR and not options.get(_ASKED_FOR[rule_id]):
            # Of a tuple, a mapping or a name: what is declared is not empty.
            continue
        if rule_id in _ALLOWED_BY and options.get(_ALLOWED_BY[rule_id]):
            continue
        if rule_id in _REJECTED and _REJECTED[rule_id] not in classes:
            continue
        if rule_id == "sequence.step" and not options.keys() & {"first", "step", "strictly_increasing"}:
            continue
        if rule_id == "tensor.range" and not options.keys() & {"min", "max"}:
            continue
        found.append(rule_id)
    return found
