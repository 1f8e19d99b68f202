"""KServe v2 over REST, with binary data where the server takes them, by tritonclient's asyncio client.

The client has a loop and a thread of its own: tritonclient's other one cannot be shared by threads, and takes no
deadline for a call.
"""

# pyright: reportMissingImports=false
from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, Final, TypeVar

import aiohttp
import tritonclient.http.aio as triton

from protocontract.serving.kserve.client import Described, Target
from protocontract.serving.kserve.models import signature_of
from protocontract.tensors.reading import np

T = TypeVar("T")


class HttpTransport:
    """A pool of connections, on a thread of its own."""

    def __init__(self, target: Target) -> None:
        self._target: Final = target
        self._loop: Final = asyncio.new_event_loop()
        self._thread: Final = threading.Thread(target=self._loop.run_forever, name="kserve-http", daemon=True)
        self._thread.start()
        self._closed = False
        self._client: Final = self._wait(self._connect(), None)
        # Until the server has said that it takes binary data. Not all do: MLServer's REST knows JSON alone.
        self._binary = False

    async def _connect(self) -> Any:
        # Its session has to be made on the loop. How long a call may take is ours to say.
        endless: Any = None
        return triton.InferenceServerClient(self._target.address, ssl=self._target.tls, conn_timeout=endless)

    def describe(self, seconds: float) -> Described:
        """Ask for metadata."""
        target = self._target
        model = self._wait(self._client.get_model_metadata(target.model, target.version), seconds)
        server = self._wait(self._client.get_server_metadata(), seconds)
        self._binary = "binary_tensor_data" in (server.get("extensions") or ())
        ports = {
            kind: [SimpleNamespace(**{"shape": (), **port}) for port in model.get(kind) or ()]
            for kind in ("inputs", "outputs")
        }
        signature = signature_of(SimpleNamespace(**ports))
        versions = tuple(map(str, model.get("versions") or ()))
        return Described(signature, str(model.get("platform", "")), versions, server["name"], str(server["version"]))

    def tensor(self, name: str, array: Any, datatype: str) -> Any:
        """An input of tritonclient's."""
        found = triton.InferInput(name, list(array.shape), datatype)
        found.set_data_from_numpy(array, binary_data=self._binary)
        return found

    def infer(self, inputs: Sequence[Any], outputs: Sequence[str], seconds: float) -> Mapping[str, Any]:
        """Arrays by output."""
        asked = [triton.InferRequestedOutput(name, binary_data=self._binary) for name in outputs] or None
        target = self._target
        # tritonclient names no type of content, and some servers read JSON only where it is named.
        headers = None if self._binary else {"Content-Type": "application/json"}
        result = self._wait(
            self._client.infer(target.model, list(inputs), target.version, asked, headers=headers), seconds
        )
        return {output["name"]: _array(result, output) for output in result.get_response().get("outputs") or ()}

    def close(self) -> None:
        """Close the connections and end the thread."""
        if self._closed:
            return
        self._closed = True
        self._wait(self._client.close(), 5.0)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5.0)
        if not self._thread.is_alive():
            self._loop.close()

    def _wait(self, work: Coroutine[Any, Any, T], seconds: float | None) -> T:
        try:
            return asyncio.run_coroutine_threadsafe(asyncio.wait_for(work, seconds), self._loop).result()
        except aiohttp.ClientError as error:
            # Not all of them are OSErrors; what they say names the address alone.
            raise ConnectionError(type(error).__name__) from None


def _array(result: Any, output: Mapping[str, Any]) -> Any:
    found = result.as_numpy(output["name"])
    if output["datatype"] == "BYTES":
        texts = [text.encode() if isinstance(text, str) else text for text in found.reshape(-1)]
        flat = np.empty(len(texts), dtype=object)
        flat[:] = texts
        return flat.reshape(found.shape)
    return found.view("uint16") if output["datatype"] == "BF16" else found
