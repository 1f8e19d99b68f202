"""Requests of several lengths in one batch: filled up as the contract declares, and cut back to their own length.

A free axis is filled up where every input that has it declares ``pad``, at the same side, and one of them is a mask
(0 and 1, filled up by 0): the model is told what is real. Otherwise requests of several lengths are several batches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

from protocontract.contract import Contract
from protocontract.models.comparison import stacked
from protocontract.tensors.fields import TensorField

Lengths = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _Axis:
    """A free axis of some arrays: where it is in each, what fills it up, and at which end."""

    name: str
    inputs: Mapping[str, tuple[int, float]]
    outputs: Mapping[str, tuple[int, ...]]
    side: Literal["right", "left"]


class Padding:
    """What a contract lets fill up. Rows (axis 0) are not its business."""

    def __init__(self, axes: Sequence[_Axis]) -> None:
        self._axes: Final = tuple(axes)
        self._free: Final = {(name, at) for axis in axes for name, (at, _) in axis.inputs.items()}

    @classmethod
    def of(cls, inputs: Contract[Any] | None, outputs: Contract[Any] | None) -> Padding | None:
        """What the contracts of a model's inputs and outputs declare; None where nothing may be filled up."""
        if inputs is None or outputs is None:
            return None
        names = {dim.name for field in inputs.tensors for dim in stacked(field)[1:] if dim.size is None}
        found = [axis for name in sorted(names) if (axis := _axis(name, inputs, outputs)) is not None]
        return cls(found) if found else None

    def kind(self, name: str, sizes: Sequence[int]) -> tuple[int, ...]:
        """What of the sizes of an input has to be alike in a batch: those that may differ are -1. Without axis 0."""
        return tuple(-1 if (name, at) in self._free else size for at, size in enumerate(sizes, 1))

    def lengths(self, inputs: Mapping[str, Any]) -> Lengths:
        """The size of each axis in a request."""
        return {axis.name: next(inputs[name].shape[at] for name, (at, _) in axis.inputs.items()) for axis in self._axes}

    def together(self, requests: Sequence[Mapping[str, Any]]) -> tuple[dict[str, Any], Lengths]:
        """The arrays of several requests behind each other, filled up to the longest, and how long that is."""
        known = [self.lengths(each) for each in requests]
        longest = {axis.name: max(each[axis.name] for each in known) for axis in self._axes}
        filled = [
            {name: self._filled(name, array, longest) for name, array in each.items()} if own != longest else each
            for each, own in zip(requests, known, strict=True)
        ]
        if len(filled) == 1:
            return dict(filled[0]), longest
        return {name: np.concatenate([each[name] for each in filled]) for name in requests[0]}, longest

    def cut(self, name: str, output: Any, own: Lengths, longest: Lengths) -> Any:
        """An output of a request without what belongs to the filling."""
        for axis in self._axes:
            size, most = own[axis.name], longest[axis.name]
            if size == most:
                continue
            for at in axis.outputs.get(name, ()):
                if output.ndim > at and output.shape[at] == most:
                    kept = slice(0, size) if axis.side == "right" else slice(most - size, most)
                    output = output[(*[slice(None)] * at, kept)]
        return output

    def _filled(self, name: str, array: Any, longest: Lengths) -> Any:
        for axis in self._axes:
            if name not in axis.inputs:
                continue
            at, value = axis.inputs[name]
            missing = longest[axis.name] - array.shape[at]
            if missing:
                width = [(0, 0)] * array.ndim
                width[at] = (0, missing) if axis.side == "right" else (missing, 0)
                array = np.pad(array, width, constant_values=value)
        return array


def _axis(name: str, inputs: Contract[Any], outputs: Contract[Any]) -> _Axis | None:
    having = [(field, at) for field in inputs.tensors for at in _places(field, name)]
    fields = [field for field, _ in having]
    pads = [field.pad for field in fields]
    # Of an array that has it twice, as of pairs, each place would have to be filled up.
    if any(pad is None for pad in pads) or len({field.name for field in fields}) < len(fields):
        return None
    sides: set[Literal["right", "left"]] = {pad.side for pad in pads if pad is not None}
    # NumPy has no bfloat16, and its bits are not the number.
    if len(sides) != 1 or not any(map(_is_mask, fields)) or any(field.dtype == "bfloat16" for field in fields):
        return None
    return _Axis(
        name,
        {field.name: (at, field.pad.value) for field, at in having if field.pad is not None},
        {field.name: places for field in outputs.tensors if (places := _places(field, name))},
        sides.pop(),
    )


def _places(field: TensorField, name: str) -> tuple[int, ...]:
    return tuple(at for at, dim in enumerate(stacked(field)) if at and dim.size is None and dim.name == name)


def _is_mask(field: TensorField) -> bool:
    zero = field.pad is not None and field.pad.value == 0
    return zero and (field.dtype == "bool" or (field.min == 0 and field.max == 1))
