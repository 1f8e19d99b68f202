"""Compares two states of the contracts: the one function that names every part, in order."""

from __future__ import annotations

from dataclasses import dataclass

from protocontract_ci.diff.annotations import compare_annotations
from protocontract_ci.diff.collector import Collector
from protocontract_ci.diff.elements import compare_extensions, compare_files, compare_messages
from protocontract_ci.diff.enums import compare_enums
from protocontract_ci.diff.levels import compare_contracts, compare_service_levels
from protocontract_ci.diff.oracle import Oracle
from protocontract_ci.diff.pairing import Pairs, pair
from protocontract_ci.diff.rules import compare_rules
from protocontract_ci.diff.services import compare_services
from protocontract_ci.diff.versions import VersionNeed, compare_versions
from protocontract_ci.model import Change
from protocontract_ci.sources import Contracts


@dataclass(frozen=True)
class Diff:
    """The changes between two states, with the states themselves. ``notes`` are for the user, one a sentence."""

    before: Contracts
    after: Contracts
    changes: tuple[Change, ...]
    pairs: Pairs
    versions: tuple[VersionNeed, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def demands(self) -> tuple[Change, ...]:
        """The changes that the contract itself has to settle, whatever modules do."""
        return tuple(change for change in self.changes if change.demand)


def compare(before: Contracts, after: Contracts, oracle: Oracle | None = None) -> Diff:
    """All changes from one state to another. ``oracle`` settles what the table of rules leaves open."""
    collector = Collector(before, after, pair(before, after))
    compare_files(collector)
    fields = compare_messages(collector)
    compare_extensions(collector)
    compare_enums(collector)
    methods = compare_services(collector)
    compare_rules(collector, fields, oracle)
    compare_annotations(collector, fields)
    compare_contracts(collector, fields)
    compare_service_levels(collector, methods)
    # Last: a version is judged by all that changed.
    versions = compare_versions(collector, fields)
    notes = [*_notes("before", before), *_notes("after", after)]
    return Diff(before, after, tuple(collector.changes), collector.pairs, tuple(versions), tuple(notes))


def _notes(side: str, contracts: Contracts) -> list[str]:
    return [f"{side}: {note}" for note in (*contracts.notes, *contracts.mistakes)]
