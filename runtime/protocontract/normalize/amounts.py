"""Amounts of money inside running text: each unambiguous one becomes its standard form, "<code> <amount>".

What an amount is and what it means is decided by the normalizer ``money`` with the same options. An amount that it
refuses (ambiguous, no currency, a currency that is not allowed) stays as it is and is reported as a warning.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from protocontract.normalize.edits import Edit, splice
from protocontract.violations import OptionError, Refusal


class AmountFinder:
    """The step ``amounts`` with its options bound."""

    __slots__ = ("_find", "_options")

    def __init__(self, options: Mapping[str, Any]) -> None:
        from protocontract.normalize import money

        try:
            money.normalizer(**options)
        except TypeError as error:
            raise OptionError("amounts", "no such option of money") from error
        self._options = dict(options)
        self._find = money.find

    def edits(self, text: str) -> list[Edit]:
        """The edits that bring every amount that can be read into its standard form."""
        found: list[Edit] = []
        for start, end, money in self._find(text, **self._options):
            if isinstance(money, Refusal):
                continue
            standard = f"{money.currency} {money.amount}"
            if text[start:end] != standard:
                found.append(Edit(start, end, standard))
        return found

    def apply(self, text: str) -> str:
        """The text with every amount that can be read in its standard form."""
        edits = self.edits(text)
        return splice(text, edits) if edits else text

    def warnings(self, text: str) -> list[Refusal]:
        """Why amounts were left as they are; ``index`` counts all amounts of the text."""
        return [
            Refusal(money.rule_id, money.message, index)
            for index, (_, _, money) in enumerate(self._find(text, **self._options))
            if isinstance(money, Refusal)
        ]


def finder(options: Mapping[str, Any]) -> AmountFinder:
    """Checks and binds the options of ``money`` for amounts inside a text; raises OptionError for wrong ones."""
    if not isinstance(options, Mapping) or not all(isinstance(name, str) for name in options):
        raise OptionError("amounts", "expected the options of the normalizer money by name")
    return AmountFinder(options)
