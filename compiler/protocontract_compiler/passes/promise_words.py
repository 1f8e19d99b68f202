"""The rules of one field in English: ``a UUID``, ``1 to 512 characters``, ``an amount in CNY or USD``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from protocontract_compiler import ir
from protocontract_compiler.passes.rule_text import Plain

Rules = Mapping[str, Any]

_FORMATS = {
    "uuid": "a UUID", "tuuid": "a UUID without hyphens", "ulid": "a ULID", "email": "an email address",
    "hostname": "a host name", "ip": "an IP address", "ipv4": "an IPv4 address", "ipv6": "an IPv6 address",
    "uri": "a URI", "uri_ref": "a URI reference", "address": "a host name or IP address",
    "ip_with_prefixlen": "an IP address with prefix length", "ip_prefix": "an IP prefix",
    "ipv4_with_prefixlen": "an IPv4 address with prefix length",
    "ipv6_with_prefixlen": "an IPv6 address with prefix length",
    "ipv4_prefix": "an IPv4 prefix", "ipv6_prefix": "an IPv6 prefix", "host_and_port": "a host and port",
    "protobuf_fqn": "a protobuf name", "protobuf_dot_fqn": "a protobuf name with leading dot",
}  # fmt: skip
_REJECTS = {
    "nul": "NUL", "control": "control characters", "replacement": "replacement characters",
    "noncharacter": "noncharacters", "bidi_control": "bidi controls", "private_use": "private-use characters",
    "tag": "tag characters", "mojibake": "mojibake",
}  # fmt: skip
_MANY = 6


def rules_words(rules: Rules, values: Mapping[int, str]) -> list[str]:
    """Phrases for a FieldRules message, as plain values. ``values`` names the numbers of the field's enum."""
    found: list[str] = []
    for member, part in rules.items():
        if not isinstance(part, Mapping):
            continue
        match member:
            case "string" | "bytes":
                found += _text_words(part, "character" if member == "string" else "byte")
            case "enum":
                found += _enum_words(part, values)
            case "repeated":
                found += _repeated_words(part, values)
            case "map":
                found += _map_words(part, values)
            case "timestamp":
                found += _moment_words(part)
            case "duration":
                found += _duration_words(part)
            case "any":
                found += _choice_words(part, _quoted, _quoted)
            case "field_mask":
                found += _mask_words(part)
            case "bool":
                found += [str(part["const"]).lower()] if "const" in part else []
            case _:
                found += _bounds(part)
    return found


def normalizer_words(normalizer: ir.Normalizer) -> list[str]:
    """Phrases for a normalizer: what its result is."""
    options: Mapping[str, Any] = dict(normalizer.options)
    match normalizer.kind:
        case "money":
            allowed = options.get("allowed") or ()
            return [f"an amount in {either(allowed)}" if allowed else "an amount of money"]
        case "instant":
            found = ["a moment"]
            if options.get("zone"):
                found.append(f"{options['zone']} where no zone is given")
            if options.get("epoch_unit"):
                found.append(f"bare numbers in {options['epoch_unit']}")
            if options.get("min"):
                found.append(f"not before {options['min']}")
            if options.get("max"):
                found.append(f"not after {options['max']}")
            return found
        case "quantity":
            allowed = options.get("allowed") or ()
            given = f", given in {either(allowed)}" if allowed else ""
            return [f"a quantity in {options.get('unit', 'its unit')}{given}"]
        case "label":
            classes = options.get("num_classes")
            if classes:
                ignored = options.get("ignore_index")
                return [f"a class from 0 to {int(classes) - 1}" + (f", or {ignored}" if ignored is not None else "")]
            return []
        case "text":
            rejected = [_REJECTS.get(str(name).lower(), str(name)) for name in options.get("reject") or ()]
            return [f"without {either(rejected)}"] if rejected else []
        case "scalar":
            return [f"{options['type']} as text"] if "type" in options else []


