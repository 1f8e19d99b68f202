"""IP addresses and prefixes: RFC 4291 section 2.2 for IPv6, RFC 4007 section 11 for zones, RFC 4632 for prefixes."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Final

_OCTET: Final = r"(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_IPV4: Final = re.compile(rf"{_OCTET}(?:\.{_OCTET}){{3}}").fullmatch
_GROUPS: Final = 8
_H16: Final = "[0-9a-fA-F]{1,4}"


@cache
def _ipv6_matcher() -> Callable[[str], re.Match[str] | None]:
    """RFC 4291 section 2.2 as one pattern: eight groups, or two sides of seven at most around a double colon.

    Compiled on first use: it takes milliseconds.
    """
    address = rf"{_OCTET}(?:\.{_OCTET}){{3}}"
    forms = [rf"(?:{_H16}:){{7}}{_H16}", rf"(?:{_H16}:){{6}}{address}"]
    for left in range(_GROUPS):
        right = _GROUPS - 1 - left
        head = "" if left == 0 else rf"{_H16}(?::{_H16}){{{left - 1}}}"
        tails = [rf"(?:{_H16}:){{0,{right - 1}}}{_H16}"] if right else []
        tails += [rf"(?:{_H16}:){{0,{right - 2}}}{address}"] if right > 1 else []
        forms.append(f"{head}::(?:{'|'.join(tails)})?" if tails else f"{head}::")
    return re.compile("|".join(forms)).fullmatch


_GROUP: Final = re.compile(r"[0-9a-fA-F]{1,4}").fullmatch
_LENGTH: Final = re.compile(r"0|[1-9][0-9]{0,2}").fullmatch


def is_ip(text: str, version: int = 0) -> bool:
    """Whether ``text`` is an IP address of a version: 4, 6 (a zone is allowed), or 0 for either.

    Any other version has no addresses.
    """
    if version == 4:
        return _IPV4(text) is not None
    if version == 6:
        return _is_ipv6_with_zone(text)
    return version == 0 and (_IPV4(text) is not None or _is_ipv6_with_zone(text))


def is_ip_prefix(text: str, version: int = 0, strict: bool = False) -> bool:
    """Whether ``text`` is an address and a prefix length, ``10.0.0.0/8``; no zone is allowed.

    ``strict`` wants the bits after the prefix to be zero. ``version`` is as in ``is_ip``.
    """
    if version not in (0, 4, 6):
        return False
    address, slash, length = text.rpartition("/")
    if not slash or _LENGTH(length) is None:
        return False
    bits, value = (32, _ipv4(address)) if version != 6 else (128, None)
    if value is None and version != 4:
        bits, value = 128, _ipv6(address)
    if value is None or int(length) > bits:
        return False
    return not strict or value & ((1 << (bits - int(length))) - 1) == 0


def _is_ipv6_with_zone(text: str) -> bool:
    address, percent, zone = text.partition("%")
    if percent and (not zone or "\0" in zone):
        return False
    return _ipv6_matcher()(address) is not None


def _ipv4(text: str) -> int | None:
    """The address as a number."""
    if _IPV4(text) is None:
        return None
    value = 0
    for octet in text.split("."):
        value = value << 8 | int(octet)
    return value


def _ipv6(text: str) -> int | None:
    """The address as a number; the last 32 bits may be written as an IPv4 address."""
    head, double_colon, tail = text.partition("::")
    left = _groups(head, last=not double_colon)
    right = _groups(tail, last=True) if double_colon else []
    if left is None or right is None:
        return None
    missing = _GROUPS - len(left) - len(right)
    if missing < 0 or (missing > 0) != bool(double_colon):
        return None
    value = 0
    for group in [*left, *[0] * missing, *right]:
        value = value << 16 | group
    return value


def _groups(text: str, *, last: bool) -> list[int] | None:
    """The 16-bit groups of one side of an address; ``last`` says that an IPv4 address may end it."""
    if not text:
        return []
    parts = text.split(":")
    groups: list[int] = []
    if last and "." in parts[-1]:
        embedded = _ipv4(parts.pop())
        if embedded is None:
            return None
        groups = [embedded >> 16, embedded & 0xFFFF]
    if len(parts) > _GROUPS or not all(map(_GROUP, parts)):
        return None
    return [*(int(part, 16) for part in parts), *groups]
