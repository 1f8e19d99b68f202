"""Numbers, bools, enums, bytes and texts as JSON or text cells write them, read exactly or refused.

Follows the proto3 JSON mapping, but strictly: a bool is no number, NaN and infinity only quoted and only where they
are allowed, integers never pass through a double, names occur once. Text cells (``form="text"``) are trimmed and hold
ASCII digits without grouping and exponent.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from protocontract.normalize import label as labels
from protocontract.normalize.instant_written import WHITE_SPACE
from protocontract.normalize.scalar_json import Json, NotJson, Number, Object, got, is_text, parse
from protocontract.violations import Change, Normalized, OptionError, Refusal, Refused, describe

INTEGERS: Final[Mapping[str, tuple[int, int]]] = {
    **dict.fromkeys(("int32", "sint32", "sfixed32"), (-(1 << 31), (1 << 31) - 1)),
    **dict.fromkeys(("int64", "sint64", "sfixed64"), (-(1 << 63), (1 << 63) - 1)),
    **dict.fromkeys(("uint32", "fixed32"), (0, (1 << 32) - 1)),
    **dict.fromkeys(("uint64", "fixed64"), (0, (1 << 64) - 1)),
}
"""Smallest and largest value of each integer type."""

_FLOATS: Final = ("float", "double")
_TYPES: Final = (*INTEGERS, *_FLOATS, "bool", "string", "bytes", "enum", "label", "label_id", "object")
_JSON_NUMBER: Final = re.compile(r"(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?", re.ASCII)
_CELL_NUMBER: Final = re.compile(r"([+-]?)([0-9]+)(?:\.([0-9]+))?()", re.ASCII)
_EXPONENT: Final = re.compile(r"[+-]?[0-9.,]+[eE][+-]?[0-9]+", re.ASCII)
_WIDE: Final = {0xFF01 + at: 0x21 + at for at in range(0x5E)} | {0x3000: 0x20}
_SPECIAL: Final = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}
_URL_SAFE: Final = str.maketrans("-_", "+/")

Convert = Callable[[Any], Any]
"""A parsed JSON value, or a text cell, -> the plain value, or a Refusal. None stands for null: unset."""


def normalize(
    value: str,
    *,
    form: str = "json",
    type: str,  # noqa: A002  (the option's name)
    quoted_numbers: bool | None = None,
    bool_words: Mapping[str, Any] | None = None,
    fold_width: bool = False,
    exact: bool = False,
    finite: bool | None = None,
    enum: Mapping[str, int] | None = None,
    defined_only: bool = False,
    required: bool = False,
    aliases: Mapping[str, Sequence[str]] | None = None,
    ignore_index: int | None = None,
    num_classes: int | None = None,
    fields: Mapping[str, str] | None = None,
) -> Normalized[Any]:
    """The plain value that a JSON source text (``form="json"``) or a text cell (``form="text"``) stands for.

    ``type``: a protobuf scalar type, or ``enum`` (with ``enum``: name -> number, ``defined_only``, ``required``),
    ``label`` (with ``aliases``), ``label_id`` (with ``num_classes``, ``ignore_index``), ``object`` (with ``fields``:
    name -> type). ``quoted_numbers``: "25" for a number, on by default. ``bool_words``: {"yes": True} or
    {"true": ["yes"], "false": ["no"]}, beside true and false. ``fold_width``: full-width forms are read.
    ``exact``: a number that the type cannot hold exactly is refused. ``finite``: no NaN, no infinity; on by default.

    Enum values come as names, those without a name as numbers. JSON null is None: unset.
    Raises Refused (scalar.syntax, .type, .range, .inexact, .finite, .enum, .required, .duplicate, .unknown_field,
    label.unknown) and OptionError.
    """
    result = normalizer(
        form=form,
        type=type,
        quoted_numbers=quoted_numbers,
        bool_words=bool_words,
        fold_width=fold_width,
        exact=exact,
        finite=finite,
        enum=enum,
        defined_only=defined_only,
        required=required,
        aliases=aliases,
        ignore_index=ignore_index,
        num_classes=num_classes,
        fields=fields,
    )(value)
    if isinstance(result, Refusal):
        raise Refused.of(result)
    return Normalized(result) if result is value else Normalized(result, (Change("", "scalar", value, result),))


def normalizer(
    *,
    form: str = "json",
    type: str,  # noqa: A002
    quoted_numbers: bool | None = None,
    bool_words: Mapping[str, Any] | None = None,
    fold_width: bool = False,
    exact: bool = False,
    finite: bool | None = None,
    enum: Mapping[str, int] | None = None,
    defined_only: bool = False,
    required: bool = False,
    aliases: Mapping[str, Sequence[str]] | None = None,
    ignore_index: int | None = None,
    num_classes: int | None = None,
    fields: Mapping[str, str] | None = None,
) -> Convert:
    """The non-raising twin of ``normalize``: takes JSON source or a cell. Raises OptionError."""
    if form not in ("json", "text"):
        raise OptionError("form", "no form of a value; expected json or text")
    convert: Convert
    if type == "object":
        if form != "json":
            raise OptionError("type", "a text cell holds no object")
        convert = _object({name: converter(type=field) for name, field in (fields or {}).items()})
    else:
        convert = converter(
            form=form,
            type=type,
            quoted_numbers=quoted_numbers,
            bool_words=bool_words,
            fold_width=fold_width,
            exact=exact,
            finite=finite,
            enum=enum,
            defined_only=defined_only,
            required=required,
            aliases=aliases,
            ignore_index=ignore_index,
            num_classes=num_classes,
        )

    def cell(value: object) -> Any:
        if not isinstance(value, str):
            return Refusal("scalar.type", f"not a text; expected a text cell, got {describe(value)}")
        return convert(value)

    def source(value: object) -> Any:
        if not isinstance(value, str):
            return Refusal("scalar.type", f"not a text; expected JSON, got {describe(value)}")
        try:
            parsed = parse(value)
        except NotJson:
            return Refusal("scalar.syntax", f"not JSON; expected one JSON value, got {describe(value)}")
        if parsed is None:
            return Refusal("scalar.required", "null; expected a value") if required else None
        return convert(parsed)

    return cell if form == "text" else source


def converter(
    *,
    type: str,  # noqa: A002
    form: str = "json",
    quoted_numbers: bool | None = None,
    bool_words: Mapping[str, Any] | None = None,
    fold_width: bool = False,
    exact: bool = False,
    finite: bool | None = None,
    enum: Mapping[str, int] | None = None,
    defined_only: bool = False,
    required: bool = False,
    aliases: Mapping[str, Sequence[str]] | None = None,
    ignore_index: int | None = None,
    num_classes: int | None = None,
) -> Convert:
    """Parsed JSON (or a text cell) -> plain value or Refusal, for one scalar type. Raises OptionError."""
    reader = _Numbers(form, quoted_numbers is not False, bool(fold_width))
    words = _words(bool_words, reader) if bool_words is not None else None
    if type in INTEGERS:
        return _integer(type, reader)
    if type in _FLOATS:
        return _floating(type, reader, exact=bool(exact), finite=finite is not False)
    if type == "bool":
        return _boolean(reader, words)
    if type == "string":
        return _string(form)
    if type == "bytes":
        return _bytes(form)
    if type == "enum":
        return _enum(reader, enum or {}, bool(defined_only), bool(required))
    if type == "label":
        named = labels.normalizer(aliases=aliases, ignore_index=ignore_index, num_classes=num_classes)
        return named if form == "text" else _label(named)
    if type == "label_id":
        return _label_id(reader, labels.normalizer(ignore_index=ignore_index, num_classes=num_classes))
    raise OptionError("type", f"no scalar type; expected one of {', '.join(_TYPES)}")


def cell(
    *,
    type: str,  # noqa: A002
    bool_words: Mapping[str, Any] | None = None,
    fold_width: bool = False,
    exact: bool = False,
    finite: bool | None = None,
) -> Callable[[object], str | Refusal]:
    """What generated code calls for a string field that holds a text cell: its text -> the canonical text of its value.

    ``type``: a number's type, or bool. Canonical is what the function itself leaves alone: an integer or decimal number
    in plain digits without superfluous zeros (of a float or double the shortest that reads back as the same number),
    NaN, Infinity, true, false. The very object is returned where nothing changes. Raises OptionError.
    """
    if type not in (*INTEGERS, *_FLOATS, "bool"):
        raise OptionError("type", "no number and no bool; expected the type that the text stands for")
    convert = converter(
        form="text", type=type, bool_words=bool_words, fold_width=fold_width, exact=exact, finite=finite
    )

    def canonical(value: Any) -> str | Refusal:
        if not isinstance(value, str):
            return Refusal("scalar.type", f"not a text; expected a text cell, got {describe(value)}")
        result = convert(value)
        if isinstance(result, Refusal):
            return result
        text = _written(result, single=type == "float")
        return value if text == value else text

    return canonical


def _written(value: bool | int | float, *, single: bool) -> str:
    """A value as a text cell holds it, without exponent. ``single``: the number is one that a float holds."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if value - value != 0:
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    digits = repr(value)
    if single:
        digits = next(text for size in range(1, 18) if _single(float(text := f"{value:.{size}g}")) == value)
    plain = f"{Decimal(digits):f}"
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


