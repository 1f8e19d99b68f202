"""Preprocess steps: what magika computes of a content, as a versioned step of its contract, and steps that fail."""

from __future__ import annotations

import array
from collections.abc import Mapping
from typing import Any

import numpy as np

from acme.inference.v1.content_type_pb2 import ContentTypeInput, IdentifyRequest

SIDE, BLOCK, NONE = 1024, 4096, 256


def content_type(request: IdentifyRequest) -> ContentTypeInput:
    """The features of magika's standard model: both ends of the content, without white space there."""
    content = request.content
    size = min(BLOCK, len(content))
    first = content[:size].lstrip()[:SIDE]
    last = content[len(content) - size :].rstrip()[-SIDE:]
    numbers = [*first, *[NONE] * (SIDE - len(first)), *[NONE] * (SIDE - len(last)), *last]
    return ContentTypeInput(features=np.array(numbers, dtype="<i4").tobytes())


content_type.version = "standard_v3_3"  # type: ignore[attr-defined]


def as_arrays(request: IdentifyRequest) -> Mapping[str, Any]:
    """The same as arrays by the model's names."""
    return {"bytes": np.frombuffer(content_type(request).features, dtype="<i4").reshape(1, -1)}


def raises(request: IdentifyRequest) -> Mapping[str, Any]:
    """Puts what it read into its error."""
    raise ValueError(request.content)


def breaks_its_contract(request: IdentifyRequest) -> ContentTypeInput:
    """Features out of bounds."""
    return ContentTypeInput(features=array.array("i", [257] * 2048).tobytes())


def in_floats(request: IdentifyRequest) -> Mapping[str, Any]:
    """Features of another dtype."""
    return {"bytes": as_arrays(request)["bytes"].astype("float32")}


def nothing(request: IdentifyRequest) -> None:
    """No features."""
