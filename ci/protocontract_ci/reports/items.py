"""The things that somebody has to look at, one for each finding: what every format shows at a place in a file."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from protocontract_ci.diff.wording import sentence
from protocontract_ci.model import OWN_STATE, Change, Finding, Kind, ModuleVerdict, Proof, Role
from protocontract_ci.reports.conformance import Conformance
from protocontract_ci.reports.impact import WORDS, Impact
from protocontract_ci.reports.report import OPEN, Report
from protocontract_ci.reports.slowdown import Slowdown
from protocontract_ci.reports.witnesses import witness_text

Level: TypeAlias = Literal["error", "warning", "note"]
_LEVELS: Final[tuple[Level, ...]] = ("error", "warning", "note")
#: What is shown by a message comes before what the code shows, and that before what cannot be decided.
_PROOFS: Final[tuple[Proof, ...]] = ("witness", "static", "unresolved")
#: The rule of an item that tells the impact on a sample.
IMPACT: Final = "impact_on_data"
#: The rule of an item that tells that a message costs more than allowed.
SLOWER: Final = "slower_than_allowed"
#: The rule of an item that tells that validators say what no change tells.
UNEXPLAINED: Final = "not_as_changes_say"
#: The owner of what has none.
NOBODY: Final = "no owner"
#: What helps where a module's own state is at fault; no acknowledgement does.
_REMEDIES: Final[Mapping[Kind, str]] = {
    "name_unknown": "write a name that the contract has",
    "role_exceeded": "declare the role that {module} has, or leave the use out",
    "contract_undeclared": "name the contract in `contracts` of {module}, or leave the use out",
    "lock_edited": "let the locks be written by the proof: protocontract adapt {module}",
    "copy_stale": "generate the code anew from the contracts",
}
#: So many owners are named in one line.
_OWNERS: Final = 10


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to look at. ``file`` is below the top of the repository; ``line`` is 0 where none is known.

    ``fingerprint`` is made of the finding's id alone: it stays when code moves to another line or file. ``rule`` is
    the kind of the change, ``unverified``, ``stale_copy``, IMPACT, SLOWER or UNEXPLAINED. ``module`` is empty for what
    is about a contract itself.
    """

    fingerprint: str
    rule: str
    level: Level
    title: str
    because: str
    remedy: str
    file: str
    lines: tuple[int, ...] = ()
    related: tuple[int, ...] = ()
    module: str = ""
    owner: str = ""
    role: Role = "unknown"
    proof: Proof = "static"
    change: Change | None = None
    what: str = ""
    why: str = ""
    witness: str = ""

    @property
    def line(self) -> int:
        """The first line; 0 where none is known."""
        return self.lines[0] if self.lines else 0

    @property
    def facts(self) -> tuple[str, ...]:
        """A line each: the reason, the change, why it matters, the witness."""
        more = self.lines[1:]
        others = f" (also line{'s' if len(more) > 1 else ''} {', '.join(map(str, more))})" if more else ""
        return tuple(part for part in (self.because + others, self.what, self.why, self.witness) if part)

    @property
    def text(self) -> str:
        """Everything that fits anywhere, in lines: the facts, and what to do."""
        return "\n".join((*self.facts, self.remedy) if self.remedy else self.facts)


def items(report: Report) -> list[Item]:
    """All of them, the worst first, then by place: what has not adapted, the contract's own, what cannot be judged."""
    found = [item for verdict in report.verdicts for item in _of_module(report, verdict)]
    found += [_of_contract(report, change) for change in report.diff.demands]
    found += [_of_impact(report, impact) for impact in report.impacts if impact.differing]
    found += [_of_slowdown(report, slowdown) for slowdown in report.too_slow]
    found += [_of_conformance(report, conformance) for conformance in report.not_conforming]
    found.sort(
        key=lambda item: (
            _LEVELS.index(item.level), item.rule == "unverified", _PROOFS.index(item.proof), item.file, item.line,
            item.fingerprint,
        )
    )  # fmt: skip
    return _told_apart(found)


def what_changed(change: Change) -> str:
    """The change in a sentence that stands by itself."""
    return f"{change.path}: {sentence(change)} ({change.direction})"


def why(change: Change, role: Role) -> str:
    """Why a change matters to a module of that role; empty where the reason says it all."""
    if change.kind in OWN_STATE:
        return ""
    if change.acknowledge:
        return "every module that uses the message must use the new field or say that it ignores it"
    writes = "what it writes may be rejected from now on"
    reads = "it may be given what was refused until now"
    if change.direction == "tightened":
        return "records that were accepted may be rejected when it reads them again" if role == "reader" else writes
    if change.direction == "loosened":
        return reads
    if change.direction != "breaking":
        return ""
    broken = change.compatibility.broken(("bytes", "JSON", "generated Python", "generated TypeScript"))
    if broken:
        return f"{_listed(broken)} of before and after do not fit together"
    return {"reader": reads, "writer": writes}.get(role, f"{writes}, and {reads}")


def may_be_acknowledged(change: Change) -> bool:
    """Whether a module can settle it by a word, and not by its code or its declaration alone."""
    return change.kind not in _REMEDIES


def remedy(report: Report, finding: Finding) -> str:
    """What to do: adapt, or acknowledge; what can be pasted stands after a colon."""
    change = finding.change
    if not may_be_acknowledged(change):
        return _REMEDIES[change.kind].format(module=finding.module)
    if report.declared:
        return (
            f"adapt the code, or say why not: protocontract adapt {finding.module} --acknowledge {change.path} "
            '--reason "..." --until DATE'
        )
    return f"adapt the code, or say why not in a comment: contract-ack: {change.path} {change.step} (reason)"


