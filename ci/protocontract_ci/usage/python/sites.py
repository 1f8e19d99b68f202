"""The places of a file where a contract may be used, and what has to be known of each to decide it.

A site is found by the names that stand there. Whether it is a use depends on the type of a receiver, which the type
checker tells later; what imports alone decide is decided here.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from string import Formatter
from typing import Final, Literal

from protocontract_ci.usage.python.names import Names
from protocontract_ci.usage.python.overlay import Overlay, Source
from protocontract_ci.usage.vocabulary import Elements

#: Methods of messages that take the name of a field or oneof.
BY_NAME: Final = {"HasField": "has", "ClearField": "clear", "WhichOneof": "which_oneof"}
#: Functions that reach an attribute by its name.
_REFLECTION: Final = frozenset({"getattr", "setattr", "hasattr", "delattr", "attrgetter"})
#: What tells where a violation is, or by which rule: another place of a rule changes it.
_OF_VIOLATIONS: Final = frozenset({"field_path", "rule_path", "rule_id"})
#: Methods of Any that compare the full name of a message.
_BY_DESCRIPTOR: Final = frozenset({"Unpack", "Is"})
_WHOLE: Final = frozenset({"SerializeToString", "SerializePartialToString", "ParseFromString", "MergeFromString"})

#: A full name in a text, or the path of an RPC.
_DOTTED: Final = re.compile(r"(?<![\w.])[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+(?:/[A-Za-z_]\w*)?(?![\w.]*\w)")

SiteKind = Literal[
    "attribute", "by_name", "construct", "reflection", "key", "compare", "lookup", "match", "whole", "descriptor",
    "parsed", "mask",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Site:
    """A place to decide. ``asked`` is the expression whose type decides; ``names`` are the names that stand there.

    ``pattern`` is set where a name is put together at run time: what it must match.
    """

    kind: SiteKind
    node: ast.AST
    asked: ast.expr
    names: tuple[str, ...] = ()
    pattern: re.Pattern[str] | None = None
    #: Where the names were written, where that is another line.
    origin: int = 0
    #: The expression that the name is the value of, where nobody wrote it down.
    name: ast.expr | None = None
    #: The values that a dispatch has branches for, by name or number.
    handled: tuple[str, ...] = ()


@dataclass
class Sites:
    """All sites of a file, with the texts and constants that its names may come from."""

    source: Source
    names: Names
    elements: Elements
    found: list[Site] = field(default_factory=list)
    _constants: dict[str, ast.expr] = field(default_factory=dict)
    _stored: dict[ast.AST, dict[str, list[ast.expr | None]]] = field(default_factory=dict)
    #: The links of rows that were found, each of which is an ``if`` of its own.
    _rows: set[ast.If] = field(default_factory=set)

    def know(self, constants: Mapping[str, ast.expr]) -> None:
        """Take constants that the file has from elsewhere; before ``collect``."""
        self._constants.update(constants)

    def collect(self) -> list[Site]:
        """Find all sites."""
        for statement in self.source.tree.body:
            if isinstance(statement, ast.Assign):
                for target in statement.targets:
                    if isinstance(target, ast.Name):
                        self._constants[target.id] = statement.value
            elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name) and statement.value:
                self._constants[statement.target.id] = statement.value
        for node in self.source.nodes:
            match node:
                case ast.Attribute():
                    self._attribute(node)
                    self._field_number(node)
                case ast.Call():
                    self._call(node)
                case ast.Subscript():
                    self._subscript(node)
                case ast.Compare():
                    self._compare(node)
                case ast.If():
                    self._chain(node)
                case ast.Match():
                    self.found.append(Site("match", node, node.subject))
        return self.found

    def ask(self, overlay: Overlay) -> None:
        """Have the types told that decide the sites."""
        for site in self.found:
            for asked in (site.asked, site.name):
                bound = self.names.resolve(asked) if asked is not None else None
                if asked is not None and (bound is None or bound.kind == "contract") and not self._in_annotation(asked):
                    overlay.ask(asked)

    def _in_annotation(self, node: ast.AST) -> bool:
        """Whether a node is part of an annotation or of a class's bases, where a call would change the meaning."""
        child, parent = node, self.source.parent(node)
        while parent is not None and not isinstance(child, ast.stmt):
            if isinstance(parent, ast.AnnAssign) and child is parent.annotation:
                return True
            if isinstance(parent, ast.arg) or (
                isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef) and child is parent.returns
            ):
                return True
            if isinstance(parent, ast.ClassDef):
                return True
            child, parent = parent, self.source.parent(parent)
        return False

    # -- kinds of sites

    def _attribute(self, node: ast.Attribute) -> None:
        if self.names.resolve(node) is not None:
            return
        elements = self.elements
        if (
            node.attr in elements.field_names
            or node.attr in elements.method_names
            or node.attr in elements.member_names
        ):
            self.found.append(Site("attribute", node, node.value, (node.attr,)))

    def _call(self, node: ast.Call) -> None:
        function = node.func
        if isinstance(function, ast.Attribute):
            if function.attr in BY_NAME and node.args:
                self._named(Site("by_name", node, function.value), node.args[0])
                return
            if function.attr in _BY_DESCRIPTOR and len(node.args) == 1:
                argument = node.args[0]
                if isinstance(argument, ast.Attribute) and argument.attr == "DESCRIPTOR":
                    argument = argument.value
                self.found.append(Site("descriptor", node, argument))
            if function.attr in _WHOLE:
                self.found.append(Site("whole", node, function.value))
                return
            if function.attr in ("get", "pop", "setdefault") and node.args:
                self._key(node, function.value, node.args[0])
                # What is not in the table has a result, too: None, or what is given.
                self.found.append(
                    Site("lookup", node, node.args[0], ("default",), handled=self._branches(function.value))
                )
                self._table(node, function.value, node.args[0])
            if function.attr == "format":
                self._format(node, function.value)
        if isinstance(function, ast.Name) and function.id in _REFLECTION and len(node.args) >= 2:
            self._named(Site("reflection", node, node.args[0]), node.args[1])
        if getattr(function, "id", getattr(function, "attr", "")) == "attrgetter" and node.args:
            self._named(Site("mask", node, node.args[0]), node.args[0])
        self._by_text(node, function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", ""))
        keywords = tuple(keyword.arg for keyword in node.keywords if keyword.arg is not None)
        if getattr(function, "id", getattr(function, "attr", "")) == "partial" and node.args:
            self.found.append(Site("construct", node, node.args[0], keywords))
        bound = self.names.resolve(function)
        if bound is not None:
            if bound.kind == "message":
                self.found.append(Site("construct", node, function, keywords))
        elif not isinstance(function, ast.Lambda) and (
            any(name in self.elements.field_names for name in keywords)
            or any(keyword.arg is None for keyword in node.keywords)
            or (isinstance(function, ast.Name) and function.id in self._constants)
            or (isinstance(function, ast.Attribute) and function.attr == "add")
        ):
            self.found.append(Site("construct", node, function, keywords))

    def _field_number(self, node: ast.Attribute) -> None:
        """``Order.COUPON_FIELD_NUMBER``."""
        name = node.attr.removesuffix("_FIELD_NUMBER")
        if name != node.attr:
            fields = tuple(each for each in self.elements.field_names if each.upper() == name)
            self.found.append(Site("reflection", node, node.value, fields))

    def _by_text(self, node: ast.Call, name: str) -> None:
        """What is built from a dictionary or a JSON text, and masks of fields."""
        if name in ("ParseDict", "Parse") and len(node.args) >= 2:
            self.found.append(Site("parsed", node, node.args[1]))
        elif name == "FieldMask":
            paths = next((keyword.value for keyword in node.keywords if keyword.arg == "paths"), None)
            if isinstance(paths, ast.List | ast.Tuple):
                texts = [text for each in paths.elts for text in self.texts(each)[0]]
                names = tuple(part for text in texts for part in text.split(".") if part in self.elements.field_names)
                if names:
                    self.found.append(Site("mask", node, paths, names))

    def _subscript(self, node: ast.Subscript) -> None:
        holder = node.value
        if isinstance(holder, ast.Attribute) and holder.attr.startswith(("fields_by_", "oneofs_by_", "values_by_")):
            if isinstance(holder.value, ast.Attribute) and holder.value.attr == "DESCRIPTOR":
                kind: SiteKind = "compare" if holder.attr.startswith("values") else "reflection"
                self._named(Site(kind, node, holder.value.value), node.slice)
            return
        self._key(node, node.value, node.slice)
        if isinstance(node.ctx, ast.Load) and not isinstance(node.slice, ast.Constant | ast.Slice | ast.Tuple):
            self.found.append(Site("lookup", node, node.slice, handled=self._branches(node.value)))
            self._table(node, node.value, node.slice)

    def _branches(self, table: ast.expr) -> tuple[str, ...]:
        """The values that a table has entries for."""
        display = self.display(table)
        keys = display.keys if display is not None else ()
        return tuple(name for key in keys if key is not None for name in self.values(key))

    def values(self, node: ast.expr) -> tuple[str, ...]:
        """The values of an enum or cases of a oneof that an expression, or each item of one, stands for."""
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            return tuple(name for each in node.elts for name in self.values(each))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "Value":
            # Kind.Value("KIND_A")
            return tuple(name for each in node.args for name in self.values(each))
        bound = self.names.resolve(node)
        own = (bound.name.rpartition(".")[2],) if bound is not None and bound.kind == "value" else ()
        return (*own, *self.texts(node)[0], *map(str, _numbers(node, self._constants)))

    def _key(self, node: ast.AST, container: ast.expr, key: ast.expr) -> None:
        names, origin = self.texts(key)
        names = tuple(name for name in names if name in self.elements.field_names or name in self.elements.member_names)
        if names:
            self.found.append(Site("key", node, container, names, origin=origin))

    def _table(self, node: ast.AST, container: ast.expr, key: ast.expr) -> None:
        """A look-up in a table that is written down: the key is compared with each of its own."""
        table = self.display(container)
        for each in table.keys if table is not None else ():
            names = (*_literal_texts(each), *map(str, _numbers(each, {}))) if each is not None else ()
            if names and each is not None:
                self.found.append(Site("compare", node, key, names, origin=each.lineno))

    def _format(self, node: ast.Call, text: ast.expr) -> None:
        """``"{order.coupon}".format(order=order)``."""
        for template in self.texts(text)[0]:
            try:
                fields = [place for _, place, _, _ in Formatter().parse(template) if place is not None]
            except ValueError:
                continue
            given = {keyword.arg: keyword.value for keyword in node.keywords}
            given.update({str(at): value for at, value in enumerate(node.args)})
            for at, place in enumerate(fields):
                first, _, attribute = place.partition(".")
                holder = given.get(first or str(at))
                if holder is not None and attribute in self.elements.field_names:
                    self.found.append(Site("reflection", node, holder, (attribute,)))

    def _compare(self, node: ast.Compare) -> None:
        sides = [node.left, *node.comparators]
        for at, operator in enumerate(node.ops):
            left, right = sides[at], sides[at + 1]
            if isinstance(operator, ast.In | ast.NotIn):
                if isinstance(left, ast.Constant):
                    self._key(node, right, left)
                if isinstance(right, ast.Tuple | ast.List | ast.Set):
                    self.found += [Site("compare", node, left, self.texts(each)[0]) for each in right.elts]
                continue
            for one, other in ((left, right), (right, left)):
                names, origin = self.texts(one)
                numbers = tuple(str(value) for value in _numbers(one, self._constants))
                if names or numbers:
                    self.found.append(Site("compare", node, other, (*names, *numbers), origin=origin))

    def _chain(self, node: ast.If) -> None:
        """``if x == A: ... elif x == B: ...``: a dispatch; closed where it has an else, or something comes after it.

        So is a row of such ``if`` that leave, before what fails.
        """
        parent = self.source.parent(node)
        if (isinstance(parent, ast.If) and parent.orelse == [node]) or node in self._rows:
            return
        block = next((block for block in _blocks(parent) if node in block), [node])
        links = self._links(node)
        last = next((each for each in links[-1].orelse[:1] if isinstance(each, ast.If)), links[-1])
        rest = last.orelse or block[block.index(node) + 1 :]
        row = self._row(node, links, block)
        if len(row) > len(links):
            links, rest = row, block[block.index(row[-1]) + 1 :]
            self._rows.update(row)
        if len(links) < 2 or len({_subject(link) for link in links}) != 1:
            return
        closed = bool(rest) and not fails(rest[0])
        names = ("default",) if closed else ()
        tests = [link.test for link in links if isinstance(link.test, ast.Compare)]
        handled = tuple(name for test in tests for name in self.values(test.comparators[0]))
        self.found.append(Site("lookup", node, tests[0].left, names, handled=handled))

    @staticmethod
    def _links(node: ast.If) -> list[ast.If]:
        """The tests of one ``if`` with its ``elif``, as far as each compares something with a value."""
        links = [node]
        while _subject(links[-1]) and len(links[-1].orelse) == 1:
            following = links[-1].orelse[0]
            if not isinstance(following, ast.If) or not _subject(following):
                break
            links.append(following)
        return links

    @staticmethod
    def _row(node: ast.If, links: list[ast.If], block: Sequence[ast.stmt]) -> list[ast.If]:
        """``if x == A: return ...``, ``if x == B: return ...`` and so on, where what follows them fails; else no more
        than the first.
        """
        row: list[ast.If] = []
        rest = block[block.index(node) :]
        for statement in rest:
            if not isinstance(statement, ast.If) or statement.orelse or _subject(statement) != _subject(node):
                break
            if not isinstance(statement.body[-1], ast.Return | ast.Raise | ast.Continue):
                break
            row.append(statement)
        after = rest[len(row) : len(row) + 1]
        # An assertion may be about one more value.
        return row if _subject(node) and after and fails(after[0]) and not isinstance(after[0], ast.Assert) else links

    def _named(self, site: Site, name: ast.expr) -> None:
        """A site whose name is an expression: a text, a constant, a loop over texts, or put together."""
        names, origin = self.texts(name)
        if names:
            self.found.append(Site(site.kind, site.node, site.asked, names, origin=origin))
        else:
            self.found.append(Site(site.kind, site.node, site.asked, pattern=_pattern(name), name=name))

    def texts(self, node: ast.expr) -> tuple[tuple[str, ...], int]:
        """The texts that an expression may be, and the line where they are written, 0 where that is the same."""
        match node:
            case ast.Constant(value=str(text)):
                return (text,), 0
            case ast.IfExp():
                first, second = self.texts(node.body)[0], self.texts(node.orelse)[0]
                return ((*first, *second), 0) if first and second else ((), 0)
            case ast.Name():
                origin = self._constants.get(node.id)
                if origin is not None and (found := _literal_texts(origin)):
                    return found, origin.lineno
                over = self._loop(node)
                if over is not None:
                    holder = self._constants.get(over.id, over) if isinstance(over, ast.Name) else over
                    return _items(holder), holder.lineno
        return (), 0

    def display(self, node: ast.expr) -> ast.Dict | None:
        """The dictionary that an expression is: written here, in a name that is bound once, or passed through a call
        (``json.dumps``, ``dict``).
        """
        match node:
            case ast.Dict():
                return node
            case ast.Name():
                bound = self._constants.get(node.id) or self._local(node)
                return self.display(bound) if bound is not None and not isinstance(bound, ast.Name) else None
            case ast.Call(args=[argument, *_]) if _last_name(node.func) in ("dumps", "dict", "MappingProxyType"):
                return self.display(argument) if not node.keywords or _last_name(node.func) == "dumps" else None
            case ast.Call(func=ast.Name(id="dict"), args=[], keywords=keywords):
                made = ast.Dict([_key_of(keyword) for keyword in keywords], [keyword.value for keyword in keywords])
                return ast.copy_location(made, node) if all(keyword.arg for keyword in keywords) else None
        return None

    def _local(self, node: ast.Name) -> ast.expr | None:
        """What a name of a function is bound to, where that is said once and the value is not changed by a key."""
        scope = self.source.parent(node)
        while scope is not None and not isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef):
            scope = self.source.parent(scope)
        values = self._stores(scope).get(node.id, []) if scope is not None else []
        return values[0] if len(values) == 1 else None

    def _stores(self, scope: ast.AST) -> dict[str, list[ast.expr | None]]:
        """What the names of a function are bound to; None where a key of one is set, or nobody wrote the value down."""
        if scope not in self._stored:
            found: dict[str, list[ast.expr | None]] = {}
            for each in ast.walk(scope):
                if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load):
                    parent = self.source.parent(each)
                    value = parent.value if isinstance(parent, ast.Assign | ast.AnnAssign) else None
                    found.setdefault(each.id, []).append(value)
                elif (
                    isinstance(each, ast.Subscript)
                    and isinstance(each.ctx, ast.Store)
                    and isinstance(each.value, ast.Name)
                ):
                    found.setdefault(each.value.id, []).append(None)
            self._stored[scope] = found
        return self._stored[scope]

    def compared_with(self, node: ast.AST) -> tuple[object, ...]:
        """The constants that an expression is compared with."""
        parent = self.source.parent(node)
        found: list[object] = []
        if isinstance(parent, ast.Compare):
            for side in (parent.left, *parent.comparators):
                if side is node:
                    continue
                held = self._constants.get(side.id, side) if isinstance(side, ast.Name) else side
                parts = held.elts if isinstance(held, ast.Tuple | ast.List | ast.Set) else [held]
                found += [each.value for each in parts if isinstance(each, ast.Constant)]
        return tuple(found)

    def comes_from(self, node: ast.Name) -> ast.expr | None:
        """What a name of a function is an item of, or bound to once."""
        return self._loop(node) or self._local(node)

    def _loop(self, node: ast.Name) -> ast.expr | None:
        """What a loop variable runs over."""
        parent: ast.AST | None = node
        while parent is not None:
            generators: list[ast.For | ast.AsyncFor | ast.comprehension] = list(getattr(parent, "generators", ()))
            if isinstance(parent, ast.For | ast.AsyncFor):
                generators.append(parent)
            for each in generators:
                if isinstance(each.target, ast.Name) and each.target.id == node.id:
                    return each.iter
            parent = self.source.parent(parent)
        return None

    def of_violations(self) -> Iterator[ast.Attribute]:
        """Places that read where a violation is, or which rule it broke."""
        for node in self.source.nodes:
            if isinstance(node, ast.Attribute) and (
                node.attr in _OF_VIOLATIONS
                or (node.attr == "field" and isinstance(node.value, ast.Attribute) and node.value.attr == "proto")
            ):
                yield node

    def full_names(self) -> Iterator[tuple[ast.Constant, str]]:
        """Texts that hold the full name of a message, enum, service or RPC (also as gRPC writes it: ``/pkg.Shop/Get``),
        with it; texts that stand alone are documentation.
        """
        known = self.elements.full_names
        for node in self.source.nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and "." in node.value:
                if isinstance(self.source.parent(node), ast.Expr):
                    continue
                words = set(_DOTTED.findall(node.value))
                words |= {word.replace("/", ".") for word in words}
                words |= {word.partition("/")[0] for word in words}
                for name in sorted(words & known):
                    yield node, name


