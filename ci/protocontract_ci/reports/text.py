"""The answer for a terminal: by change, with the modules that it meets below it, and what to do at the end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

from protocontract.terminal import BROKEN, KEPT, NEUTRAL, Paint, Style, pad, plural, width
from protocontract_ci.diff.wording import means, sentence, where
from protocontract_ci.model import Change, Finding, ModuleVerdict, Verdict
from protocontract_ci.reports.impact import WORDS, Impact
from protocontract_ci.reports.items import may_be_acknowledged, remedy, why
from protocontract_ci.reports.report import OPEN, Report
from protocontract_ci.reports.witnesses import witness_text

_SIGNS: Final[dict[Verdict, str]] = {"not_adapted": BROKEN, "unverified": "?", "adapted": KEPT, "unaffected": NEUTRAL}
_STYLES: Final[dict[Verdict, Style]] = {
    "not_adapted": "bad", "unverified": "strong", "adapted": "good", "unaffected": "quiet",
}  # fmt: skip
_WORDS: Final[dict[Verdict, str]] = {
    "not_adapted": "not adapted", "unverified": "unverified", "adapted": "adapted", "unaffected": "unaffected",
}  # fmt: skip
_WORST: Final = tuple(_SIGNS)
#: So many names of unaffected modules are listed; of more, only the number.
_LISTED: Final = 8
#: What decides where code alone does not, for those who never heard that functions are run.
_SHOWING: Final = (
    "(unresolved): a function that the gate may run would show it: mark one with @writer or @reader of\n"
    "protocontract.testing, or name it in `entry_points` of the module; docs/testing.md"
)
_WIDEST: Final = 32

_Met: TypeAlias = tuple[ModuleVerdict, Finding]


def render(report: Report, paint: Paint) -> str:
    """The report, without a line break at its end."""
    names = min(max((width(verdict.module) for verdict in report.verdicts), default=0), _WIDEST)
    lines: list[str] = []
    met = _met(report)
    for change in report.changes:
        # A neutral one is shown where it meets a module although nobody should be able to tell.
        if change.direction != "neutral" or change.demand or change.id in met:
            lines += _change(report, change, met.get(change.id, []), names, paint)
    neutral = len(report.changes) - len(report.telling)
    if not report.changes:
        lines.append("no change of the contracts")
    elif neutral:
        lines.append(paint(plural(neutral, "neutral change"), "quiet"))
    lines += _without_change(report, names, paint)
    for impact in report.impacts:
        lines += impact_lines(impact, paint)
    for each in report.slowdowns:
        lines.append(f"{paint(BROKEN, 'bad') if each.too_slow else KEPT} {each.text}")
    for found in report.conformances:
        lines.append(f"{paint(BROKEN, 'bad') if found.failed else KEPT} {found.text}")
    lines += [f"note: {note}" for note in report.notes]
    lines += _closing(report, paint)
    return "\n".join(lines)


def _met(report: Report) -> dict[str, list[_Met]]:
    """The findings of each change, the worst first, by the change's id."""
    found: dict[str, list[_Met]] = {}
    for verdict in report.verdicts:
        for finding in verdict.findings:
            if finding.verdict != "unaffected":
                found.setdefault(finding.change.id, []).append((verdict, finding))
    for met in found.values():
        met.sort(key=lambda each: (_WORST.index(each[1].verdict), each[0].module, each[1].file))
    return found


def _change(report: Report, change: Change, met: Sequence[_Met], names: int, paint: Paint) -> Iterator[str]:
    follows = means(change)
    parts = [where(change.where), paint(change.path, "strong"), sentence(change)]
    tail = f"{change.direction}: {follows}" if follows else change.direction
    yield "  ".join([*(part for part in parts if part), tail])
    if change.demand:
        yield f"  {paint(BROKEN, 'bad')} {change.demand}"
    for verdict, finding in met:
        yield from _finding(report, verdict, finding, names, paint)


