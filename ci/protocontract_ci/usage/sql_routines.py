"""The queries in bodies of functions, procedures and triggers, which the parser of SQL leaves as texts.

What stands between them (variables, conditions, loops) is of languages that nobody reads here; a query is one all the
same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from protocontract_ci.usage.sql_in_python import Embedded
from protocontract_ci.usage.sql_text import comments, dialect_of, said

_ROUTINE: Final = re.compile(
    r"\bcreate\s+(?:or\s+(?:replace|alter)\s+)?(?:temp(?:orary)?\s+)?(?:function|procedure|proc|trigger)\b",
    re.IGNORECASE,
)
_BODY: Final = re.compile(
    r"\$(?P<tag>\w*)\$(?P<dollars>.*?)\$(?P=tag)\$|\bbegin\b(?P<block>.*)", re.IGNORECASE | re.DOTALL
)
#: A query behind what may stand before a statement, with the comments over it; up to the next semicolon.
_QUERY: Final = re.compile(
    r"(?:\A|;|\b(?:begin|then|else|loop|do|in|query|as)\b)\s*"
    r"(?P<query>(?:--[^\n]*\n\s*)*(?:select|insert\s+into|update|delete\s+from|merge\s+into|with)\b[^;]*)",
    re.IGNORECASE,
)
_VARIABLES: Final = re.compile(r"\binto\s+(?:strict\s+)?[\w, ]+?(?=\s+from\b)", re.IGNORECASE)


def queries_of_routines(text: str) -> Iterator[Embedded]:
    """Each query of a body, with what comments of the file say of tables by their names."""
    starts = [match.start() for match in _ROUTINE.finditer(text)]
    if not starts:
        return
    found = comments(text)
    dialect = dialect_of(found)
    heads = [each for each in said(found) if each.name]
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        body = _BODY.search(text, start, end)
        if body is None:
            continue
        kind = "dollars" if body["dollars"] is not None else "block"
        for query in _QUERY.finditer(body[kind]):
            line = text.count("\n", 0, body.start(kind) + query.start("query")) + 1
            # SELECT ... INTO a variable: no table is filled.
            inside = _VARIABLES.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), query["query"])
            words = set(re.findall(r"\w+", inside.lower()))
            head = [each for each in heads if words & set(each.name.lower().split("."))]
            lines = [each.comment.text for each in head] + ([f"-- dialect: {dialect}"] if dialect else [])
            places = [*(each.comment.line for each in head), *([line] if dialect else [])]
            places += range(line, line + inside.count("\n") + 1)
            yield Embedded("\n".join([*lines, inside]), tuple(places))
