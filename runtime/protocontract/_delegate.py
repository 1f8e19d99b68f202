"""The exact fallback: messages with a rule that cannot be compiled are validated by protovalidate itself."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from google.protobuf.message import Message

from protocontract.violations import (
    EACH,
    ContractError,
    FieldElement,
    PathTemplate,
    Rule,
    RuleEvaluationError,
    Subscript,
    Violation,
)

if TYPE_CHECKING:
    import protovalidate


def delegate(
    out: list[Violation] | None,
    message: Message,
    path: PathTemplate,
    subscripts: tuple[Subscript, ...],
    contract: str,
    hidden: frozenset[str] = frozenset(),
) -> list[Violation] | None:
    """``out`` with what protovalidate finds in ``message``, which the record holds at ``path``.

    ``hidden`` are the paths (without subscripts, from ``message``) of sensitive fields.
    """
    import protovalidate

    try:
        found = _validator(message.DESCRIPTOR.file.pool).collect_violations(message)
    except protovalidate.CompilationError as error:
        raise ContractError(f"protovalidate refuses the rules of {contract}: {error}") from error
    except protovalidate.EvaluationError as error:
        # Its text can quote the message, so it is not passed on.
        raise RuleEvaluationError("protovalidate could not evaluate a rule") from error
    for violation in found:
        converted = _converted(violation, contract, hidden)
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


def _converted(violation: Any, contract: str, hidden: frozenset[str]) -> Violation:
    proto = violation.proto
    template: list[Any] = []
    subscripts: list[Subscript] = []
    names: list[str] = []
    for element in proto.field.elements if proto.field is not None else ():
        template.append(_element(element))
        names.append(element.field_name)
        if element.subscript is not None:
            template.append(EACH)
            subscripts.append(element.subscript.value)
    rule_path = tuple(_rule_step(element) for element in proto.rule.elements) if proto.rule is not None else ""
    sensitive = any(".".join(names[: size + 1]) in hidden for size in range(len(names)))
    rule = Rule(
        contract,
        tuple(template),
        proto.rule_id or "",
        (proto.rule_id or "") if sensitive else (proto.message or ""),
        rule_path,
        sensitive=sensitive,
        for_key=bool(proto.for_key),
    )
    return Violation(rule, violation.field_value, tuple(subscripts))


def _element(element: Any) -> FieldElement:
    # An unset enum reads as its first value, which is a type: what is not there must be asked for.
    types = [int(getattr(element, name)) if element.has_field(name) else 0 for name in _TYPES]
    return FieldElement(element.field_number or 0, element.field_name or "", *types)


_TYPES = ("field_type", "key_type", "value_type")


def _rule_step(element: Any) -> str | FieldElement:
    """A step of a rule path: an element, or its name with its index (``cel[1]``), which only text can carry."""
    if element.subscript is not None:
        return f"{element.field_name}[{element.subscript.value}]"
    return _element(element)
