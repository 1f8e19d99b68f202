"""Which model runs for a service, and how it is started: a file, another server, with or without a stand-in."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

from protocontract.contract import Contract
from protocontract.loading import load
from protocontract.models import (
    Attempt,
    BatchSizes,
    Comparison,
    Engine,
    Expected,
    Model,
    NoProvider,
    Provider,
    compare,
)
from protocontract.models.comparison import stacked
from protocontract.models.fallback import Degrading, Event, Fallback
from protocontract.models.labels import read_labels
from protocontract.models.stand_in import with_fallback
from protocontract.tensors.reading import STORED, np
from protocontract.violations import ContractError

if TYPE_CHECKING:
    from protocontract.serving.plan import MethodPlan, Route

log: Final = logging.getLogger("protocontract.serving")

Role = Literal["active", "canary", "shadow", ""]

#: Where the version of a model is not given.
FIRST_VERSION: Final = "1"


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A version of a model as it is declared.

    ``path`` is a file, or the address of a remote model (``grpc://HOST:PORT/NAME``). The ``active`` version answers
    where nobody asks for another; of the requests a ``canary`` answers its ``share`` (0 to 1) in its place; a
    ``shadow`` runs beside it and answers nobody. Versions without a role answer who asks for them.
    """

    name: str
    version: str
    path: str
    role: Role = ""
    share: float = 0.0
    #: Where its labels are (``FILE`` or ``FILE#KEY``), where neither the file nor one beside it has them.
    labels: str = ""

    @property
    def remote(self) -> bool:
        """Whether another server runs it."""
        return "://" in self.path

    def __str__(self) -> str:
        return f"{self.name}@{self.version}"


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """How models are started. ``sizes`` are those that batches are filled up to, None: none but where a provider needs
    some. ``fallback``: a declared one counts. ``cache`` is TensorRT's folder."""

    providers: tuple[Provider, ...] = (Provider("cpu"),)
    threads: int | None = None
    deterministic: bool = False
    sizes: tuple[int, ...] | None = None
    fallback: bool = True
    cache: Path | None = None
    #: Seconds that a remote model has for one run.
    remote_timeout: float = 60.0


def open_engine(
    spec: ModelSpec,
    way: tuple[MethodPlan, Route],
    options: EngineOptions,
    on_event: Callable[[Event], None] | None = None,
) -> Engine:
    """Start a model for one way of an RPC. It takes as long as loading does: not for the event loop.

    ``on_event`` is told when a model degrades and comes back. Raises ContractError (NoProvider, and a fallback that
    does not agree), OSError.
    """
    method, route = way
    if spec.remote:
        from protocontract.serving.kserve.client import RemoteModel

        return RemoteModel(spec.path, timeout=options.remote_timeout)
    path = Path(spec.path)

    def start() -> Model:
        # Derived at each start: a device that was gone may be back.
        known: list[Provider] = []
        gone: list[Attempt] = []
        for provider in options.providers:
            found: Provider | Attempt = provider
            if "TensorrtExecutionProvider" in provider.declared:
                sizes = batch_sizes(method, options, tensorrt=True)
                found = _tensorrt(path, route.inputs, sizes, options, provider)
            if isinstance(found, Provider):
                known.append(found)
            else:
                gone.append(found)
                log.warning("%s %s", path.name, found)
        if not known:
            raise NoProvider(path.name, gone)
        return Model(path, known, threads=options.threads, deterministic=options.deterministic)

    fallback = Fallback.of(method.method.level.fallback) if options.fallback else None
    if fallback is None:
        return start()
    return with_fallback(
        path, fallback, start, threads=options.threads, deterministic=options.deterministic, on_event=on_event
    )


class OpenEngine(Protocol):
    """How a model is started: ``open_engine``, or another runtime's."""

    def __call__(
        self,
        spec: ModelSpec,
        way: tuple[MethodPlan, Route],
        options: EngineOptions,
        on_event: Callable[[Event], None] | None = None,
        /,
    ) -> Engine: ...


def batch_sizes(method: MethodPlan, options: EngineOptions, *, tensorrt: bool = False) -> BatchSizes | None:
    """The sizes that batches are filled up to; None where they stay as they are."""
    declared = method.method.level.batch
    if not tensorrt and (options.sizes is None or declared is None):
        return None
    return BatchSizes(1 if declared is None else declared[0], options.sizes)


