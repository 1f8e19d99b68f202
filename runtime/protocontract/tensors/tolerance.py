"""How far two outputs of a model may be apart: what a fallback and a replay of evidence are judged by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far two outputs of a model may be apart: ``max_abs + max_rel * |recorded|``, for each element."""

    max_abs: float = 0.0
    max_rel: float = 0.0

    def __str__(self) -> str:
        return f"at most {self.max_abs:g} + {self.max_rel:g} of the recorded value"


def apart(result: Any, recorded: Any, tolerance: Tolerance) -> tuple[str, float]:
    """Why two outputs are further apart than allowed (empty where they are not), and how far at most.

    Both are arrays by name; only floats may be apart. NaN and infinity have to be at the same places. No value of the
    data is in the reason.
    """
    from protocontract.tensors.reading import np

    if not isinstance(result, Mapping) or not isinstance(recorded, Mapping) or result.keys() != recorded.keys():
        return "other outputs", 0.0
    far = 0.0
    for name, before in recorded.items():
        now = result[name]
        if now.shape != before.shape or now.dtype != before.dtype:
            return f"output {name} is {now.dtype}{list(now.shape)}; recorded {before.dtype}{list(before.shape)}", far
        if before.dtype.kind != "f":
            if not np.array_equal(now, before):
                return f"output {name} has other values", far
            continue
        new, old = now.astype("float64"), before.astype("float64")
        finite = np.isfinite(new) & np.isfinite(old)
        if not np.array_equal(new[~finite], old[~finite], equal_nan=True):
            return f"output {name} has NaN or infinity elsewhere", far
        gaps = np.abs(new[finite] - old[finite])
        most = float(gaps.max()) if gaps.size else 0.0
        far = max(far, most)
        if (gaps > tolerance.max_abs + tolerance.max_rel * np.abs(old[finite])).any():
            return f"output {name} is up to {most:.3g} apart; expected {tolerance}", far
    return "", far
