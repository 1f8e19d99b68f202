"""Whether two runs of a model on the same inputs gave the same: numbers within a tolerance, labels alike.

Nobody promises equal bits between batch sizes, threads, providers or a calibrated model: what may differ is declared.
A label is the class with the highest score on the last axis of an output, or an integer that is an output itself. Where
the recorded scores of two classes are no further apart than the tolerance lets each be off, either is the same answer.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np

from protocontract.models.signature import DTYPES, Port, Signature
from protocontract.tensors.tolerance import Tolerance, apart
from protocontract.violations import ContractError

_FLOATS: Final = frozenset({"float16", "bfloat16", "float32", "float64"})


@dataclass(frozen=True, slots=True)
class Agreement:
    """What a comparison found. ``max_abs`` is the largest difference of two floats, ``same`` of ``labels`` are alike.

    ``reason`` is the worst thing that is further apart than the tolerance allows, and in how many runs something is;
    empty where nothing is.
    """

    rows: int
    max_abs: float
    labels: int
    same: int
    reason: str = ""

    @property
    def share(self) -> float:
        """The share of labels that are alike, 0 to 1; 1 where there are none."""
        return self.same / self.labels if self.labels else 1.0

    def at_least(self, share: float) -> bool:
        """Whether so many labels are alike. In decimals: 0.99 of 100 are 99, whatever double is nearest to 0.99."""
        return self.same >= Fraction(repr(share)) * self.labels


def compare_runs(
    pairs: Iterable[tuple[Mapping[str, Any], Mapping[str, Any]]],
    *,
    tolerance: Tolerance | None,
    labelled: Sequence[str] = (),
    bfloat16: Sequence[str] = (),
) -> Agreement:
    """Compare pairs of outputs by name: what a run gave, and what is recorded or was given by the other.

    ``tolerance`` None: numbers are measured, and only names, dtypes and shapes have to be alike. ``labelled``: the
    outputs that say labels (``labelled_outputs``). ``bfloat16``: outputs that are held as its 16 bits.
    """
    rows = labels = same = 0
    far = 0.0
    runs = 0
    apart_in: list[tuple[float, str]] = []
    allowed = tolerance or Tolerance()
    for result, recorded in pairs:
        now, before = _floats(result, bfloat16), _floats(recorded, bfloat16)
        # Integers that are labels are counted, and need not all be alike.
        counted = {name for name in labelled if name in before and before[name].dtype.kind != "f"}
        reason, most = apart(_without(now, counted), _without(before, counted), tolerance or Tolerance(float("inf")))
        far = max(far, most)
        runs += 1
        if reason:
            apart_in.append((most, reason))
        rows += max((array.shape[0] for array in before.values() if array.ndim), default=0)
        for name in labelled:
            if name in before:
                alike = _alike(now.get(name), before[name], allowed)
                labels += alike.size
                same += int(np.count_nonzero(alike))
    worst = max(apart_in, key=lambda each: each[0], default=None)
    told = "" if worst is None else f"{worst[1]}, in {len(apart_in):,} of {runs:,} runs"
    return Agreement(rows, far, labels, same, told)


def labelled_outputs(signature: Signature, named: Sequence[str] = ()) -> tuple[str, ...]:
    """The outputs that have labels: those named, else all floats with more than one class on their last axis, and all
    integers.

    Raises ContractError where one of ``named`` is not among the outputs.
    """
    ports = {port.name: port for port in signature.outputs}
    unknown = [name for name in named if name not in ports]
    if unknown:
        raise ContractError(f"no output {', '.join(unknown)}; expected {', '.join(ports) or 'none'}")
    return tuple(named) or tuple(name for name, port in ports.items() if _has_classes(port))


def bfloat16_outputs(signature: Signature) -> tuple[str, ...]:
    """The outputs that NumPy holds as 16 bits each."""
    return tuple(port.name for port in signature.outputs if port.dtype == "bfloat16")


def _has_classes(port: Port) -> bool:
    if port.dtype in _FLOATS:
        return len(port.dims) > 1 and port.dims[-1] != 1
    return port.dtype in DTYPES.values()


def _without(outputs: Mapping[str, Any], names: Container[str]) -> dict[str, Any]:
    return {name: array for name, array in outputs.items() if name not in names}


def _floats(outputs: Mapping[str, Any], bfloat16: Sequence[str]) -> dict[str, Any]:
    """Outputs with bfloat16 as float32, whose upper half it is."""
    found = dict(outputs)
    for name in bfloat16:
        if name in found:
            found[name] = (found[name].astype("uint32") << 16).view("float32")
    return found


def _alike(now: Any, before: Any, allowed: Tolerance) -> Any:
    """Label by label: whether both say the same one. A row with a NaN says none, nor does another shape."""
    if before.dtype.kind != "f":
        return np.equal(now, before) if getattr(now, "shape", None) == before.shape else np.zeros(before.shape, bool)
    if getattr(now, "shape", None) != before.shape:
        return np.zeros(before.shape[:-1], bool)
    new, old = now.astype("float64"), before.astype("float64")
    chosen = new.argmax(axis=-1, keepdims=True)
    best = old.argmax(axis=-1, keepdims=True)
    top, other = np.take_along_axis(old, best, -1), np.take_along_axis(old, chosen, -1)
    room = 2 * allowed.max_abs + allowed.max_rel * (np.abs(top) + np.abs(other))
    with np.errstate(invalid="ignore"):  # infinity less infinity is no margin
        alike = ((chosen == best) | (top - other <= room))[..., 0]
    return alike & ~np.isnan(new).any(axis=-1) & ~np.isnan(old).any(axis=-1)
