"""One field of a message: the values that it may have, and whether it may be left out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from protocontract_compiler import ir
from protocontract_compiler import ir_cel as cel
from protocontract_compiler.emit.jsonschema import forms
from protocontract_compiler.emit.jsonschema.combine import Json, all_of, any_of
from protocontract_compiler.emit.jsonschema.conditions import (
    Found,
    Kind,
    Values,
    everything,
    holds,
    kept,
    meet,
    over,
)
from protocontract_compiler.emit.jsonschema.sets import EVERY, Numbers, compared, points
from protocontract_compiler.passes.rule_ids import ids_of

_NO_RULES: Final = ir.ValueRules()
_ZEROS: Final[dict[Kind, Any]] = {"number": 0, "bool": False, "text": "", "bytes": b"", "list": (), "map": ()}
_WRAPPED: Final = {
    "Double": ir.TYPE_DOUBLE, "Float": ir.TYPE_FLOAT, "Int64": ir.TYPE_INT64, "UInt64": ir.TYPE_UINT64,
    "Int32": ir.TYPE_INT32, "UInt32": ir.TYPE_UINT32, "Bool": ir.TYPE_BOOL, "String": ir.TYPE_STRING,
    "Bytes": ir.TYPE_BYTES,
}  # fmt: skip


@dataclass(slots=True)
class Property:
    """A field as its message sees it. ``notes`` are the rules that the schema does not tell, or not in full."""

    schema: Json
    required: bool = False
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Judging:
    """Which rules of a field a schema may tell.

    ``changing``: a normalizer writes the value anew before its rules are looked at. ``written``: another field's
    normalizer does. ``unjudged``: nothing is validated there.
    """

    changing: bool = False
    written: bool = False
    unjudged: bool = False


def is_this(expr: cel.Expr) -> bool:
    """Whether an expression is the value that a rule is about."""
    if isinstance(expr, cel.Unwrap):
        return is_this(expr.operand)
    return isinstance(expr, cel.Var) and expr.name == "this" and not expr.slot


def wrapped_type(name: str | None) -> int | None:
    """The scalar type in a wrapper message."""
    if name not in ir.WRAPPERS:
        return None
    return _WRAPPED[str(name).removeprefix("google.protobuf.").removesuffix("Value")]


def kind_of(part: ir.Field) -> Kind:
    """What rules of one value of the field are about."""
    if part.message in {"google.protobuf.Timestamp", "google.protobuf.Duration"}:
        return "number"
    type_ = wrapped_type(part.message) or part.type
    if type_ in ir.INTEGER_TYPES or type_ in ir.FLOAT_TYPES or type_ == ir.TYPE_ENUM:
        return "number"
    return {ir.TYPE_BOOL: "bool", ir.TYPE_STRING: "text", ir.TYPE_BYTES: "bytes"}.get(type_, "other")  # type: ignore[return-value]


class Fields:
    """Properties of the fields of one schema.

    ``reference`` gives the schema of a message, ``empty`` one of the same message in which nothing is set.
    """

    def __init__(
        self,
        schema: ir.Schema,
        reference: Callable[[str, frozenset[str] | None], Json],
        empty: Callable[[str], Json],
        *,
        normalized: bool,
    ) -> None:
        self._schema = schema
        self._reference = reference
        self.empty = empty
        self.normalized = normalized

    def of(self, field: ir.Field, judging: Judging, unjudged_inside: frozenset[str]) -> Property:
        """The property of a field; ``unjudged_inside`` are fields of its items that are not judged."""
        rules = field.rules or _NO_RULES
        if judging.unjudged or rules.ignore == "always":
            rules, unjudged = _NO_RULES, True
        else:
            unjudged = False
        builder = _Builder(self, field, rules, judging, None if unjudged else unjudged_inside)
        match field.shape:
            case ir.Shape.SINGULAR:
                found = builder.singular()
            case ir.Shape.REPEATED:
                found = builder.repeated()
            case ir.Shape.MAP:
                found = builder.map()
        # Relations and normalizers are no rules of buf.validate: what it ignores is no matter to them.
        for relation in field.relations:
            told = builder.told_of_tensor if relation.kind == "tensor" else frozenset()
            found.notes += [f"{rule_id} (not told)" for rule_id in ids_of(relation) if rule_id not in told]
        return found

    def value(self, part: ir.Field, values: Values, owner: ir.Field, inside: frozenset[str] | None) -> tuple[Json, str]:
        """One value of a field in JSON, and what is to be said of the rules of ``values``: nothing, if all is told."""
        numbers = values if isinstance(values, Numbers) else EVERY
        texts: Json = True if isinstance(values, Numbers) else values
        type_ = wrapped_type(part.message) or part.type
        loose = _loose(owner)
        if part.message == "google.protobuf.Duration":
            signed, exact = forms.duration(numbers)
            return signed, "" if exact else "told in part"
        if type_ in ir.MESSAGE_TYPES:
            known = forms.well_known(str(part.message))
            told = part.message != "google.protobuf.Timestamp" or not (~numbers).spans
            form = self._reference(str(part.message), inside) if known is None else known
            return form, "" if told else "not told"
        if type_ in ir.INTEGER_TYPES:
            return _or_any_text(forms.integer(type_, numbers, quoted=loose.quoted), loose.any_text), _told(
                loose, numbers
            )
        if type_ in ir.FLOAT_TYPES:
            form = forms.floating(numbers, single=type_ == ir.TYPE_FLOAT, quoted=loose.quoted, finite=loose.finite)
            return _or_any_text(form, loose.any_text), _told(loose, numbers)
        if type_ == ir.TYPE_ENUM:
            enum = self._schema.enums[str(part.enum)]
            form = forms.enumeration(enum, numbers, spelled=not self.normalized)
            spelled = not self.normalized and forms.is_spelled(enum) and bool((~numbers).spans)
            return _or_any_text(form, loose.any_text), "told in part" if spelled else ""
        if type_ == ir.TYPE_BOOL:
            return forms.boolean(numbers, words=loose.any_text), _told(loose, numbers)
        if type_ == ir.TYPE_BYTES:
            return forms.encoded(numbers), ""
        if texts is False:
            return False, ""
        return all_of([forms.TEXT, texts]), ""


@dataclass(frozen=True, slots=True)
class _Loose:
    """What the `scalar` word lets JSON write."""

    quoted: bool = True
    finite: bool = False
    any_text: bool = False


def _loose(field: ir.Field) -> _Loose:
    if field.normalizer is None or field.normalizer.kind != "scalar" or not field.normalizer.options:
        return _Loose()
    options = dict(field.normalizer.options)
    return _Loose(
        options.get("quoted_numbers") is not False,
        options.get("finite") is not False,
        bool(options.get("bool_words") or options.get("fold_width")),
    )


def _told(loose: _Loose, numbers: Numbers) -> str:
    return "told in part" if loose.any_text and (~numbers).spans else ""


def _or_any_text(form: Json, any_text: bool) -> Json:
    return any_of([form, forms.TEXT]) if any_text else form


class _Builder:
    def __init__(
        self, fields: Fields, field: ir.Field, rules: ir.ValueRules, judging: Judging, inside: frozenset[str] | None
    ) -> None:
        self._fields = fields
        self._field = field
        self._rules = rules
        self._judging = judging
        self._inside = inside
        self._notes: list[str] = []
        # The rules by which the values were judged that are written next.
        self._told: list[str] = []
        governance = field.governance
        #: The ids of `tensor` that the schema tells.
        self.told_of_tensor: frozenset[str] = frozenset()
        self._warnings = {rule_id for rule_id, severity in governance.severities if severity == "WARNING"}
        self._sometimes = {rule_id for rule_id, _ in governance.contexts}

    # -- shapes

    def singular(self) -> Property:
        field, rules = self._field, self._rules
        kind = kind_of(field)
        found = self._judged(rules, kind, changing=self._judging.changing)
        found = meet(kind, [found, *self._normal(field, kind), *self._tensor(kind)])
        required = self._required()
        if field.has_presence:
            schema = self._value(field, found, self._inside)
            must = required or field.legacy_required
            return Property(schema if must else any_of([schema, forms.NULL]), must, self._notes)
        zero = self._zero_is_kept(rules, kind)
        if kind == "bytes" and isinstance(found.values, Numbers) and 0 not in found.values:
            zero = False  # a tensor of a fixed size
        must = required or zero is False
        listed = found.values.get("enum", [""]) if isinstance(found.values, dict) else [""]
        if must and "" in listed:
            found = meet(kind, [found, Found(self._nonzero(kind), field.type not in ir.FLOAT_TYPES)])
        schema = self._value(field, found, self._inside)
        if must:
            return Property(schema, True, self._notes)
        if rules.ignore == "if_zero_value":
            schema = any_of([schema, self._zero(field, kind)])
        return Property(any_of([schema, forms.NULL]), False, self._notes)

    def repeated(self) -> Property:
        items = self._rules.items or _NO_RULES
        item = self._element(self._field, items)
        return self._many("list", {"type": "array", **({} if item is True else {"items": item})}, {"maxItems": 0})

    def map(self) -> Property:
        key, value = self._field.key, self._field.value
        assert key is not None
        assert value is not None
        keys, values = self._rules.keys or _NO_RULES, self._rules.values or _NO_RULES
        kind = kind_of(key)
        found = self._judged(keys, kind, changing=False) if keys.ignore != "always" else Found(everything(kind), True)
        if keys.ignore == "if_zero_value":
            found = Found(everything(kind), False) if keys.checks else found
        numbers = found.values if isinstance(found.values, Numbers) else EVERY
        texts = True if isinstance(found.values, Numbers) else found.values
        names = forms.keys(key.type, numbers, texts)
        schema: dict[str, Any] = {"type": "object"}
        if names is not True:
            schema["propertyNames"] = names
        item = self._element(value, values)
        if item is not True:
            schema["additionalProperties"] = item
        return self._many("map", schema, {"maxProperties": 0})

    def _many(self, kind: Kind, schema: dict[str, Any], empty: dict[str, Any]) -> Property:
        rules = self._rules
        sizes = self._tensor(kind)
        counted = meet(kind, [self._judged(rules, kind, changing=False), *sizes])
        required = self._required()
        zero = self._zero_is_kept(rules, kind)
        must = required or zero is False or any(found.values != {"maxItems": 0} for found in sizes)
        bounds = counted.values
        assert not isinstance(bounds, Numbers)
        if required:
            bounds = all_of([bounds, {"minItems" if kind == "list" else "minProperties": 1}])
        if rules.ignore == "if_zero_value" and bounds is not True:
            bounds = any_of([bounds, empty])
        whole = all_of([schema, bounds])
        return Property(whole if must else any_of([whole, forms.NULL]), must, self._notes)

    # -- values

    def _element(self, part: ir.Field, rules: ir.ValueRules) -> Json:
        kind = kind_of(part)
        inside = self._inside
        if rules.ignore == "always":
            inside, rules = None, _NO_RULES
        found = self._judged(rules, kind, changing=self._judging.changing)
        found = meet(kind, [found, *self._normal(part, kind)])
        if self._field.shape is ir.Shape.REPEATED:
            found = meet(kind, [found, *self._tensor(kind)])
        schema = self._value(part, found, inside)
        if rules.ignore == "if_zero_value":
            schema = any_of([schema, self._zero(part, kind)])
        takes_null = part.message == "google.protobuf.Value" or part.enum == "google.protobuf.NullValue"
        return any_of([schema, forms.NULL]) if takes_null else schema

    def _value(self, part: ir.Field, found: Found, inside: frozenset[str] | None) -> Json:
        schema, told = self._fields.value(part, found.values, self._field, inside)
        if told:
            self._note(self._told, told)
        return schema

    def _judged(self, rules: ir.ValueRules, kind: Kind, *, changing: bool) -> Found:
        """The values that keep the checks which a schema may judge by."""
        parts: list[Found] = []
        self._told = []
        later = (changing or self._judging.written) and not self._fields.normalized
        for check in rules.checks:
            name = check.rule_id or check.source
            if check.rule_id in self._warnings:
                self._note([name], "a warning")
            elif check.rule_id in self._sometimes:
                self._note([name], "in some contexts")
            elif later:
                self._note([name], "after normalising")
            else:
                parts.append(self._check(check, kind, name))
                self._told.append(name)
        return meet(kind, parts)

    def _check(self, check: ir.Check, kind: Kind, name: str) -> Found:
        if check.native == "enum_defined_only":
            return Found(points(value for value in check.values if isinstance(value, int)), True)
        conditions = kept(check)
        if conditions is None:
            self._note([name], "not told")
            return Found(everything(kind), False)
        found = meet(kind, [over(condition, kind, is_this) for condition in conditions])
        if not found.exact:
            self._note([name], "not told" if found.values == everything(kind) else "told in part")
        return found

    def _note(self, names: Iterable[str], why: str) -> None:
        self._notes += [note for name in names if (note := f"{name} ({why})") not in self._notes]

    def _required(self) -> bool:
        if not self._rules.required:
            return False
        if "required" in self._warnings:
            self._note(["required"], "a warning")
        elif "required" in self._sometimes:
            self._note(["required"], "in some contexts")
        elif self._judging.written and not self._fields.normalized:
            self._note(["required"], "after normalising")
        else:
            return True
        return False

    def _zero_is_kept(self, rules: ir.ValueRules, kind: Kind) -> bool | None:
        """Whether a field that is not set keeps its rules, where it has no presence; None: not known."""
        if rules.ignore == "if_zero_value" or (self._judging.written and not self._fields.normalized):
            return True
        if kind == "other":
            return None
        kept_by_all: bool | None = True
        for check in rules.checks:
            if check.rule_id in self._warnings or check.rule_id in self._sometimes:
                continue
            if check.native == "enum_defined_only":
                found: bool | None = 0 in check.values
            else:
                conditions = kept(check)
                found = None if conditions is None else holds(conditions, _ZEROS[kind])
            if found is False:
                return False
            if found is None:
                kept_by_all = None
        return kept_by_all

    def _nonzero(self, kind: Kind) -> Values:
        match kind:
            case "text":
                return {"minLength": 1}
            case "bytes":
                return compared("ge", 1)
            case "number" if self._field.type in ir.FLOAT_TYPES:
                return EVERY  # -0.0 is not the zero value, and what rounds to zero is
            case "number" | "bool":
                return compared("ne", 0)
        return True

    def _zero(self, part: ir.Field, kind: Kind) -> Json:
        """The zero value of an element."""
        if part.type in ir.MESSAGE_TYPES:
            name = str(part.message)
            # What a moment, a wrapper or a list of values is when it is empty has several forms.
            return True if name.startswith("google.protobuf.") else self._fields.empty(name)
        if kind == "text":
            return {"type": "string", "const": ""}
        return self._fields.value(part, points([0]), self._field, None)[0]

    def _tensor(self, kind: Kind) -> list[Found]:
        """What a tensor with fixed axes, or bounds of its numbers, means for the size of a field and for its items."""
        words = [relation for relation in self._field.relations if relation.kind == "tensor"]
        ids = {rule_id for word in words for rule_id in ids_of(word)}
        skipped = self._judging.unjudged or self._rules.ignore == "always" or ids & (self._warnings | self._sometimes)
        if not words or skipped or (self._judging.written and not self._fields.normalized):
            return []
        options = ir.keywords(words[0].options)
        if kind == "number":
            return self._elements(options)
        dims = [str(dim) for dim in options.get("dims", ())]
        if kind not in {"list", "bytes"} or not dims or not all(dim.isdecimal() for dim in dims):
            return []
        size = math.prod(map(int, dims)) * (_SIZES[str(options.get("dtype"))] if kind == "bytes" else 1)
        if not options.get("shape_field"):
            self.told_of_tensor |= {"tensor.shape", "tensor.size"}
        return [Found(points([size]) if kind == "bytes" else {"minItems": size, "maxItems": size}, True)]

    def _elements(self, options: dict[str, Any]) -> list[Found]:
        found: list[Found] = []
        if options.get("finite"):
            finite = Numbers((((-math.inf, 1), (math.inf, -1)),))
            found.append(Found(finite, True))
            self.told_of_tensor |= {"tensor.finite"}
        for name, op in (("min", "ge"), ("max", "le")):
            if options.get(name) is not None:
                found.append(Found(compared(op, options[name]), True))
                self.told_of_tensor |= {"tensor.range"}
        return found

    def _normal(self, part: ir.Field, kind: Kind) -> list[Found]:
        """What a normalizer itself guarantees of its result, or refuses."""
        normalizer = self._field.normalizer
        if normalizer is None:
            return []
        self._note(ids_of(normalizer), "when it is normalised")
        if self._warnings or self._sometimes:
            return []  # what it refuses may pass
        options = ir.keywords(normalizer.options)
        if normalizer.kind == "label" and part.type in ir.INTEGER_TYPES and options.get("num_classes"):
            classes = Numbers((((0, -1), (int(options["num_classes"]), -1)),))
            ignored = options.get("ignore_index")
            return [Found(classes if ignored is None else classes | points([int(ignored)]), True)]
        elsewhere = normalizer.target is not None and normalizer.kind != "money"
        if not self._fields.normalized or kind != "text" or elsewhere:
            return []
        pattern = _RESULTS.get(normalizer.kind)
        return [] if pattern is None else [Found({"pattern": pattern}, False)]


# Bytes of one element.
_SIZES: Final = {
    "bool": 1, "int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "float16": 2, "bfloat16": 2, "int32": 4, "uint32": 4,
    "float32": 4, "int64": 8, "uint64": 8, "float64": 8,
}  # fmt: skip

# What a normalised text looks like; the empty text of an unset field is left alone.
_RESULTS: Final = {
    "money": r"^(?:-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?)?$",
    "instant": r"^(?:[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?Z)?$",
}