# ----------------------------------------------------------------------------------------------------------------------
# Numbers


class _Numbers:
    """How a source writes numbers: JSON tokens, quoted JSON numbers, or text cells."""

    __slots__ = ("fold", "quoted", "text")

    def __init__(self, form: str, quoted: bool, fold: bool) -> None:
        self.text: Final = form == "text"
        self.quoted: Final = quoted
        self.fold: Final = fold

    def clean(self, value: str) -> str:
        """A cell trimmed, full-width forms folded where declared."""
        if self.fold:
            value = value.translate(_WIDE)
        return value.strip(WHITE_SPACE) if self.text else value

    def match(self, value: Json, expected: str) -> re.Match[str] | str | Refusal:
        """The number's parts, or the text where it is one of NaN and the infinities."""
        if isinstance(value, str) and (self.text or self.quoted or isinstance(value, Number)):
            written = value if isinstance(value, Number) else self.clean(value)
            if written in _SPECIAL and not isinstance(value, Number):
                return str(written)
            found = (_CELL_NUMBER if self.text else _JSON_NUMBER).fullmatch(written)
            if found is not None:
                return found
            if self.text and _EXPONENT.fullmatch(written):
                return Refusal(
                    "scalar.syntax",
                    "an exponent, as left by a program that cut digits; expected "
                    f"{expected} in plain digits, got {got(value)}",
                )
            return Refusal("scalar.syntax", f"not a number; expected {expected}, got {got(value)}")
        return Refusal("scalar.type", f"not a number; expected {expected}, got {got(value)}")


