"""Finds rules that no value can keep, and rules that contradict a normalizer or can never apply.

Only what is certain is reported. Ranges of buf.validate whose lower bound is above the upper one are no mistake: there
they mean "outside of".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import re2
from google.protobuf.message import Message

from protocontract.violations import OptionError, Refusal
from protocontract_compiler import ir
from protocontract_compiler.descriptors import Loaded
from protocontract_compiler.descriptors.options import VALIDATE
from protocontract_compiler.diagnostics import Diagnostics
from protocontract_compiler.passes.pattern_shape import demands

_IGNORE_ALWAYS = 3

_FIELD = f"{VALIDATE}.field"

# What may stand beside a demanded piece of text. A piece that survives beside none of them never does.
_FILLERS = ("x", " x ", "1", ".", "", "x y")

_CANONICAL: dict[str, tuple[frozenset[str], int]] = {
    # The characters of a normalised value, and its least length.
    "money": (frozenset("-.0123456789"), 1),
    "quantity": (frozenset("-.0123456789"), 1),
    "instant": (frozenset("-.0123456789:TZ"), 20),
}


def check(loaded: Loaded, schema: ir.Schema, diagnostics: Diagnostics) -> None:
    """Notes contradictions in the rules of all fields."""
    for message in schema.messages.values():
        descriptor = loaded.pool.FindMessageTypeByName(message.full_name)
        found: dict[str, Any] = {}
        for field in message.fields:
            rules: Any = loaded.options.field_rules(descriptor.fields_by_name[field.name])
            if rules is None:
                continue
            found[field.name] = rules
            at = _At(loaded, diagnostics, descriptor.fields_by_name[field.name])
            for part, steps in _parts(rules):
                if part.ignore == _IGNORE_ALWAYS:
                    continue  # switched off
                _check_rules(part, steps, at, schema, field)
            if field.normalizer is not None:
                _check_normalizer(rules, field, field.normalizer, at)
        _check_oneofs(loaded, message, found, diagnostics)


@dataclass(frozen=True)
class _At:
    """Where a mistake is noted: at a path in a field's rules."""

    loaded: Loaded
    diagnostics: Diagnostics
    descriptor: Any

    def error(self, steps: tuple[str | int, ...], message: str, id_: str = "rule-contradiction") -> None:
        self.diagnostics.error(id_, self.loaded.places.option(self.descriptor, _FIELD, *steps), message)


def _parts(rules: Any, steps: tuple[str, ...] = ()) -> Iterator[tuple[Any, tuple[str, ...]]]:
    """FieldRules of a field and, inside it, of its items, keys and values."""
    yield rules, steps
    for container, names in (("repeated", ("items",)), ("map", ("keys", "values"))):
        if rules.HasField(container):
            inner = getattr(rules, container)
            for name in names:
                if inner.HasField(name):
                    yield from _parts(getattr(inner, name), (*steps, container, name))


def _check_rules(rules: Any, steps: tuple[str, ...], at: _At, schema: ir.Schema, field: ir.Field) -> None:
    word = rules.WhichOneof("type")
    if word is None:
        return
    typed = getattr(rules, word)
    given = _Given(word, typed, (*steps, word))
    _check_lengths(given, at)
    _check_range(given, at)
    if word in ("string", "bytes"):
        _check_pattern(given, at)
        _check_pieces(given, at)
    if word == "enum":
        _check_enum(given, at, schema, field)
    if word == "repeated" and given["unique"]:
        _check_unique(given, at, schema, field)
    _check_values(given, at)


class _Given:
    """The rules of one type that are set, by name."""

    def __init__(self, word: str, rules: Message, steps: tuple[str, ...]) -> None:
        self.word = word
        self.steps = steps
        self._values = {field.name: value for field, value in rules.ListFields() if not field.is_extension}

    def __getitem__(self, name: str) -> Any:
        value = self._values.get(name)
        return _plain(value)

    def name(self, rule: str) -> str:
        """The rule as a contract writes it."""
        value = self[rule]
        shown = f' = "{value}"' if isinstance(value, str) else "" if isinstance(value, list | bytes) else f" = {value}"
        return f"`{self.word}.{rule}{shown}`"


