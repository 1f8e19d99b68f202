"""TypeScript of normalizers and relations with their options bound, and what of them is refused as inexact.

``use`` gives the local name of what a helper module exports; a helper that nobody asks for is not written, and a bundle
holds only the steps that a contract declares.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Final

from protocontract.normalize import instant, money_core, money_currency, quantity_units, scalar
from protocontract.normalize import label as labels
from protocontract.normalize.numbers import Marks, declared_marks
from protocontract.relations import tensor
from protocontract_compiler import ir
from protocontract_compiler.emit.typescript.access import literal, text
from protocontract_compiler.emit.typescript.inexact import Inexact
from protocontract_compiler.emit.typescript.known import OPTIONS, check_known

Use = Callable[[str, str], str]
"""(helper module, exported name) -> local name."""

# Letters whose case folding came, or came to matter, with a version of Unicode that some of Python's lack: those that
# fold, and what they fold to.
_YOUNG_CASE: Final = (
    *(0x0264, 0x019B), *range(0xA7CB, 0xA7D0), *range(0xA7D2, 0xA7D6), *range(0xA7DA, 0xA7DE),
    *range(0x10D50, 0x10D90), *range(0x16EA0, 0x16EE0),
)  # fmt: skip


def camel(name: str) -> str:
    """An option's name as TypeScript has it."""
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


def record(options: Mapping[str, str]) -> str:
    """Code of an object with these properties, whose values are code."""
    return f"{{ {', '.join(f'{name}: {code}' for name, code in options.items())} }}" if options else "{}"


def call(function: str, options: Mapping[str, str]) -> str:
    """Code that binds options: marked as without effect, so that a bundler may leave it out."""
    return f"/* @__PURE__ */ {function}({record(options)})"


def normalizer(use: Use, kind: str, options: Mapping[str, Any], field_type: int, place: ir.Place) -> str:
    """Code of a normalizer. Raises Inexact."""
    check_known(kind, options, place)
    match kind:
        case "text":
            return _text(use, options, place)
        case "label":
            return _label(use, options, field_type, place)
        case "scalar":
            return _scalar(use, options, place)
        case "instant":
            return _instant(use, options)
        case "money":
            return _money(use, options)
        case "quantity":
            return _quantity(use, options, place)
    raise Inexact(
        place, f"`{kind}` has no translation", "normalise this field in Python, or leave its message out by `messages`"
    )


def relation(use: Use, kind: str, options: Mapping[str, Any], place: ir.Place) -> str:
    """Code of a relation's check. Raises Inexact."""
    check_known(kind, options, place)
    if kind not in OPTIONS:
        raise Inexact(
            place, f"`{kind}` has no translation", "check this field in Python, or leave its message out by `messages`"
        )
    given = {name: value for name, value in options.items() if name not in ir.COMPILED_OPTIONS[kind]}
    if kind == "tensor":
        return _tensor(use, given)
    passed: dict[str, str] = {}
    for name, value in given.items():
        passed[camel(name)] = f"{value}n" if kind == "sequence" and name in ("first", "step") else literal(value)
    return call(use(f"relations/{kind}", f"{camel(kind)}Checker"), passed)


def _tensor(use: Use, options: Mapping[str, Any]) -> str:
    found = tensor.promises(**options)
    passed: dict[str, str] = {}
    if found.dtype is not None:
        passed["dtype"] = text(found.dtype)
    if found.dims:
        passed["dims"] = literal(found.dims)
    if found.bounds:
        passed["bounds"] = literal(found.bounds)
    if found.finite:
        passed["finite"] = "true"
    if found.limits is not None:
        low, high = found.limits
        passed |= {"low": literal(low), "high": literal(high), "range": text(found.range_text)}
    if found.norm is not None:
        passed["norm"] = literal((*found.norm, found.norm_text))
    return call(use("relations/tensor", "tensorChecker"), passed)


# ----------------------------------------------------------------------------------------------------------------------
# Text


def _text(use: Use, options: Mapping[str, Any], place: ir.Place) -> str:
    if options.get("strip_html"):
        raise Inexact(
            place,
            "`text.strip_html` needs an HTML tokenizer, which TypeScript's code has none of",
            "strip markup in Python, or leave the message out by `messages`",
        )
    bound = _text_options(use, options)
    amounts = options.get("amounts")
    if amounts is not None:
        step = f"/* @__PURE__ */ {use('normalize/amounts', 'amounts')}({record(_money_options(amounts))})"
        bound["steps"] = f"[{', '.join(filter(None, (bound['steps'][1:-1], step)))}]"
    return call(use("normalize/text", "textNormalizer"), bound)


