"""Random contracts and messages through Python and TypeScript: buf.validate and CEL, as tests/fuzz makes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final

from google.protobuf.descriptor_pb2 import FileDescriptorSet

from protocontract_compiler import ir, pipeline
from protocontract_compiler.descriptors import load
from protocontract_compiler.diagnostics import Diagnostics
from protocontract_compiler.dynamic import contracts_of
from protocontract_compiler.passes import pass_rules
from tests.fuzz.messages import random_message
from tests.fuzz.schemas import DEPENDENCIES, Schemas
from tests.typescript.support import Case, answers, difference, exact_messages, write

#: Schemas that one process of Node.js takes.
_AT_ONCE: Final = 40


@dataclass
class Report:
    """Counts of a run. ``differences`` are texts that reproduce each difference."""

    schemas: int = 0
    contracts: int = 0
    inexact: int = 0
    cases: int = 0
    violations: int = 0
    errors: int = 0
    differences: list[str] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)

    def count(self, case: Case, answer: dict[str, object]) -> None:
        """Counts a case and what is different in it."""
        self.cases += 1
        found = difference(case, answer)
        if found is not None:
            raw = case.message.SerializeToString(deterministic=True).hex()
            self.differences.append(f"{case.contract.full_name}: {raw}\n{found}")
        told, processed = answer.get("validated"), answer.get("violations")
        if isinstance(told, list):
            self.violations += len(told)
        else:
            self.errors += 1
        # What normalizers refuse is in no validation.
        self.kinds.update(violation[1] for violation in (processed if isinstance(processed, list) else ()))

    def __str__(self) -> str:
        return (
            f"{self.cases:,} cases of {self.contracts:,} contracts ({self.inexact:,} refused as inexact), "
            f"{self.violations:,} violations of {len(self.kinds)} rule ids, {self.errors:,} evaluation errors, "
            f"{len(self.differences)} differences"
        )


Table = tuple[FileDescriptorSet, ir.Schema, list[Case]]


def run(seeds: range, messages_each: int, folder: Path) -> Report:
    """One random schema a seed, ``messages_each`` messages a schema. TypeScript goes into ``folder``."""
    report = Report()
    for start in range(0, len(seeds), _AT_ONCE):
        tables: list[Table] = []
        place = folder / str(start)
        for seed in seeds[start : start + _AT_ONCE]:
            tables.extend(_table(seed, messages_each, place, report))
        if any(cases for _, _, cases in tables):
            cases = [case for _, _, listed in tables for case in listed]
            for case, answer in zip(cases, answers(place, tables), strict=True):
                report.count(case, answer)
    return report


def _table(seed: int, messages_each: int, folder: Path, report: Report) -> Iterator[Table]:
    file_set, names = Schemas(seed).file_set()
    diagnostics = Diagnostics()
    loaded = load(file_set, [file.name for file in file_set.file[len(DEPENDENCIES) :]], diagnostics)
    schema = pass_rules.lower(loaded, loaded.schema, diagnostics)
    if diagnostics.failed:
        return
    report.schemas += 1
    exact, reasons = exact_messages(schema)
    report.inexact += len(names) - len([name for name in names if name in exact])
    report.reasons.update(reasons)
    exact = [name for name in names if name in exact]
    if not exact:
        return
    write(schema, exact, folder)
    contracts = contracts_of(loaded, schema, pipeline.CompileOptions())
    random = Random(seed)
    cases = [
        Case(contracts[name], random_message(random, contracts[name].message_type))
        for name in (exact[-1] if index % 4 else random.choice(exact) for index in range(messages_each))
    ]
    report.contracts += len(exact)
    yield file_set, schema, cases
