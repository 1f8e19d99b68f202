"""Small texts of pages: comments as prose, and what a normalizer does, in words."""

from __future__ import annotations

from protocontract_compiler import ir
from protocontract_compiler.emit.documents.blocks import Part, marked, plain
from protocontract_compiler.emit.documents.words import Words
from protocontract_compiler.passes.tongues import CODE_BEGIN, CODE_END, Tongue

_STEPS = (
    "strip_bom", "strip_html", "normalize", "fold_width", "strip_controls", "collapse_whitespace", "trim", "amounts",
)  # fmt: skip


def prose(comment: str) -> list[Part]:
    """A comment of a .proto on one line, in which what stands in back quotes is code."""
    text = " ".join(comment.replace(CODE_BEGIN, "").replace(CODE_END, "").split())
    pieces = text.split("`")
    if len(pieces) % 2 == 0:
        return [text]
    return marked("".join(f"{CODE_BEGIN}{piece}{CODE_END}" if at % 2 else piece for at, piece in enumerate(pieces)))


def plain_words(text: str) -> str:
    """A text of a tongue without its marks."""
    return plain(marked(text))


def normalizer(say: Words, tongue: Tongue, word: ir.Normalizer) -> str:
    """What a normalizer does, as a text with marks."""
    options = dict(word.options)
    target = tongue.code(word.target) if word.target else ""
    found: list[str] = []
    match word.kind:
        case "text":
            for step in _STEPS:
                value = options.get(step)
                if value:
                    found.append(say(f"text_{step}", str(value).upper()))
        case "money":
            found.append(say("do_money_currency", target) if target else say("do_money"))
            if options.get("default_currency"):
                found.append(say("do_money_default", options["default_currency"]))
        case "instant":
            found.append(say("do_instant_field", target) if target else say("do_instant"))
        case "quantity":
            found.append(say("do_quantity", options.get("unit", "")))
            found += [say("do_quantity_field", target)] if target else []
        case "label":
            found.append(say("do_label"))
        case "scalar":
            found.append(say("do_scalar"))
    return say("comma" if word.kind == "text" else "semicolon").join(found)