def amount_warnings(use: Use, options: Mapping[str, Any]) -> str:
    """Code of what tells why amounts in a text were left as they are."""
    before, money = record(_text_options(use, options)), record(_money_options(options["amounts"]))
    return f"/* @__PURE__ */ {use('normalize/amounts', 'amountWarnings')}({before}, {money})"


def _text_options(use: Use, options: Mapping[str, Any]) -> dict[str, str]:
    """The options of a text field, without its amounts, which come last."""
    steps = []
    form = ""
    if options.get("strip_bom"):
        steps.append(use("normalize/text", "stripBom"))
    if options.get("normalize"):
        name = str(options["normalize"])
        module = "normalize/composition" if name == "nfc" else "normalize/compatibility"
        form = f"/* @__PURE__ */ {use('normalize/text', 'normalization')}({use(module, name)})"
        steps.append(form)
    if options.get("fold_width"):
        steps.append(use("normalize/width", "widthEdits"))
    if options.get("strip_controls"):
        steps.append(use("normalize/text", "stripControls"))
    if form and (options.get("fold_width") or options.get("strip_controls")):
        # Both can bring characters together that compose.
        steps.append(form)
    steps += [use("normalize/text", camel(name)) for name in ("collapse_whitespace", "trim") if options.get(name)]
    bound = {"steps": f"[{', '.join(steps)}]"}
    reject = list(dict.fromkeys(options.get("reject") or ()))
    if reject:
        places = {"mojibake": "normalize/mojibake"}
        classes = (use(places.get(each, "normalize/text"), each.upper()) for each in reject)
        bound["reject"] = f"[{', '.join(classes)}]"
    if options.get("reject_empty"):
        bound["rejectEmpty"] = "true"
    return bound


# ----------------------------------------------------------------------------------------------------------------------
# Labels and cells


def _label(use: Use, options: Mapping[str, Any], field_type: int, place: ir.Place) -> str:
    if field_type in ir.INTEGER_TYPES:
        bound = {"numClasses": literal(options["num_classes"])}
        if options.get("ignore_index") is not None:
            bound["ignoreIndex"] = f"{options['ignore_index']}n"
        return call(use("normalize/class_number", "classChecker"), bound)
    words = labels.words(options["aliases"])
    for word in words:
        _check_case(word, "label.aliases", place)
    return f"/* @__PURE__ */ {use('normalize/label', 'labelNormalizer')}({_pairs(words)})"


def _pairs(pairs: Mapping[str, Any]) -> str:
    """A list of pairs: an object's keys may mean something else to JavaScript, such as ``__proto__``."""
    return f"[{', '.join(f'[{text(key)}, {literal(value)}]' for key, value in pairs.items())}]"


def _check_case(word: str, option: str, place: ir.Place) -> None:
    young = [each for each in word if ord(each) in _YOUNG_CASE or unicodedata.category(each) == "Cn"]
    if young:
        raise Inexact(
            place,
            f"`{option}` has a letter (U+{ord(young[0]):04X}) whose case folding differs between versions of Unicode",
            "use another word",
        )


def _scalar(use: Use, options: Mapping[str, Any], place: ir.Place) -> str:
    kind = str(options["type"])
    bound = {"foldWidth": "true"} if options.get("fold_width") else {}
    if kind == "bool":
        words = options.get("bool_words") or {}
        for word in words:
            _check_case(word, "scalar.bool_words", place)
        if words:
            bound["words"] = _pairs(words)
        return call(use("normalize/scalar", "boolCell"), bound)
    bound["type"] = text(kind)
    if kind in scalar.INTEGERS:
        low, high = scalar.INTEGERS[kind]
        return call(use("normalize/scalar", "integerCell"), {**bound, "low": f"{low}n", "high": f"{high}n"})
    if options.get("exact"):
        bound["exact"] = "true"
    if options.get("finite") is False:
        bound["finite"] = "false"
    return call(use("normalize/scalar", "floatCell"), bound)


# ----------------------------------------------------------------------------------------------------------------------
# Moments

_UNIT_DIGITS: Final = {"s": 9, "ms": 6, "us": 3, "ns": 0}
#: Options that say what is done where otherwise a moment is refused.
_WIDENING: Final = {
    "gap": "shiftGap",
    "leap_second": "leapSecond",
    "hour24": "hour24",
    "date_only": "dateOnly",
    "excess_fraction": "truncate",
}


def _instant(use: Use, options: Mapping[str, Any]) -> str:
    given = {name: str(value) for name, value in options.items() if value not in (None, "reject")}
    bound: dict[str, str] = {}
    if "zone" in given:
        bound["zone"] = text(given["zone"])
    if "order" in given:
        bound["order"] = text(given["order"].upper())
    if "epoch_unit" in given:
        bound["epochDigits"] = str(_UNIT_DIGITS[given["epoch_unit"]])
    if "fold" in given:
        bound["fold"] = text(given["fold"])
    bound |= {camelled: "true" for name, camelled in _WIDENING.items() if name in given}
    for name in ("min", "max"):
        if name in given:
            bound[name] = text(instant.normalize(given[name]).value)
    return call(use("normalize/instant", "instantNormalizer"), bound)


