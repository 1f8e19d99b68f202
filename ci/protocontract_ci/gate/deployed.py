"""`protocontract gate --env ENV`: the contracts of head against all that runs or is retained there, and the order.

A deployed state that head would break is no fault by itself: somebody has to be deployed first. Who, follows from the
direction of the change and from what the module does. Where no order helps, the gate is red.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from protocontract.cli import UsageError
from protocontract_ci.deployments import DEPLOYMENTS, Deployment, read_deployments
from protocontract_ci.diff.compare import compare
from protocontract_ci.diff.oracle import installed_oracle
from protocontract_ci.discovery import is_source
from protocontract_ci.gate.company import Company, Judged
from protocontract_ci.gate.parts import words_of
from protocontract_ci.gate.repository_mode import proto_path, with_all
from protocontract_ci.locks import owner_of
from protocontract_ci.model import Change, Finding, ModuleVerdict
from protocontract_ci.modules import Module
from protocontract_ci.reports.report import Report
from protocontract_ci.sources import read
from protocontract_ci.verdicts.folder import Folder, summary

First: TypeAlias = Literal["readers", "writers", "nobody", "none"]
"""Who has to be deployed first; ``nobody``: the order does not matter; ``none``: no order helps."""

#: Something that readers have to know of before anybody writes it, or must not need when nobody writes it any more.
_READERS_FIRST: Final = frozenset(
    {
        "field_removed", "oneof_case_removed", "enum_value_added", "oneof_case_added", "field_added",
        "field_moved_out_of_oneof", "enum_value_removed",
    }
)  # fmt: skip


@dataclass(frozen=True)
class Deployed:
    """What is to say of an environment: verdicts on its states (those of ``tolerated`` are settled by the order)."""

    verdicts: tuple[ModuleVerdict, ...]
    tolerated: frozenset[str]
    notes: tuple[str, ...]

    def added_to(self, report: Report) -> Report:
        """A report with these beside the modules."""
        changes = [finding.change for verdict in self.verdicts for finding in verdict.findings]
        return replace(
            report, diff=with_all(report.diff, changes), verdicts=[*report.verdicts, *self.verdicts],
            tolerated=report.tolerated | self.tolerated, notes=[*report.notes, *self.notes],
        )  # fmt: skip


def judge_deployed(
    company: Company, judged: Sequence[Judged], environment: str, *, execute: bool, today: datetime.date
) -> Deployed:
    """The states of an environment against head. Raises UsageError where nothing is recorded, ContractError."""
    root = company.repository.root
    states = [each for each in read_deployments(root, environment) if each.holds(today)]
    if not states:
        raise UsageError(
            f"nothing is recorded below {DEPLOYMENTS}/{environment}; expected `protocontract record-deployment "
            f"MODULE {environment}` after a deployment"
        )
    verdicts: list[ModuleVerdict] = []
    tolerated: set[str] = set()
    orders: dict[str, dict[First, list[tuple[str, Finding]]]] = {}
    notes: list[str] = []
    for state in states:
        module = company.declared.named(state.module)
        if module is None:
            notes.append(f"{environment}: {state.module} is recorded there and no module of {company.declared.file}")
            continue
        name = f"{state.module}@{state.commit[:7]}"
        if not company.repository.commit(state.commit):
            because = f"its commit {state.commit[:12]} is not in this clone; type `git fetch --unshallow`"
            verdicts.append(ModuleVerdict(name, "", "unverified", because, proof="unresolved", owner=module.owner))
            continue
        findings = _findings(company, module, state, execute=execute)
        if state.retained_until is not None:
            notes += _retained(company, judged, state, findings)
            continue
        hit = [each for each in findings if each.verdict == "not_adapted" and not _acknowledged(module, each, today)]
        for each in hit:
            message = owner_of(each.change.path, company.states.after.schema)
            orders.setdefault(message, {}).setdefault(first(each), []).append((name, each))
        if hit:
            made = replace(summary(name, "", [replace(each, module=name) for each in hit]), owner=module.owner)
            verdicts.append(made)
            tolerated.add(name)
    for message, by_order in orders.items():
        clash = "readers" in by_order and "writers" in by_order
        for order, hits in by_order.items():
            notes += _order(environment, message, order, hits, clash=clash)
            if order == "none" or (clash and order != "nobody"):
                tolerated -= {name for name, _ in hits}
    if not orders:
        notes.append(f"{environment}: nothing that runs there is broken by head; deploy in any order")
    return Deployed(tuple(verdicts), frozenset(tolerated), tuple(dict.fromkeys(notes)))


def first(each: Finding) -> First:
    """Who has to be deployed before the other side, so that this finding hits nobody."""
    change = each.change
    if change.kind in _READERS_FIRST:
        # Who only writes what is gone goes on writing it, and nobody reads it.
        return "nobody" if each.role == "writer" and change.kind.endswith("removed") else "readers"
    if change.direction == "loosened":
        return "readers"
    if change.direction == "tightened":
        return "writers"
    effects = change.compatibility
    if change.direction == "breaking" and "breaking" not in (effects.wire, effects.json) and effects.breaking:
        # Names in generated code: what runs has its own.
        return "nobody"
    return "none" if change.direction == "breaking" else "nobody"


def _order(
    environment: str, message: str, order: First, hits: Sequence[tuple[str, Finding]], *, clash: bool
) -> list[str]:
    names = ", ".join(dict.fromkeys(name for name, _ in hits))
    paths = ", ".join(dict.fromkeys(each.change.path for _, each in hits))
    if order == "nobody":
        return []
    if order == "none":
        return [f"{environment}: no order of deployment helps {names} over {paths}; change {message} in two steps"]
    if clash:
        return [f"{environment}: {message} asks for readers and for writers first; split the change ({paths}: {names})"]
    other = "writers" if order == "readers" else "readers"
    return [f"{environment}: {order} first: deploy anew {names} before the {other} of head ({paths})"]


def _findings(company: Company, module: Module, state: Deployment, *, execute: bool) -> list[Finding]:
    """What head means for a state: its code as it was, from its contracts to those of head."""
    declared, repository = company.declared, company.repository
    before = read(f"{state.commit}:{declared.contracts}", proto_path(repository, declared))
    diff = compare(before, company.states.after, installed_oracle())
    files = [
        file for file in repository.files_at(state.commit) if is_source(file) and declared.module_of(file) is module
    ]
    with repository.checkout(state.commit, files) as folder:
        judged = Folder(
            folder, files, before, company.states.after, execute, compared=diff,
            words=words_of(declared, files, diff.changes),
        )  # fmt: skip
        return [each for verdict in judged.verdicts() for each in verdict.findings]


def _acknowledged(module: Module, each: Finding, today: datetime.date) -> bool:
    key = f"{each.change.path} {each.change.step}"
    return any(word.key == key and word.until >= today for word in module.acknowledged)


def _retained(company: Company, judged: Sequence[Judged], state: Deployment, findings: Sequence[Finding]) -> list[str]:
    """What records that a state wrote mean for the readers of head: a tighter rule may reject them."""
    tight: list[Change] = [
        each.change
        for each in findings
        if each.verdict == "not_adapted"
        and each.role != "reader"
        and each.change.direction in ("tightened", "breaking")
    ]
    notes = []
    for change in dict.fromkeys(tight):
        message = owner_of(change.path, company.states.after.schema)
        readers = [
            each.module.name
            for each in judged
            if message in each.elements and each.verdict.role in ("reader", "both") and each.module.stored_data
        ]
        notes.append(
            f"{state.environment}: records that {state.module} wrote at {state.commit[:7]} are kept until "
            f"{state.retained_until} and may break {change.path}"
            + (f"; {', '.join(readers)} read stored records" if readers else "")
        )
    return notes
