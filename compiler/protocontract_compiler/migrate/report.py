"""What a migration says: what was turned, what stays for a person, what a person should know."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["left", "note"]


@dataclass(frozen=True, slots=True)
class Finding:
    """``left``: an annotation that stays as it was. ``note``: one that was turned, and what is to be known of it."""

    kind: Kind
    file: str
    line: int
    what: str
    why: str


@dataclass(slots=True)
class Migrated:
    """A file's new text, with what was found. ``turned`` counts annotations."""

    file: str
    before: str
    after: str
    turned: int = 0
    findings: list[Finding] = field(default_factory=list)
