"""One array of a batch: how it is read from a message, and put together from many."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from protocontract.relations.tensor import Axes
from protocontract.relations.tensor_elements import INTEGER_BOUNDS, LARGEST
from protocontract.tensors.fields import Dim, LabelField, TensorField
from protocontract.tensors.reading import STORED, natural_dtype, np, of_bytes, of_numbers
from protocontract.violations import Refusal

#: So many shapes of a field are remembered.
_MOST_KNOWN: Final = 1000


class CollateError(ValueError):
    """Messages that make no batch: a shape that does not fit, a value that is not there.

    ``path`` is the field, ``record`` the place of the message in the batch (None where the batch as a whole is wrong).
    Made from its text alone too, as torch does with what a worker raised.
    """

    def __init__(self, message: str, path: str = "", record: int | None = None) -> None:
        super().__init__(message)
        self.path = path
        self.record = record


class Problem(Exception):
    """What is wrong with one message for one column, before anybody knows how the message is called."""

    def __init__(self, column: Column, record: int | None, text: str) -> None:
        super().__init__(text)
        self.column = column
        self.record = record
        self.text = text


@dataclass(slots=True)
class Found:
    """What a column read from the messages of a batch: arrays in order, the message of each, and those without one."""

    arrays: list[Any] = field(default_factory=list)
    records: list[int] = field(default_factory=list)
    absent: list[int] = field(default_factory=list)


class Column:
    """A tensor, or a list of labels."""

    def __init__(self, descriptor: Any, path: str, key: str, dtype: str, dims: tuple[Dim, ...]) -> None:
        self.path: Final = path
        self.key: Final = key
        self.dtype: Final = dtype
        self.dims: Final = dims
        self.name: Final = path.rpartition(".")[2]
        self._field: Final[Any] = descriptor.fields_by_name[self.name]
        self._has_presence: Final[bool] = self._field.has_presence
        self._natural: Final[Any] = natural_dtype(self._field)
        bounds = {dim.name: (dim.min, dim.max) for dim in dims if dim.size is None}
        self._axes: Final = Axes([dim.name if dim.size is None else dim.size for dim in dims], bounds, False)
        self._names: Final = tuple(bounds)
        self._known: dict[tuple[Any, ...], tuple[tuple[int, ...], dict[str, int]]] = {}
        self.batched = False
        self.shape_field = ""
        self.pad: float | int | None = None
        self.side: Literal["right", "left"] = "right"
        self.truncate = False
        #: What to declare where samples are of several sizes.
        self.advice = "declare `pad` in its tensor"

    # -- reading

    def read(self, owner: Any, bound: dict[str, int]) -> Any:
        """The array in a message, in its shape; None where the field is not set; a Refusal where it makes none."""
        if self._has_presence and not owner.HasField(self.name):
            return None
        elements = self._elements(getattr(owner, self.name))
        if isinstance(elements, Refusal):
            return elements
        count = len(elements)
        shape = tuple(getattr(owner, self.shape_field)) if self.shape_field else None
        # Samples of one shape are the rule, and working it out costs more than reading the elements.
        key = (count, shape, *map(bound.get, self._names))
        known = self._known.get(key)
        if known is None:
            sizes = self._axes.sizes(count, shape, bound)
            if isinstance(sizes, Refusal):
                return sizes
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            known = self._known[key] = tuple(sizes), {name: bound[name] for name in self._names}
        bound.update(known[1])
        return elements.reshape(known[0])

    def _elements(self, value: Any) -> Any:
        if isinstance(value, bytes):
            return of_bytes(value, self.dtype)
        return of_numbers(value, self._natural, self.dtype)

    # -- putting together

    def sample_dims(self) -> tuple[Dim, ...]:
        """The axes without the one that counts samples."""
        return self.dims[1:] if self.batched else self.dims

    def free(self) -> list[tuple[int, Dim]]:
        """The axes that may be filled up or cut, by their place in a sample."""
        return [(at, dim) for at, dim in enumerate(self.dims) if dim.size is None and not (self.batched and at == 0)]

    def together(self, found: Found, targets: Mapping[str, int], rows: Sequence[int] | None) -> tuple[Any, Any]:
        """All arrays as one, and its mask (None where the column is never filled up).

        ``targets`` are the sizes of free dims in this batch; ``rows`` the numbers of rows that a batched tensor may
        have altogether. Raises Problem.
        """
        sizes = [targets.get(dim.name, 0) if dim.size is None else dim.size for dim in self.dims]
        for at, dim in self.free():
            self._fit(found, at, dim, sizes[at])
        counts = [len(array) if self.batched else 1 for array in found.arrays]
        if self.batched:
            sizes = sizes[1:]
        total = self._rows(sum(counts), rows)
        full = [self._full_place(array, sizes) for array in found.arrays]
        whole = all(place is None for place in full) and total == sum(counts)
        stored = STORED[self.dtype]
        if whole or self.pad is None:  # without a pad, samples may have been cut
            out = np.empty((total, *sizes), dtype=stored)
        else:
            out = np.full((total, *sizes), self.filling(), dtype=stored)
        mask = None
        if self.pad is not None:
            masked = [size for size, dim in zip(sizes, self.sample_dims(), strict=True) if dim.size is None]
            mask = (np.ones if whole else np.zeros)((total, *masked), dtype="bool")
        row = 0
        for array, count, place in zip(found.arrays, counts, full, strict=True):
            block = slice(row, row + count) if self.batched else row
            if place is None:
                out[block] = array
            else:
                into, out_of = place
                out[(block, *into)] = array[(slice(None), *out_of) if self.batched else out_of]
            if mask is not None and not whole:
                mask[(block, *self._masked(place))] = True
            row += count
        return out, mask

    def filling(self) -> Any:
        """What fills up, as it is stored. Raises ValueError where the dtype cannot hold it."""
        assert self.pad is not None
        value = float(self.pad)
        stored = STORED[self.dtype]
        if self.dtype in LARGEST:
            holds = abs(value) <= LARGEST[self.dtype] or not math.isfinite(value)
        else:
            low, high = INTEGER_BOUNDS[self.dtype]
            holds = value.is_integer() and low <= value <= high
        if not holds:
            raise ValueError(f"{self.dtype} does not have the number that fills up {self.path}")
        if self.dtype == "bfloat16":
            return of_numbers([value], np.dtype("float64"), "bfloat16")[0]
        return stored.type(value if stored.kind == "f" else int(self.pad))

    def _fit(self, found: Found, at: int, dim: Dim, target: int) -> None:
        for array, record in zip(found.arrays, found.records, strict=True):
            size = array.shape[at]
            if size < target and self.pad is None:
                text = f"dim {dim.name} is shorter than in the batch; expected {target}, got {size}"
                raise Problem(self, record, f"{text}; {self.advice}, or make batches of one size")
            if size > target and not self.truncate:
                text = f"dim {dim.name} is longer than the largest size asked for; expected {target}, got {size}"
                raise Problem(self, record, f"{text}; declare `truncate` in its tensor")

    def _rows(self, total: int, choices: Sequence[int] | None) -> int:
        if choices is None or not self.batched:
            return total
        fitting = [choice for choice in choices if choice >= total]
        if not fitting:
            raise Problem(self, None, f"more rows than asked for; expected at most {max(choices)}, got {total}")
        if min(fitting) != total and self.pad is None:
            raise Problem(self, None, f"fewer rows than asked for; expected {min(fitting)}, got {total}; {self.advice}")
        return min(fitting)

    def _full_place(self, array: Any, sizes: list[int]) -> tuple[tuple[slice, ...], tuple[slice, ...]] | None:
        """Where in its rows an array goes, and which part of it; None where it fills them."""
        own = array.shape[1:] if self.batched else array.shape
        if own == tuple(sizes):
            return None
        pairs = [self._one_place(size, target) for size, target in zip(own, sizes, strict=True)]
        return tuple(into for into, _ in pairs), tuple(out_of for _, out_of in pairs)

    def _one_place(self, size: int, target: int) -> tuple[slice, slice]:
        kept = min(size, target)
        if self.side == "left":
            return slice(target - kept, target), slice(size - kept, size)
        return slice(0, kept), slice(0, kept)

    def _masked(self, place: tuple[tuple[slice, ...], tuple[slice, ...]] | None) -> tuple[slice, ...]:
        if place is None:
            return ()
        return tuple(part for part, dim in zip(place[0], self.sample_dims(), strict=True) if dim.size is None)


class Labels(Column):
    """A list of labels: class indices."""

    def __init__(self, descriptor: Any, label: LabelField, ignore_index: int | None) -> None:
        super().__init__(descriptor, label.path, label.path, "int64", label.dims)
        self._classes = _Classes(self._field, label, ignore_index)
        self.pad = ignore_index
        self.advice = "declare `ignore_index` in its label"
        self.ignore_index: Final = ignore_index

    def _elements(self, value: Any) -> Any:
        return self._classes.indexes(of_numbers(value, self._natural, "int64"))


class Label(Labels):
    """One label a message: a number instead of an array."""

    def read(self, owner: Any, bound: dict[str, int]) -> Any:
        del bound
        if self._has_presence and not owner.HasField(self.name):
            return None
        return self._classes.index(getattr(owner, self.name))


class _Classes:
    """What a number in a field means as a class."""

    def __init__(self, described: Any, label: LabelField, ignore_index: int | None) -> None:
        self._ignore = ignore_index
        self._count = label.num_classes
        self._table: dict[int, int] | None = None
        if label.classes:
            index = {each.name: each.index for each in label.classes}
            values = described.enum_type.values
            numbers = {value.number: index[value.name] for value in values if value.name in index}
            self._table = numbers

    def index(self, number: int) -> int | Refusal:
        if self._table is not None:
            found = self._table.get(number, self._ignore)
            if found is None:
                return Refusal(
                    "label.unknown", "a value without class_index; expected one of the classes (or give ignore_index)"
                )
            return found
        if not 0 <= number < self._count and number != self._ignore:
            return Refusal("label.unknown", f"no class; expected 0 to {self._count - 1}")
        return number

    def indexes(self, numbers: Any) -> Any:
        if self._table is None:
            good = ((numbers >= 0) & (numbers < self._count)) | (numbers == self._ignore)
            if not good.all():
                return Refusal("label.unknown", f"no class; expected 0 to {self._count - 1}", int(good.argmin()))
            return numbers
        found = [self.index(number) for number in numbers.tolist()]
        for at, index in enumerate(found):
            if isinstance(index, Refusal):
                return Refusal(index.rule_id, index.message, at)
        return np.array(found, dtype="int64")


def tensor_column(descriptor: Any, tensor: TensorField, key: str, ignore_index: int | None) -> Column:
    """The column of a tensor. ``ignore_index`` is that of a label on the same field: it fills up where no pad does."""
    column = Column(descriptor, tensor.path, key, tensor.dtype, tensor.dims)
    column.batched = tensor.batched
    column.shape_field = tensor.shape_field
    column.truncate = tensor.truncate
    if tensor.pad is not None:
        column.pad, column.side = tensor.pad.value, tensor.pad.side
    elif ignore_index is not None:
        column.pad = ignore_index
    if column.pad is not None:
        column.filling()
    return column


def label_column(descriptor: Any, label: LabelField, ignore_index: int | None) -> Labels:
    """The column of labels: one a message, or a list."""
    return (Labels if label.dims else Label)(descriptor, label, ignore_index)
