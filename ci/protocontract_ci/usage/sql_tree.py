"""What SQL does, told without a contract: which keys of which tables it touches, and how. All of sqlglot is here.

A value is followed through aliases, subqueries and common table expressions to the table that it comes from:
``o.payload->>'$.buyer.mail'`` is the keys payload, buyer, mail of what ``o`` stands for.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import sqlglot
from sqlglot import exp
from sqlglot.errors import ErrorLevel, SqlglotError

from protocontract_ci.usage.sql_model import Access, Constant, Filled, Key, Origin, Sql, SqlError, Table, Way
from protocontract_ci.usage.sql_text import Places, json_path

#: Tried in this order where a file does not say its dialect. "" is sqlglot's own, which takes most of them.
DIALECTS: Final = (
    "",
    "snowflake",
    "spark",
    "postgres",
    "bigquery",
    "duckdb",
    "databricks",
    "tsql",
    "mysql",
    "clickhouse",
)
_QUERIES: Final = (exp.Select, exp.Update, exp.Delete, exp.Merge, exp.Insert)
_INTO_JSON: Final = (exp.JSONExtract, exp.JSONExtractScalar, exp.JSONBExtract, exp.JSONBExtractScalar, exp.JSONValue)
_THROUGH: Final = (exp.Cast, exp.TryCast, exp.Paren, exp.ParseJSON, exp.Explode, exp.Lateral, exp.Kwarg, exp.FromJson)
#: Functions that sqlglot has no class for, whose result is their first argument in another form.
_FORMS: Final = frozenset(
    {
        "to_json", "parse_json", "try_parse_json", "json_array_elements", "jsonb_array_elements", "explode_outer",
        "posexplode", "from_json", "json_parse", "parsejson",
    }
)  # fmt: skip
_PROTOBUF: Final = "from_protobuf"
_DEEPEST: Final = 30
_LOG: Final = logging.getLogger("sqlglot")


def read_statements(text: str, dialect: str = "") -> Sql:
    """What SQL does, by its dialect or by the first one that reads it. Raises SqlError."""
    found = Sql()
    for statement in _parsed(text, dialect):
        _Statement(statement, Places(text), found).read()
    found.tables.sort(key=lambda table: table.start)
    return found


def _parsed(text: str, dialect: str) -> list[exp.Expr]:
    first = ""
    level = _LOG.level
    # It warns of statements that it leaves unread, and quotes them.
    _LOG.setLevel(logging.CRITICAL)
    try:
        for each in (dialect,) if dialect else DIALECTS:
            try:
                parsed = sqlglot.parse(text, read=each or None, error_level=ErrorLevel.RAISE)
                return [statement for statement in parsed if isinstance(statement, exp.Expr)]
            except SqlglotError as error:
                errors = getattr(error, "errors", None) or [{}]
                line = errors[0].get("line")
                first = first or (f"line {line}: not read as SQL" if line else "not read as SQL")
            except (ValueError, RecursionError):
                # ValueError: a dialect that sqlglot does not know.
                first = first or ("nested too deep" if not dialect else f"not read as SQL of the dialect {dialect}")
    finally:
        _LOG.setLevel(level)
    raise SqlError(first)


@dataclass
class _Source:
    """What a query takes rows from: a table, a subquery, or values out of a list."""

    name: str
    node: exp.Expr
    columns: tuple[str, ...] = ()


class _Statement:
    """Reads one statement."""

    def __init__(self, statement: exp.Expr, places: Places, found: Sql) -> None:
        self._statement = statement
        self._places = places
        self._found = found
        self._sources_of: dict[int, list[_Source]] = {}
        self._depth = 0

    def read(self) -> None:
        """Adds what the statement does."""
        if not _is_understood(self._statement):
            self._leave(self._statement)
        for node in self._statement.walk():
            if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier) and self._cte(node) is None:
                self._found.tables.append(self._table(node))
            if isinstance(node, exp.Insert) and (table := self._target(node)) is not None:
                self._found.filled.append(Filled(table, tuple(each.name for each in _columns(node))))
            if isinstance(node, exp.Schema):
                self._schema(node)
            elif isinstance(node, exp.FromJson | exp.Anonymous):
                self._json_schema(node)
            elif isinstance(node, exp.Case) and node.this is None:
                self._searched_case(node)
            elif isinstance(node, exp.JSONTable):
                self._json_table(node)
            elif isinstance(node, exp.Join):
                self._using(node)
            if not self._goes_on(node):
                self._access(node)

    # -- places

    def _key(self, identifier: exp.Expr) -> Key:
        start = identifier.meta.get("start")
        if start is None:
            return Key(identifier.name)
        return Key(identifier.name, *self._places.of(start))

    def _end(self, node: exp.Expr) -> int:
        """The offset where what is written of a node ends; 0 where nobody knows."""
        return max((each.meta.get("end", -1) + 1 for each in node.walk()), default=0)

    def _json_keys(self, texts: Sequence[str], offset: int) -> list[Key]:
        """Keys of a path that is written after an offset."""
        found = []
        for text in texts:
            offset = self._places.next(text, offset)
            found.append(Key(text, *self._places.of(offset), json=True))
        return found

    def _table(self, node: exp.Table) -> Table:
        start = node.this.meta.get("start", 0)
        name = ".".join(part.name for part in node.parts).lower()
        return Table(name, self._places.of(start)[0], start)

    # -- chains: a column and the keys after it

    def _inner(self, node: exp.Expr) -> exp.Expr | None:
        """What a node takes a part of, or another form; None where it does neither."""
        found: object = None
        if isinstance(node, (*_INTO_JSON, *_THROUGH, exp.Dot, exp.Bracket, exp.StructExtract)):
            found = node.expression if isinstance(node, exp.Kwarg) else node.this
        elif isinstance(node, exp.Unnest) or _takes_json(node):
            found = next(iter(node.expressions), None)
        return found if isinstance(found, exp.Expr) else None

    def _goes_on(self, node: exp.Expr) -> bool:
        """Whether the node around takes a part of this one: then that is what is touched."""
        parent = node.parent
        return parent is not None and self._inner(parent) is node

    def _chain(self, node: exp.Expr) -> tuple[exp.Expr, list[Key]] | None:
        """The column or named message that a value is of, and the keys that lead to it."""
        if isinstance(node, exp.Column) or _is_protobuf(node) or _is_parameter(node):
            return node, []
        inner = self._inner(node)
        found = self._chain(inner) if inner is not None else None
        if found is None or inner is None:
            return None
        base, keys = found
        return base, [*keys, *self._keys_of(node, inner)]

    def _keys_of(self, node: exp.Expr, inner: exp.Expr) -> list[Key]:
        if isinstance(node, exp.Dot | exp.StructExtract):
            step = node.expression
            return [self._key(step)] if isinstance(step, exp.Identifier) else []
        if isinstance(node, exp.Bracket):
            texts = [each.name for each in node.expressions if isinstance(each, exp.Literal) and each.is_string]
            return self._json_keys(texts, self._end(inner))
        if isinstance(node, _INTO_JSON):
            return self._json_keys(_path(node.args.get("expression") or node.args.get("path")), self._end(inner))
        if isinstance(node, exp.Anonymous) and node.name.lower() not in _FORMS:
            given = [each for each in node.expressions[1:] if isinstance(each, exp.Literal) and each.is_string]
            texts = [key for each in given for key in (_path(each) if each.name.startswith("$") else [each.name])]
            return self._json_keys(texts, self._end(inner))
        return []

    def _origins(self, node: exp.Expr) -> list[Origin]:
        """Where a chain's value may come from."""
        found = self._chain(node)
        if found is None:
            return []
        base, keys = found
        if isinstance(base, exp.Column):
            if isinstance(base.this, exp.Star):
                return []
            written = [self._key(part) for part in base.parts]
            starts = self._of_parameter(written, base)
            if starts is None:
                starts = [] if self._is_alias(written, base) else self._lookup(written, _query_of(base))
        elif isinstance(base, exp.Identifier):
            starts = self._of_parameter([self._key(base)], base) or []
        else:
            named = next(each for each in base.expressions[1:] if isinstance(each, exp.Literal))
            line, column = self._places.of(named.meta.get("start", 0))
            starts = [Origin(None, (), Key(named.name, line, column))]
        return [replace(each, keys=(*each.keys, *keys)) for each in starts]

    def _of_parameter(self, keys: list[Key], column: exp.Expr) -> list[Origin] | None:
        """transform(items, i -> i.sku): what ``i`` stands for; None where the column is no parameter."""
        function = column.find_ancestor(exp.Lambda)
        while function is not None:
            if any(each.name.lower() == keys[0].text.lower() for each in function.expressions):
                call = function.parent
                held = [call.this, *call.expressions] if call is not None else []
                values = [each for each in held if isinstance(each, exp.Expr) and each is not function]
                found = self._elsewhere(values[0]) if values else []
                return [replace(each, keys=(*each.keys, *keys[1:])) for each in found]
            function = function.find_ancestor(exp.Lambda)
        return None

    def _is_alias(self, keys: list[Key], column: exp.Expr) -> bool:
        """Whether ORDER BY or GROUP BY means a value that the query gives that name to."""
        query = _query_of(column)
        clause = column.find_ancestor(exp.Order, exp.Group, exp.Having, exp.Qualify)
        if len(keys) > 1 or not isinstance(query, exp.Select) or clause is None or clause.parent is not query:
            return False
        given = [each for each in query.expressions if isinstance(each, exp.Alias)]
        return any(each.alias.lower() == keys[0].text.lower() for each in given)

    # -- where columns come from

    def _lookup(self, keys: list[Key], query: exp.Expr | None) -> list[Origin]:
        """The origins of a column as it is written in a query, with its qualifiers."""
        if query is None or self._depth > _DEEPEST:
            return []
        sources = self._sources(query)
        names = [key.text.lower() for key in keys]
        for source in sources:
            if len(keys) > 1 and source.name == names[0]:
                return self._from(source, keys[1:])
            qualifiers = source.node.parts[:-1] if isinstance(source.node, exp.Table) else []
            written = [part.name.lower() for part in qualifiers] + [source.name]
            if len(written) > 1 and len(keys) > len(written) and names[: len(written)] == written:
                return self._from(source, keys[len(written) :])
        for source in sources:
            if names[0] in source.columns and not isinstance(source.node, exp.Subquery):
                return self._from(source, keys)
        outer = _query_of(query)
        if len(keys) > 1 and outer is not None:
            qualified = [each for each in self._all_sources(outer) if each.name == names[0]]
            if qualified:
                return self._from(qualified[0], keys[1:])
        found = [each for source in sources if not source.columns for each in self._from(source, keys)]
        if not found and not sources:
            return self._lookup(keys, outer)
        tables = {each.table for each in found}
        return found if len(tables) < 2 else [replace(each, sure=False) for each in found]

    def _all_sources(self, query: exp.Expr | None) -> Iterator[_Source]:
        while query is not None:
            yield from self._sources(query)
            query = _query_of(query)

    def _sources(self, query: exp.Expr) -> list[_Source]:
        if id(query) not in self._sources_of:
            self._sources_of[id(query)] = list(self._look_for_sources(query))
        return self._sources_of[id(query)]

    def _look_for_sources(self, query: exp.Expr) -> Iterator[_Source]:
        for node in query.find_all(exp.Table, exp.Subquery, exp.Lateral, exp.Unnest):
            if node is query or _query_of(node) is not query:
                continue
            alias = node.args.get("alias")
            columns = tuple(each.name.lower() for each in (alias.columns if isinstance(alias, exp.TableAlias) else ()))
            name = node.alias_or_name.lower()
            if isinstance(node, exp.Table):
                yield _Source(name, node)
            elif isinstance(node, exp.Subquery):
                if isinstance(node.parent, exp.From | exp.Join | exp.Lateral | exp.Merge):
                    yield _Source(name, node)
            elif self._inner(node) is not None:
                # Without names for columns, the alias is the value.
                yield _Source(name, node, columns or (name,))

    def _from(self, source: _Source, keys: list[Key]) -> list[Origin]:
        """The origins of a column of a source."""
        node = source.node
        self._depth += 1
        try:
            if self._depth > _DEEPEST:
                return []
            if isinstance(node, exp.Table):
                cte = self._cte(node)
                if cte is not None:
                    return self._projected(cte, keys)
                if isinstance(node.this, exp.Identifier):
                    return [Origin(self._table(node), tuple(keys))]
                return [replace(each, keys=(*each.keys, *keys[1:])) for each in self._elsewhere(node.this)]
            if isinstance(node, exp.Subquery):
                return self._projected(node.this, keys)
            rest = keys[1:] if keys and keys[0].text.lower() in source.columns else keys
            return [replace(each, keys=(*each.keys, *rest)) for each in self._elsewhere(node)]
        finally:
            self._depth -= 1

    def _elsewhere(self, node: exp.Expr) -> list[Origin]:
        """The origins of a value that is written at another place."""
        return [
            replace(
                each,
                keys=tuple(replace(key, line=0) for key in each.keys),
                message=replace(each.message, line=0) if each.message is not None else None,
            )
            for each in self._origins(node)
        ]

    def _projected(self, query: exp.Expr | None, keys: list[Key]) -> list[Origin]:
        """The origins of a column of a query's result."""
        if isinstance(query, exp.Subquery | exp.Paren):
            return self._projected(query.this, keys)
        if isinstance(query, exp.SetOperation):
            return [*self._projected(query.this, keys), *self._projected(query.expression, keys)]
        if not isinstance(query, exp.Select):
            return []
        found: list[Origin] = []
        for each in query.expressions:
            if each.is_star:
                table = each.table if isinstance(each, exp.Column) else ""
                stars = [source for source in self._sources(query) if not table or source.name == table.lower()]
                found += [origin for source in stars for origin in self._from(source, keys)]
            elif each.alias_or_name.lower() == keys[0].text.lower():
                value = each.unalias()
                return [replace(origin, keys=(*origin.keys, *keys[1:])) for origin in self._elsewhere(value)]
        return found if len(found) < 2 else [replace(each, sure=False) for each in found]

    def _cte(self, table: exp.Table) -> exp.Expr | None:
        """The query that a table's name stands for within the statement."""
        if table.args.get("db") is not None:
            return None
        around: exp.Expr | None = table
        while around is not None:
            held = around.args.get("with_")
            for cte in held.expressions if isinstance(held, exp.With) else ():
                if cte.alias.lower() == table.name.lower() and not _within(table, cte):
                    return cte.this if isinstance(cte.this, exp.Expr) else None
            around = around.parent
        return None

    # -- what is done

    def _access(self, node: exp.Expr) -> None:
        parent = node.parent
        statement = _set_by(node)
        if statement is not None:
            self._written(node, statement)
            return
        origins = self._origins(node)
        if not origins:
            return
        way: Way = "read"
        constants: list[Constant] = []
        if _asks_for_null(node):
            way = "has"
        elif isinstance(parent, exp.EQ | exp.NEQ | exp.Is):
            constants = self._constants([parent.expression if parent.this is node else parent.this])
        elif isinstance(parent, exp.In) and parent.this is node:
            constants = self._constants(parent.expressions)
        elif isinstance(parent, exp.Case) and parent.this is node:
            constants = self._constants([each.this for each in parent.args.get("ifs", ())])
            way = "closed" if parent.args.get("default") is not None else "open"
        self._add(origins, node, way, constants)

    def _add(self, origins: Sequence[Origin], node: exp.Expr, way: Way, constants: Sequence[Constant] = ()) -> None:
        line = max((key.line for origin in origins for key in origin.keys), default=0)
        line = line or self._places.of(max(self._end(node) - 1, 0))[0]
        self._found.accesses.append(Access(tuple(origins), way, tuple(constants), line))

    def _constants(self, nodes: Sequence[exp.Expr]) -> list[Constant]:
        return [
            Constant(each.name, each.is_string, self._places.of(each.meta.get("start", 0))[0])
            for each in nodes
            if isinstance(each, exp.Literal)
        ]

    def _searched_case(self, node: exp.Case) -> None:
        """CASE WHEN state = 'A' ... WHEN state = 'B' ...: a dispatch, where all branches ask for one value."""
        asked = [each.this for each in node.args.get("ifs", ())]
        sides = [each.this for each in asked if isinstance(each, exp.EQ | exp.In)]
        if len(sides) < 2 or len(sides) != len(asked) or len({side.sql() for side in sides}) != 1:
            return
        origins = self._origins(sides[0])
        if origins:
            named = [value for each in asked for value in (each.expressions or [each.expression])]
            way: Way = "closed" if node.args.get("default") is not None else "open"
            self._add(origins, sides[0], way, self._constants(named))

    def _target(self, node: exp.Expr | None) -> Table | None:
        """The table that a statement puts rows into."""
        while isinstance(node, exp.Insert | exp.Update) and not isinstance(node.this, exp.Table | exp.Schema):
            node = node.find_ancestor(exp.Merge)
        if node is None:
            return None
        table = node.this.this if isinstance(node.this, exp.Schema) else node.this
        return self._table(table) if isinstance(table, exp.Table) and isinstance(table.this, exp.Identifier) else None

    def _written(self, node: exp.Expr, statement: exp.Expr) -> None:
        table, found = self._target(statement), self._chain(node)
        if table is None or found is None or not isinstance(found[0], exp.Column):
            return
        if isinstance(node.parent, exp.EQ):
            values = [node.parent.expression]
        else:
            at = next(at for at, each in enumerate(_columns(statement)) if each is node)
            values = _rows(statement, at)
        self._set(table, (self._key(found[0].this), *found[1]), node, values)

    def _set(self, table: Table, keys: Sequence[Key], node: exp.Expr, values: Sequence[exp.Expr]) -> None:
        """A column that gets these values; none where they come from elsewhere."""
        constants = self._constants(values)
        line = max((key.line for key in keys), default=0) or self._places.of(self._end(node))[0]
        exact = bool(values) and len(constants) == len(values)
        self._found.accesses.append(Access((Origin(table, tuple(keys)),), "write", tuple(constants), line, exact))

    def _schema(self, node: exp.Schema) -> None:
        """The columns after INSERT INTO, or those of CREATE TABLE."""
        table = node.this
        if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier):
            return
        held = self._table(table)
        for at, each in enumerate(node.expressions):
            if isinstance(node.parent, exp.Insert):
                self._set(held, (self._key(each),), each, _rows(node.parent, at))
            elif isinstance(each, exp.ColumnDef):
                for path in _defined(each):
                    self._add([Origin(held, tuple(self._key(step) for step in path))], path[-1], "read")

    def _json_schema(self, node: exp.Expr) -> None:
        """The columns in the text of from_json(payload, 'coupon STRING, buyer STRUCT<mail: STRING>')."""
        arguments = [node.this, node.expression] if isinstance(node, exp.FromJson) else node.expressions
        if isinstance(node, exp.Anonymous) and node.name.lower() != "from_json":
            return
        schema = arguments[1] if len(arguments) > 1 else None
        if not isinstance(schema, exp.Literal) or not schema.is_string:
            return
        origins = self._origins(arguments[0])
        try:
            kind = exp.DataType.build(f"STRUCT<{schema.name}>", dialect="spark")
        except SqlglotError:
            # A type alone, or a schema in JSON.
            return
        offset = schema.meta.get("start", 0)
        paths = list(_defined(kind))
        tops = frozenset(path[0].name for path in paths)
        self._found.schemas += [(origin, tops) for origin in origins]
        for path in paths:
            keys = self._json_keys([path[-1].name], offset)
            offset = self._places.next(path[-1].name, offset)
            above = [Key(each.name, json=True) for each in path[:-1]]
            self._add(
                [replace(each, keys=(*each.keys, *above, *keys)) for each in self._plain(origins)], schema, "read"
            )

    def _using(self, node: exp.Join) -> None:
        """JOIN ... USING (id): columns of both sides."""
        for each in node.args.get("using") or ():
            if isinstance(each, exp.Identifier):
                self._add(self._lookup([self._key(each)], _query_of(node)), each, "read")

    def _leave(self, node: exp.Expr) -> None:
        """A statement that is not followed further: its words are all that is told."""
        words: dict[str, tuple[int, int]] = {}
        for each in node.find_all(exp.Identifier):
            words.setdefault(each.name.lower(), self._places.of(each.meta.get("start", 0)))
        if isinstance(node, exp.Command):
            rest = node.args.get("expression")
            said = (rest if isinstance(rest, str) else rest.name if isinstance(rest, exp.Expr) else "").strip()
            start = max(self._places.text.find(said), 0)
            for match in re.finditer(r"\w+", said):
                words.setdefault(match[0].lower(), self._places.of(start + match.start()))
        self._found.left.append(words)

    def _json_table(self, node: exp.JSONTable) -> None:
        origins = self._plain(self._origins(node.this))
        outer = [Key(key, json=True) for key in _path(node.args.get("path"))]
        for column in node.find_all(exp.JSONColumnDef):
            path = column.args.get("path")
            if isinstance(path, exp.Expr) and origins:
                keys = self._json_keys(_path(path), self._end(column.this) if column.this is not None else 0)
                self._add([replace(each, keys=(*each.keys, *outer, *keys)) for each in origins], node, "read")

    @staticmethod
    def _plain(origins: Sequence[Origin]) -> list[Origin]:
        """Origins whose keys are told by another access already."""
        return [replace(each, keys=tuple(replace(key, line=0) for key in each.keys)) for each in origins]


