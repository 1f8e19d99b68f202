"""GitLab's code quality report: https://docs.gitlab.com/ci/testing/code_quality/ (a list of issues)."""

from __future__ import annotations

import json
from typing import Any, Final

from protocontract_ci.reports.items import Item, Level, items
from protocontract_ci.reports.report import Report

_SEVERITIES: Final[dict[Level, str]] = {"error": "critical", "warning": "minor", "note": "info"}


def render(report: Report) -> str:
    """The report. GitLab follows an issue from run to run by its fingerprint, which no moved line changes."""
    return json.dumps([_issue(item) for item in items(report)], indent=1, ensure_ascii=False)


def _issue(item: Item) -> dict[str, Any]:
    owner = f" ({item.owner})" if item.owner else ""
    return {
        "description": f"{item.title}{owner}: {item.because}",
        "check_name": f"protocontract/{item.rule}",
        "fingerprint": item.fingerprint,
        "severity": _SEVERITIES[item.level],
        "content": {"body": item.text},
        # An issue without a place is refused by GitLab.
        "location": {"path": item.file or ".", "lines": {"begin": max(item.line, 1)}},
    }
