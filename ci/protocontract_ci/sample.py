"""``--sample``: what a change of a contract does to the records of a file, counted by rule.

The file is made by somebody who may read the topic (``protocontract sample``); the gate itself needs no broker.
"""

from __future__ import annotations

import argparse
import errno
import gzip
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

from protocontract.cli import UsageError
from protocontract.comparison import KINDS, Difference, Finding, Kind, difference, place_of
from protocontract.contract import Contract, Encoding, Outcome
from protocontract.records.reading import FileEncoding, encoding_of, is_arrow, read_lines, read_messages
from protocontract.records.sources import open_source
from protocontract.verify.report import shown
from protocontract.violations import Refusal, rule_label
from protocontract_ci.compiled import compiled
from protocontract_ci.diff.compare import Diff
from protocontract_ci.reports.impact import Impact, RuleImpact
from protocontract_ci.sources import Contracts

_GZIP: Final = ".gz"
#: So many messages are named where one has to be chosen.
_NAMED: Final = 6


def add_option(parser: argparse.ArgumentParser) -> None:
    """The option ``--sample``."""
    parser.add_argument(
        "--sample", action="append", default=[], metavar="[MESSAGE=]FILE[#COLUMN]",
        help="count the records of a file that would be newly rejected, newly accepted or normalised differently, by "
        "rule (.jsonl: proto JSON lines; .binpb: length-delimited protobuf; both also as .gz; .parquet, .arrow: "
        "columns that are fields, or FILE#COLUMN with serialised records); may be given several times",
    )  # fmt: skip


def impacts_of(samples: Sequence[str], diff: Diff, *, show_values: bool) -> list[Impact]:
    """The impact on each sample, in order. Raises UsageError, OSError, and ContractError for a state with mistakes."""
    if not samples:
        return []
    chosen = [_choose(sample, diff) for sample in samples]
    # Opened before contracts are compiled: a wrong file name should not wait for that.
    for each in chosen:
        each.path.open("rb").close()
    before, after = compiled(diff.before), compiled(diff.after)
    found = []
    for each in chosen:
        old, new = before[each.message], after[diff.pairs.new_names.get(each.message, each.message)]
        found.append(_impact_of(old, new, _records(each, old), each.path.name, show_values=show_values))
    return found


def _records(sample: _Sample, contract: Contract[Any]) -> Iterator[tuple[bytes | Refusal, Encoding]]:
    """The records of a file and how each is written. Raises OSError."""
    if sample.encoding is None:
        columns: dict[str, Any] = {"column": sample.column} if sample.column else {}
        for record in open_source(sample.path, contract=contract, **columns).records():
            yield record.raw, record.encoding
        return
    read = read_lines if sample.encoding == "json" else read_messages
    with gzip.open(sample.path) if sample.path.suffix == _GZIP else sample.path.open("rb") as stream:
        try:
            for _, raw in read(cast(BinaryIO, stream)):
                yield raw, sample.encoding
        except (EOFError, zlib.error) as error:
            raise OSError(errno.EINVAL, f"is cut off or damaged ({type(error).__name__})", str(sample.path)) from None


def _impact_of(
    old: Contract[Any],
    new: Contract[Any],
    records: Iterable[tuple[bytes | Refusal, Encoding]],
    source: str,
    *,
    show_values: bool,
) -> Impact:
    """Judge each record by both contracts. Memory follows the number of rules, not of records."""
    tally = _Tally(show_values)
    for raw, encoding in records:
        tally.records += 1
        if isinstance(raw, Refusal):
            tally.refused += 1
            continue
        was, would = old.process(raw, encoding=encoding), new.process(raw, encoding=encoding)
        found = difference(was, would)
        if found is not None:
            tally.add(found, was, would)
    return tally.result(new.full_name, source)


@dataclass(frozen=True, slots=True)
class _Sample:
    """A file: the message before that its records are of, how they are written (None: as a table), and the column."""

    message: str
    path: Path
    encoding: FileEncoding | None
    column: str = ""


