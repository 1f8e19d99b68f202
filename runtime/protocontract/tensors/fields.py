"""What a contract's annotations say about tensors and labels: ``Contract.tensors`` and ``Contract.labels``.

Facts only, without NumPy and without protobuf: a loader builds batches of them (``protocontract.tensors.batch``), a
service compares a model's inputs and outputs with them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, TypeVar

DType: TypeAlias = Literal[
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16",
    "float32", "float64",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Dim:
    """One axis. Either ``size`` is set, or it is free: it has a ``name``, and one size wherever a message repeats that.

    ``min`` and ``max`` bound a free axis, inclusive; ``max`` None: without bound.
    """

    name: str = ""
    size: int | None = None
    min: int = 0
    max: int | None = None

    def __str__(self) -> str:
        return self.name if self.size is None else str(self.size)


@dataclass(frozen=True, slots=True)
class Pad:
    """What fills up a free axis that is shorter in one sample than in another, and at which end."""

    value: float
    side: Literal["right", "left"] = "right"


@dataclass(frozen=True, slots=True)
class Norm:
    """The L2 norm of each row of the last axis."""

    value: float
    tolerance: float = 0.0


@dataclass(frozen=True, slots=True)
class TensorField:
    """A field that is a tensor: by ``tensor``, or a repeated number with ``sequence``.

    ``path`` leads to the field, with ``[]`` for each repeated field or map on the way: ``frames[].pixels``. ``name`` is
    the model's name of the input or output (the field's own where the contract gives none). ``dims`` are the axes as
    the message holds them; of a ``batched`` tensor the first counts samples. ``shape_field`` is the sibling that states
    the shape. ``pad`` and ``truncate`` say what a loader may do to free axes. ``finite``, ``min``, ``max`` and
    ``l2_norm`` bound the elements. ``line`` is the annotation's place, in ``source`` (empty: the contract's source).
    """

    path: str
    name: str
    dtype: DType
    dims: tuple[Dim, ...]
    shape_field: str = ""
    batched: bool = False
    pad: Pad | None = None
    truncate: bool = False
    finite: bool = False
    min: float | None = None
    max: float | None = None
    l2_norm: Norm | None = None
    line: int = 0
    source: str = ""

    def __str__(self) -> str:
        return f"{self.dtype}[{', '.join(map(str, self.dims))}]"


@dataclass(frozen=True, slots=True)
class ClassLabel:
    """One class: its place in a model's output, the enum value's name, and the code that the contract gives it."""

    index: int
    name: str
    code: str = ""

    @property
    def text(self) -> str:
        """What people call the class: the code where there is one."""
        return self.code or self.name


@dataclass(frozen=True, slots=True)
class LabelField:
    """A field that names classes: an integer with ``label``, or an enum whose values have a ``class_index``.

    ``dims`` is empty for one label a message, and has one axis for a list of them. ``num_classes`` is the number of
    classes (for an enum the highest index plus one). ``ignore_index`` is the number outside of the classes that stands
    for no label, and fills up lists. ``classes`` are an enum's, by index; empty for integers.
    """

    path: str
    num_classes: int
    ignore_index: int | None = None
    dims: tuple[Dim, ...] = ()
    classes: tuple[ClassLabel, ...] = ()
    line: int = 0
    source: str = ""


# ----------------------------------------------------------------------------------------------------------------------
# What generated modules call, through ``_codegen_v1``

Bounds: TypeAlias = "dict[str, tuple[int, int | None]]"
F = TypeVar("F", TensorField, LabelField)


def tensor_field(
    path: str,
    name: str,
    dtype: DType,
    dims: tuple[int | str, ...],
    *,
    bounds: Bounds | None = None,
    shape_field: str = "",
    batched: bool = False,
    pad: tuple[float, Literal["right", "left"]] | None = None,
    truncate: bool = False,
    finite: bool = False,
    min: float | None = None,  # noqa: A002  (the option's name in contract.proto)
    max: float | None = None,  # noqa: A002
    l2_norm: tuple[float, float] | None = None,
    line: int = 0,
    source: str = "",
) -> TensorField:
    """A TensorField of what generated code writes: dims as numbers and names, bounds beside them."""
    return TensorField(
        path, name, dtype, _dims(dims, bounds), shape_field, batched, None if pad is None else Pad(*pad), truncate,
        finite, min, max, None if l2_norm is None else Norm(*l2_norm), line, source,
    )  # fmt: skip


def label_field(
    path: str,
    num_classes: int,
    *,
    ignore_index: int | None = None,
    dims: tuple[int | str, ...] = (),
    bounds: Bounds | None = None,
    classes: tuple[tuple[int, str, str], ...] = (),
    line: int = 0,
    source: str = "",
) -> LabelField:
    """A LabelField of what generated code writes."""
    known = tuple(ClassLabel(*each) for each in classes)
    return LabelField(path, num_classes, ignore_index, _dims(dims, bounds), known, line, source)


def within(path: str, *fields: F) -> tuple[F, ...]:
    """The fields of a message that another one holds at ``path``."""
    return tuple(replace(field, path=f"{path}.{field.path}") for field in fields)


def _dims(dims: tuple[int | str, ...], bounds: Bounds | None) -> tuple[Dim, ...]:
    known = bounds or {}
    return tuple(Dim(size=dim) if isinstance(dim, int) else Dim(dim, None, *known.get(dim, (0, None))) for dim in dims)
