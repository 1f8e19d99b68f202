"""The answer for programs: all of it, as an object that JSON can hold."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from protocontract_ci.diff import render_json
from protocontract_ci.model import Finding, ModuleVerdict
from protocontract_ci.reports.impact import Impact, wilson
from protocontract_ci.reports.items import fingerprint, what_changed, why
from protocontract_ci.reports.report import Report


def as_object(report: Report) -> dict[str, Any]:
    """The whole answer. ``file`` of a module is the path as the folder was named."""
    found: dict[str, Any] = {
        "changes": [render_json.change_object(change) for change in report.changes],
        "modules": [_verdict_object(report, verdict) for verdict in report.verdicts],
        "demands": [
            {"path": change.path, "kind": change.kind, "demand": change.demand} for change in report.diff.demands
        ],
        "summary": dict(report.counts()),
        "exit_code": report.exit_code,
    }
    if report.impacts:
        found["impacts"] = [impact_object(impact) for impact in report.impacts]
    if report.slowdowns:
        found["slowdowns"] = [{**asdict(each), "too_slow": each.too_slow} for each in report.slowdowns]
    if report.conformances:
        found["conformances"] = [{**asdict(each), "failed": each.failed} for each in report.conformances]
    if report.notes:
        found["notes"] = list(report.notes)
    return found


def impact_object(impact: Impact) -> dict[str, Any]:
    """The impact on a sample: counts with the bounds of their Wilson intervals at 95 %."""
    return {
        "message": impact.message,
        "source": impact.source,
        "records": impact.records,
        "refused": impact.refused,
        "counts": {
            kind: dict(zip(("records", "low", "high"), (number, *wilson(number, impact.records)), strict=True))
            for kind, number in impact.counts
        },
        "rules": [
            {
                "kind": rule.kind,
                "rule": rule.rule,
                "path": rule.path,
                "records": rule.records,
                "low": wilson(rule.records, impact.records)[0],
                "high": wilson(rule.records, impact.records)[1],
                **({"example": rule.example} if rule.example else {}),
            }
            for rule in impact.rules
        ],
    }


def _verdict_object(report: Report, verdict: ModuleVerdict) -> dict[str, Any]:
    found: dict[str, Any] = {
        "module": verdict.module,
        "file": report.file(verdict.file),
        "verdict": verdict.verdict,
        "because": verdict.because,
        "lines": list(verdict.lines),
        "related": list(verdict.related),
        "proof": verdict.proof,
        "role": verdict.role,
        "findings": [_finding_object(report, finding) for finding in verdict.findings],
    }
    if verdict.owner:
        found["owner"] = verdict.owner
    if verdict.module in report.tolerated:
        found["tolerated"] = True
    if verdict.witness is not None:
        found["witness"] = render_json.witness_object(verdict.witness)
    return found


def _finding_object(report: Report, finding: Finding) -> dict[str, Any]:
    change = finding.change
    return {
        "id": finding.id,
        "fingerprint": fingerprint(finding.id),
        "path": change.path,
        "kind": change.kind,
        "step": change.step,
        "verdict": finding.verdict,
        "because": finding.because,
        "what": what_changed(change),
        "why": why(change, finding.role),
        "file": report.file(finding.file),
        "lines": list(finding.lines),
        "related": list(finding.related),
        "proof": finding.proof,
        "decision": finding.decision,
        "notice": finding.notice,
    }
