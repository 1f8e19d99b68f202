"""Checks relations: the fields that they name, and whether any value can keep them."""

from __future__ import annotations

import re
from typing import Any, assert_never

from protocontract_compiler import ir
from protocontract_compiler.descriptors import Loaded
from protocontract_compiler.diagnostics import Diagnostics
from protocontract_compiler.passes import checking
from protocontract_compiler.passes.checking import FieldScope, kind_of, singular, within_range

_SIZES = {
    "bool": ("bool",),
    "signed": ("int8", "int16", "int32", "int64"),
    "unsigned": ("uint8", "uint16", "uint32", "uint64"),
    "float": ("float16", "bfloat16", "float32", "float64"),
}
# The dtypes whose every value a repeated field of the type can hold.
_HELD: dict[int, frozenset[str]] = {
    ir.TYPE_BOOL: frozenset({"bool"}),
    ir.TYPE_FLOAT: frozenset({"float16", "bfloat16", "float32"}),
    ir.TYPE_DOUBLE: frozenset(_SIZES["float"]),
    **dict.fromkeys(
        (ir.TYPE_INT32, ir.TYPE_SINT32, ir.TYPE_SFIXED32),
        frozenset({"bool", "int8", "int16", "int32", "uint8", "uint16"}),
    ),
    **dict.fromkeys(
        (ir.TYPE_INT64, ir.TYPE_SINT64, ir.TYPE_SFIXED64),
        frozenset({"bool", *_SIZES["signed"], "uint8", "uint16", "uint32"}),
    ),
    **dict.fromkeys((ir.TYPE_UINT32, ir.TYPE_FIXED32), frozenset({"bool", "uint8", "uint16", "uint32"})),
    **dict.fromkeys((ir.TYPE_UINT64, ir.TYPE_FIXED64), frozenset({"bool", *_SIZES["unsigned"]})),
}
_DIM_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def check(loaded: Loaded, schema: ir.Schema, diagnostics: Diagnostics) -> None:
    """Notes the mistakes in all relations of a schema."""
    tensors: dict[str, list[tuple[FieldScope, dict[str, Any]]]] = {}
    for scope in checking.annotated_fields(loaded, schema, diagnostics):
        for relation in scope.field.relations:
            options = ir.keywords(relation.options)
            match relation.kind:
                case "spans":
                    _check_spans(scope, options)
                case "sequence":
                    _check_sequence(scope, options)
                case "graph":
                    _check_graph(scope, options)
                case "tensor":
                    _check_tensor(scope, options)
                    tensors.setdefault(scope.message.full_name, []).append((scope, options))
                case _:
                    assert_never(relation.kind)
    for group in tensors.values():
        _check_tensors_together(group)


def _item(scope: FieldScope, word: str) -> ir.Message | None:
    """The message that a repeated message field repeats, or None with a mistake noted."""
    field = scope.field
    if field.shape is ir.Shape.REPEATED and field.message is not None:
        return scope.schema.messages[field.message]
    scope.error(
        "relation-type", (word,),
        f"`{word}` does not fit `{field.name}`; expected a repeated message, got {kind_of(field)}",
    )  # fmt: skip
    return None


def _named(
    scope: FieldScope,
    word: str,
    option: str,
    options: dict[str, Any],
    owner: ir.Message | None,
    *,
    needed: bool = True,
) -> ir.Field | None:
    """The field that an option names, or None: with a mistake noted where it is needed or missing."""
    name = options.get(option)
    if name is None:
        if needed:
            scope.error(f"{word}-field", (word,), f"`{word}` has no {option}; expected the name of a field")
        return None
    return scope.lookup(f"{word}-field", (word, option), name, owner)


def _check_spans(scope: FieldScope, options: dict[str, Any]) -> None:
    from protocontract.relations import spans

    item = _item(scope, "spans")
    if item is None:
        return
    text = _named(scope, "spans", "text", options, None)
    if text is not None and not singular(text, ir.TYPE_STRING):
        _wrong(scope, "spans", "text", text, "string")
    elif text is not None and text.normalizer is not None and text.normalizer.kind != "text":
        scope.error(
            "spans-field", ("spans", "text"),
            f"`{text.normalizer.kind}` on `{text.name}` rewrites the whole text; expected `text` or none, which "
            "spans can follow",
        )  # fmt: skip
    start = _named(scope, "spans", "start", options, item)
    end = _named(scope, "spans", "end", options, item)
    for option, field in (("start", start), ("end", end)):
        if field is not None and not singular(field, *ir.INTEGER_TYPES):
            _wrong(scope, "spans", option, field, "an integer")
    if start is not None and start == end:
        scope.error("spans-field", ("spans", "end"), f"`{start.name}` is the start already; expected another field")
    surface = _named(scope, "spans", "surface", options, item, needed=False)
    if surface is not None and not singular(surface, ir.TYPE_STRING):
        _wrong(scope, "spans", "surface", surface, "string")
    elif surface is not None and surface.normalizer is not None:
        scope.error(
            "spans-field", ("spans", "surface"),
            f"`{surface.name}` has a normalizer of its own; expected none, as the surface follows the text",
        )  # fmt: skip
    rest = {name: value for name, value in options.items() if name not in ir.COMPILED_OPTIONS["spans"]}
    scope.options("relation-option", "spans", spans.checker, rest)