class _Tally:
    """Counts by kind, and by rule and field within."""

    def __init__(self, show_values: bool) -> None:
        self.records = 0
        self.refused = 0
        self._show_values = show_values
        self._kinds: Counter[Kind] = Counter()
        self._rules: Counter[tuple[Kind, Finding]] = Counter()
        self._examples: dict[tuple[Kind, Finding], str] = {}

    def add(self, found: Difference, was: Outcome[Any], would: Outcome[Any]) -> None:
        self._kinds[found.kind] += 1
        for finding in found.findings:
            key = (found.kind, finding)
            self._rules[key] += 1
            if self._show_values and key not in self._examples:
                example = _example(found.kind, finding, was, would)
                if example:
                    self._examples[key] = example

    def result(self, message: str, source: str) -> Impact:
        rules = sorted(
            self._rules.items(), key=lambda each: (KINDS.index(each[0][0]), -each[1], each[0][1].rule, each[0][1].path)
        )
        return Impact(
            message, source, self.records, tuple((kind, self._kinds[kind]) for kind in KINDS),
            tuple(
                RuleImpact(kind, finding.rule, finding.path, number, self._examples.get((kind, finding), ""))
                for (kind, finding), number in rules
            ),
            self.refused,
        )  # fmt: skip


def _example(kind: Kind, finding: Finding, was: Outcome[Any], would: Outcome[Any]) -> str:
    """A value that shows it; empty where the field is sensitive, or nothing is known of the value."""
    if kind != "normalized_differently":
        judged = would if kind == "newly_rejected" else was
        values = (
            violation.value
            for violation in judged.violations
            if rule_label(violation) == finding.rule
            and place_of(violation.redacted_path) == finding.path
            and not violation.sensitive
        )
        value = next(values, None)
        return "" if value is None else shown(value)
    old, new = (
        [
            change
            for change in outcome.changes
            if change.rule_id == finding.rule and place_of(change.path) == finding.path
        ]
        for outcome in (was, would)
    )
    # A side that left the value as it came has no change of its own: it is what the other began with.
    before = old[-1].after if old else new[0].before if new else None
    after = new[-1].after if new else old[0].before if old else None
    return "" if before is None or after is None else f"{shown(before)} → {shown(after)}"


def _choose(sample: str, diff: Diff) -> _Sample:
    """What an option means. Raises UsageError."""
    name, equals, rest = sample.partition("=")
    known = {*diff.before.schema.messages, *diff.after.schema.messages}
    if equals and (name in known or not Path(sample).exists()):
        path, message = Path(rest), name
        if name not in known:
            raise UsageError(
                f"--sample: `{name}` is no message of the contracts; expected {_some(_roots(diff.before))}"
            )
    else:
        path, message = Path(sample), ""
    column = ""
    if "#" in path.name and not path.exists():
        name, _, column = path.name.rpartition("#")
        path = path.with_name(name)
    encoding = encoding_of(path.name.removesuffix(_GZIP))
    if is_arrow(path.name):
        encoding = None
    elif encoding is None or column:
        wrong = f"{path} has no columns" if column else f"cannot tell how {path} is written"
        names = ".parquet or .arrow" if column else ".jsonl, .binpb (either also in .gz), .parquet or .arrow"
        raise UsageError(f"--sample: {wrong}; expected a name in {names}")
    old_names = {new: old for old, new in diff.pairs.new_names.items()}
    if not message:
        message = _only(diff)
    elif message not in diff.before.schema.messages:
        message = old_names.get(message, message)
    new = diff.pairs.new_names.get(message, message)
    if message not in diff.before.schema.messages or new not in diff.after.schema.messages:
        raise UsageError(f"--sample: {message} is not in both states; nothing can be compared")
    return _Sample(message, path, encoding, column)


def _only(diff: Diff) -> str:
    roots = _roots(diff.before)
    if len(roots) == 1:
        return roots[0]
    raise UsageError(f"--sample: say of which message the records are: --sample MESSAGE=FILE with {_some(roots)}")


def _roots(contracts: Contracts) -> list[str]:
    """The messages that records are likely to be of: with a topic, else with a contract, else part of no other."""
    schema = contracts.schema
    own = [name for file in sorted(contracts.requested) for name in schema.files[file].messages]
    declared = [name for name in own if schema.messages[name].contract is not None]
    with_topic = [name for name in declared if (found := schema.messages[name].contract) is not None and found.topic]
    inner = {field.element_message for message in schema.messages.values() for field in message.fields}
    return with_topic or declared or [name for name in own if name not in inner]


def _some(names: Iterable[str]) -> str:
    listed = list(names)
    more = ", ..." if len(listed) > _NAMED else ""
    return f"{', '.join(listed[:_NAMED])}{more}" if len(listed) < 2 else f"one of {', '.join(listed[:_NAMED])}{more}"
