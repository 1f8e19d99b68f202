"""Strategies for texts and bytes that keep buf.validate's rules and come as our normalizers leave them."""

from __future__ import annotations

import ipaddress
import uuid
import zoneinfo
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, Final

from hypothesis import strategies as st

from protocontract._options import set_in
from protocontract.testing._patterns import matches, matching

#: Letters that every normalizer leaves alone: of one to four bytes, none of which composes with another.
PLAIN: Final = st.one_of(
    st.sampled_from("abcxyzABCXYZ0189"), st.sampled_from("-_."), st.sampled_from("éüßñ東京日本語жѣ😀")
)
_WORD: Final = st.text(st.sampled_from("abcdefghijklmnopqrstuvwxyz0123456789"), min_size=1, max_size=8)
_LABEL: Final = st.from_regex(r"\A[a-z]([a-z0-9-]{0,8}[a-z0-9])?\Z")
_HOST: Final = st.lists(_LABEL, min_size=1, max_size=3).map(".".join)
_V4: Final = st.integers(0, 2**32 - 1).map(lambda each: str(ipaddress.IPv4Address(each)))
_V6: Final = st.integers(0, 2**128 - 1).map(lambda each: str(ipaddress.IPv6Address(each)))
_UUID: Final = st.integers(0, 2**128 - 1).map(lambda each: str(uuid.UUID(int=each)))
_PATH: Final = st.lists(_WORD, max_size=3).map("/".join)
_URI: Final = st.builds(lambda host, path: f"https://{host}/{path}", _HOST, _PATH)
_FQN: Final = st.lists(st.from_regex(r"\A[A-Za-z_][A-Za-z0-9_]{0,8}\Z"), min_size=1, max_size=3).map(".".join)


def _networks(addresses: st.SearchStrategy[str], bits: int, *, strict: bool) -> st.SearchStrategy[str]:
    def written(address: str, length: int) -> str:
        return str(ipaddress.ip_network(f"{address}/{length}", strict=False)) if strict else f"{address}/{length}"

    return st.builds(written, addresses, st.integers(0, bits))


_FORMATS: Final[dict[str, Callable[[], st.SearchStrategy[str]]]] = {
    "email": lambda: st.builds(lambda name, host: f"{name}@{host}", _WORD, _HOST),
    "hostname": lambda: _HOST,
    "ip": lambda: st.one_of(_V4, _V6),
    "ipv4": lambda: _V4,
    "ipv6": lambda: _V6,
    "uri": lambda: _URI,
    "uri_ref": lambda: st.one_of(_PATH, _URI),
    "address": lambda: st.one_of(_HOST, _V4, _V6),
    "uuid": lambda: _UUID,
    "tuuid": lambda: _UUID.map(lambda each: each.replace("-", "")),
    "ip_with_prefixlen": lambda: st.one_of(_networks(_V4, 32, strict=False), _networks(_V6, 128, strict=False)),
    "ipv4_with_prefixlen": lambda: _networks(_V4, 32, strict=False),
    "ipv6_with_prefixlen": lambda: _networks(_V6, 128, strict=False),
    "ip_prefix": lambda: st.one_of(_networks(_V4, 32, strict=True), _networks(_V6, 128, strict=True)),
    "ipv4_prefix": lambda: _networks(_V4, 32, strict=True),
    "ipv6_prefix": lambda: _networks(_V6, 128, strict=True),
    "host_and_port": lambda: st.builds(lambda host, port: f"{host}:{port}", _HOST, st.integers(0, 65535)),
    "ulid": lambda: st.from_regex(r"\A[0-7][0-9A-HJKMNP-TV-Z]{25}\Z"),
    "protobuf_fqn": lambda: _FQN,
    "protobuf_dot_fqn": lambda: _FQN.map(lambda each: f".{each}"),
}
#: HTTP_HEADER_NAME and HTTP_HEADER_VALUE of KnownRegex.
_HEADERS: Final = {1: r"\A[A-Za-z0-9-]{1,12}\Z", 2: r"\A[A-Za-z0-9 ;,=]{0,12}\Z"}
#: How much longer than it must be a text is drawn.
_SLACK: Final = 12


