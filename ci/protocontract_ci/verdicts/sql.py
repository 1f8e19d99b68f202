"""What changes mean for SQL: as for any code, but for changes that cannot reach what goes by names alone."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from protocontract_ci.model import Finding
from protocontract_ci.usage.sql import SqlFile
from protocontract_ci.verdicts import acknowledgements
from protocontract_ci.verdicts.declared import NoExperiments
from protocontract_ci.verdicts.judge import FileOfModule, Judge

#: Numbers on the wire and files that are imported: no query has them.
_OUT_OF_REACH: Final = frozenset({"field_renumbered", "message_moved_file", "enum_moved_package", "enum_moved_file"})


def sql_findings(
    judge: Judge, name: str, found: SqlFile, acknowledged: Collection[acknowledgements.Acknowledgement]
) -> list[Finding]:
    """The findings of a file that is called ``name``. Nothing is run, and nothing type-checked."""
    file = FileOfModule(name, name, found.uses, NoExperiments(), frozenset(each.key for each in acknowledged))
    return [each for each in judge.findings(file) if _reaches(each, found)]


def _reaches(finding: Finding, found: SqlFile) -> bool:
    if finding.change.kind == "enum_value_renumbered":
        return any((line, finding.change.path) in found.numbers for line in finding.lines)
    return finding.change.kind not in _OUT_OF_REACH
