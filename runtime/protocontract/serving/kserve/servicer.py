"""The proxy's gRPC side: KServe's service, and gRPC's own health check and reflection."""

# pyright: reportMissingImports=false
from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any, Final

import grpc
import grpc.aio
from grpc_health.v1 import health, health_pb2
from grpc_reflection.v1alpha import reflection

from protocontract.serving.call import failed, remaining
from protocontract.serving.interceptor_aio import abort
from protocontract.serving.kserve.models import Asked, Served
from protocontract.serving.kserve.protocol import SERVICE, messages
from protocontract.serving.kserve.proxy import Proxy
from protocontract.serving.rejection import Rejected, refused

#: Metadata of a call that are its own and are not passed on.
_OWN: Final = ("grpc-", ":", "user-agent", "content-type", "te", "host")
#: So many requests of a stream are remembered by their ids. Of an older one the rows are not compared.
_MOST_IDS: Final = 10_000
#: RPCs of the service that are answered from the server's own words, once the model is known to be declared.
_ABOUT_MODELS: Final = {
    "ModelMetadata": messages.ModelMetadataRequest,
    "ModelConfig": messages.ModelConfigRequest,
    "ModelStatistics": messages.ModelStatisticsRequest,
}


def add_to(server: Any, proxy: Proxy) -> None:
    """Have a ``grpc.aio`` server answer for the proxy."""
    servicer = _Servicer(proxy)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, servicer.handlers()),))
    check = grpc.unary_unary_rpc_method_handler(servicer.health, health_pb2.HealthCheckRequest.FromString, _serialize)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(health.SERVICE_NAME, {"Check": check}),))
    reflection.enable_server_reflection((SERVICE, health.SERVICE_NAME, reflection.SERVICE_NAME), server)


def _serialize(message: Any) -> bytes:
    raw: bytes = message.SerializeToString()
    return raw


class _Servicer:
    def __init__(self, proxy: Proxy) -> None:
        self._proxy: Final = proxy

    def handlers(self) -> dict[str, Any]:
        """By the names of RPCs. Inferences reach us as bytes: one that is none is the caller's mistake, not ours."""

        def one(behavior: Callable[[Any, Any], Awaitable[Any]], request: Any) -> Any:
            return grpc.unary_unary_rpc_method_handler(behavior, request.FromString, _serialize)

        return {
            "ServerLive": one(self.live, messages.ServerLiveRequest),
            "ServerReady": one(self.ready, messages.ServerReadyRequest),
            "ModelReady": one(self.model_ready, messages.ModelReadyRequest),
            "ServerMetadata": one(self.metadata, messages.ServerMetadataRequest),
            **{name: one(self._about(name), request) for name, request in _ABOUT_MODELS.items()},
            "ModelInfer": grpc.unary_unary_rpc_method_handler(self.infer, None, _serialize),
            "ModelStreamInfer": grpc.stream_stream_rpc_method_handler(self.stream, None, _serialize),
        }

    # -- questions

    async def live(self, request: Any, context: Any) -> Any:
        """This process answers."""
        return messages.ServerLiveResponse(live=True)

    async def ready(self, request: Any, context: Any) -> Any:
        """All declared models answer."""
        return messages.ServerReadyResponse(ready=await self._proxy.ready())

    async def model_ready(self, request: Any, context: Any) -> Any:
        """One model answers."""
        try:
            served = self._proxy.models.find(request.name, request.version)
            return messages.ModelReadyResponse(ready=await self._proxy.model_ready(served))
        except Rejected as rejected:
            return await abort(context, rejected)

    async def metadata(self, request: Any, context: Any) -> Any:
        """The server's own, with the extensions that come through here."""
        try:
            return await self._proxy.metadata()
        except Rejected as rejected:
            return await abort(context, rejected)

    def _about(self, rpc: str) -> Callable[[Any, Any], Awaitable[Any]]:
        async def answer(request: Any, context: Any) -> Any:
            try:
                served = self._proxy.models.find(request.name, request.version)
                request.version = request.version or served.version
                return await self._proxy.upstream.call(rpc, request)
            except Rejected as rejected:
                return await abort(context, rejected)

        return answer

    async def health(self, request: Any, context: Any) -> Any:
        """gRPC's own check, of the whole or of the service."""
        if request.service not in ("", SERVICE):
            await context.abort(grpc.StatusCode.NOT_FOUND, "no such service")
        status = health_pb2.HealthCheckResponse.ServingStatus.Value(
            "SERVING" if await self._proxy.ready() else "NOT_SERVING"
        )
        return health_pb2.HealthCheckResponse(status=status)

    # -- inferences

    async def infer(self, raw: bytes, context: Any) -> Any:
        """One request, one response."""
        try:
            request = self._proxy.read(raw)
            found = await self._proxy.infer(request, len(raw), remaining(context), _metadata(context))
        except Rejected as rejected:
            return await abort(context, rejected)
        context.set_trailing_metadata(found.metadata)
        return found.response

    async def stream(self, incoming: AsyncIterator[bytes], context: Any) -> AsyncIterator[Any]:
        """Requests and responses as they come; the first bad one of either ends the call."""
        stream = _Stream(self._proxy, incoming, context)
        try:
            async for response in stream.responses():
                yield response
        except Rejected as rejected:
            await abort(context, rejected)
        except Exception as error:  # `failed` says why
            await abort(context, failed(error))


