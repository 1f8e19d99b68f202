"""Contracts in inference services: no request and no response outside its contract (extra ``serving``).

The interceptors stand before any service; ``InferenceServer`` is a service with its models, as ``protocontract serve``
runs it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from protocontract.extras import missing_extra

try:
    from protocontract.serving.check import ResponseViolation, check, check_response
    from protocontract.serving.client_aio import client_interceptors
    from protocontract.serving.client_config import service_config
    from protocontract.serving.client_sync import SyncContractClientInterceptor
    from protocontract.serving.door import TokenBucket
    from protocontract.serving.interceptor_aio import ContractInterceptor
    from protocontract.serving.interceptor_sync import SyncContractInterceptor
except ImportError as error:
    raise (missing_extra("protocontract.serving", error) or error) from None

if TYPE_CHECKING:
    from protocontract.serving.engines import EngineOptions, ModelSpec
    from protocontract.serving.server import InferenceServer

# What needs a model's runtime too.
_LATER = {
    "EngineOptions": "protocontract.serving.engines",
    "InferenceServer": "protocontract.serving.server",
    "ModelSpec": "protocontract.serving.engines",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(_LATER[name]), name)
    except ImportError as error:
        raise (missing_extra("protocontract.serving", error, "serving") or error) from None


__all__ = [
    "ContractInterceptor",
    "EngineOptions",
    "InferenceServer",
    "ModelSpec",
    "ResponseViolation",
    "SyncContractClientInterceptor",
    "SyncContractInterceptor",
    "TokenBucket",
    "check",
    "check_response",
    "client_interceptors",
    "service_config",
]
