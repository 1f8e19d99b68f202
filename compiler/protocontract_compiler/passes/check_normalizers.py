"""Checks normalizers: the field's type, the options, and the sibling that one writes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from protocontract_compiler import ir
from protocontract_compiler.descriptors import Loaded
from protocontract_compiler.diagnostics import Diagnostics
from protocontract_compiler.passes import checking
from protocontract_compiler.passes.checking import FieldScope, element, kind_of, singular
from protocontract_compiler.passes.pass_annotations import FIELD, TARGETS

_NUMBERS = checking.NUMBER_TYPES
_STRING = frozenset({ir.TYPE_STRING})

# The types of fields that a normalizer works on, and how a message says so.
_TYPES: Mapping[str, tuple[frozenset[int], str]] = {
    "text": (_STRING, "a string field"),
    "money": (_STRING, "a string field"),
    "instant": (_STRING | ir.INTEGER_TYPES, "a string or integer field"),
    "quantity": (_STRING | _NUMBERS, "a string or number field"),
    "label": (_STRING | ir.INTEGER_TYPES, "a string or integer field"),
    "scalar": (_STRING | _NUMBERS | {ir.TYPE_BOOL}, "a string, number or bool field"),
}
_SCALAR_TYPES = {
    ir.TYPE_DOUBLE: "double", ir.TYPE_FLOAT: "float", ir.TYPE_INT64: "int64", ir.TYPE_UINT64: "uint64",
    ir.TYPE_INT32: "int32", ir.TYPE_FIXED64: "uint64", ir.TYPE_FIXED32: "uint32", ir.TYPE_BOOL: "bool",
    ir.TYPE_UINT32: "uint32", ir.TYPE_SFIXED32: "int32", ir.TYPE_SFIXED64: "int64", ir.TYPE_SINT32: "int32",
    ir.TYPE_SINT64: "int64",
}  # fmt: skip


def check(loaded: Loaded, schema: ir.Schema, diagnostics: Diagnostics) -> None:
    """Notes the mistakes in all normalizers of a schema."""
    for scope in checking.annotated_fields(loaded, schema, diagnostics):
        _check_one_normalizer(scope)
        normalizer = scope.field.normalizer
        if normalizer is None:
            continue
        types, wanted = _TYPES[normalizer.kind]
        if element(scope.field).type not in types:
            scope.error(
                "normalizer-type", (normalizer.kind,),
                f"`{normalizer.kind}` does not fit `{scope.field.name}`; expected {wanted}, got {kind_of(scope.field)}",
            )  # fmt: skip
            continue
        _check_options(scope, normalizer)
        if normalizer.target is not None:
            _check_target(scope, normalizer, normalizer.target)
    for message in schema.messages.values():
        _check_writers(loaded, message, diagnostics)


def _check_one_normalizer(scope: FieldScope) -> None:
    """Two statements that set two members of the oneof: protobuf keeps the last one and says nothing."""
    options = scope.loaded.options.field(scope.descriptor)
    if options is None:
        return
    members = options.DESCRIPTOR.oneofs_by_name["normalizer"].fields
    written = [m.name for m in members if scope.loaded.places.is_written(scope.descriptor, FIELD, m.name)]
    if len(written) > 1:
        names = " and ".join(f"`{name}`" for name in written)
        scope.error("normalizer-clash", (written[-1],), f"`{scope.field.name}` has {names}; expected one normalizer")


def _check_options(scope: FieldScope, normalizer: ir.Normalizer) -> None:
    options = ir.keywords(normalizer.options)
    field = element(scope.field)
    is_text = field.type == ir.TYPE_STRING
    word = normalizer.kind
    if word == "money":
        _check_money(scope, options, (word,), has_currency_field=normalizer.target is not None)
    elif word == "text":
        _check_text(scope, options)
    elif word == "instant":
        from protocontract.normalize import instant

        scope.options("normalizer-option", word, instant.normalizer, options)
        if not is_text and "epoch_unit" not in options:
            scope.error(
                "normalizer-option", (word,), "an integer without `epoch_unit` is no moment; expected S, MS, US or NS"
            )
        if not is_text:
            for name in ("zone", "order", "fold", "gap", "hour24", "date_only", "leap_second"):
                if name in options:
                    scope.error(
                        "normalizer-option", (word, name),
                        f"`instant.{name}` reads text; expected a string field, got {kind_of(scope.field)}",
                    )  # fmt: skip
    elif word == "quantity":
        _check_quantity(scope, options)
    elif word == "label":
        _check_label(scope, options, is_text=is_text)
    else:
        _check_scalar(scope, options, field)


def _check_money(
    scope: FieldScope, options: dict[str, Any], steps: tuple[str, ...], *, has_currency_field: bool
) -> None:
    from protocontract.normalize import money

    if steps == ("money",):
        # Beyond what each option means by itself: a result without its currency must leave only one possible, and
        # must read back as the same number.
        def checked(**given: Any) -> None:
            money.normalizer(**given)
            money.check_options(**given, has_currency_field=has_currency_field)

        scope.options("normalizer-option", "money", checked, options)


def _check_text(scope: FieldScope, options: dict[str, Any]) -> None:
    from protocontract.normalize import text

    amounts = scope.loaded.options.field(scope.descriptor)
    currency_field = amounts.text.amounts.currency_field if amounts is not None else ""  # type: ignore[attr-defined]
    if currency_field:
        scope.error(
            "money-currency-field", ("text", "amounts", "currency_field"),
            "amounts inside a text carry their currency with them; expected no currency_field",
        )  # fmt: skip
        options["amounts"].pop("currency_field", None)
    if not options:
        scope.error("normalizer-option", ("text",), "`text` asks for nothing; expected at least one step")
        return
    scope.options("normalizer-option", "text", text.normalizer, options)


def _check_quantity(scope: FieldScope, options: dict[str, Any]) -> None:
    from protocontract.normalize import quantity

    if "unit" not in options:
        scope.error("normalizer-option", ("quantity",), "`quantity` has no unit; expected the canonical one")
        return
    scope.options("normalizer-option", "quantity", quantity.normalizer, options)
    field = element(scope.field)
    if field.type in ir.INTEGER_TYPES and options.get("scale") and scope.field.normalizer.target is None:  # type: ignore[union-attr]
        scope.error(
            "normalizer-option", ("quantity", "scale"),
            f"`{scope.field.name}` holds no digits after the point; expected scale 0, got {options['scale']}",
        )  # fmt: skip


def _check_label(scope: FieldScope, options: dict[str, Any], *, is_text: bool) -> None:
    from protocontract.normalize import label

    for name in ("ignore_index", "num_classes") if is_text else ("aliases",):
        if name in options:
            wanted = "an integer field" if is_text else "a string field"
            scope.error(
                "normalizer-option", ("label", name),
                f"`label.{name}` does not fit `{scope.field.name}`; expected {wanted}, got {kind_of(scope.field)}",
            )  # fmt: skip
            return
    if is_text and "aliases" not in options:
        scope.error("normalizer-option", ("label",), "`label` names no labels; expected aliases")
    elif not is_text and "num_classes" not in options:
        scope.error("normalizer-option", ("label",), "`label` of an integer has no num_classes; expected their number")
    else:
        scope.options("normalizer-option", "label", label.normalizer, options)


def _check_scalar(scope: FieldScope, options: dict[str, Any], field: ir.Field) -> None:
    from protocontract.normalize import scalar

    given = dict(options)
    declared = given.pop("type", None)
    is_text = field.type == ir.TYPE_STRING
    if is_text and declared is None:
        scope.error(
            "normalizer-option", ("scalar",), "`scalar` of a text has no type; expected what the text stands for"
        )
        return
    if declared is not None and not is_text:
        scope.error(
            "normalizer-option", ("scalar", "type"),
            f"`scalar.type` is for texts; expected a string field, got {kind_of(scope.field)}",
        )  # fmt: skip
        return
    of_bool = declared == "bool" or field.type == ir.TYPE_BOOL
    if "bool_words" in options and not of_bool:
        wanted = "type BOOL" if is_text else f"a bool field, got {kind_of(scope.field)}"
        scope.error(
            "normalizer-option", ("scalar", "bool_words"), f"`scalar.bool_words` reads bools; expected {wanted}"
        )
        return
    if of_bool:
        given.pop("finite", None)
    if not is_text:
        scope.options("normalizer-option", "scalar", scalar.normalizer, {**given, "type": _SCALAR_TYPES[field.type]})
    elif not given.pop("quoted_numbers", True):
        scope.error(
            "normalizer-option", ("scalar", "quoted_numbers"),
            "`scalar.quoted_numbers` is about JSON numbers; expected a number field, got string",
        )  # fmt: skip
    else:
        scope.options("normalizer-option", "scalar", scalar.cell, {**given, "type": declared})


def _check_target(scope: FieldScope, normalizer: ir.Normalizer, target: str) -> None:
    option = TARGETS[normalizer.kind]
    id_ = {"money": "money-currency-field", "instant": "instant-field", "quantity": "quantity-value-field"}[
        normalizer.kind
    ]
    steps = (normalizer.kind, option)
    if scope.field.shape is not ir.Shape.SINGULAR:
        scope.error(id_, steps, f"`{scope.field.name}` has several values; expected no {option}, which holds one")
        return
    found = scope.lookup(id_, steps, target)
    if found is None:
        return
    if found.name == scope.field.name:
        scope.error(id_, steps, f"`{target}` is the field itself; expected a sibling")
    elif found.normalizer is not None:
        scope.error("normalizer-clash", steps, f"`{target}` has a normalizer of its own; expected a field without one")
    elif found.oneof is not None and found.oneof == scope.field.oneof:
        scope.error(id_, steps, f"`{target}` is in the same oneof as `{scope.field.name}`; expected a field beside it")
    elif normalizer.kind == "money":
        _check_currency_target(scope, normalizer, found, steps)
    elif normalizer.kind == "instant":
        if found.shape is not ir.Shape.SINGULAR or found.message != "google.protobuf.Timestamp":
            scope.error(id_, steps, f"`{target}` cannot hold a moment; expected Timestamp, got {kind_of(found)}")
    elif not singular(found, *_NUMBERS):
        scope.error(id_, steps, f"`{target}` cannot hold a number; expected a number field, got {kind_of(found)}")


def _check_currency_target(
    scope: FieldScope, normalizer: ir.Normalizer, found: ir.Field, steps: tuple[str, ...]
) -> None:
    if singular(found, ir.TYPE_STRING):
        return
    if not singular(found, ir.TYPE_ENUM) or found.enum is None:
        scope.error(
            "money-currency-field", steps,
            f"`{found.name}` cannot hold a currency code; expected string or enum, got {kind_of(found)}",
        )  # fmt: skip
        return
    options = ir.keywords(normalizer.options)
    needed = {*options.get("allowed", ()), *filter(None, [options.get("default_currency")])}
    values = scope.schema.enums[found.enum].values
    codes = {value.code or value.name for value in values}
    missing = sorted(code for code in needed if code not in codes)
    if missing:
        names = ", ".join(missing)
        scope.error(
            "money-currency-field", steps,
            f"`{found.name}` cannot hold {names}; expected an enum value with (protocontract.v1.value).code for each",
        )  # fmt: skip
    elif not needed and not any(value.code for value in values):
        scope.error(
            "money-currency-field", steps,
            f"`{found.name}` names no currency; expected enum values with (protocontract.v1.value).code",
        )  # fmt: skip


def _check_writers(loaded: Loaded, message: ir.Message, diagnostics: Diagnostics) -> None:
    """Two normalizers that write one sibling would overwrite each other."""
    writers: dict[str, str] = {}
    descriptor = loaded.pool.FindMessageTypeByName(message.full_name)
    for field in message.fields:
        normalizer = field.normalizer
        if normalizer is None or normalizer.target is None:
            continue
        first = writers.setdefault(normalizer.target, field.name)
        if first != field.name:
            place = loaded.places.option(
                descriptor.fields_by_name[field.name], FIELD, normalizer.kind, TARGETS[normalizer.kind]
            )
            diagnostics.error(
                "normalizer-clash", place, f"`{first}` writes `{normalizer.target}` already; expected one writer"
            )
