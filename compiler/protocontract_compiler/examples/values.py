"""Values for one field: such as its rules accept, as plausible as its name and rules allow; the best guess first.

Nothing here has to be right: a contract judges every message that is made of these values. ``nth`` tells the items of
a list apart, and the same number gives the same values on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, Final

from google.protobuf import message_factory
from google.protobuf.descriptor import FieldDescriptor as F

from protocontract._options import set_in
from protocontract_compiler.examples import patterns

#: The moment at which examples are judged: 2026-01-15T08:30:00Z, in nanoseconds.
NOW: Final = 1_768_465_800 * 10**9
SECOND: Final = 10**9

_FLOATS: Final = frozenset({F.TYPE_FLOAT, F.TYPE_DOUBLE})
_FORMATS: Final[dict[str, str]] = {
    "email": "ada@example.com", "hostname": "host.example.com", "ip": "192.0.2.10", "ipv4": "192.0.2.10",
    "ipv6": "2001:db8::10", "uri": "https://example.com/documents/1", "uri_ref": "/documents/1",
    "address": "host.example.com", "ip_with_prefixlen": "192.0.2.10/24", "ipv4_with_prefixlen": "192.0.2.10/24",
    "ipv6_with_prefixlen": "2001:db8::10/64", "ip_prefix": "192.0.2.0/24", "ipv4_prefix": "192.0.2.0/24",
    "ipv6_prefix": "2001:db8::/64", "host_and_port": "host.example.com:8080", "protobuf_fqn": "acme.v1.Order",
    "protobuf_dot_fqn": ".acme.v1.Order", "well_known_regex": "x-request-id",
}  # fmt: skip
_BYTES: Final[dict[str, bytes]] = {
    "ip": bytes([192, 0, 2, 10]), "ipv4": bytes([192, 0, 2, 10]), "ipv6": bytes.fromhex("20010db8" + "00" * 11 + "10"),
    "uuid": bytes.fromhex("7d9f2c4e1b3a4c5d8e6f1a2b3c4d5e60"),
}  # fmt: skip
_ULID: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_SENTENCES: Final = (
    "Marie Curie worked in Paris.", "The library opens at nine.", "Lunch for the whole team.", "See you on Monday.",
)  # fmt: skip
_PROSE: Final = frozenset(
    {
        "text", "content", "body", "message", "note", "memo", "comment", "description", "title", "subject", "summary",
        "remark", "prompt", "answer", "question",
    }
)  # fmt: skip


def good(field: Any, rules: Any, words: Any, nth: int = 0) -> list[Any]:
    """Values of a field, or of an item, key or value of one, by its rules and its normalizer. None stands for unset.

    ``rules`` are FieldRules and ``words`` our own options of the field; both may be None. Messages that are not of
    protobuf's own have no values here: the list is empty.
    """
    own = _own(rules)
    found = list(_normalised(field, words, nth))
    if field.message_type is not None:
        found += _of_message(field, rules, own, nth)
        return [*found, None] if found else []
    found += _scalar(field, own, nth)
    kept = [value for value in dict.fromkeys(found) if fits(field, value)]
    return [*kept, None]


def fits(field: Any, value: Any) -> bool:
    """Whether the field's type can hold a value."""
    match field.type:
        case F.TYPE_STRING:
            return isinstance(value, str)
        case F.TYPE_BYTES:
            return isinstance(value, bytes)
        case F.TYPE_BOOL:
            return isinstance(value, bool)
        case F.TYPE_FLOAT | F.TYPE_DOUBLE:
            return isinstance(value, int | float) and not isinstance(value, bool)
        case F.TYPE_ENUM:
            if not isinstance(value, int) or not -(2**31) <= value < 2**31:
                return False
            return not field.enum_type.is_closed or value in field.enum_type.values_by_number
        case F.TYPE_MESSAGE | F.TYPE_GROUP:
            return not isinstance(value, str | bytes | int | float)
        case _:
            least, most = whole_range(field.type)
            return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def whole_range(kind: int) -> tuple[int, int]:
    """The least and the greatest number that an integer type holds."""
    size = 64 if kind in (F.TYPE_INT64, F.TYPE_SINT64, F.TYPE_SFIXED64, F.TYPE_UINT64, F.TYPE_FIXED64) else 32
    if kind in (F.TYPE_UINT32, F.TYPE_UINT64, F.TYPE_FIXED32, F.TYPE_FIXED64):
        return 0, 2**size - 1
    return -(2 ** (size - 1)), 2 ** (size - 1) - 1


def own_rules(rules: Any) -> Any:
    """The rules of the field's type (``StringRules``) within FieldRules, or None."""
    return _own(rules)


def put_nanos(message: Any, nanos: int) -> Any:
    """A Timestamp or Duration of so many nanoseconds; the very message that was given."""
    seconds, rest = divmod(abs(nanos), SECOND)
    if nanos < 0 and message.DESCRIPTOR.name == "Duration":
        message.seconds, message.nanos = -seconds, -rest
    else:
        message.seconds, message.nanos = divmod(nanos, SECOND)
    return message