def _plain(value: Any) -> Any:
    """Durations and timestamps as nanoseconds, lists as lists; the rest as it is."""
    if isinstance(value, Message):
        if value.DESCRIPTOR.full_name in ("google.protobuf.Duration", "google.protobuf.Timestamp"):
            return value.seconds * 1_000_000_000 + value.nanos  # type: ignore[attr-defined]
        return value
    if hasattr(value, "__len__") and not isinstance(value, str | bytes):
        return [_plain(item) for item in value]
    return value


def _check_lengths(given: _Given, at: _At) -> None:
    for low, high in (
        ("min_len", "max_len"),
        ("min_bytes", "max_bytes"),
        ("min_items", "max_items"),
        ("min_pairs", "max_pairs"),
    ):
        _above(given, at, low, high)
    # One character is at least one byte; no more than four in UTF-8.
    if given.word == "string":
        for low, high in (
            ("min_len", "max_bytes"),
            ("len", "max_bytes"),
            ("min_len", "len_bytes"),
            ("len", "len_bytes"),
        ):
            _above(given, at, low, high)
        for low, high in (
            ("min_bytes", "max_len"),
            ("min_bytes", "len"),
            ("len_bytes", "max_len"),
            ("len_bytes", "len"),
        ):
            if given[low] is not None and given[high] is not None and given[low] > 4 * given[high]:
                _both(given, at, low, high)
    for exact, low, high in (("len", "min_len", "max_len"), ("len_bytes", "min_bytes", "max_bytes")):
        _above(given, at, low, exact)
        _above(given, at, exact, high)


def _above(given: _Given, at: _At, low: str, high: str) -> None:
    if given[low] is not None and given[high] is not None and given[low] > given[high]:
        at.error(
            (*given.steps, low), f"{given.name(low)} is above {given.name(high)}; expected a value that keeps both"
        )


def _both(given: _Given, at: _At, first: str, second: str) -> None:
    at.error(
        (*given.steps, first),
        f"no value keeps {given.name(first)} and {given.name(second)}; expected rules that meet",
    )


def _check_range(given: _Given, at: _At) -> None:
    """Bounds that meet in a point which one of them excludes leave no value."""
    if given.word not in _RANGED:
        return
    for low, high in (("gt", "lt"), ("gt", "lte"), ("gte", "lt")):
        if given[low] is not None and given[low] == given[high]:
            _both(given, at, low, high)


_RANGED = frozenset({
    "float", "double", "int32", "int64", "uint32", "uint64", "sint32", "sint64", "fixed32", "fixed64", "sfixed32",
    "sfixed64", "duration", "timestamp",
})  # fmt: skip


def _check_pattern(given: _Given, at: _At) -> None:
    pattern = given["pattern"]
    if pattern is None:
        return
    error = pattern_error(pattern)
    if error is not None:
        at.error((*given.steps, "pattern"), f"RE2 refuses the pattern: {error}", "pattern")


def pattern_error(pattern: str) -> str | None:
    """RE2's reason for refusing a pattern, or None."""
    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0] if error.args else "it does not compile"
        text = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        return text[:1].lower() + text[1:]
    return None


def _check_pieces(given: _Given, at: _At) -> None:
    """A prefix, suffix or contained piece must fit the length and may not hold what not_contains forbids."""
    unit: Callable[[Any], int] = len
    most = [given[name] for name in ("max_len", "len") if given[name] is not None]
    for piece in ("prefix", "suffix", "contains"):
        value = given[piece]
        if value is None:
            continue
        if most and unit(value) > min(most):
            _both(given, at, piece, "max_len" if given["max_len"] == min(most) else "len")
        forbidden = given["not_contains"]
        if forbidden and forbidden in value:
            _both(given, at, piece, "not_contains")


