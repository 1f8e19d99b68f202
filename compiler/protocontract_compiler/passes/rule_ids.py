"""The ids of violations that protocontract itself reports, by word. buf.validate's are in validate.proto."""

from __future__ import annotations

from collections.abc import Mapping

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
