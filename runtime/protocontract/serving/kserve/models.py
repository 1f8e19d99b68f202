"""A model of another server between its contracts: what a request must be before it is passed on, and what comes back.

KServe's messages go through as they are, parameters included. What the contract has no word for is not passed: tensors
that it does not know, and shared memory, where nobody could look at them.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from protocontract.chain import Level as Evidence
from protocontract.contract import Contract
from protocontract.models.comparison import Comparison, Difference, compare_ports
from protocontract.models.signature import Port, Signature
from protocontract.serving.call import Call
from protocontract.serving.kserve.binding import Binding, Given, Kept
from protocontract.serving.kserve.datatypes import BYTES, DTYPES, read, set_typed, write_texts
from protocontract.serving.methods import Level, Method
from protocontract.serving.rejection import Rejected, refused
from protocontract.violations import ContractError, Refusal

log: Final = logging.getLogger("protocontract.serving")

#: The RPC that runs a model.
INFER: Final = "/inference.GRPCInferenceService/ModelInfer"
_SHARED: Final = "shared_memory_"


@dataclass(frozen=True, slots=True)
class Declared:
    """A model as it is declared: its name at the other server, the messages of its tensors, and a service level.

    ``version`` limits the declaration to one version; empty: it is that of all versions.
    """

    name: str
    request: Contract[Any]
    response: Contract[Any]
    level: Level = field(default_factory=Level)
    version: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that keeps its contract, as it is passed on, and what its answer must be."""

    request: Any
    #: The outputs that the caller wants; empty: all.
    outputs: tuple[str, ...]
    rows: int | None
    #: NaN and infinities that the contract lets pass, by input.
    nonfinite: Mapping[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True, slots=True)
class Passed:
    """A response that keeps its contract, as it is passed on; ``nonfinite`` as in Asked, of inputs and outputs."""

    response: Any
    nonfinite: Mapping[str, int]


