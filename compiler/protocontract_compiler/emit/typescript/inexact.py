"""What TypeScript cannot do exactly as Python does, and is refused for that reason."""

from __future__ import annotations

from protocontract_compiler import ir


class Inexact(Exception):
    """A word, rule or expression of a contract that cannot be translated exactly.

    ``place`` is where the contract says it, ``what`` names it and says why, ``hint`` what to do.
    """

    def __init__(self, place: ir.Place, what: str, hint: str) -> None:
        super().__init__(what)
        self.place = place
        self.what = what
        self.hint = hint