def nanos_of(message: Any) -> int:
    """The nanoseconds of a Timestamp or Duration."""
    return int(message.seconds) * SECOND + int(message.nanos)


def class_of(field: Any) -> Any:
    """The class of the messages in a field."""
    return message_factory.GetMessageClass(field.message_type)


def _own(rules: Any) -> Any:
    member = rules.WhichOneof("type") if rules is not None else None
    return getattr(rules, member) if member is not None else None


# ----------------------------------------------------------------------------------------------------------------------
# By normalizer: values that are in the form already that it makes


def _normalised(field: Any, words: Any, nth: int) -> Iterator[Any]:
    kind = words.WhichOneof("normalizer") if words is not None else None
    if kind is None:
        return
    options = getattr(words, kind)
    match kind:
        case "money":
            amount = f"{120 + nth}.50"
            currency = options.default_currency or next(iter(options.allowed), "EUR")
            yield from (amount, f"{120 + nth}", f"{currency} {amount}", f"{currency} {120 + nth}")
        case "instant":
            for seconds in _seconds_between(options.min, options.max, nth):
                yield _rfc3339(seconds)
                unit = {"S": 1, "MS": 10**3, "US": 10**6, "NS": 10**9}
                chosen = options.DESCRIPTOR.fields_by_name["epoch_unit"].enum_type.values_by_number[options.epoch_unit]
                yield seconds * unit.get(chosen.name, 1)
        case "quantity":
            yield from (f"{12 + nth}.5 {options.unit}", f"{12 + nth} {options.unit}", 12.5 + nth, 12 + nth)
        case "label":
            labels = sorted(options.aliases)
            yield from [*labels[nth % len(labels) :], *labels] if labels else []
            yield nth % max(1, options.num_classes)
        case "scalar":
            yield from (f"{25 + nth}", "true", f"{25 + nth}.5")
        case _:
            return


def _seconds_between(low: str, high: str, nth: int) -> Iterator[int]:
    from datetime import datetime

    usual = NOW // SECOND - 1800 + 60 * nth
    yield usual
    for text, step in ((low, 1), (high, -1)):
        if text:
            yield int(datetime.fromisoformat(text).timestamp()) + step


def _rfc3339(seconds: int) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


# ----------------------------------------------------------------------------------------------------------------------
# By type


def _scalar(field: Any, own: Any, nth: int) -> list[Any]:
    if own is not None and "const" in own.DESCRIPTOR.fields_by_name and own.HasField("const"):
        return [own.const]
    listed = _listed(own, "in")
    shown = _listed(own, "example")
    if listed:
        start = nth % len(listed)
        return [*listed[start:], *listed[:start]]
    turned = shown[nth % len(shown) :] + shown[: nth % len(shown)] if shown else []
    match field.type:
        case F.TYPE_STRING:
            return [*turned, *_texts(field, own, nth)]
        case F.TYPE_BYTES:
            return [*turned, *_of_bytes(own)]
        case F.TYPE_BOOL:
            return [True, False]
        case F.TYPE_ENUM:
            barred = set(_listed(own, "not_in"))
            numbers = [value.number for value in field.enum_type.values if value.number not in barred]
            numbers = [number for number in numbers if number] + [number for number in numbers if not number]
            start = nth % max(1, len(numbers))
            return [*turned, *numbers[start:], *numbers[:start]]
        case _:
            return [*turned, *_numbers(field, own, nth)]


def _listed(own: Any, name: str) -> list[Any]:
    return list(getattr(own, name)) if own is not None and name in own.DESCRIPTOR.fields_by_name else []


def _texts(field: Any, own: Any, nth: int) -> Iterator[str]:
    """Texts by format or pattern, else by the field's name; all brought to the size that the rules want."""
    known = own.WhichOneof("well_known") if own is not None else None
    match known:
        case "uuid":
            yield f"7d9f2c4e-1b3a-4c5d-8e6f-{(field.number << 16) + 0x1A2B0000_3C4D + nth:012x}"
        case "tuuid":
            yield f"7d9f2c4e1b3a4c5d8e6f{(field.number << 16) + 0x1A2B0000_3C4D + nth:012x}"
        case "ulid":
            yield f"01JH9Z2K4M6P8R0T2V4X6Z8A{_ULID[(nth >> 5) % 32]}{_ULID[nth % 32]}"
        case None:
            pass
        case _:
            yield _FORMATS.get(known, "")
    if own is not None and own.HasField("pattern"):
        yield from patterns.texts(own.pattern, nth)
    name = field.name
    if name == "id" or name.endswith("_id"):
        plain = f"{name.removesuffix('id').strip('_') or field.containing_type.name.lower()}-{nth + 1}"
    elif name.rpartition("_")[2] in _PROSE:
        plain = _SENTENCES[nth % len(_SENTENCES)]
    else:
        plain = f"{name.replace('_', ' ')} {nth + 1}"
    for text in (plain, str(12345678901234567890 + nth)):
        yield sized(own, text)