def _finding(report: Report, verdict: ModuleVerdict, finding: Finding, names: int, paint: Paint) -> Iterator[str]:
    state: Verdict = finding.verdict
    word = "notice" if finding.notice else _WORDS[state]
    head = f"{NEUTRAL if finding.notice else _SIGNS[state]} {pad(finding.module, names)}  {pad(word, 11)}"
    lines = finding.lines or ((0,) if state in OPEN else ())
    file = report.file(finding.file)
    first = f"{file}:{lines[0]}" if lines and lines[0] else file if lines else ""
    parts = [paint(head, "quiet" if finding.notice else _STYLES[state]), first, finding.because, verdict.owner]
    yield f"  {'  '.join(part for part in parts if part)}"
    if state not in OPEN or finding.notice:
        return
    indent = " " * (names + 6)
    for line in lines[1:]:
        yield f"{indent}{file}:{line}"
    reason = why(finding.change, finding.role)
    # What a demanded field asks for stands in the change's own line.
    if reason and not finding.change.acknowledge:
        yield f"{indent}{paint(f'{reason} ({finding.proof})', 'quiet')}"
    if finding.witness is not None:
        told = witness_text(report.diff, finding.witness, show_values=report.show_values)
        yield f"{indent}{paint(told, 'quiet')}"


def _without_change(report: Report, names: int, paint: Paint) -> Iterator[str]:
    """Modules that no change has a line for: not to be judged, with a stale copy, or unaffected."""
    quiet: list[str] = []
    for verdict in report.ordered():
        if verdict.verdict == "unaffected":
            quiet.append(verdict.module)
        elif not verdict.findings:
            head = f"{_SIGNS[verdict.verdict]} {pad(verdict.module, names)}  {pad(_WORDS[verdict.verdict], 11)}"
            file = report.file(verdict.file)
            place = f"{file}:{verdict.lines[0]}" if verdict.lines else file
            parts = [paint(head, _STYLES[verdict.verdict]), place, verdict.because, verdict.owner]
            yield f"  {'  '.join(part for part in parts if part)}"
    if quiet:
        told = ", ".join(quiet) if len(quiet) <= _LISTED else plural(len(quiet), "module")
        yield paint(f"  {NEUTRAL} unaffected: {told}", "quiet")


def impact_lines(impact: Impact, paint: Paint) -> list[str]:
    """The impact on a sample: a line for each kind, and one for each rule below it."""
    lines = [paint(impact.headline, "strong")]
    labels = [f"{rule.rule}  {rule.path}".rstrip() for rule in impact.rules]
    widest = max(map(width, labels), default=0)
    for kind, number in impact.counts:
        mark = paint(BROKEN, "bad") if number and kind == "newly_rejected" else NEUTRAL
        lines.append(f"  {mark} {pad(WORDS[kind], 22)} {number:>9,}   {impact.share(number)}")
        for label, rule in zip(labels, impact.rules, strict=True):
            if rule.kind == kind:
                example = f"   {rule.example}" if rule.example else ""
                lines.append(f"      {pad(label, widest)}  {rule.records:>9,}{example}")
    if impact.refused:
        lines.append(f"  {NEUTRAL} {plural(impact.refused, 'record')} could not be read from the file")
    return lines


def _closing(report: Report, paint: Paint) -> Iterator[str]:
    red = report.exit_code != 0
    open_ones = [
        finding
        for verdict in report.ordered()
        if report.red(verdict)
        for finding in verdict.findings
        if finding.verdict == "not_adapted" and not finding.notice
    ]
    head = report.headline()
    if not open_ones:
        yield paint(head, "bad" if red else "good")
        return
    either = any(may_be_acknowledged(finding.change) for finding in open_ones)
    yield paint(f"{head}. {'Change the code, or say why not' if either else 'What helps'}:", "bad")
    yield from (f"  {line}" for line in _remedies(report, open_ones))
    if report.declared:
        yield from _in_a_comment(open_ones)
    if report.declared and any(map(_a_run_would_show, open_ones)):
        yield paint(_SHOWING, "quiet")


def _in_a_comment(found: Sequence[Finding]) -> Iterator[str]:
    """The comment that acknowledges the first change that stands in code; the others' are alike."""
    first = next((each for each in found if each.lines and may_be_acknowledged(each.change)), None)
    if first is not None:
        acknowledgement = f"contract-ack: {first.change.path} {first.change.step} (reason)"
        yield f"or for good, in a comment of {first.file}: {acknowledgement}"


def _a_run_would_show(finding: Finding) -> bool:
    runs = finding.file.endswith((".py", ".ts", ".tsx"))
    return runs and finding.proof == "unresolved" and finding.change.direction in ("tightened", "loosened")


def _remedies(report: Report, found: Sequence[Finding]) -> list[str]:
    """What can be pasted, each once; the first few of many."""
    remedies = (remedy(report, finding) for finding in found)
    # What can be pasted stands after a colon; where nothing can, the sentence is all.
    told = list(dict.fromkeys(each.partition(": ")[2] or each for each in remedies))
    more = len(told) - _LISTED
    return told if more <= 0 else [*told[:_LISTED], f"… and {more:,} more"]
