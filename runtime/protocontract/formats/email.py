"""Email addresses as the HTML standard defines ``valid e-mail address``, which buf.validate adopts.

Deliberately not RFC 5322: no comments, no quoted local parts, no address literals.
"""

from __future__ import annotations

import re
from typing import Final

_LABEL: Final = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_ADDRESS: Final = re.compile(rf"[a-zA-Z0-9.!#$%&'*+/=?^_`{{|}}~-]++@{_LABEL}(?:\.{_LABEL})*+").fullmatch


def is_email(text: str) -> bool:
    """Whether ``text`` is an email address."""
    return _ADDRESS(text) is not None
