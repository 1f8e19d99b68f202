"""The command ``protocontract dead-letter``: what lies in a dead-letter topic, and why."""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Collection
from typing import Any, Final, NamedTuple

from protocontract.arguments import Parser, add_sources
from protocontract.cli import COULD_NOT_CHECK, KEPT
from protocontract.kafka.connection import (
    Cluster,
    add_connection,
    add_selection,
    add_state,
    check_topic,
    cluster,
    selection,
)
from protocontract.kafka.errors import GuardError
from protocontract.kafka.judge import ENCODINGS
from protocontract.kafka.letters.dead_letter import (
    EDIT_REASON,
    EDITED_AT,
    EDITED_BY,
    EDITED_FIELDS,
    REASON,
    SKIPPED_AT,
    SKIPPED_BY,
)
from protocontract.kafka.letters.edit_command import add_edit
from protocontract.kafka.letters.oldest import oldest_unresolved, replay_group
from protocontract.kafka.letters.reading import DeadLetter, Failure, last_letters, moment, rule_counts
from protocontract.kafka.letters.replay_log import ReplayLog, default_state
from protocontract.kafka.letters.review import Judgement, Reviewer, Shown
from protocontract.terminal import Paint, pad, plural, tell_error, width
from protocontract.verify.report import shown
from protocontract.violations import describe

_DESCRIPTION: Final = """\
Show dead letters: where each record came from, which rules it broke in which fields, and the values that broke them.
Letters hold no values in their headers. Values are found by judging the record again with its contract, where that
is installed (or compiled: --proto-path, --descriptors); never those of sensitive fields. Without the contract, none.
"""
_EPILOG: Final = """\
`accepted` says that the contract as it is now would take the record: replay it; `sent again`, that a log in --state
has a replay or an edit of it. The oldest unresolved letter is the first one that the offsets of the group
protocontract.replay.TOPIC do not count as settled.
exit codes: 0 shown; 2 could not read the topic

example: protocontract dead-letter inspect payments.dead --last 20
"""


def dead_letter_command(argv: list[str]) -> int:
    """Show what lies in a dead-letter topic, and why; fix a record and send it again."""
    options = _parser().parse_args(argv)
    code: int = options.run(options)
    return code


def _inspect(options: argparse.Namespace) -> int:
    check_topic(options.topic)
    chosen = selection(options)
    reviewer = Reviewer(proto_path=options.proto_path, descriptors=options.descriptors, encoding=options.encoding)
    there = cluster(options)
    done = ReplayLog(options.state or default_state(), options.topic).done()

    def matches(letter: DeadLetter) -> bool:
        return chosen.matches(letter) and not (options.unresolved and letter.failure in done)

    try:
        with there.reader(replay_group(options.topic)) as consumer:
            letters = last_letters(consumer, options.topic, None if options.all else options.last, matches)
            waiting = _waiting(there, consumer, options.topic)
        judged = [(letter, _known(letter, reviewer(letter), done)) for letter in letters]
    except GuardError as error:
        tell_error(error)
        return COULD_NOT_CHECK
    for name, reason in reviewer.missing.items():
        print(f"no values of {_printable(name)}: {_printable(reason)}", file=sys.stderr)
    if options.format == "json":
        sys.stdout.write(json_report(options.topic, judged, waiting))
    else:
        sys.stdout.write(text_report(options.topic, judged, Paint.on(sys.stdout), waiting))
    return KEPT


def _known(letter: DeadLetter, judgement: Judgement, done: Collection[Failure]) -> Judgement:
    return judgement._replace(sent_again=not letter.foreign and letter.failure in done)


class Waiting(NamedTuple):
    """The oldest letter that nobody has resolved: where it lies, its age, and the time until its topic deletes it.

    Times are in seconds; ``left`` is None where it is kept for ever.
    """

    position: str
    age: float
    left: float | None


def _waiting(there: Cluster, consumer: Any, topic: str) -> Waiting | None:
    """None where everything is resolved, or where this user may not know."""
    try:
        oldest = oldest_unresolved(consumer, topic)
        if oldest is None:
            return None
        age = time.time() - oldest.written
        kept = there.retention(topic)
    except GuardError as error:
        print(f"the oldest unresolved letter is not known: {error}", file=sys.stderr)
        return None
    return Waiting(oldest.position, age, None if kept is None else kept - age)


def text_report(
    topic: str,
    judged: list[tuple[DeadLetter, Judgement]],
    paint: Paint | None = None,
    waiting: Waiting | None = None,
) -> str:
    """The letters for people: one line a letter, below it one for each violation."""
    paint = paint or Paint(False)
    lines = [f"{paint(topic, 'strong')} · {plural(len(judged), 'letter')}"]
    heads = [_head(letter, judgement) for letter, judgement in judged]
    rows = [[_row(finding) for finding in judgement.findings] for _, judgement in judged]
    first = [max((width(head[place]) for head in heads), default=0) for place in range(7)]
    second = [max((width(row[place]) for group in rows for row in group), default=0) for place in range(4)]
    for (letter, _), head, group in zip(judged, heads, rows, strict=True):
        lines.append(f"  {_aligned(head, first)}")
        lines += [f"      {_aligned(row, second)}" for row in group]
        if letter.violations > len(group):
            lines.append(f"      and {plural(letter.violations - len(group), 'violation')} more")
        lines += [f"      {_printable(told)}" for told in _told_by_people(letter)]
    counts = rule_counts(letter for letter, _ in judged)
    if counts:
        named = (f"{_printable(rule_id)} {number:,}" for rule_id, number in counts.items())
        lines.append(f"by rule: {'   '.join(named)}")
    if waiting is not None:
        lines.append(_waiting_line(waiting))
    return "\n".join(lines) + "\n"


