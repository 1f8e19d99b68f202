"""JUnit XML: one test case a module, and one for the contract where it has something to settle itself."""

from __future__ import annotations

import re
from typing import Final
from xml.etree import ElementTree

from protocontract_ci.model import ModuleVerdict
from protocontract_ci.reports.items import IMPACT, Item, items
from protocontract_ci.reports.report import Report

# XML 1.0 has no way to write these, escaped or not.
_FORBIDDEN: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(report: Report) -> str:
    """The report. A module that has not adapted is a failure, one that cannot be judged an error."""
    by_module: dict[str, list[Item]] = {}
    for item in items(report):
        by_module.setdefault(item.module, []).append(item)
    suite = ElementTree.Element("testsuite", {"name": "protocontract gate"})
    of_contract = [item for item in by_module.get("", []) if item.rule != IMPACT]
    if of_contract:
        case = _case(suite, "the contract", "")
        _ending(case, "failure", "; ".join(dict.fromkeys(item.title for item in of_contract)), of_contract)
    for verdict in sorted(report.verdicts, key=lambda each: (each.module, each.file)):
        _module(report, suite, verdict, by_module.get(verdict.module, []))
    failures = len(suite.findall("testcase/failure"))
    errors = len(suite.findall("testcase/error"))
    counts = {"tests": str(len(suite)), "failures": str(failures), "errors": str(errors), "skipped": "0"}
    suite.attrib.update(counts)
    _impacts(report, suite)
    root = ElementTree.Element("testsuites", {"name": "protocontract gate", **counts})
    root.append(suite)
    ElementTree.indent(root, " ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode")


def _module(report: Report, suite: ElementTree.Element, verdict: ModuleVerdict, found: list[Item]) -> None:
    case = _case(suite, verdict.module, report.from_top(report.file(verdict.file)))
    if report.red(verdict):
        _ending(case, "failure" if verdict.verdict == "not_adapted" else "error", verdict.because, found)
        return
    told = f"{verdict.verdict.replace('_', ' ')}: {verdict.because}"
    ElementTree.SubElement(case, "system-out").text = _clean("\n\n".join([told, *map(_told, found)]))


def _case(suite: ElementTree.Element, name: str, file: str) -> ElementTree.Element:
    attributes = {"classname": "protocontract.gate", "name": _clean(name)}
    if file:
        attributes["file"] = _clean(file)
    return ElementTree.SubElement(suite, "testcase", attributes)


def _ending(case: ElementTree.Element, kind: str, message: str, found: list[Item]) -> None:
    kinds = sorted({item.rule for item in found})
    attributes = {"message": _clean(message), "type": " ".join(kinds) or kind}
    ElementTree.SubElement(case, kind, attributes).text = _clean("\n\n".join(map(_told, found)))


def _told(item: Item) -> str:
    place = f"{item.file}:{item.line}" if item.line else item.file
    owner = f"owner: {item.owner}" if item.owner else ""
    return "\n".join(part for part in (place, item.text, owner) if part)


def _impacts(report: Report, suite: ElementTree.Element) -> None:
    if report.impacts:
        told = [
            "\n".join([impact.headline, *(f"{kind}: {impact.share(number)}" for kind, number in impact.counts)])
            for impact in report.impacts
        ]
        ElementTree.SubElement(suite, "system-out").text = _clean("\n\n".join(told))


def _clean(text: str) -> str:
    return _FORBIDDEN.sub("\ufffd", text)
