"""Inputs of a model before anything runs: names, dtypes and shapes. No value is looked at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from protocontract.models.errors import WrongInput
from protocontract.models.providers import some
from protocontract.models.signature import DTYPES, Port


def check_inputs(model: str, ports: Mapping[str, Port], inputs: Mapping[str, Any]) -> None:
    """Hold arrays by name to the inputs of a model, by name. Raises WrongInput."""
    missing = [name for name in ports if name not in inputs]
    unknown = [name for name in inputs if name not in ports]
    if missing or unknown:
        raise WrongInput(
            f"{model} takes {some(ports)};"
            + (f" {some(missing)} missing" if missing else "")
            + (" and" if missing and unknown else "")
            + (f" {some(unknown)} unknown" if unknown else "")
        )
    for name, port in ports.items():
        array = inputs[name]
        if not isinstance(array, np.ndarray):
            raise WrongInput(f"input `{name}` is {type(array).__name__}; expected an array of {port}")
        if not _fits(array, port):
            got = f"{array.dtype}[{', '.join(map(str, array.shape))}]"
            raise WrongInput(f"input `{name}` is {got}; {model} takes {port}")


def check_outputs(model: str, known: tuple[str, ...], asked: tuple[str, ...]) -> None:
    """Hold the names of outputs that are asked for to those of a model. Raises WrongInput."""
    unknown = [name for name in asked if name not in known]
    if unknown:
        raise WrongInput(f"{model} has no output {some(unknown)}; expected {some(known)}")


def _fits(array: Any, port: Port) -> bool:
    stored = "uint16" if port.dtype == "bfloat16" else port.dtype  # NumPy has no bfloat16
    return (
        (str(array.dtype) == stored or port.dtype not in DTYPES.values())
        and array.ndim == len(port.dims)
        and all(not isinstance(dim, int) or dim == size for dim, size in zip(port.dims, array.shape, strict=True))
    )
