"""Host names (RFC 1123 section 2.1, RFC 1034 section 3.5) and pairs of host and port (RFC 3986 section 3.2)."""

from __future__ import annotations

import re
from typing import Final

from protocontract.formats.ip import is_ip

_MAX_LENGTH: Final = 253
_LABEL: Final = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_NAME: Final = re.compile(rf"{_LABEL}(?:\.{_LABEL})*+\.?").fullmatch
_PORT: Final = re.compile(r"0|[1-9][0-9]{0,4}").fullmatch


def is_hostname(text: str) -> bool:
    """Whether ``text`` is a host name of letters, digits and hyphens.

    One final dot (the root) is allowed and not counted; the last label is not all digits, so that no IPv4 address is
    a host name.
    """
    if len(text) > _MAX_LENGTH and len(text.removesuffix(".")) > _MAX_LENGTH:
        return False
    # One expression for all labels is twice as fast as one call a label. What matches is ASCII.
    return _NAME(text) is not None and not text[text.rfind(".", 0, -1) + 1 :].removesuffix(".").isdigit()


def is_port(text: str) -> bool:
    """Whether ``text`` is a port number in decimal without leading zeros."""
    return _PORT(text) is not None and int(text) <= 65_535


def is_host_and_port(text: str, port_required: bool) -> bool:
    """Whether ``text`` is a host name, IPv4 address or bracketed IPv6 address with ``:port``.

    The port may be left out unless ``port_required``.
    """
    if text.startswith("["):
        address, bracket, rest = text[1:].rpartition("]")
        if not bracket or not is_ip(address, 6):
            return False
        return (not port_required) if rest == "" else rest.startswith(":") and is_port(rest[1:])
    host, colon, port = text.rpartition(":")
    if not colon:
        return not port_required and (is_hostname(text) or is_ip(text, 4))
    return is_port(port) and (is_hostname(host) or is_ip(host, 4))
