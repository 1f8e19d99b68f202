"""The differential run: random schemas x random messages, ours against protovalidate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

import protovalidate
from google.protobuf.message import Message

from protocontract import Contract, ContractError
from protocontract_compiler import pipeline
from protocontract_compiler.descriptors import load
from protocontract_compiler.diagnostics import Diagnostics
from protocontract_compiler.dynamic import contracts_of
from protocontract_compiler.passes import pass_rules
from tests.fuzz.messages import random_message
from tests.fuzz.schemas import Schemas
from tests.support.judge import ours, theirs


@dataclass
class Report:
    """Counts of a run. ``differences`` are texts that reproduce each difference."""

    schemas: int = 0
    messages: int = 0
    violations: int = 0
    errors: int = 0
    refused: int = 0
    delegated: int = 0
    differences: list[str] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        return (
            f"{self.schemas:,} schemas ({self.refused:,} refused by both, {self.delegated:,} messages delegated), "
            f"{self.messages:,} messages, {self.violations:,} violations of {len(self.kinds)} rule ids, "
            f"{self.errors:,} evaluation errors, {len(self.differences)} differences"
        )


def run(seeds: range, messages_each: int, *, most_differences: int = 20) -> Report:
    """One schema a seed, ``messages_each`` messages a schema."""
    report = Report()
    for seed in seeds:
        _schema(seed, messages_each, report)
        if len(report.differences) >= most_differences:
            break
    return report


def _schema(seed: int, messages_each: int, report: Report) -> None:
    file_set, names = Schemas(seed).file_set()
    report.schemas += 1
    diagnostics = Diagnostics()
    loaded = load(file_set, [file_set.file[-1].name], diagnostics)
    schema = pass_rules.lower(loaded, loaded.schema, diagnostics)
    if diagnostics.failed:
        _both_refuse(seed, diagnostics, report, loaded, names)
        return
    report.delegated += sum(schema.messages[name].delegated is not None for name in names)
    contracts = contracts_of(loaded, schema, pipeline.CompileOptions())
    random = Random(seed)  # noqa: S311
    for index in range(messages_each):
        name = names[-1] if index % 4 else random.choice(names)
        _message(seed, contracts, name, random, report)


def _both_refuse(seed: int, diagnostics: Diagnostics, report: Report, loaded: Any, names: list[str]) -> None:
    from google.protobuf import message_factory

    for name in names:
        message = message_factory.GetMessageClass(loaded.pool.FindMessageTypeByName(name))()
        try:
            protovalidate.collect_violations(message)
        except protovalidate.CompilationError:
            report.refused += 1
            return
        except protovalidate.EvaluationError:
            continue
    report.differences.append(f"seed {seed}: refused here only: {diagnostics.render()}")


def _message(seed: int, contracts: Mapping[str, Contract[Any]], name: str, random: Random, report: Report) -> None:
    contract = contracts[name]
    message: Message = random_message(random, contract.message_type)
    expected = theirs(message)
    try:
        found = ours(contract, message)
    except ContractError as error:
        found = f"contract error: {error}"
    report.messages += 1
    if found != expected:
        report.differences.append(
            f"seed {seed}, {name}: {message.SerializeToString(deterministic=True).hex()}\n"
            f"  theirs: {expected}\n  ours:   {found}"
        )
    elif isinstance(expected, str):
        report.errors += 1
    else:
        report.violations += len(expected)
        report.kinds.update(seen[2] for seen in expected)
