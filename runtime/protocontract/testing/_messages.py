"""Draws messages: any message of a type, and messages whose fields keep their own rules.

What rules say of several fields together (CEL, relations) is for ``_relations`` and ``_search``.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from google.protobuf import message_factory
from google.protobuf.descriptor import FieldDescriptor as F
from hypothesis import strategies as st

from protocontract._options import (
    Options,
    constants,
    entry_fields,
    is_map,
    is_repeated,
    is_required,
    set_in,
)
from protocontract.testing import _scalars, _texts
from protocontract.testing._relations import driven, relate

_IF_ZERO, _ALWAYS = 1, 3
#: How deep messages in messages are drawn where nothing demands them, and where something does.
DEPTH, _BOTTOM = 3, -6
#: Most elements of a list beyond those that it must have.
_MORE: Final = 3
_WRAPPERS: Final = {
    "DoubleValue", "FloatValue", "Int64Value", "UInt64Value", "Int32Value", "UInt32Value", "BoolValue", "StringValue",
    "BytesValue",
}  # fmt: skip


class Maker:
    """Makes messages of one descriptor pool."""

    def __init__(self, pool: Any) -> None:
        self.options = Options(pool)
        self._values: dict[tuple[str, bool], st.SearchStrategy[Any]] = {}

    # -- messages

    def message(self, draw: Any, descriptor: Any, depth: int = DEPTH, *, valid: bool = True) -> Any:
        """A message of a type."""
        kind: Any = message_factory.GetMessageClass(descriptor)
        made = kind()
        self.fill(draw, made, None, depth, valid=valid)
        return made

    def fill(
        self, draw: Any, message: Any, names: Collection[str] | None, depth: int = DEPTH, *, valid: bool = True
    ) -> None:
        """Draw fields of a message anew: those of these names, or all."""
        descriptor = message.DESCRIPTOR
        if descriptor.full_name.startswith("google.protobuf.") and self._well_known(draw, message, None):
            return
        chosen = self._chosen(draw, descriptor, depth) if valid else None
        for field in descriptor.fields:
            if names is not None and field.name not in names:
                continue
            message.ClearField(field.name)
            if chosen is not None and field.full_name in chosen[1]:
                if field.full_name in chosen[0]:
                    self.put(draw, message, field, depth, must=True)
            elif valid:
                if field.name not in driven(self.options, descriptor):
                    self.put(draw, message, field, depth)
            elif is_required(field) or draw(st.booleans()):
                self._put_any(draw, message, field, depth)
        if valid:
            relate(self, draw, message, depth)

    def _chosen(self, draw: Any, descriptor: Any, depth: int) -> tuple[set[str], set[str]]:
        """Of the fields that exclude each other: those to set, and all of them."""
        chosen: set[str] = set()
        grouped: set[str] = set()
        groups = [
            (list(oneof.fields), self.options.must_choose(oneof))
            for oneof in descriptor.oneofs
            if not (len(oneof.fields) == 1 and oneof.name == f"_{oneof.fields[0].name}")
        ]
        rules = self.options.message_rules(descriptor)
        for each in rules.oneof if rules is not None else ():
            named = [descriptor.fields_by_name[name] for name in each.fields if name in descriptor.fields_by_name]
            groups.append((named, each.required))
        for members, demanded in groups:
            grouped.update(field.full_name for field in members)
            must = [field for field in members if self._is_demanded(field)]
            possible = must or [field for field in members if depth > 0 or field.message_type is None] or members
            if must or demanded:
                chosen.add(draw(st.sampled_from(possible)).full_name)
            elif depth > 0:
                taken = draw(st.sampled_from([None, *possible]))
                if taken is not None:
                    chosen.add(taken.full_name)
        return chosen, grouped

    def _is_demanded(self, field: Any) -> bool:
        rules = self.options.rules(field)
        return is_required(field) or (rules is not None and rules.required and rules.ignore != _ALWAYS)

    # -- fields

    def put(self, draw: Any, message: Any, field: Any, depth: int, *, must: bool = False) -> None:
        """Set a field so that it keeps its rules, or leave it unset where they allow that; ``must``: set it."""
        rules = self.options.rules(field)
        if rules is not None and rules.ignore == _ALWAYS:
            rules = None
        demanded = must or self._is_demanded(field)
        if is_map(field):
            self._put_map(draw, message, field, rules, depth, demanded=demanded)
        elif is_repeated(field):
            least, most = bounds_of_size(rules, "items")
            size = self._size(
                draw, max(least, int(demanded)), most, field, depth, empty=self._may_be_zero(rules, demanded)
            )
            getattr(message, field.name).extend(self.items(draw, field, rules, size, depth))
        elif field.has_presence:
            far = field.message_type is not None and depth <= 0
            if demanded or (not far and draw(st.booleans())):
                self._set(message, field, self.drawn(draw, field, rules, depth))
        elif not (self._may_be_zero(rules, demanded) and draw(st.booleans())):
            value = self.value(field, rules, depth)
            setattr(message, field.name, draw(value.filter(bool) if demanded else value))

    def _may_be_zero(self, rules: Any, demanded: bool) -> bool:
        return not demanded and rules is not None and rules.ignore == _IF_ZERO

    def _size(self, draw: Any, least: int, most: int | None, field: Any, depth: int, *, empty: bool = False) -> int:
        far = field.message_type is not None and depth <= 0
        if far or (empty and draw(st.booleans())):
            return 0 if empty or not far else least
        return int(draw(st.integers(least, least + _MORE if most is None else max(least, min(most, least + _MORE)))))

    def items(self, draw: Any, field: Any, rules: Any, size: int, depth: int) -> list[Any]:
        """Elements of a list."""
        of_items = set_in(rules, "repeated")
        inner = set_in(of_items, "items")
        if field.message_type is not None:
            return [self.drawn(draw, field, inner, depth) for _ in range(size)]
        value = self.value(field, inner, depth, item=True)
        unique = bool(set_in(of_items, "unique"))
        return list(draw(st.lists(value, min_size=size, max_size=size, unique=unique)))

    def _put_map(self, draw: Any, message: Any, field: Any, rules: Any, depth: int, *, demanded: bool) -> None:
        key, value = entry_fields(field)
        of_map = set_in(rules, "map")
        least, most = bounds_of_size(rules, "pairs")
        size = self._size(draw, max(least, int(demanded)), most, value, depth, empty=self._may_be_zero(rules, demanded))
        keys = draw(
            st.lists(
                self.value(key, set_in(of_map, "keys"), depth),
                min_size=min(max(least, int(demanded)), size),
                max_size=size,
                unique=True,
            )
        )
        entries = getattr(message, field.name)
        for each in keys:
            drawn = self.drawn(draw, value, set_in(of_map, "values"), depth, words_of=field)
            if value.message_type is None:
                entries[each] = drawn
            else:
                entries[each].CopyFrom(drawn)

    def _set(self, message: Any, field: Any, value: Any) -> None:
        if field.message_type is None:
            setattr(message, field.name, value)
        else:
            getattr(message, field.name).CopyFrom(value)
            getattr(message, field.name).SetInParent()

    # -- values

    def drawn(self, draw: Any, field: Any, rules: Any, depth: int, words_of: Any = None) -> Any:
        """A value of a field, or of its elements, that keeps ``rules``: a scalar, or a message of its own."""
        if field.message_type is None:
            return draw(self.value(field, rules, depth, words_of=words_of))
        if depth <= _BOTTOM:
            # A message that demands itself within itself has no valid value.
            draw(st.nothing())
        kind: Any = message_factory.GetMessageClass(field.message_type)
        made = kind()
        if not self._well_known(draw, made, rules):
            self.fill(draw, made, None, depth - 1)
        return made

    def value(
        self, field: Any, rules: Any, depth: int, *, item: bool = False, words_of: Any = None
    ) -> st.SearchStrategy[Any]:
        """Values of a scalar field, or of its elements, that keep ``rules``."""
        key = (field.full_name, item)
        if key not in self._values:
            self._values[key] = self._scalar(field, rules, self.options.words(words_of or field))
        return self._values[key]

    def _scalar(self, field: Any, rules: Any, words: Any) -> st.SearchStrategy[Any]:
        member = rules.WhichOneof("type") if rules is not None else None
        own = getattr(rules, member) if member is not None else None
        hints = [*constants(rules), *constants(self.options.message_rules(field.containing_type))]
        match field.type:
            case F.TYPE_STRING:
                found = _texts.normal(words, own)
                if found is None:
                    found = _texts.texts(own)
                    known = [
                        each for each in hints if isinstance(each, str) and (own is None or _texts.keeps(own, each))
                    ]
                    if known and (own is None or _texts.formats(own) is None) and set_in(own, "const") is None:
                        found = st.one_of(found, st.sampled_from(known))
                return found
            case F.TYPE_BYTES:
                return _texts.binaries(own)
            case F.TYPE_BOOL:
                return _scalars.bools(own)
            case F.TYPE_ENUM:
                return _scalars.enums(field, own)
            case F.TYPE_FLOAT | F.TYPE_DOUBLE:
                return _scalars.floats(field.type, own)
        return self._integers(field, own, words, [each for each in hints if type(each) is int])

    def _integers(self, field: Any, own: Any, words: Any, hints: list[int]) -> st.SearchStrategy[int]:
        low: int | None = None
        high: int | None = None
        kind = words.WhichOneof("normalizer") if words is not None else ""
        if words is None:
            pass
        elif kind == "label" and words.label.num_classes:
            low, high = 0, words.label.num_classes - 1
        elif kind == "instant":
            seconds = _texts.instant_bounds(words.instant)
            unit = {1: 1, 2: 10**3, 3: 10**6, 4: 10**9}.get(words.instant.epoch_unit, 1)
            low, high = seconds[0] * unit, seconds[1] * unit
        found = _scalars.integers(field.type, own, low, high)
        if hints and own is None and not kind:
            least, most = _scalars.integer_range(field.type)
            beside = {each + step for each in hints for step in (-1, 0, 1) if least <= each + step <= most}
            found = st.one_of(found, st.sampled_from(sorted(beside))) if beside else found
        return found

    def _well_known(self, draw: Any, message: Any, rules: Any) -> bool:
        """Fill a message of protobuf's own that has rules or a meaning of its own; False for any other."""
        package, _, name = message.DESCRIPTOR.full_name.rpartition(".")
        if package != "google.protobuf":
            return False
        member = rules.WhichOneof("type") if rules is not None else None
        own = getattr(rules, member) if member is not None else None
        match name:
            case "Timestamp":
                _scalars.put_nanos(message, draw(_scalars.moments(own, now)))
            case "Duration":
                _scalars.put_nanos(message, draw(_scalars.spans_of_time(own)))
            case "Any":
                urls = list(getattr(own, "in")) if own is not None else []
                urls = urls or [
                    "type.googleapis.com/google.protobuf.Empty",
                    "type.googleapis.com/google.protobuf.Duration",
                ]
                banned = list(own.not_in) if own is not None else []
                possible = [each for each in urls if each not in banned]
                message.type_url = draw(st.sampled_from(possible) if possible else st.just("example.com/x.Y"))
            case "FieldMask":
                message.paths.extend(draw(_masks(own)))
            case _ if name in _WRAPPERS:
                field = message.DESCRIPTOR.fields_by_name["value"]
                message.value = draw(self._scalar(field, rules, None))
            case _:
                return False
        return True

    # -- anything

    def _put_any(self, draw: Any, message: Any, field: Any, depth: int) -> None:
        if is_map(field):
            key, value = entry_fields(field)
            for each in draw(st.lists(any_scalar(key), max_size=_MORE, unique=True)):
                entry = getattr(message, field.name)
                if value.message_type is None:
                    entry[each] = draw(any_scalar(value))
                else:
                    entry[each].CopyFrom(self._any_message(draw, value, depth))
        elif is_repeated(field):
            if field.message_type is None:
                getattr(message, field.name).extend(draw(st.lists(any_scalar(field), max_size=_MORE)))
            elif depth > 0:
                for _ in range(draw(st.integers(0, _MORE))):
                    getattr(message, field.name).append(self._any_message(draw, field, depth))
        elif field.message_type is None:
            setattr(message, field.name, draw(any_scalar(field)))
        elif depth > 0 or is_required(field):
            self._set(message, field, self._any_message(draw, field, depth))

    def _any_message(self, draw: Any, field: Any, depth: int) -> Any:
        return self.message(draw, field.message_type, depth - 1, valid=False)


