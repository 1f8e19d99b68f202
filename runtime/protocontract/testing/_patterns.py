"""Texts that match a pattern of RE2, drawn by hypothesis' ``from_regex``, which reads Python's syntax.

What RE2 writes otherwise is written anew for Python, where that is possible with a language that is no larger; every
text is then asked of RE2 itself.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

import re2
from hypothesis import strategies as st

_CLASSES: Final = {
    "alnum": "0-9A-Za-z", "alpha": "A-Za-z", "ascii": "\\x00-\\x7f", "blank": "\\t ", "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9", "graph": "!-~", "lower": "a-z", "print": " -~", "punct": "!-/:-@\\[-`{-~",
    "space": "\\t\\n\\v\\f\\r ",
    "upper": "A-Z", "word": "0-9A-Za-z_", "xdigit": "0-9A-Fa-f",
}  # fmt: skip
#: Some characters of each Unicode category: enough to draw from.
_CATEGORIES: Final = {
    "L": "A-Za-zàéöß東京", "Lu": "A-ZÀÉ", "Ll": "a-zàéöß", "Lo": "東京日本", "N": "0-9",
    "Nd": "0-9", "P": "!.,;:_()",
    "S": "$+<=>^|~€", "Sc": "$€", "Z": " ", "Zs": " ", "M": "\u0301\u0308", "C": "\x00\x7f", "Cc": "\x00\x7f",
    "Han": "東京日本", "Latin": "A-Za-zàéö", "Greek": "α-ω", "Cyrillic": "а-я", "Hiragana": "ぁ-ん",
    "Katakana": "ァ-ン",
}  # fmt: skip
_ONE_CLASS: Final = re.compile(r"\A(?:\^|\\A)((?:\[(?:\\.|[^\]\\])+\])|\\[dw])([+*])(?:\$|\\z)\Z")
_TOKEN: Final = re.compile(
    r"\\Q(?P<quoted>.*?)(?:\\E|\Z)|\\(?P<negated>[pP])(?:\{(?P<long>\^?\w+)\}|(?P<short>\w))|\[:(?P<posix>\^?\w+):\]"
    r"|\\x\{(?P<hex>[0-9A-Fa-f]+)\}|\\(?P<escape>.)|\(\?(?P<flags>[imsU]+)\)|(?P<open>\[\^?)|(?P<close>\])|(?P<other>.)",
    re.DOTALL,
)


@lru_cache(maxsize=1024)
def matcher(pattern: str) -> Any:
    """The pattern as RE2 reads it."""
    return re2.compile(pattern)


def matches(pattern: str, text: str) -> bool:
    """Whether RE2 finds the pattern in a text."""
    return matcher(pattern).search(text) is not None


def matching(pattern: str, low: int = 0, high: int | None = None) -> st.SearchStrategy[str] | None:
    """Texts with a match, of ``low`` to ``high`` code points as far as the pattern's form shows how; None for a
    pattern that Python cannot express.
    """
    one = _ONE_CLASS.match(pattern)
    if one is not None:
        least = max(low, 1 if one[2] == "+" else 0)
        pattern_of = (
            f"\\A{one[1]}{{{least},{max(least, min(high if high is not None else least + 24, least + 24))}}}\\Z"
        )
    else:
        pattern_of = pattern
    written = _for_python(pattern_of)
    if written is None:
        return None
    try:
        compiled = re.compile(written, re.ASCII)
        found = st.from_regex(compiled, alphabet=st.characters(codec="utf-8", exclude_characters="\x00"))
        found.validate()
    except Exception:  # from_regex has no list of what it raises for syntax that it does not draw
        try:
            found = st.from_regex(re.compile(written, re.ASCII))
            found.validate()
        except Exception:
            return None
    return found.filter(lambda text: _is_text(text) and matches(pattern, text))


def _is_text(text: str) -> bool:
    """Whether a text has no half of a surrogate pair."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def _for_python(pattern: str) -> str | None:
    out: list[str] = []
    inside = False
    for token in _TOKEN.finditer(pattern):
        if (quoted := token["quoted"]) is not None:
            out.append(re.escape(quoted))
        elif token["negated"] is not None:
            name = token["long"] or token["short"]
            negated = (token["negated"] == "P") != name.startswith("^")
            letters = _CATEGORIES.get(name.lstrip("^"))
            if letters is None or (negated and inside):
                return None
            out.append(letters if inside else f"[{'^' if negated else ''}{letters}]")
        elif token["posix"] is not None:
            letters = _CLASSES.get(token["posix"].lstrip("^"))
            if letters is None or token["posix"].startswith("^"):
                return None
            out.append(letters)
        elif token["hex"] is not None:
            out.append(f"\\U{int(token['hex'], 16):08x}")
        elif (escaped := token["escape"]) is not None:
            out.append({"z": "\\Z", "C": "."}.get(escaped, f"\\{escaped}") if not inside else f"\\{escaped}")
        elif token["flags"] is not None:
            flags = token["flags"].replace("U", "")
            if out and flags:
                return None  # Python takes flags for the rest of a pattern at its beginning only
            out.append(f"(?{flags})" if flags else "")
        elif token["open"] is not None:
            # A bracket within a class stands for itself.
            out.append("\\[" if inside else token["open"])
            inside = True
        elif token["close"] is not None:
            first = inside and out[-1] in ("[", "[^")
            out.append("\\]" if first or not inside else "]")
            inside = inside and first
        else:
            letter = token["other"]
            # Python's $ matches before a line break at the end, too.
            out.append("\\Z" if letter == "$" and not inside else letter)
    return "".join(out)
