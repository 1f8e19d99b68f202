"""``RemoteModel``: a model of another server that speaks KServe v2, as an engine. Through tritonclient, gRPC or REST.

    RemoteModel("grpc://127.0.0.1:8001/content_type")
    RemoteModel("http://127.0.0.1:8000/content_type/3")     # version 3

What goes wrong is told by what it means and by its code, never by the other server's text, in which data may be.
"""

# pyright: reportMissingImports=false
from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal, Protocol

from tritonclient.utils import InferenceServerException, triton_to_np_dtype

from protocontract.models.errors import RunFailed
from protocontract.models.identity import Identity
from protocontract.models.inputs import check_inputs, check_outputs
from protocontract.models.session import Ran
from protocontract.models.signature import Port, Signature
from protocontract.serving.kserve.datatypes import BYTES, DATATYPES
from protocontract.serving.kserve.protocol import SERVICE
from protocontract.serving.kserve.status import code_of, means
from protocontract.tensors.reading import np
from protocontract.violations import ContractError

_TARGET: Final = re.compile(
    r"(?P<scheme>grpcs?|https?)://(?P<address>[^/]+:\d+)/(?P<model>[^/]+)(?:/(?P<version>[^/]+))?/?"
)


@dataclass(frozen=True, slots=True)
class Target:
    """Where a remote model is: ``grpc://HOST:PORT/MODEL[/VERSION]``, or ``grpcs``, ``http``, ``https``."""

    scheme: Literal["grpc", "http"]
    tls: bool
    address: str
    model: str
    version: str = ""

    @classmethod
    def parse(cls, text: str) -> Target:
        """Raises ContractError for a text of another form."""
        found = _TARGET.fullmatch(text)
        if found is None:
            raise ContractError(f"{text} is no remote model; expected grpc://HOST:PORT/MODEL or http://HOST:PORT/MODEL")
        scheme: Literal["grpc", "http"] = "grpc" if found["scheme"].startswith("grpc") else "http"
        return cls(scheme, found["scheme"].endswith("s"), found["address"], found["model"], found["version"] or "")

    def __str__(self) -> str:
        version = f"/{self.version}" if self.version else ""
        return f"{self.scheme}{'s' if self.tls else ''}://{self.address}/{self.model}{version}"


@dataclass(frozen=True, slots=True)
class Described:
    """What a server says of a model and of itself."""

    signature: Signature
    platform: str
    versions: tuple[str, ...]
    server: str
    server_version: str


class Transport(Protocol):
    """One of KServe's two protocols."""

    def describe(self, seconds: float) -> Described:
        """Ask for metadata. Raises InferenceServerException, OSError, TimeoutError."""
        ...

    def infer(self, inputs: Sequence[Any], outputs: Sequence[str], seconds: float) -> Mapping[str, Any]:
        """Arrays by output. Raises InferenceServerException, OSError, TimeoutError; ValueError where the answer makes
        no arrays."""
        ...

    def tensor(self, name: str, array: Any, datatype: str) -> Any:
        """An input of tritonclient's."""
        ...

    def close(self) -> None:
        """Give up the connections."""
        ...


