"""``Proxy``: KServe v2 for callers, before a server of KServe v2, with the contracts between them in both directions.

Callers' clients stay as they are. What is not about inference or about the declared models is not passed on: shared
memory, loading and unloading, settings.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from google.protobuf.message import DecodeError

from protocontract.models.comparison import Comparison
from protocontract.serving.call import failed
from protocontract.serving.door import Place
from protocontract.serving.kserve.models import Asked, Catalogue, Declared, Served, compare, signature_of
from protocontract.serving.kserve.protocol import messages
from protocontract.serving.kserve.upstream import Upstream
from protocontract.serving.rejection import Rejected, header_text, refused
from protocontract.serving.service import DEFAULT_DEADLINE, MODEL_KEY, NONFINITE_KEY, counts_text
from protocontract.serving.watch import Seen, Watch
from protocontract.violations import ContractError

log: Final = logging.getLogger("protocontract.serving")

T = TypeVar("T")

#: Extensions of KServe that need nothing of us but to pass on messages and parameters.
_PASSED_EXTENSIONS: Final = ("sequence", "schedule_policy", "parameters", "statistics", "model_configuration")
#: Above so many bytes, tensors are looked at on a thread, so that other calls go on meanwhile.
_LONG: Final = 256 * 1024
#: gRPC's limit of a message where no model has one, in bytes.
MAX_MESSAGE: Final = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Answered:
    """A response that keeps its contract, and the trailing metadata that go with it."""

    response: Any
    metadata: tuple[tuple[str, str], ...]


class Proxy:
    """What is between callers and a model server; both protocols of callers end here. Made on a running loop."""

    def __init__(
        self,
        upstream: str,
        declared: Iterable[Declared],
        *,
        max_response_bytes: int = MAX_MESSAGE,
        tls: bool = False,
        texts: bool = False,
        watch: Watch | None = None,
    ) -> None:
        """``upstream``: HOST:PORT of a server's gRPC. ``max_response_bytes``: of one response of it. ``tls``: to it.
        ``texts``: callers are told what it says of its errors, in which data may be. ``watch`` is told of requests, as
        of those of a method for each model: ``ModelInfer/scale``.

        Raises ContractError for declarations that cannot be served (``Catalogue``).
        """
        self.models: Final = Catalogue(declared)
        self.upstream: Final = Upstream(upstream, max_response_bytes=max_response_bytes, tls=tls, texts=texts)
        self._watch: Final = watch
        self._draining = False

    @property
    def max_request_bytes(self) -> int:
        """The largest request of any declared model, in bytes."""
        return self.models.largest or MAX_MESSAGE

    # -- starting and ending

    async def check(self) -> list[Comparison]:
        """Compare each declared model with what the server says of it. Raises Unreachable."""
        return [await self._compared(served) for served in self.models]

    async def _compared(self, served: Served) -> Comparison:
        asked = messages.ModelMetadataRequest(name=served.name, version=served.version)
        try:
            return compare(served, signature_of(await self.upstream.call("ModelMetadata", asked)))
        except Rejected as rejected:
            raise Unreachable(f"{served} at {self.upstream.address}: {rejected.status.message}", rejected) from None

    async def wait(self, seconds: float) -> list[Comparison]:
        """``check``, again for so many seconds while the server is not there or does not have a model yet."""
        until = asyncio.get_running_loop().time() + seconds
        while True:
            try:
                return await self.check()
            except Unreachable:
                if asyncio.get_running_loop().time() >= until:
                    raise
                await asyncio.sleep(0.2)

    async def ready(self) -> bool:
        """Whether requests are answered at present: the server has all declared models."""
        if self._draining:
            return False
        try:
            for served in self.models:
                if not await self.model_ready(served):
                    return False
        except Rejected:
            return False
        return True

    async def metadata(self) -> Any:
        """What the server says of itself (``ServerMetadataResponse``), with the extensions that come through here.
        Raises Rejected."""
        found = await self.upstream.call("ServerMetadata", messages.ServerMetadataRequest())
        kept = [each for each in found.extensions if each in _PASSED_EXTENSIONS]
        # Binary data of REST end here: the server gets raw contents.
        found.extensions[:] = sorted({*kept, "binary_tensor_data"})
        return found

    async def model_ready(self, served: Served) -> bool:
        """Whether the server has the model. Raises Rejected where it cannot be asked."""
        if self._draining:
            return False
        asked = messages.ModelReadyRequest(name=served.name, version=served.version)
        return bool((await self.upstream.call("ModelReady", asked)).ready)

    def drain(self) -> None:
        """Take nothing new from now on; what is under way goes on."""
        self._draining = True

    async def close(self) -> None:
        """Close the channel to the server."""
        await self.upstream.close()

    # -- requests

    def read(self, raw: bytes) -> Any:
        """A ``ModelInferRequest`` in bytes. Raises Rejected."""
        # Whose request it is stands in it.
        self.models.measure(len(raw))
        try:
            return messages.ModelInferRequest.FromString(raw)
        except DecodeError:
            raise refused("INVALID_ARGUMENT", "the request is no ModelInferRequest", reason="KSERVE") from None

    async def infer(
        self, request: Any, size: int, left: float | None, metadata: Sequence[tuple[str, Any]] = ()
    ) -> Answered:
        """Run a model: ``size`` in bytes of the request as it came, ``left`` seconds of the caller's deadline.

        Raises Rejected.
        """
        seen = Seen(f"ModelInfer/{request.model_name if request.model_name in self.models else 'unknown'}", b"")
        try:
            return await self._infer(request, size, left, metadata)
        except Rejected as rejected:
            seen.code, seen.reason, seen.error = rejected.code, rejected.reason, rejected
            raise
        except asyncio.CancelledError:
            seen.code = "CANCELLED"
            raise
        except Exception as error:
            seen.error = failed(error)
            seen.code, seen.reason = seen.error.code, seen.error.reason
            raise seen.error from None
        finally:
            seen.total = time.perf_counter_ns() - seen.started
            if self._watch is not None:
                self._watch.request(seen)

    async def _infer(
        self, request: Any, size: int, left: float | None, metadata: Sequence[tuple[str, Any]]
    ) -> Answered:
        served = self.find(request)
        with served.call.door.queue.arrive() as place:
            asked = await self.asked(served, request, size, left, place)
            timeout = served.call.timeout(left)
            # Nobody stays for ever where the server hangs.
            timeout = DEFAULT_DEADLINE if timeout is None else timeout
            response = await self.upstream.call("ModelInfer", asked.request, timeout, metadata)
            return await self.answered(served, asked, response)

    def find(self, request: Any) -> Served:
        """The model that a request means. Raises Rejected."""
        if self._draining:
            raise refused("UNAVAILABLE", "the service is ending; ask another one", reason="DRAINING")
        return self.models.find(request.model_name, request.model_version)

    async def asked(
        self, served: Served, request: Any, size: int, left: float | None, place: Place | None = None
    ) -> Asked:
        """A request at its model's door, and held to its contract. Raises Rejected."""
        served.call.door.enter(size, left, place)
        found: Asked = await _aside(size, served.read, request)
        return found

    async def answered(self, served: Served, asked: Asked, response: Any) -> Answered:
        """A response held to its contract. Raises Rejected."""
        found = await _aside(response.ByteSize(), served.answer, asked, response)
        version = f"@{found.response.model_version}" if found.response.model_version else ""
        metadata = [(MODEL_KEY, f"{served.name}{version}")]
        if found.nonfinite:
            metadata.append((NONFINITE_KEY, counts_text(found.nonfinite)))
        return Answered(found.response, tuple((key, header_text(text)) for key, text in metadata))


class Unreachable(ContractError):
    """The server cannot be asked about a model."""

    def __init__(self, text: str, rejected: Rejected) -> None:
        super().__init__(text)
        self.rejected: Final = rejected


async def _aside(size: int, work: Any, *arguments: Any) -> Any:
    return await asyncio.to_thread(work, *arguments) if size > _LONG else work(*arguments)
