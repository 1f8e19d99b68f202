"""Emits a contract's tensors and labels: one constant a field, put below the paths that lead to its message."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Literal

from protocontract_compiler import ir
from protocontract_compiler.emit.names import literal
from protocontract_compiler.emit.python.module import Module
from protocontract_compiler.passes import reach

Kind = Literal["tensors", "labels"]

# Messages that hold each other have more paths than anybody reads.
_MAX_FIELDS = 1000
# The dtype that a repeated number has by its type, where `sequence` alone makes a tensor of it.
_DTYPES = {
    ir.TYPE_BOOL: "bool",
    ir.TYPE_FLOAT: "float32",
    ir.TYPE_DOUBLE: "float64",
    **dict.fromkeys((ir.TYPE_INT32, ir.TYPE_SINT32, ir.TYPE_SFIXED32), "int32"),
    **dict.fromkeys((ir.TYPE_INT64, ir.TYPE_SINT64, ir.TYPE_SFIXED64), "int64"),
    **dict.fromkeys((ir.TYPE_UINT32, ir.TYPE_FIXED32), "uint32"),
    **dict.fromkeys((ir.TYPE_UINT64, ir.TYPE_FIXED64), "uint64"),
}


class Tensors:
    """The tensors and labels of the contracts of one module."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._schema = module.schema
        self._code = {"tensors": self._tensor, "labels": self._label}
        self._work = {
            "tensors": reach.with_work(self._schema, lambda message: any(map(self._is_tensor, message.fields))),
            "labels": reach.with_work(self._schema, lambda message: any(map(self._is_label, message.fields))),
        }

    def items(self, message: ir.Message, kind: Kind) -> list[str]:
        """Code of the items of a contract's ``tensors`` or ``labels``: its own first, then those of what it holds."""
        return list(islice(self._items(message, kind, "", ()), _MAX_FIELDS))

    def _items(self, message: ir.Message, kind: Kind, path: str, outer: tuple[str, ...]) -> Iterator[str]:
        outer = (*outer, message.full_name)
        codes = ((field.name, self._code[kind](message, field)) for field in message.fields)
        own = [self._module.tensor(message.full_name, name, code) for name, code in codes if code is not None]
        if own and path:
            yield f"*{self._module.runtime('within')}({literal(path)}, {', '.join(own)})"
        else:
            yield from own
        for field in message.fields:
            child = field.element_message
            if child in self._work[kind] and child not in outer:
                step = field.name if field.shape is ir.Shape.SINGULAR else f"{field.name}[]"
                yield from self._items(self._schema.messages[child], kind, f"{path}.{step}" if path else step, outer)

    def _is_tensor(self, field: ir.Field) -> bool:
        if _relation(field, "tensor") is not None:
            return True
        return _relation(field, "sequence") is not None and field.type in _DTYPES and not self._is_label(field)

    def _is_label(self, field: ir.Field) -> bool:
        if field.shape is ir.Shape.MAP:
            return False
        if field.enum is not None:
            return any(value.class_index is not None for value in self._schema.enums[field.enum].values)
        return field.normalizer is not None and field.normalizer.kind == "label" and field.type in ir.INTEGER_TYPES

    # -- one field

    def _tensor(self, message: ir.Message, field: ir.Field) -> str | None:
        relation = _relation(field, "tensor")
        if relation is None:
            return self._sequence(message, field) if self._is_tensor(field) else None
        options = ir.keywords(relation.options)
        dims = _plain_dims(options["dims"])
        keywords = self._dims_keywords(message, dims)
        if "shape_field" in options:
            keywords["shape_field"] = literal(options["shape_field"])
        if "pad" in options:
            keywords["pad"] = literal((float(options["pad"]["value"]), options["pad"]["side"]))
        if "l2_norm" in options:
            keywords["l2_norm"] = literal((options["l2_norm"]["value"], options["l2_norm"]["tolerance"]))
        for name in ("batched", "truncate", "finite"):
            if options.get(name):
                keywords[name] = "True"
        for name in ("min", "max"):
            if name in options:
                keywords[name] = literal(options[name])
        return self._call(
            "tensor_field", message, relation.place, [field.name, options.get("name") or field.name, options["dtype"]],
            literal(dims), keywords,
        )  # fmt: skip

    def _sequence(self, message: ir.Message, field: ir.Field) -> str:
        relation = _relation(field, "sequence")
        place = relation.place if relation is not None else field.place
        dims = _list_dims(message, field)
        return self._call(
            "tensor_field", message, place, [field.name, field.name, _DTYPES[field.type]], literal(dims),
            self._dims_keywords(message, dims),
        )  # fmt: skip

    def _label(self, message: ir.Message, field: ir.Field) -> str | None:
        if not self._is_label(field):
            return None
        keywords: dict[str, str] = {}
        if field.enum is not None:
            enum = self._schema.enums[field.enum]
            classes: dict[int, tuple[int, str, str]] = {}
            for value in enum.values:
                if value.class_index is not None:
                    classes.setdefault(value.class_index, (value.class_index, value.name, value.code))
            listed = tuple(classes[index] for index in sorted(classes))
            # Two messages with one enum have one table.
            keywords["classes"] = self._module.classes(enum.full_name, literal(listed))
            num_classes, place = max(classes) + 1, field.place
        else:
            normalizer = field.normalizer
            assert normalizer is not None
            options = ir.keywords(normalizer.options)
            num_classes, place = options["num_classes"], normalizer.place
            if "ignore_index" in options:
                keywords["ignore_index"] = literal(options["ignore_index"])
        if field.shape is ir.Shape.REPEATED:
            dims = _list_dims(message, field)
            keywords |= {"dims": literal(dims), **self._dims_keywords(message, dims)}
        return self._call("label_field", message, place, [field.name], literal(num_classes), keywords)

    def _dims_keywords(self, message: ir.Message, dims: tuple[int | str, ...]) -> dict[str, str]:
        """The bounds of free dims: what any tensor of the message says of a name holds wherever the name recurs."""
        found: dict[str, tuple[int, int | None]] = {}
        for field in message.fields:
            relation = _relation(field, "tensor")
            for name, given in (ir.keywords(relation.options).get("bounds", {}) if relation else {}).items():
                low, high = found.get(name, (0, None))
                highest = [most for most in (high, given.get("max")) if most is not None]
                found[name] = max(low, given.get("min", 0)), min(highest, default=None)
        bounds = {name: found[name] for name in dict.fromkeys(dims) if isinstance(name, str) and name in found}
        return {"bounds": literal(bounds)} if bounds else {}

    def _call(
        self, function: str, message: ir.Message, place: ir.Place, words: list[str], last: str, keywords: dict[str, str]
    ) -> str:
        if place.line:
            keywords["line"] = literal(place.line)
        if message.file != self._module.file.name:
            keywords["source"] = literal(message.file)
        arguments = [*map(literal, words), last, *(f"{name}={code}" for name, code in keywords.items())]
        return f"{self._module.runtime(function)}({', '.join(arguments)})"


def _relation(field: ir.Field, kind: str) -> ir.Relation | None:
    return next((relation for relation in field.relations if relation.kind == kind), None)


def _plain_dims(dims: tuple[str, ...]) -> tuple[int | str, ...]:
    return tuple(int(dim) if dim.isdigit() else dim for dim in dims)


def _list_dims(message: ir.Message, field: ir.Field, seen: tuple[str, ...] = ()) -> tuple[int | str, ...]:
    """The one axis of a list: that of the sibling whose length it has, else one that is called like the field."""
    tensor = _relation(field, "tensor")
    if tensor is not None:
        return _plain_dims(ir.keywords(tensor.options)["dims"])
    sequence = _relation(field, "sequence")
    other = sequence.option("same_length_as") if sequence is not None else None
    if other and other not in seen:
        dims = _list_dims(message, message.field(str(other)), (*seen, field.name))
        if len(dims) == 1:
            return dims
    return (field.name,)
