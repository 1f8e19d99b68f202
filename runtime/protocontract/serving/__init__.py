"""Contracts in inference services: no request and no response outside its contract (extra ``serving``)."""

from __future__ import annotations

from protocontract.extras import missing_extra

try:
    from protocontract.serving.check import ResponseViolation, check, check_response
    from protocontract.serving.client_config import service_config
    from protocontract.serving.door import TokenBucket
    from protocontract.serving.interceptor_aio import ContractInterceptor
    from protocontract.serving.interceptor_sync import SyncContractInterceptor
except ImportError as error:
    raise (missing_extra("protocontract.serving", error) or error) from None

__all__ = [
    "ContractInterceptor",
    "ResponseViolation",
    "SyncContractInterceptor",
    "TokenBucket",
    "check",
    "check_response",
    "service_config",
]
