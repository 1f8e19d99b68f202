"""What one format says of another, and formats that are patterns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from protocontract_ci.meaning.lowering import operation
from protocontract_ci.meaning.smt import z3

_LABEL: Final = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
#: The HTML standard's valid e-mail address, which buf.validate adopts.
EMAIL: Final = rf"^[a-zA-Z0-9.!#$%&'*+/=?^_`{{|}}~-]+@{_LABEL}(?:\.{_LABEL})*$"


def _asked(op: str, *operands: Any) -> Any:
    return operation(op, [operand.sort() for operand in operands], z3.BoolSort())(*operands)


def lemmas(text: Any) -> Iterator[Any]:
    """What holds between the formats of one text, whatever it is."""
    # Version 0 is either one.
    either, four, six = z3.IntVal(0), z3.IntVal(4), z3.IntVal(6)
    yield _asked("is_ip", text, either) == z3.Or(_asked("is_ip", text, four), _asked("is_ip", text, six))
    yield z3.Not(z3.And(_asked("is_ip", text, four), _asked("is_ip", text, six)))
    strict, lax = z3.BoolVal(True), z3.BoolVal(False)
    for exact in (strict, lax):
        each = [_asked("is_ip_prefix", text, version, exact) for version in (four, six)]
        yield _asked("is_ip_prefix", text, either, exact) == z3.Or(*each)
    for version in (four, six):
        yield z3.Implies(_asked("is_ip_prefix", text, version, strict), _asked("is_ip_prefix", text, version, lax))
    yield z3.Implies(_asked("is_uri", text), _asked("is_uri_ref", text))
    for op in ("is_email", "is_hostname", "is_uri"):
        yield z3.Implies(_asked(op, text), z3.Length(text) > 0)
    yield z3.Implies(_asked("is_hostname", text), z3.Length(text) <= 253)