def _check_sequence(scope: FieldScope, options: dict[str, Any]) -> None:
    field = scope.field
    law = [name for name in ("first", "step", "strictly_increasing") if name in options]
    if field.shape is not ir.Shape.REPEATED or (law and field.type not in ir.INTEGER_TYPES):
        wanted = "a repeated integer" if law else "a repeated field"
        scope.error(
            "relation-type", ("sequence",),
            f"`sequence` does not fit `{field.name}`; expected {wanted}, got {kind_of(field)}",
        )  # fmt: skip
        return
    if not options:
        scope.error("relation-option", ("sequence",), "`sequence` asks for nothing; expected a step or a length")
    for name in ("first", "step"):
        if name in options and not within_range(field, options[name]) and not (name == "step" and options[name] < 0):
            scope.error(
                "relation-option", ("sequence", name),
                f"`sequence.{name}` is out of range; expected a value of {kind_of(field)}, got {options[name]}",
            )  # fmt: skip
    if options.get("strictly_increasing") and options.get("step", 1) <= 0:
        scope.error(
            "relation-option", ("sequence", "step"),
            f"`sequence.strictly_increasing` never holds; expected a positive step, got {options['step']}",
        )  # fmt: skip
    if "first" in options and "step" not in options and "strictly_increasing" not in options:
        scope.error("relation-option", ("sequence", "first"), "`sequence.first` alone is no law; expected a step")
    if "same_length_as" in options:
        steps = ("sequence", "same_length_as")
        other = scope.lookup("sequence-field", steps, options["same_length_as"])
        if other is not None and other.name == field.name:
            scope.error("sequence-field", steps, f"`{other.name}` is the field itself; expected a sibling")
        elif other is not None and other.shape is not ir.Shape.REPEATED:
            scope.error(
                "sequence-field",
                steps,
                f"`{other.name}` has no length; expected a repeated field, got {kind_of(other)}",
            )


def _check_graph(scope: FieldScope, options: dict[str, Any]) -> None:
    item = _item(scope, "graph")
    if item is None:
        return
    identity = _named(scope, "graph", "id", options, item)
    if identity is not None and not singular(identity, ir.TYPE_STRING, ir.TYPE_BYTES, *ir.INTEGER_TYPES):
        _wrong(scope, "graph", "id", identity, "a string or an integer")
        identity = None
    parents = _named(scope, "graph", "parents", options, item)
    if parents is not None and parents.shape is ir.Shape.MAP:
        _wrong(scope, "graph", "parents", parents, "a list of ids")
    elif parents is not None and identity is not None and not _comparable(parents, identity):
        _wrong(scope, "graph", "parents", parents, f"{kind_of(identity)}, as `{identity.name}` is")
    elif parents is not None and parents == identity:
        scope.error(
            "graph-field", ("graph", "parents"), f"`{parents.name}` is the id itself; expected the parents' ids"
        )
    if not options.get("acyclic") and not options.get("closed"):
        scope.error("relation-option", ("graph",), "`graph` asks for nothing; expected acyclic or closed")


def _comparable(left: ir.Field, right: ir.Field) -> bool:
    return left.type == right.type or {left.type, right.type} <= ir.INTEGER_TYPES


def _check_tensor(scope: FieldScope, options: dict[str, Any]) -> None:
    field = scope.field
    is_bytes = singular(field, ir.TYPE_BYTES)
    if not is_bytes and (field.shape is not ir.Shape.REPEATED or field.type not in _HELD):
        scope.error(
            "relation-type", ("tensor",),
            f"`tensor` does not fit `{field.name}`; expected bytes or repeated numbers, got {kind_of(field)}",
        )  # fmt: skip
        return
    dtype = options.get("dtype")
    if dtype is None:
        scope.error("tensor-type", ("tensor",), "`tensor` has no dtype; expected one, such as FLOAT32")
    elif not is_bytes and dtype not in _HELD[field.type]:
        held = ", ".join(sorted(name.upper() for name in _HELD[field.type]))
        scope.error(
            "tensor-type", ("tensor", "dtype"),
            f"{kind_of(field)} does not hold {dtype.upper()}; expected {held}",
        )  # fmt: skip
    free = _check_dims(scope, options)
    _check_bounds(scope, options, free)
    _check_numbers(scope, options, dtype)
    _check_shape_field(scope, options, free, is_bytes=is_bytes)


def _check_dims(scope: FieldScope, options: dict[str, Any]) -> list[str]:
    """The free dims of a tensor, mistakes noted."""
    dims = options.get("dims", ())
    if not dims:
        scope.error("tensor-dims", ("tensor",), "`tensor` has no dims; expected a number or a name for each axis")
    free: list[str] = []
    for index, dim in enumerate(dims):
        if dim.isascii() and dim.isdigit() and int(dim) > 0:
            continue
        if _DIM_NAME.fullmatch(dim):
            free.append(dim)
            continue
        scope.error(
            "tensor-dims", ("tensor", "dims", index), f'"{dim}" is no dim; expected a positive number or a name'
        )
    return free


