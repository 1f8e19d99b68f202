"""Reads SQL files: every place where they use an element of the contracts.

A table is of a contract where a comment says so (``-- contract: shop.v1.Order``), where from_protobuf names the
message, or where the module declares the message in modules.toml and the table has its name. Without any of these a
path into JSON of two keys or more counts, if all messages that have the whole of it end at one field. A column that has
shown to hold a message so, or by a schema of three names or more, gets its other keys counted as uncertain. All other
tables have columns of the same names by chance.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path, PurePosixPath
from typing import Final

from protocontract_ci.model import How, Use
from protocontract_ci.usage.python.reader import Unread
from protocontract_ci.usage.sql_in_python import Embedded
from protocontract_ci.usage.sql_model import Access, Constant, Key, Left, Origin, Sql, SqlError, Table
from protocontract_ci.usage.sql_routines import queries_of_routines
from protocontract_ci.usage.sql_text import (
    Comment,
    Said,
    comments,
    dialect_of,
    has_template,
    may_hold_paths,
    said,
    without_templates,
)
from protocontract_ci.usage.typescript.reader import Built, Written
from protocontract_ci.usage.vocabulary import Elements
from protocontract_compiler import ir

SUFFIX: Final = ".sql"
#: Characters of a file that no comment binds; a larger one is a dump.
_LARGEST: Final = 2_000_000
#: Names of a schema that are more than words that many tables have.
_ENOUGH: Final = 3
_UNBOUND: Final = "nothing binds its module's SQL to a message; expected a comment `-- contract: <message>`, or `uses`"
_LINE: Final = re.compile(r"line (\d+)")
_FOREIGN: Final = ("google.", "buf.validate.", "protocontract.")


@dataclass(frozen=True, slots=True)
class Word:
    """What modules.toml says of the module that a file belongs to.

    ``contracts`` are the packages, messages or files that it names; ``required``: its SQL must be read, for it is of a
    declared language and nothing else says what it uses (D16). ``guessed``: nobody named the contracts, so that only
    tables with the name of a message are of them, and no column elsewhere.
    """

    module: str = ""
    contracts: tuple[str, ...] = ()
    required: bool = False
    guessed: bool = False


@dataclass
class SqlFile:
    """What was found in one file. ``numbers`` are uses of enum values by their number, as (line, path).

    ``bound``: something in it says that it is of the contracts.
    """

    text: str
    bound: bool = False
    uses: list[Use] = field(default_factory=list)
    numbers: set[tuple[int, str]] = field(default_factory=set)
    #: What is written into fields, and rows as the messages that they are.
    written: list[Written] = field(default_factory=list)
    built: list[Built] = field(default_factory=list)


@dataclass
class SqlUses:
    """What was found in a folder, and what could not be read."""

    files: dict[str, SqlFile] = field(default_factory=dict)
    unread: list[Unread] = field(default_factory=list)


def read_sql(
    folder: Path, files: Iterable[str], elements: Elements, words: Mapping[str, Word] | None = None
) -> SqlUses:
    """All uses in the SQL files among ``files``, which are paths below ``folder`` with slashes.

    ``words`` tells by file what its module declares.
    """
    found = SqlUses()
    roots = Roots(elements)
    words = words or {}
    for name in files:
        if not name.endswith(SUFFIX):
            continue
        try:
            text = (folder / name).read_text(encoding="utf-8")
            compiled = _compiled(folder, name) if has_template(text) else ""
            found.files[name] = _read(name, text, compiled, roots, words.get(name, Word()))
        except SqlError as error:
            found.unread.append(Unread(name, str(error)))
        except (OSError, ValueError) as error:
            found.unread.append(Unread(name, f"not readable ({type(error).__name__})"))
    bound = {words[name].module for name, file in found.files.items() if file.bound and name in words}
    for name, word in words.items():
        if word.required and word.module not in bound and name in found.files:
            del found.files[name]
            found.unread.append(Unread(name, _UNBOUND))
    return found


def read_embedded(texts: Mapping[str, Sequence[Embedded]], elements: Elements) -> SqlUses:
    """All uses in the SQL that files of another language hold, by file. Lines are those of the files.

    What a module declares binds none of it: the tables of such texts are as often somebody else's.
    """
    found = SqlUses()
    roots = Roots(elements)
    for name, embedded in texts.items():
        whole = SqlFile("")
        for each in embedded:
            try:
                _add_placed(whole, _read(name, each.text, "", roots, Word()), each)
            except SqlError as error:
                reason = _LINE.sub(partial(_said_at, each), str(error))
                found.unread.append(Unread(name, f"SQL in it: {reason}"))
                break
        else:
            if whole.uses:
                found.files[name] = whole
    return found


def _said_at(embedded: Embedded, match: re.Match[str]) -> str:
    return f"line {embedded.line(int(match[1]))}"


def _add_placed(whole: SqlFile, read: SqlFile, embedded: Embedded) -> None:
    """Adds what was found in one text at the lines of the file."""
    line = embedded.line
    known = {(use.line, use.path, use.how, use.handles) for use in whole.uses}
    placed = (replace(use, line=line(use.line), column=1, origin=line(use.origin)) for use in read.uses)
    whole.uses += [use for use in placed if (use.line, use.path, use.how, use.handles) not in known]
    whole.bound = whole.bound or read.bound
    whole.numbers |= {(line(at), path) for at, path in read.numbers}
    whole.written += [replace(each, line=line(each.line)) for each in read.written]
    whole.built += [replace(each, line=line(each.line)) for each in read.built]


def _read(name: str, text: str, compiled: str, roots: Roots, word: Word) -> SqlFile:
    """Raises SqlError where a file is bound to a contract and cannot be read."""
    found = SqlFile(text)
    # What is no SQL as a template may be SQL as dbt has made it.
    failed = _try(_File(name, text, roots, word), found)
    if compiled:
        made = SqlFile(compiled)
        failed = _try(_File(name, compiled, roots, word), made) or (failed if not made.bound else None)
        _take_home(made, found)
    if failed is not None:
        raise failed
    for query in queries_of_routines(text):
        inside = SqlFile(query.text)
        # What no dialect reads here may be of another language.
        if _try(_File(name, query.text, roots, word), inside) is None:
            _add_placed(found, inside, query)
    return found


def _try(reader: _File, found: SqlFile) -> SqlError | None:
    """Reads; what went wrong, where the file is bound to a contract: others are of a language that nobody reads."""
    try:
        reader.read(found)
    except SqlError as error:
        return error if reader.bound else None
    return None


def _compiled(folder: Path, name: str) -> str:
    """What dbt made of a template: the file below target/compiled of its project; "" where there is none."""
    path = PurePosixPath(name)
    for project in path.parents:
        for held in sorted((folder / project / "target" / "compiled").glob("*")):
            made = held / path.relative_to(project)
            if made.is_file():
                return made.read_text(encoding="utf-8")
    return ""


def _take_home(made: SqlFile, found: SqlFile) -> None:
    """Adds the uses that only the compiled text shows, at the line of the template that names the element."""
    found.bound = found.bound or made.bound
    known = {(use.path, use.how, use.handles) for use in found.uses}
    lines = found.text.split("\n")
    first = next((at for at, line in enumerate(lines, 1) if "{{" in line or "{%" in line), 1)
    for use in made.uses:
        if (use.path, use.how, use.handles) in known:
            continue
        word = re.compile(rf"(?<!\w){re.escape(use.path.rpartition('.')[2])}(?!\w)")
        line = next((at for at, each in enumerate(lines, 1) if word.search(each)), first)
        found.uses.append(replace(use, line=line, column=1))
        if (use.line, use.path) in made.numbers:
            found.numbers.add((line, use.path))


@dataclass(frozen=True, slots=True)
class _Step:
    """A key, and the field of a message that it names."""

    key: Key
    path: str
    states: tuple[ir.Field, ...]


class Roots:
    """Messages by the fields that a path may begin with."""

    def __init__(self, elements: Elements) -> None:
        self.elements = elements

    @cached_property
    def _by_field(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for message in self.elements.messages:
            if message.startswith(_FOREIGN):
                continue
            for name, states in self.elements.fields(message).items():
                for each in {name, *(state.json_name for state in states)}:
                    found.setdefault(each, []).append(message)
        return found

    def of(self, keys: Sequence[Key], among: Iterable[str] | None = None) -> list[str]:
        """The messages that have the whole path; ``among`` these, or among all."""
        if not keys:
            return []
        candidates = self._by_field.get(keys[0].text, []) if among is None else among
        return [message for message in candidates if self.walk(message, keys)[1]]

    def with_fields(self, names: Iterable[str]) -> list[str]:
        """The messages that have fields of all of these names."""
        held = [set(self._by_field.get(name, ())) for name in names]
        return sorted(set.intersection(*held)) if held else []

    def walk(self, message: str, keys: Sequence[Key]) -> tuple[list[_Step], bool]:
        """The fields that a path leads through, and whether it was walked to its end."""
        steps: list[_Step] = []
        here: str | None = message
        in_map = False
        for key in keys:
            if in_map:
                in_map = False
                continue
            if here is None:
                return steps, False
            if here.startswith("google.protobuf."):
                # Struct, Any: what is below is not of the contract.
                return steps, bool(steps)
            step = self._step(here, key)
            if step is None:
                return steps, False
            steps.append(step)
            latest = step.states[-1]
            in_map = latest.shape is ir.Shape.MAP
            here = latest.element_message
        return steps, bool(steps)

    def _step(self, message: str, key: Key) -> _Step | None:
        fields = self.elements.fields(message)
        text = key.text if key.json else key.text.lower()

        def fits(name: str, states: Sequence[ir.Field]) -> bool:
            names = {name, *(state.json_name for state in states)}
            return text in (names if key.json else {each.lower() for each in names})

        found = [name for name, states in fields.items() if fits(name, states)]
        if not found:
            return None
        # A key that the new state has is that field, whatever was called so before.
        newest = {each.name: each for state in self.elements.states[-1:] for each in self._fields_in(state, message)}
        current = [name for name in found if name in newest and fits(name, [newest[name]])]
        name = (current or found)[0]
        return _Step(key, f"{message}.{name}", fields[name])

    @staticmethod
    def _fields_in(state: ir.Schema, message: str) -> Sequence[ir.Field]:
        held = state.messages.get(message)
        return held.fields if held is not None else ()

    def is_known(self, name: str) -> bool:
        """Whether a name is that of a message."""
        return name in self.elements.messages

    def is_ours(self, name: str) -> bool:
        """Whether a name would be that of a message of these contracts, by its package."""
        packages = {file.package for state in self.elements.states for file in state.files.values()} - {""}
        return self.is_known(name) or any(name.startswith(f"{package}.") for package in packages)


class _File:
    """Reads one file."""

    def __init__(self, name: str, text: str, roots: Roots, word: Word) -> None:
        self._name = name
        self._plain = without_templates(text)
        self._roots = roots
        self._word = word
        self._comments: list[Comment] = comments(text)
        self._said: list[Said] = [each for each in said(self._comments) if roots.is_ours(each.message)]
        #: What the comments bind: the message by table, or by table and column.
        self._tables: dict[tuple[str, str], str] = {}
        #: Columns that hold a message by what their other paths are, as table and column.
        self._shown: dict[tuple[str, str], str] = {}
        self._uses: dict[Use, None] = {}
        self._numbers: set[tuple[int, str]] = set()
        self._written: list[Written] = []
        #: Whether anything binds the file to a contract.
        self.bound = bool(self._said)

    def read(self, found: SqlFile) -> None:
        """Fills in what the file uses. Raises SqlError."""
        for each in self._said:
            if each.wrong:
                raise SqlError(
                    f"line {each.comment.line}: expected `-- contract: <message>`, or ` for <table>` after it"
                )
            if not self._roots.is_known(each.message):
                raise SqlError(f"line {each.comment.line}: no message {each.message}")
        if not self._may_use:
            return
        # sqlglot takes long to import, and few have SQL.
        from protocontract_ci.usage.sql_tree import read_statements

        sql = read_statements(self._plain, dialect_of(self._comments))
        self._bind(sql)
        self._show(sql)
        for each in self._said:
            self._add(Key(each.message, each.comment.line, 1), each.message, "reflection", certain=True)
        for filled in sql.filled:
            message = self._bound_to(filled.table, "")
            if message:
                table = filled.table
                self._add(Key(table.name, table.line, 1), message, "construct", certain=True)
                steps = [self._roots.walk(message, [Key(column)])[0] for column in filled.columns]
                paths = frozenset(step.path for found_steps in steps for step in found_steps)
                # A column that is no field may hold the whole record.
                is_open = not filled.columns or not all(steps)
                found.built.append(Built(table.line, message, paths, is_open))
        for access in sql.accesses:
            self._access(access)
        for words in sql.left:
            self._left(words)
        found.uses = sorted(self._uses, key=lambda use: (use.line, use.column, use.path, use.how))
        found.numbers = self._numbers
        found.written = self._written
        found.bound = self.bound

    def _left(self, words: Left) -> None:
        """A statement that the parser leaves as it is: names of fields in it, where it names a bound table."""
        for (name, _), message in self._tables.items():
            if name.rpartition(".")[2] not in words:
                continue
            for field_name in self._roots.elements.fields(message):
                if field_name in words:
                    key = Key(field_name, *words[field_name])
                    self._add(key, f"{message}.{field_name}", "reflection", certain=False)

    @property
    def _may_use(self) -> bool:
        """Whether there is anything to find: most SQL is of nobody's contract, and dumps are large."""
        if self._said or self._word.contracts:
            return True
        return len(self._plain) < _LARGEST and may_hold_paths(self._plain, self._roots.elements.field_names)

    # -- which table is of which message

    def _bind(self, sql: Sql) -> None:
        for each in self._said:
            if each.name:
                self._bind_name(each, sql)
                continue
            here = [table for table in sql.tables if table.line == each.comment.line and not each.comment.alone]
            later = [table for table in sql.tables if table.start >= each.comment.end]
            meant = here[-1:] or later[:1]
            if not meant:
                raise SqlError(f"line {each.comment.line}: no table stands after this comment, or none that is read")
            self._tables[meant[0].name, ""] = each.message

    def _bind_name(self, each: Said, sql: Sql) -> None:
        table, _, column = each.name.lower().rpartition(".")
        names = {known.name for known in sql.tables if known.is_called(each.name)}
        inside = {known.name for known in sql.tables if table and known.is_called(table)}
        for name in names or inside:
            self._tables[name, "" if names else column] = each.message
        if not names and not inside:
            raise SqlError(f"line {each.comment.line}: no table or column {each.name}")

    def _bound_to(self, table: Table, column: str) -> str:
        """The message that a table's column holds (column ""): that its rows are of; "" for none."""
        for (name, inside), message in self._tables.items():
            if inside == column and table.is_called(name):
                return message
        if column or self._tables:
            return ""
        named = [each for each in self._declared if table.short in _table_names(each)]
        return named[0] if len(named) == 1 else ""

    @cached_property
    def _declared(self) -> list[str]:
        """The messages that the module declares by their names."""
        return [each for each in self._word.contracts if self._roots.is_known(each)]

    @cached_property
    def _hinted(self) -> list[str]:
        """The messages of the packages and files that the module declares."""
        names = [each for each in self._word.contracts if not self._roots.is_known(each)]
        return [
            message
            for message, states in self._roots.elements.messages.items()
            if any(message.startswith(f"{each}.") or states[0].file == each for each in names)
        ]

    def _show(self, sql: Sql) -> None:
        """Finds columns of JSON that hold a message: by paths that only one message has."""
        agreed: dict[tuple[str, str], set[str]] = {}
        for origin in (origin for access in sql.accesses for origin in access.origins):
            keys = _in_json(origin)
            if origin.table is None or not keys or self._known(origin) is not None:
                continue
            place = (origin.table.name, origin.keys[0].text.lower())
            found = self._roots.of(keys, self._declared or None)
            if len(keys) > 1 or self._declared:
                agreed.setdefault(place, set()).update(found if len(found) == 1 else ())
        for origin, names in sql.schemas:
            if origin.table is not None and origin.keys and len(names) >= _ENOUGH and self._known(origin) is None:
                found = self._roots.with_fields(names)
                agreed.setdefault((origin.table.name, origin.keys[0].text.lower()), set()).update(found)
        self._shown = {place: next(iter(found)) for place, found in agreed.items() if len(found) == 1}
        self.bound = self.bound or bool(self._shown) or bool(self._tables)

    # -- uses

    def _known(self, origin: Origin) -> tuple[str, Sequence[Key]] | None:
        """The message that an origin's keys are of, and those keys; None where nothing binds it."""
        if origin.message is not None:
            full = origin.message.text
            named = [each for each in self._roots.elements.messages if each == full or each.endswith(f".{full}")]
            return (named[0], origin.keys) if len(named) == 1 else None
        if origin.table is None or not origin.keys:
            return None
        column = self._bound_to(origin.table, origin.keys[0].text.lower())
        if column:
            return column, origin.keys[1:]
        message = self._bound_to(origin.table, "")
        if not message:
            return None
        # A column that is no field holds the whole record: as JSON, or as a struct.
        is_field = bool(self._roots.walk(message, origin.keys[:1])[0])
        return message, origin.keys if is_field or len(origin.keys) == 1 else origin.keys[1:]

    def _access(self, access: Access) -> None:
        for origin in access.origins:
            known = self._known(origin)
            if known is not None:
                self.bound = True
                if origin.message is not None and origin.message.line:
                    self._add(origin.message, known[0], "reflection", certain=True)
                self._path(access, *known, certain=origin.sure)
            elif origin.table is not None and origin.keys:
                self._unbound(access, origin, origin.table)

    def _unbound(self, access: Access, origin: Origin, table: Table) -> None:
        """A table that nothing binds: paths into JSON that only one message has, or what the module declares."""
        keys = _in_json(origin)
        shown = self._shown.get((table.name, origin.keys[0].text.lower()), "")
        if keys and shown:
            certain = bool(self._declared) or len(keys) > 1
            self._path(access, shown, keys, certain=certain)
        elif len(keys) > 1 and (agreed := self._agreed(keys)):
            self.bound = True
            self._path(access, agreed, keys, certain=True)
        elif (self._declared or self._hinted) and not self._said and (keys or not self._word.guessed):
            among = self._declared or self._hinted
            found = self._roots.of(keys or origin.keys, among)
            for message in found:
                self.bound = True
                self._path(access, message, keys or origin.keys, certain=False)

    def _agreed(self, keys: Sequence[Key]) -> str:
        """One of the messages that have a whole path, where it ends at the same field in all of them; "" for none."""
        found = self._roots.of(keys, self._declared or None)
        ends = {self._roots.walk(message, keys)[0][-1].path for message in found}
        return found[0] if len(ends) == 1 else ""

    def _path(self, access: Access, message: str, keys: Sequence[Key], *, certain: bool) -> None:
        steps, whole = self._roots.walk(message, keys)
        for at, step in enumerate(steps):
            last = at == len(steps) - 1 and whole
            how: How = "write" if last and access.way == "write" else self._how(step)
            if how == "write":
                values = tuple(map(_literal, access.constants)) if access.exact else None
                self._written.append(Written(step.key.line, step.path, values))
            self._add(step.key, step.path, how, certain=certain)
            if last and access.way == "has":
                self._add(step.key, step.path, "has", certain=certain)
        if steps and whole:
            self._values(access, steps[-1], certain=certain)

    def _how(self, step: _Step) -> How:
        """A key of JSON that is the field's JSON name in the old state alone hangs on that name."""
        if not step.key.json:
            return "read"
        names = [state.json_name for state in step.states]
        if step.key.text not in names:
            return "reflection"
        return "json_name" if step.key.text == names[0] else "reflection"

    def _values(self, access: Access, step: _Step, *, certain: bool) -> None:
        """The values of an enum that a field is compared with."""
        enum = next((state.enum or (state.value.enum if state.value else None) for state in step.states), None)
        if not enum:
            return
        members = self._roots.elements.members(enum).values()
        for constant in access.constants:
            fitting = [
                each for each in members if constant.text == (each.name if constant.is_text else str(each.number))
            ]
            for member in fitting:
                if not constant.is_text:
                    self._numbers.add((constant.line, member.path))
                self._add(Key(constant.text, constant.line, 1), member.path, "enum_value", certain=certain)
        if access.way in ("open", "closed"):
            how: How = "match_open" if access.way == "open" else "match_closed"
            handles = tuple(dict.fromkeys(each.text for each in access.constants))
            self._add(Key("", access.line, 1), enum, how, certain=certain, handles=handles)

    def _add(self, key: Key, path: str, how: How, *, certain: bool, handles: tuple[str, ...] = ()) -> None:
        if key.line:
            self._uses.setdefault(Use(self._name, key.line, key.column, path, how, certain, handles=handles))


def _literal(constant: Constant) -> dict[str, str]:
    """A constant as the readers of code tell one."""
    if constant.is_text:
        return {"text": constant.text}
    return {"integer" if constant.text.isdigit() else "number": constant.text}


def _in_json(origin: Origin) -> Sequence[Key]:
    """The keys of an origin below its column, where they are of JSON."""
    keys = origin.keys[1:]
    return keys if any(key.json for key in keys) else ()


def _table_names(message: str) -> Iterator[str]:
    """What a table of a message's records is called: ``order_line``, ``order_lines``, ``orderline``, ``orderlines``."""
    short = message.rpartition(".")[2]
    for name in (re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", short).lower(), short.lower()):
        yield from (name, f"{name}s", f"{name}es", re.sub(r"y$", "ies", name))