def fails(statement: ast.stmt) -> bool:
    """Whether a branch refuses what comes to it: it raises, or asserts that nothing does."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return getattr(statement.value.func, "id", "") == "assert_never"
    return isinstance(statement, ast.Raise | ast.Assert)


def _subject(node: ast.If) -> str:
    """What is compared with a value in an ``if``, as a key; "" for another question."""
    test = node.test
    is_branch = isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Eq | ast.In | ast.Is)
    return ast.dump(test.left) if isinstance(test, ast.Compare) and is_branch else ""


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _key_of(keyword: ast.keyword) -> ast.expr:
    key = ast.Constant(keyword.arg)
    key.lineno, key.col_offset = keyword.lineno, keyword.col_offset
    return key


def _blocks(node: ast.AST | None) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list):
            yield block


def _literal_texts(node: ast.expr) -> tuple[str, ...]:
    return (node.value,) if isinstance(node, ast.Constant) and isinstance(node.value, str) else ()


def _items(node: ast.expr) -> tuple[str, ...]:
    """The texts of a tuple, list or set, or the keys of a dict."""
    parts: list[ast.expr | None] = []
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        parts = list(node.elts)
    elif isinstance(node, ast.Dict):
        parts = list(node.keys)
    return tuple(text for part in parts if part is not None for text in _literal_texts(part))


def _numbers(node: ast.expr, constants: dict[str, ast.expr]) -> Iterator[int]:
    if isinstance(node, ast.Name):
        node = constants.get(node.id, node)
    if isinstance(node, ast.Constant) and type(node.value) is int:
        yield node.value


def _pattern(node: ast.expr) -> re.Pattern[str]:
    """What a name must match that is put together: the parts that are known, with anything between them."""
    parts: list[str] = []
    if isinstance(node, ast.JoinedStr):
        parts = [re.escape(str(part.value)) if isinstance(part, ast.Constant) else ".*" for part in node.values]
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        parts = [_pattern(node.left).pattern, _pattern(node.right).pattern]
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        parts = [re.escape(node.value)]
    else:
        parts = [".*"]
    return re.compile("".join(parts))
