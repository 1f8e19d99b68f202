"""Labels: the ways in which a class is written, made the one canonical label; and class numbers with an ignore index.

Texts are compared after NFKC, trimming of White_Space and case folding, with Unicode data from the pinned package.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from protocontract.normalize.instant_written import WHITE_SPACE
from protocontract.violations import Change, Normalized, OptionError, Refusal, Refused, describe

_Aliases = Mapping[str, Sequence[str]]
_Twin = Callable[[object], "str | int | Refusal"]
_INT64: Final = 1 << 63


def normalize(
    value: str | int,
    *,
    aliases: Mapping[str, Sequence[str]] | None = None,
    ignore_index: int | None = None,
    num_classes: int | None = None,
) -> Normalized[str | int]:
    """The canonical label of a text, or a class number that is one of the declared ones.

    ``aliases``: canonical label -> other ways in which it is written (the label itself always counts).
    ``num_classes``: numbers are 0 .. num_classes - 1. ``ignore_index``: the one number outside of them that is kept.

    Raises Refused (label.unknown), and OptionError where an alias belongs to two labels.
    """
    result = normalizer(aliases=aliases, ignore_index=ignore_index, num_classes=num_classes)(value)
    if isinstance(result, Refusal):
        raise Refused.of(result)
    return Normalized(result) if result is value else Normalized(result, (Change("", "label", value, result),))


def normalizer(
    *,
    aliases: Mapping[str, Sequence[str]] | None = None,
    ignore_index: int | None = None,
    num_classes: int | None = None,
) -> _Twin:
    """The non-raising twin of ``normalize``. Returns the same object where nothing changes. Raises OptionError."""
    lookup = words(aliases) if aliases else {}
    canonical = frozenset(aliases or ())
    classes = _count(num_classes)
    if ignore_index is not None and (
        isinstance(ignore_index, bool) or not isinstance(ignore_index, int) or not -_INT64 <= ignore_index < _INT64
    ):
        raise OptionError("ignore_index", "no 64-bit integer")
    if ignore_index is not None and classes is None:
        raise OptionError("ignore_index", "needs num_classes: without it every number passes")

    def label(value: object) -> str | int | Refusal:
        if isinstance(value, str):
            if value in canonical:
                return value
            found = lookup.get(folded(value))
            if found is not None:
                return found
            return Refusal(
                "label.unknown", f"no declared label; expected one of {len(canonical)}, got {describe(value)}"
            )
        if isinstance(value, int) and not isinstance(value, bool):
            if classes is None and aliases:
                # A number is written one way only, so a number that aliases name is looked up as its text.
                known = lookup.get(str(value)) if value.bit_length() < 64 else None
                if known is not None:
                    return known
            elif classes is None or 0 <= value < classes or value == ignore_index:
                return value
            what = "no declared label" if classes is None else "a number that is no class"
            end = "" if classes is None else f"; expected 0 to {classes - 1}"
            kept = "" if ignore_index is None else " or the declared ignore index"
            return Refusal("label.unknown", f"{what}{end}{kept}, got {describe(value)}")
        return Refusal("label.unknown", f"not a label; expected a text or an integer, got {describe(value)}")

    return label


def words(aliases: _Aliases, option: str = "aliases") -> dict[str, str]:
    """Folded text -> canonical label. Raises OptionError where a text belongs to two labels or is empty."""
    if not isinstance(aliases, Mapping):
        raise OptionError(option, "no mapping of labels to lists of aliases")
    lookup: dict[str, str] = {}
    for name, others in aliases.items():
        if isinstance(others, str) or not isinstance(others, Sequence):
            raise OptionError(option, f"the aliases of {name!r} are no list")
        for word in (name, *others):
            if not isinstance(word, str):
                raise OptionError(option, f"an alias of {name!r} is no text")
            key = folded(word)
            if not key:
                raise OptionError(option, f"{name!r} has an empty label or alias")
            if lookup.setdefault(key, name) != name:
                raise OptionError(option, f"{word!r} belongs to two labels, {lookup[key]!r} and {name!r}")
    return lookup


def folded(text: str) -> str:
    """What labels are compared by: NFKC, trimmed, case folded (and NFKC again, since folding can undo it)."""
    if text.isascii():
        return text.strip(WHITE_SPACE).casefold()
    normal = _nfkc()
    return normal("NFKC", normal("NFKC", text).strip(WHITE_SPACE).casefold())


def _nfkc() -> Callable[[str, str], str]:
    # Imported on first use: most contracts have no labels, and none needs the tables for ASCII ones.
    import unicodedata2

    normal: Any = unicodedata2.normalize
    return normal  # type: ignore[no-any-return]


def _count(num_classes: int | None) -> int | None:
    """The number of classes; 0 is "not declared", as in the contract, where the field has no presence."""
    if num_classes is None or num_classes == 0:
        return None
    if isinstance(num_classes, bool) or not isinstance(num_classes, int) or num_classes < 0:
        raise OptionError("num_classes", "no positive number")
    return num_classes
