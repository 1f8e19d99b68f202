"""Partial validation: which violations count when only some fields, rules or one context are asked for.

All rules run, and what does not count is left out. A rule that has no result on the message is an error only where it
would have counted.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from google.protobuf.message import Message

from protocontract._scope import NoResult, scope
from protocontract.violations import Violation

if TYPE_CHECKING:
    from google.protobuf.field_mask_pb2 import FieldMask

    from protocontract.contract import Contract, Validate

M = TypeVar("M", bound=Message)

#: Field paths: a FieldMask, or texts such as ``user.name``.
Fields: TypeAlias = "FieldMask | Iterable[str]"
#: Rules: their ids, or a test of the violation.
Rules: TypeAlias = Collection[str] | Callable[[Violation], bool]

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_Path: TypeAlias = tuple[str, ...]


def partially(
    contract: Contract[Any],
    validate: Validate | None,
    *,
    fields: Fields | None = None,
    rules: Rules | None = None,
    context: str | None = None,
    now: datetime | int | None = None,
) -> Validate | None:
    """``validate``, narrowed to what is asked for.

    Raises ValueError for a path that the message does not have, a context that no rule names, and a datetime without a
    zone.
    """
    counts = _Selection(contract, fields, rules, context).counts
    moment = None if now is None else nanoseconds(now)
    if validate is None:
        return None

    def narrowed(message: Any) -> list[Violation] | None:
        with scope(moment):
            found = validate(message)
        kept: list[Violation] = []
        for violation in found or ():
            if counts(violation):
                if isinstance(violation._value, NoResult):
                    raise violation._value.error
                kept.append(violation)
        return kept or None

    return narrowed


def nanoseconds(now: datetime | int) -> int:
    """A moment in nanoseconds since the epoch. Raises ValueError for a datetime without a zone."""
    if isinstance(now, int):
        return now
    if now.utcoffset() is None:
        raise ValueError("now has no zone; expected a datetime with one, or nanoseconds since the epoch")
    since = now - _EPOCH
    return ((since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds) * 1_000


class _Selection:
    """Which violations count."""

    def __init__(
        self, contract: Contract[Any], fields: Fields | None, rules: Rules | None, context: str | None
    ) -> None:
        if context is not None and context not in contract.contexts:
            known = ", ".join(sorted(contract.contexts)) or "none, as no rule names any"
            raise ValueError(f"{context!r} is no context of {contract.full_name}; expected {known}")
        self._context = context
        self._paths = None if fields is None else _paths(contract, fields)
        self._rules = {rules} if isinstance(rules, str) else rules

    def counts(self, violation: Violation) -> bool:
        contexts = violation.rule.contexts
        if self._context is not None and contexts and self._context not in contexts:
            return False
        unknown = isinstance(violation._value, NoResult) and violation._value.anywhere
        if self._paths is not None and not self._is_inside(violation, self._paths, unknown):
            return False
        if self._rules is None or unknown:
            return True
        if callable(self._rules):
            # Where there is no result, there is no value either.
            shown = violation if not isinstance(violation._value, NoResult) else violation.without_value()
            return bool(self._rules(shown))
        return (violation.rule_id or violation.rule.rule_text) in self._rules

    @staticmethod
    def _is_inside(violation: Violation, paths: tuple[_Path, ...], unknown: bool) -> bool:
        """Whether the violation's field, or else all that its rule reads, lies at or below one of the paths."""
        elements = [element for element, _ in violation.elements()]
        place = tuple(element.name for element in elements)
        if unknown:
            # Some rule at or below the place failed, and nobody knows which.
            return any(path[: len(place)] == place or place[: len(path)] == path for path in paths)

        def inside(wanted: _Path) -> bool:
            return any(wanted[: len(path)] == path for path in paths)

        reads = violation.rule.reads
        if inside(place):
            return all(inside((*place[:-1], need)) for need in violation.rule.needs)
        # The path of a oneof's violation ends in the oneof, which holds no value.
        message = place[:-1] if elements and not elements[-1].number else place
        return reads is not None and all(inside((*message, name)) for name in reads)


def _paths(contract: Contract[Any], fields: Fields) -> tuple[_Path, ...]:
    if isinstance(fields, Message):
        fields = list(getattr(fields, "paths"))  # noqa: B009  # FieldMask, which nobody needs to import for this
    listed = [fields] if isinstance(fields, str) else list(fields)
    return tuple(() if path == "*" else _path(contract, path) for path in listed)


def _path(contract: Contract[Any], path: str) -> _Path:
    descriptor: Any = contract.message_type.DESCRIPTOR
    names = tuple(path.split("."))
    for name in names:
        field = descriptor.fields_by_name.get(name) if descriptor is not None else None
        if field is None:
            raise ValueError(f"`{path}` is no field of {contract.full_name}")
        descriptor = field.message_type
        if descriptor is not None and descriptor.GetOptions().map_entry:
            descriptor = descriptor.fields_by_name["value"].message_type
    return names


__all__ = ["Fields", "Rules", "nanoseconds", "partially"]