def _query_of(node: exp.Expr) -> exp.Expr | None:
    """The query that a node belongs to."""
    found = node.find_ancestor(*_QUERIES)
    return found if isinstance(found, exp.Expr) else None


def _is_understood(statement: exp.Expr) -> bool:
    """Whether a statement is one whose columns are followed; GRANT, ALTER, CREATE INDEX, EXPLAIN, CALL are not."""
    if isinstance(statement, exp.Create):
        return isinstance(statement.this, exp.Schema) or isinstance(statement.expression, exp.Query)
    return isinstance(statement, (exp.Query, *_QUERIES))


def _columns(statement: exp.Expr) -> list[exp.Expr]:
    """The columns that INSERT names."""
    held = statement.this
    return list(held.expressions) if isinstance(held, exp.Schema | exp.Tuple) else []


def _rows(statement: exp.Expr, at: int) -> list[exp.Expr]:
    """What INSERT puts into the column at this place, for each row; nothing where a query makes the rows."""
    values = statement.expression
    rows = values.expressions if isinstance(values, exp.Values) else [values]
    if not all(isinstance(row, exp.Tuple) and at < len(row.expressions) for row in rows):
        return []
    return [row.expressions[at] for row in rows]


def _set_by(node: exp.Expr) -> exp.Expr | None:
    """The statement that sets a column: SET column = ..., ON CONFLICT DO UPDATE SET, INSERT (column) within MERGE."""
    parent = node.parent
    around = parent.parent if parent is not None else None
    if isinstance(parent, exp.EQ) and parent.this is node:
        if isinstance(around, exp.OnConflict):
            return around.find_ancestor(exp.Insert)
        return around if isinstance(around, exp.Update) else None
    if isinstance(parent, exp.Tuple) and isinstance(around, exp.Insert) and around.this is parent:
        return around
    return None


