"""The rules of one field in words: ``a UUID``, ``1 to 512 characters``, ``an amount in CNY or USD``.

What is said of a rule is decided here; how it is said, in which language, is a ``Tongue``'s.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from protocontract_compiler import ir
from protocontract_compiler.passes.rule_text import Plain
from protocontract_compiler.passes.tongues import PHRASES, Tongue

Rules = Mapping[str, Any]

_MANY = 6


def rules_words(rules: Rules, values: Mapping[int, str], tongue: Tongue = PHRASES) -> list[str]:
    """Phrases for a FieldRules message, as plain values. ``values`` names the numbers of the field's enum."""
    return _Words(tongue).of_rules(rules, values)


def normalizer_words(normalizer: ir.Normalizer, tongue: Tongue = PHRASES) -> list[str]:
    """Phrases for a normalizer: what its result is."""
    return _Words(tongue).of_normalizer(normalizer)


def relation_words(relation: ir.Relation, tongue: Tongue = PHRASES) -> list[str]:
    """Phrases for a relation between fields."""
    return _Words(tongue).of_relation(relation)


class _Words:
    def __init__(self, tongue: Tongue) -> None:
        self._tongue = tongue
        self._say = tongue.say
        self._either = tongue.either

    def of_rules(self, rules: Rules, values: Mapping[int, str]) -> list[str]:
        found: list[str] = []
        for member, part in rules.items():
            if not isinstance(part, Mapping):
                continue
            match member:
                case "string" | "bytes":
                    found += self._text(part, "character" if member == "string" else "byte")
                case "enum":
                    found += self._enum(part, values)
                case "repeated":
                    found += self._repeated(part, values)
                case "map":
                    found += self._map(part, values)
                case "timestamp":
                    found += self._moment(part)
                case "duration":
                    found += self._duration(part)
                case "any":
                    found += self._choice(part, self._quoted, self._quoted)
                case "field_mask":
                    found += self._mask(part)
                case "bool":
                    found += [self._say("choice", str(part["const"]).lower())] if "const" in part else []
                case _:
                    found += self._bounds(part)
        return found

    def of_normalizer(self, normalizer: ir.Normalizer) -> list[str]:
        options: Mapping[str, Any] = dict(normalizer.options)
        say = self._say
        match normalizer.kind:
            case "money":
                allowed = options.get("allowed") or ()
                return [say("money_in", self._either(allowed)) if allowed else say("money")]
            case "instant":
                found = [say("moment")]
                for option, key in (("zone", "zone"), ("epoch_unit", "epoch"), ("min", "not_before"),
                                    ("max", "not_after")):  # fmt: skip
                    if options.get(option):
                        found.append(say(key, options[option]))
                return found
            case "quantity":
                allowed = options.get("allowed") or ()
                unit = options.get("unit", say("its_unit"))
                return [say("quantity_given", unit, self._either(allowed)) if allowed else say("quantity_in", unit)]
            case "label":
                classes = options.get("num_classes")
                if not classes:
                    return []
                ignored = options.get("ignore_index")
                last = int(classes) - 1
                return [say("class", last) if ignored is None else say("class_or", last, ignored)]
            case "text":
                rejects = self._tongue.rejects
                rejected = [rejects.get(str(name).lower(), str(name)) for name in options.get("reject") or ()]
                return [say("text_without", self._either(rejected))] if rejected else []
            case "scalar":
                return [say("scalar_text", options["type"])] if "type" in options else []

    def of_relation(self, relation: ir.Relation) -> list[str]:
        options: Mapping[str, Any] = dict(relation.options)
        say = self._say
        match relation.kind:
            case "spans":
                how = "spans_nested" if options.get("allow_nesting") else "spans_apart"
                if options.get("allow_overlap"):
                    how = "spans"
                return [say(how, self._code(options["text"]) if "text" in options else say("a_text"))]
            case "sequence":
                return self._sequence(options)
            case "graph":
                return [say(key) for key in ("acyclic", "closed") if options.get(key)]
            case "tensor":
                dims = ", ".join(str(dim) for dim in options.get("dims") or ())
                found = [say("tensor", options.get("dtype", ""), dims)]
                found += self._bounds(
                    {name: options[key] for name, key in (("gte", "min"), ("lte", "max")) if key in options}
                )
                if options.get("finite"):
                    found.append(say("finite"))
                norm = _pairs(options.get("l2_norm"))
                if norm:
                    found.append(say("norm", _number(norm.get("value", 0)), _number(norm.get("tolerance", 0))))
                return found

    def _text(self, rules: Rules, unit: str) -> list[str]:
        quoted = self._hex if unit == "byte" else self._quoted
        found = [self._say("format", words) for name, words in self._tongue.formats.items() if rules.get(name)]
        if rules.get("well_known_regex"):
            found.append(self._say("header_name" if "NAME" in str(rules["well_known_regex"]) else "header_value"))
        for exact, low, high, noun in (
            ("len", "min_len", "max_len", unit),
            ("len_bytes", "min_bytes", "max_bytes", "byte"),
        ):
            found += self._size(rules.get(exact), rules.get(low), rules.get(high), noun)
        if "pattern" in rules:
            found.append(self._say("matching", self._code(rules["pattern"])))
        for name in ("prefix", "suffix", "contains", "not_contains"):
            if name in rules:
                found.append(self._say(name, quoted(rules[name])))
        if unit == "byte":
            return found + self._choice(rules, self._hex, self._hex)
        return found + self._choice(rules, self._code, self._quoted)

    def _choice(self, rules: Rules, show: Callable[[Any], str], constant: Callable[[Any], str]) -> list[str]:
        found: list[str] = []
        if "const" in rules:
            found.append(self._say("exactly", constant(rules["const"])))
        if rules.get("in"):
            found.append(self._one_of([show(value) for value in rules["in"]]))
        if rules.get("not_in"):
            found.append(self._say("not_any", self._either([show(value) for value in rules["not_in"]][:_MANY])))
        return found

    def _enum(self, rules: Rules, values: Mapping[int, str]) -> list[str]:
        def name(number: Any) -> str:
            return self._code(values.get(number, str(number)))

        if "const" in rules:
            return [self._say("exactly", name(rules["const"]))]
        if rules.get("in"):
            return [self._one_of([name(number) for number in rules["in"]])]
        barred = set(rules.get("not_in") or ())
        if rules.get("defined_only"):
            return [self._one_of([self._code(words) for number, words in values.items() if number not in barred])]
        return [self._say("not_any", self._either([name(number) for number in sorted(barred)]))] if barred else []

    def _repeated(self, rules: Rules, values: Mapping[int, str]) -> list[str]:
        found = self._size(None, rules.get("min_items"), rules.get("max_items"), "item")
        if rules.get("unique"):
            found.append(self._say("unique"))
        return found + self._each("each", self.of_rules(rules.get("items") or {}, values))

    def _map(self, rules: Rules, values: Mapping[int, str]) -> list[str]:
        found = self._size(None, rules.get("min_pairs"), rules.get("max_pairs"), "entry")
        found += self._each("each_key", self.of_rules(rules.get("keys") or {}, {}))
        return found + self._each("each_value", self.of_rules(rules.get("values") or {}, values))

    def _each(self, key: str, words: list[str]) -> list[str]:
        return [self._say(key, self._tongue.joined(words))] if words else []

    def _moment(self, rules: Rules) -> list[str]:
        found = self._between(rules, ("after", "not_before", "before", "not_after"), _moment, _nanos)
        if "const" in rules:
            found.append(self._say("exactly", _moment(rules["const"])))
        if rules.get("lt_now"):
            found.append(self._say("past"))
        if rules.get("gt_now"):
            found.append(self._say("future"))
        if "within" in rules:
            found.append(self._say("within", _seconds(rules["within"])))
        return found

    def _duration(self, rules: Rules) -> list[str]:
        found = self._between(rules, ("above", "or_more", "below", "or_less"), _seconds, _nanos)
        return found + self._choice(rules, _seconds, _seconds)

    def _mask(self, rules: Rules) -> list[str]:
        found: list[str] = []
        if "const" in rules:
            found.append(self._say("mask_const", self._either(rules["const"].get("paths", ()), "and")))
        if rules.get("in"):
            found.append(self._say("mask_in", self._either(rules["in"])))
        if rules.get("not_in"):
            found.append(self._say("mask_not_in", self._either(rules["not_in"])))
        return found

    def _bounds(self, rules: Rules) -> list[str]:
        """Phrases for numbers: ``0 to 1``, ``above 0``, ``-90 or more``."""
        found = self._between(rules, ("above", "or_more", "below", "or_less"), _number, _order)
        if rules.get("finite"):
            found.append(self._say("finite"))
        return found + self._choice(rules, _number, _number)

    def _between(
        self,
        rules: Rules,
        keys: tuple[str, str, str, str],
        show: Callable[[Any], str],
        order: Callable[[Any], float],
    ) -> list[str]:
        """Phrases for gt, gte, lt and lte. Where the lower bound is above the upper one, a value is outside of both."""
        said = [
            self._say(key, show(rules[name]))
            for name, key in zip(("gt", "gte", "lt", "lte"), keys, strict=True)
            if name in rules
        ]
        low = rules.get("gte", rules.get("gt"))
        high = rules.get("lte", rules.get("lt"))
        if low is None or high is None:
            return said
        if order(low) > order(high):
            return [self._say("outside", *said)]
        if "gte" in rules and "lte" in rules and keys[1] == "or_more":
            return [self._say("range", show(low), show(high))]
        return said

    def _sequence(self, options: Rules) -> list[str]:
        found: list[str] = []
        first, step = options.get("first"), options.get("step")
        if step is not None:
            start = int(first or 0)
            found.append(self._say("steps", ", ".join(str(start + place * int(step)) for place in range(3))))
        elif first is not None:
            found.append(self._say("first", first))
        if options.get("strictly_increasing"):
            found.append(self._say("increasing"))
        if options.get("same_length_as"):
            found.append(self._say("as_long", self._code(options["same_length_as"])))
        return found

    def _size(self, exact: Any, low: Any, high: Any, noun: str) -> list[str]:
        def counted(number: Any) -> str:
            return self._tongue.counted(number, noun)

        if exact is not None or (low is not None and low == high):
            return [self._say("exact_size", counted(low if exact is None else exact))]
        if low is not None and high is not None:
            return [self._say("size_range", low, counted(high))]
        if low is not None:
            return [self._say("size_least", counted(low))]
        return [self._say("size_most", counted(high))] if high is not None else []

    def _one_of(self, words: list[str]) -> str:
        if len(words) == 1:
            return self._say("exactly", words[0])
        if len(words) > _MANY:
            return self._say("many", len(words), self._tongue.between.join(words[: _MANY - 1]))
        return self._say("choice", self._either(words))

    def _quoted(self, value: Any) -> str:
        return self._code(f'"{value}"') if isinstance(value, str) else _number(value)

    def _code(self, value: Any) -> str:
        return self._tongue.code(str(value))

    def _hex(self, value: Any) -> str:
        """Bytes, of which the canonical text has the hexadecimal digits."""
        return self._code(f"0x{value}") if value != "" else self._say("no_bytes")


def _number(value: Any) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)


def _order(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _nanos(value: Any) -> float:
    """A Timestamp's or Duration's nanoseconds, as an order among them."""
    return int(value.get("seconds", 0)) * 10**9 + int(value.get("nanos", 0)) if isinstance(value, Mapping) else 0


def _seconds(value: Any) -> str:
    """A Duration as ``300s``."""
    return f"{_number(_nanos(value) / 10**9)}s"


def _moment(value: Plain) -> str:
    if not isinstance(value, Mapping):
        return str(value)
    seconds = value.get("seconds", 0)
    try:
        moment = datetime.fromtimestamp(int(seconds) if isinstance(seconds, int) else 0, UTC)
    except (OverflowError, ValueError, OSError):
        return f"{seconds}s"
    return moment.strftime("%Y-%m-%d" if not (moment.hour or moment.minute or moment.second) else "%Y-%m-%dT%H:%M:%SZ")


def _pairs(value: Any) -> Mapping[str, Any]:
    """An option message as the IR holds it: pairs of name and value."""
    if isinstance(value, Mapping):
        return value
    return dict(value) if value else {}
