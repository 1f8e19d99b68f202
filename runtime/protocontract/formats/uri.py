"""URIs and URI references: the grammar of RFC 3986 appendix A, with zones in IPv6 literals from RFC 6874."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Final
from urllib.parse import unquote_to_bytes

from protocontract.formats.ip import is_ip

_PCT: Final = r"%[0-9a-fA-F]{2}"
_UNRESERVED: Final = r"a-zA-Z0-9\-._~"
_SUB_DELIMS: Final = r"!$&'()*+,;="


def _many(characters: str) -> str:
    """Any number of some characters or percent-encodings; possessive, so that matching is linear."""
    return rf"(?:[{characters}]++|{_PCT})*+"


_PCHARS: Final = _many(_UNRESERVED + _SUB_DELIMS + ":@")
_PATH: Final = rf"(?:/{_PCHARS})*+"
_REG_NAME: Final = _many(_UNRESERVED + _SUB_DELIMS)
_USERINFO: Final = _many(_UNRESERVED + _SUB_DELIMS + ":")
_AUTHORITY: Final = rf"(?:{_USERINFO}@)?(?:\[(?P<literal>[^\[\]/?#@]*)\]|(?P<host>{_REG_NAME}))(?::[0-9]*)?"
_TAIL: Final = rf"(?:\?{_many(_UNRESERVED + _SUB_DELIMS + ':@/?')})?(?:#{_many(_UNRESERVED + _SUB_DELIMS + ':@/?')})?"
# A path without authority does not begin with "//"; in a relative reference its first segment has no colon.
_ABSOLUTE: Final = rf"/(?!/){_PCHARS}{_PATH}"
_SCHEME: Final = r"[a-zA-Z][a-zA-Z0-9+\-.]*+:"
_NO_COLON: Final = rf"(?=[^/?#]){_many(_UNRESERVED + _SUB_DELIMS + '@')}{_PATH}"
_ROOTLESS: Final = rf"(?=[^/?#]){_PCHARS}{_PATH}"

_URI: Final = rf"{_SCHEME}(?://{_AUTHORITY}{_PATH}|{_ABSOLUTE}|{_ROOTLESS}|){_TAIL}"
_RELATIVE: Final = rf"(?://{_AUTHORITY}{_PATH}|{_ABSOLUTE}|{_NO_COLON}|){_TAIL}"
_FUTURE: Final = rf"[vV][0-9a-fA-F]++\.[{_UNRESERVED}{_SUB_DELIMS}:]++"
_ZONE: Final = rf"(?:[{_UNRESERVED}]++|{_PCT})++"


@cache
def _fullmatch(pattern: str) -> Callable[[str], re.Match[str] | None]:
    """A pattern, compiled when the first text comes: contracts without URIs are imported without it."""
    return re.compile(pattern).fullmatch


def is_uri(text: str) -> bool:
    """Whether ``text`` is a URI: it has a scheme."""
    match = _fullmatch(_URI)(text)
    return match is not None and _is_host(match["literal"], match["host"])


def is_uri_ref(text: str) -> bool:
    """Whether ``text`` is a URI or a relative reference (``/path?query``)."""
    if is_uri(text):
        return True
    match = _fullmatch(_RELATIVE)(text)
    return match is not None and _is_host(match["literal"], match["host"])


def _is_host(literal: str | None, host: str | None) -> bool:
    """What the grammar's pattern leaves open: the inside of brackets, and that percent-encoded hosts are UTF-8."""
    if literal is not None:
        if _fullmatch(_FUTURE)(literal):
            return True
        address, percent, zone = literal.partition("%25")
        if "%" in address or (percent and _fullmatch(_ZONE)(zone) is None):
            return False
        return is_ip(address, 6) and _is_utf8(zone)
    return host is None or _is_utf8(host)


def _is_utf8(text: str) -> bool:
    if "%" not in text:
        return True
    try:
        unquote_to_bytes(text).decode()
    except UnicodeDecodeError:
        return False
    return True