def formats(rules: Any) -> st.SearchStrategy[str] | None:
    """Texts of the format that string rules name; None where they name none."""
    chosen = rules.WhichOneof("well_known") if rules is not None else None
    if chosen is None:
        return None
    value = getattr(rules, chosen)
    if chosen == "well_known_regex":
        return st.from_regex(_HEADERS[value]) if value in _HEADERS else None
    make = _FORMATS.get(chosen)
    return make() if value and make is not None else None


def sizes(rules: Any) -> tuple[int, int | None]:
    """The least and the largest number of code points (bytes, for a bytes field) that rules allow."""
    exact = set_in(rules, "len")
    low = exact if exact is not None else set_in(rules, "min_len") or 0
    high = exact if exact is not None else set_in(rules, "max_len")
    return low, high


def texts(rules: Any, plain: st.SearchStrategy[str] = PLAIN) -> st.SearchStrategy[str]:
    """Texts that keep string rules. ``plain`` are the letters of texts that no rule gives a form."""
    fixed = set_in(rules, "const")
    if fixed is not None:
        return st.just(fixed)
    if rules is None:
        return st.text(plain, max_size=_SLACK)
    if len(getattr(rules, "in")):
        return st.sampled_from(list(getattr(rules, "in"))).filter(lambda each: keeps(rules, each))
    low, high = sizes(rules)
    found = formats(rules)
    if found is None and (pattern := set_in(rules, "pattern")) is not None:
        found = matching(pattern, low, high)
    if found is None:
        found = _free(rules, plain, low, high)
    return found.filter(lambda each: keeps(rules, each))


def _free(rules: Any, plain: st.SearchStrategy[str], low: int, high: int | None) -> st.SearchStrategy[str]:
    prefix, inside, suffix = (set_in(rules, name) or "" for name in ("prefix", "contains", "suffix"))
    inside = "" if inside in prefix or inside in suffix else inside
    fixed = len(prefix) + len(inside) + len(suffix)
    exact_bytes = set_in(rules, "len_bytes")
    few = set_in(rules, "min_bytes") if exact_bytes is None else exact_bytes
    many = set_in(rules, "max_bytes") if exact_bytes is None else exact_bytes
    if few is not None or many is not None:
        # Letters of one byte: sizes in bytes and in code points are the same then.
        plain = st.sampled_from("abcxyzABCXYZ0189-_")
        low = max(low, few or 0)
        high = min(each for each in (high, many) if each is not None) if (high, many) != (None, None) else None
    least = max(0, low - fixed)
    most = least + _SLACK if high is None else max(least, min(high - fixed, least + _SLACK))
    # A long text is one letter repeated, but for its end: nothing is learned from drawing each.
    bulk = max(0, least - 64)
    return st.text(plain, min_size=least - bulk, max_size=most - bulk).map(
        lambda drawn: f"{prefix}{inside}{'a' * bulk}{drawn}{suffix}"
    )


def keeps(rules: Any, text: str) -> bool:
    """Whether a text keeps the string rules that are not about a format."""
    size = len(text.encode("utf-8", "surrogatepass"))
    tests: tuple[tuple[str, Callable[[Any], bool]], ...] = (
        ("len", lambda each: len(text) == each),
        ("min_len", lambda each: len(text) >= each),
        ("max_len", lambda each: len(text) <= each),
        ("len_bytes", lambda each: size == each),
        ("min_bytes", lambda each: size >= each),
        ("max_bytes", lambda each: size <= each),
        ("prefix", text.startswith),
        ("suffix", text.endswith),
        ("contains", lambda each: each in text),
        ("not_contains", lambda each: each not in text),
        ("pattern", lambda each: matches(each, text)),
    )
    for name, holds in tests:
        value = set_in(rules, name)
        if value is not None and not holds(value):
            return False
    return text not in rules.not_in


