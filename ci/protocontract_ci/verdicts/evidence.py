"""What can be found out about a module beyond its uses: by running its functions, and by type-checking it.

Both are asked only where a verdict depends on them. "fails" and "passes" are results; "unknown" means that nothing
could be run, or that the runs said nothing.
"""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from protocontract_ci.execution.entries import Entry, arguments, find_entries
from protocontract_ci.execution.runner import Argument, Call, Outcome, Ran, Runner
from protocontract_ci.execution.samples import SampleMaker, Samples
from protocontract_ci.model import Language, Use, Witness
from protocontract_ci.usage.python.names import Names


@dataclass(frozen=True, slots=True)
class Evidence:
    """A result, with the lines of the module where it showed and the message that showed it."""

    result: Literal["fails", "passes", "unknown"] = "unknown"
    lines: tuple[int, ...] = ()
    entries: tuple[Entry, ...] = ()
    witness: Witness | None = None


UNKNOWN = Evidence()


@dataclass(frozen=True, slots=True)
class Subject:
    """What an experiment is about: a message before and after, and the fields that vary.

    ``demanded``: the fields must be set now. What is written then is judged by arguments that are not empty: a function
    that sets the field from what it is given has adapted. ``shown`` are messages that show what the change does.
    """

    old: str
    new: str
    fields: tuple[str, ...]
    demanded: bool = False
    shown: tuple[bytes, ...] = ()


@dataclass
class _Failures:
    """The functions that fail, with the lines where they do, and the first message that shows it."""

    entries: dict[Entry, None] = field(default_factory=dict)
    lines: set[int] = field(default_factory=set)
    witness: Witness | None = None

    def add(self, entry: Entry, lines: Iterable[int], witness: Witness | None) -> None:
        self.entries[entry] = None
        self.lines.update(lines)
        self.witness = self.witness or witness

    @property
    def evidence(self) -> Evidence:
        return Evidence("fails", tuple(sorted(self.lines)), tuple(self.entries), self.witness)


class Experiments(Protocol):
    """How one file behaves against both states of the contracts."""

    language: Language

    def readers(self, subject: Subject, uses: Sequence[Use]) -> Evidence:
        """Whether functions that read fail on messages that only the new state accepts."""
        ...

    def writers(self, subject: Subject, uses: Sequence[Use]) -> Evidence:
        """Whether functions write messages that the old state accepted and the new one refuses."""
        ...

    def both(self, subject: Subject, uses: Sequence[Use], *, results: bool) -> Evidence:
        """Whether functions do the same in both states; ``results``: the values that they return count, too."""
        ...

    def cured(self, subject: Subject, uses: Sequence[Use]) -> bool:
        """Whether functions that failed on everything before work now: they are written for the new state."""
        ...

    def types(self, uses: Sequence[Use]) -> Evidence:
        """Whether the type checker says something of the new state that it did not say of the old one."""
        ...


@dataclass
class Laboratory:
    """What all experiments of one comparison share."""

    runners: tuple[Runner, Runner]
    maker: SampleMaker
    #: The type errors of a file against the old and the new stubs alone.
    type_errors: Callable[[str], tuple[frozenset[tuple[int, str]], frozenset[tuple[int, str]]]]
    execute: bool = True
    _samples: dict[Subject, Samples] = field(default_factory=dict)

    def samples(self, subject: Subject) -> Samples:
        """Messages for a subject; made once."""
        if subject not in self._samples:
            try:
                self._samples[subject] = self.maker.samples(subject.old, subject.new, subject.fields, subject.shown)
            except KeyError:
                # The message exists on one side only.
                self._samples[subject] = Samples()
        return self._samples[subject]