def _within(node: exp.Expr, other: exp.Expr) -> bool:
    around: exp.Expr | None = node
    while around is not None and around is not other:
        around = around.parent
    return around is other


def _is_parameter(node: exp.Expr) -> bool:
    """The ``i`` of ``i -> i.sku``, which may be no column to the parser."""
    return isinstance(node, exp.Identifier) and isinstance(node.parent, exp.Dot) and node.parent.this is node


def _is_protobuf(node: exp.Expr) -> bool:
    """from_protobuf(value, 'shop.v1.Order', ...), as Spark has it."""
    return (
        isinstance(node, exp.Anonymous)
        and node.name.lower() == _PROTOBUF
        and any(isinstance(each, exp.Literal) and each.is_string for each in node.expressions[1:])
    )


def _asks_for_null(node: exp.Expr) -> bool:
    """Whether a value is asked whether it is NULL: IS NULL, COALESCE(value, ...)."""
    parent = node.parent
    if isinstance(parent, exp.Coalesce):
        return parent.this is node
    return isinstance(parent, exp.Is) and isinstance(parent.expression, exp.Null)


def _takes_json(node: exp.Expr) -> bool:
    """A function of this or that database that takes a part of JSON, or makes another form of it."""
    name = node.name.lower() if isinstance(node, exp.Anonymous) else ""
    return name in _FORMS or "json" in name


def _path(node: object) -> list[str]:
    """The keys of a path into JSON."""
    if isinstance(node, exp.JSONPath):
        steps = (each.this for each in node.expressions if isinstance(each, exp.JSONPathKey | exp.JSONPathSubscript))
        return [step for step in steps if isinstance(step, str)]
    return json_path(node.name) if isinstance(node, exp.Literal) and node.is_string else []


def _defined(node: exp.Expr) -> Iterator[tuple[exp.Expr, ...]]:
    """The names that a definition makes, each with those around it."""
    above: tuple[exp.Expr, ...] = ()
    kind: object = node
    if isinstance(node, exp.ColumnDef):
        above, kind = (node.this,), node.args.get("kind")
        yield above
    for each in kind.expressions if isinstance(kind, exp.DataType) else ():
        if isinstance(each, exp.ColumnDef | exp.DataType):
            for path in _defined(each):
                yield (*above, *path)
