"""What another server's status means, without its text: gRPC's codes, and HTTP's statuses as these."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

#: gRPC's codes by the HTTP statuses that servers of KServe's REST protocol answer with.
_OF_HTTP: Final[Mapping[int, str]] = {
    400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
    405: "UNIMPLEMENTED", 408: "DEADLINE_EXCEEDED", 413: "RESOURCE_EXHAUSTED", 422: "INVALID_ARGUMENT",
    429: "RESOURCE_EXHAUSTED", 499: "CANCELLED", 501: "UNIMPLEMENTED", 502: "UNAVAILABLE", 503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}  # fmt: skip
#: The HTTP statuses of gRPC's codes, as we answer; 500 for any other.
HTTP: Final[Mapping[str, int]] = {
    "INVALID_ARGUMENT": 400, "FAILED_PRECONDITION": 400, "OUT_OF_RANGE": 400, "UNAUTHENTICATED": 401,
    "PERMISSION_DENIED": 403, "NOT_FOUND": 404, "ALREADY_EXISTS": 409, "ABORTED": 409, "RESOURCE_EXHAUSTED": 429,
    "CANCELLED": 499, "UNIMPLEMENTED": 501, "UNAVAILABLE": 503, "DEADLINE_EXCEEDED": 504,
}  # fmt: skip
_MEANS: Final[Mapping[str, str]] = {
    "UNAVAILABLE": "the model server cannot be reached",
    "DEADLINE_EXCEEDED": "the model server did not answer in time",
    "NOT_FOUND": "the model server does not know the model or its version",
    "INVALID_ARGUMENT": "the model server refused the request",
    "RESOURCE_EXHAUSTED": "the model server has no room for the request, or one of the messages is too large",
    "UNIMPLEMENTED": "the model server cannot do this",
    "CANCELLED": "the call was cancelled",
    "UNAUTHENTICATED": "the model server wants to know who asks",
    "PERMISSION_DENIED": "the model server does not allow this",
}


def code_of(status: str | None) -> str:
    """gRPC's name of a status as tritonclient has it: ``StatusCode.NOT_FOUND``, or ``404``."""
    text = (status or "").rpartition(".")[2]
    if text.isdigit():
        number = int(text)
        return _OF_HTTP.get(number, "INTERNAL" if number >= 500 else "INVALID_ARGUMENT")
    return text or "UNKNOWN"


def means(code: str) -> str:
    """What a code means of a model server, with the code."""
    return f"{_MEANS.get(code, 'the model server failed')} ({code})"
