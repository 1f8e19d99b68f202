"""What a page says, before it is HTML or Markdown: blocks of text, each a list of parts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from protocontract_compiler.passes.tongues import CODE_BEGIN, CODE_END


@dataclass(frozen=True, slots=True)
class Code:
    """A name or a value as the contract or a record has it."""

    text: str


@dataclass(frozen=True, slots=True)
class Link:
    """A reference to another page, or to an anchor of this one (``#codes``). ``page`` is a name without its ending."""

    text: Text
    page: str = ""
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Quiet:
    """What is told beside: smaller, or paler."""

    text: str


Part: TypeAlias = "str | Code | Link | Quiet"
Text: TypeAlias = "Sequence[Part] | Part"


@dataclass(frozen=True, slots=True)
class Heading:
    """The head of a section (``level`` 2) or of a part of one (3), with an anchor that links name."""

    text: Text
    anchor: str
    level: int = 2


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph."""

    text: Text


@dataclass(frozen=True, slots=True)
class Points:
    """A list of sentences."""

    items: Sequence[Text]


@dataclass(frozen=True, slots=True)
class Facts:
    """Names with what they are."""

    pairs: Sequence[tuple[str, Text]]


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table. ``anchor`` is what links name it by."""

    cells: Sequence[Text]
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table. ``hidden`` rows are folded away where that can be."""

    head: Sequence[str]
    rows: Sequence[Row]
    hidden: Sequence[Row] = ()
    #: What unfolds the hidden rows.
    more: str = ""


@dataclass(frozen=True, slots=True)
class Listing:
    """A text as it stands: JSON."""

    text: str


Block: TypeAlias = "Heading | Paragraph | Points | Facts | Table | Listing"


@dataclass(frozen=True, slots=True)
class Page:
    """A page. ``name`` is that of its files, without language and ending; ``others`` are the languages it has besides.

    ``places`` are the sections that the reader may want to go to.
    """

    name: str
    language: str
    title: str
    version: str
    lead: Text
    blocks: Sequence[Block]
    foot: Text


#: Controls, and what hides or turns other text. Joiners are part of words and emoji.
_HIDING: Final = re.compile("[\x00-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
_MARKED: Final = re.compile(f"{CODE_BEGIN}([^{CODE_BEGIN}{CODE_END}]*){CODE_END}")


def marked(text: str) -> list[Part]:
    """A text of a tongue, of which the marked pieces are code."""
    parts: list[Part] = []
    for at, piece in enumerate(_MARKED.split(text)):
        if piece:
            parts.append(Code(piece) if at % 2 else piece)
    return parts


def visible(text: str) -> str:
    """A text on one line, in which what would hide is escaped."""
    line = text.replace("\r\n", " ").replace("\n", " ")
    return _HIDING.sub(lambda match: match[0].encode("unicode_escape").decode(), line)


def parts_of(text: Text) -> list[Part]:
    """The parts of a text, however it was given."""
    if isinstance(text, str | Code | Link | Quiet):
        return [text] if text else []
    return list(text)


def plain(text: Text) -> str:
    """The text without any form."""
    found = ""
    for part in parts_of(text):
        match part:
            case str():
                found += part
            case Link(inner):
                found += plain(inner)
            case Code(inner) | Quiet(inner):
                found += inner
    return found