class RunExperiments(ABC):
    """What running a file's functions says, in any language."""

    laboratory: Laboratory

    @property
    @abstractmethod
    def entries(self) -> list[Entry]:
        """The functions that may be run; none where running is switched off."""

    @abstractmethod
    def _ran(self, side: int, calls: Sequence[Call]) -> Ran:
        """The outcomes of calls against one state."""

    def _using(self, uses: Sequence[Use]) -> list[Entry]:
        return [entry for entry in self.entries if any(entry.holds(use.line) for use in uses)]

    def readers(self, subject: Subject, uses: Sequence[Use]) -> Evidence:
        """See Experiments."""
        samples = self.laboratory.samples(subject)
        entries = [entry for entry in self._using(uses) if subject.old in entry.takes or subject.new in entry.takes]
        if not entries or not samples.gained:
            return UNKNOWN
        known = self._run(entries, subject, samples.both)
        fresh = self._run(entries, subject, samples.gained)
        usual = {_failure(entry, outcome) for entry, _, outcome in known if outcome.failed}
        failures = _Failures()
        for entry, row, outcome in fresh:
            if outcome.failed and _failure(entry, outcome) not in usual:
                failures.add(entry, outcome.lines, Witness(subject.new, _given(row), "after", confirmed=True))
        if failures.entries:
            return failures.evidence
        return Evidence("passes", entries=tuple(entries)) if any(o.ran for _, _, o in fresh) else UNKNOWN

    def writers(self, subject: Subject, uses: Sequence[Use]) -> Evidence:
        """See Experiments."""
        entries = self._using(uses)
        if not entries:
            return UNKNOWN
        kept = 0
        failures = _Failures()
        judges = self.laboratory.maker.judges
        samples = self.laboratory.samples(subject)
        refused = self.laboratory.maker.values(subject.old, subject.fields, samples.lost)
        for entry, row, outcome in self._run(entries, subject, samples.both, refused):
            if subject.demanded and not all(each.value for each in row):
                continue
            if outcome.data is None or (outcome.message and outcome.message not in (subject.old, subject.new)):
                continue
            accepted = judges[1].accepts(subject.new, outcome.data)
            if accepted is False and judges[0].accepts(subject.old, outcome.data):
                # What was refused before is nothing new.
                failures.add(entry, (), Witness(subject.old, outcome.data, "before", confirmed=True))
            kept += accepted is True
        if failures.entries:
            return failures.evidence
        return Evidence("passes", entries=tuple(entries)) if kept else UNKNOWN

    def both(self, subject: Subject, uses: Sequence[Use], *, results: bool) -> Evidence:
        """See Experiments."""
        entries = self._using(uses)
        samples = self.laboratory.samples(subject)
        data = list(dict.fromkeys((*samples.both, *samples.lost, *samples.gained)))
        if not entries:
            return UNKNOWN
        calls = _calls(entries, subject, data)
        before, after = (self._ran(side, [Call(entry.name, row) for entry, row in calls]) for side in (0, 1))
        if before.broken or after.broken or (before.import_error and after.import_error):
            return UNKNOWN
        if after.import_error:
            return Evidence("fails", after.import_lines)
        if before.import_error:
            return Evidence("passes", entries=tuple(entries))
        usual = {_failure(entry, old) for (entry, _), old in zip(calls, before.outcomes, strict=True) if old.failed}
        worked, cured, same = 0, 0, 0
        failures = _Failures()
        for (entry, row), old, new in zip(calls, before.outcomes, after.outcomes, strict=True):
            if not old.ran or not new.ran:
                continue
            if new.failed and not old.failed and _failure(entry, new) not in usual:
                failures.add(entry, new.lines, _shown(subject, row))
            cured += old.failed and not new.failed
            if not old.failed and not new.failed:
                worked += 1
                same += _value(old) == _value(new) if results else _kind(old) == _kind(new)
                if results and _value(old) != _value(new):
                    failures.add(entry, (), _shown(subject, row))
        if failures.entries:
            return failures.evidence
        if (cured and not worked) or (worked and same == worked):
            return Evidence("passes", entries=tuple(entries))
        return Evidence("fails", entries=tuple(entries)) if worked and same < worked else UNKNOWN

    def cured(self, subject: Subject, uses: Sequence[Use]) -> bool:
        """See Experiments."""
        entries = self._using(uses)
        samples = self.laboratory.samples(subject)
        calls = _calls(entries, subject, [*samples.both, *samples.gained])
        if not calls:
            return False
        before, after = (self._ran(side, [Call(entry.name, row) for entry, row in calls]) for side in (0, 1))
        works = any(outcome.ran and not outcome.failed for outcome in after.outcomes)
        return works and not any(outcome.ran and not outcome.failed for outcome in before.outcomes)

    def _run(
        self, entries: Iterable[Entry], subject: Subject, data: Sequence[bytes], telling: Sequence[object] = ()
    ) -> list[tuple[Entry, tuple[Argument, ...], Outcome]]:
        """Outcomes with what was given: in the new state, or in the old one where the file fails there."""
        calls = _calls(entries, subject, data, telling)
        for side in (1, 0):
            ran = self._ran(side, [Call(entry.name, row) for entry, row in calls])
            if ran.broken:
                return []
            if side == 1 and (ran.import_error or not any(outcome.ran for outcome in ran.outcomes)):
                continue
            return [(entry, row, outcome) for (entry, row), outcome in zip(calls, ran.outcomes, strict=False)]
        return []


