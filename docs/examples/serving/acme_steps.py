"""The steps of acme.inference.v1.ContentTypeService: from a content to what magika's model takes, and back to a label.

Training, calibration and serving use these same functions; their versions are in data cards and in evidence.
"""

from __future__ import annotations

import numpy as np

from acme.inference.v1.content_type_pb2 import (
    ContentType,
    ContentTypeInput,
    ContentTypeOutput,
    IdentifyRequest,
    IdentifyResponse,
)
from protocontract.steps import step

#: Bytes of each end, how far from it they are looked for, and what stands for no byte.
SIDE, BLOCK, NONE = 1024, 4096, 256


@step(version="standard_v3_3")
def features(request: IdentifyRequest) -> ContentTypeInput:
    """Both ends of the content, without white space there."""
    content = request.content
    size = min(BLOCK, len(content))
    first = content[:size].lstrip()[:SIDE]
    last = content[len(content) - size :].rstrip()[-SIDE:]
    found = np.full(2 * SIDE, NONE, dtype="<i4")
    found[: len(first)] = np.frombuffer(first, dtype="u1")
    found[2 * SIDE - len(last) :] = np.frombuffer(last, dtype="u1")
    return ContentTypeInput(features=found.tobytes())


@step(version="1")
def label(output: ContentTypeOutput) -> IdentifyResponse:
    """The label with the highest score. The enum's numbers are the model's classes and one more."""
    scores = np.frombuffer(output.scores, dtype="<f4")
    best = int(scores.argmax())
    return IdentifyResponse(content_type=ContentType.Name(best + 1), score=min(float(scores[best]), 1.0))
