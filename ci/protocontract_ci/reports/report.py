"""What a report of the gate is made from, whatever its format: the comparison, the verdicts, the impact on data."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from protocontract.cli import BROKEN, COULD_NOT_CHECK, KEPT
from protocontract_ci.diff.compare import Diff
from protocontract_ci.model import Change, ModuleVerdict, Verdict
from protocontract_ci.reports.conformance import Conformance
from protocontract_ci.reports.impact import Impact
from protocontract_ci.reports.slowdown import Slowdown

#: The verdicts that need somebody to do something, the worst first.
OPEN: Final[tuple[Verdict, ...]] = ("not_adapted", "unverified")
_ORDER: Final[tuple[Verdict, ...]] = ("not_adapted", "unverified", "adapted", "unaffected")


@dataclass(frozen=True)
class Report:
    """One answer of the gate.

    ``root`` is the folder that the files of verdicts are below, as the user named it. ``top`` is the top of the
    repository, from where platforms count paths, and ``here`` the folder that relative paths start from.
    ``declared``: whether the modules stand in modules.toml, so that ``protocontract adapt`` knows them. ``notes`` are
    further facts, one a sentence. ``tolerated`` are names of modules that are shown and make nothing red
    (mode = report, required = false).
    """

    diff: Diff
    verdicts: Sequence[ModuleVerdict]
    root: Path = field(default_factory=Path)
    top: Path = field(default_factory=Path.cwd)
    here: Path = field(default_factory=Path.cwd)
    declared: bool = False
    impacts: Sequence[Impact] = ()
    slowdowns: Sequence[Slowdown] = ()
    conformances: Sequence[Conformance] = ()
    notes: Sequence[str] = ()
    tolerated: frozenset[str] = frozenset()
    show_values: bool = False

    @property
    def changes(self) -> Sequence[Change]:
        """All changes between the two states."""
        return self.diff.changes

    @property
    def telling(self) -> list[Change]:
        """The changes that somebody can tell."""
        return [change for change in self.changes if change.direction != "neutral"]

    def counts(self) -> Mapping[Verdict, int]:
        """How many verdicts of each kind there are, the worst first."""
        return {kind: sum(verdict.verdict == kind for verdict in self.verdicts) for kind in _ORDER}

    def red(self, verdict: ModuleVerdict) -> bool:
        """Whether the verdict makes the gate fail."""
        return verdict.verdict in OPEN and verdict.module not in self.tolerated

    def ordered(self) -> list[ModuleVerdict]:
        """The verdicts, the worst first, then by module."""
        return sorted(self.verdicts, key=lambda each: (_ORDER.index(each.verdict), each.module, each.file))

    @property
    def exit_code(self) -> int:
        """0, 1 or 2. What has not adapted, or what the contract has to settle, outweighs what cannot be judged."""
        found = {verdict.verdict for verdict in self.verdicts if self.red(verdict)}
        if "not_adapted" in found or self.diff.demands or self.too_slow or self.not_conforming:
            return BROKEN
        return COULD_NOT_CHECK if "unverified" in found else KEPT

    @property
    def too_slow(self) -> list[Slowdown]:
        """The messages that cost more than the limit allows."""
        return [each for each in self.slowdowns if each.too_slow]

    @property
    def not_conforming(self) -> list[Conformance]:
        """The messages of which validators say what no change tells, or do not agree."""
        return [each for each in self.conformances if each.failed]

    def file(self, name: str) -> str:
        """A file of a module as an editor that was started here opens it."""
        return (self.root / name).as_posix() if name else ""

    def from_top(self, path: str) -> str:
        """A path (of ``file``, or of a contract) below the top of the repository; itself where it is outside."""
        if not path:
            return ""
        full = Path(os.path.normpath(self.here / path))
        return full.relative_to(self.top).as_posix() if full.is_relative_to(self.top) else path

    def headline(self) -> str:
        """The answer in one sentence."""
        red = {kind: sum(self.red(each) and each.verdict == kind for each in self.verdicts) for kind in OPEN}
        demands = len(self.diff.demands)
        total = len(self.verdicts)
        parts = []
        if red["not_adapted"]:
            verb = "has" if red["not_adapted"] == 1 else "have"
            parts.append(f"{red['not_adapted']:,} of {total:,} modules {verb} not adapted")
        if demands:
            parts.append(f"the contract itself demands {demands:,} change{'s' if demands > 1 else ''}")
        if red["unverified"]:
            parts.append(f"{red['unverified']:,} of {total:,} modules cannot be judged")
        if self.too_slow:
            parts.append(f"slower than allowed: {', '.join(each.message for each in self.too_slow)}")
        if self.not_conforming:
            parts.append(f"not as the changes say: {', '.join(each.message for each in self.not_conforming)}")
        if parts:
            return "; ".join(parts)
        if not total:
            return "no module was found"
        if total == 1:
            return "the one module has adapted or is not affected"
        return f"all {total:,} modules have adapted or are not affected"