def _check_enum(given: _Given, at: _At, schema: ir.Schema, field: ir.Field) -> None:
    enum = next((part.enum for part in (field, field.value) if part is not None and part.enum is not None), None)
    if enum is None or not given["defined_only"]:
        return
    numbers = {value.number for value in schema.enums[enum].values}
    if given["const"] is not None and given["const"] not in numbers:
        _both(given, at, "const", "defined_only")
    for index, number in enumerate(given["in"] or []):
        if number not in numbers:
            at.error(
                (*given.steps, "in", index), f"`enum.in` has {number}, which `enum.defined_only` refuses; expected "
                f"a number of {enum.rpartition('.')[2]}",
            )  # fmt: skip
    if numbers <= set(given["not_in"] or []):
        _both(given, at, "not_in", "defined_only")


def _check_unique(given: _Given, at: _At, schema: ir.Schema, field: ir.Field) -> None:
    """Unique items out of few values are few."""
    least = given["min_items"]
    items: Any = given["items"]
    if least is None:
        return
    values: int | None = 2 if field.type == ir.TYPE_BOOL else None
    if items is not None and (word := items.WhichOneof("type")) is not None:
        inner = _Given(word, getattr(items, word), ())
        if inner["const"] is not None:
            values = 1
        elif inner["in"]:
            values = len(set(inner["in"]))
        elif word == "enum" and inner["defined_only"] and field.enum is not None:
            values = len({value.number for value in schema.enums[field.enum].values})
    if values is not None and least > values:
        at.error(
            (*given.steps, "min_items"),
            f"{given.name('min_items')} is above the number of different items; expected at most {values}",
        )  # fmt: skip


def _check_values(given: _Given, at: _At) -> None:
    """const and in against every other rule of the type that can be judged without its engine."""
    const = given["const"]
    if const is not None:
        for rule in _broken_by(given, const):
            at.error(
                (*given.steps, "const"),
                f"{given.name('const')} breaks {given.name(rule)}; expected a value that keeps both",
            )
    listed = given["in"]
    if listed and const is None:
        broken = {rule: [value for value in listed if rule in _broken_by(given, value)] for rule in _JUDGED}
        refused = [value for value in listed if any(value in values for values in broken.values())]
        if len(refused) == len(listed):
            rule = next(rule for rule in _JUDGED if broken[rule])
            at.error(
                (*given.steps, "in"),
                f"no value of `{given.word}.in` keeps {given.name(rule)}; expected one that does",
            )


_JUDGED = (
    "in", "not_in", "gt", "gte", "lt", "lte", "len", "min_len", "max_len", "len_bytes", "min_bytes", "max_bytes",
    "prefix", "suffix", "contains", "not_contains", "pattern", "finite",
)  # fmt: skip