# ----------------------------------------------------------------------------------------------------------------------
# Normalizers: texts as they are after normalization, or such that normalization leaves little to do


def normal(words: Any, rules: Any) -> st.SearchStrategy[str] | None:
    """Texts that a field's normalizer accepts; None where it has none, or one that any plain text passes."""
    kind = words.WhichOneof("normalizer") if words is not None else None
    if kind in (None, "text"):
        return None
    options = getattr(words, kind)
    made: dict[str, Callable[[Any], st.SearchStrategy[str]]] = {
        "money": _money, "instant": _instant, "quantity": _quantity, "label": _label, "scalar": _scalar,
    }  # fmt: skip
    found = made[kind](options)
    return found if rules is None else found.filter(lambda each: keeps(rules, each))


def _money(options: Any) -> st.SearchStrategy[str]:
    codes = list(options.allowed) or [options.default_currency or "EUR"]
    amounts = st.integers(0, 10**6)
    if options.currency_field:
        return st.builds(lambda code, amount: f"{code} {amount}", st.sampled_from(codes), amounts)
    return amounts.map(str)


def _instant(options: Any) -> st.SearchStrategy[str]:
    low, high = instant_bounds(options)
    return st.integers(low, high).map(lambda each: datetime.fromtimestamp(each, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))


