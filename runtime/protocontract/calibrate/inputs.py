"""Turns valid records into the inputs of a model: through the contract's tensors, or a step of the user's.

Sensitive fields are cleared before anything else looks at a record. Calibration writes the ranges of what it sees into
the model, and a tensor that is sensitive itself is no input for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from google.protobuf.message import Message

from protocontract._options import is_map, is_repeated
from protocontract.calibrate.reservoir import Reservoir
from protocontract.contract import Contract
from protocontract.loading import load
from protocontract.records.judge import Judge
from protocontract.records.sources import FileLike
from protocontract.steps import Step
from protocontract.tensors import Batch, Collate, CollateError
from protocontract.violations import ContractError


class Inputs:
    """Makes model inputs of messages of one contract."""

    def __init__(self, contract: Contract[Any], step: Step | None = None) -> None:
        """Raises ContractError for a contract without tensors, where no step makes them."""
        self.contract: Final = contract
        self.step: Final = step
        self._collates: dict[str, Collate] = {}
        if step is None and not contract.tensors:
            raise ContractError(
                f"{contract.full_name} has no tensors; expected a contract with `tensor` fields, or --steps"
            )

    def without_sensitive(self, message: Any) -> Any:
        """The message itself, its sensitive fields cleared."""
        for path in self.contract.sensitive:
            _clear(message, path.replace("[]", "").split("."))
        return message

    def of(self, message: Any) -> Batch[Any]:
        """The inputs of one message, by the model's names. Raises ContractError where they cannot be made."""
        if self.step is None:
            return self._tensors(self.contract, message)
        try:
            made = self.step.run(message)
        except Exception as error:  # the user's code: whatever it raises, its text can quote the record
            raise ContractError(f"{self.step.name} failed on a valid record ({type(error).__name__})") from error
        if isinstance(made, Message):
            contract = load(made.DESCRIPTOR.full_name)
            broken = contract.validate(made)
            if broken:
                raise ContractError(f"{self.step.name} made a message that breaks its contract: {broken[0]}")
            return self._tensors(contract, made)
        if not isinstance(made, Mapping):
            raise ContractError(
                f"{self.step.name} returned {type(made).__name__}; expected a message or arrays by name"
            )
        dtypes = {name: str(getattr(array, "dtype", "")) for name, array in made.items()}
        if "" in dtypes.values():
            raise ContractError(f"{self.step.name} returned values that are no arrays; expected arrays by name")
        return Batch(dict(made), masks={}, dtypes=dtypes, fields={}, rows={}, size=1)

    def _tensors(self, contract: Contract[Any], message: Any) -> Batch[Any]:
        collate = self._collates.get(contract.full_name)
        if collate is None:
            hidden = sensitive_paths(contract)
            open_to_see = [field.path for field in contract.tensors if field.path not in hidden]
            collate = self._collates[contract.full_name] = Collate(contract, tensors=open_to_see, fields=())
        try:
            return collate([message])
        except CollateError as error:
            raise ContractError(str(error)) from error

    def hidden(self, name: str) -> str:
        """The path of the sensitive tensor of this name; empty where there is none."""
        paths = sensitive_paths(self.contract)
        return next((field.path for field in self.contract.tensors if field.name == name and field.path in paths), "")


def draw(sources: Iterable[FileLike], inputs: Inputs, reservoir: Reservoir) -> tuple[int, int]:
    """Let a reservoir draw from the valid records of some sources, without what is sensitive in them.

    Returns how many were read, and how many of them are valid. Raises OSError.
    """
    judge = Judge(inputs.contract)
    read = valid = 0
    for source in sources:
        for record in source.records():
            read += 1
            message = judge.outcome(record).message
            if message is not None:
                valid += 1
                inputs.without_sensitive(message)
                reservoir.add(message.SerializeToString(deterministic=True))
    return read, valid


def sensitive_paths(contract: Contract[Any]) -> frozenset[str]:
    """Paths of the tensors that are sensitive, or in a message that is."""
    marks = [path.replace("[]", "") for path in contract.sensitive]
    return frozenset(
        field.path
        for field in contract.tensors
        if any(f"{field.path.replace('[]', '')}.".startswith(f"{mark}.") for mark in marks)
    )


def _clear(message: Any, path: Sequence[str]) -> None:
    name, *rest = path
    field = message.DESCRIPTOR.fields_by_name[name]
    if not rest:
        message.ClearField(name)
        return
    for inner in _inside(message, field):
        _clear(inner, rest)


def _inside(message: Any, field: Any) -> Iterator[Any]:
    value = getattr(message, field.name)
    if is_map(field):
        yield from value.values()
    elif is_repeated(field):
        yield from value
    elif message.HasField(field.name):
        yield value
