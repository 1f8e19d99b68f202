"""``protocontract gate`` in a git repository: the working tree against the merge base, by modules.toml."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from protocontract.cli import UsageError
from protocontract.terminal import plural
from protocontract_ci.diff.compare import Diff
from protocontract_ci.discovery import User, find_users, undeclared
from protocontract_ci.gate.company import Company, Judged, Purpose, States
from protocontract_ci.model import Change, ModuleVerdict
from protocontract_ci.modules import MODULES_FILE, Module, Modules, load_modules
from protocontract_ci.reports.report import Report
from protocontract_ci.repository import Repository
from protocontract_ci.sources import Contracts, read
from protocontract_ci.usage.vocabulary import Elements


@contextlib.contextmanager
def at_the_top() -> Iterator[Repository]:
    """The repository around the working directory, with its top as the working directory. Raises RepositoryError."""
    repository = Repository.around(Path.cwd())
    with contextlib.chdir(repository.root):
        yield repository


def declared_modules(repository: Repository) -> Modules:
    """The modules of a repository. Raises UsageError where none are declared, ContractError for a wrong file."""
    modules = load_modules(repository.root)
    if not modules.file:
        raise UsageError(
            f"{MODULES_FILE} is missing; `protocontract gate --init` writes it (or judge a folder: "
            "--before BEFORE --after AFTER --modules DIR)"
        )
    return modules


def states(repository: Repository, modules: Modules, against: str) -> States:
    """The contracts of the merge base and of the working tree. Raises RepositoryError, ContractError."""
    commit = repository.merge_base(against or modules.against)
    after = head_contracts(repository, modules)
    folders = (modules.contracts, *modules.proto_path)
    changed = any(
        path.endswith(".proto") and any(path.startswith(f"{folder}/") for folder in folders)
        for path in repository.changed(commit)
    )
    if not changed:
        return States(commit, after, after)
    if not any(path.endswith(".proto") for path in repository.files_at(commit, modules.contracts)):
        # The contracts are new: nobody stood on anything before.
        return States(commit, after, after)
    return States(commit, read(f"{commit}:{modules.contracts}", proto_path(repository, modules)), after)


def head_contracts(repository: Repository, modules: Modules) -> Contracts:
    """The contracts of the working tree. Raises ContractError."""
    try:
        return read(modules.contracts, proto_path(repository, modules))
    except FileNotFoundError:
        raise UsageError(
            f"`{modules.contracts}` is no folder; expected `contracts` of [gate] in {MODULES_FILE} to name that of the "
            ".proto files"
        ) from None


def proto_path(repository: Repository, modules: Modules) -> list[Path]:
    """The folders in which imports are looked for."""
    return [repository.root / path for path in modules.proto_path]


def chosen(modules: Modules, names: Sequence[str]) -> list[Module]:
    """The modules of these names; all of them for none. Raises UsageError for a name that is not declared."""
    found = []
    for name in names:
        module = modules.named(name)
        if module is None:
            known = ", ".join(sorted(each.name for each in modules.modules))
            raise UsageError(f"no module `{name}` in {modules.file}; expected one of {known or 'none: it is empty'}")
        found.append(module)
    return found or list(modules.modules)


def judge_repository(
    repository: Repository,
    against: str,
    names: Sequence[str],
    *,
    execute: bool,
    purpose: Purpose = "gate",
    samples: Callable[[Diff], Collection[str]] | None = None,
) -> tuple[Company, list[Judged]]:
    """The verdicts on modules. The top of the repository has to be the working directory.

    Raises UsageError, RepositoryError, ContractError, CheckerError.
    """
    modules = declared_modules(repository)
    wanted = chosen(modules, names)
    company = Company(
        repository, modules, states(repository, modules, against), execute=execute, purpose=purpose, samples=samples
    )
    return company, company.judge(wanted)


def users_outside(company: Company) -> list[User]:
    """The files that use the contracts and belong to no module."""
    declared = company.declared
    outside = [
        file for file in company.tree.all_files if declared.module_of(file) is None and not declared.ignores(file)
    ]
    return undeclared(find_users(company.repository.root, outside, elements_of(company)), declared)


def elements_of(company: Company) -> Elements:
    """The elements of both states."""
    return Elements([company.states.before.schema, company.states.after.schema])


def report_of(company: Company, judged: Sequence[Judged], outside: Sequence[User], *, show_values: bool) -> Report:
    """The report. Files are shown from the top of the repository.

    A user outside all modules is a note, and in mode = "all" a module of its own that has not adapted.
    """
    tolerated = {
        each.module.name
        for each in judged
        if each.module.mode == "report" or (each.verdict.verdict == "unverified" and not each.module.required)
    }
    verdicts = [each.verdict for each in judged]
    notes = list(company.diff.notes)
    notes += [f"{each.module.name}: {notice}" for each in judged for notice in each.notices]
    if company.declared.mode == "all":
        verdicts += [
            ModuleVerdict(user.file, user.file, "not_adapted", _outside(user), (user.line,)) for user in outside
        ]
    else:
        notes += [f"{user.file}:{user.line} {_outside(user)}" for user in outside]
    skipped = sum(each.by_lock for each in judged)
    if skipped:
        notes.append(f"not read again, for neither they nor what they use has changed: {plural(skipped, 'module')}")
    findings = [finding for verdict in verdicts for finding in verdict.findings]
    return Report(
        with_all(company.diff, [finding.change for finding in findings]), verdicts, declared=True, notes=notes,
        tolerated=frozenset(tolerated), show_values=show_values,
    )  # fmt: skip


def _outside(user: User) -> str:
    return f"uses {', '.join(user.imports)} and belongs to no module of {MODULES_FILE}"


def with_all(diff: Diff, changes: Sequence[Change]) -> Diff:
    """The comparison with what findings are about besides: changes since an older lock, a module's own state."""
    known = {change.id for change in diff.changes}
    more: dict[str, Change] = {change.id: change for change in changes if change.id not in known}
    return replace(diff, changes=(*diff.changes, *more.values()))
