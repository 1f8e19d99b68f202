"""The text of SQL files: comments, hints in them, the templates of dbt, paths into JSON. Nothing here parses SQL."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

#: Comments, beside the texts and names that may hold what looks like one.
_LEXED: Final = re.compile(
    r"""(?P<comment>--[^\n]*|/\*.*?\*/)|'(?:''|\\.|[^'\\])*'|"(?:""|[^"])*"|`[^`]*`|\$\$.*?\$\$""", re.DOTALL
)
_DIALECT: Final = re.compile(r"dialect:\s*(\w+)", re.IGNORECASE)
_CONTRACT: Final = re.compile(r"^[-/*\s]*contract:\s*(?P<message>[A-Za-z_][\w.]*)(?P<rest>.*?)[\s*/]*$")
_NAMED: Final = re.compile(r"""\s+for\s+(?P<name>[\w.`"\[\]-]+)""")
_JSON: Final = re.compile(r"->|#>|json|from_protobuf|:\s*\w|\[\s*['\"]|variant", re.IGNORECASE)
_TEMPLATE: Final = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", re.DOTALL)
_REFERENCE: Final = re.compile(r"\{\{-?\s*(?:ref|source)\s*\((?P<names>[^)]*)\)\s*-?\}\}")
_SETTINGS: Final = re.compile(r"\{\{-?\s*config\s*\(")
_QUOTED: Final = re.compile(r"""["']([^"']+)["']""")
_STEP: Final = re.compile(r"""\[\s*(?:\d+|\*)\s*\]|\[\s*["']([^"'\]]+)["']\s*\]|\.?"([^"]+)"|\.?([^.\[\]"\s]+)""")


@dataclass(frozen=True, slots=True)
class Comment:
    """A line of a comment; ``start`` and ``end`` are offsets, ``alone``: no code stands before it on its line."""

    text: str
    line: int
    start: int
    end: int
    alone: bool


@dataclass(frozen=True, slots=True)
class Said:
    """``-- contract: shop.v1.Order``: a table holds records of a message; ``name`` is what follows ``for``.

    ``wrong``: what follows the message is something else.
    """

    message: str
    name: str
    comment: Comment
    wrong: bool = False


def comments(text: str) -> list[Comment]:
    """The lines of all comments of SQL source."""
    found = []
    for match in _LEXED.finditer(text):
        if not match["comment"]:
            continue
        start = match.start()
        line = text.count("\n", 0, start) + 1
        for at, part in enumerate(match["comment"].split("\n")):
            before = text[text.rfind("\n", 0, start) + 1 : start]
            found.append(Comment(part, line + at, start, start + len(part), not before.strip() or at > 0))
            start += len(part) + 1
    return found


def dialect_of(found: list[Comment]) -> str:
    """The dialect that a comment names (``-- dialect: spark``), "" where none does."""
    return next((match[1].lower() for each in found if (match := _DIALECT.search(each.text))), "")


def said(found: list[Comment]) -> Iterator[Said]:
    """What comments say of tables."""
    for each in found:
        match = _CONTRACT.match(each.text)
        if match is not None:
            named = _NAMED.fullmatch(match["rest"])
            name = re.sub(r'[`"\[\]]', "", named["name"]) if named is not None else ""
            yield Said(match["message"], name, each, wrong=bool(match["rest"].strip()) and not name)


def has_template(text: str) -> bool:
    """Whether the file is a template of dbt, and not SQL yet."""
    return _TEMPLATE.search(text) is not None


def without_templates(text: str) -> str:
    """SQL of the same length and lines, where references to tables became their names, and the rest names or blanks."""

    def plain(match: re.Match[str]) -> str:
        reference = _REFERENCE.fullmatch(match[0])
        name = "template" if match[0].startswith("{{") and not _SETTINGS.match(match[0]) else ""
        if reference is not None:
            name = ".".join(_QUOTED.findall(reference["names"]))
        blank = re.sub(r"[^\n]", " ", match[0])
        return name + blank[len(name) :] if "\n" not in blank[: len(name)] else blank

    return _TEMPLATE.sub(plain, text)


def json_path(text: str) -> list[str]:
    """The keys of a path into JSON: ``$.a.b[0]``, ``$['a']``, ``{a,0,b}`` or ``a.b``; places in lists are left out."""
    text = text.strip()
    if text.startswith("{") and text.endswith("}"):
        return [each.strip().strip('"') for each in text[1:-1].split(",") if not each.strip().isdigit()]
    text = re.sub(r"^(?:lax|strict)\s+", "", text)
    keys = (next((each for each in match.groups() if each), "") for match in _STEP.finditer(text.removeprefix("$")))
    return [key for key in keys if key and key != "*"]


def may_hold_paths(text: str, names: frozenset[str]) -> bool:
    """Whether SQL may have a path into JSON of two of these names, or a message of protobuf. Cheaper than to parse."""
    if _JSON.search(text) is None:
        return False
    return "from_protobuf" in text.lower() or len(names & set(re.findall(r"\w+", text))) > 1


class Places:
    """Lines and columns of offsets, and where a word stands next."""

    def __init__(self, text: str) -> None:
        self.text = text

    def of(self, offset: int) -> tuple[int, int]:
        """Line and column, from 1."""
        return self.text.count("\n", 0, offset) + 1, offset - self.text.rfind("\n", 0, offset)

    def next(self, word: str, offset: int) -> int:
        """The offset of a word from ``offset`` on; ``offset`` itself where it does not stand there."""
        match = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)").search(self.text, offset)
        return match.start() if match is not None else offset
