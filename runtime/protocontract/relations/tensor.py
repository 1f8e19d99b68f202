"""Tensors in a message: element type, shape, and what its numbers must keep.

Bytes are little endian and row major, and are read in place. Repeated numbers are checked the same way.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from protocontract.relations import tensor_elements as elements
from protocontract.violations import OptionError, Refusal, Refused, describe

_Checker = Callable[..., "list[Refusal] | None"]
_Bounds = Mapping[str, "Mapping[str, int] | tuple[int | None, int | None]"]


def check(
    value: Any,
    *,
    dtype: str | None = None,
    dims: Sequence[str | int] = (),
    bounds: _Bounds | None = None,
    shape: Sequence[int] | None = None,
    batched: bool = False,
    finite: bool = False,
    min: float | None = None,  # noqa: A002  (the option's name in contract.proto)
    max: float | None = None,  # noqa: A002
    l2_norm: Mapping[str, float] | tuple[float, float] | None = None,
    bound: dict[str, int] | None = None,
) -> None:
    """Raise Refused for the first promise that a tensor breaks.

    ``value``: bytes (or what has the buffer protocol), or a sequence of numbers. ``dtype``: bool, int8 .. uint64,
    float16, bfloat16, float32, float64; needed for bytes. ``dims``: a number or a name for each axis; a name is free,
    within ``bounds`` ({name: {"min": .., "max": ..}}), and has one size wherever it recurs. ``shape``: the sizes as the
    message states them. ``batched``: the first axis counts samples. ``finite``: no NaN, no infinity. ``min``, ``max``:
    bounds of the elements, inclusive. ``l2_norm``: {"value": .., "tolerance": ..}, norm of each row of the last axis.
    ``bound``: sizes of names that are known already; learns the names of this tensor.

    Raises Refused (tensor.dtype, .size, .shape, .finite, .range, .norm; ``index`` is the first element, for .norm the
    first row) and OptionError.
    """
    found = checker(
        dtype=dtype, dims=dims, bounds=bounds, batched=batched, finite=finite, min=min, max=max, l2_norm=l2_norm
    )(value, shape, bound)
    if found:
        raise Refused.of(found[0])


def checker(
    *,
    dtype: str | None = None,
    dims: Sequence[str | int] = (),
    bounds: _Bounds | None = None,
    batched: bool = False,
    finite: bool = False,
    min: float | None = None,  # noqa: A002
    max: float | None = None,  # noqa: A002
    l2_norm: Mapping[str, float] | tuple[float, float] | None = None,
) -> _Checker:
    """The non-raising twin: ``(value, shape=None, bound=None) -> list[Refusal] | None``, one refusal a broken promise.

    ``value``: bytes or a repeated field. ``shape``: the sibling that holds the sizes, or None. ``bound``: one dict for
    all tensors of a message; sizes of named dims are added to it, and a size that differs is tensor.shape.
    Raises OptionError.
    """
    promised = promises(
        dtype=dtype, dims=dims, bounds=bounds, batched=batched, finite=finite, min=min, max=max, l2_norm=l2_norm
    )
    kind, axes, finite = promised.dtype, promised.axes, promised.finite
    limits, norm, range_text, norm_text = promised.limits, promised.norm, promised.range_text, promised.norm_text

    def find(
        value: Any, shape: Sequence[int] | None = None, bound: dict[str, int] | None = None
    ) -> list[Refusal] | None:
        found: list[Refusal] = []
        content = _content(value, kind)
        if isinstance(content, Refusal):
            return [content]
        tensor, misfit = content
        if misfit is not None:
            found.append(misfit)
        sizes = axes.sizes(len(tensor), shape, {} if bound is None else bound)
        if isinstance(sizes, Refusal):
            found.append(sizes)
        if misfit is not None and kind is not None:
            return found  # what the dtype cannot hold has no value to compare
        if finite and (at := tensor.first_not_finite()) is not None:
            found.append(Refusal("tensor.finite", "NaN or an infinity; expected finite numbers", at))
            return found
        if limits is not None and (at := tensor.first_outside(*limits)) is not None:
            found.append(Refusal("tensor.range", f"a number out of bounds; expected {range_text}", at))
        if norm is not None and not isinstance(sizes, Refusal):
            length = sizes[-1] if sizes else len(tensor)
            if length and (at := tensor.first_bad_norm(length, *norm)) is not None:
                found.append(Refusal("tensor.norm", f"a row of another length; expected {norm_text}", at))
        return found or None

    return find


@dataclass(frozen=True, slots=True)
class Promises:
    """The options of one tensor, read: what other languages check too."""

    dtype: str | None
    axes: Axes
    finite: bool
    limits: tuple[float, float] | None
    range_text: str
    norm: tuple[float, float] | None

    @property
    def dims(self) -> tuple[int | str, ...]:
        """A number or a name for each axis."""
        return self.axes.dims

    @property
    def bounds(self) -> Mapping[str, tuple[int, int | None]]:
        """The smallest and the largest size of a name."""
        return self.axes.bounds

    @property
    def norm_text(self) -> str:
        """What is expected of a row, in prose."""
        return "" if self.norm is None else f"an L2 norm of {self.norm[0]:g} within {self.norm[1]:g}"


def promises(
    *,
    dtype: str | None = None,
    dims: Sequence[str | int] = (),
    bounds: _Bounds | None = None,
    batched: bool = False,
    finite: bool = False,
    min: float | None = None,  # noqa: A002
    max: float | None = None,  # noqa: A002
    l2_norm: Mapping[str, float] | tuple[float, float] | None = None,
) -> Promises:
    """The options of a tensor as they are checked. Raises OptionError."""
    kind = None if dtype is None else dtype.lower()
    if kind is not None and kind not in elements.FORMATS:
        raise OptionError("dtype", f"no element type; expected one of {', '.join(elements.FORMATS)}")
    axes = Axes(dims, bounds or {}, batched)
    if min is not None and max is not None and not min <= max:
        raise OptionError("min", "above max")
    limited = min is not None or max is not None
    return Promises(
        kind,
        axes,
        finite and kind not in elements.INTEGER_BOUNDS,  # integers always are
        _limits(kind, min, max) if limited else None,
        _range_text(min, max) if limited else "",
        _norm(l2_norm),
    )


# ----------------------------------------------------------------------------------------------------------------------
# Elements


def _content(value: Any, dtype: str | None) -> tuple[elements.Elements, Refusal | None] | Refusal:
    if isinstance(value, bytes | bytearray | memoryview) or _is_buffer(value):
        view = memoryview(value)
        if not view.c_contiguous:
            return Refusal("tensor.dtype", f"bytes with holes; expected contiguous ones, got {describe(value)}")
        if dtype is None:
            return Refusal("tensor.dtype", f"bytes without an element type, got {describe(value)}")
        view = view.cast("B") if view.nbytes else memoryview(b"")
        if view.nbytes % elements.SIZES[dtype]:
            return Refusal(
                "tensor.size",
                f"bytes that end inside an element; expected a multiple of "
                f"{elements.SIZES[dtype]}, got {view.nbytes} bytes",
            )
        tensor = elements.of_bytes(view, dtype)
        if dtype == "bool" and (at := tensor.first_outside(0, 1)) is not None:
            return tensor, Refusal("tensor.dtype", "a byte that is no bool; expected 0 or 1", at)
        return tensor, None
    if isinstance(value, str) or not hasattr(value, "__len__"):
        return Refusal("tensor.dtype", f"no tensor; expected bytes or numbers, got {describe(value)}")
    numbers = list(value)
    for at, number in enumerate(numbers):
        if not isinstance(number, int | float):
            return Refusal("tensor.dtype", f"no number; expected one, got {describe(number)}", at)
        if isinstance(number, int) and number.bit_length() > 64:
            return Refusal("tensor.dtype", "an integer of more than 64 bits", at)
    tensor = elements.Numbers(numbers)
    return tensor, None if dtype is None else _misfit(numbers, dtype)


def _is_buffer(value: Any) -> bool:
    """array.array, NumPy arrays and the like. Lists and repeated fields have no buffer."""
    try:
        memoryview(value).release()
    except TypeError:
        return False
    return True


def _misfit(numbers: list[int | float], dtype: str) -> Refusal | None:
    """The first number that the dtype cannot hold: a fraction in an integer, a number beyond the largest one."""
    whole = elements.INTEGER_BOUNDS.get(dtype)
    for at, number in enumerate(numbers):
        if whole is not None:
            if number != number or number - number != 0 or number != int(number) or not whole[0] <= number <= whole[1]:
                return Refusal("tensor.dtype", f"a number that {dtype} does not have", at)
        elif abs(number) > elements.LARGEST[dtype] and not (isinstance(number, float) and math.isinf(number)):
            return Refusal("tensor.dtype", f"a number that {dtype} does not have", at)
    return None


def _limits(dtype: str | None, low: float | None, high: float | None) -> tuple[float, float]:
    """Bounds to compare with. For integers they are integers: a double beyond 2^53 would be compared inexactly."""
    if dtype in elements.INTEGER_BOUNDS:
        least, most = elements.INTEGER_BOUNDS[dtype]
        lower = least if low is None or low < least else math.ceil(low) if low <= most else most + 1
        upper = most if high is None or high > most else math.floor(high) if high >= least else least - 1
        return lower, upper
    return -math.inf if low is None else low, math.inf if high is None else high


def _range_text(low: float | None, high: float | None) -> str:
    if low is None:
        return f"at most {high:g}"
    return f"at least {low:g}" if high is None else f"{low:g} to {high:g}"


def _norm(option: Mapping[str, float] | tuple[float, float] | None) -> tuple[float, float] | None:
    if option is None:
        return None
    value, tolerance = (option["value"], option.get("tolerance", 0.0)) if isinstance(option, Mapping) else option
    if not (0 <= value < math.inf and 0 <= tolerance < math.inf):
        raise OptionError("l2_norm", "expected a value and a tolerance that are finite and not negative")
    return float(value), float(tolerance)


# ----------------------------------------------------------------------------------------------------------------------
# Axes


class Axes:
    """Declared dims: how an element count, a stated shape and known names determine the sizes."""

    __slots__ = ("bounds", "dims")

    def __init__(self, dims: Sequence[str | int], bounds: _Bounds, batched: bool) -> None:
        self.dims: Final[tuple[int | str, ...]] = tuple(_dim(dim) for dim in dims)
        names = {dim for dim in self.dims if isinstance(dim, str)}
        unknown = sorted(set(bounds) - names)
        if unknown:
            raise OptionError("bounds", f"no dim is named {', '.join(unknown)}")
        self.bounds: Final = {name: _pair(name, limits) for name, limits in bounds.items()}
        if batched and not self.dims:
            raise OptionError("batched", "needs dims: the first of them counts samples")

    def sizes(self, count: int, shape: Sequence[int] | None, bound: dict[str, int]) -> Sequence[int] | Refusal:
        """The size of each axis; the names' sizes are added to ``bound`` where all is well."""
        if shape is not None:
            if isinstance(shape, str) or not isinstance(shape, Iterable):
                return Refusal("tensor.shape", f"no shape; expected a list of sizes, got {describe(shape)}")
            sizes = list(shape)
            stated = self._stated(sizes, count)
            if stated is not None:
                return stated
        else:
            solved = self._solved(count, bound)
            if isinstance(solved, Refusal):
                return solved
            sizes = solved
        learnt: dict[str, int] = {}
        for dim, size in zip(self.dims, sizes, strict=False):
            if isinstance(dim, int):
                continue
            known = learnt.setdefault(dim, bound.get(dim, size))
            if known != size:
                return Refusal(
                    "tensor.shape", f"dim {dim} has two sizes; expected {known} wherever it recurs, got {size}"
                )
            low, high = self.bounds.get(dim, (0, None))
            if size < low or (high is not None and size > high):
                wanted = f"at least {low}" if high is None else f"{low} to {high}"
                return Refusal("tensor.shape", f"dim {dim} out of bounds; expected {wanted}, got {size}")
        bound.update(learnt)
        return sizes

    def _stated(self, sizes: list[int], count: int) -> Refusal | None:
        if any(isinstance(size, bool) or not isinstance(size, int) or size < 0 for size in sizes):
            return Refusal("tensor.shape", "a shape with a negative size; expected sizes from 0")
        if self.dims and len(sizes) != len(self.dims):
            return Refusal("tensor.shape", f"another number of axes; expected {len(self.dims)}, got {len(sizes)}")
        for at, (dim, size) in enumerate(zip(self.dims, sizes, strict=False)):
            if isinstance(dim, int) and size != dim:
                return Refusal("tensor.shape", f"an axis of another size; expected {dim}, got {size}", at)
        product = math.prod(sizes)
        if product != count:
            return Refusal("tensor.size", f"not as many elements as the shape says; got {count} elements")
        return None

    def _solved(self, count: int, bound: Mapping[str, int]) -> list[int] | Refusal:
        """Sizes from the number of elements, where at most one name is unknown."""
        if not self.dims:
            return [count]
        sizes = [dim if isinstance(dim, int) else bound.get(dim) for dim in self.dims]
        known = math.prod(size for size in sizes if size is not None)
        free = [dim for dim, size in zip(self.dims, sizes, strict=True) if size is None]
        if not free:
            if known == count:
                return [size or 0 for size in sizes]
            # Which of the two is wrong, the axis or the count, cannot be told where a name is bound elsewhere.
            named = any(isinstance(dim, str) for dim in self.dims)
            return Refusal(
                "tensor.shape" if named else "tensor.size", f"another number of elements; expected {known}, got {count}"
            )
        if len(set(free)) > 1:
            return Refusal("tensor.shape", "two free dims and no stated shape: the sizes cannot be known")
        size = _root(count // known, len(free)) if known and count % known == 0 else None
        if known == 0 and count == 0:
            size = 0
        if size is None:
            return Refusal(
                "tensor.size",
                f"a number of elements that fits no size of dim {free[0]}; expected a multiple of {known}, got {count}",
            )
        return [size if known_size is None else known_size for known_size in sizes]


def _dim(dim: str | int) -> int | str:
    if isinstance(dim, str) and dim.isascii() and dim.isdigit() and len(dim) < 20:
        return int(dim)
    if isinstance(dim, int) and not isinstance(dim, bool) and dim >= 0:
        return dim
    if isinstance(dim, str) and dim.isidentifier():
        return dim
    raise OptionError("dims", f"{dim!r} is neither a size nor a name")


def _pair(name: str, limits: Mapping[str, int] | tuple[int | None, int | None]) -> tuple[int, int | None]:
    low, high = (limits.get("min"), limits.get("max")) if isinstance(limits, Mapping) else limits
    if (low or 0) < 0 or (high is not None and high < (low or 0)):
        raise OptionError("bounds", f"of {name}: min above max")
    return low or 0, high


def _root(number: int, degree: int) -> int | None:
    """The integer whose ``degree``-th power is ``number``: a name that occurs several times is one size."""
    if degree == 1:
        return number
    guess = round(number ** (1 / degree)) if number < 1 << 1000 else 0
    for candidate in (guess - 1, guess, guess + 1):
        if candidate >= 0 and candidate**degree == number:
            return int(candidate)
    return None
