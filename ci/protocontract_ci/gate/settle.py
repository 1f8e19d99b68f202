"""Makes a module's verdict of its findings: what it acknowledged, what was open before, what is but a notice."""

from __future__ import annotations

import datetime
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Final

from protocontract_ci.model import Change, Finding, ModuleVerdict
from protocontract_ci.modules import Module
from protocontract_ci.verdicts.folder import summary
from protocontract_ci.verdicts.own import finding


@dataclass(frozen=True, slots=True)
class Settled:
    """A verdict, whether it makes the gate red, and what else there is to say, one sentence each."""

    verdict: ModuleVerdict
    fails: bool
    notices: tuple[str, ...] = ()


def settle(
    module: Module,
    verdicts: Sequence[ModuleVerdict],
    own: Sequence[Finding],
    *,
    in_code: Collection[str],
    opened: Collection[str],
    decisions: Mapping[str, str],
    file: str,
    today: datetime.date,
) -> Settled:
    """The verdict on a module from those on its files (``verdicts``) and findings of its own state (``own``).

    ``in_code`` are the acknowledgements in its code, as ``path step``; ``opened`` the ids of findings that were open
    before; ``file`` is where modules are declared.
    """
    findings = [replace(each, module=module.name) for verdict in verdicts for each in _findings(module.name, verdict)]
    findings += own
    findings = _of_the_whole_module(findings)
    findings, notices = _acknowledged(module, findings, in_code, file, today)
    settled = []
    for each in findings:
        if each.verdict == "not_adapted" and not each.notice:
            decision = decision_of(each)
            if module.mode != "all" and each.change.id in opened:
                each = replace(each, notice=True, because=f"{each.because} (open before)")
            elif decisions.get("D9") == "notice" and is_test(each.file):
                each = replace(each, notice=True, decision="D9", because=f"{each.because} (D9: a notice in tests)")
            elif decisions.get(decision) == "notice":
                each = replace(each, notice=True, decision=decision, because=f"{each.because} ({decision}: a notice)")
        settled.append(each)
    unread = [verdict for verdict in verdicts if verdict.verdict == "unverified"]
    verdict = _verdict(module, settled, unread)
    notices += [f"{each.change.path} {each.change.step}: {each.because}" for each in settled if each.notice]
    fails = verdict.verdict == "not_adapted" and module.mode != "report"
    return Settled(verdict, fails, tuple(dict.fromkeys(notices)))


def _findings(module: str, verdict: ModuleVerdict) -> Sequence[Finding]:
    """The findings of a file's verdict; one for a verdict that has none: a stale copy, or who imports it."""
    if verdict.findings or verdict.verdict != "not_adapted":
        return verdict.findings
    return [
        replace(
            finding(module, "copy_stale", verdict.file, verdict.because, verdict.file, verdict.lines), decision="D15"
        )
    ]


def _of_the_whole_module(findings: Sequence[Finding]) -> list[Finding]:
    """A new field that one file uses, the module uses."""
    used = {
        each.change.id
        for each in findings
        if each.change.acknowledge and each.change.kind == "field_added" and each.verdict == "adapted"
    }
    return [
        replace(each, verdict="adapted", because="another file of the module uses the new field", lines=(), related=())
        if each.change.id in used and each.verdict == "not_adapted"
        else each
        for each in findings
    ]


def _acknowledged(
    module: Module, findings: Sequence[Finding], in_code: Collection[str], file: str, today: datetime.date
) -> tuple[list[Finding], list[str]]:
    """Findings with the module's own words applied, and what is to say of those words."""
    notices = []
    found = []
    declared = {each.key: each for each in module.acknowledged}
    for each in findings:
        key = f"{each.change.path} {each.change.step}"
        word = declared.get(key)
        if each.verdict != "not_adapted":
            found.append(each)
        elif key in in_code:
            found.append(replace(each, verdict="adapted", because="acknowledged in the code", lines=(), related=()))
        elif word is not None and word.until >= today:
            because = f"acknowledged until {word.until}: {word.reason}"
            found.append(replace(each, verdict="adapted", because=because, lines=(), related=()))
        elif word is not None:
            found.append(replace(each, because=f"{each.because}; its acknowledgement ended on {word.until}"))
        else:
            found.append(each)
    open_ones = {f"{each.change.path} {each.change.step}" for each in findings if each.verdict == "not_adapted"}
    notices += [
        f"{file}:{word.line}: the acknowledgement of {key} is spent or fits nothing; remove it"
        for key, word in declared.items()
        if key not in open_ones
    ]
    return found, notices


def _verdict(module: Module, findings: Sequence[Finding], unread: Sequence[ModuleVerdict]) -> ModuleVerdict:
    counting = [each for each in findings if not each.notice]
    made = replace(summary(module.name, "", counting), owner=module.owner)
    if made.verdict != "not_adapted" and unread:
        first = unread[0]
        because = f"{first.file}: {first.because}" if first.file else first.because
        return replace(
            made, verdict="unverified", because=because, file=first.file, lines=(), proof="unresolved",
            findings=tuple(findings),
        )  # fmt: skip
    ruling = [each for each in counting if each.verdict == made.verdict]
    file = ruling[0].file if ruling else ""
    # Lines are of one file: those of others are in their findings.
    lines = tuple(sorted({line for each in ruling if each.file == file for line in each.lines}))
    related = tuple(sorted({line for each in ruling if each.file == file for line in each.related} - set(lines)))
    return replace(made, file=file, lines=lines, related=related, findings=tuple(findings))


_TEST: Final = re.compile(r"^test_.*\.py$|_test\.py$|\.(?:test|spec)\.[mc]?tsx?$")
_BY_KIND: Mapping[str, str] = {
    "field_removed": "D1", "enum_value_removed": "D1",
    "field_type_changed": "D2", "enum_value_renamed": "D2", "field_renamed": "D2",
    "field_presence_changed": "D3",
    "field_moved_into_oneof": "D4",
    "enum_value_added": "D5", "oneof_case_added": "D5",
    "number_reused": "D11",
    "unit_changed": "D13", "currency_changed": "D13",
    "level_changed": "D14", "service_level_changed": "D14",
    "copy_stale": "D15",
    "deprecated_added": "D17",
    "file_option_changed": "D8", "option_changed": "D8",
}  # fmt: skip


def decision_of(each: Finding) -> str:
    """The open question (D1 to D17, docs/gate.md) on which a finding rests; "" for none."""
    if each.decision:
        return each.decision
    if each.proof == "unresolved":
        return "D7"
    return _BY_KIND.get(each.change.kind, "") or _of_rule(each.change)


def is_test(file: str) -> bool:
    """Whether a file is a test, by its name or its folder."""
    path = PurePosixPath(file)
    return bool({"test", "tests", "__tests__"} & set(path.parts[:-1])) or bool(_TEST.search(path.name))


def _of_rule(change: Change) -> str:
    if change.relation in ("unknown", "incomparable"):
        return "D12"
    return "D6" if change.direction in ("tightened", "loosened") else ""
