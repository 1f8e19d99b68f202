"""Pages as Markdown (GitHub's, with tables), for reviews and wikis."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from protocontract_compiler.emit.documents.blocks import (
    Block,
    Code,
    Facts,
    Heading,
    Link,
    Listing,
    Page,
    Paragraph,
    Points,
    Quiet,
    Row,
    Table,
    Text,
    parts_of,
    visible,
)
from protocontract_compiler.emit.documents.words import WORDS, Words

ENDINGS: Final = {"en": ".md", "zh": ".zh.md"}
# What has a meaning in Markdown, or would begin HTML.
_SPECIAL: Final = re.compile(r"([\\`*_\[\]<>|#~&])")


def render(page: Page) -> str:
    """The file of a page."""
    say = Words(page.language)
    lines = [f"# {escaped(page.title)} {escaped(page.version)}".rstrip(), ""]
    lines += [" · ".join(_above(say, page.name, home=True)), ""]
    if parts_of(page.lead):
        lines += [_inline(page.lead, page.language), ""]
    for block in page.blocks:
        lines += [*_block(block, page.language), ""]
    lines += ["---", "", _inline(page.foot, page.language)]
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    """A text in which nothing has a meaning in Markdown; line breaks become spaces."""
    return _SPECIAL.sub(r"\\\1", visible(text))


def _above(say: Words, name: str, *, home: bool) -> Iterator[str]:
    if home:
        yield f"[{escaped(say('all_contracts'))}](index{ENDINGS[say.language]})"
    for language, ending in ENDINGS.items():
        if language != say.language:
            yield f"[{escaped(WORDS[language]['language'])}]({name}{ending})"


def above(say: Words, name: str) -> str:
    """The line below the title of the index: to the other languages."""
    return " · ".join(_above(say, name, home=False))


def _block(block: Block, language: str) -> list[str]:
    match block:
        case Heading(text, anchor, level):
            # GitHub makes anchors of the text of a heading, so each language has others; links use ours.
            return [f'<a id="{anchor}"></a>', "", f"{'#' * level} {_inline(text, language)}"]
        case Paragraph(text):
            return [_inline(text, language)]
        case Points(items):
            return [f"- {_inline(item, language)}" for item in items]
        case Facts(pairs):
            return [f"- {escaped(name)}: {_inline(text, language)}" for name, text in pairs]
        case Listing(text):
            fence = _fence(text, 3)
            return [fence, text, fence]
        case Table(head, rows, hidden):
            titles = f"| {' | '.join(map(escaped, head))} |"
            return [titles, f"|{' --- |' * len(head)}", *(_row(row, language) for row in (*rows, *hidden))]


def _row(row: Row, language: str) -> str:
    cells = [_inline(cell, language, cell=True) for cell in row.cells]
    anchor = f'<a id="{row.anchor}"></a>' if row.anchor else ""
    return f"| {anchor}{' | '.join(cells)} |"


def _inline(text: Text, language: str, *, cell: bool = False) -> str:
    found: list[str] = []
    for part in parts_of(text):
        match part:
            case str() | Quiet():
                found.append(escaped(part if isinstance(part, str) else part.text))
            case Code(inner):
                found.append(code(inner, in_cell=cell))
            case Link(inner, page, anchor):
                target = (f"{page}{ENDINGS[language]}" if page else "") + (f"#{anchor}" if anchor else "")
                found.append(f"[{_inline(inner, language, cell=cell)}]({target})")
    return "".join(found)


def code(text: str, *, in_cell: bool) -> str:
    """A code span, whatever is in the text. In a table a bar would end the cell even there."""
    text = visible(text)
    if in_cell:
        text = text.replace("|", "\\|")
    fence = _fence(text, 1)
    pad = " " if text.startswith("`") or text.endswith("`") or not text.strip() else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def _fence(text: str, least: int) -> str:
    """Back quotes, more than the text has in a row."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    return "`" * max(least, longest + 1)
