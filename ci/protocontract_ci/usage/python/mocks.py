"""Finds the names of a contract that test doubles have: ``Mock(spec=Order, coupon="a")``, ``create_autospec(Order)``.

A type checker sees a Mock where they stand, whose attributes are anything. What a double stands for is said by its
spec; its keywords and attributes are then those of the message, of the stub or of the servicer. None of it is a value
that a contract judges.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

from protocontract_ci.model import Use
from protocontract_ci.usage.python.names import Bound, Names
from protocontract_ci.usage.python.overlay import Source
from protocontract_ci.usage.vocabulary import Elements

_MOCKS: Final = frozenset(("Mock", "MagicMock", "AsyncMock", "NonCallableMock", "NonCallableMagicMock"))
_SPECIFIES: Final = ("spec", "spec_set")
_SCOPES: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)

_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


def mock_uses(source: Source, names: Names, elements: Elements) -> list[Use]:
    """The names that doubles of a file have of what they stand for, in the order of the lines."""
    if "spec" not in source.text and "patch" not in source.text:
        return []
    found = set(_Finder(source, names, elements).uses())
    return sorted(found, key=lambda use: (use.line, use.column, use.path))


class _Finder:
    def __init__(self, source: Source, names: Names, elements: Elements) -> None:
        self._source = source
        self._names = names
        self._elements = elements
        #: What the name of a variable (or ``self.name``) stands for, by the function that it is assigned in.
        self._doubles: dict[tuple[ast.AST | None, str], Bound] = {}
        #: What fixtures give, by name.
        self._fixtures: dict[str, Bound] = {}

    def uses(self) -> Iterator[Use]:
        nodes = list(ast.walk(self._source.tree))
        for node in nodes:
            self._assigned(node)
        for node in nodes:
            self._fixture(node)
        for node in nodes:
            if isinstance(node, ast.Call):
                yield from self._keywords(node)
            elif isinstance(node, ast.Attribute):
                yield from self._attribute(node)

    # -- what is a double

    def _assigned(self, node: ast.AST) -> None:
        targets: Sequence[ast.expr]
        if isinstance(node, ast.Assign):
            targets, value = node.targets, node.value
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
            targets, value = [node.target], node.value
        else:
            return
        double = self._made(value)
        for target in targets:
            if double is not None and isinstance(target, ast.Name | ast.Attribute):
                self._doubles[self._key(target)] = double

    def _key(self, node: ast.Name | ast.Attribute) -> tuple[ast.AST | None, str]:
        # An attribute of self is the same one in all methods.
        return (self._scope(node) if isinstance(node, ast.Name) else None), ast.unparse(node)

    def _fixture(self, node: ast.AST) -> None:
        if not isinstance(node, _Function) or not any("fixture" in ast.unparse(each) for each in node.decorator_list):
            return
        for each in ast.walk(node):
            if isinstance(each, ast.Return | ast.Yield) and each.value is not None:
                double = self._double(each.value)
                if double is not None:
                    self._fixtures[node.name] = double

    def _made(self, node: ast.expr) -> Bound | None:
        """What a call makes a double of; None where it makes none, or of nothing of the contracts."""
        if not isinstance(node, ast.Call):
            return None
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        spec = next((each.value for each in node.keywords if each.arg in _SPECIFIES), None)
        if name == "create_autospec" or (spec is None and name in _MOCKS):
            spec = node.args[0] if node.args else spec
        elif name not in _MOCKS:
            return None
        if isinstance(spec, ast.Call):
            # Of an instance: Mock(spec=Order()).
            spec = spec.func
        bound = self._names.resolve(spec) if spec is not None else None
        return bound if bound is not None and bound.kind in ("message", "service") else None

    def _double(self, node: ast.expr) -> Bound | None:
        """What an expression is a double of."""
        if isinstance(node, ast.Call):
            return self._made(node)
        if isinstance(node, ast.Attribute):
            known = self._doubles.get((None, ast.unparse(node)))
            return known or self._inside(node)
        if not isinstance(node, ast.Name):
            return None
        scope = self._scope(node)
        while scope is not None:
            if (scope, node.id) in self._doubles:
                return self._doubles[scope, node.id]
            if isinstance(scope, _Function) and any(each.arg == node.id for each in scope.args.args):
                return self._fixtures.get(node.id)
            scope = self._scope(scope)
        return self._doubles.get((None, node.id))

    def _inside(self, node: ast.Attribute) -> Bound | None:
        """The message in a field of a double."""
        holder = self._double(node.value)
        if holder is None or holder.kind != "message":
            return None
        states = self._elements.fields(holder.name).get(node.attr, ())
        inner = next((state.message for state in states if state.message is not None), None)
        return Bound("message", inner) if inner is not None else None

    def _scope(self, node: ast.AST) -> ast.AST | None:
        """The function around a node; None at the top."""
        parent = self._source.parent(node)
        while parent is not None and not isinstance(parent, _SCOPES):
            parent = self._source.parent(parent)
        return parent

    # -- what names it has

    def _keywords(self, node: ast.Call) -> Iterator[Use]:
        double = self._made(node)
        if double is None and isinstance(node.func, ast.Attribute) and node.func.attr == "configure_mock":
            double = self._double(node.func.value)
        if double is not None:
            for keyword in node.keywords:
                if keyword.arg is not None:
                    yield from self._named(double, keyword.arg, keyword)
                elif isinstance(keyword.value, ast.Dict):
                    for key in keyword.value.keys:
                        if isinstance(key, ast.Constant) and isinstance(key.value, str):
                            yield from self._named(double, key.value, key)
        yield from self._patched(node)

    def _patched(self, node: ast.Call) -> Iterator[Use]:
        """``patch.object(Order, "coupon")``, and a call of it with the name of the place."""
        if not isinstance(node.func, ast.Attribute) or node.func.attr != "object" or len(node.args) < 2:
            return
        bound, name = self._names.resolve(node.args[0]) or self._double(node.args[0]), node.args[1]
        if bound is not None and isinstance(name, ast.Constant) and isinstance(name.value, str):
            yield from self._named(bound, name.value, name)

    def _attribute(self, node: ast.Attribute) -> Iterator[Use]:
        double = self._double(node.value)
        if double is not None:
            yield from self._named(double, node.attr, node)

    def _named(self, double: Bound, text: str, node: ast.expr | ast.keyword) -> Iterator[Use]:
        """The element that a name of a double is: ``buyer.mail`` in a keyword is the field of a field."""
        name, _, rest = text.partition(".")
        line = node.lineno
        if isinstance(node, ast.Attribute) and node.end_lineno is not None:
            line = node.end_lineno
        column = self._source.offset(node.lineno, node.col_offset) - self._source.offset(node.lineno, 0) + 1
        if double.kind == "service":
            methods = {each.name for state in self._elements.services.get(double.name, ()) for each in state.methods}
            if name in methods:
                yield Use(self._source.path, line, column, f"{double.name}.{name}", "mock")
            return
        fields = self._elements.fields(double.name)
        if name in fields:
            yield Use(self._source.path, line, column, f"{double.name}.{name}", "mock")
            inner = next((state.message for state in fields[name] if state.message is not None), None)
            if rest and inner is not None:
                yield from self._named(Bound("message", inner), rest, node)
