"""Stripping of HTML as edits: the markup of a text as the WHATWG tokenizer finds it, with exact places.

Libraries give a tree, or tokens without the places of character references; a map of offsets needs the place of every
one. So the tokenizer's states (HTML standard, 13.2.5) stand here as regular expressions, as far as they decide where
markup begins and ends. What the markup means is not looked at, except that

* block tags and ``br`` become one space each, so that they separate words; all other tags become nothing;
* script and style go with their text; the text of other raw elements (xmp, iframe, noembed, noframes) stays as it is;
* textarea and title hold text and references, no tags;
* comments, doctypes and bogus comments (``<?xml?>``, ``<![CDATA[..]]>``, ``</3>``) become nothing.

References are decoded in what is left, each on its own, so nothing is decoded twice. Line breaks and U+0000 stay as
they are.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from protocontract.normalize.edits import Edit, Kind
from protocontract.violations import Refusal

# Where a tag, comment or reference may begin. `<` is text before anything else, and so is `</` at the very end.
_OPENING: Final = re.compile(r"<(?:/(?=.)|(?=[A-Za-z!?]))|&", re.DOTALL)
_REFERENCE: Final = re.compile(r"&(?:#(?:[xX]([0-9A-Fa-f]++);?|([0-9]++);?)|([A-Za-z][A-Za-z0-9]*+;?))")
_REFERENCE_START: Final = re.compile("&")

_NAME: Final = re.compile(r"[A-Za-z][^\t\n\f\r />]*+")
# From behind a tag's name to its end: attributes and spaces, in any number and form. A quote that never ends
# swallows the rest, so the final > is not found and the tag has no end. Possessive throughout: linear.
_REST_OF_TAG: Final = re.compile(
    r"""(?:
        [\t\n\f\r\ /]++
      | [^\t\n\f\r\ />][^\t\n\f\r\ />=]*+
        (?:[\t\n\f\r\ ]*+=[\t\n\f\r\ ]*+
            (?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z)|(?!["'])[^\t\n\f\r\ >]++|(?=>))
        )?+
    )*+>""",
    re.VERBOSE,
)
# From behind `<!--`: a comment may close at once (`<!-->`, `<!--->`), and a bang may stand before its end.
_COMMENT: Final = re.compile(r"-?>|.*?--!?>", re.DOTALL)
# Inside a script, comments that hold a script element hide its end tag (script data double escaped state).
_SCRIPT_MARK: Final = re.compile(r"<!--|-->|<(/?)script(?=[\t\n\f\r />])", re.IGNORECASE)

_DROPPED: Final = frozenset({"script", "style"})
_RAW: Final = frozenset({"xmp", "iframe", "noembed", "noframes"})
_ESCAPABLE: Final = frozenset({"textarea", "title"})

# Elements that the standard's style sheet (15.3) sets apart as blocks, list items, table parts or options, br, and
# title, which is no part of the text around it.
_SEPARATING: Final = frozenset({
    "address", "article", "aside", "blockquote", "body", "br", "caption", "center", "col", "colgroup", "dd", "details",
    "dialog", "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "frameset", "h1", "h2",
    "h3", "h4", "h5", "h6", "head", "header", "hgroup", "hr", "html", "legend", "li", "listing", "main", "menu", "nav",
    "ol", "optgroup", "option", "p", "plaintext", "pre", "search", "section", "summary", "table", "tbody", "td",
    "tfoot", "th", "thead", "title", "tr", "ul", "xmp",
})  # fmt: skip

# HTML standard, 13.2.5.80: references to C1 controls mean the characters of windows-1252.
_C1: Final = dict(
    zip(
        (*range(0x80, 0xA0),),
        "\u20ac\x81\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\x8d\u017d\x8f"
        "\x90\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\x9d\u017e\u0178",
        strict=True,
    )
)


def html_edits(text: str) -> list[Edit] | Refusal:
    """The edits that strip a text of its markup, or a refusal where markup begins that never ends."""
    found: list[Edit] = []
    position = 0
    while match := _OPENING.search(text, position):
        start = match.start()
        if text[start] == "&":
            position = _decode(text, start, found)
            continue
        end = _skip(text, start, found)
        if end is None:
            return Refusal("text.markup", "markup begins that never ends; expected every tag and comment to be closed")
        position = end
    return found


def _skip(text: str, start: int, found: list[Edit]) -> int | None:
    """Adds the edits of the markup at ``start``; returns where to go on, or None where it has no end."""
    closing = text[start + 1] == "/"
    name_match = _NAME.match(text, start + 2 if closing else start + 1)
    if name_match is None:
        end = _declaration_end(text, start)
        if end is not None:
            found.append(Edit(start, end, ""))
        return end
    rest = _REST_OF_TAG.match(text, name_match.end())
    if rest is None:
        return None
    name, end = name_match.group().lower(), rest.end()
    if closing or name not in _TEXT_ELEMENTS:
        found.append(_tag(name, start, end))
        return end

    if name in _DROPPED:
        close = _script_end(text, end) if name == "script" else _end_tag(name).search(text, end)
        rest = _REST_OF_TAG.match(text, close.end()) if close else None
        if rest is None:
            return None
        found.append(Edit(start, rest.end(), ""))
        return rest.end()

    # The text stays; without an end tag it goes on to the end of the input, and nothing is lost.
    found.append(_tag(name, start, end))
    if name == "plaintext":
        return len(text)
    close = _end_tag(name).search(text, end)
    text_end = close.start() if close else len(text)
    if name in _ESCAPABLE:
        position = end
        while reference := _REFERENCE_START.search(text, position, text_end):
            position = _decode(text, reference.start(), found, text_end)
    return text_end


_TEXT_ELEMENTS: Final = _DROPPED | _RAW | _ESCAPABLE | {"plaintext"}


def _tag(name: str, start: int, end: int) -> Edit:
    return Edit(start, end, " ", Kind.BREAK) if name in _SEPARATING else Edit(start, end, "")


def _declaration_end(text: str, start: int) -> int | None:
    """The end of a comment, doctype, or of what the standard calls a bogus comment."""
    if text.startswith("<!--", start):
        comment = _COMMENT.match(text, start + 4)
        return comment.end() if comment else None
    # A doctype ends at the first > too, even inside its quotes.
    end = text.find(">", start + 2)
    return end + 1 if end >= 0 else None


@lru_cache(maxsize=16)
def _end_tag(name: str) -> re.Pattern[str]:
    return re.compile(rf"</{name}(?=[\t\n\f\r />])", re.IGNORECASE)


def _script_end(text: str, position: int) -> re.Match[str] | None:
    """The end tag of a script; script data, escaped and double escaped states."""
    escaped = nested = False
    while match := _SCRIPT_MARK.search(text, position):
        mark = match.group()
        position = match.end()
        if mark == "<!--":
            if not escaped:
                escaped = True
                position -= 2  # Its dashes may close it again: <!-->
        elif mark == "-->":
            escaped = nested = False
        elif match[1]:
            if not nested:
                return match
            nested = False
        elif escaped:
            nested = True
    return None


def _decode(text: str, start: int, found: list[Edit], limit: int | None = None) -> int:
    """Adds the edit of the reference at ``start``, if one is there; returns where to go on."""
    match = _REFERENCE.match(text, start) if limit is None else _REFERENCE.match(text, start, limit)
    if match is None:
        return start + 1
    hexadecimal, decimal, name = match.groups()
    if name is None:
        found.append(Edit(start, match.end(), _numeric(hexadecimal, decimal)))
        return match.end()
    references, longest = _named_references()
    # The longest name that is a prefix; some names need no semicolon, so "&notit;" begins with "&not".
    for size in range(min(len(name), longest), 0, -1):
        character = references.get(name[:size])
        if character is not None:
            found.append(Edit(start, start + 1 + size, character))
            return start + 1 + size
    return match.end()


def _numeric(hexadecimal: str | None, decimal: str | None) -> str:
    digits = (hexadecimal or decimal or "").lstrip("0")
    # Eight digits are beyond Unicode in either base; longer ones are not worth a conversion.
    point = int(digits or "0", 16 if hexadecimal else 10) if len(digits) < 8 else 0x110000
    if point == 0 or point > 0x10FFFF or 0xD800 <= point <= 0xDFFF:
        return "\ufffd"
    return _C1.get(point) or chr(point)


@lru_cache(maxsize=1)
def _named_references() -> tuple[dict[str, str], int]:
    """The standard's table of names, which is closed: with semicolon, and the old ones without."""
    from html.entities import html5

    return html5, max(map(len, html5))
