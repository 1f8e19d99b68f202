"""Annotations for GitHub Actions, as workflow commands.

A step shows ten of them, so the worst nine stand at their lines and the tenth counts the rest by owner. They need no
token: on a fork's pull request they are all that there is, beside the summary of the step.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from protocontract.terminal import plural
from protocontract_ci.reports.items import Item, Level, by_owner, items
from protocontract_ci.reports.report import Report

#: So many annotations of a step are shown.
MOST: Final = 10
_COMMANDS: Final[dict[Level, str]] = {"error": "error", "warning": "warning", "note": "notice"}
#: GitHub cuts longer messages.
_LONGEST: Final = 4_000


def render(report: Report) -> str:
    """The commands, one a line; the last line is the answer in words."""
    return "\n".join([*_commands(items(report)), report.headline()])


def _commands(found: list[Item]) -> Iterator[str]:
    shown = found if len(found) <= MOST else found[: MOST - 1]
    for item in shown:
        yield _command(item)
    left = found[len(shown) :]
    if left:
        title = f"{plural(len(left), 'finding')} more"
        text = f"by owner: {by_owner(left)}; the summary of this step has them all"
        yield f"::{_COMMANDS[left[0].level]} title={in_property(title)}::{in_message(text)}"


def _command(item: Item) -> str:
    properties = {
        "file": item.file,
        "line": str(item.line) if item.file and item.line else "",
        "title": f"{item.title} ({item.owner})" if item.owner else item.title,
    }
    told = ",".join(f"{name}={in_property(value)}" for name, value in properties.items() if value)
    return f"::{_COMMANDS[item.level]} {told}::{in_message(item.text)}"


def in_message(text: str) -> str:
    """Text as the message of a workflow command, which ends with its line."""
    if len(text) > _LONGEST:
        text = text[: _LONGEST - 1] + "…"
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def in_property(text: str) -> str:
    """Text as a property of a workflow command."""
    return in_message(text).replace(":", "%3A").replace(",", "%2C")