class RemoteModel:
    """A model at another server. Runs may come from several threads at once; see ``Engine``."""

    def __init__(self, target: str | Target, *, timeout: float = 30.0, connect_timeout: float = 5.0) -> None:
        """Ask the server what the model takes and gives. ``timeout``: seconds that a run may take; ``connect_timeout``:
        that the server has to say so.

        Raises ContractError where the server cannot be reached, does not know the model, or the text is no target.
        """
        self.target: Final = Target.parse(target) if isinstance(target, str) else target
        self.name: Final = self.target.model
        #: By which protocol it is reached: ``kserve-grpc`` or ``kserve-http``.
        self.provider: Final = f"kserve-{self.target.scheme}"
        self._timeout: Final = timeout
        self._transport: Final = _transport(self.target)
        try:
            described = self._transport.describe(connect_timeout)
        except (InferenceServerException, OSError, TimeoutError) as error:
            self._transport.close()
            raise ContractError(f"{self.target}: {_told(error)}") from None
        self.signature: Final = described.signature
        self.identity: Final = _identity(self.target, described)
        self._inputs: Final = {port.name: port for port in self.signature.inputs}
        self._outputs: Final = tuple(port.name for port in self.signature.outputs)
        # KServe says no hash of a model: evidence names its version and, in the identity, what the server says of it.
        self._facts: Final[Mapping[str, str]] = MappingProxyType(
            {
                "model": f"{self.name}@{self.target.version or ','.join(described.versions) or 'unversioned'}",
                "identity": self.identity.digest,
                "provider": self.provider,
            }
        )

    def run(self, inputs: Mapping[str, Any], outputs: Sequence[str] | None = None) -> Ran:
        """Run the model on arrays by input name. ``outputs`` are those to compute; None: all that the server names.

        Arrays of BYTES are of Python's bytes (dtype object). Raises WrongInput before anything is sent; RunFailed:
        ``provider`` where the server cannot be reached or does not answer in time, ``runtime`` where it refuses, or
        answers something else than was asked for.
        """
        names = self._outputs if outputs is None else tuple(outputs)
        # A server may say nothing of a model's inputs and outputs.
        if self._inputs:
            check_inputs(self.name, self._inputs, inputs)
        if self._outputs:
            check_outputs(self.name, self._outputs, names)
        sent = [self._tensor(name, array) for name, array in inputs.items()]
        try:
            found = self._transport.infer(sent, names, self._timeout)
        except (InferenceServerException, OSError, TimeoutError) as error:
            code = _code(error)
            kind: Literal["provider", "runtime"] = "provider" if code in _UNREACHED else "runtime"
            raise RunFailed(f"{self.name} failed on {self.provider}: {_told(error)}", kind) from None
        except ValueError:
            raise RunFailed(
                f"{self.name} failed on {self.provider}: an output is not what its shape and datatype say", "runtime"
            ) from None
        missing = [name for name in names if name not in found]
        if missing:
            raise RunFailed(f"{self.name} answered without output `{missing[0]}`", "runtime")
        return Ran({name: found[name] for name in names or found}, self.provider, self._facts)

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def _tensor(self, name: str, array: Any) -> Any:
        port = self._inputs.get(name)
        datatype = BYTES if array.dtype.kind in "OS" else DATATYPES[str(array.dtype)]
        if port is not None and port.dtype == "bfloat16":
            datatype, array = "BF16", array.view(triton_to_np_dtype("BF16"))
        return self._transport.tensor(name, np.ascontiguousarray(array), datatype)


#: Codes that say that the server is not there, or not in time.
_UNREACHED: Final = ("UNAVAILABLE", "DEADLINE_EXCEEDED", "CANCELLED")


def _transport(target: Target) -> Transport:
    if target.scheme == "grpc":
        from protocontract.serving.kserve.client_grpc import GrpcTransport

        return GrpcTransport(target)
    from protocontract.serving.kserve.client_http import HttpTransport

    return HttpTransport(target)


def _code(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "DEADLINE_EXCEEDED"
    return code_of(error.status()) if isinstance(error, InferenceServerException) else "UNAVAILABLE"


def _told(error: Exception) -> str:
    return means(_code(error))


def _identity(target: Target, described: Described) -> Identity:
    signature = described.signature

    def ports(found: tuple[Port, ...]) -> str:
        return ", ".join(f"{port.name} {port}" for port in found)

    options = {"target": str(target), "inputs": ports(signature.inputs), "outputs": ports(signature.outputs)}
    return Identity(
        name=target.model,
        sha256="",
        files={},
        format=described.platform or "kserve",
        runtime=described.server,
        runtime_version=described.server_version,
        runtime_build=SERVICE,
        providers=((f"kserve-{target.scheme}", options),),
        devices={},
        precision={"version": target.version or ",".join(described.versions)},
    )
