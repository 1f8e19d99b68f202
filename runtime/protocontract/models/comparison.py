"""A model beside the contracts of a service: whatever does not fit, all at once, with both sides named."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal

from protocontract.card import Stamp, read_stamp
from protocontract.contract import Contract
from protocontract.evidence import data_versions
from protocontract.models.errors import ModelMismatch
from protocontract.models.labels import Labels, find_labels, prefix_of, same
from protocontract.models.signature import Port, Signature
from protocontract.tensors.fields import Dim, LabelField, TensorField
from protocontract.violations import ContractError

Kind = Literal["input", "output", "labels", "stamp"]


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that does not fit: ``model`` and ``contract`` are what either side says, ``where`` is FILE:LINE."""

    kind: Kind
    model: str
    contract: str
    where: str = ""

    def __str__(self) -> str:
        return f"{self.model}; {self.contract}" + (f" ({self.where})" if self.where else "")


@dataclass(frozen=True, slots=True)
class Comparison:
    """What does not fit, and what could not be compared or is only said (``notes``)."""

    differences: tuple[Difference, ...]
    notes: tuple[str, ...]

    def demand(self) -> None:
        """Raises ModelMismatch where something does not fit."""
        if self.differences:
            raise ModelMismatch(self.differences)


@dataclass(frozen=True, slots=True)
class Expected:
    """What a service holds a model to.

    ``request`` and ``response`` are the contracts of the messages whose tensors the model takes and gives, ``answer``
    that of the message whose enums name its classes, where that is another one. ``card_sha256`` is the hash of the data
    card that the service was reviewed with. ``find`` gives the contract that a stamp names; None: those above alone.
    Where steps of a service make the inputs, or take the outputs, as arrays, there is no contract to compare them with.
    """

    request: Contract[Any] | None
    response: Contract[Any] | None
    answer: Contract[Any] | None = None
    card_sha256: str | None = None
    find: Callable[[str], Contract[Any]] | None = None
    stamp_required: bool = False

    @property
    def contracts(self) -> tuple[Contract[Any], ...]:
        """All contracts that were given."""
        return tuple(each for each in (self.request, self.response, self.answer) if each is not None)


def compare(model: Path | str, signature: Signature, expected: Expected, labels: Labels | None = None) -> Comparison:
    """All differences between a model and what a service expects of it. ``model`` is its file, or the name of a remote
    one, which has neither labels nor a stamp to read.

    ``labels`` stand for those that the model or a file beside it has. Raises ContractError where several tensors of a
    message have one name, where labels or a stamp are there and cannot be read; OSError.
    """
    name = model if isinstance(model, str) else model.name
    found = _Compared(name)
    if expected.request is not None:
        found.inputs(signature.inputs, expected.request)
    else:
        found.notes.append(f"{name} gets arrays without a contract: its inputs are not compared")
    if expected.response is not None:
        found.outputs(signature.outputs, expected.response)
    else:
        found.notes.append(f"{name} gives arrays without a contract: its outputs are not compared")
    answer = expected.response if expected.answer is None else expected.answer
    if answer is not None:
        found.classes(answer, labels or (None if isinstance(model, str) else find_labels(model, signature.metadata)))
    if answer is not None and expected.response is not None:
        found.width(signature.outputs, expected.response, answer)
    found.stamp(None if isinstance(model, str) else read_stamp(model), expected)
    return Comparison(tuple(found.differences), tuple(found.notes))


def compare_ports(
    model: str, kind: Literal["input", "output"], ports: tuple[Port, ...], contract: Contract[Any]
) -> Comparison:
    """The same of a model's inputs or outputs alone, where there is no file: ``model`` is its name. Raises
    ContractError as ``compare`` does."""
    found = _Compared(model)
    (found.inputs if kind == "input" else found.outputs)(ports, contract)
    return Comparison(tuple(found.differences), tuple(found.notes))


def tensors(contract: Contract[Any]) -> tuple[TensorField, ...]:
    """The tensors of a message, each with the bounds that any tensor beside it gives to the name of a free dim.

    Raises ContractError where there is none, or where several have one name: it is not the message of one model then.
    """
    if not contract.tensors:
        raise ContractError(f"{contract.full_name} has no tensors; expected the message that a model takes or gives")
    paths: dict[str, str] = {}
    for field in contract.tensors:
        if field.name in paths:
            raise ContractError(
                f"{contract.full_name} has several tensors named {field.name}: {paths[field.name]}, {field.path};"
                " expected the message of one model"
            )
        paths[field.name] = field.path
    return _bounded(contract.tensors)


