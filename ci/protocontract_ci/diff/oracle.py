"""The seam to ``protocontract_ci.meaning``: who compares the rules of a message exactly.

The diff decides clear cases by a table (``rule_table``) and asks the oracle about every message whose rules differ.
What the oracle has settled wins over the table; what it leaves ``unknown`` is decided by the table, and what neither
decides is breaking (D12 of the gate's decisions).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Protocol, TypeAlias

from protocontract_ci.model import RuleComparison
from protocontract_ci.sources import Contracts

RuleKey: TypeAlias = tuple[str, str]
"""The field's name before (after, where the rule or field is new; "" for the message) and the rule's path there."""


@dataclass(frozen=True, slots=True)
class MessageComparison:
    """What the rules of a message mean, as a whole and one by one.

    Of a rule that differs, with ``rb`` before and ``ra`` after (true where the rule is not there): ``stronger`` where
    all rules after imply ``rb`` and those before do not imply ``ra``; ``weaker`` the other way round; ``equal`` where
    both imply, ``incomparable`` where neither does, each with a witness; ``unknown`` otherwise. So a rule that is
    removed is ``equal`` where what is left demands the same, else ``weaker``.
    """

    message: RuleComparison
    rules: Mapping[RuleKey, RuleComparison] = field(default_factory=dict)


class Oracle(Protocol):
    """Compares a message of two states. ``old`` and ``new`` are its full names before and after."""

    def compare(self, before: Contracts, after: Contracts, old: str, new: str) -> MessageComparison:
        """What is known. Never raises for a contract that it cannot decide: that is ``unknown``."""
        ...


def installed_oracle() -> Oracle | None:
    """The oracle of the extra ``gate``; None where z3 is not installed (then tables alone decide)."""
    try:
        oracle: Oracle = import_module("protocontract_ci.meaning.oracle").MeaningOracle()
    except ImportError:
        return None
    return oracle
