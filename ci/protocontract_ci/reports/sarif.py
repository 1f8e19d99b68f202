"""SARIF 2.1.0 (https://docs.oasis-open.org/sarif/sarif/v2.1.0), as GitHub's code scanning and editors read it."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final
from urllib.parse import quote

from protocontract_ci.reports.items import Item, Level, items
from protocontract_ci.reports.report import Report

_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
#: GitHub shows so many results of a run, the first ones, and takes so many places of one result.
MOST_RESULTS: Final = 5_000
MOST_PLACES: Final = 100
#: The folder that all paths are below; whoever reads the log knows where that is.
_ROOT: Final = "%SRCROOT%"
_LEVELS: Final[dict[Level, str]] = {"error": "error", "warning": "warning", "note": "note"}


def render(report: Report) -> str:
    """The log, with one run."""
    return json.dumps(log(report), indent=1, ensure_ascii=False)


def log(report: Report) -> dict[str, Any]:
    """The log as an object."""
    found = items(report)
    shown = found[:MOST_RESULTS]
    rules = sorted({item.rule for item in shown})
    run: dict[str, Any] = {
        "tool": {
            "driver": {
                "name": "protocontract gate",
                "semanticVersion": _version(),
                "rules": [_rule(name) for name in rules],
            }
        },
        "automationDetails": {"id": "protocontract-gate/"},
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": True, "exitCode": report.exit_code}],
        "results": [_result(report, item, rules.index(item.rule)) for item in shown],
        "properties": {"headline": report.headline()},
    }
    if len(found) > len(shown):
        run["invocations"][0]["toolExecutionNotifications"] = [
            {"level": "note", "message": {"text": f"{len(found) - len(shown):,} more findings are not in this log"}}
        ]
    if report.impacts:
        run["properties"]["impacts"] = [
            {"headline": impact.headline, **dict(impact.counts)} for impact in report.impacts
        ]
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(name: str) -> dict[str, Any]:
    text = name.replace("_", " ")
    return {
        "id": name,
        "name": "".join(part.capitalize() for part in name.split("_")),
        "shortDescription": {"text": f"{text[:1].upper()}{text[1:]}"},
        "defaultConfiguration": {"level": "error"},
    }


def _result(report: Report, item: Item, rule: int) -> dict[str, Any]:
    found: dict[str, Any] = {
        "ruleId": item.rule,
        "ruleIndex": rule,
        "level": _LEVELS[item.level],
        "message": {"text": f"{item.title}\n{item.text}"},
        # All of these lines have to change, which is what several locations of one result mean.
        "locations": [_location(item.file, line) for line in (item.lines or (0,))[:MOST_PLACES] if item.file],
        "partialFingerprints": {"protocontractFinding/v1": item.fingerprint},
        "properties": {
            name: value
            for name, value in (
                ("module", item.module), ("owner", item.owner), ("role", item.role), ("proof", item.proof),
                ("path", item.change.path if item.change else ""), ("step", item.change.step if item.change else ""),
            )
            if value
        },
    }  # fmt: skip
    related = [_location(item.file, line, "belongs to it") for line in item.related[:MOST_PLACES]]
    place = item.change.where if item.change is not None else None
    if place is not None:
        related.insert(0, _location(report.from_top(place.file), place.line, "the contract"))
    if related:
        found["relatedLocations"] = related
    return found


def _location(file: str, line: int, message: str = "") -> dict[str, Any]:
    absolute = file.startswith("/")
    where: dict[str, Any] = {"uri": f"file://{quote(file)}"} if absolute else {"uri": quote(file), "uriBaseId": _ROOT}
    physical: dict[str, Any] = {"artifactLocation": where}
    if line:
        physical["region"] = {"startLine": line}
    found: dict[str, Any] = {"physicalLocation": physical}
    if message:
        found["message"] = {"text": message}
    return found


def _version() -> str:
    try:
        return version("protocontract")
    except PackageNotFoundError:
        return "0.0.0"