def _broken_by(given: _Given, value: Any) -> list[str]:
    """The rules out of ``_JUDGED`` that a value breaks."""
    is_range = all(given[name] is None for name in ("gt", "gte")) or all(given[name] is None for name in ("lt", "lte"))
    low = max((given[name] for name in ("gt", "gte") if given[name] is not None), default=None)
    high = min((given[name] for name in ("lt", "lte") if given[name] is not None), default=None)
    inside = is_range or (low is not None and high is not None and low <= high)
    size = len(value) if isinstance(value, str | bytes) else 0
    encoded = len(value.encode("utf-8", "surrogatepass")) if isinstance(value, str) else size
    tests: dict[str, Callable[[Any], bool]] = {
        "in": lambda wanted: not wanted or value in wanted,
        "not_in": lambda wanted: value not in wanted,
        "gt": lambda wanted: not inside or value > wanted,
        "gte": lambda wanted: not inside or value >= wanted,
        "lt": lambda wanted: not inside or value < wanted,
        "lte": lambda wanted: not inside or value <= wanted,
        "len": lambda wanted: size == wanted,
        "min_len": lambda wanted: size >= wanted,
        "max_len": lambda wanted: size <= wanted,
        "len_bytes": lambda wanted: encoded == wanted,
        "min_bytes": lambda wanted: encoded >= wanted,
        "max_bytes": lambda wanted: encoded <= wanted,
        "prefix": lambda wanted: value.startswith(wanted),
        "suffix": lambda wanted: value.endswith(wanted),
        "contains": lambda wanted: wanted in value,
        "not_contains": lambda wanted: wanted not in value,
        "pattern": lambda wanted: not isinstance(value, str) or pattern_error(wanted) is not None
        or re2.search(wanted, value) is not None,
        "finite": lambda wanted: not wanted or not isinstance(value, float) or math.isfinite(value),
    }  # fmt: skip
    return [rule for rule in _JUDGED if given[rule] is not None and not tests[rule](given[rule])]


# ----------------------------------------------------------------------------------------------------------------------
# Normalizers


def _check_normalizer(rules: Any, field: ir.Field, normalizer: ir.Normalizer, at: _At) -> None:
    """String rules against what the normalizer leaves of a text."""
    steps: tuple[str, ...] = ()
    if field.shape is ir.Shape.REPEATED and rules.HasField("repeated"):
        rules, steps = rules.repeated.items, ("repeated", "items")
    elif field.shape is ir.Shape.MAP and rules.HasField("map"):
        rules, steps = rules.map.values, ("map", "values")
    if rules.WhichOneof("type") != "string":
        return
    given = _Given("string", rules.string, (*steps, "string"))
    if normalizer.kind == "text":
        _check_text(given, normalizer, at)
    elif normalizer.kind == "label":
        _check_label(given, normalizer, at)
    elif normalizer.kind in _CANONICAL:
        _check_canonical(given, normalizer, at)


def _check_text(given: _Given, normalizer: ir.Normalizer, at: _At) -> None:
    from protocontract.normalize import text

    try:
        normalise = text.normalizer(**ir.keywords(normalizer.options))
    except (OptionError, TypeError):
        return  # noted by check_normalizers

    def kept(value: str) -> bool:
        result: object = normalise(value)
        return not isinstance(result, Refusal) and str(result) == value

    def survives(piece: str, holds: Callable[[str], bool], before: bool, after: bool) -> bool:
        for left in _FILLERS if before else ("",):
            for right in _FILLERS if after else ("",):
                result: object = normalise(left + piece + right)
                if not isinstance(result, Refusal) and holds(str(result)):
                    return True
        return False

    for index, value in _literal_values(given):
        if not kept(value):
            at.error(
                (*given.steps, *index),
                f"{_culprit(normalizer, value)} never leaves {_rule_of(given, index)}; expected "
                "a value that normalising keeps",
            )  # fmt: skip
    pattern = given["pattern"]
    demand = demands(pattern) if pattern is not None and pattern_error(pattern) is None else None
    pieces: list[tuple[str, str, str]] = [
        (rule, rule, given[rule]) for rule in ("prefix", "suffix", "contains") if given[rule]
    ]
    if demand is not None:
        pieces += [("pattern", "prefix", demand.prefix), ("pattern", "suffix", demand.suffix)]
        pieces += [("pattern", "contains", run) for run in demand.runs]
    for rule, how, piece in pieces:
        holds = _holding(how, piece)
        if piece and not survives(piece, holds, how != "prefix", how != "suffix"):
            at.error((*given.steps, rule), f"{_culprit(normalizer, piece)} removes what {given.name(rule)} demands")
            return


def _holding(how: str, piece: str) -> Callable[[str], bool]:
    if how == "prefix":
        return lambda text: text.startswith(piece)
    if how == "suffix":
        return lambda text: text.endswith(piece)
    return lambda text: piece in text


