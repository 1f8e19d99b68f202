"""The differential run: random schemas x random messages, ours against protovalidate."""

from __future__ import annotations

import difflib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from random import Random
from typing import Any

import protovalidate
from google.protobuf import message_factory
from google.protobuf.message import Message
from protovalidate import ViolationPb

from protocontract import Contract
from protocontract_compiler import pipeline
from protocontract_compiler.descriptors import Loaded, load
from protocontract_compiler.diagnostics import Diagnostics
from protocontract_compiler.dynamic import contracts_of
from protocontract_compiler.passes import pass_rules
from tests.fuzz.compare import Verdict, equal, ours, theirs
from tests.fuzz.messages import random_message
from tests.fuzz.schemas import DEPENDENCIES, Schemas

#: Seeds that one task of a run in several processes takes.
_CHUNK = 50


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

    def add(self, other: Report) -> None:
        """Adds the counts of another run."""
        for name in ("schemas", "messages", "violations", "errors", "refused", "delegated"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.differences += other.differences
        self.kinds += other.kinds

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


def run_in_processes(seeds: range, messages_each: int, processes: int) -> Report:
    """As ``run``, spread over processes; which process takes which seed changes no count."""
    if processes <= 1:
        return run(seeds, messages_each)
    chunks = [seeds[start : start + _CHUNK] for start in range(0, len(seeds), _CHUNK)]
    report = Report()
    # Workers end after a few chunks: protobuf never frees the pools of the schemas that they made. (Not an executor:
    # with max_tasks_per_child it can wait for ever in Python 3.11.)
    with get_context("spawn").Pool(processes, maxtasksperchild=10) as pool:
        for part in pool.imap(partial(run, messages_each=messages_each), chunks):
            report.add(part)
    return report


def compiled(seed: int) -> tuple[Loaded, Mapping[str, Contract[Any]], Diagnostics, list[str], int]:
    """The schema of a seed: loaded, its contracts (none where it has mistakes), its messages, how many are left."""
    file_set, names = Schemas(seed).file_set()
    diagnostics = Diagnostics()
    ours_of_it = [file.name for file in file_set.file[len(DEPENDENCIES) :]]
    loaded = load(file_set, ours_of_it, diagnostics)
    schema = pass_rules.lower(loaded, loaded.schema, diagnostics)
    if diagnostics.failed:
        return loaded, {}, diagnostics, names, 0
    delegated = sum(schema.messages[name].delegated is not None for name in names)
    return loaded, contracts_of(loaded, schema, pipeline.CompileOptions()), diagnostics, names, delegated


def _schema(seed: int, messages_each: int, report: Report) -> None:
    loaded, contracts, diagnostics, names, delegated = compiled(seed)
    report.schemas += 1
    report.delegated += delegated
    validator = protovalidate.Validator()
    if diagnostics.failed:
        _both_refuse(seed, diagnostics, report, loaded, validator)
        return
    random = Random(seed)
    before = len(report.differences)
    for index in range(messages_each):
        name = names[-1] if index % 4 else random.choice(names)
        _message(seed, contracts[name], random, report, validator)
    # One difference a schema: the smallest, which is the easiest to read.
    report.differences[before:] = sorted(report.differences[before:], key=len)[:1]


def _both_refuse(
    seed: int, diagnostics: Diagnostics, report: Report, loaded: Loaded, validator: protovalidate.Validator
) -> None:
    # protovalidate compiles the rules of a message when it meets the first one: groups, too.
    for message in loaded.schema.requested_messages():
        empty = message_factory.GetMessageClass(loaded.pool.FindMessageTypeByName(message.full_name))()
        if theirs(validator, empty) == "contract error":
            report.refused += 1
            return
    report.differences.append(f"seed {seed}: refused here only: {diagnostics.render()}")


def _message(
    seed: int, contract: Contract[Any], random: Random, report: Report, validator: protovalidate.Validator
) -> None:
    message: Message = random_message(random, contract.message_type)
    expected, found = theirs(validator, message), ours(contract, message)
    report.messages += 1
    if not equal(expected, found):
        raw = message.SerializeToString(deterministic=True)
        report.differences.append(f"seed {seed}, {contract.full_name}: {raw.hex()}\n{shown(expected, found)}")
    elif isinstance(expected, str):
        report.errors += 1
    else:
        report.violations += len(expected)
        report.kinds.update(ViolationPb.from_binary(raw).rule_id or "" for raw in set(expected))


def shown(expected: Verdict, found: Verdict) -> str:
    """How two verdicts differ, for people: the first few lines that only one of them has."""
    if isinstance(expected, str) or isinstance(found, str):
        pair = [verdict if isinstance(verdict, str) else f"{len(verdict)} violations" for verdict in (expected, found)]
        return f"  theirs: {pair[0]}\n  ours:   {pair[1]}"
    texts = [[_line(raw) for raw in verdict] for verdict in (expected, found)]
    differ = [line for line in difflib.ndiff(*texts) if line[0] in "-+"]
    return "  (- theirs, + ours)\n" + "\n".join(f"  {line}" for line in differ[:8])


def _line(raw: bytes) -> str:
    made = json.loads(ViolationPb.from_binary(raw).to_json())
    paths = [
        ".".join(
            element["fieldName"] + "".join(f"[{element[key]!r}]" for key in element if key.endswith(("Key", "index")))
            for element in made.get(name, {}).get("elements", ())
        )
        for name in ("field", "rule")
    ]
    return f"{paths[0]} <{paths[1]}> {made.get('ruleId', '')}: {made.get('message', '')}"