def relation_words(relation: ir.Relation) -> list[str]:
    """Phrases for a relation between fields."""
    options: Mapping[str, Any] = dict(relation.options)
    match relation.kind:
        case "spans":
            if options.get("allow_overlap"):
                how = ""
            else:
                how = ", nested or apart" if options.get("allow_nesting") else ", none overlapping"
            return [f"spans of {options.get('text', 'a text')}{how}"]
        case "sequence":
            return _sequence_words(options)
        case "graph":
            found = ["without cycles"] if options.get("acyclic") else []
            return found + (["every parent present"] if options.get("closed") else [])
        case "tensor":
            dims = ", ".join(str(dim) for dim in options.get("dims") or ())
            found = [f"a {options.get('dtype', '')}[{dims}] tensor"]
            if options.get("min") is not None or options.get("max") is not None:
                found += _bounds(
                    {name: options[key] for name, key in (("gte", "min"), ("lte", "max")) if key in options}
                )
            if options.get("finite"):
                found.append("finite")
            norm = _pairs(options.get("l2_norm"))
            if norm:
                found.append(f"of norm {_number(norm.get('value', 0))} ± {_number(norm.get('tolerance', 0))}")
            return found


def either(words: Iterable[object], last: str = "or") -> str:
    """``A``, ``A or B``, ``A, B or C``; ``nothing`` for no word."""
    listed = [str(word) for word in words]
    if not listed:
        return "nothing"
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} {last} {listed[-1]}"


def _text_words(rules: Rules, unit: str) -> list[str]:
    quoted = _hex if unit == "byte" else _quoted
    found = [words for name, words in _FORMATS.items() if rules.get(name)]
    if rules.get("well_known_regex"):
        found.append("an HTTP header name" if "NAME" in str(rules["well_known_regex"]) else "an HTTP header value")
    for exact, low, high, noun in (
        ("len", "min_len", "max_len", unit),
        ("len_bytes", "min_bytes", "max_bytes", "byte"),
    ):
        found += _amount(rules.get(exact), rules.get(low), rules.get(high), noun)
    if "pattern" in rules:
        found.append(f"matching {rules['pattern']}")
    for name, words in (("prefix", "starting with"), ("suffix", "ending with"), ("contains", "with"),
                        ("not_contains", "without")):  # fmt: skip
        if name in rules:
            found.append(f"{words} {quoted(rules[name])}")
    if unit == "byte":
        return found + _choice_words(rules, _hex, _hex)
    return found + _choice_words(rules, str, _quoted)


def _choice_words(rules: Rules, show: Callable[[Any], str], constant: Callable[[Any], str]) -> list[str]:
    found: list[str] = []
    if "const" in rules:
        found.append(f"exactly {constant(rules['const'])}")
    if rules.get("in"):
        found.append(_one_of([show(value) for value in rules["in"]]))
    if rules.get("not_in"):
        found.append(f"not {either([show(value) for value in rules['not_in']][:_MANY])}")
    return found


def _enum_words(rules: Rules, values: Mapping[int, str]) -> list[str]:
    def name(number: Any) -> str:
        return values.get(number, str(number))

    if "const" in rules:
        return [f"exactly {name(rules['const'])}"]
    if rules.get("in"):
        return [_one_of([name(number) for number in rules["in"]])]
    barred = set(rules.get("not_in") or ())
    if rules.get("defined_only"):
        return [_one_of([words for number, words in values.items() if number not in barred])]
    return [f"not {either([name(number) for number in sorted(barred)])}"] if barred else []


def _repeated_words(rules: Rules, values: Mapping[int, str]) -> list[str]:
    found = _amount(None, rules.get("min_items"), rules.get("max_items"), "item")
    if rules.get("unique"):
        found.append("no two equal")
    each = rules_words(rules.get("items") or {}, values)
    return found + ([f"each {', '.join(each)}"] if each else [])


