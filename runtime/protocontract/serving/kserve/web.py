"""The proxy's REST side, on aiohttp, which tritonclient brings."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from aiohttp import web
from google.protobuf import json_format

from protocontract.serving.call import failed
from protocontract.serving.kserve.protocol import messages
from protocontract.serving.kserve.proxy import Proxy
from protocontract.serving.kserve.rest import LENGTH_HEADER, error_body, read_request, write_response
from protocontract.serving.kserve.status import HTTP
from protocontract.serving.rejection import Rejected, refused

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

_JSON: Final = "application/json"
_BINARY: Final = "application/octet-stream"
#: Headers that go on as metadata.
_PASSED: Final = ("authorization", "traceparent", "tracestate", "x-request-id")


def application(proxy: Proxy) -> web.Application:
    """The REST endpoints of KServe v2 for the declared models."""
    rest = _Rest(proxy)
    app = web.Application(client_max_size=proxy.max_request_bytes, middlewares=[rest.errors])
    app.add_routes([web.get("/v2", rest.server), web.get("/v2/", rest.server)])
    app.add_routes([web.get("/v2/health/live", rest.live), web.get("/v2/health/ready", rest.ready)])
    for model in ("/v2/models/{model}", "/v2/models/{model}/versions/{version}"):
        app.add_routes(
            [
                web.get(model, rest.about("ModelMetadata", messages.ModelMetadataRequest)),
                web.get(f"{model}/config", rest.about("ModelConfig", messages.ModelConfigRequest, "config")),
                web.get(f"{model}/stats", rest.about("ModelStatistics", messages.ModelStatisticsRequest)),
                web.get(f"{model}/ready", rest.model_ready),
                web.post(f"{model}/infer", rest.infer),
            ]
        )
    return app


class _Rest:
    def __init__(self, proxy: Proxy) -> None:
        self._proxy: Final = proxy

    @property
    def errors(self) -> Any:
        """What becomes of errors: JSON with our reasons, whatever they are."""

        @web.middleware
        async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
            try:
                return await handler(request)
            except Rejected as rejected:
                return _refusal(rejected)
            except web.HTTPRequestEntityTooLarge:
                limit = self._proxy.max_request_bytes
                text = f"a request of more than {limit} bytes; expected at most {limit} (max_request_bytes)"
                return _refusal(
                    refused("RESOURCE_EXHAUSTED", text, reason="REQUEST_TOO_LARGE", limit=str(limit)), status=413
                )
            except web.HTTPException as error:
                code = "UNIMPLEMENTED" if error.status in (404, 405) else "INVALID_ARGUMENT"
                text = "no such endpoint of KServe v2 here" if error.status == 404 else "not done with this endpoint"
                return _refusal(refused(code, text, reason="KSERVE"), status=error.status)
            except Exception as error:  # `failed` says why
                return _refusal(failed(error))

        return middleware

    # -- questions

    async def live(self, request: web.Request) -> web.Response:
        """This process answers."""
        return web.Response()

    async def ready(self, request: web.Request) -> web.Response:
        """All declared models answer."""
        return web.Response(status=200 if await self._proxy.ready() else 503)

    async def model_ready(self, request: web.Request) -> web.Response:
        """One model answers."""
        served = self._proxy.models.find(*_named(request))
        return web.Response(status=200 if await self._proxy.model_ready(served) else 503)

    async def server(self, request: web.Request) -> web.Response:
        """The server's own metadata, with the extensions that come through here."""
        return _told(await self._proxy.metadata())

    def about(self, rpc: str, message: Any, part: str = "") -> Handler:
        """What the server says of a declared model."""

        async def answer(request: web.Request) -> web.Response:
            name, version = _named(request)
            served = self._proxy.models.find(name, version)
            asked = message(name=name, version=version or served.version)
            found = await self._proxy.upstream.call(rpc, asked)
            return _told(getattr(found, part) if part else found)

        return answer

    # -- inferences

    async def infer(self, request: web.Request) -> web.Response:
        """One request, one response."""
        name, version = _named(request)
        self._proxy.models.find(name, version)  # before the body is read: it may be long
        body = await request.read()
        asked, form = read_request(body, request.headers.get(LENGTH_HEADER), name, version)
        found = await self._proxy.infer(asked, len(body), None, _metadata(request))
        raw, json_length = write_response(found.response, form)
        headers = dict(found.metadata)
        if json_length is None:
            return web.Response(body=raw, content_type=_JSON, headers=headers)
        headers[LENGTH_HEADER] = str(json_length)
        return web.Response(body=raw, content_type=_BINARY, headers=headers)


def _named(request: web.Request) -> tuple[str, str]:
    return request.match_info["model"], request.match_info.get("version", "")


def _metadata(request: web.Request) -> Sequence[tuple[str, str]]:
    # HTTP takes any byte there; a call with one that is no printable ASCII would fail in gRPC.
    told = [(name, request.headers[name]) for name in _PASSED if name in request.headers]
    return [(name, value) for name, value in told if value.isascii() and value.isprintable()]


def _told(message: Any) -> web.Response:
    found = json_format.MessageToDict(message, preserving_proto_field_name=True)
    _plain(found, message)
    return web.json_response(found)


def _plain(found: dict[str, Any], message: Any) -> None:
    """64-bit integers of shapes as numbers, where protobuf's JSON has texts."""
    for kind in ("inputs", "outputs"):
        for told, port in zip(found.get(kind, ()), getattr(message, kind, ()), strict=True):
            told["shape"] = list(port.shape)


def _refusal(rejected: Rejected, status: int | None = None) -> web.Response:
    found = status or HTTP.get(rejected.code, 500)
    if found == 429 and b"REQUEST_TOO_LARGE" in rejected.status.SerializeToString():
        found = 413
    headers = {key: value for key, value in rejected.metadata() if isinstance(value, str)}
    return web.Response(status=found, body=error_body(rejected), content_type=_JSON, headers=headers)
