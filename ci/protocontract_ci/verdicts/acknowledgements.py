"""Acknowledgements in code: ``contract-ack: <path> <change> (reason)`` in a comment, bound to one change.

<change> is ``from->to``, ``added`` or ``removed``. An acknowledgement covers its path and its change, and nothing else.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from protocontract_ci.usage.sql_text import comments as sql_comments

_ACK: Final = re.compile(r"contract-ack:\s*(\S+)\s+(\S+)(?:\s+\((.*)\))?\s*(?:\*/)?\s*$")
#: One that says no change, or has words after it: it acknowledges nothing, and whoever wrote it has to know.
_HALF: Final = re.compile(r"contract-ack:\s*(\w+(?:\.\w+)+[^\s(]*)")
#: Comments of TypeScript, beside the texts that may hold what looks like one.
_TYPESCRIPT: Final = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`""", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Acknowledgement:
    """A module's word that it knows of one change. ``reason`` may be empty, which a report says.

    ``step`` is empty where it is not written as it must be: such a word fits no change.
    """

    path: str
    step: str
    reason: str
    line: int

    @property
    def key(self) -> str:
        """What it is bound to."""
        return f"{self.path} {self.step}"


def complaint(word: Acknowledgement, known: Iterable[str]) -> str:
    """What is wrong with an acknowledgement that fits no change. ``known``: what would fit one, as ``path step``."""
    fits = next((key for key in known if key.startswith(f"{word.path} ")), "")
    if word.step:
        instead = f", or write `contract-ack: {fits} (reason)` where that change is meant" if fits else ""
        return f"the acknowledgement of {word.key} is spent or fits nothing; remove it{instead}"
    fits = fits or f"{word.path} CHANGE"
    return f"the acknowledgement of {word.path} acknowledges nothing; expected `contract-ack: {fits} (reason)`"


def in_python(text: str) -> list[Acknowledgement]:
    """The acknowledgements in the comments of Python source. A file that does not tokenise has none."""
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        return []
    return list(_in_comments((token.string, token.start[0]) for token in tokens if token.type == tokenize.COMMENT))


def in_typescript(text: str) -> list[Acknowledgement]:
    """The acknowledgements in the comments of TypeScript source."""
    comments = []
    for match in _TYPESCRIPT.finditer(text):
        if match["comment"]:
            start = text.count("\n", 0, match.start()) + 1
            comments += [(line, start + at) for at, line in enumerate(match["comment"].split("\n"))]
    return list(_in_comments(comments))


def in_sql(text: str) -> list[Acknowledgement]:
    """The acknowledgements in the comments of SQL source."""
    return list(_in_comments((comment.text, comment.line) for comment in sql_comments(text)))


def in_comments(comments: Iterable[tuple[int, str]]) -> list[Acknowledgement]:
    """The acknowledgements in comments of any other language, each given with its line."""
    return list(_in_comments((text, line) for line, text in comments))


def _in_comments(comments: Iterable[tuple[str, int]]) -> Iterator[Acknowledgement]:
    for text, line in comments:
        match = _ACK.search(text)
        if match is not None:
            yield Acknowledgement(match[1], match[2], match[3] or "", line)
        elif (half := _HALF.search(text)) is not None:
            yield Acknowledgement(half[1], "", "", line)