def _integer(type_name: str, reader: _Numbers) -> Convert:
    low, high = INTEGERS[type_name]

    def convert(value: Any) -> int | Refusal:
        if value.__class__ is Number and len(value) < 19 and value.isdecimal():
            number = int(value)
            if number <= high:
                return number
        found = reader.match(value, type_name)
        if isinstance(found, Refusal):
            return found
        result = None if isinstance(found, str) else _whole(found)
        if isinstance(found, str) or result is None:
            return Refusal("scalar.inexact", f"not an integer; expected {type_name}, got {got(value)}")
        if not low <= result <= high:
            return Refusal("scalar.range", f"an integer out of range; expected {type_name}, got {got(value)}")
        return result

    return convert


_TOO_LARGE: Final = 1 << 80


def _whole(found: re.Match[str]) -> int | None:
    """The integer that the parts denote, None where it is none. No exponent is expanded beyond 25 digits."""
    sign, whole, fraction, exponent = found.groups()
    digits = (whole + (fraction or "")).lstrip("0")
    if not digits:
        return 0
    significant = digits.rstrip("0")
    power = exponent or "0"
    negative, magnitude = power[0] == "-", power.lstrip("+-").lstrip("0") or "0"
    if len(magnitude) > 12:
        shift = -(10**12) if negative else 10**12
    else:
        shift = -int(magnitude) if negative else int(magnitude)
    shift += len(digits) - len(significant) - len(fraction or "")
    if shift < 0:
        return None
    result = _TOO_LARGE if len(significant) + shift > 25 else int(significant) * 10**shift
    return -result if sign == "-" else result