def bounds_of_size(rules: Any, what: str) -> tuple[int, int | None]:
    """The least and the largest number of ``items`` of a list or ``pairs`` of a map."""
    own = set_in(rules, "repeated" if what == "items" else "map")
    return set_in(own, f"min_{what}") or 0, set_in(own, f"max_{what}")


def any_scalar(field: Any) -> st.SearchStrategy[Any]:
    """Any value that a scalar field can hold."""
    match field.type:
        case F.TYPE_STRING:
            return st.text(st.characters(codec="utf-8"), max_size=12)
        case F.TYPE_BYTES:
            return st.binary(max_size=12)
        case F.TYPE_BOOL:
            return st.booleans()
        case F.TYPE_FLOAT | F.TYPE_DOUBLE:
            return st.floats(width=32 if field.type == F.TYPE_FLOAT else 64)
        case F.TYPE_ENUM:
            numbers = [value.number for value in field.enum_type.values]
            declared = st.sampled_from(numbers)
            return declared if field.enum_type.is_closed else st.one_of(declared, st.integers(-(2**31), 2**31 - 1))
    return st.integers(*_scalars.integer_range(field.type))


def _masks(own: Any) -> st.SearchStrategy[list[str]]:
    fixed = set_in(own, "const")
    if fixed is not None:
        return st.just(list(fixed.paths))
    allowed = list(getattr(own, "in")) if own is not None else []
    banned = list(own.not_in) if own is not None else []
    paths = [each for each in allowed or ["name", "user.name", "id"] if each not in banned]
    return st.lists(st.sampled_from(paths), max_size=_MORE) if paths else st.just([])


def now() -> int:
    """The clock that rules of contracts read, so that a test that stops it stops it here, too."""
    from protocontract import _codegen_v1

    return _codegen_v1.now()
