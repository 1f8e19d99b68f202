"""Normalizers and relations in generated code: the fields that they stand on, and what is done with their results."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Final, TypeAlias

from google.protobuf.message import Message

from protocontract.violations import (
    EACH,
    Change,
    ErrorClass,
    FieldElement,
    PathTemplate,
    Refusal,
    Rule,
    SeverityName,
    Subscript,
    Violation,
    describe,
)

#: How a function reached the message that it works on: the outer link, the path from there, its subscripts, and the
#: full name of the message that it starts from. None for the record itself.
Link: TypeAlias = "tuple[Link, PathTemplate, tuple[Subscript, ...], str] | None"


class Site:
    """A field with a normalizer or relation: what its violations and changes have in common. Built at import."""

    __slots__ = (
        "_rules",
        "contexts",
        "contract",
        "element",
        "error_class",
        "error_codes",
        "needs",
        "sensitive",
        "severities",
        "spoils",
        "word",
    )

    def __init__(
        self,
        contract: str,
        element: FieldElement,
        word: str,
        *,
        severities: dict[str, SeverityName] | None = None,
        error_class: ErrorClass | None = None,
        error_codes: dict[str, int] | None = None,
        contexts: dict[str, tuple[str, ...]] | None = None,
        sensitive: bool = False,
        needs: tuple[str, ...] = (),
        spoils: tuple[str, ...] = (),
    ) -> None:
        self.contract: Final = contract
        self.element: Final = element
        #: The word of the vocabulary: ``money``, ``spans``. It is the rule id of a change.
        self.word: Final = word
        self.severities: Final = severities or {}
        self.error_class: Final = error_class
        self.error_codes: Final = error_codes or {}
        self.contexts: Final = contexts or {}
        self.sensitive: Final = sensitive
        self.needs: Final = needs
        self.spoils: Final = spoils
        self._rules: dict[tuple[str, bool], Rule] = {}

    def rule(self, rule_id: str, *, each: bool, severity: SeverityName | None = None) -> Rule:
        """The rule that a refusal stands for; ``each``: of one element of the field."""
        key = (rule_id, each)
        found = self._rules.get(key)
        if found is None:
            found = self._rules[key] = Rule(
                self.contract,
                (self.element, EACH) if each else (self.element,),
                rule_id,
                "",
                severity=self.severities.get(rule_id, severity or "ERROR"),
                error_class=self.error_class or _DEFAULT_CLASSES.get(rule_id.partition(".")[0], ErrorClass()),
                error_code=self.error_codes.get(rule_id),
                sensitive=self.sensitive,
                needs=self.needs,
                spoils=self.spoils,
                contexts=self.contexts.get(rule_id, ()),
            )
        return found


#: Who can mend a broken relation or normalizer where the contract does not say: by the word.
_DEFAULT_CLASSES: Final = {
    "tensor": ErrorClass("MODEL", "CODE"),
    "sequence": ErrorClass("DATA", "CODE"),
    "graph": ErrorClass("DATA", "CODE"),
    "spans": ErrorClass("DATA", "IMMEDIATE"),
}


def refuse(
    found: list[Violation] | None,
    site: Site,
    refusal: Refusal,
    value: object,
    at: Link,
    subscript: Subscript | None = None,
    severity: SeverityName | None = None,
) -> list[Violation]:
    """``found`` with the violation that a refusal of a normalizer or relation means at this place."""
    rule = site.rule(refusal.rule_id, each=subscript is not None, severity=severity)
    subscripts = () if subscript is None else (subscript,)
    violation = Violation(rule, value, subscripts, refusal.message, _prefix(at))
    if found is None:
        return [violation]
    found.append(violation)
    return found


def refuse_all(
    found: list[Violation] | None, site: Site, refusals: Sequence[Refusal] | None, values: Any, at: Link
) -> list[Violation] | None:
    """``found`` with the violations of a relation. A refusal with an index is one of that element of the field."""
    for refusal in refusals or ():
        value = None if refusal.index is None or values is None else values[refusal.index]
        found = refuse(found, site, refusal, value, at, refusal.index)
    return found


def extend(found: list[Violation] | None, more: list[Violation] | None) -> list[Violation] | None:
    """Two lists of violations as one; None where both are."""
    if found is None or more is None:
        return found or more
    found.extend(more)
    return found


def change(
    changes: list[Change], site: Site, before: object, after: object, at: Link, subscript: Subscript | None = None
) -> None:
    """Notes that a normalizer replaced a value."""
    _note(changes, site, at, subscript, "", before, after)


def _note(
    changes: list[Change], site: Site, at: Link, subscript: Subscript | None, below: str, before: object, after: object
) -> None:
    """A change at a site, or at the path ``below`` it. Where it is sensitive, so are the keys of maps."""
    rule = site.rule(site.word, each=subscript is not None)
    place = Violation(rule, None, (subscript,) if subscript is not None else (), None, _prefix(at))
    if place.sensitive:
        changes.append(Change(place.redacted_path + below, site.word, None, None))
    else:
        changes.append(Change(place.field_path + below, site.word, before, after))


def _prefix(at: Link) -> tuple[tuple[PathTemplate, tuple[Subscript, ...], str], ...]:
    prefix: list[tuple[PathTemplate, tuple[Subscript, ...], str]] = []
    while at is not None:
        outer, path, subscripts, contract = at
        prefix.append((path, subscripts, contract))
        at = outer
    prefix.reverse()
    return tuple(prefix)


# ----------------------------------------------------------------------------------------------------------------------
# Results that go into other fields than the one that was read


def warn_all(
    found: list[Violation] | None, site: Site, refusals: Sequence[Refusal], value: object, at: Link,
    subscript: Subscript | None = None,
) -> list[Violation] | None:  # fmt: skip
    """``found`` with the amounts of a text that cannot be read and stay as they are: warnings, unless declared errors.

    The rule is the text's own, ``text.amount``; why the amount could not be read is in the message.
    """
    for refusal in refusals:
        found = refuse(found, site, Refusal("text.amount", refusal.message), value, at, subscript, "WARNING")
    return found


def move_spans(
    found: list[Violation] | None,
    changes: list[Change],
    site: Site,
    at: Link,
    items: Any,
    remapper: Any,
    before: str,
    edit_map: Any,
    fields: tuple[str, str, str | None],
) -> list[Violation] | None:
    """Moves the spans in ``items`` through the edits of the text ``before`` that they point into.

    ``fields`` names the items' start, end and surface. A span that is wrong, or has no exact image, is refused and all
    spans stay as they are: offsets of two texts in one list would be worse than none.
    """
    start, end, surface = fields
    starts = [getattr(item, start) for item in items]
    ends = [getattr(item, end) for item in items]
    surfaces = [getattr(item, surface) for item in items] if surface is not None else None
    moved = remapper.with_surfaces(before, edit_map, starts, ends, surfaces)
    if isinstance(moved, list):
        return refuse_all(found, site, moved, items, at)
    for index, item in enumerate(items):
        for name, column in zip(fields, moved, strict=True):
            if name is None or getattr(item, name) == column[index]:
                continue
            before_value = getattr(item, name)
            setattr(item, name, column[index])
            _note(changes, site, at, index, f".{name}", before_value, column[index])
    return found


def set_timestamp(changes: list[Change], site: Site, message: Message, name: str, canonical: str, at: Link) -> None:
    """Writes a moment (RFC 3339 in UTC) into the Timestamp field ``name``; ``site`` is that field's."""
    from protocontract.normalize.instant import seconds_nanos, text

    seconds, nanos = seconds_nanos(canonical)
    target = getattr(message, name)
    if message.HasField(name) and (target.seconds, target.nanos) == (seconds, nanos):
        return
    try:
        before = text(target.seconds, target.nanos) if message.HasField(name) else None
    except ValueError:  # what stood there was no moment
        before = None
    target.seconds, target.nanos = seconds, nanos
    change(changes, site, before, canonical, at)