def _bounded(fields: tuple[TensorField, ...]) -> tuple[TensorField, ...]:
    known: dict[tuple[str, str], Dim] = {}
    for field in fields:
        for dim in field.dims:
            if dim.name:
                key = (_scope(field), dim.name)
                before = known.get(key, dim)
                tops = [top for top in (before.max, dim.max) if top is not None]
                known[key] = replace(dim, min=max(before.min, dim.min), max=min(tops, default=None))
    return tuple(
        replace(field, dims=tuple(known.get((_scope(field), dim.name), dim) for dim in field.dims)) for field in fields
    )


def stacked(field: TensorField) -> tuple[Dim, ...]:
    """The axes as a model sees them: samples that are not batched are stacked along a new first axis."""
    return field.dims if field.batched else (Dim("batch"), *field.dims)


def place(contract: Contract[Any], field: TensorField | LabelField) -> str:
    """FILE:LINE of a field's annotation."""
    source = field.source or contract.source
    return f"{source}:{field.line}" if field.line else source


def _scope(field: TensorField) -> str:
    return field.path.rpartition(".")[0]


class _Compared:
    """Collects what is found."""

    def __init__(self, model: str) -> None:
        self._model: Final = model
        self.differences: list[Difference] = []
        self.notes: list[str] = []

    # -- inputs and outputs

    def inputs(self, ports: tuple[Port, ...], contract: Contract[Any]) -> None:
        fields = {field.name: field for field in tensors(contract)}
        for port in ports:
            field = fields.pop(port.name, None)
            if field is None:
                says = f"{contract.full_name} has no such tensor{_had(contract)}"
                self._add("input", f"takes input `{port.name}` {port}", says, contract.source)
            else:
                self._port("input", port, field, contract)
        for field in fields.values():
            self._missing("input", ports, field, contract)

    def outputs(self, ports: tuple[Port, ...], contract: Contract[Any]) -> None:
        by_name = {port.name: port for port in ports}
        for field in tensors(contract):
            port = by_name.pop(field.name, None)
            if port is None:
                self._missing("output", ports, field, contract)
            else:
                self._port("output", port, field, contract)
        for port in by_name.values():
            self.notes.append(
                f"{self._model} output `{port.name}` {port} is not in {contract.full_name}: not asked for"
            )

    def _missing(self, kind: Kind, ports: tuple[Port, ...], field: TensorField, contract: Contract[Any]) -> None:
        names = ", ".join(f"`{port.name}`" for port in ports) or "none"
        says = f"the contract says {_text(field)}"
        self._add(kind, f"has no {kind} `{field.name}`, only {names}", says, place(contract, field))

    def _port(self, kind: Kind, port: Port, field: TensorField, contract: Contract[Any]) -> None:
        dims = stacked(field)
        fits = port.dtype == field.dtype and len(port.dims) == len(dims)
        bounds = ""
        if fits:
            for size, dim in zip(port.dims, dims, strict=True):
                if not isinstance(size, int) or size == dim.size:
                    continue
                fits = dim.size is None and _within(size, dim, kind)
                if not fits:
                    bounds = _bounds(dim)
                    break
        if not fits:
            says = f"the contract says {_text(field)}{bounds}"
            self._add(kind, f"{kind} `{port.name}` is {port}", says, place(contract, field))

    # -- labels

    def classes(self, contract: Contract[Any], labels: Labels | None) -> None:
        fields = [field for field in contract.labels if field.classes]
        if not fields:
            return
        if labels is None:
            self.notes.append(
                f"{self._model} does not say the labels of its classes: their order is not compared with"
                f" {contract.full_name}"
            )
            return
        # Of several enums the labels are those of one; the others have nothing to be compared with.
        wrong = [(field, *_wrong(field, labels.names)) for field in fields]
        if any(not odd for _, odd, _ in wrong):
            return
        field, odd, first = min(wrong, key=lambda each: len(each[1]))
        model = labels.names.get(first)
        known = {each.index: each.text for each in field.classes}.get(first)
        of = len(labels.names.keys() | {each.index for each in field.classes})
        self._add(
            "labels",
            f"says that class {first} is {_quoted(model)} ({labels.place})",
            f"the contract says {_quoted(known)}, {len(odd):,} of {of:,} classes differ",
            place(contract, field),
        )

    def width(self, ports: tuple[Port, ...], response: Contract[Any], answer: Contract[Any]) -> None:
        """The last axis of the scores beside the number of classes, where it is clear which output has them."""
        names = {field.name for field in response.tensors}
        scores = [port for port in ports if port.name in names and len(port.dims) > 1 and port.dims[-1] != 1]
        fields = [field for field in answer.labels if field.classes]
        if len(scores) != 1 or len(fields) != 1:
            return
        (port,), (field,) = scores, fields
        if isinstance(port.dims[-1], int) and port.dims[-1] != field.num_classes:
            self._add(
                "labels",
                f"output `{port.name}` is {port}",
                f"the contract has {field.num_classes:,} classes",
                place(answer, field),
            )

    # -- the training side

    def stamp(self, stamp: Stamp | None, expected: Expected) -> None:
        if stamp is None:
            if expected.stamp_required or expected.card_sha256 is not None:
                self._add("stamp", "has no stamp of its training", "the service expects one")
            else:
                self.notes.append(f"{self._model} has no stamp: what it was trained on is not compared")
            return
        for difference in self._training(stamp, expected):
            self.differences.append(difference)

    def _training(self, stamp: Stamp, expected: Expected) -> Iterator[Difference]:
        version = f" {stamp.version}" if stamp.version else ""
        trained = f"{self._model} was trained under {stamp.contract}{version}"
        known = {contract.full_name: contract for contract in expected.contracts}.get(stamp.contract)
        if known is None and expected.find is not None:
            try:
                known = expected.find(stamp.contract)
            except ContractError:
                known = None
        if known is None:
            yield Difference("stamp", trained, "the service has no contract of that name to compare with")
        elif known.fingerprint != stamp.fingerprint:
            ours = f" {known.version}" if known.version else ""
            yield Difference(
                "stamp",
                f"{trained} (fingerprint {stamp.fingerprint[:12]})",
                f"the service has{ours} (fingerprint {known.fingerprint[:12]})",
                known.source,
            )
        yield from self._data(stamp.data_versions)
        if expected.card_sha256 is not None and stamp.card_sha256 != expected.card_sha256:
            yield Difference(
                "stamp",
                f"{self._model} has the data card {(stamp.card_sha256 or 'none')[:12]}",
                f"the service expects {expected.card_sha256[:12]}",
            )

    def _data(self, trained: Mapping[str, str]) -> Iterator[Difference]:
        here = dict(data_versions())
        for name in sorted(trained.keys() | here.keys()):
            then, now = trained.get(name, "absent"), here.get(name, "absent")
            if then != now:
                yield Difference(
                    "stamp",
                    f"{self._model} was trained on texts normalised with {name} {then}",
                    f"the service has {now}",
                )

    def _add(self, kind: Kind, model: str, contract: str, where: str = "") -> None:
        self.differences.append(Difference(kind, f"{self._model} {model}", contract, where))