class Served:
    """A declared model."""

    def __init__(self, declared: Declared) -> None:
        """Raises ContractError where its messages are none that a KServe model takes or gives (``Binding``), and where
        its level demands evidence, which nobody keeps here."""
        if Evidence.of(declared.level.evidence) is Evidence.REQUIRED:
            raise ContractError(
                f"{declared.name} requires evidence, and a proxy keeps none; expected another level, or a service of"
                " the model (docs/serve.md)"
            )
        self.name: Final = declared.name
        self.version: Final = declared.version
        self.request: Final = Binding(declared.request, request=True)
        self.response: Final = Binding(declared.response, request=False)
        #: Its door and its times.
        self.call: Final = Call(Method(INFER, declared.request, declared.response, declared.level))
        self._told: set[str] = set()

    def __str__(self) -> str:
        return self.name + (f"@{self.version}" if self.version else "")

    # -- requests

    def read(self, request: Any) -> Asked:
        """A ``ModelInferRequest`` in its contract. Raises Rejected (INVALID_ARGUMENT)."""
        outputs = self._outputs(request.outputs)
        given = self._given(self.request, request.inputs, request.raw_input_contents, "input", "INVALID_ARGUMENT")
        kept = self.request.check(given)
        # The contract speaks for all outputs, so all have to be seen, whatever the caller wants of them.
        del request.outputs[:]
        for name in self.response.names:
            request.outputs.add().name = name
        if self.version:
            request.model_version = self.version
        _put_texts(request.inputs, request.raw_input_contents, kept.texts)
        return Asked(request, outputs, kept.rows, kept.nonfinite)

    def _outputs(self, asked: Sequence[Any]) -> tuple[str, ...]:
        known = self.response.names
        for at, output in enumerate(asked):
            if output.name not in known:
                raise self._refused(
                    "INVALID_ARGUMENT", f"output {at} is none that the contract knows; expected {_some(known)}"
                )
            if any(key.startswith(_SHARED) for key in output.parameters):
                raise self._refused(
                    "INVALID_ARGUMENT", f"output `{output.name}` in shared memory; expected it in place"
                )
            if "classification" in output.parameters:
                text = f"output `{output.name}` as a classification; expected the tensor that the contract declares"
                raise self._refused("INVALID_ARGUMENT", text)
        return tuple(output.name for output in asked)

    # -- responses

    def answer(self, asked: Asked, response: Any) -> Passed:
        """A ``ModelInferResponse`` in its contract, with the outputs that were asked for.

        Raises Rejected (INTERNAL), which is logged: its caller cannot mend it.
        """
        try:
            return self._answer(asked, response)
        except Rejected as rejected:
            log.error("%s: %s", self, rejected.status.message)
            raise

    def _answer(self, asked: Asked, response: Any) -> Passed:
        wanted = asked.request.model_version
        if wanted and response.model_version and response.model_version != wanted:
            raise self._refused(
                "INTERNAL", "another version of the model answered", reason="VERSION_MISMATCH", asked=wanted[:64]
            )
        if asked.request.id and response.id and response.id != asked.request.id:
            # KServe's protocol demands the same: with another one it may be another caller's.
            raise self._refused("INTERNAL", "the model answered with the id of another request")
        given = self._given(self.response, response.outputs, response.raw_output_contents, "output", "INTERNAL")
        kept: Kept = self.response.check(given)
        if asked.rows is not None and kept.rows is not None and asked.rows != kept.rows:
            text = f"the model answered with {kept.rows} rows; expected {asked.rows}"
            raise self._refused("INTERNAL", text, reason="WRONG_ROWS")
        _put_texts(response.outputs, response.raw_output_contents, kept.texts)
        lost = [name for name in asked.outputs if name not in given]
        if lost:
            raise self._refused("INTERNAL", f"the model answered without output `{lost[0]}`; expected it")
        passed = set(asked.outputs or self.response.names)
        if any(output.name not in passed for output in response.outputs):
            _keep(response, passed)
        told = {name: count for name, count in kept.nonfinite.items() if name in passed}
        return Passed(response, {**told, **asked.nonfinite})

    # -- tensors

    def _given(
        self, binding: Binding, found: Sequence[Any], raws: Sequence[bytes], kind: str, code: str
    ) -> dict[str, Given]:
        if raws and len(raws) != len(found):
            text = f"{len(raws)} raw contents for {len(found)} tensors; expected one for each"
            raise self._refused(code, text)
        given: dict[str, Given] = {}
        for at, tensor in enumerate(found):
            datatype = binding.datatype(tensor.name)
            if datatype is None:
                if kind == "output":
                    self._tell_unknown(at)
                    continue
                text = f"input {at} is none that the contract knows; expected {_some(binding.names)}"
                raise self._refused(code, text)
            if tensor.name in given:
                raise self._refused(code, f"several tensors named `{tensor.name}`; expected one")
            if any(key.startswith(_SHARED) for key in tensor.parameters):
                raise self._refused(code, f"{kind} `{tensor.name}` in shared memory; expected its contents in place")
            if tensor.datatype != datatype:
                got = tensor.datatype if tensor.datatype in DTYPES or tensor.datatype == BYTES else "no such datatype"
                raise binding.violation(tensor.name, Refusal("tensor.dtype", f"{got}; expected {datatype}"))
            elements = read(datatype, tensor.contents, raws[at] if raws else None)
            if isinstance(elements, Refusal):
                raise binding.violation(tensor.name, elements)
            given[tensor.name] = Given(datatype, tuple(tensor.shape), elements)
        return given

    def _tell_unknown(self, at: int) -> None:
        text = f"{self}: output {at} is not in {self.response.contract.full_name}; it is left out"
        if text not in self._told:
            self._told.add(text)
            log.warning("%s", text)

    def _refused(self, code: str, text: str, **metadata: str) -> Rejected:
        return refused(code, text, **{"reason": "KSERVE", "model": str(self), **metadata})