def _map_words(rules: Rules, values: Mapping[int, str]) -> list[str]:
    found = _amount(None, rules.get("min_pairs"), rules.get("max_pairs"), "entry", "entries")
    keys, each = rules_words(rules.get("keys") or {}, {}), rules_words(rules.get("values") or {}, values)
    found += [f"each key {', '.join(keys)}"] if keys else []
    return found + ([f"each value {', '.join(each)}"] if each else [])


def _moment_words(rules: Rules) -> list[str]:
    found = _between(rules, ("after", "not before", "before", "not after"), _moment, _nanos)
    if "const" in rules:
        found.append(f"exactly {_moment(rules['const'])}")
    if rules.get("lt_now"):
        found.append("in the past")
    if rules.get("gt_now"):
        found.append("in the future")
    if "within" in rules:
        found.append(f"within {_seconds(rules['within'])} of now")
    return found


def _duration_words(rules: Rules) -> list[str]:
    found = _between(rules, ("above", "{} or more", "below", "{} or less"), _seconds, _nanos)
    return found + _choice_words(rules, _seconds, _seconds)


def _mask_words(rules: Rules) -> list[str]:
    found: list[str] = []
    if "const" in rules:
        found.append(f"exactly the paths {either(rules['const'].get('paths', ()), 'and')}")
    if rules.get("in"):
        found.append(f"paths within {either(rules['in'])}")
    if rules.get("not_in"):
        found.append(f"no path within {either(rules['not_in'])}")
    return found


def _bounds(rules: Rules) -> list[str]:
    """Phrases for numbers: ``0 to 1``, ``above 0``, ``-90 or more``."""
    found = _between(rules, ("above", "{} or more", "below", "{} or less"), _number, _order)
    if rules.get("finite"):
        found.append("finite")
    return found + _choice_words(rules, _number, _number)


def _between(
    rules: Rules, words: tuple[str, str, str, str], show: Callable[[Any], str], order: Callable[[Any], float]
) -> list[str]:
    """Phrases for gt, gte, lt and lte. Where the lower bound is above the upper one, a value is outside of both."""
    said = [
        word.format(show(rules[name])) if "{}" in word else f"{word} {show(rules[name])}"
        for name, word in zip(("gt", "gte", "lt", "lte"), words, strict=True)
        if name in rules
    ]
    low = rules.get("gte", rules.get("gt"))
    high = rules.get("lte", rules.get("lt"))
    if low is None or high is None:
        return said
    if order(low) > order(high):
        return [" or ".join(said)]
    if "gte" in rules and "lte" in rules and "{}" in words[1]:
        return [f"{show(low)} to {show(high)}"]
    return said


def _sequence_words(options: Rules) -> list[str]:
    found: list[str] = []
    first, step = options.get("first"), options.get("step")
    if step is not None:
        start = int(first or 0)
        found.append(f"exactly {', '.join(str(start + place * int(step)) for place in range(3))}, …")
    elif first is not None:
        found.append(f"starting with {first}")
    if options.get("strictly_increasing"):
        found.append("strictly increasing")
    if options.get("same_length_as"):
        found.append(f"as long as {options['same_length_as']}")
    return found


def _amount(exact: Any, low: Any, high: Any, noun: str, many: str = "") -> list[str]:
    plural = many or f"{noun}s"

    def counted(number: Any) -> str:
        return f"{number} {noun if number == 1 else plural}"

    if exact is not None:
        return [counted(exact)]
    if low is not None and high is not None:
        return [counted(low) if low == high else f"{low} to {high} {plural}"]
    if low is not None:
        return [f"at least {counted(low)}"]
    return [f"at most {counted(high)}"] if high is not None else []


def _one_of(words: list[str]) -> str:
    if len(words) == 1:
        return f"exactly {words[0]}"
    if len(words) > _MANY:
        return f"one of {len(words)} values: {', '.join(words[: _MANY - 1])}, …"
    return either(words)


def _quoted(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else _number(value)


def _hex(value: Any) -> str:
    """Bytes, of which the canonical text has the hexadecimal digits."""
    return f"0x{value}" if value != "" else "no bytes"


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