def _within(size: int, dim: Dim, kind: Kind) -> bool:
    """Whether an axis that has one size in the model can be free in the contract."""
    if kind == "output":
        return dim.min <= size and (dim.max is None or size <= dim.max)
    # Whatever the contract lets pass has to fit in.
    return dim.min == dim.max == size


def _text(field: TensorField) -> str:
    return f"{field.dtype}[{', '.join(map(str, stacked(field)))}]"


def _bounds(dim: Dim) -> str:
    if dim.size is not None:
        return ""
    return f" with {dim.name} from {dim.min:,}" + ("" if dim.max is None else f" to {dim.max:,}")


def _had(contract: Contract[Any]) -> str:
    return f", only {', '.join(f'`{field.name}`' for field in contract.tensors) or 'none'}"


def _wrong(field: LabelField, names: Mapping[int, str]) -> tuple[list[int], int]:
    """The indices at which labels and classes differ, and the first of them."""
    prefix = prefix_of(field.classes)
    known = {each.index: each for each in field.classes}
    odd = [
        index
        for index in sorted(known.keys() | names.keys())
        if index not in known or index not in names or not same(names[index], known[index], prefix)
    ]
    return odd, odd[0] if odd else 0


def _quoted(label: str | None) -> str:
    return "none" if label is None else f"`{label}`"