def by_owner(found: Iterable[Item]) -> str:
    """``@ml-data 12, @payments 3``: how many things each owner has to look at, those with most first.

    Of many owners the first ten are named.
    """
    counts = Counter(item.owner or NOBODY for item in found)
    ordered = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    told = [f"{owner} {number:,}" for owner, number in ordered[:_OWNERS]]
    if len(ordered) > _OWNERS:
        told.append(f"{len(ordered) - _OWNERS:,} others {sum(number for _, number in ordered[_OWNERS:]):,}")
    return ", ".join(told)


def _of_module(report: Report, verdict: ModuleVerdict) -> list[Item]:
    red = report.red(verdict)
    open_ones = [finding for finding in verdict.findings if finding.verdict in OPEN or finding.notice]
    if not open_ones and verdict.verdict in OPEN:
        return [_of_verdict(report, verdict, "error" if red else "warning")]
    return [
        _of_finding(report, verdict, finding, "note" if finding.notice else "error" if red else "warning")
        for finding in open_ones
    ]


def _of_finding(report: Report, verdict: ModuleVerdict, finding: Finding, level: Level) -> Item:
    change = finding.change
    state = "has not adapted" if finding.verdict == "not_adapted" else "cannot be judged"
    if finding.notice:
        state = "should know"
    witness = finding.witness
    return Item(
        fingerprint(finding.id), change.kind, level, f"{finding.module} {state}: {change.path}", finding.because,
        "" if finding.notice else remedy(report, finding), report.from_top(report.file(finding.file)), finding.lines,
        finding.related, finding.module, verdict.owner, finding.role, finding.proof, change, what_changed(change),
        why(change, finding.role),
        "" if witness is None else witness_text(report.diff, witness, show_values=report.show_values),
    )  # fmt: skip


def _of_verdict(report: Report, verdict: ModuleVerdict, level: Level) -> Item:
    """A verdict that rests on no change: a file that cannot be read, or an old copy of generated code."""
    unread = verdict.verdict == "unverified"
    return Item(
        fingerprint(f"{verdict.module} {verdict.verdict}"), "unverified" if unread else "stale_copy", level,
        f"{verdict.module} {'cannot be judged' if unread else 'has not adapted'}", verdict.because,
        "" if unread else "generate the code anew", report.from_top(report.file(verdict.file)), verdict.lines,
        verdict.related, verdict.module, verdict.owner, verdict.role, verdict.proof,
    )  # fmt: skip


def _of_contract(report: Report, change: Change) -> Item:
    place = change.where
    owner = _owner_of(report, change)
    return Item(
        fingerprint(f"contract {change.id}"), change.kind, "error", f"the contract demands a change: {change.path}",
        change.demand, "", report.from_top(place.file) if place is not None else "",
        (place.line,) if place is not None and place.line else (), owner=owner, change=change,
        what=what_changed(change),
    )  # fmt: skip


def _of_impact(report: Report, impact: Impact) -> Item:
    """What becomes of a sample: a note, for it decides nothing."""
    told = [f"{WORDS[kind]}: {number:,}, {impact.share(number)}" for kind, number in impact.counts if number]
    return _of_message(
        report, impact.message, IMPACT, "note", f"impact {impact.message} {impact.source}",
        f"impact on data: {impact.message}", impact.headline, "\n".join(told),
    )  # fmt: skip


def _of_slowdown(report: Report, slowdown: Slowdown) -> Item:
    message = slowdown.message
    return _of_message(report, message, SLOWER, "error", f"slower {message}", f"slower: {message}", slowdown.text)


def _of_conformance(report: Report, conformance: Conformance) -> Item:
    name = conformance.message
    return _of_message(
        report, name, UNEXPLAINED, "error", f"conformance {name}", f"conformance: {name}", conformance.text
    )


def _of_message(
    report: Report, name: str, rule: str, level: Level, identity: str, title: str, because: str, what: str = ""
) -> Item:
    """Something about a message, at its declaration."""
    declared = report.diff.after.schema.messages.get(name)
    place = report.diff.after.place(declared.place) if declared is not None else None
    file = report.from_top(place.file) if place is not None else ""
    lines = (place.line,) if place is not None and place.line else ()
    owner = declared.contract.owner if declared is not None and declared.contract is not None else ""
    return Item(fingerprint(identity), rule, level, title, because, "", file, lines, owner=owner, what=what)


def _owner_of(report: Report, change: Change) -> str:
    """Who answers for the message that a change of the contract is in."""
    element = change.element
    for name in (element.new_message, element.new_name, element.message, element.name):
        message = report.diff.after.schema.messages.get(name)
        if message is not None and message.contract is not None:
            return message.contract.owner
    return ""


def fingerprint(identity: str) -> str:
    """64 hex digits of what identifies a finding."""
    return hashlib.sha256(identity.encode()).hexdigest()


def _told_apart(found: Sequence[Item]) -> list[Item]:
    """One finding may be found in several files of a module: the second and later get fingerprints of their own."""
    seen: Counter[str] = Counter()
    result = []
    for item in found:
        seen[item.fingerprint] += 1
        again = seen[item.fingerprint]
        result.append(item if again == 1 else replace(item, fingerprint=fingerprint(f"{item.fingerprint} {again}")))
    return result


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