def _check_bounds(scope: FieldScope, options: dict[str, Any], free: list[str]) -> None:
    for name, bounds in options.get("bounds", {}).items():
        bounds = bounds or {}
        if name not in free:
            scope.error(
                "tensor-dims", ("tensor", "bounds"), f"`{name}` is not a free dim; expected one of {_list(free)}"
            )
        elif not bounds:
            scope.error("tensor-dims", ("tensor", "bounds"), f"the bounds of `{name}` are empty; expected min or max")
        elif bounds.get("min", 0) > bounds.get("max", bounds.get("min", 0)):
            scope.error(
                "tensor-dims", ("tensor", "bounds"),
                f"the min of `{name}` is above its max; expected at most {bounds['max']}, got {bounds['min']}",
            )  # fmt: skip
    if ("pad" in options or options.get("truncate")) and not free:
        option = "pad" if "pad" in options else "truncate"
        scope.error("tensor-dims", ("tensor", option), f"`tensor.{option}` has no axis to work on; expected a free dim")


def _check_numbers(scope: FieldScope, options: dict[str, Any], dtype: str | None) -> None:
    low, high = options.get("min"), options.get("max")
    if low is not None and high is not None and low > high:
        scope.error("relation-option", ("tensor", "min"), f"min is above max; expected at most {high:g}, got {low:g}")
    for name in ("min", "max"):
        if name in options and options[name] != options[name]:
            scope.error("relation-option", ("tensor", name), f"`tensor.{name}` is NaN; expected a number")
    norm = options.get("l2_norm")
    if norm is not None and dtype is not None and dtype not in _SIZES["float"]:
        scope.error(
            "tensor-type",
            ("tensor", "l2_norm"),
            f"the norm of integers is no integer; expected a float dtype, got {dtype.upper()}",
        )
    if norm is not None and (norm["value"] < 0 or norm["tolerance"] < 0):
        scope.error("relation-option", ("tensor", "l2_norm"), "a norm or tolerance is negative; expected 0 or more")
    pad = options.get("pad")
    if pad is not None and dtype is not None and dtype not in _SIZES["float"] and not float(pad["value"]).is_integer():
        scope.error(
            "relation-option", ("tensor", "pad"), f"the pad value is no {dtype.upper()}; expected a whole number"
        )


def _check_shape_field(scope: FieldScope, options: dict[str, Any], free: list[str], *, is_bytes: bool) -> None:
    name = options.get("shape_field")
    if name is None:
        if is_bytes and len(free) >= 2:
            scope.error(
                "tensor-shape-field", ("tensor",),
                f"the free dims {_list(free)} cannot be told from the bytes; expected a shape_field",
            )  # fmt: skip
        return
    found = scope.lookup("tensor-shape-field", ("tensor", "shape_field"), name)
    if found is not None and (found.shape is not ir.Shape.REPEATED or found.type != ir.TYPE_INT64):
        scope.error(
            "tensor-shape-field", ("tensor", "shape_field"),
            f"`{found.name}` cannot hold a shape; expected repeated int64, got {kind_of(found)}",
        )  # fmt: skip


def _check_tensors_together(group: list[tuple[FieldScope, dict[str, Any]]]) -> None:
    """Tensors of one message: names are unique, and one shape_field holds shapes of one rank."""
    names: dict[str, str] = {}
    ranks: dict[str, tuple[int, str]] = {}
    bounds: dict[str, tuple[int, float]] = {}
    for scope, options in group:
        name = options.get("name")
        if name is not None:
            first = names.setdefault(name, scope.field.name)
            if first != scope.field.name:
                scope.error(
                    "relation-option", ("tensor", "name"), f'"{name}" is `{first}` already; expected another name'
                )
        shape_field = options.get("shape_field")
        if shape_field is not None:
            rank, owner = ranks.setdefault(shape_field, (len(options.get("dims", ())), scope.field.name))
            if rank != len(options.get("dims", ())):
                scope.error(
                    "tensor-shape-field", ("tensor", "shape_field"),
                    f"`{shape_field}` holds the shape of `{owner}` with {rank} axes; expected the same number of axes",
                )  # fmt: skip
        for dim, given in options.get("bounds", {}).items():
            low, high = bounds.get(dim, (0, float("inf")))
            low, high = max(low, (given or {}).get("min", 0)), min(high, (given or {}).get("max", float("inf")))
            if low > high and (given or {}).get("min", 0) <= (given or {}).get("max", float("inf")):
                scope.error(
                    "tensor-dims", ("tensor", "bounds"),
                    f"the bounds of `{dim}` exclude those of another tensor; expected bounds that meet",
                )  # fmt: skip
            bounds[dim] = (low, high)


def _wrong(scope: FieldScope, word: str, option: str, field: ir.Field, wanted: str) -> None:
    scope.error(
        f"{word}-field",
        (word, option),
        f"`{field.name}` is of the wrong type; expected {wanted}, got {kind_of(field)}",
    )


def _list(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) if names else "none, as all dims are numbers"
