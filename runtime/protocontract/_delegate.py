"""The exact fallback: messages with a rule that cannot be compiled are validated by protovalidate itself."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, cast

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from protocontract import _scope
from protocontract.violations import (
    EACH,
    ContractError,
    ErrorClass,
    FieldElement,
    PathTemplate,
    Rule,
    RuleEvaluationError,
    SeverityName,
    Subscript,
    Violation,
    is_sensitive,
)

if TYPE_CHECKING:
    import protovalidate


class Governed:
    """What a contract says about the violations of one field; of a message: that it holds something sensitive."""

    __slots__ = ("contexts", "error_class", "error_codes", "sensitive", "severities")

    def __init__(
        self,
        *,
        severities: Mapping[str, SeverityName] | None = None,
        error_class: ErrorClass | None = None,
        error_codes: Mapping[str, int] | None = None,
        contexts: Mapping[str, tuple[str, ...]] | None = None,
        sensitive: bool = False,
    ) -> None:
        self.severities: Final[Mapping[str, SeverityName]] = severities or {}
        self.error_class: Final = error_class
        self.error_codes: Final[Mapping[str, int]] = error_codes or {}
        self.contexts: Final[Mapping[str, tuple[str, ...]]] = contexts or {}
        self.sensitive: Final = sensitive


_UNGOVERNED: Final = Governed()
_NOTHING: Final[Mapping[str, Governed]] = {}


def delegate(
    out: list[Violation] | None,
    message: Message,
    path: PathTemplate,
    subscripts: tuple[Subscript, ...],
    contract: str,
    governed: Mapping[str, Governed] = _NOTHING,
    *,
    reads_clock: bool = False,
) -> list[Violation] | None:
    """``out`` with what protovalidate finds in ``message``, which the record holds at ``path``.

    ``governed`` is what the contract says about fields, by their full names, and about messages that have something
    sensitive in them or rules of their own, by theirs. ``reads_clock``: the rules may ask what time it is, which
    nobody can tell protovalidate.
    """
    import protovalidate

    if reads_clock and _scope.given_now() is not None:
        raise ContractError(f"{message.DESCRIPTOR.full_name} is left to protovalidate, whose clock cannot be set")

    described = cast("Descriptor", message.DESCRIPTOR)  # the stubs know of two kinds
    try:
        found = _validator(message.DESCRIPTOR.file.pool).collect_violations(message)
    except protovalidate.CompilationError as error:
        raise ContractError(f"protovalidate refuses the rules of {contract}: {error}") from error
    except protovalidate.EvaluationError as error:
        # Its text can quote the message, so it is not passed on.
        failure = RuleEvaluationError("protovalidate could not evaluate a rule")
        if not _scope.collecting():
            raise failure from error
        unknown = Violation(Rule(contract, (), "rule.evaluation", ""), _scope.NoResult(failure, anywhere=True))
        found = []
        out = [*(out or ()), unknown.within(path, subscripts, contract) if path else unknown]
    for violation in found:
        converted = _converted(violation, described, contract, governed, sensitive=is_sensitive(path))
        if path:
            converted = converted.within(path, subscripts, contract)
        if out is None:
            out = [converted]
        else:
            out.append(converted)
    return out


@lru_cache(maxsize=32)
def _validator(pool: Any) -> protovalidate.Validator:
    """protovalidate's validator of one descriptor pool.

    A validator keeps the extensions of all pools that it has seen in one registry, and fails where two of them differ:
    two versions of a contract side by side. A program without dynamic contracts has one pool.
    """
    import protovalidate

    return protovalidate.Validator()


def _converted(
    violation: Any, holder: Descriptor | None, contract: str, governed: Mapping[str, Governed], *, sensitive: bool
) -> Violation:
    proto = violation.proto
    template: list[Any] = []
    subscripts: list[Subscript] = []
    own, holds = _UNGOVERNED, holder
    for element in proto.field.elements if proto.field is not None else ():
        described = holder.fields_by_name.get(element.field_name) if holder is not None else None
        own = governed.get(described.full_name, _UNGOVERNED) if described is not None else _UNGOVERNED
        sensitive = sensitive or own.sensitive
        template.append(_element(element, sensitive=own.sensitive))
        if element.subscript is not None:
            template.append(EACH)
            subscripts.append(element.subscript.value)
        if described is None:
            break  # a oneof: the rule is one of the message that holds it
        holder = holds = _message_in(described)
    # The value is a message, or the rule is the message's own.
    of_message = governed.get(holds.full_name, _UNGOVERNED) if holds is not None else _UNGOVERNED
    sensitive = sensitive or of_message.sensitive
    elements = proto.rule.elements if proto.rule is not None else ()
    rule_id, message, text = proto.rule_id or "", proto.message or "", None
    if not elements or any(_may_quote(element) for element in elements):
        message, text = "", rule_id if sensitive else message
    if not elements:
        own = of_message
    rule = Rule(
        contract,
        tuple(template),
        rule_id,
        message,
        tuple(_rule_step(element) for element in elements) if proto.rule is not None else "",
        severity=own.severities.get(rule_id, "ERROR"),
        error_class=own.error_class or ErrorClass(),
        error_code=own.error_codes.get(rule_id),
        contexts=own.contexts.get(rule_id, ()),
        sensitive=sensitive,
        for_key=bool(proto.for_key),
    )
    return Violation(rule, violation.field_value, tuple(subscripts), text)


def _message_in(field: FieldDescriptor | None) -> Descriptor | None:
    """The type of the messages in a field, its items or its map values."""
    inner: Descriptor | None = field.message_type if field is not None else None
    if inner is not None and inner.GetOptions().map_entry:
        inner = inner.fields_by_name["value"].message_type
    return inner


def _may_quote(element: Any) -> bool:
    """Whether a step of a rule path leads to CEL of the contract's own, whose text can hold what it reads."""
    return element.field_name in ("cel", "cel_expression") or str(element.field_name).startswith("[")


def _element(element: Any, *, sensitive: bool = False) -> FieldElement:
    # An unset enum reads as its first value, which is a type: what is not there must be asked for.
    types = [int(getattr(element, name)) if element.has_field(name) else 0 for name in _TYPES]
    return FieldElement(element.field_number or 0, element.field_name or "", *types, sensitive=sensitive)


_TYPES = ("field_type", "key_type", "value_type")


def _rule_step(element: Any) -> str | FieldElement:
    """A step of a rule path: an element, or its name with its index (``cel[1]``), which only text can carry."""
    if element.subscript is not None:
        return f"{element.field_name}[{element.subscript.value}]"
    return _element(element)
