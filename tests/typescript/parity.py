"""The parity suite: one table of cases through Python and TypeScript. ``python -m tests.typescript.parity 20000``.

Prints what was compared, and the first differences; exits with 1 where there is any.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.typescript.fuzz import Report, Table, run
from tests.typescript.support import answers
from tests.typescript.words import SOURCES, Source, at_random, by_strategies, compiled

#: Of all cases: random contracts of rules; contracts with words, at random; and by the strategies for tests.
_SHARES: Final = {"rules": 0.5, "words": 0.4, "strategies": 0.1}
#: Messages of one random contract.
_EACH: Final = 20
#: The contract that the strategies draw for.
_DRAWN: Final = ("acme.text.v1.TextSample",)


def rules(cases: int, folder: Path, first_seed: int = 1) -> Report:
    """Random contracts with buf.validate rules and CEL."""
    seeds = range(first_seed, first_seed + max(1, round(cases / _EACH * 1.05)))
    return run(seeds, _EACH, folder)


def words(cases: int, drawn: int, folder: Path, sources: Sequence[Source] = SOURCES) -> Report:
    """Contracts with every word of the vocabulary: ``cases`` random messages, and ``drawn`` ones of strategies."""
    report = Report()
    made = list(compiled(folder, sources))
    contracts = sum(len(found) for _, _, found, _ in made)
    tables: list[Table] = []
    for files, schema, found, reasons in made:
        report.schemas += 1
        report.contracts += len(found)
        report.inexact += len(schema.requested_messages()) - len(found)
        report.reasons.update(reasons)
        listed = [case for contract in found for case in at_random(contract, -(-cases // contracts))]
        listed += [
            case for contract in found if contract.full_name in _DRAWN for case in by_strategies(contract, drawn)
        ]
        tables.append((files, schema, listed))
    every = [case for _, _, listed in tables for case in listed]
    for case, answer in zip(every, answers(folder, tables), strict=True):
        report.count(case, answer)
    return report


def main(arguments: list[str]) -> int:
    """Runs the suite and prints its counts."""
    total = int(arguments[0]) if arguments else 20_000
    with tempfile.TemporaryDirectory(prefix="protocontract-parity-") as made:
        parts = {
            "rules": rules(round(total * _SHARES["rules"]), Path(made, "rules")),
            "words": words(
                round(total * _SHARES["words"]), round(total * _SHARES["strategies"]), Path(made, "words")
            ),
        }  # fmt: skip
    for name, report in parts.items():
        print(f"{name:6} {report}")
    compared = sum(report.cases for report in parts.values())
    differences = [text for report in parts.values() for text in report.differences]
    print(f"parity of Python and TypeScript: {compared:,} cases, {len(differences)} differences")
    for text in differences[:10]:
        print(f"\n{text}", file=sys.stderr)
    return 1 if differences or compared < total else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
