"""Arrays into messages: what ``reading`` reads, the other way round."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from protocontract.tensors.fields import TensorField
from protocontract.tensors.reading import STORED, natural_dtype, np, owners
from protocontract.violations import ContractError


class Writer:
    """Sets the tensors of one message, at its top or in messages below that are no lists."""

    def __init__(self, descriptor: Any, fields: tuple[TensorField, ...]) -> None:
        """Raises ContractError for a tensor in a repeated field: nobody says which of its messages."""
        self._fields: Final = [(field, *_place(descriptor, field)) for field in fields]

    def fill(self, message: Any, arrays: Mapping[str, Any]) -> None:
        """Set each tensor from the array of its name; shapes stand in their ``shape_field`` where one is declared.

        A tensor that is not ``batched`` holds one sample, so its array has one row, which is taken off. Raises
        ContractError where an array is not there, or is none of that dtype and number of axes. Bounds and sizes are the
        contract's work.
        """
        for field, path, described in self._fields:
            array = arrays.get(field.name)
            if array is None:
                raise ContractError(f"no array `{field.name}`; expected one for {field.path}")
            stored = STORED[field.dtype]
            axes = len(field.dims) + (not field.batched)
            if array.dtype != stored or array.ndim != axes:
                raise ContractError(
                    f"`{field.name}` is {array.dtype} of {array.ndim} axes; expected {field.dtype} of {axes}"
                )
            if not field.batched:
                if len(array) != 1:
                    raise ContractError(
                        f"`{field.name}` has {len(array)} rows; expected 1, as {field.path} is one sample"
                    )
                array = array[0]
            owner = message
            for name in path:
                owner = getattr(owner, name)
                owner.SetInParent()
            _set(owner, described, array, field.dtype)
            if field.shape_field:
                shape = getattr(owner, field.shape_field)
                del shape[:]
                shape.extend(array.shape)


def _place(descriptor: Any, field: TensorField) -> tuple[tuple[str, ...], Any]:
    outer, _, name = field.path.rpartition(".")
    if "[]" in outer:
        raise ContractError(f"{descriptor.full_name}: the tensor {field.path} is in a list; expected one message of it")
    _, owner, _ = owners(descriptor, outer)
    return tuple(outer.split(".")) if outer else (), owner.fields_by_name[name]


def _set(owner: Any, described: Any, array: Any, dtype: str) -> None:
    natural = natural_dtype(described)
    if natural is None:
        setattr(owner, described.name, np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).tobytes())
        return
    if dtype == "bfloat16":  # its 16 bits are the upper ones of a float
        array = (array.astype("uint32") << 16).view("float32")
    values = getattr(owner, described.name)
    del values[:]
    values.extend(array.reshape(-1).astype(natural).tolist())
