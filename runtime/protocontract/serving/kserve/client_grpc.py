"""KServe v2 over gRPC, by tritonclient."""

# pyright: reportMissingImports=false
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import tritonclient.grpc as triton

from protocontract.serving.kserve.client import Described, Target
from protocontract.serving.kserve.datatypes import BYTES, DTYPES, read
from protocontract.serving.kserve.models import signature_of
from protocontract.tensors.reading import np
from protocontract.violations import Refusal


class GrpcTransport:
    """One channel; threads share it."""

    def __init__(self, target: Target) -> None:
        self._target: Final = target
        self._client: Final = triton.InferenceServerClient(target.address, ssl=target.tls)

    def describe(self, seconds: float) -> Described:
        """Ask for metadata."""
        target = self._target
        model: Any = self._client.get_model_metadata(target.model, target.version, client_timeout=seconds)
        server: Any = self._client.get_server_metadata(client_timeout=seconds)
        return Described(signature_of(model), model.platform, tuple(model.versions), server.name, server.version)

    def tensor(self, name: str, array: Any, datatype: str) -> Any:
        """An input of tritonclient's."""
        found = triton.InferInput(name, list(array.shape), datatype)
        found.set_data_from_numpy(array)
        return found

    def infer(self, inputs: Sequence[Any], outputs: Sequence[str], seconds: float) -> Mapping[str, Any]:
        """Arrays by output, of raw contents and of typed ones (tritonclient itself reads only raw numbers)."""
        asked = [triton.InferRequestedOutput(name) for name in outputs] or None
        result: Any = self._client.infer(
            self._target.model, list(inputs), self._target.version, asked, client_timeout=seconds
        )
        response = result.get_response()
        raws = response.raw_output_contents
        found: dict[str, Any] = {}
        for at, output in enumerate(response.outputs):
            if output.datatype not in DTYPES and output.datatype != BYTES:
                raise ValueError("no such datatype")
            elements = read(output.datatype, output.contents, raws[at] if at < len(raws) else None)
            if isinstance(elements, Refusal):
                raise ValueError(elements.message)
            if output.datatype == BYTES:
                texts, elements = elements, np.empty(len(elements), dtype=object)
                elements[:] = texts
            found[output.name] = elements.reshape(tuple(output.shape))
        return found

    def close(self) -> None:
        """Close the channel."""
        self._client.close()