class Catalogue:
    """The declared models, by name and version."""

    def __init__(self, declared: Iterable[Declared]) -> None:
        """Raises ContractError where there is none, where two have one name and version, or one cannot be served."""
        self._served: Final[dict[str, dict[str, Served]]] = {}
        for each in declared:
            versions = self._served.setdefault(each.name, {})
            if each.version in versions:
                raise ContractError(f"{each.name} is declared twice; expected each model and version once")
            versions[each.version] = Served(each)
        if not self._served:
            raise ContractError("no model is declared; expected one at least")

    def __contains__(self, name: object) -> bool:
        """Whether a model of the name is declared, in whichever version."""
        return name in self._served

    def __iter__(self) -> Iterator[Served]:
        return (served for versions in self._served.values() for served in versions.values())

    def find(self, name: str, version: str) -> Served:
        """The model that a request means. Raises Rejected: NOT_FOUND for a model without a contract,
        FAILED_PRECONDITION (reason VERSION_MISMATCH) for a version without one."""
        versions = self._served.get(name)
        if versions is None:
            raise refused("NOT_FOUND", "a model without a contract here", reason="UNKNOWN_MODEL")
        found = versions.get(version) or versions.get("")
        if found is None and not version and len(versions) == 1:
            return next(iter(versions.values()))
        if found is None:
            served = ", ".join(sorted(versions))
            text = "a version without a contract here" if version else "no version is named"
            raise refused(
                "FAILED_PRECONDITION", f"{text}; expected {served}", reason="VERSION_MISMATCH",
                asked=version[:64], served=served,
            )  # fmt: skip
        return found

    @property
    def largest(self) -> int | None:
        """The largest request that any model takes, in bytes; None where one takes any."""
        sizes = [served.call.method.level.max_request_bytes for served in self]
        return None if None in sizes else max(size for size in sizes if size is not None)

    def measure(self, size: int) -> None:
        """A request that is too large for every model is read by nobody. Raises Rejected."""
        if self.largest is not None and size > self.largest:
            roomiest = max(self, key=lambda served: served.call.method.level.max_request_bytes or 0)
            roomiest.call.door.measure(size)


def signature_of(metadata: Any) -> Signature:
    """A remote model's inputs and outputs, from its ``ModelMetadataResponse``."""

    def ports(found: Any) -> tuple[Port, ...]:
        return tuple(
            Port(each.name, DTYPES.get(each.datatype, each.datatype), tuple(None if n < 0 else n for n in each.shape))
            for each in found
        )

    texts = {key: str(value) for key, value in getattr(metadata, "properties", {}).items()}
    return Signature(ports(metadata.inputs), ports(metadata.outputs), texts)


def compare(served: Served, signature: Signature) -> Comparison:
    """What of a remote model does not fit its contracts; what the server does not say of it is a note."""
    sides = (
        _compared(str(served), "input", signature.inputs, served.request),
        _compared(str(served), "output", signature.outputs, served.response),
    )
    return Comparison(
        tuple(each for side in sides for each in side.differences), tuple(each for side in sides for each in side.notes)
    )


def _compared(model: str, kind: Literal["input", "output"], ports: tuple[Port, ...], binding: Binding) -> Comparison:
    if not ports:
        return Comparison((), (f"{model} does not say its {kind}s: they are not compared",))
    contract, texts = binding.contract, {port.name: port for port in ports if port.name in binding.texts}
    numbers = tuple(port for port in ports if port.name not in texts)
    differences: list[Difference] = []
    notes: list[str] = []
    if binding.fields:
        found = compare_ports(model, kind, numbers, contract)
        differences += found.differences
        notes += found.notes
    elif kind == "input":
        says = f"{contract.full_name} has no such tensor"
        differences += [
            Difference(kind, f"{model} takes input `{port.name}` {port}", says, contract.source) for port in numbers
        ]
    for name in binding.texts:
        port = texts.get(name)
        if port is None or port.dtype != BYTES:
            says = f"{model} has no {kind} `{name}`" if port is None else f"{model} {kind} `{name}` is {port}"
            differences.append(Difference(kind, says, f"the contract says {BYTES}", contract.source))
    return Comparison(tuple(differences), tuple(notes))


def _put_texts(tensors: Sequence[Any], raws: Any, texts: Mapping[str, list[bytes]]) -> None:
    """Put normalised texts into the place of those that came, in the form in which they came."""
    for at, tensor in enumerate(tensors):
        if tensor.name in texts:
            if raws:
                raws[at] = write_texts(texts[tensor.name])
            else:
                set_typed(tensor.contents, texts[tensor.name])


def _keep(response: Any, names: set[str]) -> None:
    """Leave only outputs of these names in a response."""
    for at in reversed(range(len(response.outputs))):
        if response.outputs[at].name not in names:
            del response.outputs[at]
            if response.raw_output_contents:
                del response.raw_output_contents[at]


def _some(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
