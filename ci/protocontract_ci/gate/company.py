"""Judges the modules of a repository: each against the change since its lock, and by its own state.

    findings of (contracts of head, code of head)  -  findings that the lock of the merge base records as open

What a module stands on is the state of the contracts that its locks at the merge base were taken of; where the
contracts have moved on since, that state is found in the history by the digest in the lock. A module whose sources and
slice of the contract are those of its locks is not read again. Locks of head are compared with what would be written,
and believed in nothing.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, Literal, TypeAlias

from protocontract_ci import locks as lock_files
from protocontract_ci.diff.compare import Diff, compare
from protocontract_ci.diff.oracle import installed_oracle
from protocontract_ci.discovery import mentions
from protocontract_ci.execution.entries import entry_points_of
from protocontract_ci.execution.samples import SampleMaker
from protocontract_ci.gate.history import History
from protocontract_ci.gate.parts import Part, parts, words_of
from protocontract_ci.gate.pinned import Pinned, pinned
from protocontract_ci.gate.settle import Settled, settle
from protocontract_ci.gate.tree import Tree
from protocontract_ci.locks import LOCKS, Lock, make_locks, owner_of, slice_digest
from protocontract_ci.model import Finding, ModuleVerdict, Role, Use
from protocontract_ci.modules import READ_GENERATORS, Module, Modules
from protocontract_ci.repository import Repository
from protocontract_ci.sources import Contracts
from protocontract_ci.usage.python.reader import import_roots, read_together
from protocontract_ci.usage.python.shared import Shared
from protocontract_ci.usage.python.together import Group
from protocontract_ci.usage.sql import SUFFIX as SQL_SUFFIX
from protocontract_ci.usage.vocabulary import Elements
from protocontract_ci.verdicts import acknowledgements
from protocontract_ci.verdicts.beyond import beyond_its_word
from protocontract_ci.verdicts.declared import (
    declared_uses,
    findings_of_uses,
    option_findings,
    unread_findings,
    uses_of_lock,
)
from protocontract_ci.verdicts.deprecated import deprecated_findings
from protocontract_ci.verdicts.folder import Folder, sample_maker
from protocontract_ci.verdicts.judge import Judge
from protocontract_ci.verdicts.own import absent_in_typescript, absent_names, finding, findings_of
from protocontract_ci.verdicts.stored import stored_findings
from protocontract_ci.verdicts.sunset import demand_sunsets, used_after

Purpose: TypeAlias = Literal["gate", "adapt", "baseline"]
"""``adapt``: a module without locks is read even where nothing changed; ``baseline``: what is found was there."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A module with its verdict. ``by_lock``: it was not read, for nothing that it is judged by has changed.

    ``elements`` are the messages, enums and services that it uses, ``locks`` those that `protocontract adapt` would
    write; None where something is open.
    """

    module: Module
    verdict: ModuleVerdict
    fails: bool = False
    notices: tuple[str, ...] = ()
    by_lock: bool = False
    elements: frozenset[str] = frozenset()
    locks: tuple[Lock, ...] | None = None


@dataclass
class _Work:
    """What is gathered of one module while it is judged."""

    module: Module
    files: list[str]
    locks: Sequence[Lock]
    #: Elements whose lock stands on an older state, with that state.
    behind: dict[str, Contracts] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)
    verdicts: list[ModuleVerdict] = field(default_factory=list)
    own: list[Finding] = field(default_factory=list)
    uses: dict[str, list[Use]] = field(default_factory=dict)
    unused: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class States:
    """The commit that is compared with, "" for none, and the contracts there and here."""

    commit: str
    before: Contracts
    after: Contracts


class Company:
    """All modules of a repository, at one change."""

    def __init__(
        self,
        repository: Repository,
        declared: Modules,
        states: States,
        *,
        execute: bool = True,
        today: datetime.date | None = None,
        purpose: Purpose = "gate",
        samples: Callable[[Diff], Collection[str]] | None = None,
    ) -> None:
        """Reads nothing yet. ``samples`` tells the messages whose sampled records no new rule refuses."""
        self._samples = samples
        self._purpose = purpose
        self.repository = repository
        self.declared = declared
        self.states = states
        self._execute = execute
        self._today = today or datetime.datetime.now(datetime.UTC).date()
        self._diffs: dict[int, Diff] = {}
        self._shared: dict[tuple[int, ...], Shared] = {}
        self._makers: dict[int, SampleMaker] = {}
        self.tree: Final = Tree(repository, declared, states.commit)
        self._history: Final = History(repository, declared, states.commit, states.before)

    @property
    def diff(self) -> Diff:
        """The comparison of the merge base with the working tree."""
        return self._diff(self.states.before)

    def _diff(self, before: Contracts) -> Diff:
        if id(before) not in self._diffs:
            after = self.states.after
            # Where nothing differs there is nothing to ask z3 about, which takes long to import.
            diff = compare(before, after, installed_oracle() if before is not after else None)
            changes = demand_sunsets(diff.changes, before.schema, self._today)
            self._diffs[id(before)] = replace(diff, changes=changes)
        return self._diffs[id(before)]

    def _of_states(self, *states: Contracts) -> Shared:
        """What all readings against these states share."""
        key = tuple(map(id, states))
        if key not in self._shared:
            self._shared[key] = Shared(Elements([state.schema for state in states]))
        return self._shared[key]

    def _maker(self, before: Contracts) -> SampleMaker:
        if id(before) not in self._makers:
            self._makers[id(before)] = sample_maker(before, self.states.after)
        return self._makers[id(before)]

    # -- the work

    def judge(self, wanted: Iterable[Module]) -> list[Judged]:
        """The verdicts on modules, in their order. Raises CheckerError, ContractError."""
        works = {
            module.name: _Work(module, self.tree.files[module.name], self.tree.base_locks.get(module.name, ()))
            for module in wanted
        }
        idle = {name for name, work in works.items() if self._is_idle(work)}
        busy = {name: work for name, work in works.items() if name not in idle}
        self._place(busy.values())
        readable = [
            name for name, work in busy.items() if work.files and work.module.generator in ("", *READ_GENERATORS)
        ]
        self._read(parts(self.tree.files, self.tree.python, readable, self.repository.root), busy)
        self._look_for_absent_names([busy[name] for name in readable])
        return [
            self._of_lock(work) if name in idle else self._judged(work, read=name in readable)
            for name, work in works.items()
        ]

    def _is_idle(self, work: _Work) -> bool:
        """Whether nothing that the module is judged by has changed since it was proven."""
        name = work.module.name
        if name in self.tree.edited or work.module.unread or not work.files or self._pins[name] is not None:
            return False
        if not work.locks:
            return (
                self._purpose == "gate"
                and not self.diff.changes
                and bool(self.states.commit)
                and not self.tree.changed.intersection(work.files)
            )
        if any(self.tree.digest(file) != digest for lock in work.locks for file, digest in lock.sources.items()):
            return False
        if any(slice_digest(self.states.after, lock.element, lock.uses) != lock.contract for lock in work.locks):
            return False
        if any(not self._deprecated.isdisjoint(lock.uses) for lock in work.locks):
            return False
        known = {file for lock in work.locks for file in lock.sources}
        return not any(self._mentions(file) for file in work.files if file not in known and file in self.tree.changed)

    @cached_property
    def _deprecated(self) -> set[str]:
        """What is deprecated now: no part of any slice, for it changes nothing but what is to be said."""
        return {change.path for change in self.diff.changes if change.kind == "deprecated_added"}

    def _mentions(self, file: str) -> bool:
        if file.endswith(SQL_SUFFIX):
            # It imports nothing: what it speaks of, only reading tells.
            return True
        return self._mention is not None and self._mention.search(self.tree.text(file)) is not None

    @cached_property
    def _mention(self) -> re.Pattern[str] | None:
        return mentions(self._of_states(self.states.before, self.states.after).elements)

    @cached_property
    def _pins(self) -> dict[str, Pinned | None]:
        """What each module pins."""
        return {
            module.name: pinned(self.repository, self.declared, module, self.tree.all_files, self._history.at)
            for module in self.declared.modules
        }

    def _place(self, works: Iterable[_Work]) -> None:
        """Finds the states that modules stand on, where they are not that of the merge base: by what they pin, which
        is a state of all elements, or by their locks.
        """
        for work in works:
            pin = self._pins[work.module.name]
            if pin is not None and pin.state is not None and pin.state is not self.states.before:
                for schema in (pin.state.schema, self.states.before.schema, self.states.after.schema):
                    for name in (*schema.messages, *schema.enums, *schema.services):
                        work.behind[name] = pin.state
            if pin is not None:
                continue
            for lock in work.locks:
                if slice_digest(self.states.before, lock.element, lock.uses) == lock.contract:
                    continue
                state = self._history.of_lock(lock)
                if state is None:
                    work.lost.append(lock.element)
                else:
                    work.behind[lock.element] = state

    def _read(self, found: Sequence[Part], works: Mapping[str, _Work]) -> None:
        """Reads the modules of all parts, each part against every state that one of its modules stands on."""
        states = {id(self.states.before): self.states.before}
        states.update((id(state), state) for work in works.values() for state in work.behind.values())
        for before in states.values():
            folders = [
                self._folder(part, works, before)
                for part in found
                if before is self.states.before
                or any(before in works[name].behind.values() for name in part.modules if name in works)
            ]
            # The type checker is asked about all of them at once.
            read = read_together([folder.reading for folder in folders])
            for folder, python in zip(folders, read, strict=True):
                folder.python = python
                for verdict in folder.verdicts():
                    module = self.declared.module_of(verdict.file)
                    if module is not None and module.name in works:
                        self._take(works[module.name], folder, verdict, before)

    def _folder(self, part: Part, works: Mapping[str, _Work], before: Contracts) -> Folder:
        wanted = {file: works[name] for name in part.modules if name in works for file in self.tree.files[name]}
        return Folder(
            self.repository.root, part.files, before, self.states.after, self._execute, compared=self._diff(before),
            wanted=frozenset(wanted),
            share=self._of_states,
            maker=self._maker(before),
            linked=part.linked,
            words=words_of(self.declared, part.files, self._diff(before).changes),
            entry_points={file: entry_points_of(work.module.entry_points, file) for file, work in wanted.items()},
            follow_imports=self.declared.decision("D10") == "imports",
        )  # fmt: skip

    def _take(self, work: _Work, folder: Folder, verdict: ModuleVerdict, before: Contracts) -> None:
        file = verdict.file
        uses = folder.uses_of(file)
        base = before is self.states.before
        mine = {element for element, state in work.behind.items() if state is before}
        kept = list(verdict.findings)
        if work.module.stored_data or folder.validates(file):
            kept += stored_findings(
                work.module.name, file, uses, folder.changes, folder.validates(file), red=work.module.stored_data,
                cleared=self._cleared if work.module.stored_data else (),
            )  # fmt: skip
        kept += deprecated_findings(
            work.module.name, file, uses, folder.changes, red=self.declared.decision("D17") == "fail"
        )
        if base:
            work.uses[file] = list(uses)
            kept = [each for each in kept if self._owner(each) not in work.behind]
            if kept:
                work.verdicts.append(replace(verdict, findings=tuple(kept)))
            elif not verdict.findings:
                work.verdicts.append(verdict)
            known = [key for change in folder.changes for key in change.acknowledgements]
            work.unused += [
                f"{file}:{each.line}: {acknowledgements.complaint(each, known)}"
                for each in folder.unused.get(file, ())
                if not work.behind
            ]
        else:
            kept = [each for each in kept if self._owner(each) in mine]
            if kept:
                work.verdicts.append(replace(verdict, findings=tuple(kept)))

    @cached_property
    def _cleared(self) -> Collection[str]:
        return self._samples(self.diff) if self._samples is not None else ()

    def _owner(self, each: Finding) -> str:
        return owner_of(each.change.path, self.states.after.schema)

    def _look_for_absent_names(self, works: Sequence[_Work]) -> None:
        """Names that the contracts of head do not have. What changed in the contracts alone, uses tell already."""
        asked = [
            work.module.name
            for work in works
            if self._purpose != "gate"
            or work.module.mode == "all"
            or work.module.name in self.tree.edited
            or self.tree.changed.intersection(work.files)
        ]
        found = parts(self.tree.files, self.tree.python, asked, self.repository.root) if asked else []
        absent = absent_names([self._group(part.files) for part in found], self._of_states(self.states.after))
        files = [file for part in found for file in part.files]
        absent += absent_in_typescript(self.repository.root, files, self.states.after)
        for work in works:
            if work.module.name in asked:
                work.own += findings_of(work.module.name, [each for each in absent if each.file in work.files])

    def _group(self, files: Iterable[str]) -> Group:
        texts = {file: self.tree.python[file] for file in files if file.endswith(".py")}
        return Group(texts, import_roots(texts, self.repository.root))

    def _known_before(self, work: _Work) -> set[str]:
        """The ids of names that the code of the merge base already had, and its contracts did not."""
        if not work.own or not self.states.commit:
            return set()
        with self.repository.checkout(self.states.commit, work.files) as folder:
            texts = {
                file: (folder / file).read_text(encoding="utf-8", errors="replace")
                for file in work.files
                if file.endswith(".py") and (folder / file).is_file()
            }
            there = [file for file in work.files if (folder / file).is_file()]
            absent = absent_in_typescript(folder, there, self.states.before)
        group = Group(texts, import_roots(texts, self.repository.root))
        absent += absent_names([group], self._of_states(self.states.before))
        return {each.change.id for each in findings_of(work.module.name, absent)}

    # -- verdicts

    def _after_sunset(self, work: _Work) -> list[Finding]:
        """Uses of fields whose day has passed: time passes for modules that nobody touches, too."""
        lines: dict[str, tuple[str, list[int]]] = {}
        for lock in work.locks if not work.uses else ():
            lines.update((path, (lock.path, [])) for path in lock.uses)
        for file, uses in work.uses.items():
            for use in uses:
                lines.setdefault(use.path, (file, []))[1].append(use.line)
        return used_after(work.module.name, lines, self.states.after.schema, self._today)

    def _of_lock(self, work: _Work) -> Judged:
        opened = sorted({each for lock in work.locks for each in lock.open})
        elements = self._elements(work)
        verdict = ModuleVerdict(
            work.module.name, "", "unaffected", "neither it nor what it uses has changed", role=self._role(work),
            owner=work.module.owner,
        )  # fmt: skip
        late = self._after_sunset(work)
        if late:
            settled = self._settle(work, late, opened=opened)
            return Judged(work.module, settled.verdict, settled.fails, settled.notices, True, elements)
        if opened:
            because = f"open before: {', '.join(opened)}"
            if work.module.mode == "all":
                red = replace(verdict, verdict="not_adapted", because=because)
                return Judged(work.module, red, True, by_lock=True, elements=elements)
            return Judged(work.module, verdict, notices=(because,), by_lock=True, elements=elements)
        return Judged(work.module, verdict, by_lock=True, elements=elements)

    def _role(self, work: _Work) -> Role:
        if work.uses or work.locks:
            return lock_files.role_of(
                ((use.path, use.how) for found in work.uses.values() for use in found), self.states.after.schema
            )
        return work.module.role

    def _judged(self, work: _Work, *, read: bool) -> Judged:
        module = work.module
        own = [*work.own, *self._by_word(work, read=read)]
        own += beyond_its_word(module, self._role(work), work.uses, self.states.after.schema)
        own += self._after_sunset(work)
        opened = {each for lock in work.locks for each in lock.open}
        if module.mode == "new":
            opened |= self._known_before(work)
        if self._purpose == "baseline":
            opened |= {each.change.id for each in own}
        settled = self._settle(work, own, self._unverified(work, read=read), opened=opened)
        locks = self._locks(work, settled) if read else None
        if module.name in self.tree.edited and not lock_files.are_written(self.repository.root, module.name, locks):
            because = "its locks are not those that `protocontract adapt` would write, and prove nothing"
            edited = finding(module.name, "lock_edited", f"{LOCKS}/{module.name}", because, f"{LOCKS}/{module.name}")
            settled = replace(
                settled,
                fails=settled.fails or module.mode != "report",
                verdict=replace(
                    settled.verdict, verdict="not_adapted", findings=(*settled.verdict.findings, edited),
                    because=f"{settled.verdict.because}; {because}" if settled.fails else because,
                ),
            )  # fmt: skip
        notices = [*settled.notices, *work.unused]
        notices += [f"what its lock of {each} stands on is not in the history here" for each in work.lost]
        pin = self._pins[module.name]
        if pin is not None and pin.state is not None:
            notices.append(f"stands on {module.package} {pin.version}, as {pin.file} pins it")
        verdict = replace(settled.verdict, role=self._role(work))
        return Judged(module, verdict, settled.fails, tuple(notices), False, self._elements(work), locks)

    def _elements(self, work: _Work) -> frozenset[str]:
        used = {owner_of(use.path, self.states.after.schema) for found in work.uses.values() for use in found}
        return frozenset(used | {lock.element for lock in work.locks} - {""})

    def _settle(
        self,
        work: _Work,
        own: Sequence[Finding],
        unverified: Sequence[ModuleVerdict] = (),
        *,
        opened: Collection[str],
    ) -> Settled:
        return settle(
            work.module, [*work.verdicts, *unverified], own, in_code=self._in_code(work), opened=opened,
            decisions=self.declared.decisions, file=self.declared.file, today=self._today,
        )  # fmt: skip

    def _unverified(self, work: _Work, *, read: bool) -> list[ModuleVerdict]:
        module, pin = work.module, self._pins[work.module.name]
        if pin is not None and pin.reason:
            return [ModuleVerdict(module.name, pin.file, "unverified", pin.reason, proof="unresolved")]
        if read or module.uses or (module.unread and not work.files):
            return []
        if module.generator not in ("", *READ_GENERATORS):
            because = f"its code is generated by {module.generator}, which the gate does not read; expected `uses`"
        elif work.locks:
            return []
        else:
            because = "no file is at its paths, and it has published no lock"
        return [ModuleVerdict(module.name, "", "unverified", because, proof="unresolved")]

    def _by_word(self, work: _Work, *, read: bool) -> list[Finding]:
        """Findings of what a module declares that it uses, or of the locks that it published of code elsewhere."""
        module, pin = work.module, self._pins[work.module.name]
        before = self.states.before if pin is None or pin.state is None else pin.state
        judge = Judge(before, self.states.after, self._diff(before).changes)
        changes = [change for change in self._diff(before).changes if module.may_use(change.path)]
        elements = self._of_states(before, self.states.after).elements
        found: list[Finding] = []
        if module.uses:
            uses = declared_uses(module.uses, module.role, elements, self.declared.file, module.line)
            work.uses[self.declared.file] = uses
            found += findings_of_uses(judge, module.name, self.declared.file, uses)
        elif module.unread:
            found += unread_findings(module.name, module.unread, changes, self.declared.file, module.line)
        if self.declared.decision("D8") != "ignore":
            found += option_findings(module.name, module.languages, changes, self.declared.file, module.line)
        if not read and not work.files:
            for lock in work.locks:
                found += findings_of_uses(judge, module.name, lock.path, uses_of_lock(lock.uses, lock.path))
        return found

    def _in_code(self, work: _Work) -> set[str]:
        """What the module's code acknowledges: a word in one of its files is the module's."""
        found: set[str] = set()
        for file in work.files:
            text = self.tree.text(file)
            read = acknowledgements.in_python if file in self.tree.python else acknowledgements.in_typescript
            read = acknowledgements.in_sql if file.endswith(SQL_SUFFIX) else read
            if "contract-ack" in text:
                found |= {each.key for each in read(text)}
        return found

    # -- locks

    def _locks(self, work: _Work, settled: Settled) -> tuple[Lock, ...] | None:
        """The locks of what is proven now; None where something is open that was not."""
        if settled.fails or settled.verdict.verdict in ("unverified", "not_adapted"):
            return None
        after = self.states.after
        sources = {file: self.tree.digest(file) for file in work.uses if file in work.files}
        opened = [
            each.change.id
            for each in settled.verdict.findings
            if each.verdict == "not_adapted" and each.notice and each.change.kind != "deprecated_added"
        ]
        words = {each.key for each in work.module.acknowledged}
        acknowledged = {
            each.change.id: f"{each.change.path} {each.change.step}" in words
            for each in settled.verdict.findings
            if each.because.startswith("acknowledged")
        }
        locks = make_locks(
            work.module.name, work.uses, after, sources, opened=opened,
            acknowledged=[each for each, for_a_time in acknowledged.items() if not for_a_time],
        )  # fmt: skip
        # What is acknowledged for a time is not proven: the lock stays on the state before.
        waiting = {
            self._owner(each)
            for each in settled.verdict.findings
            if acknowledged.get(each.change.id) or (each.change.id in opened and each.change in self._all_changes(work))
        }
        return tuple(
            replace(
                lock,
                contract=slice_digest(work.behind.get(lock.element, self.states.before), lock.element, lock.uses),
            )
            if lock.element in waiting
            else lock
            for lock in locks
        )

    def _all_changes(self, work: _Work) -> set[object]:
        states = [self.states.before, *work.behind.values()]
        return {change for state in states for change in self._diff(state).changes}