#: Bounds of protobuf's integer types, by FieldDescriptorProto.Type.
_BOUNDS: Final[Mapping[int, tuple[int, int]]] = {
    **dict.fromkeys((3, 16, 18), (-(1 << 63), (1 << 63) - 1)),
    **dict.fromkeys((5, 15, 17), (-(1 << 31), (1 << 31) - 1)),
    **dict.fromkeys((4, 6), (0, (1 << 64) - 1)),
    **dict.fromkeys((7, 13), (0, (1 << 32) - 1)),
}


_TYPE_FLOAT: Final = 2
_FLOAT: Final = struct.Struct("<f")
_BEYOND: Final = "a number that the field cannot hold; expected one of its type"


def quantity_as(number: Decimal | int, field_type: int) -> Any:
    """A quantity in the type of the field that receives it (FieldDescriptorProto.Type): exactly, or a Refusal.

    A double or float takes the nearest number that it has, as writing the decimal into the field would; a number beyond
    its largest is refused.
    """
    if field_type == 9:
        return f"{number:f}" if isinstance(number, Decimal) else str(number)
    bounds = _BOUNDS.get(field_type)
    if bounds is None:
        nearest = float(number)
        if field_type == _TYPE_FLOAT and math.isfinite(nearest):
            nearest = _single(nearest)
        return nearest if math.isfinite(nearest) else Refusal("quantity.range", _BEYOND)
    if number != int(number):
        return Refusal(
            "quantity.scale", f"a fraction for a whole number of the unit; expected none, got {describe(number)}"
        )
    if not bounds[0] <= number <= bounds[1]:
        return Refusal("quantity.range", _BEYOND)
    return int(number)


def _single(number: float) -> float:
    """The nearest number of single precision; an infinity beyond the largest."""
    try:
        return float(_FLOAT.unpack(_FLOAT.pack(number))[0])
    except OverflowError:
        return math.inf