def compared(spec: ModelSpec, engine: Engine, way: tuple[MethodPlan, Route]) -> Comparison:
    """The model beside the contracts of a way. Raises ContractError where labels or a stamp cannot be read; OSError."""
    method, route = way
    # A server of KServe may say nothing of a model's inputs and outputs.
    silent = spec.remote and not engine.signature.inputs

    def find(name: str) -> Contract[Any]:
        # What a calibrated model was made of: the request that the steps take.
        return method.request if name == method.request.full_name else load(name)

    expected = Expected(None if silent else route.inputs, None if silent else route.outputs, method.response, find=find)
    labels = read_labels(spec.labels) if spec.labels else None
    found = [compare(spec.name if spec.remote else Path(spec.path), engine.signature, expected, labels)]
    if isinstance(engine, Degrading):
        # Whatever stands in for the model is held to the same.
        found += [
            compare(each.path, each.signature, expected, labels)
            for each in engine.engines
            if isinstance(each, Model) and each.path != Path(spec.path)
        ]
    return Comparison(
        tuple(dict.fromkeys(difference for each in found for difference in each.differences)),
        tuple(dict.fromkeys(note for each in found for note in each.notes)),
    )


def warm_up(engine: Engine, way: tuple[MethodPlan, Route], options: EngineOptions) -> str:
    """Run one row, and on TensorRT every profile, before anybody is served. Returns why nothing was run, or nothing.

    Raises ModelError where a run fails, ContractError where it gives other than one row for one.
    """
    method, route = way
    if engine.provider == "tensorrt" and route.inputs is not None:
        from protocontract.models.tensorrt import warm_up as profiles

        sizes = batch_sizes(method, options, tensorrt=True)
        assert sizes is not None
        for inputs in profiles(route.inputs, sizes):
            engine.run(inputs)
        return ""
    row = first_row(engine, route.inputs)
    if row is None:
        return "it was not warmed up: nobody says the sizes of its inputs' free axes"
    for name, output in engine.run(row).outputs.items():
        if not getattr(output, "shape", ()) or len(output) != 1:
            raise ContractError(f"{engine.name} gives {_rows(output)} of `{name}` for one row; expected one")
    return ""


def first_row(engine: Engine, inputs: Contract[Any] | None) -> dict[str, Any] | None:
    """One row of the smallest sizes that the contract lets pass; None where a size cannot be told."""
    found: dict[str, Any] = {}
    if inputs is not None:
        for field in inputs.tensors:
            shape = [max(1, dim.min) if dim.size is None else dim.size for dim in stacked(field)[1:]]
            low = max(0.0, field.min or 0.0)
            element = low if field.max is None else min(low, field.max)
            # The bits of a bfloat16 are not the number.
            element = 0.0 if field.dtype == "bfloat16" else element
            found[field.name] = np.full([1, *shape], element, STORED[field.dtype])
        return found
    for port in engine.signature.inputs:
        shape = [dim for dim in port.dims[1:] if isinstance(dim, int)]
        if len(shape) != len(port.dims) - 1 or port.dtype not in STORED:
            return None
        found[port.name] = np.zeros([1, *shape], STORED[port.dtype])
    return found or None


def _tensorrt(
    path: Path, inputs: Contract[Any] | None, sizes: BatchSizes | None, options: EngineOptions, provider: Provider
) -> Provider | Attempt:
    """TensorRT with its shapes and caches; why not, where there is no TensorRT or no device."""
    from protocontract._files import file_sha256
    from protocontract.models.devices import device_facts
    from protocontract.models.tensorrt import provider as derived

    if inputs is None or sizes is None:
        raise ContractError("tensorrt needs the shapes of a contract; expected a step that gives a message")
    facts = device_facts(int(provider.options.get("device_id", "0") or 0))
    missing = [name for name in ("tensorrt", "compute_capability") if not facts.get(name)]
    if missing:
        return Attempt(
            "tensorrt",
            f"no {' and no '.join(missing).replace('_', ' ')} can be read: the library or the device is not there",
            "install TensorRT and a driver, or declare another provider",
        )
    return derived(
        inputs,
        sizes,
        options.cache or path.parent / "tensorrt",
        model_sha256=file_sha256(path),
        tensorrt=facts["tensorrt"],
        compute_capability=facts["compute_capability"],
        options=provider.options,
        elsewhere=provider.elsewhere,
    )


def _rows(output: Any) -> str:
    shape = getattr(output, "shape", ())
    return f"{shape[0]} rows" if shape else "no rows"
