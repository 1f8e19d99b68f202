"""The answer in Markdown, for a comment on a pull request and for the summary of a run, each within its limit."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from protocontract.terminal import count, plural
from protocontract_ci.diff.wording import means, sentence, where
from protocontract_ci.model import Change, ModuleVerdict
from protocontract_ci.reports.impact import WORDS, Impact
from protocontract_ci.reports.items import IMPACT, Item, by_owner, items
from protocontract_ci.reports.report import Report

#: By this line the comment of an earlier run is found, and replaced.
MARKER: Final = "<!-- protocontract gate -->"
#: Bytes. GitHub takes 65,536 characters in a comment and 1 MiB in the summary of a step.
COMMENT_LIMIT: Final = 64_000
SUMMARY_LIMIT: Final = 1_000_000
#: What is kept free for the lines that say what was left out.
_RESERVE: Final = 2_000
#: The longest text of one cell, in characters.
_LONGEST: Final = 400

_COLUMNS: Final = ("module", "owner", "where", "what")

T = TypeVar("T")


def comment(report: Report) -> str:
    """For a comment: under 64 kB, with MARKER at its start."""
    return _render(report, COMMENT_LIMIT, MARKER)


def summary(report: Report) -> str:
    """For the summary of a step: under 1 MB."""
    return _render(report, SUMMARY_LIMIT, "")


def impact_section(impact: Impact) -> str:
    """The impact on one sample, as a section of its own without a line break at its end."""
    page = _Page(COMMENT_LIMIT)
    _impact(page, impact)
    return page.text().rstrip("\n")


def _render(report: Report, limit: int, marker: str) -> str:
    page = _Page(limit - _RESERVE)
    if marker:
        page.add(marker)
    page.add(f"## Contract gate: {escaped(report.headline())}", "")
    found = items(report)
    to_do = [item for item in found if item.level != "note"]
    page.table("### To do", _COLUMNS, to_do, _row, lambda left: f"finding: {escaped(by_owner(to_do[-left:]))}")
    columns = ("element", "change", "direction", "follows", "where")
    page.table("### Changes of the contracts", columns, report.telling, _change_row, lambda _: "change")
    for impact in report.impacts:
        _impact(page, impact)
    for each in report.slowdowns:
        page.add(f"{'Too slow' if each.too_slow else 'Cost'}: {escaped(each.text)}", "")
    for judged in report.conformances:
        page.add(f"{'Not as the changes say' if judged.failed else 'Conformance'}: {escaped(judged.text)}", "")
    notes = [item for item in found if item.level == "note" and item.rule != IMPACT]
    page.table("### Notices", _COLUMNS, notes, _row, lambda _: "notice")
    told = [verdict for verdict in report.ordered() if verdict.verdict == "adapted"]
    page.table("### Adapted", ("module", "owner", "because"), told, _module_row, lambda _: "module")
    quiet = report.counts()["unaffected"]
    if quiet:
        page.add(f"{plural(quiet, 'module')} {'is' if quiet == 1 else 'are'} not affected.", "")
    page.table("### Notes", ("note",), report.notes, lambda note: (escaped(note),), lambda _: "note")
    return page.text()


def _change_row(change: Change) -> tuple[str, ...]:
    follows = escaped(means(change))
    return code(change.path), escaped(sentence(change)), change.direction, follows, code(where(change.where))


def _row(item: Item) -> tuple[str, ...]:
    place = f"{item.file}:{item.line}" if item.line else item.file
    lines = [escaped(line) for fact in item.facts for line in fact.split("\n")]
    if item.remedy:
        words, colon, pasted = item.remedy.partition(": ")
        lines.append(f"{escaped(words)}{colon}{code(pasted)}")
    what = "<br>".join(lines)
    return escaped(item.module) or "the contract", code(item.owner), code(place), what


def _module_row(verdict: ModuleVerdict) -> tuple[str, ...]:
    return escaped(verdict.module), code(verdict.owner), escaped(verdict.because)


def _impact(page: _Page, impact: Impact) -> None:
    page.add(f"### Impact on data: {escaped(impact.headline)}", "")
    rows: list[tuple[str, ...]] = []
    for kind, number in impact.counts:
        rows.append((WORDS[kind], "", count(number), impact.share(number), ""))
        for rule in impact.rules:
            if rule.kind == kind:
                name = f"{code(rule.rule)} {code(rule.path)}".rstrip()
                rows.append(("", name, count(rule.records), impact.share(rule.records), code(rule.example)))
    page.table("", ("what", "rule", "records", "share", "example"), rows, lambda row: row, lambda _: "rule")
    if impact.refused:
        page.add(f"{plural(impact.refused, 'record')} could not be read from the file.", "")


class _Page:
    """Lines up to a number of bytes. A table that does not fit ends with a line that says what is missing."""

    def __init__(self, limit: int) -> None:
        self._lines: list[str] = []
        self._left = limit

    def add(self, *lines: str) -> None:
        """Lines, of which there are few: headings and closing words."""
        for line in lines:
            self._lines.append(line)
            self._left -= len(line.encode()) + 1

    def table(
        self,
        heading: str,
        columns: Sequence[str],
        things: Sequence[T],
        row: Callable[[T], Sequence[str]],
        more: Callable[[int], str],
    ) -> None:
        """A table with as many rows as fit, in order; nothing where there are no things.

        ``more`` names what is left out, given how many: a noun, with details after a colon.
        """
        if not things:
            return
        if heading:
            self.add(heading, "")
        self.add(f"| {' | '.join(columns)} |", f"|{' --- |' * len(columns)}")
        for number, thing in enumerate(things):
            line = f"| {' | '.join(row(thing))} |"
            if len(line.encode()) + 1 > self._left:
                left = len(things) - number
                noun, colon, details = more(left).partition(":")
                self.add("", f"… and {plural(left, noun)} more{colon}{details}")
                break
            self.add(line)
        self.add("")

    def text(self) -> str:
        """All lines."""
        return "\n".join(self._lines).rstrip("\n") + "\n"


def escaped(text: str) -> str:
    """Text that Markdown and HTML read as itself, on one line; cut where it is long."""
    line = " ".join(text.split())
    if len(line) > _LONGEST:
        line = line[: _LONGEST - 1] + "…"
    line = line.replace("&", "&amp;").replace("<", "&lt;")
    # `@name` would call people, `#12` point to an issue.
    line = re.sub(r"([\\`*_{}\[\]|~])", r"\\\1", line)
    return re.sub(r"(?<![\w.])([@#])(?=\w)", "\\1\u200b", line)


def code(text: str) -> str:
    """Text as code, on one line, in a cell of a table; empty for none."""
    line = " ".join(text.split())
    if not line:
        return ""
    if len(line) > _LONGEST:
        line = line[: _LONGEST - 1] + "…"
    line = line.replace("|", "\\|")
    fence = "`" * (max((len(run) for run in re.findall("`+", line)), default=0) + 1)
    room = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{room}{line}{room}{fence}"
