"""What violations say in other languages: ``Violation.localized``.

A translation is found by rule id, in one of the catalogues that come with protocontract (``zh``) or in any gettext
catalogue of the user's whose msgids are rule ids:

- a standard rule of buf.validate: the constants of its English message fill ``{0}`` and ``{1}`` of the translation;
- one of protocontract's own rules: the translation says what the rule is about, without the details of the record;
- a rule of the contract's: its own message stands, unless the user's catalogue has its id (or, where it has none, its
  expression). A contract that gives a standard id to a rule of its own keeps its message, too.

What no catalogue has stays in English. The catalogues are Python modules and not .mo files: nothing needs to be
compiled, and a test compares them with the rules that exist.
"""

from __future__ import annotations

import gettext
import re
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Final

from protocontract.translations.en import TEMPLATES

if TYPE_CHECKING:
    from protocontract.violations import Violation

#: Languages that come with protocontract beside English.
LANGUAGES: Final = ("zh",)

_PLACE: Final = re.compile(r"\{(\d)\}")


class Catalogue(gettext.NullTranslations):
    """A catalogue that is a mapping from rule id to text."""

    def __init__(self, texts: dict[str, str]) -> None:
        super().__init__()
        self._texts = texts

    def gettext(self, message: str) -> str:
        """The text of a rule id; the id itself where there is none."""
        return self._texts.get(message, message)


@cache
def catalogue(language: str) -> Catalogue | None:
    """The catalogue of a language tag (``zh``, ``zh-CN``, ``zh_Hans_CN``); None where there is none, as for English."""
    primary = re.split("[-_.]", language, maxsplit=1)[0].lower()
    if primary not in LANGUAGES:
        return None
    texts: dict[str, str] = import_module(f"protocontract.translations.{primary}").TEXTS
    return Catalogue(texts)


def localized(violation: Violation, language: str | gettext.NullTranslations) -> str:
    """The message of a violation in a language, or by a catalogue of the user's; in English where neither has it."""
    own_words = violation.message
    translations = catalogue(language) if isinstance(language, str) else language
    if translations is None:
        return own_words
    msgid, constants = _standard(violation.rule_id, own_words)
    if msgid is None:
        from protocontract.ids import RULES

        if violation.rule_id not in RULES and isinstance(language, str):
            return own_words
        msgid = violation.rule_id or violation.rule.rule_text
    # An empty msgid is the header of a gettext catalogue.
    text = translations.gettext(msgid) if msgid else msgid
    if text == msgid:
        return own_words
    return _PLACE.sub(lambda place: constants[int(place[1])] if int(place[1]) < len(constants) else place[0], text)


def _standard(rule_id: str, message: str) -> tuple[str | None, tuple[str, ...]]:
    """The msgid of a standard rule's message and the constants in it; None where it is none."""
    for msgid, pattern in _patterns(rule_id):
        match = pattern.fullmatch(message)
        if match is not None:
            return msgid, match.groups()
    return None, ()


@cache
def _patterns(rule_id: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple(
        (msgid, re.compile("(.*)".join(map(re.escape, template.split("{}"))), re.DOTALL))
        for msgid, template in TEMPLATES.get(rule_id, {}).items()
    )


__all__ = ["LANGUAGES", "Catalogue", "catalogue", "localized"]
