"""What one change of the contracts means for one file of a module: the answer, and what it is made of.

A change that touches nothing which the file uses cannot hurt it. Where it does, the file has adapted or it has not, and
the lines, the proof and a message say why.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from protocontract_ci.model import Change, How, Proof, Use, Verdict, Witness
from protocontract_ci.usage.python.thresholds import Threshold
from protocontract_ci.verdicts.evidence import UNKNOWN, Evidence, Experiments, Subject

#: What a use does with an element.
WRITES: Final[frozenset[How]] = frozenset({"write", "construct", "clear"})
READS: Final[frozenset[How]] = frozenset(
    {"read", "has", "which_oneof", "json_name", "reflection", "match_open", "match_closed"}
)
BY_NAME: Final[frozenset[How]] = frozenset({"import", "type_only"})


@dataclass(frozen=True, slots=True)
class Meaning:
    """What one change means for a file."""

    verdict: Verdict
    because: str = ""
    lines: tuple[int, ...] = ()
    related: tuple[int, ...] = ()
    proof: Proof = "static"
    witness: Witness | None = None
    decision: str = ""


UNAFFECTED: Final = Meaning("unaffected")


@dataclass
class FileOfModule:
    """A file with its uses. ``acknowledged`` are the changes that it names, as ``path step``."""

    module: str
    file: str
    uses: Sequence[Use]
    experiments: Experiments
    acknowledged: frozenset[str] = frozenset()
    #: The numbers that it compares with, waits for or works by.
    thresholds: Sequence[Threshold] = ()


def worst(meanings: Sequence[Meaning]) -> Meaning:
    """The worst of several meanings, the first one of its kind."""
    order: tuple[Verdict, ...] = ("not_adapted", "unverified", "adapted", "unaffected")
    return min(meanings, key=lambda meaning: order.index(meaning.verdict), default=UNAFFECTED)


def not_adapted(
    because: str, uses: Iterable[Use], evidence: Evidence = UNKNOWN, *, proof: Proof = "static", decision: str = ""
) -> Meaning:
    """The lines of ``uses`` have not adapted. Where none of these uses is certain, the finding is unresolved (D7)."""
    uses = list(uses)
    lines = tuple(sorted({use.line for use in uses}))
    related = tuple(sorted({use.origin for use in uses if use.origin} | set(evidence.lines)))
    if uses and not any(use.certain for use in uses):
        proof, decision = "unresolved", decision or "D7"
    return Meaning("not_adapted", because, lines, related, proof, evidence.witness, decision)


def named(file: FileOfModule, *paths: str) -> list[Use]:
    """The uses of elements by their full names."""
    return [use for use in file.uses if use.path in paths and use.path]


def subject_of(change: Change) -> Subject:
    """The field or oneof of a change, as experiments ask about it."""
    element = change.element
    names = (element.short_name, element.new_short_name)
    return Subject(
        element.message or element.new_message,
        element.new_message or element.message,
        tuple(dict.fromkeys(name for name in names if name)),
        demanded=demands_presence(change),
        shown=shown_by(change, element.message, element.new_message),
    )


def shown_by(change: Change, *messages: str) -> tuple[bytes, ...]:
    """The witness of a change, where it is of the message that is asked about."""
    witness = change.witness
    return (witness.data,) if witness is not None and witness.message in messages else ()


def demands_presence(change: Change) -> bool:
    """Whether the change is of the rule that a field has to be set."""
    return change.path.endswith("@required")
