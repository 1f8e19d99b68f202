"""Judges a folder of modules without any configuration: every file below it is a module."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Final

from protocontract_ci.diff.compare import Diff, compare
from protocontract_ci.diff.oracle import installed_oracle
from protocontract_ci.execution.node import NodeRunner
from protocontract_ci.execution.runner import Runner
from protocontract_ci.execution.samples import SampleMaker
from protocontract_ci.model import Change, Finding, ModuleVerdict, Use, Verdict
from protocontract_ci.sources import Contracts
from protocontract_ci.usage.notebooks import Notebooks, python_name, read_notebooks
from protocontract_ci.usage.python.copies import Copy
from protocontract_ci.usage.python.reader import PythonUses, Reading, import_roots, read_together
from protocontract_ci.usage.python.shared import Shared
from protocontract_ci.usage.python.thresholds import thresholds
from protocontract_ci.usage.python.types import TypeErrors, type_errors
from protocontract_ci.usage.sql import SUFFIX, SqlUses, Word, read_embedded, read_sql
from protocontract_ci.usage.sql_in_python import find_sql
from protocontract_ci.usage.typescript.declarations import State
from protocontract_ci.usage.typescript.reader import SUFFIXES, TypeScriptUses, read_or_say_why
from protocontract_ci.usage.unread import LARGEST, UnreadFile, is_code, is_unread, parse
from protocontract_ci.usage.vocabulary import Elements
from protocontract_ci.verdicts import acknowledgements
from protocontract_ci.verdicts.evidence import Laboratory, PythonExperiments
from protocontract_ci.verdicts.for_file import FileOfModule
from protocontract_ci.verdicts.judge import Judge
from protocontract_ci.verdicts.sql import SqlExperiments, sql_findings, together
from protocontract_ci.verdicts.typescript import TypeScriptExperiments, findings
from protocontract_ci.verdicts.unread import UnreadJudge
from protocontract_compiler.generated_names import module_of

_WORST: Final[tuple[Verdict, ...]] = ("not_adapted", "unverified", "adapted", "unaffected")


@dataclass
class Folder:
    """Files of modules and the two states of the contracts that they are judged by."""

    root: Path
    files: Sequence[str]
    before: Contracts
    after: Contracts
    execute: bool = True
    #: Acknowledgements that fit no change, by file.
    unused: dict[str, list[acknowledgements.Acknowledgement]] = field(default_factory=dict)
    #: The comparison, where it is known already.
    compared: Diff | None = None
    #: The files that are judged; the others are read for what these call. None for all.
    wanted: frozenset[str] | None = None
    #: Gives what readings against the same states share, for these states.
    share: Callable[..., Shared] | None = None
    #: Files by the modules that import from each other; a call in one of the others reaches none of their functions.
    linked: Sequence[frozenset[str]] = ()
    #: What modules.toml says of the modules that SQL files belong to, by file.
    words: Mapping[str, Word] = field(default_factory=dict)
    #: What makes messages for experiments, where others against the same states have one.
    maker: SampleMaker | None = None
    #: Functions that may be run because modules.toml names them, by file.
    entry_points: Mapping[str, frozenset[str]] = field(default_factory=dict)
    #: Nothing says what files and tables are of the contracts: whatever has a message's name counts (D16).
    undeclared: bool = False
    #: Whether constants that a file imports from another one count as its own (D10).
    follow_imports: bool = False

    @cached_property
    def diff(self) -> Diff:
        """The comparison of both states."""
        return self.compared or compare(self.before, self.after, installed_oracle())

    @property
    def changes(self) -> Sequence[Change]:
        """All changes between the states."""
        return self.diff.changes

    @cached_property
    def python(self) -> PythonUses:
        """What the Python files use. Raises CheckerError."""
        (found,) = read_together([self.reading])
        return found

    @cached_property
    def reading(self) -> Reading:
        """The Python files, before the type checker was asked about them."""
        names = [name for name in self.files if name.endswith(".py")]
        linked = [{python_name(each) if each in self.notebooks.read else each for each in held} for held in self.linked]
        return Reading(self.root, names, self._shared, self.notebooks.texts, linked, follow_imports=self.follow_imports)

    @cached_property
    def _shared(self) -> Shared:
        return self._of_states(self.before, self.after)

    def _of_states(self, *states: Contracts) -> Shared:
        return self.share(*states) if self.share else Shared(Elements([state.schema for state in states]))

    @cached_property
    def notebooks(self) -> Notebooks:
        """The notebooks, as Python sources."""
        return read_notebooks(self.root, self.files)

    @cached_property
    def sql(self) -> SqlUses:
        """What the SQL files use."""
        words = self.words
        if self.undeclared:
            word = Word(contracts=self._shared.elements.own_messages, guessed=True)
            words = dict.fromkeys((name for name in self.files if name.endswith(SUFFIX)), word)
        return read_sql(self.root, self.files, self._shared.elements, words)

    @cached_property
    def embedded(self) -> SqlUses:
        """What the SQL in Python files and notebooks uses, by what they are called among Python files."""
        magics = {python_name(name): notebook.sql for name, notebook in self.notebooks.read.items()}
        held = {name: [*find_sql(source), *magics.get(name, ())] for name, source in self.python.sources.items()}
        return read_embedded({name: texts for name, texts in held.items() if texts}, self._shared.elements)

    @cached_property
    def typescript(self) -> TypeScriptUses:
        """What the TypeScript files use. Raises CheckerError."""
        names = [name for name in self.files if name.endswith(SUFFIXES)]
        if not names:
            return TypeScriptUses()
        named = self.entry_points if self.execute else None
        return read_or_say_why(self.root, names, State.of(self.before), State.of(self.after), named)

    @cached_property
    def others(self) -> dict[str, UnreadFile]:
        """The files in languages that nobody reads here, where nothing declares what they use."""
        found = {}
        for name in self.files if self.undeclared else ():
            if is_unread(name):
                # What cannot be opened as text is no source.
                with contextlib.suppress(OSError, UnicodeDecodeError):
                    text = (self.root / name).read_text(encoding="utf-8")
                    found.update({name: parse(name, text)} if len(text) < LARGEST else {})
        return found

    def verdicts(self) -> list[ModuleVerdict]:
        """One verdict a file, in the order of the files."""
        judge = Judge(self.before, self.after, self.changes)
        unread_judge = UnreadJudge(self._shared.elements, self.changes)
        copies = (*self.python.copies, *self.typescript.copies)
        stale = {copy.path: copy for copy in copies if self._is_stale(copy)}
        readers = (self.python, self.typescript, self.notebooks, self.sql, self.embedded)
        unread = {self._called(each.file): each.reason for reader in readers for each in reader.unread}
        found = []
        for name in self.files:
            if self.wanted is not None and name not in self.wanted:
                continue
            if name in unread:
                found.append(_unverified(name, unread[name]))
            elif name in stale:
                because = "a checked-in copy of generated code that still describes the old contract"
                found.append(ModuleVerdict(name, name, "not_adapted", because, (stale[name].line,)))
            elif name in self.notebooks.read:
                found.append(self._judged_notebook(judge, name, stale))
            elif (verdict := self._of_stale(name, stale)) is not None:
                found.append(verdict)
            elif name in self.python.sources:
                found.append(self._judged(judge, name))
            elif name in self.typescript.files:
                found.append(self._judged_typescript(judge, name))
            elif name in self.sql.files:
                found.append(self._judged_sql(judge, name))
            elif name in self.others and (is_code(name) or unread_judge.names_any(self.others[name])):
                found.append(self._judged_unread(unread_judge, name))
        return found

    def _judged_unread(self, judge: UnreadJudge, name: str) -> ModuleVerdict:
        acknowledged = acknowledgements.in_comments(self.others[name].comments)
        self._note_unused(name, acknowledged)
        return summary(
            name, name, judge.findings(name, self.others[name], frozenset(each.key for each in acknowledged))
        )

    def _note_unused(self, name: str, acknowledged: Iterable[acknowledgements.Acknowledgement]) -> None:
        """Keeps those acknowledgements of a file that fit no change."""
        changes = {key for change in self.changes for key in change.acknowledgements}
        self.unused[name] = [each for each in acknowledged if each.key not in changes]

    def uses_of(self, name: str) -> Sequence[Use]:
        """What a file uses; nothing for one that cannot be read."""
        if name in self.notebooks.read:
            return self.notebooks.read[name].home(self._python_uses(python_name(name)), name)
        read = self.typescript.files.get(name) or self.sql.files.get(name)
        return read.uses if read is not None else self._python_uses(name)

    def _python_uses(self, code: str) -> list[Use]:
        """What a Python file uses, in Python and in SQL."""
        sql = self.embedded.files.get(code)
        return [*self.python.uses.get(code, ()), *(sql.uses if sql is not None else ())]

    def validates(self, name: str) -> bool:
        """Whether a file validates messages."""
        read = self.typescript.files.get(name)
        if read is not None:
            return "@bufbuild/protovalidate" in read.text
        name = python_name(name) if name in self.notebooks.read else name
        return name in self.python.names and self.python.names[name].validates

    def _judged_typescript(self, judge: Judge, name: str) -> ModuleVerdict:
        read = self.typescript.files[name]
        acknowledged = acknowledgements.in_typescript(read.text)
        experiments = TypeScriptExperiments(
            self._laboratory, read, name, self.before, self.after, self._node_runners,
            named=self.entry_points.get(name, frozenset()),
        )  # fmt: skip
        keys = frozenset(each.key for each in acknowledged)
        file = FileOfModule(name, name, read.uses, experiments, keys, read.thresholds)
        self._note_unused(name, acknowledged)
        return summary(name, name, findings(judge, self.changes, file, read))

    def _judged_sql(self, judge: Judge, name: str) -> ModuleVerdict:
        read = self.sql.files[name]
        acknowledged = acknowledgements.in_sql(read.text)
        self._note_unused(name, acknowledged)
        experiments = SqlExperiments(read, self._laboratory.maker)
        file = FileOfModule(name, name, read.uses, experiments, frozenset(each.key for each in acknowledged))
        return summary(name, name, sql_findings(judge, file, read))

    def _judged_notebook(self, judge: Judge, name: str, stale: Iterable[str]) -> ModuleVerdict:
        """As _judged, with the source that the notebook holds; its lines are those of the file in the end."""
        notebook, code = self.notebooks.read[name], python_name(name)
        if code not in self.python.sources:
            return _unverified(name, "its cells make no Python source")
        outdated = self._of_stale(code, stale)
        if outdated is not None:
            return notebook.placed(replace(outdated, module=name, file=name))
        verdict = notebook.placed(self._judged(judge, code, called=name))
        self.unused[name] = [replace(each, line=notebook.line(each.line)) for each in self.unused[name]]
        return verdict

    def _judged(self, judge: Judge, code: str, *, called: str = "") -> ModuleVerdict:
        """``code`` is the name among Python files, ``called`` that of the file where it is another one."""
        name = called or code
        source = self.python.sources[code]
        acknowledged = acknowledgements.in_python(source.text)
        # A notebook is not imported to be run: its cells do their work at once.
        laboratory = replace(self._laboratory, execute=False) if called else self._laboratory
        experiments = PythonExperiments(
            laboratory, self.root / code, code, source.tree, self.python.names[code],
            named=self.entry_points.get(name, frozenset()),
        )  # fmt: skip
        file = FileOfModule(
            name,
            name,
            self.python.uses.get(code, []),
            experiments,
            frozenset(each.key for each in acknowledged),
            list(thresholds(source.tree)),
        )
        self._note_unused(name, acknowledged)
        found = judge.findings(file)
        sql = self.embedded.files.get(code)
        if sql is not None:
            experiment = SqlExperiments(sql, self._laboratory.maker)
            inside = FileOfModule(name, name, sql.uses, experiment, file.acknowledged)
            found = together(found, sql_findings(judge, inside, sql))
        return summary(name, name, found)

    def _called(self, code: str) -> str:
        """The name of the file for what it is called among Python files."""
        return next((name for name in self.notebooks.read if python_name(name) == code), code)

    # -- copies of generated code (D15)

    def _is_stale(self, copy: Copy) -> bool:
        """Whether a generated copy describes another contract than the one that is in force."""
        name = copy.descriptor.name
        for known in (name, *(each for each in self.after.schema.files if module_of(each) == module_of(name))):
            if known in self.after.schema.files:
                descriptor = self.after.loaded.pool.FindFileByName(known)
                current = type(copy.descriptor)()
                descriptor.CopyToProto(current)
                return _shape(current) != _shape(copy.descriptor)
        return False

    def _of_stale(self, name: str, stale: Iterable[str]) -> ModuleVerdict | None:
        """The verdict on a file that imports one of the copies that are out of date, at these paths."""
        modules = {str(PurePosixPath(path).with_suffix("")).replace("/", "."): path for path in stale}
        lines = tuple(line for module, line in self.python.imports.get(name, []) if module in modules)
        lines += tuple(line for path, line in self.typescript.imports.get(name, []) if path in modules.values())
        if not lines:
            return None
        return ModuleVerdict(
            name, name, "not_adapted", "parses with a copy of generated code that is out of date", lines
        )

    # -- experiments

    @cached_property
    def _laboratory(self) -> Laboratory:
        roots = [self.root / each for each in import_roots(self.python.sources, self.root)]
        return Laboratory(
            (Runner(self.before, roots), Runner(self.after, roots)),
            self.maker or sample_maker(self.before, self.after),
            self._type_errors_of,
            execute=self.execute,
        )

    @cached_property
    def _node_runners(self) -> tuple[NodeRunner, NodeRunner]:
        files = self.typescript.files.items()
        full = {name: frozenset(each.name for each in file.functions if each.full) for name, file in files}
        before, after = (NodeRunner(each, self.typescript.modules, full) for each in (self.before, self.after))
        return before, after

    @cached_property
    def _type_errors(self) -> tuple[TypeErrors, TypeErrors]:
        texts: Mapping[str, str] = {name: source.text for name, source in self.python.sources.items()}
        roots = import_roots(texts, self.root)
        old, new = (type_errors(texts, self._of_states(state), roots) for state in (self.before, self.after))
        return old, new

    def _type_errors_of(self, name: str) -> tuple[frozenset[tuple[int, str]], frozenset[tuple[int, str]]]:
        old, new = (
            frozenset((line, rule) for file, line, rule in errors if file == name) for errors in self._type_errors
        )
        return old, new


def sample_maker(before: Contracts, after: Contracts) -> SampleMaker:
    """What makes messages for the experiments of a comparison."""
    # protovalidate takes long to import, and is not asked where nothing has changed.
    from protocontract_ci.meaning.judges import Judges

    return SampleMaker(before, after, (Judges(before), Judges(after)))


def _unverified(name: str, reason: str) -> ModuleVerdict:
    return ModuleVerdict(name, name, "unverified", f"cannot be read: {reason}", proof="unresolved")


def _shape(descriptor: object) -> bytes:
    """A file's descriptor without what only its source has: comments, options that code does not see, its name."""
    copied = type(descriptor)()
    copied.CopyFrom(descriptor)  # type: ignore[attr-defined]
    for field_name in ("source_code_info", "name", "dependency", "public_dependency", "options"):
        copied.ClearField(field_name)  # type: ignore[attr-defined]
    waiting = [*copied.message_type, *copied.enum_type]  # type: ignore[attr-defined]
    while waiting:
        each = waiting.pop()
        each.ClearField("options")
        waiting += [*getattr(each, "nested_type", ()), *getattr(each, "enum_type", ())]
        for member in (*getattr(each, "field", ()), *getattr(each, "value", ()), *getattr(each, "oneof_decl", ())):
            member.ClearField("options")
            if hasattr(member, "json_name"):
                member.ClearField("json_name")
    shape: bytes = copied.SerializeToString(deterministic=True)  # type: ignore[attr-defined]
    return shape


def summary(module: str, file: str, findings: Sequence[Finding]) -> ModuleVerdict:
    """The verdict of all findings of a file: the worst one, with the lines of all that are as bad."""
    if not findings:
        return ModuleVerdict(module, file, "unaffected", "uses nothing that changed, or nothing that can hurt it")
    verdict: Verdict = next(each for each in _WORST if any(finding.verdict == each for finding in findings))
    ruling = [finding for finding in findings if finding.verdict == verdict]
    lines = tuple(sorted({line for finding in ruling for line in finding.lines}))
    related = tuple(sorted({line for finding in ruling for line in finding.related} - set(lines)))
    first = ruling[0]
    because = "; ".join(dict.fromkeys(finding.because for finding in ruling))
    return ModuleVerdict(
        module, file, verdict, because, lines, related, first.proof, first.role, witness=first.witness,
        findings=tuple(findings),
    )  # fmt: skip