def sized(own: Any, text: str, size: int | None = None) -> str:
    """A text that begins and ends as the rules want, of a size that they allow, or of ``size`` characters."""
    if own is None:
        return text
    head, tail, middle = (set_in(own, name) or "" for name in ("prefix", "suffix", "contains"))
    low, high = _bounds(own, ("len", "min_len", "max_len"))
    least, most = _bounds(own, ("len_bytes", "min_bytes", "max_bytes"))
    low, high = max(low, least), min(high, most)
    if size is not None:
        low = high = size
    inner = text if middle in text else f"{middle} {text}"
    room = max(0, int(min(high, 10**6)) - len(head) - len(tail))
    inner = inner[:room] if len(inner) > room else inner
    missing = low - len(head) - len(inner) - len(tail)
    if missing > 0 and missing <= 10**6:
        inner += (" and more" * (missing // 9 + 1) if " " in inner else "123456789" * (missing // 9 + 1))[:missing]
        # No white space at the end, which normalizers take away.
        inner = f"{inner[:-1]}." if inner.endswith(" ") else inner
    return f"{head}{inner}{tail}"


def _bounds(own: Any, names: tuple[str, str, str]) -> tuple[int, float]:
    exact, low, high = (set_in(own, name) for name in names)
    if exact is not None:
        return exact, exact
    return low or 0, math.inf if high is None else high


def _of_bytes(own: Any) -> Iterator[bytes]:
    known = own.WhichOneof("well_known") if own is not None else None
    if known is not None:
        yield _BYTES.get(known, b"")
    low, high = _bounds(own, ("len", "min_len", "max_len")) if own is not None else (0, math.inf)
    head, tail, middle = (set_in(own, name) or b"" for name in ("prefix", "suffix", "contains"))
    plain = head + middle + b"Example content." + tail
    if len(plain) > high:
        plain = (head + middle + tail)[: int(high)].ljust(int(min(high, 10**6)), b"\x01")
    yield plain.ljust(min(low, 10**6), b"\x01")


def _numbers(field: Any, own: Any, nth: int) -> Iterator[float]:
    floating = field.type in _FLOATS
    low, high = limits(own)
    if low is not None and high is not None and low <= high:
        span = high - low
        if floating:
            # Falling, as scores do.
            yield round(high - span * (0.1 + 0.05 * (nth % 16)), 3)
        else:
            yield low + (1 + nth) % (int(span) + 1)
        yield from (low, high, low + span / 2 if floating else low + int(span) // 2)
    elif low is not None:
        yield from (low + 1 + nth, low)
    elif high is not None:
        yield from (high - 1 - nth, high)
    yield from (1 + nth, 12 + nth, 0)


def limits(own: Any) -> tuple[Any, Any]:
    """The bounds of a number's rules, as they are written; None where there is none."""
    low = next((value for name in ("gte", "gt") if (value := set_in(own, name)) is not None), None)
    high = next((value for name in ("lte", "lt") if (value := set_in(own, name)) is not None), None)
    return low, high


# ----------------------------------------------------------------------------------------------------------------------
# Messages of protobuf's own


def _of_message(field: Any, rules: Any, own: Any, nth: int) -> list[Any]:
    name = field.message_type.full_name.removeprefix("google.protobuf.")
    if name == field.message_type.full_name:
        return []
    make: Callable[..., Any] = class_of(field)
    match name:
        case "Timestamp" | "Duration":
            return [put_nanos(make(), nanos) for nanos in _nanos(name, own, nth)]
        case "Any":
            urls = _listed(own, "in") or ["type.googleapis.com/google.protobuf.Empty"]
            return [make(type_url=url) for url in urls]
        case "FieldMask":
            return [make(paths=[path]) for path in (*_listed(own, "in"), "name")]
    if name.endswith("Value") and "value" in field.message_type.fields_by_name and name != "Value":
        inner = field.message_type.fields_by_name["value"]
        return [make(value=value) for value in good(inner, rules, None, nth) if value is not None]
    if name == "Value":
        return [make(string_value="example")]
    return [make()]


def _nanos(name: str, own: Any, nth: int) -> Iterator[int]:
    if own is not None and own.HasField("const"):
        yield nanos_of(own.const)
        return
    yield from (nanos_of(each) for each in _listed(own, "in"))
    low, high = limits(own)
    known = [(low, SECOND), (high, -SECOND)]
    usual = NOW - (1800 - 60 * nth) * SECOND if name == "Timestamp" else (20 + 5 * nth) * 10**6
    yield usual
    for bound, step in known:
        if bound is not None:
            yield from (nanos_of(bound) + step * (1 + nth), nanos_of(bound))
    if name == "Timestamp":
        yield from (NOW + 60 * SECOND, NOW - 60 * SECOND)
    else:
        yield SECOND
