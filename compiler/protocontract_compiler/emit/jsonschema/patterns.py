"""Regular expressions for JSON Schema: RE2's in a form that ECMA-262, Python, Java and RE2 read alike; and numerals.

Only constructs that all engines share are written: literal characters, classes of ranges, groups, counts, ``^`` and
``$``. Where a pattern of a contract has others, there is no pattern in the schema.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from protocontract_compiler.cel.regex_subset import syntax
from protocontract_compiler.cel.regex_write import ANY, NONE, Dialect, count


def portable(pattern: str) -> str | None:
    """A pattern of RE2 that matches the same texts in all engines, or ``None`` where that is not known."""
    node = syntax(pattern)
    return None if node is None else _SHARED.write(node)


def literal(text: str) -> str:
    """A pattern that matches exactly this text."""
    return _SHARED.literal(text)


def _escape(code: int) -> str:
    if 0xD800 <= code <= 0xDFFF:
        return f"\\u{code:04x}"
    # The engines share escapes of two digits alone: any other character stands for itself.
    return f"\\x{code:02x}" if code < 256 and not chr(code).isprintable() else chr(code)


_SHARED: Final = Dialect(
    special=r"\.^$*+?{}[]()|/",
    special_in_class=r"\]^[-",
    escape=_escape,
    sets={ANY: r"[\s\S]", NONE: r"[^\s\S]"},
)


# ----------------------------------------------------------------------------------------------------------------------
# Numerals


def integers(ranges: Iterable[tuple[int, int]]) -> str | None:
    """A pattern of the integers in inclusive ranges, in plain digits without superfluous zeros; None for no integer."""
    branches: list[str] = []
    for low, high in ranges:
        if low < 0:
            branches += (f"-{digits}" for digits in _naturals(max(1, -high), -low))
        if high >= 0:
            branches += _naturals(max(0, low), high)
    return f"^(?:{'|'.join(branches)})$" if branches else None


def _naturals(low: int, high: int) -> Iterator[str]:
    """Patterns of the numbers ``low`` to ``high``, both at least zero."""
    if low == 0 <= high:
        yield "0"
        low = 1
    while low <= high:
        size = len(str(low))
        # All numbers of so many digits: those that are longer may be, too.
        longest = len(str(high + 1)) - 1
        if low == 10 ** (size - 1) and longest >= size:
            yield "[1-9]" + ("" if longest == 1 else f"[0-9]{count(size - 1, longest - 1)}")
            low = 10**longest
            continue
        last = min(high, 10**size - 1)
        yield from _same_size(str(low), str(last))
        low = last + 1


def _same_size(low: str, high: str) -> Iterator[str]:
    if not low:
        yield ""
        return
    zeros, nines = "0" * (len(low) - 1), "9" * (len(low) - 1)
    first, last = int(low[0]), int(high[0])
    if first == last:
        yield from (f"{first}{rest}" for rest in _same_size(low[1:], high[1:]))
        return
    if low[1:] != zeros:
        yield from (f"{first}{rest}" for rest in _same_size(low[1:], nines))
        first += 1
    whole = last if high[1:] == nines else last - 1
    if first <= whole:
        leading = str(first) if first == whole else f"[{first}-{whole}]"
        yield leading + ("" if not zeros else f"[0-9]{count(len(zeros), len(zeros))}")
    if whole < last:
        yield from (f"{last}{rest}" for rest in _same_size(zeros, high[1:]))