# ----------------------------------------------------------------------------------------------------------------------
# Amounts of money


def _money(use: Use, options: Mapping[str, Any]) -> str:
    return call(use("normalize/money", "moneyNormalizer"), _money_options(options))


def _money_options(options: Mapping[str, Any]) -> dict[str, str]:
    """``sole_currency`` and ``storable`` are among the options where they matter, as in generated Python."""
    checked = money_core.checked_options(
        policy=options.get("policy") or "strict",
        default_currency=options.get("default_currency"),
        allowed=options.get("allowed"),
        locale=options.get("locale"),
        decimal=options.get("decimal"),
        scale=options.get("scale") or "currency",
        sole_currency=options.get("sole_currency"),
        storable=options.get("storable"),
    )
    bound = {"marks": _marks(checked.marks), "scale": text(checked.scale), "english": literal(checked.table.english)}
    if checked.default:
        bound["defaultCurrency"] = text(checked.default)
    if checked.sole:
        bound["sole"] = "true"
    for name, codes in (("allowed", checked.allowed), ("storable", checked.storable)):
        if codes:
            bound[name] = literal(sorted(codes))
    if checked.table.local:
        local = [(each, sorted(mark.candidates), mark.weak) for each, mark in checked.table.local.items()]
        bound["local"] = literal(local)
    regional = money_currency.region_currencies(checked.locale) if checked.locale else ()
    if regional:
        bound["regional"] = literal(sorted(regional))
    return bound


def _marks(declared: Marks) -> str:
    marks = {"lenient": literal(declared.lenient), "lakh": literal(declared.lakh)}
    if declared.by_zero:
        marks["byZero"] = literal([(zero, *pair) for zero, pair in declared.by_zero.items()])
    return record(marks)


# ----------------------------------------------------------------------------------------------------------------------
# Quantities


def _quantity(use: Use, options: Mapping[str, Any], place: ir.Place) -> str:
    marks = declared_marks(
        policy=options.get("policy") or "strict",
        locale=options.get("locale") or None,
        decimal=options.get("decimal") or None,
    )
    allowed = options.get("allowed")
    if not allowed:
        raise Inexact(
            place,
            "`quantity` without `allowed` converts every unit there is, of which TypeScript's code has no exact table",
            "name the units that may occur in `quantity.allowed`",
        )
    target = quantity_units.parse_unit(options["unit"])
    ways = ", ".join(_way(each, target) for each in dict.fromkeys((options["unit"], *allowed)))
    bound = {"unit": text(options["unit"]), "ways": f"[{ways}]", "marks": _marks(marks)}
    if options.get("scale") is not None:
        bound["scale"] = str(options["scale"])
    return call(use("normalize/quantity", "quantityNormalizer"), bound)


def _way(unit: str, target: quantity_units.Unit) -> str:
    """Code of how a unit becomes the canonical one, as the Python runtime computes it."""
    try:
        way = quantity_units.conversion(quantity_units.parse_unit(unit), target)
    except quantity_units.UnitError:
        return record({"unit": text(unit)})
    parts = {"unit": text(unit), "factor": _fraction(way.factor)}
    if way.offset:
        parts["offset"] = _fraction(way.offset)
    return record({**parts, "finite": "true"} if way.finite else parts)


def _fraction(value: Fraction) -> str:
    return f"[{value.numerator}n, {value.denominator}n]"


def quantity_as(use: Use, quantity: str, field_type: int) -> str:
    """Code of a quantity as a field of the type holds it, or a refusal."""
    if field_type == ir.TYPE_STRING:
        return f"{use('normalize/quantity', 'quantityText')}({quantity})"
    if field_type in ir.FLOAT_TYPES:
        return f"{use('normalize/quantity', 'quantityNumber')}({quantity}, {literal(field_type == ir.TYPE_FLOAT)})"
    low, high = scalar.INTEGERS[_INTEGER_NAMES[field_type]]
    return f"{use('normalize/quantity', 'quantityInteger')}({quantity}, {low}n, {high}n)"


_INTEGER_NAMES: Final = {
    ir.TYPE_INT64: "int64", ir.TYPE_UINT64: "uint64", ir.TYPE_INT32: "int32", ir.TYPE_FIXED64: "uint64",
    ir.TYPE_FIXED32: "uint32", ir.TYPE_UINT32: "uint32", ir.TYPE_SFIXED32: "int32", ir.TYPE_SFIXED64: "int64",
    ir.TYPE_SINT32: "int32", ir.TYPE_SINT64: "int64",
}  # fmt: skip
