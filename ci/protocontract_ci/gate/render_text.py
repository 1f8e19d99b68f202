"""The gate's answer for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from protocontract.terminal import BROKEN, KEPT, NEUTRAL, Paint, Style, pad, plural
from protocontract_ci.model import Finding, ModuleVerdict, Verdict
from protocontract_ci.verdicts.folder import Folder

_SIGNS: Final[dict[Verdict, str]] = {"not_adapted": BROKEN, "unverified": "?", "adapted": KEPT, "unaffected": NEUTRAL}
_STYLES: Final[dict[Verdict, Style]] = {
    "not_adapted": "bad", "unverified": "strong", "adapted": "good", "unaffected": "quiet",
}  # fmt: skip
_WORDS: Final[dict[Verdict, str]] = {
    "not_adapted": "not adapted",
    "unverified": "unverified",
    "adapted": "adapted",
    "unaffected": "unaffected",
}


def render(folder: Folder, verdicts: Sequence[ModuleVerdict], paint: Paint) -> str:
    """Changes, then one block for each module that is not green, then the others in a line each."""
    lines = [*_changes(folder), ""]
    width = max((len(verdict.module) for verdict in verdicts), default=0)
    for verdict in sorted(verdicts, key=lambda each: (each.verdict not in ("not_adapted", "unverified"), each.module)):
        lines += _module(folder, verdict, width, paint)
    lines += ["", _total(folder, verdicts)]
    return "\n".join(lines)


def _changes(folder: Folder) -> Iterator[str]:
    telling = [change for change in folder.changes if change.direction != "neutral"]
    neutral = len(folder.changes) - len(telling)
    for change in telling:
        where = change.where
        place = f"  {where.file}:{where.line}" if where is not None and where.line else ""
        yield f"{change.direction:<10} {change.path}  {change.step}{place}"
    for change in folder.diff.demands:
        yield f"{BROKEN} {change.path}: {change.demand}"
    if neutral:
        yield f"{neutral} neutral changes" if neutral > 1 else "1 neutral change"
    if not folder.changes:
        yield "no change"


def _module(folder: Folder, verdict: ModuleVerdict, width: int, paint: Paint) -> Iterator[str]:
    head = f"{_SIGNS[verdict.verdict]} {pad(verdict.module, width)}  {_WORDS[verdict.verdict]}"
    yield f"{paint(head, _STYLES[verdict.verdict])}{'' if verdict.verdict == 'unaffected' else '  ' + verdict.because}"
    if verdict.verdict not in ("not_adapted", "unverified"):
        return
    for finding in verdict.findings:
        if finding.verdict == verdict.verdict:
            yield from _finding(folder, finding)
    if not verdict.findings:
        for line in verdict.lines:
            yield f"    {(folder.root / verdict.file).as_posix()}:{line}"


def _finding(folder: Folder, finding: Finding) -> Iterator[str]:
    path = (folder.root / finding.file).as_posix()
    for line in finding.lines or (0,):
        yield f"    {path}{f':{line}' if line else ''}  {finding.because}"
    yield f"      {finding.change.path} {finding.change.step} ({finding.proof})"
    yield f"      adapt the code, or say why not: contract-ack: {finding.change.path} {finding.change.step} (reason)"


def _total(folder: Folder, verdicts: Sequence[ModuleVerdict]) -> str:
    demands = len(folder.diff.demands)
    red = sum(verdict.verdict == "not_adapted" for verdict in verdicts)
    open_ones = sum(verdict.verdict == "unverified" for verdict in verdicts)
    if not red and not open_ones and not demands:
        return f"all {len(verdicts)} modules have adapted or are not affected"
    parts = [f"{red} of {len(verdicts)} modules {'has' if red == 1 else 'have'} not adapted"] if red else []
    parts += [f"the contract itself demands {plural(demands, 'change')}"] if demands else []
    parts += [f"{open_ones} cannot be judged"] if open_ones else []
    return ", ".join(parts)