class _Stream:
    """One call of ``ModelStreamInfer``. A model may answer a request several times, or never, and in any order."""

    def __init__(self, proxy: Proxy, incoming: AsyncIterator[bytes], context: Any) -> None:
        self._proxy: Final = proxy
        self._incoming: Final = incoming
        self._context: Final = context
        self._rejected: Rejected | None = None
        self._by_id: dict[str, tuple[Served, Asked]] = {}
        self._by_name: dict[str, tuple[Served, Asked]] = {}
        self._call: Any = None

    async def responses(self) -> AsyncIterator[Any]:
        """What the server answers, held to the contracts. Raises Rejected."""
        upstream = self._proxy.upstream
        self._call = upstream.stream(self._requests(), remaining(self._context), _metadata(self._context))
        index = 0
        try:
            async for response in self._call:
                if response.error_message:
                    response.error_message = upstream.told(response.error_message)
                    response.ClearField("infer_response")
                elif not _is_final_alone(response.infer_response):
                    await self._keep(response, index)
                index += 1
                yield response
        except grpc.aio.AioRpcError as error:
            raise self._rejected or upstream.rejected(error) from None
        except asyncio.CancelledError:
            # Ours, after a bad request; else the caller's.
            if self._rejected is None:
                raise
        finally:
            self._call.cancel()
        if self._rejected is not None:
            raise self._rejected

    async def _requests(self) -> AsyncIterator[Any]:
        index = 0
        try:
            async for raw in self._incoming:
                request = self._proxy.read(raw)
                served = self._proxy.find(request)
                asked = await self._proxy.asked(served, request, len(raw), remaining(self._context))
                self._remember(served, asked)
                index += 1
                yield asked.request
        except Rejected as rejected:
            # What gRPC does with an error of ours here would hide it.
            self._rejected = _at(rejected, index, "request")
            self._call.cancel()
        except Exception as error:  # `failed` says why
            self._rejected = failed(error)
            self._call.cancel()

    def _remember(self, served: Served, asked: Asked) -> None:
        """Keep what its answers have to be, without its tensors: a stream may go on for days."""
        request = asked.request
        head = messages.ModelInferRequest(
            model_name=request.model_name, model_version=request.model_version, id=request.id
        )
        if request.id:
            if len(self._by_id) >= _MOST_IDS:
                del self._by_id[next(iter(self._by_id))]
            self._by_id[request.id] = served, replace(asked, request=head)
        # Of requests without an id nobody knows which one is answered: id and rows are not compared then.
        head = messages.ModelInferRequest(model_name=request.model_name, model_version=request.model_version)
        self._by_name[request.model_name] = served, Asked(head, (), None)

    async def _keep(self, response: Any, index: int) -> None:
        inner = response.infer_response
        found = self._by_id.get(inner.id) or self._by_name.get(inner.model_name)
        if found is None:
            raise refused("INTERNAL", f"response {index} is of a model that nobody asked", reason="KSERVE")
        served, asked = found
        try:
            await self._proxy.answered(served, asked, inner)
        except Rejected as rejected:
            raise _at(rejected, index, "response") from None


def _is_final_alone(response: Any) -> bool:
    """Whether a response only says that there are no more: Triton's end of a request that may have any number."""
    name = "triton_final_response"
    # Looking into a map of messages would put one there.
    return not response.outputs and name in response.parameters and bool(response.parameters[name].bool_param)


def _at(rejected: Rejected, index: int, kind: str) -> Rejected:
    """The same, with the place in its stream."""
    rejected.status.message = f"{kind} {index} of the stream: {rejected.status.message}"
    return rejected


def _metadata(context: Any) -> Sequence[tuple[str, Any]]:
    return [(key, value) for key, value in context.invocation_metadata() or () if not key.startswith(_OWN)]
