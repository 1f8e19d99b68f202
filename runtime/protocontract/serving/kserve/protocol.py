"""KServe's messages and RPCs, as tritonclient brings them (extra ``triton``): no copy of them is kept here."""

# pyright: reportMissingImports=false
from __future__ import annotations

from typing import Any, Final

from protocontract.extras import missing_extra

try:
    from tritonclient.grpc import service_pb2, service_pb2_grpc
except (ImportError, RuntimeError) as error:
    # tritonclient itself says RuntimeError where one of its own extras is missing.
    cause = error if isinstance(error, ImportError) else error.__cause__
    found = missing_extra("protocontract.serving.kserve", cause, "triton") if isinstance(cause, ImportError) else None
    raise (found or error) from None

messages: Final[Any] = service_pb2
rpcs: Final[Any] = service_pb2_grpc
#: The service's full name.
SERVICE: Final = "inference.GRPCInferenceService"

__all__ = ["SERVICE", "messages", "rpcs"]
