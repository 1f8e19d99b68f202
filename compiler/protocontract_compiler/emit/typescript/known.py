"""What options of normalizers and relations TypeScript's code keeps: one that is not here is refused, never ignored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from protocontract_compiler import ir
from protocontract_compiler.emit.typescript.inexact import Inexact

#: By word: the names of contract.proto, what the compiler adds of the field (`sole_currency`, `storable`), and what
#: `bound.py` refuses in its own words (`text.strip_html`).
OPTIONS: Final[Mapping[str, frozenset[str]]] = {
    word: frozenset(names.split())
    for word, names in {
        "text": "strip_bom strip_html normalize fold_width strip_controls collapse_whitespace trim reject reject_empty "
        "amounts",
        "money": "policy default_currency allowed locale decimal scale currency_field sole_currency storable",
        "instant": "zone order epoch_unit fold gap leap_second hour24 date_only excess_fraction min max instant_field",
        "quantity": "unit allowed policy locale decimal scale value_field storable",
        "label": "aliases ignore_index num_classes",
        "scalar": "quoted_numbers bool_words fold_width exact finite type",
        "spans": "text start end surface unit allow_overlap allow_nesting allow_empty no_edge_whitespace order",
        "sequence": "first step strictly_increasing same_length_as",
        "graph": "id parents acyclic closed",
        "tensor": "name dtype dims bounds shape_field batched pad truncate finite min max l2_norm",
    }.items()
}


def check_known(word: str, options: Mapping[str, Any], place: ir.Place) -> None:
    """Raises Inexact for an option of a known word that has no translation."""
    for name in options.keys() - OPTIONS.get(word, options.keys()):
        raise Inexact(
            place, f"`{word}.{name}` has no translation", "do this in Python, or leave the message out by `messages`"
        )
    amounts = options.get("amounts")
    if word == "text" and amounts is not None:
        check_known("money", amounts, place)
