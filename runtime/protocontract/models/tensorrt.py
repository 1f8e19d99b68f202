"""TensorRT's shapes, caches and warm-up inputs, from what a contract declares.

TensorRT builds an engine for ranges of shapes, and does so again, for minutes, when a request comes that fits none. So
the shapes are derived before: a profile for each of a few batch sizes, to which batches are filled up, with the free
axes within the contract's bounds. An axis without a bound is refused. All of it is arithmetic; no GPU has run it yet.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from protocontract.contract import Contract
from protocontract.models.comparison import place, stacked, tensors
from protocontract.models.providers import Provider
from protocontract.tensors.fields import Dim, TensorField
from protocontract.violations import ContractError

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Profile:
    """The shapes of one optimization profile, by input: smallest, the one that it is tuned for, largest."""

    min: Mapping[str, Shape]
    opt: Mapping[str, Shape]
    max: Mapping[str, Shape]


class BatchSizes:
    """The declared sizes of batches: each batch is filled up to the next one."""

    def __init__(self, max_size: int, sizes: Iterable[int] | None = None) -> None:
        """``max_size`` is the contract's ``batch.max_size``; ``sizes`` default to the powers of two up to it, and it.

        Raises ContractError where sizes are not between 1 and ``max_size``, or leave it out.
        """
        if max_size < 1:
            raise ContractError(f"batch.max_size is {max_size:,}; expected 1 at least")
        known = {*_powers(max_size), max_size} if sizes is None else set(sizes)
        if not known or min(known) < 1 or max(known) != max_size:
            given = ", ".join(map(str, sorted(known))) or "none"
            raise ContractError(
                f"batch sizes {given}; expected sizes from 1 whose largest is batch.max_size {max_size:,}"
            )
        self.sizes: Final = tuple(sorted(known))

    def fit(self, rows: int) -> int:
        """The size to fill a batch up to. Raises ContractError where it has no rows or more than the largest size."""
        if not 1 <= rows <= self.sizes[-1]:
            raise ContractError(f"a batch of {rows:,} rows; expected 1 to {self.sizes[-1]:,}")
        return next(size for size in self.sizes if size >= rows)

    def fill(self, inputs: Mapping[str, Any], rows: int) -> dict[str, Any]:
        """The arrays with axis 0 filled up to ``fit(rows)``: by their last row, which is valid, as zeros may not be.

        The rows behind ``rows`` of what comes out belong to nobody. Raises ContractError as ``fit``.
        """
        import numpy as np

        more = self.fit(rows) - rows
        if not more:
            return dict(inputs)
        return {name: np.concatenate([array, np.repeat(array[-1:], more, axis=0)]) for name, array in inputs.items()}


def profiles(contract: Contract[Any], batches: BatchSizes) -> tuple[Profile, ...]:
    """A profile for each batch size, smallest first. Axes that are free run from their lower bound (1 at least) to the
    upper one, for which the engine is tuned.

    Raises ContractError with all fields that have an axis without an upper bound, a bound below ``batch.max_size``, or
    a name that the provider cannot read.
    """
    fields = tensors(contract)
    wrong = [text for field in fields for text in _unbounded(field, contract, batches.sizes[-1])]
    if wrong:
        raise ContractError("no TensorRT profile: " + "; ".join(wrong))
    return tuple(
        Profile(
            {field.name: _shape(field, size, smallest=True) for field in fields},
            {field.name: _shape(field, size) for field in fields},
            {field.name: _shape(field, size) for field in fields},
        )
        for size in batches.sizes
    )


def provider(
    contract: Contract[Any],
    batches: BatchSizes,
    cache: Path,
    *,
    model_sha256: str,
    tensorrt: str,
    compute_capability: str,
    options: Mapping[str, str] | None = None,
    elsewhere: Mapping[str, tuple[str, ...]] | None = None,
) -> Provider:
    """TensorRT with the profiles of a contract, and its caches below ``cache``.

    ``options`` are further ones of the provider (``trt_fp16_enable``); those that are derived here win. Versions are
    those of ``devices.device_facts``. Raises ContractError as ``profiles``.
    """
    found = profiles(contract, batches)
    given = dict(options or {})
    shapes = {
        "trt_profile_min_shapes": _texts([profile.min for profile in found]),
        "trt_profile_opt_shapes": _texts([profile.opt for profile in found]),
        "trt_profile_max_shapes": _texts([profile.max for profile in found]),
    }
    folder = cache_folder(cache, model_sha256, tensorrt, compute_capability, {**given, **shapes})
    caches = {
        "trt_engine_cache_enable": "1",
        "trt_engine_cache_path": str(folder),
        "trt_timing_cache_enable": "1",
        "trt_timing_cache_path": str(folder),
    }
    return Provider("tensorrt", {**given, **shapes, **caches}, dict(elsewhere or {}))


def cache_folder(
    cache: Path, model_sha256: str, tensorrt: str, compute_capability: str, options: Mapping[str, str]
) -> Path:
    """Where engines and timings of a model are kept: an engine is of use to the same model, version and device alone.

    Raises ContractError where one of them is not known: an engine under a wrong key would be loaded.
    """
    known = {"SHA-256": model_sha256, "TensorRT version": tensorrt, "compute capability": compute_capability}
    missing = [name for name, value in known.items() if not value]
    if missing:
        raise ContractError(f"no place for TensorRT's cache: {', '.join(missing)} not known; expected all three")
    how = hashlib.sha256(json.dumps(dict(options), sort_keys=True).encode()).hexdigest()[:12]
    return cache / f"{model_sha256[:32]}-trt{tensorrt}-sm{compute_capability.replace('.', '')}-{how}"


def warm_up(contract: Contract[Any], batches: BatchSizes) -> tuple[dict[str, Any], ...]:
    """Inputs to run before serving: the smallest and the largest shapes of each profile, each once.

    Elements are 0, or the bound that is nearest to it. Raises ContractError as ``profiles``.
    """
    import numpy as np

    fields = {field.name: field for field in contract.tensors}
    found: dict[tuple[tuple[str, Shape], ...], dict[str, Any]] = {}
    for profile in profiles(contract, batches):
        for shapes in (profile.min, profile.max):
            key = tuple(shapes.items())
            if key not in found:
                found[key] = {
                    name: np.full(shape, _element(fields[name]), _STORED.get(fields[name].dtype, fields[name].dtype))
                    for name, shape in shapes.items()
                }
    return tuple(found.values())


# NumPy has no bfloat16.
_STORED: Final = {"bfloat16": "uint16"}


def _element(field: TensorField) -> float:
    low = 0.0 if field.min is None else max(0.0, field.min)
    found = low if field.max is None else min(low, field.max)
    # The 16 bits of a bfloat16 are not the number; those of 0 are.
    return 0 if field.dtype == "bfloat16" else found


def _unbounded(field: TensorField, contract: Contract[Any], max_size: int) -> list[str]:
    where = place(contract, field)
    if any(mark in field.name for mark in ":,"):
        # The provider's option parts names and shapes by them, and reads another name.
        return [f"`{field.name}` has a colon or comma in its name; expected a name without ({where})"]
    first, *rest = stacked(field)
    found = [
        f"`{field.name}` has the free axis {dim.name} without an upper bound; expected bounds ({where})"
        for dim in rest
        if dim.size is None and dim.max is None
    ]
    top = first.size if first.size is not None else first.max
    if top is not None and top < max_size:
        found.append(f"`{field.name}` takes {top:,} rows at most; expected batch.max_size {max_size:,} ({where})")
    return found


def _shape(field: TensorField, rows: int, *, smallest: bool = False) -> Shape:
    first, *rest = stacked(field)
    return (rows if first.size is None else first.size, *(_size(dim, smallest) for dim in rest))


def _size(dim: Dim, smallest: bool) -> int:
    if dim.size is not None:
        return dim.size
    assert dim.max is not None  # refused before
    return max(1, dim.min) if smallest else dim.max


def _texts(shapes: Sequence[Mapping[str, Shape]]) -> str:
    """As the provider reads them: ``ids:1x256,mask:1x256``; an input comes once for each profile, in their order."""
    return ",".join(f"{name}:{'x'.join(map(str, shape))}" for each in shapes for name, shape in each.items())


def _powers(top: int) -> set[int]:
    return {1 << bit for bit in range(top.bit_length()) if 1 << bit <= top}