def _culprit(normalizer: ir.Normalizer, piece: str) -> str:
    """The first step of the normalizer that alone changes the piece, as the contract writes it."""
    from protocontract.normalize import text

    options = ir.keywords(normalizer.options)
    for name, value in options.items():
        if name == "amounts":
            continue
        result: object = text.normalizer(**{name: value})(piece)
        if isinstance(result, Refusal) or str(result) != piece:
            return f"`text.{name}`"
    return "`text`"


def _literal_values(given: _Given) -> Iterator[tuple[tuple[str | int, ...], str]]:
    if given["const"] is not None:
        yield ("const",), given["const"]
    for index, value in enumerate(given["in"] or []):
        yield ("in", index), value


def _rule_of(given: _Given, index: tuple[str | int, ...]) -> str:
    return given.name("const") if index[0] == "const" else f'"{given["in"][int(index[1])]}" of `string.in`'


def _check_label(given: _Given, normalizer: ir.Normalizer, at: _At) -> None:
    labels = ir.keywords(normalizer.options).get("aliases", {})
    if not labels:
        return
    for index, value in _literal_values(given):
        if value not in labels:
            at.error(
                (*given.steps, *index),
                f"`label` never leaves {_rule_of(given, index)}; expected one of its labels",
            )


def _check_canonical(given: _Given, normalizer: ir.Normalizer, at: _At) -> None:
    alphabet, least = _CANONICAL[normalizer.kind]
    word = f"`{normalizer.kind}`"
    for index, value in _literal_values(given):
        if not set(value) <= alphabet or len(value) < least:
            at.error(
                (*given.steps, *index),
                f"{word} never leaves {_rule_of(given, index)}; expected one in its form",
            )
    for rule in ("prefix", "suffix", "contains"):
        if given[rule] and not set(given[rule]) <= alphabet:
            at.error((*given.steps, rule), f"{word} never leaves what {given.name(rule)} demands")
    for rule in ("max_len", "len", "max_bytes", "len_bytes"):
        if given[rule] is not None and given[rule] < least:
            at.error((*given.steps, rule), f"{word} leaves {least} characters or more; expected room for them")
    if normalizer.kind == "instant" and given["len"] is not None and given["len"] not in (20, 24, 27, 30):
        at.error((*given.steps, "len"), f"{word} leaves 20, 24, 27 or 30 characters; expected no other length")
    pattern = given["pattern"]
    if pattern is not None and pattern_error(pattern) is None:
        strange = sorted(set("".join(demands(pattern).runs)) - alphabet)
        if strange:
            at.error((*given.steps, "pattern"), f"{word} never leaves what {given.name('pattern')} demands")


# ----------------------------------------------------------------------------------------------------------------------
# Oneofs


def _check_oneofs(loaded: Loaded, message: ir.Message, found: dict[str, Any], diagnostics: Diagnostics) -> None:
    """A required member of a oneof keeps the others unset: their rules never apply, and they cannot be required."""
    descriptor = loaded.pool.FindMessageTypeByName(message.full_name)
    groups = [oneof.fields for oneof in message.oneofs]
    rules: Any = loaded.options.message_rules(descriptor)
    if rules is not None:
        groups += [tuple(oneof.fields) for oneof in rules.oneof]
    for group in groups:
        members = [name for name in group if name in found]
        required = [name for name in members if found[name].required]
        if not required:
            continue
        for name in members:
            if name == required[0]:
                continue
            at = _At(loaded, diagnostics, descriptor.fields_by_name[name])
            if found[name].required:
                at.error(("required",), f"`{required[0]}` of the same oneof is required too; expected at most one")
            elif found[name].ignore != _IGNORE_ALWAYS:
                at.error(
                    (), f"the rules of `{name}` never apply, as `{required[0]}` of the same oneof is required; "
                    "expected one or the other", "rule-dead",
                )  # fmt: skip
