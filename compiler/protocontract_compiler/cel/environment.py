"""The checker: which variables and functions an expression may use, and what its complaints mean for us."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from cel_expr_python import cel  # type: ignore[import-untyped]
from cel_expr_python.ext import ext_strings  # type: ignore[import-untyped]
from google.protobuf import descriptor_pool

from protocontract_compiler.cel import checked, overloads
from protocontract_compiler.cel.errors import CelError, Untranslatable
from protocontract_compiler.ir_cel import TIMESTAMP, Type

_KINDS: Final = {
    "bool": cel.Type.BOOL,
    "bytes": cel.Type.BYTES,
    "double": cel.Type.DOUBLE,
    "duration": cel.Type.DURATION,
    "dyn": cel.Type.DYN,
    "int": cel.Type.INT,
    "null": cel.Type.NULL,
    "string": cel.Type.STRING,
    "timestamp": cel.Type.TIMESTAMP,
    "uint": cel.Type.UINT,
}

# "ERROR: <input>:1:9: undeclared reference to 'foo' (in container '')"
_COMPLAINT: Final = re.compile(r"ERROR: <input>:(\d+):(\d+): ([^\n]*)")
_OVERLOAD: Final = re.compile(r"found no matching overload for '([^']*)'")

_LENIENT: Final = frozenset({"_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_", "@in", "_?_:_", "_[_]"})
"""Operators that protovalidate's engine applies to more types than the checker allows."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """The types of the variables: ``rules`` is the full name of a rules message or empty."""

    this: Type
    rules: str = ""
    rule: Type | None = None


def _cel_type(type_: Type) -> cel.Type:
    if type_.kind == "message":
        return cel.Type(type_.message)
    if type_.kind == "list":
        return cel.Type.List(_cel_type(type_.args[0]))
    if type_.kind == "map":
        return cel.Type.Map(_cel_type(type_.args[0]), _cel_type(type_.args[1]))
    return _KINDS[type_.kind]


def _functions() -> list[cel.FunctionDecl]:
    declarations = []
    for name, signatures in overloads.PROTOVALIDATE.items():
        members = [
            cel.Overload(
                f"{name}_{'_'.join(str(operand) for operand in operands)}",
                return_type=_cel_type(result),
                parameters=[_cel_type(operand) for operand in operands],
                is_member=True,
            )
            for operands, result in signatures
        ]
        declarations.append(cel.FunctionDecl(name, members))
    dyn = cel.Type.DYN
    unique = cel.Overload("unique_list", cel.Type.BOOL, [cel.Type.List(dyn)], is_member=True)
    declarations.append(cel.FunctionDecl("unique", [unique]))
    get_field = cel.Overload("get_field", dyn, [dyn, cel.Type.STRING], is_member=False)
    declarations.append(cel.FunctionDecl("getField", [get_field]))
    return declarations


class Checker:
    """Parses and checks expressions against the message types of one pool."""

    def __init__(self, pool: descriptor_pool.DescriptorPool) -> None:
        self._pool = pool
        self._environments: dict[Declaration, cel.Env] = {}
        self._functions = _functions()

    def tree(self, source: str, declaration: Declaration) -> checked.Tree:
        """The expression's tree. Raises ``CelError`` for a mistake, ``Untranslatable`` where it nests too deeply."""
        environment = self._environment(declaration)
        try:
            compiled = environment.compile(source)
        except RuntimeError as error:  # the binding's class for everything that the parser and checker say
            compiled = self._lenient(environment, source, str(error))
        try:
            return checked.read(compiled.serialize())
        except checked.TooDeep:
            raise Untranslatable("an expression that nests too deeply") from None

    def _lenient(self, environment: cel.Env, source: str, complaint: str) -> cel.Expression:
        """Only parses what the checker refused, if protovalidate may still evaluate it; else raises ``CelError``."""
        complaints = _COMPLAINT.findall(complaint)
        if complaints and all(map(_is_lenient, (text for _, _, text in complaints))):
            return environment.compile(source, disable_check=True)
        if not complaints:
            raise CelError(complaint.removesuffix(" [INVALID_ARGUMENT]"))
        line, column, text = complaints[0]
        text = text.removesuffix(" (in container '')").replace(" in container ''", "")
        raise CelError(text.strip(), int(line), int(column))

    def _environment(self, declaration: Declaration) -> cel.Env:
        environment = self._environments.get(declaration)
        if environment is None:
            variables = {"this": _cel_type(declaration.this), "now": _cel_type(TIMESTAMP)}
            if declaration.rules:
                variables["rules"] = cel.Type(declaration.rules)
            if declaration.rule is not None:
                variables["rule"] = _cel_type(declaration.rule)
            environment = cel.NewEnv(
                descriptor_pool=self._pool,
                variables=variables,
                extensions=[ext_strings.ExtStrings(), _bytes_methods()],
                functions=self._functions,
            )
            self._environments[declaration] = environment
        return environment


def _is_lenient(complaint: str) -> bool:
    if complaint.startswith("found no matching overload for 'int' applied to '(bool)'"):
        return True
    match = _OVERLOAD.match(complaint)
    if match is None or match[1] not in _LENIENT:
        return False
    # A choice may have branches of two types, but its condition is a bool.
    return match[1] != "_?_:_" or "applied to '(bool," in complaint


def _bytes_methods() -> cel.CelExtension:
    """``b.startsWith(b)`` and its like, as an extension: they add overloads to functions that exist."""
    types = [cel.Type.BYTES, cel.Type.BYTES]
    return cel.CelExtension(
        "protovalidate.bytes",
        [
            cel.FunctionDecl(name, [cel.Overload(f"bytes_{name}", cel.Type.BOOL, types, is_member=True)])
            for name in overloads.BYTES_METHODS
        ],
    )
