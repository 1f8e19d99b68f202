"""What changes mean for SQL: as for any code, but for changes that cannot reach what goes by names alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from protocontract_ci.execution.samples import SampleMaker
from protocontract_ci.model import Finding, Use
from protocontract_ci.usage.sql import SqlFile
from protocontract_ci.verdicts.declared import NoExperiments
from protocontract_ci.verdicts.evidence import Evidence, Subject
from protocontract_ci.verdicts.for_file import FileOfModule
from protocontract_ci.verdicts.judge import Judge
from protocontract_ci.verdicts.literals import Literals

#: Numbers on the wire and files that are imported: no query has them.
_OUT_OF_REACH: Final = frozenset({"field_renumbered", "message_moved_file", "enum_moved_package", "enum_moved_file"})


class SqlExperiments(NoExperiments):
    """Nothing is run; literals that are written are judged as those of TypeScript are."""

    def __init__(self, found: SqlFile, maker: SampleMaker) -> None:
        """Judges nothing yet."""
        super().__init__()
        self._literals = Literals(found, maker)

    def writers(self, subject: Subject, uses: Sequence[Use]) -> Evidence:
        """See Experiments."""
        return self._literals.writers(subject, uses)


def sql_findings(judge: Judge, file: FileOfModule, found: SqlFile) -> list[Finding]:
    """The findings of the judge that can hurt SQL."""
    return [each for each in judge.findings(file) if _reaches(each, found)]


def together(code: Sequence[Finding], sql: Sequence[Finding]) -> list[Finding]:
    """The findings of a file and of the SQL in it: a new field that one of them uses is used by the file."""
    found = [*code, *sql]
    used = {each.change.path for each in found if each.change.kind == "field_added" and each.verdict == "adapted"}
    return [
        each
        for each in found
        if each.change.kind != "field_added" or each.change.path not in used or each.verdict == "adapted"
    ]


def _reaches(finding: Finding, found: SqlFile) -> bool:
    if finding.change.kind == "enum_value_renumbered":
        return any((line, finding.change.path) in found.numbers for line in finding.lines)
    return finding.change.kind not in _OUT_OF_REACH
