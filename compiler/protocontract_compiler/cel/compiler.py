"""The front end's public face: ``CelCompiler`` and the types of ``this``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final
from typing import Literal as Choice

from google.protobuf import descriptor_pool, message_factory
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from protocontract_compiler.cel import values
from protocontract_compiler.cel.checked import Tree
from protocontract_compiler.cel.environment import Checker, Declaration
from protocontract_compiler.cel.errors import CelError, Untranslatable
from protocontract_compiler.cel.format import require_finished
from protocontract_compiler.cel.translate import Binding, Translator
from protocontract_compiler.cel.values import Constant, MessageConstant, constant_of_field
from protocontract_compiler.ir_cel import (
    TIMESTAMP,
    Expr,
    Has,
    Literal,
    Program,
    Select,
    Type,
    Var,
    can_raise,
    list_of,
    map_of,
    walk,
)

Element = Choice["field", "item", "key", "value"]
_FIELD_OPTIONS: Final = "google.protobuf.FieldOptions"


@dataclass(frozen=True, slots=True)
class ThisType:
    """What ``this`` is: its CEL type. A wrapper's is that of its value, for rules see the value when it is set."""

    type: Type


def this_of_message(descriptor: Descriptor) -> ThisType:
    """``this`` of a message-level expression."""
    return ThisType(values.message_type(descriptor))


def this_of_field(field: FieldDescriptor, element: Element = "field") -> ThisType:
    """``this`` of a rule of a field, or of one of its items, keys or values."""
    if element in ("key", "value"):
        return ThisType(values.element_type(values.entry_fields(field)[element == "value"]))
    if element == "field" and values.is_map(field):
        key, value = values.entry_fields(field)
        return ThisType(map_of(values.element_type(key), values.element_type(value)))
    type_ = values.element_type(field)
    return ThisType(list_of(type_) if element == "field" and values.is_repeated(field) else type_)


class CelCompiler:
    """Compiles CEL against the message types of one pool; trees, environments and results are kept.

    The pool holds the request's files, and buf/validate/validate.proto where rules are passed.
    """

    def __init__(self, pool: descriptor_pool.DescriptorPool) -> None:
        self._pool: Final = pool
        self._checker: Final = Checker(pool)
        self._trees: dict[tuple[str, Declaration], Tree | CelError | Untranslatable] = {}
        self._programs: dict[tuple[object, ...], Program] = {}
        self._standard: dict[str, frozenset[str]] = {}

    def compile(
        self,
        source: str,
        *,
        this: ThisType,
        rules: Message | None = None,
        rule: Constant | None = None,
        standard: bool | None = None,
    ) -> Program:
        """The program of an expression, with ``rules`` and ``rule`` as constants.

        ``rules`` is an instance of a rules message of the pool; ``rule`` is ``constant_of_field(message, field)``.
        ``standard`` says that the expression is one of validate.proto's own rules, whose messages protovalidate writes
        natively; ``None`` finds that out from the descriptor of ``rules``.
        Raises ``CelError`` for a mistake in the expression, ``Untranslatable`` where protovalidate has to evaluate it.
        """
        frozen = None if rules is None else rules.SerializeToString(deterministic=True)
        if standard is None:
            standard = rules is not None and source in self._standard_sources(rules)
        key = (source, this, None if rules is None else rules.DESCRIPTOR.full_name, frozen, _frozen(rule), standard)
        program = self._programs.get(key)
        if program is None:
            program = self._programs[key] = self._compile(source, this, rules, rule, standard)
        return program

    def _standard_sources(self, rules: Message) -> frozenset[str]:
        """The expressions by which validate.proto defines the fields of a rules message."""
        descriptor = rules.DESCRIPTOR
        known = self._standard.get(descriptor.full_name)
        if known is None:
            options = message_factory.GetMessageClass(self._pool.FindMessageTypeByName(_FIELD_OPTIONS))
            extension: Any = self._pool.FindExtensionByName("buf.validate.predefined")
            found: set[str] = set()
            for field in descriptor.fields:
                parsed = options.FromString(field.GetOptions().SerializeToString())
                predefined: Any = parsed.Extensions[extension]
                found.update(cel.expression for cel in predefined.cel)
            known = self._standard[descriptor.full_name] = frozenset(found)
        return known

    def _compile(
        self, source: str, this: ThisType, rules: Message | None, rule: Constant | None, standard: bool
    ) -> Program:
        declaration = Declaration(
            this.type,
            "" if rules is None else rules.DESCRIPTOR.full_name,
            _type_of(rule),
        )
        tree = self._tree(source, declaration)
        variables: dict[str, Binding] = {"now": Var(TIMESTAMP, "now")}
        if rules is not None:
            variables["rules"] = MessageConstant(rules)
        if rule is not None:
            variables["rule"] = rule
        translator = Translator(tree, variables, self._pool, standard=standard)
        return _program(source, translator.translate(this=Var(this.type, "this")))

    def _tree(self, source: str, declaration: Declaration) -> Tree:
        key = (source, declaration)
        tree = self._trees.get(key)
        if tree is None:
            try:
                tree = self._checker.tree(source, declaration)
            except (CelError, Untranslatable) as error:
                tree = error
            self._trees[key] = tree
        if isinstance(tree, Exception):
            raise tree
        return tree


def _type_of(rule: Constant | None) -> Type | None:
    if rule is None:
        return None
    if isinstance(rule, MessageConstant):
        return Type("message", message=rule.message.DESCRIPTOR.full_name)
    return Type(rule.type.kind, rule.type.args, rule.type.message)


def _frozen(rule: Constant | None) -> object:
    if isinstance(rule, MessageConstant):
        return rule.message.DESCRIPTOR.full_name, rule.message.SerializeToString(deterministic=True)
    return rule


def _program(source: str, expr: Expr) -> Program:
    kind = expr.type.kind
    if kind == "dyn" or expr.type.nullable:
        raise Untranslatable("a result whose type is known at run time only")
    if kind not in ("bool", "string"):
        raise CelError(f"wrong type of result; expected bool or string, got {expr.type}")
    require_finished(expr)
    nodes = list(walk(expr))
    constant = expr.value if isinstance(expr, Literal) else None
    return Program(
        source=source,
        expr=expr,
        result="bool" if kind == "bool" else "string",
        can_raise=can_raise(expr),
        uses_now=any(isinstance(node, Var) and node.name == "now" and not node.slot for node in nodes),
        reads=frozenset(_reads(nodes)),
        constant=constant if isinstance(constant, bool | str) else None,
    )


def _reads(nodes: list[Expr]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, Select | Has):
            operand = node.operand
            if isinstance(operand, Var) and operand.name == "this" and not operand.slot:
                yield node.field.name


__all__ = [
    "CelCompiler",
    "CelError",
    "Constant",
    "ThisType",
    "Untranslatable",
    "constant_of_field",
    "this_of_field",
    "this_of_message",
]
