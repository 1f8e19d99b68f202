"""The same checks without gRPC: for Ray Serve, BentoML, FastAPI, and whoever calls a model by a function."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from google.protobuf.message import Message

from protocontract.contract import Contract, Encoding
from protocontract.violations import ContractViolation

M = TypeVar("M", bound=Message)


def check(
    contract: Contract[M], request: M | bytes | str | Mapping[str, Any], *, encoding: Encoding | None = None
) -> M:
    """The normalised and valid request. Raises ContractViolation with all violations.

    ``request``: a message (it is left as it is), protobuf bytes, a JSON text, or the object that a web framework made
    of one. ``encoding`` is that of bytes; protobuf where None.
    """
    if isinstance(request, Message):
        return contract.parse(request.SerializeToString(deterministic=True))
    if isinstance(request, Mapping):
        import json

        return contract.parse(json.dumps(request, ensure_ascii=False).encode(), encoding="json")
    if isinstance(request, str):
        return contract.parse(request.encode(), encoding="json")
    return contract.parse(request, encoding=encoding or "protobuf")


def check_response(contract: Contract[M], response: M) -> M:
    """The response, normalised, if it keeps its contract. Raises ResponseViolation otherwise."""
    outcome = contract.process(response.SerializeToString(deterministic=True))
    if outcome.message is None:
        raise ResponseViolation(outcome.violations)
    return outcome.message


class ResponseViolation(ContractViolation):
    """The service's own answer breaks its contract: not the caller's fault (HTTP 500, gRPC INTERNAL)."""