def _floating(type_name: str, reader: _Numbers, *, exact: bool, finite: bool) -> Convert:
    single = type_name == "float"

    def convert(value: Json) -> float | Refusal:
        found = reader.match(value, type_name)
        if isinstance(found, Refusal):
            return found
        if isinstance(found, str):
            if finite:
                return Refusal("scalar.finite", f"not a finite number; expected {type_name}, got {got(value)}")
            return _SPECIAL[found]
        written = found[0]
        result = float(written)
        if single and result - result == 0:
            result = _single(result)
        if result - result != 0:
            return Refusal("scalar.range", f"a number out of range; expected {type_name}, got {got(value)}")
        if exact and not _same(written, result):
            return Refusal("scalar.inexact", f"a number that {type_name} cannot hold exactly, got {got(value)}")
        return result

    return convert


def _single(number: float) -> float:
    """The nearest number that a float holds; an infinity beyond the largest."""
    try:
        return struct.unpack("<f", struct.pack("<f", number))[0]  # type: ignore[no-any-return]
    except OverflowError:
        return math.copysign(math.inf, number)


def _same(written: str, result: float) -> bool:
    try:
        return Decimal(written) == Decimal(result)
    except InvalidOperation:  # an exponent beyond what Decimal holds: no double is that close to zero
        return False


# ----------------------------------------------------------------------------------------------------------------------
# Other scalars


def _words(words: Mapping[str, Any], reader: _Numbers) -> dict[str, bool]:
    if not isinstance(words, Mapping):
        raise OptionError("bool_words", "no mapping of words")
    known: dict[str, bool] = {"true": True, "false": False}
    pairs: list[tuple[Any, Any]] = []
    for word, meaning in words.items():
        if isinstance(meaning, bool):
            pairs.append((word, meaning))
        elif word in ("true", "false") and isinstance(meaning, Sequence) and not isinstance(meaning, str):
            pairs.extend((other, word == "true") for other in meaning)
        else:
            raise OptionError("bool_words", 'expected {word: bool} or {"true": [words], "false": [words]}')
    for word, meaning in pairs:
        key = _word(word, reader) if isinstance(word, str) else ""
        if not key:
            raise OptionError("bool_words", "an empty word")
        if known.setdefault(key, meaning) is not meaning:
            raise OptionError("bool_words", f"{word!r} means both true and false")
    return known


def _word(word: str, reader: _Numbers) -> str:
    return (word.translate(_WIDE) if reader.fold else word).strip(WHITE_SPACE).casefold()


def _boolean(reader: _Numbers, words: Mapping[str, bool] | None) -> Convert:
    known = {"true": True, "false": False} if words is None else words
    by_word = reader.text or words is not None

    def convert(value: Json) -> bool | Refusal:
        if isinstance(value, bool):
            return value
        if by_word and isinstance(value, str) and not isinstance(value, Number):
            meaning = known.get(_word(value, reader))
            if meaning is not None:
                return meaning
            return Refusal("scalar.syntax", f"no word for a bool; expected one of {len(known)}, got {got(value)}")
        return Refusal("scalar.type", f"not a bool; expected true or false, got {got(value)}")

    return convert


def _string(form: str) -> Convert:
    def convert(value: Json) -> str | Refusal:
        if not isinstance(value, str) or isinstance(value, Number):
            return Refusal("scalar.type", f"not a text; expected a string, got {got(value)}")
        if not is_text(value):
            return Refusal("scalar.syntax", f"half of a surrogate pair; expected Unicode text, got {got(value)}")
        return value.strip(WHITE_SPACE) if form == "text" else value

    return convert


