"""The model server behind: its RPCs, with its errors as ours."""

# pyright: reportMissingImports=false
from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from typing import Any, Final

import grpc
import grpc.aio

from protocontract.serving.kserve.protocol import rpcs
from protocontract.serving.kserve.status import means
from protocontract.serving.rejection import Rejected, refused

_TOO_LARGE: Final = re.compile(r"Received message larger than max")
#: Seconds that a question about the server or a model may take.
ASKING: Final = 5.0


class Upstream:
    """A channel to a server of KServe v2 over gRPC. Made on a running loop."""

    def __init__(self, address: str, *, max_response_bytes: int, tls: bool = False, texts: bool = False) -> None:
        """``max_response_bytes``: of one response. ``texts``: callers are told what the server says of its errors,
        though data may be in it."""
        self.address: Final = address
        self._limit: Final = max_response_bytes
        self._texts: Final = texts
        options = [
            ("grpc.max_send_message_length", -1),
            ("grpc.max_receive_message_length", max_response_bytes),
            # A server that comes back is found soon: callers get UNAVAILABLE until then.
            ("grpc.initial_reconnect_backoff_ms", 100),
            ("grpc.max_reconnect_backoff_ms", 2000),
        ]
        self._channel: Final = (
            grpc.aio.secure_channel(address, grpc.ssl_channel_credentials(), options)
            if tls
            else grpc.aio.insecure_channel(address, options)
        )
        self._stub: Final = rpcs.GRPCInferenceServiceStub(self._channel)

    async def call(
        self, rpc: str, request: Any, timeout: float | None = ASKING, metadata: Sequence[tuple[str, Any]] = ()
    ) -> Any:
        """The response of an RPC with one request. Raises Rejected with the server's code."""
        try:
            return await getattr(self._stub, rpc)(request, timeout=timeout, metadata=metadata)
        except grpc.aio.AioRpcError as error:
            raise self.rejected(error) from None

    def stream(self, requests: AsyncIterator[Any], timeout: float | None, metadata: Sequence[tuple[str, Any]]) -> Any:
        """The call of ``ModelStreamInfer``."""
        return self._stub.ModelStreamInfer(requests, timeout=timeout, metadata=metadata)

    def rejected(self, error: Any) -> Rejected:
        """An error of the server, or of the way there, as its caller is told it."""
        code = error.code().name
        if code == "RESOURCE_EXHAUSTED" and _TOO_LARGE.search(error.details() or ""):
            text = f"the model's response is larger than {self._limit} bytes (max_response_bytes)"
            return refused(code, text, reason="RESPONSE_TOO_LARGE", limit=str(self._limit))
        text = means(code)
        if self._texts and error.details():
            text += f": {error.details()}"[:500]
        # A server that says OK and ends the call otherwise.
        return refused("UNKNOWN" if code == "OK" else code, text, reason="UPSTREAM")

    def told(self, text: str) -> str:
        """An error that the server tells as a text, as its caller is told it."""
        return f"the model server failed: {text}"[:500] if self._texts else "the model server failed"

    async def close(self) -> None:
        """Close the channel."""
        await self._channel.close()
