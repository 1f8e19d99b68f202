"""The command ``protocontract dead-letter``: what lies in a dead-letter topic, and why."""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
from typing import Any, Final, NamedTuple

from protocontract.cli import COULD_NOT_CHECK, KEPT
from protocontract.contract import Contract
from protocontract.kafka.connection import add_connection, add_selection, check_topic, cluster, selection
from protocontract.kafka.dead_letter import REASON, rule_label
from protocontract.kafka.errors import GuardError
from protocontract.kafka.judge import ENCODINGS, EncodingChoice, Judge
from protocontract.kafka.letters import DeadLetter, last_letters, moment, rule_counts
from protocontract.terminal import Paint, pad, plural, width
from protocontract.verify.report import shown
from protocontract.violations import ContractError, MissingExtra, Violation, describe

_DESCRIPTION: Final = """\
Show dead letters: where each record came from, which rules it broke in which fields, and the values that broke them.
Letters hold no values in their headers. Values are found by judging the record again with its contract, where that
is installed (or compiled: --proto-path, --descriptors); never those of sensitive fields. Without the contract, none.
"""
_EPILOG: Final = """\
`accepted` says that the contract as it is now would take the record: replay it.
exit codes: 0 shown; 2 could not read the topic

example: protocontract dead-letter inspect payments.dead --last 20
"""

# What a message can be called: the name comes from a header, and names modules that are looked for.
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*")


class Shown(NamedTuple):
    """One violation of a letter, with the value that broke the rule where it may be seen."""

    rule_id: str
    code: int | None
    field_path: str
    value: Any = None
    redacted: bool = False


class Judgement(NamedTuple):
    """What a letter's contract says of it now: ``accepted``, ``rejected``, or why it says nothing."""

    state: str
    findings: list[Shown]


class Reviewer:
    """Judges dead letters again, by the contracts that their headers name."""

    def __init__(
        self, *, proto_path: str | None = None, descriptors: str | None = None, encoding: EncodingChoice = "headers"
    ) -> None:
        self._where: Final = {"proto_path": proto_path, "descriptors": descriptors}
        self._encoding: EncodingChoice = encoding
        self._judges: dict[str, Judge | None] = {}
        #: Contracts that could not be had, and why.
        self.missing: Final[dict[str, str]] = {}

    def __call__(self, letter: DeadLetter) -> Judgement:
        """The letter's findings, with values where the contract is there and the value is whole."""
        told = [Shown(*finding) for finding in letter.findings]
        if letter.foreign:
            return Judgement("foreign", told)
        judge = self._judge(letter.contract)
        if judge is None:
            return Judgement("no contract", told)
        record = letter.restored()
        if letter.truncated or record.value is None:
            return Judgement("truncated" if letter.truncated else "no value", told)
        outcome, own = judge.for_topic(record.topic)(record)
        found = list(outcome.violations) + ([] if own is None else [own])
        state = "accepted" if outcome.ok and own is None else "rejected"
        return Judgement(state, [_with_value(finding, found) for finding in told])

    def _judge(self, name: str) -> Judge | None:
        if name not in self._judges:
            self._judges[name] = self._find(name)
        return self._judges[name]

    def _find(self, name: str) -> Judge | None:
        from protocontract.loading import resolve

        if not _NAME.fullmatch(name):
            self.missing[name] = "is no name of a message"
            return None
        try:
            contract: Contract[Any] = resolve(name, **self._where)
        except (ContractError, MissingExtra) as error:
            self.missing[name] = str(error)
            return None
        return Judge(contract, self._encoding)


def _with_value(told: Shown, found: list[Violation]) -> Shown:
    for violation in found:
        if (rule_label(violation), violation.code, violation.redacted_path) == told[:3]:
            return told._replace(value=violation.value, redacted=violation.sensitive)
    return told


def dead_letter_command(argv: list[str]) -> int:
    """Show what lies in a dead-letter topic, and why."""
    options = _parser().parse_args(argv)
    check_topic(options.topic)
    chosen = selection(options)
    reviewer = Reviewer(proto_path=options.proto_path, descriptors=options.descriptors, encoding=options.encoding)
    try:
        with cluster(options).reader() as consumer:
            letters = last_letters(consumer, options.topic, None if options.all else options.last, chosen)
        judged = [(letter, reviewer(letter)) for letter in letters]
    except GuardError as error:
        print(f"error: {error}", file=sys.stderr)
        return COULD_NOT_CHECK
    for name, reason in reviewer.missing.items():
        print(f"no values of {_printable(name)}: {_printable(reason)}", file=sys.stderr)
    if options.format == "json":
        sys.stdout.write(json_report(options.topic, judged))
    else:
        sys.stdout.write(text_report(options.topic, judged, Paint.on(sys.stdout)))
    return KEPT


def text_report(topic: str, judged: list[tuple[DeadLetter, Judgement]], paint: Paint | None = None) -> str:
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
        if letter.text(REASON):
            lines.append(f"      reason: {_printable(letter.text(REASON))}")
    counts = rule_counts(letter for letter, _ in judged)
    if counts:
        named = (f"{_printable(rule_id)} {number:,}" for rule_id, number in counts.items())
        lines.append(f"by rule: {'   '.join(named)}")
    return "\n".join(lines) + "\n"


def json_report(topic: str, judged: list[tuple[DeadLetter, Judgement]]) -> str:
    """The letters for programs: one JSON object. A value that is hidden or unknown is null."""
    report = {
        "topic": topic,
        "letters": [
            {
                **letter.as_dict(),
                "now": judgement.state,
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
    }
    return json.dumps(report, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _head(letter: DeadLetter, judgement: Judgement) -> tuple[str, ...]:
    written = moment(letter.raw.timestamp)
    if letter.foreign:
        return letter.position, written, "not written by a guard", "", "", "", ""
    replays = f", replayed {letter.replays}" if letter.replays else ""
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
                judgement.state,
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
    parser = argparse.ArgumentParser(
        prog="protocontract dead-letter",
        allow_abbrev=False,
        description="Show what lies in a dead-letter topic, and why.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    inspect = commands.add_parser(
        "inspect",
        help="show dead letters",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    inspect.add_argument("topic", metavar="TOPIC", help="the dead-letter topic")
    how_many = inspect.add_mutually_exclusive_group()
    how_many.add_argument("--last", type=_number, default=20, metavar="N", help="how many letters; default 20")
    how_many.add_argument("--all", action="store_true", help="all letters")
    add_selection(inspect)
    where = inspect.add_mutually_exclusive_group()
    where.add_argument("--proto-path", metavar="DIR", help="compile contracts from the .proto files below DIR")
    where.add_argument("--descriptors", metavar="FILE", help="compile contracts from a FileDescriptorSet")
    inspect.add_argument(
        "--encoding",
        choices=ENCODINGS,
        default="headers",
        help="how records are written; default by __value_schema_id and content-type, else protobuf",
    )
    inspect.add_argument("--format", choices=("text", "json"), default="text", help="how the report is written")
    add_connection(inspect)
    return parser


def _number(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 0 < int(text) < 10**7:
        raise argparse.ArgumentTypeError("expected a number above 0")
    return int(text)