def _bytes(form: str) -> Convert:
    def convert(value: Json) -> bytes | Refusal:
        if not isinstance(value, str) or isinstance(value, Number):
            return Refusal("scalar.type", f"not a text; expected base64, got {got(value)}")
        decoded = from_base64(value.strip(WHITE_SPACE) if form == "text" else value)
        if decoded is None:
            return Refusal("scalar.syntax", f"not base64; expected its characters only, got {got(value)}")
        return decoded

    return convert


def from_base64(text: str) -> bytes | None:
    """The bytes of base64 in either alphabet, padded or not; None where the text is no base64."""
    body = text.rstrip("=")
    missing = -len(body) % 4
    if missing == 3 or len(text) - len(body) > missing:
        return None
    try:
        return base64.b64decode(body.translate(_URL_SAFE) + "=" * missing, validate=True)
    except (binascii.Error, ValueError):  # ValueError: a character outside of ASCII
        return None


def _enum(reader: _Numbers, names: Mapping[str, int], defined_only: bool, required: bool) -> Convert:
    by_number: dict[int, str] = {}
    for name, number in names.items():
        by_number.setdefault(number, name)  # of aliases the first one declared is canonical, as in protobuf
    integer = _integer("int32", reader)

    def convert(value: Json) -> str | int | Refusal:
        number: int | None = None
        if isinstance(value, str) and not isinstance(value, Number):
            number = names.get(reader.clean(value))
            if number is None and not _NUMERIC_TEXT.search(value):
                return Refusal("scalar.enum", f"no name of the enum; expected one of {len(names)}, got {got(value)}")
        if number is None:
            written = integer(value)
            if isinstance(written, Refusal):
                return written
            number = int(written)
        if required and number == 0:
            return Refusal("scalar.required", "the enum's zero value; expected a choice")
        name = by_number.get(number)
        if name is None and defined_only:
            return Refusal("scalar.enum", f"no number of the enum; expected a declared one, got {got(value)}")
        return number if name is None else name

    return convert


_NUMERIC_TEXT: Final = re.compile(r"[0-9０-９]")


def _label(named: Convert) -> Convert:
    def convert(value: Json) -> str | int | Refusal:
        if isinstance(value, str) and not isinstance(value, Number):
            return named(value)  # type: ignore[no-any-return]
        return Refusal("scalar.type", f"not a text; expected a label, got {got(value)}")

    return convert


def _label_id(reader: _Numbers, numbered: Convert) -> Convert:
    integer = _integer("int64", reader)

    def convert(value: Json) -> int | Refusal:
        number = integer(value)
        return number if isinstance(number, Refusal) else numbered(number)

    return convert


# ----------------------------------------------------------------------------------------------------------------------
# Objects


def json_name(name: str) -> str:
    """The JSON name that protobuf gives a field: lowerCamelCase."""
    head, *rest = name.split("_")
    return head + "".join(part[:1].upper() + part[1:] for part in rest)


def _object(fields: Mapping[str, Convert]) -> Convert:
    by_name = {spelling: name for name in fields for spelling in (json_name(name), name)}

    def convert(value: Json) -> dict[str, Any] | Refusal:
        if not isinstance(value, Object):
            return Refusal("scalar.type", f"not an object; expected fields, got {got(value)}")
        result: dict[str, Any] = {}
        seen: set[str] = set()
        for key, _ in value.pairs:
            name = by_name.get(key, key)
            if name in seen:
                return Refusal("scalar.duplicate", "a name that occurs twice; expected each field once")
            seen.add(name)
        for key, item in value.pairs:
            name = by_name.get(key, "")
            if not name:
                return Refusal("scalar.unknown_field", "a field that is not declared; expected declared ones")
            if item is None:
                continue
            field = fields[name](item)
            if isinstance(field, Refusal):
                return Refusal(field.rule_id, f"{name}: {field.message}")
            result[name] = field
        return result

    return convert