@dataclass
class PythonExperiments(RunExperiments):
    """One Python file. ``path`` is where it lies, ``file`` how it is called below the folder."""

    laboratory: Laboratory
    path: Path
    file: str
    tree: ast.Module
    names: Names
    language: Language = "python"
    #: Functions of the file that modules.toml names as entry points.
    named: frozenset[str] = frozenset()
    _entries: list[Entry] | None = None

    @property
    def entries(self) -> list[Entry]:
        """See RunExperiments."""
        if self._entries is None:
            self._entries = find_entries(self.tree, self.names, self.named) if self.laboratory.execute else []
        return self._entries

    def _ran(self, side: int, calls: Sequence[Call]) -> Ran:
        return self.laboratory.runners[side].run(self.path, calls)

    def types(self, uses: Sequence[Use]) -> Evidence:
        """See Experiments."""
        lines = {use.line for use in uses}
        old, new = self.laboratory.type_errors(self.file)
        fresh = {line for line, _ in new - old if line in lines}
        if fresh:
            return Evidence("fails", tuple(sorted(fresh)))
        # What a value is used for may stand further down: `for pair in headers.items: pair.key`.
        around = [function for function in _functions(self.tree) if any(_within(function, line) for line in lines)]
        near = {line for line, _ in new - old if any(_within(function, line) for function in around)}
        if not near:
            lines |= {line for line, _ in old - new if any(_within(function, line) for function in around)}
        gone = {line for line, _ in old - new if line in lines}
        return Evidence("passes", tuple(sorted(gone))) if gone else UNKNOWN


def _functions(tree: ast.Module) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def _within(node: ast.FunctionDef | ast.AsyncFunctionDef, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def _calls(
    entries: Iterable[Entry], subject: Subject, data: Sequence[bytes], telling: Sequence[object] = ()
) -> list[tuple[Entry, tuple[Argument, ...]]]:
    """Every function with every row of arguments, in which ``data`` stands for the subject's message."""
    messages = dict.fromkeys((subject.old, subject.new), data)
    return [(entry, row) for entry in entries for row in arguments(entry, messages, telling)]


def _shown(subject: Subject, row: tuple[Argument, ...]) -> Witness | None:
    """What a call was given, where that was a message of the subject."""
    given = next((each for each in row if each.message in (subject.old, subject.new)), None)
    return None if given is None else Witness(given.message, given.value, "after")


def _given(row: tuple[Argument, ...]) -> bytes:
    """The first message among the arguments of a call; empty where there is none."""
    given: bytes = next((each.value for each in row if each.message), b"")
    return given


def _failure(entry: Entry, outcome: Outcome) -> tuple[str, str, int]:
    return entry.name, outcome.error, outcome.lines[-1] if outcome.lines else 0


def _value(outcome: Outcome) -> tuple[object, ...]:
    return outcome.message, outcome.data, outcome.text


def _kind(outcome: Outcome) -> tuple[str, bool, str]:
    """What a result is, without its value: a message, bytes, a text, a list of numbers."""
    return outcome.message, outcome.data is not None, outcome.text.partition(" ")[0]