def instant_bounds(options: Any) -> tuple[int, int]:
    """Seconds since the epoch between which instants are drawn: 1990 to 2040, within the contract's own bounds."""
    low, high = 631_152_000, 2_208_988_800
    if options.min:
        low = -(-int(datetime.fromisoformat(options.min).timestamp() * 1000) // 1000)
        high = max(high, low)
    if options.max:
        high = int(datetime.fromisoformat(options.max).timestamp())
        low = min(low, high) if not options.min else low
    return low, high


def _quantity(_options: Any) -> st.SearchStrategy[str]:
    return st.integers(0, 1000).map(str)


def _label(options: Any) -> st.SearchStrategy[str]:
    names = sorted(options.aliases)
    return st.sampled_from(names) if names else st.text(PLAIN, min_size=1, max_size=_SLACK)


def _scalar(options: Any) -> st.SearchStrategy[str]:
    name = options.DESCRIPTOR.fields_by_name["type"].enum_type.values_by_number[options.type].name
    if name == "BOOL":
        return st.sampled_from(["false", "true"])
    if name in ("FLOAT", "DOUBLE"):
        return st.integers(-4000, 4000).map(lambda each: format(each / 4, "g"))
    return st.integers(0 if name.startswith("U") else -(2**31), 2**31 - 1).map(str)


@lru_cache(maxsize=64)
def clock_changes(zone: str) -> tuple[str, ...]:
    """Local times that a clock change of a zone doubled, and skipped; the latest ones since 1970."""
    place = zoneinfo.ZoneInfo(zone)
    found: dict[bool, str] = {}
    for day in range(24_800, 0, -1):
        before, after = (datetime.fromtimestamp((day + each) * 86_400, place) for each in (0, 1))
        moved = (after.utcoffset() or timedelta()) - (before.utcoffset() or timedelta())
        if not moved or (moved > timedelta()) in found:
            continue
        offset = before.utcoffset()
        hours = (datetime.fromtimestamp(day * 86_400 + 1800 * each, place) for each in range(1, 49))
        change = next(each for each in hours if each.utcoffset() != offset)
        # Just behind the change: what the clock shows was skipped (forwards), or comes a second time (backwards).
        local = change.replace(tzinfo=None) - (abs(moved) / 2 if moved > timedelta() else -abs(moved) / 4)
        found[moved > timedelta()] = local.strftime("%Y-%m-%dT%H:%M:%S")
        if len(found) == 2:
            break
    return tuple(found.values())


# ----------------------------------------------------------------------------------------------------------------------
# Bytes


_PACKED: Final[dict[str, st.SearchStrategy[bytes]]] = {
    "ip": st.one_of(st.binary(min_size=4, max_size=4), st.binary(min_size=16, max_size=16)),
    "ipv4": st.binary(min_size=4, max_size=4),
    "ipv6": st.binary(min_size=16, max_size=16),
    "uuid": st.binary(min_size=16, max_size=16),
}


def binaries(rules: Any) -> st.SearchStrategy[bytes]:
    """Values of a bytes field that keep its rules."""
    fixed = set_in(rules, "const")
    if fixed is not None:
        return st.just(fixed)
    if rules is None:
        return st.binary(max_size=_SLACK)
    if len(getattr(rules, "in")):
        return st.sampled_from(list(getattr(rules, "in"))).filter(lambda each: keeps_bytes(rules, each))
    low, high = sizes(rules)
    format_name = rules.WhichOneof("well_known")
    if format_name in _PACKED and getattr(rules, format_name):
        found = _PACKED[format_name]
    elif (pattern := set_in(rules, "pattern")) is not None and (drawn := matching(pattern, low, high)) is not None:
        found = drawn.map(str.encode)
    else:
        prefix, inside, suffix = (set_in(rules, name) or b"" for name in ("prefix", "contains", "suffix"))
        inside = b"" if inside in prefix or inside in suffix else inside
        fixed_size = len(prefix) + len(inside) + len(suffix)
        least = max(0, low - fixed_size)
        most = least + _SLACK if high is None else max(least, min(high - fixed_size, least + _SLACK))
        bulk = max(0, least - 64)
        found = st.binary(min_size=least - bulk, max_size=most - bulk).map(
            lambda drawn: prefix + inside + b"\x00" * bulk + drawn + suffix
        )
    return found.filter(lambda each: keeps_bytes(rules, each))


def keeps_bytes(rules: Any, value: bytes) -> bool:
    """Whether a value keeps the bytes rules that are not about a format."""
    tests: tuple[tuple[str, Callable[[Any], bool]], ...] = (
        ("len", lambda each: len(value) == each),
        ("min_len", lambda each: len(value) >= each),
        ("max_len", lambda each: len(value) <= each),
        ("prefix", value.startswith),
        ("suffix", value.endswith),
        ("contains", lambda each: each in value),
    )
    for name, holds in tests:
        wanted = set_in(rules, name)
        if wanted is not None and not holds(wanted):
            return False
    pattern = set_in(rules, "pattern")
    if pattern is not None:
        try:
            return value not in rules.not_in and matches(pattern, value.decode())
        except UnicodeDecodeError:
            return False
    return value not in rules.not_in


def nasty() -> list[str]:
    """Texts on which code goes wrong: for ``boundary`` and for what normalizers refuse."""
    return [
        "", " ", "a ", " a", "a\n", "a\tb", "a  b", "\x00", "a\x00b", "\ufeffa",
        "\ufffd", "\ufdd0", "\u202ea", "\ue000",
        "\U000e0041",
        "e\u0301", "é", "\uff21\uff11", "ﬁ", "日本語", "😀", "👨‍👩‍👧", "\u2028", "Ã©tÃ©", "<b>a</b>", "<a href=",
        "&lt;", "'", '"', "\\", "%s",
        "../a", "0", "-1", "1.234", "1,234.5", "1.005", "€12", "12 XXX", "01/02/2024",
        "2024-13-01",
        "2024-01-31", "2024-02-30T00:00:00Z", "9999-12-31T23:59:60Z", "5 parsec", "5 m", "yes",
        "NaN", "1e400",
        "no such label", "////", "x" * 300,
    ]  # fmt: skip