def _told_by_people(letter: DeadLetter) -> list[str]:
    """What handlers and operators said of a record: why it is here, who changed it before."""
    told = []
    if letter.text(REASON):
        told.append(f"reason: {letter.text(REASON)}")
    if letter.text(SKIPPED_BY):
        told.append(f"skipped by {letter.text(SKIPPED_BY)} at {letter.text(SKIPPED_AT)}")
    if letter.text(EDITED_BY):
        changed = f"{letter.text(EDITED_FIELDS)} edited by {letter.text(EDITED_BY)} at {letter.text(EDITED_AT)}"
        told.append(f"{changed}: {letter.text(EDIT_REASON)}")
    return told


def _waiting_line(waiting: Waiting) -> str:
    if waiting.left is None:
        kept = "its topic keeps it"
    elif waiting.left <= 0:
        kept = "its topic may delete it now"
    else:
        kept = f"its topic deletes it in {_lasting(waiting.left)}"
    return f"oldest unresolved: {waiting.position}, {_lasting(waiting.age)} old; {kept}"


def _lasting(seconds: float) -> str:
    """``3 d 4 h``, ``12 min``, ``5 s``: precise enough for somebody who has to decide whether to hurry."""
    left = max(0, round(seconds))
    parts: list[str] = []
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1)):
        number, left = divmod(left, length)
        if number or (unit == "s" and not parts):
            parts.append(f"{number:,} {unit}")
    return " ".join(parts[:2])


def json_report(topic: str, judged: list[tuple[DeadLetter, Judgement]], waiting: Waiting | None = None) -> str:
    """The letters for programs: one JSON object. A value that is hidden or unknown is null."""
    report = {
        "topic": topic,
        "letters": [
            {
                **letter.as_dict(),
                "now": judgement.state,
                "sent_again": judgement.sent_again,
                "findings": [
                    {
                        "rule_id": finding.rule_id,
                        "code": None if finding.code is None else f"{finding.code:#010x}",
                        "field_path": finding.field_path,
                        "value": _plain(finding.value),
                        "redacted": finding.redacted,
                    }
                    for finding in judgement.findings
                ],
            }
            for letter, judgement in judged
        ],
        "by_rule": rule_counts(letter for letter, _ in judged),
        "oldest_unresolved": None
        if waiting is None
        else {"letter": waiting.position, "age_seconds": waiting.age, "seconds_to_retention": waiting.left},
    }
    return json.dumps(report, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _head(letter: DeadLetter, judgement: Judgement) -> tuple[str, ...]:
    written = moment(letter.raw.timestamp)
    if letter.foreign:
        return letter.position, written, "not written by a guard", "", "", "", ""
    replays = f", replayed {letter.replays}" if letter.replays else ""
    # By itself it would read as if the record had none; standard error says why.
    state = "not judged: no contract" if judgement.state == "no contract" else judgement.state
    contract = f"{letter.contract} {letter.version}".rstrip()
    return (
        letter.position,
        written,
        *(
            _printable(text)
            for text in (
                str(letter.origin),
                contract,
                letter.group,
                f"attempt {letter.attempt}{replays}",
                state + (", sent again" if judgement.sent_again else ""),
            )
        ),
    )


def _row(finding: Shown) -> tuple[str, str, str, str]:
    value = "(sensitive)" if finding.redacted else "" if finding.value is None else shown(finding.value)
    code = "" if finding.code is None else f"{finding.code:#010x}"
    return _printable(finding.rule_id), code, _printable(finding.field_path) or "message", value


def _aligned(cells: tuple[str, ...], widths: list[int]) -> str:
    return "  ".join(pad(cell, columns) for cell, columns in zip(cells, widths, strict=True)).rstrip()


def _printable(text: str) -> str:
    """Text from a header, free of what would move a terminal's cursor."""
    return "".join(character if character.isprintable() else "�" for character in text)


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, str | int | float | bool) else describe(value)


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="protocontract dead-letter",
        description="Show what lies in a dead-letter topic, and why; fix a record and send it again.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    inspect = commands.add_parser(
        "inspect",
        help="show dead letters",
        usage="protocontract dead-letter inspect TOPIC [--last N] [options]",
        description=_DESCRIPTION,
        epilog=_EPILOG,
    )
    inspect.add_argument("topic", metavar="TOPIC", help="the dead-letter topic")
    how_many = inspect.add_mutually_exclusive_group()
    how_many.add_argument("--last", type=_number, default=20, metavar="N", help="how many letters; default 20")
    how_many.add_argument("--all", action="store_true", help="all letters")
    inspect.add_argument("--unresolved", action="store_true", help="only letters that were not sent again from here")
    add_selection(inspect)
    add_state(inspect)
    add_sources(inspect, "contracts")
    inspect.add_argument(
        "--encoding",
        choices=ENCODINGS,
        default="headers",
        help="how records are written; default by __value_schema_id and content-type, else protobuf",
    )
    inspect.add_argument("--format", choices=("text", "json"), default="text", help="how the report is written")
    add_connection(inspect)
    inspect.set_defaults(run=_inspect)
    add_edit(commands)
    return parser


def _number(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 0 < int(text) < 10**7:
        raise argparse.ArgumentTypeError("expected a number above 0")
    return int(text)
